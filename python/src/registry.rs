//! The registries as data: what the constructors of the package, their docstrings and their stubs are made from.

use amidst::core::algorithm::ALGORITHMS;
use amidst::core::attack::{ATTACKS, Knowledge};
use amidst::core::hierarchy::BUILDERS;
use amidst::core::metric::METRICS;
use amidst::core::model::{MODELS, Sensitive};
use amidst::core::parameter::{Kind, Parameter};
use amidst::series::MODES;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// All registries, as JSON.
#[pyfunction]
pub fn registries() -> String {
    let models = MODELS.iter().map(|m| {
        let sensitive = match m.sensitive {
            Sensitive::None => "none",
            Sensitive::One => "one",
            Sensitive::OneOrMany => "many",
        };
        json!({"id": m.id, "title": m.title, "definition": m.definition, "citation": m.citation, "sensitive": sensitive,
               "parameters": parameters(m.parameters)})
    });
    let algorithms = ALGORITHMS.iter().map(|a| {
        json!({"id": a.id, "title": a.title, "definition": a.definition, "citation": a.citation,
               "parameters": parameters(a.options)})
    });
    let metrics = METRICS.iter().map(
        |m| json!({"id": m.id, "title": m.title, "definition": m.definition, "citation": m.citation, "parameters": []}),
    );
    let attacks = ATTACKS.iter().map(|a| {
        let needs = match a.needs {
            Knowledge::Release => "release",
            Knowledge::External => "external",
            Knowledge::Population => "population",
            Knowledge::Original => "original",
            Knowledge::Versions => "versions",
        };
        json!({"id": a.id, "title": a.title, "definition": a.definition, "citation": a.citation, "assumes": a.assumes,
               "needs": needs, "parameters": parameters(a.parameters)})
    });
    let hierarchies = BUILDERS
        .iter()
        .map(|b| json!({"id": b.id, "definition": b.definition, "example": b.example, "options": b.options}));
    let modes: Vec<&str> = MODES.iter().map(|(name, _)| *name).collect();
    json!({
        "models": models.collect::<Vec<_>>(),
        "algorithms": algorithms.collect::<Vec<_>>(),
        "metrics": metrics.collect::<Vec<_>>(),
        "attacks": attacks.collect::<Vec<_>>(),
        "hierarchies": hierarchies.collect::<Vec<_>>(),
        "modes": modes,
    })
    .to_string()
}

fn parameters(list: &[Parameter]) -> Vec<Value> {
    let of = |p: &Parameter| {
        let choices = match p.kind {
            Kind::Choice(words) => json!(words),
            _ => Value::Null,
        };
        json!({"name": p.name, "kind": kind(p.kind), "required": p.required, "help": p.help, "choices": choices})
    };
    list.iter().map(of).collect()
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Count => "count",
        Kind::Counts => "counts",
        Kind::Number => "number",
        Kind::Choice(_) => "choice",
        Kind::Flag => "flag",
        Kind::Value => "value",
        Kind::Values => "values",
        Kind::Bounds => "bounds",
        Kind::Categories => "categories",
        Kind::Weights => "weights",
        Kind::Population => "population",
    }
}
