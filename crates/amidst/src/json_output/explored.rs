//! What `amidst explore` prints: of a lattice, or of the local algorithms that were compared.
//!
//! A single node is told by [`NodeVerdict`](crate::explore::NodeVerdict), which derives its JSON.

use amidst_core::algorithm;
use amidst_core::internal::lattice::{Explored, Homogeneity};
use serde_json::{Map, Value, json};

use crate::explore::local::Compared;
use crate::json;
use crate::prepare::Prepared;

/// What `amidst explore --json` prints of a lattice.
pub fn explored(prepared: &Prepared, explored: &Explored) -> Value {
    let minimal: Vec<Value> = explored
        .minimal
        .iter()
        .map(|node| {
            let metrics: Map<String, Value> =
                node.metrics.iter().map(|&(id, v)| (id.to_string(), v.map_or(Value::Null, json::number))).collect();
            let published = prepared.set.rows.saturating_sub(node.suppressed);
            json!({
                "levels": levels(prepared, &node.levels),
                "classes": node.classes,
                "suppressed": node.suppressed,
                "mean_class_size": json::number(published as f64 / node.classes.max(1) as f64),
                "metrics": metrics,
                "homogeneity": homogeneity(prepared, &node.homogeneity),
            })
        })
        .collect();
    let front: Vec<Value> = explored
        .front
        .iter()
        .map(|point| {
            json!({
                "levels": levels(prepared, &point.levels),
                "classes": point.classes,
                "smallest_class": point.smallest,
                "risk": {"prosecutor_max": json::number(point.max_risk), "prosecutor_avg": json::number(point.average_risk)},
                "loss": json::number(point.cost),
            })
        })
        .collect();
    json!({
        "minimal": minimal,
        "front": front,
        "nodes": json::number(explored.nodes),
        "nodes_checked": explored.nodes_checked,
        "complete": explored.complete,
    })
}

impl Compared {
    /// What `amidst explore --json` prints for a local recoding. The keys of a lattice are there, and empty.
    pub fn to_json(&self) -> Value {
        let algorithms: Vec<Value> = (self.algorithms.iter())
            .map(|tried| match &tried.judged {
                Ok(judged) => json!({
                    "algorithm": tried.algorithm,
                    "classes": judged.class_count(),
                    "suppressed": judged.suppressed,
                    "requirements": judged.requirements,
                    "metrics": judged.metrics_json(),
                    "risk": json::risk(&judged.risk),
                    "notes": tried.notes,
                    "seconds": json::number(tried.seconds),
                }),
                Err(reason) => json!({"algorithm": tried.algorithm, "unsuited": reason}),
            })
            .collect();
        let front: Vec<Value> = (self.front.iter())
            .map(|point| {
                json!({
                    "algorithm": algorithm::MONDRIAN.id,
                    "k": point.k,
                    "classes": point.classes,
                    "smallest_class": point.risk.smallest,
                    "risk": json::risk(&point.risk),
                    "loss": json::number(point.cost),
                })
            })
            .collect();
        json!({
            "minimal": [],
            "front": front,
            "algorithms": algorithms,
            "nodes": 0,
            "nodes_checked": 0,
            "complete": true,
        })
    }
}

/// The levels of a node by column name.
fn levels(prepared: &Prepared, levels: &[usize]) -> Value {
    Value::Object(prepared.generalizations.iter().zip(levels).map(|(g, l)| (g.name.clone(), json!(l))).collect())
}

/// For each sensitive column the classes of a node that agree on one value, wholly and to 95 %.
fn homogeneity(prepared: &Prepared, found: &[Homogeneity]) -> Value {
    let names = prepared.sensitive.iter().map(|&column| prepared.table.columns[column].name.clone());
    let figures = found.iter().map(|found| {
        json!({
            "classes": found.classes,
            "rows": found.rows,
            "classes_95": found.classes_95,
            "rows_95": found.rows_95,
        })
    });
    Value::Object(names.zip(figures).collect())
}
