//! Jobs of the façade: a [`Control`] with the façade's errors.

use crate::Failure;

pub use amidst_core::control::{Cancelled, Control, Improvement, Stage};

/// How a job runs, beside what its policy says.
pub type Job<'a> = Control<'a>;

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        Failure::Cancelled
    }
}

/// Fails when the job was asked to stop.
pub(crate) fn stop(job: &Job<'_>) -> Result<(), Failure> {
    Ok(job.checkpoint()?)
}

/// Runs something on this number of threads; 0 for all cores.
pub(crate) fn in_threads<T: Send>(
    threads: usize,
    run: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    if threads == 0 {
        return run();
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| {
        Failure::Io(format!("cannot start threads ({threads}); memory or the number of processes is limited: {e}"))
    })?;
    pool.install(run)
}
