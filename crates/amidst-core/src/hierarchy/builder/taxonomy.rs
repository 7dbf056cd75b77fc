//! `taxonomy`: a tree of named groups.
//!
//! A table names groups, a list or a single text holds their members; a list may also hold tables, for groups beside
//! plain values. Branches of uneven depth are made even from the top down: a group stays at its distance from the root,
//! and a value that hangs high is repeated upward until it meets its group. With one root its name is the top,
//! otherwise `*` is added. A text instead of a table names a JSON file that holds such a tree.

use serde_json::Value as Json;

use super::Builder;
use crate::hierarchy::{Hierarchy, HierarchyError, Level, Recipe};
use crate::parameter::Value;
use crate::table::{Column, Dictionary};

pub(super) const BUILDER: Builder = Builder {
    id: "taxonomy",
    definition: "A nested tree of groups. A value that hangs higher than others is repeated upward until it meets its \
                 group. A text names a JSON file that holds the tree.",
    example: "{ taxonomy = { Any = { America = [\"USA\", \"Canada\"], Asia = [\"Japan\"] } } }",
    options: &[],
    categorical: true,
    by_value: false,
    reads_file: true,
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

fn grow(walk: &mut Walk, tree: &Value) -> Result<(), HierarchyError> {
    match tree {
        Value::Table(entries) if !entries.is_empty() => walk.members("taxonomy", tree, &mut Vec::new()),
        _ => Err(wrong("a taxonomy must be a table, such as { Any = { America = [\"USA\"], Asia = [\"Japan\"] } }")),
    }
}

/// The tree in the JSON file called `name`.
fn from_json(recipe: &Recipe<'_>, name: &str) -> Result<Value, HierarchyError> {
    let fail = |line, message| HierarchyError { file: Some(name.to_string()), line, ..wrong(message) };
    let text = (recipe.read)(name).map_err(|why| fail(None, format!("cannot read the taxonomy: {why}")))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let json: Json =
        serde_json::from_str(text).map_err(|e| fail(Some(e.line()), format!("the taxonomy is not valid JSON: {e}")))?;
    Ok(convert(json))
}

fn convert(json: Json) -> Value {
    match json {
        Json::Object(entries) => Value::Table(entries.into_iter().map(|(k, v)| (k, convert(v))).collect()),
        Json::Array(items) => Value::List(items.into_iter().map(convert).collect()),
        Json::String(text) => Value::Text(text),
        // A value of the column is a text; the number stays as JSON writes it.
        Json::Number(n) => Value::Text(n.to_string()),
        Json::Bool(b) => Value::Flag(b),
        Json::Null => Value::List(Vec::new()),
    }
}

fn build(recipe: &Recipe<'_>, _column: &Column) -> Result<Hierarchy, HierarchyError> {
    let mut walk = Walk::default();
    match recipe.get("taxonomy") {
        Some(Value::Text(file)) => {
            let tree = from_json(recipe, file)?;
            // The tree is wrong where the file is; the key only names it.
            grow(&mut walk, &tree).map_err(|e| HierarchyError { file: Some(file.clone()), ..e })?;
        }
        Some(tree) => grow(&mut walk, tree)?,
        None => return Err(wrong("`taxonomy` is missing")),
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
    use crate::hierarchy::{Hierarchy, HierarchyError, Recipe, build};
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
        assert!(message(Value::Flag(true)).contains("must be a table"));
        assert!(taxonomy(tree([("Private", list(["Private", "Household"]))])).is_ok());
    }

    #[test]
    fn a_tree_may_come_from_json() {
        let recipe = table([("taxonomy", t("places.json"))]);
        let read = |text: &'static str| {
            let read = move |_: &str| Ok(text.to_string());
            build(&Recipe { table: &recipe, read: &read, missing: &[] }, &Column::new("country"))
        };
        let h = read(r#"{"Any": {"Europe": ["Italy", 7], "Asia": "Japan"}}"#).unwrap();
        let paths: Vec<_> = h.paths().collect();
        assert_eq!(
            paths,
            [("Italy", vec!["Europe", "Any"]), ("7", vec!["Europe", "Any"]), ("Japan", vec!["Asia", "Any"])]
        );
        assert_eq!(read("{\n\"Any\": [}").unwrap_err().line, Some(2));
        let error = read(r#"{"A": ["x"], "B": ["x"]}"#).unwrap_err();
        assert_eq!((error.file.as_deref(), error.key.as_str()), (Some("places.json"), "taxonomy"));
    }
}
