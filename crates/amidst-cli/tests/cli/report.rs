//! The report is well-formed, agrees with its JSON, loads nothing external, and stays small.

use std::collections::BTreeSet;

use amidst::policy::Policy;
use serde_json::Value;

use crate::test_folder::TestFolder;

/// The figures of a page: path in the JSON, value, and displayed text.
fn figures(page: &str) -> Vec<(&str, &str, &str)> {
    page.split("<data ")
        .skip(1)
        .map(|rest| {
            let value = rest.split("value=\"").nth(1).and_then(|v| v.split('"').next()).unwrap();
            let at = rest.split("data-at=\"").nth(1).and_then(|v| v.split('"').next()).unwrap();
            let text = rest.split_once('>').unwrap().1.split('<').next().unwrap();
            (at, value, text)
        })
        .collect()
}

/// Every element that is opened is closed, in order.
fn well_formed(page: &str) {
    const VOID: [&str; 5] = ["meta", "link", "br", "rect", "!DOCTYPE"];
    // Style and text hold no markup.
    let mut open: Vec<&str> = Vec::new();
    for part in page.split('<').skip(1) {
        let (tag, _) = part.split_once('>').expect("a tag ends");
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed.trim()), "closed in order");
        } else if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

fn released(rows: u64) -> TestFolder {
    let scratch = TestFolder::with_sample(rows);
    let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    scratch
}

#[test]
fn the_page_says_what_its_json_says() {
    let scratch = released(2000);
    for (part, least) in [("public", 40), ("internal", 60)] {
        agrees(&scratch, part, least);
    }
}

fn agrees(scratch: &TestFolder, part: &str, least: usize) {
    let page = scratch.read(&format!("release/{part}/report.html"));
    let json: Value = serde_json::from_str(&scratch.read(&format!("release/{part}/report.json"))).unwrap();
    well_formed(&page);
    let figures = figures(&page);
    assert!(figures.len() > least, "{part}: {}", figures.len());
    for (at, value, text) in figures {
        let found = json.pointer(at).unwrap_or_else(|| panic!("{at} is in the JSON"));
        let found = found.as_f64().unwrap_or_else(|| panic!("{at} is a number"));
        // Read by the same parser: two parsers may differ in the last digit.
        assert_eq!(serde_json::from_str::<f64>(value).unwrap(), found, "{at}");
        let read: f64 = text.replace(',', "").replace('−', "-").parse().unwrap_or_else(|_| panic!("{at}: {text}"));
        assert!((read - found).abs() <= 0.00005 + found.abs() * 0.05 * f64::from(found.abs() < 0.001), "{at}: {text}");
    }
    for line in json["summary"].as_array().unwrap() {
        let escaped = line.as_str().unwrap().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        assert!(page.contains(&escaped), "{line}");
    }
    let audit = scratch.amidst(&["audit", "release/public/release.csv", "--policy", "policy.toml", "--json"]).json(0);
    for key in ["prosecutor_max", "prosecutor_avg"] {
        assert_eq!(json["risk"]["after"][key].as_f64(), audit["risk"][key].as_f64(), "{key}");
    }
    let markdown = scratch.read(&format!("release/{part}/report.md"));
    for heading in ["Methodology", "Identifiers and techniques", "Initial risk", "Threshold", "Residual risk"] {
        assert!(markdown.contains(heading), "{heading}");
    }
    // Attacks on people who are not in the release depend on the input, so they are in the internal report only.
    let tried = json["control_group"]["attacks"].as_array().cloned().unwrap_or_default();
    assert_eq!((tried.is_empty(), markdown.contains("control group")), (part == "public", part == "internal"));
    for attack in &tried {
        let [risk, what] = ["risk", "attack"].map(|key| attack[key].as_str().unwrap());
        let mut lines = markdown.lines().filter(|line| line.starts_with(&format!("| {risk}")));
        assert!(lines.any(|line| line.contains(what)), "{attack}: {markdown}");
    }
    let risks: BTreeSet<&str> = tried.iter().filter_map(|attack| attack["risk"].as_str()).collect();
    assert!(part == "public" || risks.len() == 3, "{risks:?}");
}

#[test]
fn the_page_needs_nothing_from_outside_and_stays_small() {
    let scratch = released(45_000);
    let page = scratch.read("release/public/report.html");
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    for outside in ["http:", "https:", "<script", "@import", "url(", "<iframe", "<img", "src="] {
        assert!(!page.contains(outside), "{outside}");
    }
    let json = scratch.amidst(&["verify", "release", "--json"]).json(0);
    assert_eq!(json["valid"], true);
    // The report is covered by the certificate, like the table.
    scratch.file("release/public/report.html", &page.replacen("Every person", "No person", 1));
    assert_eq!(scratch.amidst(&["verify", "release", "--json"]).json(1)["valid"], false);
}

#[test]
fn an_audit_writes_its_report_without_rare_values() {
    let scratch = TestFolder::new();
    let mut rows = String::from("age,disease\n");
    for i in 0..30 {
        rows.push_str(&format!("{},{}\n", 20 + i % 2, ["flu", "cold"][i % 2]));
    }
    rows.push_str("97,leprosy\n");
    scratch.file("people.csv", &rows);
    let call = |file: &str| {
        scratch.amidst(&["audit", "people.csv", "--qi", "age", "--sensitive", "disease", "--report", file]).code
    };
    assert_eq!([call("audit.html"), call("audit.json"), call("audit.md")], [0, 0, 0]);
    for file in ["audit.html", "audit.json", "audit.md"] {
        let text = scratch.read(file);
        assert!(!text.contains("leprosy") && !text.contains(">97<"), "{file}");
    }
    assert!(scratch.read("audit.html").contains("1 person is alone"));
    assert_eq!(call("audit.pdf"), 2);
}

#[test]
fn an_audit_against_a_policy_tells_the_policy() {
    let scratch = TestFolder::with_sample(300);
    let policy = scratch.path("policy.toml");
    let stated = Policy::read(&policy).unwrap();
    let call = ["audit", "patients.csv", "--policy", "policy.toml", "--population", "patients.csv", "--report"];
    for file in ["audit.html", "audit.json"] {
        assert_eq!(scratch.amidst(&[&call[..], &[file]].concat()).code, 1);
    }
    let json: Value = serde_json::from_str(&scratch.read("audit.json")).unwrap();
    let told = json["policy"].as_str().unwrap();
    assert_eq!(Policy::parse(told, &policy).unwrap(), stated);
    assert!(scratch.read("audit.html").contains("id=\"policy\""));
    let without = scratch.amidst(&["audit", "patients.csv", "--qi", "age", "--report", "bare.json"]);
    assert_eq!(without.code, 0, "{}", without.stderr);
    let json: Value = serde_json::from_str(&scratch.read("bare.json")).unwrap();
    assert_eq!(json["policy"], "");
}

#[test]
fn problems_become_sarif_results() {
    let scratch = released(500);
    let verify = |out: &str| scratch.amidst(&["verify", "release", "--sarif", out]).code;
    assert_eq!(verify("good.sarif"), 0);
    let good: Value = serde_json::from_str(&scratch.read("good.sarif")).unwrap();
    assert_eq!((&good["version"], &good["runs"][0]["results"]), (&"2.1.0".into(), &Value::Array(Vec::new())));
    let release = scratch.read("release/public/release.csv");
    let fewer: Vec<&str> = release.lines().take(release.lines().count() - 3).collect();
    scratch.file("release/public/release.csv", &(fewer.join("\n") + "\n"));
    assert_eq!(verify("bad.sarif"), 1);
    let bad: Value = serde_json::from_str(&scratch.read("bad.sarif")).unwrap();
    let results = bad["runs"][0]["results"].as_array().unwrap();
    assert!(results.iter().any(|r| r["ruleId"] == "digest" && r["level"] == "error"), "{results:?}");
    assert!(results.iter().any(|r| r["ruleId"] == "rows"), "{results:?}");
}

#[test]
fn the_documented_pipelines_run_as_written() {
    let guide = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ci.md")).unwrap();
    let pipelines: Vec<&str> = guide.split("```yaml").skip(1).map(|p| p.split("```").next().unwrap()).collect();
    assert_eq!(pipelines.len(), 2);
    for pipeline in pipelines {
        let scratch = TestFolder::with_sample(500);
        let steps = pipeline.lines().map(|l| l.trim().trim_start_matches("- ").trim_start_matches("run: "));
        let steps: Vec<&str> = steps.filter_map(|l| l.strip_prefix("amidst ")).collect();
        assert!(steps.len() >= 3, "{pipeline}");
        for step in &steps {
            let run = scratch.amidst(&step.split(' ').collect::<Vec<_>>());
            assert_eq!(run.code, 0, "{step}: {}", run.stderr);
        }
        assert!(scratch.path("release/public/report.html").is_file(), "what is uploaded is there");
        // An altered table fails the last step of the pipeline, which leaves a log.
        let table = scratch.read("release/public/release.csv");
        scratch.file("release/public/release.csv", &table.replacen(",F,", ",M,", 1));
        std::fs::remove_file(scratch.path("amidst.sarif")).unwrap();
        let gate = scratch.amidst(&steps.last().unwrap().split(' ').collect::<Vec<_>>());
        assert_eq!(gate.code, 1, "{}", gate.stderr);
        assert!(scratch.read("amidst.sarif").contains("\"ruleId\""));
    }
}

#[test]
fn attacks_find_the_articles_homogeneous_class_and_the_linked_persons() {
    let scratch = TestFolder::new();
    scratch.file(
        "release.csv",
        "zip,age,condition\n130**,2*,Heart Disease\n130**,2*,Flu\n148**,[40-59],Cancer\n148**,[40-59],Flu\n\
         130**,3*,Cancer\n130**,3*,Cancer\n",
    );
    scratch.file("voters.csv", "name,zip,age\nCanary Bob,13053,31\nCanary Ann,14850,47\n");
    let columns = ["release.csv", "--qi", "zip,age", "--sensitive", "condition", "--json"];
    let attack = |name: &str, more: &[&str]| scratch.amidst(&[&["attack", name], &columns[..], more].concat());
    let found = attack("homogeneity", &[]).json(0);
    assert_eq!((&found["classes"], &found["rows"]), (&1.into(), &2.into()));
    assert_eq!(attack("homogeneity", &["--set", "share=1/2"]).json(0)["rows"], 6);
    let run = attack("linkage", &["--external", "voters.csv"]);
    assert!(!run.stdout.contains("Canary"));
    let linked = run.json(0);
    assert_eq!((&linked["persons"], &linked["columns"]["condition"]["linked_persons"]), (&1.into(), &2.into()));
    attack("linkage", &[]).fails(2, &["external", "--external"]);
    attack("homogenity", &[]).fails(2, &["did you mean `homogeneity`"]);
    attack("homogeneity", &["--set", "shares=1"]).fails(2, &["takes share"]);
    assert!(scratch.amidst(&["explain", "linkage"]).stdout.contains("adversary knows"));
    let names = scratch.amidst(&["attacks", "--json"]).json(0);
    assert!(names["attacks"].as_array().unwrap().iter().any(|a| a["id"] == "belief"));
}

#[test]
fn what_the_policy_tells_of_a_release_is_in_report_and_certificate() {
    let scratch = TestFolder::with_sample(600);
    let told = "\n[release]\ntitle = \"Ward visits <2024>\"\npurpose = \"teaching\"\nrecipient = \"students\"\n\
                threshold = \"ema\"\nvalid_until = 2027-12-31\n";
    scratch.file("told.toml", &format!("{}{told}", scratch.read("policy.toml")));
    let run = scratch.amidst(&["anonymize", "told.toml", "--out", "out"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for part in ["public", "internal"] {
        let json: Value = serde_json::from_str(&scratch.read(&format!("out/{part}/report.json"))).unwrap();
        let release = &json["release"];
        assert_eq!((&release["title"], &release["valid_until"]), (&"Ward visits <2024>".into(), &"2027-12-31".into()));
        let (measured, kept) = (release["threshold"]["measured"].as_f64().unwrap(), &release["threshold"]["kept"]);
        assert_eq!(measured <= 0.09, *kept == true, "{release}");
        let page = scratch.read(&format!("out/{part}/report.html"));
        assert!(page.contains("Ward visits &lt;2024&gt;") && page.contains("Policy 0070"), "{part}");
        let text = scratch.read(&format!("out/{part}/report.md"));
        assert!(text.contains("students") && text.contains("Policy 0070"), "{text}");
    }
    let certificate = scratch.read("out/public/certificate.json");
    assert!(certificate.contains("[release]"), "{certificate}");
    assert_eq!(scratch.amidst(&["verify", "out", "--policy", "told.toml"]).code, 0);
    // Without a stated value the report says nothing.
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "plain"]).code, 0);
    assert!(!scratch.read("plain/public/report.json").contains("\"release\":"));
}

/// What is said of many columns is said once, and a threshold is told with its source and the measured risk.
#[test]
fn many_columns_and_a_threshold_are_told_in_few_words() {
    let scratch = TestFolder::new();
    let answers: Vec<String> = (1..=14).map(|i| format!("answer_{i}")).collect();
    let mut table = format!("age,{},illness\n", answers.join(","));
    for row in 0..120usize {
        let given = (1..=14).map(|i| ["yes", "no", "unsure"][row * (2 * i + 5) / 3 % 3]).collect::<Vec<_>>().join(",");
        table += &format!("{},{given},{}\n", 20 + row % 40, ["flu", "gout", "cold"][row % 3]);
    }
    scratch.file("d.csv", &table);
    let mut policy =
        "[data]\ninput = \"d.csv\"\n[columns.age]\nrole = \"quasi\"\nhierarchy = { intervals = [5, 10, 20] }\n\
                      [columns.illness]\nrole = \"sensitive\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 12\n\
                      [release]\ntitle = \"Answers\"\nthreshold = \"ipc-high\"\n"
            .to_string();
    for answer in &answers {
        policy += &format!("[columns.{answer}]\nrole = \"insensitive\"\naccept = \"a reason for all\"\n");
    }
    scratch.file("p.toml", &policy);
    let run = scratch.amidst(&["anonymize", "p.toml", "--out", "out"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout.matches("a reason for all").count(), 1, "{}", run.stdout);
    assert!(run.stdout.contains("answer_6 and 8 more columns are published although they may"), "{}", run.stdout);
    for part in ["out/public/report.html", "out/internal/report.html"] {
        let page = scratch.read(part);
        let said = page.split("<pre").next().unwrap_or_default();
        assert_eq!(said.matches("a reason for all").count(), 2, "in the summary and beside the rows: {part}");
        for told in ["IPC Ontario", "0.0500 (ipc-high)", "ABOVE IT"] {
            assert!(said.contains(told), "{part}: {told}");
        }
    }
    assert!(scratch.read("out/public/report.md").contains("IPC Ontario"));
}
