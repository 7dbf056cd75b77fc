//! What versions leave open about everybody, version by version: for each person the set of values that all of their
//! classes so far have in common. Few sets are different, so persons have the number of a set.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::attack::Compact;

/// What is still possible for some persons.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Candidates {
    /// The values, ascending.
    pub values: Arc<[u32]>,
    /// The fewest values that one of their classes publishes.
    pub fewest: usize,
}

/// The candidates of everybody in the versions seen so far.
#[derive(Debug, Default)]
pub(super) struct Narrowing {
    set_of: FxHashMap<u32, u32>,
    sets: Vec<Candidates>,
    numbers: FxHashMap<Candidates, u32>,
}

impl Narrowing {
    /// Sees one more version.
    pub fn see(&mut self, version: &Compact) {
        let mut values: Vec<u32> = Vec::new();
        // What the class makes of each set, so that it is computed once for all who come with it.
        let mut made: FxHashMap<Option<u32>, u32> = FxHashMap::default();
        for class in 0..version.len() {
            values.clear();
            values.extend(version.counts(class).iter().filter(|c| c.1 > 0).map(|c| c.0));
            made.clear();
            for &person in version.persons(class) {
                let before = self.set_of.get(&person).copied();
                let after = match made.get(&before) {
                    Some(&after) => after,
                    None => {
                        let after = self.narrowed(before, &values);
                        made.insert(before, after);
                        after
                    }
                };
                self.set_of.insert(person, after);
            }
        }
        self.forget();
    }

    fn narrowed(&mut self, before: Option<u32>, values: &[u32]) -> u32 {
        let candidates = match before.map(|set| &self.sets[set as usize]) {
            None => Candidates { values: values.into(), fewest: values.len() },
            Some(old) => {
                let both = old.values.iter().copied().filter(|v| values.binary_search(v).is_ok());
                Candidates { values: both.collect(), fewest: old.fewest.min(values.len()) }
            }
        };
        let next = self.sets.len() as u32;
        match self.numbers.get(&candidates) {
            Some(&number) => number,
            None => {
                self.sets.push(candidates.clone());
                self.numbers.insert(candidates, next);
                next
            }
        }
    }

    /// Forgets sets that nobody has any more, once they are the most.
    fn forget(&mut self) {
        let mut used = vec![false; self.sets.len()];
        self.set_of.values().for_each(|&set| used[set as usize] = true);
        if 2 * used.iter().filter(|&&u| u).count() >= used.len() {
            return;
        }
        let mut renumbered = vec![0; self.sets.len()];
        let mut kept = Vec::new();
        for (old, set) in std::mem::take(&mut self.sets).into_iter().enumerate().filter(|(old, _)| used[*old]) {
            renumbered[old] = kept.len() as u32;
            kept.push(set);
        }
        self.numbers = (0u32..).zip(&kept).map(|(number, set)| (set.clone(), number)).collect();
        self.sets = kept;
        self.set_of.values_mut().for_each(|set| *set = renumbered[*set as usize]);
    }

    /// Everybody, in no order, with the number of their set and the set.
    pub fn everybody(&self) -> impl Iterator<Item = (u32, u32, &Candidates)> {
        self.set_of.iter().map(|(&person, &set)| (person, set, &self.sets[set as usize]))
    }

    /// A set by its number.
    pub fn set(&self, number: u32) -> &Candidates {
        &self.sets[number as usize]
    }
}
