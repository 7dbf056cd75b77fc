//! What a model guesses for the labels of a class.

use super::labels::Weight;
use super::{Bayes, Columns, LANES};

/// What a model guesses. Neighbouring classes have most labels in common, so the sums up to the first that differs are
/// kept.
pub(super) struct Guess<'a> {
    model: &'a Bayes,
    columns: &'a Columns<'a>,
    /// The fold that the model did not see.
    held: u32,
    width: usize,
    /// The scores of the values before any label, after the first, and so on.
    sums: Vec<f32>,
    /// How many of the labels are those that the scores were summed up for.
    pub(super) known: usize,
    /// The largest after the last.
    largest: f32,
    /// The class whose labels were looked at last.
    class: Option<usize>,
    /// What labels that share their places add to some of the scores, and the largest with it.
    pub(super) weights: Vec<Weight>,
    pub(super) best: f32,
}

impl<'a> Guess<'a> {
    pub(super) fn new(model: &'a Bayes, held: u32, columns: &'a Columns<'a>) -> Self {
        let mut sums = model.priors.clone();
        sums.resize(columns.width * (columns.columns.len() + 1), 0.0);
        let (weights, largest) = (Vec::new(), f32::INFINITY);
        Guess {
            model,
            columns,
            held,
            width: columns.width,
            sums,
            known: 0,
            largest,
            class: None,
            weights,
            best: largest,
        }
    }

    /// Turns to the labels of a class, whose values begin at `starts`.
    pub(super) fn look_at(&mut self, class: usize, starts: &[usize]) {
        if self.class == Some(class) {
            return;
        }
        self.class = Some(class);
        self.sum_up(starts);
        self.columns.weights(class, self.held, &mut self.weights);
        let scores = &self.sums[self.known * self.width..][..self.width];
        // What is added is never negative, so a score without it is no more than the score with it.
        let heavier = self.weights.iter().map(|&(value, weight)| scores[value as usize] + weight);
        self.best = heavier.fold(self.largest, f32::max);
    }

    fn sum_up(&mut self, starts: &[usize]) {
        if self.known == starts.len() && self.largest < f32::INFINITY {
            return;
        }
        for (depth, &start) in starts.iter().enumerate().skip(self.known) {
            let (before, after) = self.sums[depth * self.width..][..2 * self.width].split_at_mut(self.width);
            let (cells, _) = self.model.cells[start..][..self.width].as_chunks::<LANES>();
            let (before, after) = (before.as_chunks::<LANES>().0, after.as_chunks_mut::<LANES>().0);
            for ((sums, cells), after) in before.iter().zip(cells).zip(after) {
                // A copy, so that the compiler knows that nothing else changes and adds all lanes at once.
                let mut sums = *sums;
                sums.iter_mut().zip(cells).for_each(|(sum, cell)| *sum += cell);
                *after = sums;
            }
        }
        self.known = starts.len();
        self.find_largest();
    }

    pub(super) fn scores(&self) -> &[f32] {
        &self.sums[self.known * self.width..][..self.width]
    }

    fn find_largest(&mut self) {
        let larger = |a: f32, b: f32| if b > a { b } else { a };
        let mut largest = [f32::NEG_INFINITY; LANES];
        for scores in self.scores().as_chunks::<LANES>().0 {
            largest.iter_mut().zip(scores).for_each(|(largest, &score)| *largest = larger(*largest, score));
        }
        let mut half = LANES / 2;
        while half > 0 {
            (0..half).for_each(|lane| largest[lane] = larger(largest[lane], largest[lane + half]));
            half /= 2;
        }
        self.largest = largest[0];
    }

    /// Whether this value is the likeliest; the lowest code of several.
    pub(super) fn is(&self, value: usize) -> bool {
        let scores = self.scores();
        let weight = |value: usize| self.weights.binary_search_by_key(&(value as u32), |w| w.0);
        let score = scores[value] + weight(value).map_or(0.0, |at| self.weights[at].1);
        let lower = self.weights.iter().take_while(|w| (w.0 as usize) < value);
        score == self.best
            && (self.largest < self.best || scores[..value].iter().all(|&score| score < self.best))
            && lower.into_iter().all(|&(other, weight)| scores[other as usize] + weight < self.best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    #[test]
    fn what_is_likeliest_is_what_adding_up_tells() {
        // 19 values: two whole lanes, and one of which most is idle. Of several that are likeliest the first is
        // guessed.
        let (values, label) = (2 * LANES + 3, Column::from_values("c", ["a", "b", "c", "d", "e"]));
        let columns = Columns::new(vec![&label, &label, &label], Vec::new(), values);
        let score = |seed: usize| (seed * 7919 % 23) as f32 / -4.0;
        let mut priors: Vec<f32> = (0..values).map(score).collect();
        priors.resize(columns.width, f32::NEG_INFINITY);
        let cells: Vec<f32> = (0..columns.places()).map(|place| score(place * 31)).collect();
        let model = Bayes { priors, cells };
        let mut guess = Guess::new(&model, 0, &columns);
        let mut last: Vec<usize> = Vec::new();
        for round in 0..200usize {
            // Labels that agree with those before in none, some or all of the columns.
            let labels = [round / 25 % 5, round / 5 % 5, round / 2 % 5];
            let starts: Vec<usize> =
                labels.iter().zip(&columns.bases).map(|(l, base)| base + l * columns.width).collect();
            guess.known = guess.known.min(last.iter().zip(&starts).take_while(|(a, b)| a == b).count());
            let of =
                |value: usize| starts.iter().fold(model.priors[value], |sum, start| sum + model.cells[start + value]);
            let expected = (0..values).rev().max_by(|&a, &b| of(a).total_cmp(&of(b))).unwrap();
            guess.look_at(round, &starts);
            assert_eq!((0..values).filter(|&value| guess.is(value)).collect::<Vec<_>>(), [expected]);
            last = starts;
        }
    }
}
