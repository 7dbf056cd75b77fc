//! What a search in parts asks of the engine that holds a table.

use super::{Assembled, Division, PartialClass, PartialSearch, SplitRows, Summary};
use crate::control::Cancelled;
use crate::frequency::FrequencySet;
use crate::hierarchy::Generalization;
use crate::ids::SensitiveId;
use crate::search::{Search, SearchError};

/// A table that stays with its engine.
pub trait RemoteTable {
    /// A table that was gathered, with whatever the engine's caller knows of it.
    type Gathered;

    /// Why the engine fails.
    type Error: From<SearchError> + From<TooLarge> + From<Cancelled>;

    /// What the quasi columns can become.
    fn generalizations(&self) -> &[Generalization];

    /// How many distinct combinations of quasi and sensitive values a node has.
    ///
    /// # Errors
    /// Whatever keeps the engine from counting them.
    fn combinations(&self, levels: &[usize]) -> Result<u64, Self::Error>;

    /// How many rows are in classes of a node that have less than `least`.
    ///
    /// # Errors
    /// Whatever keeps the engine from counting them.
    fn lacking(&self, levels: &[usize], least: MinimumClass) -> Result<u64, Self::Error>;

    /// The table as it is at a node; nothing finer can be searched in it.
    ///
    /// # Errors
    /// Whatever keeps the engine from handing it over.
    fn gather(&self, levels: &[usize]) -> Result<Self::Gathered, Self::Error>;

    /// The search that is wanted, in a table that was gathered.
    ///
    /// # Errors
    /// When it cannot be asked for.
    fn search<'a>(&'a self, gathered: &'a Self::Gathered) -> Result<Search<'a>, Self::Error>;
}

/// A table with more combinations than may be gathered, of which less does not do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}; it takes {combinations} and memory for them (about 200 bytes each)")]
pub struct TooLarge {
    /// How many combinations would have to be gathered.
    pub combinations: u64,
    /// What is too large, and why less does not do.
    pub message: String,
}

/// What every class must have, whatever else is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinimumClass {
    /// A number of rows.
    pub rows: u64,
    /// A number of distinct combinations of sensitive values.
    pub values: u64,
}

/// A table that stays with its engine and can be divided there.
pub trait DivisibleTable: RemoteTable {
    /// Puts all combinations into part 0.
    ///
    /// # Errors
    /// Like all that follow: whatever keeps the engine from doing it.
    fn begin(&self, pieces: &PartialSearch<'_>) -> Result<(), Self::Error>;

    /// What each of some parts holds.
    ///
    /// # Errors
    /// See [`DivisibleTable::begin`].
    fn summaries(&self, pieces: &PartialSearch<'_>, parts: &[u32]) -> Result<Vec<Summary>, Self::Error>;

    /// The last combinations of some sides of parts, in the order of their quasi codes: codes and rows, the last first.
    ///
    /// # Errors
    /// See [`DivisibleTable::begin`].
    fn last(&self, pieces: &PartialSearch<'_>, asked: &[TailQuery]) -> Result<Vec<Combinations>, Self::Error>;

    /// Divides parts. What is in no part that is divided is not asked for again, and neither is what is `gone`.
    ///
    /// # Errors
    /// See [`DivisibleTable::begin`].
    fn divide(&self, pieces: &PartialSearch<'_>, divided: &[Divided], gone: &[Removed]) -> Result<(), Self::Error>;

    /// Some parts as they are, in their order.
    ///
    /// # Errors
    /// See [`DivisibleTable::begin`].
    fn gather_parts(&self, pieces: &PartialSearch<'_>, parts: &[u32]) -> Result<Vec<FrequencySet>, Self::Error>;

    /// Remembers the class of some tuples, which are given by their codes, one after the other.
    ///
    /// # Errors
    /// See [`DivisibleTable::begin`].
    fn place(&self, pieces: &PartialSearch<'_>, tuples: &[u32], classes: &[u32]) -> Result<(), Self::Error>;

    /// Remembers that all of a part is one class; returns a tuple of it (empty when it has none), and its rows by
    /// sensitive tuple.
    ///
    /// # Errors
    /// See [`DivisibleTable::begin`].
    fn place_whole(&self, pieces: &PartialSearch<'_>, part: u32, class: u32)
    -> Result<(Vec<u32>, Counts), Self::Error>;

    /// The table in which each class is one tuple. All tuples have been placed, and `dealt` tells of the combinations
    /// that do not go where their tuple goes.
    ///
    /// # Errors
    /// See [`DivisibleTable::begin`].
    fn gather_classes(
        &self,
        pieces: &PartialSearch<'_>,
        classes: &[PartialClass],
        assembled: &Assembled,
        dealt: Vec<SplitRows>,
    ) -> Result<Self::Gathered, Self::Error>;
}

/// The quasi codes of combinations, and their rows.
pub type Combinations = Vec<(Vec<u32>, u64)>;

/// Rows by sensitive tuple.
pub type Counts = Vec<(SensitiveId, u64)>;

/// A part and what it is divided into: the parts from `first` on, one for each side.
#[derive(Debug, Clone)]
pub struct Divided {
    /// The part.
    pub part: u32,
    /// How it is divided.
    pub division: Division,
    /// The first of the new parts.
    pub first: u32,
}

/// Combinations that are asked for: those of a part that have one of some codes in a column, and a sensitive tuple.
#[derive(Debug, Clone)]
pub struct TailQuery {
    /// The part.
    pub part: u32,
    /// The quasi column.
    pub column: usize,
    /// The codes.
    pub codes: Vec<u32>,
    /// The sensitive tuple.
    pub sensitive: SensitiveId,
    /// How many, at the most.
    pub most: u64,
}

/// A combination that leaves a part.
#[derive(Debug, Clone)]
pub struct Removed {
    /// The part.
    pub part: u32,
    /// The codes of its quasi tuple.
    pub codes: Vec<u32>,
    /// Its sensitive tuple.
    pub sensitive: SensitiveId,
}
