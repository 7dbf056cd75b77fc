//! Numbers as bytes, seven bits at a time, the lowest first: most numbers of a class fit one byte.

/// Appends a number.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// The numbers of some bytes. A damaged number ends them, with bytes left over.
#[derive(Debug)]
pub(super) struct Numbers<'b>(pub &'b [u8]);

impl Iterator for Numbers<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let (&first, rest) = self.0.split_first()?;
        if first < 0x80 {
            self.0 = rest;
            return Some(u32::from(first));
        }
        let mut number = u64::from(first & 0x7f);
        for (i, &byte) in rest.iter().take(4).enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * (i + 1));
            if byte < 0x80 {
                let number = u32::try_from(number).ok()?;
                self.0 = &rest[i + 1..];
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers: Vec<u32>) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|&n| put(&mut bytes, n));
            prop_assert_eq!(Numbers(&bytes).collect::<Vec<u32>>(), numbers);
        }

        #[test]
        fn any_bytes_are_read_without_harm(bytes: Vec<u8>) {
            prop_assert!(Numbers(&bytes).count() <= bytes.len());
        }
    }

    #[test]
    fn what_is_cut_off_or_too_large_ends_them() {
        for damaged in [&[0x80][..], &[0xff; 4], &[0xff; 6], &[0xff, 0xff, 0xff, 0xff, 0x7f]] {
            let mut numbers = Numbers(damaged);
            assert_eq!((numbers.next(), numbers.next()), (None, None));
        }
    }
}
