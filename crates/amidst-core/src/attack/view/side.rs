//! A column that a release and another table have in common: which value of the one fits which label of the other?

use super::cell::{Cell, Runs, Values};
use super::external::Covers;
use super::lists::Lists;
use crate::table::Column;

/// Up to this many bits tell of one column which value fits which label; beyond it, sorted lists do.
const BITS: usize = 1 << 28;

/// Up to this many pairs of a value and a label that it fits are listed. Ranges that overlap may have very many more:
/// beyond it, the runs of values that labels cover tell.
const PAIRS: u64 = 1 << 24;

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
    /// What labels cover, where pairs are not listed.
    covered: Option<Covered>,
    /// Labels that no value fits.
    pub unused: u64,
    /// How early the column should be looked at.
    pub rank: f64,
}

/// The values that each label covers.
struct Covered {
    /// Where each value stands.
    places: Vec<u32>,
    /// Label `l` covers the runs from `offsets[l]` to `offsets[l + 1]`.
    offsets: Vec<usize>,
    runs: Runs,
}

impl Covered {
    fn of(own: &Column, values: &Values, covers: Option<&Covers>) -> Self {
        let mut covered = Covered { places: values.places().to_vec(), offsets: vec![0], runs: Runs::new() };
        let (mut found, mut runs) = (Vec::new(), Runs::new());
        for text in own.dictionary.iter() {
            values.runs_of(&Cell::parse(text, covers), &mut found, &mut runs);
            covered.runs.append(&mut runs);
            covered.offsets.push(covered.runs.len());
        }
        covered
    }

    /// What a label covers.
    fn label(&self, label: u32) -> &[(u32, u32)] {
        &self.runs[self.offsets[label as usize]..self.offsets[label as usize + 1]]
    }

    /// How many values a label covers.
    fn count(&self, label: u32) -> u64 {
        self.label(label).iter().map(|run| u64::from(run.1 - run.0)).sum()
    }

    /// Whether the value at a place fits a label.
    fn fits(&self, place: u32, label: u32) -> bool {
        match self.label(label) {
            [(first, end)] => (*first..*end).contains(&place),
            runs => {
                let before = runs.partition_point(|run| run.0 <= place);
                before > 0 && place < runs[before - 1].1
            }
        }
    }

    /// Every value with every label that it fits, label by label.
    fn pairs<'c>(&'c self, value_at: &'c [u32]) -> impl Iterator<Item = (u32, u32)> + Clone + 'c {
        let of_label = move |label: u32| {
            let places = self.label(label).iter().flat_map(|run| run.0..run.1);
            places.map(move |place| (value_at[place as usize], label))
        };
        (0..self.offsets.len() as u32 - 1).flat_map(of_label)
    }
}

impl<'a> Side<'a> {
    /// The column `own` of a release with these `classes`, and the `values` at position `other` of another table.
    pub fn new(own: &'a Column, classes: &[u32], other: usize, values: &Column, covers: Option<&Covers>) -> Self {
        Self::listing(own, classes, other, values, covers, PAIRS)
    }

    /// The same, where up to `most` pairs are listed.
    fn listing(
        own: &'a Column,
        classes: &[u32],
        other: usize,
        values: &Column,
        covers: Option<&Covers>,
        most: u64,
    ) -> Self {
        let sorted = Values::of(values, covers);
        let covered = Covered::of(own, &sorted, covers);
        let counts: Vec<u64> = (0..own.dictionary.len() as u32).map(|label| covered.count(label)).collect();
        let unused = counts.iter().filter(|&&n| n == 0).count() as u64;
        // The share of the classes that a value fits, against what it is where every class has one value.
        let mut with = vec![0u64; own.dictionary.len()];
        classes.iter().for_each(|&class| with[own.codes.get(class as usize) as usize] += 1);
        let fitting: u128 = counts.iter().zip(&with).map(|(&n, &with)| u128::from(n) * u128::from(with)).sum();
        let (count, words) = (sorted.len(), own.dictionary.len().div_ceil(64));
        let (values, rows) = (count.max(1) as f64, classes.len().max(1) as f64);
        let rank = fitting as f64 / (values * rows) - 1.0 / values;
        let mut side =
            Side { own, other, labels: Lists::default(), bits: Vec::new(), words, covered: None, unused, rank };
        if counts.iter().sum::<u64>() > most {
            side.covered = Some(covered);
            return side;
        }
        let mut value_at = vec![0; count];
        (0u32..).zip(sorted.places()).for_each(|(value, &place)| value_at[place as usize] = value);
        if count.saturating_mul(words).saturating_mul(64) <= BITS {
            side.bits = vec![0u64; count * words];
            for (value, label) in covered.pairs(&value_at) {
                side.bits[value as usize * words + label as usize / 64] |= 1 << (label % 64);
            }
        }
        side.labels = Lists::collect(count, covered.pairs(&value_at));
        side
    }

    /// What `value` fits.
    pub fn fitting(&self, value: u32) -> Fitting<'_> {
        let start = value as usize * self.words;
        let covered = self.covered.as_ref().map(|covered| (covered, covered.places[value as usize]));
        Fitting { labels: self.labels.get(value as usize), bits: self.bits.get(start..start + self.words), covered }
    }
}

/// The labels that a value fits.
#[derive(Clone, Copy)]
pub(super) struct Fitting<'a> {
    /// Ascending.
    labels: &'a [u32],
    /// The same as bits, where there are not too many.
    bits: Option<&'a [u64]>,
    /// What labels cover and where the value stands, where labels are not listed.
    covered: Option<(&'a Covered, u32)>,
}

impl Fitting<'_> {
    /// Calls `found` with the position of every one of `labels`, which are ascending, that the value fits.
    pub fn among(&self, labels: &[u32], mut found: impl FnMut(usize)) {
        if let Some((covered, place)) = self.covered {
            let fitting = labels.iter().enumerate().filter(|(_, label)| covered.fits(place, **label));
            return fitting.for_each(|(at, _)| found(at));
        }
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
        if let Some((covered, place)) = self.covered {
            found.extend(pairs.iter().filter(|pair| covered.fits(place, pair.0)).map(|pair| pair.1));
            return;
        }
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
    fn without_bits_the_lists_tell_the_same_and_without_lists_the_runs() {
        let labels = Column::from_values("age", ["[0-9]", "[5-20]", "7", "*"]);
        let values = Column::from_values("age", ["30", "7", "15", "3"]);
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
        let runs = Side::listing(&labels, &[0, 1, 2, 3], 0, &values, None, 7);
        assert!(runs.labels.members.is_empty() && runs.bits.is_empty());
        assert_eq!((ask(&runs), runs.unused, runs.rank), (with.clone(), side.unused, side.rank));
        assert_eq!(with.0, with.1);
        assert_eq!(with.0.len(), 2 + 2 + 1 + 4);
    }
}
