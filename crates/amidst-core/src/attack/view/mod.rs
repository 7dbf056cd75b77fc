//! What attacks look at: the published table, its cells as an adversary reads them, and what is known beside it.
//!
//! May use: `class`, `frequency`, `hierarchy`, `recoding`, `sensitive`, `table`, `worlds`, the rest of `attack`, and
//! what those use.

pub mod cell;
pub(super) mod class_batch;
mod fit;
mod knowledge;
mod lists;
mod members;
mod original;
pub(super) mod possible_worlds;
mod published;
mod side;
mod target;
mod tree;

#[cfg(test)]
pub(super) mod fixture;

pub use fit::{Fits, fit, fit_tuples};
pub use knowledge::{Covering, Covers, External, Extra, Knowledge, People, PopulationKnowledge, Tuples, narrow};
pub use members::{Members, members};
pub use original::Original;
pub(super) use original::TupleTotals;
pub use published::{Published, labels_of_recoding, labels_of_table};
pub(super) use target::worst;
pub use target::{ClassProfile, Target};
