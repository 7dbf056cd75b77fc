//! The skewness attack.
//!
//! **Assumes** that the adversary finds a person's class and knows how common each sensitive value is in the whole
//! release, which tells everyone.
//!
//! **Succeeds** in a class where the probability of some value grows from q in the release to p, with p/q more than
//! `factor` and p − q at least `points`: being in that class says a lot about a person even where no value is sure. Li
//! et al. show a virus that 1 % of the table have and 50 % of a 2-diverse class: a factor of 50.

use std::cmp::Ordering;

use super::{Attack, AttackError, ClassProfile, Entry, Extra, Findings, Knowledge, Target, number_or, share_or};
use crate::class::Histogram;
use crate::exact::Rational;
use crate::parameter::{Kind, Parameter, Parameters};

pub(super) const ENTRY: Entry = Entry {
    id: "skewness",
    title: "skewness attack",
    assumes: "the quasi values of a person who is in the table, and the distribution of the whole release",
    definition: "some value is far more likely in the class than in the release",
    citation: "Li, Li & Venkatasubramanian, ICDE 2007",
    needs: Knowledge::Release,
    parameters: &[
        Parameter::optional("factor", Kind::Number, "how many times as likely a value becomes; 2 when absent"),
        Parameter::optional("points", Kind::Number, "by how much its probability grows at least; 0.1 when absent"),
    ],
    attack: &Skewness,
};

/// Closer to a bound than this, doubles are not trusted and the fractions decide.
const DOUBT: f64 = 1e-9;

#[derive(Debug)]
struct Skewness;

impl Attack for Skewness {
    fn run(&self, target: &Target<'_>, _: &Extra<'_>, parameters: &Parameters) -> Result<Findings, AttackError> {
        let factor = number_or(parameters, "factor", 1, Rational::from(2))?;
        let points = share_or(parameters, "points", Rational::ratio(1, 10))?;
        let all = target.size;
        let (many, much) = (factor.to_f64(), points.to_f64());
        let values = target.histogram.last().map_or(0, |c| c.0 as usize + 1);
        let mut everywhere = vec![(0u64, 0.0f64); values];
        target.histogram.iter().for_each(|&(value, n)| everywhere[value as usize] = (n, n as f64 / all as f64));
        let judge = |profile: &ClassProfile, histogram: &Histogram, (largest_lift, largest_rise): &mut (f64, f64)| {
            let mut hardest: Option<f64> = None;
            for &(value, n) in histogram {
                let (everywhere, q) = everywhere[value as usize];
                let p = n as f64 / profile.size as f64;
                let (lift, rise) = (p / q, p - q);
                (*largest_lift, *largest_rise) = (largest_lift.max(lift), largest_rise.max(rise));
                let (above, beyond) = (lift / many - 1.0, rise - much);
                if above < -DOUBT || beyond < -DOUBT {
                    continue;
                }
                let clear = above > DOUBT && beyond > DOUBT;
                if clear || exactly(&factor, &points, [n, profile.size, everywhere, all]) {
                    hardest = Some(hardest.unwrap_or(0.0).max(lift));
                }
            }
            hardest
        };
        let larger = |all: &mut (f64, f64), more: (f64, f64)| *all = (all.0.max(more.0), all.1.max(more.1));
        let (mut findings, (largest_lift, largest_rise)) = target.hits((0.0, 0.0), judge, larger);
        findings.figures = vec![("largest_lift".to_string(), largest_lift), ("largest_rise".to_string(), largest_rise)];
        Ok(findings)
    }
}

/// Whether p = n/size grows from q = everywhere/all as much as it takes, by fractions.
fn exactly(factor: &Rational, points: &Rational, [n, size, everywhere, all]: [u64; 4]) -> bool {
    let [n, size, everywhere, all] = [n, size, everywhere, all].map(u128::from);
    // p/q = n·all / (size·everywhere); p − q = (n·all − size·everywhere) / (size·all).
    let (here, expected) = (n * all, size * everywhere);
    factor.compare_fraction(here, expected) == Ordering::Greater
        && points.compare_fraction(here.saturating_sub(expected), size * all) != Ordering::Less
}

#[cfg(test)]
mod tests {
    use super::super::view::fixture::{Fixture, INPATIENTS, figure};
    use super::*;
    use crate::parameter::Value;

    #[test]
    fn a_virus_of_one_in_a_hundred_reaches_half_of_a_class() {
        // Li et al.: 1 % of the table are positive; a class of one positive and one negative raises that to 50 %.
        let mut rows = vec![("b", "negative"); 98];
        rows.extend([("a", "negative"), ("a", "positive")]);
        let fixture = Fixture::new(&rows);
        let findings = ENTRY.run(&fixture.target(), &Extra::default(), &Parameters::default()).unwrap();
        assert_eq!((findings.classes, findings.rows, &findings.worst), (1, 2, &vec![0]));
        assert!((figure(&findings, "largest_lift") - 50.0).abs() < 1e-9);
        assert!((figure(&findings, "largest_rise") - 0.49).abs() < 1e-9);
    }

    #[test]
    fn a_value_on_the_bound_is_no_hit() {
        // Cancer: 5 of 12 in the release and 4 of 4 in class c, a factor of exactly 12/5.
        let fixture = Fixture::new(&INPATIENTS);
        let run = |factor: &str, points: &str| {
            let pairs = [("factor", Value::Text(factor.into())), ("points", Value::Text(points.into()))];
            ENTRY.run(&fixture.target(), &Extra::default(), &Parameters::from_pairs(pairs)).unwrap().classes
        };
        assert_eq!((run("12/5", "0"), run("2.39", "0")), (0, 1));
        assert_eq!((run("2", "7/12"), run("2", "0.6")), (1, 0));
    }
}
