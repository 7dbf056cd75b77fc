//! `amidst anonymize` and `amidst verify`, from end to end.

use std::fs;

use crate::test_folder::TestFolder;

const INPATIENTS: &str = "name,zip,age,nationality,condition\n\
Ann,13053,28,Russian,Heart Disease\nBob,13068,29,American,Heart Disease\nCem,13068,21,Japanese,Viral Infection\n\
Dora,13053,23,American,Viral Infection\nEli,14853,50,Indian,Cancer\nFay,14853,55,Russian,Heart Disease\n\
Gus,14850,47,American,Viral Infection\nHal,14850,49,American,Viral Infection\nIda,13053,31,American,Cancer\n\
Jon,13053,37,Indian,Cancer\nKim,13068,36,Japanese,Cancer\nLeo,13068,35,American,Cancer\n";

const POLICY: &str = r#"[data]
input = "inpatients.csv"

[columns.name]
role = "identifying"

[columns.zip]
role = "quasi"
hierarchy = { mask = { length = 5, from = "right" } }

[columns.age]
role = "quasi"
hierarchy = { intervals = [10, 20, 40] }

[columns.nationality]
role = "quasi"
hierarchy = { suppress = true }

[columns.condition]
role = "sensitive"

[[require]]
model = "k-anonymity"
k = 4

[[require]]
model = "distinct-l-diversity"
on = "condition"
l = 3

[search]
algorithm = "optimal"
"#;

fn inpatients() -> TestFolder {
    let scratch = TestFolder::new();
    scratch.file("inpatients.csv", INPATIENTS);
    scratch.file("policy.toml", POLICY);
    scratch
}

#[test]
fn the_articles_inpatients_become_4_anonymous_and_3_diverse() {
    let scratch = inpatients();
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
    assert_eq!((&json["rows_in"], &json["rows_out"], &json["suppressed"]), (&12.into(), &12.into(), &0.into()));
    assert_eq!(json["optimal"], true);
    assert!(json["requirements"].as_array().unwrap().iter().all(|r| r["holds"] == true));
    assert!(json["levels"]["zip"].is_u64());
    for key in ["height", "average-class-size", "discernibility", "kl-divergence", "information-loss", "gcp", "loss"] {
        assert!(json["metrics"][key].is_number(), "{key}");
    }
    assert!(json["risk"]["prosecutor_max"].as_f64().unwrap() <= 0.25);
    let release = scratch.read("release/public/release.csv");
    assert_eq!(release.lines().next(), Some("zip,age,nationality,condition"));
    assert_eq!(release.lines().count(), 13);
    assert_eq!(scratch.amidst(&["verify", "release", "--json"]).json(0)["valid"], true);
    // The audit, which is independent of the search, agrees.
    let audit = scratch.amidst(&["audit", "release/public/release.csv", "--policy", "policy.toml", "--json"]).json(0);
    assert!(audit["measured"]["k"].as_u64().unwrap() >= 4);
    assert!(audit["measured"]["condition"]["distinct_l"].as_u64().unwrap() >= 3);
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let scratch = TestFolder::with_sample(3000);
    for (out, threads) in [("a", "1"), ("b", "2"), ("c", "7")] {
        let run = scratch.amidst(&["anonymize", "policy.toml", "--out", out, "--threads", threads]);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    for file in ["release.csv", "certificate.json", "policy.toml"] {
        let first = fs::read(scratch.path(&format!("a/public/{file}"))).unwrap();
        for other in ["b", "c"] {
            assert!(fs::read(scratch.path(&format!("{other}/public/{file}"))).unwrap() == first, "{other}/{file}");
        }
    }
    scratch.amidst(&["anonymize", "policy.toml", "--out", "d", "--seed", "2"]);
    assert!(
        scratch.read("d/public/release.csv") != scratch.read("a/public/release.csv"),
        "another seed, another order"
    );
}

#[test]
fn every_format_is_written_and_verified() {
    for ending in ["csv", "tsv", "csv.gz", "parquet", "arrow", "jsonl"] {
        let scratch = inpatients();
        scratch.file("policy.toml", &format!("{POLICY}\n[output]\nfile = \"release.{ending}\"\n"));
        let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "out", "--json"]).json(0);
        assert!(json["outputs"]["release"].as_str().unwrap().ends_with(ending));
        assert_eq!(scratch.amidst(&["verify", "out", "--json"]).json(0)["valid"], true, "{ending}");
    }
}

#[test]
fn what_may_be_handed_over_is_apart_from_what_stays() {
    let scratch = inpatients();
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "out", "--json"]).json(0);
    let documents = ["policy.toml", "report.html", "report.json", "report.md"];
    let names = |part: &str| {
        let mut names: Vec<String> =
            scratch.files(part).iter().map(|f| f.file_name().unwrap().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names("out/internal"), documents);
    let mut public = documents.to_vec();
    public.extend(["certificate.json", "release.csv"]);
    public.sort_unstable();
    assert_eq!(names("out/public"), public);
    let outputs = &json["outputs"];
    for (key, file) in [
        ("release", "out/public/release.csv"),
        ("certificate", "out/public/certificate.json"),
        ("report", "out/public/report.html"),
        ("policy", "out/public/policy.toml"),
        ("internal_report", "out/internal/report.html"),
        ("internal_policy", "out/internal/policy.toml"),
    ] {
        assert_eq!(outputs[key], file, "{key}");
    }
    // The public part is complete by itself, wherever it is moved; the output says which part is which.
    for place in ["out", "out/public"] {
        assert_eq!(scratch.amidst(&["verify", place, "--json"]).json(0)["valid"], true, "{place}");
        let attacked = scratch.amidst(&["attack", "homogeneity", place, "--json"]);
        assert_eq!(attacked.code, 0, "{}", attacked.stderr);
        assert!(
            scratch.amidst(&["audit", place, "--policy", "policy.toml", "--json"]).json(0)["measured"]["k"].is_u64()
        );
        // A release comes with its policy.
        let audit = scratch.amidst(&["audit", place, "--json"]).json(0);
        assert!(audit["measured"]["k"].is_u64() && audit["requirements"][0]["holds"] == true, "{audit}");
    }
    fs::rename(scratch.path("out/public"), scratch.path("handed")).unwrap();
    assert_eq!(scratch.amidst(&["verify", "handed"]).code, 0);
    scratch.amidst(&["verify", "out"]).fails(2, &["no certificate.json"]);
    let said = scratch.amidst(&["anonymize", "policy.toml", "--out", "told"]).stdout;
    assert!(said.contains("told/public may be handed over; told/internal stays with you"), "{said}");
}

#[test]
fn a_folder_of_an_older_layout_is_verified_and_replaced() {
    let scratch = inpatients();
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "out"]).code, 0);
    fs::rename(scratch.path("out/public"), scratch.path("old")).unwrap();
    assert_eq!(scratch.amidst(&["verify", "old"]).code, 0);
    scratch.amidst(&["anonymize", "policy.toml", "--out", "old"]).fails(2, &["--force"]);
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "old", "--force"]).code, 0);
    assert!(scratch.path("old/public/certificate.json").is_file() && !scratch.path("old/certificate.json").exists());
}

#[test]
fn an_engine_that_is_a_cluster_is_pointed_to() {
    let scratch = inpatients();
    let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "out", "--engine", "df://head:50050"]);
    run.fails(2, &["amidst-cluster anonymize policy.toml --scheduler df://head:50050", "docs/cluster.md"]);
    scratch.amidst(&["anonymize", "policy.toml", "--out", "out", "--engine", "spark"]).fails(2, &["local", "spark"]);
}

#[test]
fn a_single_file_gets_its_certificate_beside_it() {
    let scratch = inpatients();
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "published.csv", "--json"]).json(0);
    assert_eq!(json["outputs"]["certificate"], "published.csv.certificate.json");
    assert!(json["outputs"]["report"].is_null() && json["outputs"]["internal_report"].is_null());
    assert_eq!(scratch.names(), ["inpatients.csv", "policy.toml", "published.csv", "published.csv.certificate.json"]);
    let both = ["verify", "--release", "published.csv", "--certificate", "published.csv.certificate.json"];
    for call in [&both[..], &["verify", "published.csv"]] {
        let run = scratch.amidst(call);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    }
    scratch.amidst(&["verify", "inpatients.csv"]).fails(2, &["no certificate", "--certificate"]);
}

#[test]
fn tampering_is_detected() {
    let scratch = inpatients();
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]).code, 0);
    let release = scratch.read("release/public/release.csv");
    scratch.file("release/public/release.csv", &release.replacen("Cancer", "Cencer", 1));
    assert_eq!(scratch.amidst(&["verify", "release", "--json"]).json(1)["valid"], false);
    scratch.file("release/public/release.csv", &release);
    let certificate = scratch.read("release/public/certificate.json");
    scratch.file("release/public/certificate.json", &certificate.replacen("12", "13", 1));
    assert_eq!(scratch.amidst(&["verify", "release", "--json"]).json(1)["valid"], false);
    scratch.file("release/public/certificate.json", &certificate);
    assert_eq!(scratch.amidst(&["verify", "release"]).code, 0);
    let policy = scratch.read("release/public/policy.toml");
    scratch.file("release/public/policy.toml", &policy.replacen("k = 4", "k = 2", 1));
    assert_eq!(scratch.amidst(&["verify", "release", "--json"]).json(1)["valid"], false);
    fs::remove_file(scratch.path("release/public/policy.toml")).unwrap();
    assert_eq!(scratch.amidst(&["verify", "release", "--json"]).json(1)["valid"], false);
}

#[test]
fn what_is_left_out_is_not_told_by_what_was_there_before() {
    let scratch = TestFolder::new();
    let row = |i: usize| format!("{},{}\n", 20 + i, ["flu", "HIV"][i % 2]);
    let rows: String = (0..10).map(row).collect();
    scratch.file("people.csv", &format!("age,diagnosis\n{rows}95,HIV\n"));
    let policy = |more: &str, suppressed: &str| {
        format!(
            "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\nhierarchy = {{ intervals = [20] }}\n\
             [columns.diagnosis]\nrole = \"sensitive\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 5\n{more}\
             [search]\nalgorithm = \"optimal\"\nmax_suppression = 0.1\nsuppressed = \"{suppressed}\"\n"
        )
    };
    scratch.file("policy.toml", &policy("", "drop"));
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
    assert_eq!(json["suppressed"], 1);
    let report: serde_json::Value = serde_json::from_str(&scratch.read("release/public/report.json")).unwrap();
    fn before(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::Object(map) => map.iter().any(|(k, v)| (k == "before" && !v.is_null()) || before(v)),
            serde_json::Value::Array(items) => items.iter().any(before),
            _ => false,
        }
    }
    assert!(!before(&report), "{report}");
    for absent in ["utility", "method", "partition"] {
        let value = &report[absent];
        assert!(value.is_null() || value.as_array().is_some_and(Vec::is_empty), "{absent}: {value}");
    }
    assert!(!scratch.read("release/public/report.json").contains("kl-divergence"));
    let own: serde_json::Value = serde_json::from_str(&scratch.read("release/internal/report.json")).unwrap();
    assert!(before(&own));
    assert_eq!((&report["audience"], &own["audience"]), (&"public".into(), &"internal".into()));
    for (part, words) in [("public", "This is the public report"), ("internal", "This is the internal report")] {
        for file in ["report.html", "report.md"] {
            assert!(scratch.read(&format!("release/{part}/{file}")).contains(words), "{part} {file}");
        }
    }
    // Classes are compared with the release, which every recipient has.
    scratch.file("policy.toml", &policy("[[require]]\nmodel = \"t-closeness\"\non = \"diagnosis\"\nt = 0.2\n", "drop"));
    scratch.amidst(&["anonymize", "policy.toml", "--out", "close"]);
    let certificate: serde_json::Value = serde_json::from_str(&scratch.read("close/public/certificate.json")).unwrap();
    assert_eq!(certificate["sensitive"], serde_json::json!([{ "name": "diagnosis" }]));
    assert_eq!(scratch.amidst(&["verify", "close"]).code, 0);
}

#[test]
fn force_replaces_releases_and_nothing_else() {
    let scratch = inpatients();
    fs::create_dir(scratch.path("precious")).unwrap();
    scratch.file("precious/thesis.txt", "ten years");
    let forced = |out: &str| scratch.amidst(&["anonymize", "policy.toml", "--out", out, "--force"]);
    forced("precious").fails(2, &["no release", "--force"]);
    forced("inpatients.csv").fails(2, &["the input"]);
    forced(".").fails(2, &["the input"]);
    assert_eq!(
        (scratch.read("precious/thesis.txt").as_str(), scratch.read("inpatients.csv").as_str()),
        ("ten years", INPATIENTS)
    );
}

#[test]
fn a_release_is_compared_with_its_input() {
    let scratch = inpatients();
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]).code, 0);
    let verify = |original: &str| {
        scratch.amidst(&["verify", "release", "--policy", "policy.toml", "--original", original, "--json"])
    };
    assert_eq!(verify("inpatients.csv").json(0)["valid"], true);
    // Another condition, another place, fewer people: none of these is the input.
    scratch.file("condition.csv", &INPATIENTS.replacen("Cancer", "Viral Infection", 1));
    scratch.file("elsewhere.csv", &INPATIENTS.replace("14853", "99853").replace("14850", "99850"));
    scratch.file("fewer.csv", INPATIENTS.rsplit_once("Leo").unwrap().0);
    for original in ["condition.csv", "elsewhere.csv", "fewer.csv"] {
        assert_eq!(verify(original).json(1)["valid"], false, "{original}");
    }
}

#[test]
fn a_population_is_counted_by_search_and_checker_alike() {
    let scratch = inpatients();
    let mut people = String::from("zip,age,nationality,count\n");
    for line in INPATIENTS.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        people.push_str(&format!("{},{},{},3\n", cells[1], cells[2], cells[3]));
    }
    people.push_str("13053,28,Japanese,1\n");
    scratch.file("population.csv", &people);
    let require = "[[require]]\nmodel = \"k-map\"\nk = 9\npopulation = \"population.csv\"\n\n[search]";
    scratch
        .file("policy.toml", &POLICY.replace("[search]", require).replace("k = 4", "k = 1").replace("l = 3", "l = 1"));
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
    let kmap = &json["requirements"][2];
    assert_eq!((&kmap["model"], &kmap["holds"]), (&"k-map".into(), &true.into()));
    assert!(kmap["measured"]["k"].as_u64().unwrap() >= 9);
    let run = scratch.amidst(&["verify", "release", "--policy", "policy.toml", "--json"]).json(0);
    assert_eq!(run["requirements"][2]["measured"], kmap["measured"]);
}

/// Only local recodings write ranges, so a policy that asks for them and names no algorithm gets one.
#[test]
fn a_column_in_ranges_asks_for_a_local_recoding() {
    let scratch = TestFolder::new();
    let ages: String = (0..40).map(|i| format!("{}\n", 20 + i)).collect();
    scratch.file("people.csv", &format!("age\n{ages}"));
    let policy = |generalize: &str| {
        format!(
            "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\ntype = \"integer\"\n\
             generalize = \"{generalize}\"\nhierarchy = {{ intervals = [10, 20] }}\n\
             [[require]]\nmodel = \"k-anonymity\"\nk = 4\n"
        )
    };
    for (generalize, algorithm) in [("hierarchy", "optimal"), ("ranges", "portfolio")] {
        scratch.file("policy.toml", &policy(generalize));
        let json = scratch.amidst(&["anonymize", "policy.toml", "--out", generalize, "--json"]).json(0);
        assert_eq!(json["algorithm"], algorithm);
        assert_eq!(json["levels"].is_null(), generalize == "ranges");
        // The lattice is explored in either case.
        let explored = scratch.amidst(&["explore", "policy.toml", "--json"]).json(0);
        assert_eq!(explored["minimal"][0]["levels"]["age"], 1);
    }
}

/// People of whom some waived protection, and a policy that states how they are published.
fn waivers(mode: &str, algorithm: &str) -> TestFolder {
    let scratch = TestFolder::new();
    let mut rows = String::from("age,disease,waived\n");
    for i in 0..40 {
        rows.push_str(&format!("{},{},no\n", 20 + i, ["flu", "cold"][i % 2]));
    }
    rows.push_str("25,flu,yes\n90,gout,yes\n");
    scratch.file("people.csv", &rows);
    scratch.file(
        "policy.toml",
        &format!(
            "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\ngeneralize = \"ranges\"\n\
             hierarchy = {{ intervals = [5, 10] }}\n[columns.disease]\nrole = \"sensitive\"\n\
             [columns.waived]\nrole = \"consent\"\nmode = \"{mode}\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 4\n\
             [search]\nalgorithm = \"{algorithm}\"\n"
        ),
    );
    scratch
}

#[test]
fn rows_that_waived_protection_are_published_as_they_are() {
    for algorithm in ["optimal", "mondrian"] {
        let scratch = waivers("publish", algorithm);
        let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
        assert_eq!((&json["rows_in"], &json["rows_out"]), (&42.into(), &42.into()));
        let release = scratch.read("release/public/release.csv");
        assert_eq!(release.lines().next(), Some("age,disease"));
        assert!(release.lines().any(|l| l == "90,gout") && release.lines().any(|l| l == "25,flu"), "{release}");
        let verdict = scratch.amidst(&["verify", "release", "--policy", "policy.toml", "--json"]).json(0);
        assert_eq!(verdict["valid"], true, "{verdict}");
    }
}

#[test]
fn rows_that_waived_protection_join_the_nearest_class() {
    let scratch = waivers("join", "mondrian");
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
    assert_eq!((&json["rows_in"], &json["rows_out"], &json["suppressed"]), (&42.into(), &42.into(), &0.into()));
    assert_eq!((&json["joined"], &json["waived"]), (&2.into(), &0.into()));
    let told = scratch.amidst(&["anonymize", "policy.toml", "--out", "again"]).stdout;
    assert!(told.contains("2 rows waived protection, joined the classes of others"), "{told}");
    let release = scratch.read("release/public/release.csv");
    assert!(!release.lines().any(|l| l.starts_with("90,") || l.starts_with("25,")), "{release}");
    assert!(release.lines().any(|l| l.contains("-90],gout")), "{release}");
    assert_eq!(scratch.amidst(&["verify", "release"]).code, 0);
    // The report counts them separately, and distinguishes before from after.
    let report: serde_json::Value = serde_json::from_str(&scratch.read("release/internal/report.json")).unwrap();
    assert_eq!((&report["rows"]["joined"], &report["rows"]["waived"]), (&2.into(), &0.into()));
    let risk = &report["risk"];
    assert_eq!((&risk["before"]["persons"], &risk["after"]["persons"]), (&40.into(), &42.into()));
    let worst = &report["requirements"][0]["worst"];
    assert_eq!(
        (&report["requirements"][0]["measured"]["k"], &risk["after"]["smallest_class"]),
        (&worst["size"], &worst["size"])
    );
    let bars = report["columns"][1]["histogram"].as_array().unwrap();
    assert_eq!(bars.iter().map(|b| b["after"].as_u64().unwrap()).sum::<u64>(), 42);
    assert!(scratch.read("release/internal/report.html").contains("joined the classes of the others"));
    let scratch = waivers("join", "optimal");
    scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]).fails(2, &["portfolio", "publish"]);
}

#[test]
fn identifying_and_key_values_appear_nowhere() {
    let scratch = TestFolder::new();
    let mut rows = String::from("name,id,age,town,disease\n");
    for i in 0..40 {
        rows.push_str(&format!("Canary{i},CANARYKEY{i},{},Ulm,{}\n", 20 + i % 4, ["flu", "cold"][i % 2]));
    }
    // One row cannot be published; no file may contain its person's town.
    rows.push_str("Canary40,CANARYKEY40,21,Canaryville,flu\n");
    scratch.file("people.csv", &rows);
    scratch.file(
        "policy.toml",
        "[data]\ninput = \"people.csv\"\n[columns.name]\nrole = \"identifying\"\n[columns.id]\nrole = \"key\"\n\
         [columns.age]\nrole = \"quasi\"\nhierarchy = { intervals = [5] }\n[columns.town]\nrole = \"quasi\"\n\
         hierarchy = { suppress = true }\n[columns.disease]\nrole = \"sensitive\"\n[[require]]\nmodel = \"k-anonymity\"\n\
         k = 3\n[[require]]\nmodel = \"distinct-l-diversity\"\nl = 2\n[search]\nalgorithm = \"optimal\"\n\
         max_suppression = 1\n",
    );
    let policy = ["--policy", "policy.toml"];
    let attack = |name: &str, more: &[&str]| {
        scratch.amidst(&[&["attack", name, "release/public/release.csv"], &policy[..], more].concat())
    };
    let mut runs = vec![
        scratch.amidst(&["check", "policy.toml"]),
        scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "-v"]),
        scratch.amidst(&["audit", "people.csv", "--policy", "policy.toml", "--report", "release/audit.html"]),
        scratch.amidst(&["attack", "homogeneity", "people.csv", "--policy", "policy.toml"]),
        scratch.amidst(&["attack", "linkage", "people.csv", "--policy", "policy.toml", "--external", "people.csv"]),
        scratch.amidst(&["explore", "policy.toml"]),
        scratch.amidst(&["verify", "release", "--sarif", "release/good.sarif"]),
        scratch.amidst(&[
            "audit",
            "release/public/release.csv",
            "--policy",
            "policy.toml",
            "--population",
            "people.csv",
            "--json",
        ]),
        attack("belief", &["--population", "people.csv", "--json"]),
        attack("minimality", &["--original", "people.csv", "--set", "scope=class"]),
        attack("difference", &["--earlier", "people.csv", "--external", "people.csv", "--person", "name", "--json"]),
        attack("intersection", &["--earlier", "people.csv", "--external", "people.csv", "--person", "name"]),
    ];
    assert!(scratch.read("release/public/certificate.json").contains("\"suppressed\": 1"), "the canary was suppressed");
    // Messages say what is wrong without identifying the row.
    let release = scratch.read("release/public/release.csv");
    scratch.file("release/public/release.csv", &release.replacen("flu", "gout", 1));
    runs.push(scratch.amidst(&["verify", "release", "--sarif", "release/bad.sarif"]));
    scratch.file("release/public/release.csv", &release);
    let mut seen: Vec<String> = runs.iter().flat_map(|r| [r.stdout.clone(), r.stderr.clone()]).collect();
    for file in scratch.files("release") {
        seen.push(String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned());
    }
    assert!(runs.iter().all(|r| r.code == 0 || r.code == 1));
    for text in seen {
        assert!(!text.to_lowercase().contains("canary"), "{text}");
    }
}

#[test]
fn an_existing_release_is_replaced_only_by_force() {
    let scratch = inpatients();
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]).code, 0);
    scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]).fails(2, &["exists already", "--force"]);
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force"]).code, 0);
    assert_eq!(scratch.amidst(&["verify", "release"]).code, 0);
    scratch.amidst(&["anonymize", "policy.toml", "--out", "no/such/place"]).fails(2, &["no folder", "create it"]);
    assert_eq!(scratch.names(), ["inpatients.csv", "policy.toml", "release"]);
}

#[test]
fn an_impossible_policy_names_the_best_that_can_be_had() {
    let scratch = inpatients();
    scratch.file("policy.toml", &POLICY.replace("l = 3", "l = 4"));
    let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]);
    run.fails(1, &["distinct-l-diversity", "3"]);
    assert!(!scratch.path("release").exists());
    scratch.file("policy.toml", &POLICY.replace("k = 4", "k = 13"));
    scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]).fails(1, &["k-anonymity", "12"]);
}
