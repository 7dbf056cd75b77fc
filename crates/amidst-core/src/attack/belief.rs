//! The belief of an adversary who knows the population.
//!
//! **Assumes** that the adversary knows f, how often each sensitive value goes with each quasi tuple in the population,
//! and the quasi tuple q of a person in the table. Before the release the belief that the person has value s is the
//! prior α = f(s | q); afterwards it is the posterior β of Theorem 3.1 of the ℓ-diversity article.
//!
//! **Succeeds** for the persons of a tuple about whom the release discloses something. *Positive disclosure*: some
//! value has β > 1 − δ; those of whom that was not believed before, α ≤ 1 − δ, are counted once more as newly
//! disclosed. *Negative disclosure*: some value that seemed possible, α ≥ ε, has β < ε; that an impossible value stays
//! impossible is no disclosure. The article also asks that someone with the tuple has the value (or another); the
//! adversary acts on the belief either way, so it counts here either way.
//!
//! How many persons of a class have which tuple is not published. The class is then taken to be spread over the tuples
//! that it covers as the population is, rounded so that the parts add up to the class.
//!
//! With `ruled_out` the adversary also knows values that the person does not have: prior and posterior are those of the
//! others.
//!
//! Tuples for which population and release contradict each other have no belief; they are reported.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::view::class_batch::{BatchedClass, ClassBatch};
use super::view::worst;
use super::{Attack, AttackError, Entry, Extra, Findings, Knowledge, People, Target, share_or};
use crate::exact::Rational;
use crate::ids::SensitiveId;
use crate::parameter::{Kind, Parameter, Parameters};
use crate::sensitive::belief::beliefs;

pub(super) const ENTRY: Entry = Entry {
    id: "belief",
    title: "belief of an adversary who knows the population",
    assumes: "the quasi tuple of a person who is in the table, and how often each value goes with it in the population",
    definition: "the posterior of Theorem 3.1 exceeds 1 − δ (positive disclosure, whatever the prior; newly where the prior did \
                 not exceed it), or falls below ε although the prior did not (negative disclosure)",
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
        Parameter::optional(
            "ruled_out",
            Kind::Values,
            "values that the adversary knows the person not to have, such as [\"Heart Disease\"]",
        ),
    ],
    attack: &BeliefAttack,
};

/// Closer to a bound than this, doubles are not trusted and the fractions decide.
const DOUBT: f64 = 1e-9;

/// Classes that one task looks at, and those whose people are gathered together.
const CLASSES: usize = 1 << 10;
const BATCH: usize = 64;

#[derive(Debug)]
struct BeliefAttack;

impl Attack for BeliefAttack {
    fn run(&self, target: &Target<'_>, extra: &Extra<'_>, parameters: &Parameters) -> Result<Findings, AttackError> {
        let delta = share_or(parameters, "delta", Rational::ratio(1, 10))?;
        let epsilon = share_or(parameters, "epsilon", Rational::ratio(1, 10))?;
        let bounds = Bounds::new((Rational::from(1).value() - delta.value()).into(), epsilon);
        let Some(known) = extra.population else { return Ok(Findings::default()) };
        let ruled_out = ruled_out(target, known.people, parameters)?;
        let parts: Vec<Tally> = known
            .covered
            .order()
            .par_chunks(CLASSES)
            .map(|task| {
                let (mut batch, mut observed) =
                    (ClassBatch::default(), ObservedClass::new(known.people.values(), &bounds));
                let mut tally = Tally::default();
                for classes in task.chunks(BATCH) {
                    batch.gather(classes, target, known);
                    batch.classes.iter().for_each(|class| tally.class(class, &batch, &mut observed, &ruled_out));
                }
                tally
            })
            .collect();
        let tally = parts.into_iter().fold(Tally::default(), Tally::with);
        let findings = Findings {
            classes: tally.hit.len() as u64,
            rows: tally.persons,
            persons: tally.persons,
            worst: worst(tally.hit.into_iter()),
            figures: Vec::new(),
        };
        let figures = [
            ("positive_disclosure_persons", tally.positive as f64),
            ("newly_disclosed_persons", tally.newly as f64),
            ("negative_disclosure_persons", tally.negative as f64),
            ("largest_posterior", tally.largest),
            ("smallest_posterior", tally.smallest),
            ("largest_rise", tally.rise),
            ("contradicted_persons", tally.contradicted as f64),
        ];
        Ok(Findings { figures: figures.map(|(name, figure)| (name.to_string(), figure)).to_vec(), ..findings })
    }
}

/// The values that the adversary knows the person not to have, as the population numbers them.
fn ruled_out(
    target: &Target<'_>,
    people: &People<'_>,
    parameters: &Parameters,
) -> Result<Vec<SensitiveId>, AttackError> {
    if parameters.get("ruled_out").is_none() {
        return Ok(Vec::new());
    }
    let code = |value: &String| target.domain()?.dictionary.code(value);
    // A value that occurs in neither the release nor the population needs no ruling out.
    Ok(parameters.texts("ruled_out")?.iter().filter_map(code).filter_map(|code| people.number(code)).collect())
}

/// What was disclosed in some classes.
struct Tally {
    positive: u64,
    /// Those of them of whom it was not believed before.
    newly: u64,
    negative: u64,
    contradicted: u64,
    persons: u64,
    largest: f64,
    smallest: f64,
    rise: f64,
    /// How hard each class was hit, its size, and which it is.
    hit: Vec<(f64, u64, usize)>,
}

impl Default for Tally {
    fn default() -> Self {
        Tally {
            positive: 0,
            newly: 0,
            negative: 0,
            contradicted: 0,
            persons: 0,
            largest: 0.0,
            smallest: 1.0,
            rise: 0.0,
            hit: Vec::new(),
        }
    }
}

impl Tally {
    fn class(
        &mut self,
        class: &BatchedClass<'_>,
        batch: &ClassBatch<'_>,
        observed: &mut ObservedClass<'_>,
        ruled_out: &[SensitiveId],
    ) {
        let (start, people) = (class.people.start, &batch.people[class.people.clone()]);
        let covered = observed.look_at(&batch.own[class.own.clone()], people);
        let (mut persons, mut hardest, mut hit, mut passed) = (0, 0.0f64, false, 0u64);
        for tuple in batch.tuples[class.tuples.clone()].iter().filter(|tuple| tuple.told != Some(0)) {
            let own = tuple.people.start - start..tuple.people.end - start;
            let q = &people[own.clone()];
            let here = tuple.told.unwrap_or_else(|| {
                let before = passed;
                passed += q.iter().map(|c| c.1).sum::<u64>();
                spread(class.size, before, passed, covered)
            });
            let weights = &observed.weights[own];
            let verdict = match ruled_out.is_empty() {
                true => observed.disclosure(q, weights, self.rise),
                false => {
                    let left = q.iter().zip(weights).filter(|(c, _)| !ruled_out.contains(&c.0));
                    let (q, weights): (Vec<(SensitiveId, u64)>, Vec<f64>) = left.map(|(c, w)| (*c, *w)).unzip();
                    observed.disclosure(&q, &weights, self.rise)
                }
            };
            let Some(verdict) = verdict else {
                self.contradicted += here;
                continue;
            };
            if verdict.positive || verdict.negative {
                hit = true;
                self.positive += if verdict.positive { here } else { 0 };
                self.newly += if verdict.newly { here } else { 0 };
                self.negative += if verdict.negative { here } else { 0 };
                persons += here;
            }
            hardest = hardest.max(verdict.largest);
            self.smallest = self.smallest.min(verdict.smallest);
            self.rise = self.rise.max(verdict.rise);
        }
        self.largest = self.largest.max(hardest);
        if hit {
            self.persons += persons;
            self.hit.push((hardest, class.size, class.class as usize));
        }
        observed.leave(people);
    }

    fn with(mut self, other: Tally) -> Tally {
        self.hit.extend(other.hit);
        Tally {
            positive: self.positive + other.positive,
            newly: self.newly + other.newly,
            negative: self.negative + other.negative,
            contradicted: self.contradicted + other.contradicted,
            persons: self.persons + other.persons,
            largest: self.largest.max(other.largest),
            smallest: self.smallest.min(other.smallest),
            rise: self.rise.max(other.rise),
            hit: self.hit,
        }
    }
}

/// The persons of a class of `size` who have a tuple, where `covered` people fit the class, `before` of them have an
/// earlier tuple, and `passed` an earlier one or this one: the class spread over its tuples as the population is, with
/// parts that add up to it.
fn spread(size: u64, before: u64, passed: u64, covered: u64) -> u64 {
    let up_to = |people: u64| u128::from(size) * u128::from(people) / u128::from(covered.max(1));
    // No part is larger than the class.
    (up_to(passed) - up_to(before)) as u64
}

struct Bounds {
    /// 1 − δ.
    high: Rational,
    /// ε.
    low: Rational,
    /// Both, rounded.
    about: (f64, f64),
}

impl Bounds {
    fn new(high: Rational, low: Rational) -> Bounds {
        Bounds { about: (high.to_f64(), low.to_f64()), high, low }
    }
}

/// What the release discloses about the persons of one tuple.
#[derive(Debug, PartialEq)]
struct Disclosure {
    positive: bool,
    /// Positive, and not believed before.
    newly: bool,
    negative: bool,
    largest: f64,
    smallest: f64,
    rise: f64,
}

/// A class as the adversary sees it, by value.
struct ObservedClass<'a> {
    bounds: &'a Bounds,
    /// The persons of the class.
    own: Vec<(SensitiveId, u64)>,
    /// The people of the population whom it covers.
    covered: Vec<u64>,
    /// For each of them how likely he is to be in the class: its persons against those covered.
    chances: Vec<f64>,
    /// How many of the class are to be expected among each few people whom it covers.
    weights: Vec<f64>,
}

impl<'a> ObservedClass<'a> {
    fn new(values: usize, bounds: &'a Bounds) -> Self {
        let (covered, chances) = (vec![0; values], vec![0.0; values]);
        ObservedClass { bounds, own: Vec::new(), covered, chances, weights: Vec::new() }
    }

    /// Enters the counts of a class with these persons, which covers these people; returns the number of the latter.
    fn look_at(&mut self, own: &[(SensitiveId, u64)], people: &[(SensitiveId, u64)]) -> u64 {
        people.iter().for_each(|&(value, n)| self.covered[value.index()] += n);
        self.own.extend_from_slice(own);
        for &(value, n) in own {
            let covered = self.covered[value.index()];
            self.chances[value.index()] = if covered == 0 { 0.0 } else { n as f64 / covered as f64 };
        }
        self.weights.extend(people.iter().map(|&(value, n)| self.chances[value.index()] * n as f64));
        people.iter().map(|p| p.1).sum()
    }

    /// Clears the counts of a class that covers these people.
    fn leave(&mut self, people: &[(SensitiveId, u64)]) {
        people.iter().for_each(|&(value, _)| self.covered[value.index()] = 0);
        self.own.drain(..).for_each(|(value, _)| self.chances[value.index()] = 0.0);
        self.weights.clear();
    }

    /// What the class discloses about the persons of a tuple `q` that it covers, whose values have these weights. A
    /// rise up to `known` need not be told.
    fn disclosure(&self, q: &[(SensitiveId, u64)], weights: &[f64], known: f64) -> Option<Disclosure> {
        if let [weight] = *weights {
            // A belief that was certain before is certain after.
            let positive = self.bounds.high < Rational::from(1);
            let certain =
                Disclosure { positive, newly: false, negative: false, largest: 1.0, smallest: 1.0, rise: 0.0 };
            return (weight > 0.0).then_some(certain);
        }
        // The posterior of a value is its weight against the sum of all weights: dividing can wait for the extremes.
        let (mut sum, mut largest, mut smallest, mut total) = (0.0, 0.0f64, f64::INFINITY, 0);
        for (&weight, &(_, n)) in weights.iter().zip(q) {
            sum += weight;
            largest = largest.max(weight);
            smallest = smallest.min(weight);
            total += n;
        }
        if sum <= 0.0 {
            return None;
        }
        let bounds = self.bounds;
        let (high, low, doubt) = (bounds.about.0 * sum, bounds.about.1 * sum, DOUBT * sum);
        let (mut positive, mut newly, mut negative, mut rise) = (false, false, false, 0.0f64);
        let people = total as f64;
        // No posterior lies beyond the extremes, and no prior below that of one person.
        let inside = largest < high - doubt && smallest > low + doubt;
        if !inside || largest * people - sum > known * (sum * people) {
            let mut doubtful = false;
            for (&weight, &(_, n)) in weights.iter().zip(q) {
                doubtful |= (weight - high).abs() < doubt || (weight - low).abs() < doubt;
                rise = rise.max(weight * people - n as f64 * sum);
                positive |= weight > high;
                newly |= weight > high && bounds.high.compare_count(n, total) != Ordering::Greater;
                negative |= weight < low && bounds.low.compare_count(n, total) != Ordering::Less;
            }
            if doubtful {
                (positive, newly, negative) = self.exactly(q, total)?;
            }
        }
        let (largest, smallest) = (largest / sum, smallest / sum);
        Some(Disclosure { positive, newly, negative, largest, smallest, rise: rise / (sum * people) })
    }

    /// Whether the disclosure is positive, newly so, and negative, by fractions.
    #[cold]
    fn exactly(&self, q: &[(SensitiveId, u64)], total: u64) -> Option<(bool, bool, bool)> {
        let bounds = self.bounds;
        let Some(weights) = self.whole_weights(q) else {
            let wide = |(value, n): (u32, u64)| (value, u128::from(n));
            let covered: Vec<(u32, u128)> =
                (0..).zip(self.covered.iter().copied()).filter(|c| c.1 > 0).map(wide).collect();
            let mut own: Vec<(u32, u64)> = self.own.iter().map(|&(value, n)| (value.0, n)).collect();
            own.sort_unstable();
            let q: Vec<(u32, u128)> = q.iter().map(|&(value, n)| (value.0, u128::from(n))).collect();
            let exact = beliefs(&q, &covered, &own)?;
            let positive = exact.iter().any(|b| b.posterior > bounds.high);
            let newly = exact.iter().any(|b| b.posterior > bounds.high && b.prior <= bounds.high);
            let negative = exact.iter().any(|b| b.posterior < bounds.low && b.prior >= bounds.low);
            return Some((positive, newly, negative));
        };
        let sum: u128 = weights.iter().sum();
        let (mut positive, mut newly, mut negative) = (false, false, false);
        for (entry, &weight) in q.iter().zip(&weights) {
            let above = bounds.high.compare_fraction(weight, sum).is_gt();
            positive |= above;
            newly |= above && bounds.high.compare_count(entry.1, total).is_le();
            negative |=
                bounds.low.compare_fraction(weight, sum).is_lt() && bounds.low.compare_count(entry.1, total).is_ge();
        }
        Some((positive, newly, negative))
    }

    /// The weights of the values, multiplied by a number that makes all of them whole; none where that gets too large.
    fn whole_weights(&self, q: &[(SensitiveId, u64)]) -> Option<Vec<u128>> {
        let covered = |value: SensitiveId| u128::from(self.covered[value.index()].max(1));
        let own = |value: SensitiveId| self.own.iter().find(|own| own.0 == value).map_or(0, |own| u128::from(own.1));
        let mut common = 1u128;
        for &(value, _) in q.iter().filter(|c| own(c.0) > 0) {
            common = common.checked_mul(covered(value) / gcd(common, covered(value)))?;
        }
        let mut sum = 0u128;
        let weight = |&(value, here): &(SensitiveId, u64)| {
            let weight = match own(value) {
                0 => 0,
                own => (own * u128::from(here)).checked_mul(common / covered(value))?,
            };
            sum = sum.checked_add(weight)?;
            Some(weight)
        };
        q.iter().map(weight).collect()
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests;
