//! The order of a release's rows: shuffled, so that position tells nothing.
//!
//! An order that depended on the input would be a fingerprint of it: somebody who can guess the input makes the release
//! anew for every guess and compares. So the rows are first put in an order that follows from their published cells
//! alone, and are then shuffled with the seed, which stands in the published policy. Undoing the shuffle leaves an
//! order that the release tells anyway.

use amidst_core::table::Column;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

/// Puts rows in an order that depends on the seed, on what `columns` hold in these rows, and on whether a row is
/// `marked`; on nothing else, not even on the order in which they come.
pub fn shuffle(order: &mut [u32], seed: u64, columns: &[Column], marked: impl Fn(u32) -> bool + Sync) {
    let texts: Vec<Vec<u64>> = columns.par_iter().map(|c| c.dictionary.iter().map(digest).collect()).collect();
    let key = |row: u32| {
        let cell = |(column, texts): (&Column, &Vec<u64>)| texts[column.codes.get(row as usize) as usize];
        columns.iter().zip(&texts).map(cell).fold(u64::from(marked(row)), stir)
    };
    sort(order, key);
    let mut secret = Sha256::new();
    secret.update(b"the order of rows");
    secret.update(seed.to_le_bytes());
    mix(order, secret.finalize().into());
}

/// Sorts rows by their keys, and those of one key by their numbers.
///
/// Rows with one key have equal cells: among ten million rows that differ, two meet in 64 bits once in a hundred
/// thousand tables. Keys are as good as drawn at random, so their first bits deal them evenly to ranges that fit the
/// fastest memory.
fn sort(order: &mut [u32], key: impl Fn(u32) -> u64 + Sync) {
    let bits = (order.len() / RANGE).clamp(1, RANGES).next_power_of_two().trailing_zeros();
    let (ranges, range) = (1usize << bits, |key: u64| (key.rotate_left(bits) & ((1 << bits) - 1)) as usize);
    let part = order.len().div_ceil(rayon::current_num_threads()).max(RANGE);
    let deal = |rows: &[u32]| {
        let usual = rows.len() / ranges;
        let mut dealt: Vec<Vec<(u64, u32)>> = (0..ranges).map(|_| Vec::with_capacity(usual + usual / 8)).collect();
        for &row in rows {
            let key = key(row);
            dealt[range(key)].push((key, row));
        }
        dealt
    };
    let mut dealt: Vec<_> = order.par_chunks(part).map(deal).map(Vec::into_iter).collect();
    let mut rest = order;
    let mut tasks = Vec::with_capacity(ranges);
    for _ in 0..ranges {
        let parts: Vec<Vec<(u64, u32)>> = dealt.iter_mut().filter_map(Iterator::next).collect();
        let (own, others) = std::mem::take(&mut rest).split_at_mut(parts.iter().map(Vec::len).sum());
        tasks.push((own, parts));
        rest = others;
    }
    tasks.into_par_iter().for_each(|(own, parts)| {
        let mut keyed = parts.concat();
        drop(parts);
        // Where few rows differ a range may hold most of them.
        if keyed.len() > RANGE * 8 {
            keyed.par_sort_unstable()
        } else {
            keyed.sort_unstable()
        }
        own.iter_mut().zip(keyed).for_each(|(place, (_, row))| *place = row);
    });
}

/// The approximate number of rows in a range of keys.
const RANGE: usize = 1 << 13;

/// There are at most this many ranges: more streams than that slow down the dealing.
const RANGES: usize = 1 << 10;

/// A number that stands for a text.
fn digest(text: &str) -> u64 {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
    text.as_bytes().chunks(8).map(word).fold(stir(1, text.len() as u64), stir)
}

/// Stirs `more` into a number, by the last step of the generator SplitMix64: no two `more` give the same with one
/// number, and no two numbers with one `more`.
fn stir(number: u64, more: u64) -> u64 {
    let mut mixed = number.rotate_left(23).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ more;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// From this number of rows on they are first dealt to heaps: swapping them all over the table waits for memory at
/// every step.
const MANY: usize = 1 << 17;

/// As many heaps as a byte can tell.
const HEAPS: usize = 1 << 8;

/// An order drawn evenly among all.
///
/// Rows that are dealt to heaps at random, each of which is then shuffled, are shuffled as a whole (Rao 1961, Sandelius
/// 1962).
fn mix(order: &mut [u32], secret: [u8; 32]) {
    if order.len() < MANY {
        return swap_about(order, &mut ChaCha8Rng::from_seed(secret));
    }
    // Every eight rows take a number from the first stream, wherever they begin.
    let part = order.len().div_ceil(rayon::current_num_threads()).next_multiple_of(8);
    let deal = |(at, rows): (usize, &[u32])| {
        let mut random = ChaCha8Rng::from_seed(secret);
        random.set_word_pos((at * part / 8 * 2) as u128);
        let usual = rows.len() / HEAPS;
        let mut heaps: Vec<Vec<u32>> = (0..HEAPS).map(|_| Vec::with_capacity(usual + usual / 8)).collect();
        for rows in rows.chunks(8) {
            let bytes = random.next_u64().to_le_bytes();
            rows.iter().zip(bytes).for_each(|(&row, heap)| heaps[usize::from(heap)].push(row));
        }
        heaps.into_iter()
    };
    let mut dealt: Vec<_> = order.par_chunks(part).enumerate().map(deal).collect();
    let mut rest = order;
    let mut parts = Vec::with_capacity(HEAPS);
    for number in 1..=HEAPS as u64 {
        let heap: Vec<Vec<u32>> = dealt.iter_mut().filter_map(Iterator::next).collect();
        let (part, others) = std::mem::take(&mut rest).split_at_mut(heap.iter().map(Vec::len).sum());
        parts.push((part, heap, number));
        rest = others;
    }
    parts.into_par_iter().for_each(|(part, heap, number)| {
        // Every heap has a stream of its own, so it does not matter who shuffles it, and when.
        let mut random = ChaCha8Rng::from_seed(secret);
        random.set_stream(number);
        part.iter_mut().zip(heap.iter().flatten()).for_each(|(place, &row)| *place = row);
        swap_about(part, &mut random);
    });
}

/// Fisher and Yates, with Lemire's multiplication in place of a remainder.
fn swap_about(order: &mut [u32], random: &mut ChaCha8Rng) {
    for i in (1..order.len()).rev() {
        let j = ((u128::from(random.next_u64()) * (i as u128 + 1)) >> 64) as usize;
        order.swap(i, j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_follows_from_the_cells_that_are_published() {
        let table = |rows: &[(&'static str, &'static str)]| {
            let of = |f: fn(&(&'static str, &'static str)) -> &'static str| rows.iter().map(f).collect::<Vec<_>>();
            [Column::from_values("a", of(|r| r.0)), Column::from_values("b", of(|r| r.1))]
        };
        let published = |columns: &[Column; 2], mut order: Vec<u32>, seed: u64| {
            shuffle(&mut order, seed, columns, |_| false);
            let cell = |c: usize, row: u32| columns[c].value(row as usize).to_string();
            order.iter().map(|&row| (cell(0, row), cell(1, row))).collect::<Vec<_>>()
        };
        let names = ["x", "y", "z", "", "10", "9", "longer than eight bytes"];
        let mut rows: Vec<(&str, &str)> = (0..60).map(|i| (names[i % 7], names[i * i % 5])).collect();
        let columns = table(&rows);
        let known = published(&columns, (1..60).collect(), 7);
        assert_ne!(known, published(&columns, (1..60).collect(), 8));
        // Other rows in another order, and one that is left out has values that nobody else has.
        rows.reverse();
        rows[59] = ("secret", "0");
        let columns = table(&rows);
        assert_eq!(known, published(&columns, (0..59).rev().collect(), 7));
        assert!(!known.is_sorted());
    }

    #[test]
    fn texts_have_numbers_of_their_own() {
        let mut seen = std::collections::HashSet::new();
        for n in 0..20_000u32 {
            assert!(seen.insert(digest(&n.to_string())) && seen.insert(digest(&format!("{n:>30}"))));
            assert!(seen.insert(stir(digest("a"), u64::from(n))) && seen.insert(stir(u64::from(n), digest("a"))));
        }
        assert_ne!(digest(""), digest("\0"));
    }

    #[test]
    fn rows_are_sorted_by_their_keys_and_those_of_one_key_by_their_numbers() {
        let rows = RANGE as u32 * 20 + 3;
        // Keys that differ, hardly any, and a single one.
        for keys in [u64::MAX, 3, 1] {
            let key = |row: u32| stir(7, u64::from(row) * 13 % keys);
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let mut order: Vec<u32> = (0..rows).rev().filter(|row| row % 5 > 0).collect();
                let mut expected = order.clone();
                pool.install(|| sort(&mut order, key));
                expected.sort_unstable_by_key(|&row| (key(row), row));
                assert!(order == expected, "{keys} keys, {threads} threads");
            }
        }
        sort(&mut [], u64::from);
    }

    #[test]
    fn many_rows_are_shuffled_whole_and_the_same_on_any_number_of_threads() {
        let rows = MANY as u32 + 5;
        let mixed = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut order: Vec<u32> = (0..rows).collect();
            pool.install(|| mix(&mut order, [7; 32]));
            order
        };
        let order = mixed(1);
        assert_eq!(order, mixed(3));
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..rows));
        // Of neighbours few stay neighbours, and rows go as far as chance takes them: a third of the table.
        let near = order.windows(2).filter(|w| w[0].abs_diff(w[1]) < 100).count();
        assert!(near < rows as usize / 200, "{near}");
        let far: u64 = order.iter().zip(0u32..).map(|(&row, at)| u64::from(row.abs_diff(at))).sum();
        let share = far as f64 / f64::from(rows) / f64::from(rows);
        assert!((share - 1.0 / 3.0).abs() < 0.01, "{share}");
    }
}
