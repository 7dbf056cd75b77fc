//! Optimal full-domain generalization: the node of the lattice that costs least.
//!
//! **What it does.** Finds, among all nodes that satisfy the policy with at most the allowed number of suppressed rows,
//! the one of least cost by the chosen metric, and proves that there is none better: branch and bound along the tree
//! that covers the lattice. A subtree is left out only when the metric's own lower bound says that nothing in it is
//! better, or when its coarsest node proves that nothing in it is valid. Ties go to the lower node, then to the one
//! whose levels come first.
//!
//! **Suppression.** Classes that fail are suppressed whole; masked rows form one class that must satisfy the policy too
//! (a node whose masked rows together fail it is not valid).
//!
//! **Not monotone.** Where validity does not climb the lattice (suppression with ℓ-diversity, `bayes-optimal`, masked
//! rows), only the metric's bounds and requirements that no merge can break prune.
//!
//! **Time limit.** When it passes, the best node found so far is returned with the gap to the least that the unexplored
//! part of the lattice may cost. Memory stays bounded by the height of the lattice, not by the number of its nodes.

use super::{Algorithm, Choice, Entry, Found, InParts, RecodingKind, Search, SearchError};
use crate::lattice;
use crate::search::feasibility;

pub(super) const ENTRY: Entry = Entry {
    id: "optimal",
    title: "optimal full-domain",
    definition: "the full-domain generalization of least cost by the chosen metric, exactly, by branch and bound over \
                 the lattice",
    citation: "the setting of LeFevre et al. 2005 and El Emam et al. 2009, solved exactly for any metric",
    kind: RecodingKind::FullDomain,
    options: &[],
    algorithm: &Optimal,
};

#[derive(Debug)]
struct Optimal;

/// Nodes of the lattice times tuples of the table up to which it competes where a policy names no algorithm.
const BUDGET: f64 = 1e11;

/// Whether every column has a hierarchy. That local recodings may leave it for ranges or sets does not keep them
/// from being compared.
pub(super) fn by_levels(search: &Search<'_>) -> bool {
    search.generalizations.iter().all(|g| g.has_hierarchy)
}

/// Whether searching the lattice is within the budget.
pub(super) fn affordable(search: &Search<'_>) -> bool {
    lattice::nodes(search) * search.set.len() as f64 <= BUDGET
}

impl Algorithm for Optimal {
    fn competes(&self, search: &Search<'_>) -> bool {
        by_levels(search) && affordable(search)
    }

    fn supports(&self, _search: &Search<'_>) -> Result<(), SearchError> {
        Ok(())
    }

    fn in_parts(&self) -> InParts {
        InParts::Lattice(Choice::Best)
    }

    fn search(&self, search: &Search<'_>) -> Result<Found, SearchError> {
        if feasibility::impossible(search).is_some() {
            return Err(lattice::impossible(search));
        }
        let best = lattice::best(search)?;
        let gap = best.as_ref().and_then(|b| b.gap);
        let mut found = lattice::found(search, best.map(|b| b.node))?;
        found.optimal = gap.is_none();
        found.gap = gap;
        if let Some(gap) = gap {
            let metric = search.metric.id;
            found.notes.push(format!("the time was over: the least {metric} may be lower by up to {gap:.6}"));
        }
        Ok(found)
    }
}
