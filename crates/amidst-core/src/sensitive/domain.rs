//! A sensitive column as policies describe it: its values, their order, hierarchy and categories.

use std::sync::Arc;

use crate::class::{Population, Ranking};
use crate::parameter::Value;
use crate::table::Dictionary;

/// A sensitive column, as a model needs to know it to read its parameters.
#[derive(Debug, Clone, Default)]
pub struct SensitiveDomain {
    /// The column's name.
    pub name: String,
    /// Its values; codes are in rank order when the column is numeric or has an `order`.
    pub dictionary: Dictionary,
    /// Whether code order means something (numbers, dates, or a stated order).
    pub ordered: bool,
    /// What a stated order says of the ranks; nothing where there is none.
    pub ranking: Ranking,
    /// Levels of the column's own hierarchy, from the values up to one top: `levels[l][code]` is the group of a value.
    pub levels: Option<Vec<Vec<u32>>>,
    /// Categories of values, the most sensitive first.
    pub categories: Vec<Vec<String>>,
    /// The weighting of those categories.
    pub weights: Option<Value>,
    /// Counts of a larger population, where the requirement names one.
    pub population: Option<Arc<Population>>,
}
