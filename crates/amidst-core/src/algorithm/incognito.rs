//! Incognito: every minimal full-domain generalization.
//!
//! **What it does.** Walks the generalization lattice from the finest node up and finds every node that satisfies the
//! policy while nothing finer does. What it hands over is the minimal node that costs least by the metric; of equal
//! ones the lowest, then the one whose levels come first. [`crate::lattice::minimal`] gives them all.
//!
//! **Source.** LeFevre, DeWitt & Ramakrishnan 2005, "Incognito: Efficient full-domain k-anonymity"; the ℓ-diversity
//! article §5 runs it with ℓ-diversity.
//!
//! **Subset pruning** is that of the paper, on the subsets that the walk passes anyway; it is used for requirements for
//! which it is sound, and for no others. The paper's own iterations over all subsets, joined and pruned a priori, are
//! [`crate::lattice::minimal_by_subsets`]; they find the same nodes, on real tables several times more slowly.
//!
//! **Departures.** Frequency sets are rolled up along the walk rather than from a cube. Requirements that are not
//! monotone are accepted: the minimal nodes are then still minimal, though nodes above them may fail.

use super::{Algorithm, Choice, Entry, Found, InParts, RecodingKind, Search, SearchError};
use crate::lattice;
use crate::search::feasibility;

pub(super) const ENTRY: Entry = Entry {
    id: "incognito",
    title: "Incognito",
    definition: "every minimal full-domain generalization, by a bottom-up walk of the lattice with subset pruning; \
                 hands over the one of least cost",
    citation: "LeFevre, DeWitt & Ramakrishnan 2005; ℓ-diversity article §5",
    kind: RecodingKind::FullDomain,
    options: &[],
    algorithm: &Incognito,
};

#[derive(Debug)]
struct Incognito;

impl Algorithm for Incognito {
    fn supports(&self, _search: &Search<'_>) -> Result<(), SearchError> {
        Ok(())
    }

    fn in_parts(&self) -> InParts {
        InParts::Lattice(Choice::Minimal)
    }

    fn search(&self, search: &Search<'_>) -> Result<Found, SearchError> {
        if feasibility::impossible(search).is_some() {
            return Err(lattice::impossible(search));
        }
        let minimal = lattice::minimal(search)?;
        let count = minimal.len();
        let mut found = lattice::found(search, lattice::cheapest(minimal))?;
        found.notes.push(match count {
            1 => "there is one minimal generalization".to_string(),
            _ => format!("the best of {count} minimal generalizations"),
        });
        Ok(found)
    }
}
