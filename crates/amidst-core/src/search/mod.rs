//! A search: what is looked for, in which table, and what was found.
//!
//! Every algorithm takes the same [`Search`] and returns the same [`Found`], so that a caller can exchange one for
//! another. May use: everything below it (`frequency`, `hierarchy`, `metric`, `model`, `requirement`, `recoding`),
//! never `lattice`, `local` or `algorithm`, which use it.

use crate::control::{Cancelled, Control, Stage};
use crate::frequency::FrequencySet;
use crate::hierarchy::Generalization;
use crate::ids::EntryId;
use crate::metric;
use crate::parameter::Parameters;
use crate::recoding::Recoding;
use crate::requirement::Requirement;

pub mod feasibility;
mod impossible;
pub(crate) mod need;
pub mod own_distribution;

pub use impossible::{Impossible, Unmet};

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
    /// What the policy states about how the algorithm works, as its [`options`](crate::algorithm::Entry::options)
    /// declare.
    pub options: &'a Parameters,
    /// The entry of each row in the order of the input, where the rows are at hand; numbers that are no entries stand
    /// for rows that are not searched.
    pub entry_of_row: Option<&'a [EntryId]>,
    /// Where randomness starts.
    pub seed: u64,
    /// How the search is stopped and watched. With a deadline the best found by then is returned with its gap.
    pub control: Control<'a>,
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Found {
    /// What each row becomes.
    pub recoding: Recoding,
    /// The level of each quasi column where its cells are not suppressed, when some single cells are.
    pub coding: Option<Vec<usize>>,
    /// Whether it is proven that no recoding of this kind is better by the metric.
    pub optimal: bool,
    /// How far the metric may at most be from the optimum, when a time limit cut the search short.
    pub gap: Option<f64>,
    /// What no release of this kind can lose less than, by the metric, where that was proven.
    pub least_loss: Option<f64>,
    /// What the search wants people to know, such as which candidate of a portfolio won.
    pub notes: Vec<String>,
}

/// Why a search found nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// It was asked to stop.
    #[error("stopped")]
    Cancelled,
    /// The algorithm cannot work on this policy.
    #[error("{0}")]
    Unsupported(String),
    /// No recoding of this kind satisfies the policy.
    #[error("{0}")]
    Impossible(Impossible),
}

impl From<Cancelled> for SearchError {
    fn from(_: Cancelled) -> Self {
        SearchError::Cancelled
    }
}

impl<'a> Search<'a> {
    /// The same search without a time limit.
    #[must_use]
    pub fn without_deadline(&self) -> Search<'a> {
        Search { control: self.control.without_deadline(), ..self.clone() }
    }

    /// Tells how far the search is, from 0 to 1.
    pub fn tell(&self, share: f64) {
        self.control.tell(Stage::Search, share);
    }

    /// A search for the least `loss` that leaves out no row, without options, stopping or progress. The methods below
    /// change what should be otherwise: `Search::new(&set, &generalizations, &requirements).with_seed(7)`.
    pub fn new(set: &'a FrequencySet, generalizations: &'a [Generalization], requirements: &'a [Requirement]) -> Self {
        static NO_OPTIONS: Parameters = Parameters::none();
        Search {
            set,
            generalizations,
            requirements,
            metric: metric::DEFAULT,
            max_suppression: MaxSuppression::Rows(0),
            suppressed: Suppressed::Drop,
            k: 1,
            options: &NO_OPTIONS,
            entry_of_row: None,
            seed: 1,
            control: Control::default(),
        }
    }

    /// The same search for what is best by another metric.
    #[must_use]
    pub fn with_metric(self, metric: &'static metric::Entry) -> Self {
        Search { metric, ..self }
    }

    /// The same search, in which this many rows may be left out.
    #[must_use]
    pub fn with_max_suppression(self, max_suppression: MaxSuppression) -> Self {
        Search { max_suppression, ..self }
    }

    /// The same search, with this done to suppressed rows.
    #[must_use]
    pub fn with_suppressed(self, suppressed: Suppressed) -> Self {
        Search { suppressed, ..self }
    }

    /// The same search for a policy with this k, which some metrics and algorithms look at.
    #[must_use]
    pub fn with_k(self, k: u64) -> Self {
        Search { k, ..self }
    }

    /// The same search with options of its algorithm.
    #[must_use]
    pub fn with_options(self, options: &'a Parameters) -> Self {
        Search { options, ..self }
    }

    /// The same search where the entry of each row is known, in the order of the input.
    #[must_use]
    pub fn with_entry_of_row(self, entry_of_row: &'a [EntryId]) -> Self {
        Search { entry_of_row: Some(entry_of_row), ..self }
    }

    /// The same search with randomness that starts elsewhere.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Search { seed, ..self }
    }

    /// The same search, stopped and watched in this way.
    #[must_use]
    pub fn with_control(self, control: Control<'a>) -> Self {
        Search { control, ..self }
    }
}

impl Search<'_> {
    /// Fails when the search was asked to stop; call it often.
    pub fn checkpoint(&self) -> Result<(), SearchError> {
        Ok(self.control.checkpoint()?)
    }

    /// The number of rows that may be left out.
    pub fn suppression_limit(&self) -> u64 {
        use num_traits::ToPrimitive;
        match &self.max_suppression {
            MaxSuppression::Rows(n) => (*n).min(self.set.rows),
            MaxSuppression::Share(share) => {
                let rows = num_rational::BigRational::from_integer(self.set.rows.into());
                (share.value() * rows).floor().to_integer().to_u64().unwrap_or(u64::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;

    #[test]
    fn every_builder_method_changes_its_own_field() {
        let table = Table::from_rows(["a"], [["1"], ["2"]]);
        let (set, entries) = FrequencySet::count(&table, &[0], &[], None);
        let plain = Search::new(&set, &[], &[]);
        let control = Control { threads: 3, ..Control::default() };
        let options = Parameters::none();
        let built = plain
            .clone()
            .with_metric(metric::KL_DIVERGENCE)
            .with_max_suppression(MaxSuppression::Rows(1))
            .with_suppressed(Suppressed::Mask)
            .with_k(4)
            .with_options(&options)
            .with_entry_of_row(&entries)
            .with_seed(7)
            .with_control(control);
        assert_eq!((plain.k, plain.seed, plain.suppression_limit(), plain.suppressed), (1, 1, 0, Suppressed::Drop));
        assert_eq!((built.k, built.seed, built.suppression_limit(), built.suppressed), (4, 7, 1, Suppressed::Mask));
        assert_eq!((built.metric.id, built.control.threads), (metric::KL_DIVERGENCE.id, 3));
        assert!(std::ptr::eq(built.options, &options) && built.entry_of_row == Some(&entries[..]));
    }
}
