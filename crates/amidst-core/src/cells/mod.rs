//! Cell suppression: one level of its hierarchy for each column, and single cells of rows that fit no class become the
//! top.
//!
//! A class is the rows whose published tuples agree exactly; a suppressed cell is a value like any other and matches
//! nothing but itself. So a row that is given a star needs companions that are given the same one. `coded` is a table
//! at a node, `place` chooses cells quickly, `exact` proves the least cost on small tables, `choose` looks for the
//! node. May use: `frequency`, `hierarchy`, `metric`, `recoding`, `search`, `lattice` and `local`; never `algorithm`,
//! which uses it.

mod choose;
mod coded;
mod exact;
mod place;
#[cfg(test)]
mod tests;

pub(crate) use choose::choose;
pub(crate) use coded::published;
