//! A job: how it is stopped, what it tells of its progress, and how many threads it may use.

use std::sync::atomic::{AtomicBool, Ordering};

pub use amidst_core::search::Standing;

use crate::Failure;

/// How a job runs, beside what its policy says.
pub struct Job<'a> {
    /// Set from outside to stop.
    pub cancel: &'a AtomicBool,
    /// Set from outside to be content with the best that a search has found, where it goes on improving.
    pub enough: &'a AtomicBool,
    /// Told now and then how a search that goes on improving stands.
    pub standing: &'a (dyn Fn(Standing) + Sync),
    /// Told how far each stage is, from 0 to 1.
    pub progress: &'a (dyn Fn(Stage, f64) + Sync),
    /// The number of threads; 0 for all cores.
    pub threads: usize,
}

impl Job<'_> {
    /// What reading is told to report its progress to.
    pub(crate) fn reading(&self) -> impl Fn(f64) + Sync {
        |share| (self.progress)(Stage::Read, share)
    }
}

impl Default for Job<'_> {
    /// A job that nobody stops or watches, on all cores.
    fn default() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Job { cancel: &NEVER, enough: &NEVER, standing: &|_| {}, progress: &|_, _| {}, threads: 0 }
    }
}

/// What a job is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Reading the table.
    Read,
    /// Searching a recoding.
    Search,
    /// Writing the release.
    Write,
    /// Checking it.
    Check,
}

/// Fails when the job was asked to stop.
pub(crate) fn stop(job: &Job<'_>) -> Result<(), Failure> {
    if job.cancel.load(Ordering::Relaxed) { Err(Failure::Cancelled) } else { Ok(()) }
}

/// Runs something on so many threads; 0 for all cores.
pub(crate) fn in_threads<T: Send>(
    threads: usize,
    run: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    if threads == 0 {
        return run();
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| Failure::Io(format!("cannot start {threads} threads: {e}")))?;
    pool.install(run)
}
