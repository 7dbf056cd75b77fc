//! Values that are equal although they are written differently: 3000 and 3000.00, or two tokens for "unknown".
//!
//! A class of 3000, 3000.0 and 3000.00 tells everybody's income, so its texts must not count as three values. Before
//! anything is counted, texts of a column that mean the same become one value, and every cell is published with the
//! text of that value: what is counted here is then what anybody counts in the release.

use amidst_core::table::{Column, ValueType};
use rustc_hash::FxHashMap;

use super::meaning::{Meaning, has_numbers};
use super::values::named;
use crate::policy::{ColumnPolicy, Policy};

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

/// Whether a text is the one plain way to write its value, seen at a glance: different plain texts mean different
/// values.
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
