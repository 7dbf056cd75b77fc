//! Moving values between the groups of a taxonomy.

use amidst::core::hierarchy::TAXONOMY;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Value};

use super::EditError;

/// Moves a value of a column's taxonomy, or one that it lacks, into a group; a group that is not there is made beside
/// the one that the value was in.
pub(super) fn moved(document: &mut DocumentMut, column: &str, value: &str, to: &str) -> Result<(), EditError> {
    let to = to.trim();
    if to.is_empty() {
        return Err(EditError("name the group".to_string()));
    }
    let recipe = document.get_mut("columns").and_then(|c| c.get_mut(column)).and_then(|c| c.get_mut("hierarchy"));
    let tree = recipe.and_then(|r| r.get_mut(TAXONOMY.id));
    let Some(Item::Value(Value::InlineTable(tree))) = tree else {
        return Err(EditError(format!("`{column}` has no taxonomy that is written in the policy")));
    };
    let known = has_group(tree, to);
    let was_in = taken(tree, value, (!known).then_some(to));
    if !was_in && !known {
        // A value of the table that the taxonomy lacked gets its group right below the root.
        let root = tree.iter_mut().find_map(|(_, inner)| inner.as_inline_table_mut());
        let Some(root) = root else {
            return Err(EditError(format!(
                "the taxonomy has no groups beside which `{to}` could stand; edit it as TOML"
            )));
        };
        root.insert(to, Value::Array([value].into_iter().collect()));
        return Ok(());
    }
    match known && !put(tree, value, to) {
        true => Err(EditError(format!("`{to}` holds groups, not values; choose one of those"))),
        false => Ok(()),
    }
}

fn has_group(tree: &InlineTable, name: &str) -> bool {
    tree.iter().any(|(key, inner)| key == name || inner.as_inline_table().is_some_and(|t| has_group(t, name)))
}

/// Takes a value out of its group, and makes the group `new` beside that group with the value in it.
fn taken(tree: &mut InlineTable, value: &str, new: Option<&str>) -> bool {
    let mut here = false;
    for (_, inner) in tree.iter_mut() {
        if let Some(list) = inner.as_array_mut() {
            let at = list.iter().position(|v| v.as_str() == Some(value));
            if let Some(at) = at {
                list.remove(at);
                here = true;
            }
        }
        if inner.as_inline_table_mut().is_some_and(|inner| taken(inner, value, new)) {
            return true;
        }
    }
    // A group that holds nothing any more is none.
    let empty: Vec<String> =
        tree.iter().filter(|(_, v)| v.as_array().is_some_and(Array::is_empty)).map(|(k, _)| k.to_string()).collect();
    for key in empty {
        tree.remove(&key);
    }
    if let (true, Some(new)) = (here, new) {
        tree.insert(new, Value::Array([value].into_iter().collect()));
    }
    here
}

fn put(tree: &mut InlineTable, value: &str, to: &str) -> bool {
    match tree.get_mut(to) {
        Some(Value::Array(list)) => {
            list.push(value);
            return true;
        }
        Some(_) => return false,
        None => {}
    }
    let inner = tree.iter_mut().filter_map(|(_, inner)| inner.as_inline_table_mut());
    inner.into_iter().any(|inner| put(inner, value, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str =
        "[columns.a]\nhierarchy = { taxonomy = { Any = { X = [\"a\", \"b\"], Y = [\"c\"] } } } # kept\n";

    fn after(value: &str, to: &str) -> Result<String, EditError> {
        let mut document: DocumentMut = POLICY.parse().unwrap();
        moved(&mut document, "a", value, to).map(|()| document.to_string())
    }

    #[test]
    fn values_move_between_groups() {
        let text = after("b", "Y").unwrap();
        assert!(text.contains("X = [\"a\"], Y = [\"c\", \"b\"]") && text.contains("# kept"), "{text}");
        let text = after("c", "X").unwrap();
        assert!(!text.contains("Y =") && text.contains("[\"a\", \"b\", \"c\"]"), "{text}");
        let text = after("b", "New one").unwrap();
        let document: DocumentMut = text.parse().unwrap();
        let group = document["columns"]["a"]["hierarchy"]["taxonomy"]["Any"]["New one"].as_array().unwrap();
        assert_eq!(group.get(0).and_then(Value::as_str), Some("b"));
    }

    #[test]
    fn values_that_the_taxonomy_lacks_come_in() {
        let text = after("z", "X").unwrap();
        assert!(text.contains("X = [\"a\", \"b\", \"z\"]"), "{text}");
        let document: DocumentMut = after("z", "New one").unwrap().parse().unwrap();
        let group = document["columns"]["a"]["hierarchy"]["taxonomy"]["Any"]["New one"].as_array().unwrap();
        assert_eq!(group.get(0).and_then(Value::as_str), Some("z"));
    }

    #[test]
    fn what_cannot_be_moved_is_told() {
        assert!(after("a", "Any").unwrap_err().0.contains("holds groups"));
        assert!(after("a", " ").is_err());
        let mut document: DocumentMut = "[columns.a]\nrole = \"quasi\"\n".parse().unwrap();
        assert!(moved(&mut document, "a", "x", "y").is_err());
    }
}
