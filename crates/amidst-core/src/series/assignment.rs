//! The cheapest way to give each of some rows a column of its own: the assignment problem.
//!
//! Shortest augmenting paths with potentials (Jonker & Volgenant 1987): rows are added one by one, each along the path
//! that raises the sum the least. Rows take at most O(rows² · columns) steps. The potentials prove the sum: no
//! assignment is cheaper than what they add up to.

/// A pair that must not be. Large enough to be avoided wherever that is possible, small enough to be added up exactly
/// enough.
pub(super) const NEVER: f64 = 1e12;

/// The column of each row, and what the pairs cost together. `cost` of a row writes what each column costs it,
/// [`NEVER`] for one that it must not have. There are at least as many columns as rows.
pub(super) fn cheapest(rows: usize, columns: usize, mut cost: impl FnMut(usize, &mut [f64])) -> (Vec<usize>, f64) {
    // All costs, row by row: they are asked for again and again.
    let mut costs = vec![0.0; rows * columns];
    costs.chunks_mut(columns.max(1)).enumerate().for_each(|(row, costs)| cost(row, costs));
    let free = usize::MAX;
    let (mut row_potential, mut column_potential) = (vec![0.0f64; rows], vec![0.0f64; columns]);
    let mut owner = vec![free; columns];
    let (mut least, mut before) = (vec![0.0f64; columns], vec![free; columns]);
    let mut reached = vec![false; columns];
    for row in 0..rows {
        least.fill(f64::INFINITY);
        reached.fill(false);
        before.fill(free);
        // The column by which the path came to the present row; none at its start.
        let (mut at, mut came) = (row, free);
        loop {
            let own = &costs[at * columns..][..columns];
            let (mut next, mut step) = (free, f64::INFINITY);
            for column in (0..columns).filter(|&column| !reached[column]) {
                let reduced = own[column] - row_potential[at] - column_potential[column];
                if reduced < least[column] {
                    least[column] = reduced;
                    before[column] = came;
                }
                if least[column] < step {
                    step = least[column];
                    next = column;
                }
            }
            if next == free {
                break;
            }
            row_potential[row] += step;
            for column in 0..columns {
                match reached[column] {
                    true => {
                        row_potential[owner[column]] += step;
                        column_potential[column] -= step;
                    }
                    false => least[column] -= step,
                }
            }
            reached[next] = true;
            came = next;
            if owner[next] == free {
                break;
            }
            at = owner[next];
        }
        // Everybody on the path moves on by one.
        let mut column = came;
        while column != free {
            let previous = before[column];
            owner[column] = if previous == free { row } else { owner[previous] };
            column = previous;
        }
    }
    let mut of_row = vec![free; rows];
    for (column, &row) in owner.iter().enumerate().filter(|(_, row)| **row != free) {
        of_row[row] = column;
    }
    let sum = of_row.iter().enumerate().filter(|(_, column)| **column != free);
    let sum = sum.map(|(row, &column)| costs[row * columns + column]).sum();
    (of_row, sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn least(costs: &[Vec<f64>], row: usize, taken: &mut Vec<bool>) -> f64 {
        if row == costs.len() {
            return 0.0;
        }
        let mut best = f64::INFINITY;
        for column in 0..taken.len() {
            if !taken[column] {
                taken[column] = true;
                best = best.min(costs[row][column] + least(costs, row + 1, taken));
                taken[column] = false;
            }
        }
        best
    }

    #[test]
    fn no_assignment_is_cheaper() {
        for seed in 0..400 {
            let mut random = Random::new(seed);
            let rows = 1 + random.below(6);
            let columns = rows + random.below(3);
            let costs: Vec<Vec<f64>> =
                (0..rows).map(|_| (0..columns).map(|_| random.below(9) as f64).collect()).collect();
            let (of_row, sum) = cheapest(rows, columns, |row, out| out.copy_from_slice(&costs[row]));
            let mut seen = of_row.clone();
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), rows, "seed {seed}: a column is given twice");
            let expected = least(&costs, 0, &mut vec![false; columns]);
            assert!((sum - expected).abs() < 1e-9, "seed {seed}: {sum} instead of {expected}");
        }
        assert_eq!(cheapest(0, 0, |_, _| {}), (Vec::new(), 0.0));
    }

    #[test]
    fn pairs_that_must_not_be_are_avoided() {
        let costs = [[0.0, 5.0, NEVER], [0.0, NEVER, 7.0], [1.0, NEVER, NEVER]];
        let (of_row, sum) = cheapest(3, 3, |row, out| out.copy_from_slice(&costs[row]));
        assert_eq!((of_row, sum), (vec![1, 2, 0], 13.0));
    }
}
