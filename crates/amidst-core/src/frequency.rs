//! The frequency set: the distinct (quasi tuple, sensitive tuple) combinations of a table, with their counts.
//!
//! Everything that privacy models, metrics and full-domain algorithms look at. Rows come back only when a recoding is
//! applied.

use crate::counting::{Combinations, combinations};
use crate::table::{Codes, Table};

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

    /// Groups made of (group, entry) pairs, whose entries that agree in all but the rows are added up.
    pub fn collect(count: usize, mut pairs: Vec<(u32, Entry)>) -> Self {
        pairs.sort_unstable_by_key(|&(g, e)| (g, e.sensitive, e.person));
        let mut groups = Groups { offsets: vec![0; count + 1], entries: Vec::with_capacity(pairs.len()) };
        let mut previous = None;
        for (group, entry) in pairs {
            let key = (group, entry.sensitive, entry.person);
            match groups.entries.last_mut() {
                Some(last) if previous == Some(key) => last.rows += entry.rows,
                _ => {
                    groups.entries.push(entry);
                    groups.offsets[group as usize + 1] += 1;
                    previous = Some(key);
                }
            }
        }
        for g in 0..count {
            groups.offsets[g + 1] += groups.offsets[g];
        }
        groups
    }
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
    histogram.extend(entries.iter().map(|e| (set.sensitive_code(e.sensitive, column), e.rows)));
    if histogram.is_sorted_by(|a, b| a.0 < b.0) {
        return;
    }
    let domain = set.sensitive_domains.get(column).copied().unwrap_or(0);
    if histogram.len() > domain {
        // Many entries: adding up by value beats sorting them.
        let mut counts = vec![0; domain];
        histogram.iter().for_each(|&(value, n)| counts[value as usize] += n);
        histogram.clear();
        histogram.extend((0..).zip(counts).filter(|&(_, n)| n > 0));
    } else {
        histogram.sort_unstable_by_key(|p| p.0);
        histogram.dedup_by(|b, a| {
            let same = a.0 == b.0;
            a.1 += if same { b.1 } else { 0 };
            same
        });
    }
}

impl FrequencySet {
    /// Counts a table: columns by position, `key` the column that tells persons apart. Also returns the entry of each
    /// row.
    pub fn count(table: &Table, quasi: &[usize], sensitive: &[usize], key: Option<usize>) -> (Self, Vec<u32>) {
        // Persons matter only when one of them has several rows.
        let key = key.filter(|&k| table.columns[k].dictionary.len() < table.rows);
        let columns: Vec<_> = (quasi.iter().chain(sensitive).chain(&key))
            .map(|&c| (&table.columns[c].codes, table.columns[c].dictionary.len()))
            .collect();
        let found = combinations(&columns, table.rows);
        let width = columns.len();
        let combination = |entry: usize| &found.codes[entry * width..(entry + 1) * width];
        // Sensitive tuples are numbered among themselves; there are far fewer of them than rows.
        let (from, to) = (quasi.len(), quasi.len() + sensitive.len());
        let mut values = vec![Codes::U32(Vec::with_capacity(found.rows.len())); sensitive.len()];
        for entry in 0..found.rows.len() {
            combination(entry)[from..to].iter().zip(&mut values).for_each(|(&code, values)| values.push(code));
        }
        let domains = sensitive.iter().map(|&c| table.columns[c].dictionary.len());
        let Combinations { codes: sensitive_tuples, of_row: sensitive_of, .. } =
            combinations(&values.iter().zip(domains).collect::<Vec<_>>(), found.rows.len());
        let mut tuples: Vec<u32> = Vec::new();
        let mut groups = Groups { offsets: Vec::new(), entries: Vec::with_capacity(found.rows.len()) };
        for (entry, (&rows, &sensitive)) in found.rows.iter().zip(&sensitive_of).enumerate() {
            let own = combination(entry);
            if entry == 0 || combination(entry - 1)[..from] != own[..from] {
                tuples.extend_from_slice(&own[..from]);
                groups.offsets.push(entry);
            }
            let person = if key.is_some() { own[to] } else { NOBODY };
            groups.entries.push(Entry { sensitive, person, rows });
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
        };
        (set, found.of_row)
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
    fn a_person_counts_once() {
        let t = table(&[("age", &["20", "20", "20"]), ("d", &["flu", "flu", "hiv"]), ("id", &["p", "p", "q"])]);
        let (set, _) = FrequencySet::count(&t, &[0], &[1], Some(2));
        assert!(set.persons);
        assert_eq!((size(set.groups.get(0)), rows(set.groups.get(0))), (2, 3));
        let unique = table(&[("age", &["20", "20"]), ("d", &["flu", "flu"]), ("id", &["p", "q"])]);
        assert!(!FrequencySet::count(&unique, &[0], &[1], Some(2)).0.persons);
    }
}
