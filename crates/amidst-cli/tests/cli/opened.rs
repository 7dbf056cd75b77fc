//! `anonymize --commit`, `amidst open` and `verify --opening`: rows from which a release was made.

use std::fs;

use serde_json::{Value, json};

use crate::test_folder::TestFolder;

const POLICY: &str = "[data]\ninput = \"people.csv\"\nmissing = [\"?\"]\n\
    [columns.id]\nrole = \"key\"\n[columns.name]\nrole = \"identifying\"\n\
    [columns.age]\nrole = \"quasi\"\ntype = \"integer\"\ngeneralize = \"ranges\"\n\
    [columns.zip]\nrole = \"quasi\"\nhierarchy = { mask = { length = 4, from = \"right\" } }\n\
    [columns.disease]\nrole = \"sensitive\"\n\
    [[require]]\nmodel = \"k-anonymity\"\nk = 3\n\
    [search]\nalgorithm = \"mondrian\"\nmax_suppression = \"10 %\"\n";

fn people() -> String {
    let row = |i: usize| match i {
        7 => "p7,Canary Seven,?,4307,d0\n".to_string(),
        _ => format!("p{i},Canary {i},{},{},d{}\n", 20 + i * 7 % 50, 4300 + i * 13 % 60, i * 5 % 7),
    };
    "id,name,age,zip,disease\n".to_string() + &(0..61).map(row).collect::<String>()
}

/// A release with a commitment.
fn prepared_folder() -> TestFolder {
    let scratch = TestFolder::new();
    scratch.file("people.csv", &people());
    scratch.file("policy.toml", POLICY);
    scratch.amidst(&["anonymize", "policy.toml", "--out", "out", "--commit", "--quiet"]).succeeds();
    scratch
}

fn opening(scratch: &TestFolder) -> Value {
    serde_json::from_str(&scratch.read("opened.json")).unwrap()
}

#[test]
fn opened_rows_are_proven_and_nothing_else_is_told() {
    let scratch = prepared_folder();
    let certificate: Value = serde_json::from_str(&scratch.read("out/public/certificate.json")).unwrap();
    assert_eq!(certificate["commitment"]["columns"], json!(["id", "age", "zip", "disease"]));
    assert_eq!(certificate["commitment"]["rows"], 60, "the row with an unknown age is left out");
    scratch.amidst(&["verify", "out"]).succeeds();
    scratch.amidst(&["verify", "out", "--policy", "policy.toml"]).succeeds();

    // Row 8, not counting the dropped one, is p8.
    scratch.amidst(&["open", "out", "--rows", "8,20", "--key", "p33", "--out", "opened.json"]).succeeds();
    let text = scratch.read("opened.json");
    let shown = opening(&scratch);
    let mut ids: Vec<&str> =
        shown["rows"].as_array().unwrap().iter().map(|row| row["cells"][0].as_str().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["p20", "p33", "p8"]);
    assert!(!text.contains("Canary"), "identifying columns are not even read");
    let secret = scratch.read("out/internal/commitment.json");
    let secret: Value = serde_json::from_str(&secret).unwrap();
    assert!(!text.contains(secret["secret"].as_str().unwrap()), "the secret opens all rows");
    #[cfg(unix)]
    for name in ["opened.json", "out/internal/commitment.json"] {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(scratch.path(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }

    // The auditor has only the public part.
    let verdict = scratch.amidst(&["verify", "out/public", "--opening", "opened.json", "--json"]).json(0);
    assert_eq!((&verdict["valid"], &verdict["opened"]["rows"]), (&json!(true), &json!(3)));
    let covered = verdict["opened"]["covered"].as_u64().unwrap();
    let suppressed = certificate["suppressed"].as_u64().unwrap();
    assert!(covered + suppressed >= 3, "{verdict}");
    assert_eq!(verdict["opened"]["labels"], json!([]), "the policy says what the mask and ranges cover");
    let said = scratch.amidst(&["verify", "out/public", "--opening", "opened.json"]);
    assert!(said.stdout.contains("3 opened rows are in the table that the certificate commits to"), "{}", said.stdout);
}

#[test]
fn all_rows_together_are_covered_but_for_those_left_out() {
    let scratch = prepared_folder();
    let all: Vec<String> = (1..=60).map(|row: u32| row.to_string()).collect();
    scratch.amidst(&["open", "out", "--rows", &all.join(","), "--out", "opened.json", "--quiet"]).succeeds();
    let verdict = scratch.amidst(&["verify", "out", "--opening", "opened.json", "--json"]).json(0);
    let certificate: Value = serde_json::from_str(&scratch.read("out/public/certificate.json")).unwrap();
    assert_eq!(verdict["opened"]["covered"], certificate["rows_out"]);
}

#[test]
fn every_word_of_the_owner_about_a_hierarchy_in_a_file_is_shown() {
    let scratch = TestFolder::new();
    scratch.file("people.csv", &people());
    let zips: std::collections::BTreeSet<usize> = (0..61).map(|i| 4300 + i * 13 % 60).collect();
    let paths: String = zips.iter().map(|zip| format!("{zip};north{};all\n", zip / 30)).collect();
    scratch.file("zips.csv", &paths);
    scratch
        .file("policy.toml", &POLICY.replace("{ mask = { length = 4, from = \"right\" } }", "{ file = \"zips.csv\" }"));
    scratch.amidst(&["anonymize", "policy.toml", "--out", "out", "--commit", "--quiet"]).succeeds();
    let all: Vec<String> = (1..=60).map(|row: u32| row.to_string()).collect();
    scratch.amidst(&["open", "out", "--rows", &all.join(","), "--out", "opened.json", "--quiet"]).succeeds();
    let verdict = scratch.amidst(&["verify", "out/public", "--opening", "opened.json", "--json"]).json(0);
    let words = verdict["opened"]["labels"].as_array().unwrap().len();
    assert!(words > 10, "{verdict}");
    let said = scratch.amidst(&["verify", "out/public", "--opening", "opened.json"]);
    assert_eq!(said.stdout.matches("only the owner's word").count(), words, "{}", said.stdout);
}

#[test]
fn opened_rows_are_not_written_into_what_is_handed_over() {
    let scratch = prepared_folder();
    let open = |out: &str| scratch.amidst(&["open", "out", "--rows", "3", "--out", out]);
    open("out/public/opened.json").fails(2, &["handed over"]);
    assert!(!scratch.path("out/public/opened.json").exists());
    open("out/opened.json").succeeds();
}

#[test]
#[cfg(unix)]
fn what_may_not_be_read_and_what_is_no_version_is_not_called_a_wrong_release() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = prepared_folder();
    fs::create_dir(scratch.path("empty")).unwrap();
    scratch.amidst(&["verify", "out", "--previous", "empty"]).fails(2, &["empty has no certificate.json"]);
    let table = scratch.path("out/public/people.csv");
    let table = if table.exists() { table } else { scratch.path("out/public/release.csv") };
    fs::set_permissions(&table, fs::Permissions::from_mode(0o0)).unwrap();
    // Who may do everything reads it all the same.
    if fs::File::open(&table).is_err() {
        scratch.amidst(&["verify", "out"]).fails(3, &["cannot read"]);
    }
}

/// A named change of an opening.
type Bend<'a> = (&'a str, &'a dyn Fn(&mut Value));

#[test]
fn what_was_bent_is_refused_by_name_and_the_release_stands() {
    let scratch = prepared_folder();
    scratch.amidst(&["open", "out", "--rows", "3,4", "--out", "opened.json"]).succeeds();
    let honest = opening(&scratch);
    let with = |change: &dyn Fn(&mut Value)| {
        let mut bent = honest.clone();
        change(&mut bent);
        scratch.file("bent.json", &bent.to_string());
        scratch.amidst(&["verify", "out", "--opening", "bent.json", "--json"])
    };
    let flipped = |text: &Value| {
        let text = text.as_str().unwrap();
        json!(format!("{}{}", if text.starts_with('0') { '1' } else { '0' }, &text[1..]))
    };
    with(&|_| {}).json(0);
    let bends: [Bend<'_>; 9] = [
        ("a cell", &|v| v["rows"][0]["cells"][1] = json!("99")),
        ("a key", &|v| v["rows"][0]["cells"][0] = json!("p0")),
        ("a leaf", &|v| v["rows"][0]["leaf"] = json!(0)),
        ("a salt", &|v| v["rows"][0]["salt"] = flipped(&v["rows"][0]["salt"])),
        ("a digest", &|v| v["rows"][1]["path"][2] = flipped(&v["rows"][1]["path"][2])),
        ("a shorter path", &|v| drop(v["rows"][0]["path"].as_array_mut().unwrap().pop())),
        ("a row twice", &|v| v["rows"][1] = v["rows"][0].clone()),
        ("no row", &|v| v["rows"] = json!([])),
        ("another certificate", &|v| v["certificate"] = json!("0".repeat(64))),
    ];
    for (what, bend) in bends {
        let mut changed = honest.clone();
        bend(&mut changed);
        if changed == honest {
            continue;
        }
        let verdict = with(bend).json(1);
        assert_eq!(verdict["valid"], true, "{what}: the release is as good as before");
        let kinds: Vec<&str> = verdict["problems"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|p| p["severity"] == "violation")
            .map(|p| p["kind"].as_str().unwrap())
            .collect();
        assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == "opening"), "{what}: {verdict}");
    }
    // A false claim about a range that the checker can read.
    let refuted = with(&|v| v["rows"][0]["labels"]["age"] = json!(["[1-2]"])).json(1);
    assert!(refuted["problems"].to_string().contains("[1-2]"), "{refuted}");
    // And about labels of a hierarchy that the policy describes: another mask, and the value of another row.
    for label in ["9***", "4999"] {
        let refuted = with(&|v| v["rows"][0]["labels"]["zip"] = json!([label])).json(1);
        assert!(refuted["problems"].to_string().contains(label), "{refuted}");
    }
    with(&|v| v["rows"][0]["labels"]["disease"] = json!(["*"])).json(1);
    scratch.file("none.json", "{}");
    scratch.amidst(&["verify", "out", "--opening", "none.json"]).fails(2, &["none.json", "no such file"]);
    scratch.amidst(&["verify", "out", "--opening", "absent.json"]).fails(2, &["absent.json"]);
}

#[test]
fn rows_are_opened_by_their_owner_from_the_table_of_that_day() {
    let scratch = prepared_folder();
    scratch.amidst(&["open", "out", "--rows", "99", "--out", "o.json"]).fails(2, &["no row 99", "1 to 60"]);
    let absent = scratch.amidst(&["open", "out", "--key", "p7", "--out", "o.json"]);
    absent.fails(2, &["no row has the key that was given as number 1"]);
    assert!(!absent.stderr.contains("p7"), "a key is somebody's");
    scratch.amidst(&["open", "out/public", "--rows", "1", "--out", "o.json"]).fails(2, &["by the owner"]);
    scratch.amidst(&["open", "out", "--out", "o.json"]).fails(2, &["--rows"]);

    // The same rows in another order are the same table; a changed cell makes another.
    let mut lines: Vec<String> = people().lines().map(String::from).collect();
    lines[1..].reverse();
    scratch.file("turned.csv", &(lines.join("\n") + "\n"));
    scratch.amidst(&["open", "out", "--input", "turned.csv", "--key", "p5", "--out", "o.json"]).succeeds();
    scratch.amidst(&["verify", "out", "--opening", "o.json"]).succeeds();
    scratch.amidst(&["open", "out", "--rows", "1", "--out", "o.json"]).fails(2, &["exists already"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let run =
        |arguments: &[&str]| scratch.command(arguments).current_dir(elsewhere.path()).output().unwrap().status.code();
    let (out, policy) = (scratch.path("out"), scratch.path("policy.toml"));
    let named = ["open", out.to_str().unwrap(), "--policy", policy.to_str().unwrap(), "--rows", "1", "--out", "o.json"];
    assert_eq!(run(&named), Some(0), "from elsewhere with the policy");
    scratch.file("people.csv", &people().replace("p5,", "p555,"));
    scratch.amidst(&["open", "out", "--rows", "1", "--out", "p.json"]).fails(2, &["not what it was"]);
    assert!(!scratch.path("p.json").exists());

    scratch.file("people.csv", &people());
    scratch.amidst(&["anonymize", "policy.toml", "--out", "plain", "--quiet"]).succeeds();
    scratch.amidst(&["open", "plain", "--rows", "1", "--out", "p.json"]).fails(2, &["without a commitment"]);
    let verdict = scratch.amidst(&["verify", "plain", "--opening", "o.json", "--json"]).json(1);
    assert!(verdict["problems"].to_string().contains("does not commit"), "{verdict}");
    scratch.amidst(&["anonymize", "policy.toml", "--out", "t.csv", "--commit"]).fails(2, &["folder"]);
    scratch.amidst(&["anonymize", "policy.toml", "--out", "-", "--commit"]).fails(2, &["folder"]);
    assert!(!fs::read_to_string(scratch.path("plain/public/certificate.json")).unwrap().contains("commitment"));
}

#[test]
fn a_commitment_that_contradicts_its_certificate_is_refused() {
    let scratch = prepared_folder();
    let path = scratch.path("out/public/certificate.json");
    let honest: Value = serde_json::from_str(&scratch.read("out/public/certificate.json")).unwrap();
    let bends: [(&str, Value); 4] =
        [("rows", json!(61)), ("root", json!("00")), ("scheme", json!("md5")), ("columns", json!(["id", "age"]))];
    for (key, value) in bends {
        let mut bent = honest.clone();
        bent["commitment"][key] = value;
        fs::write(&path, serde_json::to_string_pretty(&bent).unwrap() + "\n").unwrap();
        let verdict = scratch.amidst(&["verify", "out", "--json"]).json(1);
        assert!(verdict["problems"].to_string().contains("commitment"), "{key}: {verdict}");
    }
}

#[test]
fn python_alone_finds_the_same_rows_in_the_table() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let scratch = prepared_folder();
    scratch.amidst(&["open", "out", "--rows", "1,30,59", "--out", "opened.json", "--quiet"]).succeeds();
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../verify/opening.py");
    let says = |opening: &Value| {
        scratch.file("given.json", &opening.to_string());
        let mut command = std::process::Command::new("python3");
        let command = command.arg(&script).arg("out/public/certificate.json").arg("given.json");
        command.current_dir(scratch.root()).output().unwrap().status.code()
    };
    let honest = opening(&scratch);
    assert_eq!(says(&honest), Some(0));
    for pointer in ["/rows/0/cells/3", "/rows/1/salt", "/rows/2/path/0", "/rows/2/path/4", "/certificate", "/scheme"] {
        let mut bent = honest.clone();
        *bent.pointer_mut(pointer).unwrap() = json!("0".repeat(64));
        assert_eq!(says(&bent), Some(1), "{pointer}");
    }
}

#[test]
fn rows_of_a_version_are_opened_by_their_keys() {
    let scratch = TestFolder::new();
    scratch.file("people.csv", &people());
    scratch.file("policy.toml", &POLICY.replace("max_suppression = \"10 %\"\n", ""));
    scratch.amidst(&["series", "init", "ward", "--policy", "policy.toml", "--mode", "maintain", "--commit"]).succeeds();
    scratch.file("new.csv", "id,name,age,zip,disease\nn1,N,33,4310,d1\nn2,N,34,4311,d2\nn3,N,35,4312,d3\n");
    scratch.amidst(&["series", "insert", "ward", "new.csv"]).succeeds();
    scratch.amidst(&["series", "publish", "ward", "--safe", "--commit"]).succeeds();
    for version in ["ward/versions/1", "ward/versions/2"] {
        scratch.amidst(&["verify", version]).succeeds();
        let out = ["--key", "p3", "--key", "p12", "--out", "opened.json", "--force"];
        scratch.amidst(&[&["open", version][..], &out].concat()).succeeds();
        let verdict = scratch.amidst(&["verify", version, "--opening", "opened.json", "--json"]).json(0);
        assert_eq!((&verdict["opened"]["rows"], &verdict["opened"]["covered"]), (&json!(2), &json!(2)), "{verdict}");
        assert!(!scratch.read("opened.json").contains("Canary"), "identifying columns are not even read");
    }
    // An opening is of one version.
    let other = scratch.amidst(&["verify", "ward/versions/1", "--opening", "opened.json", "--json"]).json(1);
    assert!(other["problems"].to_string().contains("another certificate"), "{other}");
    let rows = scratch.amidst(&["open", "ward/versions/2", "--rows", "1", "--out", "o.json"]);
    rows.fails(2, &["--key", "no order"]);
    let unknown = scratch.amidst(&["open", "ward/versions/2", "--key", "zz9", "--out", "o.json"]);
    unknown.fails(2, &["given as number 1"]);
    assert!(!unknown.stderr.contains("zz9"), "a key is somebody's");
    assert!(!scratch.path("o.json").exists());
}
