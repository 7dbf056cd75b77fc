//! What published labels mean, told to the independent checker as plain data.

use std::collections::HashMap;

use amidst_check::{ColumnLabels, PopulationTable, ValueKind};
use amidst_core::hierarchy::Generalization;
use amidst_core::table::ValueType;

use crate::Failure;
use crate::checker_input::files::{Checkable, Original};
use crate::policy::public::public_source;
use crate::policy::{MissingRows, Policy};
use crate::prepare::Prepared;

/// For every quasi column, the labels of each value, level by level.
pub fn of_columns(generalizations: &[Generalization]) -> HashMap<String, ColumnLabels> {
    generalizations.iter().map(|g| (g.name.clone(), of_column(g))).collect()
}

fn of_column(g: &Generalization) -> ColumnLabels {
    let label = |code: usize, level: usize| {
        let level = &g.levels[level];
        level.labels[level.of[code] as usize].clone()
    };
    // Values that only a population has stand behind those of the table; labels cover them, too.
    let codes = g.levels.first().map_or(0, |values| values.of.len());
    let paths = (0..codes).map(|code| (label(code, 0), (1..=g.height()).map(|l| label(code, l)).collect()));
    ColumnLabels {
        paths: paths.collect(),
        // Codes are in rank order, so the values in the order of their codes are the order that ranges speak of.
        order: (g.kind == ValueType::Text).then(|| (0..g.active()).map(|code| label(code, 0)).collect()),
        kind: match g.kind {
            ValueType::Text => ValueKind::Text,
            ValueType::Integer | ValueType::Decimal => ValueKind::Number,
            ValueType::Date => ValueKind::Date,
        },
    }
}

/// Populations as the checker reads them.
#[derive(Debug, Default)]
pub struct Populations {
    /// What the checker is told.
    pub tables: Vec<PopulationTable>,
    /// Copies of those that are in databases, which go when the checker has read them.
    _copies: Vec<Checkable>,
}

/// The populations that the requirements of a policy name.
pub fn populations(policy: &Policy, prepared: &Prepared) -> Result<Populations, Failure> {
    let mut found = Populations::default();
    let tables = &mut found.tables;
    let mut sources = Vec::new();
    for requirement in &policy.requirements {
        let Some(source) = requirement.parameters.get("population").and_then(|v| v.text()) else { continue };
        // Certificates name it so.
        let name = public_source(&source);
        if sources.contains(&source) {
            continue;
        }
        if tables.iter().any(|t| t.name == name) {
            return Err(Failure::Usage(format!(
                "two populations are both called {name}, and a certificate tells them apart by that name; rename one"
            )));
        }
        sources.push(source.clone());
        let told = |column: &str| {
            requirement.on.iter().any(|on| on == column) || prepared.generalizations.iter().any(|g| g.name == column)
        };
        let wanted = |column: &str| column == "count" || told(column);
        let copy = Checkable::of(
            policy,
            &Original::Population(&policy.origin.resolve_source(&source)),
            &wanted,
            policy.data.missing_rows == MissingRows::Drop,
        )?;
        tables.push(PopulationTable {
            name,
            files: copy.files.clone(),
            labels: of_columns(&prepared.generalizations),
            // A quasi or sensitive column of that name is no count.
            count_column: copy.header.iter().find(|h| *h == "count" && !told(h)).cloned(),
            missing: (policy.data.missing_rows == MissingRows::Drop).then(|| policy.data.missing.clone()),
        });
        found._copies.push(copy);
    }
    Ok(found)
}
