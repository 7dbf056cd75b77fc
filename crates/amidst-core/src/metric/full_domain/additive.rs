//! Metrics that add up over the cells of a release.
//!
//! In a full-domain node the cell of a row depends, column by column, on the row's own value alone. So what a column
//! costs at a level follows from how often each of its values occurs, and a node with nothing suppressed is priced by
//! one look-up per column, without its classes.

use super::{Input, Node, NodeCost, round_down};
use crate::hierarchy::{Cell, Generalization};
use crate::metric::Release;

/// A loss of the form scale · (offset + Σ over rows and columns of the cost of the cell).
#[derive(Debug)]
pub(in crate::metric) struct Additive {
    /// The cost of a value: by column, level, value.
    cells: Vec<Vec<Vec<f64>>>,
    /// The cost of all rows: by column and level.
    columns: Vec<Vec<f64>>,
    suppressed_row: f64,
    offset: f64,
    scale: f64,
}

impl Additive {
    /// Prices every value of every level with `cell` (given the column's position), and a suppressed row with
    /// `suppressed_row`. `None` for a table without rows.
    pub fn new(
        input: &Input<'_>,
        cell: impl Fn(usize, &Generalization, &Cell) -> f64,
        suppressed_row: f64,
        offset: f64,
        scale: f64,
    ) -> Option<Self> {
        if input.set.rows == 0 {
            return None;
        }
        let marginals = input.marginals();
        let mut cells = Vec::with_capacity(marginals.len());
        let mut columns = Vec::with_capacity(marginals.len());
        for (column, (g, counts)) in input.generalizations.iter().zip(&marginals).enumerate() {
            let costs: Vec<Vec<f64>> = (g.levels.iter().enumerate())
                .map(|(level, values)| {
                    (0..values.labels.len() as u32)
                        .map(|value| cell(column, g, &Cell::Node { level: level as u32, value }))
                        .collect()
                })
                .collect();
            columns.push(
                (g.levels.iter().zip(&costs))
                    .map(|(level, costs)| {
                        level.of.iter().zip(counts).map(|(&v, &n)| n as f64 * costs[v as usize]).sum()
                    })
                    .collect(),
            );
            cells.push(costs);
        }
        Some(Additive { cells, columns, suppressed_row, offset, scale })
    }

    fn unsuppressed(&self, levels: &[usize]) -> f64 {
        self.columns.iter().zip(levels).map(|(costs, &level)| costs[level]).sum()
    }
}

impl NodeCost for Additive {
    fn needs_values(&self, suppressed: bool) -> bool {
        suppressed
    }

    fn loss(&self, node: &Node<'_>) -> Option<f64> {
        let mut sum = self.unsuppressed(node.levels);
        if node.suppressed.iter().any(|&s| s) {
            // Add up what is published, rather than subtract what is not: no digits are lost when little is left.
            // A masked row is published at the top of every hierarchy, and priced as such.
            let top = |costs: &Vec<Vec<f64>>| costs.last().and_then(|top| top.first()).copied().unwrap_or(0.0);
            let row = if node.masked { self.cells.iter().map(top).sum() } else { self.suppressed_row };
            sum = node.suppressed_rows() as f64 * row;
            for class in (0..node.len()).filter(|&c| !node.is_suppressed(c)) {
                let row: f64 = (self.cells.iter().zip(node.levels).zip(node.tuple(class)))
                    .map(|((costs, &level), &value)| costs[level][value as usize])
                    .sum();
                sum += node.rows[class] as f64 * row;
            }
        }
        Some((self.scale * (self.offset + sum)).max(0.0))
    }

    fn lower_bound(&self, levels: &[usize]) -> Option<f64> {
        let sum = self.unsuppressed(levels);
        Some(round_down(self.scale * (self.offset + sum), self.scale * (self.offset.abs() + sum)))
    }

    fn bound(&self, node: &Node<'_>, _max_suppressed: u64) -> Option<f64> {
        self.lower_bound(node.levels)
    }
}

/// Σ over the rows and columns of a release of the cost of the cell, each suppressed row costing `suppressed_row`.
pub(in crate::metric) fn sum_cells(
    release: &Release<'_>,
    cell: impl Fn(usize, &Generalization, &Cell) -> f64,
    suppressed_row: f64,
) -> f64 {
    let mut sum = release.suppressed as f64 * suppressed_row;
    for (cells, rows) in release.recoding.classes.iter().zip(release.class_rows()).filter(|&(_, rows)| rows > 0) {
        let row: f64 =
            (release.generalizations.iter().zip(cells).enumerate()).map(|(column, (g, c))| cell(column, g, c)).sum();
        sum += rows as f64 * row;
    }
    sum
}
