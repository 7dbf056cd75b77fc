//! Packed keys: the generalized tuple of a class as one integer, a field of bits per quasi column.
//!
//! A field is as wide as the values of its level need, so a column at its top takes no bits at all and keys of coarse
//! nodes are small enough to index an array. Moving a column up replaces one field and shifts those above it (see
//! `mapping`).

use std::fmt::Debug;

/// An integer wide enough for the finest node.
pub(crate) trait Key: Copy + Eq + Default + Debug + Send + Sync + 'static {
    /// How many bits it has.
    const BITS: u32;

    /// The key with `value` written into the bits from `shift` on, which are zero.
    fn with(self, shift: u32, value: u32) -> Self;

    /// The `width` bits from `shift` on.
    fn field(self, shift: u32, width: u32) -> u32;

    /// The lowest `width` bits of the key.
    fn low(self, width: u32) -> Self;

    /// The bits of both keys, which have none in common.
    fn or(self, other: Self) -> Self;

    /// The key as an array index; meaningful when all its fields together are short.
    fn index(self) -> usize;

    /// A number all of whose bits are well mixed.
    fn hash(self) -> u64;
}

/// An odd constant with irregular bits, as in Fibonacci hashing.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

macro_rules! integer_key {
    ($integer:ty, $hash:expr) => {
        impl Key for $integer {
            const BITS: u32 = <$integer>::BITS;

            #[inline]
            fn with(self, shift: u32, value: u32) -> Self {
                self | <$integer>::from(value).checked_shl(shift).unwrap_or(0)
            }

            #[inline]
            fn field(self, shift: u32, width: u32) -> u32 {
                let mask = (1u64 << width) - 1;
                (self.checked_shr(shift).unwrap_or(0) as u64 & mask) as u32
            }

            #[inline]
            fn low(self, width: u32) -> Self {
                self & !<$integer>::MAX.checked_shl(width).unwrap_or(0)
            }

            #[inline]
            fn or(self, other: Self) -> Self {
                self | other
            }

            #[inline]
            fn index(self) -> usize {
                self as usize
            }

            #[inline]
            fn hash(self) -> u64 {
                let hash: fn($integer) -> u64 = $hash;
                hash(self)
            }
        }
    };
}

integer_key!(u64, |key| {
    let product = u128::from(key) * u128::from(MIX);
    (product >> 64) as u64 ^ product as u64
});
integer_key!(u128, |key| {
    let product = u128::from(key as u64 ^ ((key >> 64) as u64).rotate_left(32).wrapping_mul(MIX)) * u128::from(MIX);
    (product >> 64) as u64 ^ product as u64
});

/// A key for tables with very many wide columns. Fields keep their width on every level, since shifting such a key
/// would cost more than it saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Wide([u64; 16]);

impl Key for Wide {
    const BITS: u32 = 1024;

    fn with(mut self, shift: u32, value: u32) -> Self {
        if value != 0 {
            let (word, offset) = (shift as usize / 64, shift % 64);
            let value = u128::from(value) << offset;
            self.0[word] |= value as u64;
            if value >> 64 != 0 {
                self.0[word + 1] |= (value >> 64) as u64;
            }
        }
        self
    }

    fn field(self, shift: u32, width: u32) -> u32 {
        let (word, offset) = (shift as usize / 64, shift % 64);
        let high = self.0.get(word + 1).copied().unwrap_or(0);
        let low = self.0.get(word).copied().unwrap_or(0);
        let both = u128::from(high) << 64 | u128::from(low);
        ((both >> offset) as u64 & ((1u64 << width) - 1)) as u32
    }

    fn low(mut self, width: u32) -> Self {
        for (word, first) in self.0.iter_mut().zip((0u32..).step_by(64)) {
            *word &= !u64::MAX.checked_shl(width.saturating_sub(first)).unwrap_or(0);
        }
        self
    }

    fn or(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
        self
    }

    fn index(self) -> usize {
        self.0[0] as usize
    }

    fn hash(self) -> u64 {
        let hash = self.0.iter().fold(0, |h: u64, &word| (h.rotate_left(23) ^ word).wrapping_mul(MIX));
        hash ^ (hash >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comes_apart<K: Key>() {
        // Three fields of 5, 7 and 3 bits, at the far end of the key.
        let base = K::BITS - 15;
        let key = K::default().with(base, 17).with(base + 5, 99).with(base + 12, 6);
        assert_eq!((key.field(base, 5), key.field(base + 5, 7), key.field(base + 12, 3)), (17, 99, 6));
        let low = key.low(base + 5);
        assert_eq!((low.field(base, 5), low.field(base + 5, 7)), (17, 0));
        assert_eq!(low.or(K::default().with(base + 5, 99).with(base + 12, 6)), key);
        assert_eq!((key.low(0), key.low(K::BITS)), (K::default(), key));
    }

    #[test]
    fn a_key_holds_its_fields() {
        comes_apart::<u64>();
        comes_apart::<u128>();
        comes_apart::<Wide>();
    }
}
