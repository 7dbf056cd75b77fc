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
            // A column of which nothing is published has rows, but no values.
            self.codes.for_each_in(part, |c| {
                if let Some(count) = counts.get_mut(c as usize) {
                    *count += 1;
                }
            });
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

    /// Makes one value of several: the value of each code `c` is that of `into[c]` from now on, and its text another
    /// way to write it. Codes that stay lead to themselves.
    pub fn merge(&mut self, into: &[u32]) {
        let kept: Vec<u32> = (0u32..).zip(into).filter(|&(code, &to)| code == to).map(|(code, _)| code).collect();
        self.codes = self.codes.mapped(into, self.dictionary.len());
        let merged = (0u32..).zip(into).filter(|&(code, &to)| code != to);
        let text = |code: u32| self.dictionary.value(code).to_string();
        let mut aliases: Vec<(String, u32)> = merged.map(|(code, &to)| (text(code), to)).collect();
        aliases.extend(self.dictionary.aliases().iter().map(|(text, code)| (text.clone(), into[*code as usize])));
        self.dictionary.set_aliases(aliases);
        self.rearrange(&kept);
    }

    /// Rebuilds the dictionary as the values with the codes in `kept`, in that order. Every code in use must be kept.
    fn rearrange(&mut self, kept: &[u32]) {
        const GONE: u32 = u32::MAX;
        let mut map = vec![GONE; self.dictionary.len()];
        let mut dictionary = Dictionary::default();
        for &old in kept {
            map[old as usize] = dictionary.intern(self.dictionary.value(old));
        }
        let aliases = self.dictionary.aliases().iter().map(|(text, code)| (text.clone(), map[*code as usize]));
        dictionary.set_aliases(aliases.filter(|&(_, code)| code != GONE).collect());
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
    fn merged_values_are_found_by_both_texts() {
        let mut c = Column::from_values("pay", ["3", "20", "3.0", "3.00", "20"]);
        let code = |c: &Column, text| c.dictionary.code(text).unwrap();
        let mut into: Vec<u32> = (0..4).collect();
        for text in ["3.0", "3.00"] {
            into[code(&c, text) as usize] = code(&c, "3");
        }
        c.merge(&into);
        c.sort(&["20".to_string()]);
        assert_eq!(c.dictionary.iter().collect::<Vec<_>>(), ["20", "3"]);
        assert_eq!((0..5).map(|r| c.value(r).to_string()).collect::<Vec<_>>(), ["3", "20", "3", "3", "20"]);
        assert_eq!((code(&c, "3.00"), c.dictionary.intern("3.0"), c.dictionary.len()), (1, 1, 2));
        c.codes.retain(&[false, true, false, false, true]);
        c.compact();
        assert_eq!((c.dictionary.len(), c.dictionary.code("3.0")), (1, None), "a value that is gone has no other text");
    }

    #[test]
    fn a_stated_order_wins() {
        let mut c = Column::from_values("grade", ["b", "c", "a"]);
        c.sort(&["c".to_string(), "a".to_string()]);
        assert_eq!(c.dictionary.iter().collect::<Vec<_>>(), ["c", "a", "b"]);
    }
}
