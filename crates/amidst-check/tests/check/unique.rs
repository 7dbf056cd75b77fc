//! Unique rows: counted over all files, in any format, and refused where columns single people out without a reason.

use std::collections::BTreeMap;

use amidst_check::{Accepted, Options, ProblemKind, UniqueRows, verify};
use serde_json::json;

use crate::common::{Table, claim, draft, issue, write_csv};

/// Rows of one quasi, one sensitive and two raw columns with random values.
fn release(seed: u64, rows: u64) -> Table {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let mut table: Table = vec![["q", "s", "ward", "day"].map(String::from).to_vec()];
    for _ in 0..rows {
        table.push(vec![
            format!("[{}]", below(2)),
            format!("s{}", below(3)),
            format!("w{}", below(1 + seed % 4)),
            below(1 + rows * (seed % 3)).to_string(),
        ]);
    }
    table
}

/// Rows that no other row agrees with in these columns.
fn unique(table: &Table, columns: std::ops::Range<usize>) -> u64 {
    let mut counts: BTreeMap<&[String], u64> = BTreeMap::new();
    table[1..].iter().for_each(|row| *counts.entry(&row[columns.clone()]).or_default() += 1);
    counts.values().filter(|&&n| n == 1).count() as u64
}

#[test]
fn rows_of_several_files_are_held_against_each_other() {
    for seed in 0..12 {
        let folder = tempfile::tempdir().unwrap();
        let table = release(seed, 300);
        let mut sealed = draft(&table, &["q"], &["s"], vec![claim("k-anonymity", &[], json!({"k": 2}))]);
        sealed.outputs = ["1.csv", "2.csv", "3.csv"].map(String::from).to_vec();
        for (file, rows) in sealed.outputs.iter().zip(table[1..].chunks(100)) {
            write_csv(&folder.path().join(file), &[&table[..1], rows].concat());
        }
        let reason = |column: &str| Accepted { column: column.into(), reason: "a test".into() };
        sealed.accepted = vec![reason("ward"), reason("day")];
        let certificate = issue(sealed, folder.path(), &Options::default()).unwrap();
        let expected = UniqueRows { published: unique(&table, 0..4), insensitive: unique(&table, 2..4) };
        assert_eq!(certificate.unique_rows, expected, "{seed}");
        assert!(verify(folder.path(), &certificate, &Options::default()).valid);
    }
}

#[test]
fn a_reason_must_be_given_for_what_singles_people_out() {
    let folder = tempfile::tempdir().unwrap();
    let table = release(4, 200);
    write_csv(&folder.path().join("release.csv"), &table);
    let sealed = draft(&table, &["q"], &["s"], vec![claim("k-anonymity", &[], json!({"k": 2}))]);
    assert!(unique(&table, 2..4) > 2);
    let problems = issue(sealed, folder.path(), &Options::default()).unwrap_err();
    let told = problems.iter().find(|p| p.kind == ProblemKind::Insensitive).unwrap();
    assert!(told.message.contains("ward, day") && told.message.contains("1 %"), "{told}");
}
