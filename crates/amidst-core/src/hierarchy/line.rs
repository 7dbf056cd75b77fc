//! Numbers of a hierarchy as whole units on the number line, so that no boundary hangs on rounding.
//!
//! Every boundary a policy states is a multiple of 10^-scale. A value that has more digits is rounded down to that
//! grid, which never moves it across a boundary.

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
    /// Whether ranges are written as whole numbers, both ends included.
    pub whole: bool,
}

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
        Line { scale: boundaries.iter().map(|b| b.normalize().scale()).max().unwrap_or(0), whole: false }
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

    /// The values from `low` up to but not including `high`: `[20-29]` for whole numbers, `[20, 30[` for decimals, and
    /// the number itself where only one fits.
    pub fn between(self, low: i128, high: i128) -> String {
        match self.whole {
            true if high - low <= 1 => self.write(low),
            true => format!("[{}-{}]", self.write(low), self.write(high - 1)),
            false => format!("[{}, {}[", self.write(low), self.write(high)),
        }
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
            ("[0, 0.5[".into(), "<-0.25".into(), ">=1".into())
        );
        let whole = Line { scale: 0, whole: true };
        assert_eq!(
            [whole.between(20, 30), whole.between(20, 21), whole.between(-10, 0)],
            ["[20-29]", "20", "[-10--1]"]
        );
    }

    #[test]
    fn a_third_is_no_boundary() {
        assert!(boundary("origin", &Value::Text("1/3".into())).is_err());
        assert_eq!(boundary("origin", &Value::Text("1/8".into())).unwrap(), d("0.125"));
    }
}
