//! A column that a release and another table have in common: which value of the one fits which label of the other?

use super::Covers;
use super::cell::{Cell, Values};
use super::lists::Lists;
use crate::table::Column;

/// Up to this many bits tell of one column which value fits which label; beyond it, sorted lists do.
const BITS: usize = 1 << 28;

/// A column of both tables.
pub(super) struct Side<'a> {
    /// The published column.
    pub own: &'a Column,
    /// Its position in the other table.
    pub other: usize,
    /// For each value the labels that it fits, ascending.
    labels: Lists,
    /// The same as bits, a fixed number of words a value; none where there would be too many.
    bits: Vec<u64>,
    words: usize,
    /// Labels that no value fits.
    pub unused: u64,
    /// How early the column should be looked at.
    pub rank: f64,
}

impl<'a> Side<'a> {
    /// The column `own` of a release with these `classes`, and the `values` at position `other` of another table.
    pub fn new(own: &'a Column, classes: &[u32], other: usize, values: &Column, covers: Option<&Covers>) -> Self {
        let sorted = Values::of(values, covers);
        let (mut pairs, mut found, mut unused) = (Vec::new(), Vec::new(), 0);
        for (label, text) in (0u32..).zip(own.dictionary.iter()) {
            sorted.covered_by(&Cell::parse(text, covers), &mut found);
            unused += u64::from(found.is_empty());
            pairs.extend(found.iter().map(|&value| (value, label)));
        }
        let (count, words) = (sorted.len(), own.dictionary.len().div_ceil(64));
        let mut bits = Vec::new();
        if count.saturating_mul(words).saturating_mul(64) <= BITS {
            bits = vec![0u64; count * words];
            pairs
                .iter()
                .for_each(|&(value, label)| bits[value as usize * words + label as usize / 64] |= 1 << (label % 64));
        }
        // The share of the classes that a value fits, against what it is where every class has one value.
        let mut with = vec![0u64; own.dictionary.len()];
        classes.iter().for_each(|&class| with[own.codes.get(class as usize) as usize] += 1);
        let fitting: u64 = pairs.iter().map(|&(_, label)| with[label as usize]).sum();
        let (values, rows) = (count.max(1) as f64, classes.len().max(1) as f64);
        let rank = fitting as f64 / (values * rows) - 1.0 / values;
        let labels = Lists::collect(count, pairs.iter().copied());
        Side { own, other, labels, bits, words, unused, rank }
    }

    /// What `value` fits.
    pub fn fitting(&self, value: u32) -> Fitting<'_> {
        let start = value as usize * self.words;
        Fitting { labels: self.labels.get(value as usize), bits: self.bits.get(start..start + self.words) }
    }
}

/// The labels that a value fits.
#[derive(Clone, Copy)]
pub(super) struct Fitting<'a> {
    /// Ascending.
    labels: &'a [u32],
    /// The same as bits, where there are not too many.
    bits: Option<&'a [u64]>,
}

impl Fitting<'_> {
    /// Calls `found` with the position of every one of `labels`, which are ascending, that the value fits.
    pub fn among(&self, labels: &[u32], mut found: impl FnMut(usize)) {
        match self.bits {
            Some(bits) if self.labels.len() * 8 >= labels.len() => {
                for (at, &label) in labels.iter().enumerate() {
                    if bits[label as usize / 64] >> (label % 64) & 1 == 1 {
                        found(at);
                    }
                }
            }
            _ => {
                // Few labels among many: look each of them up.
                let mut from = 0;
                for label in self.labels {
                    from += labels[from..].partition_point(|l| l < label);
                    if labels.get(from) == Some(label) {
                        found(from);
                    }
                }
            }
        }
    }

    /// Writes the second of those (label, number) pairs whose label the value fits into `found`, in place of what was
    /// there. Quick for a few dozen pairs.
    pub fn pick(&self, pairs: &[(u32, u32)], found: &mut Vec<u32>) {
        found.clear();
        let Some(bits) = self.bits else {
            let fitting = pairs.iter().filter(|(label, _)| self.labels.binary_search(label).is_ok());
            found.extend(fitting.map(|pair| pair.1));
            return;
        };
        // Every number is written, and overwritten unless its label fits: no branch that a processor could guess
        // wrongly.
        found.resize(pairs.len(), 0);
        let mut count = 0;
        for &(label, number) in pairs {
            found[count] = number;
            count += (bits[label as usize / 64] >> (label % 64) & 1) as usize;
        }
        found.truncate(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_bits_the_lists_tell_the_same() {
        let labels = Column::from_values("age", ["[0-9]", "[5-20]", "7", "*"]);
        let values = Column::from_values("age", ["3", "7", "15", "30"]);
        let mut side = Side::new(&labels, &[0, 1, 2, 3], 0, &values, None);
        let ask = |side: &Side<'_>| {
            let (mut among, mut picked) = (Vec::new(), Vec::new());
            for value in 0..4 {
                side.fitting(value).among(&[0, 1, 2, 3], |at| among.push((value, at)));
                let mut found = vec![7; 9];
                side.fitting(value).pick(&[(2, 2), (3, 3), (0, 0), (1, 1)], &mut found);
                found.sort_unstable();
                picked.extend(found.into_iter().map(|at| (value, at as usize)));
            }
            (among, picked)
        };
        let with = ask(&side);
        side.bits.clear();
        assert_eq!(ask(&side), with);
        assert_eq!(with.0, with.1);
        assert_eq!(with.0.len(), 2 + 2 + 1 + 4);
    }
}
