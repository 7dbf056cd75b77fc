//! Entries, and entries in groups: those of a quasi tuple, or those of a class.

use std::ops::AddAssign;

use rayon::prelude::*;

use crate::ids::SensitiveId;

/// The person of an entry when nobody is in the table twice.
pub const NOBODY: u32 = u32::MAX;

/// Rows of a table that agree in every quasi and sensitive column (and in the person, where persons repeat).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// The sensitive tuple.
    pub sensitive: SensitiveId,
    /// The person; [`NOBODY`] unless some person has several rows.
    pub person: u32,
    /// How many rows.
    pub rows: u64,
}

/// Entries in groups: those of a quasi tuple, or those of a class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups {
    /// Group `g` holds the entries from `offsets[g]` to `offsets[g + 1]`.
    pub offsets: Vec<usize>,
    /// The entries, sorted within their group.
    pub entries: Vec<Entry>,
}

impl Groups {
    /// The number of groups.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries of a group.
    pub fn get(&self, group: usize) -> &[Entry] {
        &self.entries[self.offsets[group]..self.offsets[group + 1]]
    }

    /// All groups.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[Entry]> {
        (0..self.len()).map(|g| self.get(g))
    }

    /// The same groups without entries of no rows.
    pub(crate) fn without_nobody(&self) -> Self {
        let mut groups = Groups { offsets: Vec::with_capacity(self.offsets.len()), entries: Vec::new() };
        groups.offsets.push(0);
        for entries in self.iter() {
            groups.entries.extend(entries.iter().filter(|e| e.rows > 0));
            groups.offsets.push(groups.entries.len());
        }
        groups
    }

    /// Groups made of (group, entry) pairs, whose entries that agree in all but the rows are added up.
    pub fn collect(count: usize, pairs: Vec<(u32, Entry)>) -> Self {
        // Counting puts the entries of a group side by side; only within a group is anything sorted.
        let mut offsets = vec![0usize; count + 1];
        pairs.iter().for_each(|&(group, _)| offsets[group as usize + 1] += 1);
        (0..count).for_each(|g| offsets[g + 1] += offsets[g]);
        let mut next = offsets.clone();
        let mut entries = vec![Entry { sensitive: SensitiveId(0), person: NOBODY, rows: 0 }; pairs.len()];
        for (group, entry) in pairs {
            let at = &mut next[group as usize];
            entries[*at] = entry;
            *at += 1;
        }
        drop(next);
        let mut kept = 0;
        for group in 0..count {
            let (start, end) = (offsets[group], offsets[group + 1]);
            let own = &mut entries[start..end];
            if !own.is_sorted_by_key(|e| (e.sensitive, e.person)) {
                own.sort_unstable_by_key(|e| (e.sensitive, e.person));
            }
            // Entries move towards the front as equal ones fall together; none is overwritten before it was read.
            offsets[group] = kept;
            for at in start..end {
                let entry = entries[at];
                let same = |last: &Entry| (last.sensitive, last.person) == (entry.sensitive, entry.person);
                if kept > offsets[group] && same(&entries[kept - 1]) {
                    entries[kept - 1].rows += entry.rows;
                } else {
                    entries[kept] = entry;
                    kept += 1;
                }
            }
        }
        offsets[count] = kept;
        entries.truncate(kept);
        entries.shrink_to_fit();
        Groups { offsets, entries }
    }

    /// The groups that others fall into, where `group_of` tells the new group of each group, if it has one. No entry
    /// has a person, and `sensitive` is the number of sensitive tuples.
    pub(crate) fn regroup(&self, group_of: impl Fn(usize) -> Option<u32>, count: usize, sensitive: usize) -> Self {
        let mut starts = vec![0u32; count + 1];
        let places: Vec<Option<u32>> = (0..self.len()).map(group_of).collect();
        places.iter().flatten().for_each(|&group| starts[group as usize + 1] += 1);
        (0..count).for_each(|g| starts[g + 1] += starts[g]);
        let mut next = starts.clone();
        let mut members = vec![0u32; starts[count] as usize];
        for (member, group) in places.into_iter().enumerate() {
            if let Some(group) = group {
                let at = &mut next[group as usize];
                members[*at as usize] = member as u32;
                *at += 1;
            }
        }
        // A group at a time, so that its counts stay in the fastest memory.
        let part = |first: usize| {
            let mut counts = vec![0u64; sensitive];
            let mut seen: Vec<SensitiveId> = Vec::new();
            let (mut sizes, mut entries) = (Vec::new(), Vec::new());
            for group in first..(first + GROUPS).min(count) {
                for &member in &members[starts[group] as usize..starts[group + 1] as usize] {
                    for entry in self.get(member as usize) {
                        let count = &mut counts[entry.sensitive.index()];
                        if *count == 0 {
                            seen.push(entry.sensitive);
                        }
                        *count += entry.rows;
                    }
                }
                seen.sort_unstable();
                sizes.push(seen.len());
                entries.extend(seen.drain(..).map(|sensitive| {
                    let rows = std::mem::take(&mut counts[sensitive.index()]);
                    Entry { sensitive, person: NOBODY, rows }
                }));
            }
            (sizes, entries)
        };
        let parts: Vec<(Vec<usize>, Vec<Entry>)> =
            (0..count.div_ceil(GROUPS)).into_par_iter().map(|i| part(i * GROUPS)).collect();
        let total = parts.iter().map(|(_, entries)| entries.len()).sum();
        let mut groups = Groups { offsets: Vec::with_capacity(count + 1), entries: Vec::with_capacity(total) };
        groups.offsets.push(0);
        for (sizes, entries) in parts {
            for size in sizes {
                groups.offsets.push(groups.offsets.last().copied().unwrap_or(0) + size);
            }
            groups.entries.extend(entries);
        }
        groups
    }
}

/// Groups that one task makes.
const GROUPS: usize = 1 << 12;

/// Sorts counts by what they count, and adds up those of the same.
pub(crate) fn add_up<K: Ord, N: Ord + Copy + AddAssign>(counts: &mut Vec<(K, N)>) {
    counts.sort_unstable();
    counts.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}

/// The number of rows of some entries.
pub fn rows(entries: &[Entry]) -> u64 {
    entries.iter().map(|e| e.rows).sum()
}

/// The number of persons of some entries: rows, or distinct persons where persons repeat.
pub fn size(entries: &[Entry]) -> u64 {
    match entries.first() {
        None => 0,
        Some(e) if e.person == NOBODY => rows(entries),
        Some(_) => {
            let mut persons: Vec<u32> = entries.iter().map(|e| e.person).collect();
            persons.sort_unstable();
            persons.dedup();
            persons.len() as u64
        }
    }
}
