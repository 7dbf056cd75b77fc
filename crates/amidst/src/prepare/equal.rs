//! Values that are equal although they are written differently: 3000 and 3000.00, or two tokens for "unknown".
//!
//! A class of 3000, 3000.0 and 3000.00 tells everybody's income, so its texts must not count as three values. Before
//! anything is counted, texts of a column that mean the same become one value, and every cell is published with the
//! text of that value: what is counted here is then what anybody counts in the release.

use amidst_core::table::{Column, ValueType, number};
use rust_decimal::Decimal;
use rustc_hash::FxHashMap;

use super::values::named;
use crate::policy::{ColumnPolicy, Policy, Role};

/// What a text means, where that can be written in several ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Meaning {
    /// Nothing is known.
    Unknown,
    /// A number.
    Number(Decimal),
    /// A day, counted from 1970.
    Day(i64),
}

impl Meaning {
    /// What `text` means in a column of a type; `None` when it means just itself.
    pub fn of(policy: &Policy, stated: &ColumnPolicy, kind: ValueType, text: &str) -> Option<Meaning> {
        if !matches!(stated.role, Role::Quasi | Role::Sensitive) {
            return None;
        }
        if policy.data.missing.iter().any(|token| token == text) {
            return Some(Meaning::Unknown);
        }
        if !has_numbers(stated, kind) {
            return None;
        }
        match kind {
            ValueType::Text => None,
            ValueType::Integer | ValueType::Decimal => number(text).map(|n| Meaning::Number(n.normalize())),
            ValueType::Date => kind.coordinate(text).map(|day| Meaning::Day(day as i64)),
        }
    }
}

/// Makes one value of the texts of a column that mean the same. The column has its type.
pub(super) fn merge(policy: &Policy, stated: &ColumnPolicy, column: &mut Column) {
    let token = |text: &str| policy.data.missing.iter().position(|token| token == text);
    let unknown = policy.data.missing.iter().filter(|token| column.dictionary.code(token).is_some()).count();
    let odd = |text: &str| !is_plain(column.kind, text) && token(text).is_none();
    let numbers = has_numbers(stated, column.kind) && column.dictionary.iter().any(odd);
    if unknown < 2 && !numbers {
        return;
    }
    let named: Vec<String> = named(policy, stated).into_iter().map(|n| n.value).collect();
    // A text that the policy names must stay, for others look for it in the release; else the plainest.
    let rank = |code: u32| {
        let text = column.dictionary.value(code);
        let place = named.iter().position(|n| n == text).unwrap_or(usize::MAX);
        (place, token(text), !is_plain(column.kind, text), text.len(), text)
    };
    let meaning = |text: &str| Meaning::of(policy, stated, column.kind, text);
    let meanings: Vec<Option<Meaning>> = column.dictionary.iter().map(meaning).collect();
    let mut first: FxHashMap<Meaning, u32> = FxHashMap::default();
    for (code, meaning) in (0u32..).zip(&meanings) {
        let Some(meaning) = meaning else { continue };
        let best = first.entry(*meaning).or_insert(code);
        if rank(code) < rank(*best) {
            *best = code;
        }
    }
    let to = |(code, meaning): (u32, &Option<Meaning>)| meaning.and_then(|m| first.get(&m).copied()).unwrap_or(code);
    let into: Vec<u32> = (0u32..).zip(&meanings).map(to).collect();
    if (0u32..).zip(&into).any(|(code, &to)| code != to) {
        column.merge(&into);
    }
}

/// Whether texts of the column stand for numbers or days. Those of a quasi column need not, whatever its type: where a
/// list, a file or a mask says what they become, 01 may be another code than 1. Classes that differ only in how a number
/// is written hide as much as their union does, so that protects nobody less.
fn has_numbers(stated: &ColumnPolicy, kind: ValueType) -> bool {
    let by_value = |table: &[(String, _)]| {
        table.iter().any(|(key, _)| matches!(key.as_str(), "intervals" | "ranges" | "dates" | "suppress"))
    };
    let listed = || stated.hierarchy.as_deref().is_some_and(|table| !by_value(table)) || !stated.order.is_empty();
    kind.is_numeric() && (stated.role == Role::Sensitive || !listed())
}

/// Whether a text is the one plain way to write its value, seen at a glance: different plain texts mean different values.
fn is_plain(kind: ValueType, text: &str) -> bool {
    let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
    if kind == ValueType::Date {
        let bytes = text.as_bytes();
        return bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-';
    }
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, part) = unsigned.split_once('.').map_or((unsigned, None), |(whole, part)| (whole, Some(part)));
    let plain_whole = digits(whole) && (whole == "0" || !whole.starts_with('0'));
    let plain_part = part.is_none_or(|part| digits(part) && !part.ends_with('0'));
    plain_whole && plain_part && text != "-0"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_texts_are_known_at_a_glance() {
        for plain in ["0", "-1", "20", "0.5", "-0.25", "100.01"] {
            assert!(is_plain(ValueType::Decimal, plain), "{plain}");
        }
        for odd in ["", "-0", "01", "1.0", "1.", ".5", "+1", " 1", "1e3", "00", "-"] {
            assert!(!is_plain(ValueType::Decimal, odd), "{odd}");
        }
        assert!(is_plain(ValueType::Date, "2020-01-31") && !is_plain(ValueType::Date, "20200131"));
    }
}
