//! `classification`: how well a published column can be predicted from the quasi columns, with the release and without.
//!
//! A naive Bayes classifier over categorical cells with Laplace's correction (Mitchell, *Machine Learning*, 1997, §6.9),
//! in five-fold cross-validation. Both sides are tried on the same rows, those that the release publishes, so that the
//! figures differ by the generalization alone. Training on anonymized cells goes back to LeFevre et al., "Workload-aware
//! anonymization", KDD 2006.

use amidst_core::table::{Column, Table};
use rayon::prelude::*;

use super::Measure;

/// What the registry says of it.
pub const MEASURE: Measure = Measure {
    id: "classification",
    title: "Classification accuracy",
    definition: "how often a naive Bayes classifier predicts the column `target` under [utility] from the quasi columns, \
                 in five-fold cross-validation: on the input, on the release, and for the most frequent value alone; \
                 reported for a release, not a metric to search by",
    citation: "LeFevre, DeWitt & Ramakrishnan, Workload-aware anonymization, KDD 2006; Mitchell, Machine Learning, 1997",
};

/// The parts of the cross-validation.
const FOLDS: usize = 5;

/// How often the classifier is right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Trained and tried on the input.
    pub input: f64,
    /// Trained and tried on the release.
    pub release: f64,
    /// Always guessing the most frequent value.
    pub baseline: f64,
}

/// The accuracy of predicting `target` from the columns called `features`. `released` has the rows of `input`, of which
/// those in `order` are published. None without rows or without features.
pub fn classification(
    input: &Table,
    released: &Table,
    order: &[u32],
    features: &[&str],
    target: &str,
) -> Option<Accuracy> {
    let truth = input.column(target)?;
    let pick = |table: &'_ Table| -> Vec<usize> { features.iter().filter_map(|f| table.position(f)).collect() };
    let (before, after) = (pick(input), pick(released));
    if order.is_empty() || before.is_empty() || before.len() != after.len() {
        return None;
    }
    // Folds must not depend on the order in which rows happen to be published.
    let mut rows = order.to_vec();
    rows.sort_unstable();
    let columns =
        |table: &'_ Table, at: &[usize]| -> Vec<Column> { at.iter().map(|&c| table.columns[c].clone()).collect() };
    let accuracy = |columns: &[Column]| {
        let right: u64 = (0..FOLDS).into_par_iter().map(|fold| right(columns, truth, &rows, fold)).sum();
        right as f64 / rows.len() as f64
    };
    let mut counts = vec![0u64; truth.dictionary.len()];
    rows.iter().for_each(|&row| counts[truth.codes.get(row as usize) as usize] += 1);
    Some(Accuracy {
        input: accuracy(&columns(input, &before)),
        release: accuracy(&columns(released, &after)),
        baseline: counts.iter().copied().max().unwrap_or(0) as f64 / rows.len() as f64,
    })
}

/// Rows of a fold that a classifier trained on the other folds predicts rightly.
fn right(columns: &[Column], truth: &Column, rows: &[u32], fold: usize) -> u64 {
    let classes = truth.dictionary.len();
    let mut priors = vec![0u64; classes];
    let mut counts: Vec<Vec<u32>> = columns.iter().map(|c| vec![0; c.dictionary.len() * classes]).collect();
    for (_, &row) in rows.iter().enumerate().filter(|(i, _)| i % FOLDS != fold) {
        let class = truth.codes.get(row as usize) as usize;
        priors[class] += 1;
        for (column, counts) in columns.iter().zip(&mut counts) {
            counts[column.codes.get(row as usize) as usize * classes + class] += 1;
        }
    }
    // Logarithms once for every cell and class, not once for every row.
    let total: u64 = priors.iter().sum();
    let start: Vec<f64> = priors.iter().map(|&n| ((n + 1) as f64 / (total + classes as u64) as f64).ln()).collect();
    let scores: Vec<Vec<f64>> = columns
        .iter()
        .zip(&counts)
        .map(|(column, counts)| {
            let labels = column.dictionary.len() as f64;
            let score = |(i, &n): (usize, &u32)| (f64::from(n + 1) / (priors[i % classes] as f64 + labels)).ln();
            counts.iter().enumerate().map(score).collect()
        })
        .collect();
    let mut sums = vec![0.0; classes];
    let mut right = 0;
    for (_, &row) in rows.iter().enumerate().filter(|(i, _)| i % FOLDS == fold) {
        sums.copy_from_slice(&start);
        for (column, scores) in columns.iter().zip(&scores) {
            let from = column.codes.get(row as usize) as usize * classes;
            for (sum, score) in sums.iter_mut().zip(&scores[from..from + classes]) {
                *sum += score;
            }
        }
        // The lowest code of several: the same whatever the threads.
        let best = (0..classes).rev().max_by(|&a, &b| sums[a].total_cmp(&sums[b]));
        right += u64::from(best == Some(truth.codes.get(row as usize) as usize));
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ages: [&str; 2], published: [&str; 2]) -> Accuracy {
        let column = |name: &str, values: [&str; 2]| {
            Column::from_values(name, (0..40).map(|i| values[i % 2]).collect::<Vec<_>>())
        };
        let class = column("class", ["high", "low"]);
        let input = Table { columns: vec![column("age", ages), class.clone()], rows: 40 };
        let released = Table { columns: vec![column("age", published), class], rows: 40 };
        let order: Vec<u32> = (0..40).rev().collect();
        classification(&input, &released, &order, &["age"], "class").unwrap()
    }

    #[test]
    fn a_column_that_tells_everything_is_learned_and_one_that_tells_nothing_is_not() {
        let kept = of(["20", "60"], ["young", "old"]);
        assert_eq!((kept.input, kept.release, kept.baseline), (1.0, 1.0, 0.5));
        let lost = of(["20", "60"], ["*", "*"]);
        assert_eq!(lost.input, 1.0);
        assert!(lost.release <= 0.5);
    }
}
