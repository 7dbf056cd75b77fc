//! What the checker has to say against a release: one line each, with a kind that programs can tell apart.

use serde::{Deserialize, Serialize};

use crate::printable::printable;

/// What a problem is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// The certificate is not valid JSON, not in canonical form, or contradicts itself.
    Certificate,
    /// The certificate does not say what its policy, or the given one, says.
    Policy,
    /// A digest does not match what it covers.
    Digest,
    /// A file that the certificate lists is not there.
    MissingFile,
    /// Something lies in the release's folder that the certificate does not list.
    ExtraFile,
    /// A file is listed twice, leads elsewhere, or is no ordinary file.
    File,
    /// A file cannot be read as the table it claims to be.
    Unreadable,
    /// A file is not in the one form in which releases are written, so that others may read other rows in it.
    Form,
    /// A column is missing or appears twice.
    Column,
    /// The number of rows is not what the certificate says.
    Rows,
    /// The number of classes is not what the certificate says.
    Classes,
    /// A sensitive value contradicts the table's distribution in the certificate.
    Distribution,
    /// A requirement does not hold.
    Requirement,
    /// A requirement holds, but its figures are not those of the certificate.
    Measured,
    /// Columns that are published as they are single people out, and nobody says why.
    Insensitive,
    /// Labels of a sensitive column look alike, but count as several values.
    Labels,
    /// The release does not follow from the original table.
    Original,
    /// The signed statement in the release is not about it, or was altered.
    Signature,
    /// Nobody of those who were asked for has signed.
    Signer,
    /// Opened rows are not in the committed table, or the release does not cover them.
    Opening,
    /// The last day on which the release may be relied on is over.
    Expired,
    /// The version does not follow the one before it.
    Chain,
    /// Nothing is proven: no quasi column, no requirement, or nobody protected.
    Nothing,
    /// Something that the given files cannot decide.
    NotVerifiable,
}

/// How much a problem weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The release is not what the certificate says.
    Violation,
    /// The checker could not look at this; the rest stands.
    Note,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What it is about.
    pub kind: ProblemKind,
    /// Whether it makes the release invalid.
    pub severity: Severity,
    /// What is wrong and where, in one line.
    pub message: String,
}

impl Problem {
    /// A problem that makes the release invalid.
    pub fn violation(kind: ProblemKind, message: impl Into<String>) -> Problem {
        Problem { kind, severity: Severity::Violation, message: one_line(message.into()) }
    }

    /// A remark that leaves the verdict alone.
    pub fn note(kind: ProblemKind, message: impl Into<String>) -> Problem {
        Problem { kind, severity: Severity::Note, message: one_line(message.into()) }
    }

    /// Whether the problem makes the release invalid.
    pub fn is_violation(&self) -> bool {
        self.severity == Severity::Violation
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// Messages quote file names, column names, cells and library errors, any of which may hold what acts on a terminal.
fn one_line(text: String) -> String {
    match printable(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(shown) => shown,
    }
}
