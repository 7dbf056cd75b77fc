//! What a policy may state for a series, and what may change later.

use crate::test_folder::{TestFolder, people_policy};

const POLICY: &str = people_policy!(
    r#"[columns.waiver]
role = "identifying"
"#,
    r#"[[require]]
model = "distinct-l-diversity"
l = 2
"#
);

fn prepared_folder(policy: &str) -> TestFolder {
    let scratch = TestFolder::new();
    let row = |i: usize| format!("p{i},{},{},d{}\n", 20 + i * 7 % 50, ["yes", "no"][i % 2], i * 5 % 7);
    scratch.file("people.csv", &(0..40).map(row).fold("id,age,waiver,disease\n".into(), |t: String, r| t + &r));
    scratch.file("policy.toml", policy);
    scratch
}

const INIT: &[&str] = &["series", "init", "ward", "--policy", "policy.toml"];

fn done(scratch: &TestFolder, arguments: &[&str]) {
    let run = scratch.amidst(arguments);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

/// A policy that allows rows to be suppressed is refused for a series, and nothing is written.
#[test]
fn a_series_that_would_leave_rows_out_is_refused() {
    for limit in ["0.02", "3", "\"1/50\""] {
        let scratch = prepared_folder(&format!("{POLICY}[search]\nmax_suppression = {limit}\n"));
        scratch.amidst(INIT).fails(2, &["policy.toml:17:19", "leaves nobody out", "`max_suppression = 0`"]);
        assert_eq!(scratch.names(), ["people.csv", "policy.toml"]);
    }
    let scratch = prepared_folder(&format!("{POLICY}[search]\nmax_suppression = 0\n"));
    done(&scratch, INIT);
}

#[test]
fn waivers_are_refused_with_the_reason() {
    let waiver = "role = \"consent\"\nwaived = \"yes\"";
    let scratch = prepared_folder(
        &POLICY.replace("[columns.waiver]\nrole = \"identifying\"", &format!("[columns.waiver]\n{waiver}")),
    );
    scratch.amidst(INIT).fails(2, &["policy.toml:10:8", "knows no waivers", "role \"identifying\""]);
    assert_eq!(scratch.names(), ["people.csv", "policy.toml"]);
}

/// A drafted policy needs a key and must not suppress rows: both are reported together.
#[test]
fn a_drafted_policy_is_three_lines_from_a_series() {
    let scratch = TestFolder::new();
    done(&scratch, &["sample", "--rows", "2000", "--out", "people.csv"]);
    done(&scratch, &["init", "people.csv", "--out", "policy.toml"]);
    scratch
        .amidst(INIT)
        .fails(2, &["the role \"key\"", "leaves nobody out", "max_suppression = 0", "`ranges = \"label\"`"]);
    let draft = scratch.read("policy.toml");
    let (before, after) = draft.split_once("[columns.id]\nrole = \"identifying\"").expect("the sample numbers people");
    let mended = format!("{before}[columns.id]\nrole = \"key\"{after}");
    let mended = mended.replace("max_suppression = 0.02", "max_suppression = 0");
    scratch.file("policy.toml", &mended.replace("ranges = \"rounded\"", "ranges = \"label\""));
    done(&scratch, INIT);
}

const BILLS: &str = people_policy!(
    r#"[columns.bill]
role = "insensitive"
accept = "bills are paid in public"
"#,
    r#"[[require]]
model = "k-anonymity"
k = 4
[[require]]
model = "distinct-l-diversity"
l = 2
"#
);

/// Four people of whom one stays, with three new ones: both versions are 2-diverse, and the values alone leave two
/// possibilities for everybody.
fn bills(policy: &str) -> TestFolder {
    let scratch = TestFolder::new();
    scratch.file("policy.toml", policy);
    scratch.file("people.csv", "id,age,bill,disease\np1,20,10,A\np2,21,20,B\np3,22,30,A\np4,23,40,B\n");
    scratch.file("gone.csv", "id\np2\np3\np4\n");
    scratch.file("new.csv", "id,age,bill,disease\np5,21,50,B\np6,22,60,A\np7,23,70,B\n");
    scratch
}

const BOTH: &[&str] = &["series", "apply", "ward", "--insert", "new.csv", "--delete", "gone.csv"];

/// A bill occurs in both versions, so the only person in both has the value published with it.
#[test]
fn what_is_published_as_it_is_links_versions() {
    let scratch = bills(BILLS);
    done(&scratch, INIT);
    done(&scratch, BOTH);
    let parts =
        ["1 person is below distinct-l-diversity", "1 of 4 rows can be linked between versions 1 and 2 by `bill`"];
    scratch.amidst(&["series", "publish", "ward"]).fails(1, &parts);
    let second = scratch.amidst(&["series", "publish", "ward", "--allow-leak", "--json"]).json(0);
    let linked = serde_json::json!([{ "versions": [1, 2], "rows": 1, "of": 4, "columns": ["bill"] }]);
    assert_eq!((&second["audit"]["linked"], &second["audit"]["exposed"]), (&linked, &1.into()));
    let found = scratch.amidst(&["series", "audit", "ward", "--json"]).json(1);
    assert_eq!((&found["linked"], &found["columns"][0]["certain"]), (&linked, &1.into()));
    let worst = &found["columns"][0]["worst"][0];
    assert_eq!((&worst["persons"], &worst["values"]), (&serde_json::json!([1]), &serde_json::json!(["A"])));
    let text = scratch.amidst(&["series", "audit", "ward"]);
    assert!(
        text.stdout.contains("1 of 4 rows can be linked") && text.stdout.contains("so #1 has A"),
        "{}",
        text.stdout
    );
    // With the column removed, the versions reveal nothing.
    let scratch = bills(&BILLS.replace("insensitive\"\naccept = \"bills are paid in public", "identifying"));
    done(&scratch, INIT);
    done(&scratch, BOTH);
    let second = scratch.amidst(&["series", "publish", "ward", "--json"]).json(0);
    assert_eq!((&second["leaks"], &second["audit"]["linked"]), (&false.into(), &serde_json::json!([])));
}

/// A row is replaced by one with another bill: its person is known, and so are the values published with both bills.
#[test]
fn a_replaced_cell_proves_nothing() {
    let scratch = bills(BILLS);
    done(&scratch, INIT);
    scratch.file("gone.csv", "id\np1\n");
    scratch.file("new.csv", "id,age,bill,disease\np1,20,11,A\n");
    done(&scratch, BOTH);
    scratch.amidst(&["series", "publish", "ward"]).fails(1, &["4 persons are below", "by a bound, not for certain"]);
    // The same row again is not a change.
    done(&scratch, &["series", "undo", "ward"]);
    scratch.file("new.csv", "id,age,bill,disease\np1,20,10,A\n");
    done(&scratch, BOTH);
    assert_eq!(scratch.amidst(&["series", "publish", "ward", "--json"]).json(0)["audit"]["exposed"], 0);
}

#[test]
fn columns_that_tell_rows_of_a_class_apart_need_a_reason() {
    let policy = BILLS.replace("accept = \"bills are paid in public\"\n", "");
    let scratch = TestFolder::new();
    scratch.file("policy.toml", &policy);
    // Five bills: few are unique in the table, and nearly all are unique in their class.
    let row = |i: usize| format!("p{i},{},{},{}\n", 20 + i / 4, i * 10 % 50, ["A", "B"][i % 2]);
    let people = |rows: std::ops::Range<usize>| rows.map(row).fold("id,age,bill,disease\n".to_string(), |t, r| t + &r);
    scratch.file("people.csv", &people(0..40));
    scratch
        .amidst(INIT)
        .fails(2, &["policy.toml:10:8", "linking the versions", "within their class", "accept = \"why\""]);
    assert_eq!(scratch.names(), ["people.csv", "policy.toml"]);
    // A value that everybody has distinguishes no one; a batch that changes that is refused before it is applied.
    let same: String = (0..40).map(|i| format!("p{i},{},5,{}\n", 20 + i / 4, ["A", "B"][i % 2])).collect();
    scratch.file("people.csv", &format!("id,age,bill,disease\n{same}"));
    done(&scratch, INIT);
    let before = scratch.amidst(&["series", "log", "ward", "--json"]).json(0);
    scratch.file("new.csv", "id,age,bill,disease\nq1,20,71,A\nq2,21,72,B\n");
    scratch
        .amidst(&["series", "insert", "ward", "new.csv"])
        .fails(2, &["policy.toml", "singling people out", "2 of the 42"]);
    assert_eq!(scratch.amidst(&["series", "log", "ward", "--json"]).json(0), before);
}

/// The first version's classes, with and without splitting the large ones.
#[test]
fn the_first_classes_can_stay_as_the_algorithm_finds_them() {
    let scratch = prepared_folder(&format!("{POLICY}[search]\nalgorithm = \"systematic\"\n"));
    let row = |i: usize| format!("p{i},{},no,d{}\n", 20 + i * i * 7 % 53, (i * 9 % 7).min(i * i % 5));
    scratch.file("people.csv", &(0..120).map(row).fold("id,age,waiver,disease\n".into(), |t: String, r| t + &r));
    let alone = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
    let init = |folder: &str, more: &[&str]| {
        scratch.amidst(&[&["series", "init", folder, "--policy", "policy.toml", "--json"], more].concat()).json(0)
    };
    let (split, kept) = (init("split", &["--mode", "maintain"]), init("kept", &["--no-split"]));
    assert_eq!((&kept["classes"], &kept["first_splits"]), (&alone["classes"], &0.into()));
    assert!(split["classes"].as_u64() > kept["classes"].as_u64());
    assert!(split["first_splits"].as_u64() > Some(0), "no test: {split}");
    let text = scratch.amidst(&["series", "init", "told", "--policy", "policy.toml", "--mode", "maintain"]);
    assert!(text.stdout.contains("classes were split") && text.stdout.contains("--no-split"), "{}", text.stdout);
}
