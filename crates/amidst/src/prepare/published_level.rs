//! Sensitive columns that are published generalized: labels of their hierarchy in the place of their values.
//!
//! The ℓ-diversity article (§4.3 and §8) leaves generalizing sensitive values to the publisher: where few values
//! are frequent and many rare, or several columns are sensitive, coarser values are what makes diversity possible. The
//! labels take the place of the values before anything is counted. Requirements, orders and categories speak of them,
//! search and checker see nothing else, and nothing finer is published.

use std::collections::HashMap;

use amidst_core::hierarchy::{Hierarchy, Level, Recipe, build};
use amidst_core::table::{Column, Dictionary, Table, ValueType};

use super::columns::{Layout, section};
use super::error::Places;
use super::hierarchies::{hierarchy_text, lacking, unbuildable};
use crate::policy::{ColumnPolicy, Diagnostic, Policy};

/// Columns whose values have become labels.
#[derive(Debug, Default)]
pub(crate) struct PublishedLabels {
    /// What is above the published level, by the position of the column.
    pub hierarchies: HashMap<usize, Hierarchy>,
    /// For each such column the label that is published for each text of the input.
    pub labels: HashMap<String, HashMap<String, String>>,
}

/// Puts labels in the place of the values of every sensitive column with a `level`. Types are assigned already.
pub(super) fn publish(
    policy: &Policy,
    layout: &Layout,
    table: &mut Table,
    places: &Places<'_>,
) -> (PublishedLabels, Vec<Diagnostic>) {
    let (mut published, mut errors) = (PublishedLabels::default(), Vec::new());
    for &position in &layout.sensitive {
        let column = &mut table.columns[position];
        let Some(stated) = policy.column(&column.name).filter(|c| c.publishes_labels()) else { continue };
        match generalize(policy, stated, column, places) {
            Ok((above, labels)) => {
                published.hierarchies.insert(position, above);
                published.labels.insert(column.name.clone(), labels);
            }
            Err(error) => errors.push(error),
        }
    }
    (published, errors)
}

/// Generalizes one column; tells what is above its level, and the label of each text.
fn generalize(
    policy: &Policy,
    stated: &ColumnPolicy,
    column: &mut Column,
    places: &Places<'_>,
) -> Result<(Hierarchy, HashMap<String, String>), Diagnostic> {
    let (recipe, level) = (stated.hierarchy.as_deref().unwrap_or_default(), stated.level.unwrap_or(0) as usize);
    let read = |file: &str| hierarchy_text(policy, file);
    let recipe = Recipe { table: recipe, read: &read, missing: &policy.data.missing };
    let hierarchy = build(&recipe, column).map_err(|e| unbuildable(policy, stated, column, &e))?;
    let Some(published) = level.checked_sub(1).and_then(|at| hierarchy.levels.get(at)) else {
        let message =
            format!("the hierarchy of `{}` has {} levels above its values", column.name, hierarchy.levels.len());
        return Err(policy.origin.error(&section(stated, "level"), message));
    };
    let label = |text: &str| {
        hierarchy.leaves.code(text).map(|leaf| &published.labels[published.of_leaf[leaf as usize] as usize])
    };
    let found: Vec<Option<&String>> = column.dictionary.iter().map(label).collect();
    let unknown: Vec<u32> = (0u32..).zip(&found).filter(|(_, label)| label.is_none()).map(|(code, _)| code).collect();
    if !unknown.is_empty() {
        return Err(lacking(policy, stated, column, &unknown, places));
    }
    let found: Vec<&String> = found.into_iter().flatten().collect();
    let listed = |label: &&&String| stated.order.is_empty() || stated.order.contains(label);
    let outside = found.iter().filter(|label| !listed(label)).collect::<std::collections::BTreeSet<_>>().len();
    if outside > 0 {
        let message = format!("the order of `{}` lacks {outside} of the labels that are published", column.name);
        let help = "with `level`, an order lists the labels of that level";
        return Err(policy.origin.error(&section(stated, "order"), message).help(help));
    }
    let written = column.dictionary.aliases().iter().map(|(text, code)| (text.clone(), found[*code as usize].clone()));
    let texts = column.dictionary.iter().map(str::to_string).zip(found.iter().map(|label| (*label).clone()));
    let labels = written.chain(texts).collect();
    let mut dictionary = Dictionary::default();
    let into: Vec<u32> = found.iter().map(|label| dictionary.intern(label)).collect();
    column.codes = column.codes.mapped(&into, dictionary.len());
    (column.dictionary, column.kind) = (dictionary, ValueType::Text);
    column.sort(&stated.order);
    Ok((above(&hierarchy, level), labels))
}

/// The hierarchy from a level on: its labels are the leaves.
fn above(hierarchy: &Hierarchy, level: usize) -> Hierarchy {
    let published = &hierarchy.levels[level - 1];
    let mut first = vec![0; published.labels.len()];
    for (leaf, &group) in published.of_leaf.iter().enumerate().rev() {
        first[group as usize] = leaf;
    }
    let over = |higher: &Level| Level {
        labels: higher.labels.clone(),
        of_leaf: first.iter().map(|&leaf| higher.of_leaf[leaf]).collect(),
    };
    let mut rest = Hierarchy {
        leaves: published.labels.iter().map(String::as_str).collect(),
        levels: hierarchy.levels[level..].iter().map(over).collect(),
    };
    rest.close();
    rest
}
