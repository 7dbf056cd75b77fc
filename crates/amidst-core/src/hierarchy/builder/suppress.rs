//! `suppress`: the values and `*`, nothing between.

use super::Builder;
use crate::hierarchy::{Hierarchy, HierarchyError, Level, Recipe};
use crate::parameter::Value;
use crate::table::Column;

pub(super) const BUILDER: Builder = Builder {
    id: "suppress",
    definition: "The value itself or `*`: a hierarchy of height 1.",
    example: "{ suppress = true }",
    options: &[],
    categorical: true,
    by_value: true,
    reads_file: false,
    build,
};

fn build(recipe: &Recipe<'_>, column: &Column) -> Result<Hierarchy, HierarchyError> {
    if recipe.get("suppress") != Some(&Value::Flag(true)) {
        return Err(HierarchyError::new("suppress", "write `suppress = true`, or leave `hierarchy` out"));
    }
    let leaves = column.dictionary.clone();
    let levels = vec![Level::top(leaves.len())];
    Ok(Hierarchy { leaves, levels })
}

#[cfg(test)]
mod tests {
    use crate::hierarchy::tests::{make, table};
    use crate::parameter::Value;
    use crate::table::Column;

    #[test]
    fn every_value_becomes_a_star() {
        let h = make(table([("suppress", Value::Flag(true))]), &Column::from_values("sex", ["M", "F"])).unwrap();
        assert_eq!(h.paths().collect::<Vec<_>>(), [("F", vec!["*"]), ("M", vec!["*"])]);
    }

    #[test]
    fn false_is_refused() {
        let error = make(table([("suppress", Value::Flag(false))]), &Column::from_values("sex", ["M"])).unwrap_err();
        assert_eq!(error.key, "suppress");
    }
}
