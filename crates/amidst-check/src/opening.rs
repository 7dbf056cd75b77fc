//! The opening file, in which the owner discloses rows of the input to an auditor, and the checker's findings on them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::problem::{Problem, ProblemKind};

/// The content of an opening file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// The hash scheme: [`crate::SCHEME`].
    pub scheme: String,
    /// The digest of the certificate whose commitment covers the rows.
    pub certificate: String,
    /// The disclosed rows, ascending by leaf, each leaf once.
    pub rows: Vec<OpenedRow>,
}

/// One disclosed row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenedRow {
    /// Index of its leaf in the Merkle tree, from 0. It is independent of the row's position in the input.
    pub leaf: u64,
    /// Its salt: 32 bytes in lowercase hexadecimal.
    pub salt: String,
    /// Its cells, in the order of the commitment's columns.
    pub cells: Vec<String>,
    /// By quasi column, the published labels that cover its value by the owner's hierarchies.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Vec<String>>,
    /// The sibling digests on the path from the leaf to the top, the leaf's own sibling first, in lowercase
    /// hexadecimal.
    pub path: Vec<String>,
}

/// What the checker found about opened rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Opened {
    /// Number of rows that are in the committed table.
    pub rows: u64,
    /// How many of them the release covers, matched to distinct released rows; `None` when this was not determined: a
    /// row is not in the committed table, or published cells do not cover originals (bounds, representative values).
    pub covered: Option<u64>,
    /// Claims of the owner about labels that cannot be recomputed from the files.
    pub labels: Vec<LabelSaid>,
}

/// The owner's claim that a label covers a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LabelSaid {
    /// The quasi column.
    pub column: String,
    /// The value of an opened row.
    pub value: String,
    /// The published label.
    pub label: String,
}

impl Opening {
    /// Reads an opening.
    ///
    /// # Errors
    /// When the text is not the JSON of an opening. The message gives line and column and quotes no value.
    pub fn parse(text: &str) -> Result<Opening, Problem> {
        serde_json::from_str(text).map_err(|e| failed("read", &e))
    }

    /// The opening as the JSON text to write to a file.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, Problem> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| text + "\n").map_err(|e| failed("written", &e))
    }
}

fn failed(done: &str, error: &serde_json::Error) -> Problem {
    // The parser's own message may quote a value of the file, which is personal data.
    let place = format!("line {}, column {}", error.line(), error.column());
    Problem::violation(ProblemKind::Opening, format!("the opening cannot be {done}: it is no such file ({place})"))
}
