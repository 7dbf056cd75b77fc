//! The journalist, who knows a population but not who of it is in the table.
//!
//! **Definition.** With f_j persons of the release in class j, n = Σ f_j, and F_j persons of the population that fit
//! it: maximum 1/min F_j; average max(J/Σ F_j, (1/n) Σ f_j/F_j) over the J classes; marketer (1/n) Σ f_j/F_j.
//!
//! **Source.** El Emam 2013, "Guide to the de-identification of personal health information", ch. 16; Dankar & El Emam
//! 2010.
//!
//! A population that has fewer persons in a class than the release itself cannot be one that the release was drawn
//! from; such a class counts with its own size, the least that the population must hold, and is reported.

use super::{Above, share};
use crate::exact::Rational;

/// The risks of a release against a population.
#[derive(Debug, Clone, PartialEq)]
pub struct Journalist {
    /// The largest risk of any person.
    pub max: f64,
    /// The average risk of a person.
    pub average: f64,
    /// The share of persons that a marketer with the same population links rightly.
    pub marketer: f64,
    /// Classes in which the population has fewer persons than the release.
    pub inconsistent: u64,
    /// (f, F) of each class, F in parts of a person.
    classes: Vec<(u64, u128)>,
    /// How many parts make a person.
    scale: u128,
    persons: u64,
}

impl Journalist {
    /// The risks of classes given as (persons in the release, persons in the population). Those of the population are
    /// counted in parts, `scale` of which make a person.
    pub fn of(classes: impl IntoIterator<Item = (u64, u128)>, scale: u128) -> Journalist {
        let mut inconsistent = 0;
        let classes: Vec<(u64, u128)> = (classes.into_iter().filter(|&(sample, _)| sample > 0))
            .map(|(sample, population)| {
                let own = u128::from(sample).saturating_mul(scale);
                inconsistent += u64::from(population < own);
                (sample, population.max(own))
            })
            .collect();
        let persons: u64 = classes.iter().map(|&(sample, _)| sample).sum();
        let people = |parts: u128| parts as f64 / scale as f64;
        let population: f64 = classes.iter().map(|&(_, population)| people(population)).sum();
        let smallest = classes.iter().map(|&(_, population)| population).min();
        let links: f64 = classes.iter().map(|&(sample, population)| sample as f64 / people(population)).sum();
        let marketer = if persons == 0 { 0.0 } else { links / persons as f64 };
        let of_classes = if population > 0.0 { classes.len() as f64 / population } else { 0.0 };
        Journalist {
            max: smallest.map_or(0.0, |size| 1.0 / people(size)),
            average: marketer.max(of_classes),
            marketer,
            inconsistent,
            classes,
            scale,
            persons,
        }
    }

    /// The persons whose risk exceeds `threshold`, strictly and without rounding.
    pub fn above(&self, threshold: &Rational) -> Above {
        let mut above = Above { threshold: threshold.clone(), persons: 0, classes: 0, share: 0.0 };
        let exceeds = |population: u128| threshold.compare_fraction(self.scale, population).is_gt();
        for &(sample, _) in self.classes.iter().filter(|(_, population)| exceeds(*population)) {
            above.persons += sample;
            above.classes += 1;
        }
        above.share = share(above.persons, self.persons);
        above
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::Sizes;
    use crate::risk::Risk;

    #[test]
    fn a_population_lowers_the_risk() {
        let journalist = Journalist::of([(2, 10), (1, 20), (3, 12)], 1);
        assert_eq!(journalist.max, 0.1);
        assert!((journalist.marketer - (0.2 + 0.05 + 0.25) / 6.0).abs() < 1e-12);
        assert!((journalist.average - (0.5f64 / 6.0).max(3.0 / 42.0)).abs() < 1e-12);
        let above = journalist.above(&"0.09".parse().unwrap());
        assert_eq!((above.persons, above.classes), (2, 1));
        // The same people, counted in quarters; and a quarter of a person more in the smallest class.
        assert_eq!(Journalist::of([(2, 40), (1, 80), (3, 48)], 4).max, journalist.max);
        let more = Journalist::of([(2, 41), (1, 80), (3, 48)], 4);
        assert_eq!((more.max, more.inconsistent), (4.0 / 41.0, 0));
        assert_eq!(Journalist::of([(2, 7)], 4).inconsistent, 1);
        assert_eq!(more.above(&"4/41".parse().unwrap()).persons, 0, "no risk exceeds itself");
    }

    #[test]
    fn the_table_as_its_own_population_is_the_prosecutors_case() {
        let risk = Risk::of(&Sizes::collect([2, 1, 3]));
        let journalist = Journalist::of([(2, 2), (1, 0), (3, 3), (0, 9)], 1);
        assert_eq!((journalist.max, journalist.inconsistent), (risk.prosecutor_max, 1));
        assert!((journalist.average - risk.prosecutor_avg).abs() < 1e-12);
        assert_eq!(Journalist::of([], 1).average, 0.0);
    }
}
