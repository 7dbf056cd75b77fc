//! How work is stopped, watched and limited: the one carrier of what a caller wants besides the result.
//!
//! Every long step takes a [`Control`], calls [`Control::checkpoint`] often, and hands it on. It is a few references,
//! so that a step that wants to be watched differently copies it: `Control { progress: &scaled, ..*control }`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// How work is stopped, watched and limited. The default is never stopped, not watched, and has all time and
/// cores.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    /// Set from outside to stop.
    pub cancel: &'a AtomicBool,
    /// Set from outside to be content with the best found so far. Only a search that goes on improving looks at it.
    pub enough: &'a AtomicBool,
    /// Told now and then how a search that goes on improving stands.
    pub improvement: &'a (dyn Fn(Improvement) + Sync),
    /// Told how far each stage is, from 0 to 1.
    pub progress: &'a (dyn Fn(Stage, f64) + Sync),
    /// When a search ends with the best that it has found by then.
    pub deadline: Option<Instant>,
    /// Whether the deadline stops the work, as `cancel` does: what is unfinished by then is of no use.
    pub stop_when_overdue: bool,
    /// The number of threads; 0 for all cores.
    pub threads: usize,
}

/// What is being done.
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

/// How a search that goes on improving stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Improvement {
    /// The best so far, as a share of the worst possible loss (gcp).
    Loss(f64),
    /// What no release can lose less than, by the search's metric.
    Bound(f64),
}

/// Work was asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped")]
pub struct Cancelled;

impl Default for Control<'_> {
    fn default() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Control {
            cancel: &NEVER,
            enough: &NEVER,
            improvement: &|_| {},
            progress: &|_, _| {},
            deadline: None,
            stop_when_overdue: false,
            threads: 0,
        }
    }
}

impl std::fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Control { cancel, deadline, threads, .. } = self;
        f.debug_struct("Control")
            .field("cancel", cancel)
            .field("deadline", deadline)
            .field("threads", threads)
            .finish_non_exhaustive()
    }
}

impl<'a> Control<'a> {
    /// Fails when the work was asked to stop; call it often.
    ///
    /// # Errors
    /// [`Cancelled`] when it was.
    pub fn checkpoint(&self) -> Result<(), Cancelled> {
        let stopped = self.cancel.load(Ordering::Relaxed) || self.stop_when_overdue && self.overdue();
        if stopped { Err(Cancelled) } else { Ok(()) }
    }

    /// Whether the caller is content with the best found so far.
    pub fn content(&self) -> bool {
        self.enough.load(Ordering::Relaxed)
    }

    /// Whether the time is over.
    pub fn overdue(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Tells how far a stage is.
    pub fn tell(&self, stage: Stage, share: f64) {
        (self.progress)(stage, share);
    }

    /// The same without progress.
    #[must_use]
    pub fn quiet(&self) -> Control<'a> {
        Control { progress: &|_, _| {}, ..*self }
    }

    /// The same for work that is of use only where it is finished in time.
    #[must_use]
    pub fn stopping_when_overdue(&self) -> Control<'a> {
        Control { stop_when_overdue: true, ..*self }
    }

    /// The same without a time limit.
    #[must_use]
    pub fn without_deadline(&self) -> Control<'a> {
        Control { deadline: None, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_stops_when_its_flag_is_set_and_not_before() {
        assert!(Control::default().checkpoint().is_ok() && !Control::default().overdue());
        let stop = AtomicBool::new(false);
        let control = Control { cancel: &stop, deadline: Some(Instant::now()), ..Control::default() };
        assert!(control.checkpoint().is_ok() && control.overdue());
        assert_eq!(control.stopping_when_overdue().checkpoint(), Err(Cancelled));
        assert!(control.without_deadline().stopping_when_overdue().checkpoint().is_ok());
        stop.store(true, Ordering::Relaxed);
        assert_eq!(control.checkpoint(), Err(Cancelled));
        assert_eq!(control.quiet().without_deadline().checkpoint(), Err(Cancelled));
        assert!(!control.without_deadline().overdue());
    }
}
