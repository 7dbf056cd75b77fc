//! Rows without a valid class find one: each joins the class where the loss grows least and the policy still holds.
//!
//! This is the second step of the systematic clustering paper (§3.2, Table 5), for any monotone policy.

use crate::local::class::{Cluster, Part, World};
use crate::local::index::Tree;
use crate::local::shape::ShapeWord;
use crate::local::shape::minimum::{MinimumClass, clearly_above};
use crate::search::{Search, SearchError};

/// Leaves to look at for a row, of up to eight rows or clusters each: where there are more, what is found need not be
/// what a scan of all would find. Fewer cost loss, more cost time for next to no gain.
pub(crate) const PATIENCE: usize = 64;

/// How the cluster that a row joins is found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Choice {
    /// Whether every cluster is looked at, as the published algorithms do.
    pub scan: bool,
    /// Whether the cluster that loses least with the row is chosen, as the systematic clustering paper has it, instead
    /// of the one whose loss grows least. The clusters that take up dissolved ones are then compared as they were
    /// before any row came, as its Table 5 does.
    pub by_loss: bool,
}

impl Choice {
    /// By the growth of the loss.
    pub fn by_growth(scan: bool) -> Self {
        Choice { scan, by_loss: false }
    }
}

/// Dissolves the clusters that fail the policy among those that hold.
pub fn dissolve_failing(
    search: &Search<'_>,
    world: &World<'_>,
    clusters: Vec<Cluster>,
    choice: Choice,
) -> Result<Vec<Cluster>, SearchError> {
    let (mut valid, failing): (Vec<Cluster>, Vec<Cluster>) =
        clusters.into_iter().filter(|c| !c.parts.is_empty()).partition(|c| world.holds(c));
    let left = failing.into_iter().flat_map(|c| c.parts).collect();
    place(search, world, &mut valid, left, choice)?;
    Ok(valid)
}

/// Places rows in the clusters given, all of which hold. Rows that no cluster can take form one of their own, which is
/// merged with its nearest until it holds.
pub fn place(
    search: &Search<'_>,
    world: &World<'_>,
    clusters: &mut Vec<Cluster>,
    left: Vec<Part>,
    choice: Choice,
) -> Result<(), SearchError> {
    let mut index = Index::new(world, clusters, choice);
    let mut unplaced = Cluster::default();
    for (entry, rows) in left {
        let step = if world.set.persons { rows } else { 1 };
        for _ in 0..rows / step {
            search.checkpoint()?;
            let found = index.least_growth(world, clusters, entry, step, |c| world.holds_with(c, entry, step));
            match found {
                Some(c) => {
                    world.add(&mut clusters[c], entry, step);
                    if !choice.by_loss {
                        index.grown(world, c, &clusters[c]);
                    }
                }
                None => world.add(&mut unplaced, entry, step),
            }
        }
    }
    while !unplaced.parts.is_empty() && !world.holds(&unplaced) {
        search.checkpoint()?;
        let nearest = (0..clusters.len()).min_by(|&a, &b| {
            let growth = |c: &Cluster| {
                let rows = (c.tally.rows + unplaced.tally.rows) as f64;
                world.space.cost_merged(&c.shape, &unplaced.shape) * rows - c.loss()
            };
            growth(&clusters[a]).total_cmp(&growth(&clusters[b]))
        });
        let Some(nearest) = nearest else {
            return Err(SearchError::Impossible("the rows cannot be divided into classes that hold".into()));
        };
        for (entry, rows) in clusters.swap_remove(nearest).parts {
            world.add(&mut unplaced, entry, rows);
        }
    }
    if !unplaced.parts.is_empty() {
        clusters.push(unplaced);
    }
    Ok(())
}

fn least(cluster: &Cluster) -> MinimumClass {
    MinimumClass { rows: cluster.tally.rows as f64, cost: cluster.cost }
}

/// An index over growing clusters.
#[derive(Debug)]
pub struct Index {
    tree: Tree,
    by_loss: bool,
}

impl Index {
    /// An index over these clusters, none of them empty.
    pub fn new(world: &World<'_>, clusters: &[Cluster], choice: Choice) -> Self {
        let shapes: Vec<ShapeWord> = clusters.iter().flat_map(|c| &c.shape).copied().collect();
        let mut tree = Tree::of_shapes(world.space, &shapes, clusters.iter().map(least).collect());
        (tree.scan, tree.patience) = (choice.scan, PATIENCE);
        Index { tree, by_loss: choice.by_loss }
    }

    /// Tells that a cluster has grown.
    pub fn grown(&mut self, world: &World<'_>, cluster: usize, now: &Cluster) {
        self.tree.grown(world.space, cluster as u32, &now.shape, least(now));
        self.tree.renew(world.space);
    }

    /// Takes a cluster out.
    pub fn close(&mut self, world: &World<'_>, cluster: usize) {
        self.tree.remove(world.space, cluster as u32);
        self.tree.renew(world.space);
    }

    /// The cluster whose loss grows least with some rows of an entry, among those that `fit`; or the one that loses
    /// least with them, where that is asked for.
    pub fn least_growth(
        &self,
        world: &World<'_>,
        clusters: &[Cluster],
        entry: u32,
        rows: u64,
        fit: impl Fn(&Cluster) -> bool,
    ) -> Option<usize> {
        let codes = world.codes(entry);
        let mut best = f64::INFINITY;
        let found = self.tree.least(
            f64::INFINITY,
            // All rows pay for the stretch, the newcomers also for what the cluster costs already.
            |hull, least, best| {
                let before = if self.by_loss { least.cost * least.rows } else { 0.0 };
                before + world.space.growth(hull, least, codes, rows as f64, best - before)
            },
            |c, shape, has| {
                let before = if self.by_loss { 0.0 } else { has.cost * has.rows };
                let growth = world.space.cost_with(shape, codes) * (has.rows + rows as f64) - before;
                // The policy is asked only where the answer matters.
                if clearly_above(growth, best) || !fit(&clusters[c as usize]) {
                    return None;
                }
                best = best.min(growth);
                Some(growth)
            },
        );
        found.map(|f| f.1 as usize)
    }
}
