//! What verification found, in three degrees: proven from the files at hand, attested by the maker, or not checked.

use serde::Serialize;

use crate::certificate::Requirement;
use crate::opening::Opened;
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
    /// Whether the files and the policy are those that the certificate lists, whatever they are worth.
    pub matching: bool,
    /// The signatures that stand, whoever made them.
    pub signatures: Vec<SignedBy>,
    /// Those of them whose keys were asked for; nothing where nobody was asked for.
    pub signed_by: Option<Vec<SignedBy>>,
    /// The last day on which the release may be relied on, if its policy states one.
    pub valid_until: Option<String>,
    /// Whether that day is not over; nothing where there is no such day, or nobody said which day it is.
    pub fresh: Option<bool>,
    /// What was found about opened rows; nothing where none were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<Opened>,
}

/// A signature that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignedBy {
    /// The key, as OpenSSH writes it.
    pub key: String,
    /// Its fingerprint.
    pub fingerprint: String,
    /// Whose it is, as far as the caller's file of keys says so; never the release's own word.
    pub name: Option<String>,
}

/// Whether a problem is with the files or the policy themselves.
fn unmatched(kind: ProblemKind) -> bool {
    use ProblemKind::{Certificate, Digest, ExtraFile, File, MissingFile, Policy, Signature};
    [Certificate, Digest, ExtraFile, File, MissingFile, Policy, Signature].contains(&kind)
}

/// Whether a problem is with what was asked for beside the claims: who signed, on which day, and which rows
/// were opened.
fn asked_for(kind: ProblemKind) -> bool {
    [ProblemKind::Signer, ProblemKind::Expired, ProblemKind::Opening].contains(&kind)
}

impl Verdict {
    /// Whether everything that was asked for holds: the release is valid, matching, signed and fresh.
    pub fn stands(&self) -> bool {
        self.valid && !self.problems.iter().any(Problem::is_violation)
    }

    /// The same verdict, `valid` and `matching` as its problems say.
    pub(crate) fn settled(mut self) -> Verdict {
        let violated = |test: fn(ProblemKind) -> bool| self.problems.iter().any(|p| p.is_violation() && test(p.kind));
        (self.valid, self.matching) = (!violated(|kind| !asked_for(kind)), !violated(unmatched));
        self
    }

    /// A verdict on a release that could not be looked at.
    pub fn invalid(problems: Vec<Problem>) -> Verdict {
        Verdict {
            matching: false,
            signatures: Vec::new(),
            signed_by: None,
            valid_until: None,
            fresh: None,
            opened: None,
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
        self.settled()
    }
}
