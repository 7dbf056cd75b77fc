//! `prefix`: what stands before the first separator.

use super::Builder;
use crate::hierarchy::{Hierarchy, HierarchyError, Level, Recipe};
use crate::parameter::Value;
use crate::table::Column;

pub(super) const BUILDER: Builder = Builder {
    id: "prefix",
    definition: "Level 1 is what stands before the first of the characters given: with \"-/\", Clerk-senior and Clerk/junior \
                 become Clerk.",
    example: "{ prefix = \"-/\" }",
    options: &[],
    categorical: true,
    by_value: false,
    reads_file: false,
    build,
};

/// What stands before the first separator; all of it where there is none, or nothing before it.
pub(in crate::hierarchy) fn stem<'v>(value: &'v str, separators: &str) -> &'v str {
    let cut = value.char_indices().find(|(at, c)| *at > 0 && separators.contains(*c));
    cut.map_or(value, |(at, _)| value[..at].trim_end())
}

fn build(recipe: &Recipe<'_>, column: &Column) -> Result<Hierarchy, HierarchyError> {
    let separators = match recipe.get("prefix") {
        Some(Value::Text(text)) if !text.is_empty() => text,
        _ => return Err(HierarchyError::new("prefix", "`prefix` must be the characters that end it, such as \"-/\"")),
    };
    let leaves = column.dictionary.clone();
    let level = Level::by_key(leaves.iter().map(|value| stem(value, separators)), str::to_string);
    let mut hierarchy = Hierarchy { levels: vec![level], leaves: leaves.clone() };
    hierarchy.close();
    Ok(hierarchy)
}

#[cfg(test)]
mod tests {
    use crate::hierarchy::tests::{make, t, table};
    use crate::table::Column;

    #[test]
    fn what_stands_before_a_separator_is_the_group() {
        let column = Column::from_values("job", ["Clerk-senior", "Clerk/junior", "Clerk", "Cook", "-x"]);
        let h = make(table([("prefix", t("-/"))]), &column).unwrap();
        let group = |value: &str| h.paths().find(|p| p.0 == value).map(|p| p.1[0].to_string()).unwrap();
        assert_eq!(
            ["Clerk-senior", "Clerk/junior", "Clerk", "Cook", "-x"].map(group),
            ["Clerk", "Clerk", "Clerk", "Cook", "-x"]
        );
        assert!(make(table([("prefix", t(""))]), &column).is_err());
    }
}
