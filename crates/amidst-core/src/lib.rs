//! The science of Amidst: how a table about people becomes a release in which every person stands amidst others.
//!
//! Data flows one way: a [`table::Table`] of dictionary codes is counted into a [`frequency::FrequencySet`]; an
//! [`algorithm::Algorithm`] searches it for a [`recoding::Recoding`] whose classes satisfy every
//! [`requirement::Requirement`]; [`metric`]s say what the recoding cost.
//!
//! This crate knows neither files nor network nor async nor Arrow, never prints, and never panics on data.

// Tests inside the crate share their random tables with those outside, which know it by its name.
#[cfg(test)]
extern crate self as amidst_core;

pub mod algorithm;
pub mod attack;
mod cells;
pub mod class;
pub mod control;
pub mod frequency;
pub mod hierarchy;
pub mod ids;
pub mod metric;
pub mod model;
pub mod parameter;
pub mod recoding;
pub mod requirement;
pub mod risk;
pub mod search;
pub mod table;

// Internals that the other crates of Amidst need. They are not documented and may change with any version.
#[doc(hidden)]
pub mod exact;
#[doc(hidden)]
pub mod lattice;
#[doc(hidden)]
pub mod local;
#[doc(hidden)]
pub mod partial;
#[doc(hidden)]
pub mod random;
#[doc(hidden)]
pub mod sensitive;
#[doc(hidden)]
pub mod series;
#[doc(hidden)]
pub mod sets;
#[doc(hidden)]
pub mod shared;
#[doc(hidden)]
pub mod worlds;
