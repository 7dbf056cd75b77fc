//! What attacks look at: the published table, its cells as an adversary reads them, and what is known beside it.
//!
//! May use: `class`, `frequency`, `hierarchy`, `recoding`, `sensitive`, `table`, `worlds`, the rest of `attack`, and
//! what those use.

pub mod cell;
pub(super) mod class_batch;
mod external;
mod fit;
mod knowledge;
mod lists;
mod members;
mod original;
mod population;
pub(super) mod possible_worlds;
mod published;
mod side;
mod target;
mod tree;
mod tuples;

#[cfg(test)]
pub(super) mod fixture;

pub use external::{Covers, External};
pub use fit::{Fits, fit, fit_tuples};
pub use knowledge::{Extra, Knowledge};
pub use members::{Members, members};
pub use original::Original;
pub use population::{Covering, People, PopulationKnowledge, narrow};
pub use published::{Published, labels_of_recoding, labels_of_table};
pub(super) use target::worst;
pub use target::{ClassProfile, Target};
pub use tuples::Tuples;
