//! Labels of a column that are many: what occurs with them is listed, not laid out.
//!
//! Of the product of labels, values and folds little occurs where both are many. A label that occurs with much of the
//! values has a vector of its own all the same, because adding up vectors is quick; all others share one, that of a
//! label which occurs with nothing, and add what they occur with.

use super::super::Target;
use super::ClassRange;
use crate::table::Column;

/// What a label adds to the score of a value.
pub(super) type Weight = (u32, f32);

/// A label has a vector of its own when it occurs with at least this fraction of the values.
const SHARE: usize = 8;

/// How often the labels of a column occur with values, by fold.
#[derive(Debug)]
pub(super) struct Labels {
    /// Where what occurs with each label begins, and where that of the last ends.
    offsets: Vec<usize>,
    /// (value, fold, rows), ascending by value and fold for each label.
    occur: Vec<(u32, u32, u64)>,
    /// The vector of each label; 0 is shared.
    vector: Vec<u32>,
    /// The label of each vector after the shared one.
    owner: Vec<u32>,
}

impl Labels {
    /// Counts a column.
    pub(super) fn count(target: &Target<'_>, parts: &[ClassRange], column: &Column, values: usize, folds: u64) -> Self {
        let mut found: Vec<((u32, u32, u32), u64)> = Vec::new();
        for part in parts {
            part.each_class(target, folds, |class, counts| {
                let label = column.codes.get(class);
                found.extend(counts.iter().map(|&(fold, value, n)| ((label, value, fold), n)));
            });
        }
        found.sort_unstable();
        found.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        let labels = column.dictionary.len();
        let mut offsets = vec![0; labels + 1];
        found.iter().for_each(|f| offsets[f.0.0 as usize + 1] += 1);
        (0..labels).for_each(|label| offsets[label + 1] += offsets[label]);
        let occur: Vec<(u32, u32, u64)> = found.iter().map(|&((_, value, fold), n)| (value, fold, n)).collect();
        let mut counted = Labels { offsets, occur, vector: vec![0; labels], owner: Vec::new() };
        for label in 0..labels {
            let different = counted.of(label).chunk_by(|a, b| a.0 == b.0).count();
            if different * SHARE >= values.max(1) {
                counted.owner.push(label as u32);
                counted.vector[label] = counted.owner.len() as u32;
            }
        }
        counted
    }

    fn of(&self, label: usize) -> &[(u32, u32, u64)] {
        &self.occur[self.offsets[label]..self.offsets[label + 1]]
    }

    /// Each value that occurs with a label outside a fold, and in how many rows.
    fn each(&self, label: usize, held: u32, mut see: impl FnMut(u32, u64)) {
        for same in self.of(label).chunk_by(|a, b| a.0 == b.0) {
            let rows: u64 = same.iter().filter(|o| o.1 != held).map(|o| o.2).sum();
            if rows > 0 {
                see(same[0].0, rows);
            }
        }
    }

    /// How many vectors there are.
    pub(super) fn vectors(&self) -> usize {
        self.owner.len() + 1
    }

    /// The vector of a label.
    pub(super) fn vector(&self, label: usize) -> usize {
        self.vector[label] as usize
    }

    /// Each value of a vector that occurs outside a fold, and in how many rows; the shared one has none.
    pub(super) fn each_of_vector(&self, vector: usize, held: u32, see: impl FnMut(u32, u64)) {
        if let Some(&label) = vector.checked_sub(1).and_then(|owner| self.owner.get(owner)) {
            self.each(label as usize, held, see);
        }
    }

    /// What a label without a vector of its own adds to the scores of values, for a model that did not see a fold.
    pub(super) fn weights(&self, label: usize, held: u32, weights: &mut Vec<Weight>) {
        if self.vector[label] == 0 {
            self.each(label, held, |value, n| weights.push((value, ((n + 1) as f64).ln() as f32)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::view::fixture::Fixture;
    use super::super::*;
    use super::*;
    use crate::random::Random;

    /// Counting what occurs and laying everything out give the same counts and, but for rounding, the same scores.
    #[test]
    fn what_is_listed_is_what_is_laid_out() {
        for seed in 0..6 {
            let mut random = Random::new(seed);
            let (labels, values) = (3 + random.below(30), 2 + random.below(60));
            let rows: Vec<(String, String)> = (0..400)
                .map(|_| {
                    let among = 1 + random.below(labels);
                    (format!("{:02}", random.below(among)), format!("{:02}", random.below(values)))
                })
                .collect();
            let rows: Vec<(&str, &str)> = rows.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            let fixture = Fixture::new(&rows);
            let target = fixture.target();
            let (parts, folds) = (ClassRange::all(&target), 5);
            let values = target.histogram.last().map_or(0, |c| c.0 as usize + 1);
            let columns: Vec<&Column> = target.published.labels.unwrap().columns.iter().collect();
            let listed = columns.iter().map(|c| Labels::count(&target, &parts, c, values, folds)).collect();
            let listed = Columns::new(columns.clone(), listed, values);
            let laid_out = Columns::new(columns, Vec::new(), values);
            let counts = [&listed, &laid_out].map(|columns| Counts::of_folds(&target, &parts, columns, folds));
            for held in 0..folds as usize {
                let models = [Bayes::trained(&counts[0], held, &listed), Bayes::trained(&counts[1], held, &laid_out)];
                let mut guesses =
                    [Guess::new(&models[0], held as u32, &listed), Guess::new(&models[1], held as u32, &laid_out)];
                for class in 0..target.published.classes.len() {
                    let mut starts = Vec::new();
                    for (guess, columns) in guesses.iter_mut().zip([&listed, &laid_out]) {
                        guess.known = 0;
                        columns.starts(class, &mut starts);
                        guess.look_at(class, &starts);
                    }
                    for value in 0..values {
                        let score = |guess: &Guess<'_>| {
                            let weight = guess.weights.iter().find(|w| w.0 as usize == value).map_or(0.0, |w| w.1);
                            guess.scores()[value] + weight
                        };
                        let [a, b] = [score(&guesses[0]), score(&guesses[1])];
                        assert!((a - b).abs() < 1e-4 * b.abs().max(1.0), "seed {seed}: {a} {b}");
                    }
                    let likeliest = |guess: &Guess<'_>| (0..values).filter(|&v| guess.is(v)).count();
                    assert_eq!(guesses.each_ref().map(likeliest), [1, 1], "seed {seed}");
                    assert!((guesses[0].best - guesses[1].best).abs() < 1e-4 * guesses[1].best.abs().max(1.0));
                }
            }
        }
    }
}
