//! The sign of a sum of logarithms, Σ cᵢ·ln mᵢ + r, decided exactly.
//!
//! Entropy, divergence and disclosure tests all come down to such a sum with whole cᵢ and mᵢ ≥ 1 and a rational r.
//!
//! - When r = 0 the sum is ln Π mᵢ^cᵢ, which is zero exactly when the product is one. No power is ever computed: the mᵢ
//!   are refined, by greatest common divisors alone, into pairwise coprime numbers; the product is one exactly when
//!   each of those has exponent zero. This works for counts of any size.
//! - When r ≠ 0 the sum is never zero: e to a rational power other than 0 is irrational (Lambert), so ln of a rational
//!   product cannot equal −r.
//! - A sum that is not zero has a sign that interval arithmetic finds at some finite precision; the precision doubles
//!   until it does.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// A sum of logarithms of whole numbers with whole coefficients, plus a rational number.
#[derive(Debug, Clone)]
pub struct LogSum {
    terms: Vec<(BigInt, BigUint)>,
    constant: BigRational,
}

impl LogSum {
    /// The sum that is just `constant`.
    pub fn new(constant: BigRational) -> Self {
        LogSum { terms: Vec::new(), constant }
    }

    /// Adds `coefficient · ln argument`; an argument of zero stands for 0·ln 0 = 0 and adds nothing.
    pub fn add(&mut self, coefficient: impl Into<BigInt>, argument: impl Into<BigUint>) {
        let (coefficient, argument) = (coefficient.into(), argument.into());
        if !coefficient.is_zero() && argument > BigUint::one() {
            self.terms.push((coefficient, argument));
        }
    }

    /// How the sum compares with zero.
    pub fn sign(mut self) -> Ordering {
        self.gather();
        let mut precision = 128;
        if let Some(sign) = self.sign_at(precision) {
            return sign;
        }
        if self.constant.is_zero() && self.product_is_one() {
            return Ordering::Equal;
        }
        loop {
            precision *= 2;
            if let Some(sign) = self.sign_at(precision) {
                return sign;
            }
        }
    }

    /// Adds up the coefficients of equal arguments.
    fn gather(&mut self) {
        self.terms.sort_unstable_by(|a, b| a.1.cmp(&b.1));
        let mut gathered: Vec<(BigInt, BigUint)> = Vec::with_capacity(self.terms.len());
        for (coefficient, argument) in self.terms.drain(..) {
            match gathered.last_mut() {
                Some(last) if last.1 == argument => last.0 += coefficient,
                _ => gathered.push((coefficient, argument)),
            }
        }
        gathered.retain(|t| !t.0.is_zero());
        self.terms = gathered;
    }

    /// The sign, when intervals of `precision` binary places are narrow enough to tell.
    fn sign_at(&self, precision: u64) -> Option<Ordering> {
        if self.terms.is_empty() {
            return Some(self.constant.cmp(&BigRational::zero()));
        }
        let ln_2 = twice_atanh(&BigUint::one(), &BigUint::from(3u8), precision);
        let mut sum = (self.constant.numer() << precision) / self.constant.denom();
        let mut error = BigInt::from(2);
        for (coefficient, argument) in &self.terms {
            let (value, distance) = ln(argument, &ln_2, precision);
            sum += coefficient * BigInt::from(value);
            error += coefficient.abs() * BigInt::from(distance);
        }
        if sum > error {
            Some(Ordering::Greater)
        } else if -&sum > error {
            Some(Ordering::Less)
        } else {
            None
        }
    }

    /// Whether Π mᵢ^cᵢ = 1, by refining the mᵢ into pairwise coprime numbers.
    fn product_is_one(&self) -> bool {
        let mut base: Vec<(BigUint, BigInt)> = Vec::new();
        let mut open: Vec<(BigUint, BigInt)> = self.terms.iter().map(|(c, m)| (m.clone(), c.clone())).collect();
        'next: while let Some((m, c)) = open.pop() {
            if m.is_one() || c.is_zero() {
                continue;
            }
            for i in 0..base.len() {
                let common = gcd(m.clone(), base[i].0.clone());
                if !common.is_one() {
                    let (b, e) = base.swap_remove(i);
                    // m^c · b^e = (m/g)^c · (b/g)^e · g^(c+e), and the three are smaller together than the two were.
                    open.push((&m / &common, c.clone()));
                    open.push((&b / &common, e.clone()));
                    open.push((common, c + e));
                    continue 'next;
                }
            }
            base.push((m, c));
        }
        base.is_empty()
    }
}

fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while !b.is_zero() {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// 2^precision · 2·atanh(numerator / denominator), for a fraction of at most one third, and how far off it may be.
///
/// z and z² are cut to whole units, so each power of z is off by at most 2 units, each term by 3; terms end when they
/// fall under one unit, and each is less than a ninth of the one before it.
fn twice_atanh(numerator: &BigUint, denominator: &BigUint, precision: u64) -> (BigUint, u64) {
    let z = (numerator << precision) / denominator;
    let square = (&z * &z) >> precision;
    let (mut power, mut sum, mut terms) = (z, BigUint::zero(), 0u64);
    while !power.is_zero() {
        sum += &power / (2 * terms + 1);
        power = (&power * &square) >> precision;
        terms += 1;
    }
    (sum << 1, 6 * terms + 4)
}

/// 2^precision · ln m for m ≥ 1, and how far off it may be.
fn ln(m: &BigUint, ln_2: &(BigUint, u64), precision: u64) -> (BigUint, u64) {
    // m = 2^k · x with 1 ≤ x < 2, and ln x = 2·atanh((x − 1)/(x + 1)).
    let k = m.bits() - 1;
    let power = BigUint::one() << k;
    let (value, error) = twice_atanh(&(m - &power), &(m + &power), precision);
    (value + &ln_2.0 * k, error + ln_2.1 * k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(terms: &[(i64, u64)], constant: BigRational) -> LogSum {
        let mut sum = LogSum::new(constant);
        terms.iter().for_each(|&(c, m)| sum.add(c, m));
        sum
    }

    #[test]
    fn ties_of_any_size_are_found() {
        let big = 1_000_000_000_000i64;
        // 6^a = 2^a · 3^a, 12^b · 18^b = 6^3b, at exponents no power could reach.
        assert_eq!(sum(&[(big, 6), (-big, 2), (-big, 3)], Zero::zero()).sign(), Ordering::Equal);
        assert_eq!(sum(&[(big, 12), (big, 18), (-3 * big, 6)], Zero::zero()).sign(), Ordering::Equal);
        assert_eq!(sum(&[(big, 6), (-big, 2), (1 - big, 3)], Zero::zero()).sign(), Ordering::Greater);
        assert_eq!(sum(&[(big, 6), (-big, 2), (-big, 3), (-1, 5)], Zero::zero()).sign(), Ordering::Less);
    }

    #[test]
    fn near_ties_are_told_apart() {
        let n = u64::MAX;
        assert_eq!(sum(&[(1, n), (-1, n - 1)], Zero::zero()).sign(), Ordering::Greater);
        // ln 2 against its own first 60 digits: the digits are cut, so ln 2 is larger.
        let digits: BigInt = "693147180559945309417232121458176568075500134360255254120680".parse().unwrap();
        let cut = BigRational::new(digits, BigInt::from(10).pow(60));
        assert_eq!(sum(&[(1, 2)], -cut).sign(), Ordering::Greater);
    }

    proptest! {
        #[test]
        fn signs_agree_with_powers(terms in prop::collection::vec((-6i64..=6, 1u64..=40), 0..6)) {
            let (mut left, mut right) = (BigUint::one(), BigUint::one());
            for &(c, m) in &terms {
                let power = BigUint::from(m).pow(c.unsigned_abs() as u32);
                if c > 0 { left *= power } else { right *= power }
            }
            prop_assert_eq!(sum(&terms, Zero::zero()).sign(), left.cmp(&right));
        }

        #[test]
        fn intervals_contain_the_logarithm(m in 1u64..u64::MAX) {
            let ln_2 = twice_atanh(&BigUint::one(), &BigUint::from(3u8), 52);
            let (value, error) = ln(&m.into(), &ln_2, 52);
            let value = u64::try_from(value).unwrap() as f64 / 2f64.powi(52);
            prop_assert!((value - (m as f64).ln()).abs() <= error as f64 / 2f64.powi(52) + 1e-13);
        }
    }
}
