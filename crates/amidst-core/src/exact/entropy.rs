//! Entropy against the logarithm of a number: −Σ p log p ≥ log l, at any size and exactly at the bound.
//!
//! With counts nᵢ that add up to N the test is N·ln N − Σ nᵢ·ln nᵢ ≥ N·ln l. Equal counts are decided as integers; the
//! rest in floating point with an error bound; what lies within that bound by [`LogSum`].
//!
//! The error bound assumes that the platform's `ln` is off by at most four units in the last place, far worse than any
//! in use.

use std::cmp::Ordering;
use std::sync::LazyLock;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use super::Rational;
use super::logarithm::LogSum;

/// Relative error allowed for one product n·ln n: the conversion of n, the logarithm and the product.
const UNIT: f64 = 1.0 / (1u64 << 49) as f64;

/// n·ln n of small counts, which most counts are.
static SMALL: LazyLock<[f64; 512]> = LazyLock::new(|| std::array::from_fn(|n| product(n as f64)));

fn product(n: f64) -> f64 {
    if n > 1.0 { n * n.ln() } else { 0.0 }
}

#[inline]
fn n_ln_n(n: u64) -> f64 {
    match SMALL.get(n as usize) {
        Some(&value) => value,
        None => product(n as f64),
    }
}

/// The number l of an entropy requirement.
#[derive(Debug, Clone)]
pub struct EntropyBound {
    l: Rational,
    ln: f64,
}

impl EntropyBound {
    /// The bound log l, for l > 0.
    pub fn new(l: Rational) -> Self {
        let ln = l.to_f64().ln();
        EntropyBound { l, ln }
    }

    /// No fewer rows reach the bound: n rows have at most n values.
    pub fn least_rows(&self) -> u64 {
        num_traits::ToPrimitive::to_u64(&self.l.value().ceil().to_integer()).unwrap_or(u64::MAX).max(1)
    }

    /// Compares exp(entropy of `counts`) with l. Zero counts are ignored; no counts at all have entropy zero.
    pub fn compare(&self, counts: impl Iterator<Item = u64> + Clone) -> Ordering {
        let sums = Sums::of(counts.clone());
        if sums.uniform {
            return self.l.compare_count(sums.kinds.max(1), 1);
        }
        // Entropy is at most the logarithm of the number of kinds, and less when counts differ.
        if self.l.compare_count(sums.kinds, 1).is_le() {
            return Ordering::Less;
        }
        let total = sums.total as f64;
        let (left, right) = (product(total) - sums.products, total * self.ln);
        let size = product(total) + sums.products + right.abs() + total;
        let error = size * UNIT * (sums.kinds as f64 + 4.0);
        if left - right > error {
            Ordering::Greater
        } else if right - left > error {
            Ordering::Less
        } else {
            self.compare_exactly(counts)
        }
    }

    #[cold]
    fn compare_exactly(&self, counts: impl Iterator<Item = u64> + Clone) -> Ordering {
        // Dividing all counts by a common divisor changes no share, so no entropy.
        let divisor = counts.clone().fold(0, gcd).max(1);
        let mut sum = LogSum::new(BigRational::zero());
        let mut total = 0u64;
        for n in counts {
            let n = n / divisor;
            total += n;
            sum.add(-BigInt::from(n), n);
        }
        sum.add(total, total);
        sum.add(total, self.l.value().denom().magnitude().clone());
        sum.add(-BigInt::from(total), self.l.value().numer().magnitude().clone());
        sum.sign()
    }
}

/// What one pass over the counts tells.
struct Sums {
    total: u64,
    products: f64,
    kinds: u64,
    uniform: bool,
}

impl Sums {
    fn of(counts: impl Iterator<Item = u64>) -> Self {
        let mut sums = Sums { total: 0, products: 0.0, kinds: 0, uniform: true };
        let mut first = 0;
        for n in counts.filter(|&n| n > 0) {
            if sums.kinds == 0 {
                first = n;
            }
            sums.uniform &= n == first;
            sums.kinds += 1;
            sums.total += n;
            sums.products += n_ln_n(n);
        }
        sums
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// exp(entropy): the number of equally frequent values that would be as diverse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effective {
    /// A whole number, exactly.
    Whole(u64),
    /// Any other number, to double precision.
    Real(f64),
}

/// exp(entropy of `counts`).
pub fn effective(counts: impl Iterator<Item = u64> + Clone) -> Effective {
    let sums = Sums::of(counts.clone());
    if sums.uniform {
        return Effective::Whole(sums.kinds.max(1));
    }
    let total = sums.total as f64;
    let value = (total.ln() - sums.products / total).exp();
    let whole = value.round();
    if (value - whole).abs() < 1e-9 * value && EntropyBound::new((whole as u64).into()).compare(counts).is_eq() {
        return Effective::Whole(whole as u64);
    }
    Effective::Real(value)
}

/// The adjusted entropy of a class with don't-care values (ℓ-diversity article, Definition 4.5 and Algorithm 1).
///
/// Algorithm 1 fixes the counts up to a cutoff θ and lowers the r don't-care counts above it to e^m, m the log-entropic
/// mean of the fixed ones. With G the sum of the fixed counts the entropy is then ln(G + r·e^m) − m, so
/// exp(adjusted entropy) = G/e^m + r = exp(entropy of the fixed counts) + r: a requirement of l on the class is one of
/// l − r on the fixed counts, which makes it exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutoff {
    /// Don't-care counts up to this one stay as they are.
    pub theta: u64,
    /// The number of don't-care values above it, which are lowered.
    pub lowered: u64,
}

impl Cutoff {
    /// The cutoff for a class whose counts outside the don't-care set are `sensitive`, at least one of them positive.
    pub fn find(sensitive: impl Iterator<Item = u64> + Clone, dont_care: impl Iterator<Item = u64> + Clone) -> Self {
        let mut theta = 0;
        loop {
            let fixed = sensitive.clone().chain(dont_care.clone().filter(|&n| n <= theta));
            let Some(next) = dont_care.clone().filter(|&n| n > theta).min() else { break };
            if !below_log_entropic_mean(next, fixed) {
                break;
            }
            theta = next;
        }
        Cutoff { theta, lowered: dont_care.filter(|&n| n > theta).count() as u64 }
    }
}

/// Whether ln x < Σ c·ln c / Σ c. A tie may fall on either side: the adjusted entropy is then the same.
fn below_log_entropic_mean(x: u64, counts: impl Iterator<Item = u64> + Clone) -> bool {
    let sums = Sums::of(counts.clone());
    let left = sums.total as f64 * (x as f64).ln();
    let error = (left + sums.products + sums.total as f64) * UNIT * (sums.kinds as f64 + 4.0);
    if sums.products - left > error {
        return true;
    }
    if left - sums.products > error {
        return false;
    }
    let mut sum = LogSum::new(BigRational::zero());
    counts.for_each(|n| sum.add(n, n));
    sum.add(-BigInt::from(sums.total), x);
    sum.sign().is_gt()
}

/// The bounds l, l − 1, …, for as many values as Algorithm 1 may lower; it ends before l − r falls to zero, where the
/// requirement holds anyway.
pub fn lowered_bounds(l: &Rational, most: usize) -> Vec<EntropyBound> {
    let mut bounds = Vec::new();
    let mut left = l.value().clone();
    while left.is_positive() && bounds.len() <= most {
        bounds.push(EntropyBound::new(left.clone().into()));
        left -= BigRational::one();
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;
    use proptest::prelude::*;

    fn compare(counts: &[u64], l: &str) -> Ordering {
        EntropyBound::new(l.parse().unwrap()).compare(counts.iter().copied())
    }

    #[test]
    fn equal_counts_meet_their_number_at_every_multiplicity() {
        for l in 1..40usize {
            for n in [1, 3, 7, 1_000_003, 1_000_000_000_000] {
                let counts = vec![n; l];
                assert_eq!(compare(&counts, &l.to_string()), Ordering::Equal);
                assert_eq!(compare(&counts, &format!("{l}.000000000000000000001")), Ordering::Less);
                assert_eq!(compare(&counts, &format!("{}.999999999999999999999", l - 1)), Ordering::Greater);
            }
        }
    }

    #[test]
    fn unequal_counts_tie_exactly_too() {
        // 8^8 = 4^8 · 4^4: four values' worth of entropy out of five values; also at ten to the twelfth.
        for factor in [1, 5, 1_000_000_000_000] {
            let counts: Vec<u64> = [4, 1, 1, 1, 1].iter().map(|n| n * factor).collect();
            assert_eq!(compare(&counts, "4"), Ordering::Equal);
            assert_eq!(effective(counts.iter().copied()), Effective::Whole(4));
            assert_eq!(compare(&counts, "4.0000000000000000000000000001"), Ordering::Less);
        }
        // One row more breaks the tie, though no double can tell.
        let mut counts: Vec<u64> = [4u64, 1, 1, 1, 1].iter().map(|n| n * 1_000_000_000_000).collect();
        counts[0] += 1;
        assert_eq!(compare(&counts, "4"), Ordering::Less);
        counts[0] -= 2;
        assert_eq!(compare(&counts, "4"), Ordering::Greater);
    }

    #[test]
    fn the_articles_example_of_adjusted_entropy() {
        let cutoff = Cutoff::find([3, 4].into_iter(), [11, 10, 3, 2].into_iter());
        assert_eq!(cutoff, Cutoff { theta: 3, lowered: 2 });
        let Effective::Real(value) = effective([3u64, 4, 3, 2].into_iter()) else { panic!("not a whole number") };
        assert!(((value + 2.0).ln() - 1.772_971_168_390_302_4).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn verdicts_agree_with_powers(counts in prop::collection::vec(0u64..12, 1..6), a in 1u64..12, b in 1u64..5) {
            let total: u64 = counts.iter().sum();
            prop_assume!(total > 0);
            let power = |x: u64| BigUint::from(x).pow(total as u32);
            let right = counts.iter().fold(power(a), |p, &n| p * BigUint::from(n).pow(n as u32));
            let verdict = compare(&counts, &format!("{a}/{b}"));
            prop_assert_eq!(verdict, (power(total) * power(b)).cmp(&right));
        }

        #[test]
        fn adjusted_entropy_is_the_largest(
            sensitive in prop::collection::vec(1u64..20, 1..4),
            dont_care in prop::collection::vec(1u64..20, 0..4),
            shares in prop::collection::vec(0f64..=1.0, 4),
        ) {
            let cutoff = Cutoff::find(sensitive.iter().copied(), dont_care.iter().copied());
            let fixed = sensitive.iter().chain(dont_care.iter().filter(|&&n| n <= cutoff.theta)).copied();
            let best = match effective(fixed) {
                Effective::Whole(n) => n as f64,
                Effective::Real(x) => x,
            } + cutoff.lowered as f64;
            // No lowering of the don't-care counts does better (Equation 10).
            let lowered: Vec<f64> = sensitive
                .iter()
                .map(|&n| n as f64)
                .chain(dont_care.iter().zip(&shares).map(|(&n, s)| n as f64 * s))
                .collect();
            let total: f64 = lowered.iter().sum();
            let entropy: f64 = lowered.iter().filter(|&&x| x > 0.0).map(|x| -x / total * (x / total).ln()).sum();
            prop_assert!(entropy.exp() <= best * (1.0 + 1e-12));
        }
    }
}
