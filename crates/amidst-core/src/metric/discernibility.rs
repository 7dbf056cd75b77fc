//! Discernibility, DM.
//!
//! **Definition.** Every row is charged with the number of rows it cannot be told from: Σ n² over the classes. A row
//! that is left out is charged with the whole table: + suppressed × rows. Masked rows are published together, so they
//! are a class like any other.
//!
//! **Source.** Bayardo & Agrawal 2005, "Data privacy through optimal k-anonymization"; ℓ-diversity article §6.
//!
//! **Bounds.** Merging classes adds their products, and a suppressed class costs n · rows ≥ n², so the unsuppressed
//! node is the least. Before the classes are counted: c classes of N rows cost at least N²/c.

use super::full_domain::{Adds, Counted, round_down};
use super::{Entry, Input, Metric, Node, NodeCost, Release};

pub(super) const ENTRY: Entry = Entry {
    id: "discernibility",
    title: "discernibility (DM)",
    definition: "Σ n² over the classes + suppressed × rows",
    citation: "Bayardo & Agrawal 2005; ℓ-diversity article §6",
    metric: &Discernibility,
};

#[derive(Debug)]
struct Discernibility;

impl Metric for Discernibility {
    fn loss(&self, release: &Release<'_>) -> Option<f64> {
        if release.set.rows == 0 {
            return None;
        }
        Some(squares(release.class_rows(), u128::from(release.suppressed) * u128::from(release.set.rows)))
    }

    fn nodes<'a>(&self, input: &Input<'a>) -> Option<Box<dyn NodeCost + 'a>> {
        if input.set.rows == 0 { None } else { Some(Box::new(Nodes { input: *input })) }
    }
}

/// Σ n² + rest, in integers until the end.
fn squares(rows: impl Iterator<Item = u64>, rest: u128) -> f64 {
    rows.fold(rest, |sum, n| sum + u128::from(n) * u128::from(n)) as f64
}

#[derive(Debug)]
struct Nodes<'a> {
    input: Input<'a>,
}

impl NodeCost for Nodes<'_> {
    fn needs_values(&self, _suppressed: bool) -> bool {
        false
    }

    fn suppression_costs(&self) -> bool {
        true
    }

    fn loss(&self, node: &Node<'_>) -> Option<f64> {
        let suppressed = node.suppressed_rows();
        let each = if node.masked { suppressed } else { self.input.set.rows };
        Some(squares(node.published(), u128::from(suppressed) * u128::from(each)))
    }

    fn loss_of(&self, counted: &Counted<'_>) -> Option<f64> {
        if let (Some(lost), []) = (counted.lost, counted.suppressed) {
            // With nothing suppressed, what is known of the lost rows is that their classes are no finer.
            return Some(squares(counted.rows[..counted.classes()].iter().copied(), lost.finer_squares));
        }
        let suppressed = counted.suppressed_rows();
        let each = if counted.masked { suppressed } else { self.input.set.rows };
        let published = counted.published().map(|c| counted.rows[c]);
        Some(squares(published, u128::from(suppressed) * u128::from(each)))
    }

    fn suppressing_adds(&self, _levels: &[usize], rows: &[u64], masked: bool) -> f64 {
        // A row shares its class with no more than the largest has, before it is charged with the whole table.
        let largest = rows.iter().copied().max().unwrap_or(0);
        if masked { 0.0 } else { self.input.set.rows.saturating_sub(largest) as f64 }
    }

    fn adds_below(&self, counted: &Counted<'_>, partly: &[(u32, u64)]) -> Option<Adds> {
        if counted.masked {
            return None;
        }
        // In a finer node a row shares its class with no more rows than here.
        let all = self.input.set.rows;
        let adds = |class: usize, rows: u64| rows as f64 * all.saturating_sub(counted.rows[class]) as f64;
        let known = counted.lost.zip(counted.rows.last()).map_or(0.0, |(lost, &rows)| {
            (u128::from(rows) * u128::from(all)).saturating_sub(lost.coarser_squares) as f64
        });
        let whole: f64 = counted.suppressed_classes().map(|class| adds(class, counted.rows[class])).sum();
        let parts: f64 = partly.iter().map(|&(class, rows)| adds(class as usize, rows)).sum();
        let lost = known + whole + parts;
        Some(Adds { lost, published: Vec::new() })
    }

    fn most_suppressed(&self, _levels: &[usize], ceiling: f64, masked: bool) -> u64 {
        let rows = self.input.set.rows as f64;
        let most = if masked { ceiling.sqrt() } else { ceiling / rows };
        (most * (1.0 + 1e-9)) as u64 + 1
    }

    fn lower_bound(&self, levels: &[usize]) -> Option<f64> {
        let rows = self.input.set.rows as f64;
        let least = rows * rows / self.input.most_classes(levels).max(1) as f64;
        Some(round_down(least, least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::fixture::{agrees, cases};

    #[test]
    fn every_row_is_charged_with_its_class() {
        agrees(&Discernibility, |case| {
            let rows = case.rows();
            let charge = |class: u32| match class {
                crate::recoding::SUPPRESSED => rows.len(),
                _ => rows.iter().filter(|r| r.class == class).count(),
            };
            Some(rows.iter().map(|r| charge(r.class) as f64).sum())
        });
    }

    #[test]
    fn known_values() {
        let loss = |case: usize| Discernibility.loss(&cases()[case].release());
        // Six singles and two pairs; everything in one class.
        assert_eq!((loss(0), loss(3)), (Some(14.0), Some(100.0)));
    }
}
