//! Bad input: a clear error, the right exit code, nothing partially written.

use crate::test_folder::TestFolder;

const POLICY: &str = "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\nhierarchy = { intervals = [5, 10] }\n\
[columns.disease]\nrole = \"sensitive\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 2\n";

/// Anonymizes this table with this policy; expects exit code 2, these parts of the message, and no output.
fn refused(table: &[u8], policy: &str, parts: &[&str]) {
    let scratch = TestFolder::new();
    std::fs::write(scratch.path("people.csv"), table).unwrap();
    scratch.file("policy.toml", policy);
    scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]).fails(2, parts);
    assert_eq!(scratch.names(), ["people.csv", "policy.toml"]);
}

#[test]
fn tables_that_are_none() {
    refused(b"", POLICY, &["people.csv", "empty"]);
    refused(b"age,disease\n", POLICY, &["people.csv", "no rows"]);
    refused(b"age,disease\n20,flu\n21\n", POLICY, &["people.csv", "3"]);
    refused(b"age,age\n1,2\n", POLICY, &["age"]);
    refused(b"age,disease\n20,fl\0u\n", POLICY, &["NUL", "2"]);
    refused(b"age,disease\n20,fl\xffu\n", POLICY, &["UTF-8", "2"]);
}

#[test]
fn policies_that_do_not_fit() {
    let table = b"age,disease\n20,flu\n21,cold\n22,flu\n";
    refused(table, &POLICY.replace("columns.age", "columns.aeg"), &["policy.toml", "aeg", "age"]);
    refused(table, &POLICY.replace("k = 2", "k = 0"), &["k = 0", "^"]);
    refused(table, &POLICY.replace("k-anonymity", "k-anonimity"), &["k-anonymity", "^"]);
    refused(table, &POLICY.replace("role = \"sensitive\"", "rolle = \"sensitive\""), &["rolle", "role"]);
    refused(table, &POLICY.replace("people.csv", "poeple.csv"), &["poeple.csv"]);
    refused(table, &POLICY.replace("intervals = [5, 10]", "file = \"ages.csv\""), &["ages.csv"]);
    refused(b"age,disease\n20,flu\nold,cold\n", POLICY, &["age", "line 3"]);
}

#[test]
fn a_disk_that_is_full() {
    let scratch = TestFolder::with_sample(20_000);
    let small = scratch.path("small");
    std::fs::create_dir(&small).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(&small)
        .output()
        .is_ok_and(|o| o.status.success());
    if !mounted {
        println!("skipped: mounting a small file system needs privileges");
        return;
    }
    let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "small/release"]);
    let left: Vec<_> = std::fs::read_dir(&small).unwrap().collect();
    std::process::Command::new("umount").arg(&small).status().unwrap();
    run.fails(3, &["release"]);
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn usage_errors() {
    let scratch = TestFolder::new();
    assert_eq!(scratch.amidst(&["anonymise"]).code, 2);
    assert_eq!(scratch.amidst(&["audit", "x.csv"]).code, 2);
    scratch.amidst(&["explain", "k-anonymty"]).fails(2, &["did you mean `k-anonymity`"]);
    scratch.amidst(&["verify", "nowhere"]).fails(2, &["nowhere"]);
    scratch.amidst(&["anonymize", "nowhere.toml", "--out", "x"]).fails(2, &["nowhere.toml"]);
}
