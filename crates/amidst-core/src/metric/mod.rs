//! Utility metrics: what a recoding costs.
//!
//! One metric is one file of this folder, with its definition, its citation and a brute-force test; [`METRICS`] is the
//! only list of them. [`full_domain`] holds what searches over a lattice need to price a node without building its
//! recoding.
//!
//! Two conventions hold for every metric. Rows count, never persons: utility is about the data that is left. And a
//! suppressed row costs as much as a row whose every quasi column is fully generalized.
//!
//! May use: `frequency`, `hierarchy`, `recoding`, `table`, and what those use.

use std::fmt::Debug;

use crate::frequency::{self, FrequencySet, Groups};
use crate::hierarchy::{Cell, Generalization};
use crate::recoding::Recoding;

mod ambiguity;
mod average_class_size;
mod discernibility;
#[cfg(test)]
mod fixture;
pub mod full_domain;
mod gcp;
mod height;
mod information_loss;
mod kl_divergence;
mod loss;
mod non_uniform_entropy;
mod precision;

pub use full_domain::{Input, Node, NodeCost};
pub use information_loss::{cell_loss, column_weights};
pub use kl_divergence::baseline as kl_baseline;

/// Every metric, in the order of the specification.
pub const METRICS: &[Entry] = &[
    height::ENTRY,
    average_class_size::ENTRY,
    discernibility::ENTRY,
    kl_divergence::ENTRY,
    information_loss::ENTRY,
    gcp::ENTRY,
    loss::ENTRY,
    precision::ENTRY,
    non_uniform_entropy::ENTRY,
    ambiguity::ENTRY,
];

/// The metric where an algorithm is named and no metric.
pub const DEFAULT: &Entry = &loss::ENTRY;

/// The metric where neither is named: recodings of different kinds are compared, and column weights count.
pub const OF_COMPETITIONS: &Entry = &gcp::ENTRY;

/// The metric by which full-domain searches for the least height are optimal.
pub const HEIGHT: &Entry = &height::ENTRY;

/// The metric that is also told for the table as one class.
pub const KL_DIVERGENCE: &Entry = &kl_divergence::ENTRY;

/// Metrics that follow from the sizes of the published classes alone.
pub const OF_SIZES: [&Entry; 2] = [&average_class_size::ENTRY, &discernibility::ENTRY];

/// What a version of a series is told to cost.
pub const OF_VERSIONS: [&Entry; 2] = [&information_loss::ENTRY, &gcp::ENTRY];

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

impl<'a> Release<'a> {
    /// The input alone, for what a metric knows before any recoding.
    pub fn input(&self) -> Input<'a> {
        Input { set: self.set, generalizations: self.generalizations, k: self.k }
    }

    /// The rows of each class, empty classes included.
    pub fn class_rows(&self) -> impl Iterator<Item = u64> + 'a {
        let groups = self.groups;
        groups.iter().map(frequency::rows)
    }
}

/// What one row loses by a cell, from 0 to 1.
pub type CellLoss = fn(&Generalization, &crate::hierarchy::Cell) -> f64;

/// A metric as a sum over rows: offset + scale · Σ over rows of what their cells cost, or of `suppressed`.
pub struct CellCosts<'a> {
    /// What a cell of a column costs a row.
    pub cell: CellCost<'a>,
    /// What a suppressed row costs.
    pub suppressed: f64,
    /// What is added to the sum once it is scaled.
    pub offset: f64,
    /// What the sum is multiplied with.
    pub scale: f64,
}

/// What a cell of a column costs a row, by the column's position.
pub type CellCost<'a> = Box<dyn Fn(usize, &Generalization, &Cell) -> f64 + 'a>;

impl Debug for CellCosts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let CellCosts { suppressed, offset, scale, .. } = self;
        write!(f, "CellCosts({offset} + {scale} · Σ, {suppressed} for a suppressed row)")
    }
}

/// What a recoding costs; less is better for every metric.
pub trait Metric: Debug + Sync {
    /// The cost. `None` where the metric is not defined (`height` of a local recoding, no rows at all); never infinite,
    /// never not-a-number.
    fn loss(&self, release: &Release<'_>) -> Option<f64>;

    /// The metric made ready to price many full-domain nodes of one table. `None` when there is no short cut: then a
    /// search builds the recoding of a node and asks [`Metric::loss`].
    fn nodes<'a>(&self, _input: &Input<'a>) -> Option<Box<dyn NodeCost + 'a>> {
        None
    }

    /// What one row loses in one column, where the metric is a sum over cells; before weighting.
    fn cell_loss(&self) -> Option<CellLoss> {
        None
    }

    /// Whether the weights of the columns count.
    fn weighted(&self) -> bool {
        false
    }

    /// What cells cost, for a metric that is a sum over the rows of what their class's cells cost; `None` for any
    /// other. A cell never costs less than one that it covers.
    fn cells<'a>(&self, _input: &Input<'a>) -> Option<CellCosts<'a>> {
        None
    }

    /// Whether a release is compared with the values that rows had. Then the metric is not defined for a table that was
    /// rolled up before it was gathered.
    fn looks_at_values(&self) -> bool {
        false
    }
}

/// The metric called `id`.
pub fn find(id: &str) -> Option<&'static Entry> {
    METRICS.iter().find(|e| e.id == id)
}
