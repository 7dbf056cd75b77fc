//! Counting a table with the entry of each row.
//!
//! The combinations of all columns are numbered first; they come in ascending order, so the entries of one tuple stand
//! side by side and are cut into tuples by all threads.

use rayon::prelude::*;

use super::counting::{Combinations, combinations, joined};
use super::groups::{Entry, Groups, NOBODY};
use super::set::FrequencySet;
use crate::ids::{EntryId, SensitiveId};
use crate::table::{Codes, Table};

/// Entries that one task makes.
const ENTRIES: usize = 1 << 16;

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
        let seen = |keys: &[u64]| {
            let mut seen = vec![0u32; possible];
            keys.iter().for_each(|&key| seen[digits(key)] = 1);
            seen
        };
        let part = found.keys.len().div_ceil(rayon::current_num_threads()).max(possible).max(ENTRIES);
        let either = |mut one: Vec<u32>, other: Vec<u32>| {
            one.iter_mut().zip(other).for_each(|(one, other)| *one |= other);
            one
        };
        let mut place = found.keys.par_chunks(part).map(seen).reduce(|| vec![0; possible], either);
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
        return (tuples, found.keys.par_iter().map(|&key| place[digits(key)]).collect());
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
    pub fn count(table: &Table, quasi: &[usize], sensitive: &[usize], key: Option<usize>) -> (Self, Vec<EntryId>) {
        // Persons matter only when one of them has several rows.
        let key = key.filter(|&k| table.columns[k].dictionary.len() < table.rows);
        Self::count_persons(table, quasi, sensitive, key)
    }

    /// The same as [`count`](Self::count) where the caller knows whether anyone has several rows: with a `key`, entries
    /// carry persons.
    pub fn count_persons(
        table: &Table,
        quasi: &[usize],
        sensitive: &[usize],
        key: Option<usize>,
    ) -> (Self, Vec<EntryId>) {
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
            let mut own = vec![0; from];
            let mut last = vec![0; from];
            if tail.is_none() && start > 0 {
                found.decode(found.keys[start - 1], &mut last);
            }
            let mut part = (Vec::new(), Vec::new());
            for (entry, &own_key) in found.keys.iter().enumerate().take(end).skip(start) {
                if tail.is_none() {
                    found.decode(own_key, &mut own);
                }
                let new = entry == 0
                    || match tail {
                        Some(tail) => found.keys[entry - 1] / tail != own_key / tail,
                        None => last != own,
                    };
                if new {
                    if tail.is_some() {
                        found.decode(own_key, &mut own);
                    }
                    last.copy_from_slice(&own);
                    part.0.extend_from_slice(&own);
                    part.1.push(entry);
                }
            }
            part
        };
        let parts: Vec<(Vec<u32>, Vec<usize>)> =
            (0..found.keys.len().div_ceil(ENTRIES)).into_par_iter().map(|i| part(i * ENTRIES)).collect();
        let (tuples, mut offsets): (Vec<Vec<u32>>, Vec<Vec<usize>>) = parts.into_iter().unzip();
        offsets.push(vec![found.keys.len()]);
        let person = |own_key: u64, own: &mut Vec<u32>| {
            own.resize(found.width(), 0);
            found.decode(own_key, own);
            own[to]
        };
        let entries = sensitive_of.par_iter().zip(&found.rows).zip(&found.keys).map_init(Vec::new, |own, entry| {
            let ((&sensitive, &rows), &own_key) = entry;
            let person = if key.is_some() { person(own_key, own) } else { NOBODY };
            Entry { sensitive: SensitiveId(sensitive), person, rows }
        });
        let groups = Groups { offsets: joined(offsets), entries: entries.collect() };
        let tuples = joined(tuples);
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
        // The same list under another type: nothing is copied.
        (set, of_row.into_iter().map(EntryId).collect())
    }

    /// Counts each row of the counted table `weights` times; `entry_of_row` is what counting returned beside the set.
    pub fn weigh(&mut self, entry_of_row: &[EntryId], weights: &[u64]) {
        self.groups.entries.iter_mut().for_each(|entry| entry.rows = 0);
        for (&entry, &weight) in entry_of_row.iter().zip(weights) {
            if let Some(entry) = self.groups.entries.get_mut(entry.index()) {
                entry.rows += weight;
            }
        }
        self.rows = self.groups.entries.iter().map(|e| e.rows).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::super::groups::{rows, size};
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
            [0, 1].map(|id| Entry { sensitive: SensitiveId(id), person: NOBODY, rows: 2 - u64::from(id) })
        );
        assert_eq!(entry_of, [0, 2, 1, 0].map(EntryId));
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
        // Rows that count for no person leave no entry behind; the tuple stays.
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
