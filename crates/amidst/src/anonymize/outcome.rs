//! What an anonymization tells about itself: verdicts, metrics, risk, times, and the files it wrote.

use std::sync::Arc;

use amidst_core::metric::KL_DIVERGENCE;
use serde_json::{Map, Value, json};

use crate::json::number;
use crate::population::PopulationRisk;
use crate::publish::Outputs;
use crate::release::Judged;
use crate::report::{LossBound, Report};
use crate::search::Compared;
use crate::unique::UniqueRows;

/// A finished anonymization.
#[derive(Debug)]
pub struct Anonymized {
    /// The algorithm that found the release.
    pub algorithm: &'static str,
    /// Whether it is proven to be the best of its kind.
    pub optimal: bool,
    /// How far it may be from the best, when a time limit cut the search short.
    pub gap: Option<f64>,
    /// What in the policy is probably not meant.
    pub warnings: Vec<String>,
    /// What the search wants people to know.
    pub notes: Vec<String>,
    /// What every algorithm that competed would have cost; nothing where the policy names one.
    pub compared: Option<Compared>,
    /// The level of each quasi column, for full-domain releases; with single cells suppressed, that of the others.
    pub levels: Option<Vec<(String, usize)>>,
    /// How many cells of each quasi column are suppressed, where single cells are.
    pub suppressed_cells: Option<Vec<(String, u64)>>,
    /// Rows of the input.
    pub rows_in: u64,
    /// Rows of it that were dropped because a value was unknown.
    pub rows_dropped_missing: u64,
    /// Rows of the release.
    pub rows_out: u64,
    /// Verdicts, metrics and risk.
    pub judged: Arc<Judged>,
    /// Rows that no other row agrees with.
    pub unique: UniqueRows,
    /// Rows published unprotected, because their owner waived protection.
    pub waived: u64,
    /// Rows whose owner waived protection and that are in classes, those of others or their own.
    pub joined: u64,
    /// Everything that the internal report says.
    pub report: Report,
    /// How long it took.
    pub seconds: Seconds,
    /// What was written.
    pub outputs: Outputs,
}

/// How long each stage took.
#[derive(Debug, Clone, Copy)]
pub struct Seconds {
    /// Reading and preparing the table.
    pub read: f64,
    /// Searching and judging the recoding.
    pub search: f64,
    /// Checking the release.
    pub check: f64,
    /// Writing it.
    pub write: f64,
    /// Everything.
    pub total: f64,
}

impl Anonymized {
    /// How far a local recoding is from the best at the most, where that was proven.
    pub fn bound(&self) -> Option<&LossBound> {
        self.report.method.as_ref()?.bound.as_ref()
    }

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
        let mut risk = crate::json::risk(&self.judged.risk);
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
