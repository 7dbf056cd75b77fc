//! Which columns are written as numbers, in formats that tell numbers from text.

use amidst_core::table::{Column, ValueType};

/// How the cells of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    /// Whole numbers of 64 bits; the empty text is null.
    Integer,
    /// Numbers of at most 15 digits, which a double holds exactly as written; the empty text is null.
    Decimal,
}

/// The kind of a column: numbers when its type says so and every used label is one as a number would be printed (so that
/// neither the zeros of `007` nor a digit of a long decimal are lost), else text.
pub(crate) fn kind(column: &Column, used: &[bool]) -> Kind {
    let labels = || column.dictionary.iter().zip(used).filter(|(label, used)| **used && !label.is_empty());
    let all = |accepts: fn(&str) -> bool| labels().next().is_some() && labels().all(|(label, _)| accepts(label));
    match column.kind {
        ValueType::Integer if all(is_integer) => Kind::Integer,
        ValueType::Decimal if all(is_decimal) => Kind::Decimal,
        _ => Kind::Text,
    }
}

fn is_integer(label: &str) -> bool {
    label.parse::<i64>().is_ok_and(|n| n.to_string() == label)
}

fn is_decimal(label: &str) -> bool {
    let digits = label.strip_prefix('-').unwrap_or(label);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let plain = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    plain(whole)
        && plain(fraction)
        && (whole == "0" || !whole.starts_with('0'))
        && whole.len() + fraction.len() <= 15
        && (label.len() == digits.len() || digits.bytes().any(|b| (b'1'..=b'9').contains(&b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_a_number_would_change_stay_text() {
        assert!(is_integer("-12") && !is_integer("007") && !is_integer("+1") && !is_integer("-0"));
        assert!(is_decimal("2.50") && is_decimal("-0.1") && is_decimal("3"));
        for text in ["00.5", "-0.0", "1.", ".5", "1e3", "0.1234567890123456", "x", ""] {
            assert!(!is_decimal(text), "{text}");
        }
    }
}
