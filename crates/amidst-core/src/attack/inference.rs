//! The inference attack.
//!
//! **Assumes** that the adversary knows a person's quasi values and learns, from the published rows of *others*, how
//! quasi labels and sensitive values go together: a naive Bayes classifier over the published cells, tried on rows that
//! it was not trained on (cross-validation; a person's rows stay together).
//!
//! **Succeeds** for rows whose value it guesses rightly, not counting those that have the most common value of the
//! release: that one anybody guesses. `accuracy` against `base_rate`, the share of the most common value, is the lift.
//! Some lift is what a release is published for; it tells what being absent from the table would not have hidden.

use std::ops::Range;

use rayon::prelude::*;

use super::view::worst;
use super::{Attack, AttackError, Entry, Extra, Findings, Knowledge, Target};
use crate::frequency::{NOBODY, rows};
use crate::parameter::{Kind, Parameter, ParameterError, Parameters};
use crate::table::Column;

pub(super) const ENTRY: Entry = Entry {
    id: "inference",
    title: "inference attack",
    assumes: "the quasi values of a person, and the published rows of others",
    definition: "a classifier trained on the release guesses the sensitive value, where it is not the most common one",
    citation: "Kifer, SIGMOD 2009 (naive Bayes on anonymized tables); Cormode, KDD 2011",
    needs: Knowledge::Release,
    parameters: &[Parameter::optional("folds", Kind::Count, "parts of the cross-validation, from 2 on; 5 when absent")],
    attack: &Inference,
};

/// A column whose labels times values exceed this is left out: counting it would take more memory than it tells.
const LARGEST: usize = 1 << 24;

#[derive(Debug)]
struct Inference;

impl Attack for Inference {
    fn run(&self, target: &Target<'_>, _: &Extra<'_>, parameters: &Parameters) -> Result<Findings, AttackError> {
        let folds = if parameters.get("folds").is_some() { parameters.count("folds")? } else { 5 };
        if !(2..=100).contains(&folds) {
            return Err(ParameterError::new("folds", format!("`folds` must be from 2 to 100, not {folds}")).into());
        }
        let labels = target
            .published
            .labels
            .ok_or_else(|| AttackError::Lacks { attack: ENTRY.id, what: "the published quasi labels".to_string() })?;
        let values = target.histogram.last().map_or(0, |c| c.0 as usize + 1);
        let columns: Vec<&Column> =
            labels.columns.iter().filter(|c| c.dictionary.len().saturating_mul(values) <= LARGEST).collect();
        let columns = Columns::new(columns, values);

        let parts = Part::all(target);
        let held = Counts::of_folds(target, &parts, &columns, folds);
        let everything = Counts::sum(&held);
        // The lowest code of several: the same whatever the order of the rows.
        let mode = (0..values).rev().max_by_key(|&v| everything.values[v]).unwrap_or(0);
        let rows: u64 = everything.values.iter().sum();
        let models: Vec<Bayes> = held.iter().map(|h| Bayes::trained(&everything, h, &columns)).collect();
        let judged: Vec<(u64, Vec<u64>)> = parts
            .par_iter()
            .map(|part| {
                let mut right = 0u64;
                let mut hit = vec![0u64; part.classes.len()];
                let mut scores = vec![0f32; values];
                let mut guesses: Vec<Option<usize>> = vec![None; models.len()];
                let mut starts = Vec::new();
                part.each_class(target, folds, |class, parts| {
                    // All rows of a class look alike, so each model guesses once for it.
                    guesses.fill(None);
                    columns.starts(class, parts, &mut starts);
                    for &(fold, value, n) in parts {
                        let guess = *guesses[fold].get_or_insert_with(|| models[fold].guess(&starts, &mut scores));
                        if guess == value as usize {
                            right += n;
                            hit[class - part.classes.start] += if guess == mode { 0 } else { n };
                        }
                    }
                });
                (right, hit)
            })
            .collect();
        let right: u64 = judged.iter().map(|(right, _)| right).sum();
        let hit: Vec<u64> = judged.into_iter().flat_map(|(_, hit)| hit).collect();
        let ratio = |n: u64| if rows == 0 { 0.0 } else { n as f64 / rows as f64 };
        let (accuracy, base) = (ratio(right), ratio(everything.values.get(mode).copied().unwrap_or(0)));
        let found = || hit.iter().enumerate().filter(|(_, n)| **n > 0);
        let hit_rows = hit.iter().sum();
        let share = |class: usize, n: u64| n as f64 / target.class(class).0.max(1) as f64;
        let figures = [
            ("accuracy", accuracy),
            ("base_rate", base),
            ("lift", if base > 0.0 { accuracy / base } else { 0.0 }),
            ("columns", columns.columns.len() as f64),
        ];
        Ok(Findings {
            classes: found().count() as u64,
            rows: hit_rows,
            persons: found().map(|(class, &n)| n.min(target.class(class).0)).sum(),
            worst: worst(found().map(|(class, &n)| (share(class, n), target.class(class).0, class))),
            figures: figures.map(|(name, figure)| (name.to_string(), figure)).to_vec(),
        })
    }
}

/// Deals `rows` rows to folds, from fold `first` on: every so-manieth row, or all rows of every so-manieth person.
fn deal(first: u64, rows: u64, person: u32, folds: u64, mut to: impl FnMut(usize, u64)) {
    if person != NOBODY {
        return to((u64::from(person) % folds) as usize, rows);
    }
    if rows == 1 {
        return to(first as usize, 1);
    }
    // Dividing takes long, and few rows need it.
    let (each, more) = if rows < folds { (0, rows) } else { (rows / folds, rows % folds) };
    for fold in 0..folds.min(rows) {
        let position = first + fold;
        to((if position < folds { position } else { position - folds }) as usize, each + u64::from(fold < more));
    }
}

/// Classes that one thread looks at.
struct Part {
    classes: Range<usize>,
    /// The rows of all classes before them.
    before: u64,
}

impl Part {
    /// All classes of a release, a part for each thread.
    fn all(target: &Target<'_>) -> Vec<Part> {
        let classes = target.published.classes;
        let size = classes.len().div_ceil(rayon::current_num_threads()).max(1 << 12);
        let mut before = 0;
        let starts = (0..classes.len()).step_by(size);
        starts
            .map(|start| {
                let part = Part { classes: start..(start + size).min(classes.len()), before };
                before += rows(&classes.entries[classes.offsets[start]..classes.offsets[part.classes.end]]);
                part
            })
            .collect()
    }

    /// Shows each class its rows as (fold, value, rows).
    fn each_class(&self, target: &Target<'_>, folds: u64, mut see: impl FnMut(usize, &[(usize, u32, u64)])) {
        let set = target.published.set;
        let mut parts: Vec<(usize, u32, u64)> = Vec::new();
        let mut first = self.before % folds;
        for class in self.classes.clone() {
            parts.clear();
            for entry in target.published.classes.get(class) {
                let value = set.sensitive_code(entry.sensitive, target.column);
                deal(first, entry.rows, entry.person, folds, |fold, rows| parts.push((fold, value, rows)));
                first += if entry.rows < folds { entry.rows } else { entry.rows % folds };
                first -= if first < folds { 0 } else { folds };
            }
            see(class, &parts);
        }
    }
}

/// So many scores are added up at once.
const LANES: usize = 8;

/// The columns that are learned from. Every label of every column has a place of its own for each value.
struct Columns<'a> {
    columns: Vec<&'a Column>,
    values: usize,
    /// Where the labels of each column begin, and where those of the last end.
    bases: Vec<usize>,
}

impl<'a> Columns<'a> {
    fn new(columns: Vec<&'a Column>, values: usize) -> Self {
        let mut bases = vec![0];
        for column in &columns {
            bases.push(bases.last().copied().unwrap_or(0) + column.dictionary.len() * values);
        }
        Columns { columns, values, bases }
    }

    fn places(&self) -> usize {
        self.bases.last().copied().unwrap_or(0)
    }

    /// Where the values begin for the labels of a class that has rows.
    fn starts(&self, class: usize, parts: &[(usize, u32, u64)], starts: &mut Vec<usize>) {
        starts.clear();
        if !parts.is_empty() {
            let every = self.columns.iter().zip(&self.bases);
            starts.extend(every.map(|(column, base)| base + column.codes.get(class) as usize * self.values));
        }
    }
}

/// How often each value occurs, and each label of each column with each value.
struct Counts {
    values: Vec<u64>,
    cells: Vec<u64>,
}

impl Counts {
    fn of_folds(target: &Target<'_>, parts: &[Part], columns: &Columns<'_>, folds: u64) -> Vec<Counts> {
        let none = || Counts { values: vec![0; columns.values], cells: vec![0; columns.places()] };
        let none = || (0..folds).map(|_| none()).collect::<Vec<Counts>>();
        let count = |part: &Part| {
            let mut counts = none();
            let mut starts = Vec::new();
            part.each_class(target, folds, |class, parts| {
                columns.starts(class, parts, &mut starts);
                for &(fold, value, n) in parts {
                    let Counts { values, cells } = &mut counts[fold];
                    values[value as usize] += n;
                    for start in &starts {
                        cells[start + value as usize] += n;
                    }
                }
            });
            counts
        };
        let add =
            |all: Vec<Counts>, more: Vec<Counts>| all.iter().zip(more).map(|(a, b)| Counts::sum([a, &b])).collect();
        parts.par_iter().map(count).reduce(none, add)
    }

    fn sum<'a>(counts: impl IntoIterator<Item = &'a Counts>) -> Counts {
        let add = |sum: &mut [u64], more: &[u64]| sum.iter_mut().zip(more).for_each(|(s, n)| *s += n);
        let mut counts = counts.into_iter();
        let first = counts.next().map(|c| Counts { values: c.values.clone(), cells: c.cells.clone() });
        let mut sum = first.unwrap_or(Counts { values: Vec::new(), cells: Vec::new() });
        for more in counts {
            add(&mut sum.values, &more.values);
            add(&mut sum.cells, &more.cells);
        }
        sum
    }
}

/// Naive Bayes with one added to every count, in logarithms. Single precision is plenty for a guess, and twice as fast.
struct Bayes {
    priors: Vec<f32>,
    cells: Vec<f32>,
}

impl Bayes {
    fn trained(everything: &Counts, held: &Counts, columns: &Columns<'_>) -> Bayes {
        let kept = |all: &[u64], held: &[u64]| all.iter().zip(held).map(|(a, h)| a - h).collect::<Vec<u64>>();
        let known = kept(&everything.values, &held.values);
        let ln = |n: u64| (n as f64).ln();
        let mut cells = Vec::with_capacity(columns.places());
        for (column, bounds) in columns.columns.iter().zip(columns.bases.windows(2)) {
            let labels = column.dictionary.len() as u64;
            let whole: Vec<f64> = known.iter().map(|&n| ln(n + labels)).collect();
            let own = kept(&everything.cells[bounds[0]..bounds[1]], &held.cells[bounds[0]..bounds[1]]);
            for row in own.chunks(columns.values.max(1)) {
                cells.extend(row.iter().zip(&whole).map(|(&n, w)| (ln(n + 1) - w) as f32));
            }
        }
        Bayes { cells, priors: known.iter().map(|&n| ln(n + 1) as f32).collect() }
    }

    /// The likeliest value for the labels whose values begin at `starts`; the lowest code of several.
    fn guess(&self, starts: &[usize], scores: &mut [f32]) -> usize {
        let larger = |a: f32, b: f32| if b > a { b } else { a };
        let mut largest = [f32::NEG_INFINITY; LANES];
        let blocks = self.priors.chunks_exact(LANES);
        let rest = self.priors.len() - blocks.remainder().len();
        for (at, (priors, scores)) in blocks.zip(scores.chunks_exact_mut(LANES)).enumerate() {
            let mut sums = [0f32; LANES];
            sums.copy_from_slice(priors);
            for &start in starts {
                let cells = &self.cells[start + at * LANES..][..LANES];
                sums.iter_mut().zip(cells).for_each(|(sum, cell)| *sum += cell);
            }
            scores.copy_from_slice(&sums);
            largest.iter_mut().zip(sums).for_each(|(largest, sum)| *largest = larger(*largest, sum));
        }
        let mut largest = largest.into_iter().fold(f32::NEG_INFINITY, larger);
        for (value, score) in scores.iter_mut().enumerate().skip(rest) {
            *score = starts.iter().fold(self.priors[value], |sum, start| sum + self.cells[start + value]);
            largest = larger(largest, *score);
        }
        scores.iter().position(|&score| score == largest).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::view::fixture::{Fixture, figure};
    use super::*;
    use crate::parameter::Value;

    fn run(fixture: &Fixture) -> Findings {
        ENTRY.run(&fixture.target(), &Extra::default(), &Parameters::default()).unwrap()
    }

    #[test]
    fn labels_that_tell_the_value_are_learned() {
        let mut rows = vec![("a", "flu"); 60];
        rows.extend(vec![("b", "hiv"); 40]);
        let findings = run(&Fixture::new(&rows));
        // Everyone is guessed; the 40 with the rarer value are what the release gave away.
        assert_eq!((findings.classes, findings.rows, findings.persons), (1, 40, 40));
        assert_eq!((figure(&findings, "accuracy"), figure(&findings, "base_rate")), (1.0, 0.6));
        assert!((figure(&findings, "lift") - 1.0 / 0.6).abs() < 1e-12);
    }

    #[test]
    fn labels_that_tell_nothing_give_no_lift() {
        let mut rows = Vec::new();
        for class in ["a", "b", "c"] {
            rows.extend(vec![(class, "flu"); 30]);
            rows.extend(vec![(class, "hiv"); 10]);
        }
        let findings = run(&Fixture::new(&rows));
        assert_eq!((findings.rows, figure(&findings, "lift")), (0, 1.0));
    }

    #[test]
    fn a_row_is_not_learned_from_itself() {
        // Every label stands once: what it goes with is known only from the row itself.
        let names: Vec<String> = (0..40).map(|i| format!("{i:02}")).collect();
        let rows: Vec<(&str, &str)> =
            names.iter().enumerate().map(|(i, n)| (n.as_str(), if i % 8 < 3 { "hiv" } else { "flu" })).collect();
        assert_eq!(run(&Fixture::new(&rows)).rows, 0);
    }

    #[test]
    fn rows_are_dealt_to_folds_once() {
        let dealt = |at: u64, rows: u64, person: u32| {
            let mut folds = [0; 5];
            deal(at % 5, rows, person, 5, |fold, n| folds[fold] += n);
            folds
        };
        for (at, rows) in [(0, 7), (3, 1), (5, 12), (4, 0), (13, 5)] {
            // Row by row, the row at position p belongs to fold p mod 5.
            let mut expected = [0; 5];
            (at..at + rows).for_each(|p| expected[(p % 5) as usize] += 1);
            assert_eq!(dealt(at, rows, NOBODY), expected);
            assert_eq!(dealt(at, rows, 7), [0, 0, rows, 0, 0]);
        }
    }

    #[test]
    fn blocks_of_values_and_the_rest_add_up_alike() {
        // 19 values: two blocks and three more. What is likeliest is what adding up one by one tells, the first of several.
        let (values, labels) = (2 * LANES + 3, 5);
        let score = |seed: usize| (seed * 7919 % 23) as f32 / -4.0;
        for round in 0..50 {
            let priors: Vec<f32> = (0..values).map(|value| score(value + round)).collect();
            let cells: Vec<f32> = (0..values * labels).map(|place| score(place * 31 + round)).collect();
            let starts = [0, 3 * values, 4 * values];
            let of = |value: usize| starts.iter().fold(priors[value], |sum, start| sum + cells[start + value]);
            let expected = (0..values).rev().max_by(|&a, &b| of(a).total_cmp(&of(b))).unwrap();
            let found = Bayes { priors: priors.clone(), cells: cells.clone() }.guess(&starts, &mut vec![9.0; values]);
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn one_fold_is_none() {
        let parameters = Parameters::from_pairs([("folds", Value::Number(1.into()))]);
        let error = ENTRY.run(&Fixture::new(&[("a", "x")]).target(), &Extra::default(), &parameters).unwrap_err();
        assert!(error.to_string().contains("from 2 to 100"), "{error}");
    }
}
