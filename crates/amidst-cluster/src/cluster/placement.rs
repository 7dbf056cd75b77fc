//! What becomes of each tuple of a table that stays with the cluster, and how far it is cut.

use std::path::PathBuf;

use amidst::core::internal::partial::{Omitted, SplitRows};

/// What is known of a table in parts.
#[derive(Debug, Default)]
pub struct Parts {
    /// How often parts were divided; names the file that they are in.
    pub(super) round: usize,
    /// The files that tell the class of each tuple.
    pub(super) placed: Vec<PathBuf>,
    /// For each quasi column the turn of each code.
    pub(super) turn_of: Vec<Vec<u32>>,
}

/// What becomes of each tuple of a table.
#[derive(Debug)]
pub struct Placement {
    /// The files that tell the class of each tuple, by the turns of its codes.
    pub files: Vec<PathBuf>,
    /// For each quasi column the turn of each code.
    pub turn_of: Vec<Vec<u32>>,
    /// The class of the release for each class that was placed.
    pub class_of: Vec<u32>,
    /// Rows that are left out or masked.
    pub omitted: Vec<Omitted>,
    /// Combinations whose rows do not go where the others of their tuple go.
    pub dealt: Vec<SplitRows>,
    /// The codes of each sensitive tuple.
    pub sensitive: Vec<Vec<u32>>,
}
