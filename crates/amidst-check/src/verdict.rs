//! What verification found, in three degrees: proven from the files at hand, attested by the maker, or not checked.

use serde::Serialize;

use crate::certificate::Requirement;
use crate::problem::{Problem, ProblemKind};

/// How much is known of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Recomputed from the published files.
    Proven,
    /// The maker says so; the published files do not contradict it, and cannot tell.
    Attested,
    /// Not looked at.
    NotChecked,
}

impl Standing {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Proven => "proven",
            Standing::Attested => "attested",
            Standing::NotChecked => "not checked",
        }
    }
}

/// A requirement with the figures that the checker computed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The requirement.
    #[serde(flatten)]
    pub requirement: Requirement,
    /// How much of it is known.
    pub verdict: Standing,
}

/// What the proof is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Proven {
    /// The columns on whose cells the classes are made.
    pub quasi: Vec<String>,
    /// The columns whose values requirements protect.
    pub sensitive: Vec<String>,
    /// Columns published beside them, about which nothing is claimed.
    pub others: Vec<String>,
    /// Rows of the release.
    pub rows: u64,
    /// Of them, rows that are in a class.
    pub protected: u64,
    /// Classes.
    pub classes: u64,
    /// Rows that no other row agrees with, on all published columns.
    pub unique: u64,
}

/// What verification found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether nothing was found against the release, and something was proven.
    pub valid: bool,
    /// The requirements with the figures that the checker computed.
    pub requirements: Vec<Found>,
    /// Violations, and notes on what could not be looked at.
    pub problems: Vec<Problem>,
    /// What the proof is about; nothing where the release could not be read.
    pub proven: Option<Proven>,
    /// What the maker of the release says and the files cannot tell.
    pub attested: Vec<String>,
    /// What was not looked at.
    pub not_checked: Vec<String>,
}

impl Verdict {
    /// A verdict on a release that could not be looked at.
    pub fn invalid(problems: Vec<Problem>) -> Verdict {
        Verdict {
            valid: false,
            requirements: Vec::new(),
            problems,
            proven: None,
            attested: Vec::new(),
            not_checked: Vec::new(),
        }
    }

    /// The same, but that a requirement which is not proven, and whatever is only attested, counts against the release.
    pub fn strict(mut self) -> Verdict {
        for found in self.requirements.iter().filter(|found| found.verdict != Standing::Proven) {
            let message = format!("{} is {}, not proven", found.requirement.model, found.verdict.word());
            self.problems.push(Problem::violation(ProblemKind::NotVerifiable, message));
        }
        for what in &self.attested {
            self.problems.push(Problem::violation(ProblemKind::NotVerifiable, format!("only attested: {what}")));
        }
        self.valid = !self.problems.iter().any(Problem::is_violation);
        self
    }
}
