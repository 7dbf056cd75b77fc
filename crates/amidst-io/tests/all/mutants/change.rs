//! How a file is damaged: fully determined by the number of the mutant.

/// A pseudo-random generator (SplitMix64).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xA076_1D64_78BD_642F)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 for `n` = 0.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() % n as u64) as usize }
    }
}

/// Numbers that lengths and offsets do not expect.
const EXTREMES: [i64; 20] = [
    0,
    1,
    -1,
    2,
    7,
    8,
    255,
    1 << 16,
    1 << 20,
    1 << 28,
    i32::MAX as i64,
    i32::MIN as i64,
    1 << 31,
    1 << 32,
    1 << 40,
    1 << 60,
    i64::MAX,
    i64::MIN,
    i64::MAX - 7,
    -8,
];

/// The mutant of this number.
pub fn mutant(bytes: &[u8], number: u64) -> Vec<u8> {
    let mut dice = Dice::new(number);
    let mut out = bytes.to_vec();
    for _ in 0..1 + dice.below(3) {
        change(&mut out, &mut dice);
    }
    out
}

/// A position in the file; headers and footers more often than their share.
fn place(out: &[u8], dice: &mut Dice) -> usize {
    match dice.below(4) {
        0 => dice.below(out.len().min(600)),
        1 => out.len().saturating_sub(1 + dice.below(out.len().min(900))),
        _ => dice.below(out.len()),
    }
}

fn change(out: &mut Vec<u8>, dice: &mut Dice) {
    if out.is_empty() {
        return;
    }
    let at = place(out, dice);
    match dice.below(12) {
        0..=2 => out[at] ^= 1 << dice.below(8),
        3 => out[at] = dice.below(256) as u8,
        4 => {
            for _ in 0..dice.below(30) {
                let at = place(out, dice);
                out[at] ^= 1 << dice.below(8);
            }
        }
        5 => out.truncate(at),
        6 | 7 => overwrite(out, at, &EXTREMES[dice.below(EXTREMES.len())].to_le_bytes()[..[1, 2, 4, 8][dice.below(4)]]),
        8 => {
            // Close to the length of this file.
            let near = out.len() as i64 + dice.below(40) as i64 - 20;
            overwrite(out, at, &near.to_le_bytes()[..[4, 8][dice.below(2)]]);
        }
        9 => {
            // One part of the file copied over another.
            let from = place(out, dice);
            let part = out[from..(from + 1 + dice.below(64)).min(out.len())].to_vec();
            overwrite(out, at, &part);
        }
        10 => {
            // One part of the file inserted twice.
            let from = place(out, dice);
            let part = out[from..(from + 1 + dice.below(2000)).min(out.len())].to_vec();
            out.splice(at..at, part);
        }
        _ => {
            let end = (at + 1 + dice.below(40)).min(out.len());
            out.drain(at..end);
        }
    }
}

fn overwrite(out: &mut [u8], at: usize, with: &[u8]) {
    // Numbers of the binary formats are aligned more often than not.
    let at = if at.is_multiple_of(3) { at } else { at & !7 };
    for (to, from) in out[at..].iter_mut().zip(with) {
        *to = *from;
    }
}
