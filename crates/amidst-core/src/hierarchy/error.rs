//! What is wrong with a hierarchy, and where.

use std::fmt;

/// How many defects of one file an error tells at most; the others are counted.
pub(super) const MOST_TOLD: usize = 10;

/// Why a hierarchy cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HierarchyError {
    /// The key of the recipe that is wrong; empty when the recipe as a whole is.
    pub key: String,
    /// The file with the defect, when the hierarchy comes from one.
    pub file: Option<String>,
    /// The line of that file, from 1.
    pub line: Option<usize>,
    /// What is wrong and how to mend it.
    pub message: String,
    /// Further defects of the same file, in the order of its lines; only the first few.
    pub others: Vec<Defect>,
    /// How many defects are neither in `message` nor in `others`.
    pub untold: usize,
}

/// One thing that is wrong or odd in a hierarchy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    /// The line, from 1; none when the whole file is meant.
    pub line: Option<usize>,
    /// What is wrong and how to mend it.
    pub message: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl HierarchyError {
    /// An error about `key` of the recipe.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        HierarchyError {
            key: key.into(),
            file: None,
            line: None,
            message: message.into(),
            others: Vec::new(),
            untold: 0,
        }
    }

    /// An error about the file that `key` names, from all its defects.
    pub(super) fn in_file(key: &str, file: &str, defects: Vec<Defect>) -> Self {
        let total = defects.len();
        let mut defects = defects.into_iter();
        let first = defects.next();
        let others: Vec<Defect> = defects.take(MOST_TOLD - 1).collect();
        HierarchyError {
            key: key.to_string(),
            file: Some(file.to_string()),
            line: first.as_ref().and_then(|d| d.line),
            message: first.map(|d| d.message).unwrap_or_default(),
            untold: total.saturating_sub(others.len() + 1),
            others,
        }
    }
}

impl fmt::Display for HierarchyError {
    /// One line: the first defect, where it is, and how many more there are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}, line {line}: {}", self.message)?,
            (Some(file), None) => write!(f, "{file}: {}", self.message)?,
            (None, _) => f.write_str(&self.message)?,
        }
        match self.others.len() + self.untold {
            0 => Ok(()),
            1 => f.write_str(" (and 1 more defect)"),
            more => write!(f, " (and {more} more defects)"),
        }
    }
}

impl std::error::Error for HierarchyError {}
