//! Sums of weights with steps j^(−β), β = p/q not an integer: irrational, compared without rounding.
//!
//! Whether N rows reach α is the sign of Σ aⱼ·j^(−p/q) with rational aⱼ. Steps i and j are rational multiples of each
//! other exactly when i/j, in lowest terms, is a quotient of perfect q-th powers; steps of which no two are so related
//! are linearly independent over the rationals (Besicovitch). The terms are therefore grouped into such families: the
//! sum is zero exactly when every family's coefficient is; otherwise intervals of increasing precision determine its
//! sign.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// Steps 1^(−β), 2^(−β), ….
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Steps {
    numerator: u32,
    degree: u32,
}

impl Steps {
    /// `None` unless 1 ≤ β ≤ 64 with a denominator of at most 1000.
    pub(super) fn new(beta: &BigRational) -> Option<Steps> {
        let (numerator, degree) = (beta.numer().to_u32()?, beta.denom().to_u32()?);
        let fits = *beta >= BigRational::one() && degree <= 1000 && u64::from(numerator) <= 64 * u64::from(degree);
        fits.then_some(Steps { numerator, degree })
    }

    /// The weight of each of `m` categories as a figure.
    pub(super) fn figures(&self, m: usize) -> Vec<f64> {
        let step = |j: usize| (j as f64).powf(-f64::from(self.numerator) / f64::from(self.degree));
        let total: f64 = (1..m).map(step).sum();
        (0..m).map(|i| (1..=i).map(step).sum::<f64>() / total).collect()
    }

    /// Whether rows, counted by category, have a total weight of at least `alpha`.
    pub(super) fn reach(&self, counts: &[u64], alpha: &BigRational) -> bool {
        // A row of category i weighs Σ_{j ≤ i} j^(−β) over the sum of all steps, so step j counts once for every
        // category ≥ j.
        let coefficients: Vec<BigRational> = (1..counts.len())
            .map(|j| {
                let climbers: BigInt = counts[j..].iter().map(|&n| BigInt::from(n)).sum();
                BigRational::from_integer(climbers) - alpha
            })
            .collect();
        self.sign(&coefficients).is_ge()
    }

    /// The sign of Σ coefficients[j − 1]·j^(−β).
    fn sign(&self, coefficients: &[BigRational]) -> Ordering {
        let mut families: Vec<(u64, BigRational)> = Vec::new();
        for (j, coefficient) in (1u64..).zip(coefficients) {
            let related = families.iter().position(|(head, _)| self.multiple(j, *head).is_some());
            match related {
                None => families.push((j, coefficient.clone())),
                Some(at) => {
                    let factor = self.multiple(j, families[at].0).unwrap_or_else(BigRational::one);
                    families[at].1 += coefficient * factor;
                }
            }
        }
        families.retain(|(_, coefficient)| !coefficient.is_zero());
        if families.is_empty() {
            return Ordering::Equal;
        }
        let mut places = 64;
        loop {
            places *= 2;
            if let Some(sign) = self.bracket(&families, places) {
                return sign;
            }
        }
    }

    /// r with j^(−β) = r·head^(−β); `None` when it is irrational.
    fn multiple(&self, j: u64, head: u64) -> Option<BigRational> {
        let ratio = BigRational::new(BigInt::from(head), BigInt::from(j));
        let root = |n: &BigInt| {
            let n = n.magnitude();
            let root = n.nth_root(self.degree);
            (root.pow(self.degree) == *n).then(|| BigInt::from(root.pow(self.numerator)))
        };
        Some(BigRational::new(root(ratio.numer())?, root(ratio.denom())?))
    }

    fn bracket(&self, families: &[(u64, BigRational)], places: u32) -> Option<Ordering> {
        let unit = BigUint::one() << places;
        let (mut low, mut high) = (BigRational::zero(), BigRational::zero());
        for (j, coefficient) in families {
            // (unit^q / j^p)^(1/q) lies between this integer and the next.
            let below = (unit.pow(self.degree) / BigUint::from(*j).pow(self.numerator)).nth_root(self.degree);
            let below = BigInt::from_biguint(Sign::Plus, below);
            let above = if *j == 1 { below.clone() } else { &below + BigInt::one() };
            let ends = [below, above].map(|end| coefficient * BigRational::from_integer(end));
            let [a, b] = ends;
            let (least, most) = if coefficient.is_negative() { (b, a) } else { (a, b) };
            low += least;
            high += most;
        }
        match (low.is_positive(), high.is_negative()) {
            (true, _) => Some(Ordering::Greater),
            (_, true) => Some(Ordering::Less),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rational(text: &str) -> BigRational {
        crate::number::parse(text).unwrap()
    }

    #[test]
    fn totals_are_compared_exactly() {
        let steps = Steps::new(&rational("1.5")).unwrap();
        // Three categories: 0, 1/(1 + 2^(−3/2)) = 0.7387961250362585…, 1.
        assert!(
            steps.reach(&[5, 0, 3], &rational("3")) && !steps.reach(&[5, 0, 3], &rational("3.00000000000000000001"))
        );
        assert!(steps.reach(&[0, 1, 0], &rational("0.7387961250362585")));
        assert!(!steps.reach(&[0, 1, 0], &rational("0.7387961250362586")));
        assert!(Steps::new(&rational("0.5")).is_none() && Steps::new(&rational("65")).is_none());
    }

    #[test]
    fn families_cancel() {
        let steps = Steps { numerator: 3, degree: 2 };
        // 4^(−3/2) = 1/8, and 8^(−3/2) = 2^(−3/2)/8.
        let sum = |pairs: &[(usize, &str)]| {
            let mut coefficients = vec![BigRational::zero(); 8];
            pairs.iter().for_each(|&(j, c)| coefficients[j - 1] = rational(c));
            steps.sign(&coefficients)
        };
        assert_eq!(sum(&[(1, "1"), (4, "-8")]), Ordering::Equal);
        assert_eq!(sum(&[(2, "1"), (8, "-8")]), Ordering::Equal);
        assert_eq!(sum(&[(1, "1"), (4, "-8"), (3, "1e-40")]), Ordering::Greater);
        assert_eq!(sum(&[(1, "1"), (2, "-2.8284271247461900976033774484193961571393437507539")]), Ordering::Less);
        assert_eq!(sum(&[(1, "1"), (2, "-2.8284271247461900976033774484193961571393437507538")]), Ordering::Greater);
    }
}
