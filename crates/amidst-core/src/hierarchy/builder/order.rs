//! `order`: an ordered list of values, in groups of neighbours.
//!
//! Level i holds groups of `groups[i]` neighbours, counted from the start of the list; the last group may be smaller. A
//! group is labelled by its ends, `[9th-10th]`, or by its value when it has only one. Sizes are multiples of each
//! other, so that groups nest. `*` is added when the last size leaves more than one group; without `groups` it is the
//! only level. The list also ranks the values, for ranges and for ordered distances.

use super::Builder;
use crate::hierarchy::{Hierarchy, HierarchyError, Level, Recipe};
use crate::table::{Column, Dictionary};

pub(super) const BUILDER: Builder = Builder {
    id: "order",
    definition: "An ordered list of values, in groups of neighbours; one group size a level, each a multiple of the one \
                 before.",
    example: "{ order = [\"9th\", \"10th\", \"11th\", \"12th\"], groups = [2, 4] }",
    options: &["groups"],
    categorical: true,
    by_value: false,
    reads_file: false,
    build,
};

fn build(recipe: &Recipe<'_>, _column: &Column) -> Result<Hierarchy, HierarchyError> {
    let mut leaves = Dictionary::default();
    for item in recipe.list("order", "[\"9th\", \"10th\"]")? {
        let value = item.text().ok_or_else(|| HierarchyError::new("order", "`order` must be a list of values"))?;
        let before = leaves.len();
        leaves.intern(&value);
        if leaves.len() == before {
            return Err(HierarchyError::new("order", format!("`{value}` stands twice in `order`")));
        }
    }
    let mut levels: Vec<Level> = Vec::new();
    let mut before = 1;
    let sizes = match recipe.get("groups") {
        None => &[],
        Some(_) => recipe.list("groups", "[2, 4]")?,
    };
    for size in sizes {
        let size = size.number().and_then(|n| n.to_u64()).map(|n| n as usize).filter(|n| *n >= 2);
        let size =
            size.ok_or_else(|| HierarchyError::new("groups", "a group size must be a whole number from 2 on"))?;
        if size <= before || size % before != 0 {
            let message = format!(
                "group size {size} is no multiple of {before} greater than it, so the groups would not nest; \
                 each size must be a multiple of the one before, such as [2, 4]"
            );
            return Err(HierarchyError::new("groups", message));
        }
        if before >= leaves.len() {
            let message = format!("group size {before} already holds all {} values; remove {size}", leaves.len());
            return Err(HierarchyError::new("groups", message));
        }
        let label = |group: usize| {
            let first = leaves.value((group * size) as u32);
            let last = leaves.value((group * size + size).min(leaves.len()) as u32 - 1);
            if first == last { first.to_string() } else { format!("[{first}-{last}]") }
        };
        let level = Level::by_key((0..leaves.len()).map(|place| place / size), label);
        // `[a-b-c]` may be a to b-c or a-b to c.
        if let Some(twice) = level.ambiguous_label() {
            let message = format!("two groups of {size} would both be called `{twice}`; rename a value");
            return Err(HierarchyError::new("groups", message));
        }
        levels.push(level);
        before = size;
    }
    let mut hierarchy = Hierarchy { leaves, levels };
    hierarchy.close();
    Ok(hierarchy)
}

#[cfg(test)]
mod tests {
    use crate::hierarchy::tests::{list, make, table};
    use crate::table::Column;

    #[test]
    fn neighbours_form_groups() {
        let column = Column::from_values("grade", ["9th"]);
        let grades = list(["9th", "10th", "11th", "12th", "more"]);
        let h = make(table([("order", grades), ("groups", list(["2", "4"]))]), &column).unwrap();
        let paths: Vec<_> = h.paths().collect();
        assert_eq!(paths[1], ("10th", vec!["[9th-10th]", "[9th-12th]", "*"]));
        assert_eq!(paths[4], ("more", vec!["more", "more", "*"]));
    }

    #[test]
    fn a_group_of_all_is_the_top() {
        let h = make(table([("order", list(["a", "b"])), ("groups", list(["2"]))]), &Column::new("x")).unwrap();
        assert_eq!((h.height(), h.label(1, 1)), (1, "[a-b]"));
        assert_eq!(make(table([("order", list(["a", "b"]))]), &Column::new("x")).unwrap().label(0, 1), "*");
    }

    #[test]
    fn bad_lists_are_refused() {
        let key = |recipe| make(recipe, &Column::new("x")).unwrap_err().key;
        assert_eq!(key(table([("order", list(["a", "a"]))])), "order");
        assert_eq!(key(table([("order", list([]))])), "order");
        let order = || ("order", list(["a", "b", "c", "d", "e"]));
        assert_eq!(key(table([order(), ("groups", list(["2", "3"]))])), "groups");
        assert_eq!(key(table([order(), ("groups", list(["1"]))])), "groups");
        assert_eq!(key(table([order(), ("groups", list(["5", "10"]))])), "groups");
        let same = list(["a-b", "c", "a", "b-c"]);
        assert_eq!(key(table([("order", same), ("groups", list(["2"]))])), "groups");
    }
}
