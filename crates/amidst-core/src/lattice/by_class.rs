//! Entries and tuples grouped by the classes of a node.

use super::snapshot::Classes;
use crate::frequency::{Entry, FrequencySet, Groups};

/// The entries and tuples of each class, for what cannot be judged from counts alone.
#[derive(Debug)]
pub(crate) struct ByClass {
    /// The entries of each class.
    pub entries: Groups,
    offsets: Vec<usize>,
    members: Vec<u32>,
}

impl ByClass {
    /// Groups the entries (and, where asked, the tuples) of a table by the classes of a node.
    pub fn new(set: &FrequencySet, classes: &Classes, tuples: bool) -> Self {
        let count = classes.len();
        let mut pairs: Vec<(u32, Entry)> = Vec::with_capacity(set.groups.entries.len());
        for (tuple, &class) in classes.class_of.iter().enumerate() {
            pairs.extend(set.groups.get(tuple).iter().map(|&e| (class, e)));
        }
        let mut offsets = vec![0; count + 1];
        let mut members = Vec::new();
        if tuples {
            let known = || (0u32..).zip(&classes.class_of).filter(|&(_, &c)| (c as usize) < count);
            known().for_each(|(_, &c)| offsets[c as usize + 1] += 1);
            (0..count).for_each(|c| offsets[c + 1] += offsets[c]);
            members = vec![0; offsets[count]];
            let mut place = offsets.clone();
            for (tuple, &class) in known() {
                members[place[class as usize]] = tuple;
                place[class as usize] += 1;
            }
        }
        ByClass { entries: Groups::collect(count, pairs), offsets, members }
    }

    /// The tuples that a class covers; none unless they were asked for.
    pub fn tuples(&self, class: usize) -> &[u32] {
        &self.members[self.offsets[class]..self.offsets[class + 1]]
    }

    /// The entries of several classes as one.
    pub fn merged(&self, classes: &[u32]) -> Vec<Entry> {
        let pairs = classes.iter().flat_map(|&c| self.entries.get(c as usize).iter().map(|&e| (0, e))).collect();
        Groups::collect(1, pairs).entries
    }
}
