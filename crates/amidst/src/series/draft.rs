//! The next version before it is a file: its rows, its classes, and what it would reveal together with those before it.
//!
//! Nothing is written here, so that a plan can be told before anything is committed.

use std::path::Path;

use super::Mode;
use super::audit::SeriesAudit;
use super::compose::{Composed, compose, compose_lacking};
use super::extend::reasoned;
use super::record::{PublishedState, Record};
use super::state::{State, kept};
use super::store::Work;
use crate::Failure;
use crate::job::Job;
use crate::policy::Policy;

/// What a series is, as far as its next version needs it.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub policy: &'a Policy,
    pub mode: Mode,
    pub header: &'a [String],
}

/// Where a series stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeriesHead {
    /// The last version, or 0.
    pub version: u64,
    /// The last batch in it.
    pub published: u64,
    /// The last batch.
    pub batch: u64,
}

impl SeriesHead {
    pub fn load(work: &Work<'_>) -> Result<SeriesHead, Failure> {
        Ok(SeriesHead {
            version: work.number("SELECT COALESCE(MAX(number), 0) FROM version")?,
            published: work.number("SELECT COALESCE(MAX(batch), 0) FROM version")?,
            batch: work.number("SELECT COALESCE(MAX(number), 0) FROM batch")?,
        })
    }

    /// Whether there is something to publish.
    pub fn changed(&self) -> bool {
        self.version == 0 || self.batch > self.published
    }
}

/// The fact by which a series remembers which version was the first to be made safe.
pub(super) const SAFE_SINCE: &str = "safe_since";

/// The first version that was made safe, if any was.
pub(super) fn safe_since(work: &Work<'_>) -> Result<Option<u64>, Failure> {
    Ok(work.meta(SAFE_SINCE)?.and_then(|number| number.parse().ok()))
}

/// The fact by which a series remembers that its rows satisfy the policy in no way, not even as one class.
pub(super) const LACKING: &str = "lacking";

/// Whether the rows of the series satisfy its policy in no way.
pub(super) fn lacking(work: &Work<'_>) -> Result<bool, Failure> {
    Ok(work.meta(LACKING)?.is_some_and(|value| value == "1"))
}

/// When a version that would expose somebody is made safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MakeSafe {
    /// Where a version before it was.
    AsBefore,
    Always,
    Never,
}

/// What was changed to make a version safe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repair {
    /// Classes that are published as they were in the version before.
    pub kept: u64,
    /// New rows that took the place of somebody who left.
    pub joined: u64,
    /// Classes of rows that were not in the version before.
    pub apart: u64,
    /// Rows that wait until they can join.
    pub held_back: u64,
}

/// A version that could be published.
pub(super) struct Draft {
    /// The rows that it publishes.
    pub state: State,
    pub composed: Composed,
    pub record: Record,
    pub audit: SeriesAudit,
    /// What was changed to make it safe; none where it is as the technique of the mode makes it.
    pub repair: Option<Repair>,
}

impl Draft {
    /// The version that the rows make as they are, by the technique of the mode.
    pub fn plain(work: &Work<'_>, of: Context<'_>, known: &PublishedState, job: &Job<'_>) -> Result<Draft, Failure> {
        let state = State::load(work, kept(of.policy, of.header))?;
        let composed = match lacking(work)? {
            true => compose_lacking(of.policy, &state, job)?,
            false => compose(of.policy, of.mode, &state, job)?,
        };
        let record = Record::of(&state, &composed, of.mode == Mode::MInvariant);
        let audit = known.audit(of.policy, Some(&record))?;
        Ok(Draft { state, composed, record, audit, repair: None })
    }

    /// Whether it can be, and has to be, mended.
    pub fn mendable(&self, mode: Mode) -> bool {
        mode == Mode::Maintain && (!self.audit.newly.is_empty() || !self.satisfies())
    }

    /// Whether it satisfies the policy by itself; where rows lack something it does not, and is no version.
    pub fn satisfies(&self) -> bool {
        self.composed.judged.holds
    }

    /// Fails where columns that are published as they are single people out, or link versions.
    pub fn refuse_raw(&self, of: Context<'_>, folder: &Path) -> Result<(), Failure> {
        let (prepared, counterfeits) = (&self.composed.prepared, self.counterfeits());
        let raw = prepared.refuse_raw(of.policy, counterfeits);
        let raw = raw.and_then(|()| prepared.refuse_links(of.policy, counterfeits, &self.composed.class_of));
        raw.map_err(|e| reasoned(e, folder))
    }

    /// Counterfeits: rows that stand for no person.
    pub fn counterfeits(&self) -> u64 {
        self.composed.counterfeits.unwrap_or(0)
    }

    /// What a metric says of it.
    pub fn metric(&self, id: &str) -> Option<f64> {
        self.composed.judged.metrics.iter().find(|m| m.0 == id).and_then(|m| m.1)
    }
}
