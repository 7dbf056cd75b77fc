//! Loss metric, LM.
//!
//! **Definition.** Per cell (covered leaves − 1)/(leaves − 1), averaged over the rows and quasi columns of the input. A
//! node covers leaves of its hierarchy, whether or not the table has them; a range or set covers values of the table.
//! A column with a single leaf loses nothing. A suppressed row counts 1 in every column. Columns are not weighted.
//!
//! **Source.** Iyengar 2002, "Transforming data to satisfy privacy constraints".

use super::full_domain::averaged;
use super::{CellCosts, CellLoss, Entry, Input, Metric, NodeCost, Release};
use crate::hierarchy::{Cell, Generalization};

pub(super) const ENTRY: Entry = Entry {
    id: "loss",
    title: "loss metric (LM)",
    definition: "(covered leaves − 1)/(leaves − 1) per cell, averaged over rows and quasi columns; a suppressed row \
                 counts 1",
    citation: "Iyengar 2002",
    metric: &Loss,
};

#[derive(Debug)]
struct Loss;

impl Metric for Loss {
    fn loss(&self, release: &Release<'_>) -> Option<f64> {
        averaged::loss(release, cell_loss)
    }

    fn cell_loss(&self) -> Option<CellLoss> {
        Some(cell_loss)
    }

    fn nodes<'a>(&self, input: &Input<'a>) -> Option<Box<dyn NodeCost + 'a>> {
        averaged::nodes(input, cell_loss)
    }

    fn cells<'a>(&self, input: &Input<'a>) -> Option<CellCosts<'a>> {
        averaged::cells(input, cell_loss)
    }
}

fn cell_loss(g: &Generalization, cell: &Cell) -> f64 {
    let leaves = match cell {
        Cell::Node { .. } => g.leaves,
        Cell::Range { .. } | Cell::Set(_) => g.active() as u64,
    };
    if leaves <= 1 { 0.0 } else { (g.covered_leaves(cell) - 1) as f64 / (leaves - 1) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::fixture::{agrees, cases, covered};

    #[test]
    fn covered_leaves_are_counted_row_by_row() {
        // Zip has five leaves, of which the table lacks one below the node that starts with 14.
        let cell = |g: &Generalization, cell: &Cell, _: u32| match (g.name.as_str(), cell) {
            ("zip", Cell::Node { level: 0, .. }) => 0.0,
            ("zip", Cell::Node { level: 1, value: 0 }) => 1.0 / 4.0,
            ("zip", Cell::Node { level: 1, .. }) => 2.0 / 4.0,
            ("zip", Cell::Node { .. }) => 1.0,
            _ => (covered(g, cell).len() as f64 - 1.0) / (g.active() as f64 - 1.0),
        };
        agrees(&Loss, |case| Some(case.sum_cells(cell, |_, _| 1.0) / 30.0));
        assert_eq!(Loss.loss(&cases()[3].release()), Some(1.0));
    }
}
