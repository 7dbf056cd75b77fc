//! Endless inputs, tables that are too wide, files with false sizes, and lack of memory end soon with a message and
//! exit code.

use std::process::Command;

use crate::test_folder::{Run, TestFolder};

const POLICY: &str = "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\nhierarchy = { file = \"ages.csv\" }\n\
[columns.disease]\nrole = \"sensitive\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 2\n";

/// Runs the command with an address space of `memory` KiB.
fn within(scratch: &TestFolder, memory: u64, arguments: &[&str]) -> Run {
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v {memory}; exec \"$0\" \"$@\""))
        .arg(env!("CARGO_BIN_EXE_amidst"))
        .args(arguments)
        .current_dir(scratch.root())
        .output()
        .unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[cfg(unix)]
#[test]
fn a_million_columns_are_refused_before_memory_is_taken() {
    let scratch = TestFolder::new();
    let header: Vec<String> = (0..1_000_000).map(|i| format!("c{i}")).collect();
    scratch.file("wide.csv", &format!("{}\n{}\n", header.join(","), "1,".repeat(999_999) + "1"));
    let object: Vec<String> = (0..1_000_000).map(|i| format!("\"c{i}\":1")).collect();
    scratch.file("wide.jsonl", &format!("{{{}}}\n", object.join(",")));
    // Few keys per line, many in all.
    let lines: String = (0..200_000).map(|i| format!("{{\"k{}\":1}}\n", i % 15_000)).collect();
    scratch.file("sparse.jsonl", &lines);
    for file in ["wide.csv", "wide.jsonl", "sparse.jsonl"] {
        within(&scratch, 1_500_000, &["init", file]).fails(2, &[file, "columns", "20000"]);
    }
}

#[cfg(unix)]
#[test]
fn hierarchies_and_policies_without_an_end_are_not_read() {
    let scratch = TestFolder::new();
    scratch.file("people.csv", "age,disease\n20,flu\n21,cold\n22,flu\n");
    scratch.file("policy.toml", &POLICY.replace("ages.csv", "/dev/zero"));
    within(&scratch, 1_500_000, &["check", "policy.toml"]).fails(2, &["/dev/zero", "device"]);
    assert!(Command::new("mkfifo").arg(scratch.path("pipe")).status().unwrap().success());
    scratch.file("policy.toml", &POLICY.replace("ages.csv", "pipe"));
    within(&scratch, 1_500_000, &["check", "policy.toml"]).fails(2, &["pipe", "regular file"]);
    std::fs::File::create(scratch.path("ages.csv")).unwrap().set_len(10 << 30).unwrap();
    scratch.file("policy.toml", POLICY);
    within(&scratch, 1_500_000, &["check", "policy.toml"]).fails(2, &["ages.csv", "256 MiB"]);
    within(&scratch, 1_500_000, &["check", "/dev/zero"]).fails(2, &["/dev/zero", "4 MiB"]);
}

#[test]
fn files_that_lie_are_refused() {
    let scratch = TestFolder::with_sample(300);
    for format in ["arrow", "parquet"] {
        let out = format!("release.{format}");
        let run = scratch.amidst(&["sample", "--rows", "300", "--out", &out]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let mut bytes = std::fs::read(scratch.path(&out)).unwrap();
        // The length of the footer.
        let at = bytes.len() - if format == "arrow" { 10 } else { 8 };
        bytes[at..at + 4].copy_from_slice(&0x7FFF_FFF0u32.to_le_bytes());
        std::fs::write(scratch.path(&out), &bytes).unwrap();
        scratch.amidst(&["init", &out, "--force"]).fails(2, &[&out, "not a whole", "Copy or export it again"]);
    }
}

/// Sizes, counts and lengths in a file are replaced by large ones, a few bytes at a time: the process always ends by
/// itself with a message, within the given memory.
#[cfg(target_os = "linux")]
#[test]
fn what_a_file_asks_for_is_not_believed() {
    let scratch = TestFolder::new();
    let (mut refused, mut read) = (0, 0);
    for name in ["people.parquet", "people.arrow", "people.csv.gz"] {
        assert_eq!(scratch.amidst(&["sample", "--rows", "400", "--out", name]).code, 0);
        let whole = std::fs::read(scratch.path(name)).unwrap();
        for attempt in 0..60usize {
            let mut bytes = whole.clone();
            // Half of them in the last part, where files have their metadata.
            let spread = attempt * 7919 % (whole.len() / 2);
            let at = (if attempt % 2 == 0 { spread } else { whole.len() - 24 - spread % (whole.len() / 4) }) & !3;
            let large: &[u8] = [&[0xff, 0xff, 0xff, 0x7f][..], &[0x7f; 8], &[0xff; 4], &[0, 0, 0, 0x40]][attempt % 4];
            bytes[at..at + large.len()].copy_from_slice(large);
            std::fs::write(scratch.path(name), &bytes).unwrap();
            let run = within(&scratch, 700_000, &["init", name, "--out", "-"]);
            assert!(matches!(run.code, 0 | 2 | 3), "{name} {attempt}: {} {}", run.code, run.stderr);
            assert!(run.code == 0 || run.stderr.starts_with("error: "), "{name} {attempt}: {}", run.stderr);
            (refused, read) = (refused + u32::from(run.code != 0), read + u32::from(run.code == 0));
        }
    }
    assert!(refused > 40 && read > 0, "{refused} refused, {read} read");
}

/// Few bytes that stand for many cells: runs, nulls and missing keys take no space in a file.
#[cfg(target_os = "linux")]
#[test]
fn few_bytes_that_stand_for_many_cells_end_with_a_message() {
    let scratch = TestFolder::new();
    let keys: Vec<String> = (0..15_000).map(|i| format!("\"k{i}\":1")).collect();
    scratch.file("sparse.jsonl", &format!("{{{}}}\n{}", keys.join(","), "{\"k0\":1}\n".repeat(60_000)));
    let run = within(&scratch, 700_000, &["init", "sparse.jsonl", "--out", "-"]);
    run.fails(2, &["sparse.jsonl", "cells"]);
    scratch.file(
        "commas.csv",
        &format!("{}\n", keys.iter().map(|k| k.replace([':', '"'], "")).collect::<Vec<_>>().join(",")),
    );
    let mut csv = scratch.read("commas.csv");
    csv.push_str(&format!("{}\n", ",".repeat(14_999)).repeat(300));
    scratch.file("commas.csv", &csv);
    let run = within(&scratch, 1_000_000, &["init", "commas.csv", "--out", "-"]);
    assert!(matches!(run.code, 0 | 2 | 3) && (run.code == 0 || run.stderr.starts_with("error: ")), "{}", run.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn memory_that_runs_out_is_told() {
    let scratch = TestFolder::with_sample(60_000);
    let mut told = 0;
    for memory in [90_000, 110_000, 130_000, 180_000, 240_000, 320_000] {
        let run = within(&scratch, memory, &["anonymize", "policy.toml", "--out", "release", "--force"]);
        // 127: the program could not be loaded. Its image alone has 60 MB in a debug build: with less, the kernel ends
        // it.
        assert!(matches!(run.code, 0 | 1 | 3 | 127), "{memory} KiB: {} {}", run.code, run.stderr);
        assert!(run.code == 0 || !run.stderr.is_empty());
        told += u32::from(run.code == 3 && run.stderr.contains("memory"));
    }
    assert!(told > 0, "no limit was low enough");
}

/// A quasi column with 10⁵ values and a sensitive one with 10⁴: the memory of reports, audits and attacks grows with
/// the combinations that occur, not with the product.
#[cfg(target_os = "linux")]
#[test]
fn many_values_beside_many_values_fit_into_memory() {
    let scratch = TestFolder::new();
    let mut state = 7u64;
    let mut random = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let mut csv = String::from("age,code,sex,disease\n");
    for row in 0..105_000u64 {
        let (age, sex) = (18 + random(70), ["f", "m"][random(2) as usize]);
        csv.push_str(&format!("{age},{:06},{sex},d{:05}\n", row * 7_919 % 100_000, random(100) * random(101)));
    }
    scratch.file("people.csv", &csv);
    scratch.file(
        "policy.toml",
        "[data]\ninput = \"people.csv\"\n\
         [columns.age]\nrole = \"quasi\"\n\
         [columns.code]\nrole = \"quasi\"\ntype = \"text\"\nhierarchy = { mask = { length = 6, from = \"right\" } }\n\
         [columns.sex]\nrole = \"quasi\"\n\
         [columns.disease]\nrole = \"sensitive\"\n\
         [[require]]\nmodel = \"k-anonymity\"\nk = 2\n\
         [search]\nalgorithm = \"mondrian\"\n\
         [utility]\ntarget = \"disease\"\n",
    );
    let limit = 1_400_000;
    for arguments in [
        &["check", "policy.toml"][..],
        &["anonymize", "policy.toml", "--out", "release"],
        &["audit", "people.csv", "--qi", "age,code,sex", "--sensitive", "disease"],
        &["attack", "inference", "release"],
    ] {
        let run = within(&scratch, limit, arguments);
        assert!(matches!(run.code, 0 | 1), "{arguments:?}: {} {}", run.code, run.stderr);
    }
}
