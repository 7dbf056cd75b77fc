//! The owner's tree against the checker, which climbs it by code of its own.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use amidst::check::{Certificate, CertificateDraft, Claim, OpenedRow, Opening, Options, SCHEME, issue, verify};
use amidst::commit::Tree;
use amidst::core::table::Table;
use amidst::policy::Policy;
use amidst::prepare::{LoadOptions, Prepared};

const POLICY: &str = "[columns.id]\nrole = \"key\"\n[columns.age]\nrole = \"quasi\"\n\
                      [columns.disease]\nrole = \"sensitive\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 2\n";

type Files = BTreeMap<String, bytes::Bytes>;

fn prepared(rows: usize, turned: bool) -> Prepared {
    let policy = Policy::parse(POLICY, Path::new("policy.toml")).unwrap();
    let row = |i: usize| [format!("p{i}"), (20 + i % 40).to_string(), format!("d{}", i % 3)];
    let mut texts: Vec<[String; 3]> = (0..rows).map(row).collect();
    if turned {
        texts.reverse();
    }
    let rows = texts.iter().map(|[id, age, disease]| [id.as_str(), age.as_str(), disease.as_str()]);
    Prepared::of_table(&policy, Table::from_rows(["id", "age", "disease"], rows), &LoadOptions::default()).unwrap()
}

/// A certificate with a commitment, over a release of `*` and the diseases.
fn sealed(prepared: &Prepared, tree: &Tree) -> (Certificate, Files) {
    let disease = prepared.table.column("disease").unwrap();
    let lines: String = (0..prepared.table.rows).map(|row| format!("*,{}\n", disease.value(row))).collect();
    let files = Files::from([("release.csv".to_string(), format!("age,disease\n{lines}").into())]);
    let parameters = [("k".to_string(), 2.into())].into_iter().collect();
    let draft = CertificateDraft {
        outputs: vec!["release.csv".into()],
        rows_in: prepared.rows_in,
        quasi: vec!["age".into()],
        sensitive: vec![serde_json::from_str("{\"name\":\"disease\"}").unwrap()],
        requirements: vec![Claim { model: "k-anonymity".into(), on: None, quasi: None, parameters }],
        commitment: Some(tree.commitment()),
        ..CertificateDraft::new("amidst", POLICY)
    };
    (issue(draft, files.clone(), &Options::default()).unwrap(), files)
}

/// How many rows stand and are covered; nothing where the opening is refused.
fn found(certificate: &Certificate, files: &Files, rows: Vec<OpenedRow>) -> Option<(u64, Option<u64>)> {
    let opening = Opening { scheme: SCHEME.into(), certificate: certificate.digest.clone(), rows };
    let verdict = verify(files.clone(), certificate, &Options { opening: Some(&opening), ..Options::default() });
    assert!(verdict.valid, "{:?}", verdict.problems);
    let stands = verdict.stands();
    verdict.opened.filter(|_| stands).map(|opened| (opened.rows, opened.covered))
}

#[test]
fn every_opened_row_is_one_of_the_table_and_no_other_is() {
    for rows in [2usize, 3, 4, 5, 7, 8, 9, 31, 33] {
        let prepared = prepared(rows, false);
        let tree = Tree::new(&prepared).unwrap();
        let (certificate, files) = sealed(&prepared, &tree);
        let all: Vec<usize> = (0..rows).collect();
        for shown in all.iter().map(std::slice::from_ref).chain([&all[..]]) {
            let many = shown.len() as u64;
            let opened = tree.open(&prepared, shown);
            assert_eq!(found(&certificate, &files, opened.clone()), Some((many, Some(many))));
            for (at, row) in opened.iter().enumerate() {
                let mut moved = opened.clone();
                moved[at].leaf += 1;
                assert_eq!(found(&certificate, &files, moved), None);
                let mut bent = opened.clone();
                bent[at].cells[2] = "d9".into();
                assert_eq!(found(&certificate, &files, bent), None);
                for step in 0..row.path.len() {
                    let mut bent = opened.clone();
                    bent[at].path[step] = row.salt.clone();
                    assert_eq!(found(&certificate, &files, bent), None);
                }
            }
        }
    }
}

#[test]
fn the_tree_follows_from_rows_and_secret_in_whatever_order_they_are_read() {
    let (forth, back) = (prepared(50, false), prepared(50, true));
    let tree = Tree::new(&forth).unwrap();
    let again = Tree::again(&back, &tree.secret()).unwrap();
    assert_eq!(tree.commitment(), again.commitment());
    assert_ne!(Tree::new(&forth).unwrap().commitment().root, tree.commitment().root, "another secret");
    assert_ne!(Tree::again(&prepared(49, false), &tree.secret()).unwrap().commitment(), tree.commitment());
    let opened = tree.open(&forth, &(0..50).collect::<Vec<_>>());
    let ids: Vec<&str> = opened.iter().map(|row| row.cells[0].as_str()).collect();
    let input: Vec<String> = (0..50).map(|i| format!("p{i}")).collect();
    assert_ne!(ids, input, "the order of the tree is not that of the input");
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 50);
    assert_eq!(opened.iter().map(|row| &row.salt).collect::<BTreeSet<_>>().len(), 50, "every row has its own salt");
    assert_eq!(tree.commitment().columns, ["id", "age", "disease"]);
}

#[test]
fn a_row_that_is_published_once_covers_one_row_only() {
    // Two rows of the input, of which the release holds one: the second is left out, and may be said to be.
    let prepared = prepared(6, false);
    let tree = Tree::new(&prepared).unwrap();
    let (certificate, mut files) = sealed(&prepared, &tree);
    let opened = tree.open(&prepared, &[0, 1, 2, 3, 4, 5]);
    files.insert("release.csv".into(), "age,disease\n*,d0\n*,d0\n*,d1\n*,d1\n*,d2\n".into());
    let opening = Opening { scheme: SCHEME.into(), certificate: certificate.digest.clone(), rows: opened };
    let verdict = verify(files, &certificate, &Options { opening: Some(&opening), ..Options::default() });
    assert_eq!(verdict.opened.and_then(|opened| opened.covered), Some(5), "{:?}", verdict.problems);
    assert!(verdict.problems.iter().any(|p| p.message.contains("1 of 6 opened rows")), "{:?}", verdict.problems);
}
