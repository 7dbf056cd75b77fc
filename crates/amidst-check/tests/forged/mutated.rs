//! Thousands of damaged releases: the checker always answers, soon, and without allocating what a damaged file asks
//! for.

use std::time::{Duration, Instant};

use amidst_check::{Options, verify};

use crate::made::{Case, FORMATS, table};

/// A deterministic pseudo-random generator.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// A few changes: bits, bytes, numbers at their bounds, pieces cut out, repeated or moved.
fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len());
        let length = dice.below(16).min(bytes.len() - at);
        match dice.below(8) {
            0 | 1 => bytes[at] ^= 1 << dice.below(8),
            2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff, b'"', b'\r', b'\n'][dice.below(8)],
            3 => drop(bytes.drain(at..at + length)),
            4 => {
                let piece = bytes[at..at + length].to_vec();
                bytes.splice(at..at, piece);
            }
            5 => bytes.truncate(at.max(1)),
            6 => {
                let number = [u32::MAX, i32::MAX as u32, 0x8000_0000, 1 << 24][dice.below(4)].to_le_bytes();
                let end = (at + 4).min(bytes.len());
                bytes[at..end].copy_from_slice(&number[..end - at]);
            }
            _ => bytes.insert(at, dice.below(256) as u8),
        }
        if bytes.is_empty() {
            return;
        }
    }
}

#[test]
fn damaged_files_get_an_answer() {
    let start = Instant::now();
    let mut dice = Dice(15);
    let (mut refused, mut tried) = (0, 0);
    for format in FORMATS {
        let whole = table(format);
        let case = Case::new(format);
        for _ in 0..700 {
            let mut bytes = whole.clone();
            mutate(&mut bytes, &mut dice);
            std::fs::write(case.path(), &bytes).unwrap();
            let mut certificate = case.certificate.clone();
            certificate.outputs[0].bytes = bytes.len() as u64;
            certificate.outputs[0].sha256 = amidst_check::sha256_hex(&bytes);
            certificate.digest = certificate.computed_digest().unwrap();
            let before = Instant::now();
            let verdict = verify(case.folder(), &certificate, &Options::default());
            assert!(before.elapsed() < Duration::from_secs(10), "{format}: too slow");
            assert!(verdict.valid || verdict.problems.iter().any(|p| p.is_violation()));
            refused += u64::from(!verdict.valid);
            tried += 1;
        }
    }
    // A few changes result in other cells in the same form, and are not refused.
    assert!(refused * 10 > tried * 8, "{refused} of {tried}");
    assert!(start.elapsed() < Duration::from_secs(120));
}
