//! What the clustering algorithms have in common: rows gather in clusters, which grow until the policy holds for each.
//!
//! May use: `local`, `parameter`, the rest of `algorithm`, and what those use.

use super::{Algorithm, Found, Search, SearchError};
use crate::local::build::place_rows::{Choice, dissolve_failing};
use crate::local::class::{Cluster, World, cluster};
use crate::local::finish::found;
use crate::parameter::{Kind, Parameter, Value};

/// Asks for the published scan over all rows or clusters.
pub(super) const EXACT: Parameter = Parameter::optional(
    "exact",
    Kind::Flag,
    "whether to look at every row or class, as published, instead of using an index. The index looks at the 64 most \
           promising of its leaves, up to 512 rows or classes: in tables with more of them it may settle for a neighbour \
           that is hardly farther than the nearest, because proving which is nearest takes most of the time. Classes then differ \
           and the loss hardly does: by 0.5 % at the most, either way, for k-member on samples of 8,000 rows of Adult (default false)",
);

/// The size of clusters before the policy is asked: the policy's k, or what it demands at the least.
pub(super) fn cluster_size(search: &Search<'_>, world: &World<'_>) -> usize {
    search.k.max(world.judge.least).min(world.set.rows.max(1)) as usize
}

/// Clusters, all of which hold, of the least size at which a fair part of them satisfies the policy.
///
/// Models tell how many rows a class takes at the least, but clusters are made without regard to sensitive values, and
/// of that size hardly any may hold. The few that do would have to take up all rows; where none does, everything would
/// be one class. So as long as less than a quarter of the rows is in clusters that hold, the size is doubled.
pub(super) fn sized(
    search: &Search<'_>,
    world: &World<'_>,
    scan: bool,
    clusters: impl Fn(usize) -> Result<Vec<Cluster>, SearchError>,
) -> Result<Vec<Cluster>, SearchError> {
    let mut size = cluster_size(search, world);
    let mut best: Option<(u64, Vec<Cluster>)> = None;
    loop {
        let found = clusters(size)?;
        let held: u64 = found.iter().filter(|c| world.holds(c)).map(|c| c.tally.rows).sum();
        if best.as_ref().is_none_or(|b| held > b.0) {
            best = Some((held, found));
        }
        size *= 2;
        if held >= world.set.rows.div_ceil(4) || 2 * size as u64 > world.set.rows {
            break;
        }
    }
    dissolve_failing(search, world, best.map(|b| b.1).unwrap_or_default(), Choice::by_growth(scan))
}

/// A way to find clusters; the last argument asks for the published scan.
type Clusters = fn(&Search<'_>, &World<'_>, bool) -> Result<Vec<Cluster>, SearchError>;

/// An algorithm that publishes a class for each cluster.
#[derive(Debug)]
pub(super) struct Clustering {
    /// The id of the algorithm.
    pub id: &'static str,
    /// How it finds its clusters.
    pub clusters: Clusters,
}

impl Algorithm for Clustering {
    /// Fails unless the policy stays satisfied when classes grow.
    fn supports(&self, search: &Search<'_>) -> Result<(), SearchError> {
        match search.requirements.iter().find(|r| !r.monotone_overlapping(search.set)) {
            Some(r) => Err(SearchError::Unsupported(format!(
                "{} lets classes grow, and a class that grows can lose {}; choose mondrian or a full-domain algorithm",
                self.id, r.model.id
            ))),
            None => Ok(()),
        }
    }

    fn search(&self, search: &Search<'_>) -> Result<Found, SearchError> {
        self.supports(search)?;
        let scan = matches!(search.options.get(EXACT.name), Some(Value::Flag(true)));
        found(search, |search, world| Ok((cluster::partition((self.clusters)(search, world, scan)?), Vec::new())))
    }
}
