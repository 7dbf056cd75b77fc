//! Normalized average class size, CAVG.
//!
//! **Definition.** (rows / classes) / k: how many times larger than necessary the classes are. Rows and classes are
//! those of the release, so dropped rows do not count and masked rows are one class. k is the policy's; without one, 1.
//! Not defined when everything is suppressed.
//!
//! **Source.** LeFevre, DeWitt & Ramakrishnan 2006, "Mondrian multidimensional k-anonymity"; ℓ-diversity article §6.
//!
//! **Bounds.** Suppressing large classes can lower the average, so the unsuppressed node is no bound. But no node above
//! has more classes, and no class smaller than this node's smallest.

use super::full_domain::round_down;
use super::{Entry, Input, Metric, Node, NodeCost, Release};

pub(super) const ENTRY: Entry = Entry {
    id: "average-class-size",
    title: "normalized average class size (CAVG)",
    definition: "(rows / classes) / k, with the policy's k (1 when it has none)",
    citation: "LeFevre, DeWitt & Ramakrishnan 2006; ℓ-diversity article §6",
    metric: &AverageClassSize,
};

#[derive(Debug)]
struct AverageClassSize;

impl Metric for AverageClassSize {
    fn loss(&self, release: &Release<'_>) -> Option<f64> {
        average(release.class_rows().filter(|&n| n > 0), release.k)
    }

    fn nodes<'a>(&self, input: &Input<'a>) -> Option<Box<dyn NodeCost + 'a>> {
        if input.set.rows == 0 { None } else { Some(Box::new(Nodes { rows: input.set.rows, k: input.k })) }
    }
}

fn average(classes: impl Iterator<Item = u64>, k: u64) -> Option<f64> {
    let (rows, classes) = classes.fold((0u64, 0u64), |(rows, classes), n| (rows + n, classes + 1));
    if classes == 0 { None } else { Some(rows as f64 / classes as f64 / k.max(1) as f64) }
}

#[derive(Debug)]
struct Nodes {
    rows: u64,
    k: u64,
}

impl NodeCost for Nodes {
    fn needs_values(&self, _suppressed: bool) -> bool {
        false
    }

    fn loss(&self, node: &Node<'_>) -> Option<f64> {
        let masked = if node.masked { node.suppressed_rows() } else { 0 };
        average(node.published().chain((masked > 0).then_some(masked)), self.k)
    }

    fn monotone(&self) -> bool {
        false
    }

    fn bound(&self, node: &Node<'_>, max_suppressed: u64) -> Option<f64> {
        let smallest = *node.rows.iter().min()?;
        let classes = node.len() as f64;
        let average = if node.masked {
            // Masking merges whole classes into one, so all rows stay and the classes grow no more.
            self.rows as f64 / classes
        } else {
            self.rows.saturating_sub(max_suppressed) as f64 / classes
        };
        let least = average.max(smallest as f64) / self.k.max(1) as f64;
        Some(round_down(least, least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::fixture::{agrees, cases};

    #[test]
    fn rows_by_classes_by_k() {
        agrees(&AverageClassSize, |case| {
            let rows = case.rows();
            let published: Vec<u32> = rows.iter().filter(|r| r.cells.is_some()).map(|r| r.class).collect();
            let classes: std::collections::BTreeSet<u32> = published.iter().copied().collect();
            Some(published.len() as f64 / classes.len() as f64 / 2.0)
        });
    }

    #[test]
    fn known_values() {
        let loss = |case: usize| AverageClassSize.loss(&cases()[case].release());
        // Eight classes of ten rows, and one; k = 2.
        assert_eq!((loss(0), loss(3)), (Some(10.0 / 8.0 / 2.0), Some(5.0)));
    }
}
