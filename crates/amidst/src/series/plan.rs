//! What the next version would be, told before anything is committed.

use amidst_core::metric::OF_VERSIONS;
use std::path::PathBuf;

use super::audit::SeriesAudit;
use super::draft::Repair;
use super::draft::{Context, Draft, SeriesHead, safe_since};
use super::past::past;
use super::record::PublishedState;
use super::state::kept;
use super::{Mode, Series};
use crate::Failure;
use crate::job::Job;
use crate::words::count;

/// What `amidst series publish` would do now.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Plan {
    /// How versions are made.
    pub mode: Mode,
    /// The last version that is published, or 0.
    pub last: u64,
    /// Rows of the series now.
    pub rows: u64,
    /// Rows that the last version does not have.
    pub rows_in: u64,
    /// Rows of the last version that are no longer there.
    pub rows_out: u64,
    /// The next version; none where nothing has changed since the last.
    pub next: Option<Planned>,
    /// The version that [`Series::publish_safe`] would publish instead; none where the next one exposes nobody, or the
    /// mode knows none.
    pub safe: Option<Planned>,
    /// The first version that was made safe, if any was: then `publish` makes the next one safe as well.
    pub safe_since: Option<u64>,
    /// The folder of the series.
    pub folder: PathBuf,
}

/// A version that could be published.
#[derive(Debug, Clone)]
pub struct Planned {
    /// Rows that stand for somebody.
    pub rows: u64,
    /// Counterfeits: rows that stand for no person.
    pub counterfeits: u64,
    /// Its classes.
    pub classes: u64,
    /// Its information loss, in all and per cell (GCP).
    pub loss: [Option<f64>; 2],
    /// What is changed to make it safe; none where it is as the technique of the mode makes it.
    pub repair: Option<Repair>,
    /// Whether it satisfies the policy by itself: rows that do so in no way wait for others, and are no version.
    pub satisfies: bool,
    /// What all versions together would reveal.
    pub audit: SeriesAudit,
}

impl Planned {
    pub(super) fn of(draft: &Draft) -> Planned {
        Planned {
            rows: draft.state.rows() as u64,
            counterfeits: draft.counterfeits(),
            classes: draft.composed.judged.class_count(),
            loss: OF_VERSIONS.map(|metric| draft.metric(metric.id)),
            repair: draft.repair,
            satisfies: draft.satisfies(),
            audit: draft.audit.clone(),
        }
    }

    /// What it costs to be safe, beside a version that is not.
    pub fn cost(&self, plain: &Planned) -> String {
        let repair = self.repair.unwrap_or_default();
        let mut parts = vec![count(self.rows, "row of a person", "rows of people")];
        parts.extend(some(repair.held_back, "row held back until it can join", "rows held back until they can join"));
        parts.extend(some(self.counterfeits, "counterfeit row", "counterfeit rows"));
        parts.extend(some(repair.kept, "class kept as it was", "classes kept as they were"));
        parts.extend(some(
            repair.joined,
            "new row in the place of one that left",
            "new rows in the places of some that left",
        ));
        parts.extend(some(repair.apart, "class of new rows", "classes of new rows"));
        if let (Some(own), Some(other)) = (self.loss[1], plain.loss[1]) {
            parts.push(format!("information loss {:.1} % instead of {:.1} %", 100.0 * own, 100.0 * other));
        }
        parts.join(", ")
    }
}

fn some(n: u64, one: &str, many: &str) -> Option<String> {
    match n {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {many}")),
    }
}

impl Plan {
    /// Whether `publish` would publish it without more being said, as it is or made safe.
    pub fn publishable(&self) -> bool {
        let plain = self.next.as_ref().is_some_and(|next| next.satisfies && !next.audit.finds_leaks());
        plain || self.is_made_safe()
    }

    /// Whether `publish` would make it safe without being asked to, as the versions before it.
    pub fn is_made_safe(&self) -> bool {
        self.safe_since.is_some() && self.safe.as_ref().is_some_and(|safe| !safe.audit.finds_leaks())
    }
}

impl Series {
    /// What [`Series::publish`] would do now. Nothing is changed.
    ///
    /// # Errors
    /// When the state cannot be read, or no version can be made of the rows.
    pub fn plan(&self, job: &Job<'_>) -> Result<Plan, Failure> {
        let work = self.store.read_whole()?;
        let of = Context { policy: &self.policy, mode: self.mode, header: &self.header };
        let head = SeriesHead::load(&work)?;
        let known = PublishedState::load(&work, of.policy, &kept(of.policy, of.header), job)?;
        let last = known.lives(&past(&work, head.version, known.sensitive_width())?, head.published);
        let now = known.present(&work)?;
        let mut plan = Plan {
            mode: self.mode,
            last: head.version,
            rows: now.len() as u64,
            rows_in: now.difference(&last).count() as u64,
            rows_out: last.difference(&now).count() as u64,
            next: None,
            safe: None,
            safe_since: safe_since(&work)?,
            folder: self.folder.clone(),
        };
        if head.changed() {
            let draft = Draft::plain(&work, of, &known, job)?;
            draft.refuse_raw(of, &self.folder)?;
            if draft.mendable(of.mode) {
                plan.safe = draft.mended(&work, of, &known, head, job)?.as_ref().map(Planned::of);
            }
            plan.next = Some(Planned::of(&draft));
        }
        Ok(plan)
    }
}
