//! The order of a release's rows: shuffled, so that position tells nothing.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::prepare::Prepared;

/// Puts rows in an order that depends on the seed and on the whole table.
///
/// The seed stands in the published policy, so it alone would let anyone undo the shuffle. The table itself is the
/// secret that they lack; the same table and seed still give the same order.
pub fn shuffle(order: &mut [u32], seed: u64, prepared: &Prepared) {
    let mut secret = Sha256::new();
    secret.update(seed.to_le_bytes());
    for &position in prepared.quasi.iter().chain(&prepared.sensitive) {
        let column = &prepared.table.columns[position];
        for value in column.dictionary.iter() {
            secret.update((value.len() as u64).to_le_bytes());
            secret.update(value.as_bytes());
        }
    }
    let mut block = Vec::with_capacity(1 << 16);
    for chunk in prepared.entry_of_row.chunks(1 << 14) {
        block.clear();
        block.extend(chunk.iter().flat_map(|entry| entry.to_le_bytes()));
        secret.update(&block);
    }
    mix(order, secret.finalize().into());
}

/// From so many rows on they are first dealt to heaps: swapping them all over the table waits for memory at every step.
const MANY: usize = 1 << 17;

/// As many heaps as a byte can tell.
const HEAPS: usize = 1 << 8;

/// An order drawn evenly among all.
///
/// Rows that are dealt to heaps at random, each of which is then shuffled, are shuffled as a whole (Rao 1961, Sandelius
/// 1962).
fn mix(order: &mut [u32], secret: [u8; 32]) {
    let mut random = ChaCha8Rng::from_seed(secret);
    if order.len() < MANY {
        return swap_about(order, &mut random);
    }
    let usual = order.len() / HEAPS;
    let mut heaps: Vec<Vec<u32>> = (0..HEAPS).map(|_| Vec::with_capacity(usual + usual / 8)).collect();
    for rows in order.chunks(8) {
        let bytes = random.next_u64().to_le_bytes();
        rows.iter().zip(bytes).for_each(|(&row, heap)| heaps[usize::from(heap)].push(row));
    }
    let mut rest = order;
    let mut parts = Vec::with_capacity(HEAPS);
    for (heap, number) in heaps.into_iter().zip(1u64..) {
        let (part, others) = std::mem::take(&mut rest).split_at_mut(heap.len());
        parts.push((part, heap, number));
        rest = others;
    }
    parts.into_par_iter().for_each(|(part, heap, number)| {
        // Every heap has a stream of its own, so it does not matter who shuffles it, and when.
        let mut random = ChaCha8Rng::from_seed(secret);
        random.set_stream(number);
        part.copy_from_slice(&heap);
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
