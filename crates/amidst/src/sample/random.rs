//! Numbers that look random: the same on every platform, and independent from row to row.
//!
//! SplitMix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators"), started afresh for each row
//! from the seed and the row's number, so that any row can be drawn without those before it.

use super::tables::Table;

/// 2⁶⁴ divided by the golden ratio, made odd: the step of the sequence.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The random numbers of one row.
#[derive(Debug, Clone)]
pub(super) struct Random {
    state: u64,
}

/// Spreads every bit of `z` over all of the result.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Random {
    /// The numbers of row `row` in the table of `seed`.
    pub fn new(seed: u64, row: u64) -> Self {
        Random { state: mix(mix(seed.wrapping_add(STEP)) ^ mix(row)) }
    }

    /// Sixty-four bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number from 0 to `bound` − 1. Scaled from 32 bits: with bounds up to a thousand no value is favoured by more
    /// than one part in four million.
    pub fn below(&mut self, bound: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// One of the things of a table, by their shares in a thousand.
    pub fn pick<T: Copy>(&mut self, table: Table<T>) -> T {
        let mut left = self.below(1000);
        for &(thing, share) in table.1 {
            if left < share {
                return thing;
            }
            left -= share;
        }
        table.0
    }
}
