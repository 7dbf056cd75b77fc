//! How many people of the population are unique in it, estimated from the classes of a sample.
//!
//! Every estimate names its model. Models disagree, and none is right for all data; Dankar, El Emam, Neisa & Roffey
//! 2012, "Estimating the re-identification risk of clinical data sets", compare them and recommend Pitman's for small
//! sampling fractions. [`estimate`] follows that: Pitman up to a tenth, Zayatz above, and the other where the first
//! gives no answer.
//!
//! May use: `class`, `exact`, the rest of `risk`, and what those use.

mod gamma;
mod pitman;
mod zayatz;

use crate::class::Sizes;
use crate::exact::Rational;

/// A model of the population.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// Pitman's sampling formula (Hoshino 2001).
    Pitman,
    /// Zayatz 1991.
    Zayatz,
}

/// An estimate, with the model that it stands on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The model.
    pub model: Model,
    /// How many people of the population are unique in it.
    pub uniques: f64,
    /// Their share of the population.
    pub share: f64,
}

impl Model {
    /// Every model.
    pub const ALL: &[Model] = &[Model::Pitman, Model::Zayatz];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Model::Pitman => "pitman",
            Model::Zayatz => "zayatz",
        }
    }

    /// Where it comes from.
    pub fn citation(self) -> &'static str {
        match self {
            Model::Pitman => "Hoshino 2001, Applying Pitman's sampling formula to microdata disclosure risk assessment",
            Model::Zayatz => "Zayatz 1991, Estimation of the percent of unique population elements on a microdata file",
        }
    }

    /// The estimate of this model for a sample that is `fraction` of the population (more than 0, at most 1). `None`
    /// when the fraction is out of range, the sample is empty, or the model does not fit it.
    pub fn estimate(self, sizes: &Sizes, fraction: &Rational) -> Option<Estimate> {
        let fraction = fraction.to_f64();
        let sample = sizes.persons();
        if sample == 0 || fraction.is_nan() || fraction <= 0.0 || fraction > 1.0 {
            return None;
        }
        let population = sample as f64 / fraction;
        let uniques = if fraction == 1.0 {
            // The sample is the population: nothing to estimate.
            classes_of_one(sizes) as f64
        } else {
            match self {
                Model::Pitman => pitman::uniques(sizes, population)?,
                Model::Zayatz => zayatz::uniques(sizes, population)?,
            }
        };
        if !uniques.is_finite() {
            return None;
        }
        let uniques = uniques.clamp(0.0, population);
        Some(Estimate { model: self, uniques, share: uniques / population })
    }
}

/// The estimate of the model that suits the sampling fraction, or of the other where that one has no answer.
pub fn estimate(sizes: &Sizes, fraction: &Rational) -> Option<Estimate> {
    preferred(fraction).into_iter().find_map(|model| model.estimate(sizes, fraction))
}

/// The models in the order in which they suit a sampling fraction.
pub fn preferred(fraction: &Rational) -> [Model; 2] {
    let small = *fraction <= Rational::new(1, 10);
    if small { [Model::Pitman, Model::Zayatz] } else { [Model::Zayatz, Model::Pitman] }
}

/// Sample uniques.
fn classes_of_one(sizes: &Sizes) -> u64 {
    sizes.counts.iter().filter(|&&(size, _)| size == 1).map(|&(_, count)| count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers in 0..1, the same in every run.
    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A population drawn by Pitman's formula: each person joins class j with weight size − α, or opens one with
    /// weight θ + α · classes. Returns the class of each person.
    fn draw(people: usize, theta: f64, alpha: f64, seed: u64) -> Vec<usize> {
        let mut state = seed;
        let mut class_of: Vec<usize> = Vec::with_capacity(people);
        let mut sizes: Vec<u64> = Vec::new();
        for person in 0..people {
            let opens = (theta + alpha * sizes.len() as f64) / (theta + person as f64);
            if person == 0 || random(&mut state) < opens {
                class_of.push(sizes.len());
                sizes.push(1);
                continue;
            }
            // Weight size − α: pick a person, and accept their class with probability (size − α)/size.
            loop {
                let class = class_of[(random(&mut state) * person as f64) as usize];
                if random(&mut state) < (sizes[class] as f64 - alpha) / sizes[class] as f64 {
                    class_of.push(class);
                    sizes[class] += 1;
                    break;
                }
            }
        }
        class_of
    }

    fn sizes(classes: impl Iterator<Item = usize>) -> Sizes {
        let mut counts = std::collections::BTreeMap::new();
        classes.for_each(|c| *counts.entry(c).or_insert(0u64) += 1);
        Sizes::collect(counts.into_values())
    }

    #[test]
    fn pitman_finds_the_uniques_of_a_population_of_its_own() {
        for (theta, alpha) in [(50.0, 0.5), (300.0, 0.3), (10.0, 0.7)] {
            // One sample may miss by a quarter; the average of many must not.
            let ratios: Vec<f64> = (1..=12)
                .map(|seed| {
                    let population = draw(30_000, theta, alpha, seed);
                    let truth = classes_of_one(&sizes(population.iter().copied())) as f64;
                    let mut state = seed + 100;
                    let sample: Vec<usize> = population.iter().copied().filter(|_| random(&mut state) < 0.1).collect();
                    let fraction = Rational::new(sample.len() as i64, population.len() as i64);
                    Model::Pitman.estimate(&sizes(sample.into_iter()), &fraction).unwrap().uniques / truth
                })
                .collect();
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            assert!((mean - 1.0).abs() < 0.1, "θ={theta} α={alpha}: {mean} in {ratios:?}");
        }
    }

    #[test]
    fn zayatz_finds_the_order_of_magnitude_in_a_large_sample() {
        let population = draw(40_000, 200.0, 0.4, 7);
        let truth = classes_of_one(&sizes(population.iter().copied())) as f64;
        let mut state = 9;
        let sample: Vec<usize> = population.iter().copied().filter(|_| random(&mut state) < 0.5).collect();
        let fraction = Rational::new(sample.len() as i64, population.len() as i64);
        let found = Model::Zayatz.estimate(&sizes(sample.into_iter()), &fraction).unwrap();
        assert!((0.5..2.0).contains(&(found.uniques / truth)), "{} of {truth}", found.uniques);
    }

    #[test]
    fn a_model_that_does_not_fit_gives_no_number() {
        let fraction = Rational::new(1, 20);
        // All unique, or one class: Pitman's likelihood has no maximum.
        assert_eq!(Model::Pitman.estimate(&Sizes::collect(vec![1; 50]), &fraction), None);
        assert_eq!(Model::Pitman.estimate(&Sizes::collect([50]), &fraction), None);
        assert_eq!(estimate(&Sizes::default(), &fraction), None);
        for wrong in [Rational::new(0, 1), Rational::new(-1, 2), Rational::new(3, 2)] {
            assert_eq!(estimate(&Sizes::collect([1, 2]), &wrong), None);
        }
    }

    #[test]
    fn a_sample_that_is_the_population_is_counted() {
        for &model in Model::ALL {
            let found = model.estimate(&Sizes::collect([1, 1, 2, 6]), &Rational::new(1, 1)).unwrap();
            assert_eq!((found.uniques, found.share), (2.0, 0.2), "{}", model.name());
        }
    }
}
