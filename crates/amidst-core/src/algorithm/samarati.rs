//! Samarati's search: a k-minimal generalization with suppression.
//!
//! **What it does.** Finds the least height (sum of levels) at which some node satisfies the policy while suppressing
//! at most MaxSup rows, by binary search on the height. Of the valid nodes of that height it hands over the one that
//! costs least by the metric, then the one whose levels come first; [`crate::lattice::lowest`] gives them all.
//!
//! **Source.** Samarati 2001, "Protecting respondents' identities in microdata release"; survey Definition 4.
//!
//! **Departures.** Any requirement is accepted, not only k-anonymity. Binary search is sound when every node above a
//! valid one is valid; for other policies (ℓ-diversity with suppression, masked rows, models that are not monotone) the
//! heights are tried from the lowest up.

use super::{Algorithm, Choice, Entry, Found, InParts, RecodingKind, Search, SearchError};
use crate::search::feasibility;
use crate::{lattice, metric};

pub(super) const ENTRY: Entry = Entry {
    id: "samarati",
    title: "Samarati",
    definition: "a generalization of least height that satisfies the policy with at most the allowed number of \
                 suppressed rows, by binary search on the height",
    citation: "Samarati 2001; survey Definition 4",
    kind: RecodingKind::FullDomain,
    options: &[],
    algorithm: &Samarati,
};

#[derive(Debug)]
struct Samarati;

impl Algorithm for Samarati {
    fn supports(&self, _search: &Search<'_>) -> Result<(), SearchError> {
        Ok(())
    }

    fn in_parts(&self) -> InParts {
        InParts::Lattice(Choice::Lowest)
    }

    fn search(&self, search: &Search<'_>) -> Result<Found, SearchError> {
        if feasibility::impossible(search).is_some() {
            return Err(lattice::impossible(search));
        }
        let lowest = lattice::lowest(search)?;
        let count = lowest.len();
        let mut found = lattice::found(search, lattice::cheapest(lowest))?;
        let height: usize = found.recoding.levels.iter().flatten().sum();
        found.notes.push(match count {
            1 => format!("the only valid generalization of the least height, {height}"),
            _ => format!("the best of {count} valid generalizations of the least height, {height}"),
        });
        found.optimal = search.metric.id == metric::HEIGHT.id;
        Ok(found)
    }
}
