//! What a lattice search needs of a metric: the loss of a node from its classes alone, and bounds to prune with.
//!
//! A search asks three questions, from the cheapest to the dearest:
//!
//! 1. [`NodeCost::lower_bound`]: knowing only the levels, how little can this node or anything above it cost? A node
//!    whose bound is not below the best loss so far need not be counted, nor anything above it.
//! 2. [`NodeCost::bound`]: the same, once the classes of the node are counted, and so sharper.
//! 3. [`NodeCost::loss`]: what the node costs, given which of its classes are suppressed.
//!
//! May use: `frequency`, `hierarchy`, the rest of `metric`, and what those use.

mod additive;
pub(super) mod averaged;

pub(super) use additive::{Additive, sum_cells};

use std::fmt::Debug;

use rayon::prelude::*;

use crate::frequency::{self, FrequencySet, Groups};
use crate::hierarchy::Generalization;

/// A table and what the policy says of it, before any recoding.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The table.
    pub set: &'a FrequencySet,
    /// What the quasi columns can become.
    pub generalizations: &'a [Generalization],
    /// The policy's k; 1 when it has none.
    pub k: u64,
}

/// The classes of a full-domain node.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// The level of each quasi column.
    pub levels: &'a [usize],
    /// The generalized tuple of each class: one value code per quasi column, numbered as in
    /// [`GeneralizedLevel`](crate::hierarchy::GeneralizedLevel), class after class.
    pub values: &'a [u32],
    /// The rows of each class.
    pub rows: &'a [u64],
    /// The entries of each class. Only metrics that say [`NodeCost::needs_groups`] look at them.
    pub groups: Option<&'a Groups>,
    /// Whether each class is suppressed; an empty slice when none is.
    pub suppressed: &'a [bool],
    /// Whether suppressed rows are published as one class with every quasi column `*`, rather than dropped.
    pub masked: bool,
}

/// The classes of a full-domain node as a search holds them, for metrics that need no more.
#[derive(Debug, Clone, Copy)]
pub struct Counted<'a> {
    /// The table.
    pub set: &'a FrequencySet,
    /// The level of each quasi column.
    pub levels: &'a [usize],
    /// A tuple of the table that each class covers.
    pub first: &'a [u32],
    /// The rows of each class; none where it covers only tuples of a population.
    pub rows: &'a [u64],
    /// The suppressed classes, ascending.
    pub suppressed: &'a [u32],
    /// Whether suppressed rows are published as one class, rather than dropped.
    pub masked: bool,
    /// What the last class is made of, where it holds all rows that are known to be lost; that class is no class then.
    pub lost: Option<&'a Lost>,
}

/// Rows that are suppressed in a node and in all finer ones, taken together.
#[derive(Debug, Clone, Default)]
pub struct Lost {
    /// How many of them have each code of each column, or another code that the node does not tell from it.
    pub codes: Vec<Vec<u64>>,
    /// Σ n² over the classes that they were in when they were taken together, which were finer than those of the node.
    pub finer_squares: u128,
    /// Σ n · m over the same, where m are the rows of the class of a coarser node that held them.
    pub coarser_squares: u128,
}

impl Counted<'_> {
    /// The classes of the node: all but that of the lost rows.
    pub fn classes(&self) -> usize {
        self.rows.len() - usize::from(self.lost.is_some())
    }

    /// The suppressed classes, without that of the lost rows.
    pub fn suppressed_classes(&self) -> impl Iterator<Item = usize> + Clone {
        let classes = self.classes();
        self.suppressed.iter().map(|&c| c as usize).filter(move |&c| c < classes)
    }

    /// The rows of all suppressed classes.
    pub fn suppressed_rows(&self) -> u64 {
        self.suppressed.iter().map(|&c| self.rows[c as usize]).sum()
    }

    /// The classes that are published as they stand.
    pub fn published(&self) -> impl Iterator<Item = usize> {
        let mut next = self.suppressed.iter().peekable();
        (0..self.rows.len()).filter(move |&c| next.next_if(|&&s| s as usize == c).is_none())
    }
}

/// What the suppression of known rows adds at least to the cost of a node: a sum less what the rows would cost if they
/// were published, column by column.
#[derive(Debug, Clone, Default)]
pub struct Adds {
    /// What the rows cost suppressed.
    pub lost: f64,
    /// What they cost at most published: by column and level. Empty where it does not depend on the levels.
    pub published: Vec<Vec<f64>>,
}

impl Adds {
    /// What is added at a node where the rows cost `published` published.
    pub fn less(&self, published: f64) -> f64 {
        (self.lost - published - 1e-11 * self.lost.abs()).max(0.0)
    }
}

/// A metric bound to a table, for the nodes of its lattice.
pub trait NodeCost: Debug + Send + Sync {
    /// Whether the loss depends on the sensitive values in each class, so that [`Node::groups`] must be given.
    fn needs_groups(&self) -> bool {
        false
    }

    /// Whether the loss looks at [`Node::values`], when classes are suppressed or when none is. Otherwise they may be
    /// left empty.
    fn needs_values(&self, _suppressed: bool) -> bool {
        true
    }

    /// Whether every row costs at least as much in a coarser class, and at least as much again when it is suppressed or
    /// masked. The loss of a node with only those rows suppressed that anything above it must suppress, too, is
    /// then a bound for all of that. Say so only where the bound is worth its price: where a suppressed row costs many
    /// times what a published one does.
    fn suppression_costs(&self) -> bool {
        false
    }

    /// The loss of the node: that of the release in which the suppressed classes are dropped or masked, up to rounding.
    fn loss(&self, node: &Node<'_>) -> Option<f64>;

    /// The same from less, without a copy of the classes. `None` where the metric has no such short cut.
    fn loss_of(&self, _counted: &Counted<'_>) -> Option<f64> {
        None
    }

    /// A number of rows such that a node at these levels which suppresses more costs more than `ceiling`.
    fn most_suppressed(&self, _levels: &[usize], _ceiling: f64, _masked: bool) -> u64 {
        u64::MAX
    }

    /// What every further row that anything above a node suppresses adds at least, where
    /// [`NodeCost::suppression_costs`].
    fn suppressing_adds(&self, _levels: &[usize], _rows: &[u64], _masked: bool) -> f64 {
        0.0
    }

    /// Whether [`NodeCost::lower_bound`] is what a node costs with nothing suppressed, but for rounding.
    fn known_by_levels(&self) -> bool {
        false
    }

    /// What suppressing `rows` rows adds at most, anywhere.
    fn adds_at_most(&self, _rows: u64, _masked: bool) -> f64 {
        f64::INFINITY
    }

    /// What suppressing the classes of `counted.suppressed`, and the given numbers of rows of some other classes, adds
    /// at least in this node and in every finer one to what that costs with nothing suppressed. `None` where there is
    /// no such number.
    fn adds_below(&self, _counted: &Counted<'_>, _partly: &[(u32, u64)]) -> Option<Adds> {
        None
    }

    /// Whether the loss of a node with nothing suppressed is the least that it, and every generalization of it, can
    /// cost with any classes suppressed.
    fn monotone(&self) -> bool {
        true
    }

    /// A number that neither this node nor any generalization of it falls below, whatever is suppressed; known without
    /// counting the classes. It is rounded down, so that comparing it with a loss never prunes a node that ties.
    fn lower_bound(&self, _levels: &[usize]) -> Option<f64> {
        None
    }

    /// The same bound for a node whose classes are counted, when at most `max_suppressed` rows may be suppressed.
    /// The node's own `suppressed` is not looked at.
    fn bound(&self, node: &Node<'_>, _max_suppressed: u64) -> Option<f64> {
        if !self.monotone() {
            return None;
        }
        self.loss(&Node { suppressed: &[], ..*node }).map(|loss| round_down(loss, loss))
    }
}

impl<'a> Node<'a> {
    /// The number of classes, suppressed ones included.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no class.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether class `class` is suppressed.
    pub fn is_suppressed(&self, class: usize) -> bool {
        self.suppressed.get(class).copied().unwrap_or(false)
    }

    /// The generalized tuple of class `class`.
    pub fn tuple(&self, class: usize) -> &'a [u32] {
        let width = self.levels.len();
        &self.values[class * width..(class + 1) * width]
    }

    /// The rows of all suppressed classes.
    pub fn suppressed_rows(&self) -> u64 {
        self.rows.iter().zip(self.suppressed).filter(|&(_, &s)| s).map(|(&n, _)| n).sum()
    }

    /// The rows of each class that is published as it stands.
    pub fn published(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len()).filter(|&c| !self.is_suppressed(c)).map(|c| self.rows[c])
    }
}

impl Input<'_> {
    /// How many rows hold each code of each quasi column.
    pub fn marginals(&self) -> Vec<Vec<u64>> {
        let none = || -> Vec<Vec<u64>> { self.generalizations.iter().map(|g| vec![0; g.active()]).collect() };
        let count = |mut counts: Vec<Vec<u64>>, tuple: usize| {
            let rows = frequency::rows(self.set.groups.get(tuple));
            for (&code, counts) in self.set.tuple(tuple).iter().zip(&mut counts) {
                // Codes that only a population has lie behind the table's own, and no row holds them.
                if let Some(count) = counts.get_mut(code as usize) {
                    *count += rows;
                }
            }
            counts
        };
        let add = |mut one: Vec<Vec<u64>>, other: Vec<Vec<u64>>| {
            one.iter_mut().flatten().zip(other.iter().flatten()).for_each(|(one, other)| *one += other);
            one
        };
        // Parts are at least as long as the counts that each of them has.
        let active: usize = self.generalizations.iter().map(Generalization::active).sum();
        (0..self.set.len()).into_par_iter().with_min_len(active.max(1 << 14)).fold(none, count).reduce(none, add)
    }

    /// At most how many classes a node at these levels has.
    pub fn most_classes(&self, levels: &[usize]) -> u64 {
        let product = (self.generalizations.iter().zip(levels))
            .fold(1u64, |p, (g, &l)| p.saturating_mul(g.levels[l].labels.len() as u64));
        product.min(self.set.len() as u64)
    }
}

/// `value` less the rounding that sums of terms up to `magnitude` may have gathered.
pub(crate) fn round_down(value: f64, magnitude: f64) -> f64 {
    value - 1e-11 * magnitude.abs()
}
