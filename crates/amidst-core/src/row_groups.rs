//! How many rows share their cells: the sizes of the groups of rows that agree in some columns.
//!
//! The question how many rows are unique on everything that is published is about all columns of all rows, so this
//! counts as a search does, in codes. Rows that are left out are taken off afterwards; nothing is copied.

use crate::frequency::counting::combinations;
use crate::table::{Codes, Column};

/// The groups of rows that agree in some columns.
#[derive(Debug, Clone, Default)]
pub struct RowGroups {
    /// How many rows each group has.
    pub sizes: Vec<u64>,
    /// The group of each row.
    of_row: Vec<u32>,
}

impl RowGroups {
    /// Groups `rows` rows by these columns. Without columns all rows are one group.
    pub fn of(columns: &[&Column], rows: usize) -> Self {
        let columns: Vec<(&Codes, usize)> = columns.iter().map(|c| (&c.codes, c.dictionary.len())).collect();
        let found = combinations(&columns, rows);
        RowGroups { sizes: found.rows, of_row: found.of_row }
    }

    /// Takes rows off their groups.
    #[must_use]
    pub fn without(mut self, left_out: &[u32]) -> Self {
        for &row in left_out {
            if let Some(size) = self.of_row.get(row as usize).and_then(|&g| self.sizes.get_mut(g as usize)) {
                *size = size.saturating_sub(1);
            }
        }
        self
    }

    /// How many rows are alone in their group.
    pub fn unique(&self) -> u64 {
        self.sizes.iter().filter(|&&size| size == 1).count() as u64
    }

    /// The size of the smallest group that has rows.
    pub fn smallest(&self) -> Option<u64> {
        self.sizes.iter().copied().filter(|&size| size > 0).min()
    }

    /// The same groups with their sizes in persons, who may have several rows, and how many rows the groups of a single
    /// person have; of `rows`, the others being left out.
    pub fn persons(&self, person: &Codes, rows: impl Iterator<Item = u32>) -> Persons {
        let mut pairs: Vec<(u32, u32)> =
            rows.filter_map(|row| Some((*self.of_row.get(row as usize)?, person.get(row as usize)))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut sizes = vec![0u64; self.sizes.len()];
        pairs.iter().for_each(|&(group, _)| sizes[group as usize] += 1);
        let alone = sizes.iter().zip(&self.sizes).filter(|&(&persons, _)| persons == 1).map(|(_, &rows)| rows).sum();
        Persons { smallest: sizes.into_iter().filter(|&size| size > 0).min(), alone }
    }
}

/// Who shares rows, where persons have several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Persons {
    /// The fewest persons of a group.
    pub smallest: Option<u64>,
    /// Rows of groups that a single person has.
    pub alone: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_counted_without_those_left_out() {
        let a = Column::from_values("a", ["x", "x", "y", "y", "y"]);
        let b = Column::from_values("b", ["1", "2", "1", "1", "2"]);
        let person = Column::from_values("p", ["p", "q", "r", "r", "p"]);
        let both = RowGroups::of(&[&a, &b], 5);
        assert_eq!((both.unique(), both.smallest()), (3, Some(1)));
        assert_eq!(both.persons(&person.codes, 0..5), Persons { smallest: Some(1), alone: 5 });
        let left = RowGroups::of(&[&a, &b], 5).without(&[2]);
        assert_eq!((left.unique(), left.sizes.iter().sum::<u64>()), (4, 4));
        let one = RowGroups::of(&[&a], 5).without(&[0, 1]);
        assert_eq!((one.unique(), one.smallest()), (0, Some(3)));
        assert_eq!(one.persons(&person.codes, 2..5), Persons { smallest: Some(2), alone: 0 });
        assert_eq!(RowGroups::of(&[], 3).smallest(), Some(3));
        assert_eq!((RowGroups::of(&[&a], 0).smallest(), RowGroups::of(&[], 0).smallest()), (None, None));
    }
}
