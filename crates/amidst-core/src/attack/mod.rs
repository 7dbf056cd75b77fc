//! Attacks: what an adversary learns from a published table.
//!
//! One attack is one file of this folder; [`ATTACKS`] is the only list of them. An attack sees what everyone sees, the
//! published classes, and knows nothing of the models that should have stopped it: a bug must not acquit itself.

use std::fmt::Debug;

use crate::class::SensitiveDomain;
use crate::frequency::{self, Entry as Rows, FrequencySet, Groups};

mod homogeneity;

/// Every attack, in the order of the specification.
pub const ATTACKS: &[Entry] = &[homogeneity::ENTRY, homogeneity::ENTRY_95];

/// One attack, as the registry knows it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name on the command line and in reports.
    pub id: &'static str,
    /// The name in prose.
    pub title: &'static str,
    /// What the adversary is assumed to know.
    pub assumes: &'static str,
    /// What counts as a success.
    pub definition: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// The attack itself.
    pub attack: &'static dyn Attack,
}

/// A published table, as everyone sees it.
#[derive(Debug, Clone, Copy)]
pub struct Published<'a> {
    /// The combinations of sensitive values that entries refer to.
    pub set: &'a FrequencySet,
    /// The entries of each class.
    pub classes: &'a Groups,
    /// The sensitive columns.
    pub sensitive: &'a [SensitiveDomain],
}

/// What an attack learned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Classes in which it succeeded.
    pub classes: u64,
    /// Rows of those classes that it hit.
    pub rows: u64,
    /// Persons that it hit.
    pub persons: u64,
    /// The classes it hit hardest, worst first, as positions in [`Published::classes`].
    pub worst: Vec<usize>,
    /// Further figures, by name.
    pub figures: Vec<(String, f64)>,
}

/// A way to learn what was not to be learned.
pub trait Attack: Debug + Sync {
    /// Runs the attack on one sensitive column of a published table.
    fn run(&self, published: &Published<'_>, column: usize) -> Findings;
}

impl Published<'_> {
    /// How many persons of a class have each value of a sensitive column.
    pub fn histogram(&self, entries: &[Rows], column: usize) -> Vec<(u32, u64)> {
        frequency::histogram(self.set, entries, column)
    }
}

/// The attack called `id`.
pub fn find(id: &str) -> Option<&'static Entry> {
    ATTACKS.iter().find(|e| e.id == id)
}
