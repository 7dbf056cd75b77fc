//! A fuzz driver that needs nothing but a stable compiler: it mutates a corpus, which grows by what is new.
//!
//! Without coverage as a guide it looks at what targets answer: an input whose answer (without its digits) was not seen
//! before is kept and mutated further. An input that makes a target panic is written to the folder for temporary files,
//! and the message names it; a target that does not return is detected by a second thread, which ends the process.
//!
//! Environment: `AMIDST_FUZZ` is the number of inputs for each target, `AMIDST_FUZZ_SECONDS` a limit of time for each,
//! `AMIDST_FUZZ_SEED` the seed, `AMIDST_FUZZ_TARGET` the only target to run.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A target by its name: from bytes to an answer.
pub type Target = (&'static str, fn(&[u8]) -> String);

/// No input of some kilobytes takes so long.
const PATIENCE: Duration = Duration::from_secs(20);
/// Inputs that are kept beside the corpus, and their greatest length.
const KEPT: usize = 2000;
const LONGEST: usize = 64 << 10;

/// Numbers that look random and are the same every time.
pub struct Dice(pub u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Texts that mean something to one of the readers.
#[rustfmt::skip]
const WORDS: &[&[u8]] = &[
    b"\"", b"\r\n", b"\n", b",", b";", b"\t", b"{", b"}", b"[", b"]", b"\\u0000", b"\\ud800", b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"null",
    b"1e999", b"-0", b"PAR1", b"ARROW1\0\0", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\xff\xff\xff\xff", b"[columns.\"*\"]\n",
    b"role = \"quasi\"\n", b"999999999999999999999", b"[[require]]\n", b"model = \"", b"'''", b"\"\"\"", b"= {", b"ssh-ed25519 ",
    b"-----BEGIN ", b"%2e%2e/", b"Content-Length: ", b"\r\n\r\n", b"HTTP/1.1",
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
    bytes.truncate(LONGEST);
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// The files of a target's corpus, in the order of their names.
fn corpus(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths.iter().map(|path| std::fs::read(path).expect("a file of the corpus")).collect()
}

/// The input that is being tried, since when.
type Current = Arc<Mutex<Option<(Instant, Vec<u8>)>>>;

/// Writes an input that failed where it can be found.
fn keep(name: &str, bytes: &[u8]) -> String {
    let place = std::env::temp_dir().join(format!("amidst-fuzz-{name}"));
    let kept = std::fs::write(&place, bytes).is_ok();
    format!("the input is in {} ({kept})", place.display())
}

/// Ends the process when an input does not come back.
fn watch(name: &'static str, current: &Current) {
    let current = Arc::downgrade(current);
    std::thread::spawn(move || {
        while let Some(current) = current.upgrade() {
            if let Ok(Some((since, bytes))) = current.lock().as_deref()
                && since.elapsed() > PATIENCE
            {
                let told = keep(name, bytes);
                panic_process(&format!("{name}: it takes too long; {told}"));
            }
            drop(current);
            std::thread::sleep(Duration::from_millis(500));
        }
    });
}

fn panic_process(message: &str) -> ! {
    use std::io::Write;
    drop(writeln!(std::io::stderr(), "{message}"));
    std::process::abort()
}

/// What an answer is called: its letters, since numbers differ everywhere.
fn shape(answer: &str) -> String {
    answer.chars().filter(|c| c.is_ascii_alphabetic()).take(160).collect()
}

/// The corpus as it is, then mutants of it; how many were tried, and how many answers there were.
fn fire(name: &'static str, target: fn(&[u8]) -> String, folder: &Path, inputs: u64) -> Result<(u64, usize), String> {
    let (seed, limit) =
        (number("AMIDST_FUZZ_SEED", 1), Duration::from_secs(number("AMIDST_FUZZ_SECONDS", u64::MAX >> 1)));
    let mut files = corpus(folder);
    let own = files.len();
    let mut dice = Dice(seed ^ name.bytes().fold(7, |hash: u64, b| hash.wrapping_mul(31) + u64::from(b)));
    let (began, mut answers) = (Instant::now(), HashSet::new());
    let current: Current = Arc::default();
    watch(name, &current);
    let attempt = |bytes: &[u8], what: &str| -> Result<String, String> {
        if let Ok(mut current) = current.lock() {
            *current = Some((Instant::now(), bytes.to_vec()));
        }
        let result = catch_unwind(AssertUnwindSafe(|| target(bytes)));
        result.map_err(|_| format!("{name}, {what}: it panics; {}", keep(name, bytes)))
    };
    for (at, bytes) in files.iter().enumerate() {
        answers.insert(shape(&attempt(bytes, &format!("file {at} of the corpus"))?));
    }
    let mut tried = own as u64;
    for turn in 0..inputs {
        if turn % 64 == 0 && began.elapsed() > limit {
            break;
        }
        // Half of them from the corpus itself, so that what was kept cannot lead away from it.
        let from = if dice.below(2) == 0 { own } else { files.len() };
        let mut bytes = files[dice.below(from)].clone();
        let other = dice.below(files.len());
        mutate(&mut bytes, &files[other], &mut dice);
        let answer = attempt(&bytes, &format!("seed {seed}, input {turn}"))?;
        tried += 1;
        if answers.insert(shape(&answer)) && files.len() < own + KEPT {
            files.push(bytes);
        }
    }
    Ok((tried, answers.len()))
}

/// Fires at all targets, whose corpora are folders of `corpora`; `inputs` for each, unless the environment says
/// otherwise.
pub fn run(targets: &[Target], corpora: &Path, inputs: impl Fn(&str) -> u64) {
    let only = std::env::var("AMIDST_FUZZ_TARGET").ok();
    let mut failed = Vec::new();
    for &(name, target) in targets.iter().filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name)) {
        let start = Instant::now();
        match fire(name, target, &corpora.join(name), number("AMIDST_FUZZ", inputs(name))) {
            Ok((tried, answers)) => {
                println!("{name}: {tried} inputs in {:.1} s, {answers} answers", start.elapsed().as_secs_f64());
            }
            Err(what) => failed.push(what),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
