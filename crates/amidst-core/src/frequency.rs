//! The frequency set: the distinct (quasi tuple, sensitive tuple) combinations of a table, with their counts.
//!
//! Everything that privacy models, metrics and full-domain algorithms look at. Rows come back only when a recoding is
//! applied.

use rayon::prelude::*;

use crate::counting::{Combinations, combinations};
use crate::table::{Codes, Table};
use crate::tally::tally;

/// The person of an entry when nobody is in the table twice.
pub const NOBODY: u32 = u32::MAX;

/// Rows of a table that agree in every quasi and sensitive column (and in the person, where persons repeat).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Entry {
    /// The sensitive tuple, an id into [`FrequencySet::sensitive`].
    pub sensitive: u32,
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
        let mut entries = vec![Entry { sensitive: 0, person: NOBODY, rows: 0 }; pairs.len()];
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

    /// The groups that others fall into, where `group_of` tells the new group of each group, if it has one. No entry has a
    /// person, and `sensitive` is the number of sensitive tuples.
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
            let mut seen: Vec<u32> = Vec::new();
            let (mut sizes, mut entries) = (Vec::new(), Vec::new());
            for group in first..(first + GROUPS).min(count) {
                for &member in &members[starts[group] as usize..starts[group + 1] as usize] {
                    for entry in self.get(member as usize) {
                        let count = &mut counts[entry.sensitive as usize];
                        if *count == 0 {
                            seen.push(entry.sensitive);
                        }
                        *count += entry.rows;
                    }
                }
                seen.sort_unstable();
                sizes.push(seen.len());
                entries.extend(seen.drain(..).map(|sensitive| {
                    let rows = std::mem::take(&mut counts[sensitive as usize]);
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

/// Entries that one task makes.
const ENTRIES: usize = 1 << 16;

/// Groups that one task makes.
const GROUPS: usize = 1 << 12;

/// Sorts counts by what they count, and adds up those of the same.
pub(crate) fn add_up<K: Ord>(counts: &mut Vec<(K, u64)>) {
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

/// The distinct sensitive tuples of some combinations, whose sensitive columns stand from `from` to `to`, and which of
/// them each combination has. There are far fewer of them than combinations.
fn sensitive_tuples(
    table: &Table,
    sensitive: &[usize],
    found: &Combinations,
    from: usize,
    to: usize,
) -> (Vec<u32>, Vec<u32>) {
    let domains: Vec<usize> = sensitive.iter().map(|&c| table.columns[c].dictionary.len()).collect();
    let possible = domains.iter().try_fold(1usize, |product, &d| product.checked_mul(d.max(1)));
    if let (Some(possible), Some(head), Some(tail)) =
        (possible.filter(|&p| p <= found.keys.len().max(1 << 10)), found.tail(from), found.tail(to))
    {
        // The sensitive digits of a key are a small number.
        let digits = |key: u64| (key % head / tail) as usize;
        let mut place = vec![0u32; possible];
        found.keys.iter().for_each(|&key| place[digits(key)] = 1);
        let mut tuples = Vec::new();
        let present: Vec<usize> = (0..possible).filter(|&n| place[n] == 1).collect();
        for (count, number) in (0u32..).zip(present) {
            place[number] = count;
            let mut rest = number;
            let start = tuples.len();
            tuples.resize(start + domains.len(), 0);
            for (code, &domain) in tuples[start..].iter_mut().zip(&domains).rev() {
                *code = (rest % domain.max(1)) as u32;
                rest /= domain.max(1);
            }
        }
        return (tuples, found.keys.iter().map(|&key| place[digits(key)]).collect());
    }
    let mut values = vec![Codes::U32(Vec::with_capacity(found.keys.len())); sensitive.len()];
    let mut own = vec![0; to];
    for &key in &found.keys {
        found.decode(key, &mut own);
        own[from..].iter().zip(&mut values).for_each(|(&code, values)| values.push(code));
    }
    let numbered = combinations(&values.iter().zip(domains).collect::<Vec<_>>(), found.keys.len());
    let mut tuples = vec![0; numbered.keys.len() * sensitive.len()];
    let every = tuples.chunks_exact_mut(sensitive.len().max(1)).zip(&numbered.keys);
    every.for_each(|(out, &key)| numbered.decode(key, out));
    (tuples, numbered.of_row)
}

impl FrequencySet {
    /// Counts a table: columns by position, `key` the column that tells persons apart. Also returns the entry of each
    /// row.
    pub fn count(table: &Table, quasi: &[usize], sensitive: &[usize], key: Option<usize>) -> (Self, Vec<u32>) {
        // Persons matter only when one of them has several rows.
        let key = key.filter(|&k| table.columns[k].dictionary.len() < table.rows);
        Self::count_persons(table, quasi, sensitive, key)
    }

    /// Counts a table for whoever does not ask which row has which entry, in less time.
    pub fn tally(table: &Table, quasi: &[usize], sensitive: &[usize]) -> Self {
        tally(table, quasi, sensitive).unwrap_or_else(|| Self::count(table, quasi, sensitive, None).0)
    }

    /// The same as [`count`](Self::count) where the caller knows whether anyone has several rows: with a `key`, entries carry persons.
    pub fn count_persons(table: &Table, quasi: &[usize], sensitive: &[usize], key: Option<usize>) -> (Self, Vec<u32>) {
        let columns: Vec<_> = (quasi.iter().chain(sensitive).chain(&key))
            .map(|&c| (&table.columns[c].codes, table.columns[c].dictionary.len()))
            .collect();
        let mut found = combinations(&columns, table.rows);
        let of_row = std::mem::take(&mut found.of_row);
        let (from, to) = (quasi.len(), quasi.len() + sensitive.len());
        let (sensitive_tuples, sensitive_of) = sensitive_tuples(table, sensitive, &found, from, to);
        // Entries of one tuple stand side by side and differ in the tail of the key, where it is one number.
        let tail = found.tail(from);
        let part = |start: usize| {
            let end = (start + ENTRIES).min(found.keys.len());
            let mut own = vec![0; found.width()];
            let mut last = vec![0; from];
            if tail.is_none() && start > 0 {
                found.decode(found.keys[start - 1], &mut last);
            }
            let mut part = (Vec::new(), Vec::new(), Vec::with_capacity(end - start));
            for (entry, &own_key) in found.keys.iter().enumerate().take(end).skip(start) {
                let decoded = tail.is_none() || key.is_some();
                if decoded {
                    found.decode(own_key, &mut own);
                }
                let new = entry == 0
                    || match tail {
                        Some(tail) => found.keys[entry - 1] / tail != own_key / tail,
                        None => last != own[..from],
                    };
                if new {
                    if !decoded {
                        found.decode(own_key, &mut own[..from]);
                    }
                    last.copy_from_slice(&own[..from]);
                    part.0.extend_from_slice(&own[..from]);
                    part.1.push(entry);
                }
                let person = if key.is_some() { own[to] } else { NOBODY };
                part.2.push(Entry { sensitive: sensitive_of[entry], person, rows: found.rows[entry] });
            }
            part
        };
        let parts: Vec<(Vec<u32>, Vec<usize>, Vec<Entry>)> =
            (0..found.keys.len().div_ceil(ENTRIES)).into_par_iter().map(|i| part(i * ENTRIES)).collect();
        let count = parts.iter().map(|p| p.1.len()).sum::<usize>();
        let mut tuples: Vec<u32> = Vec::with_capacity(count * from);
        let mut groups =
            Groups { offsets: Vec::with_capacity(count + 1), entries: Vec::with_capacity(found.keys.len()) };
        for (codes, offsets, entries) in parts {
            tuples.extend(codes);
            groups.offsets.extend(offsets);
            groups.entries.extend(entries);
        }
        groups.offsets.push(groups.entries.len());
        let set = FrequencySet {
            width: quasi.len(),
            domains: quasi.iter().map(|&c| table.columns[c].dictionary.len()).collect(),
            groups,
            tuples,
            sensitive_width: sensitive.len(),
            sensitive: sensitive_tuples,
            sensitive_domains: sensitive.iter().map(|&c| table.columns[c].dictionary.len()).collect(),
            rows: table.rows as u64,
            persons: key.is_some(),
            floor: Vec::new(),
        };
        (set, of_row)
    }

    /// Counts each row of the counted table `weights` times; `entry_of_row` is what counting returned beside the set.
    pub fn weigh(&mut self, entry_of_row: &[u32], weights: &[u64]) {
        self.groups.entries.iter_mut().for_each(|entry| entry.rows = 0);
        for (&entry, &weight) in entry_of_row.iter().zip(weights) {
            if let Some(entry) = self.groups.entries.get_mut(entry as usize) {
                entry.rows += weight;
            }
        }
        self.rows = self.groups.entries.iter().map(|e| e.rows).sum();
    }

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
    pub fn sensitive_code(&self, sensitive: u32, column: usize) -> u32 {
        self.sensitive[sensitive as usize * self.sensitive_width + column]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    fn table(columns: &[(&str, &[&str])]) -> Table {
        let rows = columns[0].1.len();
        Table { columns: columns.iter().map(|(n, v)| Column::from_values(n, v.iter().copied())).collect(), rows }
    }

    #[test]
    fn equal_rows_become_one_entry() {
        let t = table(&[
            ("age", &["20", "30", "20", "20"]),
            ("sex", &["f", "m", "f", "f"]),
            ("d", &["flu", "flu", "hiv", "flu"]),
        ]);
        let (set, entry_of) = FrequencySet::count(&t, &[0, 1], &[2], None);
        assert_eq!(set.tuples, [0, 0, 1, 1]);
        assert_eq!(
            set.groups.get(0),
            [Entry { sensitive: 0, person: NOBODY, rows: 2 }, Entry { sensitive: 1, person: NOBODY, rows: 1 }]
        );
        assert_eq!(entry_of, [0, 2, 1, 0]);
        assert_eq!(set.tuple_of_entry(), [0, 0, 1]);
    }

    #[test]
    fn weighed_rows_count_as_many() {
        let whole = table(&[("age", &["20", "30", "20", "20"]), ("d", &["flu", "flu", "hiv", "flu"])]);
        let counted = table(&[("age", &["20", "20", "30"]), ("d", &["flu", "hiv", "flu"])]);
        let (expected, _) = FrequencySet::count(&whole, &[0], &[1], None);
        let (mut set, entry_of) = FrequencySet::count(&counted, &[0], &[1], None);
        set.weigh(&entry_of, &[2, 1, 1]);
        assert_eq!((set.rows, &set.groups), (4, &expected.groups));
        // Whoever counts for nobody leaves no entry behind; the tuple stays.
        set.weigh(&entry_of, &[0, 1, 1]);
        let left = set.groups.without_nobody();
        assert_eq!((left.get(0), left.get(1)), (&expected.groups.get(0)[1..], expected.groups.get(1)));
    }

    #[test]
    fn a_person_counts_once() {
        let t = table(&[("age", &["20", "20", "20"]), ("d", &["flu", "flu", "hiv"]), ("id", &["p", "p", "q"])]);
        let (set, _) = FrequencySet::count(&t, &[0], &[1], Some(2));
        assert!(set.persons);
        assert_eq!((size(set.groups.get(0)), rows(set.groups.get(0))), (2, 3));
        let unique = table(&[("age", &["20", "20"]), ("d", &["flu", "flu"]), ("id", &["p", "q"])]);
        assert!(!FrequencySet::count(&unique, &[0], &[1], Some(2)).0.persons);
    }
}
