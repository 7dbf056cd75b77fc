//! The columns: what was done to each, and how its values are spread before and after.
//!
//! Counts are told by *published* labels only. The counts of the original table stand beside them where they say no
//! more than the release does: for full-domain recodings, and rounded when rows are missing, so that the difference
//! points at nobody. A local recoding has overlapping labels, whose original counts could be subtracted from each
//! other.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use amidst_core::hierarchy::{Generalize, TOP};
use amidst_core::recoding::Recoding;
use amidst_core::table::{Column, Table};
use rayon::prelude::*;

use super::content::{Bar, ColumnReport, Detail, Others, Sides};
use crate::policy::{Policy, Role};
use crate::prepare::Prepared;
use crate::release::Released;

/// How many labels of a column are listed.
const LISTED: usize = 12;

/// In a table that is not protected yet, values of fewer rows than this are not shown.
pub const RARE: u64 = 5;

/// How far the counts of the original table may be told.
#[derive(Debug, Clone, Copy)]
pub struct Originals {
    /// What they are rounded to.
    pub rounded_to: u64,
    /// Whether those of sensitive columns may be told, too.
    pub sensitive: bool,
}

/// The columns of a release.
pub fn of_release(
    policy: &Policy,
    prepared: &Prepared,
    recoding: &Recoding,
    released: &Released,
    originals: Originals,
) -> Vec<ColumnReport> {
    prepared.header.par_iter().map(|name| one(policy, prepared, recoding, released, originals, name)).collect()
}

fn one(
    policy: &Policy,
    prepared: &Prepared,
    recoding: &Recoding,
    released: &Released,
    originals: Originals,
    name: &str,
) -> ColumnReport {
    let role = policy.column(name).map_or(Role::Identifying, |c| c.role);
    let mut report = blank(name, role);
    let (Some(original), Some(published)) = (prepared.table.position(name), released.table.column(name)) else {
        return report;
    };
    let column = &prepared.table.columns[original];
    let after = released.counts(published);
    report.distinct = Some(Sides {
        before: Some(column.dictionary.len() as u64),
        after: after.iter().filter(|&&n| n > 0).count() as u64,
    });
    let mut before = None;
    if let Some(q) = prepared.quasi.iter().position(|&c| c == original) {
        let generalization = &prepared.generalizations[q];
        let height = generalization.height();
        report.detail = Some(detail(column, published, &after));
        match recoding.levels.as_ref().and_then(|l| l.get(q)) {
            Some(&level) => {
                report.level = Some((level, height));
                report.technique = match level {
                    0 => "published as it is".to_string(),
                    _ if level == height => "fully generalized: every row has the same label".to_string(),
                    _ => format!("generalized to level {level} of {height}"),
                };
                if prepared.waived.is_none()
                    && let Some(labels) = generalization.levels.get(level)
                {
                    let mut of_label: BTreeMap<&str, u64> = BTreeMap::new();
                    for (code, n) in prepared.counts(original).into_iter().enumerate() {
                        let label = labels.of.get(code).and_then(|&g| labels.labels.get(g as usize));
                        *of_label.entry(label.map_or("", String::as_str)).or_default() += n;
                    }
                    before = Some(of_label.into_iter().map(|(label, n)| (label.to_string(), n)).collect());
                    report.rounded_to = originals.rounded_to;
                }
            }
            None => {
                let written = match generalization.generalize {
                    Generalize::Hierarchy => "nodes of its hierarchy",
                    Generalize::Ranges => "ranges",
                    Generalize::Sets => "sets of values",
                };
                report.technique = format!("generalized class by class, to {written}");
            }
        }
    } else {
        // Beside what is published, the sensitive values of all rows tell those of the rows that are missing.
        if role != Role::Sensitive || originals.sensitive {
            let counted = column.dictionary.iter().zip(prepared.counts(original));
            before = Some(counted.map(|(value, n)| (value.to_string(), n)).collect());
            report.rounded_to = if role == Role::Sensitive { 1 } else { originals.rounded_to };
        }
    }
    fill(&mut report, published, &after, before.as_ref(), 1);
    report
}

/// The columns of a table that is audited as it stands.
pub fn of_table(policy: &Policy, prepared: &Prepared) -> Vec<ColumnReport> {
    let table: &Table = &prepared.table;
    let each = |name: &String| {
        let role = policy.column(name).map_or(Role::Identifying, |c| c.role);
        let mut report = blank(name, role);
        report.technique = "looked at as it stands".to_string();
        match table.column(name).filter(|_| role.published()) {
            None => report.technique = "not looked at".to_string(),
            Some(column) => {
                let counts = column.counts();
                report.distinct = Some(Sides { before: None, after: counts.iter().filter(|&&n| n > 0).count() as u64 });
                fill(&mut report, column, &counts, None, RARE);
            }
        }
        report
    };
    prepared.header.iter().map(each).collect()
}

/// The columns of a release as its recipients see them: what is published, and what the policy says of the rest.
pub fn published(policy: &Policy, columns: &[ColumnReport]) -> Vec<ColumnReport> {
    let one = |column: &ColumnReport| {
        let role = policy.column(&column.name).map_or(Role::Identifying, |c| c.role);
        let mut report = blank(&column.name, role);
        if role == Role::Quasi {
            report.technique = "generalized where the labels say so".to_string();
        }
        report.distinct = column.distinct.as_ref().map(|d| Sides { before: None, after: d.after });
        report.histogram = column.histogram.iter().map(|bar| Bar { before: None, ..bar.clone() }).collect();
        report.others = column.others.clone();
        report
    };
    // Of columns that are not published only those that the policy names.
    let told = |column: &&ColumnReport| {
        column.distinct.is_some() || policy.columns.iter().any(|stated| stated.name == column.name)
    };
    columns.iter().filter(told).map(one).collect()
}

/// How the values of a column are spread: the most frequent of them, or ranges of numbers, and what is not listed.
/// Values of which `left_out` is true are no values.
pub fn histogram(column: &Column, left_out: impl Fn(&str) -> bool) -> (Vec<Bar>, Option<Others>) {
    let mut counts = column.counts();
    for (value, count) in column.dictionary.iter().zip(&mut counts) {
        if *count > 0 && left_out(value) {
            *count = 0;
        }
    }
    let mut report = blank(&column.name, Role::Insensitive);
    fill(&mut report, column, &counts, None, 1);
    (report.histogram, report.others)
}

fn blank(name: &str, role: Role) -> ColumnReport {
    let technique = match role {
        Role::Identifying => "left out; not even read into memory",
        Role::Key => "left out; only tells persons apart",
        Role::Consent => "left out; only says who waived protection",
        Role::Sensitive => "published as it is; its link to a person is protected",
        Role::Quasi | Role::Insensitive => "published as it is",
    };
    ColumnReport {
        name: name.to_string(),
        role: role.name(),
        technique: technique.to_string(),
        level: None,
        distinct: None,
        detail: None,
        histogram: Vec::new(),
        others: None,
        rounded_to: 1,
    }
}

fn detail(original: &Column, published: &Column, after: &[u64]) -> Detail {
    let mut detail = Detail { exact: 0, generalized: 0, top: 0 };
    for (label, &n) in published.dictionary.iter().zip(after) {
        if label == TOP {
            detail.top += n;
        } else if original.dictionary.code(label).is_some() {
            detail.exact += n;
        } else {
            detail.generalized += n;
        }
    }
    detail
}

/// Up to a multiple of `base`: never fewer rows than are published.
fn round(n: u64, base: u64) -> u64 {
    n.next_multiple_of(base.max(1))
}

/// Lists the most frequent labels, in the order of their numbers where they have numbers.
fn fill(
    report: &mut ColumnReport,
    column: &Column,
    after: &[u64],
    before: Option<&BTreeMap<String, u64>>,
    at_least: u64,
) {
    let bar = |(label, &n): (&str, &u64)| Bar {
        label: label.to_string(),
        before: before.and_then(|b| b.get(label).copied()),
        after: n,
    };
    let mut bars: Vec<Bar> = column.dictionary.iter().zip(after).filter(|&(_, &n)| n > 0).map(bar).collect();
    if bars.len() > LISTED
        && let Some(ranges) = in_ranges(&bars)
    {
        bars = ranges;
    }
    for bar in &mut bars {
        bar.before = bar.before.map(|n| round(n, report.rounded_to));
    }
    bars.sort_by(|a, b| b.after.cmp(&a.after).then_with(|| by_number(&a.label, &b.label)));
    let rare = bars.iter().position(|b| b.after < at_least).unwrap_or(bars.len());
    let rest = bars.split_off(rare.min(LISTED));
    if !rest.is_empty() {
        report.others = Some(Others { labels: rest.len() as u64, after: rest.iter().map(|b| b.after).sum() });
    }
    if bars.iter().filter(|b| b.label != TOP).all(|b| leading_number(&b.label).is_some()) {
        bars.sort_by(|a, b| by_number(&a.label, &b.label));
    }
    report.histogram = bars;
}

/// Plain numbers that are too many to list, counted in about a dozen ranges of the same round width.
fn in_ranges(bars: &[Bar]) -> Option<Vec<Bar>> {
    let numbers: Vec<f64> = bars.iter().map(|b| b.label.trim().parse().ok()).collect::<Option<_>>()?;
    let whole = numbers.iter().all(|n: &f64| n.fract() == 0.0 && n.abs() < 1e15);
    let (low, high) = numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &n| (l.min(n), h.max(n)));
    let least = (high - low) / LISTED as f64;
    if !least.is_finite() || least <= 0.0 {
        return None;
    }
    let power = 10f64.powf(least.log10().floor());
    let width = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|w| *w >= least)?;
    let width = if whole { width.max(1.0).ceil() } else { width };
    let mut ranges: BTreeMap<i64, Bar> = BTreeMap::new();
    for (bar, n) in bars.iter().zip(&numbers) {
        let at = (n / width).floor();
        let range = ranges.entry(at as i64).or_insert_with(|| {
            let (from, to) = (at * width, (at + 1.0) * width);
            let digits = if whole { 0 } else { (-power.log10().floor()).max(0.0) as usize };
            let label = match whole {
                true => format!("{from:.0}–{:.0}", to - 1.0),
                false => format!("{from:.digits$} to under {to:.digits$}"),
            };
            Bar { label, before: bar.before.map(|_| 0), after: 0 }
        });
        range.after += bar.after;
        range.before = range.before.zip(bar.before).map(|(sum, n)| sum + n);
    }
    Some(ranges.into_values().collect())
}

fn by_number(a: &str, b: &str) -> Ordering {
    if a.len() == b.len() && a.contains('*') && b.contains('*') {
        // Masked codes stand as in a book: 1**, 11*, 12*.
        return a.cmp(b);
    }
    match (leading_number(a), leading_number(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// The number that a label such as `[20-29]` or `1424*` begins with.
fn leading_number(label: &str) -> Option<f64> {
    let text = label.trim_start_matches(['[', '(', '{', '<', '>', '=', '≥', '≤', ' ']);
    let end = text.char_indices().find(|&(i, c)| !(c.is_ascii_digit() || c == '.' || i == 0 && c == '-'));
    text.get(..end.map_or(text.len(), |(i, _)| i))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_in_the_order_of_their_numbers() {
        let mut labels = ["[100-109]", "[20-29]", "*", "[9-19]"];
        labels.sort_by(|a, b| by_number(a, b));
        assert_eq!(labels, ["[9-19]", "[20-29]", "[100-109]", "*"]);
        assert_eq!(leading_number("-3.5"), Some(-3.5));
        let mut labels = ["12***", "1****", "110**", "*"];
        labels.sort_by(|a, b| by_number(a, b));
        assert_eq!(labels, ["1****", "110**", "12***", "*"]);
    }

    #[test]
    fn many_numbers_are_counted_in_ranges() {
        let values: Vec<String> = (0..1200).map(|i| (i * 10).to_string()).collect();
        let column = Column::from_values("cost", values.iter().map(String::as_str));
        let before: BTreeMap<String, u64> = values.iter().map(|v| (v.clone(), 2)).collect();
        let mut report = ColumnReport { rounded_to: 3, ..blank("cost", Role::Insensitive) };
        fill(&mut report, &column, &column.counts(), Some(&before), 1);
        let labels: Vec<&str> = report.histogram.iter().map(|b| b.label.as_str()).collect();
        assert_eq!((labels.len(), labels[0], labels[1]), (12, "0–999", "1000–1999"));
        assert!(report.histogram.iter().all(|b| b.after == 100 && b.before == Some(201)), "{:?}", report.histogram);
        assert_eq!(report.others, None);
        let column = Column::from_values("share", (0..40).map(|i| ["0.05", "0.5", "0.75", "1.2"][i % 4]));
        fill(&mut report, &column, &column.counts(), None, 1);
        assert_eq!(report.histogram.len(), 4, "few numbers are listed as they are");
    }

    #[test]
    fn rounding_goes_up_to_a_multiple() {
        assert_eq!([round(7, 5), round(10, 5), round(7, 1), round(7, 0)], [10, 10, 7, 7]);
    }

    #[test]
    fn rare_values_of_a_raw_table_are_not_shown() {
        let column = Column::from_values("age", ["20", "20", "20", "20", "20", "93"]);
        let mut report = blank("age", Role::Quasi);
        fill(&mut report, &column, &column.counts(), None, RARE);
        assert_eq!(report.histogram.len(), 1);
        assert_eq!(report.others, Some(Others { labels: 1, after: 1 }));
    }
}
