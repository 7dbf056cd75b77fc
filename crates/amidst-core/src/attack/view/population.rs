//! A population that an adversary knows: how many of its people have which tuple and which sensitive value.

use std::borrow::Cow;
use std::ops::Range;

use super::fit::Fits;
use super::tuples::Tuples;
use crate::class::Population;
use crate::frequency::{Entry, FrequencySet, Groups, NOBODY};
use crate::ids::SensitiveId;

/// A population, and how it relates to the classes of the release.
#[derive(Debug, Clone, Copy)]
pub struct PopulationKnowledge<'a> {
    /// Counts of quasi tuples and sensitive values.
    pub people: &'a People<'a>,
    /// Which of these tuples each class covers.
    pub covered: Covering<'a>,
}

/// For each class the tuples of a population that its generalized tuple covers.
#[derive(Debug, Clone, Copy)]
pub enum Covering<'a> {
    /// With the persons of the class who have the tuple: 0 for one that only the population has.
    Told(&'a Tuples),
    /// How many persons of a class have which tuple is not published, so the class is taken to be spread over the
    /// tuples that it covers as the population is, in parts that add up to it.
    Spread(&'a Fits),
}

impl<'a> Covering<'a> {
    /// Shows the tuples that a class covers, ascending, each with the persons of the class who have it where that is
    /// told.
    pub(in crate::attack) fn each(self, class: usize, mut see: impl FnMut(u32, Option<u64>)) {
        match self {
            Covering::Told(tuples) => {
                tuples.class(class).iter().for_each(|&(tuple, persons)| see(tuple, Some(persons)))
            }
            Covering::Spread(fits) => {
                let covered = fits.covered();
                covered.lists.members[covered.get(class as u32)].iter().for_each(|&tuple| see(tuple, None));
            }
        }
    }

    /// The classes that cover anyone, in the order of their first tuples: those that begin with the same tuples cover
    /// much the same people, who are then still in the fastest memory.
    pub(in crate::attack) fn order(self) -> Cow<'a, [u32]> {
        match self {
            Covering::Spread(fits) => Cow::Borrowed(&fits.covered().order),
            Covering::Told(tuples) => {
                let first = |&class: &u32| tuples.class(class as usize).first().map(|tuple| tuple.0);
                let classes = 0..tuples.classes() as u32;
                let mut order: Vec<u32> = classes.filter(|class| first(class).is_some()).collect();
                order.sort_by_key(first);
                Cow::Owned(order)
            }
        }
    }
}

/// How many persons of a population with each quasi tuple have which sensitive value.
///
/// The values have numbers of their own, so that a population is taken as it was counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct People<'a> {
    /// By tuple, for each value at least one.
    groups: Cow<'a, Groups>,
    values: usize,
    /// The number of each value that the release knows, by its code there.
    numbers: Vec<Option<SensitiveId>>,
}

impl<'a> People<'a> {
    /// The people that were counted into `set` with one sensitive column, every entry at least one; `codes` says what
    /// the release calls its values.
    pub fn of(set: &'a FrequencySet, codes: &[u32]) -> Self {
        let mut numbers = vec![None; codes.iter().max().map_or(0, |&code| code as usize + 1)];
        for number in (0..set.sensitive_count() as u32).map(SensitiveId) {
            if let Some(&code) = codes.get(set.sensitive_code(number, 0) as usize) {
                numbers[code as usize] = Some(number);
            }
        }
        People { groups: Cow::Borrowed(&set.groups), values: set.sensitive_count(), numbers }
    }

    /// Where the people of a tuple stand among [`entries`](Self::entries).
    pub(in crate::attack) fn tuple(&self, tuple: u32) -> Range<usize> {
        let offset = |at: usize| self.groups.offsets.get(at).copied().unwrap_or(self.groups.entries.len());
        offset(tuple as usize)..offset(tuple as usize + 1)
    }

    /// How many people of which tuple have which value: of a tuple each value once.
    pub(in crate::attack) fn entries(&self) -> &[Entry] {
        &self.groups.entries
    }

    /// How many values there are.
    pub(in crate::attack) fn values(&self) -> usize {
        self.values
    }

    /// The number of a value that has this code in the release; none where it does not occur in the population.
    pub(in crate::attack) fn number(&self, code: u32) -> Option<SensitiveId> {
        self.numbers.get(code as usize).copied().flatten()
    }
}

impl From<&Population> for People<'_> {
    fn from(population: &Population) -> Self {
        let parts: Vec<u128> = population.histograms.iter().flatten().map(|c| c.1).collect();
        let mut weights = narrow(&parts).into_iter();
        let mut groups = Groups { offsets: vec![0], entries: Vec::new() };
        for histogram in &population.histograms {
            let counted = histogram.iter().zip(&mut weights);
            groups.entries.extend(counted.map(|(c, rows)| Entry { sensitive: SensitiveId(c.0), person: NOBODY, rows }));
            groups.offsets.push(groups.entries.len());
        }
        let values = groups.entries.iter().map(|e| e.sensitive.0 + 1).max().unwrap_or(0);
        let groups = Cow::Owned(groups.without_nobody());
        People { groups, values: values as usize, numbers: (0..values).map(|value| Some(SensitiveId(value))).collect() }
    }
}

/// Weights for attacks, which are in proportion only: these numbers, each divided by the least power of two with which
/// all of them together fit. Whatever is not 0 stays so.
pub fn narrow(parts: &[u128]) -> Vec<u64> {
    // One bit is kept free for those that are raised to 1.
    let sum = parts.iter().fold(0u128, |sum, &n| sum.saturating_add(n));
    let shift = (u128::BITS - sum.leading_zeros()).saturating_sub(u64::BITS - 1);
    parts.iter().map(|&n| ((n >> shift) as u64).max(u64::from(n > 0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_exact_while_they_fit_and_in_proportion_beyond() {
        assert_eq!(narrow(&[0, 3, 1 << 62]), [0, 3, 1 << 62]);
        let wide = [0, 1, 3 << 80, 1 << 80];
        let narrowed = narrow(&wide);
        assert_eq!((narrowed[0], narrowed[1], narrowed[2]), (0, 1, 3 * narrowed[3]));
        assert!(narrowed.iter().try_fold(0u64, |sum, &n| sum.checked_add(n)).is_some());
        assert_eq!(narrow(&[u128::MAX, u128::MAX]).len(), 2);
    }
}
