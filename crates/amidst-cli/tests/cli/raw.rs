//! Columns that are published unchanged: measured, reported, and refused where they single people out.

use amidst::check::Certificate;
use serde_json::{Value, json};

use crate::test_folder::TestFolder;

/// 200 people of four ages; `number` is unique, `ward` is one of four, `day` and `bed` are unique together.
fn hospital() -> TestFolder {
    let scratch = TestFolder::new();
    let row = |i: usize| {
        format!(
            "{},{},{},d{},b{},{}",
            20 + i % 4,
            i + 1,
            ["A", "B", "C", "D"][i / 50],
            i % 20,
            i / 20,
            ["flu", "cold"][i / 4 % 2]
        )
    };
    let rows: Vec<String> = (0..200).map(row).collect();
    scratch.file("people.csv", &format!("age,number,ward,day,bed,disease\n{}\n", rows.join("\n")));
    scratch
}

/// A policy with these sections in addition to age and disease.
fn policy(scratch: &TestFolder, sections: &str) {
    let text = format!(
        "[data]\ninput = \"people.csv\"\n\n[columns.age]\nrole = \"quasi\"\nhierarchy = {{ intervals = [2] }}\n\n\
         [columns.disease]\nrole = \"sensitive\"\n\n{sections}\n[[require]]\nmodel = \"k-anonymity\"\nk = 5\n"
    );
    scratch.file("policy.toml", &text);
}

const OUT: &str = "role = \"identifying\"\n";
const RAW: &str = "role = \"insensitive\"\n";

#[test]
fn a_patient_number_is_refused_with_three_ways_out() {
    let scratch = hospital();
    policy(&scratch, &format!("[columns.number]\n{RAW}[columns.ward]\n{RAW}[columns.\"*\"]\n{OUT}"));
    let parts = [
        "policy.toml:12:8",
        "^^^^^^^^^^^^^",
        "`number`",
        "200 of the 200 rows",
        "100 %",
        "role = \"quasi\"",
        "role = \"identifying\"",
        "accept = \"why\"",
        "1 %",
    ];
    scratch.amidst(&["check", "policy.toml"]).fails(2, &parts);
    scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]).fails(2, &parts);
    assert_eq!(scratch.names(), ["people.csv", "policy.toml"]);
    let told = scratch.amidst(&["check", "policy.toml", "--json"]).json(2);
    assert_eq!(told["problems"][0]["line"], 12);
    assert!(!told["problems"][0]["message"].as_str().unwrap().contains("ward"));
}

#[test]
fn columns_that_single_out_together_are_all_marked() {
    let scratch = hospital();
    policy(&scratch, &format!("[columns.day]\n{RAW}[columns.bed]\n{RAW}[columns.ward]\n{RAW}[columns.number]\n{OUT}"));
    let run = scratch.amidst(&["check", "policy.toml"]);
    run.fails(2, &["`day` and `bed`", "200 of the 200 rows", "together", "12 |", "14 |"]);
    assert!(!run.stderr.contains("`ward`"), "the smallest set: {}", run.stderr);
    // With a column that singles out alone, the others are checked as well.
    policy(&scratch, &format!("[columns.day]\n{RAW}[columns.bed]\n{RAW}[columns.ward]\n{RAW}[columns.number]\n{RAW}"));
    scratch.amidst(&["check", "policy.toml"]).fails(2, &["`day` and `bed`", "`number`"]);
    // Either of the two alone is harmless.
    policy(&scratch, &format!("[columns.day]\n{RAW}[columns.ward]\n{RAW}[columns.\"*\"]\n{OUT}"));
    let run = scratch.amidst(&["check", "policy.toml"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("0 of 200 rows (0 %) are unique on what is published as it is: ward and day"));
}

#[test]
fn columns_that_nobody_names_are_named_at_the_line_that_lets_them_in() {
    let scratch = hospital();
    policy(&scratch, &format!("[columns.\"*\"]\n{RAW}"));
    let parts = ["policy.toml:12:8", "`number`", "`day` and `bed`", "of its own", "of their own"];
    scratch.amidst(&["check", "policy.toml"]).fails(2, &parts);
}

#[test]
fn a_reason_goes_into_report_and_certificate_and_unique_rows_are_counted() {
    let scratch = hospital();
    policy(
        &scratch,
        &format!(
            "[columns.number]\n{RAW}accept = \"printed on the door\"\n[columns.ward]\n{RAW}[columns.\"*\"]\n{OUT}"
        ),
    );
    let checked = scratch.amidst(&["check", "policy.toml", "--json"]).json(0);
    assert_eq!(checked["unique_rows"], json!({"insensitive": 200, "insensitive_share": 1}));
    for ending in ["csv", "parquet", "jsonl", "arrow", "csv.gz"] {
        let out = format!("release-{}", ending.replace('.', "-"));
        scratch.file("output.toml", &format!("{}[output]\nfile = \"release.{ending}\"\n", scratch.read("policy.toml")));
        let done = scratch.amidst(&["anonymize", "output.toml", "--out", &out, "--json"]).json(0);
        let unique = json!({"published": 200, "published_share": 1, "insensitive": 200, "insensitive_share": 1});
        assert_eq!(done["unique_rows"], unique);
        let accepted = json!([{"column": "number", "reason": "printed on the door"}]);
        assert_eq!(done["accepted"], accepted);
        let file = |name: &str| scratch.read(&format!("{out}/public/{name}"));
        let certificate: Value = serde_json::from_str(&file("certificate.json")).unwrap();
        assert_eq!(certificate["unique_rows"], json!({"published": 200, "insensitive": 200}));
        assert_eq!(certificate["accepted"], accepted);
        for report in ["report.md", "report.html", "report.json"] {
            assert!(file(report).contains("printed on the door"), "{report}");
            assert!(file(report).contains("with these all 200 rows are unique"), "{report}");
        }
        let verify = scratch.amidst(&["verify", &out]);
        assert_eq!(verify.code, 0);
        let told = ["with what stands beside them", "number", "200 of 200 rows are unique"];
        assert!(told.iter().all(|part| verify.stdout.contains(part)), "{}", verify.stdout);
        let verdict = scratch.amidst(&["verify", &out, "--json"]).json(0);
        assert_eq!(verdict["proven"]["unique"], 200);
    }
}

/// Changes a certificate and recomputes its digest, as a forger would.
fn forged(scratch: &TestFolder, change: impl FnOnce(&mut Certificate)) -> Value {
    let path = scratch.path("release/public/certificate.json");
    let mut certificate = Certificate::read(&path).unwrap();
    change(&mut certificate);
    certificate.digest = certificate.computed_digest().unwrap();
    std::fs::write(&path, certificate.to_json().unwrap()).unwrap();
    let verdict = scratch.amidst(&["verify", "release", "--json"]);
    serde_json::from_str(&verdict.stdout).unwrap_or_else(|_| panic!("{}", verdict.stderr))
}

#[test]
fn the_checker_counts_for_itself() {
    let scratch = hospital();
    policy(&scratch, &format!("[columns.number]\n{RAW}accept = \"why not\"\n[columns.\"*\"]\n{OUT}"));
    let forge = |change: fn(&mut Certificate)| {
        let made = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force"]);
        assert_eq!(made.code, 0, "{}", made.stderr);
        forged(&scratch, change)
    };
    assert_eq!(forge(|_| ())["valid"], true);
    let counts: [fn(&mut Certificate); 2] = [|c| c.unique_rows.published = 3, |c| c.unique_rows.insensitive = 0];
    for change in counts {
        let verdict = forge(change);
        assert_eq!((&verdict["valid"], &verdict["problems"][0]["kind"]), (&json!(false), &json!("measured")));
    }
    // Without the reason the column singles people out.
    let verdict = forge(|c| c.accepted.clear());
    let kinds: Vec<&Value> = verdict["problems"].as_array().unwrap().iter().map(|p| &p["kind"]).collect();
    assert!(kinds.contains(&&json!("insensitive")), "{verdict}");
    // A reason for a column that is not insensitive.
    let verdict = forge(|c| c.accepted[0].column = "age".into());
    assert_eq!(verdict["valid"], false);
}

#[test]
fn rows_that_are_left_out_hide_nobody_else() {
    // Every person shares the ward with another until the rows of one age are suppressed.
    let mut rows: Vec<String> = (0..60).map(|i| format!("{},w{},flu", 20 + i % 2, i % 30)).collect();
    rows.extend((0..3).map(|i| format!("90,s{i},flu")));
    rows.extend((0..3).map(|i| format!("20,s{i},flu")));
    let scratch = TestFolder::new();
    scratch.file("people.csv", &format!("age,ward,disease\n{}\n", rows.join("\n")));
    let text = "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\n[columns.ward]\nrole = \"insensitive\"\n\
         [columns.disease]\nrole = \"sensitive\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 5\n\
         [search]\nalgorithm = \"optimal\"\nmax_suppression = 3\n";
    scratch.file("policy.toml", text);
    assert_eq!(scratch.amidst(&["check", "policy.toml"]).code, 0);
    let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]);
    run.fails(2, &["`ward`", "3 of the 63 released rows (4.8 %)"]);
    assert_eq!(scratch.names(), ["people.csv", "policy.toml"]);
}

#[test]
fn several_rows_of_one_person_hide_nobody() {
    let rows: Vec<String> = (0..100).map(|i| format!("p{},{},w{},flu", i / 2, 20 + i / 2 % 2, i / 2)).collect();
    let scratch = TestFolder::new();
    scratch.file("people.csv", &format!("id,age,ward,disease\n{}\n", rows.join("\n")));
    let text = "[data]\ninput = \"people.csv\"\n[columns.id]\nrole = \"key\"\n[columns.age]\nrole = \"quasi\"\n\
         [columns.ward]\nrole = \"insensitive\"\n[columns.disease]\nrole = \"sensitive\"\n\
         [[require]]\nmodel = \"k-anonymity\"\nk = 5\n";
    scratch.file("policy.toml", text);
    scratch.amidst(&["check", "policy.toml"]).fails(2, &["`ward`", "100 of the 100 rows"]);
    scratch.amidst(&["series", "init", "series", "--policy", "policy.toml"]).fails(2, &["`ward`", "accept"]);
    assert_eq!(scratch.names(), ["people.csv", "policy.toml"]);
}

#[test]
fn labels_that_look_alike_are_warned_of_everywhere() {
    let labels = ["Flu", "flu ", "FLU", "Саncer", "Cancer"];
    let rows: Vec<String> = (0..50).map(|i| format!("{},{}", 20 + i / 5 % 2, labels[i % 5])).collect();
    let scratch = TestFolder::new();
    scratch.file("people.csv", &format!("age,disease\n{}\n", rows.join("\n")));
    scratch.file(
        "policy.toml",
        "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\n[columns.disease]\nrole = \"sensitive\"\n\
         [[require]]\nmodel = \"distinct-l-diversity\"\non = \"disease\"\nl = 3\n",
    );
    let told = "2 groups of labels that differ only by case, white space";
    let run = scratch.amidst(&["check", "policy.toml"]);
    assert!(run.stderr.contains(told) && run.stderr.contains("\"FLU\""), "{}", run.stderr);
    let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]);
    assert!(run.code == 0 && run.stderr.contains(told), "{}", run.stderr);
    let run = scratch.amidst(&["verify", "release"]);
    assert!(run.code == 0 && run.stdout.contains(told), "{}{}", run.stdout, run.stderr);
}

#[test]
fn waivers_are_counted_and_missing_ones_warned_of() {
    let rows: Vec<String> =
        (0..60).map(|i| format!("{},flu,{}", 20 + i % 2, if i < 7 { "ja" } else { "nein" })).collect();
    let scratch = TestFolder::new();
    scratch.file("people.csv", &format!("age,disease,waiver\n{}\n", rows.join("\n")));
    let text = "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\n[columns.disease]\nrole = \"sensitive\"\n\
         [columns.waiver]\nrole = \"consent\"\nwaived = [\"ja\", \"jawohl\"]\n[[require]]\nmodel = \"k-anonymity\"\nk = 5\n";
    scratch.file("policy.toml", text);
    let run = scratch.amidst(&["check", "policy.toml"]);
    assert!(run.stderr.contains("no row has the value `jawohl`"), "{}", run.stderr);
    let run = scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]);
    assert!(run.stderr.contains("no row has the value `jawohl`"), "{}", run.stderr);
    assert!(run.stdout.contains("7 rows are published unprotected"), "{}", run.stdout);
    let done = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force", "--json"]).json(0);
    assert_eq!(done["waived"], 7);
}

#[test]
fn a_raw_column_that_gives_a_generalized_one_away_is_said_where_it_is_published() {
    let scratch = TestFolder::new();
    let row = |i: usize| format!("{},{},{}\n", 20 + i % 40, 1000 + i % 40 * 7, ["flu", "cold"][i / 40 % 2]);
    scratch.file("people.csv", &format!("age,tariff,disease\n{}", (0..400).map(row).collect::<String>()));
    policy(&scratch, &format!("[columns.tariff]\n{RAW}"));
    for command in [&["check", "policy.toml"][..], &["anonymize", "policy.toml", "--out", "release"]] {
        let run = scratch.amidst(command);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stderr.contains("`tariff`") && run.stderr.contains("`age`"), "{command:?}: {}", run.stderr);
    }
}

#[test]
fn whose_rows_are_whose_is_only_attested() {
    let scratch = hospital();
    let (ids, k) = ("[columns.number]\nrole = \"key\"\n", format!("[columns.\"*\"]\n{OUT}"));
    policy(&scratch, &format!("{ids}{k}"));
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "release"]).code, 0);
    let certificate: Value = serde_json::from_str(&scratch.read("release/public/certificate.json")).unwrap();
    assert_eq!(certificate["persons"], false, "everybody has one row");
    let verdict = scratch.amidst(&["verify", "release", "--json"]).json(0);
    assert!(verdict["attested"].to_string().contains("rows belong to one person"), "{verdict}");
    // Without a key there are no persons to attest.
    policy(&scratch, &k);
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--force"]).code, 0);
    let verdict = scratch.amidst(&["verify", "release", "--json"]).json(0);
    assert!(!verdict["attested"].to_string().contains("rows belong to one person"), "{verdict}");
}

/// A row without a key belongs to no known person, and would count as an additional person.
#[test]
fn rows_without_a_key_are_left_out_where_other_unknowns_are_kept() {
    let scratch = hospital();
    let lines: Vec<String> = scratch.read("people.csv").lines().map(str::to_string).collect();
    let row = |(i, line): (usize, &String)| match i {
        // The person of these rows is unknown: the number is empty or a question mark.
        7 => line.replacen(",7,", ",,", 1),
        9 => line.replacen(",9,", ",?,", 1),
        _ => line.clone(),
    };
    scratch.file("people.csv", &format!("{}\n", lines.iter().enumerate().map(row).collect::<Vec<_>>().join("\n")));
    policy(&scratch, &format!("[columns.number]\nrole = \"key\"\n[columns.\"*\"]\n{OUT}"));
    let kept =
        scratch.read("policy.toml").replacen("[data]\n", "[data]\nmissing = [\"?\"]\nmissing_rows = \"keep\"\n", 1);
    scratch.file("policy.toml", &kept);
    let json = scratch.amidst(&["anonymize", "policy.toml", "--out", "release", "--json"]).json(0);
    assert_eq!((&json["rows_dropped_missing"], &json["rows_out"]), (&2.into(), &198.into()), "{json}");
    assert_eq!(scratch.amidst(&["verify", "release", "--policy", "policy.toml"]).code, 0);
}
