//! What `amidst audit` prints of a table without a policy.

use serde_json::{Map, Value, json};

use crate::audit::{ColumnRisk, SetRisk, Survey};

impl Survey {
    /// What `amidst audit FILE --json` prints.
    pub fn to_json(&self) -> Value {
        let share = |n: u64| if self.rows == 0 { 0.0 } else { n as f64 / self.rows as f64 };
        let column = |c: &ColumnRisk| {
            json!({"name": c.name, "role": c.role.name(), "why": c.why, "distinct": c.distinct,
                   "distinct_share": share(c.distinct), "uniques": c.uniques, "unique_share": share(c.uniques)})
        };
        let set = |s: &SetRisk| {
            json!({"columns": s.columns, "distinct": s.distinct, "distinct_share": share(s.distinct), "uniques": s.uniques,
                   "unique_share": share(s.uniques)})
        };
        let suda = &self.suda;
        let by_size: Map<String, Value> =
            (1..).zip(&suda.by_size).map(|(size, n): (u64, &u64)| (size.to_string(), json!(n))).collect();
        let top: Vec<Value> = suda.rows.iter().map(|(row, score)| json!({"row": row, "score": score})).collect();
        let contributions: Map<String, Value> =
            suda.contributions.iter().map(|(name, share)| (name.clone(), json!(share))).collect();
        json!({
            "rows": self.rows,
            "columns": self.columns.iter().map(column).collect::<Vec<_>>(),
            "considered": self.considered,
            "not_considered": self.not_considered,
            "sets": self.sets.iter().map(set).collect::<Vec<_>>(),
            "suda": {"max_size": suda.max_size, "minimal_sample_uniques": by_size, "rows_singled_out": suda.singled_out,
                     "share_singled_out": share(suda.singled_out), "mean_score": suda.mean, "highest_score": suda.highest,
                     "contributions": contributions, "top_rows": top},
            "next": self.next,
            "peak_memory_bytes": crate::peak_memory_bytes(),
        })
    }
}
