//! Tables with more distinct combinations than this process can gather.
//!
//! Such a table stays with its engine, which can roll it up to any node of the lattice: [`RemoteTable`]. A full-domain search
//! then looks at the lattice in pieces. It takes the highest node that nothing is known of yet:
//!
//! - If too many of its rows are in classes that are too small for the policy, neither it nor anything finer can be
//!   published. The engine tells their number, and nothing is gathered.
//! - Otherwise its columns are lowered as long as the result can be gathered. That node is gathered, and everything from
//!   there up is searched in this process by the same code as any other table.
//!
//! In the end every node has been searched or ruled out, so what was found is what a search of the whole finds. A node that
//! can be neither gathered nor ruled out ends the search: nobody could say whether it is the best.
//!
//! Mondrian and top-down specialization need no lattice: they cut the table where it is, down to parts that can be gathered
//! ([`DivisibleTable`]).

mod parted;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};

use amidst_core::frequency::{Entry, NOBODY};
use amidst_core::hierarchy::Generalization;
use amidst_core::lattice::{self, Node, finer};
use amidst_core::model::Needs;
use amidst_core::partial::ALGORITHMS;
use amidst_core::requirement::Evaluator;

use crate::Failure;
use crate::job::Control;
use crate::plan::{algorithm_of, metric_of, task};
use crate::policy::Policy;
use crate::prepare::Prepared;

pub use parted::{Combinations, Counts, Divided, DivisibleTable, Removed, TailQuery};

/// A table that stays with its engine.
pub trait RemoteTable {
    /// What the quasi columns can become.
    fn generalizations(&self) -> &[Generalization];

    /// How many distinct combinations of quasi and sensitive values a node has.
    ///
    /// # Errors
    /// Whatever keeps the engine from counting them.
    fn combinations(&self, levels: &[usize]) -> Result<u64, Failure>;

    /// How many rows are in classes of a node that have less than `least`.
    ///
    /// # Errors
    /// Whatever keeps the engine from counting them.
    fn lacking(&self, levels: &[usize], least: MinimumClass) -> Result<u64, Failure>;

    /// The table as it is at a node; nothing finer can be searched in it.
    ///
    /// # Errors
    /// Whatever keeps the engine from handing it over.
    fn gather(&self, levels: &[usize]) -> Result<Prepared, Failure>;
}

/// What every class must have, whatever else is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinimumClass {
    /// So many rows.
    pub rows: u64,
    /// So many distinct combinations of sensitive values.
    pub values: u64,
}

/// More nodes than this are not kept account of.
const MOST_NODES: usize = 1 << 22;

/// Finds the node that the policy's algorithm chooses, and returns the table at that node or at a finer one from which the
/// algorithm chooses it again; for Mondrian and top-down, the table cut into classes, with what was [found](Prepared::found). At most
/// `most` combinations are gathered at a time.
///
/// # Errors
/// When no recoding satisfies the policy, or when that cannot be found out.
pub fn gather_for(
    remote: &dyn DivisibleTable,
    policy: &Policy,
    most: u64,
    cancel: Option<&AtomicBool>,
) -> Result<Prepared, Failure> {
    let bottom = vec![0; remote.generalizations().len()];
    let combinations = remote.combinations(&bottom)?;
    let refused = |why: String| {
        Failure::Usage(format!(
            "the table has {combinations} distinct combinations of quasi and sensitive values, more than the {most} that \
             are gathered, and {why}; say --gather {combinations} if this machine has the memory (about 200 bytes each)"
        ))
    };
    let control = Control { cancel: cancel.unwrap_or(Control::default().cancel), ..Control::default() };
    let cancel = control.cancel;
    let heights: Vec<usize> = remote.generalizations().iter().map(Generalization::height).collect();
    let top = remote.gather(&heights)?;
    let algorithm = algorithm_of(policy, &top)?.id;
    if ALGORITHMS.contains(&algorithm) {
        return parted::cut(remote, policy, algorithm, &top, most, cancel, refused);
    }
    let goal = Goal::of(policy, &top)?.map_err(refused)?;
    let Some(mut lattice) = Lattice::of(remote) else {
        return Err(refused("its lattice has too many nodes to be taken apart".to_string()));
    };
    let limit = task(policy, &top, &control)?.suppression_limit();
    let least = least(&top);
    drop(top);
    let piece = Covering { remote, most, least, limit };

    let mut found: Vec<Node> = Vec::new();
    let mut kept: Option<(Prepared, Vec<Node>)> = None;
    for number in lattice.highest_first() {
        if !lattice.open[number] {
            continue;
        }
        if cancel.load(Ordering::Relaxed) {
            return Err(Failure::Cancelled);
        }
        let node = lattice.levels(number);
        if piece.hopeless(&node)? {
            lattice.close(|levels| finer(levels, &node));
            continue;
        }
        let base = piece.lowered(&mut lattice, node)?;
        let prepared = remote.gather(&base)?;
        let search = task(policy, &prepared, &control)?;
        // Each piece is searched to its end: a time limit is for the search that follows.
        let search = search.unhurried();
        let nodes = goal.nodes(&search)?;
        lattice.close(|levels| finer(&base, levels));
        found.extend(nodes.iter().cloned());
        let chosen = goal.chosen(&found);
        if chosen.is_some() && goal.chosen(&nodes) == chosen {
            kept = Some((prepared, nodes));
        }
    }
    let Some(chosen) = goal.chosen(&found) else {
        return Err(Failure::Impossible(
            "no generalization satisfies the policy within the suppression allowed".to_string(),
        ));
    };
    match kept {
        Some((prepared, nodes)) if goal.chosen(&nodes).as_ref() == Some(&chosen) => Ok(prepared),
        _ => remote.gather(&chosen.levels),
    }
}

/// Which of the valid nodes an algorithm chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// The one that costs least.
    Best,
    /// The cheapest of those that generalize no other.
    Minimal,
    /// The cheapest of those of least height.
    Lowest,
}

impl Goal {
    /// The goal of the policy's algorithm, or why it cannot be reached in pieces.
    fn of(policy: &Policy, top: &Prepared) -> Result<Result<Goal, String>, Failure> {
        let metric = metric_of(policy)?;
        if top.set.persons {
            return Ok(Err("persons with several rows are told apart by all of them".to_string()));
        }
        if top.requirements.iter().any(|r| r.needs() == Needs::Tuples) {
            return Ok(Err("a requirement looks at single tuples".to_string()));
        }
        if metric.metric.looks_at_values() {
            return Ok(Err(format!("the metric `{}` looks at single values", metric.id)));
        }
        Ok(match algorithm_of(policy, top)?.id {
            "optimal" => Ok(Goal::Best),
            "incognito" => Ok(Goal::Minimal),
            "samarati" => Ok(Goal::Lowest),
            other => Err(format!("`{other}` looks at all of them (`optimal`, `mondrian` and `top-down` need not)")),
        })
    }

    /// What may be chosen in a piece of the lattice.
    fn nodes(self, search: &amidst_core::search::Search<'_>) -> Result<Vec<Node>, Failure> {
        Ok(match self {
            Goal::Best => lattice::best(search)?.map(|best| best.node).into_iter().collect(),
            Goal::Minimal => lattice::minimal(search)?,
            Goal::Lowest => lattice::lowest(search)?,
        })
    }

    /// What is chosen of several pieces.
    fn chosen(self, found: &[Node]) -> Option<Node> {
        let height = |node: &Node| node.levels.iter().sum::<usize>();
        let least = found.iter().map(height).min()?;
        let kept = found.iter().filter(|node| match self {
            Goal::Best => true,
            Goal::Minimal => !found.iter().any(|m| m.levels != node.levels && finer(&m.levels, &node.levels)),
            Goal::Lowest => height(node) == least,
        });
        lattice::cheapest(kept.cloned().collect())
    }
}

/// What every class of the table must have.
fn least(top: &Prepared) -> MinimumClass {
    let evaluator = Evaluator::new(&top.set, &top.requirements);
    let mut least = MinimumClass { rows: 1, values: 1 };
    for (i, requirement) in top.requirements.iter().enumerate() {
        if requirement.needs() == Needs::Size && requirement.preserved_by_insertion() {
            let holds = |rows: u64| evaluator.holds(i, &[Entry { sensitive: 0, person: NOBODY, rows }]);
            // One more than all rows when nothing holds: then every node is ruled out.
            let (mut low, mut high) = (1, top.set.rows + 1);
            while low < high {
                let middle = low + (high - low) / 2;
                if holds(middle) { high = middle } else { low = middle + 1 }
            }
            least.rows = least.rows.max(low);
        }
        if requirement.model.id == "distinct-l-diversity" {
            let stated = requirement.parameters.get("l").and_then(|l| l.number()?.to_u64());
            least.values = least.values.max(stated.unwrap_or(1));
        }
    }
    least
}

/// What can be gathered, and what cannot be published.
struct Covering<'a> {
    remote: &'a dyn DivisibleTable,
    most: u64,
    least: MinimumClass,
    limit: u64,
}

impl Covering<'_> {
    /// Whether neither a node nor anything finer can be published.
    fn hopeless(&self, levels: &[usize]) -> Result<bool, Failure> {
        Ok(self.remote.lacking(levels, self.least)? > self.limit)
    }

    /// Lowers the columns of a node one after the other, each as far as nodes can be gathered and are of interest.
    fn lowered(&self, lattice: &mut Lattice, node: Vec<usize>) -> Result<Vec<usize>, Failure> {
        let mut base = node;
        self.fits(lattice, &base)?;
        for column in 0..base.len() {
            let (mut low, mut high) = (0, base[column]);
            while low < high {
                let middle = low + (high - low) / 2;
                base[column] = middle;
                if self.fits(lattice, &base)? { high = middle } else { low = middle + 1 }
            }
            base[column] = high;
        }
        Ok(base)
    }

    /// Whether a node is of interest and can be gathered. One that can be neither gathered nor ruled out is an error.
    fn fits(&self, lattice: &mut Lattice, levels: &[usize]) -> Result<bool, Failure> {
        if !lattice.open[lattice.number(levels)] {
            return Ok(false);
        }
        let combinations = self.remote.combinations(levels)?;
        if combinations <= self.most {
            return Ok(true);
        }
        if self.hopeless(levels)? {
            lattice.close(|below| finer(below, levels));
            return Ok(false);
        }
        let named: Vec<String> =
            self.remote.generalizations().iter().zip(levels).map(|(g, level)| format!("{} {level}", g.name)).collect();
        Err(Failure::Usage(format!(
            "the table may be publishable at the levels {}, where it has {combinations} distinct combinations of quasi and \
             sensitive values, more than the {} that are gathered; say --gather {combinations} if this machine has the \
             memory (about 200 bytes each)",
            named.join(", "),
            self.most
        )))
    }
}

/// The nodes of the lattice, and which of them nothing is known of yet.
struct Lattice {
    top: Vec<usize>,
    open: Vec<bool>,
}

impl Lattice {
    /// The lattice of a table; none when it has too many nodes.
    fn of(remote: &dyn DivisibleTable) -> Option<Lattice> {
        let top: Vec<usize> = remote.generalizations().iter().map(Generalization::height).collect();
        let nodes = top.iter().try_fold(1usize, |nodes, height| nodes.checked_mul(height + 1))?;
        (nodes <= MOST_NODES).then(|| Lattice { top, open: vec![true; nodes] })
    }

    fn levels(&self, mut number: usize) -> Vec<usize> {
        let level = |height: &usize| {
            let level = number % (height + 1);
            number /= height + 1;
            level
        };
        self.top.iter().map(level).collect()
    }

    fn number(&self, levels: &[usize]) -> usize {
        levels.iter().zip(&self.top).rev().fold(0, |number, (level, height)| number * (height + 1) + level)
    }

    /// All nodes, the highest first.
    fn highest_first(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..self.open.len()).collect();
        numbers.sort_by_key(|&n| (std::cmp::Reverse(self.levels(n).iter().sum::<usize>()), n));
        numbers
    }

    /// Closes the nodes that `known` tells.
    fn close(&mut self, known: impl Fn(&[usize]) -> bool) {
        for number in 0..self.open.len() {
            if self.open[number] && known(&self.levels(number)) {
                self.open[number] = false;
            }
        }
    }
}
