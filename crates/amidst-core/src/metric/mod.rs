//! Utility metrics: what a recoding costs.
//!
//! One metric is one file of this folder, with its definition, its citation and a brute-force test; [`METRICS`] is the
//! only list of them.

use std::fmt::Debug;

use crate::frequency::{FrequencySet, Groups};
use crate::hierarchy::Generalization;
use crate::recoding::Recoding;

/// Every metric, in the order of the specification.
pub const METRICS: &[Entry] = &[];

/// One metric, as the registry knows it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name in policies, reports and on the command line.
    pub id: &'static str,
    /// The name in prose.
    pub title: &'static str,
    /// How it is computed.
    pub definition: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// The metric itself.
    pub metric: &'static dyn Metric,
}

/// A release, as a metric sees it.
#[derive(Debug, Clone, Copy)]
pub struct Release<'a> {
    /// The input.
    pub set: &'a FrequencySet,
    /// What the quasi columns can become.
    pub generalizations: &'a [Generalization],
    /// What they became.
    pub recoding: &'a Recoding,
    /// The entries of each class.
    pub groups: &'a Groups,
    /// Rows that were left out.
    pub suppressed: u64,
    /// The policy's k; 1 when it has none.
    pub k: u64,
}

/// What a recoding costs; less is better for every metric.
pub trait Metric: Debug + Sync {
    /// The cost. `None` where the metric is not defined (`height` of a local recoding, no rows at all).
    fn loss(&self, release: &Release<'_>) -> Option<f64>;
}

/// The metric called `id`.
pub fn find(id: &str) -> Option<&'static Entry> {
    METRICS.iter().find(|e| e.id == id)
}
