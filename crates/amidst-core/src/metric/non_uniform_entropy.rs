//! Non-uniform entropy.
//!
//! **Definition.** Σ over cells of −log₂ Pr(original value | published cell), with the probabilities of the input's own
//! column: the bits that a reader lacks to know the table again. If a value occurs n_v times in its column and the
//! values that the cell covers n_B times, the cell costs log₂(n_B/n_v). A suppressed row is fully generalized: its
//! cells cost log₂(rows/n_v).
//!
//! **Source.** De Waal & Willenborg 1999, "Information loss through global recoding and local suppression"; Gionis &
//! Tassa 2009, "k-anonymization with minimal loss of information", Definition 4.5 (unlike their plain entropy measure
//! it is monotone under generalization).
//!
//! **Cost.** Written as Σ log₂ n_B − Σ log₂ n_v, the second sum belongs to the input alone.

use super::full_domain::{Additive, sum_cells};
use super::{CellCosts, Entry, Input, Metric, NodeCost, Release};
use crate::hierarchy::{Cell, Generalization, GeneralizedLevel};

pub(super) const ENTRY: Entry = Entry {
    id: "non-uniform-entropy",
    title: "non-uniform entropy",
    definition: "Σ over cells of −log₂ Pr(original value | published cell), probabilities taken from the column",
    citation: "De Waal & Willenborg 1999; Gionis & Tassa 2009",
    metric: &NonUniformEntropy,
};

#[derive(Debug)]
struct NonUniformEntropy;

impl Metric for NonUniformEntropy {
    fn loss(&self, release: &Release<'_>) -> Option<f64> {
        if release.set.rows == 0 || release.set.rolled_up() {
            return None;
        }
        let column = Columns::of(&release.input());
        let sum = sum_cells(release, |c, _, cell| column.bits(c, cell), column.suppressed_row);
        Some((sum - column.original).max(0.0))
    }

    fn nodes<'a>(&self, input: &Input<'a>) -> Option<Box<dyn NodeCost + 'a>> {
        if input.set.rolled_up() {
            return None;
        }
        let column = Columns::of(input);
        let bits = |c: usize, _: &Generalization, cell: &Cell| column.bits(c, cell);
        Some(Box::new(Additive::new(input, bits, column.suppressed_row, -column.original, 1.0)?))
    }

    fn cells<'a>(&self, input: &Input<'a>) -> Option<CellCosts<'a>> {
        if input.set.rows == 0 || input.set.rolled_up() {
            return None;
        }
        let column = Columns::of(input);
        let (suppressed, offset) = (column.suppressed_row, -column.original);
        let cell = Box::new(move |c: usize, _: &Generalization, cell: &Cell| column.bits(c, cell));
        Some(CellCosts { cell, suppressed, offset, scale: 1.0 })
    }

    fn looks_at_values(&self) -> bool {
        true
    }
}

/// How often each value occurs.
struct Columns {
    counts: Vec<Vec<u64>>,
    /// The same for the values of each level: by column, level, value.
    levels: Vec<Vec<Vec<u64>>>,
    /// Σ over all cells of log₂ n_v.
    original: f64,
    /// What log₂ n_B adds up to in a suppressed row.
    suppressed_row: f64,
}

impl Columns {
    fn of(input: &Input<'_>) -> Self {
        let counts = input.marginals();
        let levels = (input.generalizations.iter().zip(&counts))
            .map(|(g, counts)| {
                let of_level = |level: &GeneralizedLevel| {
                    let mut sums = vec![0; level.labels.len()];
                    level.of.iter().zip(counts).for_each(|(&value, &n)| sums[value as usize] += n);
                    sums
                };
                g.levels.iter().map(of_level).collect()
            })
            .collect();
        let original = counts.iter().flatten().filter(|&&n| n > 0).map(|&n| n as f64 * (n as f64).log2()).sum();
        let suppressed_row = counts.len() as f64 * (input.set.rows.max(1) as f64).log2();
        Columns { counts, levels, original, suppressed_row }
    }

    /// log₂ n_B.
    fn bits(&self, column: usize, cell: &Cell) -> f64 {
        let counts = &self.counts[column];
        let covered: u64 = match cell {
            Cell::Range { low, high } => counts[*low as usize..=*high as usize].iter().sum(),
            Cell::Set(codes) => codes.iter().map(|&c| counts[c as usize]).sum(),
            Cell::Node { level, value } => self.levels[column][*level as usize][*value as usize],
        };
        (covered.max(1) as f64).log2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::fixture::{agrees, cases, covered};

    #[test]
    fn bits_are_added_row_by_row() {
        agrees(&NonUniformEntropy, |case| {
            let rows = case.rows();
            let mut bits = 0.0;
            for (column, g) in case.generalizations.iter().enumerate() {
                for row in &rows {
                    let cell = row.cells.map(|cells| covered(g, &cells[column]));
                    let within = |code: u32| cell.as_ref().is_none_or(|cell| cell.contains(&code));
                    let same = rows.iter().filter(|r| r.codes[column] == row.codes[column]).count();
                    let all = rows.iter().filter(|r| within(r.codes[column])).count();
                    bits -= (same as f64 / all as f64).log2();
                }
            }
            Some(bits)
        });
        assert_eq!(NonUniformEntropy.loss(&cases()[0].release()), Some(0.0));
    }
}
