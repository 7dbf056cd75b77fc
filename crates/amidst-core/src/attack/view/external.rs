//! A table that an adversary holds, and what the labels of a release mean in it.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::hierarchy::Generalization;
use crate::table::Table;

/// A table about named persons, such as a voters' list.
#[derive(Debug, Clone, Copy)]
pub struct External<'a> {
    /// One row a person. Its columns are joined with the quasi columns of the same name.
    pub table: &'a Table,
    /// What labels mean that do not say it themselves, for each quasi column of this name.
    pub covers: &'a [(String, Covers)],
}

/// What hierarchy labels mean: the original values that each of them covers.
#[derive(Debug, Clone, Default)]
pub struct Covers {
    values: FxHashMap<String, BTreeSet<String>>,
}

impl Covers {
    /// The labels of a hierarchy that is bound to a column.
    pub fn of(generalization: &Generalization) -> Self {
        let mut covers = Covers::default();
        let Some((leaves, above)) = generalization.levels.split_first() else { return covers };
        for level in above {
            for (leaf, &group) in leaves.labels.iter().zip(&level.of) {
                if let Some(label) = level.labels.get(group as usize) {
                    covers.add(label, leaf);
                }
            }
        }
        covers
    }

    /// States that `label` covers `value`.
    pub fn add(&mut self, label: &str, value: &str) {
        match self.values.get_mut(label) {
            Some(values) => {
                values.insert(value.to_string());
            }
            None => {
                self.values.insert(label.to_string(), BTreeSet::from([value.to_string()]));
            }
        }
    }

    /// The values that `label` covers, where it is known.
    pub fn get(&self, label: &str) -> Option<&BTreeSet<String>> {
        self.values.get(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::{Hierarchy, Level};
    use crate::table::Column;

    #[test]
    fn a_hierarchy_says_what_its_labels_cover() {
        let column = Column::from_values("country", ["Canada", "USA", "India"]);
        let america = Level::by_key([true, false, true], |a| if a { "America".into() } else { "Asia".into() });
        let leaves = ["Canada", "India", "USA"].into_iter().collect();
        let hierarchy = Hierarchy { leaves, levels: vec![america, Level::top(3)] };
        let covers = Covers::of(&Generalization::bind(&column, Some(&hierarchy)).unwrap());
        assert_eq!(covers.get("America").unwrap().iter().collect::<Vec<_>>(), ["Canada", "USA"]);
        assert_eq!(covers.get("*").unwrap().len(), 3);
        assert_eq!(covers.get("Europe"), None);
    }
}
