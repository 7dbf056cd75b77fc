//! Re-identification risk: how likely an adversary puts the right name to a row.
//!
//! Everything here works on class sizes alone and imports neither privacy models nor algorithms: a bug there must not
//! acquit itself here.
//!
//! | adversary | knows | risk of a person in a class of f, with F like them in the population |
//! | --- | --- | --- |
//! | prosecutor | that the target is in the table | 1/f |
//! | journalist | a population that the table was drawn from, not who is in the table | 1/F |
//! | marketer | as either, wants as many right links as possible and minds no wrong ones | the average |
//!
//! Source: El Emam & Dankar 2008, "Protecting privacy using k-anonymity"; Dankar & El Emam 2010, "A method for
//! evaluating marketer re-identification risk".
//!
//! May use: `class`, `exact`, `table`, and what those use.

mod dependence;
mod histogram;
mod journalist;
pub mod population;
mod suda;
mod thresholds;

pub use dependence::{Dependence, line};
pub use histogram::{Bin, bins};
pub use journalist::Journalist;
pub use suda::{MOST_COLUMNS, Suda};
pub use thresholds::thresholds;

use std::cmp::Ordering;

use crate::class::Sizes;
use crate::exact::Rational;

/// The risks that class sizes tell, for an adversary who knows that the target is in the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Risk {
    /// Persons in the release (rows, when the table has no key).
    pub persons: u64,
    /// Classes in the release.
    pub classes: u64,
    /// The smallest class; none in an empty release.
    pub smallest: Option<u64>,
    /// The largest class.
    pub largest: Option<u64>,
    /// The largest risk of any person: 1/smallest. 0 in an empty release, where nobody is at risk.
    pub prosecutor_max: f64,
    /// The average risk of a person: classes/persons.
    pub prosecutor_avg: f64,
    /// The share of persons that a marketer links rightly by guessing within classes: classes/persons.
    pub marketer: f64,
    /// Persons alone in their class.
    pub sample_uniques: u64,
    /// The class sizes themselves.
    pub sizes: Sizes,
}

/// The persons whose own risk exceeds a threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Above {
    /// The threshold.
    pub threshold: Rational,
    /// How many persons.
    pub persons: u64,
    /// In how many classes.
    pub classes: u64,
    /// The share of all persons.
    pub share: f64,
}

/// part / whole; 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Whether 1/size exceeds the threshold: strictly, and without rounding. A class that nobody is in exceeds nothing.
pub fn exceeds(size: u64, threshold: &Rational) -> bool {
    size > 0 && threshold.compare_count(1, size) == Ordering::Greater
}

impl Risk {
    /// The risks of a release with classes of these sizes. Classes without persons do not count.
    pub fn of(sizes: &Sizes) -> Risk {
        let sizes = Sizes { counts: sizes.counts.iter().copied().filter(|&(size, count)| size * count > 0).collect() };
        let (persons, classes) = (sizes.persons(), sizes.classes());
        let smallest = sizes.smallest();
        Risk {
            persons,
            classes,
            smallest,
            largest: sizes.counts.last().map(|&(size, _)| size),
            prosecutor_max: smallest.map_or(0.0, |size| 1.0 / size as f64),
            prosecutor_avg: share(classes, persons),
            marketer: share(classes, persons),
            sample_uniques: sizes.counts.first().map_or(0, |&(size, count)| if size == 1 { count } else { 0 }),
            sizes,
        }
    }

    /// The persons whose risk exceeds `threshold`. With the regulators' 0.09, a class of 11 exceeds it (1/11 = 0.0909…)
    /// and a class of 12 does not.
    pub fn above(&self, threshold: &Rational) -> Above {
        let mut above = Above { threshold: threshold.clone(), persons: 0, classes: 0, share: 0.0 };
        for &(size, count) in self.sizes.counts.iter().filter(|(size, _)| exceeds(*size, threshold)) {
            above.persons += size * count;
            above.classes += count;
        }
        above.share = share(above.persons, self.persons);
        above
    }

    /// The class sizes in bins that people can read.
    pub fn bins(&self) -> Vec<Bin> {
        bins(&self.sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_regulators_threshold_divides_eleven_from_twelve() {
        let risk = Risk::of(&Sizes::collect([11, 12, 12]));
        let above = risk.above(&"0.09".parse().unwrap());
        assert_eq!((above.persons, above.classes), (11, 1));
        // Exactly on the threshold is not above it.
        assert_eq!(risk.above(&"1/11".parse().unwrap()).persons, 0);
        assert_eq!(risk.above(&"1/12".parse().unwrap()).persons, 11);
        assert_eq!(risk.above(&"0".parse().unwrap()).persons, 35);
    }

    #[test]
    fn an_empty_release_risks_nothing() {
        let risk = Risk::of(&Sizes::default());
        assert_eq!((risk.prosecutor_max, risk.prosecutor_avg, risk.smallest), (0.0, 0.0, None));
        assert_eq!(risk.above(&"0.09".parse().unwrap()).share, 0.0);
        assert_eq!(Risk::of(&Sizes::collect([0, 0])), risk);
    }

    proptest! {
        #[test]
        fn figures_agree_with_a_walk_over_persons(sizes in prop::collection::vec(1u64..30, 1..40), d in 1i64..40) {
            let risk = Risk::of(&Sizes::collect(sizes.iter().copied()));
            let each: Vec<u64> = sizes.iter().flat_map(|&s| vec![s; s as usize]).collect();
            let risks: Vec<f64> = each.iter().map(|&s| 1.0 / s as f64).collect();
            let average = risks.iter().sum::<f64>() / risks.len() as f64;
            prop_assert!((risk.prosecutor_avg - average).abs() < 1e-12);
            prop_assert_eq!(risk.prosecutor_max, risks.iter().copied().fold(0.0, f64::max));
            prop_assert_eq!(risk.sample_uniques, each.iter().filter(|&&s| s == 1).count() as u64);
            let above = risk.above(&Rational::new(1, d));
            prop_assert_eq!(above.persons, each.iter().filter(|&&s| s < d as u64).count() as u64);
            prop_assert_eq!(risk.bins().iter().map(|b| b.persons).sum::<u64>(), risk.persons);
        }
    }
}
