//! What published labels mean, told to the independent checker as plain data.

use std::collections::HashMap;

use amidst_check::{ColumnLabels, PopulationTable, ValueKind};
use amidst_core::hierarchy::Generalization;
use amidst_core::table::ValueType;
use amidst_io::ReadOptions;

use crate::Failure;
use crate::policy::Policy;
use crate::prepare::{PrepareError, Prepared};

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

/// The populations that the requirements of a policy name, as the checker reads them.
pub fn populations(policy: &Policy, prepared: &Prepared) -> Result<Vec<PopulationTable>, Failure> {
    let mut tables: Vec<PopulationTable> = Vec::new();
    for requirement in &policy.requirements {
        let Some(name) = requirement.parameters.get("population").and_then(|v| v.text()) else { continue };
        if tables.iter().any(|t| t.name == name) {
            continue;
        }
        let path = policy.origin.resolve(&name);
        let first = ReadOptions { max_rows: Some(1), threads: 1, ..ReadOptions::default() };
        let input = amidst_io::read(&path.to_string_lossy(), &first).map_err(PrepareError::from)?;
        tables.push(PopulationTable {
            name,
            files: input.files,
            labels: of_columns(&prepared.generalizations),
            count_column: input.header.iter().find(|h| *h == "count").cloned(),
        });
    }
    Ok(tables)
}
