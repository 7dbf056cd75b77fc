//! Facets: what requirements see of the sensitive columns, counted class by class.
//!
//! A view is one sensitive column, or several that a requirement names together (Definition 4.6 of the ℓ-diversity
//! article). Its symbols are the distinct values (or value tuples) of the table. Only views that some requirement
//! looks at are counted; k-anonymity alone counts none.

use crate::frequency::FrequencySet;

/// Some sensitive columns taken together.
#[derive(Debug)]
pub(crate) struct SensitiveView {
    /// The sensitive columns, ascending positions not required: as the requirement names them.
    pub columns: Vec<usize>,
    /// The symbol of each sensitive tuple of the frequency set.
    pub symbol_of: Vec<u32>,
    /// The values of each symbol, one per column.
    pub values: Vec<u32>,
    /// The number of symbols.
    pub symbols: usize,
    /// For each column, every symbol's (group of equal other values, symbol), in ascending order of (group, value):
    /// the blocks that Definition 4.6 judges. Empty for a single column.
    pub blocks: Vec<Vec<u32>>,
}

impl SensitiveView {
    /// The view of `columns` in a table.
    pub fn new(set: &FrequencySet, columns: &[usize]) -> Self {
        let width = set.sensitive_width;
        let count = set.sensitive.len().checked_div(width).unwrap_or(0);
        let tuples: Vec<Vec<u32>> =
            (0..count).map(|t| columns.iter().map(|&c| set.sensitive_code(t as u32, c)).collect()).collect();
        let mut distinct = tuples.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let symbol_of = tuples.iter().map(|t| distinct.partition_point(|d| d < t) as u32).collect();
        let blocks = if columns.len() == 1 {
            Vec::new()
        } else {
            (0..columns.len())
                .map(|i| {
                    let others = |s: u32| {
                        let tuple = &distinct[s as usize];
                        let others: Vec<u32> = (0..columns.len()).filter(|&j| j != i).map(|j| tuple[j]).collect();
                        (others, tuple[i])
                    };
                    let mut order: Vec<u32> = (0..distinct.len() as u32).collect();
                    order.sort_by_cached_key(|&s| others(s));
                    // The rank of each symbol, with a gap where the other columns' values change.
                    let mut rank = vec![0; distinct.len()];
                    let mut block = 0;
                    for (i, &s) in order.iter().enumerate() {
                        if i > 0 && others(order[i - 1]).0 != others(s).0 {
                            block += 1;
                        }
                        rank[s as usize] = block;
                    }
                    rank
                })
                .collect()
        };
        let symbols = distinct.len();
        SensitiveView { columns: columns.to_vec(), symbol_of, values: distinct.concat(), symbols, blocks }
    }

    /// The value of a symbol in the column at position `column` of this view.
    pub fn value(&self, symbol: u32, column: usize) -> u32 {
        self.values[symbol as usize * self.columns.len() + column]
    }
}

/// How many rows of each class have each symbol of a view.
#[derive(Debug, Clone)]
pub(crate) enum Counts {
    /// A row of `symbols` counts for each class: fastest where symbols are few.
    Dense {
        /// The number of symbols.
        symbols: usize,
        /// The counts, class by class.
        counts: Vec<u32>,
    },
    /// The symbols that occur, in ascending order within each class.
    Sparse {
        /// The number of symbols.
        symbols: usize,
        /// Class `c` has the pairs from `offsets[c]` to `offsets[c + 1]`.
        offsets: Vec<u32>,
        /// (symbol, rows).
        pairs: Vec<(u32, u32)>,
    },
}

/// Up to this many symbols, adding whole rows of counts is faster than merging lists.
const DENSE: usize = 32;

/// Up to this many counts stay in fast memory, zeros or not.
const NEAR: usize = 1 << 20;

impl Counts {
    /// The counts of each of the tuples of `set` in `tuples`.
    pub fn base(set: &FrequencySet, view: &SensitiveView, tuples: &[u32]) -> Self {
        let symbols = view.symbols;
        // Of many tuples most have few symbols: rows of counts would mostly be zeros.
        let full = symbols * tuples.len() <= set.groups.entries.len() * 3 || symbols * tuples.len() <= NEAR;
        if symbols <= DENSE && full {
            let mut counts = vec![0; symbols * tuples.len()];
            for (class, &tuple) in tuples.iter().enumerate() {
                for entry in set.groups.get(tuple as usize) {
                    let symbol = view.symbol_of[entry.sensitive as usize] as usize;
                    counts[class * symbols + symbol] += entry.rows as u32;
                }
            }
            return Counts::Dense { symbols, counts };
        }
        let mut offsets = Vec::with_capacity(tuples.len() + 1);
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        offsets.push(0);
        let mut own: Vec<(u32, u32)> = Vec::new();
        for &tuple in tuples {
            own.clear();
            own.extend(
                (set.groups.get(tuple as usize).iter()).map(|e| (view.symbol_of[e.sensitive as usize], e.rows as u32)),
            );
            own.sort_unstable();
            let start = pairs.len();
            for &(symbol, rows) in &own {
                match pairs[start..].last_mut() {
                    Some(last) if last.0 == symbol => last.1 += rows,
                    _ => pairs.push((symbol, rows)),
                }
            }
            offsets.push(pairs.len() as u32);
        }
        Counts::Sparse { symbols, offsets, pairs }
    }

    /// The counts of `classes` coarser classes, where `class_of` names the coarser class of each class.
    pub fn roll_up(&self, class_of: &[u32], classes: usize) -> Self {
        match self {
            Counts::Dense { symbols, counts } => {
                let mut sums = vec![0u32; classes * symbols];
                for (row, &class) in counts.chunks_exact((*symbols).max(1)).zip(class_of) {
                    let start = class as usize * symbols;
                    for (sum, &count) in sums[start..start + symbols].iter_mut().zip(row) {
                        *sum += count;
                    }
                }
                Counts::Dense { symbols: *symbols, counts: sums }
            }
            Counts::Sparse { symbols, offsets, pairs } if classes * symbols <= NEAR => {
                let mut sums = vec![0u32; classes * symbols];
                for (source, &class) in class_of.iter().enumerate() {
                    let row = &mut sums[class as usize * symbols..(class as usize + 1) * symbols];
                    for &(symbol, rows) in &pairs[offsets[source] as usize..offsets[source + 1] as usize] {
                        row[symbol as usize] += rows;
                    }
                }
                Counts::Dense { symbols: *symbols, counts: sums }
            }
            Counts::Sparse { symbols, offsets, pairs } if *symbols <= DENSE => {
                merge_few_symbols(*symbols, offsets, pairs, class_of, classes)
            }
            Counts::Sparse { symbols, offsets, pairs } => {
                merge_many_symbols(*symbols, offsets, pairs, class_of, classes)
            }
        }
    }

    /// Appends (symbol, rows) of a class to `out`, by symbol, without zeros.
    #[inline]
    pub fn read(&self, class: usize, out: &mut Vec<(u32, u64)>) {
        match self {
            Counts::Dense { symbols, counts } => {
                let row = &counts[class * symbols..(class + 1) * symbols];
                out.extend((0u32..).zip(row).filter(|&(_, &n)| n > 0).map(|(s, &n)| (s, u64::from(n))));
            }
            Counts::Sparse { offsets, pairs, .. } => {
                let own = &pairs[offsets[class] as usize..offsets[class + 1] as usize];
                out.extend(own.iter().map(|&(s, n)| (s, u64::from(n))));
            }
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        match self {
            Counts::Dense { counts, .. } => counts.capacity() * 4,
            Counts::Sparse { offsets, pairs, .. } => offsets.capacity() * 4 + pairs.capacity() * 8,
        }
    }
}

/// Rolls sparse counts of at most [`DENSE`] symbols up: the sources of a class side by side, each class in one small
/// row.
fn merge_few_symbols(
    symbols: usize,
    offsets: &[u32],
    pairs: &[(u32, u32)],
    class_of: &[u32],
    classes: usize,
) -> Counts {
    let mut starts = vec![0u32; classes + 1];
    class_of.iter().for_each(|&class| starts[class as usize + 1] += 1);
    (0..classes).for_each(|c| starts[c + 1] += starts[c]);
    let mut next = starts.clone();
    let mut sources = vec![0u32; class_of.len()];
    for (source, &class) in (0u32..).zip(class_of) {
        let at = &mut next[class as usize];
        sources[*at as usize] = source;
        *at += 1;
    }
    drop(next);
    let mut sums = [0u32; DENSE];
    let mut merged: Vec<(u32, u32)> = Vec::with_capacity(pairs.len());
    let mut ends = Vec::with_capacity(classes + 1);
    ends.push(0);
    for class in 0..classes {
        let own = &sources[starts[class] as usize..starts[class + 1] as usize];
        for range in own.iter().map(|&s| offsets[s as usize] as usize..offsets[s as usize + 1] as usize) {
            pairs[range].iter().for_each(|&(symbol, rows)| sums[symbol as usize] += rows);
        }
        let found = (0u32..).zip(&mut sums[..symbols]).filter(|(_, sum)| **sum > 0);
        merged.extend(found.map(|(symbol, sum)| (symbol, std::mem::take(sum))));
        ends.push(merged.len() as u32);
    }
    if classes * symbols <= merged.len() * 2 {
        // Hardly any zeros are left.
        let mut counts = vec![0u32; classes * symbols];
        for (row, range) in counts.chunks_exact_mut(symbols).zip(ends.windows(2)) {
            let own = &merged[range[0] as usize..range[1] as usize];
            own.iter().for_each(|&(symbol, rows)| row[symbol as usize] = rows);
        }
        return Counts::Dense { symbols, counts };
    }
    merged.shrink_to_fit();
    Counts::Sparse { symbols, offsets: ends, pairs: merged }
}

/// Rolls sparse counts up: two stable counting sorts, by symbol and then by class, put equal pairs side by side.
fn merge_many_symbols(
    symbols: usize,
    offsets: &[u32],
    pairs: &[(u32, u32)],
    class_of: &[u32],
    classes: usize,
) -> Counts {
    let mut place = vec![0u32; symbols + 1];
    pairs.iter().for_each(|p| place[p.0 as usize + 1] += 1);
    (0..symbols).for_each(|s| place[s + 1] += place[s]);
    let mut by_symbol = vec![(0u32, 0u32, 0u32); pairs.len()];
    let mut sizes = vec![0u32; classes + 1];
    for (source, &class) in class_of.iter().enumerate() {
        for &(symbol, rows) in &pairs[offsets[source] as usize..offsets[source + 1] as usize] {
            let at = &mut place[symbol as usize];
            by_symbol[*at as usize] = (class, symbol, rows);
            *at += 1;
            sizes[class as usize + 1] += 1;
        }
    }
    (0..classes).for_each(|c| sizes[c + 1] += sizes[c]);
    let starts = sizes.clone();
    let mut sorted = vec![(0u32, 0u32); pairs.len()];
    for (class, symbol, rows) in by_symbol {
        let at = &mut sizes[class as usize];
        sorted[*at as usize] = (symbol, rows);
        *at += 1;
    }
    let mut merged: Vec<(u32, u32)> = Vec::with_capacity(pairs.len());
    let mut offsets = Vec::with_capacity(classes + 1);
    offsets.push(0);
    for class in 0..classes {
        let start = merged.len();
        for &(symbol, rows) in &sorted[starts[class] as usize..starts[class + 1] as usize] {
            match merged[start..].last_mut() {
                Some(last) if last.0 == symbol => last.1 += rows,
                _ => merged.push((symbol, rows)),
            }
        }
        offsets.push(merged.len() as u32);
    }
    merged.shrink_to_fit();
    Counts::Sparse { symbols, offsets, pairs: merged }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_counts_rolls_up_to_the_same() {
        // Forty thousand classes of two or three symbols each, so that no form is ruled out by its size.
        for symbols in [5usize, 32, 90] {
            let (mut offsets, mut pairs) = (vec![0u32], Vec::new());
            let mut dense = vec![0u32; 40_000 * symbols];
            for class in 0..40_000usize {
                let mut own: Vec<u32> = (0..2 + class % 2).map(|i| ((class * 31 + i * 7) % symbols) as u32).collect();
                own.sort_unstable();
                own.dedup();
                for symbol in own {
                    pairs.push((symbol, class as u32 % 11 + 1));
                    dense[class * symbols + symbol as usize] = class as u32 % 11 + 1;
                }
                offsets.push(pairs.len() as u32);
            }
            let sparse = Counts::Sparse { symbols, offsets, pairs };
            let dense = Counts::Dense { symbols, counts: dense };
            for classes in [1usize, 3, 700, 39_000] {
                let class_of: Vec<u32> = (0..40_000).map(|c| (c * 17 % classes) as u32).collect();
                let (a, b) = (sparse.roll_up(&class_of, classes), dense.roll_up(&class_of, classes));
                for class in 0..classes {
                    let (mut x, mut y) = (Vec::new(), Vec::new());
                    a.read(class, &mut x);
                    b.read(class, &mut y);
                    assert_eq!(x, y, "{symbols} symbols, {classes} classes");
                }
            }
        }
    }
}
