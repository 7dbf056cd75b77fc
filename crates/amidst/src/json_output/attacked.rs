//! What `amidst attack` prints.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::attack::Attacked;
use crate::json;

impl Attacked {
    /// What `amidst attack --json` prints.
    pub fn to_json(&self) -> Value {
        let mut columns = Map::new();
        for (name, findings, worst) in &self.columns {
            let mut object = Map::new();
            for (key, n) in [("classes", findings.classes), ("rows", findings.rows), ("persons", findings.persons)] {
                object.insert(key.to_string(), json!(n));
            }
            object.extend(findings.figures.iter().map(|(key, x)| (key.clone(), json::number(*x))));
            let worst: Vec<Value> = worst
                .iter()
                .map(|w| {
                    let cells = w.cells.as_ref().map(|c| c.iter().cloned().collect::<BTreeMap<_, _>>());
                    json!({"cells": cells, "size": w.size})
                })
                .collect();
            object.insert("worst".to_string(), Value::Array(worst));
            columns.insert(name.clone(), Value::Object(object));
        }
        let hardest = self.columns.iter().map(|(_, f, _)| f).max_by_key(|f| f.rows);
        json!({
            "attack": self.entry.id,
            "assumes": self.entry.assumes,
            "definition": self.entry.definition,
            "citation": self.entry.citation,
            "classes": hardest.map(|f| f.classes),
            "rows": hardest.map(|f| f.rows),
            "persons": hardest.map(|f| f.persons),
            "columns": columns,
            "skipped": self.skipped.iter().cloned().collect::<BTreeMap<_, _>>(),
        })
    }
}
