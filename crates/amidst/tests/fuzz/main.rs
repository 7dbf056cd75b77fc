//! The fuzz targets (`fuzz/src/targets.rs`) on mutants of the corpus, with nothing but a stable compiler.
//!
//! Some thousands of inputs for each target; `AMIDST_FUZZ=1000000` tries so many, `AMIDST_FUZZ_SEED` others, `AMIDST_FUZZ_TARGET`
//! one target only. An input that fails is named by its target and number, and written to the folder for temporary files.

#[path = "../../../../fuzz/src/targets.rs"]
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use targets::TARGETS;

/// Inputs for each target, unless the environment asks for more.
const INPUTS: u64 = 1500;
/// No input of some kilobytes takes so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Texts that mean something to one of the readers.
const WORDS: &[&[u8]] = &[
    b"\"",
    b"\r\n",
    b"\n",
    b",",
    b";",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\\u0000",
    b"\xef\xbb\xbf",
    b"\0",
    b"null",
    b"1e999",
    b"-0",
    b"PAR1",
    b"ARROW1\0\0",
    b"\x1f\x8b\x08",
    b"\xff\xff\xff\xff",
    b"[columns.\"*\"]\n",
    b"role = \"quasi\"\n",
    b"999999999999999999999",
    b"[[require]]\n",
    b"model = \"",
    b"'''",
    b"\"\"\"",
    b"= {",
    b"ssh-ed25519 ",
    b"-----BEGIN ",
];

/// A few changes: bits, words, numbers at their bounds, pieces cut out, repeated, or taken from another file.
fn mutate(bytes: &mut Vec<u8>, other: &[u8], dice: &mut Dice) {
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len() + 1).min(bytes.len());
        let length = dice.below(32).min(bytes.len() - at);
        match dice.below(9) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            2 if at < bytes.len() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff, b'"', b'\r', b'\n'][dice.below(8)],
            3 => drop(bytes.drain(at..at + length)),
            4 => {
                let piece = bytes[at..at + length].to_vec();
                bytes.splice(at..at, piece);
            }
            5 if dice.below(4) == 0 => bytes.truncate(at),
            6 => {
                let number = [u32::MAX, i32::MAX as u32, 0x8000_0000, 1 << 24][dice.below(4)].to_le_bytes();
                let end = (at + 4).min(bytes.len());
                bytes[at..end].copy_from_slice(&number[..end - at]);
            }
            7 => {
                let word = WORDS[dice.below(WORDS.len())];
                bytes.splice(at..at, word.iter().copied());
            }
            _ => {
                let from = dice.below(other.len() + 1).min(other.len());
                let piece = &other[from..(from + dice.below(64)).min(other.len())];
                bytes.splice(at..at + length, piece.iter().copied());
            }
        }
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// The files of a target's corpus, in the order of their names.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(&folder).into_iter().flatten().filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths.iter().map(|path| std::fs::read(path).expect("a file of the corpus")).collect()
}

fn fire(name: &str, target: fn(&[u8]), inputs: u64, seed: u64) -> Result<u64, String> {
    let files = corpus(name);
    let mut dice = Dice(seed ^ name.bytes().fold(7, |hash: u64, b| hash.wrapping_mul(31) + u64::from(b)));
    let attempt = |bytes: &[u8], what: &str| -> Result<(), String> {
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| target(bytes)));
        if result.is_ok() && start.elapsed() < PATIENCE {
            return Ok(());
        }
        let place = std::env::temp_dir().join(format!("amidst-fuzz-{name}"));
        let kept = std::fs::write(&place, bytes).is_ok();
        let why = if result.is_err() { "it panics" } else { "it takes too long" };
        Err(format!("{name}, {what}: {why}; the input is in {} ({kept})", place.display()))
    };
    for (at, bytes) in files.iter().enumerate() {
        attempt(bytes, &format!("file {at} of the corpus"))?;
    }
    for turn in 0..inputs {
        let mut bytes = files[dice.below(files.len())].clone();
        let other = files[dice.below(files.len())].clone();
        mutate(&mut bytes, &other, &mut dice);
        attempt(&bytes, &format!("seed {seed}, input {turn}"))?;
    }
    Ok(files.len() as u64 + inputs)
}

#[test]
#[ignore = "takes minutes; scripts/fuzz.sh runs it"]
fn no_input_takes_a_reader_down() {
    let (inputs, seed) = (number("AMIDST_FUZZ", INPUTS), number("AMIDST_FUZZ_SEED", 1));
    let only = std::env::var("AMIDST_FUZZ_TARGET").ok();
    let mut failed = Vec::new();
    for &(name, target) in TARGETS.iter().filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name)) {
        // A state is a database on a disk, and slow.
        let inputs = if name == "series_state" { inputs / 10 } else { inputs };
        let start = Instant::now();
        match fire(name, target, inputs, seed) {
            Ok(tried) => println!("{name}: {tried} inputs in {:.1} s", start.elapsed().as_secs_f64()),
            Err(what) => failed.push(what),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
