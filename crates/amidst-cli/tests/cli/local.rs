//! Local recoding and clustering from the command line: the clustering paper's example, waivers, sizes of clusters.

use std::path::Path;

use crate::test_folder::TestFolder;

/// The systematic clustering paper's nine patients; `None` without the shared vectors.
fn patients() -> Option<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors/systematic-patients.csv");
    let text = std::fs::read_to_string(file).ok();
    if text.is_none() {
        eprintln!("skipped: the shared vectors are not here");
    }
    text
}

/// The policy of the paper's example, with the weights of ZIP and gender.
fn systematic(diverse: bool, reading: &str, [zip, gender]: [&str; 2]) -> String {
    let l = if diverse { "[[require]]\nmodel = \"distinct-l-diversity\"\nl = 3\n" } else { "" };
    format!(
        "[data]\ninput = \"patients.csv\"\n[columns.zip]\nrole = \"quasi\"\ntype = \"text\"\nweight = \"{zip}\"\n\
         hierarchy = {{ suppress = true }}\n[columns.gender]\nrole = \"quasi\"\nweight = \"{gender}\"\n\
         hierarchy = {{ suppress = true }}\n[columns.age]\nrole = \"quasi\"\ntype = \"integer\"\ngeneralize = \"ranges\"\n\
         [columns.education]\nrole = \"quasi\"\nhierarchy = {{ taxonomy = {{ Educated = {{ Primary = [\"9th\", \"10th\"], \
         Secondary = [\"11th\"] }} }} }}\n[columns.disease]\nrole = \"sensitive\"\n[columns.expense]\nrole = \"identifying\"\n\
         [[require]]\nmodel = \"k-anonymity\"\nk = 3\n{l}[search]\nalgorithm = \"systematic\"\n[search.options]\n\
         exact = true\nreading = \"{reading}\"\norder = \"input\"\nstarts = [2, 3, 1]\n"
    )
}

/// How often each label of a column occurs in a table.
fn labels(table: &str, column: usize) -> Vec<(String, usize)> {
    let mut counts = std::collections::BTreeMap::new();
    for line in table.lines().skip(1) {
        *counts.entry(line.split(',').nth(column).unwrap().to_string()).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}

#[test]
fn the_clustering_paper_s_example_can_be_run() {
    let Some(patients) = patients() else { return };
    let scratch = TestFolder::new();
    scratch.file("patients.csv", &patients);
    let run = |policy: &str, out: &str| {
        scratch.file("policy.toml", policy);
        let json = scratch.amidst(&["anonymize", "policy.toml", "--out", out, "--json"]).json(0);
        let release = json["outputs"]["release"].as_str().unwrap();
        let table = std::fs::read_to_string(scratch.path(release)).unwrap();
        (json, table)
    };
    // Table 2: three clusters of three, and their loss by Equation (1).
    let (json, table) = run(&systematic(false, "paper", ["1", "1"]), "k");
    let ages = |table: &str| labels(table, 2);
    let three: Vec<(String, usize)> = ["[24-26]", "[35-40]", "[41-43]"].map(|a| (a.to_string(), 3)).to_vec();
    assert_eq!(ages(&table), three, "{table}");
    assert!((json["metrics"]["information-loss"].as_f64().unwrap() - 16.42105263).abs() < 1e-6, "{json}");
    // Table 3: the cluster that has only diabetes goes to the third. The paper counts ZIP and gender as generalized
    // everywhere, so their weights are small or nearly zero here.
    for (reading, weights, out) in [("paper", ["0.5", "0.1"], "l"), ("growth", ["1/1000000", "1/1000000"], "growth")] {
        let (_, table) = run(&systematic(true, reading, weights), out);
        assert_eq!(ages(&table), [("[24-26]".to_string(), 3), ("[35-43]".to_string(), 6)], "{table}");
    }
    // Invalid start rows are explained.
    scratch.file("policy.toml", &systematic(false, "paper", ["1", "1"]).replace("[2, 3, 1]", "[2, 3]"));
    scratch.amidst(&["anonymize", "policy.toml", "--out", "x"]).fails(2, &["`starts`", "1 to 3"]);
    scratch.file("policy.toml", &systematic(false, "paper", ["1", "1"]).replace("[2, 3, 1]", "[2, 0]"));
    scratch.amidst(&["anonymize", "policy.toml", "--out", "x"]).fails(2, &["whole numbers from 1"]);
}

/// A table of people, some of whom waived protection, and a policy.
fn people(rows: usize, waived: impl Fn(usize) -> bool, mode: &str, policy: &str) -> TestFolder {
    let scratch = TestFolder::new();
    let diseases = ["flu", "cold", "gout", "ache", "hiv"];
    let line = |i: usize| {
        let age = 20 + i * 7 % 60;
        format!("{age},{},{}\n", diseases[i * i % 11 % 5], if waived(i) { "yes" } else { "no" })
    };
    scratch.file("people.csv", &format!("age,disease,waived\n{}", (0..rows).map(line).collect::<String>()));
    scratch.file(
        "policy.toml",
        &format!(
            "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\ngeneralize = \"ranges\"\n\
             [columns.disease]\nrole = \"sensitive\"\n[columns.waived]\nrole = \"consent\"\nmode = \"{mode}\"\n{policy}"
        ),
    );
    scratch
}

const FOUR: &str = "[[require]]\nmodel = \"k-anonymity\"\nk = 4\n[search]\nalgorithm = \"systematic\"\n";

#[test]
fn waived_rows_form_classes_of_their_own() {
    let scratch = people(60, |i| i % 4 == 0, "separate", FOUR);
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
    assert_eq!((&json["rows_in"], &json["rows_out"], &json["suppressed"]), (&60.into(), &60.into(), &0.into()));
    // As many protected classes as without those rows, with the same loss, and further classes.
    let alone = people(60, |i| i % 4 == 0, "publish", FOUR);
    let without = alone.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
    assert_eq!(json["metrics"]["information-loss"], without["metrics"]["information-loss"]);
    assert!(json["classes"].as_u64() > without["classes"].as_u64(), "{json}");
    assert_eq!(json["requirements"][0]["holds"], true);
    assert!(json["requirements"][0]["measured"]["k"].as_u64().unwrap() >= 4);
    let verdict = scratch.amidst(&["verify", "release", "--policy", "policy.toml", "--json"]).json(0);
    assert_eq!(verdict["valid"], true, "{verdict}");
    let report = json["outputs"]["internal_report"].as_str().unwrap();
    assert!(std::fs::read_to_string(scratch.path(report)).unwrap().contains("classes of their own"));
}

#[test]
fn too_few_waived_rows_join_the_others_and_say_so() {
    let scratch = people(60, |i| i < 2, "separate", FOUR);
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
    assert_eq!(json["rows_out"], 60);
    let notes = json["notes"].to_string();
    assert!(notes.contains("no classes of their own"), "{notes}");
    assert_eq!(scratch.amidst(&["verify", "release"]).code, 0);
}

#[test]
fn where_everybody_waived_everybody_is_protected() {
    for algorithm in ["systematic", "k-member", "one-pass-k-means", "alpha-k-clustering", "mondrian", "portfolio"] {
        let policy = FOUR.replace("systematic", algorithm);
        let scratch = people(20, |_| true, "join", &policy);
        assert_eq!(scratch.amidst(&["check", "policy.toml"]).code, 0, "{algorithm}");
        let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
        assert_eq!((&json["rows_out"], &json["joined"], &json["waived"]), (&20.into(), &0.into(), &0.into()));
        let warnings = json["warnings"].to_string();
        assert!(warnings.contains("every row waived") && warnings.contains("like everybody else"), "{warnings}");
        assert_eq!(scratch.amidst(&["verify", "release"]).code, 0, "{algorithm}");
        let scratch = people(20, |_| true, "separate", &policy);
        let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
        assert_eq!(json["rows_out"], 20, "{algorithm}");
        assert_eq!(scratch.amidst(&["verify", "release"]).code, 0, "{algorithm}");
    }
}

/// Neither of the two who waived fits a class alone: more than half of it would have their disease.
#[test]
fn nobody_is_left_out_because_they_waived() {
    let scratch = TestFolder::new();
    scratch.file("people.csv", "x,d,c\n10,A,no\n11,B,no\n12,A,yes\n43,B,yes\n40,A,no\n41,B,no\n");
    let policy = "[data]\ninput = \"people.csv\"\n[columns.x]\nrole = \"quasi\"\nhierarchy = { intervals = [10, 100] }\n\
                  [columns.d]\nrole = \"sensitive\"\n[columns.c]\nrole = \"consent\"\nmode = \"join\"\n\
                  [[require]]\nmodel = \"general-alpha-k-anonymity\"\non = \"d\"\nalpha = 0.5\nk = 2\n\
                  [search]\nalgorithm = \"mondrian\"\n";
    scratch.file("policy.toml", policy);
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
    assert_eq!((&json["rows_out"], &json["suppressed"]), (&6.into(), &0.into()), "{json}");
    let warnings = json["warnings"].to_string();
    assert!(warnings.contains("2 rows that waived protection would break the policy"), "{warnings}");
    assert_eq!(scratch.amidst(&["verify", "release", "--policy", "policy.toml"]).code, 0);
    // Within the limit their rows may be suppressed like others.
    scratch.file("policy.toml", &format!("{policy}max_suppression = 2\n"));
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force", "--json"]).json(0);
    assert_eq!((&json["rows_out"], &json["suppressed"]), (&4.into(), &2.into()), "{json}");
    assert_eq!(scratch.amidst(&["verify", "release"]).code, 0);
}

/// Without a k the size of clusters follows from the requirement.
#[test]
fn diversity_alone_gives_more_than_one_class() {
    let entropy = "[[require]]\nmodel = \"entropy-l-diversity\"\non = \"disease\"\nl = 3\n";
    let recursive = "[[require]]\nmodel = \"recursive-c-l-diversity\"\non = \"disease\"\nc = 2\nl = 3\n";
    let close = "[[require]]\nmodel = \"t-closeness\"\non = \"disease\"\nt = 0.3\n";
    for requirement in [entropy, recursive, close] {
        for algorithm in ["systematic", "one-pass-k-means", "alpha-k-clustering", "k-member"] {
            let scratch =
                people(300, |_| false, "publish", &format!("{requirement}[search]\nalgorithm = \"{algorithm}\"\n"));
            let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
            assert!(json["classes"].as_u64().unwrap() > 8, "{algorithm}: {}", json["classes"]);
            assert!(!json["warnings"].to_string().contains("one class"), "{json}");
        }
    }
}

#[test]
fn one_class_is_said_loudly() {
    let scratch = people(6, |_| false, "publish", &FOUR.replace("k = 4", "k = 5"));
    let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]);
    assert_eq!(run.code, 0);
    assert!(run.stderr.contains("are one class"), "{}", run.stderr);
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force", "--json"]).json(0);
    assert!(json["warnings"].to_string().contains("are one class"), "{json}");
    let report = std::fs::read_to_string(scratch.path(json["outputs"]["internal_report"].as_str().unwrap())).unwrap();
    assert!(report.contains("are one class"));
}

/// Both bounds of (l, α)-diversity are measured, also with a fractional sensitivity, and verified.
#[test]
fn the_weight_of_l_alpha_diversity_is_measured() {
    for (sensitivity, exact) in [("2", true), ("\"3/2\"", false)] {
        let policy = format!(
            "categories = [[\"hiv\"], [\"gout\", \"ache\"], [\"flu\", \"cold\"]]\nweights = {{ sensitivity = {sensitivity} }}\n\
             [[require]]\nmodel = \"distinct-l-alpha-diversity\"\non = \"disease\"\nl = 2\nalpha = 2\n[search]\nalgorithm = \
             \"mondrian\"\n"
        );
        let scratch = people(80, |_| false, "publish", "");
        let text = scratch.read("policy.toml").replace(
            "[columns.waived]",
            &format!("{}\n[columns.waived]", &policy[..policy.find("[[require").unwrap()]),
        );
        scratch.file("policy.toml", &(text + &policy[policy.find("[[require").unwrap()..]));
        let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
        let measured = &json["requirements"][0]["measured"];
        let alpha = measured["alpha"].as_f64().unwrap();
        assert!(alpha >= 2.0 && measured["l"].as_u64().unwrap() >= 2, "{measured} {exact}");
        let verdict = scratch.amidst(&["verify", "release", "--policy", "policy.toml", "--json"]).json(0);
        assert_eq!(verdict["valid"], true, "{verdict}");
        let told = verdict["requirements"][0]["measured"]["alpha"].as_f64().unwrap();
        assert!((told - alpha).abs() < 1e-9, "{told} {alpha}");
        let audit = scratch.amidst(&["audit", "people.csv", "--policy", "policy.toml", "--json"]);
        let audit: serde_json::Value = serde_json::from_str(&audit.stdout).unwrap();
        assert!(audit["measured"]["disease"]["weight_alpha"].is_number(), "{audit}");
    }
}

/// Every bound that an audit lists as holding does hold, or is marked as an open bound.
#[test]
fn open_bounds_are_marked() {
    let scratch = TestFolder::new();
    scratch.file("people.csv", "age,disease\n1,a\n1,a\n1,b\n2,a\n2,b\n2,b\n");
    let json = scratch.amidst(&["audit", "people.csv", "--qi", "age", "--sensitive", "disease", "--json"]).json(0);
    let disease = &json["measured"]["disease"];
    assert_eq!((&disease["recursive_c"]["2"], &disease["recursive_c_open"]), (&2.into(), &true.into()));
    assert!(disease["entropy_l_open"].is_null());
    let text = scratch.amidst(&["audit", "people.csv", "--qi", "age", "--sensitive", "disease"]).stdout;
    assert!(text.contains("recursive_c > 2 at l = 2"), "{text}");
}

/// Labels replace sensitive values in the search, the checker and the comparison with the original.
#[test]
fn sensitive_values_are_published_at_a_level_of_their_hierarchy() {
    let scratch = TestFolder::new();
    let diseases = ["Flu", "Asthma", "HIV", "Hepatitis"];
    let rows: String = (0..40).map(|i| format!("{},{},{i}\n", 20 + i % 10, diseases[i * 7 % 4])).collect();
    scratch.file("people.csv", &format!("age,disease,id\n{rows}"));
    let policy = |level: &str, more: &str| {
        format!(
            "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\nhierarchy = {{ intervals = [5, 10] }}\n\
             [columns.id]\nrole = \"key\"\n[columns.disease]\nrole = \"sensitive\"\nhierarchy = {{ taxonomy = {{ Any = {{ \
             Lung = [\"Flu\", \"Asthma\"], Virus = [\"HIV\", \"Hepatitis\"] }} }} }}\n{level}\
             [[require]]\nmodel = \"distinct-l-diversity\"\nl = 2\n[[require]]\nmodel = \"t-closeness\"\nt = 0.5\n\
             distance = \"hierarchical\"\n{more}"
        )
    };
    for algorithm in ["optimal", "mondrian", "systematic"] {
        scratch.file("policy.toml", &policy("level = 1\n", &format!("[search]\nalgorithm = \"{algorithm}\"\n")));
        let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force", "--json"]).json(0);
        assert_eq!(json["requirements"][0]["measured"]["l"], 2, "{algorithm}");
        let release = scratch.read("release/public/release.csv");
        assert!(diseases.iter().all(|disease| !release.contains(disease)), "{algorithm}: {release}");
        assert_eq!(labels(&release, 1).iter().map(|l| l.0.as_str()).collect::<Vec<_>>(), ["Lung", "Virus"]);
        scratch.amidst(&["verify", "release", "--policy", "policy.toml"]).succeeds();
        scratch.amidst(&["audit", "release/public/release.csv", "--qi", "age", "--sensitive", "disease"]).succeeds();
        // A release made from other people's rows is detected.
        scratch.file("others.csv", &format!("age,disease,id\n{}", rows.replace("HIV", "Flu")));
        let run = scratch.amidst(&["verify", "release", "--policy", "policy.toml", "--original", "others.csv"]);
        assert_eq!(run.code, 1, "{algorithm}: {}", run.stdout);
        assert!(run.stdout.contains("10 rows of the release stand for no row of the original"), "{}", run.stdout);
    }
    scratch.file("policy.toml", &policy("level = 1\n", ""));
    scratch.amidst(&["series", "init", "series", "--policy", "policy.toml"]).fails(2, &["level", "series"]);
    scratch.file("policy.toml", &policy("level = 3\n", ""));
    scratch.amidst(&["check", "policy.toml"]).fails(2, &["2 levels above its values"]);
    scratch.file("policy.toml", &policy("level = 1.5\n", ""));
    scratch.amidst(&["check", "policy.toml"]).fails(2, &["whole number"]);
}

/// A suppression limit above the number of rows is accepted; what `anonymize` refuses about waivers, `check` refuses
/// too.
#[test]
fn limits_and_waivers_that_do_not_fit_are_told() {
    let scratch = people(
        1,
        |_| false,
        "publish",
        "[[require]]\nmodel = \"general-alpha-k-anonymity\"\nalpha = 0.6\nk = 2\n[search]\nmax_suppression = 2\n",
    );
    for command in [&["check", "policy.toml"][..], &["anonymize", "policy.toml", "--out", "release"]] {
        assert_eq!(scratch.amidst(command).code, 1, "{command:?}");
    }
    for (mode, more) in [("join", "algorithm = \"optimal\"\n"), ("publish", "[output]\nranges = \"rounded\"\n")] {
        let scratch = people(40, |i| i % 5 == 0, mode, &FOUR.replace("algorithm = \"systematic\"\n", more));
        let text =
            scratch.read("policy.toml").replace("generalize", "hierarchy = { intervals = [10, 20] }\ngeneralize");
        scratch.file("policy.toml", &text);
        for command in [&["check", "policy.toml"][..], &["anonymize", "policy.toml", "--out", "release"]] {
            let run = scratch.amidst(command);
            assert_eq!(run.code, 2, "{mode}: {command:?}: {}", run.stderr);
        }
    }
}
