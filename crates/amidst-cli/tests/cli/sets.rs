//! Several quasi-identifiers in one policy, ranges as two columns, and what `check` says before anything is searched.

use std::collections::BTreeMap;

use crate::test_folder::TestFolder;

/// People of whom a neighbour knows age and zip, and an employer age and job.
fn people(scratch: &TestFolder) {
    let mut text = String::from("id,age,zip,job,disease\n");
    for i in 0..240u32 {
        let disease = ["flu", "hiv", "gout"][(i * 7 % 3) as usize];
        let (age, zip) = (20 + i * 13 % 50, 100 + i * 31 % 9);
        text += &format!("{i},{age},{zip},j{},{disease}\n", i * i % 7);
    }
    scratch.file("people.csv", &text);
}

fn policy(more: &str) -> String {
    format!(
        "[data]\ninput = \"people.csv\"\n[columns.id]\nrole = \"identifying\"\n[columns.age]\nrole = \"quasi\"\n\
         hierarchy = {{ intervals = [5, 10, 20] }}\n[columns.zip]\nrole = \"quasi\"\nhierarchy = {{ mask = {{ length = 3 }} }}\n\
         [columns.job]\nrole = \"quasi\"\nhierarchy = {{ suppress = true }}\n[columns.disease]\nrole = \"sensitive\"\n\
         [[require]]\nmodel = \"k-anonymity\"\nk = 4\n[[require]]\nmodel = \"distinct-l-diversity\"\nl = 2\n{more}"
    )
}

const SETS: &str = "[[quasi]]\ncolumns = [\"age\", \"zip\"]\n[[quasi]]\ncolumns = [\"age\", \"job\"]\n";

/// The rows of a release, grouped by some of its columns.
fn classes(release: &str, columns: &[&str]) -> BTreeMap<Vec<String>, usize> {
    let mut lines = release.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let places: Vec<usize> = columns.iter().map(|c| header.iter().position(|h| h == c).unwrap()).collect();
    let mut found = BTreeMap::new();
    for row in lines {
        *found.entry(places.iter().map(|&p| row[p].to_string()).collect()).or_default() += 1;
    }
    found
}

#[test]
fn every_set_satisfies_the_policy_and_the_checker_agrees() {
    let scratch = TestFolder::new();
    people(&scratch);
    let mut losses = Vec::new();
    for (name, search) in [("cells", ""), ("whole", "[search]\nalgorithm = \"optimal\"\n")] {
        scratch.file("policy.toml", &policy(&format!("{SETS}{search}")));
        let run = scratch.amidst(&["anonymize", "policy.toml", "--out", name, "--json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(json["requirements"].as_array().unwrap().len(), 4);
        assert_eq!(json["requirements"][2]["quasi"], serde_json::json!(["age", "job"]));
        losses.push(json["metrics"]["gcp"].as_f64().unwrap());
        let release = scratch.read(&format!("{name}/public/release.csv"));
        for set in [["age", "zip"], ["age", "job"]] {
            assert!(classes(&release, &set).values().all(|&n| n >= 4), "{name}, {set:?}");
        }
        let verified = scratch.amidst(&["verify", name, "--policy", "policy.toml"]);
        assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
        let report = scratch.read(&format!("{name}/public/report.md"));
        assert!(report.contains("age and job with at least"), "{report}");
        let audit = scratch.amidst(&["audit", &format!("{name}/public/release.csv"), "--policy", "policy.toml"]);
        assert_eq!(audit.code, 0, "{}", audit.stderr);
    }
    scratch.file("one.toml", &policy("[search]\nalgorithm = \"optimal\"\nmetric = \"gcp\"\n"));
    let run = scratch.amidst(&["anonymize", "one.toml", "--out", "one", "--json"]);
    let one: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let together = one["metrics"]["gcp"].as_f64().unwrap();
    assert!(losses[0] <= losses[1] + 1e-9 && losses[1] <= together + 1e-9, "{losses:?}, {together}");
}

#[test]
fn sets_that_leave_somebody_unprotected_are_refused() {
    let scratch = TestFolder::new();
    people(&scratch);
    for (more, code, part) in [
        ("[[quasi]]\ncolumns = [\"age\", \"zip\"]\n", 2, "in no set of [[quasi]]: `job`"),
        ("[[quasi]]\ncolumns = [\"age\", \"disease\"]\n", 2, "is sensitive, not quasi"),
        ("[[quasi]]\ncolumns = [\"age\", \"jop\"]\n", 2, "did you mean `job`"),
        ("[[quasi]]\ncolumns = []\n", 2, "names no column"),
        ("[quasi]\ncolumns = [\"age\"]\n", 2, "double brackets"),
        (&format!("{SETS}[[quasi]]\ncolumns = [\"zip\", \"age\"]\n"), 2, "stated twice"),
        (&format!("{SETS}[search]\nalgorithm = \"mondrian\"\n"), 2, "all quasi columns together"),
    ] {
        scratch.file("policy.toml", &policy(more));
        for command in [&["check", "policy.toml"][..], &["anonymize", "policy.toml", "--out", "out"]] {
            let run = scratch.amidst(command);
            assert_eq!(run.code, code, "{more}: {}{}", run.stdout, run.stderr);
            assert!(run.stderr.contains(part) || run.stdout.contains(part), "{more}: {}{}", run.stdout, run.stderr);
        }
        assert!(!scratch.path("out").exists());
    }
    scratch.file("policy.toml", &policy(SETS));
    assert_eq!(scratch.amidst(&["explore", "policy.toml"]).code, 2);
}

#[test]
fn ranges_become_two_columns_of_numbers() {
    let scratch = TestFolder::new();
    people(&scratch);
    let search = "[search]\nalgorithm = \"mondrian\"\n[output]\nranges = \"bounds\"\n";
    let ranged =
        policy(search).replace("intervals = [5, 10, 20] }", "intervals = [5, 10, 20] }\ngeneralize = \"ranges\"");
    scratch.file("policy.toml", &ranged);
    let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "out"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let release = scratch.read("out/public/release.csv");
    assert!(release.starts_with("age_min,age_max,zip,job,disease\n"), "{}", &release[..60]);
    for line in release.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert!(
            cells[0] == "*" && cells[1] == "*" || cells[0].parse::<u32>().unwrap() <= cells[1].parse().unwrap(),
            "{line}"
        );
    }
    assert!(classes(&release, &["age_min", "age_max", "zip", "job"]).values().all(|&n| n >= 4));
    let verified = scratch.amidst(&["verify", "out"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    // The same rows with labels have as many classes.
    scratch.file("label.toml", &ranged.replace("bounds", "label"));
    assert_eq!(scratch.amidst(&["anonymize", "label.toml", "--out", "label"]).code, 0);
    // An audit under the policy of either finds the same.
    let [bounds, labels] = [("out", "policy.toml"), ("label", "label.toml")].map(|(release, policy)| {
        let mut told = scratch.amidst(&["audit", release, "--policy", policy, "--json"]).json(0);
        told.as_object_mut().unwrap().remove("peak_memory_bytes");
        told
    });
    assert_eq!(bounds, labels);
    assert_eq!(scratch.amidst(&["audit", "people.csv", "--policy", "policy.toml"]).code, 1);
    let linked = ["attack", "linkage", "out", "--policy", "policy.toml", "--external", "people.csv"];
    let linked = scratch.amidst(&linked);
    assert_eq!(linked.code, 0, "{}", linked.stderr);
    let labels = scratch.read("label/public/release.csv");
    assert_eq!(
        classes(&labels, &["age", "zip", "job"]).len(),
        classes(&release, &["age_min", "age_max", "zip", "job"]).len()
    );
    // A column whose name equals that of a bound is refused.
    scratch.file("people.csv", &scratch.read("people.csv").replace("id,age", "age_min,age"));
    scratch.file("policy.toml", &ranged.replace("[columns.id]", "[columns.age_min]"));
    let run = scratch.amidst(&["check", "policy.toml"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("called like the column `age_min`")
            || run.stdout.contains("called like the column `age_min`")
    );
}

#[test]
fn check_sees_what_anonymize_sees() {
    let scratch = TestFolder::new();
    people(&scratch);
    let categories = "categories = [[\"hiv\"], [\"gout\"], [\"flu\"]]\n";
    let with = |require: &str, search: &str| {
        let base = policy("");
        let (columns, _) = base.split_once("[[require]]").unwrap();
        format!("{columns}{categories}[[require]]\n{require}\n{search}")
    };
    let requirements = [
        "model = \"k-anonymity\"\nk = 241",
        "model = \"distinct-l-diversity\"\nl = 4",
        "model = \"entropy-l-diversity\"\nl = 3.5",
        "model = \"recursive-c-l-diversity\"\nc = 0.01\nl = 2",
        "model = \"npd-recursive-c1-c2-l-diversity\"\nc1 = 100\nc2 = 99\nl = 2\nno_negative = [\"hiv\"]",
        "model = \"simple-alpha-k-anonymity\"\nalpha = 0.001\nvalue = \"hiv\"\nk = 2",
        "model = \"simple-alpha-k-anonymity\"\nalpha = 1\nvalue = \"hiv\"\nk = 400",
        "model = \"general-alpha-k-anonymity\"\nalpha = 0.1\nk = 2",
        "model = \"complete-alpha-k-anonymity\"\nalpha = { hiv = 0.001 }\nk = 2",
        "model = \"entropy-l-alpha-diversity\"\nl = 5\nalpha = 1",
        "model = \"recursive-c-l-alpha-diversity\"\nc = 0.001\nl = 2\nalpha = 1",
        "model = \"average-risk\"\nthreshold = 0.000001",
        "model = \"max-risk\"\nthreshold = 0.000001",
        "model = \"m-invariance\"\nm = 18",
        "model = \"delta-presence\"\nmin = 0\nmax = 0.01\npopulation = \"people.csv\"",
        "model = \"bayes-optimal\"\nrho1 = 0.01\nrho2 = 0.02\npopulation = \"people.csv\"",
    ];
    let searches = ["", "[search]\nmax_suppression = 5\n", "[search]\nalgorithm = \"mondrian\"\n"];
    for require in requirements {
        for search in searches {
            scratch.file("policy.toml", &with(require, search));
            let check = scratch.amidst(&["check", "policy.toml"]);
            let made = scratch.amidst(&["anonymize", "policy.toml", "--out", "out", "--force"]);
            assert_eq!(
                check.code, made.code,
                "{require}; {search}: {}{} / {}",
                check.stdout, check.stderr, made.stderr
            );
        }
    }
}
