//! The sets of quasi columns of a policy, each as an adversary who knows only its columns sees the release.

use amidst_core::class::Sizes;
use amidst_core::frequency;
use amidst_core::internal::sets::Classes;
use amidst_core::risk::Risk;
use serde::Serialize;

use super::view::View;

/// One set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetReport {
    /// Its columns.
    pub columns: Vec<String>,
    /// Its classes.
    pub classes: u64,
    /// The smallest of them.
    pub smallest_class: Option<u64>,
    /// The largest risk of anyone.
    pub prosecutor_max: f64,
    /// The average.
    pub prosecutor_avg: f64,
}

/// The sets in a release as its recipients see it.
pub(super) fn of_view(view: &View, sets: &[Vec<usize>]) -> Vec<SetReport> {
    let of = |columns: &Vec<usize>| {
        let classes = Classes::of_table(&view.set, &view.labels, columns).groups;
        let risk = Risk::of(&Sizes::collect(classes.iter().filter(|e| !e.is_empty()).map(frequency::size)));
        SetReport {
            columns: columns.iter().map(|&c| view.labels.columns[c].name.clone()).collect(),
            classes: risk.classes,
            smallest_class: risk.smallest,
            prosecutor_max: risk.prosecutor_max,
            prosecutor_avg: risk.prosecutor_avg,
        }
    };
    sets.iter().map(of).collect()
}
