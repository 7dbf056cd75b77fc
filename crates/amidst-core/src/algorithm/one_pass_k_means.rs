//! One-pass k-means (OKA).
//!
//! **Source.** Lin & Wei, *An Efficient Clustering Method for k-Anonymization*, PAIS 2008.
//!
//! **First stage.** ⌊n/k⌋ random rows begin clusters; every other row, in sorted order, joins the cluster whose centre
//! is nearest, and the centre moves with it. The centre is the mean of a column generalized to ranges, and the node or
//! set over the rows of any other.
//!
//! **Second stage.** Clusters with more than k rows give the rows farthest from their centre to the nearest cluster
//! with fewer than k, or, when there is none, to the nearest.
//!
//! **Beyond k-anonymity** clusters that fail the policy are dissolved as in systematic clustering.
//!
//! **Departures.** Without a k, or where the policy needs larger classes, k is the least number of rows with which the
//! policy can hold, doubled as long as hardly any cluster satisfies it. Centres are found through a k-d tree instead of
//! the published O(n²/k) scan; the option `exact` asks for the scan, and says what differs.

use super::clustering::{Clustering, EXACT, sized};
use super::{Entry, RecodingKind, Search, SearchError, systematic};
use crate::local::build::place_rows::PATIENCE;
use crate::local::class::{Cluster, World, cluster};
use crate::local::index::Tree;
use crate::local::shape::ShapeWord;
use crate::local::shape::minimum::MinimumClass;
use crate::random::Random;

pub(super) const ENTRY: Entry = Entry {
    id: "one-pass-k-means",
    title: "One-pass k-means",
    definition: "one round of k-means over ⌊n/k⌋ random centres; then rows move from clusters with more than k rows to \
                 those with fewer",
    citation: "Lin & Wei, PAIS 2008",
    kind: RecodingKind::Local,
    options: &[EXACT],
    algorithm: &Clustering { id: "one-pass-k-means", clusters },
};

/// Clusters with their centres.
struct Centres<'a> {
    world: &'a World<'a>,
    clusters: Vec<Cluster>,
    /// For each cluster and column, the sum of its rows' places.
    sums: Vec<f64>,
    /// How many units each cluster has.
    units: Vec<usize>,
    /// The shapes around the centres.
    tree: Tree,
}

impl Centres<'_> {
    fn distance(&self, cluster: usize, entry: u32) -> f64 {
        let width = self.world.space.width();
        let sums = &self.sums[cluster * width..(cluster + 1) * width];
        let rows = self.clusters[cluster].tally.rows as f64;
        self.world.space.distance(&self.clusters[cluster].shape, sums, rows, self.world.codes(entry))
    }

    fn nearest(&self, entry: u32) -> Option<usize> {
        let (space, codes) = (self.world.space, self.world.codes(entry));
        let found = self.tree.least(
            f64::INFINITY,
            |hull, _, _| space.away(hull, codes),
            |c, _, _| Some(self.distance(c as usize, entry)),
        );
        found.map(|f| f.1 as usize)
    }

    fn shift(&mut self, cluster: usize, entry: u32, rows: f64) {
        let width = self.world.space.width();
        let sums = &mut self.sums[cluster * width..(cluster + 1) * width];
        for ((sum, places), &code) in sums.iter_mut().zip(&self.world.space.places).zip(self.world.codes(entry)) {
            *sum += places[code as usize] * rows;
        }
    }

    fn add(&mut self, cluster: usize, entry: u32, rows: u64) {
        self.world.add(&mut self.clusters[cluster], entry, rows);
        self.shift(cluster, entry, rows as f64);
        self.units[cluster] += 1;
        self.moved(cluster);
    }

    /// Tells the tree where a centre is now.
    fn moved(&mut self, cluster: usize) {
        let shape = self.centre(cluster);
        self.tree.grown(self.world.space, cluster as u32, &shape, MinimumClass::default());
        self.tree.renew(self.world.space);
    }

    fn centre(&self, cluster: usize) -> Vec<ShapeWord> {
        let width = self.world.space.width();
        let mut shape = self.clusters[cluster].shape.clone();
        let sums = &self.sums[cluster * width..(cluster + 1) * width];
        self.world.space.centred(&mut shape, sums, self.clusters[cluster].tally.rows as f64);
        shape
    }

    /// A tree over the centres of all clusters.
    fn planted(&self) -> Tree {
        let shapes: Vec<ShapeWord> = (0..self.clusters.len()).flat_map(|c| self.centre(c)).collect();
        let mut tree = Tree::of_shapes(self.world.space, &shapes, vec![MinimumClass::default(); self.clusters.len()]);
        (tree.scan, tree.patience) = (self.tree.scan, self.tree.patience);
        tree
    }
}

/// The clusters of both stages, all of which hold. With `scan` every centre is looked at.
pub(super) fn clusters(search: &Search<'_>, world: &World<'_>, scan: bool) -> Result<Vec<Cluster>, SearchError> {
    sized(search, world, scan, |k| stages(search, world, k, scan))
}

/// The clusters of both stages.
fn stages(search: &Search<'_>, world: &World<'_>, k: usize, scan: bool) -> Result<Vec<Cluster>, SearchError> {
    let rows = systematic::units(world);
    let p = rows.len() / k;
    if p == 0 {
        return Ok(vec![world.cluster(cluster::combined(&rows))]);
    }
    let mut chosen: Vec<usize> = (0..rows.len()).collect();
    Random::new(search.seed).shuffle(&mut chosen);
    chosen.truncate(p);
    chosen.sort_unstable();
    let codes: Vec<u32> = chosen.iter().flat_map(|&r| world.codes(rows[r].0)).copied().collect();
    let mut tree = Tree::new(world.space, &codes, p);
    (tree.scan, tree.patience) = (scan, PATIENCE);
    let width = world.space.width();
    let mut centres =
        Centres { world, clusters: vec![Cluster::default(); p], sums: vec![0.0; p * width], units: vec![0; p], tree };
    for (c, &r) in chosen.iter().enumerate() {
        centres.add(c, rows[r].0, rows[r].1);
    }
    let mut seeds = chosen.iter().copied().peekable();
    for (r, &(entry, n)) in rows.iter().enumerate() {
        search.checkpoint()?;
        if seeds.next_if_eq(&r).is_some() {
            continue;
        }
        if let Some(c) = centres.nearest(entry) {
            centres.add(c, entry, n);
        }
    }
    // Second stage: what is too much in one cluster fills another.
    let mut excess = Vec::new();
    for c in 0..p {
        let mut parts: Vec<(u32, u64)> = Vec::new();
        for &(entry, n) in &centres.clusters[c].parts {
            let (step, times) = if world.set.persons { (n, 1) } else { (1, n) };
            parts.extend((0..times).map(|_| (entry, step)));
        }
        while centres.units[c] > k {
            let Some(far) = (0..parts.len()).max_by(|&a, &b| {
                centres.distance(c, parts[a].0).total_cmp(&centres.distance(c, parts[b].0)).then(b.cmp(&a))
            }) else {
                break;
            };
            let (entry, n) = parts.swap_remove(far);
            world.take(&mut centres.clusters[c], entry, n);
            centres.shift(c, entry, -(n as f64));
            centres.units[c] -= 1;
            excess.push((entry, n));
        }
        world.reshape(&mut centres.clusters[c]);
        centres.moved(c);
        if centres.units[c] >= k {
            centres.tree.remove(world.space, c as u32);
        }
    }
    for (entry, n) in excess {
        search.checkpoint()?;
        if centres.tree.is_empty() {
            centres.tree = centres.planted();
        }
        if let Some(c) = centres.nearest(entry) {
            centres.add(c, entry, n);
            if centres.units[c] == k {
                centres.tree.remove(world.space, c as u32);
            }
        }
    }
    Ok(centres.clusters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::fixture::Fixture;
    use crate::parameter::Parameters;

    #[test]
    fn every_class_satisfies_the_policy() {
        Fixture::trial("one-pass-k-means", &Parameters::default());
    }

    #[test]
    fn the_index_changes_nothing() {
        Fixture::compare(|search, world, scan| clusters(search, world, scan).unwrap());
    }
}
