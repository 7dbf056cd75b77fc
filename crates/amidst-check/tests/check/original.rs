//! Releases against the table they were made from; waived rows; persons.

use std::collections::HashMap;
use std::sync::Arc;

use crate::common::{Table, claim, draft, issue, table, write_csv};
use amidst_check::{ColumnLabels, Options, OriginalTable, ProblemKind, SuppressedAs, verify};
use serde_json::json;

fn labels() -> HashMap<String, ColumnLabels> {
    let mut zip = ColumnLabels::default();
    for value in ["14248", "14249", "14250", "14260"] {
        let path = [format!("{}*", &value[..4]), format!("{}**", &value[..3]), "*".into()];
        zip.paths.insert(value.into(), path.to_vec());
    }
    HashMap::from([("qzip".to_string(), zip)])
}

fn problems(original: &Table, release: &Table, suppressed: u64, dropped: u64) -> Vec<ProblemKind> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.csv");
    write_csv(&source, original);
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    write_csv(&out.join("release.csv"), release);
    let original_table = OriginalTable {
        files: vec![source],
        labels: labels(),
        missing: vec!["?".into()],
        drop_missing_in: vec!["qzip".into(), "qage".into(), "disease".into()],
        same: HashMap::from([("disease".to_string(), HashMap::from([("Grippe".to_string(), "Flu".to_string())]))]),
    };
    let mut draft = draft(release, &["qzip", "qage"], &["disease"], vec![claim("k-anonymity", &[], json!({"k": 1}))]);
    draft.rows_in = original.len() as u64 - 1;
    draft.rows_dropped_missing = dropped;
    draft.suppressed = suppressed;
    let options = Options { original: Some(&original_table), ..Options::default() };
    match issue(draft, &out, &options) {
        Ok(certificate) => {
            assert!(verify(&out, &certificate, &options).valid);
            Vec::new()
        }
        Err(problems) => problems.iter().map(|p| p.kind).collect(),
    }
}

fn source() -> Table {
    table(&[
        "name,qzip,qage,disease",
        "Ann,14248,25,Flu",
        "Bob,14249,28,Cancer",
        "Cid,14250,31,Flu",
        "Dan,14260,?,Flu",
        "Eve,14260,40,HIV",
    ])
}

#[test]
fn a_true_generalization_passes() {
    let release = table(&["qzip,qage,disease", "1424*,[20-29],Cancer", "142**,[31-31],Flu", "1424*,[20-29],Flu"]);
    assert_eq!(problems(&source(), &release, 1, 1), []);
    let sets = table(&["qzip,qage,disease", "{14248;14249},*,Cancer", "*,31,Flu", "*,25,Flu", "14260,40,HIV"]);
    let sets: Table = sets.iter().map(|row| row.iter().map(|c| c.replace(';', ",")).collect()).collect();
    assert_eq!(problems(&source(), &sets, 0, 1), []);
}

#[test]
fn texts_that_mean_the_same_are_the_same() {
    let original = table(&["qzip,qage,disease", "14248,20,Flu", "14249,20,Grippe"]);
    let release = table(&["qzip,qage,disease", "1424*,20,Flu", "1424*,20,Flu"]);
    assert_eq!(problems(&original, &release, 0, 0), []);
    let other = table(&["qzip,qage,disease", "14248,20,Flu", "14249,20,Cold"]);
    assert_ne!(problems(&other, &release, 0, 0), [], "only those that are told");
}

#[test]
fn what_does_not_follow_is_seen() {
    for (release, suppressed) in [
        // The zip of another row.
        (table(&["qzip,qage,disease", "1424*,[20-29],Cancer", "1424*,[31-31],Flu", "1424*,[20-29],Flu"]), 1),
        // An age out of range.
        (table(&["qzip,qage,disease", "1424*,[20-27],Cancer", "142**,[31-31],Flu", "1424*,[20-29],Flu"]), 1),
        // One row used twice, another left out.
        (table(&["qzip,qage,disease", "1424*,[20-29],Flu", "1424*,[20-29],Flu", "1424*,[20-29],Cancer"]), 1),
        // A label that the hierarchy does not have.
        (table(&["qzip,qage,disease", "9****,[20-29],Cancer", "142**,[31-31],Flu", "1424*,[20-29],Flu"]), 1),
    ] {
        assert_eq!(problems(&source(), &release, suppressed, 1), [ProblemKind::Original], "{release:?}");
    }
    // Numbers of rows that the original does not confirm.
    let release = table(&["qzip,qage,disease", "1424*,[20-29],Cancer", "142**,[31-31],Flu", "1424*,[20-29],Flu"]);
    assert!(problems(&source(), &release, 2, 0).contains(&ProblemKind::Original));
}

#[test]
fn overlapping_classes_need_a_matching() {
    let original = table(&["qzip,qage,disease", "14248,20,Flu", "14249,20,Flu", "14250,20,Flu"]);
    // Greedy by order could give 14249 to the wide class; a matching exists all the same.
    let fits = table(&["qzip,qage,disease", "1424*,20,Flu", "142**,20,Flu", "14249,20,Flu"]);
    assert_eq!(problems(&original, &fits, 0, 0), []);
    let crowded = table(&["qzip,qage,disease", "1424*,20,Flu", "14248,20,Flu", "14249,20,Flu"]);
    assert_eq!(problems(&original, &crowded, 0, 0), [ProblemKind::Original]);
}

#[test]
fn waived_rows_are_in_nobodys_class() {
    let rows = table(&["q,s", "a,x", "a,y", "14248,x", "b,x", "b,y"]);
    let folder = tempfile::tempdir().unwrap();
    write_csv(&folder.path().join("release.csv"), &rows);
    let claims =
        || vec![claim("k-anonymity", &[], json!({"k": 2})), claim("distinct-l-diversity", &["s"], json!({"l": 2}))];
    let mut waived = draft(&rows, &["q"], &["s"], claims());
    waived.waived = vec![2];
    let certificate = issue(waived, folder.path(), &Options::default()).unwrap();
    assert_eq!((certificate.classes, certificate.rows_out), (2, 5));
    assert!(verify(folder.path(), &certificate, &Options::default()).valid);
    assert!(issue(draft(&rows, &["q"], &["s"], claims()), folder.path(), &Options::default()).is_err());
}

#[test]
fn masked_rows_stay_in() {
    let rows = table(&["q,s", "a,x", "a,y", "*,x", "*,y"]);
    let folder = tempfile::tempdir().unwrap();
    write_csv(&folder.path().join("release.csv"), &rows);
    let mut masked = draft(&rows, &["q"], &["s"], vec![claim("k-anonymity", &[], json!({"k": 2}))]);
    masked.suppressed = 2;
    masked.suppressed_as = SuppressedAs::Mask;
    assert!(issue(masked.clone(), folder.path(), &Options::default()).is_ok());
    masked.suppressed = 3;
    assert!(issue(masked, folder.path(), &Options::default()).is_err());
}

#[test]
fn persons_are_counted_once() {
    let rows = table(&["q,s", "a,x", "a,y", "a,x", "b,x", "b,y"]);
    let folder = tempfile::tempdir().unwrap();
    write_csv(&folder.path().join("release.csv"), &rows);
    let by_persons = |k: u32, ids: Vec<u64>| {
        let claims = vec![
            claim("k-anonymity", &[], json!({"k": k})),
            claim("distinct-l-diversity", &["s"], json!({"l": 2})),
            claim("general-alpha-k-anonymity", &["s"], json!({"alpha": 1, "k": 1})),
        ];
        let mut draft = draft(&rows, &["q"], &["s"], claims);
        draft.persons = true;
        let options = Options { persons: Some(Arc::new(ids)), ..Options::default() };
        issue(draft, folder.path(), &options)
    };
    assert!(by_persons(2, vec![1, 2, 1, 3, 4]).is_ok());
    assert!(by_persons(3, vec![1, 2, 1, 3, 4]).is_err());
    assert!(by_persons(2, vec![1, 1, 1, 3, 4]).is_err());
    assert!(by_persons(2, vec![1, 2, 1, 3]).is_err());
    let certificate = by_persons(2, vec![1, 2, 1, 3, 4]).unwrap();
    let verdict = verify(folder.path(), &certificate, &Options::default());
    assert!(verdict.valid, "{:?}", verdict.problems);
    assert_eq!(verdict.problems.len(), 2, "sizes and shares are attested");
    let mut boastful = certificate;
    boastful.requirements[0].measured.insert("k".into(), json!(4));
    boastful.digest = boastful.computed_digest().unwrap();
    assert!(!verify(folder.path(), &boastful, &Options::default()).valid);
}

#[test]
fn a_person_with_two_values_is_one_in_a_group_of_several_columns() {
    let rows = table(&["q,s,t", "a,x,u", "a,y,u", "a,x,u", "a,x,w", "a,y,w", "a,x,w"]);
    let folder = tempfile::tempdir().unwrap();
    write_csv(&folder.path().join("release.csv"), &rows);
    let by_persons = |ids: Vec<u64>| {
        let claims = vec![claim("general-alpha-k-anonymity", &["s", "t"], json!({"alpha": 0.7, "k": 1}))];
        let mut draft = draft(&rows, &["q"], &["s", "t"], claims);
        draft.persons = true;
        issue(draft, folder.path(), &Options { persons: Some(Arc::new(ids)), ..Options::default() })
    };
    // Six persons: of those with u, two in three have x.
    assert!(by_persons(vec![1, 2, 3, 4, 5, 6]).is_ok());
    // Four persons: both of those with u have x.
    assert!(by_persons(vec![1, 1, 2, 3, 3, 4]).is_err());
}
