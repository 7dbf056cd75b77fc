//! Edits of a policy: what the page may ask for, applied to its text without touching the rest.
//!
//! An edit may leave a policy that is wrong, such as a requirement on a column that is no longer sensitive: what is
//! wrong is told at its place, and everything else stays. It never leaves a text that is not TOML.

mod taxonomy;

use std::fmt;

use amidst::policy::Role;
use serde::Deserialize;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// A change that the page asks for.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Edit {
    /// Sets the value at a path; an empty one is removed.
    Set {
        /// Where.
        path: Vec<Key>,
        /// How `value` is to be understood.
        #[serde(default)]
        kind: Kind,
        /// What was typed.
        value: String,
    },
    /// Gives a column a role.
    Role {
        /// The column.
        column: String,
        /// The name of the role.
        role: String,
    },
    /// Adds requirements.
    Require {
        /// The requirements.
        add: Vec<Wanted>,
        /// Whether they take the place of those that are there.
        #[serde(default)]
        instead: bool,
    },
    /// Removes a requirement.
    Unrequire {
        /// Its position.
        index: usize,
    },
    /// Moves a value of a column's taxonomy into another group, which is made where there is none of that name.
    Move {
        /// The column.
        column: String,
        /// The value.
        value: String,
        /// The group.
        to: String,
    },
    /// Replaces the whole text.
    Text {
        /// The new text.
        value: String,
    },
}

/// A requirement that is wanted.
#[derive(Debug, Clone, Deserialize)]
pub struct Wanted {
    /// The model.
    pub model: String,
    /// The sensitive column that it protects.
    pub on: Option<String>,
    /// Its parameters, as they were typed.
    #[serde(default)]
    pub parameters: Vec<(String, String)>,
}

/// A part of a path: a key, or a position in a list of tables.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Key {
    /// A position.
    Index(usize),
    /// A key.
    Name(String),
}

/// How a typed value is to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// As a text.
    #[default]
    Text,
    /// As a number where it is one, else as a text, so that the policy's own error tells what is wrong.
    Number,
    /// As a list of texts or numbers, with commas between them.
    List,
    /// As a list of texts, with commas between them.
    Texts,
    /// As `true` or `false`.
    Flag,
    /// As TOML.
    Toml,
}

/// An edit that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditError(pub String);

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What an edit makes of a text, and what was done in a few words. `suggestion` is asked for a hierarchy of a column
/// that becomes quasi without one.
///
/// # Errors
/// When the text is not TOML, the path leads nowhere, or the value cannot be understood.
pub fn apply(
    text: &str,
    edit: &Edit,
    suggestion: impl Fn(&str) -> Option<String>,
) -> Result<(String, String), EditError> {
    if let Edit::Text { value } = edit {
        value.parse::<DocumentMut>().map_err(not_toml)?;
        return Ok(("edited as text".to_string(), value.clone()));
    }
    let mut document: DocumentMut = text.parse().map_err(not_toml)?;
    let what = match edit {
        Edit::Set { path, kind, value } => {
            let given = read(*kind, value)?;
            let name = named(&document, path);
            let what = if given.is_none() { format!("removed {name}") } else { format!("{name} = {}", short(value)) };
            set(document.as_table_mut(), path, given)?;
            if path.iter().eq(&["data", "sheet"].map(|key| Key::Name(key.to_string()))) {
                unexplained(document.get_mut("data"), "sheet");
            }
            what
        }
        Edit::Role { column, role } => {
            role_of(&mut document, column, role, suggestion)?;
            format!("{} is {role}", short(column))
        }
        Edit::Require { add, instead } => {
            require(&mut document, add, *instead)?;
            let names: Vec<&str> = add.iter().map(|wanted| wanted.model.as_str()).collect();
            format!("require {}", names.join(", "))
        }
        Edit::Unrequire { index } => {
            let what = named(&document, &[Key::Name("require".into()), Key::Index(*index)]);
            let list = document.get_mut("require").and_then(Item::as_array_of_tables_mut);
            match list.filter(|list| *index < list.len()) {
                Some(list) => list.remove(*index),
                None => return Err(EditError("this requirement is gone already".to_string())),
            };
            format!("removed {what}")
        }
        Edit::Move { column, value, to } => {
            taxonomy::moved(&mut document, column, value, to)?;
            format!("{}: {} is in {}", short(column), short(value), short(to))
        }
        Edit::Text { .. } => String::new(),
    };
    let text = document.to_string();
    // A path may be nested deeper than anybody reads: what could not be opened again is not made.
    text.parse::<DocumentMut>().map_err(not_toml)?;
    Ok((what, text))
}

/// The sections of a policy that stay when it is drafted anew.
const KEPT: [&str; 3] = ["data", "search", "output"];

/// A draft for the same table, with how it is read, searched and written as a policy states it.
///
/// # Errors
/// When either is not TOML.
pub fn redrafted(text: &str, draft: &str) -> Result<String, EditError> {
    let stated: DocumentMut = text.parse().map_err(not_toml)?;
    let mut drafted: DocumentMut = draft.parse().map_err(not_toml)?;
    for name in KEPT {
        let Some(Item::Table(section)) = stated.get(name) else { continue };
        let mut section = section.clone();
        let place = drafted.get(name).and_then(Item::as_table);
        section.set_position(place.and_then(Table::position));
        if let Some(place) = place {
            *section.decor_mut() = place.decor().clone();
        }
        drafted.insert(name, Item::Table(section));
    }
    Ok(drafted.to_string())
}

fn not_toml(error: toml_edit::TomlError) -> EditError {
    EditError(format!("this is not TOML: {}", error.message().lines().next().unwrap_or_default()))
}

/// What was typed, as a value; none where nothing was.
fn read(kind: Kind, typed: &str) -> Result<Option<Value>, EditError> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Ok(None);
    }
    let list = |one: fn(&str) -> Value| {
        let parts = typed.split(',').map(str::trim).filter(|part| !part.is_empty());
        Value::Array(parts.map(one).collect::<Array>())
    };
    Ok(Some(match kind {
        Kind::Text => Value::from(typed),
        Kind::Number => number(typed),
        Kind::List => list(number),
        Kind::Texts => list(|part| Value::from(part)),
        Kind::Flag => Value::from(typed == "true"),
        Kind::Toml => typed.parse().map_err(not_toml)?,
    }))
}

fn number(typed: &str) -> Value {
    match typed.parse::<Value>() {
        Ok(value @ (Value::Integer(_) | Value::Float(_))) => value,
        _ => Value::from(typed),
    }
}

/// A typed value as a part of a sentence.
fn short(value: &str) -> String {
    const LONGEST: usize = 40;
    let line = value.trim().lines().next().unwrap_or_default();
    match line.chars().count() > LONGEST || value.trim().lines().count() > 1 {
        true => line.chars().take(LONGEST).chain(['…']).collect(),
        false => line.to_string(),
    }
}

/// What a path leads to, in words.
fn named(document: &DocumentMut, path: &[Key]) -> String {
    let mut words = Vec::new();
    let mut item: Option<&Item> = Some(document.as_item());
    for key in path {
        match key {
            Key::Name(name) => {
                words.push(name.clone());
                item = item.and_then(|i| i.get(name.as_str()));
            }
            Key::Index(index) => {
                item = item.and_then(|i| i.get(*index));
                if words.last().is_none_or(|list| list != "require") {
                    words.push(format!("level {}", index + 1));
                    continue;
                }
                let model = item.and_then(|i| i.get("model")).and_then(Item::as_str);
                words.pop();
                words.push(model.map_or_else(|| format!("requirement {}", index + 1), String::from));
            }
        }
    }
    if words.first().is_some_and(|w| w == "columns") {
        words.remove(0);
    }
    short(&words.join(" "))
}

fn nowhere() -> EditError {
    EditError("the policy has changed meanwhile, and what you edited is gone".to_string())
}

fn set(table: &mut dyn TableLike, path: &[Key], given: Option<Value>) -> Result<(), EditError> {
    match path {
        [Key::Name(name)] => {
            match (given, table.get_mut(name).and_then(Item::as_value_mut)) {
                (None, _) => {
                    table.remove(name);
                }
                (Some(mut new), Some(old)) => {
                    *new.decor_mut() = old.decor().clone();
                    *old = new;
                }
                (Some(new), None) => {
                    table.insert(name, Item::Value(new));
                }
            }
            Ok(())
        }
        [Key::Name(name), Key::Index(index)] => {
            let list = table.get_mut(name).and_then(Item::as_array_mut).ok_or_else(nowhere)?;
            place(list, *index, given)
        }
        [Key::Name(name), Key::Index(index), rest @ ..] => match table.get_mut(name) {
            Some(Item::ArrayOfTables(list)) => set(list.get_mut(*index).ok_or_else(nowhere)?, rest, given),
            Some(Item::Value(Value::Array(list))) => {
                let inline = list.get_mut(*index).and_then(Value::as_inline_table_mut);
                set(inline.ok_or_else(nowhere)?, rest, given)
            }
            _ => Err(nowhere()),
        },
        [Key::Name(name), rest @ ..] => {
            if table.get(name).is_none() {
                if given.is_none() {
                    return Ok(());
                }
                let mut made = Table::new();
                made.set_implicit(rest.len() > 1);
                // What is inside of a column is written on its line.
                let inline = rest.len() == 1 && name == "hierarchy";
                table.insert(name, if inline { Item::Value(InlineTable::new().into()) } else { Item::Table(made) });
            }
            let inner = table.get_mut(name).and_then(Item::as_table_like_mut).ok_or_else(nowhere)?;
            set(inner, rest, given)
        }
        _ => Err(nowhere()),
    }
}

/// Puts a value into a list; nothing takes out what is there, and one behind the last is added.
fn place(list: &mut Array, index: usize, given: Option<Value>) -> Result<(), EditError> {
    match given {
        None if index < list.len() => {
            list.remove(index);
        }
        None => {}
        Some(new) if index < list.len() => {
            list.replace(index, new);
        }
        Some(new) if index == list.len() => list.push(new),
        Some(_) => return Err(nowhere()),
    }
    Ok(())
}

/// Takes away what stands beside a value: the reason for a guess is none for what was chosen.
fn unexplained(section: Option<&mut Item>, key: &str) {
    if let Some(value) = section.and_then(|s| s.get_mut(key)).and_then(Item::as_value_mut) {
        value.decor_mut().set_suffix("");
    }
}

fn role_of(
    document: &mut DocumentMut,
    column: &str,
    role: &str,
    suggestion: impl Fn(&str) -> Option<String>,
) -> Result<(), EditError> {
    let path = |key: &str| [Key::Name("columns".into()), Key::Name(column.into()), Key::Name(key.into())];
    set(document.as_table_mut(), &path("role"), Some(Value::from(role)))?;
    let section = document.get_mut("columns").and_then(|c| c.get_mut(column));
    unexplained(section, "role");
    let section = document.get_mut("columns").and_then(|c| c.get_mut(column)).and_then(Item::as_table_like_mut);
    let section = section.ok_or_else(nowhere)?;
    let quasi = role == Role::Quasi.name();
    let searched = quasi || role == Role::Sensitive.name();
    // What only other roles know would be an error; undo brings it back.
    let foreign: &[(&str, bool)] = &[
        ("type", searched),
        ("hierarchy", searched),
        ("weight", quasi),
        ("generalize", quasi),
        ("order", searched),
        ("level", role == Role::Sensitive.name()),
        ("categories", role == Role::Sensitive.name()),
        ("weights", role == Role::Sensitive.name()),
        ("waived", role == Role::Consent.name()),
        ("mode", role == Role::Consent.name()),
        ("accept", role == Role::Insensitive.name()),
    ];
    for (key, _) in foreign.iter().filter(|(_, belongs)| !belongs) {
        section.remove(key);
    }
    if quasi && !section.contains_key("hierarchy") {
        let recipe = suggestion(column).and_then(|toml| toml.parse::<Value>().ok());
        if let Some(recipe) = recipe {
            section.insert("hierarchy", Item::Value(recipe));
        }
    }
    Ok(())
}

fn require(document: &mut DocumentMut, add: &[Wanted], instead: bool) -> Result<(), EditError> {
    if instead {
        document.remove("require");
    }
    let item = document.entry("require").or_insert(Item::ArrayOfTables(toml_edit::ArrayOfTables::new()));
    let Some(list) = item.as_array_of_tables_mut() else {
        return Err(EditError("write the requirements as [[require]] sections, so that one can be added".to_string()));
    };
    for wanted in add {
        let mut table = Table::new();
        table.insert("model", Item::Value(Value::from(wanted.model.as_str())));
        if let Some(on) = &wanted.on {
            table.insert("on", Item::Value(Value::from(on.as_str())));
        }
        for (name, typed) in &wanted.parameters {
            if let Some(value) = read(Kind::Number, typed)? {
                table.insert(name, Item::Value(value));
            }
        }
        table.decor_mut().set_prefix("\n");
        list.push(table);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: &str = "# mine\n[data]\ninput = \"t.csv\" # here\n\n[columns.age]\nrole = \"quasi\"  # a guess\ntype = \"integer\"\n\
                          hierarchy = { intervals = [5, 10] }\n\n[[require]]\nmodel = \"k-anonymity\"\nk = 5 # five\n";

    fn edit(json: serde_json::Value) -> Edit {
        serde_json::from_value(json).unwrap()
    }

    fn applied(json: serde_json::Value) -> (String, String) {
        apply(POLICY, &edit(json), |_| Some("{ suppress = true }".to_string())).unwrap()
    }

    #[test]
    fn only_what_is_edited_changes() {
        let (what, text) =
            applied(serde_json::json!({"op": "set", "path": ["require", 0, "k"], "kind": "number", "value": "6"}));
        assert_eq!((what.as_str(), text), ("k-anonymity k = 6", POLICY.replace("k = 5", "k = 6")));
        let (_, text) = applied(
            serde_json::json!({"op": "set", "path": ["columns", "age", "hierarchy", "intervals"], "kind": "list", "value": "5, 10,20"}),
        );
        assert_eq!(text, POLICY.replace("[5, 10]", "[5, 10, 20]"));
        let (_, text) = applied(
            serde_json::json!({"op": "set", "path": ["search", "max_suppression"], "kind": "number", "value": "1/50"}),
        );
        assert!(text.starts_with(POLICY) && text.ends_with("[search]\nmax_suppression = \"1/50\"\n"), "{text}");
        let guessed = POLICY.replace("[columns", "sheet = \"A\"  # the largest\n\n[columns");
        let sheet = edit(serde_json::json!({"op": "set", "path": ["data", "sheet"], "value": "B"}));
        let (_, text) = apply(&guessed, &sheet, |_| None).unwrap();
        assert_eq!(text, guessed.replace("\"A\"  # the largest", "\"B\""), "a reason for a guess is none for a choice");
        let (_, text) = applied(serde_json::json!({"op": "set", "path": ["data", "input"], "value": ""}));
        assert!(!text.contains("input"), "{text}");
        let (_, text) =
            applied(serde_json::json!({"op": "set", "path": ["columns", "a \"b\"", "role"], "value": "key"}));
        assert_eq!(text.parse::<DocumentMut>().unwrap()["columns"]["a \"b\""]["role"].as_str(), Some("key"));
    }

    #[test]
    fn a_new_draft_keeps_how_a_table_is_read_searched_and_written() {
        let stated = format!("{POLICY}\n[search]\nseed = 7\n\n[utility]\ntarget = \"age\"\n");
        let draft = "# drafted\n[data]\ninput = \"t.csv\"\nmissing = []\n\n[columns.site]\nrole = \"quasi\"\n\n\
                     [[require]]\nmodel = \"k-anonymity\"\nk = 3\n\n[search]\nseed = 1\n";
        let new = redrafted(&stated, draft).unwrap();
        assert_eq!(
            new,
            "# drafted\n[data]\ninput = \"t.csv\" # here\n\n[columns.site]\nrole = \"quasi\"\n\n\
             [[require]]\nmodel = \"k-anonymity\"\nk = 3\n\n[search]\nseed = 7\n"
        );
        assert!(redrafted("[[[", draft).is_err());
    }

    #[test]
    fn break_points_are_edited_level_by_level() {
        let policy = POLICY.replace("intervals = [5, 10]", "ranges = [[18, 30, 65], [65]]");
        let at = |level: usize, value: &str| {
            let path = serde_json::json!(["columns", "age", "hierarchy", "ranges", level]);
            let asked = serde_json::json!({"op": "set", "path": path, "kind": "list", "value": value});
            apply(&policy, &edit(asked), |_| None)
        };
        let (what, text) = at(0, "18, 40").unwrap();
        assert!(what == "age hierarchy ranges level 1 = 18, 40" && text.contains("[[18, 40], [65]]"), "{what}\n{text}");
        assert!(at(1, "").unwrap().1.contains("ranges = [[18, 30, 65]]"));
        assert!(at(2, "80").unwrap().1.contains("[[18, 30, 65], [65], [80]]"));
        assert!(at(2, "").unwrap().1 == policy && at(5, "80").is_err());
    }

    #[test]
    fn a_role_brings_what_it_needs_and_takes_what_it_does_not_know() {
        let (what, text) = applied(serde_json::json!({"op": "role", "column": "age", "role": "identifying"}));
        assert_eq!(what, "age is identifying");
        assert!(!text.contains("hierarchy") && !text.contains("a guess") && text.contains("# five"), "{text}");
        let again = apply(&text, &edit(serde_json::json!({"op": "role", "column": "age", "role": "quasi"})), |_| {
            Some("{ suppress = true }".to_string())
        });
        assert!(again.unwrap().1.contains("hierarchy = { suppress = true }"));
    }

    #[test]
    fn requirements_come_and_go() {
        let add = serde_json::json!({"op": "require", "add": [{"model": "entropy-l-diversity", "on": "x", "parameters": [["l", "3"]]}]});
        let (_, text) = applied(add);
        assert!(text.contains("\n\n[[require]]\nmodel = \"entropy-l-diversity\"\non = \"x\"\nl = 3\n"), "{text}");
        let (what, text) = applied(serde_json::json!({"op": "unrequire", "index": 0}));
        assert!(what == "removed k-anonymity" && !text.contains("require"), "{what}\n{text}");
        let gone = edit(serde_json::json!({"op": "unrequire", "index": 7}));
        assert!(apply(POLICY, &gone, |_| None).is_err());
        let broken = edit(serde_json::json!({"op": "text", "value": "[data\n"}));
        assert!(apply(POLICY, &broken, |_| None).unwrap_err().0.starts_with("this is not TOML"));
    }
}
