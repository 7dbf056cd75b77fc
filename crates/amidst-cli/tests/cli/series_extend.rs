//! `amidst series extend`: values that did not occur when a series began.

use std::fs;

use crate::series;
use crate::test_folder::{Run, TestFolder};

/// The policy of the other tests of series, with a hierarchy in a file that can be extended.
fn policy() -> String {
    series::POLICY.replace(r#"{ mask = { length = 4, from = "right" } }"#, r#"{ file = "zips.csv" }"#)
}

fn zips(more: &str) -> String {
    (4300..4310).fold(String::new(), |text, zip| format!("{text}{zip};{}*;*\n", zip / 10)) + more
}

fn prepared_folder() -> TestFolder {
    let scratch = TestFolder::new();
    let row = |i: usize| format!("p{i},{},{},d{}\n", 20 + i * 7 % 50, 4300 + i * 3 % 10, i * 5 % 7);
    scratch.file("people.csv", &(0..40).map(row).fold("id,age,zip,disease\n".into(), |t: String, r| t + &r));
    scratch.file("policy.toml", &policy());
    scratch.file("zips.csv", &zips(""));
    scratch.file("new.csv", "id,age,zip,disease\nq1,30,9999,d1\nq2,31,9998,d2\nq3,32,9999,d3\n");
    done(&scratch, &["series", "init", "ward", "--policy", "policy.toml"]);
    scratch
}

fn done(scratch: &TestFolder, arguments: &[&str]) -> Run {
    let run = scratch.amidst(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
    run
}

const INSERT: &[&str] = &["series", "insert", "ward", "new.csv"];
const EXTEND: &[&str] = &["series", "extend", "ward", "--policy", "policy.toml"];
const MORE: &str = "9999;999*;*\n9998;999*;*\n";

#[test]
fn new_values_come_in_by_a_command() {
    let scratch = prepared_folder();
    let parts = ["`zip` lacks 2 values", "line 2 of", "amidst series extend ward --policy POLICY"];
    scratch.amidst(INSERT).fails(2, &parts);
    scratch.file("zips.csv", &zips(MORE));
    let told = scratch.amidst(&[EXTEND, &["--json"]].concat()).json(0);
    assert_eq!(told["columns"], serde_json::json!(["zip"]));
    done(&scratch, INSERT);
    done(&scratch, &["series", "publish", "ward", "--allow-leak"]);
    done(&scratch, &["verify", "ward/versions/2"]);
    done(&scratch, &["series", "log", "ward", "--check"]);
    // The series keeps a copy of the owner's files, which does not change when the originals do.
    scratch.file("zips.csv", "no hierarchy");
    scratch.file("more.csv", "id,age,zip,disease\nr1,30,9998,d1\n");
    done(&scratch, &["series", "insert", "ward", "more.csv"]);
}

/// An extension can be undone by the previous policy as long as no row has a new value.
#[test]
fn an_extension_can_be_taken_back() {
    let scratch = prepared_folder();
    scratch.file("more.csv", "id,age,zip,disease\nr1,30,4301,d1\nr2,31,4302,d2\n");
    done(&scratch, &["series", "insert", "ward", "more.csv"]);
    scratch.file("zips.csv", &zips(MORE));
    done(&scratch, EXTEND);
    done(&scratch, INSERT);
    scratch.file("zips.csv", &zips(""));
    scratch.amidst(EXTEND).fails(2, &["the hierarchy of `zip` lacks 2 values"]);
    // Batches from before and after it can be undone, and the classes follow from the rows.
    done(&scratch, &["series", "undo", "ward"]);
    done(&scratch, EXTEND);
    scratch.amidst(INSERT).fails(2, &["`zip` lacks 2 values"]);
    done(&scratch, &["series", "undo", "ward"]);
    done(&scratch, &["series", "insert", "ward", "more.csv"]);
    done(&scratch, &["series", "publish", "ward", "--allow-leak"]);
    done(&scratch, &["verify", "ward/versions/2"]);
}

#[test]
fn what_the_series_knows_stays() {
    let scratch = prepared_folder();
    let before = fs::read(scratch.path("ward/private/policy.toml")).unwrap();
    scratch.amidst(EXTEND).fails(2, &["nothing was changed"]);
    scratch.file("zips.csv", &zips(MORE).replace("4301;430*", "4301;431*"));
    scratch.amidst(EXTEND).fails(2, &["policy.toml:11:1", "labels or levels", "`zip` would change"]);
    scratch.file("zips.csv", &zips(MORE).replace(";*\n", ";4*;*\n"));
    scratch.amidst(EXTEND).fails(2, &["labels or levels"]);
    scratch.file("zips.csv", &zips(MORE));
    for (from, to, part) in [
        ("k = 3", "k = 2", "the requirements were others"),
        ("role = \"sensitive\"", "role = \"insensitive\"", "the role of `disease` was another"),
        ("generalize = \"ranges\"\n", "", "the generalize of `age` was another"),
    ] {
        scratch.file("policy.toml", &policy().replace(from, to).replace("l = 2\n", "l = 2\non = \"disease\"\n"));
        let run = scratch.amidst(EXTEND);
        assert!(run.code == 2 && (run.stderr.contains(part) || from.starts_with("role")), "{from}: {}", run.stderr);
    }
    assert_eq!(fs::read(scratch.path("ward/private/policy.toml")).unwrap(), before);
    done(&scratch, &["series", "log", "ward", "--check"]);
}

/// A process may be killed between writing the state and the files: the next one finishes, or nothing has happened.
#[test]
fn an_extension_happens_whole_or_not_at_all() {
    let scratch = prepared_folder();
    let private = scratch.path("ward/private");
    let hierarchy = fs::read_dir(private.join("hierarchies")).unwrap().next().unwrap().unwrap().path();
    let old = [private.join("policy.toml"), hierarchy.clone()].map(|path| (fs::read(&path).unwrap(), path));
    // Written but not sealed: it did not happen.
    fs::create_dir_all(private.join("grown/hierarchies")).unwrap();
    fs::write(private.join("grown/policy.toml"), "half").unwrap();
    scratch.amidst(INSERT).fails(2, &["lacks 2 values"]);
    scratch.file("zips.csv", &zips(MORE));
    done(&scratch, EXTEND);
    assert!(!private.join("grown").exists());
    // Sealed but not in place: it happened.
    let name = hierarchy.file_name().unwrap();
    fs::create_dir_all(private.join("grown/hierarchies")).unwrap();
    fs::copy(private.join("policy.toml"), private.join("grown/policy.toml")).unwrap();
    fs::copy(&hierarchy, private.join("grown/hierarchies").join(name)).unwrap();
    let new = fs::read(&hierarchy).unwrap();
    old.iter().for_each(|(content, path)| fs::write(path, content).unwrap());
    done(&scratch, INSERT);
    assert!(fs::read(&hierarchy).unwrap() == new && !private.join("grown").exists());
    // Neither: the files are not those of the state.
    old.iter().for_each(|(content, path)| fs::write(path, content).unwrap());
    scratch.amidst(&["series", "log", "ward"]).fails(2, &["policy or a hierarchy beside it"]);
}

/// A tree in a JSON file is copied, kept and extended as a file of levels is.
#[test]
fn a_taxonomy_in_a_file_belongs_to_the_series() {
    let scratch = TestFolder::new();
    let zips = |more: &str| {
        format!(
            r#"{{"Any": {{"low": ["4300", "4301", "4302", "4303", "4304"{more}],
        "high": ["4305", "4306", "4307", "4308", "4309"]}}}}"#
        )
    };
    let row = |i: usize| format!("p{i},{},{},d{}\n", 20 + i * 7 % 50, 4300 + i * 3 % 10, i * 5 % 7);
    scratch.file("people.csv", &(0..40).map(row).fold("id,age,zip,disease\n".into(), |t: String, r| t + &r));
    scratch.file("policy.toml", &policy().replace("file = \"zips.csv\"", "taxonomy = \"trees/zips.json\""));
    fs::create_dir(scratch.path("trees")).unwrap();
    scratch.file("trees/zips.json", &zips(""));
    scratch.file("new.csv", "id,age,zip,disease\nq1,30,4299,d1\nq2,31,4298,d2\nq3,32,4299,d3\n");
    done(&scratch, &["series", "init", "ward", "--policy", "policy.toml"]);
    scratch.amidst(INSERT).fails(2, &["`zip` lacks 2 values", "amidst series extend ward --policy POLICY"]);
    scratch.file("trees/zips.json", &zips(r#", "4298", "4299""#));
    let told = scratch.amidst(&[EXTEND, &["--json"]].concat()).json(0);
    assert_eq!(told["columns"], serde_json::json!(["zip"]));
    // From here on the series has what it needs.
    fs::remove_dir_all(scratch.path("trees")).unwrap();
    done(&scratch, INSERT);
    done(&scratch, &["series", "publish", "ward", "--allow-leak"]);
    done(&scratch, &["verify", "ward/versions/2"]);
    let public = scratch.read("ward/versions/2/policy.toml");
    assert!(public.contains("zips.json") && !public.contains('/'), "{public}");
}
