//! Processes a stream of jobs on all threads and merges the results in order.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};

/// Ignores poisoning: a panic of another thread is propagated when the scope ends.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether another thread can be started: its stack takes address space, which may be limited.
fn can_spawn() -> bool {
    std::thread::Builder::new().spawn(|| ()).is_ok_and(|thread| thread.join().is_ok())
}

/// Runs `next` → `work` → `merge` over a stream of jobs.
///
/// `next` refills a job (whose buffers a thread reuses) and returns whether there was one; one thread at a time calls
/// it, so it sees the input in order. `work` runs on `threads` threads, each with its own state. `merge` runs on the
/// calling thread, in the order in which `next` returned the jobs, and may stop the run. At most three jobs per thread
/// are in progress, so memory stays bounded. The first error in the order of the input is returned. Without room for
/// threads everything runs on the calling thread.
pub(crate) fn run<Job: Default, State, Out: Send, E: Send>(
    threads: usize,
    mut next: impl FnMut(&mut Job) -> Result<bool, E> + Send,
    state: impl Fn(usize) -> State + Sync,
    work: impl Fn(&mut State, &mut Job) -> Out + Sync,
    mut merge: impl FnMut(Out) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    if threads <= 1 || !can_spawn() {
        let (mut state, mut job) = (state(0), Job::default());
        while next(&mut job)? {
            if merge(work(&mut state, &mut job))?.is_break() {
                break;
            }
        }
        return Ok(());
    }
    let shared = PipelineState {
        window: threads as u64 * 3,
        stop: AtomicBool::new(false),
        source: Mutex::new((0u64, next)),
        merged: Mutex::new(0u64),
        advanced: Condvar::new(),
    };
    let (sender, receiver) = mpsc::channel::<Done<Out, E>>();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let sender = sender.clone();
            let (shared, state, work) = (&shared, &state, &work);
            let run = move || {
                let (mut state, mut job) = (state(thread), Job::default());
                shared.serve(&mut job, &sender, |job| work(&mut state, job));
            };
            let spawned = std::thread::Builder::new().spawn_scoped(scope, run);
            // One thread suffices for all jobs; without any, nothing would be read.
            assert!(spawned.is_ok() || thread > 0, "no thread can be started");
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut expected = 0;
        let mut result = Ok(());
        'all: for (number, out) in receiver {
            waiting.insert(number, out);
            while let Some(out) = waiting.remove(&expected) {
                expected += 1;
                let flow = out.and_then(&mut merge);
                if !matches!(flow, Ok(ControlFlow::Continue(()))) {
                    result = flow.map(|_| ());
                    break 'all;
                }
                *lock(&shared.merged) = expected;
                shared.advanced.notify_all();
            }
        }
        // Under the lock, so that threads which wait for the window see the stop.
        let done = lock(&shared.merged);
        shared.stop.store(true, Ordering::Relaxed);
        drop(done);
        shared.advanced.notify_all();
        result
    })
}

/// The number of a job, and its result.
type Done<Out, E> = (u64, Result<Out, E>);

/// The shared state of a pipeline's threads.
struct PipelineState<N> {
    /// Maximum number of jobs in progress.
    window: u64,
    stop: AtomicBool,
    /// The number of the next job, and its source.
    source: Mutex<(u64, N)>,
    /// Number of merged jobs.
    merged: Mutex<u64>,
    advanced: Condvar,
}

impl<N> PipelineState<N> {
    /// Takes jobs in order, processes each and sends the result, until the source ends, an error occurs or the receiver
    /// is gone.
    fn serve<Job, Out, E>(
        &self,
        job: &mut Job,
        sender: &mpsc::Sender<Done<Out, E>>,
        mut work: impl FnMut(&mut Job) -> Out,
    ) where
        N: FnMut(&mut Job) -> Result<bool, E>,
    {
        loop {
            let mut guard = lock(&self.source);
            let (number, next) = &mut *guard;
            let mut done = lock(&self.merged);
            while *number >= *done + self.window && !self.stop.load(Ordering::Relaxed) {
                done = self.advanced.wait(done).unwrap_or_else(PoisonError::into_inner);
            }
            drop(done);
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let found = next(job);
            let own = *number;
            *number += 1;
            let out = match found {
                Ok(true) => {
                    drop(guard);
                    Ok(work(job))
                }
                Ok(false) => {
                    self.stop.store(true, Ordering::Relaxed);
                    return;
                }
                Err(error) => {
                    self.stop.store(true, Ordering::Relaxed);
                    Err(error)
                }
            };
            let over = out.is_err();
            if sender.send((own, out)).is_err() || over {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_is_in_order_and_the_first_error_wins() {
        for threads in [1, 2, 7] {
            let mut given = 0u32;
            let mut seen = Vec::new();
            let result = run(
                threads,
                |job: &mut u32| {
                    *job = given;
                    given += 1;
                    if given > 500 { Err("late") } else { Ok(true) }
                },
                |_| (),
                |(), job| *job,
                |out| {
                    seen.push(out);
                    Ok(ControlFlow::Continue(()))
                },
            );
            assert_eq!(result, Err("late"));
            assert_eq!(seen, (0..500).collect::<Vec<_>>());
        }
    }

    #[test]
    fn breaking_off_ends_all_threads() {
        let mut merged = 0;
        let result: Result<(), ()> = run(
            3,
            |_: &mut ()| Ok(true),
            |_| (),
            |(), ()| (),
            |()| {
                merged += 1;
                Ok(if merged == 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            },
        );
        assert_eq!((result, merged), (Ok(()), 100));
    }
}
