//! What a policy may say, told to people (docs/policy.md, `amidst explain policy`) and to editors (`amidst schema`).

use std::fmt::Write;

use amidst_core::hierarchy::BUILDERS;
use amidst_core::model::MODELS;
use amidst_core::parameter;
use amidst_core::{algorithm, metric};
use serde_json::{Map, Value, json};

use super::keys::{Key, Kind, SECTIONS, Section};
use super::{ROLES, Role};

/// What a role means.
pub fn role_meaning(role: Role) -> &'static str {
    match role {
        Role::Identifying => "names a person: never read, never published",
        Role::Quasi => "others may know it: published generalized, so that everybody is amidst others",
        Role::Sensitive => {
            "nobody should learn it: published as it is, its link to a person protected by the requirements"
        }
        Role::Insensitive => "published as it is, protected by nothing; refused where it singles people out",
        Role::Key => {
            "tells persons apart who have several rows, so that they count once; several such columns do so together; never published"
        }
        Role::Consent => "says who waived protection; never published",
    }
}

/// The reference as a page of Markdown.
pub fn markdown() -> String {
    let mut out = String::from(
        "# The policy file\n\nEvery key of a policy, made from the table that the parser reads \
         (`crates/amidst/src/policy/keys.rs`); a test holds this page to it. A policy is TOML; paths in it are relative to \
         its folder. Numbers may be written as numbers or as texts with a decimal or a fraction (`\"1/3\"`); both are exact. \
         `amidst explain policy` prints the same, `amidst schema` a JSON schema for editors.\n",
    );
    for section in SECTIONS {
        let _ = write!(out, "\n## `{}`\n\n{}\n\n", section.heading, section.help);
        out.push_str("| key | value | without it | meaning | example |\n| --- | --- | --- | --- | --- |\n");
        for key in section.keys {
            let cell = |text: &str| text.replace('|', "\\|");
            let roles = of_roles(key);
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {}{} | `{} = {}` |",
                key.name,
                cell(&key.kind.words()),
                cell(key.default),
                cell(key.help),
                roles,
                key.name,
                cell(key.example)
            );
        }
        match section.name {
            "columns" => {
                out.push_str("\n### Roles\n\n| role | meaning |\n| --- | --- |\n");
                for (name, role) in ROLES {
                    let _ = writeln!(out, "| `{name}` | {} |", role_meaning(*role));
                }
                out.push_str("\n### Hierarchies\n\n| builder | what it makes | example |\n| --- | --- | --- |\n");
                for builder in BUILDERS {
                    let _ = writeln!(out, "| `{}` | {} | `{}` |", builder.id, builder.definition, builder.example);
                }
            }
            "require" => {
                out.push_str("\n| model | parameters |\n| --- | --- |\n");
                for model in MODELS {
                    let names: Vec<String> =
                        model.parameters.iter().map(|p| format!("`{}`: {}", p.name, p.help)).collect();
                    let _ = writeln!(out, "| `{}` | {} |", model.id, names.join("; ").replace('|', "\\|"));
                }
            }
            _ => {}
        }
    }
    out
}

fn of_roles(key: &Key) -> String {
    let names: Vec<&str> = key.roles.iter().map(|r| r.name()).collect();
    if names.is_empty() { String::new() } else { format!(" ({} columns)", names.join(" and ")) }
}

/// One section as text for a terminal.
pub fn text(section: &Section) -> String {
    let mut out = format!("{}\n  {}\n", section.heading, section.help);
    for key in section.keys {
        let words = key.kind.words().replace('`', "");
        let _ = write!(
            out,
            "\n{} = {}\n    {}{}\n    {}; without it: {}\n",
            key.name,
            key.example,
            key.help,
            of_roles(key),
            words,
            key.default
        );
    }
    out
}

/// A JSON schema of policies.
pub fn schema() -> Value {
    let mut properties = Map::new();
    for section in SECTIONS {
        let one = match section.name {
            "require" => json!({ "type": "array", "items": requirement(), "description": section.help }),
            "columns" => {
                let column = with_keys(section, &["role"]);
                json!({ "type": "object", "additionalProperties": column, "description": section.help })
            }
            _ if section.heading.starts_with("[[") => {
                json!({ "type": "array", "items": with_keys(section, &[]), "description": section.help })
            }
            _ => with_keys(section, &[]),
        };
        properties.insert(section.name.to_string(), one);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A policy of Amidst",
        "type": "object",
        "additionalProperties": false,
        "required": ["columns"],
        "properties": properties,
    })
}

fn with_keys(section: &Section, required: &[&str]) -> Value {
    let mut properties = Map::new();
    for key in section.keys {
        let mut value = match (section.name, key.name) {
            ("search", "algorithm") => {
                json!({ "enum": algorithm::ALGORITHMS.iter().map(|a| a.id).collect::<Vec<_>>() })
            }
            ("search", "metric") => json!({ "enum": metric::METRICS.iter().map(|m| m.id).collect::<Vec<_>>() }),
            _ => kind(key.kind),
        };
        if let Value::Object(map) = &mut value {
            map.insert(
                "description".to_string(),
                json!(format!("{}{}. Without it: {}", key.help, of_roles(key), key.default)),
            );
        }
        properties.insert(key.name.to_string(), value);
    }
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "description": section.help,
        "properties": properties,
    })
}

fn single() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}

fn kind(kind: Kind) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Texts => json!({ "type": ["array", "string"], "items": single() }),
        Kind::Number | Kind::Share => json!({ "type": ["number", "string"] }),
        Kind::Whole => json!({ "type": "integer" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Lists => json!({ "type": "array", "items": { "type": "array", "items": single() } }),
        Kind::Hierarchy => {
            let one = |b: &amidst_core::hierarchy::Builder| {
                let mut properties: Map<String, Value> = b.options.iter().map(|o| (o.to_string(), json!({}))).collect();
                properties.insert(b.id.to_string(), json!({ "description": b.definition }));
                json!({ "type": "object", "required": [b.id], "properties": properties, "additionalProperties": false })
            };
            json!({ "oneOf": BUILDERS.iter().map(one).collect::<Vec<_>>() })
        }
        Kind::Table => json!({ "type": "object" }),
        Kind::Date => json!({}),
        Kind::Any => json!({}),
    }
}

/// A requirement: one of the models with its parameters.
fn requirement() -> Value {
    let models: Vec<Value> = (MODELS.iter())
        .map(|model| {
            let mut properties = Map::new();
            properties.insert("model".to_string(), json!({ "const": model.id, "description": model.definition }));
            properties.insert("on".to_string(), json!({ "type": ["string", "array"], "items": { "type": "string" } }));
            for p in model.parameters {
                properties.insert(p.name.to_string(), parameter_schema(p));
            }
            let required: Vec<&str> = model.parameters.iter().filter(|p| p.required).map(|p| p.name).collect();
            let required = [vec!["model"], required].concat();
            json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
        })
        .collect();
    json!({ "oneOf": models })
}

fn parameter_schema(p: &parameter::Parameter) -> Value {
    use parameter::Kind as Of;
    let mut value = match p.kind {
        Of::Count => json!({ "type": ["integer", "string"] }),
        Of::Counts => json!({ "type": "array" }),
        Of::Number => json!({ "type": ["number", "string"] }),
        Of::Flag => json!({ "type": "boolean" }),
        Of::Choice(words) => json!({ "enum": words }),
        Of::Value => single(),
        Of::Values | Of::Categories => json!({ "type": "array" }),
        Of::Bounds => json!({ "type": "object" }),
        Of::Weights => json!({}),
        Of::Population => json!({ "type": "string" }),
    };
    if let Value::Object(map) = &mut value {
        map.insert("description".to_string(), json!(p.help));
    }
    value
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::policy::Policy;

    /// A policy with one more line in one of its sections.
    fn with(section: &Section, key: &Key) -> String {
        let role = key.roles.first().map_or("quasi", |r| r.name());
        let mut columns = "[columns.age]\nrole = \"quasi\"\n[columns.disease]\nrole = \"sensitive\"\n".to_string();
        let line = format!("{} = {}\n", key.name, key.example);
        let mut rest = String::new();
        match section.name {
            "columns" if key.name == "role" => columns.push_str(&format!("[columns.x]\n{line}")),
            "columns" => {
                let more = if key.name == "weights" { "categories = [[\"a\"], [\"b\"]]\n" } else { "" };
                let more = if key.name == "order" { "type = \"text\"\n" } else { more };
                let more = if key.name == "level" { "hierarchy = { suppress = true }\n" } else { more };
                columns.push_str(&format!("[columns.x]\nrole = \"{role}\"\n{more}{line}"));
            }
            "require" => {
                let more = if key.name == "on" { "model = \"distinct-l-diversity\"\nl = 2\n" } else { "k = 2\n" };
                rest = format!("[[require]]\n{more}{line}");
            }
            "quasi" => {
                columns.push_str("[columns.zip]\nrole = \"quasi\"\n");
                rest = format!("[[quasi]]\n{line}");
            }
            "search" if key.name == "options" => rest = format!("[search]\nalgorithm = \"mondrian\"\n{line}"),
            _ => rest = format!("{}\n{line}", section.heading),
        }
        format!("{columns}{rest}")
    }

    #[test]
    fn every_example_is_understood() {
        for section in SECTIONS {
            for key in section.keys {
                let text = with(section, key);
                if let Err(errors) = Policy::parse(&text, Path::new("policy.toml")) {
                    panic!("{}: {errors}\n{text}", key.name);
                }
                let Kind::Choice(words) = key.kind else { continue };
                // The line stands last where others of its name stand before it.
                let line = format!("{} = {}", key.name, key.example);
                let (before, after) = text.rsplit_once(&line).unwrap();
                for word in words {
                    let text = format!("{before}{} = \"{word}\"{after}", key.name);
                    let parsed = Policy::parse(&text, Path::new("policy.toml"));
                    assert!(parsed.is_ok(), "{word}: {}\n{text}", parsed.unwrap_err());
                }
            }
        }
    }

    #[test]
    fn the_schema_knows_every_key() {
        let schema = schema();
        for section in SECTIONS {
            let part = &schema["properties"][section.name];
            for key in section.keys.iter().filter(|_| section.name != "require") {
                let of = if section.name == "columns" { &part["additionalProperties"] } else { part };
                let of = if of["items"].is_object() { &of["items"] } else { of };
                assert!(of["properties"][key.name].is_object(), "{} {}", section.name, key.name);
            }
        }
        assert_eq!(schema["properties"]["require"]["items"]["oneOf"].as_array().map(Vec::len), Some(MODELS.len()));
    }
}
