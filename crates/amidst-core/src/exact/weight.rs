//! Whether the weights of a class's rows add up to a bound: Σ n_s · w_s ≥ α.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};

use super::Rational;
use crate::class::Histogram;

/// Weights of sensitive values, by code, and the total they must reach.
#[derive(Debug, Clone)]
pub struct WeightBound {
    weights: Vec<Rational>,
    alpha: Rational,
    /// The same brought to one denominator, when it fits.
    whole: Option<(Vec<u64>, u64)>,
}

impl WeightBound {
    /// Rows of value `code` weigh `weights[code]`, which is not negative; together they must reach `alpha`.
    pub fn new(weights: Vec<Rational>, alpha: Rational) -> Self {
        let whole = whole(&weights, &alpha);
        WeightBound { weights, alpha, whole }
    }

    /// Whether the class's rows reach the bound.
    pub fn reached(&self, histogram: &Histogram) -> bool {
        if let Some((weights, alpha)) = &self.whole {
            let total = histogram.iter().try_fold(0u128, |sum, &(code, n)| {
                let weight = weights.get(code as usize).copied().unwrap_or(0);
                sum.checked_add(u128::from(n) * u128::from(weight))
            });
            if let Some(total) = total {
                return total >= u128::from(*alpha);
            }
        }
        self.total(histogram) >= *self.alpha.value()
    }

    /// No fewer rows reach the bound: it takes so many of the heaviest value.
    pub fn least_rows(&self) -> u64 {
        let heaviest = self.weights.iter().max().map_or_else(BigRational::zero, |w| w.value().clone());
        if heaviest.is_zero() {
            // Either nothing is asked or nothing is enough; the whole table tells.
            return 1;
        }
        (self.alpha.value() / heaviest).ceil().to_integer().to_u64().unwrap_or(u64::MAX).max(1)
    }

    fn total(&self, histogram: &Histogram) -> BigRational {
        histogram.iter().fold(BigRational::zero(), |sum, &(code, n)| match self.weights.get(code as usize) {
            Some(w) => sum + w.value() * BigInt::from(n),
            None => sum,
        })
    }
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
    }
}
