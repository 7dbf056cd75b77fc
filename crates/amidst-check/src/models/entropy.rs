//! Entropy ℓ-diversity: −Σ p log p ≥ log l (article, Definition 4.1), with a don't-care set the adjusted entropy
//! (Definition 4.5).
//!
//! The adjusted entropy lowers don't-care counts to the point of greatest entropy. With F the fixed counts, S their
//! sum, m their log-entropic mean and r values lowered to e^m, Algorithm 1 returns log(S + r·e^m) − m = log(S·e^−m +
//! r), and log S − m is the plain entropy of F. So it is ≥ log l exactly when e^H(F) ≥ l − r: one comparison of plain
//! entropy with a rational number, without exponentials.

use std::cmp::Ordering;
use std::sync::Arc;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

use super::{Class, ClassModel, Domain, Figure, Model, Parameters, Reading, Weak};
use crate::logsum::LogSum;

struct Entropy {
    l: BigRational,
    dont_care: Option<Vec<bool>>,
}

pub(super) fn build(parameters: &Parameters<'_>, domain: &Arc<Domain>) -> Result<Model, String> {
    let names = parameters.values("dont_care")?;
    let dont_care = (!names.is_empty()).then(|| domain.flags(&names));
    Ok(Model::Class(Box::new(Entropy { l: parameters.number("l")?, dont_care })))
}

/// Whether e^H(counts) ≥ l, that is N·ln N − Σ n·ln n ≥ N·ln l.
pub(super) fn at_least(counts: &[u64], l: &BigRational) -> bool {
    if !l.is_positive() {
        return true;
    }
    let total: u64 = counts.iter().sum();
    if let Some(verdict) = clearly(counts, total, l) {
        return verdict;
    }
    let mut sum = LogSum::new();
    sum.add(total, total);
    for &count in counts {
        sum.add(-BigInt::from(count), count);
    }
    sum.add_ratio(&-BigInt::from(total), l);
    sum.sign() != Ordering::Less
}

/// The floating-point step of [`LogSum::sign`] without big integers; it decides most classes. `None` when it does not.
fn clearly(counts: &[u64], total: u64, l: &BigRational) -> Option<bool> {
    // Larger counts are not exact in floating point.
    const EXACT: u64 = 1 << 53;
    if total >= EXACT {
        return None;
    }
    let times_log = |n: f64, of: f64| n * of.ln();
    let n = total as f64;
    let (above, below) = (l.numer().to_f64()?, l.denom().to_f64()?);
    let (gain, loss) = (times_log(n, n.max(1.0)) + times_log(n, below), times_log(n, above));
    let (mut sum, mut size) = (gain - loss, gain + loss);
    for &count in counts.iter().filter(|&&count| count > 0) {
        let term = times_log(count as f64, count as f64);
        sum -= term;
        size += term;
    }
    let bound = size * (counts.len() as f64 + 16.0) * 2f64.powi(-48);
    (bound.is_finite() && sum.abs() > bound).then_some(sum > 0.0)
}

/// e^H(counts), rounded.
pub(super) fn perplexity(counts: &[u64]) -> f64 {
    let total: f64 = counts.iter().map(|&c| c as f64).sum();
    // The figure of a uniform class is an integer and is shown without rounding errors.
    if counts.windows(2).all(|pair| pair[0] == pair[1]) {
        return counts.len() as f64;
    }
    let mut sorted = counts.to_vec();
    sorted.sort_unstable();
    let entropy: f64 = sorted.iter().map(|&c| c as f64 / total).map(|p| -p * p.ln()).sum();
    entropy.exp()
}

/// The counts of Algorithm 1 that stay as they are, and how many are lowered.
fn adjust(sensitive: &[u64], dont_care: &[u64]) -> (Vec<u64>, usize) {
    let mut open = dont_care.to_vec();
    open.sort_unstable();
    let mut fixed = sensitive.to_vec();
    let mut taken = 0;
    for &count in &open {
        // log φ < m, that is S·ln φ < Σ c·ln c. On a tie the lowered count equals φ, so both cases are the same.
        let total: u64 = fixed.iter().sum();
        let mut sum = LogSum::new();
        sum.add(total, count);
        for &c in &fixed {
            sum.add(-BigInt::from(c), c);
        }
        if sum.sign() != Ordering::Less {
            break;
        }
        fixed.push(count);
        taken += 1;
    }
    (fixed, open.len() - taken)
}

impl ClassModel for Entropy {
    fn figures(&self) -> Vec<Figure> {
        vec![("l", Weak::Small)]
    }

    fn symmetric(&self) -> bool {
        self.dont_care.is_none()
    }

    fn judge(&self, class: Class<'_>) -> Result<Reading, String> {
        let Some(dont_care) = &self.dont_care else {
            let counts: Vec<u64> = class.counts.iter().map(|c| c.1).collect();
            return Ok(Reading { holds: at_least(&counts, &self.l), figures: vec![perplexity(&counts)] });
        };
        let free = |value: u32| dont_care.get(value as usize).copied().unwrap_or(false);
        let sensitive: Vec<u64> = class.counts.iter().filter(|c| !free(c.0)).map(|c| c.1).collect();
        let others: Vec<u64> = class.counts.iter().filter(|c| free(c.0)).map(|c| c.1).collect();
        if sensitive.is_empty() {
            return Ok(Reading { holds: true, figures: vec![f64::INFINITY] });
        }
        let (fixed, lowered) = adjust(&sensitive, &others);
        let rest = &self.l - BigRational::from_integer(BigInt::from(lowered));
        let figure = perplexity(&fixed) + lowered.to_f64().unwrap_or(f64::INFINITY);
        Ok(Reading { holds: at_least(&fixed, &rest), figures: vec![figure] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::parse;
    use proptest::prelude::*;

    #[test]
    fn the_articles_adjusted_entropy() {
        let (fixed, lowered) = adjust(&[3, 4], &[11, 10, 3, 2]);
        assert_eq!((fixed.len(), lowered), (4, 2));
        assert!(((perplexity(&fixed) + 2.0).ln() - 1.7729711683903024).abs() < 1e-12);
    }

    #[test]
    fn uniform_classes_sit_on_their_bound() {
        for l in 1..40u64 {
            for times in [1u64, 2, 7, 1_000_000_007] {
                let counts = vec![times; l as usize];
                assert!(at_least(&counts, &crate::number::whole(l)));
                assert!(!at_least(&counts, &(crate::number::whole(l) + parse("1e-30").unwrap())));
            }
        }
    }

    proptest! {
        #[test]
        fn exact_powers_agree(counts in proptest::collection::vec(1u64..12, 1..6), l in 1u32..6, tenths in 0u32..10) {
            use num_bigint::BigUint;
            let total: u64 = counts.iter().sum();
            let l = BigRational::new(BigInt::from(l * 10 + tenths), BigInt::from(10));
            let power = |b: &BigUint, e: u64| b.pow(e as u32);
            let left = power(&BigUint::from(total), total) * power(l.denom().magnitude(), total);
            let right = counts.iter().fold(power(l.numer().magnitude(), total), |x, &n| x * power(&BigUint::from(n), n));
            prop_assert_eq!(at_least(&counts, &l), left >= right);
        }

        #[test]
        fn adjusting_reaches_the_greatest_entropy(
            sensitive in proptest::collection::vec(1u64..9, 1..4),
            dont_care in proptest::collection::vec(1u64..9, 1..4),
            shares in proptest::collection::vec(0.0f64..=1.0, 3),
        ) {
            let (fixed, lowered) = adjust(&sensitive, &dont_care);
            let best = (perplexity(&fixed) + lowered as f64).ln();
            let tried: Vec<f64> = sensitive.iter().map(|&c| c as f64)
                .chain(dont_care.iter().zip(&shares).map(|(&c, s)| c as f64 * s))
                .filter(|&x| x > 0.0).collect();
            let total: f64 = tried.iter().sum();
            let entropy: f64 = tried.iter().map(|x| x / total).map(|p| -p * p.ln()).sum();
            prop_assert!(entropy <= best + 1e-9);
        }
    }
}
