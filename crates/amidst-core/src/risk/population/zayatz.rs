//! Zayatz's estimate of population uniques.
//!
//! **Definition.** Let the sample's class sizes stand for the population's: a class of the population has i members
//! with the probability p_i of a sample class of that size. A class of i leaves exactly one member in a sample of n out
//! of N with the hypergeometric probability i·C(N−i, n−1)/C(N, n) =: h_i. By Bayes, a sample unique is a population
//! unique with probability p₁h₁/Σ p_i h_i; and a population unique is in the sample with probability n/N. So the
//! estimate is (sample uniques) · p₁h₁/(Σ p_i h_i) · N/n.
//!
//! **Source.** Zayatz 1991, "Estimation of the percent of unique population elements on a microdata file using the
//! sample", US Bureau of the Census.

use crate::class::Sizes;

/// The population's uniques.
pub(super) fn uniques(sizes: &Sizes, population: f64) -> Option<f64> {
    let sample = sizes.persons() as f64;
    let ones = super::classes_of_one(sizes) as f64;
    // h_i/h_1 = i · Π_{t=1}^{i−1} (N − n + 1 − t)/(N − t), carried on from one size to the next.
    let (mut product, mut at) = (1.0, 1u64);
    let mut all = 0.0;
    for &(size, count) in &sizes.counts {
        while at < size && product > 0.0 {
            product *= ((population - sample + 1.0 - at as f64) / (population - at as f64)).max(0.0);
            at += 1;
        }
        all += count as f64 * size as f64 * product;
    }
    if all > 0.0 { Some(ones * ones / all * population / sample) } else { Some(0.0) }
}
