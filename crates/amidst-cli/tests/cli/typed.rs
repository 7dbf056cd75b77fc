//! Columns that are published unchanged keep their types, in formats that have types.

use serde_json::Value;

use crate::test_folder::TestFolder;

/// People with a column of every kind, all published ungeneralized; `scratch.file("p.toml")` names the output.
fn people(output: &str) -> TestFolder {
    let scratch = TestFolder::new();
    let mut text = "age,born,weight,smoker,disease,code,price,note\n".to_string();
    for i in 0..24 {
        let (age, born) = (20 + i % 2, ["1980-02-29", "1999-12-31"][i % 2]);
        let weight = ["72.5", "80", "-0.125"][i % 3];
        let (smoker, disease) = (["true", "false"][i % 2], ["1", "2"][i % 2]);
        let (code, price) = (["007", "12"][i % 2], ["3000.0", "2.5"][i % 2]);
        text.push_str(&format!("{age},{born},{weight},{smoker},{disease},{code},{price},{}\n", 10 * (i % 5)));
    }
    scratch.file("people.csv", &text);
    let quasi = ["age", "born", "smoker"].map(|c| format!("[columns.{c}]\nrole = \"quasi\"\n")).concat();
    scratch.file(
        "p.toml",
        &format!(
            "[data]\ninput = \"people.csv\"\nmissing = []\n{quasi}[columns.disease]\nrole = \"sensitive\"\n\
             [columns.note]\nrole = \"insensitive\"\ntype = \"text\"\naccept = \"a test\"\n[columns.\"*\"]\nrole = \"insensitive\"\naccept = \"a test\"\n\
             [[require]]\nmodel = \"k-anonymity\"\nk = 5\n[search]\nalgorithm = \"optimal\"\n\
             [output]\nfile = \"{output}\"\norder = \"input\"\n"
        ),
    );
    scratch
}

fn rows(scratch: &TestFolder, name: &str) -> Vec<Value> {
    scratch.read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_typed_format_is_verified_and_reads_back_the_same() {
    for name in ["r.jsonl", "r.parquet", "r.arrow", "r.jsonl.gz"] {
        let scratch = people(name);
        let run = scratch.amidst(&["anonymize", "p.toml", "--out", "r", "--json"]);
        assert_eq!(run.json(0)["levels"]["age"], 0, "{}", run.stdout);
        let verify = scratch.amidst(&["verify", "r", "--policy", "p.toml", "--json"]);
        assert_eq!(verify.json(0)["problems"].as_array().map(Vec::len), Some(0), "{name}: {}", verify.stdout);
        // Read again and written as text, it is the same.
        let release = format!("r/public/release.{}", name.trim_start_matches("r."));
        scratch.file("again.toml", &scratch.read("p.toml").replace(name, "again.csv"));
        let again = scratch.amidst(&["anonymize", "again.toml", "--input", &release, "--out", "again", "--json"]);
        assert_eq!(again.json(0)["rows_out"], 24, "{name}");
        assert_eq!(scratch.read("again/public/release.csv"), scratch.read("people.csv"), "{name}");
    }
}

#[test]
fn json_has_numbers_and_truth_where_the_text_stays_what_it_is() {
    let scratch = people("r.jsonl");
    assert_eq!(scratch.amidst(&["anonymize", "p.toml", "--out", "r"]).code, 0);
    let first: Value = serde_json::from_str(
        r#"{"age":20,"born":"1980-02-29","weight":72.5,"smoker":true,"disease":1,"code":"007","price":"3000.0","note":"0"}"#,
    )
    .unwrap();
    assert_eq!(rows(&scratch, "r/public/release.jsonl")[0], first);
    // A generalized value is a label, whatever it looks like.
    let broad = scratch.read("p.toml").replace("k = 5", "k = 24");
    scratch.file(
        "broad.toml",
        &broad.replace("role = \"quasi\"\n", "role = \"quasi\"\nhierarchy = { suppress = true }\n"),
    );
    let run = scratch.amidst(&["anonymize", "broad.toml", "--out", "broad"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let row = &rows(&scratch, "broad/public/release.jsonl")[0];
    assert_eq!((&row["age"], &row["smoker"], &row["disease"]), (&"*".into(), &"*".into(), &1.into()));
}

#[test]
fn unknown_cells_that_are_kept_are_null_in_columns_of_numbers() {
    let scratch = TestFolder::new();
    let line = |i: usize| {
        let age = if i < 6 { "null".to_string() } else { (30 + i % 2).to_string() };
        format!("{{\"age\":{age},\"disease\":\"{}\"}}\n", ["flu", "gout"][i % 2])
    };
    scratch.file("people.jsonl", &(0..18).map(line).collect::<String>());
    scratch.file(
        "p.toml",
        "[data]\ninput = \"people.jsonl\"\nmissing_rows = \"keep\"\n[columns.age]\nrole = \"quasi\"\n\
         hierarchy = { intervals = [10] }\n[columns.disease]\nrole = \"sensitive\"\n[[require]]\nmodel = \"k-anonymity\"\n\
         k = 6\n[output]\nfile = \"r.parquet\"\n",
    );
    assert_eq!(scratch.amidst(&["anonymize", "p.toml", "--out", "r", "--json"]).json(0)["levels"]["age"], 0);
    assert_eq!(scratch.amidst(&["verify", "r", "--policy", "p.toml"]).code, 0);
    let audit = scratch.amidst(&["audit", "r/public/release.parquet", "--policy", "p.toml", "--json"]).json(0);
    assert_eq!((&audit["rows"], &audit["classes"]), (&18.into(), &3.into()));
}
