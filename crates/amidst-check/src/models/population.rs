//! Models that compare the release with a population.
//!
//! k-map: at least k persons of the population fall in the class. δ-presence: the class's share of them lies between
//! min and max. Bayes-optimal privacy: no (ρ1,ρ2)-breach (article, Definition 3.3), or no belief that changes by more
//! than max (§3.2), with prior and posterior of Theorem 3.1.

use std::collections::BTreeMap;
use std::sync::Arc;

use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use super::{Class, Domain, Figure, Model, Parameters, Reading, Weak};
use crate::number::{figure, fraction, whole};

/// The part of the population that a class covers. People are counted in units of 1/scale, because counts may be
/// fractions.
#[derive(Debug, Clone)]
pub(crate) struct Census {
    /// People covered, in units of 1/scale.
    pub people: u128,
    /// Units per person.
    pub scale: u128,
    /// The distinct quasi tuples covered.
    pub tuples: Vec<CensusTuple>,
}

/// One quasi tuple of the population.
#[derive(Debug, Clone, Default)]
pub(crate) struct CensusTuple {
    /// Sensitive value and count, ascending; numbers beyond the published values stand for unpublished values.
    pub counts: Vec<(u32, u128)>,
}

/// A model that needs the population.
pub(crate) trait PopulationModel {
    /// Its figures.
    fn figures(&self) -> Vec<Figure>;

    /// Judges a class.
    fn judge(&self, class: Class<'_>, census: &Census) -> Result<Reading, String>;
}

struct KMap {
    k: BigRational,
}

struct DeltaPresence {
    min: BigRational,
    max: BigRational,
}

struct BayesOptimal {
    rho1: BigRational,
    rho2: BigRational,
}

struct BeliefDifference {
    max: BigRational,
}

pub(super) fn k_map(parameters: &Parameters<'_>, _: &Arc<Domain>) -> Result<Model, String> {
    Ok(Model::Population(Box::new(KMap { k: parameters.number("k")? })))
}

pub(super) fn delta_presence(parameters: &Parameters<'_>, _: &Arc<Domain>) -> Result<Model, String> {
    let min =
        if parameters.get("min").is_some() { parameters.number("min")? } else { BigRational::from_integer(0.into()) };
    let max = parameters.number("max")?;
    Ok(Model::Population(Box::new(DeltaPresence { min, max })))
}

pub(super) fn bayes_optimal(parameters: &Parameters<'_>, _: &Arc<Domain>) -> Result<Model, String> {
    let (rho1, rho2) = (parameters.number("rho1")?, parameters.number("rho2")?);
    Ok(Model::Population(Box::new(BayesOptimal { rho1, rho2 })))
}

pub(super) fn belief_difference(parameters: &Parameters<'_>, _: &Arc<Domain>) -> Result<Model, String> {
    Ok(Model::Population(Box::new(BeliefDifference { max: parameters.number("max")? })))
}

impl PopulationModel for KMap {
    fn figures(&self) -> Vec<Figure> {
        vec![("k", Weak::Small)]
    }

    fn judge(&self, _: Class<'_>, census: &Census) -> Result<Reading, String> {
        let people = fraction(census.people, census.scale);
        let reached = figure(&people.floor()).unwrap_or(f64::INFINITY);
        Ok(Reading { holds: people >= self.k, figures: vec![reached] })
    }
}

impl PopulationModel for DeltaPresence {
    fn figures(&self) -> Vec<Figure> {
        vec![("max", Weak::Great), ("min", Weak::Small)]
    }

    fn judge(&self, class: Class<'_>, census: &Census) -> Result<Reading, String> {
        if census.people == 0 {
            return Err("the population holds nobody of a published class".into());
        }
        let share = whole(class.size) * fraction(census.scale, census.people);
        let rounded = figure(&share).unwrap_or(f64::INFINITY);
        Ok(Reading { holds: share >= self.min && share <= self.max, figures: vec![rounded, rounded] })
    }
}

/// Prior and posterior of one value for people with one tuple (article, Theorem 3.1).
struct Belief {
    prior: BigRational,
    posterior: BigRational,
}

/// The beliefs about all people of the population whom the class covers, in the table or not: an adversary may not know
/// who is in the table. An error when the population contradicts the release.
fn beliefs(class: Class<'_>, census: &Census) -> Result<Vec<Belief>, String> {
    let in_class = |value: u32| class.counts.iter().find(|c| c.0 == value).map_or(0, |c| c.1);
    // f(q*, s) up to the factor 1/N, which cancels.
    let mut covered: BTreeMap<u32, u128> = BTreeMap::new();
    for &(value, count) in census.tuples.iter().flat_map(|t| &t.counts) {
        *covered.entry(value).or_insert(0) += count;
    }
    if class.counts.iter().any(|c| covered.get(&c.0).is_none_or(|&n| n == 0)) {
        return Err("the population lacks a sensitive value of a published class".into());
    }
    let mut found = Vec::new();
    for tuple in &census.tuples {
        let persons: u128 = tuple.counts.iter().map(|c| c.1).sum();
        let weight = |value: u32, count: u128| match covered.get(&value) {
            Some(&all) if all > 0 => whole(in_class(value)) * fraction(count, all),
            _ => BigRational::zero(),
        };
        let total: BigRational = tuple.counts.iter().map(|&(v, n)| weight(v, n)).sum();
        if total.is_zero() || persons == 0 {
            // People with this tuple have none of the class's values, so none of them is in the class.
            continue;
        }
        found.extend(tuple.counts.iter().filter(|c| c.1 > 0).map(|&(value, count)| Belief {
            prior: fraction(count, persons),
            posterior: weight(value, count) / &total,
        }));
    }
    Ok(found)
}

impl PopulationModel for BayesOptimal {
    fn figures(&self) -> Vec<Figure> {
        vec![("rho2", Weak::Great)]
    }

    fn judge(&self, class: Class<'_>, census: &Census) -> Result<Reading, String> {
        let mut reached = BigRational::zero();
        for Belief { prior, posterior } in beliefs(class, census)? {
            let against = BigRational::one() - &posterior;
            if prior < self.rho1 && posterior > reached {
                reached = posterior;
            }
            if prior > BigRational::one() - &self.rho1 && against > reached {
                reached = against;
            }
        }
        Ok(Reading { holds: reached <= self.rho2, figures: vec![figure(&reached).unwrap_or(1.0)] })
    }
}

impl PopulationModel for BeliefDifference {
    fn figures(&self) -> Vec<Figure> {
        vec![("max", Weak::Great)]
    }

    fn judge(&self, class: Class<'_>, census: &Census) -> Result<Reading, String> {
        let changes = beliefs(class, census)?.into_iter().map(|b| (b.posterior - b.prior).abs());
        let largest = changes.max().unwrap_or_else(BigRational::zero);
        Ok(Reading { holds: largest <= self.max, figures: vec![figure(&largest).unwrap_or(1.0)] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::parse;

    /// The article's Figures 5 and 6: no breach while q1 and q2 are apart, a breach once they are joined.
    #[test]
    fn joining_classes_can_breach() {
        let model = BayesOptimal { rho1: parse("0.31").unwrap(), rho2: parse("0.58").unwrap() };
        let q1 = CensusTuple { counts: vec![(0, 15), (1, 35)] };
        let q2 = CensusTuple { counts: vec![(0, 25), (1, 25)] };
        let census = |tuples: Vec<CensusTuple>| Census { people: 0, scale: 1, tuples };
        let judge = |counts: &[(u32, u64)], tuples| {
            let size = counts.iter().map(|c| c.1).sum();
            model.judge(Class { size, counts }, &census(tuples)).unwrap()
        };
        assert!(judge(&[(0, 1), (1, 1)], vec![q1.clone()]).holds);
        assert!(judge(&[(0, 35), (1, 15)], vec![q2.clone()]).holds);
        let both = census(vec![q1.clone(), q2.clone()]);
        let joined = judge(&[(0, 36), (1, 16)], vec![q1, q2]);
        assert!(!joined.holds);
        assert!((joined.figures[0] - 0.5912408759).abs() < 1e-9);
        // 0.3 becomes 81/137.
        let change = |max: &str| {
            let counts = [(0, 36), (1, 16)];
            BeliefDifference { max: parse(max).unwrap() }.judge(Class { size: 52, counts: &counts }, &both).unwrap()
        };
        assert!(change("399/1370").holds && !change("0.29").holds);
    }

    /// Two and a half people, counted in halves.
    #[test]
    fn people_need_not_be_whole() {
        let census = Census { people: 5, scale: 2, tuples: Vec::new() };
        let class = Class { size: 2, counts: &[] };
        let map = |k: &str| KMap { k: parse(k).unwrap() }.judge(class, &census).unwrap();
        assert!(map("2").holds && !map("3").holds);
        assert_eq!(map("3").figures, [2.0], "the largest k that holds");
        let presence = |min: &str, max: &str| {
            DeltaPresence { min: parse(min).unwrap(), max: parse(max).unwrap() }.judge(class, &census).unwrap()
        };
        assert!(presence("0.8", "0.8").holds && !presence("0", "0.79").holds && !presence("0.81", "1").holds);
    }
}
