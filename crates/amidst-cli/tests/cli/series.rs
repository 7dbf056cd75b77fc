//! `amidst series`, from end to end: versions, refusals, and processes that are killed.

use std::fs;
use std::time::Duration;

use crate::house::House;

const POLICY: &str = r#"[data]
input = "people.csv"
[columns.id]
role = "key"
[columns.age]
role = "quasi"
type = "integer"
generalize = "ranges"
[columns.zip]
role = "quasi"
hierarchy = { mask = { length = 4, from = "right" } }
[columns.disease]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 3
[[require]]
model = "distinct-l-diversity"
l = 2
"#;

fn people(first: usize, count: usize) -> String {
    let row = |i: usize| format!("p{i},{},{},d{}\n", 20 + i * 7 % 50, 4300 + i * 13 % 60, i * 5 % 7);
    (first..first + count).map(row).fold("id,age,zip,disease\n".to_string(), |t, r| t + &r)
}

fn house(rows: usize, policy: &str) -> House {
    let house = House::new();
    house.file("people.csv", &people(0, rows));
    house.file("policy.toml", policy);
    house
}

#[test]
fn a_series_from_first_to_last() {
    let house = house(60, POLICY);
    let first = house.amidst(&["series", "init", "ward", "--policy", "policy.toml", "--json"]).json(0);
    assert_eq!((&first["version"], &first["rows"]), (&1.into(), &60.into()));
    assert_eq!(house.amidst(&["verify", "ward/versions/1", "--json"]).json(0)["valid"], true);
    house.file("one.csv", &people(60, 1));
    house.file("gone.csv", "id\np3\np4\n");
    let done = house.amidst(&["series", "insert", "ward", "one.csv", "--json"]).json(0);
    assert_eq!((&done["inserted"], &done["rows"]), (&1.into(), &61.into()));
    house.amidst(&["series", "publish", "ward"]).fails(1, &["--allow-leak", "m-invariant"]);
    assert_eq!(house.amidst(&["series", "delete", "ward", "gone.csv", "--json"]).json(0)["deleted"], 2);
    let second = house.amidst(&["series", "publish", "ward", "--allow-leak", "--json"]).json(0);
    assert_eq!((&second["version"], &second["leaks"]), (&2.into(), &true.into()));
    assert_eq!(house.amidst(&["verify", "ward/versions/2", "--json"]).json(0)["valid"], true);
    let log = house.amidst(&["series", "log", "ward", "--json"]).json(0);
    assert_eq!((log["batches"].as_array().unwrap().len(), log["versions"].as_array().unwrap().len()), (3, 2));
    let shown = house.amidst(&["series", "show", "ward", "2", "--json"]).json(0);
    assert!(shown["certificate"]["policy"].as_str().unwrap().contains("allow-leak"));
    assert_eq!(house.amidst(&["series", "audit", "ward", "--json"]).json(1)["leaks"], true);
    house.amidst(&["series", "show", "ward", "3"]).fails(2, &["no version 3"]);
    house.amidst(&["series", "log", "nowhere"]).fails(2, &["no series", "series init"]);
    house.amidst(&["series", "init", "ward", "--policy", "policy.toml"]).fails(2, &["exists already"]);
    for command in [&["series", "log", "ward"][..], &["series", "show", "ward", "1"]] {
        assert_eq!(house.amidst(command).code, 0);
    }
}

#[test]
fn m_invariant_versions_are_published_side_by_side() {
    let policy = format!("{POLICY}[[require]]\nmodel = \"m-invariance\"\nm = 3\n");
    let house = house(60, &policy);
    house.amidst(&["series", "init", "ward", "--policy", "policy.toml", "--mode", "m-invariant", "--json"]).json(0);
    house.file("one.csv", &people(60, 1));
    house.file("gone.csv", "id\np3\np4\n");
    house.amidst(&["series", "apply", "ward", "--insert", "one.csv", "--delete", "gone.csv", "--json"]).json(0);
    let second = house.amidst(&["series", "publish", "ward", "--json"]).json(0);
    assert_eq!(second["leaks"], false);
    assert!(second["counterfeits"].as_u64().unwrap() > 0);
    assert_eq!(house.amidst(&["verify", "ward/versions/2", "--json"]).json(0)["valid"], true);
    assert_eq!(house.amidst(&["series", "audit", "ward", "--json"]).json(0)["leaks"], false);
}

#[test]
fn a_kill_at_any_instant_loses_nothing() {
    let house = house(400, POLICY);
    house.amidst(&["series", "init", "ward", "--policy", "policy.toml", "--json"]).json(0);
    let log = |house: &House| house.amidst(&["series", "log", "ward", "--json"]).json(0);
    let mut killed = 0;
    for turn in 0..24usize {
        let before = log(&house);
        house.file("new.csv", &people(1000 + turn * 100, 50));
        let arguments: &[&str] = match turn % 2 {
            0 => &["series", "insert", "ward", "new.csv"],
            _ => &["series", "publish", "ward", "--allow-leak"],
        };
        let mut command = house.command(arguments);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        // From at once to about as long as the command takes.
        std::thread::sleep(Duration::from_millis((turn as u64 * 37) % 97));
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        let after = log(&house);
        let count = |log: &serde_json::Value, what: &str| log[what].as_array().unwrap().len();
        for what in ["batches", "versions"] {
            let added = count(&after, what) - count(&before, what);
            assert!(added <= 1, "{what}");
        }
        for entry in fs::read_dir(house.path("ward/versions")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let number: usize = name.parse().unwrap();
            assert!(number <= count(&after, "versions"), "a version that the state does not know");
        }
    }
    assert!(killed > 0, "nothing was killed");
    house.file("last.csv", &people(9000, 10));
    house.amidst(&["series", "insert", "ward", "last.csv", "--json"]).json(0);
    house.amidst(&["series", "publish", "ward", "--allow-leak", "--json"]).json(0);
    let versions = log(&house)["versions"].as_array().unwrap().len();
    for number in 1..=versions {
        let folder = format!("ward/versions/{number}");
        assert_eq!(house.amidst(&["verify", &folder, "--json"]).json(0)["valid"], true, "{folder}");
    }
    assert_eq!(fs::read_dir(house.path("ward/versions")).unwrap().count(), versions);
}
