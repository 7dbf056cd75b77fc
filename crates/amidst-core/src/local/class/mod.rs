//! Classes: what they hold, whether they satisfy the policy, and the recoding that they make together.
//!
//! May use: `exact`, `model`, `requirement`, `search`, `local::shape`, `local::index`, and what those use.

pub mod cluster;
pub mod diameter;
pub mod judge;
pub mod partition;

pub use cluster::{Cluster, World};
pub use diameter::intra_cluster_distance;
pub use judge::{Counts, Judge, Tally};
pub use partition::{Part, Partition, shape_of};
