//! Null cells: unknown in themselves, in addition to the texts that a policy lists as unknown.
//!
//! While a table is read, null is a dictionary value that no text can equal. In the finished table it is the empty
//! text, and [`Nulls`] records which cells are null.

use amidst_core::table::{Codes, Column, Dictionary};

/// The dictionary value for null while a table is read. No cell equals it, because NUL bytes are refused.
pub(crate) const NULL: &str = "\0";

/// Which rows of a column are null.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Nulls {
    words: Vec<u64>,
}

impl Nulls {
    /// Whether the cell of a row is null; false for rows beyond the table.
    pub fn contains(&self, row: usize) -> bool {
        self.words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// The rows that are null, ascending.
    pub fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        let bits =
            |(at, &word): (usize, &u64)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |b| at * 64 + b);
        self.words.iter().enumerate().flat_map(bits)
    }

    /// Replaces the nulls of a column by empty texts and returns their rows; `None` when the column has no nulls.
    pub(crate) fn extract(column: &mut Column) -> Option<Nulls> {
        let null = column.dictionary.code(NULL)?;
        let mut words = vec![0u64; column.codes.len().div_ceil(64)];
        let mut row = 0;
        column.codes.for_each(|code| {
            words[row / 64] |= u64::from(code == null) << (row % 64);
            row += 1;
        });
        let mut dictionary = Dictionary::default();
        let text = |value| if value == NULL { "" } else { value };
        let map: Vec<u32> = column.dictionary.iter().map(|value| dictionary.intern(text(value))).collect();
        // If the column had no empty text before, every value keeps its code.
        if dictionary.len() < column.dictionary.len() {
            let mut codes = Codes::for_distinct(dictionary.len(), 0);
            codes.extend_mapped(&column.codes, &map, dictionary.len());
            column.codes = codes;
        }
        column.dictionary = dictionary;
        Some(Nulls { words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_are_told_from_empty_texts() {
        for (values, expected) in [
            (vec!["a", NULL, "", NULL, "b"], vec!["a", "", "", "", "b"]),
            (vec![NULL, "a", NULL, "a"], vec!["", "a", "", "a"]),
        ] {
            let mut column = Column::new("x");
            values.iter().for_each(|v| column.push(v));
            let nulls = Nulls::extract(&mut column).unwrap();
            let found: Vec<&str> = (0..values.len()).map(|row| column.value(row)).collect();
            assert_eq!(found, expected);
            assert!(column.dictionary.code(NULL).is_none());
            let rows: Vec<usize> = (0..values.len()).filter(|&row| values[row] == NULL).collect();
            assert_eq!(nulls.rows().collect::<Vec<_>>(), rows);
            assert!((0..70).all(|row| nulls.contains(row) == rows.contains(&row)));
        }
        let mut full = Column::new("y");
        full.push("");
        assert_eq!(Nulls::extract(&mut full), None);
    }
}
