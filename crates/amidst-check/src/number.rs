//! Numbers as people write them in policies (`3`, `0.25`, `1/3`, `2e-3`), read without losing a digit.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Pow, ToPrimitive, Zero};
use serde_json::Value;

/// Longer numbers are refused: their powers would exhaust memory.
const LONGEST: usize = 400;

/// The exact value of a JSON number or of a string that holds a decimal or a fraction.
pub fn exact(value: &Value) -> Result<BigRational, String> {
    match value {
        Value::Number(n) => parse(&n.to_string()),
        Value::String(s) => parse(s),
        _ => Err("is not a number".into()),
    }
}

/// The exact value of a decimal or fraction in text.
pub fn parse(text: &str) -> Result<BigRational, String> {
    let text = text.trim();
    if text.len() > LONGEST {
        return Err("is a number of too many digits".into());
    }
    match text.split_once('/') {
        None => decimal(text),
        Some((above, below)) => {
            let below = decimal(below.trim())?;
            if below.is_zero() {
                return Err("divides by zero".into());
            }
            Ok(decimal(above.trim())? / below)
        }
    }
}

fn decimal(text: &str) -> Result<BigRational, String> {
    let wrong = || format!("is not a number: \"{text}\"");
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((m, e)) => (m, e.parse::<i32>().map_err(|_| wrong())?),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
        return Err(wrong());
    }
    let digits: BigInt = format!("{whole}{fraction}").parse().map_err(|_| wrong())?;
    let shift = i64::from(exponent) - fraction.len() as i64;
    if shift.unsigned_abs() > LONGEST as u64 {
        return Err("is a number of too many digits".into());
    }
    let power = BigRational::from_integer(Pow::pow(BigInt::from(10), shift.unsigned_abs() as u32));
    let size = BigRational::from_integer(digits) * if shift < 0 { BigRational::one() / power } else { power };
    Ok(if negative { -size } else { size })
}

/// The ratio of two counts.
pub fn ratio(above: u64, below: u64) -> BigRational {
    BigRational::new(BigInt::from(above), BigInt::from(below.max(1)))
}

/// The ratio of two large counts.
pub fn fraction(above: u128, below: u128) -> BigRational {
    BigRational::new(BigInt::from(above), BigInt::from(below.max(1)))
}

/// A count as an exact number.
pub fn whole(count: u64) -> BigRational {
    BigRational::from_integer(BigInt::from(count))
}

/// The nearest floating-point number, for display only; `None` where it would not be finite.
pub fn figure(value: &BigRational) -> Option<f64> {
    value.to_f64().filter(|x| x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_and_fractions_are_exact() {
        assert_eq!(parse("0.1").unwrap(), ratio(1, 10));
        assert_eq!(parse("9/61").unwrap(), ratio(9, 61));
        assert_eq!(parse("2.5e1").unwrap(), ratio(25, 1));
        assert_eq!(parse("-3e-2").unwrap(), -ratio(3, 100));
        assert_eq!(exact(&serde_json::json!(0.3)).unwrap(), ratio(3, 10));
        assert_eq!(exact(&serde_json::json!(12)).unwrap(), ratio(12, 1));
    }

    #[test]
    fn garbage_is_refused() {
        for text in ["", ".", "1/0", "x", "1e999999999", "0x10", "--1", "1/2/3", "NaN", "inf"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(exact(&serde_json::json!([1])).is_err());
    }
}
