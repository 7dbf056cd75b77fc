//! What an anonymization tells about itself: verdicts, metrics, risk, times, and the files it wrote.

use std::sync::Arc;

use crate::publish::Outputs;
use crate::release::Judged;
use crate::report::{LossBound, Report};
use crate::search::Compared;
use crate::unique::UniqueRows;

/// A finished anonymization.
#[derive(Debug)]
#[non_exhaustive]
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
}
