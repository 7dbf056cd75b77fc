//! Hierarchies: built as the policy says, bound to the values that the columns have.

use std::collections::HashMap;

use amidst_core::hierarchy::{
    Generalization, Generalize, Hierarchy, HierarchyError, Recipe, TOP, build, is_numeric, remarks,
};
use amidst_core::table::{Column, Table, ValueType};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::columns::{Layout, section};
use super::error::{Places, counted};
use super::population::Raw;
use crate::policy::{ColumnPolicy, Diagnostic, Policy};

/// What quasi columns can become, and the levels of sensitive columns.
#[derive(Debug, Default)]
pub(crate) struct Bound {
    /// One for each quasi column.
    pub generalizations: Vec<Generalization>,
    /// One for each sensitive column that has a hierarchy.
    pub sensitive: Vec<Option<Generalization>>,
    /// What is odd although it can be used: (column, remark).
    pub remarks: Vec<(String, String)>,
}

/// A bound hierarchy, with what is odd about it.
type Noted = (Generalization, Vec<String>);

/// Binds all hierarchies; `published` has those of sensitive columns, by position, that are bound to labels already.
/// Returns what does not fit, too.
pub(crate) fn bind(
    policy: &Policy,
    layout: &Layout,
    table: &Table,
    populations: &Raw,
    published: &HashMap<usize, Hierarchy>,
    places: &Places<'_>,
) -> (Bound, Vec<Diagnostic>) {
    let unnamed = ColumnPolicy::default();
    let positions: Vec<(usize, Option<usize>)> = (layout.quasi.iter().enumerate().map(|(q, &c)| (c, Some(q))))
        .chain(layout.sensitive.iter().map(|&c| (c, None)))
        .collect();
    let results: Vec<Result<Noted, Diagnostic>> = positions
        .par_iter()
        .map(|&(position, quasi)| {
            let column = &table.columns[position];
            let stated = policy.column(&column.name).unwrap_or(&unnamed);
            if let Some(above) = published.get(&position).filter(|_| quasi.is_none()) {
                let bound = Generalization::bind(column, Some(above));
                let bound = bound.map_err(|codes| lacking(policy, stated, column, &codes, places))?;
                return Ok((bound, Vec::new()));
            }
            let extra = quasi.map_or(&[][..], |q| populations.extra(q));
            bind_column(policy, stated, column, extra, places)
        })
        .collect();
    let mut bound = Bound::default();
    let mut errors = Vec::new();
    for (&(position, quasi), result) in positions.iter().zip(results) {
        let column = &table.columns[position];
        match result {
            Ok((generalization, remarks)) => {
                bound.remarks.extend(remarks.into_iter().map(|r| (column.name.clone(), r)));
                match quasi {
                    Some(_) => bound.generalizations.push(generalization),
                    None => bound.sensitive.push(generalization.has_hierarchy.then_some(generalization)),
                }
            }
            Err(found) => {
                errors.push(found);
                if quasi.is_none() {
                    bound.sensitive.push(None);
                }
            }
        }
    }
    (bound, errors)
}

/// The text of a hierarchy file, which may be a regular file of a size that a hierarchy can have.
pub(crate) fn hierarchy_text(policy: &Policy, file: &str) -> Result<String, String> {
    let bytes =
        amidst_io::small_file(&policy.origin.resolve(file), amidst_io::HIERARCHY_LIMIT).map_err(|error| match error
            .kind()
        {
            std::io::ErrorKind::NotFound => "there is no such file".to_string(),
            _ => error.to_string(),
        })?;
    String::from_utf8(bytes).map_err(|_| "the file is not UTF-8".to_string())
}

fn bind_column(
    policy: &Policy,
    stated: &ColumnPolicy,
    column: &Column,
    extra: &[String],
    places: &Places<'_>,
) -> Result<Noted, Diagnostic> {
    let mut notes = Vec::new();
    let hierarchy = match &stated.hierarchy {
        None => None,
        Some(table) => {
            let read = |file: &str| hierarchy_text(policy, file);
            let recipe = Recipe { table, read: &read, missing: &policy.data.missing };
            let hierarchy =
                build(&recipe, &extended(column, extra)).map_err(|e| unbuildable(policy, stated, column, &e))?;
            notes.extend(remarks(&recipe, &hierarchy).iter().map(ToString::to_string));
            Some(hierarchy)
        }
    };
    let numeric = is_numeric(column.kind, stated.hierarchy.as_deref());
    let mut bound = Generalization::bind_as(column, hierarchy.as_ref(), numeric || in_ranges(stated, column))
        .map_err(|codes| lacking(policy, stated, column, &codes, places))?;
    if let Some(weight) = &stated.weight {
        bound.weight = weight.to_f64();
    }
    bound.generalize = stated.generalize.unwrap_or_default();
    if bound.generalize == Generalize::Ranges {
        // Ranges over an order are measured on its ranks, which are the coordinates of text.
        bound.numeric = true;
    }
    extend(&mut bound, hierarchy.as_ref(), column, extra).map_err(|n| {
        let message = format!("the hierarchy of `{}` lacks {} of a population", column.name, counted(n, "value"));
        policy.origin.error_at_key(&section(stated, "hierarchy"), message)
    })?;
    Ok((bound, notes))
}

fn in_ranges(stated: &ColumnPolicy, column: &Column) -> bool {
    stated.generalize == Some(Generalize::Ranges) && column.kind != ValueType::Text
}

/// The column with values that only a population has, behind its own.
fn extended<'a>(column: &'a Column, extra: &[String]) -> std::borrow::Cow<'a, Column> {
    if extra.is_empty() {
        return std::borrow::Cow::Borrowed(column);
    }
    let mut longer = Column { name: column.name.clone(), kind: column.kind, ..Column::default() };
    longer.dictionary = column.dictionary.iter().chain(extra.iter().map(String::as_str)).collect();
    std::borrow::Cow::Owned(longer)
}

/// Gives the values that only a population has a place at each level. They are no part of the active domain: they count
/// in nothing, but a generalized tuple covers them.
fn extend(
    bound: &mut Generalization,
    hierarchy: Option<&Hierarchy>,
    column: &Column,
    extra: &[String],
) -> Result<(), u64> {
    let leaf = |value: &str| hierarchy.map_or(Some(0), |h| h.leaves.code(value));
    let lacking = extra.iter().filter(|v| leaf(v).is_none()).count() as u64;
    if lacking > 0 {
        return Err(lacking);
    }
    let height = bound.height();
    for level in 0..=height {
        let group = |value: &str| match (level, hierarchy) {
            (0, _) | (_, None) => Some(0),
            (_, Some(h)) => leaf(value).map(|leaf| h.levels[level - 1].of_leaf[leaf as usize]),
        };
        let place = &mut bound.levels[level];
        let mut numbers: FxHashMap<Option<u32>, u32> = match level {
            0 => FxHashMap::default(),
            _ => column.dictionary.iter().map(group).zip(place.of.iter().copied()).collect(),
        };
        for value in extra {
            let own = group(value);
            let known = numbers.get(&own).copied().filter(|_| level > 0);
            let number = known.unwrap_or_else(|| {
                place.labels.push(match (level, hierarchy, own) {
                    (0, ..) => value.clone(),
                    (_, Some(h), Some(own)) => h.levels[level - 1].labels[own as usize].clone(),
                    _ => TOP.to_string(),
                });
                place.leaves.push(1);
                place.active.push(0);
                place.extent.push((f64::INFINITY, f64::NEG_INFINITY));
                place.labels.len() as u32 - 1
            });
            numbers.insert(own, number);
            place.of.push(number);
        }
    }
    for level in 0..height {
        let (below, above) = bound.levels.split_at_mut(level + 1);
        let (below, above) = (&mut below[level], &above[0]);
        below.up.resize(below.labels.len(), 0);
        for code in column.dictionary.len()..below.of.len() {
            below.up[below.of[code] as usize] = above.of[code];
        }
    }
    Ok(())
}

/// The codes of the values of a column that the hierarchy of the policy lacks; none where it cannot be built.
pub(crate) fn lacked(policy: &Policy, stated: &ColumnPolicy, column: &Column) -> Vec<u32> {
    let Some(table) = &stated.hierarchy else { return Vec::new() };
    let read = |file: &str| hierarchy_text(policy, file);
    let recipe = Recipe { table, read: &read, missing: &policy.data.missing };
    let built = build(&recipe, column).ok();
    built.and_then(|hierarchy| Generalization::bind(column, Some(&hierarchy)).err()).unwrap_or_default()
}

/// An error of the hierarchy itself.
pub(super) fn unbuildable(
    policy: &Policy,
    stated: &ColumnPolicy,
    column: &Column,
    error: &HierarchyError,
) -> Diagnostic {
    let [columns, name, key] = section(stated, "hierarchy");
    let message = format!("the hierarchy of `{}`: {error}", column.name);
    let found = policy.origin.error_at_key(&[columns, name, key, &error.key], message);
    // The other defects of a file, for they are mended in one go.
    let others: Vec<String> = error.others.iter().take(5).map(|d| format!("also {d}")).collect();
    if others.is_empty() { found } else { found.help(others.join("\n")) }
}

/// Values that the data has and the hierarchy has not.
pub(super) fn lacking(
    policy: &Policy,
    stated: &ColumnPolicy,
    column: &Column,
    codes: &[u32],
    places: &Places<'_>,
) -> Diagnostic {
    let message = format!("the hierarchy of `{}` lacks {}", column.name, places.of_values(column, codes));
    let error = policy.origin.error_at_key(&section(stated, "hierarchy"), message);
    let help = "add the values to the hierarchy, or list them in `missing` if they mean \"unknown\"";
    error.help(help).lacking()
}
