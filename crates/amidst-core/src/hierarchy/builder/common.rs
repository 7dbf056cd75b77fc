//! `common`: the values that many rows have stay; all others become one group.
//!
//! Only the common values are written down, so a policy that is handed over names no rare one.

use super::Builder;
use crate::hierarchy::{Hierarchy, HierarchyError, Level, Recipe};
use crate::parameter::Value;
use crate::table::Column;

pub(super) const BUILDER: Builder = Builder {
    id: "common",
    definition: "The values listed stay as they are at level 1, all others become one group, called `others` (`other` where \
                 it is not stated).",
    example: "{ common = [\"Married\", \"Single\"], others = \"other\" }",
    options: &["others"],
    categorical: true,
    by_value: false,
    reads_file: false,
    build,
};

fn build(recipe: &Recipe<'_>, column: &Column) -> Result<Hierarchy, HierarchyError> {
    let listed = recipe.list("common", "[\"Married\", \"Single\"]")?;
    let texts: Option<Vec<String>> = listed.iter().map(Value::text).collect();
    let common = texts.ok_or_else(|| HierarchyError::new("common", "`common` must be a list of values"))?;
    let others = match recipe.get("others") {
        None => "other".to_string(),
        Some(value) => value.text().ok_or_else(|| HierarchyError::new("others", "`others` must be a text"))?,
    };
    if others.is_empty() || common.contains(&others) {
        let message = format!("`{others}` cannot be the name of all others; choose another with `others = \"…\"`");
        return Err(HierarchyError::new("others", message));
    }
    let leaves = column.dictionary.clone();
    let stays: Vec<bool> = leaves.iter().map(|value| common.iter().any(|c| c == value)).collect();
    let key = |leaf: usize| if stays[leaf] { Some(leaf as u32) } else { None };
    let name = |key: Option<u32>| key.map_or_else(|| others.clone(), |leaf| leaves.value(leaf).to_string());
    let level = Level::by_key((0..leaves.len()).map(key), name);
    let mut hierarchy = Hierarchy { levels: vec![level], leaves };
    hierarchy.close();
    Ok(hierarchy)
}

#[cfg(test)]
mod tests {
    use crate::hierarchy::tests::{list, make, t, table};
    use crate::table::Column;

    #[test]
    fn rare_values_become_one_group() {
        let column = Column::from_values("job", ["clerk", "nurse", "smith", "cook"]);
        let h = make(table([("common", list(["clerk", "nurse", "baker"]))]), &column).unwrap();
        let paths: Vec<_> = h.paths().collect();
        assert!(paths.contains(&("clerk", vec!["clerk", "*"])));
        assert!(paths.contains(&("cook", vec!["other", "*"])) && paths.contains(&("smith", vec!["other", "*"])));
    }

    #[test]
    fn the_group_needs_a_name_of_its_own() {
        let column = Column::from_values("job", ["clerk", "other"]);
        let recipe = [("common", list(["clerk", "other"])), ("others", t("other"))];
        assert_eq!(make(table(recipe), &column).unwrap_err().key, "others");
        assert!(make(table([("common", list(["clerk"])), ("others", t("rest"))]), &column).is_ok());
    }
}
