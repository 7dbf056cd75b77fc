//! Whether the weights of a class's rows add up to a bound: Σ n_s · w_s ≥ α.
//!
//! Weights are rational, or, with a broken sensitivity β, quotients of sums of powers j^(−β): then the test is one of
//! the sign of such a sum ([`Powers`]), which is exact as well.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};

use super::Rational;
use super::power::Powers;
use crate::class::Histogram;

/// Weights of sensitive values, by code, and the total they must reach.
#[derive(Debug, Clone)]
pub struct WeightBound {
    weights: Weights,
    alpha: Rational,
}

#[derive(Debug, Clone)]
enum Weights {
    Rational {
        /// The weight of each code.
        of: Vec<Rational>,
        /// The same and the bound brought to one denominator, when it fits.
        whole: Option<(Vec<u64>, u64)>,
    },
    Steps {
        /// The category of each code.
        of: Vec<u32>,
        powers: Powers,
        /// The weight of each category, to double precision.
        near: Vec<f64>,
    },
}

/// What the weights of some rows add up to.
#[derive(Debug, Clone, PartialEq)]
pub enum Reach {
    /// This much.
    Exact(Rational),
    /// This much, to double precision.
    Real(f64),
}

impl WeightBound {
    /// Rows of value `code` weigh `weights[code]`, which is not negative; together they must reach `alpha`.
    pub fn new(weights: Vec<Rational>, alpha: Rational) -> Self {
        let whole = whole(&weights, &alpha);
        WeightBound { weights: Weights::Rational { of: weights, whole }, alpha }
    }

    /// Rows of value `code` are of category `of[code]`, and the weights of the categories rise from 0
    /// to 1 in steps proportional to 1^(−β), 2^(−β), ….
    pub fn of_steps(of: Vec<u32>, categories: usize, powers: Powers, alpha: Rational) -> Self {
        let mut near = vec![0.0];
        let mut sum = 0.0;
        for j in 1..categories as u64 {
            sum += powers.near(j);
            near.push(sum);
        }
        near.iter_mut().for_each(|w| *w /= sum);
        WeightBound { weights: Weights::Steps { of, powers, near }, alpha }
    }

    /// Whether the class's rows reach the bound.
    pub fn reached(&self, histogram: &Histogram) -> bool {
        match &self.weights {
            Weights::Rational { of, whole } => {
                if let Some((weights, alpha)) = whole {
                    let total = histogram.iter().try_fold(0u128, |sum, &(code, n)| {
                        let weight = weights.get(code as usize).copied().unwrap_or(0);
                        sum.checked_add(u128::from(n) * u128::from(weight))
                    });
                    if let Some(total) = total {
                        return total >= u128::from(*alpha);
                    }
                }
                total(of, histogram) >= *self.alpha.value()
            }
            Weights::Steps { of, powers, near } => {
                let (total, rows) = approximate(of, near, histogram);
                let alpha = self.alpha.to_f64();
                // Each weight is a quotient of sums of doubles, each within a few units of its last place.
                let error = (rows + alpha + 1.0) * 1e-15 * (near.len() as f64 + 16.0);
                if (total - alpha).abs() > error {
                    return total > alpha;
                }
                compare(of, powers, near.len(), histogram, self.alpha.value()).is_ge()
            }
        }
    }

    /// What the weights of the class's rows add up to.
    pub fn reach(&self, histogram: &Histogram) -> Reach {
        match &self.weights {
            Weights::Rational { of, .. } => Reach::Exact(total(of, histogram).into()),
            Weights::Steps { of, powers, near } => {
                let (total, _) = approximate(of, near, histogram);
                let whole = BigRational::from_integer((total.round() as u64).into());
                let equal =
                    (total - total.round()).abs() < 1e-6 && compare(of, powers, near.len(), histogram, &whole).is_eq();
                if equal { Reach::Exact(whole.into()) } else { Reach::Real(total) }
            }
        }
    }

    /// No fewer rows reach the bound: it takes this number of the heaviest value.
    pub fn least_rows(&self) -> u64 {
        let heaviest = match &self.weights {
            Weights::Rational { of, .. } => of.iter().max().map_or_else(BigRational::zero, |w| w.value().clone()),
            // No step leads beyond 1.
            Weights::Steps { .. } => BigRational::from_integer(1.into()),
        };
        if heaviest.is_zero() {
            // Either nothing is asked or nothing is enough; the whole table tells.
            return 1;
        }
        (self.alpha.value() / heaviest).ceil().to_integer().to_u64().unwrap_or(u64::MAX).max(1)
    }
}

fn total(weights: &[Rational], histogram: &Histogram) -> BigRational {
    histogram.iter().fold(BigRational::zero(), |sum, &(code, n)| match weights.get(code as usize) {
        Some(w) => sum + w.value() * BigInt::from(n),
        None => sum,
    })
}

/// The total weight and the number of rows, to double precision.
fn approximate(of: &[u32], near: &[f64], histogram: &Histogram) -> (f64, f64) {
    histogram.iter().fold((0.0, 0.0), |(total, rows), &(code, n)| {
        let weight = of.get(code as usize).and_then(|&c| near.get(c as usize)).copied().unwrap_or(0.0);
        (total + weight * n as f64, rows + n as f64)
    })
}

/// How the total weight compares with `alpha`: a row of category i (from 0) has climbed the steps 1 … i, so that it is
/// a matter of the sign of Σ (rows beyond step j − α) · j^(−β).
fn compare(of: &[u32], powers: &Powers, categories: usize, histogram: &Histogram, alpha: &BigRational) -> Ordering {
    let mut beyond = vec![BigInt::zero(); categories.saturating_sub(1)];
    for &(code, n) in histogram {
        let climbed = of.get(code as usize).map_or(0, |&c| c as usize);
        beyond[..climbed.min(categories.saturating_sub(1))].iter_mut().for_each(|rows| *rows += n);
    }
    let coefficients: Vec<BigRational> =
        beyond.into_iter().map(|rows| BigRational::from_integer(rows) - alpha).collect();
    powers.sign(&coefficients)
}

/// Everything times the least common denominator.
fn whole(weights: &[Rational], alpha: &Rational) -> Option<(Vec<u64>, u64)> {
    let mut common = 1u64;
    for r in weights.iter().chain([alpha]) {
        let (_, d) = r.small()?;
        common = (common / gcd(common, d)).checked_mul(d)?;
    }
    let scale = |r: &Rational| (r.value() * BigInt::from(common)).to_integer().to_u64();
    Some((weights.iter().map(scale).collect::<Option<_>>()?, scale(alpha)?))
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirds_add_up_to_one() {
        let weights: Vec<Rational> = ["0", "1/3", "2/3", "1"].iter().map(|w| w.parse().unwrap()).collect();
        let bound = |alpha: &str| WeightBound::new(weights.clone(), alpha.parse().unwrap());
        assert!(bound("1").reached(&[(0, 9), (1, 3)]));
        assert!(!bound("1.0000000000000000000000000000001").reached(&[(0, 9), (1, 3)]));
        assert!(bound("1000000000000").reached(&[(1, 3_000_000_000_000)]));
        assert!(bound("0").reached(&[]));
        assert_eq!(bound("2.5").least_rows(), 3);
    }

    /// Steps with a whole β are those that fractions give.
    #[test]
    fn steps_agree_with_fractions() {
        let powers = Powers::new(&2.into()).unwrap();
        let weights: Vec<Rational> = ["0", "36/49", "45/49", "1"].iter().map(|w| w.parse().unwrap()).collect();
        for alpha in ["0", "1", "36/49", "2.6", "130/49", "131/49", "4"] {
            let alpha: Rational = alpha.parse().unwrap();
            let steps = WeightBound::of_steps(vec![0, 1, 2, 3], 4, powers.clone(), alpha.clone());
            let listed = WeightBound::new(weights.clone(), alpha);
            for histogram in [&[(0, 5)][..], &[(1, 1)], &[(1, 1), (2, 1), (3, 1)], &[(0, 1), (3, 4)]] {
                assert_eq!(steps.reached(histogram), listed.reached(histogram), "{histogram:?}");
            }
        }
    }

    /// β = 1/2 has five categories with the steps 1, 1/√2, 1/√3, 1/2: a class sits on an irrational bound.
    #[test]
    fn broken_sensitivities_are_exact_at_the_bound() {
        let powers = Powers::new(&"3/2".parse().unwrap()).unwrap();
        let bound = |alpha: &str| WeightBound::of_steps(vec![0, 1, 2], 3, powers.clone(), alpha.parse().unwrap());
        // The last category weighs 1 exactly, the middle one 1/(1 + 2^(−3/2)) = 0.738796125…
        assert!(bound("3").reached(&[(2, 3)]) && !bound("3.0000000000000000000001").reached(&[(2, 3)]));
        assert!(bound("0.7387961250362585").reached(&[(1, 1)]) && !bound("0.7387961250362586").reached(&[(1, 1)]));
        assert_eq!(bound("1").reach(&[(2, 3)]), Reach::Exact(3.into()));
        assert!(matches!(bound("1").reach(&[(1, 1)]), Reach::Real(x) if (x - 0.7387961250362585).abs() < 1e-12));
    }
}
