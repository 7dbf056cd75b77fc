//! The sign of a sum of integer multiples of logarithms and a rational constant: Σ aᵢ·ln bᵢ + t.
//!
//! Every entropy and divergence of the models has this form, and a class is often exactly on the bound, where no finite
//! precision decides. Three steps, none of which computes a power:
//! 1. floating point, with a bound on its error;
//! 2. is the sum exactly zero? With t ≠ 0 never: e^(−t) is transcendental (Lindemann) while Π bᵢ^aᵢ is rational. With t
//!    = 0 it is zero iff Π bᵢ^aᵢ = 1; the bᵢ are split into pairwise coprime factors, whose exponents must then all
//!    cancel;
//! 3. not zero: intervals of doubled precision until zero is outside, which must happen.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// Σ aᵢ·ln bᵢ + t, to be compared with zero.
#[derive(Debug, Clone, Default)]
pub struct LogSum {
    terms: Vec<(BigInt, BigUint)>,
    constant: BigRational,
}

impl LogSum {
    /// The empty sum.
    pub fn new() -> LogSum {
        LogSum { terms: Vec::new(), constant: BigRational::zero() }
    }

    /// Adds `times`·ln(`of`). With `times` = 0 it adds nothing, as 0·log 0 = 0.
    pub fn add(&mut self, times: impl Into<BigInt>, of: impl Into<BigUint>) {
        let (times, of) = (times.into(), of.into());
        if !times.is_zero() && !of.is_one() && !of.is_zero() {
            self.terms.push((times, of));
        }
    }

    /// Adds `times`·ln(`of`) for a positive fraction.
    pub fn add_ratio(&mut self, times: &BigInt, of: &BigRational) {
        self.add(times.clone(), of.numer().magnitude().clone());
        self.add(-times.clone(), of.denom().magnitude().clone());
    }

    /// Adds a rational constant.
    pub fn add_constant(&mut self, constant: BigRational) {
        self.constant += constant;
    }

    /// The sum's sign.
    pub fn sign(&self) -> Ordering {
        if let Some(sign) = self.by_floats() {
            return sign;
        }
        if self.constant.is_zero() && self.product_is_one() {
            return Ordering::Equal;
        }
        let mut bits = 128;
        loop {
            if let Some(sign) = self.by_intervals(bits) {
                return sign;
            }
            bits *= 2;
        }
    }

    fn by_floats(&self) -> Option<Ordering> {
        let constant = self.constant.to_f64()?;
        let (mut sum, mut size) = (constant, constant.abs());
        for (times, of) in &self.terms {
            let term = times.to_f64()? * of.to_f64()?.ln();
            sum += term;
            size += term.abs();
        }
        // Each term carries a few units of rounding (two conversions, a logarithm, a product) and each addition one
        // more; 2⁻⁴⁸ is 32 units. A base near 1 does not occur: bases are integers from 2 up.
        let bound = size * (self.terms.len() as f64 + 8.0) * 2f64.powi(-48);
        if !bound.is_finite() || sum.abs() <= bound { None } else { sum.partial_cmp(&0.0) }
    }

    /// Whether Π bᵢ^aᵢ = 1, by writing every base as a product of pairwise coprime factors.
    fn product_is_one(&self) -> bool {
        let mut base: Vec<(BigUint, BigInt)> = Vec::new();
        let mut todo: Vec<(BigUint, BigInt)> = self.terms.iter().map(|(a, b)| (b.clone(), a.clone())).collect();
        while let Some((number, exponent)) = todo.pop() {
            if number.is_one() || exponent.is_zero() {
                continue;
            }
            let shared = base.iter().position(|(other, _)| !gcd(other, &number).is_one());
            match shared {
                None => base.push((number, exponent)),
                Some(at) => {
                    let (other, power) = base.swap_remove(at);
                    if other == number {
                        base.push((number, exponent + power));
                    } else {
                        // other = g·x, number = g·y: the factors get smaller, so this terminates.
                        let g = gcd(&other, &number);
                        todo.push((&other / &g, power.clone()));
                        todo.push((&number / &g, exponent.clone()));
                        todo.push((g, exponent + power));
                    }
                }
            }
        }
        base.iter().all(|(_, exponent)| exponent.is_zero())
    }

    fn by_intervals(&self, bits: u64) -> Option<Ordering> {
        let ln2 = Interval::ln2(bits);
        let scale = BigInt::one() << bits;
        let exact = &self.constant * BigRational::from_integer(scale);
        let mut sum = Interval { low: exact.floor().to_integer(), high: exact.ceil().to_integer() };
        for (times, of) in &self.terms {
            sum.add(&Interval::ln(of, bits, &ln2).times(times));
        }
        match (sum.low.sign(), sum.high.sign()) {
            (Sign::Plus, _) => Some(Ordering::Greater),
            (_, Sign::Minus) => Some(Ordering::Less),
            _ => None,
        }
    }
}

/// A real number between two fixed-point bounds.
struct Interval {
    low: BigInt,
    high: BigInt,
}

impl Interval {
    fn add(&mut self, other: &Interval) {
        self.low += &other.low;
        self.high += &other.high;
    }

    fn times(&self, factor: &BigInt) -> Interval {
        let (a, b) = (&self.low * factor, &self.high * factor);
        if factor.is_negative() { Interval { low: b, high: a } } else { Interval { low: a, high: b } }
    }

    fn ln2(bits: u64) -> Interval {
        atanh_twice(&BigInt::one(), &BigInt::from(3), bits)
    }

    /// ln of an integer ≥ 2: n = 2ᵏ·m with 1 ≤ m < 2, and ln m = 2·artanh((m − 1)/(m + 1)).
    fn ln(of: &BigUint, bits: u64, ln2: &Interval) -> Interval {
        let k = of.bits() - 1;
        let power = BigInt::one() << k;
        let n = BigInt::from(of.clone());
        let mut result = ln2.times(&BigInt::from(k));
        result.add(&atanh_twice(&(&n - &power), &(&n + &power), bits));
        result
    }
}

/// 2·artanh(above/below) for 0 ≤ above/below ≤ 1/3, as Σ 2·x^(2i+1)/(2i+1).
fn atanh_twice(above: &BigInt, below: &BigInt, bits: u64) -> Interval {
    if above.is_zero() {
        return Interval { low: BigInt::zero(), high: BigInt::zero() };
    }
    let mut power = (above << (bits + 1)) / below;
    let (square_above, square_below) = (above * above, below * below);
    let mut sum = BigInt::zero();
    let mut index = 1u32;
    while !power.is_zero() {
        sum += &power / BigInt::from(index);
        power = &power * &square_above / &square_below;
        index += 2;
    }
    // Every division rounds down by less than one unit; rounding of a power shrinks by 1/9 a step, so a term is short
    // of its value by less than 1 + 9/8 units and the tail left out is below 9/8. Three units a term cover it all.
    let missing = BigInt::from(3 * (u64::from(index) / 2 + 2));
    Interval { high: &sum + missing, low: sum }
}

fn gcd(a: &BigUint, b: &BigUint) -> BigUint {
    let (mut a, mut b) = (a.clone(), b.clone());
    while !b.is_zero() {
        let rest = &a % &b;
        a = b;
        b = rest;
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(terms: &[(i64, u64)]) -> LogSum {
        let mut s = LogSum::new();
        for &(a, b) in terms {
            s.add(a, b);
        }
        s
    }

    #[test]
    fn relations_between_logarithms_are_seen() {
        assert_eq!(sum(&[(1, 6), (-1, 2), (-1, 3)]).sign(), Ordering::Equal);
        assert_eq!(sum(&[(3, 4), (-2, 8)]).sign(), Ordering::Equal);
        assert_eq!(sum(&[(1_000_000_007, 36), (-2_000_000_014, 6)]).sign(), Ordering::Equal);
        assert_eq!(sum(&[(1, 7), (-1, 6)]).sign(), Ordering::Greater);
    }

    #[test]
    fn near_ties_need_more_than_floats() {
        // n·ln n against n·ln(n+1) − n·…: ln(10^12 + 1) − ln(10^12) is 10^-12, hidden behind large multiples.
        let big = 1_000_000_000_000u64;
        let mut s = sum(&[(1, big + 1), (-1, big)]);
        assert_eq!(s.sign(), Ordering::Greater);
        s.add(-1_000_000_000_000i64, 3u64);
        s.add(500_000_000_000i64, 9u64);
        assert!(s.by_floats().is_none());
        assert_eq!(s.sign(), Ordering::Greater);
    }

    #[test]
    fn constants_never_tie() {
        let mut s = sum(&[(1, 2)]);
        s.add_constant(-crate::number::parse("0.693147180559945309417232121458176568").unwrap());
        assert_eq!(s.sign(), Ordering::Greater);
        s.add_constant(-crate::number::parse("1e-36").unwrap());
        assert_eq!(s.sign(), Ordering::Less);
    }

    proptest! {
        #[test]
        fn intervals_agree_with_exact_powers(terms in proptest::collection::vec((-6i64..=6, 1u64..40), 1..6)) {
            let (mut above, mut below) = (BigUint::one(), BigUint::one());
            for &(a, b) in &terms {
                let p = BigUint::from(b).pow(a.unsigned_abs() as u32);
                if a > 0 { above *= p } else { below *= p }
            }
            let s = sum(&terms);
            prop_assert_eq!(s.sign(), above.cmp(&below));
            prop_assert_eq!(s.product_is_one(), above == below);
            if above != below {
                prop_assert_eq!(s.by_intervals(256), Some(above.cmp(&below)));
            }
        }
    }
}
