//! The order of a release's rows: shuffled, so that position tells nothing.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
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
    let mut random = ChaCha8Rng::from_seed(secret.finalize().into());
    // Fisher and Yates, with Lemire's multiplication in place of a remainder.
    for i in (1..order.len()).rev() {
        let j = ((u128::from(random.next_u64()) * (i as u128 + 1)) >> 64) as usize;
        order.swap(i, j);
    }
}
