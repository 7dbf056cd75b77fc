//! Minimal sample uniques: the smallest sets of columns by which a row is the only one of its kind, and their scores.
//!
//! A set of a row's cells is a *sample unique* when no other row has them all, and *minimal* (an MSU) when no part of
//! it is unique. Rows with many small MSUs are found by many different adversaries. Trying all sets of columns groups
//! the whole table once a set; SUDA2 walks down from single cells instead, rarest first, into the rows that share them,
//! and stops where nothing can be unique.
//!
//! The walk is made once for each size, smaller sizes first, so that a candidate is minimal exactly when no smaller MSU
//! of its row is part of it. Of each set the rarest cell comes first (ties by column and code), so every set is met
//! once.
//!
//! Score of an MSU of size k among A columns when sizes up to M are looked for: ∏ (A − i) for i from k to min(M, A −
//! 1); the score of a row is the sum over its MSUs.
//!
//! Source: Manning, Haglin & Keane 2008, "A recursive search algorithm for statistical disclosure assessment", Data
//! Mining and Knowledge Discovery 16; the scores: Elliot, Manning & Ford 2002, "A computational algorithm for handling
//! the special uniques problem".

use hashbrown::HashMap;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use crate::table::Codes;

/// More columns than this do not fit the sets of columns.
pub const MOST_COLUMNS: usize = 64;

/// The minimal sample uniques of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suda {
    /// How many columns were looked at.
    pub columns: usize,
    /// The largest size that was looked for.
    pub max_size: usize,
    /// The MSUs of row r are those from `offsets[r]` to `offsets[r + 1]`.
    offsets: Vec<usize>,
    /// Sets of columns, a bit each.
    sets: Vec<u64>,
}

impl Suda {
    /// Finds every minimal sample unique of up to `max_size` columns. Looks at the first [`MOST_COLUMNS`] columns.
    pub fn find(columns: &[&Codes], max_size: usize) -> Suda {
        let columns = &columns[..columns.len().min(MOST_COLUMNS)];
        let rows = columns.first().map_or(0, |c| c.len());
        let mut found = Suda { columns: columns.len(), max_size, offsets: vec![0; rows + 1], sets: Vec::new() };
        if rows < 2 {
            // Nobody to be told from.
            return found;
        }
        let cells: Vec<Vec<u32>> = columns.iter().map(|codes| (0..rows).map(|r| codes.get(r)).collect()).collect();
        let search = Search::new(&cells);
        for size in 1..=max_size.min(columns.len()) {
            let mut met: Vec<(u32, u64)> = (0..search.items.len())
                .into_par_iter()
                .map_init(|| Scratch::new(&search), |scratch, item| search.anchored(item, size, &found, scratch))
                .flatten_iter()
                .collect();
            met.sort_unstable();
            found.add(&met);
        }
        found
    }

    /// Adds sets, sorted by row.
    fn add(&mut self, met: &[(u32, u64)]) {
        let rows = self.offsets.len() - 1;
        let mut offsets = Vec::with_capacity(rows + 1);
        let mut sets = Vec::with_capacity(self.sets.len() + met.len());
        let mut next = met.iter().peekable();
        for row in 0..rows {
            offsets.push(sets.len());
            sets.extend_from_slice(self.of_row(row));
            while let Some((_, set)) = next.next_if(|(r, _)| *r as usize == row) {
                sets.push(*set);
            }
        }
        offsets.push(sets.len());
        (self.offsets, self.sets) = (offsets, sets);
    }

    /// The MSUs of a row, each a set of columns with a bit for each column, smaller ones first.
    pub fn of_row(&self, row: usize) -> &[u64] {
        &self.sets[self.offsets[row]..self.offsets[row + 1]]
    }

    /// How many rows were looked at.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many MSUs there are of each size, from 1 on.
    pub fn by_size(&self) -> Vec<u64> {
        let mut counts = vec![0; self.max_size];
        self.sets.iter().for_each(|set| counts[set.count_ones() as usize - 1] += 1);
        counts
    }

    /// How many rows have an MSU at all: rows that some set of up to `max_size` columns singles out.
    pub fn singled_out(&self) -> u64 {
        (0..self.rows()).filter(|&row| !self.of_row(row).is_empty()).count() as u64
    }

    /// The score of one MSU of this size.
    fn score_of(&self, size: usize) -> f64 {
        let last = self.max_size.min(self.columns.saturating_sub(1));
        (size..=last).map(|i| (self.columns - i) as f64).product()
    }

    /// The score of each row.
    pub fn scores(&self) -> Vec<f64> {
        let by_size: Vec<f64> = (0..=self.max_size).map(|size| self.score_of(size)).collect();
        let score = |row| self.of_row(row).iter().map(|set| by_size[set.count_ones() as usize]).sum();
        (0..self.rows()).map(score).collect()
    }

    /// For each column the share of all scores that MSUs with this column have; 0 where there is no MSU.
    pub fn contributions(&self) -> Vec<f64> {
        let mut shares = vec![0.0; self.columns];
        let mut all = 0.0;
        for &set in &self.sets {
            let score = self.score_of(set.count_ones() as usize);
            all += score;
            (0..self.columns).filter(|c| set >> c & 1 == 1).for_each(|c| shares[c] += score);
        }
        if all > 0.0 {
            shares.iter_mut().for_each(|share| *share /= all);
        }
        shares
    }

    /// How many rows are unique on each of these sets of columns, none larger than `max_size`: a row is unique on a set
    /// when one of its MSUs is part of it.
    pub fn uniques(&self, sets: &[u64]) -> Vec<u64> {
        // Which of the sets each MSU that occurs is part of, a bit for each of them.
        let mut occurring = self.sets.clone();
        occurring.par_sort_unstable();
        occurring.dedup();
        let words = sets.len().div_ceil(64);
        let holds = |msu: &u64| {
            let mut bits = vec![0u64; words];
            sets.iter()
                .enumerate()
                .filter(|(_, set)| msu & **set == *msu)
                .for_each(|(i, _)| bits[i / 64] |= 1 << (i % 64));
            bits
        };
        let held: HashMap<u64, Vec<u64>, FxBuildHasher> = occurring.iter().map(|msu| (*msu, holds(msu))).collect();
        let none = || (vec![0u64; sets.len()], vec![0u64; words]);
        let count = |(mut counts, mut bits): (Vec<u64>, Vec<u64>), row: usize| {
            bits.fill(0);
            for more in self.of_row(row).iter().filter_map(|msu| held.get(msu)) {
                bits.iter_mut().zip(more).for_each(|(bits, more)| *bits |= more);
            }
            for (word, &set) in bits.iter().enumerate() {
                let mut left = set;
                while left != 0 {
                    counts[word * 64 + left.trailing_zeros() as usize] += 1;
                    left &= left - 1;
                }
            }
            (counts, bits)
        };
        let add = |a: Vec<u64>, b: Vec<u64>| a.iter().zip(&b).map(|(a, b)| a + b).collect();
        let parts = (0..self.rows()).into_par_iter().fold(none, count).map(|(counts, _)| counts);
        parts.reduce(|| vec![0; sets.len()], add)
    }
}

/// A cell: a column and a code, with the rows that have it.
struct Item {
    column: usize,
    rows: Vec<u32>,
}

struct Search<'a> {
    cells: &'a [Vec<u32>],
    /// All cells, rarest first.
    items: Vec<Item>,
    /// The place in `items` of each code of each column.
    rank: Vec<Vec<u32>>,
}

/// A set of cells, by their columns, to which more are to be added.
#[derive(Clone, Copy)]
struct Start<'r> {
    /// The rows that share it.
    rows: &'r [u32],
    set: u64,
    /// Cells that are added come after this one in rank.
    after: u32,
    /// How many are added.
    more: usize,
}

/// Counts by code, zero between uses.
struct Scratch {
    counts: Vec<Vec<u32>>,
}

impl Scratch {
    fn new(search: &Search<'_>) -> Self {
        Scratch { counts: search.rank.iter().map(|codes| vec![0; codes.len()]).collect() }
    }
}

impl<'a> Search<'a> {
    fn new(cells: &'a [Vec<u32>]) -> Self {
        let mut items = Vec::new();
        let mut rank: Vec<Vec<u32>> = Vec::new();
        let mut codes: Vec<(usize, u32)> = Vec::new();
        for (column, of_row) in cells.iter().enumerate() {
            let distinct = of_row.iter().max().map_or(0, |&c| c as usize + 1);
            let mut rows: Vec<Vec<u32>> = vec![Vec::new(); distinct];
            of_row.iter().zip(0..).for_each(|(&code, row)| rows[code as usize].push(row));
            for (code, rows) in (0..).zip(rows) {
                items.push(Item { column, rows });
                codes.push((column, code));
            }
            rank.push(vec![0; distinct]);
        }
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by_key(|&i| (items[i].rows.len(), i));
        for (place, &i) in (0..).zip(&order) {
            let (column, code) = codes[i];
            rank[column][code as usize] = place;
        }
        let mut taken: Vec<Option<Item>> = items.into_iter().map(Some).collect();
        let items = order.into_iter().filter_map(|i| taken[i].take()).collect();
        Search { cells, items, rank }
    }

    /// The MSUs of `size` whose rarest cell is this one.
    fn anchored(&self, item: usize, size: usize, found: &Suda, scratch: &mut Scratch) -> Vec<(u32, u64)> {
        let Item { column, rows } = &self.items[item];
        let mut met = Vec::new();
        match (rows.len(), size) {
            (1, 1) => met.push((rows[0], 1 << column)),
            // What is unique alone is part of no larger MSU; a set of one is unique or not.
            (0 | 1, _) | (_, 1) => {}
            // Rows that share a cell with all others are told apart by other cells alone.
            _ if rows.len() == self.cells[*column].len() => {}
            _ => {
                let start = Start { rows, set: 1 << column, after: item as u32, more: size - 1 };
                self.descend(start, found, scratch, &mut met);
            }
        }
        met
    }

    /// Adds cells to a set until one row is left.
    fn descend(&self, start: Start<'_>, found: &Suda, scratch: &mut Scratch, met: &mut Vec<(u32, u64)>) {
        let Start { rows, set, after, more } = start;
        for (column, cells) in self.cells.iter().enumerate().filter(|(c, _)| set >> c & 1 == 0) {
            let rank = &self.rank[column];
            let counts = &mut scratch.counts[column];
            rows.iter().for_each(|&row| counts[cells[row as usize] as usize] += 1);
            let wider = set | 1 << column;
            if more == 1 {
                for &row in rows {
                    let code = cells[row as usize] as usize;
                    let minimal = || found.of_row(row as usize).iter().all(|msu| msu & wider != *msu);
                    if counts[code] == 1 && rank[code] > after && minimal() {
                        met.push((row, wider));
                    }
                }
                rows.iter().for_each(|&row| counts[cells[row as usize] as usize] = 0);
                continue;
            }
            // Rows by cell, cells that only one row or every row has left out: neither leads to an MSU of more cells.
            let useful = |code: u32| {
                let n = counts[code as usize] as usize;
                n > 1 && n < rows.len() && rank[code as usize] > after
            };
            let mut sorted: Vec<(u32, u32)> =
                rows.iter().map(|&row| (cells[row as usize], row)).filter(|&(code, _)| useful(code)).collect();
            rows.iter().for_each(|&row| counts[cells[row as usize] as usize] = 0);
            sorted.sort_unstable();
            for group in sorted.chunk_by(|a, b| a.0 == b.0) {
                let narrower: Vec<u32> = group.iter().map(|&(_, row)| row).collect();
                let last = rank[group[0].0 as usize];
                let next = Start { rows: &narrower, set: wider, after: last, more: more - 1 };
                self.descend(next, found, scratch, met);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn codes(columns: &[Vec<u32>]) -> Vec<Codes> {
        let column = |cells: &Vec<u32>| {
            let mut codes = Codes::default();
            cells.iter().for_each(|&c| codes.push(c));
            codes
        };
        columns.iter().map(column).collect()
    }

    fn find(columns: &[Vec<u32>], max_size: usize) -> Suda {
        let codes = codes(columns);
        Suda::find(&codes.iter().collect::<Vec<_>>(), max_size)
    }

    /// Rows that are alone with their cells in a set of columns.
    fn unique(columns: &[Vec<u32>], row: usize, set: u64) -> bool {
        let same = |other: usize| {
            (0..columns.len()).filter(|c| set >> c & 1 == 1).all(|c| columns[c][other] == columns[c][row])
        };
        (0..columns[0].len()).filter(|&other| same(other)).count() == 1
    }

    #[test]
    fn a_row_with_a_value_of_its_own_needs_no_more() {
        // The last row has sex 2 of its own, and is the only one of age 9 as well; row 0 needs both columns.
        let found = find(&[vec![0, 0, 1, 1, 2], vec![0, 1, 1, 1, 9]], 2);
        assert_eq!(found.of_row(4), [0b01, 0b10]);
        assert_eq!(found.of_row(0), [0b10]);
        assert_eq!(found.of_row(1), [0b11]);
        assert!(found.of_row(2).is_empty() && found.of_row(3).is_empty());
        assert_eq!((found.by_size(), found.singled_out()), (vec![3, 1], 3));
        // Two columns: an MSU of one counts 2 − 1, one of two the empty product.
        assert_eq!(found.scores(), [1.0, 1.0, 0.0, 0.0, 2.0]);
    }

    #[test]
    fn the_score_of_a_small_set_is_larger() {
        let found = Suda { columns: 6, max_size: 3, offsets: vec![0], sets: Vec::new() };
        assert_eq!([1, 2, 3].map(|size| found.score_of(size)), [5.0 * 4.0 * 3.0, 4.0 * 3.0, 3.0]);
        let narrow = Suda { columns: 2, max_size: 3, offsets: vec![0], sets: Vec::new() };
        assert_eq!([1, 2].map(|size| narrow.score_of(size)), [1.0, 1.0]);
    }

    #[test]
    fn awkward_tables_have_none() {
        assert_eq!(Suda::find(&[], 3).rows(), 0);
        assert_eq!(find(&[vec![0]], 3).singled_out(), 0);
        assert_eq!(find(&[vec![1, 1], vec![0, 0]], 3).singled_out(), 0);
    }

    proptest! {
        #[test]
        fn every_minimal_sample_unique_is_found_and_no_other(
            cells in prop::collection::vec(prop::collection::vec(0u32..4, 5), 2..40), max_size in 1usize..5
        ) {
            let columns: Vec<Vec<u32>> = (0..5).map(|c| cells.iter().map(|row| row[c]).collect()).collect();
            let found = find(&columns, max_size);
            let all: Vec<u64> = (1..1u64 << 5).filter(|s| s.count_ones() as usize <= max_size).collect();
            let counted = found.uniques(&all);
            for (row, _) in cells.iter().enumerate() {
                let minimal = |set: &u64| {
                    let parts = (0..5).filter(|c| set >> c & 1 == 1).map(|c| set & !(1 << c));
                    unique(&columns, row, *set) && parts.filter(|p| *p != 0).all(|p| !unique(&columns, row, p))
                };
                let mut expected: Vec<u64> = all.iter().copied().filter(minimal).collect();
                expected.sort_by_key(|s| (s.count_ones(), *s));
                prop_assert_eq!(found.of_row(row), expected);
            }
            for (set, n) in all.iter().zip(counted) {
                prop_assert_eq!(n, (0..cells.len()).filter(|&r| unique(&columns, r, *set)).count() as u64);
            }
        }
    }
}
