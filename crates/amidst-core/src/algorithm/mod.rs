//! Algorithms: how a recoding that satisfies every requirement is found.
//!
//! One algorithm is one file of this folder; [`ALGORITHMS`] is the only list of them.
//!
//! May use: `cells`, `control`, `frequency`, `hierarchy`, `lattice`, `local`, `model`, `parameter`, `random`,
//! `recoding`, `requirement`, `search`, `sensitive`, `table`, and what those use.

use std::fmt::Debug;

use crate::parameter::Parameter;
use crate::search::{Found, Search, SearchError};

mod alpha_k_clustering;
mod cell_suppression;
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
    cell_suppression::ENTRY,
];

/// The search that is proven to find the best full-domain recoding.
pub const OPTIMAL: &Entry = &optimal::ENTRY;

/// The best of several local recodings.
pub const PORTFOLIO: &Entry = &portfolio::ENTRY;

/// One level for each column, and single cells suppressed.
pub const CELL_SUPPRESSION: &Entry = &cell_suppression::ENTRY;

/// Mondrian, the quickest of the local recodings.
pub const MONDRIAN: &Entry = &mondrian::ENTRY;

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
    /// What its recodings are like.
    pub kind: RecodingKind,
    /// What a policy may state about how it works, all of it optional.
    pub options: &'static [Parameter],
    /// The algorithm itself.
    pub algorithm: &'static dyn Algorithm,
}

impl Entry {
    /// Whether rows that agree always stay together at one level per column.
    pub fn full_domain(&self) -> bool {
        self.kind == RecodingKind::FullDomain
    }
}

/// What the recodings of an algorithm are like, the simplest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecodingKind {
    /// One level of its hierarchy for each column, the same in every row.
    FullDomain,
    /// One level for each column, and single cells suppressed.
    Cells,
    /// Classes of their own cells each: the same value may be generalized differently in different rows.
    Local,
}

impl RecodingKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            RecodingKind::FullDomain => "full-domain recoding",
            RecodingKind::Cells => "full-domain recoding with suppressed cells",
            RecodingKind::Local => "local recoding",
        }
    }

    /// What a column looks like, in words.
    pub fn words(self) -> &'static str {
        match self {
            RecodingKind::FullDomain => "one coding for the whole column",
            RecodingKind::Cells => "one coding, single cells suppressed",
            RecodingKind::Local => "local",
        }
    }
}

/// A way to find a recoding.
pub trait Algorithm: Debug + Sync {
    /// Whether it competes on this table where a policy names no algorithm: what it is likely to cost is within its
    /// budget, which counts rows, columns and nodes and never looks at a clock, so that the same table gives the same
    /// release.
    fn competes(&self, _search: &Search<'_>) -> bool {
        false
    }

    /// Whether the algorithm can work on this policy and table.
    fn supports(&self, search: &Search<'_>) -> Result<(), SearchError>;

    /// Finds a recoding.
    fn search(&self, search: &Search<'_>) -> Result<Found, SearchError>;

    /// How it works on a table that stays with its engine; see the module `partial`.
    fn in_parts(&self) -> InParts {
        InParts::Never
    }
}

/// How an algorithm works on a table that is too large to be gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InParts {
    /// Not at all: it looks at all rows.
    Never,
    /// It chooses a node of the lattice, parts of which can be searched one by one.
    Lattice(Choice),
    /// It cuts the table as Mondrian does.
    Mondrian,
    /// It cuts the table as top-down specialization does.
    TopDown,
}

/// Which of the valid nodes of a lattice is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The one that costs least.
    Best,
    /// The cheapest of those that generalize no other.
    Minimal,
    /// The cheapest of those of least height.
    Lowest,
}

/// The algorithm called `id`.
pub fn find(id: &str) -> Option<&'static Entry> {
    ALGORITHMS.iter().find(|e| e.id == id)
}
