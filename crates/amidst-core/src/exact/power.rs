//! The sign of Σ aⱼ·j^(−β) over j = 1, 2, …, with rational aⱼ and β, decided exactly.
//!
//! The weights of the (l, α) family with sensitivity β are such sums. For a whole β they are rational; for β = p/q the
//! powers are irrational, and a class may still sit exactly on the bound: 4^(−1/2) is 1/2, and 8^(−1/2) is half of
//! 2^(−1/2).
//!
//! - Each j^(−p/q) is a rational times the q-th root of a whole number without a q-th power in it. Such roots of
//!   different numbers are linearly independent over the rationals (Besicovitch 1940), so the sum is zero exactly when,
//!   root by root, the rationals add up to zero.
//! - A sum that is not zero has a sign that whole q-th roots show at some finite precision; it doubles until they do.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::Rational;

/// The largest β accepted: beyond it the weights are 1 but for the first, to any precision worth having.
pub const LARGEST_EXPONENT: u64 = 64;

/// The largest denominator of β accepted: roots of a higher degree take more digits than a policy can mean.
pub const LARGEST_DEGREE: u64 = 1000;

/// The powers 1^(−β), 2^(−β), ….
#[derive(Debug, Clone)]
pub struct Powers {
    p: u32,
    q: u32,
}

impl Powers {
    /// The powers for β > 0; none where it, or its denominator, is too large.
    pub fn new(beta: &Rational) -> Option<Self> {
        let beta = beta.value();
        let (p, q) = (beta.numer().to_u64()?, beta.denom().to_u64()?);
        let fits = p > 0 && q <= LARGEST_DEGREE && p <= LARGEST_EXPONENT * q;
        fits.then_some(Powers { p: p as u32, q: q as u32 })
    }

    /// j^(−β), to double precision.
    pub fn near(&self, j: u64) -> f64 {
        (j as f64).powf(-f64::from(self.p) / f64::from(self.q))
    }

    /// How Σ coefficients[j − 1] · j^(−β) compares with zero.
    pub fn sign(&self, coefficients: &[BigRational]) -> Ordering {
        if self.vanishes(coefficients) {
            return Ordering::Equal;
        }
        // A common denominator, which changes no sign.
        let common = coefficients.iter().fold(BigInt::one(), |all, c| num_integer::lcm(all, c.denom().clone()));
        let whole: Vec<BigInt> = coefficients.iter().map(|c| c.numer() * (&common / c.denom())).collect();
        let mut bits = 128;
        loop {
            if let Some(sign) = self.sign_at(&whole, bits) {
                return sign;
            }
            bits *= 2;
        }
    }

    /// The sign, when powers to this number of binary places tell it.
    fn sign_at(&self, coefficients: &[BigInt], bits: u32) -> Option<Ordering> {
        let (mut low, mut high) = (BigInt::zero(), BigInt::zero());
        for (j, coefficient) in (1u64..).zip(coefficients).filter(|c| !c.1.is_zero()) {
            let power = BigInt::from(self.rounded_down(j, bits));
            // 1 is itself; every other power lies within one unit above.
            let above = if j == 1 { power.clone() } else { &power + 1 };
            let (least, most) = if coefficient.is_negative() { (&above, &power) } else { (&power, &above) };
            low += coefficient * least;
            high += coefficient * most;
        }
        if low.is_positive() {
            Some(Ordering::Greater)
        } else if high.is_negative() {
            Some(Ordering::Less)
        } else {
            None
        }
    }

    /// ⌊2^bits · j^(−p/q)⌋, as the q-th root of 2^(bits·q) / j^p.
    fn rounded_down(&self, j: u64, bits: u32) -> BigUint {
        if j == 1 {
            return BigUint::one() << bits;
        }
        let quotient = (BigUint::one() << (u64::from(bits) * u64::from(self.q))) / BigUint::from(j).pow(self.p);
        quotient.nth_root(self.q)
    }

    /// Whether the sum is zero.
    fn vanishes(&self, coefficients: &[BigRational]) -> bool {
        let mut by_root: BTreeMap<Vec<(u64, u32)>, BigRational> = BTreeMap::new();
        for (j, coefficient) in (1u64..).zip(coefficients) {
            let (mut root, mut factor) = (Vec::new(), coefficient.clone());
            for (prime, exponent) in factors(j) {
                // prime^(−e·p/q) = prime^(−⌈e·p/q⌉) · prime^(rest/q)
                let exact = u64::from(exponent) * u64::from(self.p);
                let whole = exact.div_ceil(u64::from(self.q));
                let rest = (whole * u64::from(self.q) - exact) as u32;
                factor /= BigRational::from_integer(BigInt::from(prime).pow(whole as u32));
                if rest > 0 {
                    root.push((prime, rest));
                }
            }
            *by_root.entry(root).or_insert_with(BigRational::zero) += factor;
        }
        by_root.values().all(BigRational::is_zero)
    }
}

/// The prime factors of a small number, with their exponents.
fn factors(mut n: u64) -> Vec<(u64, u32)> {
    let mut factors = Vec::new();
    let mut prime = 2;
    while n > 1 {
        if prime * prime > n {
            prime = n;
        }
        let mut exponent = 0;
        while n.is_multiple_of(prime) {
            n /= prime;
            exponent += 1;
        }
        if exponent > 0 {
            factors.push((prime, exponent));
        }
        prime += 1;
    }
    factors
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn powers(beta: &str) -> Powers {
        Powers::new(&beta.parse().unwrap()).unwrap()
    }

    fn sign(beta: &str, coefficients: &[&str]) -> Ordering {
        let coefficients: Vec<BigRational> =
            coefficients.iter().map(|c| c.parse::<Rational>().unwrap().value().clone()).collect();
        powers(beta).sign(&coefficients)
    }

    #[test]
    fn relations_between_roots_are_seen() {
        // 4^(−1/2) = 1/2, 8^(−1/2) = 2^(−1/2)/2, 4^(−3/2) = 1/8.
        assert_eq!(sign("1/2", &["1", "0", "0", "-2"]), Ordering::Equal);
        assert_eq!(sign("1/2", &["0", "1", "0", "0", "0", "0", "0", "-2"]), Ordering::Equal);
        assert_eq!(sign("3/2", &["1", "0", "0", "-8"]), Ordering::Equal);
        assert_eq!(
            sign("3/2", &["1", "0", "0", "-8.000000000000000000000000000000000000000000000001"]),
            Ordering::Less
        );
        // √2 = 1.41421356237309504880168872420969807856967187537694…
        assert_eq!(sign("1/2", &["1", "-1.41421356237309504880168872420969807856967187537694"]), Ordering::Greater);
        assert_eq!(sign("1/2", &["1", "-1.41421356237309504880168872420969807856967187537695"]), Ordering::Less);
        assert!(Powers::new(&"65".parse().unwrap()).is_none() && Powers::new(&"1.0001".parse().unwrap()).is_none());
    }

    proptest! {
        /// Whole exponents have rational powers, which fractions decide.
        #[test]
        fn whole_exponents_agree_with_fractions(beta in 1u32..5, coefficients in prop::collection::vec(-9i64..9, 1..9)) {
            let coefficients: Vec<BigRational> = coefficients.iter().map(|&c| BigRational::from_integer(c.into())).collect();
            let exact = (1u64..).zip(&coefficients).fold(BigRational::zero(), |sum, (j, c)| {
                sum + c / BigRational::from_integer(BigInt::from(j).pow(beta))
            });
            let powers = Powers { p: beta, q: 1 };
            prop_assert_eq!(powers.sign(&coefficients), exact.cmp(&BigRational::zero()));
            prop_assert_eq!(Powers { p: 3 * beta, q: 3 }.sign(&coefficients), exact.cmp(&BigRational::zero()));
        }
    }
}
