//! Decides which original values a published cell covers.
//!
//! A cell covers the value itself, the values below a label, everything (`*`), an inclusive range `[a-b]`, or a set
//! `{a,b}` whose members escape commas, braces and backslashes with a backslash.

use std::collections::HashMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use rustc_hash::FxHashMap;

use crate::number;
use crate::options::{ColumnLabels, ValueKind};

/// A set of values of one column, by their numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Codes {
    list: Vec<u32>,
    member: Vec<bool>,
}

impl Codes {
    fn new(mut list: Vec<u32>, values: usize) -> Codes {
        list.sort_unstable();
        list.dedup();
        let mut member = vec![false; values];
        for &code in &list {
            member[code as usize] = true;
        }
        Codes { list, member }
    }

    pub(crate) fn contains(&self, code: u32) -> bool {
        self.member.get(code as usize).copied().unwrap_or(false)
    }
}

/// The values of one column and the meaning of published cells for them.
pub(crate) struct Column<'a> {
    labels: &'a ColumnLabels,
    values: Vec<Vec<u8>>,
    ranks: Option<HashMap<&'a str, usize>>,
    /// For each value its position among bounds of ranges, if it has one.
    keys: Vec<Option<BigRational>>,
    by_label: FxHashMap<&'a [u8], Vec<u32>>,
    known: FxHashMap<Vec<u8>, std::sync::Arc<Codes>>,
}

impl<'a> Column<'a> {
    /// A column with these distinct values, ascending.
    pub(crate) fn new(labels: &'a ColumnLabels, values: Vec<Vec<u8>>) -> Column<'a> {
        let ranks = labels.order.as_ref().map(|o| o.iter().enumerate().map(|(rank, v)| (v.as_str(), rank)).collect());
        let mut column = Column {
            labels,
            ranks,
            keys: Vec::new(),
            by_label: FxHashMap::default(),
            known: FxHashMap::default(),
            values,
        };
        column.keys = column.values.iter().map(|v| std::str::from_utf8(v).ok().and_then(|t| column.key(t))).collect();
        for (code, value) in column.values.iter().enumerate() {
            let path = std::str::from_utf8(value).ok().and_then(|text| labels.paths.get(text));
            for label in path.into_iter().flatten() {
                column.by_label.entry(label.as_bytes()).or_default().push(code as u32);
            }
        }
        column
    }

    /// The number of a value.
    pub(crate) fn code(&self, value: &[u8]) -> Option<u32> {
        self.values.binary_search_by(|v| v.as_slice().cmp(value)).ok().map(|i| i as u32)
    }

    fn key(&self, text: &str) -> Option<BigRational> {
        if let Some(ranks) = &self.ranks {
            return ranks.get(text).map(|&rank| BigRational::from_integer(BigInt::from(rank)));
        }
        match self.labels.kind {
            ValueKind::Number => number::parse(text).ok(),
            ValueKind::Date => date(text),
            ValueKind::Text => number::parse(text).ok().or_else(|| date(text)),
        }
    }

    /// The values that a published cell covers.
    pub(crate) fn covered(&mut self, cell: &[u8]) -> std::sync::Arc<Codes> {
        if let Some(known) = self.known.get(cell) {
            return known.clone();
        }
        let codes = std::sync::Arc::new(Codes::new(self.find(cell), self.values.len()));
        self.known.insert(cell.to_vec(), codes.clone());
        codes
    }

    fn find(&self, cell: &[u8]) -> Vec<u32> {
        if cell == b"*" {
            return (0..self.values.len() as u32).collect();
        }
        let mut found: Vec<u32> = self.code(cell).into_iter().collect();
        // A label of the hierarchy has the meaning of the hierarchy, even if it looks like a range.
        if let Some(codes) = self.by_label.get(cell) {
            found.extend(codes);
            return found;
        }
        let Ok(text) = std::str::from_utf8(cell) else { return found };
        if let Some((low, high)) = self.range(text) {
            let inside = |key: &Option<BigRational>| key.as_ref().is_some_and(|k| *k >= low && *k <= high);
            found.extend((0..self.values.len() as u32).filter(|&code| inside(&self.keys[code as usize])));
        } else if let Some(members) = set(text) {
            for member in members {
                found.extend(self.code(member.as_bytes()));
                found.extend(self.by_label.get(member.as_bytes()).into_iter().flatten());
            }
        }
        found
    }

    /// Whether a value is in a cell that reads as a range of its kind; `None` where the two are not of one kind. Values
    /// are rounded down to the digits of a range of decimals.
    pub(crate) fn within(&self, value: &str, cell: &str) -> Option<bool> {
        let step = digits(cell).map(|digits| BigRational::new(1.into(), BigInt::from(10).pow(digits)));
        let (key, (low, high)) = self.key(value).zip(self.range(cell))?;
        let below = step.is_some_and(|step| key < &high + step);
        Some(key >= low && (key <= high || below))
    }

    /// `[a-b]`, where either bound may hold hyphens itself: the first that leaves two bounds in order is the one.
    fn range(&self, text: &str) -> Option<(BigRational, BigRational)> {
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        inner.match_indices('-').filter(|&(at, _)| at > 0).find_map(|(at, _)| {
            let (low, high) = (self.key(&inner[..at])?, self.key(&inner[at + 1..])?);
            (low <= high).then_some((low, high))
        })
    }
}

/// The digits after the point that both ends of a range of decimals have.
fn digits(cell: &str) -> Option<u32> {
    let after = |point: &str| point.bytes().take_while(u8::is_ascii_digit).count();
    let counts: Vec<usize> = cell.split('.').skip(1).map(after).collect();
    match counts[..] {
        [low, high] if low == high && (1..=28).contains(&low) => u32::try_from(low).ok(),
        _ => None,
    }
}

/// `2024-02-29` as a number that sorts like the date; a time of day after it is ignored.
fn date(text: &str) -> Option<BigRational> {
    let day = text.split(['T', ' ']).next()?;
    let (year, rest) = day.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    if month.len() != 2 || day.len() != 2 {
        return None;
    }
    let (year, month, day): (u32, u32, u32) = (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    let valid = (1..=12).contains(&month) && (1..=31).contains(&day);
    valid.then(|| BigRational::from_integer(BigInt::from(u64::from(year) * 10_000 + u64::from(month * 100 + day))))
}

/// The members of `{a,b}`.
pub(crate) fn set(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut members = vec![String::new()];
    let mut escaped = false;
    for c in inner.chars() {
        match (c, members.last_mut()) {
            (c, Some(last)) if escaped => {
                last.push(c);
                escaped = false;
            }
            ('\\', _) => escaped = true,
            (',', _) => members.push(String::new()),
            (c, Some(last)) => last.push(c),
            (_, None) => {}
        }
    }
    (!escaped).then_some(members)
}

/// Distinct quasi tuples of a table, indexed for the search of those that a published tuple covers.
pub(crate) struct Tuples {
    width: usize,
    codes: Vec<u32>,
    /// How many rows have each tuple.
    pub counts: Vec<u64>,
}

impl Tuples {
    /// An index of these tuples, all of `width` values and distinct.
    pub(crate) fn new(width: usize, mut tuples: Vec<(Vec<u32>, u64)>) -> Tuples {
        tuples.sort_unstable();
        let counts = tuples.iter().map(|t| t.1).collect();
        Tuples { width, codes: tuples.into_iter().flat_map(|t| t.0).collect(), counts }
    }

    /// The numbers of the tuples whose every value lies in the set of its column.
    pub(crate) fn covered(&self, sets: &[std::sync::Arc<Codes>]) -> Vec<u32> {
        let mut found = Vec::new();
        self.search(sets, 0, 0, self.counts.len(), &mut found);
        found
    }

    fn at(&self, tuple: usize, column: usize) -> u32 {
        self.codes[tuple * self.width + column]
    }

    /// The first tuple in `from..to` whose value in `column` is not below `code`.
    fn seek(&self, column: usize, from: usize, to: usize, code: u32) -> usize {
        let (mut low, mut high) = (from, to);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.at(middle, column) < code { low = middle + 1 } else { high = middle }
        }
        low
    }

    fn search(&self, sets: &[std::sync::Arc<Codes>], column: usize, from: usize, to: usize, found: &mut Vec<u32>) {
        let Some(set) = sets.get(column) else {
            found.extend(from as u32..to as u32);
            return;
        };
        if set.list.len() * 8 < to - from {
            for &code in &set.list {
                let start = self.seek(column, from, to, code);
                let end = self.seek(column, start, to, code.saturating_add(1));
                if start < end {
                    self.search(sets, column + 1, start, end, found);
                }
            }
            return;
        }
        let mut start = from;
        while start < to {
            let code = self.at(start, column);
            let end = self.seek(column, start, to, code.saturating_add(1));
            if set.contains(code) {
                self.search(sets, column + 1, start, end, found);
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(labels: &ColumnLabels, values: &[&str], cell: &str) -> Vec<String> {
        let mut sorted: Vec<Vec<u8>> = values.iter().map(|v| v.as_bytes().to_vec()).collect();
        sorted.sort();
        let mut column = Column::new(labels, sorted.clone());
        let codes = column.covered(cell.as_bytes());
        codes.list.iter().map(|&c| String::from_utf8(sorted[c as usize].clone()).unwrap()).collect()
    }

    #[test]
    fn cells_cover_values() {
        let plain = ColumnLabels::default();
        assert_eq!(covers(&plain, &["1", "2", "10"], "[2-10]"), ["10", "2"]);
        assert_eq!(covers(&plain, &["-5", "-1", "0", "0.5"], "[-5--1]"), ["-1", "-5"]);
        assert_eq!(covers(&plain, &["a", "b", "c,d"], "{a,c\\,d}"), ["a", "c,d"]);
        assert_eq!(covers(&plain, &["a", "b"], "*"), ["a", "b"]);
        assert_eq!(covers(&plain, &["a", "b"], "c"), Vec::<String>::new());
        assert_eq!(covers(&plain, &["a"], "{a\\}"), Vec::<String>::new());
        let dates = ColumnLabels { kind: ValueKind::Date, ..ColumnLabels::default() };
        assert_eq!(covers(&dates, &["2020-01-31", "2020-02-01", "2021-01-01"], "[2020-01-01-2020-02-01]").len(), 2);
        let order = Some(vec!["low".into(), "mid-low".into(), "high".into()]);
        let ranked = ColumnLabels { order, ..ColumnLabels::default() };
        assert_eq!(covers(&ranked, &["low", "mid-low", "high"], "[low-mid-low]"), ["low", "mid-low"]);
        let mut tree = ColumnLabels::default();
        tree.paths.insert("14248".into(), vec!["1424*".into(), "*".into()]);
        tree.paths.insert("14249".into(), vec!["1424*".into(), "*".into()]);
        assert_eq!(covers(&tree, &["14248", "14249", "14250"], "1424*"), ["14248", "14249"]);
    }

    #[test]
    fn values_are_excluded_where_they_round_down_to_another_range() {
        let plain = ColumnLabels::default();
        let column = Column::new(&plain, Vec::new());
        for (value, cell, excluded) in [
            ("79.95", "[60.0-79.9]", false),
            ("80", "[60.0-79.9]", true),
            ("59.99", "[60.0-79.9]", true),
            ("-0.05", "[-20.0--0.1]", false),
            ("0", "[-20.0--0.1]", true),
            ("79.95", "[60-79]", true),
            ("50.251", "[43.5-50.25]", true),
            ("word", "[60.0-79.9]", false),
        ] {
            assert_eq!(column.within(value, cell) == Some(false), excluded, "{value} {cell}");
        }
    }

    #[test]
    fn tuples_are_found_by_what_covers_them() {
        let tuples = Tuples::new(2, vec![(vec![0, 0], 1), (vec![0, 1], 2), (vec![1, 1], 3), (vec![2, 0], 4)]);
        let set = |list: &[u32]| std::sync::Arc::new(Codes::new(list.to_vec(), 3));
        assert_eq!(tuples.covered(&[set(&[0, 1]), set(&[1])]), [1, 2]);
        assert_eq!(tuples.covered(&[set(&[0, 1, 2]), set(&[0, 1])]), [0, 1, 2, 3]);
    }
}
