//! Small inconveniences that users reported.

use serde_json::Value;

use crate::test_folder::TestFolder;

fn object(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn a_release_goes_to_standard_output_where_asked() {
    let scratch = TestFolder::with_sample(300);
    let before = scratch.names();
    let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "-"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(scratch.names(), before);
    assert!(run.stderr.contains("certificate") && run.stderr.contains("not written"), "{}", run.stderr);
    // The same rows as in a file.
    let told = |more: &str| scratch.amidst(&["anonymize", "policy.toml", "--out", "r.csv", more]);
    let (few, all) = (told("-q"), told("--force"));
    assert_eq!((few.code, all.code), (0, 0), "{}{}", few.stderr, all.stderr);
    let (few, all) = (few.stdout, all.stdout);
    for said in ["rows released in", "Every person shares", "checked and published: r.csv"] {
        assert!(few.contains(said) && all.contains(said), "{said}: {few}");
    }
    assert!(!few.contains("k-anonymity") && all.contains("k-anonymity") && few.lines().count() < 9, "{few}");
    assert_eq!(scratch.read("r.csv"), run.stdout);
    let quiet = scratch.amidst(&["-q", "anonymize", "policy.toml", "--out", "-"]);
    assert_eq!((quiet.stdout, quiet.stderr.as_str()), (run.stdout, ""));
    let both = scratch.amidst(&["anonymize", "policy.toml", "--out", "-", "--json"]);
    assert!(both.code == 2 && both.stderr.contains("standard output"), "{}", both.stderr);
    // The certificate of a file is stored next to it, and is found there.
    for named in ["r.csv", "r.csv.certificate.json"] {
        let verify = scratch.amidst(&["verify", named]);
        assert_eq!(verify.code, 0, "{named}: {}{}", verify.stdout, verify.stderr);
    }
}

/// The table of a release is checked with its folder, by whichever of its files it is named.
#[test]
fn a_release_is_found_by_its_files() {
    let scratch = TestFolder::with_sample(300);
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "out"]).code, 0);
    let whole = scratch.amidst(&["verify", "out"]);
    for named in ["out/public/release.csv", "out/public/certificate.json", "out/public"] {
        let verify = scratch.amidst(&["verify", named]);
        assert_eq!((verify.code, &verify.stdout), (0, &whole.stdout), "{named}: {}", verify.stderr);
    }
    // A table that does not belong to it is not taken for it.
    std::fs::copy(scratch.path("patients.csv"), scratch.path("out/public/other.csv")).unwrap();
    assert_eq!(scratch.amidst(&["verify", "out/public/other.csv"]).code, 1);
    std::fs::remove_file(scratch.path("out/public/other.csv")).unwrap();
    std::fs::copy(scratch.path("patients.csv"), scratch.path("out/public/release.csv")).unwrap();
    assert_eq!(scratch.amidst(&["verify", "out/public/release.csv"]).code, 1);
    scratch.amidst(&["verify", "patients.csv"]).fails(2, &["patients.csv has no certificate"]);
    scratch.amidst(&["verify", "nowhere"]).fails(2, &["there is no nowhere"]);
}

/// What is published can be verified: a file gets no ending that the checker does not know.
#[test]
fn a_release_has_an_ending_that_the_checker_knows() {
    let scratch = TestFolder::with_sample(300);
    let before = scratch.names();
    for name in
        ["r.txt", "r.tab", "r.pq", "r.feather", "r.ipc", "r.ndjson", "r.csv.zst", "r.xlsx", "r.arrow.gz", "r.csv.xz"]
    {
        let run = scratch.amidst(&["anonymize", "policy.toml", "--out", name]);
        run.fails(
            2,
            &[name, "cannot be written as a release", ".csv .tsv .jsonl (each also with .gz) .parquet .arrow"],
        );
        scratch.file("named.toml", &scratch.read("policy.toml").replace("release.csv", name));
        scratch.amidst(&["check", "named.toml"]).fails(2, &["cannot be written as a release"]);
        std::fs::remove_file(scratch.path("named.toml")).unwrap();
    }
    assert_eq!(scratch.names(), before);
}

#[test]
fn a_risk_above_the_stated_threshold_is_a_warning() {
    let scratch = TestFolder::with_sample(300);
    let policy = scratch.read("policy.toml");
    for (threshold, said) in [("\"ema\"", "at least 12 persons"), ("\"cms-11\"", "at least 11 persons"), ("0.25", "")] {
        scratch.file("t.toml", &format!("{policy}\n[release]\nthreshold = {threshold}\n"));
        let run = scratch.amidst(&["anonymize", "t.toml", "--out", "out", "--force"]);
        let warned = run.stderr.contains("is above the threshold") && run.stderr.contains(said);
        assert!(run.code == 0 && warned != said.is_empty(), "{threshold}: {}", run.stderr);
    }
}

#[test]
fn failures_are_objects_where_json_is_asked_for() {
    let scratch = TestFolder::with_sample(300);
    let policy = scratch.read("policy.toml");
    scratch.file("wrong.toml", &policy.replace("k-anonymity", "k-anonimity"));
    scratch.file("strict.toml", &policy.replacen("k = 5", "k = 5000", 1));
    for (arguments, code, kind) in [
        (&["anonymize", "wrong.toml", "--out", "o", "--json"][..], 2, "policy"),
        (&["anonymize", "strict.toml", "--out", "o", "--json"], 1, "impossible"),
        (&["anonymize", "none.toml", "--out", "o", "--json"], 2, "usage"),
        (&["audit", "none.csv", "--json"], 2, "input"),
        (&["verify", "nowhere", "--json"], 2, "usage"),
        (&["explore", "wrong.toml", "--json"], 2, "policy"),
        (&["anonymize", "--jsom", "--json"], 2, "usage"),
        (&["explain", "nothing-at-all", "--json"], 2, "usage"),
        (&["attack", "homogenity", "patients.csv", "--json"], 2, "usage"),
    ] {
        let run = scratch.amidst(arguments);
        assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
        let said = object(&run.stdout);
        assert_eq!((said["exit"].as_i64(), said["error"]["kind"].as_str()), (Some(code.into()), Some(kind)), "{said}");
        assert!(!said["error"]["message"].as_str().unwrap_or_default().is_empty(), "{said}");
        assert!(!run.stderr.is_empty());
    }
    let said = object(&scratch.amidst(&["anonymize", "wrong.toml", "--out", "o", "--json"]).stdout);
    assert!(said["error"]["problems"][0]["line"].is_u64(), "{said}");
    let said = object(&scratch.amidst(&["anonymize", "--json"]).stdout);
    assert!(said["error"]["message"].as_str().is_some_and(|m| m.ends_with("not provided: <POLICY>")), "{said}");
    let check = scratch.amidst(&["check", "wrong.toml", "--json"]);
    assert_eq!(object(&check.stdout)["fits"], false);
}

#[test]
fn tables_and_policies_that_are_mixed_up_are_said_so() {
    let scratch = TestFolder::with_sample(50);
    for command in ["check", "anonymize", "explore"] {
        scratch.amidst(&[command, "patients.csv"]).fails(2, &["patients.csv", "is a table", "amidst init"]);
    }
    scratch.amidst(&["init", "policy.toml", "--out", "p.toml"]).fails(2, &["policy.toml", "policy"]);
    scratch.amidst(&["audit", "policy.toml"]).fails(2, &["policy.toml", "policy"]);
}

#[test]
fn values_are_shown_to_the_owner_only_where_asked() {
    let scratch = TestFolder::new();
    scratch.file("d.csv", "age,sex\n30,f\nforty-one,m\n32,f\n");
    let policy = "[data]\ninput = \"d.csv\"\n[columns.age]\nrole = \"quasi\"\ntype = \"integer\"\n\
                  hierarchy = { intervals = [10] }\n[columns.sex]\nrole = \"quasi\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 2\n";
    scratch.file("p.toml", policy);
    let hidden = scratch.amidst(&["check", "p.toml"]);
    hidden.fails(2, &["`age`", "line 3", "aaaaa-aaa"]);
    assert!(!hidden.stderr.contains("forty"), "{}", hidden.stderr);
    scratch.amidst(&["check", "p.toml", "--show-values"]).fails(2, &["forty-one"]);
}

#[test]
fn errors_that_repeat_are_counted() {
    let scratch = TestFolder::new();
    scratch.file("d.csv", "a,b\n1,2\n");
    let columns: String = (0..30).map(|i| format!("[columns.c{i}]\nrole = \"quasy\"\n")).collect();
    scratch.file("p.toml", &format!("[data]\ninput = \"d.csv\"\n{columns}[search]\nseeed = 3\n"));
    let run = scratch.amidst(&["check", "p.toml"]);
    run.fails(2, &["quasy", "29 more like this", "seeed"]);
    assert_eq!(run.stderr.matches("quasy").count(), 2, "{}", run.stderr);
}

#[test]
fn the_reference_is_at_hand() {
    let scratch = TestFolder::new();
    for (topic, parts) in [
        ("policy", &["[data]", "[[require]]", "encoding = \"windows-1252\"", "max_suppression"][..]),
        ("search", &["algorithm", "seed"]),
        ("roles", &["identifying", "consent"]),
        ("hierarchies", &["intervals", "taxonomy"]),
        ("output", &["file", "order"]),
        ("K-Anonymity", &["k-anonymity (privacy model)", "n ≥ k", "[[require]]"]),
    ] {
        let run = scratch.amidst(&["explain", topic]);
        assert_eq!(run.code, 0, "{topic}: {}", run.stderr);
        for part in parts {
            assert!(run.stdout.contains(part), "{topic}: {part}\n{}", run.stdout);
        }
    }
    let list = scratch.amidst(&["hierarchies", "--json"]).json(0);
    assert!(list["hierarchies"].as_array().is_some_and(|l| l.iter().any(|b| b["id"] == "dates")));
    assert!(scratch.amidst(&["hierarchies"]).stdout.contains("hierarchy = { "));
    let schema = object(&scratch.amidst(&["schema"]).stdout);
    assert_eq!(schema["properties"]["data"]["properties"]["header"]["type"], "boolean");
    let man = scratch.amidst(&["man", "--out", "man"]);
    assert_eq!(man.code, 0, "{}", man.stderr);
    for page in ["man/amidst.1", "man/amidst-anonymize.1", "man/amidst-verify.1"] {
        assert!(scratch.read(page).contains(".TH"), "{page}");
    }
}

/// The schema accepts what the parser accepts; checked by another program if it is installed.
#[test]
fn the_schema_holds_for_policies() {
    let scratch = TestFolder::with_sample(60);
    std::fs::write(scratch.path("schema.json"), scratch.amidst(&["schema"]).stdout).unwrap();
    scratch.file("bad.toml", &scratch.read("policy.toml").replacen("[search]", "[search]\nseeed = 1", 1));
    let script = "import json, sys, tomllib\ntry:\n    import jsonschema\nexcept ImportError:\n    sys.exit(77)\n\
                  schema = json.load(open('schema.json'))\njsonschema.Draft202012Validator.check_schema(schema)\n\
                  check = jsonschema.Draft202012Validator(schema)\n\
                  errors = [e.message for e in check.iter_errors(tomllib.load(open('policy.toml', 'rb')))]\n\
                  assert not errors, errors\n\
                  assert list(check.iter_errors(tomllib.load(open('bad.toml', 'rb'))))\n";
    let run = std::process::Command::new("python3").current_dir(scratch.root()).args(["-c", script]).output();
    match run {
        Ok(run) if run.status.code() == Some(77) => println!("skipped: no jsonschema for Python"),
        Ok(run) => assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr)),
        Err(_) => println!("skipped: no Python"),
    }
}

/// docs/policy.md is generated from the parser's table; `AMIDST_PIN=write` regenerates it.
#[test]
fn the_page_on_policies_is_what_the_parser_knows() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/policy.md");
    let made = amidst::policy::reference::markdown();
    if std::env::var("AMIDST_PIN").is_ok_and(|v| v == "write") {
        std::fs::write(&file, &made).unwrap();
    }
    let Ok(page) = std::fs::read_to_string(&file) else {
        println!("skipped: docs/policy.md is not there; AMIDST_PIN=write makes it");
        return;
    };
    assert!(page == made, "docs/policy.md lags: AMIDST_PIN=write cargo test -p amidst-cli --test cli page_on_policies");
}
