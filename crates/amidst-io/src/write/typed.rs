//! Decides which columns are written with a type, in formats that distinguish numbers, dates and booleans from text.
//!
//! A column has a type only if every written label reads back as the same text: neither the zeros of `007` nor the `.0`
//! of `3000.0` may be lost.

use amidst_core::table::{Column, ValueType};

use super::Job;
use crate::columnar::float64;

/// How the cells of a column are written, in formats that have types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Texts, including the empty one.
    Text,
    /// 64-bit integers; the empty text is null.
    Integer,
    /// Doubles; the empty text is null.
    Decimal,
    /// Dates; the empty text is null.
    Date,
    /// `true` and `false`.
    Boolean,
}

/// The kind of a column of `job`.
pub(crate) fn kind(job: &Job<'_>, column: &Column, used: &[bool]) -> Kind {
    let labels = || column.dictionary.iter().zip(used).filter(|(_, used)| **used).map(|(label, _)| label);
    let open = job.options.untyped.is_some_and(|untyped| untyped(&column.name));
    Kind::of(column.kind, open, labels)
}

impl Kind {
    /// How a column with these labels is written: by its `declared` type or, if its type is `open`, by the type of its
    /// labels.
    pub fn of<'a, L: Iterator<Item = &'a str>>(declared: ValueType, open: bool, labels: impl Fn() -> L) -> Kind {
        if labels().next().is_none() {
            return Kind::Text;
        }
        if labels().all(|label| matches!(label, "true" | "false")) {
            return Kind::Boolean;
        }
        if open {
            // The column has no declared type, so an empty cell is a text like any other and makes it a text column.
            let kinds =
                [(Kind::Integer, is_integer as fn(&str) -> bool), (Kind::Decimal, is_decimal), (Kind::Date, is_date)];
            return kinds.iter().find(|(_, accepts)| labels().all(accepts)).map_or(Kind::Text, |(kind, _)| *kind);
        }
        let filled = || labels().filter(|label| !label.is_empty());
        let all = |accepts: fn(&str) -> bool| filled().next().is_some() && filled().all(accepts);
        match declared {
            ValueType::Integer if all(is_integer) => Kind::Integer,
            ValueType::Decimal if all(is_decimal) => Kind::Decimal,
            ValueType::Date if all(is_date) => Kind::Date,
            _ => Kind::Text,
        }
    }
}

fn is_integer(label: &str) -> bool {
    label.parse::<i64>().is_ok_and(|n| n.to_string() == label)
}

fn is_decimal(label: &str) -> bool {
    label.parse::<f64>().is_ok_and(|x| x.is_finite() && float64(x) == label)
}

fn is_date(label: &str) -> bool {
    days(label).is_some()
}

/// The days from 1970-01-01 to a date written as year-month-day, with four, two and two digits.
pub(crate) fn days(label: &str) -> Option<i32> {
    let &[a, b, c, d, b'-', e, f, b'-', g, h] = label.as_bytes() else { return None };
    let number = |digits: &[u8]| -> Option<i32> {
        digits.iter().try_fold(0, |n, &digit| digit.is_ascii_digit().then(|| n * 10 + i32::from(digit - b'0')))
    };
    let (year, month, day) = (number(&[a, b, c, d])?, number(&[e, f])?, number(&[g, h])?);
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let length = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i32::from(leap),
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years begin in March, so that a leap day is the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(before + (month * 153 + 2) / 5 + day - 1 - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_a_type_would_change_stay_text() {
        assert!(is_integer("-12") && !is_integer("007") && !is_integer("+1") && !is_integer("-0"));
        for number in ["2.5", "-0.1", "3", "3000", "0.1234567890123456", "1e300", "0.00001"] {
            assert!(is_decimal(number), "{number}");
        }
        for text in
            ["00.5", "-0.0", "1.", ".5", "2.50", "3000.0", "1e3", "0.12345678901234567890", "inf", "NaN", "x", ""]
        {
            assert!(!is_decimal(text), "{text}");
        }
        for text in ["2021-02-29", "2021-2-3", "2021-13-01", "2021-04-31", "2021-00-10", "21-01-01", "2021-01-0x", ""] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn days_are_counted_from_1970() {
        let known = [("1970-01-01", 0), ("1969-12-31", -1), ("2000-02-29", 11_016), ("2000-03-01", 11_017)];
        for (label, expected) in known {
            assert_eq!(days(label), Some(expected), "{label}");
        }
        // Consecutive days, without a gap.
        let mut last = days("0000-01-01").unwrap() - 1;
        for year in 0..=2400 {
            for (month, day) in (1..=12).flat_map(|m| (1..=31).map(move |d| (m, d))) {
                if let Some(found) = days(&format!("{year:04}-{month:02}-{day:02}")) {
                    assert_eq!(found, last + 1, "{year}-{month}-{day}");
                    last = found;
                }
            }
        }
    }
}
