//! What a policy may say, told to editors: the JSON schema that `amidst schema` prints.

use amidst_core::hierarchy::BUILDERS;
use amidst_core::model::MODELS;
use amidst_core::parameter;
use amidst_core::{algorithm, metric};
use serde_json::{Map, Value, json};

use crate::policy::keys::{Kind, SECTIONS, Section};
use crate::policy::reference::of_roles;

/// A JSON schema of policies.
pub fn policy_schema() -> Value {
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
    use super::*;

    #[test]
    fn the_schema_knows_every_key() {
        let schema = policy_schema();
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
