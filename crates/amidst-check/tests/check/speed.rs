//! How fast a large release is verified. Run by hand: `cargo test --release -p amidst-check -- --ignored --nocapture`.

use std::io::Write;
use std::time::Instant;

use amidst_check::{CertificateDraft, Options, issue, verify};
use serde_json::json;

use crate::common::claim;

#[test]
#[ignore = "writes and reads some hundred megabytes"]
fn throughput() {
    let rows: u64 = std::env::var("ROWS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("release.csv");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    writeln!(file, "age,sex,zip,nationality,occupation,education,cost,ward,diagnosis").unwrap();
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
        .unwrap();
    }
    file.into_inner().unwrap();
    let mut draft = CertificateDraft::new("amidst 0.1.0", "");
    draft.outputs = vec!["release.csv".into()];
    draft.rows_in = rows;
    draft.quasi = ["age", "sex", "zip", "nationality", "occupation", "education"].map(String::from).to_vec();
    draft.sensitive = vec![amidst_check::SensitiveColumn {
        name: "diagnosis".into(),
        distribution: Vec::new(),
        ordered: false,
        levels: None,
        categories: None,
        weights: None,
    }];
    draft.requirements = vec![
        claim("k-anonymity", &[], json!({"k": 1})),
        claim("entropy-l-diversity", &["diagnosis"], json!({"l": 1})),
        claim("recursive-c-l-diversity", &["diagnosis"], json!({"c": 1, "l": 1})),
    ];
    let bytes = std::fs::metadata(&path).unwrap().len();
    let start = Instant::now();
    let certificate = issue(draft, folder.path(), &Options::default()).unwrap();
    let issued = start.elapsed();
    let start = Instant::now();
    assert!(verify(folder.path(), &certificate, &Options::default()).valid);
    let verified = start.elapsed();
    let start = Instant::now();
    let mut lines = 0u64;
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).unwrap() {
        lines += 1;
    }
    let plain = start.elapsed();
    println!(
        "{lines} rows, {} MB, {} classes: issued in {issued:.2?}, verified in {verified:.2?}; the csv crate alone on one \
         core {plain:.2?}",
        bytes >> 20,
        certificate.classes
    );
}
