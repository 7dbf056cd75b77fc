//! A recoding: what each row of the table becomes in the release.

use crate::frequency::{Entry, FrequencySet, Groups};
use crate::hierarchy::{Cell, Generalization};

/// The class of rows that are left out of the release.
pub const SUPPRESSED: u32 = u32::MAX;

/// The classes of a release, and which rows go where.
#[derive(Debug, Clone)]
pub struct Recoding {
    /// The generalized tuple of each class, one cell per quasi column.
    pub classes: Vec<Vec<Cell>>,
    /// Which rows go where.
    pub assignment: Assignment,
    /// The level of each quasi column, when the recoding is full-domain.
    pub levels: Option<Vec<usize>>,
}

/// Which rows go where.
#[derive(Debug, Clone)]
pub enum Assignment {
    /// The class of each tuple, or [`SUPPRESSED`]: rows that agree stay together.
    Tuples(Vec<u32>),
    /// The rows of each entry in runs (class, rows), as many as the entry has; taken in row order.
    Entries {
        /// Entry `e` has the runs from `offsets[e]` to `offsets[e + 1]`.
        offsets: Vec<usize>,
        /// (class or [`SUPPRESSED`], rows).
        runs: Vec<(u32, u64)>,
    },
}

/// Rows of one tuple and sensitive value in one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The class, or [`SUPPRESSED`].
    pub class: u32,
    /// The tuple of the frequency set.
    pub tuple: u32,
    /// The entry, with the number of rows in this class.
    pub entry: Entry,
}

impl Recoding {
    /// The full-domain recoding to `levels`: every tuple's class is its generalized tuple. Nothing is suppressed.
    pub fn full_domain(set: &FrequencySet, generalizations: &[Generalization], levels: &[usize]) -> Self {
        let mut index = rustc_hash::FxHashMap::default();
        let mut classes = Vec::new();
        let mut class_of = Vec::with_capacity(set.len());
        for tuple in 0..set.len() {
            let values: Vec<u32> = (set.tuple(tuple).iter().zip(generalizations).zip(levels))
                .map(|((&code, g), &level)| g.levels[level].of[code as usize])
                .collect();
            let class = *index.entry(values).or_insert_with_key(|values| {
                let cells = values.iter().zip(levels);
                classes.push(cells.map(|(&value, &level)| Cell::Node { level: level as u32, value }).collect());
                classes.len() as u32 - 1
            });
            class_of.push(class);
        }
        Recoding { classes, assignment: Assignment::Tuples(class_of), levels: Some(levels.to_vec()) }
    }

    /// Every part of the release, suppressed ones included, in the order of the frequency set.
    pub fn for_each_part(&self, set: &FrequencySet, mut visit: impl FnMut(Part)) {
        for tuple in 0..set.len() {
            let first = set.groups.offsets[tuple];
            for (i, &entry) in set.groups.get(tuple).iter().enumerate() {
                match &self.assignment {
                    Assignment::Tuples(class_of) => visit(Part { class: class_of[tuple], tuple: tuple as u32, entry }),
                    Assignment::Entries { offsets, runs } => {
                        for &(class, rows) in &runs[offsets[first + i]..offsets[first + i + 1]] {
                            visit(Part { class, tuple: tuple as u32, entry: Entry { rows, ..entry } });
                        }
                    }
                }
            }
        }
    }

    /// The entries of each class, and the number of suppressed rows.
    pub fn groups(&self, set: &FrequencySet) -> (Groups, u64) {
        let mut suppressed = 0;
        let mut pairs = Vec::new();
        self.for_each_part(set, |part| match part.class {
            SUPPRESSED => suppressed += part.entry.rows,
            class => pairs.push((class, part.entry)),
        });
        (Groups::collect(self.classes.len(), pairs), suppressed)
    }
}
