//! `amidst init` and `amidst audit FILE` on tables of a first-time user.

use serde_json::Value;

use crate::test_folder::TestFolder;

/// Unusual files that are tables.
fn awkward() -> Vec<(&'static str, String)> {
    let wide = |rows: usize| {
        let head: Vec<String> = (0..300).map(|c| format!("q{c}")).collect();
        let row =
            |r: usize| (0..300).map(|c| ((r * 31 + c * 17 + r * c) % 5).to_string()).collect::<Vec<_>>().join(",");
        format!("{}\n{}\n", head.join(","), (0..rows).map(row).collect::<Vec<_>>().join("\n"))
    };
    vec![
        ("one row", "name,age\nAnn,30\n".to_string()),
        ("one column", "age\n30\n31\n30\n45\n".to_string()),
        ("one cell", "x\n1\n".to_string()),
        ("two rows alike", "a,b\n1,2\n1,2\n".to_string()),
        ("all missing", "a,b\n,\n,\n,\n".to_string()),
        ("a column all missing", "a,b\n1,NA\n2,NA\n1,NA\n2,NA\n2,NA\n".to_string()),
        ("semicolons", "name;age;city\nAnn;30;Köln\nBob;31;Bonn\nCem;30;Köln\n".to_string()),
        ("wide", wide(40)),
        (
            "huge numbers",
            format!(
                "n,age\n{}\n",
                (0..30).map(|i| format!("9{:045},{}", i * 7, 20 + i % 9)).collect::<Vec<_>>().join("\n")
            ),
        ),
        ("names only", "name,email\nAnn,a@example.org\nBob,b@example.org\n".to_string()),
        ("a name with everything", "\"a \"\"b\"\"\nc # d\",e.f\n1,2\n3,4\n1,2\n".to_string()),
        ("numbers as texts", format!("v\n{}\n", (0..50).map(|i| format!("{i}e2")).collect::<Vec<_>>().join("\n"))),
    ]
}

#[test]
fn awkward_tables_get_a_draft_that_publishes_nobody() {
    for (what, text) in awkward() {
        let scratch = TestFolder::new();
        scratch.file("data.csv", &text);
        let init = scratch.amidst(&["init", "data.csv"]);
        assert_eq!(init.code, 0, "{what}: {}", init.stderr);
        let policy = scratch.read("policy.toml");
        assert!(!policy.contains("[columns.\"*\"]"), "{what}");
        let check = scratch.amidst(&["check", "policy.toml"]);
        // A table of one row cannot be anonymous.
        if text.trim_end().lines().count() == 2 {
            assert!(check.code == 1 && check.stderr.contains("k-anonymity"), "{what}: {}", check.stderr);
            assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "out"]).code, 1, "{what}");
            continue;
        }
        assert_eq!(check.code, 0, "{what}: {}\n{policy}", check.stderr);
        let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "out"]);
        assert_eq!(run.code, 0, "{what}: {}\n{policy}", run.stderr);
        assert_eq!(scratch.amidst(&["verify", "out"]).code, 0, "{what}");
        let audit = scratch.amidst(&["audit", "data.csv", "--json"]);
        assert_eq!(audit.code, 0, "{what}: {}", audit.stderr);
    }
}

#[test]
fn a_file_without_rows_is_told_of() {
    for text in ["", "name,age\n", "\n"] {
        let scratch = TestFolder::new();
        scratch.file("data.csv", text);
        let init = scratch.amidst(&["init", "data.csv"]);
        assert_eq!(init.code, 2, "{text:?}: {}", init.stderr);
        assert!(init.stderr.contains("data.csv") && !scratch.path("policy.toml").exists(), "{}", init.stderr);
    }
}

fn trial(scratch: &TestFolder) {
    let mut text = "pidnum,age,sex,site,density\n".to_string();
    for i in 0..400u64 {
        let site = i * i % 5;
        let (sex, density) =
            (["f", "m"][(i % 2) as usize], ["2872.7", "2195.3", "1457.2", "88.1", "40.9"][site as usize]);
        text.push_str(&format!(
            "{},{},{sex},s{site},{density}\n",
            10_056 + i * 48_271 % 980_021,
            20 + (i * i * 7 + i) % 61
        ));
    }
    scratch.file("trial.csv", &text);
}

#[test]
fn an_audit_without_options_tells_what_singles_out() {
    let scratch = TestFolder::new();
    trial(&scratch);
    let run = scratch.amidst(&["audit", "trial.csv", "--json"]);
    let found: Value = run.json(0);
    assert_eq!(found["columns"][0]["name"], "pidnum");
    assert_eq!((&found["columns"][0]["uniques"], &found["columns"][0]["role"]), (&400.into(), &"identifying".into()));
    assert!(found["suda"]["rows_singled_out"].as_u64().unwrap() > 0);
    assert_eq!(found["sets"][0]["uniques"], found["suda"]["rows_singled_out"]);
    let text = scratch.amidst(&["audit", "trial.csv"]);
    for said in ["pidnum", "SUDA2", "Next:", "amidst init trial.csv", "+"] {
        assert!(text.stdout.contains(said), "{said}: {}", text.stdout);
    }
    let wrong = scratch.amidst(&["audit", "trial.csv", "--report", "r.html"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("--qi"), "{}", wrong.stderr);
}

#[test]
fn check_warns_of_a_column_that_gives_another_away() {
    let scratch = TestFolder::new();
    trial(&scratch);
    let policy = "[data]\ninput = \"trial.csv\"\nmissing = []\n[columns.pidnum]\nrole = \"identifying\"\n[columns.age]\nrole = \
                  \"quasi\"\n[columns.sex]\nrole = \"quasi\"\n[columns.site]\nrole = \"quasi\"\nhierarchy = { suppress = true }\n\
                  [columns.density]\nrole = \"insensitive\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 5\n";
    scratch.file("p.toml", policy);
    let check = scratch.amidst(&["check", "p.toml"]);
    assert_eq!(check.code, 0, "{}", check.stderr);
    for said in ["`density`", "`site`", "100 %", "make `density` quasi"] {
        assert!(check.stderr.contains(said), "{said}: {}", check.stderr);
    }
    assert!(!check.stderr.contains("`age` away"), "{}", check.stderr);
    scratch.file("p.toml", &policy.replace("role = \"insensitive\"", "role = \"identifying\""));
    assert!(!scratch.amidst(&["check", "p.toml"]).stderr.contains("away"));
}

/// 80 people with four visits each, identified only by first and last name together: five rows of one person are not
/// five people.
#[test]
fn people_are_told_apart_by_their_names_together() {
    let scratch = TestFolder::new();
    let first = ["Ann", "Bea", "Cleo", "Dora", "Eve", "Fay", "Gil", "Hal", "Ian", "Jon"];
    let last = ["Ashe", "Boyd", "Cole", "Dunn", "Egan", "Ford", "Gray", "Hill"];
    let line = |visit: usize| {
        let person = visit * 31 % 80;
        let (first, last, sex) = (first[person % 10], last[person / 10], ["f", "m"][person * 7 / 3 % 2]);
        let (age, minutes) = (20 + person * 13 % 61, 10 + visit * 17 % 50);
        format!("{first},{last},{sex},{age},{},{minutes}\n", ["N", "S", "E", "W"][person * 5 / 7 % 4])
    };
    let rows: Vec<String> = (0..320).map(line).collect();
    scratch.file("visits.csv", &format!("first_name,last_name,sex,age,region,minutes\n{}", rows.concat()));
    assert_eq!(scratch.amidst(&["init", "visits.csv"]).code, 0);
    let policy = scratch.read("policy.toml");
    assert_eq!(policy.matches("role = \"key\"").count(), 2, "{policy}");
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "out", "--json"]).json(0);
    assert!(json["risk"]["smallest_class"].as_u64().unwrap() >= 5, "{json}");
    let certificate: Value = serde_json::from_str(&scratch.read("out/public/certificate.json")).unwrap();
    assert_eq!(certificate["persons"], true);
    let release = scratch.read("out/public/release.csv");
    assert!(first.iter().chain(&last).all(|name| !release.contains(name)), "{release}");
    assert_eq!(scratch.amidst(&["verify", "out", "--policy", "policy.toml"]).code, 0);
}
