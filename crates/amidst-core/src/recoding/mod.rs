//! A recoding: what each row of the table becomes in the release.
//!
//! May use: `frequency`, `hierarchy`, `ids`, `parameter`, and what those use.

pub(crate) mod covering;

use std::borrow::Cow;

use crate::frequency::{self, Entry, FrequencySet, Groups};
use crate::hierarchy::{Cell, Generalization, TOP};
use crate::ids::{ClassId, TupleId};

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
    /// The class of masked rows, if there is one: its cells are the tops, and the release prints `*` for every one.
    pub masked: Option<u32>,
    /// What the cells of each class are published as, one text per quasi column, where that is not their labels.
    pub shown: Option<Vec<Vec<String>>>,
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
    /// The class; none for rows that are left out.
    pub class: Option<ClassId>,
    /// The tuple of the frequency set.
    pub tuple: TupleId,
    /// The entry, with the number of rows in this class.
    pub entry: Entry,
}

impl Recoding {
    /// The full-domain recoding to `levels`: every tuple's class is its generalized tuple. Nothing is suppressed.
    pub fn full_domain(set: &FrequencySet, generalizations: &[Generalization], levels: &[usize]) -> Self {
        Self::full_domain_of(set, generalizations, levels, |_| true)
    }

    /// The full-domain recoding of the tuples that `keep` names; the others are suppressed.
    pub fn full_domain_of(
        set: &FrequencySet,
        generalizations: &[Generalization],
        levels: &[usize],
        keep: impl Fn(usize) -> bool,
    ) -> Self {
        let mut index: rustc_hash::FxHashMap<Vec<u32>, u32> = rustc_hash::FxHashMap::default();
        let mut classes: Vec<Vec<Cell>> = Vec::new();
        let mut class_of = Vec::with_capacity(set.len());
        let mut values = Vec::with_capacity(set.width);
        for tuple in 0..set.len() {
            if !keep(tuple) {
                class_of.push(SUPPRESSED);
                continue;
            }
            values.clear();
            values.extend(
                (set.tuple(tuple).iter().zip(generalizations).zip(levels))
                    .map(|((&code, g), &level)| g.levels[level].of[code as usize]),
            );
            let class = match index.get(&values) {
                Some(&class) => class,
                None => {
                    let cells = values.iter().zip(levels);
                    classes.push(cells.map(|(&value, &level)| Cell::Node { level: level as u32, value }).collect());
                    index.insert(values.clone(), classes.len() as u32 - 1);
                    classes.len() as u32 - 1
                }
            };
            class_of.push(class);
        }
        Recoding {
            classes,
            assignment: Assignment::Tuples(class_of),
            levels: Some(levels.to_vec()),
            masked: None,
            shown: None,
        }
    }

    /// What a cell of a class is published as, in the quasi column at `column`.
    pub fn label<'a>(&'a self, class: usize, column: usize, generalization: &'a Generalization) -> Cow<'a, str> {
        match &self.shown {
            _ if self.masked.is_some_and(|masked| masked as usize == class) => Cow::Borrowed(TOP),
            Some(shown) => Cow::Borrowed(&shown[class][column]),
            None => generalization.label(&self.classes[class][column]),
        }
    }

    /// Every part of the release, suppressed ones included, in the order of the frequency set.
    pub fn for_each_part(&self, set: &FrequencySet, mut visit: impl FnMut(Part)) {
        let published = |class: u32| Some(ClassId(class)).filter(|_| class != SUPPRESSED);
        for tuple in 0..set.len() {
            let first = set.groups.offsets[tuple];
            let id = TupleId(tuple as u32);
            for (i, &entry) in set.groups.get(tuple).iter().enumerate() {
                match &self.assignment {
                    Assignment::Tuples(class_of) => visit(Part { class: published(class_of[tuple]), tuple: id, entry }),
                    Assignment::Entries { offsets, runs } => {
                        for &(class, rows) in &runs[offsets[first + i]..offsets[first + i + 1]] {
                            visit(Part { class: published(class), tuple: id, entry: Entry { rows, ..entry } });
                        }
                    }
                }
            }
        }
    }

    /// The entries of each class, and the number of suppressed rows.
    pub fn groups(&self, set: &FrequencySet) -> (Groups, u64) {
        let mut suppressed = 0;
        if let (Assignment::Tuples(class_of), false) = (&self.assignment, set.persons) {
            let lost = (0..set.len()).filter(|&tuple| class_of[tuple] == SUPPRESSED);
            suppressed = lost.map(|tuple| frequency::rows(set.groups.get(tuple))).sum();
            let class = |tuple: usize| Some(class_of[tuple]).filter(|&class| class != SUPPRESSED);
            return (set.groups.regroup(class, self.classes.len(), set.sensitive_count()), suppressed);
        }
        let mut pairs = Vec::new();
        self.for_each_part(set, |part| match part.class {
            None => suppressed += part.entry.rows,
            Some(class) => pairs.push((class.0, part.entry)),
        });
        (Groups::collect(self.classes.len(), pairs), suppressed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frequency::NOBODY;
    use crate::ids::SensitiveId;

    #[test]
    fn regrouping_tuples_is_collecting_their_entries() {
        // Sixty tuples with scattered sensitive values, over seven classes, some of them suppressed.
        let mut set = FrequencySet { width: 1, sensitive_width: 1, sensitive: (0..5).collect(), ..Default::default() };
        set.groups.offsets.push(0);
        for tuple in 0..60u32 {
            set.tuples.push(tuple);
            for sensitive in (0..5).filter(|s| (tuple * 7 + s * 3) % 4 < 2).map(SensitiveId) {
                set.groups.entries.push(Entry { sensitive, person: NOBODY, rows: u64::from(tuple % 9 + 1) });
            }
            set.groups.offsets.push(set.groups.entries.len());
        }
        let class_of = |tuple: usize| if tuple % 8 == 7 { SUPPRESSED } else { (tuple * 5 % 7) as u32 };
        let tuples = Recoding {
            classes: vec![Vec::new(); 8],
            assignment: Assignment::Tuples((0..60).map(class_of).collect()),
            levels: None,
            masked: None,
            shown: None,
        };
        let runs = Recoding {
            assignment: Assignment::Entries {
                offsets: (0..=set.groups.entries.len()).collect(),
                runs: (set.tuple_of_entry().iter().zip(&set.groups.entries))
                    .map(|(&tuple, entry)| (class_of(tuple as usize), entry.rows))
                    .collect(),
            },
            ..tuples.clone()
        };
        let (groups, suppressed) = tuples.groups(&set);
        assert_eq!((groups.clone(), suppressed), runs.groups(&set));
        assert_eq!(groups.len(), 8);
        assert!(groups.get(7).is_empty() && suppressed > 0);
    }
}
