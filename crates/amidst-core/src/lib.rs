//! The science of Amidst: how a table about people becomes a release in which every person stands amidst others.
//!
//! Data flows one way: a [`table::Table`] of dictionary codes is counted into a [`frequency::FrequencySet`]; an
//! [`algorithm::Algorithm`] searches it for a [`recoding::Recoding`] whose classes satisfy every
//! [`requirement::Requirement`]; [`metric`]s say what the recoding cost.
//!
//! This crate knows neither files nor network nor async nor Arrow, never prints, and never panics on data.
//!
//! ```
//! use amidst_core::algorithm::OPTIMAL;
//! use amidst_core::frequency::FrequencySet;
//! use amidst_core::hierarchy::Generalization;
//! use amidst_core::model::named::K_ANONYMITY;
//! use amidst_core::parameter::{Parameters, Value};
//! use amidst_core::requirement::Requirement;
//! use amidst_core::search::Search;
//! use amidst_core::table::Table;
//!
//! let mut table = Table::from_rows(["sex", "town"], [["f", "Ulm"], ["m", "Ulm"], ["f", "Bonn"], ["m", "Bonn"]]);
//! table.columns.iter_mut().for_each(|column| column.sort(&[]));
//! let (set, _) = FrequencySet::count(&table, &[0, 1], &[], None);
//! // Without a hierarchy a column has its values and `*`.
//! let bound = table.columns.iter().map(|column| Generalization::bind(column, None));
//! let generalizations: Vec<Generalization> = bound.collect::<Result<_, _>>().expect("no hierarchy lacks a value");
//! let two = Parameters::from_pairs([("k", Value::Number(2u64.into()))]);
//! let requirements = [Requirement::new(K_ANONYMITY, two, vec![], &[])?];
//! let found = OPTIMAL.algorithm.search(&Search::new(&set, &generalizations, &requirements))?;
//! assert_eq!(found.recoding.classes.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The main types
//!
//! - [`table::Table`]: columns of dictionary codes; [`hierarchy::Generalization`]: a hierarchy bound to a column.
//! - [`frequency::FrequencySet`]: the distinct (quasi tuple, sensitive tuple) combinations, with their counts.
//! - [`requirement::Requirement`]: a privacy model of [`model::MODELS`] with its parameters.
//! - [`search::Search`]: what is searched for; [`search::Found`]: the [`recoding::Recoding`] that was found.
//! - [`control::Control`]: how work is stopped, watched and limited.

pub mod algorithm;
pub mod attack;
mod cells;
pub mod class;
pub mod control;
mod exact;
pub mod frequency;
pub mod hierarchy;
pub mod ids;
#[doc(hidden)]
pub mod internal;
mod lattice;
mod local;
pub mod metric;
pub mod model;
pub mod parameter;
mod partial;
mod random;
pub mod recoding;
pub mod requirement;
pub mod risk;
mod row_groups;
pub mod search;
mod sensitive;
mod series;
mod sets;
pub mod table;
mod worlds;
