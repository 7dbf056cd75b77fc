//! What the values of each column are, and in which order they stand.

use amidst_core::hierarchy::{Generalize, implied_order};
use amidst_core::table::{Column, Table, ValueType};
use rayon::prelude::*;

use super::columns::{Layout, section};
use super::error::Places;
use super::{equal, missing};
use crate::policy::{ColumnPolicy, Diagnostic, Policy, Role};

/// Gives every quasi and sensitive column its type, stated or guessed, and sorts its dictionary, so that codes compare
/// as values do; texts that mean the same become one value. Returns what does not fit.
pub(super) fn assign_types(
    policy: &Policy,
    layout: &Layout,
    table: &mut Table,
    places: &Places<'_>,
) -> Vec<Diagnostic> {
    let found: Vec<Vec<Misfit>> = table
        .columns
        .par_iter_mut()
        .zip(&layout.roles)
        .map(|(column, role)| match policy.column(&column.name) {
            Some(stated) if matches!(role, Role::Quasi | Role::Sensitive) => assign_type(policy, stated, column),
            // The order of other dictionaries is never shown, and sorting names by the million takes time.
            _ => Vec::new(),
        })
        .collect();
    let mut errors = Vec::new();
    for (column, misfits) in table.columns.iter().zip(found) {
        let Some(stated) = policy.column(&column.name) else { continue };
        errors.extend(misfits.into_iter().map(|m| m.diagnostic(policy, stated, column, places)));
    }
    errors
}

/// How a text is written, without saying what it says: a 9 for each digit, an a for each letter.
pub(crate) fn shape(value: &str) -> String {
    let sign = |c: char| match c {
        c if c.is_numeric() => '9',
        c if c.is_alphabetic() => 'a',
        c if c.is_ascii_graphic() || c == ' ' => c,
        _ => '?',
    };
    let short: String = value.chars().take(24).map(sign).collect();
    if value.chars().count() > 24 { format!("“{short}…”") } else { format!("“{short}”") }
}

/// What does not fit, with the codes that do not.
enum Misfit {
    Type(ValueType, Vec<u32>),
    Order(&'static str, Vec<u32>),
    Ranges,
}

fn assign_type(policy: &Policy, stated: &ColumnPolicy, column: &mut Column) -> Vec<Misfit> {
    let mut misfits = Vec::new();
    // Where labels take the place of the values, an order ranks the labels.
    let (key, order) = if stated.publishes_labels() { ("order", Vec::new()) } else { rank_order(stated) };
    let unknown = missing::codes(policy, column);
    let known = |code: &u32| !unknown.contains(code);
    let misfit = |column: &Column, fits: &(dyn Fn(&str) -> bool + Sync)| -> Vec<u32> {
        let codes = 0..column.dictionary.len() as u32;
        codes.filter(known).filter(|&code| !fits(column.dictionary.value(code))).collect()
    };
    column.kind = match stated.kind {
        Some(kind) => {
            let codes = misfit(column, &|value| kind.accepts(value));
            if !codes.is_empty() {
                misfits.push(Misfit::Type(kind, codes));
            }
            kind
        }
        // Where a rank order is stated, numbers in the values mean nothing more.
        None if !order.is_empty() => ValueType::Text,
        None => {
            let codes = 0..column.dictionary.len() as u32;
            ValueType::guess(codes.filter(known).map(|code| column.dictionary.value(code)))
        }
    };
    if !order.is_empty() {
        let listed: std::collections::HashSet<&str> = order.iter().map(String::as_str).collect();
        let codes = misfit(column, &|value| listed.contains(value));
        if !codes.is_empty() {
            misfits.push(Misfit::Order(key, codes));
        }
    }
    if stated.generalize == Some(Generalize::Ranges) && !column.kind.is_numeric() && order.is_empty() {
        misfits.push(Misfit::Ranges);
    }
    // Codes in the misfits are those before sorting, and say nothing afterwards.
    if misfits.is_empty() {
        equal::merge(policy, stated, column);
        column.sort(&order);
    }
    misfits
}

/// The stated rank order of a column, with the key that states it; empty when there is none.
pub(crate) fn rank_order(stated: &ColumnPolicy) -> (&'static str, Vec<String>) {
    if !stated.order.is_empty() || stated.publishes_labels() {
        return ("order", stated.order.clone());
    }
    let implied = stated.hierarchy.as_deref().and_then(implied_order);
    ("hierarchy", implied.unwrap_or_default())
}

impl Misfit {
    fn diagnostic(self, policy: &Policy, stated: &ColumnPolicy, column: &Column, places: &Places<'_>) -> Diagnostic {
        let name = &column.name;
        match self {
            Misfit::Type(kind, codes) => {
                let which = places.of_values(column, &codes);
                let seen = codes.first().map(|&code| shape(column.dictionary.value(code))).unwrap_or_default();
                let message = format!(
                    "column `{name}` is stated to be {}, but these are not: {which}, written like {seen}",
                    kind.name()
                );
                let help = match kind {
                    ValueType::Date => {
                        "mend the data, list unknowns in `missing`, or state how dates are written under [data]: `date_format = \
                         \"d-m-y\"`, \"m-d-y\" or a pattern such as \"%d.%m.%Y\""
                    }
                    ValueType::Decimal | ValueType::Integer if seen.contains(',') => {
                        "mend the data, list unknowns in `missing`, or write `decimal = \",\"` under [data]"
                    }
                    _ => "mend the data, list unknowns in `missing`, or state another type",
                };
                policy.origin.error(&section(stated, "type"), message).help(help)
            }
            Misfit::Order(key, codes) => {
                let which = places.of_values(column, &codes);
                let message = format!("the order of `{name}` lacks {which}");
                let error = policy.origin.error_at_key(&section(stated, key), message);
                error.help("list every value that the data has").lacking()
            }
            Misfit::Ranges => {
                let message = format!("`{name}` is text without an order, so it has no ranges");
                let help = "add `order = […]`, or write `generalize = \"sets\"`";
                policy.origin.error(&section(stated, "generalize"), message).help(help)
            }
        }
    }
}
