//! What `amidst audit` prints of a table with a policy.

use amidst_core::attack::Findings;
use serde_json::{Map, Value, json};

use crate::audit::Audit;
use crate::json;

impl Audit {
    /// What `amidst audit --json` prints.
    pub fn to_json(&self) -> Value {
        let mut risk = json::risk(&self.risk);
        self.population.add_to(&mut risk);
        let mut measured = Map::new();
        for m in &self.measured {
            let place = match &m.column {
                None => &mut measured,
                Some(column) => {
                    let slot = measured.entry(column.clone()).or_insert_with(|| json!({}));
                    match slot.as_object_mut() {
                        Some(object) => object,
                        None => continue,
                    }
                }
            };
            let value = json::level(&m.level);
            if m.level.sign() != "=" {
                // The definition says "less than": what is listed is just too strong, anything weaker holds.
                place.insert(format!("{}_open", m.key), json!(true));
            }
            match m.at {
                None => {
                    place.insert(m.key.to_string(), value);
                }
                Some(at) => {
                    let series = place.entry(m.key).or_insert_with(|| json!({}));
                    if let Some(object) = series.as_object_mut() {
                        object.insert(at.to_string(), value);
                    }
                }
            }
        }
        let mut attacks = Map::new();
        for (id, columns) in &self.attacks {
            // The figures of the column that is hit hardest stand for the attack; each column's own follow by name.
            let worst = columns.iter().max_by_key(|(_, f)| f.rows).map(|(_, f)| f.clone()).unwrap_or_default();
            let mut object = findings(&worst);
            let by_column: Map<String, Value> =
                columns.iter().map(|(name, f)| (name.clone(), Value::Object(findings(f)))).collect();
            object.insert("columns".into(), Value::Object(by_column));
            attacks.insert(id.to_string(), Value::Object(object));
        }
        let histogram: Vec<Value> = self.sizes.counts.iter().map(|&(s, n)| json!({"size": s, "classes": n})).collect();
        json!({
            "rows": self.rows,
            "classes": self.classes,
            "quasi": self.quasi,
            "measured": measured,
            "risk": risk,
            "class_sizes": histogram,
            "attacks": attacks,
            "requirements": self.requirements,
            "holds": self.holds,
            "notes": self.remarks,
            "peak_memory_bytes": crate::peak_memory_bytes(),
        })
    }
}

fn findings(f: &Findings) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("classes".into(), json!(f.classes));
    object.insert("rows".into(), json!(f.rows));
    for (name, value) in &f.figures {
        object.insert(name.clone(), json::number(*value));
    }
    object
}
