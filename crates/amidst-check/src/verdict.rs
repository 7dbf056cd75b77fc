//! The result of verification. Each claim is proven from the files at hand, attested by the maker, or not checked.

use serde::Serialize;

use crate::certificate::Requirement;
use crate::opening::Opened;
use crate::problem::{Problem, ProblemKind};

/// How well a claim is established.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimStatus {
    /// Recomputed from the published files.
    Proven,
    /// Stated by the maker; the published files neither contradict nor prove it.
    Attested,
    /// Not checked.
    NotChecked,
}

impl ClaimStatus {
    /// Its name in messages.
    pub fn word(self) -> &'static str {
        match self {
            ClaimStatus::Proven => "proven",
            ClaimStatus::Attested => "attested",
            ClaimStatus::NotChecked => "not checked",
        }
    }
}

/// A requirement with the figures that the checker computed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The requirement.
    #[serde(flatten)]
    pub requirement: Requirement,
    /// How well it is established.
    pub verdict: ClaimStatus,
}

/// The scope of the proof.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Proven {
    /// The columns whose cells form the classes.
    pub quasi: Vec<String>,
    /// The columns whose values requirements protect.
    pub sensitive: Vec<String>,
    /// Other published columns, about which nothing is claimed.
    pub others: Vec<String>,
    /// Rows of the release.
    pub rows: u64,
    /// Number of them that are in a class, that is, not waived.
    pub protected: u64,
    /// Number of classes.
    pub classes: u64,
    /// Number of rows that no other row equals on all published columns.
    pub unique: u64,
}

/// The result of verification.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// Whether no violation was found and something was proven.
    pub valid: bool,
    /// The requirements with the figures that the checker computed.
    pub requirements: Vec<Found>,
    /// Violations, and notes on what could not be checked.
    pub problems: Vec<Problem>,
    /// The scope of the proof; `None` when the release could not be read.
    pub proven: Option<Proven>,
    /// Statements of the maker that the files cannot decide.
    pub attested: Vec<String>,
    /// What was not checked.
    pub not_checked: Vec<String>,
    /// Whether files and policy are those that the certificate lists, regardless of whether its claims hold.
    pub matching: bool,
    /// All valid signatures, whether or not their keys were asked for.
    pub signatures: Vec<SignedBy>,
    /// The signatures by the requested signers; `None` when no signer was requested.
    pub signed_by: Option<Vec<SignedBy>>,
    /// The last day on which the release may be relied on, if its policy states one.
    pub valid_until: Option<String>,
    /// Whether that day is not over; `None` when the policy states no day or the caller gives no current day.
    pub fresh: Option<bool>,
    /// The findings on opened rows; `None` when none were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<Opened>,
}

/// A valid signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignedBy {
    /// The key, as OpenSSH writes it.
    pub key: String,
    /// Its fingerprint.
    pub fingerprint: String,
    /// The owner of the key according to the caller's file of keys, never according to the release.
    pub name: Option<String>,
}

/// Whether a problem concerns the files or the policy themselves.
fn unmatched(kind: ProblemKind) -> bool {
    use ProblemKind::{Certificate, Digest, ExtraFile, File, MissingFile, Policy, Signature};
    [Certificate, Digest, ExtraFile, File, MissingFile, Policy, Signature].contains(&kind)
}

/// Whether a problem concerns something requested in addition to the claims: signers, day, opened rows.
fn asked_for(kind: ProblemKind) -> bool {
    [ProblemKind::Signer, ProblemKind::Expired, ProblemKind::Opening].contains(&kind)
}

impl Verdict {
    /// Whether everything that was requested holds: the release is valid, its files match, it is signed and not
    /// expired.
    pub fn stands(&self) -> bool {
        self.valid && !self.problems.iter().any(Problem::is_violation)
    }

    /// Sets `valid` and `matching` according to the problems.
    pub(crate) fn concluded(mut self) -> Verdict {
        let violated = |test: fn(ProblemKind) -> bool| self.problems.iter().any(|p| p.is_violation() && test(p.kind));
        (self.valid, self.matching) = (!violated(|kind| !asked_for(kind)), !violated(unmatched));
        self
    }

    /// A verdict on a release that could not be checked.
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

    /// The same verdict, in which unproven requirements and attested statements count against the release.
    pub fn strict(mut self) -> Verdict {
        for found in self.requirements.iter().filter(|found| found.verdict != ClaimStatus::Proven) {
            let message = format!("{} is {}, not proven", found.requirement.model, found.verdict.word());
            self.problems.push(Problem::violation(ProblemKind::NotVerifiable, message));
        }
        for what in &self.attested {
            self.problems.push(Problem::violation(ProblemKind::NotVerifiable, format!("only attested: {what}")));
        }
        self.concluded()
    }
}
