//! What jobs found, with the text of the policy that it was made from.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use amidst::anonymize::Release;
use amidst::audit::Survey;
use amidst::core::internal::lattice::Explored;
use amidst::explore::{How, Seen, local};
use amidst::overview::{Association, FirstRows, Overview, Sides, Tree};
use amidst::policy::{Data, MissingRows, Policy};
use amidst::prepare::Prepared;
use amidst::report::Partition;
use serde_json::Value;

use crate::jobs::lock;
use crate::places::Problems;

/// How often pages are told of what a search sees.
const SHOWN_EVERY: Duration = Duration::from_millis(500);

/// Everything that was found.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// The first rows of the table that was looked at last, and how it was read; there before anything else is.
    pub first: Option<(Reading, Arc<FirstRows>)>,
    /// The table in figures, and how it was read.
    pub overview: Option<(Reading, Arc<Overview>)>,
    /// What singles people out in it.
    pub survey: Option<Arc<Survey>>,
    /// The policy, held against the table.
    pub checked: Option<Arc<Checked>>,
    /// The last table that a policy fitted.
    pub fitted: Option<Arc<Fitted>>,
    /// What a search has seen of that so far.
    pub growing: Option<Arc<Growing>>,
    /// What is possible.
    pub explored: Option<Arc<Made<Possible>>>,
    /// A release in memory.
    pub compared: Option<Arc<Made<Compared>>>,
    /// What was published last.
    pub published: Option<Arc<Made<Told>>>,
    /// What was verified last.
    pub verified: Option<Arc<Verified>>,
    /// What was done to a series last.
    pub series: Option<Arc<SeriesTold>>,
}

/// Where a table is, and how it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The file, folder, pattern or address.
    pub source: String,
    /// What a policy states of its cells; guessed where there is none yet.
    pub stated: Option<Data>,
}

impl Reading {
    /// A table that there is no policy for.
    pub fn of_source(source: String) -> Reading {
        Reading { source, stated: None }
    }

    /// The table of a policy; none where it names none.
    pub fn of_policy(policy: &Policy) -> Option<Reading> {
        let source = policy.origin.resolve_source(policy.data.input.as_ref()?);
        // What becomes of rows later has no part in reading them.
        let stated = Data { input: None, missing_rows: MissingRows::default(), ..policy.data.clone() };
        Some(Reading { source, stated: Some(stated) })
    }
}

/// Something that was made from a policy.
#[derive(Debug)]
pub struct Made<T> {
    /// The text of the policy.
    pub text: String,
    /// What was made.
    pub made: T,
}

/// A policy, held against its table.
#[derive(Debug)]
pub struct Checked {
    /// The text of the policy.
    pub text: String,
    /// What is wrong.
    pub problems: Problems,
    /// Why no release can satisfy it, where none can; at the parameter that asks too much, where it is known.
    pub impossible: Problems,
    /// What is usable but probably not meant.
    pub remarks: Vec<String>,
}

/// A table that a policy fitted.
#[derive(Debug)]
pub struct Fitted {
    /// The text of the policy.
    pub text: String,
    /// The table, ready to be searched.
    pub prepared: Prepared,
    /// The hierarchies with their rows.
    pub trees: Vec<Tree>,
    /// For each requirement, the strongest value that is possible, in words.
    pub strongest: Vec<Option<String>>,
}

/// What a search space offers.
#[derive(Debug)]
pub enum Possible {
    /// A lattice, with the names and heights of its columns.
    Lattice(Vec<(String, usize)>, Explored),
    /// What local algorithms make of the table, and where the classes of each lie.
    Local(local::Compared, Vec<(&'static str, Partition)>),
}

/// What a search has seen so far.
#[derive(Debug)]
pub struct Growing {
    /// The text of the policy.
    pub text: String,
    /// The names of the columns whose levels a node has.
    pub columns: Vec<String>,
    state: Mutex<Grown>,
}

#[derive(Debug, Default)]
struct Grown {
    looked: u64,
    points: Vec<Seen>,
    told: Option<Instant>,
}

impl Growing {
    /// Nothing yet.
    pub fn new(text: String, columns: Vec<String>) -> Growing {
        Growing { text, columns, state: Mutex::default() }
    }

    /// Takes a release in that was found on the way; tells whether it is time to show it. Of nodes only those stay that
    /// no other beats in both loss and risk.
    pub fn take(&self, seen: Seen) -> bool {
        let mut state = lock(&self.state);
        state.looked += 1;
        let beats = |a: &Seen, b: &Seen| a.cost <= b.cost && a.max_risk <= b.max_risk;
        let is_node = |seen: &Seen| matches!(seen.how, How::Levels(_));
        let beaten = is_node(&seen) && state.points.iter().any(|p| is_node(p) && beats(p, &seen));
        if seen.cost.is_finite() && !beaten {
            state.points.retain(|p| !(is_node(p) && is_node(&seen) && beats(&seen, p)));
            state.points.push(seen);
        }
        let due = state.told.is_none_or(|told| told.elapsed() >= SHOWN_EVERY);
        if due {
            state.told = Some(Instant::now());
        }
        due
    }

    /// How many ways to release the table were looked at, and those that are worth a look.
    pub fn so_far(&self) -> (u64, Vec<Seen>) {
        let state = lock(&self.state);
        (state.looked, state.points.clone())
    }
}

/// A release, to be compared with its table.
#[derive(Debug)]
pub struct Compared {
    /// The release.
    pub release: Release,
    /// How much two columns say about each other, before and after.
    pub pairs: Vec<Association>,
    /// The table and the release, row by row.
    pub sides: Sides,
    /// The first rows of the release.
    pub rows: FirstRows,
}

/// What was published.
#[derive(Debug)]
pub struct Told {
    /// Where, from the project's folder.
    pub folder: String,
    /// What the command line would print as JSON.
    pub json: Value,
    /// What in the policy is probably not meant.
    pub warnings: Vec<String>,
}

/// What the independent checker said.
#[derive(Debug)]
pub struct Verified {
    /// Where the release is, from the project's folder.
    pub folder: String,
    /// Whether every claim of the certificate holds.
    pub valid: bool,
    /// What does not hold.
    pub problems: Vec<String>,
    /// What was recomputed.
    pub claims: Vec<String>,
}

/// What was done to a series.
#[derive(Debug)]
pub struct SeriesTold {
    /// Its folder, from the project's.
    pub folder: String,
    /// What happened, in a sentence.
    pub sentence: String,
    /// What the audit of all versions says.
    pub audit: Option<(bool, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nodes_only_those_stay_that_no_other_beats() {
        let growing = Growing::new(String::new(), Vec::new());
        let node = |level, cost, max_risk| Seen { how: How::Levels(vec![level]), cost, max_risk };
        assert!(growing.take(node(0, 0.5, 0.5)), "the first is shown at once");
        assert!(!growing.take(node(1, 0.6, 0.6)), "worse in both, and too early to be told of");
        growing.take(node(2, 0.7, 0.1));
        growing.take(node(3, 0.4, 0.5));
        growing.take(node(4, f64::INFINITY, 0.0));
        growing.take(Seen { how: How::Algorithm("mondrian"), cost: 0.9, max_risk: 0.9 });
        let (looked, points) = growing.so_far();
        let costs: Vec<f64> = points.iter().map(|p| p.cost).collect();
        assert_eq!((looked, costs), (6, vec![0.7, 0.4, 0.9]));
    }
}
