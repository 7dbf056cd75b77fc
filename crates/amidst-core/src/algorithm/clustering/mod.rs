//! What the clustering algorithms have in common: rows gather in clusters, which grow until the policy holds for each.

use super::{Algorithm, Found, Search, SearchError};
use crate::local::{Cluster, World, cluster, found};
use crate::parameter::{Kind, Parameter, Value};

/// Asks for the published scan over all rows or clusters.
pub(super) const EXACT: Parameter = Parameter {
    name: "exact",
    kind: Kind::Flag,
    required: false,
    help: "whether to look at every row instead of using an index: the same classes, only slower (default false)",
};

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
