//! Long work in the background: one thread each, watched and stopped from any page.
//!
//! There is at most one job of a kind. A job that ends stays in the list until the next of its kind begins, so that a
//! page which is loaded later sees how it went.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use amidst::Failure;
use amidst::job::{Job, Stage};
use serde_json::{Value, json};

use crate::places::Problems;

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Looks at the table.
    Look,
    /// Finds what singles people out.
    Survey,
    /// Holds the policy against the table.
    Check,
    /// Looks at what is possible.
    Explore,
    /// Makes a release in memory.
    Compare,
    /// Publishes a release.
    Publish,
    /// Verifies what was published.
    Verify,
    /// Works on a series.
    Series,
}

/// All kinds with their names in addresses, and what they do in words.
pub const KINDS: &[(Kind, &str, &str)] = &[
    (Kind::Look, "look", "looking at the table"),
    (Kind::Survey, "survey", "counting who is singled out"),
    (Kind::Check, "check", "holding the policy against the table"),
    (Kind::Explore, "explore", "exploring"),
    (Kind::Compare, "compare", "making a release to look at"),
    (Kind::Publish, "publish", "publishing"),
    (Kind::Verify, "verify", "verifying"),
    (Kind::Series, "series", "working on the series"),
];

impl Kind {
    /// The kind of that name.
    pub fn find(name: &str) -> Option<Kind> {
        KINDS.iter().find(|k| k.1 == name).map(|k| k.0)
    }

    /// Its name in addresses.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|k| k.0 == self).map_or("", |k| k.1)
    }

    /// What it does, in words.
    pub fn words(self) -> &'static str {
        KINDS.iter().find(|k| k.0 == self).map_or("", |k| k.2)
    }
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// With a result.
    Done,
    /// Because somebody stopped it.
    Stopped,
    /// Without a result.
    Failed(Problems),
}

/// A job.
#[derive(Debug)]
pub struct Running {
    kind: Kind,
    cancel: AtomicBool,
    progress: Mutex<(Stage, f64)>,
    ending: Mutex<Option<Ending>>,
    started: Instant,
}

impl Running {
    /// How it ended, once it has.
    pub fn ending(&self) -> Option<Ending> {
        lock(&self.ending).clone()
    }

    /// What it is doing, and how far it is with that.
    pub fn progress(&self) -> (Stage, f64) {
        *lock(&self.progress)
    }

    fn to_json(&self) -> Value {
        let (stage, share) = self.progress();
        let stage = match stage {
            Stage::Read => "reading",
            Stage::Search => "searching",
            Stage::Write => "writing",
            Stage::Check => "checking",
        };
        let state = match self.ending() {
            None => "running",
            Some(Ending::Done) => "done",
            Some(Ending::Stopped) => "stopped",
            Some(Ending::Failed(_)) => "failed",
        };
        json!({"kind": self.kind.name(), "words": self.kind.words(), "state": state, "stage": stage, "share": share,
               "seconds": self.started.elapsed().as_secs()})
    }
}

/// All jobs of a studio.
#[derive(Debug, Default)]
pub struct Jobs {
    list: Mutex<Vec<Arc<Running>>>,
    /// Counts whatever a page must show anew.
    version: AtomicU64,
    ended: Condvar,
}

impl Jobs {
    /// A number that grows when something happened that pages show.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }

    /// Tells pages that something happened.
    pub fn changed(&self) {
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// The last job of a kind.
    pub fn of(&self, kind: Kind) -> Option<Arc<Running>> {
        lock(&self.list).iter().find(|job| job.kind == kind).cloned()
    }

    /// Whether a job of a kind is running.
    pub fn runs(&self, kind: Kind) -> bool {
        self.of(kind).is_some_and(|job| job.ending().is_none())
    }

    /// Why the last job of a kind has no result.
    pub fn problems(&self, kind: Kind) -> Problems {
        match self.of(kind).and_then(|job| job.ending()) {
            Some(Ending::Failed(problems)) => problems,
            _ => Problems::default(),
        }
    }

    /// Asks a job to stop.
    pub fn stop(&self, kind: Kind) {
        if let Some(job) = self.of(kind) {
            job.cancel.store(true, Ordering::Relaxed);
        }
    }

    /// Forgets how the last job of a kind ended: what it tells is no longer so.
    pub fn forget(&self, kind: Kind) {
        lock(&self.list).retain(|job| job.kind != kind || job.ending().is_none());
    }

    /// Asks all jobs to stop.
    pub fn stop_all(&self) {
        lock(&self.list).iter().for_each(|job| job.cancel.store(true, Ordering::Relaxed));
    }

    /// What pages are told.
    pub fn to_json(&self) -> Value {
        Value::Array(lock(&self.list).iter().map(|job| job.to_json()).collect())
    }

    /// Starts a job. One of the same kind is stopped first; where that one publishes, it is left alone and nothing is
    /// started.
    pub fn start<F>(self: &Arc<Self>, kind: Kind, work: F)
    where
        F: FnOnce(&Job<'_>) -> Result<(), Failure> + Send + 'static,
    {
        let lasting = matches!(kind, Kind::Publish | Kind::Series);
        let job = Arc::new(Running {
            kind,
            cancel: AtomicBool::new(false),
            progress: Mutex::new((Stage::Read, 0.0)),
            ending: Mutex::new(None),
            started: Instant::now(),
        });
        {
            let mut list = lock(&self.list);
            if let Some(old) = list.iter().find(|old| old.kind == kind) {
                if lasting && old.ending().is_none() {
                    return;
                }
                old.cancel.store(true, Ordering::Relaxed);
            }
            list.retain(|old| old.kind != kind);
            list.push(Arc::clone(&job));
        }
        self.changed();
        let jobs = Arc::clone(self);
        let run = move || {
            let progress = |stage, share| *lock(&job.progress) = (stage, share);
            let as_job = Job { cancel: &job.cancel, progress: &progress, ..Job::default() };
            let done = catch_unwind(AssertUnwindSafe(|| work(&as_job)));
            let ending = match done {
                Ok(Ok(())) => Ending::Done,
                Ok(Err(Failure::Cancelled)) => Ending::Stopped,
                Ok(Err(failure)) => Ending::Failed(Problems::from(&failure)),
                Err(_) => {
                    Ending::Failed(Problems::at(&[], "a defect in Amidst; nothing was written. Please report it"))
                }
            };
            *lock(&job.ending) = Some(ending);
            jobs.changed();
            jobs.ended.notify_all();
        };
        // A machine that has no thread to spare does the work at once.
        let name = format!("studio-{}", kind.name());
        if let Err(e) = std::thread::Builder::new().name(name).spawn(run) {
            let problem = Problems::at(&[], format!("cannot start a thread: {e}"));
            if let Some(job) = self.of(kind) {
                *lock(&job.ending) = Some(Ending::Failed(problem));
            }
            self.changed();
        }
    }

    /// Waits until no job runs.
    pub fn wait(&self) {
        let mut list = lock(&self.list);
        while list.iter().any(|job| job.ending().is_none()) {
            let timeout = std::time::Duration::from_millis(50);
            list = self.ended.wait_timeout(list, timeout).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A lock that a panic elsewhere does not close.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_stopped_by_the_next_of_its_kind() {
        let jobs = Arc::new(Jobs::default());
        let wait = |job: &Job<'_>| {
            while !job.cancel.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            Err(Failure::Cancelled)
        };
        jobs.start(Kind::Explore, wait);
        let first = jobs.of(Kind::Explore).unwrap();
        jobs.start(Kind::Explore, |_| Ok(()));
        jobs.wait();
        while first.ending().is_none() {
            std::thread::yield_now();
        }
        assert_eq!(first.ending(), Some(Ending::Stopped));
        assert_eq!(jobs.of(Kind::Explore).unwrap().ending(), Some(Ending::Done));
        jobs.start(Kind::Publish, wait);
        let first = jobs.of(Kind::Publish).unwrap();
        jobs.start(Kind::Publish, |_| Ok(()));
        assert!(Arc::ptr_eq(&first, &jobs.of(Kind::Publish).unwrap()), "who publishes is not disturbed");
        jobs.stop(Kind::Publish);
        jobs.wait();
        assert_eq!(first.ending(), Some(Ending::Stopped));
    }

    #[test]
    fn a_defect_ends_the_job_and_nothing_else() {
        let jobs = Arc::new(Jobs::default());
        let before = jobs.version();
        jobs.start(Kind::Check, |_| panic!("on purpose"));
        jobs.wait();
        assert!(matches!(jobs.of(Kind::Check).unwrap().ending(), Some(Ending::Failed(_))));
        assert!(!jobs.problems(Kind::Check).is_empty() && jobs.version() > before);
    }
}
