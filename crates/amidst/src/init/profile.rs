//! What is counted of a column before anything is guessed.

use amidst_core::table::{Column, ValueType};

/// Values that detectors look at: enough to know, few enough to be quick.
const SAMPLE: usize = 1000;

/// A column in figures. Unknown cells are no values.
#[derive(Debug)]
pub(super) struct Profile<'a> {
    pub column: &'a Column,
    /// All rows.
    pub rows: usize,
    /// Rows with a known value.
    pub known: usize,
    /// Known values.
    pub distinct: usize,
    /// Values, unknown ones included: rows with different texts in the cell.
    pub texts: usize,
    /// Rows whose known value no other row has.
    pub uniques: usize,
    /// Some of the known values, spread over the dictionary.
    pub values: Vec<&'a str>,
}

impl<'a> Profile<'a> {
    /// Counts a column.
    pub fn of(column: &'a Column, missing: &[String]) -> Self {
        let counts = column.counts();
        let unknown: Vec<u32> = missing.iter().filter_map(|m| column.dictionary.code(m)).collect();
        let mut profile = Profile {
            column,
            rows: column.codes.len(),
            known: 0,
            distinct: 0,
            texts: 0,
            uniques: 0,
            values: Vec::new(),
        };
        let step = (column.dictionary.len() / SAMPLE).max(1);
        for (code, &count) in (0u32..).zip(&counts).filter(|(_, count)| **count > 0) {
            profile.texts += 1;
            if unknown.contains(&code) {
                continue;
            }
            profile.known += count as usize;
            profile.distinct += 1;
            profile.uniques += usize::from(count == 1);
            if profile.distinct.is_multiple_of(step) {
                profile.values.push(column.dictionary.value(code));
            }
        }
        profile
    }

    /// The share of the sampled values for which `test` holds.
    pub fn share(&self, test: impl Fn(&str) -> bool) -> f64 {
        let held = self.values.iter().filter(|value| test(value.trim())).count();
        held as f64 / self.values.len().max(1) as f64
    }

    /// Values for each row that has one, from 0 to 1.
    pub fn distinct_share(&self) -> f64 {
        self.distinct as f64 / self.known.max(1) as f64
    }

    /// Whether the values are numbers.
    pub fn is_number(&self) -> bool {
        matches!(self.column.kind, ValueType::Integer | ValueType::Decimal) && self.distinct > 0
    }

    /// Whether values are few, each shared by several rows, so that they are kinds of people rather than people.
    pub fn is_kinds(&self) -> bool {
        self.distinct <= 100 && self.distinct * 3 <= self.known
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A column of made-up values.
    pub fn column<S: AsRef<str>>(name: &str, values: impl IntoIterator<Item = S>) -> Column {
        let values: Vec<S> = values.into_iter().collect();
        Column::from_values(name, values.iter().map(AsRef::as_ref))
    }

    #[test]
    fn unknown_cells_are_no_values() {
        let column = column("a", ["x", "x", "y", "?", "?"]);
        let profile = Profile::of(&column, &["?".to_string()]);
        assert_eq!((profile.rows, profile.known, profile.distinct, profile.texts, profile.uniques), (5, 3, 2, 3, 1));
        assert_eq!(profile.share(|v| v == "x"), 0.5);
        assert_eq!(Profile::of(&Column::new("none"), &[]).share(|_| true), 0.0);
    }

    #[test]
    fn large_dictionaries_are_sampled() {
        let column = column("a", (0..50_000).map(|i| i.to_string()));
        let profile = Profile::of(&column, &[]);
        assert_eq!((profile.distinct, profile.values.len()), (50_000, 1000));
    }
}
