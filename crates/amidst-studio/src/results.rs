//! What jobs found, with the text of the policy and the files that it was made from.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use amidst::anonymize::Release;
use amidst::audit::Survey;
use amidst::core::internal::lattice::Explored;
use amidst::explore::{How, NodeVerdict, Seen, local, why_not};
use amidst::folder::public_part;
use amidst::io::{Format, ReadError, ReadOptions};
use amidst::job::Job;
use amidst::overview::{self, Association, CrossTable, FirstRows, GroupLoss, Overview, Sides, Tree};
use amidst::policy::{Data, MissingRows, Policy};
use amidst::prepare::Prepared;
use amidst::report::{Partition, sections};
use maud::Markup;
use serde_json::Value;

use crate::jobs::lock;
use crate::places::Problems;
use crate::project::Project;
use crate::snapshot::{Files, Snapshot};

/// How often pages are told of what a search sees.
const SHOWN_EVERY: Duration = Duration::from_millis(500);

/// Verdicts of nodes that are kept.
const MOST_VERDICTS: usize = 2000;

/// Cross tables that are kept.
const MOST_CROSSED: usize = 200;

/// Everything that was found.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// The first rows of the table that was looked at last, and how it was read; there before anything else is.
    pub first: Option<(Reading, Arc<FirstRows>)>,
    /// The sheets of its workbook, where there are several to choose from.
    pub sheets: Arc<Vec<String>>,
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
    pub explored: Option<Arc<Exploration>>,
    /// A release in memory.
    pub compared: Option<Arc<Made<Compared>>>,
    /// What was published last.
    pub published: Option<Arc<Made<Publication>>>,
    /// What was verified last.
    pub verified: Option<Arc<Verified>>,
    /// What was done to a series last.
    pub series: Option<Arc<SeriesOutcome>>,
}

/// What something was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Basis {
    /// The text of the policy.
    pub text: String,
    /// The files that the policy names, as they were before any was read.
    pub files: Snapshot,
}

/// Where a table is, how it is read, and what its files held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The file, folder, pattern or address.
    pub source: String,
    /// What a policy states of its cells; guessed where there is none yet.
    pub stated: Option<Data>,
    /// What its files held before they were read.
    pub files: Snapshot,
}

impl Reading {
    /// A table that there is no policy for.
    pub fn of_source(source: String, files: &Files) -> Reading {
        let files = files.snapshot(amidst::io::files_of(&source));
        Reading { source, stated: None, files }
    }

    /// The table of a policy; none where it names none.
    pub fn of_policy(policy: &Policy, files: &Files) -> Option<Reading> {
        let source = policy.origin.resolve_source(policy.data.input.as_ref()?);
        // What becomes of rows later has no part in reading them.
        let stated = Data { input: None, missing_rows: MissingRows::default(), ..policy.data.clone() };
        Some(Reading { stated: Some(stated), ..Reading::of_source(source, files) })
    }
}

/// The sheets of a workbook that hold something, where there are several; none of any other table.
pub fn sheets_of(source: &str) -> Vec<String> {
    let files = amidst::io::files_of(source);
    let is_workbook = |file: &&PathBuf| matches!(Format::of_path(file), Ok(Format::Xlsx | Format::Ods));
    let Some(workbook) = files.first().filter(is_workbook) else { return Vec::new() };
    // A reader that is told of no sheet chooses none where there are several, and says which there are.
    let options = ReadOptions { max_rows: Some(1), threads: 1, ..ReadOptions::default() };
    match amidst::io::read(&workbook.to_string_lossy(), &options) {
        Err(ReadError::SeveralSheets { sheets, .. }) => sheets,
        _ => Vec::new(),
    }
}

/// Something that was made from a policy.
#[derive(Debug)]
pub struct Made<T> {
    /// What it was made from.
    pub basis: Basis,
    /// What was made.
    pub made: T,
}

/// A policy, held against its table.
#[derive(Debug)]
pub struct Checked {
    /// What it was made from.
    pub basis: Basis,
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
    /// What it was made from.
    pub basis: Basis,
    /// What the policy says.
    pub policy: Policy,
    /// The table, ready to be searched.
    pub prepared: Prepared,
    /// The hierarchies with their rows.
    pub trees: Vec<Tree>,
    /// For each requirement, the strongest value that is possible, in words.
    pub strongest: Vec<Option<String>>,
    /// What was asked about single nodes so far.
    verdicts: Mutex<HashMap<Vec<usize>, Result<NodeVerdict, String>>>,
}

impl Fitted {
    /// A table that a policy fitted, with what is possible for each requirement.
    pub fn new(basis: Basis, policy: Policy, prepared: Prepared, strongest: Vec<Option<String>>) -> Fitted {
        let trees = overview::trees(&prepared);
        Fitted { basis, policy, prepared, trees, strongest, verdicts: Mutex::default() }
    }

    /// Why a node of the lattice can be published, or why not.
    ///
    /// # Errors
    /// When there is no such node; in words.
    pub fn verdict(&self, levels: &[usize]) -> Result<NodeVerdict, String> {
        if let Some(known) = lock(&self.verdicts).get(levels) {
            return known.clone();
        }
        let names = self.prepared.generalizations.iter().map(|g| g.name.clone());
        let named: Vec<(String, usize)> = names.zip(levels.iter().copied()).collect();
        let found = why_not(&self.policy, &self.prepared, &named, &Job::default())
            .map(|why| NodeVerdict::of(&self.policy, &self.prepared, &why))
            .map_err(|failure| failure.to_string());
        let mut known = lock(&self.verdicts);
        // Addresses may name any node.
        if known.len() >= MOST_VERDICTS {
            known.clear();
        }
        known.insert(levels.to_vec(), found.clone());
        found
    }
}

/// What is possible with a table that a policy fitted.
#[derive(Debug)]
pub struct Exploration {
    /// The table and its policy.
    pub fitted: Arc<Fitted>,
    /// What was found.
    pub possible: Possible,
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
    /// The table and its policy.
    pub fitted: Arc<Fitted>,
    state: Mutex<Grown>,
}

#[derive(Debug, Default)]
struct Grown {
    looked: u64,
    points: Vec<Seen>,
    told: Option<Instant>,
}

impl Grown {
    fn take(&mut self, seen: Seen) -> bool {
        self.looked += 1;
        let beats = |a: &Seen, b: &Seen| a.cost <= b.cost && a.max_risk <= b.max_risk;
        let is_node = |seen: &Seen| matches!(seen.how, How::Levels(_));
        let beaten = is_node(&seen) && self.points.iter().any(|p| is_node(p) && beats(p, &seen));
        if seen.cost.is_finite() && !beaten {
            self.points.retain(|p| !(is_node(p) && is_node(&seen) && beats(&seen, p)));
            self.points.push(seen);
        }
        let due = self.told.is_none_or(|told| told.elapsed() >= SHOWN_EVERY);
        if due {
            self.told = Some(Instant::now());
        }
        due
    }
}

impl Growing {
    /// Nothing yet.
    pub fn new(fitted: Arc<Fitted>) -> Growing {
        Growing { fitted, state: Mutex::default() }
    }

    /// Takes a release in that was found on the way; tells whether it is time to show it. Of nodes only those stay that
    /// no other beats in both loss and risk.
    pub fn take(&self, seen: Seen) -> bool {
        lock(&self.state).take(seen)
    }

    /// How many ways to release the table were looked at, and those that are worth a look.
    pub fn so_far(&self) -> (u64, Vec<Seen>) {
        let state = lock(&self.state);
        (state.looked, state.points.clone())
    }
}

/// Two columns together, in the table and in the release.
pub type BeforeAndAfter = (CrossTable, CrossTable);

/// A release, to be compared with its table.
#[derive(Debug)]
pub struct Compared {
    /// The release.
    pub release: Release,
    /// How much two columns say about each other, before and after.
    pub pairs: Vec<Association>,
    /// The names of the columns that can be compared.
    pub columns: Vec<String>,
    /// What groups of people lose, by the values of any column; those that lose most first.
    pub losses: Vec<GroupLoss>,
    /// The first rows of the release.
    pub rows: FirstRows,
    /// The sections of the report, drawn: name, heading and content.
    pub sections: Vec<(&'static str, &'static str, Markup)>,
    /// The table and the release, row by row.
    sides: Sides,
    /// Pairs of columns that were asked for so far.
    crossed: Mutex<HashMap<(usize, usize), Arc<BeforeAndAfter>>>,
}

impl Compared {
    /// A release beside its table.
    pub fn new(release: Release, sides: Sides, pairs: Vec<Association>, rows: FirstRows) -> Compared {
        let sections = sections(&release.outcome.report);
        Compared {
            columns: sides.columns.iter().map(|column| column.name.clone()).collect(),
            losses: sides.losses(None),
            release,
            pairs,
            rows,
            sections,
            sides,
            crossed: Mutex::default(),
        }
    }

    /// Two columns together, before and after; none where there are no such columns.
    pub fn cross(&self, first: usize, second: usize) -> Option<Arc<BeforeAndAfter>> {
        if let Some(known) = lock(&self.crossed).get(&(first, second)) {
            return Some(Arc::clone(known));
        }
        let found = Arc::new(self.sides.cross(first, second)?);
        let mut known = lock(&self.crossed);
        if known.len() >= MOST_CROSSED {
            known.clear();
        }
        known.insert((first, second), Arc::clone(&found));
        Some(found)
    }
}

/// What was published.
#[derive(Debug)]
pub struct Publication {
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
    /// What the files of the release held before they were verified.
    pub files: Snapshot,
}

impl Verified {
    /// What the files of the release hold now.
    pub fn files_now(&self, project: &Project, files: &Files) -> Snapshot {
        files.snapshot(project.inside(&self.folder).map(|path| files_in(&path)).unwrap_or_default())
    }
}

/// The files of a release that are handed over.
pub fn files_in(release: &Path) -> Vec<PathBuf> {
    let public = public_part(release).unwrap_or_else(|| release.to_path_buf());
    std::fs::read_dir(public).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// What was done to a series.
#[derive(Debug)]
pub struct SeriesOutcome {
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
        let mut growing = Grown::default();
        let node = |level, cost, max_risk| Seen { how: How::Levels(vec![level]), cost, max_risk };
        assert!(growing.take(node(0, 0.5, 0.5)), "the first is shown at once");
        assert!(!growing.take(node(1, 0.6, 0.6)), "worse in both, and too early to be told of");
        growing.take(node(2, 0.7, 0.1));
        growing.take(node(3, 0.4, 0.5));
        growing.take(node(4, f64::INFINITY, 0.0));
        growing.take(Seen { how: How::Algorithm("mondrian"), cost: 0.9, max_risk: 0.9 });
        let costs: Vec<f64> = growing.points.iter().map(|p| p.cost).collect();
        assert_eq!((growing.looked, costs), (6, vec![0.7, 0.4, 0.9]));
    }
}
