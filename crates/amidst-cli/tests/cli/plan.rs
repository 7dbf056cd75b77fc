//! Series that can be continued: the chosen mode, the planned next version, and safe versions.

use std::collections::BTreeMap;
use std::fs;

use crate::test_folder::{TestFolder, people_policy};

const COLUMNS: &str = people_policy!("", "");

fn l_diverse(l: usize) -> String {
    format!("{COLUMNS}[[require]]\nmodel = \"distinct-l-diversity\"\nl = {l}\n")
}

fn people(first: usize, count: usize) -> String {
    let row = |i: usize| format!("p{i},{},d{}\n", 20 + i * 7 % 50, i * 5 % 7);
    (first..first + count).map(row).fold("id,age,disease\n".to_string(), |t, r| t + &r)
}

fn prepared_folder(people: &str, policy: &str) -> TestFolder {
    let scratch = TestFolder::new();
    scratch.file("people.csv", people);
    scratch.file("policy.toml", policy);
    scratch
}

const INIT: &[&str] = &["series", "init", "ward", "--policy", "policy.toml", "--json"];

/// The bytes of all files in the private folder.
fn private(scratch: &TestFolder) -> BTreeMap<String, Vec<u8>> {
    let files = scratch.files("ward/private").into_iter();
    // Every reader creates and removes the index of the write-ahead log.
    let files = files.filter(|path| !path.display().to_string().ends_with("-shm"));
    files.map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
}

/// Inserts `coming` people, deletes two, and returns the plan; asserts that planning changes nothing.
fn planned(scratch: &TestFolder, coming: usize) -> serde_json::Value {
    scratch.file("new.csv", &people(60, coming));
    scratch.file("gone.csv", "id\np3\np4\n");
    scratch.amidst(&["series", "apply", "ward", "--insert", "new.csv", "--delete", "gone.csv", "--json"]).json(0);
    let before = private(scratch);
    let plan = scratch.amidst(&["series", "plan", "ward", "--json"]).json(0);
    assert!(private(scratch) == before, "a plan changes nothing");
    plan
}

#[test]
fn a_series_without_a_mode_gets_one_that_goes_on() {
    let scratch = prepared_folder(&people(0, 60), &l_diverse(3));
    let first = scratch.amidst(INIT).json(0);
    assert_eq!(first["mode"], "m-invariant");
    let why = first["mode_reason"].as_str().unwrap();
    assert!(why.contains("one sensitive column, `disease`") && why.contains("m = 3 follows"), "{why}");
    let policy = scratch.read("ward/versions/1/policy.toml");
    assert!(policy.contains("m-invariance"), "the policy of the series says what it keeps: {policy}");
    scratch.file("one.csv", &people(60, 1));
    scratch.amidst(&["series", "insert", "ward", "one.csv", "--json"]).json(0);
    let second = scratch.amidst(&["series", "publish", "ward", "--json"]).json(0);
    assert_eq!((&second["leaks"], &second["mode_reason"]), (&false.into(), &serde_json::Value::Null));
    assert_eq!(scratch.amidst(&["verify", "ward/versions/2", "--json"]).json(0)["valid"], true);
}

#[test]
fn a_mode_that_is_asked_for_is_kept_and_the_choice_is_explained() {
    let scratch = prepared_folder(&people(0, 60), &l_diverse(3));
    let asked = ["series", "init", "asked", "--policy", "policy.toml", "--mode", "maintain", "--json"];
    let first = scratch.amidst(&asked).json(0);
    assert_eq!((&first["mode"], &first["mode_reason"]), (&"maintain".into(), &serde_json::Value::Null));
    let text = scratch.amidst(&["series", "init", "chosen", "--policy", "policy.toml"]);
    assert!(text.code == 0 && text.stdout.contains("mode m-invariant, because"), "{}", text.stdout);
    // m is also derived when the mode is stated.
    let asked = ["series", "init", "told", "--policy", "policy.toml", "--mode", "m-invariant", "--json"];
    assert_eq!(scratch.amidst(&asked).json(0)["mode"], "m-invariant");
    let t = "[[require]]\nmodel = \"t-closeness\"\nt = \"0.9\"\n";
    scratch.file("policy.toml", &format!("{}{t}", l_diverse(2)));
    let first = scratch.amidst(INIT).json(0);
    let why = first["mode_reason"].as_str().unwrap();
    assert!(first["mode"] == "maintain" && why.contains("t-closeness does not follow"), "{why}");
}

#[test]
fn a_plan_tells_the_next_version_and_changes_nothing() {
    let scratch = prepared_folder(&people(0, 60), &l_diverse(3));
    scratch.amidst(INIT).json(0);
    let plan = scratch.amidst(&["series", "plan", "ward", "--json"]).json(0);
    assert_eq!((&plan["changed"], &plan["next"]), (&false.into(), &serde_json::Value::Null));
    let plan = planned(&scratch, 5);
    assert_eq!((&plan["rows_in"], &plan["rows_out"], &plan["publishable"]), (&5.into(), &2.into(), &true.into()));
    let text = scratch.amidst(&["series", "plan", "ward"]);
    assert!(text.stdout.contains("since version 1: 5 rows more, 2 fewer"), "{}", text.stdout);
    let second = scratch.amidst(&["series", "publish", "ward", "--json"]).json(0);
    for key in ["rows", "classes", "counterfeits", "leaks", "audit"] {
        assert_eq!(second[key], plan["next"][key], "{key}");
    }
    assert_eq!(second["version"], plan["version"]);
}

const MAINTAIN: &[&str] = &["series", "init", "ward", "--policy", "policy.toml", "--mode", "maintain", "--json"];

/// A refusal names the command that continues, with its cost; the command does what it says.
#[test]
fn a_version_that_leaks_is_offered_in_a_safe_form() {
    let scratch = prepared_folder(&people(0, 60), &l_diverse(3));
    scratch.amidst(MAINTAIN).json(0);
    let plan = planned(&scratch, 8);
    let refused = scratch.amidst(&["series", "publish", "ward"]);
    assert_eq!((refused.code, plan["publishable"].as_bool()), (1, Some(false)));
    assert_eq!(plan["safe_command"], "amidst series publish ward --safe");
    for part in ["`amidst series publish ward --safe`", "1 counterfeit row,", "information loss", "--allow-leak"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    assert!(!refused.stderr.contains("mode maintain"), "{}", refused.stderr);
    let text = scratch.amidst(&["series", "plan", "ward"]);
    for part in ["since version 1: 8 rows more, 2 fewer", "refuses it", "`amidst series publish ward --safe`"] {
        assert!(text.stdout.contains(part), "{part}: {}", text.stdout);
    }
    let second = scratch.amidst(&["series", "publish", "ward", "--safe", "--json"]).json(0);
    assert_eq!((&second["leaks"], &second["safe"]), (&false.into(), &true.into()));
    for key in ["rows", "classes", "counterfeits", "held_back", "kept_classes", "joined", "new_classes", "audit"] {
        assert_eq!(second[key], plan["safe"][key], "{key}");
    }
    assert_eq!(second["counterfeits"], 1);
    assert_eq!(scratch.amidst(&["verify", "ward/versions/2", "--json"]).json(0)["valid"], true);
    assert_eq!(scratch.amidst(&["series", "audit", "ward", "--json"]).json(0)["leaks"], false);
    let log = scratch.amidst(&["series", "log", "ward", "--json"]).json(0);
    assert_eq!(log["versions"][1]["held_back"], second["held_back"]);
    // After the batch is undone there is nothing to publish.
    scratch.file("one.csv", &people(70, 1));
    scratch.amidst(&["series", "insert", "ward", "one.csv", "--json"]).json(0);
    scratch.amidst(&["series", "undo", "ward", "--json"]).json(0);
    scratch.amidst(&["series", "publish", "ward", "--safe"]).fails(2, &["nothing has changed"]);
}

/// After one safe version, later versions are made safe automatically, with a message each time.
#[test]
fn versions_after_a_safe_one_are_made_safe_without_being_asked() {
    let scratch = prepared_folder(&people(0, 60), &l_diverse(3));
    scratch.amidst(MAINTAIN).json(0);
    let change = |turn: usize| {
        scratch.file("new.csv", &people(60 + 8 * turn, 8));
        scratch.file("gone.csv", &format!("id\np{}\np{}\n", 3 + 7 * turn, 4 + 7 * turn));
        scratch.amidst(&["series", "apply", "ward", "--insert", "new.csv", "--delete", "gone.csv", "--json"]).json(0);
    };
    change(0);
    assert_eq!(scratch.amidst(&["series", "publish", "ward"]).code, 1);
    let first = scratch.amidst(&["series", "publish", "ward", "--safe"]);
    assert!(first.code == 0 && first.stdout.contains("from now on"), "{}", first.stdout);
    let mut mended = 0;
    for turn in 1..6 {
        change(turn);
        let plan = scratch.amidst(&["series", "plan", "ward", "--json"]).json(0);
        assert_eq!((&plan["publishable"], &plan["safe_since"]), (&true.into(), &2.into()));
        if plan["next"]["leaks"] == true {
            mended += 1;
            let text = scratch.amidst(&["series", "plan", "ward"]);
            assert!(text.stdout.contains("makes it safe, as versions since 2"), "{}", text.stdout);
            // With --no-safe the version is refused.
            scratch.amidst(&["series", "publish", "ward", "--no-safe"]).fails(1, &["--safe", "--allow-leak"]);
        }
        let done = scratch.amidst(&["series", "publish", "ward", "--json"]).json(0);
        assert_eq!((&done["leaks"], &done["safe_since"]), (&false.into(), &2.into()));
        assert_eq!(done["safe"], plan["next"]["leaks"]);
    }
    assert!(mended > 1, "no test: {mended} versions had to be made safe");
    assert_eq!(scratch.amidst(&["series", "audit", "ward", "--json"]).json(0)["leaks"], false);
    assert_eq!(scratch.amidst(&["series", "publish", "ward", "--safe", "--no-safe"]).code, 2);
}

/// Six rows in the classes {A,C} {D,B} {C,D}, of which two leave: the classes stay, and no value is revealed.
#[test]
fn classes_that_lose_somebody_stay_what_they_were() {
    let six = "id,age,disease\np1,40,D\np2,20,A\np3,41,B\np4,60,D\np5,21,C\np6,61,C\n";
    let scratch = prepared_folder(six, &l_diverse(2));
    scratch.amidst(MAINTAIN).json(0);
    scratch.file("gone.csv", "id\np1\np6\n");
    scratch.amidst(&["series", "delete", "ward", "gone.csv", "--json"]).json(0);
    scratch.amidst(&["series", "publish", "ward"]).fails(1, &["2 counterfeit rows", "3 classes kept as they were"]);
    let text = scratch.amidst(&["series", "publish", "ward", "--safe"]);
    assert!(text.code == 0 && text.stdout.contains("2 counterfeit rows beside them"), "{}", text.stdout);
    let found = scratch.amidst(&["series", "audit", "ward", "--json"]).json(0);
    assert_eq!((&found["exposed"], &found["columns"][0]["fewest_candidates"]), (&0.into(), &2.into()));
    // Public files contain the number of counterfeit rows, and nothing about rows that are held back.
    let public = scratch.read("ward/versions/2/certificate.json") + &scratch.read("ward/versions/2/report.md");
    assert!(public.contains("counterfeit") && !public.contains("held"));
    // In the order of the input counterfeit rows would come last.
    let order = scratch.read("ward/versions/2/policy.toml");
    assert!(!order.contains("order = \"input\""), "{order}");
}

/// New rows that are too few for a class are held back, counted, and join later.
#[test]
fn rows_are_held_back_until_they_can_join() {
    let scratch = prepared_folder(&people(0, 60), &l_diverse(3));
    scratch.amidst(MAINTAIN).json(0);
    let publish = |name: &str, rows: &str| {
        scratch.file(name, rows);
        scratch.amidst(&["series", "insert", "ward", name, "--json"]).json(0);
        scratch.amidst(&["series", "publish", "ward", "--safe", "--json"]).json(0)
    };
    let second = publish("one.csv", &people(60, 2));
    assert_eq!((&second["rows"], &second["held_back"]), (&60.into(), &2.into()));
    let plan = scratch.amidst(&["series", "plan", "ward", "--json"]).json(0);
    assert_eq!((&plan["rows_in"], &plan["changed"]), (&2.into(), &false.into()));
    scratch.amidst(&["series", "publish", "ward"]).fails(2, &["nothing has changed", "2 rows are held back"]);
    let third = publish("more.csv", &people(62, 4));
    assert_eq!((&third["rows"], &third["held_back"], &third["leaks"]), (&66.into(), &0.into(), &false.into()));
    let log = scratch.amidst(&["series", "log", "ward"]);
    assert!(log.stdout.contains("held back"), "{}", log.stdout);
}

/// Adult, as in the update paper's experiments: after any change the safe version can be published.
#[test]
fn adult_can_always_be_published() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/adult/adult.csv");
    let Ok(text) = fs::read_to_string(&data) else {
        println!("skipped: {} is not there", data.display());
        return;
    };
    let lines: Vec<&str> = text.lines().skip(1).filter(|line| !line.contains('?')).collect();
    let rows = |first: usize, count: usize| {
        let row = |(i, line): (usize, &&str)| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("p{},{},{},{},{}\n", first + i, cells[0], cells[4], cells[9], cells[6])
        };
        let rows = lines[first..first + count].iter().enumerate().map(row);
        rows.fold("id,age,education,sex,occupation\n".to_string(), |text, row| text + &row)
    };
    let keys = |from: usize, step: usize, count: usize| {
        (0..count).fold("id\n".to_string(), |text, i| text + &format!("p{}\n", from + i * step))
    };
    let policy = COLUMNS.replace(
        "[columns.disease]\n",
        "[columns.education]\nrole = \"quasi\"\ntype = \"integer\"\ngeneralize = \"ranges\"\n[columns.sex]\nrole = \
         \"quasi\"\nhierarchy = { suppress = true }\n[columns.occupation]\n",
    );
    let policy = format!("{policy}[[require]]\nmodel = \"distinct-l-diversity\"\nl = 4\n");
    let scratch = prepared_folder(&rows(0, 10_000), &policy);
    scratch.amidst(MAINTAIN).json(0);
    let steps = [
        (Some(rows(10_000, 50)), None),
        (Some(rows(10_050, 500)), None),
        (None, Some(keys(4, 190, 50))),
        (Some(rows(10_550, 120)), Some(keys(1, 82, 110))),
    ];
    for (insert, delete) in steps {
        scratch.file("new.csv", &insert.unwrap_or_else(|| rows(0, 0)));
        scratch.file("gone.csv", &delete.unwrap_or_else(|| "id\n".to_string()));
        scratch.amidst(&["series", "apply", "ward", "--insert", "new.csv", "--delete", "gone.csv", "--json"]).json(0);
        let done = scratch.amidst(&["series", "publish", "ward", "--safe", "--json"]).json(0);
        assert_eq!((&done["leaks"], &done["audit"]["exposed"]), (&false.into(), &0.into()));
    }
    assert_eq!(scratch.amidst(&["series", "audit", "ward", "--json"]).json(0)["leaks"], false);
    assert_eq!(scratch.amidst(&["verify", "ward/versions/5", "--json"]).json(0)["valid"], true);
}
