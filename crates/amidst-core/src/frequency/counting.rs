//! Numbering the distinct combinations of some columns: the one pass over the rows that a search needs.
//!
//! The codes of a row become one integer, a digit per column. Few possible combinations are counted in an array; more
//! are first sorted roughly into ranges small enough for the fastest memory, and each range has an array or a hash
//! table of its own. The combinations are numbered in ascending order, so the result depends neither on the order of
//! the rows nor on the number of threads. Where the digits do not fit into one integer, the columns that do are
//! numbered first and their number becomes a column in their place.

use rayon::prelude::*;

use crate::table::Codes;

/// The distinct combinations of some columns, in ascending order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Combinations {
    /// Each combination as one integer, a digit per column; the columns of `lead` together are the first digit.
    pub keys: Vec<u64>,
    /// The base of each digit but the first one of `lead`.
    radices: Vec<u64>,
    /// Columns that did not fit into the integer.
    lead: Option<Lead>,
    /// How many rows have each combination.
    pub rows: Vec<u64>,
    /// The combination of each row.
    pub of_row: Vec<u32>,
}

/// Combinations of the first columns, that stand for a column.
#[derive(Debug, Clone)]
struct Lead {
    width: usize,
    codes: Vec<u32>,
}

impl Combinations {
    /// The number of columns.
    pub fn width(&self) -> usize {
        self.lead.as_ref().map_or(0, |l| l.width) + self.radices.len()
    }

    /// Writes the codes of the first columns of the combination with this key, as many as `out` is long.
    pub fn decode(&self, key: u64, out: &mut [u32]) {
        let start = self.lead.as_ref().map_or(0, |l| l.width);
        let mut rest = key;
        for (column, &radix) in self.radices.iter().enumerate().rev() {
            if let Some(code) = out.get_mut(start + column) {
                *code = (rest % radix) as u32;
            }
            rest /= radix;
        }
        if let Some(lead) = &self.lead {
            let codes = &lead.codes[rest as usize * lead.width..(rest as usize + 1) * lead.width];
            out.iter_mut().zip(codes).for_each(|(out, &code)| *out = code);
        }
    }

    /// The number by which keys must be divided to leave the first `columns` columns alone; none where some of the
    /// others are not digits of the key.
    pub fn tail(&self, columns: usize) -> Option<u64> {
        let own = columns.checked_sub(self.lead.as_ref().map_or(0, |l| l.width))?;
        Some(self.radices[own..].iter().product())
    }
}

/// Up to this many possible combinations are counted in an array.
const DENSE: u64 = 1 << 20;

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
        let lead = known.map(|known| {
            let mut codes = vec![0; known.keys.len() * done];
            let every = codes.chunks_exact_mut(done.max(1)).zip(&known.keys);
            every.for_each(|(out, &key)| known.decode(key, out));
            Lead { width: done, codes }
        });
        let radices = columns[done..end].iter().map(|c| c.1.max(1) as u64).collect();
        let combinations = Combinations { keys, radices, lead, rows: counts, of_row };
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
    if product > DENSE || product > (rows as u64 * 4).max(1 << 12) {
        return number_by_parts(lead, columns, of_row, part, product);
    }
    let parts: Vec<Vec<u64>> = of_row
        .par_chunks_mut(part)
        .enumerate()
        .map(|(i, out)| count_dense(lead, columns, i * part, out, product as usize))
        .collect();
    let mut total = vec![0u64; product as usize];
    parts.iter().for_each(|counts| total.iter_mut().zip(counts).for_each(|(t, n)| *t += n));
    let mut position = vec![0u32; product as usize];
    let mut keys = Vec::new();
    for (key, _) in total.iter().enumerate().filter(|&(_, &n)| n > 0) {
        position[key] = keys.len() as u32;
        keys.push(key as u64);
    }
    of_row.par_chunks_mut(part).for_each(|out| out.iter_mut().for_each(|id| *id = position[*id as usize]));
    let counts = keys.iter().map(|&k| total[k as usize]).collect();
    (keys, counts, of_row)
}

/// Numbers keys in ranges, each range by itself.
///
/// Three steps: the keys of each part of the rows are dealt out to their ranges; each range numbers its keys; then
/// every row takes its number from its range, in the order in which its key went there.
fn number_by_parts(
    lead: Option<&[u32]>,
    columns: &[(&Codes, usize)],
    mut of_row: Vec<u32>,
    part: usize,
    product: u64,
) -> (Vec<u64>, Vec<u64>, Vec<u32>) {
    let wanted = (of_row.len() / RANGE).clamp(1, RANGES).next_power_of_two();
    let bits = u64::BITS - (product - 1).leading_zeros();
    let shift = bits.saturating_sub(wanted.trailing_zeros());
    let ranges = ((product - 1) >> shift) as usize + 1;
    let dealt: Vec<Vec<Vec<u64>>> = of_row
        .par_chunks_mut(part)
        .enumerate()
        .map(|(i, out)| {
            let mut sizes = vec![0usize; ranges];
            each_block(lead, columns, i * part, out, |keys, _| {
                keys.iter().for_each(|&key| sizes[(key >> shift) as usize] += 1);
            });
            let mut dealt: Vec<Vec<u64>> = sizes.into_iter().map(Vec::with_capacity).collect();
            each_block(lead, columns, i * part, out, |keys, _| {
                keys.iter().for_each(|&key| dealt[(key >> shift) as usize].push(key));
            });
            dealt
        })
        .collect();
    // Turned round: for each range, its keys from each part of the rows.
    let mut of_range: Vec<Vec<Vec<u64>>> = (0..ranges).map(|_| Vec::with_capacity(dealt.len())).collect();
    for part in dealt {
        of_range.iter_mut().zip(part).for_each(|(range, keys)| range.push(keys));
    }
    let numbered: Vec<Range> = of_range
        .into_par_iter()
        .enumerate()
        .map(|(i, parts)| Range::number((i as u64) << shift, shift, parts))
        .collect();
    let mut before = Vec::with_capacity(ranges);
    let mut total = 0;
    let (mut keys, mut counts, mut ids) = (Vec::new(), Vec::new(), Vec::with_capacity(ranges));
    for range in numbered {
        before.push(total as u32);
        total += range.keys.len();
        keys.push(range.keys);
        counts.push(range.counts);
        ids.push(range.ids);
    }
    let (keys, counts) = rayon::join(|| joined(keys), || joined(counts));
    of_row.par_chunks_mut(part).enumerate().for_each(|(i, out)| {
        let mut next: Vec<std::slice::Iter<'_, u32>> =
            ids.iter().map(|range| range.get(i).map_or([].iter(), |ids| ids.iter())).collect();
        each_block(lead, columns, i * part, out, |keys, out| {
            for (&key, id) in keys.iter().zip(out) {
                let range = (key >> shift) as usize;
                *id = before[range] + next[range].next().copied().unwrap_or(0);
            }
        });
    });
    (keys, counts, of_row)
}

/// The parts one after the other, copied by all threads, which also touch the new memory first.
pub(super) fn joined<T: Copy + Default + Send + Sync>(parts: Vec<Vec<T>>) -> Vec<T> {
    let mut all = vec![T::default(); parts.iter().map(Vec::len).sum()];
    let mut rest = all.as_mut_slice();
    let mut places = Vec::with_capacity(parts.len());
    for part in parts {
        let (place, others) = rest.split_at_mut(part.len());
        places.push((place, part));
        rest = others;
    }
    places.into_par_iter().for_each(|(place, part)| place.copy_from_slice(&part));
    all
}

/// The approximate number of rows in a range of keys.
const RANGE: usize = 1 << 14;

/// There are at most this many ranges: more streams than that slow down the dealing.
const RANGES: usize = 1 << 10;

/// The keys of one range.
#[derive(Debug, PartialEq)]
struct Range {
    /// The distinct keys, ascending.
    keys: Vec<u64>,
    /// How often each occurs.
    counts: Vec<u64>,
    /// For each part of the rows, the position of each of its keys.
    ids: Vec<Vec<u32>>,
}

impl Range {
    /// Numbers the keys of the range of 2^`shift` keys from `first` on.
    fn number(first: u64, shift: u32, parts: Vec<Vec<u64>>) -> Range {
        let rows: usize = parts.iter().map(Vec::len).sum();
        if shift < usize::BITS && 1usize.checked_shl(shift).is_some_and(|span| span <= (rows * 4).max(1 << 10)) {
            return Self::number_dense(first, 1 << shift, parts);
        }
        let mut table = Table::default();
        let mut ids: Vec<Vec<u32>> = Vec::with_capacity(parts.len());
        for keys in parts {
            ids.push(keys.iter().map(|&key| table.add(key)).collect());
        }
        let mut order: Vec<(u64, u32)> = table.keys.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let mut position = vec![0u32; order.len()];
        order.iter().zip(0..).for_each(|(&(_, id), place)| position[id as usize] = place);
        ids.iter_mut().flatten().for_each(|id| *id = position[*id as usize]);
        Range {
            keys: order.iter().map(|&(key, _)| key).collect(),
            counts: order.iter().map(|&(_, id)| table.counts[id as usize]).collect(),
            ids,
        }
    }

    /// The same with an array in place of the hash table, where nearly as many keys occur as are possible.
    fn number_dense(first: u64, span: usize, parts: Vec<Vec<u64>>) -> Range {
        let mut counted = vec![0u64; span];
        parts.iter().flatten().for_each(|key| counted[(key - first) as usize] += 1);
        let mut position = vec![0u32; span];
        let (mut keys, mut counts) = (Vec::new(), Vec::new());
        for (at, &count) in counted.iter().enumerate().filter(|&(_, &count)| count > 0) {
            position[at] = keys.len() as u32;
            keys.push(first + at as u64);
            counts.push(count);
        }
        let ids = parts.iter().map(|p| p.iter().map(|key| position[(key - first) as usize]).collect()).collect();
        Range { keys, counts, ids }
    }
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
        assert_eq!(found.width(), columns.len());
        let codes = |key: u64, columns: usize| {
            let mut codes = vec![0; columns];
            found.decode(key, &mut codes);
            codes
        };
        let all: Vec<Vec<u32>> = found.keys.iter().map(|&key| codes(key, columns.len())).collect();
        assert_eq!(all, expected.into_keys().collect::<Vec<_>>());
        for row in 0..rows {
            assert_eq!(all[found.of_row[row] as usize], tuple(row));
        }
        // The columns before a tail are told by the key divided by it.
        for columns in 0..=columns.len() {
            let Some(tail) = found.tail(columns) else { continue };
            for pair in found.keys.windows(2) {
                assert_eq!(pair[0] / tail == pair[1] / tail, codes(pair[0], columns) == codes(pair[1], columns));
            }
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
        // Possible combinations so numerous that only ranges of keys are left.
        let spread = (Codes::U32((0..rows as u32).map(|r| r.wrapping_mul(2_654_435_761) >> 4).collect()), 1 << 28);
        check(&[(Codes::U16(a.clone()), 1009), spread], rows);
        check(&[(Codes::U16(a), 1009)], rows);
    }
}
