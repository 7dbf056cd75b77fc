//! The builders: one file each, listed in [`BUILDERS`].
//!
//! May use: `parameter`, `table`, the rest of `hierarchy`, and what those use.

mod common;
mod countries;
mod dates;
mod file;
mod icd10;
mod intervals;
mod mask;
mod order;
pub(in crate::hierarchy) mod prefix;
mod ranges;
mod suppress;
mod taxonomy;

use super::recipe::nearest;
use super::{Defect, Hierarchy, HierarchyError, Recipe};
use crate::parameter::Value;
use crate::table::{Column, ValueType};

/// Every builder, by the key that names it in a policy.
pub const BUILDERS: &[Builder] = &[
    file::BUILDER,
    intervals::BUILDER,
    ranges::BUILDER,
    mask::BUILDER,
    taxonomy::BUILDER,
    dates::BUILDER,
    order::BUILDER,
    common::BUILDER,
    prefix::BUILDER,
    icd10::BUILDER,
    countries::BUILDER,
    suppress::BUILDER,
];

/// The builder of named groups, which the studio edits value by value.
pub const TAXONOMY: &Builder = &taxonomy::BUILDER;

/// Builders that are proposed for columns, under names of Rust instead of texts.
pub(in crate::hierarchy) mod named {
    use super::Builder;

    pub const COMMON: &Builder = &super::common::BUILDER;
    pub const COUNTRIES: &Builder = &super::countries::BUILDER;
    pub const DATES: &Builder = &super::dates::BUILDER;
    pub const ICD10: &Builder = &super::icd10::BUILDER;
    pub const INTERVALS: &Builder = &super::intervals::BUILDER;
    pub const MASK: &Builder = &super::mask::BUILDER;
    pub const PREFIX: &Builder = &super::prefix::BUILDER;
    pub const SUPPRESS: &Builder = &super::suppress::BUILDER;
}

/// One way to make a hierarchy.
#[derive(Debug, Clone, Copy)]
pub struct Builder {
    /// The key in a policy: `hierarchy = { <id> = … }`.
    pub id: &'static str,
    /// What it does.
    pub definition: &'static str,
    /// An example of the whole value of `hierarchy`, in TOML.
    pub example: &'static str,
    /// The other keys that may stand beside it.
    pub options: &'static [&'static str],
    /// Whether it makes its column categorical whatever the type of the values: a masked postcode is no number.
    pub categorical: bool,
    /// Whether it looks at the number or day that a text stands for, and not at how the text is written: 01 is 1.
    pub by_value: bool,
    /// Whether a text behind its key is the name of a file that it reads.
    pub reads_file: bool,
    /// Makes the hierarchy for the values that `column` has.
    pub build: fn(&Recipe<'_>, &Column) -> Result<Hierarchy, HierarchyError>,
}

/// The one builder that the keys of a recipe name; every other key must be one of its options.
pub fn builder_of(table: &[(String, Value)]) -> Result<&'static Builder, HierarchyError> {
    let mut named = table.iter().filter_map(|(key, _)| BUILDERS.iter().find(|b| b.id == key));
    let Some(builder) = named.next() else {
        let ids: Vec<&str> = BUILDERS.iter().map(|b| b.id).collect();
        let all = ids.join(", ");
        return Err(match table.first() {
            None => HierarchyError::new("", format!("`hierarchy` is empty; it is made by one of {all}")),
            Some((key, _)) => match table.iter().find_map(|(k, _)| nearest(k, ids.iter().copied()).map(|n| (k, n))) {
                Some((key, near)) => HierarchyError::new(key, format!("unknown key `{key}`; did you mean `{near}`?")),
                None => HierarchyError::new(key, format!("`{key}` makes no hierarchy; use one of {all}")),
            },
        });
    };
    if let Some(second) = named.find(|b| b.id != builder.id) {
        let message = format!(
            "`{}` and `{}` both make a hierarchy; a column has one, so keep one of them",
            builder.id, second.id
        );
        return Err(HierarchyError::new(second.id, message));
    }
    for (key, _) in table {
        if key != builder.id && !builder.options.contains(&key.as_str()) {
            let hint = match (nearest(key, builder.options.iter().copied()), builder.options) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, []) => format!("`{}` takes no other keys", builder.id),
                (None, options) => format!("beside `{}` may stand {}", builder.id, options.join(", ")),
            };
            return Err(HierarchyError::new(key, format!("unknown key `{key}`; {hint}")));
        }
    }
    Ok(builder)
}

/// Makes the hierarchy that a policy describes, for the values that `column` has.
pub fn build(recipe: &Recipe<'_>, column: &Column) -> Result<Hierarchy, HierarchyError> {
    let builder = builder_of(recipe.table)?;
    let mut hierarchy = (builder.build)(recipe, column)?;
    for token in recipe.missing {
        if column.dictionary.code(token).is_some_and(|code| column.dictionary.value(code) == token) {
            hierarchy.add_loner(token);
        }
    }
    Ok(hierarchy)
}

/// Whether a column of type `kind` with this recipe (if any) counts as numeric for information loss.
pub fn is_numeric(kind: ValueType, recipe: Option<&[(String, Value)]>) -> bool {
    let categorical = recipe.and_then(|table| builder_of(table).ok()).is_some_and(|b| b.categorical);
    kind.is_numeric() && !categorical
}

/// Whether a recipe looks at the numbers or days that texts stand for, and not at how they are written.
pub fn is_by_value(table: &[(String, Value)]) -> bool {
    table.iter().any(|(key, _)| BUILDERS.iter().any(|b| b.id == key && b.by_value))
}

/// Whether a text behind this key of a recipe is the name of a file.
pub fn reads_file(key: &str) -> bool {
    BUILDERS.iter().any(|b| b.id == key && b.reads_file)
}

/// The rank order of the values that a recipe implies: that of an `order`.
pub fn implied_order(table: &[(String, Value)]) -> Option<Vec<String>> {
    match table.iter().find(|(key, _)| key == order::BUILDER.id) {
        Some((_, Value::List(items))) => items.iter().map(Value::text).collect(),
        _ => None,
    }
}

/// What is odd in a hierarchy although it can be used: levels that merge nothing, a file without a single top.
pub fn remarks(recipe: &Recipe<'_>, hierarchy: &Hierarchy) -> Vec<Defect> {
    let mut remarks = Vec::new();
    // The levels of the other builders are what the policy states; that few values fall into them is no oddity.
    if recipe.get(file::BUILDER.id).is_some() {
        for level in hierarchy.idle_levels() {
            let message =
                format!("level {level} is not coarser than level {}: it merges nothing and can be left out", level - 1);
            remarks.push(Defect { line: None, message });
        }
        if file::top_was_added(recipe, hierarchy) {
            let message =
                format!("the highest level has more than one label; `*` was added as level {}", hierarchy.height());
            remarks.push(Defect { line: None, message });
        }
    }
    remarks
}
