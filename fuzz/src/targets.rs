//! What is put under fire: every function that reads what somebody else wrote, each from bytes to an answer.
//!
//! A target must come back, whatever the bytes are: no panic, no abort, no hang, no memory that the bytes merely declare.
//! Where an answer has a property that can be asked for (what is written reads back; pieces do not matter), the target
//! asks for it. The file is compiled twice: by `cargo fuzz`, which is guided by coverage, and by `crates/amidst/tests/fuzz`,
//! which needs nothing but a stable compiler.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use amidst::check::{Certificate, CertificateDraft, Claim, Envelope, Options, issue, sha256_hex, signers, verify};
use amidst::core::hierarchy::{Generalization, Recipe, build};
use amidst::core::parameter::Value;
use amidst::core::table::Column;
use amidst::io::{Format, ReadOptions, read_from};
use amidst::policy::Policy;
use amidst::series::Series;
use amidst::sign::KeyFile;

/// A target by its name.
pub type Target = (&'static str, fn(&[u8]));

/// All targets; the names are those of the folders in `corpus`.
pub const TARGETS: &[Target] = &[
    ("csv", |bytes| text_table(bytes, Format::Csv)),
    ("tsv", |bytes| text_table(bytes, Format::Tsv)),
    ("json_lines", |bytes| text_table(bytes, Format::JsonLines)),
    ("gzip", |bytes| drop(table(bytes, Format::CsvGz, 1 << 16))),
    ("parquet", |bytes| drop(table(bytes, Format::Parquet, 1 << 16))),
    ("arrow", |bytes| drop(table(bytes, Format::Arrow, 1 << 16))),
    ("release_csv", |bytes| release(bytes, "release.csv")),
    ("release_json_lines", |bytes| release(bytes, "release.jsonl")),
    ("release_gzip", |bytes| release(bytes, "release.csv.gz")),
    ("release_parquet", |bytes| release(bytes, "release.parquet")),
    ("release_arrow", |bytes| release(bytes, "release.arrow")),
    ("policy", policy),
    ("hierarchy", hierarchy),
    ("certificate", certificate),
    ("envelope", envelope),
    ("signers", |bytes| drop(signers(&String::from_utf8_lossy(bytes)))),
    ("private_key", |bytes| drop(KeyFile::parse(&String::from_utf8_lossy(bytes)))),
    ("series_state", series_state),
];

/// A table, read in blocks of a size: its shape, or nothing where it is refused.
fn table(bytes: &[u8], format: Format, block_size: usize) -> Option<(usize, Vec<String>, Vec<usize>)> {
    let options = ReadOptions { threads: 1, block_size, ..ReadOptions::default() };
    match read_from(bytes, Path::new("t"), format, &options) {
        Ok(input) => {
            let rows = input.table.rows;
            assert!(input.table.columns.iter().all(|column| column.codes.len() == rows), "columns differ in length");
            let distinct = input.table.columns.iter().map(|column| column.dictionary.len()).collect();
            Some((rows, input.header, distinct))
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && message.len() < 4000, "{message}");
            None
        }
    }
}

/// What is read must not depend on how the text is cut.
fn text_table(bytes: &[u8], format: Format) {
    assert!(table(bytes, format, 1 << 16) == table(bytes, format, 64), "blocks of another size give another table");
}

const POLICY: &str = "[columns.age]\nrole = \"quasi\"\n[columns.disease]\nrole = \"sensitive\"\n\
                      [[require]]\nmodel = \"k-anonymity\"\nk = 2\n";
const TABLE: &str = "age,disease\n[20-29],Flu\n[20-29],HIV\n*,Flu\n*,Cancer\n";

/// The certificate of a small release that stands.
fn honest() -> &'static Certificate {
    static MADE: OnceLock<Certificate> = OnceLock::new();
    MADE.get_or_init(|| {
        let claim = Claim {
            model: "k-anonymity".into(),
            on: None,
            quasi: None,
            parameters: [("k".to_string(), 2.into())].into_iter().collect(),
        };
        let draft = CertificateDraft {
            outputs: vec!["release.csv".into()],
            rows_in: 4,
            quasi: vec!["age".into()],
            sensitive: vec![serde_json::from_str("{\"name\":\"disease\"}").expect("a column")],
            requirements: vec![claim],
            ..CertificateDraft::new("amidst", POLICY)
        };
        let files = BTreeMap::from([("release.csv".to_string(), TABLE.as_bytes().into())]);
        issue(draft, files, &Options::default()).unwrap_or_else(|problems| panic!("{problems:?}"))
    })
}

/// A release with these bytes as its table, and a certificate whose digests fit.
fn release(bytes: &[u8], name: &str) {
    let mut certificate = honest().clone();
    certificate.outputs[0].file = name.into();
    certificate.outputs[0].bytes = bytes.len() as u64;
    certificate.outputs[0].sha256 = sha256_hex(bytes);
    certificate.digest = certificate.computed_digest().unwrap_or_default();
    let files = BTreeMap::from([(name.to_string(), bytes.to_vec().into())]);
    let verdict = verify(files, &certificate, &Options::default());
    let violated = verdict.problems.iter().any(|problem| problem.is_violation());
    assert!(verdict.valid != violated, "a verdict that contradicts its problems");
    assert!(
        !verdict.valid || verdict.proven.is_some_and(|proven| proven.rows == 4),
        "another number of rows is accepted"
    );
}

/// What a policy says is what it says when it is written again.
fn policy(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Policy::parse(&text, Path::new("policy.toml")) {
        Ok(policy) => {
            let written = policy.to_toml();
            // Paths of populations are looked at when a policy is read, and passwords are not written.
            if let Ok(again) = Policy::parse(&written, Path::new("policy.toml")) {
                assert!(again.to_toml() == written, "written again it is another policy");
            } else {
                assert!(
                    written.contains("population") || written.contains("://"),
                    "what is written does not read back"
                );
            }
            drop(policy.public_form().to_toml());
        }
        Err(errors) => assert!(!errors.to_string().is_empty()),
    }
}

/// A hierarchy from a file, bound to a column of the file's own first values.
fn hierarchy(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let values: Vec<String> =
        text.lines().take(8).map(|line| line.split([';', ',', '\t']).next().unwrap_or_default().to_string()).collect();
    let column = Column::from_values("c", values.iter().map(String::as_str));
    let recipe = [("file".to_string(), Value::Text("h.csv".into()))];
    let read = |_: &str| Ok(text.clone());
    match build(&Recipe { table: &recipe, read: &read, missing: &[] }, &column) {
        Ok(made) => drop(Generalization::bind(&column, Some(&made))),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// A certificate that is read is written as the same one, and a release of nothing is held against it.
fn certificate(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(read) = Certificate::parse(&text) else { return };
    let written = read.to_json().expect("what was read can be written");
    assert!(Certificate::parse(&written).is_ok_and(|again| again == read), "written again it is another certificate");
    let files = BTreeMap::from([("release.csv".to_string(), TABLE.as_bytes().into())]);
    drop(verify(files, &read, &Options::default()));
}

/// An envelope stands only if it is the statement about the certificate and every signature fits: nobody signed here.
fn envelope(bytes: &[u8]) {
    let digest = sha256_hex(b"");
    if let Ok(read) = Envelope::parse(bytes) {
        assert!(read.line().as_bytes() == bytes, "an envelope has one form");
        assert!(read.keys(honest(), &digest).is_err(), "a signature out of nothing");
    }
}

/// The private state of a series.
fn series_state(bytes: &[u8]) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let private = folder.path().join("private");
    if std::fs::create_dir(&private).is_err() || std::fs::write(private.join("state.sqlite"), bytes).is_err() {
        return;
    }
    drop(std::fs::write(private.join("policy.toml"), POLICY));
    match Series::open(folder.path()) {
        Ok(series) => drop((series.log(), series.chain(), series.check())),
        Err(failure) => assert!(!failure.to_string().is_empty()),
    }
}
