//! The background-knowledge attack.
//!
//! **Assumes** that the adversary finds a person's class and knows of b sensitive values that the person does not have
//! (the article's Umeko is Japanese, so heart disease is unlikely). Which values an adversary can rule out is unknown,
//! so the attack takes the b that help most: to make the most frequent value as sure as possible, those are the
//! next most frequent ones. The posterior is then r₁ / (n − r₂ − … − r_{b+1}).
//!
//! **Succeeds** in a class where that posterior reaches `threshold` after `b` values are ruled out. The largest
//! posterior and the rows at risk are reported for every number of values from 0 up to `b`.
//!
//! Where persons have several rows, a person counts with every value they have; at least the r₁ persons with the most
//! frequent value remain.

use std::cmp::{Ordering, Reverse};

use super::{Attack, AttackError, ClassProfile, Entry, Extra, Findings, Knowledge, Target, share_or};
use crate::class::Histogram;
use crate::exact::Rational;
use crate::parameter::{Kind, Parameter, ParameterError, Parameters};

pub(super) const ENTRY: Entry = Entry {
    id: "background-knowledge",
    title: "background-knowledge attack",
    assumes: "the quasi values of a person who is in the table, and b sensitive values that the person does not have",
    definition: "after the b most helpful values are ruled out, one value is sure enough",
    citation: "Machanavajjhala et al., TKDD 2007, §1.1",
    needs: Knowledge::Release,
    parameters: &[
        Parameter::optional("b", Kind::Count, "how many values the adversary can rule out, at most; 2 when absent"),
        Parameter::optional("threshold", Kind::Number, "the posterior that counts as sure; 0.95 when absent"),
    ],
    attack: &BackgroundKnowledge,
};

/// The most values that may be ruled out: a figure is reported for each number up to it.
const LARGEST_B: u64 = 100;

#[derive(Debug)]
struct BackgroundKnowledge;

impl Attack for BackgroundKnowledge {
    fn run(&self, target: &Target<'_>, _: &Extra<'_>, parameters: &Parameters) -> Result<Findings, AttackError> {
        let threshold = share_or(parameters, "threshold", Rational::ratio(95, 100))?;
        let b =
            match parameters.get("b") {
                // No value ruled out is a fair question too: it is the homogeneity attack.
                Some(_) => parameters.number("b")?.to_u64().filter(|&b| b <= LARGEST_B).ok_or_else(|| {
                    ParameterError::new("b", format!("`b` must be a whole number from 0 to {LARGEST_B}"))
                })?,
                None => 2,
            } as usize;
        let judge = |profile: &ClassProfile, histogram: &Histogram, (found, counts): &mut (Vec<Found>, Vec<u64>)| {
            counts.clear();
            counts.extend(histogram.iter().map(|c| c.1));
            counts.sort_unstable_by_key(|&n| Reverse(n));
            let top = *counts.first()?;
            let mut left = profile.size;
            let mut hit = None;
            for (out, found) in found.iter_mut().enumerate() {
                if out > 0 {
                    left = left.saturating_sub(counts.get(out).copied().unwrap_or(0)).max(top);
                }
                let posterior = top as f64 / left as f64;
                found.largest = found.largest.max(posterior);
                hit = (threshold.compare_count(top, left) != Ordering::Less).then_some(posterior);
                found.rows += if hit.is_some() { profile.rows } else { 0 };
            }
            hit
        };
        let nothing = (vec![Found::default(); b + 1], Vec::new());
        let (mut findings, (found, _)) = target.hits(nothing, judge, |(all, _), (more, _)| {
            for (found, more) in all.iter_mut().zip(more) {
                found.largest = found.largest.max(more.largest);
                found.rows += more.rows;
            }
        });
        for (out, found) in found.iter().enumerate() {
            findings.figures.push((format!("posterior_{out}"), found.largest));
            findings.figures.push((format!("rows_{out}"), found.rows as f64));
        }
        Ok(findings)
    }
}

/// What is learned with this number of values ruled out.
#[derive(Clone, Default)]
struct Found {
    largest: f64,
    rows: u64,
}

#[cfg(test)]
mod tests {
    use super::super::view::fixture::{Fixture, INPATIENTS, figure};
    use super::*;
    use crate::parameter::Value;
    use proptest::prelude::*;

    fn run(fixture: &Fixture, b: i64, threshold: &str) -> Result<Findings, AttackError> {
        let parameters = Parameters::from_pairs([
            ("b", Value::Number(Rational::new(b, 1))),
            ("threshold", Value::Text(threshold.into())),
        ]);
        ENTRY.run(&fixture.target(), &Extra::default(), &parameters)
    }

    #[test]
    fn umeko_has_a_viral_infection() {
        // The article's first class: heart disease twice, viral infection twice. Without heart disease, viral is sure.
        let fixture = Fixture::new(&INPATIENTS);
        let findings = run(&fixture, 1, "1").unwrap();
        assert_eq!((findings.classes, findings.rows), (2, 8));
        assert_eq!((figure(&findings, "rows_0"), figure(&findings, "rows_1")), (4.0, 8.0));
        // The second class has three values: ruling out one leaves 2 of 3, two leave nothing but one.
        assert_eq!(run(&fixture, 1, "2/3").unwrap().classes, 3);
        assert_eq!(run(&fixture, 2, "1").unwrap().rows, 12);
    }

    #[test]
    fn an_l_diverse_class_withstands_l_minus_two_values() {
        // The article's 3-diverse inpatients: every class has a value twice and two others once.
        let fixture = Fixture::new(&[("a", "heart"), ("a", "viral"), ("a", "cancer"), ("a", "cancer")]);
        let findings = run(&fixture, 2, "1").unwrap();
        let posteriors = ["posterior_0", "posterior_1", "posterior_2"].map(|name| figure(&findings, name));
        assert_eq!(posteriors, [0.5, 2.0 / 3.0, 1.0]);
    }

    #[test]
    fn b_is_a_small_whole_number() {
        let fixture = Fixture::new(&INPATIENTS);
        assert_eq!(run(&fixture, 0, "1").unwrap().rows, 4);
        for b in [-1, 101] {
            assert!(run(&fixture, b, "1").unwrap_err().to_string().contains("whole number from 0 to 100"));
        }
    }

    proptest! {
        #[test]
        fn no_choice_of_values_to_rule_out_helps_more(counts in prop::collection::vec(1u64..9, 1..6), b in 0usize..4) {
            let names = ["u", "v", "w", "x", "y", "z"];
            let rows: Vec<(&str, &str)> =
                counts.iter().zip(names).flat_map(|(&n, v)| vec![("a", v); n as usize]).collect();
            let findings = run(&Fixture::new(&rows), b as i64, "1").unwrap();
            // Every set of at most b values to rule out, every value left.
            let mut best = 0.0f64;
            for set in 0..1u32 << counts.len() {
                let left: Vec<u64> = (0..counts.len()).filter(|i| set >> i & 1 == 0).map(|i| counts[i]).collect();
                if set.count_ones() as usize <= b && !left.is_empty() {
                    best = best.max(*left.iter().max().unwrap() as f64 / left.iter().sum::<u64>() as f64);
                }
            }
            let found = figure(&findings, &format!("posterior_{b}"));
            prop_assert!((found - best).abs() < 1e-12);
        }
    }
}
