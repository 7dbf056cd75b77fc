//! `classification`: how well a published column can be predicted from the quasi columns, with the release and without.
//!
//! A naive Bayes classifier over categorical cells with Laplace's correction (Mitchell, *Machine Learning*, 1997,
//! §6.9), in five-fold cross-validation. Both sides are tried on the same rows, those that the release publishes, so
//! that the figures differ by the generalization alone. Training on anonymized cells goes back to LeFevre et al.,
//! "Workload-aware anonymization", KDD 2006.

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

/// The number of counts, labels times values of the target, up to which they are laid out for a column, however few of
/// them occur.
const FEW: usize = 1 << 18;

/// What a classifier learned about one column: a score for each value of the target under each label.
struct Learned<'a> {
    column: &'a Column,
    scores: Scores,
}

enum Scores {
    /// Laid out, label by label.
    All(Vec<f64>),
    /// What a label that occurs with nothing says; and for each label, from where its own begin, the values that occur
    /// with it and by how much more it says. What is held grows with what occurs.
    Listed { nothing: Vec<f64>, offsets: Vec<usize>, more: Vec<(u32, f64)> },
}

impl<'a> Learned<'a> {
    fn of(column: &'a Column, truth: &Column, rows: &[u32], fold: usize, priors: &[u64]) -> Self {
        let (labels, classes) = (column.dictionary.len(), priors.len());
        let training = || rows.iter().enumerate().filter(move |(i, _)| i % FOLDS != fold).map(|(_, &row)| row as usize);
        let of = |row: usize| (column.codes.get(row), truth.codes.get(row));
        let score = |n: u32, class: usize| (f64::from(n + 1) / (priors[class] as f64 + labels as f64)).ln();
        if labels.saturating_mul(classes) <= FEW.max(rows.len().saturating_mul(4)) {
            let mut counts = vec![0u32; labels * classes];
            training().map(of).for_each(|(label, class)| counts[label as usize * classes + class as usize] += 1);
            // Logarithms once for every cell and class, not once for every row.
            let scores = counts.iter().enumerate().map(|(i, &n)| score(n, i % classes)).collect();
            return Learned { column, scores: Scores::All(scores) };
        }
        let mut pairs: Vec<(u32, u32)> = training().map(of).collect();
        pairs.sort_unstable();
        let nothing: Vec<f64> = (0..classes).map(|class| score(0, class)).collect();
        let (mut offsets, mut more) = (vec![0; labels + 1], Vec::new());
        for same in pairs.chunk_by(|a, b| a == b) {
            let (label, class) = same[0];
            more.push((class, score(same.len() as u32, class as usize) - nothing[class as usize]));
            offsets[label as usize + 1] = more.len();
        }
        (0..labels).for_each(|label| offsets[label + 1] = offsets[label + 1].max(offsets[label]));
        Learned { column, scores: Scores::Listed { nothing, offsets, more } }
    }

    /// Adds what every label of the column says of each value of the target, as far as that is one thing for all.
    fn add_common(&self, sums: &mut [f64]) {
        if let Scores::Listed { nothing, .. } = &self.scores {
            sums.iter_mut().zip(nothing).for_each(|(sum, score)| *sum += score);
        }
    }

    /// Adds what the label of a row says of each value of the target, where labels are laid out.
    fn add(&self, row: usize, sums: &mut [f64]) {
        if let Scores::All(scores) = &self.scores {
            let from = self.column.codes.get(row) as usize * sums.len();
            let own = &scores[from..from + sums.len()];
            sums.iter_mut().zip(own).for_each(|(sum, score)| *sum += score);
        }
    }

    /// What the label of a row says more of single values, where they are listed.
    fn more(&self, row: usize) -> &[(u32, f64)] {
        let label = self.column.codes.get(row) as usize;
        match &self.scores {
            Scores::All(_) => &[],
            Scores::Listed { offsets, more, .. } => &more[offsets[label]..offsets[label + 1]],
        }
    }

    fn laid_out(&self) -> bool {
        matches!(self.scores, Scores::All(_))
    }
}

/// The likeliest value; the lowest code of several: the same whatever the threads.
fn likeliest(sums: &[f64]) -> Option<usize> {
    (0..sums.len()).rev().max_by(|&a, &b| sums[a].total_cmp(&sums[b]))
}

/// Rows of a fold that a classifier trained on the other folds predicts rightly.
fn right(columns: &[Column], truth: &Column, rows: &[u32], fold: usize) -> u64 {
    let classes = truth.dictionary.len();
    let mut priors = vec![0u64; classes];
    let training = rows.iter().enumerate().filter(|(i, _)| i % FOLDS != fold);
    training.for_each(|(_, &row)| priors[truth.codes.get(row as usize) as usize] += 1);
    let learned: Vec<Learned<'_>> =
        columns.iter().map(|column| Learned::of(column, truth, rows, fold, &priors)).collect();
    let total: u64 = priors.iter().sum();
    let mut start: Vec<f64> = priors.iter().map(|&n| ((n + 1) as f64 / (total + classes as u64) as f64).ln()).collect();
    learned.iter().for_each(|column| column.add_common(&mut start));
    // Rows whose laid-out labels agree are looked at together: what those labels say is added up once.
    let laid_out: Vec<&Learned<'_>> = learned.iter().filter(|l| l.laid_out()).collect();
    let labels = |row: u32| laid_out.iter().map(move |l| l.column.codes.get(row as usize));
    let mut tried: Vec<u32> = rows.iter().enumerate().filter(|(i, _)| i % FOLDS == fold).map(|(_, &row)| row).collect();
    tried.sort_by(|&a, &b| labels(a).cmp(labels(b)));
    let mut sums = vec![0.0; classes];
    let mut more: Vec<(u32, f64)> = Vec::new();
    let mut right = 0;
    for alike in tried.chunk_by(|&a, &b| labels(a).eq(labels(b))) {
        sums.copy_from_slice(&start);
        laid_out.iter().for_each(|column| column.add(alike[0] as usize, &mut sums));
        let Some(best) = likeliest(&sums) else { continue };
        for &row in alike {
            more.clear();
            learned.iter().for_each(|column| more.extend(column.more(row as usize)));
            more.sort_by_key(|m| m.0);
            // What is listed is never less than nothing, so the likeliest is the one before or one of those listed.
            let mut guess = (sums[best], best);
            for same in more.chunk_by(|a, b| a.0 == b.0) {
                let class = same[0].0 as usize;
                let score = same.iter().fold(sums[class], |sum, m| sum + m.1);
                if score > guess.0 || score == guess.0 && class < guess.1 || class == guess.1 {
                    guess = (score, class);
                }
            }
            right += u64::from(guess.1 == truth.codes.get(row as usize) as usize);
        }
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

    /// Labels and values that are listed because they are many say what the same table says with every score laid out.
    #[test]
    fn what_is_listed_is_what_is_laid_out() {
        let mut random = amidst_core::internal::random::Random::new(9);
        let draw = |random: &mut amidst_core::internal::random::Random, n: usize| format!("{:04}", random.below(1 + n));
        let rows: Vec<[String; 3]> = (0..1500)
            .map(|_| {
                let code = random.below(900);
                let disease = if random.below(3) > 0 { code * 7 % 700 } else { random.below(700) };
                [format!("{code:04}"), draw(&mut random, 5), format!("{disease:04}")]
            })
            .collect();
        let column =
            |at: usize| Column::from_values(["code", "age", "disease"][at], rows.iter().map(|r| r[at].as_str()));
        let (features, truth) = ([column(0), column(1)], column(2));
        let order: Vec<u32> = (0..1500).collect();
        assert!(features[0].dictionary.len() * truth.dictionary.len() > FEW, "listed");
        let mut seen = 0;
        for fold in 0..FOLDS {
            // By the definition, row by row.
            let train: Vec<usize> = (0..1500).filter(|i| i % FOLDS != fold).collect();
            let mut expected = 0;
            for row in (0..1500).filter(|i| i % FOLDS == fold) {
                let score = |class: u32| {
                    let of_class: Vec<usize> = train.iter().copied().filter(|&r| truth.codes.get(r) == class).collect();
                    let prior = (of_class.len() + 1) as f64 / (train.len() + truth.dictionary.len()) as f64;
                    features.iter().fold(prior.ln(), |sum, column| {
                        let label = column.codes.get(row);
                        let n = of_class.iter().filter(|&&r| column.codes.get(r) == label).count();
                        sum + ((n + 1) as f64 / (of_class.len() + column.dictionary.len()) as f64).ln()
                    })
                };
                let scores: Vec<f64> = (0..truth.dictionary.len() as u32).map(score).collect();
                let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                // Only where rounding cannot decide between two values.
                let near = scores.iter().filter(|s| best - **s < 1e-9).count();
                let right = scores[truth.codes.get(row) as usize] == best;
                expected += if near == 1 && right { 1 } else { 0 };
                seen += u64::from(near > 1 && best - scores[truth.codes.get(row) as usize] < 1e-9);
            }
            let found = right(&features, &truth, &order, fold);
            assert!(found >= expected && found <= expected + seen, "{found} {expected} {seen}");
            assert!(expected > 30);
        }
    }
}
