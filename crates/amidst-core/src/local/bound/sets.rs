//! Which sets of rows the classes of a policy are made of.
//!
//! A class is *made of* sets when weights of sets within it add up to 1 for each of its rows:
//!
//! - A class of at least s rows is made of all its sets of s rows, each with the same weight.
//! - A class with at least s times the rows of its most frequent value is made of sets of s rows with s different
//!   values: the counts, divided by the rows and times s, are at most 1 and add up to s, so they are a mixture of
//!   choices of s values, and within a value rows are chosen evenly.
//! - A class with s different values may have more of one than such sets can hold. One row of each value, whichever
//!   they are, is a class of the kind above; the others are *spare*. Where all values are equally frequent nothing is
//!   spare.

use crate::model::Needs;
use crate::search::Search;
use crate::search::need::Need;

/// The sets that classes are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sets {
    /// The rows of a set.
    pub(super) size: usize,
    /// The sensitive column whose values differ within a set, where they must.
    pub(super) column: Option<usize>,
    /// Whether a class may have spare rows: more of a value than sets of different values can hold.
    pub(super) spare: bool,
    /// The different values of a class with spare rows, at the least.
    pub(super) uneven: u64,
}

impl Sets {
    /// The sets of classes whose values do not count.
    pub(super) fn of_size(need: Need) -> Sets {
        Sets { size: need.rows as usize, column: None, spare: false, uneven: 1 }
    }

    /// The sets that say most about the policy.
    pub(super) fn of(search: &Search<'_>, need: Need) -> Sets {
        // Where a class must be far larger than it is varied, its size says more.
        let varied = |values: u64| values > 1 && need.rows < 2 * values;
        let mut ratio = (1, 0);
        // Persons with several rows are counted otherwise than rows.
        for requirement in search.requirements.iter().filter(|_| !search.set.persons) {
            for (m, model) in requirement.models.iter().enumerate() {
                if let (Needs::Histogram, Some(&column)) = (model.needs(), requirement.on.get(m)) {
                    ratio = ratio.max((model.least_ratio(), column));
                }
            }
        }
        if varied(ratio.0) && ratio.0 + 1 >= need.different {
            return Sets { size: ratio.0 as usize, column: Some(ratio.1), spare: false, uneven: 1 };
        }
        match varied(need.different) {
            true => {
                let (size, uneven) = (need.different as usize, least_uneven(search, need));
                Sets { size, column: Some(need.column), spare: true, uneven }
            }
            false => Sets::of_size(need),
        }
    }
}

/// The different values of a class in which some are more frequent than others, at the least.
fn least_uneven(search: &Search<'_>, need: Need) -> u64 {
    let models = search.requirements.iter().filter(|_| !search.set.persons).flat_map(|r| r.models.iter().zip(&r.on));
    let of_column = models.filter(|(model, on)| model.needs() == Needs::Histogram && **on == need.column);
    of_column.map(|(model, _)| model.least_uneven()).fold(need.different, u64::max)
}
