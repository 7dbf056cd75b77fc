//! Tables of databases wherever a data file is accepted.

use crate::test_folder::TestFolder;

const POLICY: &str = "[data]\ninput = \"sqlite://data/clinic.db?table=visit\"\nmissing = [\"?\"]\n\
    [columns.name]\nrole = \"identifying\"\n[columns.photo]\nrole = \"identifying\"\n\
    [columns.age]\nrole = \"quasi\"\nhierarchy = { intervals = [5, 10, 20] }\n\
    [columns.side]\nrole = \"quasi\"\nhierarchy = { suppress = true }\n\
    [columns.disease]\nrole = \"sensitive\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 4\n";

/// A clinic of 60 visits, of which one has an unknown age and one an unknown side, and its town.
fn clinic() -> TestFolder {
    let scratch = TestFolder::new();
    std::fs::create_dir(scratch.path("data")).unwrap();
    let database = rusqlite::Connection::open(scratch.path("data/clinic.db")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE visit (name TEXT, photo BLOB, age INTEGER, side TEXT, disease TEXT);
             CREATE TABLE town (name TEXT, age INTEGER, side TEXT, count INTEGER);
             INSERT INTO town SELECT 'Canary', NULL, NULL, 1000;",
        )
        .unwrap();
    for i in 0..60 {
        let (age, side) = (20 + i % 20, ["north", "south"][i / 30]);
        let age = (i != 7).then_some(age as i64);
        let side = if i == 9 { "?" } else { side };
        let row = rusqlite::params![format!("Canary {i}"), [0u8, 255], age, side, ["flu", "gout"][i % 2]];
        database.execute("INSERT INTO visit VALUES (?1, ?2, ?3, ?4, ?5)", row).unwrap();
        database.execute("INSERT INTO town VALUES ('Canary', ?1, ?2, 3)", (age.unwrap_or(27), side)).unwrap();
    }
    scratch
}

#[test]
fn a_release_of_a_database_is_made_and_verified() {
    let scratch = clinic();
    // Relative to the policy's folder, which is not the working directory.
    std::fs::create_dir(scratch.path("policies")).unwrap();
    scratch.file("policies/p.toml", &POLICY.replace("sqlite://data", "sqlite://../data"));
    let json = scratch.amidst(&["anonymize", "policies/p.toml", "--out", "release", "--json"]).json(0);
    assert_eq!((&json["rows_in"], &json["rows_dropped_missing"]), (&60.into(), &2.into()));
    assert!(json["levels"]["age"].as_u64().unwrap() < 3, "{json}");
    for file in scratch.files("release") {
        assert!(!std::fs::read_to_string(&file).unwrap().contains("Canary"), "{}", file.display());
    }
    let run = scratch.amidst(&["verify", "release", "--policy", "policies/p.toml", "--json"]);
    assert_eq!(run.json(0)["problems"].as_array().unwrap().len(), 0, "{}", run.stdout);
    // Compared with another table, the rows are not its own.
    let other = "sqlite://data/clinic.db?query=SELECT name, NULL AS photo, age, side, 'flu' AS disease FROM town";
    let run = scratch.amidst(&["verify", "release", "--policy", "policies/p.toml", "--original", other, "--json"]);
    assert_eq!(run.json(1)["valid"], false);
    assert_eq!(scratch.amidst(&["check", "policies/p.toml"]).code, 0);
    let same = "sqlite://data/clinic.db?table=visit";
    let again = scratch.amidst(&["anonymize", "policies/p.toml", "--input", same, "--out", "again", "--json"]).json(0);
    assert_eq!(again["rows_out"], json["rows_out"]);
    assert_eq!(scratch.read("again/public/release.csv"), scratch.read("release/public/release.csv"));
    // The database itself must not be overwritten.
    scratch
        .amidst(&["anonymize", "policies/p.toml", "--out", "data", "--force"])
        .fails(2, &["which the release would replace"]);
}

#[test]
fn every_command_that_takes_a_table_takes_one_of_a_database() {
    let scratch = clinic();
    let data = "sqlite://data/clinic.db?table=visit";
    let audit = scratch.amidst(&["audit", data, "--qi", "age,side", "--sensitive", "disease", "--json"]).json(0);
    assert_eq!(audit["rows"], 59, "{audit}");
    assert_eq!(scratch.amidst(&["init", data, "--out", "data/mine.toml"]).code, 0);
    assert!(
        scratch.read("data/mine.toml").contains("\"sqlite://clinic.db?table=visit\""),
        "{}",
        scratch.read("data/mine.toml")
    );
    assert_eq!(scratch.amidst(&["check", "data/mine.toml"]).code, 0);
    let town = "sqlite://data/clinic.db?table=town";
    let attack =
        ["attack", "linkage", data, "--qi", "age,side", "--sensitive", "disease", "--external", town, "--json"];
    assert_eq!(scratch.amidst(&attack).code, 0);
    let against = ["audit", data, "--qi", "age,side", "--sensitive", "disease", "--population", town, "--json"];
    assert!(scratch.amidst(&against).json(0)["risk"]["journalist_max"].is_number());
    // A population is read by the search and by the checker, without people who have unknown values.
    let policy = POLICY.replace("k-anonymity", "k-map") + "population = \"sqlite://data/clinic.db?table=town\"\n";
    scratch.file("map.toml", &policy);
    let json = scratch.amidst(&["anonymize", "map.toml", "--out", "map", "--json"]).json(0);
    let verify = scratch.amidst(&["verify", "map", "--policy", "map.toml", "--json"]).json(0);
    assert_eq!(verify["requirements"][0]["measured"], json["requirements"][0]["measured"]);
    assert!(verify["requirements"][0]["measured"]["k"].as_u64().unwrap() < 1000);
}

#[test]
fn what_is_wrong_with_a_database_is_said() {
    let scratch = clinic();
    let audit = |data: &str| scratch.amidst(&["audit", data, "--qi", "age", "--sensitive", "disease"]);
    audit("sqlite://data/clinic.db").fails(2, &["?table=", "“town”", "“visit”"]);
    audit("sqlite://data/clinic.db?table=visits").fails(2, &["“visits”", "“visit”"]);
    audit("sqlite://data/clinick.db").fails(2, &["no such file", "clinic.db"]);
    scratch.file("data/text.db", &"a,b\n".repeat(300));
    audit("sqlite://data/text.db").fails(2, &["not a SQLite database"]);
    audit("mysql://x/y").fails(2, &["mysql://", "sqlite://"]);
}

#[test]
fn nulls_are_unknown_in_every_format_that_has_them() {
    let scratch = TestFolder::new();
    let mut lines = String::new();
    for i in 0..40 {
        let age = if i == 3 { "null".to_string() } else { (20 + i % 4).to_string() };
        let note = if i == 5 { "\"\"" } else { "\"x\"" };
        lines.push_str(&format!("{{\"age\":{age},\"disease\":\"{}\",\"note\":{note}}}\n", ["flu", "gout"][i % 2]));
    }
    scratch.file("people.jsonl", &lines);
    let policy = |more: &str| {
        format!(
            "[data]\ninput = \"people.jsonl\"\n{more}\n[columns.age]\nrole = \"quasi\"\nhierarchy = {{ intervals = [2] }}\n\
             [columns.disease]\nrole = \"sensitive\"\n[columns.note]\nrole = \"insensitive\"\naccept = \"a test\"\n\
             [[require]]\nmodel = \"k-anonymity\"\nk = 1\n"
        )
    };
    // An empty text is a text, unless the policy says otherwise.
    for (more, dropped) in [("missing = []", 1), ("missing = [\"\"]", 2), ("missing_rows = \"keep\"", 0)] {
        scratch.file("p.toml", &policy(more));
        let json = scratch.amidst(&["anonymize", "p.toml", "--out", "r", "--force", "--json"]).json(0);
        assert_eq!(json["rows_dropped_missing"], dropped, "{more}");
        let verify = scratch.amidst(&["verify", "r", "--policy", "p.toml", "--json"]);
        assert_eq!(verify.json(0)["valid"], true, "{more}: {}", verify.stdout);
        let audit = scratch.amidst(&["audit", "people.jsonl", "--policy", "p.toml", "--json"]).json(0);
        assert_eq!(audit["rows"], 40 - dropped, "{more}");
    }
}

#[test]
fn a_password_appears_nowhere() {
    let scratch = TestFolder::with_sample(60);
    let address = "postgres://me:canary@127.0.0.1:1/clinic?table=visit&password=canary";
    let policy = scratch.read("policy.toml").replacen("patients.csv", address, 1);
    scratch.file("p.toml", &policy);
    // An error that quotes the line, and one that is about the file as a whole.
    scratch.file("quoted.toml", &policy.replacen("\n[columns.id]", "separator = 7\n[columns.id]", 1));
    scratch.file("torn.toml", &policy.replacen("&password=canary\"", "&password=canary\" x", 1));
    let map = format!("\n[[require]]\nmodel = \"k-map\"\nk = 2\npopulation = \"{address}\"\n");
    scratch.file("map.toml", &(scratch.read("policy.toml") + &map));
    scratch.file("risk.toml", &(scratch.read("policy.toml") + &format!("\n[risk]\npopulation = \"{address}\"\n")));
    let known = ["--qi", "age", "--sensitive", "diagnosis"];
    for arguments in [
        vec!["check", "p.toml"],
        vec!["check", "p.toml", "--json"],
        vec!["check", "quoted.toml"],
        vec!["check", "torn.toml", "--json"],
        vec!["anonymize", "p.toml", "--out", "r"],
        vec!["anonymize", "map.toml", "--out", "r"],
        vec!["anonymize", "risk.toml", "--out", "r"],
        vec!["anonymize", "policy.toml", "--input", address, "--out", "r"],
        vec!["explore", "p.toml"],
        vec!["init", address],
        [vec!["audit", address], known.to_vec()].concat(),
        [vec!["audit", "patients.csv", "--population", address], known.to_vec()].concat(),
        [vec!["attack", "linkage", "patients.csv", "--external", address], known.to_vec()].concat(),
        vec!["series", "init", "s", "--policy", "p.toml"],
    ] {
        let run = scratch.amidst(&arguments);
        assert!(run.code == 2 || run.code == 3, "{arguments:?}: {} {}", run.code, run.stderr);
        assert!(!(run.stdout + &run.stderr).contains("canary"), "{arguments:?}: {}", run.stderr);
    }
    // A policy that mentions a server is published without the password.
    let json = scratch.amidst(&["anonymize", "p.toml", "--input", "patients.csv", "--out", "r", "--json"]);
    assert!(!json.stdout.contains("canary"), "{}", json.stdout);
    assert_eq!(json.code, 0, "{}", json.stderr);
    assert!(!scratch.read("r/public/policy.toml").contains("127.0.0.1"));
    assert!(scratch.read("r/internal/policy.toml").contains("postgres://me@127.0.0.1:1/clinic?table=visit\""));
    for path in scratch.files("r") {
        assert!(!std::fs::read_to_string(&path).unwrap().contains("canary"), "{}", path.display());
    }
}
