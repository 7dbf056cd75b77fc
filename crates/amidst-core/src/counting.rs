//! Numbering the distinct combinations of some columns: the one pass over the rows that a search needs.
//!
//! The codes of a row become one integer, a digit per column. Few possible combinations are counted in an array; more are
//! marked in a map of bits, in which the marks before a combination are its number; very many go to
//! hash tables, a table for each part of the rows. The combinations are then numbered in ascending order, so the
//! result depends neither on the order of the rows nor on the number of threads. Where the digits do not fit into
//! one integer, the columns that do are numbered first and their number becomes a column in their place.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::table::Codes;

/// The distinct combinations of some columns, in ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Combinations {
    /// The codes of each combination, one per column.
    pub codes: Vec<u32>,
    /// How many rows have each combination.
    pub rows: Vec<u64>,
    /// The combination of each row.
    pub of_row: Vec<u32>,
}

/// Up to this many possible combinations are counted in an array.
const DENSE: u64 = 1 << 20;

/// Possible combinations that a map of bits may have for each row.
const BITS_PER_ROW: u64 = 32;

/// Rows are taken in parts of at least this many.
const PART: usize = 1 << 16;

/// Keys are made for this many rows at a time, so that they stay in the fastest memory.
const BLOCK: usize = 2048;

/// Numbers the combinations of `columns`, each with the number of its distinct codes.
pub(crate) fn combinations(columns: &[(&Codes, usize)], rows: usize) -> Combinations {
    let mut done = 0;
    let mut known: Option<Combinations> = None;
    loop {
        // As many further columns as fit into one integer beside the number of those done.
        let count = known.as_ref().map_or(1, |k| k.rows.len().max(1)) as u128;
        let mut product = count;
        let mut end = done;
        while end < columns.len() && product * (columns[end].1.max(1) as u128) < 1 << 63 {
            product *= columns[end].1.max(1) as u128;
            end += 1;
        }
        let lead = known.as_ref().map(|k| k.of_row.as_slice());
        let (keys, counts, of_row) = number(lead, &columns[done..end], rows, product as u64);
        let mut codes = Vec::with_capacity(keys.len() * end);
        for &key in &keys {
            let start = codes.len();
            codes.resize(start + end, 0);
            let mut rest = key;
            for column in (done..end).rev() {
                let radix = columns[column].1.max(1) as u64;
                codes[start + column] = (rest % radix) as u32;
                rest /= radix;
            }
            if let Some(known) = &known {
                let lead = rest as usize * done;
                codes[start..start + done].copy_from_slice(&known.codes[lead..lead + done]);
            }
        }
        let combinations = Combinations { codes, rows: counts, of_row };
        if end == columns.len() {
            return combinations;
        }
        (done, known) = (end, Some(combinations));
    }
}

/// The distinct keys of all rows in ascending order, how many rows have each, and the key's position for each row.
fn number(
    lead: Option<&[u32]>,
    columns: &[(&Codes, usize)],
    rows: usize,
    product: u64,
) -> (Vec<u64>, Vec<u64>, Vec<u32>) {
    let mut of_row = vec![0u32; rows];
    let part = rows.div_ceil(rayon::current_num_threads() * 2).max(PART);
    if product > DENSE && product <= rows as u64 * BITS_PER_ROW && product <= 1 << 36 {
        return number_by_bits(lead, columns, of_row, part, product);
    }
    let dense = product <= DENSE && product <= (rows as u64 * 4).max(1 << 12);
    let parts: Vec<(Vec<u64>, Vec<u64>)> = of_row
        .par_chunks_mut(part)
        .enumerate()
        .map(|(i, out)| {
            let first = i * part;
            if dense {
                return (Vec::new(), count_dense(lead, columns, first, out, product as usize));
            }
            let mut table = Table::default();
            each_block(lead, columns, first, out, |keys, out| {
                keys.iter().zip(out).for_each(|(&key, id)| *id = table.add(key));
            });
            (table.keys, table.counts)
        })
        .collect();
    if dense {
        let mut total = vec![0u64; product as usize];
        parts.iter().for_each(|(_, counts)| total.iter_mut().zip(counts).for_each(|(t, n)| *t += n));
        let mut position = vec![0u32; product as usize];
        let mut keys = Vec::new();
        for (key, _) in total.iter().enumerate().filter(|&(_, &n)| n > 0) {
            position[key] = keys.len() as u32;
            keys.push(key as u64);
        }
        of_row.par_chunks_mut(part).for_each(|out| out.iter_mut().for_each(|id| *id = position[*id as usize]));
        let counts = keys.iter().map(|&k| total[k as usize]).collect();
        return (keys, counts, of_row);
    }
    let mut keys: Vec<u64> = parts.iter().flat_map(|(keys, _)| keys.iter().copied()).collect();
    keys.par_sort_unstable();
    keys.dedup();
    let positions: Vec<Vec<u32>> = parts
        .par_iter()
        .map(|(own, _)| own.iter().map(|key| keys.partition_point(|k| k < key) as u32).collect())
        .collect();
    let mut counts = vec![0u64; keys.len()];
    for ((_, own), positions) in parts.iter().zip(&positions) {
        own.iter().zip(positions).for_each(|(&n, &p)| counts[p as usize] += n);
    }
    (of_row.par_chunks_mut(part).zip(&positions))
        .for_each(|(out, positions)| out.iter_mut().for_each(|id| *id = positions[*id as usize]));
    (keys, counts, of_row)
}

/// Numbers keys by marking them in a map of bits.
fn number_by_bits(
    lead: Option<&[u32]>,
    columns: &[(&Codes, usize)],
    mut of_row: Vec<u32>,
    part: usize,
    product: u64,
) -> (Vec<u64>, Vec<u64>, Vec<u32>) {
    let mut marks: Vec<AtomicU64> = Vec::new();
    marks.resize_with(product.div_ceil(64) as usize, AtomicU64::default);
    of_row.par_chunks_mut(part).enumerate().for_each(|(i, out)| {
        each_block(lead, columns, i * part, out, |keys, _| {
            for &key in keys {
                let (word, bit) = (&marks[(key / 64) as usize], 1 << (key % 64));
                // Most keys were seen before: looking is cheaper than writing.
                if word.load(Ordering::Relaxed) & bit == 0 {
                    word.fetch_or(bit, Ordering::Relaxed);
                }
            }
        });
    });
    let mut before = Vec::with_capacity(marks.len());
    let mut keys = Vec::new();
    let marks: Vec<u64> = marks.into_iter().map(AtomicU64::into_inner).collect();
    for (i, &word) in marks.iter().enumerate() {
        before.push(keys.len() as u32);
        let mut rest = word;
        while rest != 0 {
            keys.push(i as u64 * 64 + u64::from(rest.trailing_zeros()));
            rest &= rest - 1;
        }
    }
    let mut counts: Vec<AtomicU64> = Vec::new();
    counts.resize_with(keys.len(), AtomicU64::default);
    of_row.par_chunks_mut(part).enumerate().for_each(|(i, out)| {
        each_block(lead, columns, i * part, out, |keys, out| {
            for (&key, id) in keys.iter().zip(out) {
                let (word, below) = ((key / 64) as usize, (1u64 << (key % 64)) - 1);
                *id = before[word] + (marks[word] & below).count_ones();
                counts[*id as usize].fetch_add(1, Ordering::Relaxed);
            }
        });
    });
    (keys, counts.into_iter().map(AtomicU64::into_inner).collect(), of_row)
}

/// Counts keys in an array; writes the key of each row.
fn count_dense(
    lead: Option<&[u32]>,
    columns: &[(&Codes, usize)],
    first: usize,
    out: &mut [u32],
    product: usize,
) -> Vec<u64> {
    let mut counts = vec![0u64; product];
    each_block(lead, columns, first, out, |keys, out| {
        for (&key, id) in keys.iter().zip(out) {
            counts[key as usize] += 1;
            *id = key as u32;
        }
    });
    counts
}

/// Shows the keys of the rows from `first` on, block by block, with the part of `out` that belongs to them.
fn each_block(
    lead: Option<&[u32]>,
    columns: &[(&Codes, usize)],
    first: usize,
    out: &mut [u32],
    mut show: impl FnMut(&[u64], &mut [u32]),
) {
    let mut buffer = vec![0u64; BLOCK];
    for (i, out) in out.chunks_mut(BLOCK).enumerate() {
        let start = first + i * BLOCK;
        let keys = &mut buffer[..out.len()];
        match lead {
            Some(lead) => {
                let lead = &lead[start..start + keys.len()];
                keys.iter_mut().zip(lead).for_each(|(key, &id)| *key = u64::from(id));
            }
            None => keys.fill(0),
        }
        for &(codes, count) in columns {
            let radix = count.max(1) as u64;
            match codes {
                Codes::U8(codes) => append(keys, radix, &codes[start..start + out.len()]),
                Codes::U16(codes) => append(keys, radix, &codes[start..start + out.len()]),
                Codes::U32(codes) => append(keys, radix, &codes[start..start + out.len()]),
            }
        }
        show(keys, out);
    }
}

/// Appends a digit to each key.
fn append<C: Copy + Into<u64>>(keys: &mut [u64], radix: u64, codes: &[C]) {
    keys.iter_mut().zip(codes).for_each(|(key, &code)| *key = *key * radix + code.into());
}

/// An open hash table from keys to numbers in the order of their first appearance.
#[derive(Debug, Default)]
struct Table {
    /// Number + 1, zero where free; a power of two long.
    slots: Vec<u32>,
    keys: Vec<u64>,
    counts: Vec<u64>,
}

impl Table {
    /// The number of `key`, which is counted.
    #[inline]
    fn add(&mut self, key: u64) -> u32 {
        if self.keys.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = slot(key, self.slots.len());
        loop {
            match self.slots[at] {
                0 => {
                    self.keys.push(key);
                    self.counts.push(1);
                    self.slots[at] = self.keys.len() as u32;
                    return self.keys.len() as u32 - 1;
                }
                id if self.keys[id as usize - 1] == key => {
                    self.counts[id as usize - 1] += 1;
                    return id - 1;
                }
                _ => at = (at + 1) & mask,
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.slots.len() * 2).max(1 << 10);
        self.slots.clear();
        self.slots.resize(size, 0);
        for (i, &key) in self.keys.iter().enumerate() {
            let mut at = slot(key, size);
            while self.slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = i as u32 + 1;
        }
    }
}

/// Where the search for a key begins in a table of `size` slots.
#[inline]
fn slot(key: u64, size: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - size.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn check(columns: &[(Codes, usize)], rows: usize) {
        let borrowed: Vec<(&Codes, usize)> = columns.iter().map(|(c, n)| (c, *n)).collect();
        let found = combinations(&borrowed, rows);
        let tuple = |row: usize| columns.iter().map(|(c, _)| c.get(row)).collect::<Vec<u32>>();
        let mut expected: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        (0..rows).for_each(|row| *expected.entry(tuple(row)).or_default() += 1);
        assert_eq!(found.rows, expected.values().copied().collect::<Vec<_>>());
        assert_eq!(found.codes, expected.keys().flatten().copied().collect::<Vec<_>>());
        for row in 0..rows {
            let at = found.of_row[row] as usize * columns.len();
            assert_eq!(found.codes[at..at + columns.len()], tuple(row));
        }
    }

    proptest! {
        #[test]
        fn rows_are_numbered_by_their_combination(
            rows in proptest::collection::vec((0u8..4, 0u16..300, 0u32..70_000), 0..200),
            wide in any::<bool>(),
        ) {
            // Pretended cardinalities force the array, the hash table, or several steps.
            let stretch = if wide { 1 << 25 } else { 1 };
            check(
                &[
                    (Codes::U8(rows.iter().map(|r| r.0).collect()), 4 * stretch),
                    (Codes::U16(rows.iter().map(|r| r.1).collect()), 300 * stretch),
                    (Codes::U32(rows.iter().map(|r| r.2).collect()), 70_000),
                ],
                rows.len(),
            );
            check(&[(Codes::U8(rows.iter().map(|r| r.0).collect()), 4)], rows.len());
        }
    }

    #[test]
    fn many_rows_are_counted_in_parts() {
        let rows = 3 * PART + 17;
        let a: Vec<u16> = (0..rows).map(|r| ((r * 7919) % 1009) as u16).collect();
        let b: Vec<u16> = (0..rows).map(|r| ((r * 104_729) % 5003) as u16).collect();
        check(&[(Codes::U16(a.clone()), 1009), (Codes::U16(b), 5003)], rows);
        check(&[(Codes::U16(a), 1009)], rows);
    }
}
