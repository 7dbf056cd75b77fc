//! What the algorithms of local recoding share: the cost of a class, the test of a class, and classes as a recoding.
//!
//! Rows that agree in every quasi and sensitive column are interchangeable, so everything here works on the entries of
//! the frequency set: a class holds so many rows of this entry and so many of that one.

pub(crate) mod assembly;
pub mod cluster;
pub(crate) mod covering;
mod crowd;
pub(crate) mod cut;
#[cfg(test)]
pub(crate) mod fixture;
mod found;
mod hull;
pub(crate) mod items;
pub mod join;
mod judge;
mod nodes;
pub(crate) mod omit;
mod partition;
mod random;
pub mod refine;
pub mod settle;
mod space;
pub(crate) mod specialize;
mod spread;
pub mod tree;

pub use cluster::{Cluster, World};
pub use crowd::Crowd;
pub(crate) use found::found;
pub use judge::{Counts, Judge, Tally};
pub use partition::{Part, Partition, shape_of};
pub use random::Random;
pub use space::{Cuts, Space};
pub use tree::{Least, Tree};
