//! `query-error`: how wrong counts on the release are.
//!
//! Seeded random COUNT queries, as in the experiments of Xiao & Tao, "Anatomy", VLDB 2006, §6: a range of values on
//! each of some quasi columns and, where there is one, a set of values of the first sensitive column. The release
//! answers by taking the rows of a class to be spread evenly over the values that its cells cover; the error is
//! relative to the true count, or to a thousandth of the table where that is more, so that tiny answers do not drown
//! the rest.

use amidst_core::frequency::{Entry, FrequencySet, Groups};
use amidst_core::hierarchy::{Cell, Generalization};
use amidst_core::ids::SensitiveId;
use amidst_core::recoding::Recoding;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Measure;

/// What the registry says of it.
pub const MEASURE: Measure = Measure {
    id: "query-error",
    title: "Query error",
    definition: "the mean relative error of a hundred random COUNT queries that the release answers as if the rows of a \
                 class were spread evenly over what its cells cover; reported for a release, not a metric to search by",
    citation: "Xiao & Tao, Anatomy: simple and effective privacy preservation, VLDB 2006",
};

/// How many queries are asked.
pub const QUERIES: usize = 100;

/// The share of the table that a query aims to select, were its columns independent.
const SELECTIVITY: f64 = 0.05;

/// One query: the values that are asked for, in each quasi column and among the sensitive tuples.
struct Query {
    /// The first and last code, or no condition.
    ranges: Vec<Option<(u32, u32)>>,
    /// Whether each value of the first sensitive column is asked for; none without a condition.
    values: Option<Vec<bool>>,
}

/// The mean relative error of the queries; none for an empty table.
///
/// `groups` are the entries of each class of the recoding.
pub fn query_error(
    set: &FrequencySet,
    generalizations: &[Generalization],
    recoding: &Recoding,
    groups: &Groups,
    seed: u64,
) -> Option<f64> {
    if set.rows == 0 || generalizations.is_empty() {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let queries: Vec<Query> = (0..QUERIES).map(|_| Query::draw(set, generalizations, &mut random)).collect();
    let floor = set.rows as f64 / 1000.0;
    let of_sensitive = of_sensitive(set, &queries);
    let truths = truths(set, generalizations, &queries, &of_sensitive);
    let answers = answers(generalizations, recoding, groups, &queries, &of_sensitive);
    let error = |(truth, answer): (u64, f64)| (truth as f64 - answer).abs() / (truth as f64).max(floor);
    let errors: f64 = truths.into_iter().zip(answers).map(error).sum();
    Some(errors / queries.len() as f64)
}

/// One bit for each query.
type QuerySet = u128;
const _: () = assert!(QUERIES <= QuerySet::BITS as usize);

/// Tuples or classes that one task looks at.
const TUPLES: usize = 1 << 14;

/// The queries that a test selects.
fn queries_where(queries: &[Query], test: impl Fn(&Query) -> bool) -> QuerySet {
    queries.iter().enumerate().filter(|(_, q)| test(q)).fold(0, |bits: QuerySet, (i, _)| bits | 1 << i)
}

/// The queries that ask for each sensitive tuple.
fn of_sensitive(set: &FrequencySet, queries: &[Query]) -> Vec<QuerySet> {
    let sensitive = set.sensitive.len().checked_div(set.sensitive_width).unwrap_or(0);
    (0..sensitive as u32).map(SensitiveId).map(|tuple| queries_where(queries, |q| q.wants(set, tuple))).collect()
}

/// The true counts of all queries, in one pass over the table: which queries a tuple answers is the intersection of
/// those that its codes answer.
fn truths(
    set: &FrequencySet,
    generalizations: &[Generalization],
    queries: &[Query],
    of_sensitive: &[QuerySet],
) -> Vec<u64> {
    let of_code: Vec<Vec<QuerySet>> = (0..generalizations.len())
        .map(|column| {
            let asked = |code: u32, q: &Query| q.ranges[column].is_none_or(|(low, high)| (low..=high).contains(&code));
            (0..set.domains[column] as u32).map(|code| queries_where(queries, |q| asked(code, q))).collect()
        })
        .collect();
    let count = |start: usize| {
        let mut counts = vec![0u64; queries.len()];
        for tuple in start..(start + TUPLES).min(set.len()) {
            let codes = set.tuple(tuple).iter().zip(&of_code);
            let here = codes.fold(QuerySet::MAX, |bits, (&code, of)| bits & of[code as usize]);
            if here == 0 {
                continue;
            }
            for entry in set.groups.get(tuple) {
                let mut rest = here & of_sensitive.get(entry.sensitive.index()).copied().unwrap_or(QuerySet::MAX);
                while rest != 0 {
                    if let Some(count) = counts.get_mut(rest.trailing_zeros() as usize) {
                        *count += entry.rows;
                    }
                    rest &= rest - 1;
                }
            }
        }
        counts
    };
    let add = |mut a: Vec<u64>, b: Vec<u64>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let starts: Vec<usize> = (0..set.len()).step_by(TUPLES).collect();
    starts.into_par_iter().map(count).reduce(|| vec![0; queries.len()], add)
}

/// The counts that the release suggests, in one pass over its classes: cells that a query does not meet leave it out.
fn answers(
    generalizations: &[Generalization],
    recoding: &Recoding,
    groups: &Groups,
    queries: &[Query],
    of_sensitive: &[QuerySet],
) -> Vec<f64> {
    let fractions =
        |q: &Query| generalizations.iter().zip(&q.ranges).map(|(g, range)| Fractions::new(g, *range)).collect();
    let fractions: Vec<Vec<Fractions<'_>>> = queries.iter().map(fractions).collect();
    let mut meeting: Vec<QuerySet> = vec![QuerySet::MAX; recoding.classes.len()];
    for column in 0..generalizations.len() {
        let mut of_cell: FxHashMap<&Cell, QuerySet> = FxHashMap::default();
        for (meeting, cells) in meeting.iter_mut().zip(&recoding.classes) {
            let meets = |cell: &Cell| {
                let each = fractions.iter().enumerate().filter(|(_, columns)| columns[column].of(cell) > 0.0);
                each.fold(0, |bits: QuerySet, (i, _)| bits | 1 << i)
            };
            *meeting &= *of_cell.entry(&cells[column]).or_insert_with_key(|cell| meets(cell));
        }
    }
    let suggest = |(part, meeting): (usize, &[QuerySet])| {
        let mut answers = vec![0.0; queries.len()];
        for (class, &meeting) in (part * TUPLES..).zip(meeting) {
            let (entries, mut rest) = (groups.get(class), meeting);
            while rest != 0 {
                let query = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let wants = |e: &&Entry| of_sensitive.get(e.sensitive.index()).is_none_or(|q| q >> query & 1 == 1);
                let rows: u64 = entries.iter().filter(wants).map(|e| e.rows).sum();
                let shares = recoding.classes[class].iter().zip(&fractions[query]);
                answers[query] += shares.map(|(cell, column)| column.of(cell)).product::<f64>() * rows as f64;
            }
        }
        answers
    };
    let parts: Vec<Vec<f64>> = meeting.par_chunks(TUPLES).enumerate().map(suggest).collect();
    // One part after the other: the sum does not depend on who was first.
    let mut answers = vec![0.0; queries.len()];
    parts.iter().for_each(|part| answers.iter_mut().zip(part).for_each(|(sum, more)| *sum += more));
    answers
}

impl Query {
    fn draw(set: &FrequencySet, generalizations: &[Generalization], random: &mut ChaCha8Rng) -> Query {
        let sensitive = set.sensitive_domains.first().copied().unwrap_or(0);
        let mut asked: Vec<bool> = generalizations.iter().map(|_| random.next_u32().is_multiple_of(2)).collect();
        if !asked.contains(&true) {
            let one = below(random, asked.len() as u64) as usize;
            asked[one] = true;
        }
        let conditions = asked.iter().filter(|&&a| a).count() + usize::from(sensitive > 1);
        let share = SELECTIVITY.powf(1.0 / conditions as f64);
        let ranges = generalizations
            .iter()
            .zip(asked)
            .map(|(g, asked)| {
                let active = g.active() as u64;
                if !asked || active == 0 {
                    return None;
                }
                let width = ((active as f64 * share).round() as u64).clamp(1, active);
                let low = below(random, active - width + 1);
                Some((low as u32, (low + width - 1) as u32))
            })
            .collect();
        let values = (sensitive > 1).then(|| {
            let mut wanted = vec![false; sensitive];
            let count = ((sensitive as f64 * share).round() as usize).clamp(1, sensitive);
            for i in sensitive - count..sensitive {
                // Floyd's way to draw a set without repeating a value.
                let pick = below(random, i as u64 + 1) as usize;
                let pick = if wanted[pick] { i } else { pick };
                wanted[pick] = true;
            }
            wanted
        });
        Query { ranges, values }
    }

    /// Whether a sensitive tuple is asked for.
    fn wants(&self, set: &FrequencySet, sensitive: SensitiveId) -> bool {
        match &self.values {
            None => true,
            Some(wanted) => wanted.get(set.sensitive_code(sensitive, 0) as usize).copied().unwrap_or(false),
        }
    }
}

/// For one column, which share of a cell's values a query asks for.
struct Fractions<'a> {
    generalization: &'a Generalization,
    range: Option<(u32, u32)>,
    /// For every level and value, how many values of the range it covers.
    covered: Vec<Vec<u64>>,
}

impl<'a> Fractions<'a> {
    fn new(generalization: &'a Generalization, range: Option<(u32, u32)>) -> Self {
        let count = |(low, high): (u32, u32)| {
            let of_level = |level: &amidst_core::hierarchy::GeneralizedLevel| {
                let mut counts = vec![0; level.labels.len()];
                for value in level.of.iter().take(high as usize + 1).skip(low as usize) {
                    if let Some(count) = counts.get_mut(*value as usize) {
                        *count += 1;
                    }
                }
                counts
            };
            generalization.levels.iter().map(of_level).collect()
        };
        Fractions { generalization, range, covered: range.map(count).unwrap_or_default() }
    }

    fn of(&self, cell: &Cell) -> f64 {
        let Some((low, high)) = self.range else { return 1.0 };
        let asked = match cell {
            Cell::Node { level, value } => {
                self.covered.get(*level as usize).and_then(|l| l.get(*value as usize)).copied().unwrap_or(0)
            }
            Cell::Range { low: from, high: to } => {
                let (from, to) = (low.max(*from), high.min(*to));
                if from > to { 0 } else { u64::from(to - from) + 1 }
            }
            Cell::Set(codes) => codes.iter().filter(|c| (low..=high).contains(c)).count() as u64,
        };
        asked as f64 / self.generalization.covered_active(cell).max(1) as f64
    }
}

/// A number below `bound`, by Lemire's multiplication.
fn below(random: &mut ChaCha8Rng, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use amidst_core::recoding::Assignment;
    use amidst_core::table::{Column, Table};

    fn table() -> (FrequencySet, Vec<Generalization>) {
        let ages: Vec<String> = (0..200).map(|i| (20 + i * i % 37).to_string()).collect();
        let sick: Vec<&str> = (0..200).map(|i| ["flu", "cold", "gout"][i % 7 % 3]).collect();
        let mut age = Column::from_values("age", ages.iter().map(String::as_str));
        age.sort(&[]);
        let table = Table { columns: vec![age, Column::from_values("d", sick)], rows: 200 };
        let (set, _) = FrequencySet::count(&table, &[0], &[1], None);
        (set, vec![Generalization::bind(&table.columns[0], None).unwrap()])
    }

    #[test]
    fn all_true_counts_at_once_are_those_of_a_scan() {
        let (set, generalizations) = table();
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let queries: Vec<Query> = (0..QUERIES).map(|_| Query::draw(&set, &generalizations, &mut random)).collect();
        let scan = |q: &Query| -> u64 {
            let inside = |code: u32| q.ranges[0].is_none_or(|(low, high)| (low..=high).contains(&code));
            let selected = (0..set.len()).filter(|&t| inside(set.tuple(t)[0]));
            let entries = selected.flat_map(|t| set.groups.get(t));
            entries.filter(|e| q.wants(&set, e.sensitive)).map(|e| e.rows).sum()
        };
        let found = truths(&set, &generalizations, &queries, &of_sensitive(&set, &queries));
        assert_eq!(found, queries.iter().map(scan).collect::<Vec<_>>());
    }

    #[test]
    fn an_untouched_table_answers_exactly_and_a_suppressed_one_does_not() {
        let (set, generalizations) = table();
        let exact = Recoding::full_domain(&set, &generalizations, &[0]);
        let error = |recoding: &Recoding| query_error(&set, &generalizations, recoding, &recoding.groups(&set).0, 1);
        assert_eq!(error(&exact), Some(0.0));
        let gone = Recoding::full_domain(&set, &generalizations, &[1]);
        let first = error(&gone).unwrap();
        assert!(first > 0.0 && first.is_finite(), "{first}");
        assert_eq!(error(&gone), Some(first), "the same seed, the same queries");
    }

    #[test]
    fn all_suggested_counts_at_once_are_those_of_a_scan() {
        let (set, generalizations) = table();
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let queries: Vec<Query> = (0..QUERIES).map(|_| Query::draw(&set, &generalizations, &mut random)).collect();
        let range = |low, high| vec![Cell::Range { low, high }];
        let top = generalizations[0].active() as u32 - 1;
        let class_of = |t: usize| set.tuple(t)[0].min(12) / 6;
        let recoding = Recoding {
            classes: vec![range(0, 5), range(6, 11), range(12, top)],
            assignment: Assignment::Tuples((0..set.len()).map(class_of).collect()),
            levels: None,
            masked: None,
            shown: None,
        };
        let groups = recoding.groups(&set).0;
        let scan = |q: &Query| {
            let class = |(cells, entries): (&Vec<Cell>, &[amidst_core::frequency::Entry])| {
                let rows: u64 = entries.iter().filter(|e| q.wants(&set, e.sensitive)).map(|e| e.rows).sum();
                Fractions::new(&generalizations[0], q.ranges[0]).of(&cells[0]) * rows as f64
            };
            recoding.classes.iter().zip(groups.iter()).map(class).sum::<f64>()
        };
        let found = answers(&generalizations, &recoding, &groups, &queries, &of_sensitive(&set, &queries));
        assert_eq!(found, queries.iter().map(scan).collect::<Vec<f64>>());
        assert!(found.iter().any(|&n| n > 0.0 && n.fract() > 0.0));
    }
}
