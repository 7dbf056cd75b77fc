//! The belief of an adversary who knows the population.
//!
//! **Assumes** that the adversary knows f, how often each sensitive value goes with each quasi tuple in the population,
//! and the quasi tuple q of a person in the table. Before the release the belief that the person has value s is the
//! prior α = f(s | q); afterwards it is the posterior β of Theorem 3.1 of the ℓ-diversity article.
//!
//! **Succeeds** for the persons of a tuple about whom the release discloses something. *Positive disclosure*: some value
//! has β > 1 − δ, and had not before. *Negative disclosure*: some value that seemed possible, α ≥ ε, has β < ε. The
//! article also asks that someone with the tuple has the value (or another); the adversary acts on the belief either way,
//! so it counts here either way.
//!
//! Tuples for which population and release contradict each other have no belief; they are reported.

use std::cmp::Ordering;

use super::view::worst;
use super::{Attack, AttackError, Entry, Extra, Findings, Knowledge, Target, share_or};
use crate::belief::{beliefs, covered};
use crate::class::Histogram;
use crate::exact::Rational;
use crate::parameter::{Kind, Parameter, Parameters};

pub(super) const ENTRY: Entry = Entry {
    id: "belief",
    title: "belief of an adversary who knows the population",
    assumes: "the quasi tuple of a person who is in the table, and how often each value goes with it in the population",
    definition: "the posterior of Theorem 3.1 exceeds 1 − δ (positive disclosure) or falls below ε (negative disclosure)",
    citation: "Machanavajjhala et al., TKDD 2007, Theorem 3.1, Definitions 3.1 and 3.2",
    needs: Knowledge::Population,
    parameters: &[
        Parameter::optional(
            "delta",
            Kind::Number,
            "δ: a posterior above 1 − δ is a positive disclosure; 0.1 when absent",
        ),
        Parameter::optional(
            "epsilon",
            Kind::Number,
            "ε: a posterior below it is a negative disclosure; 0.1 when absent",
        ),
    ],
    attack: &BeliefAttack,
};

/// Closer to a bound than this, doubles are not trusted and the fractions decide.
const DOUBT: f64 = 1e-9;

#[derive(Debug)]
struct BeliefAttack;

impl Attack for BeliefAttack {
    fn run(&self, target: &Target<'_>, extra: &Extra<'_>, parameters: &Parameters) -> Result<Findings, AttackError> {
        let delta = share_or(parameters, "delta", Rational::ratio(1, 10))?;
        let epsilon = share_or(parameters, "epsilon", Rational::ratio(1, 10))?;
        let bounds = Bounds { high: (Rational::from(1).value() - delta.value()).into(), low: epsilon };
        let Some(known) = extra.population else { return Ok(Findings::default()) };
        let mut findings = Findings::default();
        let mut hit = Vec::new();
        let (mut positive, mut negative, mut contradicted) = (0, 0, 0);
        let (mut largest, mut smallest, mut rise) = (0.0f64, 1.0f64, 0.0f64);
        for class in 0..target.published.classes.len() {
            let (size, histogram) = target.class(class);
            let tuples = known.covered.class(class);
            let ids: Vec<u32> = tuples.iter().map(|t| t.0).collect();
            let covered = covered(known.population, &ids);
            let (mut persons, mut hardest) = (0, 0.0f64);
            for &(tuple, here) in tuples.iter().filter(|t| t.1 > 0) {
                let q = known.population.histograms.get(tuple as usize).map_or([].as_slice(), Vec::as_slice);
                let Some(verdict) = disclosure(q, &covered, histogram, &bounds) else {
                    contradicted += here;
                    continue;
                };
                positive += if verdict.positive { here } else { 0 };
                negative += if verdict.negative { here } else { 0 };
                persons += if verdict.positive || verdict.negative { here } else { 0 };
                hardest = hardest.max(verdict.largest);
                largest = largest.max(verdict.largest);
                smallest = smallest.min(verdict.smallest);
                rise = rise.max(verdict.rise);
            }
            if persons > 0 {
                findings.classes += 1;
                findings.persons += persons;
                findings.rows += persons;
                hit.push((hardest, size, class));
            }
        }
        findings.worst = worst(hit.into_iter());
        let figures = [
            ("positive_disclosure_persons", positive as f64),
            ("negative_disclosure_persons", negative as f64),
            ("largest_posterior", largest),
            ("smallest_posterior", smallest),
            ("largest_rise", rise),
            ("contradicted_persons", contradicted as f64),
        ];
        findings.figures = figures.map(|(name, figure)| (name.to_string(), figure)).to_vec();
        Ok(findings)
    }
}

struct Bounds {
    /// 1 − δ.
    high: Rational,
    /// ε.
    low: Rational,
}

/// What the release discloses about the persons of one tuple.
#[derive(Debug, PartialEq)]
struct Disclosure {
    positive: bool,
    negative: bool,
    largest: f64,
    smallest: f64,
    rise: f64,
}

fn disclosure(q: &Histogram, covered: &Histogram, class: &Histogram, bounds: &Bounds) -> Option<Disclosure> {
    let count = |histogram: &Histogram, value: u32| {
        histogram.binary_search_by_key(&value, |c| c.0).map_or(0, |i| histogram[i].1)
    };
    let weight = |&(value, here): &(u32, u64)| match count(covered, value) {
        0 => 0.0,
        all => count(class, value) as f64 * here as f64 / all as f64,
    };
    let sum: f64 = q.iter().map(weight).sum();
    let total: u64 = q.iter().map(|c| c.1).sum();
    if sum <= 0.0 {
        return None;
    }
    let (high, low) = (bounds.high.to_f64(), bounds.low.to_f64());
    let mut found = Disclosure { positive: false, negative: false, largest: 0.0, smallest: 1.0, rise: 0.0 };
    let mut doubtful = false;
    for entry in q.iter().filter(|c| c.1 > 0) {
        let posterior = weight(entry) / sum;
        let prior = entry.1 as f64 / total as f64;
        doubtful |= (posterior - high).abs() < DOUBT || (posterior - low).abs() < DOUBT;
        found.largest = found.largest.max(posterior);
        found.smallest = found.smallest.min(posterior);
        found.rise = found.rise.max(posterior - prior);
        found.positive |= posterior > high && bounds.high.compare_count(entry.1, total) != Ordering::Greater;
        found.negative |= posterior < low && bounds.low.compare_count(entry.1, total) != Ordering::Less;
    }
    if doubtful {
        let exact = beliefs(q, covered, class)?;
        found.positive = exact.iter().any(|b| b.posterior > bounds.high && b.prior <= bounds.high);
        found.negative = exact.iter().any(|b| b.posterior < bounds.low && b.prior >= bounds.low);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::view::fixture::{Fixture, figure};
    use super::super::{PopulationKnowledge, Tuples};
    use super::*;
    use crate::class::Population;
    use crate::parameter::Value;

    /// Figure 5 of the article, f in hundredths.
    fn population() -> Population {
        Population { totals: vec![50, 50], histograms: vec![vec![(0, 15), (1, 35)], vec![(0, 25), (1, 25)]] }
    }

    fn rows(classes: [(&'static str, usize, usize); 2]) -> Vec<(&'static str, &'static str)> {
        classes.iter().flat_map(|&(q, s1, s2)| [vec![(q, "s1"); s1], vec![(q, "s2"); s2]].concat()).collect()
    }

    fn run(fixture: &Fixture, covered: &Tuples, delta: &str, epsilon: &str) -> Findings {
        let population = population();
        let known = PopulationKnowledge { population: &population, covered };
        let extra = Extra { population: Some(&known), ..Extra::default() };
        let pairs = [("delta", Value::Text(delta.into())), ("epsilon", Value::Text(epsilon.into()))];
        ENTRY.run(&fixture.target(), &extra, &Parameters::from_pairs(pairs)).unwrap()
    }

    #[test]
    fn the_posteriors_of_figure_6() {
        // Ungeneralized: q1 has (1, 1), q2 has (35, 15); posteriors .5 and .5, .7 and .3.
        let fixture = Fixture::new(&rows([("q1", 1, 1), ("q2", 35, 15)]));
        let covered = Tuples::collect(2, vec![(0, 0, 2), (1, 1, 50)]);
        let findings = run(&fixture, &covered, "0.42", "0.31");
        assert_eq!(figure(&findings, "largest_posterior"), 0.7);
        assert!((figure(&findings, "smallest_posterior") - 0.3).abs() < 1e-12);
        assert_eq!((findings.classes, findings.persons), (1, 50));
        // Generalized to one class of (36, 16): s1 of q1 rises from .3 to 81/137.
        let fixture = Fixture::new(&rows([("q", 1, 1), ("q", 35, 15)]));
        let covered = Tuples::collect(1, vec![(0, 0, 2), (0, 1, 50)]);
        let findings = run(&fixture, &covered, "0.42", "0.1");
        assert_eq!(figure(&findings, "positive_disclosure_persons"), 52.0);
        assert!((figure(&findings, "largest_rise") - (81.0 / 137.0 - 0.3)).abs() < 1e-12);
    }

    #[test]
    fn a_posterior_on_the_bound_discloses_nothing() {
        let fixture = Fixture::new(&rows([("q1", 1, 1), ("q2", 35, 15)]));
        let covered = Tuples::collect(2, vec![(0, 0, 2), (1, 1, 50)]);
        assert_eq!(run(&fixture, &covered, "0.3", "0.3").persons, 0);
        assert_eq!(run(&fixture, &covered, "0.300001", "0").persons, 50);
        assert_eq!(run(&fixture, &covered, "0", "0.300001").persons, 50);
    }

    #[test]
    fn a_population_that_contradicts_the_release_is_reported() {
        let fixture = Fixture::new(&rows([("q1", 1, 1), ("q2", 35, 15)]));
        let covered = Tuples::collect(2, vec![(0, 7, 2), (1, 1, 50)]);
        let findings = run(&fixture, &covered, "0", "0");
        assert_eq!((findings.persons, figure(&findings, "contradicted_persons")), (0, 2.0));
    }
}
