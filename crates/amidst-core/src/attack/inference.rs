//! The inference attack.
//!
//! **Assumes** that the adversary knows a person's quasi values and learns, from the published rows of *others*, how
//! quasi labels and sensitive values go together: a naive Bayes classifier over the published cells, tried on rows that
//! it was not trained on (cross-validation; a person's rows stay together).
//!
//! **Succeeds** for rows whose value it guesses rightly, not counting those that have the most common value of the
//! release: that one anybody guesses. `accuracy` against `base_rate`, the share of the most common value, is the lift.
//! Some lift is what a release is published for; it tells what being absent from the table would not have hidden.

use super::view::worst;
use super::{Attack, AttackError, Entry, Extra, Findings, Knowledge, Target};
use crate::frequency::NOBODY;
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

        let everything = Counts::of(target, &columns, values, |_, rows, _| rows);
        // The lowest code of several: the same whatever the order of the rows.
        let mode = (0..values).rev().max_by_key(|&v| everything.values[v]).unwrap_or(0);
        let rows: u64 = everything.values.iter().sum();
        let mut right = 0u64;
        let mut hit = vec![0u64; target.published.classes.len()];
        for fold in 0..folds {
            let share = |at: u64, rows: u64, person: u32| in_fold(at, rows, person, fold, folds);
            let held = Counts::of(target, &columns, values, share);
            let model = Bayes::trained(&everything, &held, &columns, values);
            let mut scores = vec![0.0; values];
            each_class(target, share, |class, counts| {
                let guess = model.guess(&columns, class, &mut scores);
                for &(value, n) in counts.iter().filter(|c| c.0 as usize == guess) {
                    right += n;
                    hit[class] += if value as usize == mode { 0 } else { n };
                }
            });
        }
        let ratio = |n: u64| if rows == 0 { 0.0 } else { n as f64 / rows as f64 };
        let (accuracy, base) = (ratio(right), ratio(everything.values.get(mode).copied().unwrap_or(0)));
        let found = || hit.iter().enumerate().filter(|(_, n)| **n > 0);
        let hit_rows = hit.iter().sum();
        let share = |class: usize, n: u64| n as f64 / target.class(class).0.max(1) as f64;
        let figures = [
            ("accuracy", accuracy),
            ("base_rate", base),
            ("lift", if base > 0.0 { accuracy / base } else { 0.0 }),
            ("columns", columns.len() as f64),
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

/// How many of `rows` rows that stand from position `at` on belong to a fold: every so-manieth row, or all rows of every
/// so-manieth person.
fn in_fold(at: u64, rows: u64, person: u32, fold: u64, folds: u64) -> u64 {
    if person != NOBODY {
        return if u64::from(person) % folds == fold { rows } else { 0 };
    }
    let before = |position: u64| (position + folds - 1 - fold) / folds;
    before(at + rows) - before(at)
}

/// Shows each class the rows that `share` (position, rows, person) takes of its values.
fn each_class(target: &Target<'_>, share: impl Fn(u64, u64, u32) -> u64, mut see: impl FnMut(usize, &[(u32, u64)])) {
    let set = target.published.set;
    let mut counts: Vec<(u32, u64)> = Vec::new();
    let mut at = 0;
    for (class, entries) in target.published.classes.iter().enumerate() {
        counts.clear();
        for entry in entries {
            let taken = share(at, entry.rows, entry.person);
            at += entry.rows;
            if taken > 0 {
                counts.push((set.sensitive_code(entry.sensitive, target.column), taken));
            }
        }
        if !counts.is_empty() {
            see(class, &counts);
        }
    }
}

/// How often each value occurs, and each label of each column with each value.
struct Counts {
    values: Vec<u64>,
    /// For each column, at `label · values + value`.
    cells: Vec<Vec<u64>>,
}

impl Counts {
    fn of(target: &Target<'_>, columns: &[&Column], values: usize, share: impl Fn(u64, u64, u32) -> u64) -> Counts {
        let cells = columns.iter().map(|c| vec![0; c.dictionary.len() * values]).collect();
        let mut counts = Counts { values: vec![0; values], cells };
        each_class(target, share, |class, found| {
            found.iter().for_each(|&(value, n)| counts.values[value as usize] += n);
            for (column, cells) in columns.iter().zip(&mut counts.cells) {
                let start = column.codes.get(class) as usize * values;
                found.iter().for_each(|&(value, n)| cells[start + value as usize] += n);
            }
        });
        counts
    }
}

/// Naive Bayes with one added to every count, in logarithms.
struct Bayes {
    priors: Vec<f64>,
    cells: Vec<Vec<f64>>,
}

impl Bayes {
    fn trained(everything: &Counts, held: &Counts, columns: &[&Column], values: usize) -> Bayes {
        let kept = |all: &[u64], held: &[u64]| all.iter().zip(held).map(|(a, h)| a - h).collect::<Vec<u64>>();
        let known = kept(&everything.values, &held.values);
        let ln = |n: u64| (n as f64).ln();
        let cells = (columns.iter().zip(&everything.cells).zip(&held.cells)).map(|((column, all), held)| {
            let labels = column.dictionary.len() as u64;
            let whole: Vec<f64> = known.iter().map(|&n| ln(n + labels)).collect();
            kept(all, held)
                .chunks(values.max(1))
                .flat_map(|row| row.iter().zip(&whole).map(|(&n, w)| ln(n + 1) - w))
                .collect()
        });
        Bayes { cells: cells.collect(), priors: known.iter().map(|&n| ln(n + 1)).collect() }
    }

    /// The likeliest value for the labels of a class; the lowest code of several.
    fn guess(&self, columns: &[&Column], class: usize, scores: &mut [f64]) -> usize {
        scores.copy_from_slice(&self.priors);
        for (column, cells) in columns.iter().zip(&self.cells) {
            let start = column.codes.get(class) as usize * scores.len();
            scores.iter_mut().zip(&cells[start..]).for_each(|(score, cell)| *score += cell);
        }
        let mut best = 0;
        for (value, score) in scores.iter().enumerate() {
            if *score > scores[best] {
                best = value;
            }
        }
        best
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
        for (at, rows) in [(0, 7), (3, 1), (5, 12), (4, 0)] {
            assert_eq!((0..5).map(|f| in_fold(at, rows, NOBODY, f, 5)).sum::<u64>(), rows);
            assert_eq!((0..5).map(|f| in_fold(at, rows, 7, f, 5)).collect::<Vec<_>>(), [0, 0, rows, 0, 0]);
        }
    }

    #[test]
    fn one_fold_is_none() {
        let parameters = Parameters::from_pairs([("folds", Value::Number(1.into()))]);
        let error = ENTRY.run(&Fixture::new(&[("a", "x")]).target(), &Extra::default(), &parameters).unwrap_err();
        assert!(error.to_string().contains("from 2 to 100"), "{error}");
    }
}
