//! Parts that several commands print.

use serde_json::{Value, json};

use crate::json::{self, number};
use crate::population::PopulationRisk;
use crate::release::Judged;
use crate::unique::UniqueRows;

impl UniqueRows {
    /// The counts and their shares of all rows.
    pub fn to_json(&self) -> Value {
        let share = |n: u64| number(if self.rows == 0 { 0.0 } else { n as f64 / self.rows as f64 });
        json!({
            "published": self.published, "published_share": share(self.published),
            "insensitive": self.insensitive, "insensitive_share": share(self.insensitive),
        })
    }
}

impl Judged {
    /// The metrics as a JSON object.
    pub(super) fn metrics_json(&self) -> Value {
        Value::Object(self.metrics.iter().map(|&(id, v)| (id.to_string(), v.map_or(Value::Null, number))).collect())
    }
}

impl PopulationRisk {
    /// Adds the figures to the JSON of a risk.
    pub(super) fn add_to(&self, risk: &mut Value) {
        let Some(object) = risk.as_object_mut() else { return };
        let journalist = self.journalist.as_ref();
        object.insert("journalist_max".into(), journalist.map_or(Value::Null, |j| number(j.max)));
        object.insert("journalist_avg".into(), journalist.map_or(Value::Null, |j| number(j.avg)));
        object.insert("journalist".into(), json::of(&journalist));
        object.insert("population_uniques".into(), json::of(&self.uniques));
    }
}
