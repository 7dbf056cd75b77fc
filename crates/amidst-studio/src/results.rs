//! What jobs found, with the text of the policy that it was made from.

use std::sync::Arc;

use amidst::anonymize::Release;
use amidst::audit::Survey;
use amidst::core::lattice::Explored;
use amidst::explore::local;
use amidst::overview::{Association, FirstRows, Overview, Tree};
use amidst::prepare::Prepared;
use serde_json::Value;

use crate::places::Problems;

/// Everything that was found.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// The first rows of the table that was looked at last, and where it was read; there before anything else is.
    pub first: Option<(String, Arc<FirstRows>)>,
    /// The table in figures, and where it was read.
    pub overview: Option<(String, Arc<Overview>)>,
    /// What singles people out in it.
    pub survey: Option<Arc<Survey>>,
    /// The policy, held against the table.
    pub checked: Option<Arc<Checked>>,
    /// The last table that a policy fitted.
    pub fitted: Option<Arc<Fitted>>,
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
    /// Why no release can satisfy it, where none can.
    pub impossible: Option<String>,
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
    /// What local algorithms make of the table.
    Local(local::Compared),
}

/// A release, to be compared with its table.
#[derive(Debug)]
pub struct Compared {
    /// The release.
    pub release: Release,
    /// How much two columns say about each other, before and after.
    pub pairs: Vec<Association>,
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
