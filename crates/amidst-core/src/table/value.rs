//! What the cells of a column mean: text, whole numbers, decimals or dates.

use std::cmp::Ordering;
use std::str::FromStr;

use jiff::civil::Date;
use rust_decimal::Decimal;

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValueType {
    /// Anything.
    #[default]
    Text,
    /// Whole numbers.
    Integer,
    /// Numbers with a decimal point.
    Decimal,
    /// Calendar dates, written year-month-day.
    Date,
}

/// Reads a number exactly, as written; `None` when it is not one (or has more than 28 digits).
pub fn number(text: &str) -> Option<Decimal> {
    let text = text.trim();
    if text.contains(['_', ' ']) {
        return None;
    }
    match Decimal::from_str(text) {
        Ok(n) => Some(n),
        Err(_) if text.contains(['e', 'E']) => Decimal::from_scientific(text).ok(),
        Err(_) => None,
    }
}

impl ValueType {
    /// The name used in policies.
    pub fn name(self) -> &'static str {
        match self {
            ValueType::Text => "text",
            ValueType::Integer => "integer",
            ValueType::Decimal => "decimal",
            ValueType::Date => "date",
        }
    }

    /// Whether differences between values mean something.
    pub fn is_numeric(self) -> bool {
        self != ValueType::Text
    }

    /// Whether `value` can be read as this type.
    pub fn accepts(self, value: &str) -> bool {
        match self {
            ValueType::Text => true,
            ValueType::Integer => number(value).is_some_and(|n| n.is_integer()) && !value.contains(['.', 'e', 'E']),
            ValueType::Decimal => number(value).is_some(),
            ValueType::Date => Date::from_str(value.trim()).is_ok(),
        }
    }

    /// The narrowest type that accepts all of `values`; text when there is none.
    pub fn guess<'a>(values: impl IntoIterator<Item = &'a str>) -> ValueType {
        let mut candidates = vec![ValueType::Integer, ValueType::Decimal, ValueType::Date];
        let mut any = false;
        for value in values {
            any = true;
            candidates.retain(|t| t.accepts(value));
            if candidates.is_empty() {
                return ValueType::Text;
            }
        }
        if any { candidates[0] } else { ValueType::Text }
    }

    /// A position on the number line: the number itself, or a date's day number. `None` for text and for what this
    /// type does not accept.
    pub fn coordinate(self, value: &str) -> Option<f64> {
        match self {
            ValueType::Text => None,
            ValueType::Integer | ValueType::Decimal => number(value)?.try_into().ok(),
            ValueType::Date => {
                let date = Date::from_str(value.trim()).ok()?;
                let days = date.since(Date::constant(1970, 1, 1)).ok()?.get_days();
                Some(f64::from(days))
            }
        }
    }

    /// The order of values of this type. Values that the type does not accept come last; ties are broken by the text,
    /// so that the order is total.
    pub fn compare(self, a: &str, b: &str) -> Ordering {
        fn by<K: Ord>(key: impl Fn(&str) -> Option<K>, a: &str, b: &str) -> Ordering {
            match (key(a), key(b)) {
                (Some(x), Some(y)) => x.cmp(&y),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => Ordering::Equal,
            }
        }
        let typed = match self {
            ValueType::Text => Ordering::Equal,
            ValueType::Integer | ValueType::Decimal => by(number, a, b),
            ValueType::Date => by(|v| Date::from_str(v.trim()).ok(), a, b),
        };
        typed.then_with(|| a.cmp(b))
    }
}

impl FromStr for ValueType {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        [ValueType::Text, ValueType::Integer, ValueType::Decimal, ValueType::Date]
            .into_iter()
            .find(|t| t.name() == name)
            .ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_guessed_from_all_values() {
        assert_eq!(ValueType::guess(["1", "-20"]), ValueType::Integer);
        assert_eq!(ValueType::guess(["1", "2.50"]), ValueType::Decimal);
        assert_eq!(ValueType::guess(["2020-02-29", "1999-01-01"]), ValueType::Date);
        assert_eq!(ValueType::guess(["2020-02-30"]), ValueType::Text);
        assert_eq!(ValueType::guess(["1", "x"]), ValueType::Text);
        assert_eq!(ValueType::guess([]), ValueType::Text);
    }

    #[test]
    fn numbers_sort_by_value() {
        let mut values = ["10", "9", "-1", "1.5"];
        values.sort_by(|a, b| ValueType::Decimal.compare(a, b));
        assert_eq!(values, ["-1", "1.5", "9", "10"]);
        assert_eq!(ValueType::Date.coordinate("1970-01-02"), Some(1.0));
    }
}
