//! The inference attack.
//!
//! **Assumes** that the adversary knows a person's quasi values and learns, from the published rows of *others*, how
//! quasi labels and sensitive values go together: a naive Bayes classifier over the published cells, tried on rows that
//! it was not trained on (cross-validation; a person's rows stay together).
//!
//! **Succeeds** for rows whose value it guesses rightly, not counting those that have the most common value of the
//! release: that one anybody guesses. `accuracy` against `base_rate`, the share of the most common value, is the lift.
//! Some lift is what a release is published for; it tells what being absent from the table would not have hidden.

mod guess;
mod labels;

use std::ops::Range;

use rayon::prelude::*;

use guess::Guess;
use labels::{Labels, Weight};

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
        let parts = ClassRange::all(target);
        let columns = Columns::counted(target, &parts, labels.columns.iter().collect(), values, folds);
        let counts = Counts::of_folds(target, &parts, &columns, folds);
        let everything = counts.everyone(&columns);
        // The lowest code of several: the same whatever the order of the rows.
        let mode = (0..values).rev().max_by_key(|&v| everything[v]).unwrap_or(0);
        let rows: u64 = everything.iter().sum();
        let models: Vec<Bayes> = (0..counts.folds).map(|fold| Bayes::trained(&counts, fold, &columns)).collect();
        let judged: Vec<(u64, Vec<u64>)> = parts
            .par_iter()
            .map(|part| {
                let mut right = 0u64;
                let mut hit = vec![0u64; part.classes.len()];
                let new = |(held, model)| Guess::new(model, held as u32, &columns);
                let mut guesses: Vec<Guess<'_>> = models.iter().enumerate().map(new).collect();
                let (mut last, mut starts) = (Vec::new(), Vec::new());
                part.each_class(target, folds, |class, parts| {
                    // All rows of a class look alike, so each model guesses once for it.
                    columns.starts(class, &mut starts);
                    let same = last.iter().zip(&starts).take_while(|(a, b)| a == b).count();
                    guesses.iter_mut().for_each(|guess| guess.known = guess.known.min(same));
                    for &(fold, value, n) in parts {
                        let guess = &mut guesses[fold as usize];
                        guess.look_at(class, &starts);
                        if guess.is(value as usize) {
                            right += n;
                            hit[class - part.classes.start] += if value as usize == mode { 0 } else { n };
                        }
                    }
                    std::mem::swap(&mut last, &mut starts);
                });
                (right, hit)
            })
            .collect();
        let right: u64 = judged.iter().map(|(right, _)| right).sum();
        let hit: Vec<u64> = judged.into_iter().flat_map(|(_, hit)| hit).collect();
        let ratio = |n: u64| if rows == 0 { 0.0 } else { n as f64 / rows as f64 };
        let (accuracy, base) = (ratio(right), ratio(everything.get(mode).copied().unwrap_or(0)));
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
struct ClassRange {
    classes: Range<usize>,
    /// The rows of all classes before them.
    before: u64,
}

impl ClassRange {
    /// All classes of a release, a part for each thread.
    fn all(target: &Target<'_>) -> Vec<ClassRange> {
        let classes = target.published.classes;
        let size = classes.len().div_ceil(rayon::current_num_threads()).max(1 << 12);
        let mut before = 0;
        let starts = (0..classes.len()).step_by(size);
        starts
            .map(|start| {
                let part = ClassRange { classes: start..(start + size).min(classes.len()), before };
                before += rows(&classes.entries[classes.offsets[start]..classes.offsets[part.classes.end]]);
                part
            })
            .collect()
    }

    /// Shows each class that has rows, as (fold, value, rows).
    fn each_class(&self, target: &Target<'_>, folds: u64, mut see: impl FnMut(usize, &[(u32, u32, u64)])) {
        let set = target.published.set;
        let mut parts: Vec<(u32, u32, u64)> = Vec::new();
        let mut first = self.before % folds;
        for class in self.classes.clone() {
            parts.clear();
            for entry in target.published.classes.get(class) {
                let value = set.sensitive_code(entry.sensitive, target.column);
                deal(first, entry.rows, entry.person, folds, |fold, rows| parts.push((fold as u32, value, rows)));
                first += if entry.rows < folds { entry.rows } else { entry.rows % folds };
                first -= if first < folds { 0 } else { folds };
            }
            if !parts.is_empty() {
                see(class, &parts);
            }
        }
    }
}

/// The number of scores added up at once.
const LANES: usize = 8;

/// The columns that are learned from, those first whose labels are many. Every label of the others has a place of its
/// own for each value.
struct Columns<'a> {
    columns: Vec<&'a Column>,
    /// How many of them have labels that share places, and what is known of those.
    many: Vec<Labels>,
    values: usize,
    /// The places of a label: whole lanes, of which the last may be idle.
    width: usize,
    /// Where the labels of each column begin, and where those of the last end.
    bases: Vec<usize>,
}

/// The number of counts, of labels with values and folds, up to which they are held for a column, however few of them
/// occur.
const FEW: usize = 1 << 18;

impl<'a> Columns<'a> {
    /// The columns, with the labels of those counted of which much could occur and little does: what is held grows with
    /// what occurs.
    fn counted(target: &Target<'_>, parts: &[ClassRange], columns: Vec<&'a Column>, values: usize, folds: u64) -> Self {
        let entries = target.published.classes.entries.iter();
        let occur: u64 = entries.map(|e| e.rows.min(folds)).sum();
        let most = FEW.max(usize::try_from(occur).unwrap_or(usize::MAX).saturating_mul(4));
        let cells = |c: &&Column| c.dictionary.len().saturating_mul(values).saturating_mul(folds as usize);
        let (many, few): (Vec<&Column>, Vec<&Column>) = columns.into_iter().partition(|c| cells(c) > most);
        let labels = many.par_iter().map(|column| Labels::count(target, parts, column, values, folds)).collect();
        Columns::new([many, few].concat(), labels, values)
    }

    fn new(columns: Vec<&'a Column>, many: Vec<Labels>, values: usize) -> Self {
        let width = values.next_multiple_of(LANES);
        let mut bases = vec![0];
        for (c, column) in columns.iter().enumerate() {
            let vectors = many.get(c).map_or(column.dictionary.len(), Labels::vectors);
            bases.push(bases.last().copied().unwrap_or(0) + vectors * width);
        }
        Columns { columns, many, values, width, bases }
    }

    /// The places of the labels that have their own.
    fn places(&self) -> usize {
        self.bases.last().copied().unwrap_or(0)
    }

    /// Where the values begin for the labels of a class that has rows.
    fn starts(&self, class: usize, starts: &mut Vec<usize>) {
        starts.clear();
        let every = self.columns.iter().zip(&self.bases).enumerate();
        starts.extend(every.map(|(c, (column, base))| {
            let label = column.codes.get(class) as usize;
            base + self.width * self.many.get(c).map_or(label, |labels| labels.vector(label))
        }));
    }

    /// What the labels of a class that share their places add to single values, for a model that did not see a fold, in
    /// ascending order of the values.
    fn weights(&self, class: usize, held: u32, weights: &mut Vec<Weight>) {
        weights.clear();
        for (labels, column) in self.many.iter().zip(&self.columns) {
            labels.weights(column.codes.get(class) as usize, held, weights);
        }
        weights.sort_by_key(|w| w.0);
        weights.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
    }
}

/// How often each value occurs in each fold, and each label of each column with each value in each fold.
struct Counts {
    folds: usize,
    values: Vec<u64>,
    cells: Vec<u64>,
}

impl Counts {
    fn of_folds(target: &Target<'_>, parts: &[ClassRange], columns: &Columns<'_>, folds: u64) -> Counts {
        let (folds, width) = (folds as usize, columns.width);
        // Columns of many labels are counted already.
        let (many, first) = (columns.many.len(), columns.bases[columns.many.len()]);
        let places = columns.places() - first;
        let none = || Counts { folds, values: vec![0; folds * width], cells: vec![0; folds * places] };
        let count = |part: &ClassRange| {
            let mut counts = none();
            let (mut starts, mut places) = (Vec::new(), Vec::new());
            part.each_class(target, folds as u64, |class, parts| {
                columns.starts(class, &mut starts);
                places.clear();
                places.extend(parts.iter().map(|&(fold, value, n)| (fold as usize * width + value as usize, n)));
                places.iter().for_each(|&(place, n)| counts.values[place] += n);
                for start in &starts[many..] {
                    let cells = &mut counts.cells[(start - first) * folds..][..width * folds];
                    places.iter().for_each(|&(place, n)| cells[place] += n);
                }
            });
            counts
        };
        parts.par_iter().map(count).reduce(none, |mut all, more| {
            let add = |sums: &mut [u64], more: &[u64]| sums.iter_mut().zip(more).for_each(|(sum, n)| *sum += n);
            add(&mut all.values, &more.values);
            add(&mut all.cells, &more.cells);
            all
        })
    }

    /// How often each value occurs.
    fn everyone(&self, columns: &Columns<'_>) -> Vec<u64> {
        kept(&self.values, self.folds, columns)
    }
}

/// What counts of the values in each fold come to, without those of the fold `held`.
fn kept(counts: &[u64], held: usize, columns: &Columns<'_>) -> Vec<u64> {
    let mut sums = vec![0; columns.values];
    for (_, own) in counts.chunks_exact(columns.width.max(1)).enumerate().filter(|(fold, _)| *fold != held) {
        sums.iter_mut().zip(own).for_each(|(sum, n)| *sum += n);
    }
    sums
}

/// Naive Bayes with one added to every count, in logarithms. Single precision is plenty for a guess, and twice as fast.
struct Bayes {
    priors: Vec<f32>,
    cells: Vec<f32>,
}

impl Bayes {
    /// Trained on all folds but one.
    fn trained(counts: &Counts, held: usize, columns: &Columns<'_>) -> Bayes {
        let known = kept(&counts.values, held, columns);
        let ln = |n: u64| (n as f64).ln();
        let mut cells = Vec::with_capacity(columns.places());
        let first = columns.bases[columns.many.len()];
        for (c, (column, bounds)) in columns.columns.iter().zip(columns.bases.windows(2)).enumerate() {
            let labels = column.dictionary.len() as u64;
            let whole: Vec<f64> = known.iter().map(|&n| ln(n + labels)).collect();
            if let Some(many) = columns.many.get(c) {
                for vector in 0..many.vectors() {
                    let start = cells.len();
                    cells.extend(whole.iter().map(|w| -w as f32));
                    many.each_of_vector(vector, held as u32, |value, n| {
                        cells[start + value as usize] = (ln(n + 1) - whole[value as usize]) as f32;
                    });
                    cells.resize(start + columns.width, 0.0);
                }
                continue;
            }
            let own = &counts.cells[(bounds[0] - first) * counts.folds..(bounds[1] - first) * counts.folds];
            for label in own.chunks_exact((columns.width * counts.folds).max(1)) {
                let own = kept(label, held, columns);
                cells.extend(own.iter().zip(&whole).map(|(&n, w)| (ln(n + 1) - w) as f32));
                cells.resize(cells.len() + columns.width - columns.values, 0.0);
            }
        }
        let mut priors: Vec<f32> = known.iter().map(|&n| ln(n + 1) as f32).collect();
        priors.resize(columns.width, f32::NEG_INFINITY);
        Bayes { cells, priors }
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
    fn one_fold_is_none() {
        let parameters = Parameters::from_pairs([("folds", Value::Number(1.into()))]);
        let error = ENTRY.run(&Fixture::new(&[("a", "x")]).target(), &Extra::default(), &parameters).unwrap_err();
        assert!(error.to_string().contains("from 2 to 100"), "{error}");
    }
}
