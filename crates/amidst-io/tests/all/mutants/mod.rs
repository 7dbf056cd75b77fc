//! Damaged files of every format are read or refused with a message: no panic, no abort, no hang, no memory beyond a
//! limit.
//!
//! Mutants are read in child processes with limited address space, up to a thousand in each: a panic, an abort on a
//! failed allocation, and a child that does not end all fail the test, with the number of the mutant. The same number
//! gives the same mutant again. `AMIDST_MUTANTS=20000` tries that many mutants of each file, from number
//! `AMIDST_MUTANTS_FROM` on.

mod change;
mod samples;

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use amidst_io::{Format, ReadOptions, read, read_from};

use samples::Sample;

/// Mutants of each file, unless the environment states another number.
const MUTANTS: u64 = 220;
/// How long a child may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// Mutants per child.
const SHARE: u64 = 1000;
/// The address space of a child, in KiB.
const MEMORY: u64 = 3 << 20;
/// The variable that makes a test a child: the name of a sample, and the first and the last mutant.
const ROLE: &str = "AMIDST_MUTANTS_CHILD";

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Reads one mutant and checks the error message.
fn try_one(sample: &Sample, bytes: &[u8], file: &Path) {
    let keep = |name: &str| !name.starts_with("nested");
    let options = ReadOptions { threads: 2, block_size: 4096, keep: Some(&keep), ..ReadOptions::default() };
    let result = match sample.format {
        Some(format) => read_from(bytes, Path::new("t"), format, &options),
        None => {
            std::fs::write(file, bytes).unwrap();
            read(&format!("sqlite://{}?table=t", file.display()), &options)
        }
    };
    match result {
        Ok(input) => {
            let rows = input.table.rows;
            assert!(input.table.columns.iter().all(|column| column.codes.len() == rows), "columns differ in length");
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.len() < 800 && !message.is_empty(), "{message}");
            assert!(!message.contains("secret"), "a cell is in the message: {message}");
        }
    }
}

/// Not a test: the code of a child process.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let mut parts = role.split(' ');
    let name = parts.next().unwrap();
    let (from, to): (u64, u64) = (parts.next().unwrap().parse().unwrap(), parts.next().unwrap().parse().unwrap());
    let sample = samples::all().into_iter().find(|sample| sample.name == name).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut out = std::io::stderr();
    for mutant in from..to {
        writeln!(out, "@{mutant}").unwrap();
        let bytes = change::mutant(&sample.bytes, mutant);
        try_one(&sample, &bytes, &folder.path().join("t.db"));
    }
    writeln!(out, "@done").unwrap();
}

/// Runs a child over mutants; an error names the mutant at which it ended.
fn run(sample: &Sample, from: u64, to: u64) -> Result<(), String> {
    let exe = std::env::current_exe().unwrap();
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v {MEMORY}; exec \"$0\" --exact mutants::child --nocapture --test-threads 1"))
        .arg(exe)
        .env(ROLE, format!("{} {from} {to}", sample.name))
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stderr.take().unwrap();
    let said = std::thread::spawn(move || {
        let mut said = String::new();
        pipe.read_to_string(&mut said).unwrap_or_default();
        said
    });
    let start = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if start.elapsed() > PATIENCE => {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let said = said.join().unwrap();
    if status.is_some_and(|status| status.success()) && said.contains("@done") {
        return Ok(());
    }
    let last = said.lines().rev().find_map(|line| line.strip_prefix('@')).unwrap_or("none").to_string();
    let end = status.map_or("it hangs".to_string(), |status| status.to_string());
    let words: Vec<&str> = said.lines().filter(|line| !line.starts_with('@')).take(8).collect();
    Err(format!("{}, mutant {last}: {end}\n{}", sample.name, words.join("\n")))
}

fn all_of(kind: impl Fn(&Sample) -> bool) {
    if cfg!(not(unix)) {
        return;
    }
    let (first, count) = (number("AMIDST_MUTANTS_FROM", 0), number("AMIDST_MUTANTS", MUTANTS));
    let mut wrong = Vec::new();
    for sample in samples::all().iter().filter(|sample| kind(sample)) {
        // The undamaged file must be readable, otherwise all mutants would be refused for the same reason.
        let folder = tempfile::tempdir().unwrap();
        assert!(reads(sample, &folder.path().join("t.db")), "{} is not read", sample.name);
        let mut from = first;
        while from < first + count {
            let to = (from + SHARE).min(first + count);
            wrong.extend(run(sample, from, to).err());
            from = to;
        }
    }
    assert!(wrong.is_empty(), "{} shares failed\n{}", wrong.len(), wrong.join("\n"));
}

fn reads(sample: &Sample, file: &Path) -> bool {
    let keep = |name: &str| !name.starts_with("nested");
    let options = ReadOptions { keep: Some(&keep), ..ReadOptions::default() };
    let result = match sample.format {
        Some(format) => read_from(sample.bytes.as_slice(), Path::new("t"), format, &options),
        None => {
            std::fs::write(file, &sample.bytes).unwrap();
            read(&format!("sqlite://{}?table=t", file.display()), &options)
        }
    };
    result.inspect_err(|e| eprintln!("{}: {e}", sample.name)).is_ok()
}

#[test]
fn damaged_arrow_files_are_refused() {
    all_of(|sample| sample.format == Some(Format::Arrow));
}

#[test]
fn damaged_parquet_files_are_refused() {
    all_of(|sample| sample.format == Some(Format::Parquet));
}

#[test]
fn damaged_text_and_databases_are_refused() {
    all_of(|sample| !matches!(sample.format, Some(Format::Arrow | Format::Parquet)));
}
