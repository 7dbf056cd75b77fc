//! Converts numbers and dates from their stated form: to a decimal point, and to year-month-day.
//!
//! Columns are judged as a whole, so that codes with a comma are not taken for numbers: a column is converted if at
//! least half of its values with a digit are in the stated form (for numbers, at least one of them with a comma). Other
//! values stay unchanged and are reported where the column's type is checked.

use amidst_core::table::{Codes, Column, Dictionary, Table};

use crate::conventions::Conventions;

impl Conventions {
    /// Converts the columns of `table` to which the decimal comma and the date format apply.
    pub fn convert(&self, table: &mut Table) {
        for column in &mut table.columns {
            if self.decimal_comma && is_of(column, |v| with_point(v).is_some()) && has_comma(column) {
                change(column, with_point);
            }
            if let Some(format) = &self.date_format
                && is_of(column, |v| format.iso(v).is_some())
            {
                change(column, |v| format.iso(v));
            }
        }
    }
}

fn has_digit(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_digit())
}

fn has_comma(column: &Column) -> bool {
    column.dictionary.iter().any(|v| v.contains(',') && with_point(v).is_some())
}

/// Whether at least half of the values with a digit, and at least one, fit.
fn is_of(column: &Column, fits: impl Fn(&str) -> bool) -> bool {
    let (mut all, mut fitting) = (0usize, 0usize);
    for value in column.dictionary.iter().filter(|v| has_digit(v)) {
        all += 1;
        fitting += usize::from(fits(value));
    }
    fitting > 0 && fitting * 2 >= all
}

/// Replaces values by their new texts; values with equal texts become one.
fn change(column: &mut Column, new: impl Fn(&str) -> Option<String>) {
    let mut dictionary = Dictionary::default();
    let map: Vec<u32> = (column.dictionary.iter())
        .map(|value| match new(value) {
            Some(text) => dictionary.intern(&text),
            None => dictionary.intern(value),
        })
        .collect();
    if dictionary.len() < column.dictionary.len() {
        let mut codes = Codes::for_distinct(dictionary.len(), 0);
        codes.extend_mapped(&column.codes, &map, dictionary.len());
        column.codes = codes;
    }
    column.dictionary = dictionary;
}

/// A number with a decimal comma, written with a point and without thousands separators (points, blanks or
/// apostrophes); `None` for other texts. Digits stay unchanged.
pub fn with_point(value: &str) -> Option<String> {
    let value = value.trim();
    let (sign, digits) = match value.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => ("-", rest),
        None => ("", value.strip_prefix('+').unwrap_or(value)),
    };
    let (whole, decimals) = match digits.split_once(',') {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (digits, None),
    };
    let plain = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if decimals.is_some_and(|d| !plain(d)) {
        return None;
    }
    let mark = whole.chars().find(|c| !c.is_ascii_digit());
    let whole = match mark {
        None if whole.is_empty() && decimals.is_some() => "0".to_string(),
        None => plain(whole).then(|| whole.to_string())?,
        Some(mark) if matches!(mark, '.' | ' ' | '\u{a0}' | '\u{202f}' | '\'' | '’') => {
            let groups: Vec<&str> = whole.split(mark).collect();
            let (first, rest) = groups.split_first()?;
            let even = plain(first) && first.len() <= 3 && rest.iter().all(|g| plain(g) && g.len() == 3);
            even.then(|| groups.concat())?
        }
        Some(_) => return None,
    };
    Some(match decimals {
        Some(decimals) => format!("{sign}{whole}.{decimals}"),
        None => format!("{sign}{whole}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conventions::DateFormat;

    fn converted(conventions: &Conventions, values: &[&str]) -> Vec<String> {
        let mut table = Table { columns: vec![Column::from_values("x", values.iter().copied())], rows: values.len() };
        conventions.convert(&mut table);
        (0..values.len()).map(|row| table.columns[0].value(row).to_string()).collect()
    }

    #[test]
    fn numbers_with_commas_get_points() {
        for (written, read) in [
            ("1,5", "1.5"),
            ("-12,50", "-12.50"),
            ("1.234,5", "1234.5"),
            ("1 234 567,0", "1234567.0"),
            ("1.234", "1234"),
            ("7", "7"),
            (",5", "0.5"),
            ("\u{2212}3,0", "-3.0"),
            ("12'345,6", "12345.6"),
        ] {
            assert_eq!(with_point(written).as_deref(), Some(read), "{written}");
        }
        for other in ["", ",", "1,", "1,2,3", "1.5", "12.34,5", "1.2345,6", "a", "1,5 kg", "1,5e3", "..", "1..234,5"] {
            assert_eq!(with_point(other), None, "{other}");
        }
    }

    #[test]
    fn columns_are_converted_as_a_whole() {
        let comma = Conventions { decimal_comma: true, ..Conventions::default() };
        assert_eq!(converted(&comma, &["1,5", "2", "?", "1.000", "x1"]), ["1.5", "2", "?", "1000", "x1"]);
        // None of them has a comma: the points may be decimal points.
        assert_eq!(converted(&comma, &["1.234", "2"]), ["1.234", "2"]);
        assert_eq!(converted(&comma, &["1,2,3", "2,3,4", "1,2"]), ["1,2,3", "2,3,4", "1,2"]);
        assert_eq!(converted(&comma, &["1.000,0", "1000,0"]), ["1000.0", "1000.0"]);
        let dates = Conventions { date_format: DateFormat::parse("d-m-y").ok(), ..Conventions::default() };
        assert_eq!(converted(&dates, &["05.03.2024", "6/3/24", "", "99.99.9999"])[..2], ["2024-03-05", "2024-03-06"]);
        assert_eq!(converted(&dates, &["05.03.2024", "99.99.9999"])[1], "99.99.9999");
        assert_eq!(converted(&dates, &["2024-03-05"]), ["2024-03-05"]);
        assert_eq!(converted(&dates, &["01022003"]), ["01022003"]);
    }
}
