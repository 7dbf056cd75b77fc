//! Commands that explain: registries, explanations, samples, drafted policies, completions.

use crate::test_folder::TestFolder;

#[test]
fn every_entry_of_every_registry_can_be_explained() {
    let scratch = TestFolder::new();
    for registry in ["models", "algorithms", "metrics"] {
        let json = scratch.amidst(&[registry, "--json"]).json(0);
        let entries = json[registry].as_array().unwrap();
        assert!(!entries.is_empty(), "{registry}");
        for entry in entries {
            let id = entry["id"].as_str().unwrap();
            let run = scratch.amidst(&["explain", id]);
            assert_eq!(run.code, 0, "{id}");
            assert!(run.stdout.contains(entry["citation"].as_str().unwrap()), "{id}");
            let json = scratch.amidst(&["explain", id, "--json"]).json(0);
            assert_eq!((&json["id"], &json["definition"]), (&entry["id"], &entry["definition"]), "{id}");
            let names: Vec<&str> =
                json["parameters"].as_array().unwrap().iter().filter_map(|p| p["name"].as_str()).collect();
            assert_eq!(serde_json::json!(names), entry["parameters"], "{id}");
        }
    }
    let metrics = scratch.amidst(&["metrics"]).stdout;
    assert!(metrics.contains("classification") && metrics.contains("query-error"), "{metrics}");
    assert_eq!(scratch.amidst(&["explain", "query-error", "--json"]).json(0)["kind"], "measure");
    assert_eq!(scratch.amidst(&["explain", "intervals", "--json"]).json(0)["kind"], "hierarchy");
    scratch.amidst(&["explain", "classificaton", "--json"]).fails(2, &["`classification`"]);
}

#[test]
fn a_check_speaks_json() {
    let scratch = TestFolder::with_sample(300);
    let json = scratch.amidst(&["check", "policy.toml", "--json"]).json(0);
    assert_eq!((&json["fits"], &json["rows"]), (&true.into(), &300.into()));
    let age = json["columns"].as_array().unwrap().iter().find(|c| c["name"] == "age").unwrap();
    assert_eq!((&age["role"], &age["type"]), (&"quasi".into(), &"integer".into()));
    scratch.file("wrong.toml", &scratch.read("policy.toml").replacen("[columns.age]", "[columns.agee]", 1));
    let run = scratch.amidst(&["check", "wrong.toml", "--json"]);
    let json = run.json(2);
    assert_eq!(json["fits"], false);
    let problems = json["problems"].as_array().unwrap();
    let problem = problems.iter().find(|p| p["message"].as_str().unwrap().contains("agee")).unwrap();
    let line = problem["line"].as_u64().unwrap() as usize;
    assert!(scratch.read("wrong.toml").lines().nth(line - 1).unwrap().contains("agee"), "{json}");
    let json = scratch.amidst(&["check", "policy.toml", "--input", "nothing.csv", "--json"]).json(2);
    assert!(json["problems"][0]["message"].as_str().unwrap().contains("nothing.csv"), "{json}");
}

#[test]
fn what_a_policy_says_in_vain_is_told() {
    let scratch = TestFolder::with_sample(300);
    let policy = scratch.read("policy.toml").replacen("[columns.age]\n", "[columns.age]\ngeneralize = \"ranges\"\n", 1);
    let policy = policy
        + "\n[[require]]\nmodel = \"simple-alpha-k-anonymity\"\non = \"diagnosis\"\nvalue = \"Fluu\"\n\
                           alpha = 0.9\nk = 1\n";
    let policy = policy.replacen("[search]", "[search]\nalgorithm = \"optimal\"", 1);
    scratch.file("vain.toml", &policy);
    for arguments in [
        &["check", "vain.toml"][..],
        &["explore", "vain.toml"],
        &["anonymize", "vain.toml", "--out", "vain"],
        &["audit", "patients.csv", "--policy", "vain.toml"],
    ] {
        let run = scratch.amidst(arguments);
        assert!(run.stderr.contains("no row has the value `Fluu`"), "{arguments:?}: {}", run.stderr);
        // An audit does not search, so it gives no such warning.
        let told = run.stderr.contains("`generalize = \"ranges\"` of column `age` has no effect: optimal");
        assert_eq!(told, arguments[0] != "audit", "{arguments:?}: {}", run.stderr);
    }
    scratch.file("local.toml", &policy.replacen("\"optimal\"", "\"mondrian\"", 1));
    let run = scratch.amidst(&["check", "local.toml"]);
    assert!(!run.stderr.contains("has no effect"), "{}", run.stderr);
}

#[test]
fn a_sample_is_the_same_for_the_same_seed() {
    let scratch = TestFolder::new();
    let first = scratch.amidst(&["sample", "--rows", "500", "--seed", "7"]);
    assert_eq!(first.stdout.lines().count(), 501);
    assert_eq!(first.stdout, scratch.amidst(&["sample", "--rows", "500", "--seed", "7"]).stdout);
    assert!(first.stdout != scratch.amidst(&["sample", "--rows", "500", "--seed", "8"]).stdout);
}

#[test]
fn a_sample_has_the_format_of_its_ending() {
    let scratch = TestFolder::new();
    for name in ["p.parquet", "p.arrow", "p.jsonl", "p.csv.gz", "p.tsv"] {
        let run = scratch.amidst(&["sample", "--rows", "300", "--out", name, "--policy", "p.toml", "--force"]);
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        let run = scratch.amidst(&["check", "p.toml"]);
        assert_eq!(run.code, 0, "{name}: {}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains("300"), "{name}: {}", run.stdout);
    }
}

#[test]
fn a_first_policy_passes_its_check() {
    let scratch = TestFolder::with_sample(2000);
    let run = scratch.amidst(&["init", "patients.csv", "--out", "mine.toml"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let run = scratch.amidst(&["check", "mine.toml"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    scratch.amidst(&["init", "patients.csv", "--out", "mine.toml"]).fails(2, &["exists already", "--force"]);
}

#[test]
fn pipes_carry_no_colour_and_may_close_early() {
    let scratch = TestFolder::with_sample(200);
    let run = scratch.amidst(&["audit", "patients.csv", "--qi", "age,sex", "--sensitive", "diagnosis"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!run.stdout.contains('\u{1b}'));
    for shell in ["bash", "zsh", "fish"] {
        assert!(scratch.amidst(&["completions", shell]).stdout.contains("anonymize"), "{shell}");
    }
}

/// The examples of `explain` can be pasted into a policy and run.
#[test]
fn examples_can_be_run() {
    let scratch = TestFolder::new();
    let diseases = ["HIV", "Flu", "Cancer", "Cold", "Gout", "Ache"];
    let rows: String = (0..120).map(|i| format!("{},{}\n", 20 + i % 40, diseases[(i * 7 + i / 6) % 6])).collect();
    scratch.file("people.csv", &format!("age,disease\n{rows}"));
    scratch.file("population.csv", &format!("age,disease\n{rows}{rows}"));
    let columns = "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\nhierarchy = { intervals = [5, 10, 20] }\n\
                   [columns.disease]\nrole = \"sensitive\"\ncategories = [[\"HIV\", \"Cancer\"], [\"Flu\", \"Cold\"], \
                   [\"Gout\", \"Ache\"]]\n";
    let k = "[[require]]\nmodel = \"k-anonymity\"\nk = 3\n";
    for (registry, before, after) in [("models", columns.to_string(), ""), ("algorithms", format!("{columns}{k}"), "")]
    {
        for entry in scratch.amidst(&[registry, "--json"]).json(0)[registry].as_array().unwrap() {
            let id = entry["id"].as_str().unwrap();
            let json = scratch.amidst(&["explain", id, "--json"]).json(0);
            let example = json["example"].as_str().unwrap();
            for option in json["options"].as_array().into_iter().flatten() {
                assert!(scratch.amidst(&["explain", id]).stdout.contains(option["name"].as_str().unwrap()), "{id}");
            }
            scratch.file("policy.toml", &format!("{before}{example}\n{after}"));
            let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force"]);
            // The table may not satisfy the policy, but the policy must be understood.
            assert!(matches!(run.code, 0 | 1), "{id}: {} {}", run.code, run.stderr);
            assert!(registry == "models" || run.code == 0, "{id}: {}", run.stderr);
        }
    }
    let systematic = scratch.amidst(&["explain", "systematic", "--json"]).json(0);
    let names: Vec<&str> =
        systematic["options"].as_array().unwrap().iter().filter_map(|o| o["name"].as_str()).collect();
    assert_eq!(names, ["exact", "reading", "order", "starts"]);
}
