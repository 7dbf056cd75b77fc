//! Generalization hierarchies: how a value becomes less precise, level by level, up to one single top.
//!
//! A [`Hierarchy`] is a tree of labels, made by one of the builders of this folder. A [`Generalization`] is that tree
//! bound to the values a column really has; searches work on it, in codes.

mod generalization;

pub use generalization::{Cell, Generalization, Generalize, GeneralizedLevel};

use crate::parameter::Value;
use crate::table::{Column, Dictionary};

/// Every builder, by the key that names it in a policy.
pub const BUILDERS: &[Builder] = &[];

/// One way to make a hierarchy.
#[derive(Debug, Clone, Copy)]
pub struct Builder {
    /// The key in a policy: `hierarchy = { <id> = … }`.
    pub id: &'static str,
    /// What it does.
    pub definition: &'static str,
    /// An example of the whole value of `hierarchy`, in TOML.
    pub example: &'static str,
    /// The other keys that may stand beside it.
    pub options: &'static [&'static str],
    /// Makes the hierarchy for the values that `column` has.
    pub build: fn(&Recipe<'_>, &Column) -> Result<Hierarchy, HierarchyError>,
}

/// What a policy writes as `hierarchy = { … }`, and a way to read the files it names.
pub struct Recipe<'a> {
    /// The keys and values of the inline table.
    pub table: &'a [(String, Value)],
    /// Reads a file named in the recipe as text; the error says why it cannot be read.
    pub read: &'a dyn Fn(&str) -> Result<String, String>,
}

/// Why a hierarchy cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HierarchyError {
    /// The key of the recipe that is wrong.
    pub key: String,
    /// The file with the defect, when the hierarchy comes from one.
    pub file: Option<String>,
    /// The line of that file, from 1.
    pub line: Option<usize>,
    /// What is wrong and how to mend it.
    pub message: String,
}

/// Makes the hierarchy that a policy describes, for the values that `column` has.
pub fn build(recipe: &Recipe<'_>, column: &Column) -> Result<Hierarchy, HierarchyError> {
    let builder = BUILDERS.iter().find(|b| recipe.table.iter().any(|(key, _)| key == b.id));
    match builder {
        Some(builder) => (builder.build)(recipe, column),
        None => {
            let known: Vec<&str> = BUILDERS.iter().map(|b| b.id).collect();
            let message = format!("a hierarchy is made by one of {}", known.join(", "));
            Err(HierarchyError { key: String::new(), file: None, line: None, message })
        }
    }
}

/// Levels 0…h over a set of leaf values; level h has one single label.
#[derive(Debug, Clone)]
pub struct Hierarchy {
    /// The leaf values: level 0.
    pub leaves: Dictionary,
    /// Levels 1…h.
    pub levels: Vec<Level>,
}

/// One level above the leaves.
#[derive(Debug, Clone)]
pub struct Level {
    /// The label of each group.
    pub labels: Vec<String>,
    /// The group of each leaf.
    pub of_leaf: Vec<u32>,
}

/// The label of a fully generalized cell, where a hierarchy does not name its own.
pub const TOP: &str = "*";

impl Hierarchy {
    /// h: the number of levels above the values.
    pub fn height(&self) -> usize {
        self.levels.len()
    }

    /// The label of `leaf` at `level`.
    pub fn label(&self, leaf: u32, level: usize) -> &str {
        match level {
            0 => self.leaves.value(leaf),
            _ => {
                let level = &self.levels[level - 1];
                &level.labels[level.of_leaf[leaf as usize] as usize]
            }
        }
    }

    /// Adds the level `*` when the highest level has more than one label.
    pub fn close(&mut self) {
        let closed = match self.levels.last() {
            Some(level) => level.labels.len() <= 1,
            None => false,
        };
        if !closed {
            let of_leaf = vec![0; self.leaves.len()];
            self.levels.push(Level { labels: vec![TOP.to_string()], of_leaf });
        }
    }
}
