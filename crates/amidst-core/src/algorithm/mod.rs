//! Algorithms: how a recoding that satisfies every requirement is found.
//!
//! One algorithm is one file of this folder; [`ALGORITHMS`] is the only list of them.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::frequency::FrequencySet;
use crate::hierarchy::Generalization;
use crate::metric;
use crate::parameter::{Parameter, Parameters};
use crate::recoding::Recoding;
use crate::requirement::Requirement;

mod alpha_k_clustering;
mod clustering;
mod incognito;
mod k_member;
mod mondrian;
mod one_pass_k_means;
mod optimal;
mod portfolio;
mod samarati;
mod systematic;
mod top_down;

pub(crate) use mondrian::{options as mondrian_options, strict as mondrian_partition};
pub(crate) use top_down::{grown as top_down_partition, supports as supports_top_down};

/// Every algorithm, in the order of the specification.
pub const ALGORITHMS: &[Entry] = &[
    incognito::ENTRY,
    optimal::ENTRY,
    samarati::ENTRY,
    top_down::ENTRY,
    mondrian::ENTRY,
    systematic::ENTRY,
    k_member::ENTRY,
    one_pass_k_means::ENTRY,
    alpha_k_clustering::ENTRY,
    portfolio::ENTRY,
];

/// One algorithm, as the registry knows it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name in policies, reports and on the command line.
    pub id: &'static str,
    /// The name in prose.
    pub title: &'static str,
    /// What it does.
    pub definition: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// Whether rows that agree always stay together at one level per column.
    pub full_domain: bool,
    /// What a policy may state about how it works, all of it optional.
    pub options: &'static [Parameter],
    /// The algorithm itself.
    pub algorithm: &'static dyn Algorithm,
}

/// How many rows may be left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MaxSuppression {
    /// At most this many rows.
    Rows(u64),
    /// At most this share of the rows.
    Share(crate::exact::Rational),
}

/// What happens to suppressed rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Suppressed {
    /// They are left out of the release.
    #[default]
    Drop,
    /// They are published with every quasi column `*`, as one class that must satisfy the policy itself.
    Mask,
}

/// What is searched for, in what, and how.
#[derive(Clone)]
pub struct Search<'a> {
    /// The table.
    pub set: &'a FrequencySet,
    /// What the quasi columns can become.
    pub generalizations: &'a [Generalization],
    /// What every class must satisfy.
    pub requirements: &'a [Requirement],
    /// What "best" means.
    pub metric: &'static metric::Entry,
    /// How many rows may be left out.
    pub max_suppression: MaxSuppression,
    /// What happens to them.
    pub suppressed: Suppressed,
    /// The policy's k, for metrics that know it.
    pub k: u64,
    /// What the policy states about how the algorithm works, as its [`Entry::options`] declare.
    pub options: &'a Parameters,
    /// The entry of each row in the order of the input, where the rows are at hand; numbers that are no entries stand for
    /// rows that are not searched.
    pub entry_of_row: Option<&'a [u32]>,
    /// Where randomness starts.
    pub seed: u64,
    /// Set from outside to stop the search.
    pub cancel: &'a AtomicBool,
    /// Told how far the search is, from 0 to 1.
    pub progress: &'a (dyn Fn(f64) + Sync),
    /// How long the search may take; the best found by then is returned with its gap.
    pub deadline: Option<std::time::Instant>,
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Found {
    /// What each row becomes.
    pub recoding: Recoding,
    /// Whether it is proven that no recoding of this kind is better by the metric.
    pub optimal: bool,
    /// How far the metric may at most be from the optimum, when a time limit cut the search short.
    pub gap: Option<f64>,
    /// What the search wants people to know, such as which candidate of a portfolio won.
    pub notes: Vec<String>,
}

/// Why a search found nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// It was asked to stop.
    #[error("stopped")]
    Cancelled,
    /// The algorithm cannot work on this policy.
    #[error("{0}")]
    Unsupported(String),
    /// No recoding of this kind satisfies the policy.
    #[error("{0}")]
    Impossible(String),
}

/// A way to find a recoding.
pub trait Algorithm: Debug + Sync {
    /// Whether the algorithm can work on this policy and table.
    fn supports(&self, search: &Search<'_>) -> Result<(), SearchError>;

    /// Finds a recoding.
    fn search(&self, search: &Search<'_>) -> Result<Found, SearchError>;
}

impl Search<'_> {
    /// Fails when the search was asked to stop; call it often.
    pub fn checkpoint(&self) -> Result<(), SearchError> {
        if self.cancel.load(Ordering::Relaxed) { Err(SearchError::Cancelled) } else { Ok(()) }
    }

    /// The number of rows that may be left out.
    pub fn suppression_limit(&self) -> u64 {
        use num_traits::ToPrimitive;
        match &self.max_suppression {
            MaxSuppression::Rows(n) => *n,
            MaxSuppression::Share(share) => {
                let rows = num_rational::BigRational::from_integer(self.set.rows.into());
                (share.value() * rows).floor().to_integer().to_u64().unwrap_or(u64::MAX)
            }
        }
    }
}

/// The algorithm called `id`.
pub fn find(id: &str) -> Option<&'static Entry> {
    ALGORITHMS.iter().find(|e| e.id == id)
}
