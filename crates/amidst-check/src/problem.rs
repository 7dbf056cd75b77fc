//! A finding of the checker: one line of text, with a kind for programs.

use serde::{Deserialize, Serialize};

use crate::printable::printable;

/// What a problem is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// The certificate is not valid JSON, not in canonical form, or contradicts itself.
    Certificate,
    /// The certificate does not follow from its policy or from the one given.
    Policy,
    /// A digest does not match its content.
    Digest,
    /// A listed file does not exist.
    MissingFile,
    /// The release's folder contains something that the certificate does not list.
    ExtraFile,
    /// A file is listed twice, lies outside the folder, or is not an ordinary file.
    File,
    /// A file cannot be read as the table it claims to be.
    Unreadable,
    /// A file is not in the one form in which releases are written, so that other readers may see other rows.
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
    /// Insensitive columns single people out, and no reason is stated.
    Insensitive,
    /// Labels of a sensitive column look alike but count as different values.
    Labels,
    /// The release does not follow from the original table.
    Original,
    /// The signed statement is about something else, or was altered.
    Signature,
    /// None of the requested signers has signed.
    Signer,
    /// Opened rows are not in the committed table, or the release does not cover them.
    Opening,
    /// The last day on which the release may be relied on has passed.
    Expired,
    /// The version does not follow the previous one.
    Chain,
    /// Nothing is proven: no quasi column, no requirement, or no protected row.
    Nothing,
    /// The given files cannot decide something.
    NotVerifiable,
}

/// Whether a problem makes a release invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The release is not what the certificate says.
    Violation,
    /// Something could not be checked; the verdict does not change.
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

    /// A note, which does not change the verdict.
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

/// Messages quote file names, column names, cells and library errors, which may contain control characters.
fn one_line(text: String) -> String {
    match printable(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(shown) => shown,
    }
}
