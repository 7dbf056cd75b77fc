//! Work away from the interpreter: it goes on meanwhile, is told how far the work is, and may stop it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use amidst::Failure;
use amidst::job::{Job, Stage};
use pyo3::prelude::*;

use crate::errors::{defect, raise};

/// How often signals are looked for, where the caller does not say.
const TICK: Duration = Duration::from_millis(100);

/// How long work may go on that was asked to stop; then it is left to end by itself.
const PATIENCE: Duration = Duration::from_millis(700);

/// Room for deep searches.
const STACK: usize = 32 << 20;

/// How a caller wants the work done.
#[derive(Default, FromPyObject)]
pub struct Control {
    /// How often, in seconds, signals are looked for and progress is told.
    tick: Option<f64>,
    /// The number of threads; 0 for all cores.
    threads: usize,
    /// Called with the name of a stage and how far it is, from 0 to 1, where somebody wants to know.
    progress: Option<Py<PyAny>>,
    /// Called from time to time: it gives unused memory back to the system.
    tidy: Option<Py<PyAny>>,
}

/// What the worker tells.
#[derive(Default)]
struct Told {
    stop: AtomicBool,
    stage: AtomicU64,
    /// In millionths.
    share: AtomicU64,
}

const STAGES: [&str; 4] = ["read", "search", "write", "check"];

impl Told {
    fn tell(&self, stage: Stage, share: f64) {
        let number = match stage {
            Stage::Read => 0,
            Stage::Search => 1,
            Stage::Write => 2,
            Stage::Check => 3,
        };
        self.stage.store(number, Ordering::Relaxed);
        self.share.store((share.clamp(0.0, 1.0) * 1e6) as u64, Ordering::Relaxed);
    }

    fn read(&self) -> (&'static str, f64) {
        let stage = STAGES[self.stage.load(Ordering::Relaxed) as usize % STAGES.len()];
        (stage, self.share.load(Ordering::Relaxed) as f64 / 1e6)
    }
}

/// Runs `work` on a thread of its own. An interrupt stops it within a second.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    control: &Control,
    work: impl FnOnce(&Job<'_>) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    watch(py, control, Some(PATIENCE), work)
}

/// The same for work that writes: an interrupt is told only once the work has ended, so that nothing appears on the
/// disk after it. A second interrupt does not wait.
pub fn run_writing<T: Send + 'static>(
    py: Python<'_>,
    control: &Control,
    work: impl FnOnce(&Job<'_>) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    watch(py, control, None, work)
}

type Ended<T> = std::thread::Result<Result<T, Failure>>;

fn watch<T: Send + 'static>(
    py: Python<'_>,
    control: &Control,
    patience: Option<Duration>,
    work: impl FnOnce(&Job<'_>) -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    let told = Arc::new(Told::default());
    let (own, threads) = (Arc::clone(&told), control.threads);
    let (done, mut waiting) = channel();
    let worker = move || {
        let progress = |stage: Stage, share: f64| own.tell(stage, share);
        let job = Job { cancel: &own.stop, progress: &progress, threads, ..Job::default() };
        // The caller may have stopped waiting.
        let _ = done.send(catch_unwind(AssertUnwindSafe(|| work(&job))));
    };
    let thread = std::thread::Builder::new().name("amidst".into()).stack_size(STACK).spawn(worker);
    thread.map_err(|e| raise(py, &Failure::Io(format!("cannot start a thread: {e}"))))?;
    let tick = control.tick.and_then(|tick| Duration::try_from_secs_f64(tick).ok()).unwrap_or(TICK);
    loop {
        let received;
        (waiting, received) = wait(py, waiting, tick);
        match received {
            Ok(Ok(result)) => return result.map_err(|failure| raise(py, &failure)),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => return Err(defect(py)),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(interrupt) = py.check_signals().and_then(|()| tell(py, control, &told)) {
                    told.stop.store(true, Ordering::Relaxed);
                    return Err(leave(py, waiting, patience, interrupt));
                }
            }
        }
    }
}

fn wait<T: Send>(py: Python<'_>, end: Receiver<T>, limit: Duration) -> (Receiver<T>, Result<T, RecvTimeoutError>) {
    py.detach(move || {
        let received = end.recv_timeout(limit);
        (end, received)
    })
}

/// Gives work that was asked to stop the time to do so.
fn leave<T: Send>(py: Python<'_>, mut end: Receiver<Ended<T>>, patience: Option<Duration>, interrupt: PyErr) -> PyErr {
    loop {
        let received;
        (end, received) = wait(py, end, patience.unwrap_or(TICK));
        let ended = !matches!(received, Err(RecvTimeoutError::Timeout));
        // What the work has made may be large.
        py.detach(move || drop(received));
        if ended || patience.is_some() || py.check_signals().is_err() {
            return interrupt;
        }
    }
}

fn tell(py: Python<'_>, control: &Control, told: &Told) -> PyResult<()> {
    if let Some(tidy) = &control.tidy {
        tidy.call0(py)?;
    }
    match &control.progress {
        Some(progress) => progress.call1(py, told.read()).map(drop),
        None => Ok(()),
    }
}
