//! A full-domain search in a table that stays with its engine, which can roll it up to any node of the lattice.
//!
//! The search takes the highest node that nothing is known of yet:
//!
//! - If too many of its rows are in classes that are too small for the policy, neither it nor anything finer can be
//!   published. The engine tells their number, and nothing is gathered.
//! - Otherwise its columns are lowered as long as the result can be gathered. That node is gathered, and everything
//!   from there up is searched in this process by the same code as any other table.
//!
//! In the end every node has been searched or ruled out, so what was found is what a search of the whole finds. A node
//! that can be neither gathered nor ruled out ends the search: it might be the best.

use super::{MinimumClass, RemoteTable, TooLarge};
use crate::algorithm::Choice;
use crate::control::Control;
use crate::frequency::{Entry, NOBODY};
use crate::hierarchy::Generalization;
use crate::ids::SensitiveId;
use crate::lattice::{self, Node, finer};
use crate::model::Needs;
use crate::requirement::Evaluator;
use crate::search::{Search, SearchError};

/// More nodes than this are not kept account of.
const MOST_NODES: usize = 1 << 22;

/// Finds the node that is chosen, and returns the table at that node or at a finer one from which the algorithm chooses
/// it again.
pub(super) fn search<R: RemoteTable>(
    remote: &R,
    choice: Choice,
    top: R::Gathered,
    most: u64,
    control: &Control<'_>,
    refused: impl Fn(String) -> TooLarge,
) -> Result<R::Gathered, R::Error> {
    let (limit, least) = {
        let search = remote.search(&top)?;
        if let Some(why) = unsupported(&search) {
            return Err(refused(why).into());
        }
        (search.suppression_limit(), least(&search))
    };
    drop(top);
    let Some(mut lattice) = Lattice::of(remote.generalizations()) else {
        return Err(refused("its lattice has too many nodes to be taken apart".to_string()).into());
    };
    let piece = Covering { remote, most, least, limit };
    let mut found: Vec<Node> = Vec::new();
    let mut kept: Option<(R::Gathered, Vec<Node>)> = None;
    for number in lattice.highest_first() {
        if !lattice.open[number] {
            continue;
        }
        control.checkpoint()?;
        let node = lattice.levels(number);
        if piece.hopeless(&node)? {
            lattice.close(|levels| finer(levels, &node));
            continue;
        }
        let base = piece.lowered(&mut lattice, node)?;
        let gathered = remote.gather(&base)?;
        // Each piece is searched to its end: a time limit is for the search that follows.
        let nodes = choice.nodes(&remote.search(&gathered)?.without_deadline())?;
        lattice.close(|levels| finer(&base, levels));
        found.extend(nodes.iter().cloned());
        let chosen = choice.chosen(&found);
        if chosen.is_some() && choice.chosen(&nodes) == chosen {
            kept = Some((gathered, nodes));
        }
    }
    let Some(chosen) = choice.chosen(&found) else {
        let message = "no generalization satisfies the policy within the suppression allowed";
        return Err(SearchError::Impossible(message.into()).into());
    };
    match kept {
        Some((gathered, nodes)) if choice.chosen(&nodes).as_ref() == Some(&chosen) => Ok(gathered),
        _ => remote.gather(&chosen.levels),
    }
}

/// Why a lattice cannot be searched in parts, if it cannot.
fn unsupported(search: &Search<'_>) -> Option<String> {
    if search.set.persons {
        return Some("persons with several rows are told apart by all of them".to_string());
    }
    if search.requirements.iter().any(|r| r.needs() == Needs::Tuples) {
        return Some("a requirement looks at single tuples".to_string());
    }
    let metric = search.metric;
    metric.metric.looks_at_values().then(|| format!("the metric `{}` looks at single values", metric.id))
}

impl Choice {
    /// What may be chosen in a piece of the lattice.
    fn nodes(self, search: &Search<'_>) -> Result<Vec<Node>, SearchError> {
        Ok(match self {
            Choice::Best => lattice::best(search)?.map(|best| best.node).into_iter().collect(),
            Choice::Minimal => lattice::minimal(search)?,
            Choice::Lowest => lattice::lowest(search)?,
        })
    }

    /// What is chosen of several pieces.
    fn chosen(self, found: &[Node]) -> Option<Node> {
        let height = |node: &Node| node.levels.iter().sum::<usize>();
        let least = found.iter().map(height).min()?;
        let kept = found.iter().filter(|node| match self {
            Choice::Best => true,
            Choice::Minimal => !found.iter().any(|m| m.levels != node.levels && finer(&m.levels, &node.levels)),
            Choice::Lowest => height(node) == least,
        });
        lattice::cheapest(kept.cloned().collect())
    }
}

/// What every class of the table must have.
fn least(top: &Search<'_>) -> MinimumClass {
    let evaluator = Evaluator::new(top.set, top.requirements);
    let mut least = MinimumClass { rows: 1, values: 1 };
    for (i, requirement) in top.requirements.iter().enumerate() {
        if requirement.needs() == Needs::Size && requirement.preserved_by_insertion() {
            let holds = |rows: u64| evaluator.holds(i, &[Entry { sensitive: SensitiveId(0), person: NOBODY, rows }]);
            // One more than all rows when nothing holds: then every node is ruled out.
            let (mut low, mut high) = (1, top.set.rows + 1);
            while low < high {
                let middle = low + (high - low) / 2;
                if holds(middle) { high = middle } else { low = middle + 1 }
            }
            least.rows = least.rows.max(low);
        }
        let values = requirement.models.iter().map(|model| model.least_values()).max();
        least.values = least.values.max(values.unwrap_or(1));
    }
    least
}

/// What can be gathered, and what cannot be published.
struct Covering<'a, R> {
    remote: &'a R,
    most: u64,
    least: MinimumClass,
    limit: u64,
}

impl<R: RemoteTable> Covering<'_, R> {
    /// Whether neither a node nor anything finer can be published.
    fn hopeless(&self, levels: &[usize]) -> Result<bool, R::Error> {
        Ok(self.remote.lacking(levels, self.least)? > self.limit)
    }

    /// Lowers the columns of a node one after the other, each as far as nodes can be gathered and are of interest.
    fn lowered(&self, lattice: &mut Lattice, node: Vec<usize>) -> Result<Vec<usize>, R::Error> {
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
    fn fits(&self, lattice: &mut Lattice, levels: &[usize]) -> Result<bool, R::Error> {
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
        let message = format!(
            "the table may be publishable at the levels {}, where it has {combinations} distinct combinations of quasi and \
             sensitive values, more than the {} that are gathered",
            named.join(", "),
            self.most
        );
        Err(TooLarge { combinations, message }.into())
    }
}

/// The nodes of the lattice, and which of them nothing is known of yet.
struct Lattice {
    top: Vec<usize>,
    open: Vec<bool>,
}

impl Lattice {
    /// The lattice of a table; none when it has too many nodes.
    fn of(generalizations: &[Generalization]) -> Option<Lattice> {
        let top: Vec<usize> = generalizations.iter().map(Generalization::height).collect();
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
