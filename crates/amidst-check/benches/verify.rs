//! Checking a large release against only reading it with the `csv` crate: `cargo bench -p amidst-check --bench verify`.
//!
//! `AMIDST_BENCH_ROWS` sets the number of rows, a million when absent.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use std::io::Write;
use std::time::Instant;

use amidst_check::{Accepted, CertificateDraft, Claim, On, Options, issue, verify};
use serde_json::{Value, json};

/// The policy of the release.
const POLICY: &str = r#"
columns = { age = { role = "quasi" }, sex = { role = "quasi" }, zip = { role = "quasi" }, nationality = { role = "quasi" }, occupation = { role = "quasi" }, education = { role = "quasi" }, diagnosis = { role = "sensitive" }, "*" = { role = "insensitive", accept = "made up" } }
require = [{ model = "k-anonymity", k = 1 }, { model = "entropy-l-diversity", l = 1 }, { model = "recursive-c-l-diversity", c = 1, l = 1 }]
"#;

fn claim(model: &str, on: Option<&str>, parameters: Value) -> Claim {
    let parameters = parameters.as_object().cloned().unwrap_or_default();
    Claim { model: model.into(), on: on.map(|name| On::One(name.into())), quasi: None, parameters }
}

fn main() {
    let rows: u64 = std::env::var("AMIDST_BENCH_ROWS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let folder = tempfile::tempdir().expect("a temporary folder with room, and a release that holds");
    let path = folder.path().join("release.csv");
    let mut file = std::io::BufWriter::new(
        std::fs::File::create(&path).expect("a temporary folder with room, and a release that holds"),
    );
    writeln!(file, "age,sex,zip,nationality,occupation,education,cost,ward,diagnosis")
        .expect("a temporary folder with room, and a release that holds");
    let mut state = 1u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for _ in 0..rows {
        let low = draw(10) * 10;
        let (zip, nation, job, school) = (draw(10), draw(6), draw(12), draw(4));
        writeln!(
            file,
            "[{low}-{}],{},{zip}****,Nation {nation},Occupation {job},School {school},{},{},Diagnosis {}",
            low + 9,
            ["male", "female"][draw(2) as usize],
            draw(100_000),
            draw(40),
            draw(30),
        )
        .expect("a temporary folder with room, and a release that holds");
    }
    file.into_inner().expect("a temporary folder with room, and a release that holds");
    let mut draft = CertificateDraft::new("amidst 0.1.0", POLICY);
    draft.outputs = vec!["release.csv".into()];
    draft.rows_in = rows;
    draft.quasi = ["age", "sex", "zip", "nationality", "occupation", "education"].map(String::from).to_vec();
    draft.sensitive = vec![amidst_check::SensitiveColumn {
        name: "diagnosis".into(),
        order: None,
        levels: None,
        categories: None,
        weights: None,
    }];
    draft.accepted =
        ["cost", "ward"].map(|column| Accepted { column: column.into(), reason: "made up".into() }).to_vec();
    draft.requirements = vec![
        claim("k-anonymity", None, json!({"k": 1})),
        claim("entropy-l-diversity", Some("diagnosis"), json!({"l": 1})),
        claim("recursive-c-l-diversity", Some("diagnosis"), json!({"c": 1, "l": 1})),
    ];
    let bytes = std::fs::metadata(&path).expect("a temporary folder with room, and a release that holds").len();
    let start = Instant::now();
    let certificate = issue(draft, folder.path(), &Options::default())
        .expect("a temporary folder with room, and a release that holds");
    let issued = start.elapsed();
    let start = Instant::now();
    assert!(verify(folder.path(), &certificate, &Options::default()).valid);
    let verified = start.elapsed();
    let start = Instant::now();
    let mut lines = 0u64;
    let mut reader = csv::Reader::from_path(&path).expect("a temporary folder with room, and a release that holds");
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).expect("a temporary folder with room, and a release that holds") {
        lines += 1;
    }
    let plain = start.elapsed();
    println!("{lines} rows, {} MB, {} classes\n", bytes / 1_000_000, certificate.classes);
    println!("| | seconds | ratio |\n| --- | --- | --- |");
    for (name, took) in [("csv crate, reading, 1 thread", plain), ("check and seal", issued), ("verify", verified)] {
        let seconds = took.as_secs_f64();
        println!("| {name} | {seconds:.2} | {:.2} |", seconds / plain.as_secs_f64());
    }
}
