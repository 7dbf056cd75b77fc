//! Versions that commit to their rows: what is opened, what is erased with the rows, and what is not.

use std::collections::BTreeSet;

use amidst_check::{Certificate, Options, verify};

use super::*;
use crate::folder::CERTIFICATE;

/// Twelve people in two kinds of class, so that some can leave.
fn twelve() -> String {
    let row = |i: usize| {
        let gender = if i.is_multiple_of(2) { "Male" } else { "Female" };
        format!("p{i},{gender},{},435{},d{}\n", 20 + i * 7 % 30, i % 10, i % 4)
    };
    format!("id,gender,age,zip,disease\n{}", (0..12).map(row).collect::<String>())
}

/// A series whose first version commits to its rows.
fn committed(mode: Mode) -> Ward {
    let requirements = match mode {
        Mode::Maintain => "[[require]]\nmodel = \"k-anonymity\"\nk = 3\n",
        Mode::MInvariant => "[[require]]\nmodel = \"m-invariance\"\nm = 2\n",
    };
    let ward = Ward::new(&twelve(), requirements);
    ward.begin(mode, First { commit: true, ..First::default() }).unwrap();
    ward
}

/// Opens rows as the owner and checks them as the auditor; the number of covered ones.
fn opened(ward: &Ward, version: u64, keys: &[&str]) -> Result<u64, Failure> {
    let series = ward.open();
    let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
    let shown = series.open_rows(version, &keys, &job())?;
    let folder = series.version_folder(version);
    let certificate = Certificate::read(&folder.join(CERTIFICATE)).unwrap();
    let options = Options { opening: Some(&shown.opening), ..Options::default() };
    let verdict = verify(&folder, &certificate, &options);
    assert!(verdict.stands(), "{:?}", verdict.problems);
    let found = verdict.opened.unwrap();
    assert_eq!(found.rows as usize, keys.len());
    let ids: BTreeSet<&str> = shown.opening.rows.iter().map(|row| row.cells[0].as_str()).collect();
    assert_eq!(ids, keys.iter().map(String::as_str).collect(), "the rows are those that were asked for");
    Ok(found.covered.unwrap())
}

fn refused(ward: &Ward, version: u64, key: &str, part: &str) {
    let told = opened(ward, version, &[key]).unwrap_err().to_string();
    assert!(told.contains(part) && !told.contains(key), "{told}");
}

fn publish(ward: &Ward, commit: bool) {
    let mut series = ward.open();
    series.commit_to_rows(commit);
    series.publish_safe(true, &job()).unwrap();
}

#[test]
fn every_row_of_every_version_is_opened_and_covered() {
    for mode in [Mode::Maintain, Mode::MInvariant] {
        let ward = committed(mode);
        let everybody: Vec<String> = (0..12).map(|i| format!("p{i}")).collect();
        let everybody: Vec<&str> = everybody.iter().map(String::as_str).collect();
        assert_eq!(opened(&ward, 1, &everybody).unwrap(), 12);
        ward.insert("q0,Male,41,4358,d1\nq1,Male,44,4357,d2\nq2,Female,43,4358,d3\nq3,Female,40,4351,d0\n").unwrap();
        // A row that no version holds yet.
        refused(&ward, 1, "q1", "version 1 does not hold who has the key given as number 1");
        publish(&ward, true);
        assert_eq!(opened(&ward, 1, &everybody).unwrap(), 12, "a later version takes nothing away");
        assert_eq!(opened(&ward, 2, &["p3", "p4"]).unwrap(), 2);
        refused(&ward, 2, "nobody", "no row has the key that was given as number 1");
        // Two roots of the same rows have nothing in common.
        let roots = [1, 2].map(|version| {
            let certificate = Certificate::read(&ward.open().version_folder(version).join(CERTIFICATE)).unwrap();
            certificate.commitment.unwrap().root
        });
        assert_ne!(roots[0], roots[1]);
        assert!(ward.open().chain().unwrap().problems.is_empty());
    }
}

#[test]
fn counterfeits_and_rows_held_back_are_not_committed_to() {
    let ward = committed(Mode::Maintain);
    ward.delete("p0\np3\n").unwrap();
    ward.insert("q0,Male,41,4358,d1\n").unwrap();
    publish(&ward, true);
    let series = ward.open();
    let version = series.logged(2).unwrap();
    assert!(version.counterfeits > 0 && version.held_back > 0, "{version:?}");
    let certificate = Certificate::read(&series.version_folder(2).join(CERTIFICATE)).unwrap();
    assert_eq!(certificate.commitment.as_ref().unwrap().rows, 10);
    assert_eq!(certificate.commitment.unwrap().columns, ["id", "gender", "age", "zip", "disease"]);
    refused(&ward, 2, "q0", "does not hold");
    refused(&ward, 2, "p3", "does not hold");
    assert_eq!(opened(&ward, 2, &["p1", "p2"]).unwrap(), 2);
}

#[test]
fn what_opens_a_row_is_erased_once_a_version_is_published_without_it() {
    let ward = committed(Mode::MInvariant);
    let leaves = ward.dir().join("private/reports/1/leaves.bin");
    let before = fs::read(&leaves).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&leaves).unwrap().permissions().mode() & 0o777, 0o600);
    }
    ward.delete("p3\n").unwrap();
    refused(&ward, 1, "p3", "not in the table any more");
    ward.open().undo().unwrap();
    assert_eq!(opened(&ward, 1, &["p3"]).unwrap(), 1, "a batch that was taken back never happened");
    ward.delete("p3\np4\n").unwrap();
    // p4 comes back as they were, p5 is replaced by another row.
    ward.insert("p4,Male,48,4354,d0\n").unwrap();
    let gone = ward.file("gone.csv", "id\np5\n");
    let new = ward.file("new.csv", "id,gender,age,zip,disease\np5,Female,26,4355,d1\n");
    ward.open().apply(&Batch { insert: Some(new), delete: Some(gone) }, &job()).unwrap();
    publish(&ward, false);
    let after = fs::read(&leaves).unwrap();
    let zeros = |bytes: &[u8]| bytes[16..].chunks_exact(68).filter(|leaf| leaf[4..36] == [0; 32]).count();
    assert_eq!((before.len(), zeros(&before), zeros(&after)), (after.len(), 0, 2));
    refused(&ward, 1, "p3", "not in the table any more");
    refused(&ward, 1, "p5", "not in the table any more");
    assert_eq!(opened(&ward, 1, &["p4", "p6"]).unwrap(), 2);
    refused(&ward, 2, "p6", "made without a commitment");
    // A person who comes back unchanged is not opened from a version whose salt is erased.
    ward.insert("p3,Female,41,4353,d3\n").unwrap();
    publish(&ward, true);
    refused(&ward, 1, "p3", "not in the table any more");
    assert_eq!(opened(&ward, 3, &["p3"]).unwrap(), 1);
}

#[test]
fn damaged_leaves_open_nothing() {
    let ward = committed(Mode::Maintain);
    let leaves = ward.dir().join("private/reports/1/leaves.bin");
    let honest = fs::read(&leaves).unwrap();
    let damages: [(&str, Vec<u8>); 4] = [
        ("is damaged", honest[..honest.len() - 1].to_vec()),
        ("is damaged", Vec::new()),
        ("is damaged, or belongs to another version", honest[..honest.len() - 68].to_vec()),
        ("is damaged, or belongs to another version", {
            let mut bytes = honest.clone();
            bytes[16 + 4 + 32] ^= 1;
            bytes
        }),
    ];
    for (told, bytes) in damages {
        fs::write(&leaves, bytes).unwrap();
        refused(&ward, 1, "p11", told);
    }
    fs::remove_file(&leaves).unwrap();
    refused(&ward, 1, "p11", "which opens rows");
}
