//! What a text of a column means: a number, a day, nothing known, or just itself.

use amidst_core::hierarchy::is_by_value;
use amidst_core::table::{ValueType, number};
use rust_decimal::Decimal;

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

/// Whether texts of the column stand for numbers or days. Those of a quasi column need not, whatever its type: where a
/// list, a file or a mask says what they become, 01 may be another code than 1. Classes that differ only in how a
/// number is written hide as much as their union does, so that protects nobody less.
pub(super) fn has_numbers(stated: &ColumnPolicy, kind: ValueType) -> bool {
    let listed = || stated.hierarchy.as_deref().is_some_and(|table| !is_by_value(table)) || !stated.order.is_empty();
    kind.is_numeric() && (stated.role == Role::Sensitive || !listed())
}
