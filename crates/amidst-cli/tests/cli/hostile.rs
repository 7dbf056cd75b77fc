//! Hostile labels, names and certificates print nothing that affects a terminal or a page.

use amidst::check::{Certificate, On, acts};

use crate::test_folder::{Run, TestFolder};

const ESCAPE: &str = "\u{1b}[2K\u{1b}[1A\u{9b}1mvalid\u{202e}\u{200b}\u{7}";

/// Asserts that a text contains no control characters except line breaks and tabs.
fn harmless(what: &str, text: &str) {
    let found = text.chars().find(|&c| acts(c) && !matches!(c, '\n' | '\t'));
    assert!(found.is_none(), "{what}: {found:?} in {text:?}");
}

fn run(scratch: &TestFolder, arguments: &[&str]) -> Run {
    let run = scratch.amidst(arguments);
    harmless(&format!("{arguments:?} stdout"), &run.stdout);
    harmless(&format!("{arguments:?} stderr"), &run.stderr);
    run
}

/// A table whose names and labels contain control sequences, and a policy for it.
fn hostile() -> TestFolder {
    let scratch = TestFolder::new();
    let (quasi, sick) = (format!("age{ESCAPE}"), format!("sick{ESCAPE}"));
    let rows: Vec<String> = (0..40)
        .map(|i| format!("{},{}{ESCAPE},w{ESCAPE},{i}", ["old", "young"][i % 2], ["flu", "FLU", "cold"][i % 3]))
        .collect();
    let text = format!("{quasi}{ESCAPE},{sick},ward,id{ESCAPE}\n{}\n", rows.join("\n"));
    scratch.file("people.csv", &text);
    let key = |name: &str| {
        let escaped: String =
            name.chars().map(|c| if acts(c) { format!("\\u{:04X}", c as u32) } else { c.into() }).collect();
        format!("\"{escaped}\"")
    };
    let policy = format!(
        "[data]\ninput = \"people.csv\"\n[columns.{}]\nrole = \"quasi\"\n[columns.{}]\nrole = \"sensitive\"\n\
         [columns.ward]\nrole = \"insensitive\"\naccept = {}\n[columns.\"*\"]\nrole = \"identifying\"\n\
         [[require]]\nmodel = \"k-anonymity\"\nk = 5\n[[require]]\nmodel = \"distinct-l-diversity\"\non = {}\nl = 2\n",
        key(&format!("{quasi}{ESCAPE}")),
        key(&sick),
        key(&format!("why{ESCAPE}")),
        key(&sick),
    );
    scratch.file("policy.toml", &policy);
    scratch
}

#[test]
fn hostile_tables_print_nothing_that_acts() {
    let scratch = hostile();
    assert_eq!(run(&scratch, &["check", "policy.toml"]).code, 0);
    run(&scratch, &["check", "policy.toml", "--json"]);
    assert_eq!(run(&scratch, &["anonymize", "policy.toml", "--out", "release", "-v"]).code, 0);
    run(&scratch, &["anonymize", "policy.toml", "--out", "release", "--force", "--json"]);
    assert_eq!(run(&scratch, &["verify", "release"]).code, 0);
    run(&scratch, &["verify", "release", "--json", "--sarif", "log.sarif"]);
    harmless("sarif", &scratch.read("log.sarif"));
    for part in ["public", "internal"] {
        for name in ["report.html", "report.md", "policy.toml"] {
            harmless(name, &scratch.read(&format!("release/{part}/{name}")));
        }
    }
    run(&scratch, &["audit", "people.csv", "--policy", "policy.toml", "--report", "audit.html"]);
    harmless("audit.html", &scratch.read("audit.html"));
    run(&scratch, &["audit", "people.csv"]);
    run(&scratch, &["explore", "policy.toml"]);
    run(&scratch, &["attack", "homogeneity", "people.csv", "--policy", "policy.toml"]);
    run(&scratch, &["init", "people.csv", "--out", "draft.toml"]);
    harmless("draft.toml", &scratch.read("draft.toml"));
    run(&scratch, &["series", "init", "series", "--policy", "policy.toml"]);
    let with_key = scratch.read("policy.toml").replace("[columns.\"*\"]\nrole = \"identifying\"\n", "");
    let id = format!("id{ESCAPE}");
    let escaped: String = id.chars().map(|c| if acts(c) { format!("\\u{:04X}", c as u32) } else { c.into() }).collect();
    scratch.file("keyed.toml", &format!("{with_key}\n[columns.\"{escaped}\"]\nrole = \"key\"\n"));
    run(&scratch, &["series", "init", "series", "--policy", "keyed.toml"]);
    run(&scratch, &["series", "log", "series"]);
    run(&scratch, &["series", "audit", "series"]);
}

#[test]
fn errors_quote_nothing_that_acts() {
    let scratch = hostile();
    // A policy that does not fit: the message contains the names of the data.
    scratch.file("wrong.toml", "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\n");
    assert_eq!(run(&scratch, &["check", "wrong.toml"]).code, 2);
    // Characters that TOML accepts.
    scratch.file(
        "odd.toml",
        "[data]\ninput = \"people\u{202e}.csv\"\n[columns.\"a\u{9b}\u{200b}\"]\nrole = \"quas\u{202e}i\"\n",
    );
    assert_eq!(run(&scratch, &["check", "odd.toml"]).code, 2);
    // Files and arguments with such names.
    let name = format!("no\n{ESCAPE}.csv");
    scratch.file(&name, "a,a\n1,2\n");
    run(&scratch, &["audit", &name]);
    run(&scratch, &["init", &name]);
    run(&scratch, &["verify", &name]);
    run(&scratch, &["anonymize", &name]);
    run(&scratch, &["explain", &name]);
    run(&scratch, &[&name]);
    run(&scratch, &["verify", &format!("--{ESCAPE}")]);
}

#[test]
fn hostile_certificates_print_nothing_that_acts() {
    let changes: [fn(&mut Certificate); 6] = [
        |c| c.requirements[0].model = format!("k-anonymity{ESCAPE}\nholds"),
        |c| c.requirements[1].on = Some(On::One(format!("x{ESCAPE}"))),
        |c| c.outputs[0].file = format!("release{ESCAPE}.csv"),
        |c| c.quasi[0] = format!("q{ESCAPE}\r\n"),
        |c| c.tool = ESCAPE.into(),
        |c| c.accepted[0].column = format!("w{ESCAPE}"),
    ];
    for change in changes {
        let scratch = hostile();
        assert_eq!(run(&scratch, &["anonymize", "policy.toml", "--out", "release"]).code, 0);
        let path = scratch.path("release/public/certificate.json");
        let mut certificate = Certificate::read(&path).unwrap();
        change(&mut certificate);
        certificate.digest = certificate.computed_digest().unwrap();
        std::fs::write(&path, certificate.to_json().unwrap()).unwrap();
        for arguments in [&["verify", "release"][..], &["verify", "release", "--json"]] {
            let shown = run(&scratch, arguments);
            // Only the program itself may begin a line.
            assert!(!shown.stdout.lines().any(|line| line.trim() == "holds"), "{}", shown.stdout);
        }
    }
}
