//! Pitman's sampling formula, fitted to a sample.
//!
//! **Definition.** A sample of n people in u classes, μ_j of them of size j, has the likelihood
//! Π_{i=1}^{u−1}(θ + iα) / Π_{i=1}^{n−1}(θ + i) · Π_j (Π_{i=1}^{j−1}(i − α))^{μ_j}, with 0 < α < 1 and θ > −α. With the
//! parameters that maximize it, a population of N people is expected to hold
//! N · Γ(θ + 1)Γ(θ + α + N − 1)/(Γ(θ + α)Γ(θ + N)) uniques, which for large N is Γ(θ + 1)/Γ(θ + α) · N^α.
//!
//! **Source.** Pitman 1995; Hoshino 2001, "Applying Pitman's sampling formula to microdata disclosure risk assessment".
//!
//! **Departure.** Hoshino climbs with Newton's method from a moment estimate, which may leave the region. Here θ is
//! found by bisection for each α, and α by bisection on the slope of the likelihood along that curve. There is no
//! estimate when the slope is not positive for small α, which means that the sample prefers α ≤ 0, nor when the sample
//! has one class only or nothing but uniques.

use super::gamma::{digamma, ln_gamma};
use crate::class::Sizes;

const STEPS: usize = 100;

/// The population's uniques.
pub(super) fn uniques(sizes: &Sizes, population: f64) -> Option<f64> {
    let (theta, alpha) = fit(sizes)?;
    let ln = ln_gamma(theta + 1.0) - ln_gamma(theta + alpha) + ln_gamma(theta + alpha + population - 1.0)
        - ln_gamma(theta + population);
    Some(population * ln.exp())
}

/// (θ, α) of the greatest likelihood.
fn fit(sizes: &Sizes) -> Option<(f64, f64)> {
    let (people, classes) = (sizes.persons(), sizes.classes());
    if classes < 2 || classes == people {
        return None;
    }
    let slope = |alpha: f64| -> Option<f64> {
        let theta = best_theta(people as f64, classes as f64, alpha)?;
        Some(slope_in_alpha(sizes, theta, alpha))
    };
    let (mut low, mut high) = (1e-4, 1.0 - 1e-9);
    if slope(low)? <= 0.0 || slope(high)? >= 0.0 {
        return None;
    }
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        if slope(middle)? > 0.0 { low = middle } else { high = middle }
    }
    Some((best_theta(people as f64, classes as f64, low)?, low))
}

/// Σ_{i=1}^{u−1} 1/(θ + iα).
fn reciprocals(theta: f64, alpha: f64, classes: f64) -> f64 {
    (digamma(theta / alpha + classes) - digamma(theta / alpha + 1.0)) / alpha
}

/// The θ of the greatest likelihood for this α: where Σ 1/(θ + iα) over classes meets Σ 1/(θ + i) over people.
fn best_theta(people: f64, classes: f64, alpha: f64) -> Option<f64> {
    let slope = |theta: f64| reciprocals(theta, alpha, classes) - (digamma(theta + people) - digamma(theta + 1.0));
    // Near −α the first sum has no bound, far out the second is larger: there is a root between.
    let mut low = -alpha * (1.0 - 1e-9);
    let mut high = 1.0;
    while slope(high) > 0.0 {
        low = high;
        high *= 2.0;
        if high > 1e12 {
            return None;
        }
    }
    if slope(low) <= 0.0 {
        return None;
    }
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        if slope(middle) > 0.0 { low = middle } else { high = middle }
    }
    Some((low + high) / 2.0)
}

/// ∂ ln L/∂α = Σ_{i=1}^{u−1} i/(θ + iα) − Σ_j μ_j Σ_{i=1}^{j−1} 1/(i − α).
fn slope_in_alpha(sizes: &Sizes, theta: f64, alpha: f64) -> f64 {
    let classes = sizes.classes() as f64;
    let gain = (classes - 1.0 - theta * reciprocals(theta, alpha, classes)) / alpha;
    let base = digamma(1.0 - alpha);
    let cost: f64 = (sizes.counts.iter().filter(|&&(size, _)| size > 1))
        .map(|&(size, count)| count as f64 * (digamma(size as f64 - alpha) - base))
        .sum();
    gain - cost
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ln L, factor by factor.
    fn likelihood(sizes: &Sizes, theta: f64, alpha: f64) -> f64 {
        let classes: f64 = (1..sizes.classes()).map(|i| (theta + i as f64 * alpha).ln()).sum();
        let people: f64 = (1..sizes.persons()).map(|i| (theta + i as f64).ln()).sum();
        let within = |size: u64| (1..size).map(|i| (i as f64 - alpha).ln()).sum::<f64>();
        classes - people + sizes.counts.iter().map(|&(size, count)| count as f64 * within(size)).sum::<f64>()
    }

    #[test]
    fn no_other_parameters_are_likelier() {
        let sizes = Sizes::collect([vec![1; 40], vec![2; 12], vec![3; 5], vec![4, 7, 9, 20, 31]].concat());
        let (theta, alpha) = fit(&sizes).unwrap();
        let best = likelihood(&sizes, theta, alpha);
        for a in 1..100 {
            let a = f64::from(a) / 100.0;
            for t in 0..400 {
                let t = -a + 0.01 + f64::from(t) / 4.0;
                assert!(likelihood(&sizes, t, a) <= best + 1e-9, "θ={t} α={a} against θ={theta} α={alpha}");
            }
        }
    }
}
