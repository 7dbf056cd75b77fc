//! `amidst series` from end to end: versions, refusals, and killed processes.

use std::fs;
use std::time::Duration;

use crate::test_folder::{TestFolder, people_policy};

pub const POLICY: &str = people_policy!(
    r#"[columns.zip]
role = "quasi"
hierarchy = { mask = { length = 4, from = "right" } }
"#,
    r#"[[require]]
model = "k-anonymity"
k = 3
[[require]]
model = "distinct-l-diversity"
l = 2
"#
);

pub const INIT: &[&str] = &["series", "init", "ward", "--policy", "policy.toml", "--mode", "maintain", "--json"];

pub fn people(first: usize, count: usize) -> String {
    let row = |i: usize| format!("p{i},{},{},d{}\n", 20 + i * 7 % 50, 4300 + i * 13 % 60, i * 5 % 7);
    (first..first + count).map(row).fold("id,age,zip,disease\n".to_string(), |t, r| t + &r)
}

fn prepared_folder(rows: usize, policy: &str) -> TestFolder {
    let scratch = TestFolder::new();
    scratch.file("people.csv", &people(0, rows));
    scratch.file("policy.toml", policy);
    scratch
}

#[test]
fn a_series_from_first_to_last() {
    let scratch = prepared_folder(60, POLICY);
    let first = scratch.amidst(INIT).json(0);
    assert_eq!((&first["version"], &first["rows"]), (&1.into(), &60.into()));
    assert_eq!(scratch.amidst(&["verify", "ward/versions/1", "--json"]).json(0)["valid"], true);
    let report = scratch.read("ward/versions/1/report.html");
    assert!(report.contains("version 1 of a series in the mode maintain"), "the report says what it is about");
    assert_eq!(first["outputs"]["report"], "ward/versions/1/report.html");
    assert_eq!(first["outputs"]["internal_report"], "ward/private/reports/1/report.html");
    for name in ["report.json", "report.md", "policy.toml"] {
        assert!(scratch.path("ward/versions/1").join(name).is_file(), "{name}");
        assert!(scratch.path("ward/private/reports/1").join(name).is_file(), "{name}");
    }
    scratch.file("one.csv", &people(60, 1));
    scratch.file("gone.csv", "id\np3\np4\n");
    let done = scratch.amidst(&["series", "insert", "ward", "one.csv", "--json"]).json(0);
    assert_eq!((&done["inserted"], &done["rows"]), (&1.into(), &61.into()));
    scratch.amidst(&["series", "publish", "ward"]).fails(1, &["--allow-leak", "`amidst series publish ward --safe`"]);
    assert_eq!(scratch.amidst(&["series", "delete", "ward", "gone.csv", "--json"]).json(0)["deleted"], 2);
    let second = scratch.amidst(&["series", "publish", "ward", "--allow-leak", "--json"]).json(0);
    assert_eq!((&second["version"], &second["leaks"]), (&2.into(), &true.into()));
    assert_eq!(scratch.amidst(&["verify", "ward/versions/2", "--json"]).json(0)["valid"], true);
    let log = scratch.amidst(&["series", "log", "ward", "--json"]).json(0);
    assert_eq!((log["batches"].as_array().unwrap().len(), log["versions"].as_array().unwrap().len()), (3, 2));
    let shown = scratch.amidst(&["series", "show", "ward", "2", "--json"]).json(0);
    assert!(shown["certificate"]["policy"].as_str().unwrap().contains("allow-leak"));
    assert_eq!(scratch.amidst(&["series", "audit", "ward", "--json"]).json(1)["leaks"], true);
    scratch.amidst(&["series", "show", "ward", "3"]).fails(2, &["no version 3"]);
    scratch.amidst(&["series", "log", "nowhere"]).fails(2, &["no series", "series init"]);
    scratch.amidst(&["series", "init", "ward", "--policy", "policy.toml"]).fails(2, &["exists already"]);
    for command in [&["series", "log", "ward"][..], &["series", "show", "ward", "1"]] {
        assert_eq!(scratch.amidst(command).code, 0);
    }
}

#[test]
fn m_invariant_versions_are_published_side_by_side() {
    let policy = format!("{POLICY}[[require]]\nmodel = \"m-invariance\"\nm = 3\n");
    let scratch = prepared_folder(60, &policy);
    scratch.amidst(&["series", "init", "ward", "--policy", "policy.toml", "--mode", "m-invariant", "--json"]).json(0);
    scratch.file("one.csv", &people(60, 1));
    scratch.file("gone.csv", "id\np3\np4\n");
    scratch.amidst(&["series", "apply", "ward", "--insert", "one.csv", "--delete", "gone.csv", "--json"]).json(0);
    let second = scratch.amidst(&["series", "publish", "ward", "--json"]).json(0);
    assert_eq!(second["leaks"], false);
    assert!(second["counterfeits"].as_u64().unwrap() > 0);
    assert_eq!(scratch.amidst(&["verify", "ward/versions/2", "--json"]).json(0)["valid"], true);
    assert_eq!(scratch.amidst(&["series", "audit", "ward", "--json"]).json(0)["leaks"], false);
}

const SIX: &str = people_policy!(
    "",
    r#"[[require]]
model = "distinct-l-diversity"
l = 2
"#
);

/// Six rows with l = 2 in the classes {A,C} {D,B} {C,D}; persons 1 and 6 leave, the others become one class {A,B,C,D}.
/// Those of the first class have A and C, so 3 and 4 have B and D; 4 has C or D, hence D; and so on.
#[test]
fn chained_subtraction_is_seen_through() {
    let scratch = TestFolder::new();
    scratch.file("people.csv", "id,age,disease\np1,40,D\np2,20,A\np3,41,B\np4,60,D\np5,21,C\np6,61,C\n");
    scratch.file("policy.toml", SIX);
    let first = scratch.amidst(INIT).json(0);
    assert_eq!((&first["classes"], &first["audit"]["exact"]), (&3.into(), &6.into()));
    scratch.file("gone.csv", "id\np1\np6\n");
    scratch.amidst(&["series", "delete", "ward", "gone.csv", "--json"]).json(0);
    let parts = ["4 persons are below distinct-l-diversity", "exact for all 6 persons", "--allow-leak"];
    scratch.amidst(&["series", "publish", "ward"]).fails(1, &parts);
    let second = scratch.amidst(&["series", "publish", "ward", "--allow-leak", "--json"]).json(0);
    assert_eq!((&second["classes"], &second["leaks"]), (&1.into(), &true.into()));
    let found = scratch.amidst(&["series", "audit", "ward", "--json"]).json(1);
    let column = &found["columns"][0];
    assert_eq!(
        (&found["exposed"], &column["certain"], &column["fewest_candidates"]),
        (&4.into(), &4.into(), &1.into())
    );
    let worst = column["worst"].as_array().unwrap();
    let of = |person: u32| worst.iter().find(|w| w["persons"] == serde_json::json!([person])).unwrap();
    for (person, value) in [(1, "D"), (3, "B"), (4, "D"), (6, "C")] {
        assert_eq!(of(person)["values"], serde_json::json!([value]));
    }
    let why = of(4)["why"].as_array().unwrap();
    assert_eq!(why.last().unwrap(), "so #4 has D, in every world that fits all versions");
    assert!(why.iter().any(|step| step.as_str().unwrap().contains("without A, C of #2, #5")), "{why:?}");
    let text = scratch.amidst(&["series", "audit", "ward"]);
    assert!(text.code == 1 && text.stdout.contains("of 4 persons") && text.stdout.contains("so #4 has D"));
    // Public files contain the number of people, not who they are.
    let public = scratch.read("ward/versions/2/certificate.json");
    assert!(public.contains("4 persons are below") && !public.contains("#4"));
    assert!(
        scratch.amidst(&["attack", "difference", "ward", "--json"]).json(0).to_string().contains("persons_certain")
    );
}

/// Two who join a class of three are left with the two values that were added: fewer than three.
#[test]
fn the_promised_l_is_asked_of_what_subtraction_leaves() {
    let scratch = TestFolder::new();
    scratch.file("people.csv", "id,age,disease\np1,20,A\np2,21,B\np3,22,C\n");
    scratch.file("policy.toml", &SIX.replace("l = 2", "l = 3"));
    scratch.amidst(INIT).json(0);
    scratch.file("new.csv", "id,age,disease\np4,21,D\np5,22,E\n");
    scratch.amidst(&["series", "insert", "ward", "new.csv", "--json"]).json(0);
    scratch.amidst(&["series", "publish", "ward"]).fails(1, &["2 persons are below distinct-l-diversity on `disease`"]);
    let second = scratch.amidst(&["series", "publish", "ward", "--allow-leak", "--json"]).json(0);
    assert_eq!(
        (&second["audit"]["columns"][0]["fewest_candidates"], &second["audit"]["exposed"]),
        (&2.into(), &2.into())
    );
    // They stay exposed, and the next refusal distinguishes them from those whom it would expose.
    scratch.file("more.csv", "id,age,disease\np6,21,D\np7,22,E\np8,23,F\n");
    scratch.amidst(&["series", "insert", "ward", "more.csv", "--json"]).json(0);
    scratch.amidst(&["series", "publish", "ward"]).fails(1, &["2 of the 8 persons concerned were so before"]);
}

/// A person whose value was replaced counts as another person from then on.
#[test]
fn a_replaced_value_is_no_contradiction() {
    let scratch = TestFolder::new();
    scratch.file("people.csv", "id,age,disease\np1,20,A\np2,21,B\np3,22,A\np4,23,B\n");
    scratch.file("policy.toml", SIX);
    scratch.amidst(INIT).json(0);
    scratch.file("gone.csv", "id\np1\np2\np3\np4\n");
    scratch.file("new.csv", "id,age,disease\np1,20,B\np2,21,C\np3,22,B\np4,23,C\n");
    let both = ["series", "apply", "ward", "--insert", "new.csv", "--delete", "gone.csv", "--json"];
    scratch.amidst(&both).json(0);
    let second = scratch.amidst(&["series", "publish", "ward", "--json"]).json(0);
    assert_eq!((&second["leaks"], &second["audit"]["columns"][0]["fewest_candidates"]), (&false.into(), &2.into()));
}

/// Rows may come from another program's output.
#[test]
fn rows_come_from_standard_input() {
    let scratch = prepared_folder(60, POLICY);
    scratch.amidst(INIT).json(0);
    let insert = |content: &str| {
        let file = fs::File::open(scratch.file("new.csv", content)).unwrap();
        let run = scratch.command(&["series", "insert", "ward", "-"]).stdin(file).output().unwrap();
        (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    assert_eq!(insert(&people(60, 5)), (Some(0), String::new()));
    let (code, told) = insert(&people(64, 2));
    assert!(code == Some(2) && told.contains("standard input is there already"), "{told}");
    let (code, told) = insert("id,age,zip,disease,more\nnew,30,4310,d1,x\n");
    assert!(code == Some(2) && told.contains("`more`"), "{told}");
    assert_eq!(scratch.amidst(&["series", "log", "ward", "--json"]).json(0)["batches"].as_array().unwrap().len(), 2);
}

/// After any invalid batch the series is unchanged.
#[test]
fn bad_batches_change_nothing() {
    let zips: Vec<String> = (4300..4360).map(|zip| format!("\"{zip}\"")).collect();
    let listed = format!("{{ order = [{}], groups = [10] }}", zips.join(", "));
    let scratch = prepared_folder(60, &POLICY.replace("{ mask = { length = 4, from = \"right\" } }", &listed));
    scratch.amidst(INIT).json(0);
    let before = scratch.amidst(&["series", "log", "ward", "--json"]).json(0);
    let insert = |content: &str, code: i32, parts: &[&str]| {
        scratch.file("bad.csv", content);
        scratch.amidst(&["series", "insert", "ward", "bad.csv"]).fails(code, parts);
    };
    insert("id,age,zip,disease\nnew,30,4310,d1\np3,30,4310,d1\n", 2, &["on line 3 of bad.csv", "there already"]);
    insert("id,age,zip,disease\nnew,30,4310,d1\nnew,31,4310,d1\n", 2, &["on line 3 of bad.csv"]);
    insert("id,age,zip,illness\nnew,30,4310,d1\n", 2, &["another header", "`disease`", "`illness`"]);
    insert("id,age,zip,disease\nnew,thirty,4310,d1\n", 2, &["age"]);
    insert("id,age,zip,disease\nnew,30,9999,d1\n", 2, &["zip", "line 2"]);
    insert("id,age,zip,disease\nnew,30\n", 2, &["bad.csv"]);
    scratch.amidst(&["series", "insert", "ward", "nowhere.csv"]).fails(2, &["nowhere.csv"]);
    let delete = |content: &str, code: i32, parts: &[&str]| {
        scratch.file("gone.csv", content);
        scratch.amidst(&["series", "delete", "ward", "gone.csv"]).fails(code, parts);
    };
    delete("id\np3\nnobody\n", 2, &["on line 3 of gone.csv", "not in the series"]);
    delete("id\nnobody\nno one\n", 2, &["2 keys are not in the series", "on line 2 of gone.csv"]);
    delete("id\np3\np3\n", 2, &["listed twice"]);
    delete("ids\np3\n", 2, &["no column `id`", "`ids`"]);
    let everyone: String = (0..60).map(|i| format!("p{i}\n")).collect();
    delete(&format!("id\n{everyone}"), 1, &["no row would be left"]);
    // An invalid half of a batch cancels the valid one.
    scratch.file("good.csv", &people(100, 5));
    scratch.file("gone.csv", "id\nnobody\n");
    let both = ["series", "apply", "ward", "--insert", "good.csv", "--delete", "gone.csv"];
    scratch.amidst(&both).fails(2, &["not in the series"]);
    assert_eq!(scratch.amidst(&["series", "log", "ward", "--json"]).json(0), before);
    scratch.amidst(&["series", "publish", "ward"]).fails(2, &["nothing has changed"]);
    // The series can still be used.
    assert_eq!(scratch.amidst(&["series", "insert", "ward", "good.csv", "--json"]).json(0)["rows"], 65);
}

/// Of two concurrent processes one works, the other gets an error, and nothing is lost.
#[test]
fn two_at_once_do_not_meet() {
    let scratch = prepared_folder(300, POLICY);
    scratch.amidst(INIT).json(0);
    let (mut done, mut told) = (0, 0);
    for turn in 0..4 {
        let children: Vec<_> = (0..3usize)
            .map(|i| {
                let name = format!("new{i}.csv");
                scratch.file(&name, &people(1000 + turn * 1000 + i * 100, 60));
                let mut command = scratch.command(&["series", "insert", "ward", &name]);
                command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
                command.spawn().unwrap()
            })
            .collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            match output.status.code() {
                Some(0) => done += 1,
                Some(3) if text.contains("locked") => told += 1,
                other => panic!("{other:?}: {text}"),
            }
        }
    }
    assert_eq!(done + told, 12);
    let log = scratch.amidst(&["series", "log", "ward", "--json"]).json(0);
    assert_eq!(log["batches"].as_array().unwrap().len(), 1 + done);
    let version = scratch.amidst(&["series", "publish", "ward", "--allow-leak", "--json"]).json(0);
    assert_eq!(version["rows"], 300 + 60 * done);
}

/// A file system that is really full, where the system allows one to be mounted.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing() {
    let scratch = prepared_folder(400, POLICY);
    let disk = scratch.path("disk");
    fs::create_dir(&disk).unwrap();
    let mount = |arguments: &[&str]| {
        let run = std::process::Command::new("mount").args(arguments).arg(&disk).output();
        run.is_ok_and(|output| output.status.success())
    };
    if !mount(&["-t", "tmpfs", "-o", "size=4m", "none"]) {
        println!("skipped: this user may not mount a file system");
        return;
    }
    struct Mounted(std::path::PathBuf);
    impl Drop for Mounted {
        fn drop(&mut self) {
            let _ = std::process::Command::new("umount").arg("-l").arg(&self.0).output();
        }
    }
    let _mounted = Mounted(disk.clone());
    scratch.amidst(&["series", "init", "disk/ward", "--policy", "policy.toml", "--mode", "maintain", "--json"]).json(0);
    scratch.file("new.csv", &people(1000, 300));
    scratch.amidst(&["series", "insert", "disk/ward", "new.csv", "--json"]).json(0);
    let before = scratch.amidst(&["series", "log", "disk/ward", "--json"]).json(0);
    // Another file takes all space except a little.
    let hog = |leave: u64| {
        let mut taken = fs::File::create(disk.join("hog")).unwrap();
        let block = [0u8; 4096];
        while std::io::Write::write(&mut taken, &block).is_ok_and(|n| n > 0) {}
        let length = taken.metadata().unwrap().len();
        taken.set_len(length.saturating_sub(leave)).unwrap();
    };
    for leave in [0, 8_000, 16_000] {
        hog(leave);
        scratch.file("more.csv", &people(5000, 3000));
        scratch.amidst(&["series", "insert", "disk/ward", "more.csv"]).fails(3, &[]);
        scratch.amidst(&["series", "publish", "disk/ward", "--allow-leak"]).fails(3, &[]);
        fs::remove_file(disk.join("hog")).unwrap();
        assert_eq!(
            scratch.amidst(&["series", "log", "disk/ward", "--json"]).json(0),
            before,
            "with {leave} bytes left"
        );
        assert_eq!(scratch.amidst(&["verify", "disk/ward/versions/1", "--json"]).json(0)["valid"], true);
        assert_eq!(fs::read_dir(disk.join("ward/versions")).unwrap().count(), 1);
    }
    // With space available, the requested command succeeds.
    let version = scratch.amidst(&["series", "publish", "disk/ward", "--allow-leak", "--json"]).json(0);
    assert_eq!(version["rows"], 700);
    assert_eq!(scratch.amidst(&["verify", "disk/ward/versions/2", "--json"]).json(0)["valid"], true);
}

#[test]
fn a_kill_at_any_instant_loses_nothing() {
    let scratch = prepared_folder(400, POLICY);
    scratch.amidst(INIT).json(0);
    let log = |scratch: &TestFolder| scratch.amidst(&["series", "log", "ward", "--json"]).json(0);
    let mut killed = 0;
    for turn in 0..24usize {
        let before = log(&scratch);
        scratch.file("new.csv", &people(1000 + turn * 100, 50));
        let arguments: &[&str] = match turn % 2 {
            0 => &["series", "insert", "ward", "new.csv"],
            _ => &["series", "publish", "ward", "--allow-leak"],
        };
        let mut child = scratch.start(arguments);
        // From immediately to about the duration of the command.
        std::thread::sleep(Duration::from_millis((turn as u64 * 37) % 97));
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        let after = log(&scratch);
        let count = |log: &serde_json::Value, what: &str| log[what].as_array().unwrap().len();
        for what in ["batches", "versions"] {
            let added = count(&after, what) - count(&before, what);
            assert!(added <= 1, "{what}");
        }
        for entry in fs::read_dir(scratch.path("ward/versions")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let number: usize = name.parse().unwrap();
            assert!(number <= count(&after, "versions"), "a version that the state does not know");
        }
    }
    assert!(killed > 0, "nothing was killed");
    scratch.file("last.csv", &people(9000, 10));
    scratch.amidst(&["series", "insert", "ward", "last.csv", "--json"]).json(0);
    scratch.amidst(&["series", "publish", "ward", "--allow-leak", "--json"]).json(0);
    let versions = log(&scratch)["versions"].as_array().unwrap().len();
    for number in 1..=versions {
        let folder = format!("ward/versions/{number}");
        assert_eq!(scratch.amidst(&["verify", &folder, "--json"]).json(0)["valid"], true, "{folder}");
    }
    assert_eq!(fs::read_dir(scratch.path("ward/versions")).unwrap().count(), versions);
}
