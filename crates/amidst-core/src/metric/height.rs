//! Height of a full-domain generalization.
//!
//! **Definition.** The sum of the levels of the quasi columns: the distance from the original table in the lattice.
//! Suppression does not change it. Not defined for local recoding, where a column has no one level.
//!
//! **Source.** Samarati 2001, "Protecting respondents' identities in microdata release"; ℓ-diversity article §6.

use super::full_domain::Counted;
use super::{Entry, Input, Metric, Node, NodeCost, Release};

pub(super) const ENTRY: Entry = Entry {
    id: "height",
    title: "generalization height",
    definition: "the sum of the levels of the quasi columns (full-domain releases only)",
    citation: "Samarati 2001; ℓ-diversity article §6",
    metric: &Height,
};

#[derive(Debug)]
struct Height;

impl Metric for Height {
    fn loss(&self, release: &Release<'_>) -> Option<f64> {
        let levels = release.recoding.levels.as_ref()?;
        if release.set.rows == 0 { None } else { Some(height(levels)) }
    }

    fn nodes<'a>(&self, _input: &Input<'a>) -> Option<Box<dyn NodeCost + 'a>> {
        Some(Box::new(Height))
    }
}

impl NodeCost for Height {
    fn needs_values(&self, _suppressed: bool) -> bool {
        false
    }

    fn loss(&self, node: &Node<'_>) -> Option<f64> {
        Some(height(node.levels))
    }

    fn loss_of(&self, counted: &Counted<'_>) -> Option<f64> {
        Some(height(counted.levels))
    }

    fn known_by_levels(&self) -> bool {
        true
    }

    fn lower_bound(&self, levels: &[usize]) -> Option<f64> {
        Some(height(levels))
    }

    fn bound(&self, node: &Node<'_>, _max_suppressed: u64) -> Option<f64> {
        Some(height(node.levels))
    }
}

fn height(levels: &[usize]) -> f64 {
    levels.iter().sum::<usize>() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::fixture::agrees;

    #[test]
    fn height_adds_up_levels() {
        agrees(&Height, |case| case.recoding.levels.as_ref().map(|l| l.iter().map(|&l| l as f64).sum()));
    }
}
