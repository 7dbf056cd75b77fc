//! What several versions of one table leave open about each person: the possible worlds.
//!
//! **The adversary** knows everybody's quasi values and who is in which version, so knows the class of everybody in
//! each version, and sees how often each class publishes each value. Where the cells of classes overlap, or agree, they
//! know it all the same: a stronger adversary than most, which is the safe assumption. Unknown is who has which value.
//! A person keeps their value from version to version. A class may have more rows than persons: counterfeits, whose
//! values are unknown.
//!
//! **A world** gives everybody a value so that every class of every version comes out as published. The adversary holds
//! every world to be equally likely. What is known of a person are the values that they have in some world, and the
//! share of the worlds in which they have each.
//!
//! **Why it is hard.** Classes of different versions cut through each other, so that subtracting one tells something
//! about another, which tells something about a third. In general it is a counting problem on integer points of a
//! polytope with no bound on the work. So there are three ways, and each person is judged by the first that gives an
//! answer:
//!
//! 1. *Reasoning* (`network`): persons who are together in every version are one cohort; how many of a cohort have a
//!    value lies between bounds that tighten each other through the classes. Where the bounds meet the answer is exact.
//!    So it is where every class publishes each value equally often: values may then be exchanged, and all are equal.
//! 2. *Counting* (`count`): what is left open falls apart into components. The worlds of one are counted, exactly,
//!    until that takes more steps than allowed.
//! 3. *A bound* on the safe side (`witness`): a value counts as possible only where a world proves it, and shares are
//!    told by the bounds alone. What is not proven is never taken for possible.
//!
//! Nothing here knows privacy models: attacks and the audit of a series look at the same worlds.
//!
//! May use: `frequency`, `random`, and what those use.

mod cohort_belief;
mod component;
mod count;
mod explain;
mod history;
mod network;
mod version;
mod witness;

#[cfg(test)]
pub(crate) mod tests;

pub use cohort_belief::{CohortBelief, Effort, Group, Posterior, Range};
pub use explain::Step;
pub use history::{Cohort, History};
pub use version::{Compact, Version, VersionClass};
