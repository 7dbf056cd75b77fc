//! Tokens and hashes: texts of one length in which letters and digits are mixed at random, such as `3fa91c` or
//! `k7Qz0mWe`. Pseudonyms are made like this, and who has the key, or the names, makes them again.
//!
//! Codes of things mix letters and digits too, but each place of them has letters or digits: postcodes, plates,
//! articles.

use super::{Detector, Means};
use crate::init::profile::Profile;

pub(super) const DETECTOR: Detector = Detector {
    id: "token",
    finding: "values are tokens or hashes, which stand for people",
    means: Means::Person,
    found,
};

/// Fewer values than this may be mixed by chance.
const VALUES: usize = 10;

fn found(profile: &Profile<'_>) -> bool {
    let Some(length) = profile.values.first().map(|v| v.trim().len()).filter(|n| (6..=256).contains(n)) else {
        return false;
    };
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'+' | b'/' | b'=');
    let shaped = |v: &str| v.len() == length && v.bytes().all(plain);
    if profile.values.len() < VALUES || profile.share(shaped) < 0.95 {
        return false;
    }
    let (mut letters, mut digits) = (vec![0usize; length], vec![0usize; length]);
    for value in profile.values.iter().map(|v| v.trim()).filter(|v| shaped(v)) {
        for (at, byte) in value.bytes().enumerate() {
            letters[at] += usize::from(byte.is_ascii_alphabetic());
            digits[at] += usize::from(byte.is_ascii_digit());
        }
    }
    // A place is mixed where at least one value in ten has a letter there, and one in ten a digit.
    let enough = |n: &usize| n * 10 >= profile.values.len();
    let mixed = letters.iter().zip(&digits).filter(|(l, d)| enough(l) && enough(d)).count();
    mixed >= 4 && mixed * 2 >= length
}

#[cfg(test)]
mod tests {
    use super::super::tests::id;

    /// Digits of a number in base 36 that looks random.
    fn text(i: u64, length: u32, base: u64) -> String {
        let mut n = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut out = String::new();
        for _ in 0..length {
            n = (n ^ n >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            out.push(char::from_digit(((n >> 20) % base) as u32, base as u32).unwrap_or('0'));
        }
        out
    }

    #[test]
    fn tokens_are_found_even_where_they_repeat() {
        assert_eq!(id((0..300).map(|i| text(i % 60, 6, 16))), Some("token"));
        assert_eq!(id((0..300).map(|i| text(i, 10, 36))), Some("token"));
        assert_eq!(id((0..300).map(|i| text(i, 20, 36))), Some("token"));
    }

    #[test]
    fn codes_with_a_form_are_not() {
        assert_ne!(id((0..300).map(|i| format!("A{:02}B{:03}", i % 9, i % 20))), Some("token"));
        assert_ne!(id((0..300).map(|i| (100_000 + i * 7 % 40).to_string())), Some("token"));
        assert_ne!(id((0..300).map(|i| ["abcdef", "ghijkl"][i % 2])), Some("token"));
    }
}
