//! Columns published as they are that give a generalized one away.

use amidst_core::risk::{Dependence, line};
use amidst_core::table::{Column, Table, ValueType};
use rayon::prelude::*;

use crate::policy::{Policy, Role};

/// Values of a column without an assigned type that are looked at, at most.
const MOST_VALUES: usize = 100_000;

/// A warning for each column that is published as it is and tells, or nearly tells, a quasi column.
pub(crate) fn remarks(policy: &Policy, roles: &[Role], table: &Table) -> Vec<String> {
    let columns = || table.columns.iter().zip(roles);
    let quasi: Vec<&Column> = columns().filter(|(_, role)| **role == Role::Quasi).map(|(column, _)| column).collect();
    // A column with a stated reason is published on purpose.
    let accepted = |c: &Column| policy.column(&c.name).is_some_and(|stated| stated.accept.is_some());
    let raw: Vec<&Column> = columns()
        .filter(|(column, role)| matches!(role, Role::Insensitive | Role::Sensitive) && !accepted(column))
        .map(|(column, _)| column)
        .collect();
    if raw.is_empty() || quasi.is_empty() {
        return Vec::new();
    }
    let missing = &policy.data.missing;
    let quasi_lines: Vec<Option<Vec<f64>>> = quasi.par_iter().map(|c| line(c)).collect();
    let found: Vec<Vec<String>> = raw
        .par_iter()
        .map(|from| {
            let from_line = places(from, missing);
            let told = |(to, to_line): (&&Column, &Option<Vec<f64>>)| {
                let found = Dependence::of(&from.codes, &to.codes, from_line.as_deref(), to_line.as_deref())?;
                found.gives_away().then(|| remark(&from.name, &to.name, &found))
            };
            quasi.iter().zip(&quasi_lines).filter_map(told).collect()
        })
        .collect();
    found.into_iter().flatten().collect()
}

fn remark(from: &str, to: &str, found: &Dependence) -> String {
    let share = |s: f64| (100.0 * s).floor();
    let how = match found.explained {
        Some(explained) if found.beyond_chance < Dependence::NEARLY => {
            format!("explains {} % of the differences in it", share(explained))
        }
        _ => format!("tells its value in {} % of the rows", share(found.told)),
    };
    format!(
        "`{from}` is published as it is and gives the quasi column `{to}` away: it {how}; make `{from}` quasi as well, or \
         identifying, so that generalizing `{to}` is not in vain"
    )
}

/// Where the values of a column lie on a line; columns that are not searched have no type yet.
fn places(column: &Column, missing: &[String]) -> Option<Vec<f64>> {
    if column.kind != ValueType::Text || column.dictionary.len() > MOST_VALUES {
        return line(column);
    }
    let kind = ValueType::guess(column.dictionary.iter().filter(|v| !missing.iter().any(|m| m == v)));
    let dictionary = if kind == ValueType::Text { return None } else { column.dictionary.clone() };
    line(&Column { name: String::new(), kind, dictionary, ..Column::default() })
}
