//! Every table of the corpus goes from `init` to `verify` without edits: no person is singled out, and the first
//! sentences of the release are true.

use std::collections::HashMap;

use super::dress::{DRESSES, Dress};
use super::{Fate, Made, tables};
use crate::said;
use crate::test_folder::TestFolder;
use amidst::io::{Format, ReadOptions, WriteOptions};

/// The minimum number of rows that share a published value.
const K: usize = 5;

/// How a table of the corpus is written to a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Csv,
    Parquet,
    /// In the form of another program.
    Dressed(Dress),
}

/// The column by which a policy counts people.
fn key(policy: &str) -> Option<String> {
    let (before, _) = policy.split_once("role = \"key\"")?;
    let (_, name) = before.trim_end().rsplit_once("[columns.")?;
    Some(name.trim_end_matches(']').trim_matches('"').to_string())
}

/// What is wrong with the release of a table; `None` when nothing is.
fn walked(made: &Made, written: Written) -> Option<String> {
    let scratch = TestFolder::new();
    let csv = scratch.file("plain.csv", &made.csv);
    let parquet = written == Written::Parquet;
    let data = match written {
        Written::Csv => "plain.csv",
        Written::Dressed(dress) => {
            // Windows-1252 has no Polish letters.
            let other = dress == Dress::Windows && made.csv.chars().any(|c| c as u32 > 255);
            let (name, bytes) = if other { Dress::Utf16 } else { dress }.of(made);
            std::fs::write(scratch.path(name), bytes).unwrap();
            name
        }
        Written::Parquet => {
            let read = amidst::io::read(csv.to_str().unwrap(), &ReadOptions::default()).unwrap();
            let path = scratch.path("data.parquet");
            amidst::io::write(&read.table, None, &path, Format::Parquet, &WriteOptions::default()).unwrap();
            "data.parquet"
        }
    };
    let init = scratch.amidst(&["init", data]);
    if init.code != 0 {
        return Some(format!("init: {}", init.stderr));
    }
    let policy = scratch.read("policy.toml");
    // A first line of people's names cannot be distinguished from a header.
    if written == Written::Dressed(Dress::Headless) && !policy.contains("header = false") {
        return None;
    }
    let key = key(&policy);
    let check = scratch.amidst(&["check", "policy.toml"]);
    if check.code != 0 {
        return Some(format!("check: {}\n{policy}", check.stderr));
    }
    // Half of the runs print text, the others JSON.
    let how: &[&str] = if parquet { &["--json"] } else { &[] };
    let run = scratch.amidst(&[&["anonymize", "policy.toml", "--out", "out"], how].concat());
    if run.code != 0 {
        return Some(format!("anonymize: {}\n{policy}", run.stderr));
    }
    let verify = scratch.amidst(&["verify", "out"]);
    if verify.code != 0 {
        return Some(format!("verify: {}{}\n{policy}", verify.stdout, verify.stderr));
    }
    if let Err(wrong) = said::judged(&scratch, "out", &run) {
        return Some(format!("sentences: {wrong}\n{policy}"));
    }
    let release = scratch.path("out/public/release.csv");
    let release = amidst::io::read(release.to_str().unwrap(), &ReadOptions::default()).unwrap().table;
    let original = amidst::io::read(csv.to_str().unwrap(), &ReadOptions::default()).unwrap().table;
    let wrong: Vec<String> = made
        .columns
        .iter()
        .enumerate()
        .filter_map(|(i, (name, fate))| {
            let shown = match written {
                Written::Dressed(Dress::Headless) => format!("column{}", i + 1),
                _ => name.clone(),
            };
            let column = release.column(&shown);
            let said = match (fate, column) {
                (Fate::Stays, None) => "is not in the release",
                (Fate::People, None) if key.as_deref() != Some(shown.as_str()) => "does not tell people apart",
                (Fate::Stays, Some(_)) | (_, None) => return None,
                (Fate::Gone, Some(column)) if column.dictionary.iter().all(|v| v == "*") => return None,
                (Fate::Gone | Fate::People, Some(_)) => "is in the release",
                (Fate::Coarse, Some(column)) => {
                    let mut rows: HashMap<&str, usize> = HashMap::new();
                    (0..release.rows).for_each(|r| *rows.entry(column.value(r)).or_default() += 1);
                    let raw = |(value, n): (&&str, &usize)| {
                        *n < K.min(made.rows)
                            && original.column(name).is_some_and(|o| o.dictionary.code(value).is_some())
                    };
                    match rows.iter().any(raw) {
                        true => "has values of its own for few rows",
                        false => return None,
                    }
                }
            };
            Some(format!("`{name}` {said}"))
        })
        .collect();
    (!wrong.is_empty()).then(|| format!("{}\n{policy}", wrong.join("; ")))
}

/// Processes every table and reports all failures together.
fn walk(written: impl Fn(usize) -> Written) {
    let wrong: Vec<String> = tables()
        .iter()
        .enumerate()
        .filter_map(|(i, made)| walked(made, written(i)).map(|w| format!("== {}: {w}", made.name)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_corpus_is_large_enough() {
    let tables = tables();
    assert!(tables.len() >= 40, "{}", tables.len());
    assert!(tables.iter().all(|t| t.columns.iter().any(|(_, fate)| *fate != Fate::Stays)));
}

#[test]
fn nobody_is_published_from_csv() {
    walk(|_| Written::Csv);
}

#[test]
fn nobody_is_published_from_parquet() {
    walk(|_| Written::Parquet);
}

#[test]
fn nobody_is_published_however_a_table_is_written() {
    walk(|i| Written::Dressed(DRESSES[i % DRESSES.len()]));
}
