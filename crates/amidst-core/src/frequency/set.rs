//! The set itself: distinct tuples, their entries, and what is asked of them.

use super::groups::{Entry, Groups, add_up};
use crate::ids::SensitiveId;

/// The distinct combinations of a table, with counts.
#[derive(Debug, Clone, Default)]
pub struct FrequencySet {
    /// The number of quasi columns.
    pub width: usize,
    /// The distinct quasi tuples, `width` codes each, in ascending order.
    pub tuples: Vec<u32>,
    /// The number of distinct values in each quasi column.
    pub domains: Vec<usize>,
    /// The entries of each tuple.
    pub groups: Groups,
    /// The number of sensitive columns.
    pub sensitive_width: usize,
    /// The distinct sensitive tuples, `sensitive_width` codes each, in ascending order.
    pub sensitive: Vec<u32>,
    /// The number of distinct values in each sensitive column.
    pub sensitive_domains: Vec<usize>,
    /// The number of rows.
    pub rows: u64,
    /// Whether entries carry persons, because some person has several rows.
    pub persons: bool,
    /// The level of each quasi column that tuples were rolled up to before they were gathered: a value then stands for
    /// all that share its label there, and no finer node can be looked at. Empty when tuples are those of the rows.
    pub floor: Vec<usize>,
}

/// How many persons of `entries` have each value of a sensitive column.
pub fn histogram(set: &FrequencySet, entries: &[Entry], column: usize) -> Vec<(u32, u64)> {
    let mut histogram = Vec::new();
    histogram_into(set, entries, column, &mut histogram);
    histogram
}

/// The same, written into `histogram` in place of what was there.
pub fn histogram_into(set: &FrequencySet, entries: &[Entry], column: usize, histogram: &mut Vec<(u32, u64)>) {
    histogram.clear();
    if set.persons {
        let mut values: Vec<(u32, u32)> =
            entries.iter().map(|e| (set.sensitive_code(e.sensitive, column), e.person)).collect();
        values.sort_unstable();
        values.dedup();
        histogram.extend(values.chunk_by(|a, b| a.0 == b.0).map(|run| (run[0].0, run.len() as u64)));
        return;
    }
    let domain = set.sensitive_domains.get(column).copied().unwrap_or(0);
    if entries.len() > domain && domain > 0 {
        // Many entries: adding up by value beats sorting them.
        let mut counts = vec![0; domain];
        entries.iter().for_each(|e| counts[set.sensitive_code(e.sensitive, column) as usize] += e.rows);
        histogram.extend((0..).zip(counts).filter(|&(_, n)| n > 0));
        return;
    }
    histogram.extend(entries.iter().map(|e| (set.sensitive_code(e.sensitive, column), e.rows)));
    if !histogram.is_sorted_by(|a, b| a.0 < b.0) {
        add_up(histogram);
    }
}

impl FrequencySet {
    /// The finest node that can be looked at.
    pub fn bottom(&self) -> Vec<usize> {
        if self.floor.is_empty() { vec![0; self.width] } else { self.floor.clone() }
    }

    /// Whether tuples were rolled up before they were gathered, so that what the rows had is not known.
    pub fn rolled_up(&self) -> bool {
        self.floor.iter().any(|&level| level > 0)
    }

    /// The number of distinct quasi tuples.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether the table was empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The codes of a quasi tuple.
    pub fn tuple(&self, tuple: usize) -> &[u32] {
        &self.tuples[tuple * self.width..(tuple + 1) * self.width]
    }

    /// The code of a sensitive tuple in one of the sensitive columns.
    pub fn sensitive_code(&self, sensitive: SensitiveId, column: usize) -> u32 {
        self.sensitive[sensitive.index() * self.sensitive_width + column]
    }

    /// The number of distinct sensitive tuples: one, the empty one, when there is no sensitive column.
    pub fn sensitive_count(&self) -> usize {
        self.sensitive.len().checked_div(self.sensitive_width).unwrap_or(1)
    }

    /// The tuple of each entry.
    pub fn tuple_of_entry(&self) -> Vec<u32> {
        let mut tuples = Vec::with_capacity(self.groups.entries.len());
        for tuple in 0..self.len() {
            tuples.resize(self.groups.offsets[tuple + 1], tuple as u32);
        }
        tuples
    }
}
