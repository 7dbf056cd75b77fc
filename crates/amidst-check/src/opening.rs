//! The file in which an owner opens rows of the input, and what the checker finds about them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::problem::{Problem, ProblemKind};

/// Rows that are shown to an auditor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// How rows are hashed.
    pub scheme: String,
    /// The digest of the certificate that commits to them.
    pub certificate: String,
    /// The rows, in the order of the tree.
    pub rows: Vec<OpenedRow>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenedRow {
    /// Its place in the tree, from 0. It tells nothing about its place in the input.
    pub leaf: u64,
    /// Its salt, in hexadecimal.
    pub salt: String,
    /// Its cells, in the order of the commitment's columns.
    pub cells: Vec<String>,
    /// By quasi column, the published labels that cover its value by the owner's hierarchies.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, Vec<String>>,
    /// The digests beside its way to the top, from the leaf upwards, in hexadecimal.
    pub path: Vec<String>,
}

/// What was found about opened rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Opened {
    /// Rows that are in the committed table.
    pub rows: u64,
    /// How many of them the release covers, each by a row of its own; nothing where its cells cannot tell.
    pub covered: Option<u64>,
    /// What the owner says about labels, and nobody can recompute.
    pub labels: Vec<LabelSaid>,
}

/// The owner's word that a label covers a value.
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
    /// When the text is no opening.
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
    // The message of a reader may quote a value of the file, which is somebody's.
    let place = format!("line {}, column {}", error.line(), error.column());
    Problem::violation(ProblemKind::Opening, format!("the opening cannot be {done}: it is no such file ({place})"))
}
