//! What `amidst anonymize` prints.

use amidst_core::metric::KL_DIVERGENCE;
use serde_json::{Map, Value, json};

use crate::anonymize::Anonymized;
use crate::json::{self, number};
use crate::population::PopulationRisk;
use crate::search::{Compared, Contender};

impl Anonymized {
    /// What `amidst anonymize --json` prints.
    pub fn to_json(&self) -> Value {
        let levels = self.levels.as_ref().map_or(Value::Null, |levels| {
            Value::Object(levels.iter().map(|(name, level)| (name.clone(), json!(level))).collect())
        });
        let mut outputs = Map::new();
        outputs.insert("release".into(), json!(self.outputs.release));
        outputs.insert("certificate".into(), json!(self.outputs.certificate));
        outputs.insert("report".into(), json!(self.outputs.report));
        outputs.insert("policy".into(), json!(self.outputs.policy));
        outputs.insert("internal_report".into(), json!(self.outputs.internal_report));
        outputs.insert("internal_policy".into(), json!(self.outputs.internal_policy));
        let mut risk = json::risk(&self.judged.risk);
        let after = &self.report.risk.after;
        let (journalist, uniques) = (after.journalist.clone(), after.population_uniques.clone());
        PopulationRisk { journalist, uniques }.add_to(&mut risk);
        let s = &self.seconds;
        let first: Vec<&String> = self.report.summary.iter().take(self.report.leading).collect();
        let mut told = json!({
            "summary": first,
            "rows_in": self.rows_in,
            "rows_dropped_missing": self.rows_dropped_missing,
            "rows_out": self.rows_out,
            "suppressed": self.judged.suppressed,
            "waived": self.waived,
            "joined": self.joined,
            "unique_rows": self.unique.to_json(),
            "accepted": self.report.accepted,
            "classes": self.judged.class_count(),
            "algorithm": self.algorithm,
            "optimal": self.optimal,
            "gap": self.gap.map_or(Value::Null, number),
            "levels": levels,
            "requirements": self.judged.requirements,
            "metrics": self.judged.metrics_json(),
            "baselines": {(KL_DIVERGENCE.id): self.judged.kl_baseline.map_or(Value::Null, number)},
            "figures": {"intra-cluster-distance": self.judged.intra_cluster_distance.map_or(Value::Null, number)},
            "utility": self.report.utility,
            "risk": risk,
            "warnings": self.warnings,
            "notes": self.warnings.iter().chain(&self.notes).collect::<Vec<_>>(),
            "seconds": {
                "read": number(s.read), "search": number(s.search), "check": number(s.check),
                "write": number(s.write), "total": number(s.total),
            },
            "peak_memory_bytes": crate::memory::peak_bytes(),
            "outputs": outputs,
        });
        if let (Some(compared), Some(object)) = (&self.compared, told.as_object_mut()) {
            object.insert("compared".into(), compared.to_json());
        }
        if let (Some(cells), Some(object)) = (&self.suppressed_cells, told.as_object_mut()) {
            let cells = cells.iter().map(|(name, count)| (name.clone(), json!(count))).collect();
            object.insert("suppressed_cells".into(), Value::Object(cells));
        }
        if let Some(bound) = self.bound() {
            told["bound"] = json!(bound);
        }
        told
    }
}

impl Compared {
    /// What each would have cost, and which is published.
    pub fn to_json(&self) -> Value {
        let contender = |c: &Contender| match &c.cost {
            Ok(cost) => json!({"algorithm": c.algorithm, "recoding": c.kind.words(), "cost": number(*cost)}),
            Err(reason) => json!({"algorithm": c.algorithm, "recoding": c.kind.words(), "unsuited": reason}),
        };
        let mut told = json!({
            "metric": self.metric,
            "published": self.published,
            "algorithms": self.contenders.iter().map(contender).collect::<Vec<_>>(),
        });
        if !self.weights.is_empty() {
            let weights = self.weights.iter().map(|(column, weight)| (column.clone(), number(*weight)));
            told["weights"] = Value::Object(weights.collect());
        }
        if !self.divided.is_empty() {
            told["divided"] = json!(self.divided);
        }
        if let Some(least) = self.least {
            told["least"] = number(least);
        }
        if !self.starred.is_empty() {
            told["starred"] = json!(self.starred);
        }
        told
    }
}
