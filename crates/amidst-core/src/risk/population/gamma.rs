//! ln Γ and its derivative for positive arguments: small ones are lifted by recurrence to where Stirling's series
//! holds.

/// From here on the series below are exact to double precision.
const LARGE: f64 = 12.0;

/// ln Γ(x), x > 0.
pub(super) fn ln_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < LARGE {
        shift -= x.ln();
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * (1.0 / 1680.0 - r / 1188.0)))) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
}

/// ψ(x) = d ln Γ(x)/dx, x > 0.
pub(super) fn digamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < LARGE {
        shift -= 1.0 / x;
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = r
        * (1.0 / 12.0
            - r * (1.0 / 120.0 - r * (1.0 / 252.0 - r * (1.0 / 240.0 - r * (1.0 / 132.0 - r * 691.0 / 32760.0)))));
    shift + x.ln() - 0.5 / x - series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-13);
        assert!((ln_gamma(11.0) - 3_628_800f64.ln()).abs() < 1e-12);
        // −ψ(1) is Euler's constant; ψ(x + 1) − ψ(x) = 1/x.
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-13);
        for x in [0.01, 0.7, 3.3, 11.9, 12.0, 500.25] {
            assert!((digamma(x + 1.0) - digamma(x) - 1.0 / x).abs() < 1e-11 / x.min(1.0), "{x}");
            assert!((ln_gamma(x + 1.0) - ln_gamma(x) - x.ln()).abs() < 1e-11 * x.max(1.0), "{x}");
        }
    }
}
