//! `taxonomy`: a tree of named groups.
//!
//! A table names groups, a list or a single text holds their members; a list may also hold tables, for groups beside
//! plain values. Branches of uneven depth are made even from the top down: a group stays at its distance from the root,
//! and a value that hangs high is repeated upward until it meets its group. With one root its name is the top, otherwise
//! `*` is added.

use super::Builder;
use crate::hierarchy::{Hierarchy, HierarchyError, Level, Recipe};
use crate::parameter::Value;
use crate::table::{Column, Dictionary};

pub(super) const BUILDER: Builder = Builder {
    id: "taxonomy",
    definition: "A nested tree of groups. A value that hangs higher than others is repeated upward until it meets its \
                 group.",
    example: "{ taxonomy = { Any = { America = [\"USA\", \"Canada\"], Asia = [\"Japan\"] } } }",
    options: &[],
    categorical: true,
    build,
};

/// Deeper trees are a slip.
const DEEPEST: usize = 64;

fn wrong(message: impl Into<String>) -> HierarchyError {
    HierarchyError::new("taxonomy", message)
}

/// The values of a tree in the order written, each with the groups it is in, the widest first.
#[derive(Default)]
struct Walk {
    groups: Vec<String>,
    leaves: Dictionary,
    paths: Vec<Vec<u32>>,
}

impl Walk {
    fn leaf(&mut self, value: &str, path: &[u32]) -> Result<(), HierarchyError> {
        if self.leaves.code(value).is_some() {
            return Err(wrong(format!("`{value}` stands at two places of the taxonomy; a value has one parent")));
        }
        self.leaves.intern(value);
        self.paths.push(path.to_vec());
        Ok(())
    }

    fn group(&mut self, name: &str, members: &Value, path: &mut Vec<u32>) -> Result<(), HierarchyError> {
        if path.len() >= DEEPEST {
            return Err(wrong(format!("the taxonomy is more than {DEEPEST} groups deep")));
        }
        path.push(self.groups.len() as u32);
        self.groups.push(name.to_string());
        match members {
            Value::List(items) if items.is_empty() => return Err(wrong(format!("the group `{name}` is empty"))),
            Value::Table(entries) if entries.is_empty() => return Err(wrong(format!("the group `{name}` is empty"))),
            members => self.members(name, members, path)?,
        }
        path.pop();
        Ok(())
    }

    fn members(&mut self, name: &str, members: &Value, path: &mut Vec<u32>) -> Result<(), HierarchyError> {
        match members {
            Value::Table(entries) => entries.iter().try_for_each(|(n, m)| self.group(n, m, path)),
            Value::List(items) => items.iter().try_for_each(|item| match item {
                Value::List(_) => Err(wrong(format!("`{name}` holds a list in a list; give the inner one a name"))),
                item => self.members(name, item, path),
            }),
            other => {
                let value = other.text().ok_or_else(|| wrong(format!("`{name}` holds something that is no value")))?;
                self.leaf(&value, path)
            }
        }
    }
}

fn build(recipe: &Recipe<'_>, _column: &Column) -> Result<Hierarchy, HierarchyError> {
    let mut walk = Walk::default();
    match recipe.get("taxonomy") {
        Some(tree @ Value::Table(entries)) if !entries.is_empty() => walk.members("taxonomy", tree, &mut Vec::new())?,
        _ => {
            return Err(wrong(
                "`taxonomy` must be a table, such as { Any = { America = [\"USA\"], Asia = [\"Japan\"] } }",
            ));
        }
    }
    let Walk { groups, leaves, paths } = walk;
    let height = paths.iter().map(Vec::len).max().unwrap_or(0);
    let mut levels = Vec::with_capacity(height + 1);
    for level in 1..=height {
        // The group at this distance from the root, or the value itself where its path is shorter.
        let node = |leaf: usize| paths[leaf].get(height - level).ok_or(leaf as u32).copied();
        let name = |node: Result<u32, u32>| match node {
            Ok(group) => groups[group as usize].as_str(),
            Err(leaf) => leaves.value(leaf),
        };
        let level = Level::by_key((0..leaves.len()).map(node), |node| name(node).to_string());
        // In a release a name is all there is, so at one level it must mean one thing.
        if let Some(label) = level.ambiguous_label() {
            return Err(wrong(format!("two groups on one level are called `{label}`; rename one of them")));
        }
        levels.push(level);
    }
    let mut hierarchy = Hierarchy { leaves, levels };
    hierarchy.close();
    Ok(hierarchy)
}

#[cfg(test)]
mod tests {
    use crate::hierarchy::tests::{list, make, t, table};
    use crate::hierarchy::{Hierarchy, HierarchyError};
    use crate::parameter::Value;
    use crate::table::Column;

    fn tree<const N: usize>(entries: [(&str, Value); N]) -> Value {
        Value::Table(table(entries))
    }

    fn taxonomy(tree: Value) -> Result<Hierarchy, HierarchyError> {
        make(table([("taxonomy", tree)]), &Column::new("country"))
    }

    #[test]
    fn one_root_is_the_top() {
        let h = taxonomy(tree([("Any", tree([("America", list(["USA", "Canada"])), ("Asia", t("Japan"))]))])).unwrap();
        let paths: Vec<_> = h.paths().collect();
        assert_eq!(paths[1], ("Canada", vec!["America", "Any"]));
        assert_eq!(paths[2], ("Japan", vec!["Asia", "Any"]));
    }

    #[test]
    fn uneven_branches_are_filled_from_below() {
        let europe = tree([("EU", tree([("South", list(["Italy"]))]))]);
        let h =
            taxonomy(tree([("Europe", europe), ("Asia", Value::List(vec![t("Japan"), tree([("East", t("China"))])]))]));
        let h = h.unwrap();
        let paths: Vec<_> = h.paths().collect();
        assert_eq!(paths[0], ("Italy", vec!["South", "EU", "Europe", "*"]));
        assert_eq!(paths[1], ("Japan", vec!["Japan", "Japan", "Asia", "*"]));
        assert_eq!(paths[2], ("China", vec!["China", "East", "Asia", "*"]));
    }

    #[test]
    fn a_name_means_one_thing() {
        let message = |tree| taxonomy(tree).unwrap_err().message;
        assert!(message(tree([("A", list(["x"])), ("B", list(["x"]))])).contains("`x` stands at two places"));
        let twice = tree([("A", tree([("Other", t("x"))])), ("B", tree([("Other", t("y"))]))]);
        assert!(message(twice).contains("two groups on one level are called `Other`"));
        assert!(message(tree([("A", list([]))])).contains("`A` is empty"));
        assert!(message(tree([("A", Value::Flag(true))])).contains("no value"));
        assert!(message(tree([("A", Value::List(vec![list(["x"])]))])).contains("list in a list"));
        assert!(message(t("x")).contains("must be a table"));
        assert!(taxonomy(tree([("Private", list(["Private", "Household"]))])).is_ok());
    }
}
