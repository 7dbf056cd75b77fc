//! One column: a name, a type, a dictionary, and a code per row.

use rayon::prelude::*;

use super::{Codes, Dictionary, ValueType};

/// Rows that one thread counts at a time.
const PART: usize = 1 << 17;

/// A named column of dictionary codes.
#[derive(Debug, Clone, Default)]
pub struct Column {
    /// The header.
    pub name: String,
    /// What the values mean.
    pub kind: ValueType,
    /// The distinct values.
    pub dictionary: Dictionary,
    /// The cells.
    pub codes: Codes,
}

impl Column {
    /// An empty text column.
    pub fn new(name: impl Into<String>) -> Self {
        Column { name: name.into(), ..Column::default() }
    }

    /// A column holding `values`, its type guessed and its dictionary sorted.
    pub fn from_values<'a>(name: &str, values: impl IntoIterator<Item = &'a str>) -> Self {
        let mut column = Column::new(name);
        for value in values {
            column.push(value);
        }
        column.kind = ValueType::guess(column.dictionary.iter());
        column.sort(&[]);
        column
    }

    /// Appends a cell.
    pub fn push(&mut self, value: &str) {
        let code = self.dictionary.intern(value);
        self.codes.push(code);
    }

    /// The text of a cell.
    pub fn value(&self, row: usize) -> &str {
        self.dictionary.value(self.codes.get(row))
    }

    /// How many rows hold each value, by code.
    pub fn counts(&self) -> Vec<u64> {
        let count = |part: std::ops::Range<usize>| {
            let mut counts = vec![0; self.dictionary.len()];
            self.codes.for_each_in(part, |c| counts[c as usize] += 1);
            counts
        };
        // Parts of rows on all cores, unless adding up what they counted takes longer than counting.
        let rows = self.codes.len();
        let part = PART.max(self.dictionary.len() * 4);
        let parts = (0..rows.div_ceil(part)).into_par_iter().map(|i| count(i * part..((i + 1) * part).min(rows)));
        let add = |mut sum: Vec<u64>, more: Vec<u64>| {
            sum.iter_mut().zip(more).for_each(|(sum, n)| *sum += n);
            sum
        };
        parts.reduce(|| vec![0; self.dictionary.len()], add)
    }

    /// Sorts the dictionary: values listed in `order` first, as listed, the others by the column's type. Afterwards
    /// codes compare as values do.
    pub fn sort(&mut self, order: &[String]) {
        let rank: std::collections::HashMap<&str, usize> =
            order.iter().enumerate().map(|(i, v)| (v.as_str(), i)).collect();
        let place = |code: u32| rank.get(self.dictionary.value(code)).copied().unwrap_or(usize::MAX);
        let mut sorted: Vec<u32> = (0..self.dictionary.len() as u32).collect();
        if self.kind.is_numeric() && order.is_empty() {
            // Reading a number costs more than comparing it: read each once.
            sorted.sort_by_cached_key(|&c| {
                let value = self.dictionary.value(c);
                let key = super::number(value);
                (
                    key.is_none() && self.kind != ValueType::Date,
                    key.filter(|_| self.kind != ValueType::Date),
                    value.to_string(),
                )
            });
        } else {
            sorted.sort_by(|&a, &b| {
                place(a)
                    .cmp(&place(b))
                    .then_with(|| self.kind.compare(self.dictionary.value(a), self.dictionary.value(b)))
            });
        }
        self.rearrange(&sorted);
    }

    /// Drops dictionary values that no row uses.
    pub fn compact(&mut self) {
        let counts = self.counts();
        if counts.iter().all(|&n| n > 0) {
            return;
        }
        let used: Vec<u32> = (0..counts.len() as u32).filter(|&c| counts[c as usize] > 0).collect();
        self.rearrange(&used);
    }

    /// Rebuilds the dictionary as the values with the codes in `kept`, in that order. Every code in use must be kept.
    fn rearrange(&mut self, kept: &[u32]) {
        let mut map = vec![0; self.dictionary.len()];
        let mut dictionary = Dictionary::default();
        for &old in kept {
            map[old as usize] = dictionary.intern(self.dictionary.value(old));
        }
        self.codes = self.codes.mapped(&map, dictionary.len());
        self.dictionary = dictionary;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorting_keeps_the_cells() {
        let mut c = Column::from_values("age", ["30", "4", "30", "100"]);
        assert_eq!(c.kind, ValueType::Integer);
        assert_eq!(c.dictionary.iter().collect::<Vec<_>>(), ["4", "30", "100"]);
        assert_eq!((0..4).map(|r| c.value(r).to_string()).collect::<Vec<_>>(), ["30", "4", "30", "100"]);
        c.codes.retain(&[true, false, true, false]);
        c.compact();
        assert_eq!(c.dictionary.iter().collect::<Vec<_>>(), ["30"]);
    }

    #[test]
    fn a_stated_order_wins() {
        let mut c = Column::from_values("grade", ["b", "c", "a"]);
        c.sort(&["c".to_string(), "a".to_string()]);
        assert_eq!(c.dictionary.iter().collect::<Vec<_>>(), ["c", "a", "b"]);
    }
}
