//! Numbers of a hierarchy as whole units on the number line, so that no boundary hangs on rounding.
//!
//! Every boundary a policy states is a multiple of 10^-scale. A value that has more digits is rounded down to that
//! grid, which never moves it across a boundary.
//!
//! Ranges are written with both ends included, those of decimals with more digits than the boundaries have:
//! `[60.0-79.9]` holds every value that is between its ends when rounded down to one digit. How many digits that are
//! follows from the policy alone: if values decided, one that is left out of a release could be seen from the labels of
//! the others.

use num_traits::ToPrimitive;
use rust_decimal::Decimal;

use super::{HierarchyError, Recipe};
use crate::exact::Rational;
use crate::parameter::Value;
use crate::table::{Column, Dictionary, ValueType, number};

/// Numbers beyond this many units are refused, so that sums stay far from overflow.
const FARTHEST: i128 = 10_i128.pow(36);

/// The grid of a hierarchy's boundaries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// One unit is 10^-scale.
    scale: u32,
    /// Whether ranges are written as whole numbers.
    pub whole: bool,
    /// The digits after the point that ends of ranges of decimals are written with; more than `scale`.
    digits: u32,
}

/// The key that states the digits of ranges.
pub(super) const DIGITS: &str = "digits";

/// More digits than this say nothing to a reader.
const MOST_DIGITS: u32 = 12;

/// Reads a number that a recipe states for `key`; it must have a finite decimal form.
pub(super) fn boundary(key: &str, value: &Value) -> Result<Decimal, HierarchyError> {
    let wrong = |what: &str| HierarchyError::new(key, format!("`{key}` must hold {what}"));
    let n = value.number().ok_or_else(|| wrong("numbers"))?;
    decimal(&n).ok_or_else(|| wrong("numbers with a finite decimal form of at most 28 digits"))
}

fn decimal(n: &Rational) -> Option<Decimal> {
    let (mut numerator, denominator) = (n.value().numer().clone(), n.value().denom());
    for scale in 0..=Decimal::MAX_SCALE {
        if (&numerator % denominator).to_i128() == Some(0) {
            return Decimal::try_from_i128_with_scale((numerator / denominator).to_i128()?, scale).ok();
        }
        numerator *= 10;
    }
    None
}

impl Line {
    /// The coarsest grid that holds all of `boundaries`.
    pub fn through(boundaries: &[Decimal]) -> Line {
        let scale = boundaries.iter().map(|b| b.normalize().scale()).max().unwrap_or(0);
        Line { scale, whole: false, digits: scale + 1 }
    }

    /// The same, with as many digits in ranges of decimals as the recipe states.
    pub fn written_as(self, recipe: &Recipe<'_>) -> Result<Line, HierarchyError> {
        let Some(stated) = recipe.get(DIGITS) else { return Ok(self) };
        let least = self.scale + 1;
        let digits = stated.number().and_then(|n| n.to_u64()).and_then(|n| u32::try_from(n).ok());
        let fits = digits.filter(|n| (least..=MOST_DIGITS.max(least)).contains(n));
        let message = format!(
            "`{DIGITS}` must be a whole number from {least}, one more than the boundaries have, to {}",
            MOST_DIGITS.max(least)
        );
        Ok(Line { digits: fits.ok_or_else(|| HierarchyError::new(DIGITS, message))?, ..self })
    }

    /// The units of a boundary of this grid.
    pub fn units(self, key: &str, boundary: Decimal) -> Result<i128, HierarchyError> {
        self.floor(boundary).ok_or_else(|| {
            HierarchyError::new(key, format!("`{key}` mixes numbers too large and too small to compare exactly"))
        })
    }

    /// The units of a value, rounded down.
    fn floor(self, value: Decimal) -> Option<i128> {
        let units = match self.scale.checked_sub(value.scale()) {
            Some(more) => value.mantissa().checked_mul(10_i128.checked_pow(more)?)?,
            None => value.mantissa().div_euclid(10_i128.checked_pow(value.scale() - self.scale)?),
        };
        (units.abs() <= FARTHEST).then_some(units)
    }

    /// The numbers of `column` in units, as leaves; decides how ranges are written. Ranges are whole when the grid and
    /// the values are, unless the policy says that the column is decimal.
    pub fn place(
        &mut self,
        recipe: &Recipe<'_>,
        key: &str,
        column: &Column,
    ) -> Result<(Dictionary, Vec<i128>), HierarchyError> {
        let read = |value: &str| {
            let n = number(value)?;
            Some((self.floor(n)?, n.is_integer()))
        };
        let (leaves, placed) = recipe.understood(key, column, "numbers", read)?;
        self.whole = self.scale == 0 && column.kind != ValueType::Decimal && placed.iter().all(|(_, whole)| *whole);
        Ok((leaves, placed.into_iter().map(|(units, _)| units).collect()))
    }

    /// The values from `low` up to but not including `high`: `[20-29]` for whole numbers, `[20.0-29.9]` for decimals,
    /// and the number itself where only one fits.
    pub fn between(self, low: i128, high: i128) -> String {
        match self.whole {
            true if high - low <= 1 => self.write(low),
            true => format!("[{}-{}]", self.write(low), self.write(high - 1)),
            false => format!("[{}-{}]", self.end(low, false), self.end(high, true)),
        }
    }

    /// An end of a range of decimals, or the last number with this number of digits before it. Digits that `units` lack
    /// are zeros before it and nines after it, so nothing is multiplied that could overflow.
    fn end(self, units: i128, before: bool) -> String {
        // What comes before `units` is one unit less, followed by nines; below zero the digits count downwards.
        let (units, filler) = match (before, units > 0) {
            (false, _) => (units, '0'),
            (true, true) => (units - 1, '9'),
            (true, false) => (units, '0'),
        };
        let more = (self.digits - self.scale) as usize;
        let mut digits = format!("{:0>1$}", units.unsigned_abs(), self.scale as usize + 1);
        digits.extend(std::iter::repeat_n(filler, more));
        if before && filler == '0' {
            // −20 with one digit more: the last number before it is −20.1.
            digits.pop();
            digits.push('1');
        }
        let (integer, fraction) = digits.split_at(digits.len() - self.digits as usize);
        let sign = if units < 0 || before && filler == '0' { "-" } else { "" };
        format!("{sign}{integer}.{fraction}")
    }

    /// The values under `high`: `<18`.
    pub fn below(self, high: i128) -> String {
        format!("<{}", self.write(high))
    }

    /// The values from `low` on: `>=65`.
    pub fn from(self, low: i128) -> String {
        format!(">={}", self.write(low))
    }

    /// The number that `units` stand for, in decimal without needless zeros.
    pub fn write(self, units: i128) -> String {
        if self.scale == 0 {
            return units.to_string();
        }
        let digits = format!("{:0>1$}", units.unsigned_abs(), self.scale as usize + 1);
        let (integer, fraction) = digits.split_at(digits.len() - self.scale as usize);
        let sign = if units < 0 { "-" } else { "" };
        match fraction.trim_end_matches('0') {
            "" => format!("{sign}{integer}"),
            fraction => format!("{sign}{integer}.{fraction}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal {
        number(text).unwrap()
    }

    #[test]
    fn values_between_grid_points_are_rounded_down() {
        let line = Line::through(&[d("0.5"), d("2.50")]);
        assert_eq!(line.floor(d("1.99")), Some(19));
        assert_eq!(line.floor(d("-0.01")), Some(-1));
        assert_eq!(line.floor(d("7")), Some(70));
        assert_eq!(Line::through(&[d("1e-20")]).floor(d("1e20")), None);
    }

    #[test]
    fn numbers_are_written_shortly() {
        let line = Line::through(&[d("0.25")]);
        assert_eq!([line.write(-5), line.write(150), line.write(0)], ["-0.05", "1.5", "0"]);
        assert_eq!(
            (line.between(0, 50), line.below(-25), line.from(100)),
            ("[0.000-0.499]".into(), "<-0.25".into(), ">=1".into())
        );
        let tens = Line::through(&[d("10")]);
        assert_eq!(
            [tens.between(20, 30), tens.between(-10, 0), tens.between(-20, -10), tens.between(-10, 10)],
            ["[20.0-29.9]", "[-10.0--0.1]", "[-20.0--10.1]", "[-10.0-9.9]"]
        );
        let whole = Line { scale: 0, whole: true, digits: 1 };
        assert_eq!(
            [whole.between(20, 30), whole.between(20, 21), whole.between(-10, 0)],
            ["[20-29]", "20", "[-10--1]"]
        );
    }

    #[test]
    fn every_value_is_in_the_range_of_its_interval_and_in_no_other() {
        let mut random = crate::random::Random::new(5);
        for _ in 0..2_000 {
            let scale = random.below(4) as u32;
            let width = 1 + random.below(30) as i128;
            let line = Line { scale, whole: false, digits: scale + 1 + random.below(3) as u32 };
            // Of as many digits as the ends have, and around zero as well.
            let value = Decimal::new(random.below(40_000) as i64 - 20_000, line.digits);
            let place = line.floor(value).unwrap();
            let low = place - place.rem_euclid(width);
            let inside = |low: i128| {
                let label = line.between(low, low + width);
                let inner = label.trim_start_matches('[').trim_end_matches(']');
                let at = inner[1..].find('-').unwrap() + 1;
                (d(&inner[..at])..=d(&inner[at + 1..])).contains(&value)
            };
            let found = [low - width, low, low + width].map(inside);
            assert_eq!(found, [false, true, false], "{value} at {low} of {width}, {line:?}");
        }
    }

    #[test]
    fn a_third_is_no_boundary() {
        assert!(boundary("origin", &Value::Text("1/3".into())).is_err());
        assert_eq!(boundary("origin", &Value::Text("1/8".into())).unwrap(), d("0.125"));
    }
}
