//! Ranges of numbers as two columns, the lower bound and the upper one, for analysts who need numbers.
//!
//! A column in which some published cell is a range such as `[20-39]` becomes `NAME_min` and `NAME_max`. What is no
//! range, a single value or `*`, stands in both. Two cells have the same bounds just where they are the same cell, so
//! the classes of a release are the same either way.

use amidst_core::table::{Column, Dictionary, Table, ValueType, number};

use crate::policy::Policy;
use crate::prepare::BOUNDS;

/// The two bounds of a range of numbers, as they are written. Labels of files may also read
/// `[60, 80[`, which ends before its second one.
pub(super) fn bounds(label: &str) -> Option<(&str, &str)> {
    let inner = label.strip_prefix('[')?;
    if let Some((low, high)) = inner.strip_suffix('[').and_then(|inner| inner.split_once(", ")) {
        return (number(low)? < number(high)?).then_some((low, high));
    }
    let inner = inner.strip_suffix(']')?;
    // A minus may stand before either number.
    let (at, _) = inner.char_indices().skip(1).find(|&(at, c)| c == '-' && number(&inner[..at]).is_some())?;
    let (low, high) = (&inner[..at], &inner[at + 1..]);
    (number(low)? <= number(high)?).then_some((low, high))
}

/// Whether some published cell of a column is a range; `counts` tells how many rows have each label.
pub(super) fn has_ranges(column: &Column, counts: &[u64]) -> bool {
    column.dictionary.iter().zip(counts).any(|(label, &count)| count > 0 && bounds(label).is_some())
}

/// The names of the columns that these are published as.
pub(super) fn names(columns: &[String], parted: &[String]) -> Vec<String> {
    let of = |name: &String| match parted.contains(name) {
        true => BOUNDS.iter().map(|ending| format!("{name}{ending}")).collect(),
        false => vec![name.clone()],
    };
    columns.iter().flat_map(of).collect()
}

/// The table with two columns for each of the columns `parted`; `counts` tells how many published rows have each label.
pub(super) fn written(
    policy: &Policy,
    table: &Table,
    parted: &[String],
    counts: impl Fn(&Column) -> Vec<u64>,
) -> Table {
    let part = |column: &Column, side: usize| {
        let mut dictionary = Dictionary::default();
        let text = |label: &str| -> String {
            let (low, high) = bounds(label).unwrap_or((label, label));
            if side == 0 { low.to_string() } else { high.to_string() }
        };
        let code: Vec<u32> = column.dictionary.iter().map(|label| dictionary.intern(&text(label))).collect();
        let codes =
            amidst_core::table::Codes::U32((0..table.rows).map(|r| code[column.codes.get(r) as usize]).collect());
        let mut own =
            Column { name: format!("{}{}", column.name, BOUNDS[side]), kind: ValueType::Text, dictionary, codes };
        // What is published alone decides, and not what rows had that are left out.
        let counts = counts(&own);
        let unknown = |label: &str| label.is_empty() || policy.data.missing.iter().any(|token| token == label);
        let published = own.dictionary.iter().zip(&counts).filter(|(_, count)| **count > 0).map(|(label, _)| label);
        own.kind = ValueType::guess(published.filter(|label| !unknown(label)));
        own
    };
    let columns = table.columns.iter().flat_map(|column| match parted.contains(&column.name) {
        true => vec![part(column, 0), part(column, 1)],
        false => vec![column.clone()],
    });
    Table { columns: columns.collect(), rows: table.rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_numbers_have_bounds_and_nothing_else_has() {
        assert_eq!(bounds("[20-39]"), Some(("20", "39")));
        assert_eq!(bounds("[-5--1]"), Some(("-5", "-1")));
        assert_eq!(bounds("[-5-3.5]"), Some(("-5", "3.5")));
        assert_eq!(bounds("[-0.5, 1["), Some(("-0.5", "1")));
        for label in [
            "[1, 1[",
            "[1, 2",
            "[1, 2]",
            "[, 2[",
            "*",
            "20",
            "20-39",
            "[a-b]",
            "[39-20]",
            "{1,2}",
            "[20-]",
            "[2020-01-01-2020-02-01]",
            "",
        ] {
            assert_eq!(bounds(label), None, "{label}");
        }
    }

    #[test]
    fn what_is_no_range_stands_in_both_columns() {
        let values = ["[20-39]", "40", "*", "[20-39]"];
        let table = Table { columns: vec![Column::from_values("age", values)], rows: 4 };
        let parted = written(&Policy::default(), &table, &["age".to_string()], |c| vec![1; c.dictionary.len()]);
        let cells = |c: usize| (0..4).map(|r| parted.columns[c].value(r).to_string()).collect::<Vec<_>>();
        assert_eq!((parted.columns[0].name.as_str(), parted.columns[1].name.as_str()), ("age_min", "age_max"));
        assert_eq!(cells(0), ["20", "40", "*", "20"]);
        assert_eq!(cells(1), ["39", "40", "*", "39"]);
    }
}
