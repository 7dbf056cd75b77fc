//! Packed keys: the generalized tuple of a class as one integer, a field of bits per quasi column.
//!
//! A field is as wide as the values of its level need, so a column at its top takes no bits at all and keys of coarse
//! nodes are small enough to index an array. Moving a column up replaces one field and shifts those above it.

use std::fmt::Debug;

/// An integer wide enough for the finest node.
pub(crate) trait Key: Copy + Eq + Default + Debug + Send + Sync + 'static {
    /// How many bits it has.
    const BITS: u32;

    /// The key with `value` written into the bits from `shift` on, which are zero.
    fn with(self, shift: u32, value: u32) -> Self;

    /// The `width` bits from `shift` on.
    fn field(self, shift: u32, width: u32) -> u32;

    /// The key with the field of `old` bits at `shift` replaced by one of `new` bits (at most `old`) that holds
    /// `value`.
    fn splice(self, shift: u32, old: u32, new: u32, value: u32) -> Self;

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
            fn splice(self, shift: u32, old: u32, new: u32, value: u32) -> Self {
                let low = self & !<$integer>::MAX.checked_shl(shift).unwrap_or(0);
                let high = self.checked_shr(shift + old).unwrap_or(0).checked_shl(shift + new).unwrap_or(0);
                high | low.with(shift, value)
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

impl Wide {
    fn clear(mut self, shift: u32, width: u32) -> Self {
        for bit in shift..shift + width {
            self.0[bit as usize / 64] &= !(1 << (bit % 64));
        }
        self
    }
}

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

    fn splice(self, shift: u32, old: u32, _new: u32, value: u32) -> Self {
        self.clear(shift, old).with(shift, value)
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

    fn splices<K: Key>(moves: bool) {
        // Three fields of 5, 7 and 3 bits, at the far end of the key.
        let base = if moves { 0 } else { K::BITS - 15 };
        let key = K::default().with(base, 17).with(base + 5, 99).with(base + 12, 6);
        assert_eq!((key.field(base, 5), key.field(base + 5, 7), key.field(base + 12, 3)), (17, 99, 6));
        let (new, top) = if moves { (2, base + 7) } else { (7, base + 12) };
        let up = key.splice(base + 5, 7, new, 3);
        assert_eq!((up.field(base, 5), up.field(base + 5, new), up.field(top, 3)), (17, 3, 6));
        let top = if moves { base + 5 } else { base + 12 };
        let up = key.splice(base + 5, 7, if moves { 0 } else { 7 }, 0);
        assert_eq!((up.field(base, 5), up.field(top, 3)), (17, 6));
    }

    #[test]
    fn a_field_is_replaced_and_the_others_stay() {
        splices::<u64>(true);
        splices::<u64>(false);
        splices::<u128>(true);
        splices::<u128>(false);
        splices::<Wide>(false);
    }
}
