//! Metrics that add up over the cells of a release.
//!
//! In a full-domain node the cell of a row depends, column by column, on the row's own value alone. So what a column
//! costs at a level follows from how often each of its values occurs, and a node with nothing suppressed is priced by
//! one look-up per column, without its classes.

use super::{Adds, Counted, Input, Node, NodeCost, round_down};
use crate::hierarchy::{Cell, Generalization};
use crate::metric::Release;

/// A loss of the form scale · (offset + Σ over rows and columns of the cost of the cell).
#[derive(Debug)]
pub(in crate::metric) struct Additive<'a> {
    generalizations: &'a [Generalization],
    /// The cost of a value: by column, level, value.
    cells: Vec<Vec<Vec<f64>>>,
    /// The cost of all rows: by column and level.
    columns: Vec<Vec<f64>>,
    /// The cost of an original value: by column, level, code.
    codes: Vec<Vec<Vec<f64>>>,
    /// What a row of the table costs at least and at most: by column and level.
    extremes: Vec<Vec<(f64, f64)>>,
    rows: f64,
    suppressed_row: f64,
    masked_row: f64,
    /// Whether no row costs less in a coarser cell, nor more than when it is suppressed or masked.
    climbs: bool,
    offset: f64,
    scale: f64,
}

impl<'a> Additive<'a> {
    /// Prices every value of every level with `cell` (given the column's position), and a suppressed row with
    /// `suppressed_row`. `None` for a table without rows.
    pub fn new(
        input: &Input<'a>,
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
        let mut codes = Vec::with_capacity(marginals.len());
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
            codes.push(
                (g.levels.iter().zip(&costs))
                    .map(|(level, costs)| level.of.iter().map(|&v| costs[v as usize]).collect::<Vec<f64>>())
                    .collect::<Vec<_>>(),
            );
            cells.push(costs);
        }
        let extreme = |costs: &Vec<f64>| {
            costs.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
        };
        let extremes: Vec<Vec<(f64, f64)>> =
            codes.iter().map(|levels| levels.iter().map(extreme).collect::<Vec<_>>()).collect();
        // A masked row is published at the top of every hierarchy, and priced as such.
        let top = |costs: &Vec<Vec<f64>>| costs.last().and_then(|top| top.first()).copied().unwrap_or(0.0);
        let masked_row: f64 = cells.iter().map(top).sum();
        let rises = |levels: &Vec<Vec<f64>>| levels.windows(2).all(|w| w[0].iter().zip(&w[1]).all(|(a, b)| a <= b));
        let dearest: f64 = extremes.iter().filter_map(|levels| levels.last()).map(|e| e.1).sum();
        let climbs = codes.iter().all(rises) && dearest <= suppressed_row.min(masked_row) * (1.0 + 1e-12);
        let rows = input.set.rows as f64;
        let generalizations = input.generalizations;
        Some(Additive {
            generalizations,
            cells,
            columns,
            codes,
            extremes,
            rows,
            suppressed_row,
            masked_row,
            climbs,
            offset,
            scale,
        })
    }

    /// What a suppressed row costs.
    fn lost(&self, masked: bool) -> f64 {
        if masked { self.masked_row } else { self.suppressed_row }
    }

    fn unsuppressed(&self, levels: &[usize]) -> f64 {
        self.columns.iter().zip(levels).map(|(costs, &level)| costs[level]).sum()
    }
}

impl NodeCost for Additive<'_> {
    fn needs_values(&self, suppressed: bool) -> bool {
        suppressed
    }

    fn loss(&self, node: &Node<'_>) -> Option<f64> {
        let mut sum = self.unsuppressed(node.levels);
        if node.suppressed.iter().any(|&s| s) {
            // Add up what is published, rather than subtract what is not: no digits are lost when little is left.
            sum = node.suppressed_rows() as f64 * self.lost(node.masked);
            for class in (0..node.len()).filter(|&c| !node.is_suppressed(c)) {
                let row: f64 = (self.cells.iter().zip(node.levels).zip(node.tuple(class)))
                    .map(|((costs, &level), &value)| costs[level][value as usize])
                    .sum();
                sum += node.rows[class] as f64 * row;
            }
        }
        Some((self.scale * (self.offset + sum)).max(0.0))
    }

    fn loss_of(&self, counted: &Counted<'_>) -> Option<f64> {
        let columns: Vec<&[f64]> = self.codes.iter().zip(counted.levels).map(|(c, &l)| &c[l][..]).collect();
        let row = |class: usize| -> f64 {
            let tuple = counted.set.tuple(counted.first[class] as usize);
            columns.iter().zip(tuple).map(|(costs, &code)| costs[code as usize]).sum()
        };
        let lost = self.lost(counted.masked);
        let sum = if counted.suppressed.is_empty() {
            self.unsuppressed(counted.levels)
        } else if self.climbs && counted.lost.is_none() && counted.suppressed.len() * 2 < counted.rows.len() {
            // What suppression adds is never negative, so no digits are lost.
            let extra = |&c: &u32| counted.rows[c as usize] as f64 * (lost - row(c as usize)).max(0.0);
            self.unsuppressed(counted.levels) + counted.suppressed.iter().map(extra).sum::<f64>()
        } else {
            let published: f64 = counted.published().map(|c| counted.rows[c] as f64 * row(c)).sum();
            counted.suppressed_rows() as f64 * lost + published
        };
        Some((self.scale * (self.offset + sum)).max(0.0))
    }

    fn most_suppressed(&self, levels: &[usize], ceiling: f64, masked: bool) -> u64 {
        if !self.climbs || self.scale <= 0.0 {
            return u64::MAX;
        }
        let extreme =
            |pick: fn(&(f64, f64)) -> f64| -> f64 { self.extremes.iter().zip(levels).map(|(e, &l)| pick(&e[l])).sum() };
        // All but the suppressed rows cost at least the least of all rows; and suppressing one adds at least what
        // it adds to the dearest.
        let lost = self.lost(masked);
        let (low, high) = (extreme(|e| e.0), extreme(|e| e.1));
        let sum = ceiling / self.scale - self.offset;
        let slack = 1e-9 * (sum.abs() + self.offset.abs() + self.rows * lost);
        let most = |budget: f64, each: f64| if each > 0.0 { (budget + slack) / each } else { f64::INFINITY };
        let most = most(sum - self.rows * low, lost - low).min(most(sum - self.unsuppressed(levels), lost - high));
        if most.is_finite() { most.max(0.0) as u64 + 1 } else { u64::MAX }
    }

    fn suppressing_adds(&self, levels: &[usize], _rows: &[u64], masked: bool) -> f64 {
        let dearest: f64 = self.extremes.iter().zip(levels).map(|(e, &l)| e[l].1).sum();
        (self.scale * (self.lost(masked) - dearest)).max(0.0)
    }

    fn known_by_levels(&self) -> bool {
        true
    }

    fn adds_at_most(&self, rows: u64, masked: bool) -> f64 {
        self.scale * rows as f64 * self.lost(masked)
    }

    fn adds_below(&self, counted: &Counted<'_>, partly: &[(u32, u64)]) -> Option<Adds> {
        if !self.climbs {
            return None;
        }
        // The suppressed rows of each value of each column: those of a class all have its values, whichever they are.
        let values = || self.generalizations.iter().zip(counted.levels).map(|(g, &level)| &g.levels[level]);
        let mut lost: Vec<Vec<u64>> = values().map(|values| vec![0; values.labels.len()]).collect();
        let rows = counted.suppressed_rows() + partly.iter().map(|&(_, rows)| rows).sum::<u64>();
        let whole = counted.suppressed_classes().map(|class| (class, counted.rows[class]));
        // Where a column has a single value left, all of them have it.
        let mut open: Vec<_> = (lost.iter_mut().zip(values()).enumerate())
            .filter_map(|(column, (lost, values))| {
                if let [lost] = &mut lost[..] {
                    *lost = rows;
                    return None;
                }
                Some((column, &values.of[..], lost))
            })
            .collect();
        for (class, own) in whole.chain(partly.iter().map(|&(class, rows)| (class as usize, rows))) {
            let tuple = counted.set.tuple(counted.first[class] as usize);
            for (column, of, lost) in &mut open {
                lost[of[tuple[*column] as usize] as usize] += own;
            }
        }
        for (column, of, lost) in open {
            let codes = counted.lost.and_then(|l| l.codes.get(column));
            of.iter().zip(codes.into_iter().flatten()).for_each(|(&value, own)| lost[value as usize] += own);
        }
        let published = (lost.iter().zip(values()).enumerate())
            .map(|(column, (lost, values))| {
                let mut dearest = vec![0.0f64; lost.len()];
                (0..=counted.levels[column])
                    .map(|finer| {
                        // A row costs no more than the dearest value of the finer level below its own.
                        dearest.fill(0.0);
                        for (&value, &cost) in values.of.iter().zip(&self.codes[column][finer]) {
                            let own = &mut dearest[value as usize];
                            *own = own.max(cost);
                        }
                        self.scale * lost.iter().zip(&dearest).map(|(&n, &cost)| n as f64 * cost).sum::<f64>()
                    })
                    .collect()
            })
            .collect();
        Some(Adds { lost: self.adds_at_most(rows, counted.masked), published })
    }

    fn suppression_costs(&self) -> bool {
        self.climbs
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
