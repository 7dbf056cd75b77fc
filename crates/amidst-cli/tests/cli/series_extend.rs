//! `amidst series extend`: values that did not occur when a series began.

use std::fs;

use crate::test_folder::{Run, TestFolder, people_policy};

const POLICY: &str = people_policy!(
    r#"[columns.zip]
role = "quasi"
hierarchy = { file = "zips.csv" }
"#,
    r#"[[require]]
model = "k-anonymity"
k = 3
[[require]]
model = "distinct-l-diversity"
l = 2
"#
);

fn zips(more: &str) -> String {
    (4300..4310).fold(String::new(), |text, zip| format!("{text}{zip};{}*;*\n", zip / 10)) + more
}

fn house() -> TestFolder {
    let house = TestFolder::new();
    let row = |i: usize| format!("p{i},{},{},d{}\n", 20 + i * 7 % 50, 4300 + i * 3 % 10, i * 5 % 7);
    house.file("people.csv", &(0..40).map(row).fold("id,age,zip,disease\n".into(), |t: String, r| t + &r));
    house.file("policy.toml", POLICY);
    house.file("zips.csv", &zips(""));
    house.file("new.csv", "id,age,zip,disease\nq1,30,9999,d1\nq2,31,9998,d2\nq3,32,9999,d3\n");
    done(&house, &["series", "init", "ward", "--policy", "policy.toml"]);
    house
}

fn done(house: &TestFolder, arguments: &[&str]) -> Run {
    let run = house.amidst(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
    run
}

const INSERT: &[&str] = &["series", "insert", "ward", "new.csv"];
const EXTEND: &[&str] = &["series", "extend", "ward", "--policy", "policy.toml"];
const MORE: &str = "9999;999*;*\n9998;999*;*\n";

#[test]
fn new_values_come_in_by_a_command() {
    let house = house();
    let parts = ["`zip` lacks 2 values", "line 2 of", "amidst series extend ward --policy POLICY"];
    house.amidst(INSERT).fails(2, &parts);
    house.file("zips.csv", &zips(MORE));
    let told = house.amidst(&[EXTEND, &["--json"]].concat()).json(0);
    assert_eq!(told["columns"], serde_json::json!(["zip"]));
    done(&house, INSERT);
    done(&house, &["series", "publish", "ward", "--allow-leak"]);
    done(&house, &["verify", "ward/versions/2"]);
    done(&house, &["series", "log", "ward", "--check"]);
    // The series keeps a copy of the owner's files, which does not change when the originals do.
    house.file("zips.csv", "no hierarchy");
    house.file("more.csv", "id,age,zip,disease\nr1,30,9998,d1\n");
    done(&house, &["series", "insert", "ward", "more.csv"]);
}

/// An extension can be undone by the previous policy as long as no row has a new value.
#[test]
fn an_extension_can_be_taken_back() {
    let house = house();
    house.file("more.csv", "id,age,zip,disease\nr1,30,4301,d1\nr2,31,4302,d2\n");
    done(&house, &["series", "insert", "ward", "more.csv"]);
    house.file("zips.csv", &zips(MORE));
    done(&house, EXTEND);
    done(&house, INSERT);
    house.file("zips.csv", &zips(""));
    house.amidst(EXTEND).fails(2, &["the hierarchy of `zip` lacks 2 values"]);
    // Batches from before and after it can be undone, and the classes follow from the rows.
    done(&house, &["series", "undo", "ward"]);
    done(&house, EXTEND);
    house.amidst(INSERT).fails(2, &["`zip` lacks 2 values"]);
    done(&house, &["series", "undo", "ward"]);
    done(&house, &["series", "insert", "ward", "more.csv"]);
    done(&house, &["series", "publish", "ward", "--allow-leak"]);
    done(&house, &["verify", "ward/versions/2"]);
}

#[test]
fn what_the_series_knows_stays() {
    let house = house();
    let before = fs::read(house.path("ward/private/policy.toml")).unwrap();
    house.amidst(EXTEND).fails(2, &["nothing was changed"]);
    house.file("zips.csv", &zips(MORE).replace("4301;430*", "4301;431*"));
    house.amidst(EXTEND).fails(2, &["policy.toml:11:1", "labels or levels", "`zip` would change"]);
    house.file("zips.csv", &zips(MORE).replace(";*\n", ";4*;*\n"));
    house.amidst(EXTEND).fails(2, &["labels or levels"]);
    house.file("zips.csv", &zips(MORE));
    for (from, to, part) in [
        ("k = 3", "k = 2", "the requirements were others"),
        ("role = \"sensitive\"", "role = \"insensitive\"", "the role of `disease` was another"),
        ("generalize = \"ranges\"\n", "", "the generalize of `age` was another"),
    ] {
        house.file("policy.toml", &POLICY.replace(from, to).replace("l = 2\n", "l = 2\non = \"disease\"\n"));
        let run = house.amidst(EXTEND);
        assert!(run.code == 2 && (run.stderr.contains(part) || from.starts_with("role")), "{from}: {}", run.stderr);
    }
    assert_eq!(fs::read(house.path("ward/private/policy.toml")).unwrap(), before);
    done(&house, &["series", "log", "ward", "--check"]);
}

/// A process may be killed between writing the state and the files: the next one finishes, or nothing has happened.
#[test]
fn an_extension_happens_whole_or_not_at_all() {
    let house = house();
    let private = house.path("ward/private");
    let hierarchy = fs::read_dir(private.join("hierarchies")).unwrap().next().unwrap().unwrap().path();
    let old = [private.join("policy.toml"), hierarchy.clone()].map(|path| (fs::read(&path).unwrap(), path));
    // Written but not sealed: it did not happen.
    fs::create_dir_all(private.join("grown/hierarchies")).unwrap();
    fs::write(private.join("grown/policy.toml"), "half").unwrap();
    house.amidst(INSERT).fails(2, &["lacks 2 values"]);
    house.file("zips.csv", &zips(MORE));
    done(&house, EXTEND);
    assert!(!private.join("grown").exists());
    // Sealed but not in place: it happened.
    let name = hierarchy.file_name().unwrap();
    fs::create_dir_all(private.join("grown/hierarchies")).unwrap();
    fs::copy(private.join("policy.toml"), private.join("grown/policy.toml")).unwrap();
    fs::copy(&hierarchy, private.join("grown/hierarchies").join(name)).unwrap();
    let new = fs::read(&hierarchy).unwrap();
    old.iter().for_each(|(content, path)| fs::write(path, content).unwrap());
    done(&house, INSERT);
    assert!(fs::read(&hierarchy).unwrap() == new && !private.join("grown").exists());
    // Neither: the files are not those of the state.
    old.iter().for_each(|(content, path)| fs::write(path, content).unwrap());
    house.amidst(&["series", "log", "ward"]).fails(2, &["policy or a hierarchy beside it"]);
}
