//! Parameters as exact fractions: `0.1` means one tenth, `"1/3"` one third.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

/// An exact number, as a policy states it.
///
/// Fractions of numbers below 2^64, which are all that a policy or a table of ordinary size brings forth, are kept as
/// two integers; large ones, and those below zero, as integers of any length.
#[derive(Clone)]
pub struct Rational {
    /// Numerator and denominator, in lowest terms, when both are small and the value is not negative.
    small: Option<(u64, u64)>,
    /// The exact value: made on demand where there is a small one.
    value: OnceLock<Box<BigRational>>,
}

/// The text was neither a decimal nor a fraction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither a number nor a fraction such as 1/3")]
pub struct RationalError(pub String);

impl Rational {
    /// The fraction `numerator / denominator`; a zero denominator is read as one.
    pub fn new(numerator: i64, denominator: i64) -> Self {
        let denominator = if denominator == 0 { 1 } else { denominator };
        BigRational::new(numerator.into(), denominator.into()).into()
    }

    /// The fraction of two counts; a zero denominator is read as one.
    pub fn ratio(numerator: u64, denominator: u64) -> Self {
        let denominator = denominator.max(1);
        let divisor = numerator.gcd(&denominator);
        Rational { small: Some((numerator / divisor, denominator / divisor)), value: OnceLock::new() }
    }

    /// The fraction of two products of counts; a zero denominator is read as one.
    pub fn wide_ratio(numerator: u128, denominator: u128) -> Self {
        let denominator = denominator.max(1);
        if let (Ok(n), Ok(d)) = (u64::try_from(numerator), u64::try_from(denominator)) {
            return Rational::ratio(n, d);
        }
        BigRational::new(numerator.into(), denominator.into()).into()
    }

    /// The fraction `factor · numerator / denominator`; a zero denominator is read as one.
    pub fn scaled_ratio(factor: u64, numerator: u128, denominator: u128) -> Self {
        match u128::from(factor).checked_mul(numerator) {
            Some(product) => Rational::wide_ratio(product, denominator),
            None => BigRational::new(BigInt::from(factor) * numerator, denominator.max(1).into()).into(),
        }
    }

    /// Numbers from 0 up as multiples of 1/scale: the multiples, and the least scale at which all are whole. `None` for
    /// a number below 0, and where one of them or the scale does not fit.
    pub fn to_common_scale(numbers: &[Rational]) -> Option<(Vec<u128>, u128)> {
        let mut scale = BigInt::from(1);
        for number in numbers {
            scale = match number.small() {
                Some((_, 1)) => scale,
                _ => scale.lcm(number.value().denom()),
            };
            // Nothing larger is used, and many fractions could make it very large.
            scale.to_u128()?;
        }
        let parts = |number: &Rational| match number.to_u64() {
            Some(whole) => (BigInt::from(whole) * &scale).to_u128(),
            None => (number.value().numer() * (&scale / number.value().denom())).to_u128(),
        };
        Some((numbers.iter().map(parts).collect::<Option<_>>()?, scale.to_u128()?))
    }

    /// The exact value.
    pub fn value(&self) -> &BigRational {
        self.value.get_or_init(|| {
            let (numerator, denominator) = self.small.unwrap_or((0, 1));
            Box::new(BigRational::new_raw(numerator.into(), denominator.into()))
        })
    }

    /// Numerator and denominator, when both are small and the value is not negative.
    #[inline]
    pub fn small(&self) -> Option<(u64, u64)> {
        self.small
    }

    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        // Doubles hold integers up to 2^53 exactly, and divide with one rounding.
        match self.small {
            Some((n, d)) if n <= 1 << 53 && d <= 1 << 53 => n as f64 / d as f64,
            _ => self.value().to_f64().unwrap_or(f64::INFINITY),
        }
    }

    /// The value as a whole number, when it is one and not negative.
    pub fn to_u64(&self) -> Option<u64> {
        self.small.filter(|&(_, denominator)| denominator == 1).map(|(numerator, _)| numerator)
    }

    /// Whether the value is below zero.
    pub fn is_negative(&self) -> bool {
        self.small.is_none() && self.value().is_negative()
    }

    /// Whether the value is zero.
    pub fn is_zero(&self) -> bool {
        self.small.is_some_and(|(numerator, _)| numerator == 0)
    }

    /// The value divided by a whole number above 0.
    pub fn divided_by(&self, divisor: u64) -> Self {
        Rational::from(self.value() / BigRational::from_integer(divisor.max(1).into()))
    }

    /// Compares `count` with `self · factor`.
    #[inline]
    pub fn compare_count(&self, count: u64, factor: u64) -> Ordering {
        if let Some((numerator, denominator)) = self.small {
            let left = u128::from(count) * u128::from(denominator);
            let right = u128::from(numerator) * u128::from(factor);
            return left.cmp(&right);
        }
        (BigInt::from(count) * self.value().denom()).cmp(&(self.value().numer() * BigInt::from(factor)))
    }
}

impl Rational {
    /// Compares `numerator / denominator` with `self`; a zero denominator makes the fraction infinite.
    #[inline]
    pub fn compare_fraction(&self, numerator: u128, denominator: u128) -> Ordering {
        if denominator == 0 {
            return Ordering::Greater;
        }
        if let Some((n, d)) = self.small
            && let (Some(left), Some(right)) = (numerator.checked_mul(d.into()), denominator.checked_mul(n.into()))
        {
            return left.cmp(&right);
        }
        (BigInt::from(numerator) * self.value().denom()).cmp(&(self.value().numer() * BigInt::from(denominator)))
    }
}

impl From<BigRational> for Rational {
    fn from(value: BigRational) -> Self {
        let small = match (value.numer().to_u64(), value.denom().to_u64()) {
            (Some(n), Some(d)) => Some((n, d)),
            _ => None,
        };
        Rational { small, value: OnceLock::from(Box::new(value)) }
    }
}

impl From<u64> for Rational {
    fn from(n: u64) -> Self {
        Rational { small: Some((n, 1)), value: OnceLock::new() }
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.small, other.small) {
            (Some((a, b)), Some((c, d))) => (u128::from(a) * u128::from(d)).cmp(&(u128::from(c) * u128::from(b))),
            _ => self.value().cmp(other.value()),
        }
    }
}

// Lowest terms make equal values equal numbers, but the value made on demand is no part of what is compared.
impl PartialEq for Rational {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Rational {}

impl FromStr for Rational {
    type Err = RationalError;

    /// Reads `7`, `0.25`, `1e-3`, `1/3` or `0.5/3`, exactly.
    fn from_str(text: &str) -> Result<Self, RationalError> {
        let bad = || RationalError(text.to_string());
        match text.trim().split_once('/') {
            Some((numerator, denominator)) => {
                let numerator = decimal(numerator.trim()).ok_or_else(bad)?;
                let denominator = decimal(denominator.trim()).ok_or_else(bad)?;
                if denominator.is_zero() {
                    return Err(bad());
                }
                Ok((numerator / denominator).into())
            }
            None => decimal(text.trim()).map(Rational::from).ok_or_else(bad),
        }
    }
}

fn decimal(text: &str) -> Option<BigRational> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((m, e)) => (m, e.parse::<i32>().ok()?),
        None => (text, 0),
    };
    // Beyond this an exponent is a slip of the pen or an attempt to fill the memory.
    if exponent.abs() > 400 {
        return None;
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (sign, whole) = match whole.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, whole.strip_prefix('+').unwrap_or(whole)),
    };
    let digits: String = [whole, fraction].concat().replace('_', "");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mantissa = BigRational::from_integer(digits.parse::<BigInt>().ok()? * sign);
    let shift = exponent - i32::try_from(fraction.replace('_', "").len()).ok()?;
    let power = BigRational::from_integer(BigInt::from(10).pow(shift.unsigned_abs()));
    Some(if shift < 0 { mantissa / power } else { mantissa * power })
}

impl fmt::Display for Rational {
    /// A whole number or a short terminating decimal where there is one, else a fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value().is_integer() {
            return write!(f, "{}", self.value().numer());
        }
        let approximate = self.to_f64();
        let short = format!("{approximate}");
        match short.parse::<Rational>() {
            Ok(r) if r == *self => f.write_str(&short),
            _ => write!(f, "{}/{}", self.value().numer(), self.value().denom()),
        }
    }
}

impl fmt::Debug for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn r(text: &str) -> Rational {
        text.parse().unwrap()
    }

    #[test]
    fn decimals_and_fractions_are_exact() {
        assert_eq!(r("0.1"), Rational::new(1, 10));
        assert_eq!(r("9/61"), Rational::new(9, 61));
        assert_eq!(r("-1.5e-1"), Rational::new(-3, 20));
        assert_eq!(r("1e3"), Rational::new(1000, 1));
        for bad in ["", "x", "1/0", "1.2.3", "1e999", "nan", "inf", ".", "1/2/3"] {
            assert!(bad.parse::<Rational>().is_err(), "{bad}");
        }
    }

    #[test]
    fn counts_compare_without_rounding() {
        // 0.1 · 30 is 3 exactly, though not in doubles.
        assert_eq!(r("0.1").compare_count(3, 30), Ordering::Equal);
        assert_eq!(r("1/3").compare_count(333_333_333_333, 1_000_000_000_000), Ordering::Less);
        let long: Rational = "0.3333333333333333333333333333333333333".parse().unwrap();
        assert_eq!(long.compare_count(1, 3), Ordering::Greater);
        assert_eq!(r("1/3").compare_fraction(u128::MAX / 3, u128::MAX), Ordering::Equal);
        assert_eq!(r("1/3").compare_fraction(u128::MAX / 3 - 1, u128::MAX), Ordering::Less);
        assert_eq!(r("5").compare_fraction(1, 0), Ordering::Greater);
    }

    #[test]
    fn small_and_large_fractions_are_one_kind_of_number() {
        let counts = [0, 1, 2, 3, 7, 10, 1 << 53, (1 << 53) + 1, u64::MAX - 1, u64::MAX];
        let all: Vec<(Rational, BigRational)> = (counts.iter().flat_map(|&n| counts[1..].iter().map(move |&d| (n, d))))
            .map(|(n, d)| (Rational::ratio(n, d), BigRational::new(n.into(), d.into())))
            .chain(
                [3u128, u128::MAX]
                    .map(|n| (Rational::wide_ratio(n, 1 << 70), BigRational::new(n.into(), BigInt::from(1u128 << 70)))),
            )
            .chain([(Rational::new(-3, 7), BigRational::new((-3).into(), 7.into()))])
            .collect();
        for (a, exact) in &all {
            assert_eq!((a.value(), a.is_negative()), (exact, exact.is_negative()));
            assert_eq!((a.to_f64(), a.is_zero()), (exact.to_f64().unwrap(), exact.is_zero()));
            assert_eq!(a.to_u64(), exact.is_integer().then(|| exact.to_integer().to_u64()).flatten());
            for (b, other) in &all {
                assert_eq!(a.cmp(b), exact.cmp(other), "{a} {b}");
            }
        }
    }

    #[test]
    fn numbers_of_any_denominator_have_a_common_scale() {
        let scaled = |texts: &[&str]| Rational::to_common_scale(&texts.iter().map(|t| r(t)).collect::<Vec<_>>());
        assert_eq!(scaled(&["3", "0"]), Some((vec![3, 0], 1)));
        assert_eq!(scaled(&["0.5", "1/3", "2"]), Some((vec![3, 2, 12], 6)));
        assert_eq!(
            scaled(&["1523.8472938471233", "1e3"]),
            Some((vec![15238472938471233, 10u128.pow(16)], 10u128.pow(13)))
        );
        assert_eq!((scaled(&["-1"]), scaled(&["1e39"]), scaled(&["1e-39"])), (None, None, None));
        assert_eq!(Rational::scaled_ratio(3, u128::MAX, u128::MAX), r("3"));
        assert_eq!(Rational::scaled_ratio(2, 3, 12), r("0.5"));
    }

    #[test]
    fn numbers_print_as_written() {
        assert_eq!([r("0.1").to_string(), r("1/3").to_string(), r("5").to_string()], ["0.1", "1/3", "5"]);
    }
}
