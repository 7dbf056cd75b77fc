//! The classes of one version: who is in each, and what it publishes.
//!
//! [`Version`] is what a caller states; [`Compact`] holds the same in a few flat lists, because an audit of many large
//! versions holds one of them at a time.

use crate::frequency::add_up;

/// One version of a release that is published again and again, as the data owner knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Version {
    /// Its classes.
    pub classes: Vec<VersionClass>,
}

/// A class of one version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VersionClass {
    /// The persons in it, by ids that are the same in every version; an adversary who knows everyone's quasi values
    /// and when they came and went can tell as much.
    pub persons: Vec<u32>,
    /// The sensitive values that the version publishes for the class, by code, counterfeits included.
    pub histogram: Vec<(u32, u64)>,
}

/// The classes of one version. Persons and values of a class are ascending, and each is there once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compact {
    persons: Vec<u32>,
    counts: Vec<(u32, u64)>,
    /// Where the persons and the counts of each class end.
    ends: Vec<(usize, usize)>,
}

impl Compact {
    /// The classes of a version.
    pub fn of(version: &Version) -> Self {
        let mut compact = Compact::default();
        for class in &version.classes {
            compact.push(class.persons.iter().copied(), class.histogram.iter().copied());
        }
        compact
    }

    /// Adds a class: who is in it, and how many rows it publishes with each value.
    pub fn push(&mut self, persons: impl IntoIterator<Item = u32>, counts: impl IntoIterator<Item = (u32, u64)>) {
        let (first, from) = self.ends.last().copied().unwrap_or_default();
        self.persons.extend(persons);
        if !self.persons[first..].is_sorted_by(|a, b| a < b) {
            let mut own = self.persons.split_off(first);
            own.sort_unstable();
            own.dedup();
            self.persons.append(&mut own);
        }
        self.counts.extend(counts);
        if !self.counts[from..].is_sorted_by(|a, b| a.0 < b.0) {
            let mut own = self.counts.split_off(from);
            add_up(&mut own);
            self.counts.append(&mut own);
        }
        self.ends.push((self.persons.len(), self.counts.len()));
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn start(&self, class: usize) -> (usize, usize) {
        class.checked_sub(1).map_or((0, 0), |before| self.ends[before])
    }

    /// Who is in a class, ascending.
    pub fn persons(&self, class: usize) -> &[u32] {
        &self.persons[self.start(class).0..self.ends[class].0]
    }

    /// The rows of a class with each value, by value.
    pub fn counts(&self, class: usize) -> &[(u32, u64)] {
        &self.counts[self.start(class).1..self.ends[class].1]
    }
}
