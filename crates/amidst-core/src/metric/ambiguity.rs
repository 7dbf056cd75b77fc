//! Ambiguity, AM.
//!
//! **Definition.** The average, over the rows of the input, of the number of original tuples a published row could
//! stand for: the product over the quasi columns of the leaves its cells cover. 1 for the input itself. A node covers
//! leaves of its hierarchy, a range or set covers values of the table. A suppressed row could be any tuple: the product
//! of all leaves. Not defined when that product is too large for a number.
//!
//! **Source.** Goldberger & Tassa 2010, "Efficient anonymizations with enhanced utility"; Nergiz & Clifton 2007.
//!
//! **Bounds.** The unsuppressed node is the least. Before classes are counted: an average is at least the geometric
//! mean, and logarithms of products add up over columns.

use super::full_domain::{Additive, round_down};
use super::{Entry, Input, Metric, Node, NodeCost, Release};
use crate::hierarchy::Generalization;

pub(super) const ENTRY: Entry = Entry {
    id: "ambiguity",
    title: "ambiguity (AM)",
    definition: "the product of the leaves covered by the cells of a row, averaged over the rows; a suppressed row \
                 covers everything",
    citation: "Goldberger & Tassa 2010",
    metric: &Ambiguity,
};

#[derive(Debug)]
struct Ambiguity;

impl Metric for Ambiguity {
    fn loss(&self, release: &Release<'_>) -> Option<f64> {
        if release.set.rows == 0 {
            return None;
        }
        let mut sum = release.suppressed as f64 * everything(release.generalizations);
        for (cells, rows) in release.recoding.classes.iter().zip(release.class_rows()) {
            let tuples: f64 =
                release.generalizations.iter().zip(cells).map(|(g, cell)| g.covered_leaves(cell) as f64).product();
            sum += rows as f64 * tuples;
        }
        finite(sum / release.set.rows as f64)
    }

    fn nodes<'a>(&self, input: &Input<'a>) -> Option<Box<dyn NodeCost + 'a>> {
        let logarithms = Additive::new(
            input,
            |_, g, cell| (g.covered_leaves(cell) as f64).ln(),
            everything(input.generalizations).ln(),
            0.0,
            1.0 / input.set.rows as f64,
        )?;
        Some(Box::new(Nodes { input: *input, logarithms }))
    }
}

/// How many tuples there are.
fn everything(generalizations: &[Generalization]) -> f64 {
    generalizations.iter().map(|g| g.leaves as f64).product()
}

fn finite(x: f64) -> Option<f64> {
    if x.is_finite() { Some(x) } else { None }
}

#[derive(Debug)]
struct Nodes<'a> {
    input: Input<'a>,
    logarithms: Additive<'a>,
}

impl NodeCost for Nodes<'_> {
    fn loss(&self, node: &Node<'_>) -> Option<f64> {
        let generalizations = self.input.generalizations;
        let mut sum = match node.suppressed_rows() {
            0 => 0.0,
            rows => rows as f64 * everything(generalizations),
        };
        for class in (0..node.len()).filter(|&c| !node.is_suppressed(c)) {
            let tuples: f64 = (generalizations.iter().zip(node.levels).zip(node.tuple(class)))
                .map(|((g, &level), &value)| g.levels[level].leaves[value as usize] as f64)
                .product();
            sum += node.rows[class] as f64 * tuples;
        }
        finite(sum / self.input.set.rows as f64)
    }

    fn lower_bound(&self, levels: &[usize]) -> Option<f64> {
        let mean = self.logarithms.lower_bound(levels)?.exp();
        finite(round_down(mean, mean))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Cell;
    use crate::metric::fixture::{agrees, cases, covered};

    #[test]
    fn possible_tuples_are_counted_row_by_row() {
        agrees(&Ambiguity, |case| {
            let size = |g: &Generalization, cell: &Cell| match (g.name.as_str(), cell) {
                // The node that starts with 14 also covers 1411, which the table lacks.
                ("zip", Cell::Node { level: 1, value: 1 }) => 3.0,
                ("zip", Cell::Node { level: 2, .. }) => 5.0,
                _ => covered(g, cell).len() as f64,
            };
            let tuples = |cells: &[Cell]| case.generalizations.iter().zip(cells).map(|(g, c)| size(g, c)).product();
            let sum: f64 = case.rows().iter().map(|row| row.cells.map_or(5.0 * 5.0 * 2.0, tuples)).sum();
            Some(sum / 10.0)
        });
        assert_eq!(Ambiguity.loss(&cases()[0].release()), Some(1.0));
        assert_eq!(Ambiguity.loss(&cases()[3].release()), Some(50.0));
    }
}
