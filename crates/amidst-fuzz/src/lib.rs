//! Fuzz targets: every function that reads what somebody else wrote, each from bytes to an answer.
//!
//! A target must return, whatever the bytes are: no panic, no abort, no hang, no memory that the bytes merely declare.
//! Where an answer has a property that can be tested (what is written reads back; the size of blocks does not matter),
//! the target tests it. Two drivers call the targets: libFuzzer (the folder `fuzz`), which is guided by coverage,
//! and `amidst_testkit::mutants`, which needs nothing but a stable compiler. The answer tells the latter whether an
//! input was new.
//!
//! What a target needs beside its input (a certificate, a folder, a studio) is made once and used again: ten million
//! executions have to fit into hours.
//!
//! Of tests alone. May use: `amidst`, `amidst-studio`.
//!
//! ```
//! let (name, target) = amidst_fuzz::TARGETS[0];
//! assert_eq!((name, target(b"age,sex\n30,f\n").as_str()), ("csv", "a table of 1"));
//! ```

#![allow(clippy::expect_used, reason = "only fuzzers and tests use it, and they stop where their own data is broken")]

pub mod studio;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use amidst::check::{
    Certificate, CertificateDraft, Claim, Commitment, Envelope, Opening, Options, SCHEME, issue, sha256_hex, signers,
    verify,
};
use amidst::core::hierarchy::{Generalization, Recipe, build};
use amidst::core::model::named::K_ANONYMITY;
use amidst::core::parameter::Value;
use amidst::core::table::Column;
use amidst::io::{Conventions, Format, ReadOptions, TextEncoding, read_from};
use amidst::policy::Policy;
use amidst::series::Series;
use amidst::sign::KeyFile;

/// A target by its name.
pub type Target = (&'static str, fn(&[u8]) -> String);

/// All targets; the names are those of the folders in `fuzz/corpus`.
pub const TARGETS: &[Target] = &[
    ("csv", |bytes| text_table(bytes, Format::Csv)),
    ("tsv", |bytes| text_table(bytes, Format::Tsv)),
    ("encoded", encoded),
    ("json_lines", |bytes| text_table(bytes, Format::JsonLines)),
    ("json", |bytes| text_table(bytes, Format::Json)),
    ("gzip", |bytes| told(&table(bytes, Format::CsvGz, 1 << 16))),
    ("zstd", |bytes| told(&table(bytes, Format::CsvZst, 1 << 16))),
    ("parquet", |bytes| told(&table(bytes, Format::Parquet, 1 << 16))),
    ("arrow", |bytes| told(&table(bytes, Format::Arrow, 1 << 16))),
    ("xlsx", |bytes| told(&table(bytes, Format::Xlsx, 1 << 16))),
    ("ods", |bytes| told(&table(bytes, Format::Ods, 1 << 16))),
    ("sav", |bytes| told(&table(bytes, Format::Sav, 1 << 16))),
    ("dta", |bytes| told(&table(bytes, Format::Dta, 1 << 16))),
    ("release_csv", |bytes| release(bytes, "release.csv")),
    ("release_json_lines", |bytes| release(bytes, "release.jsonl")),
    ("release_gzip", |bytes| release(bytes, "release.csv.gz")),
    ("release_parquet", |bytes| release(bytes, "release.parquet")),
    ("release_arrow", |bytes| release(bytes, "release.arrow")),
    ("policy", policy),
    ("hierarchy", hierarchy),
    ("certificate", certificate),
    ("opening", opening),
    ("envelope", envelope),
    ("signers", |bytes| signers(&String::from_utf8_lossy(bytes)).err().unwrap_or_default()),
    ("private_key", |bytes| KeyFile::parse(&String::from_utf8_lossy(bytes)).err().unwrap_or_default()),
    ("series_state", series_state),
    ("studio", studio::request),
    ("studio_edit", studio::edit),
];

/// The target of that name, for programs that contain one alone.
///
/// # Panics
/// When there is none; where the name is a constant, that is told when the program is built.
pub const fn named(name: &str) -> fn(&[u8]) -> String {
    let mut at = 0;
    while at < TARGETS.len() {
        if same(TARGETS[at].0.as_bytes(), name.as_bytes()) {
            return TARGETS[at].1;
        }
        at += 1;
    }
    panic!("there is no target of that name")
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// The shape of a table, or why it is refused.
type Read = Result<(usize, Vec<String>, Vec<usize>), String>;

fn told(read: &Read) -> String {
    match read {
        Ok((rows, ..)) => format!("a table of {rows}"),
        Err(message) => message.clone(),
    }
}

/// A table, read in blocks of a size.
fn table(bytes: &[u8], format: Format, block_size: usize) -> Read {
    with(bytes, format, ReadOptions { threads: 1, block_size, ..ReadOptions::default() })
}

fn with(bytes: &[u8], format: Format, options: ReadOptions<'_>) -> Read {
    match read_from(bytes, Path::new("t"), format, &options) {
        Ok(input) => {
            let rows = input.table.rows;
            assert!(input.table.columns.iter().all(|column| column.codes.len() == rows), "columns differ in length");
            let distinct = input.table.columns.iter().map(|column| column.dictionary.len()).collect();
            Ok((rows, input.header, distinct))
        }
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && message.len() < 4000, "{message}");
            Err(message)
        }
    }
}

/// What is read must not depend on how the text is cut.
fn text_table(bytes: &[u8], format: Format) -> String {
    let (whole, cut) = (table(bytes, format, 1 << 16), table(bytes, format, 64));
    assert!(whole.as_ref().ok() == cut.as_ref().ok(), "blocks of another size give another table");
    told(&whole)
}

/// Text in another encoding than UTF-8, with decimal commas.
fn encoded(bytes: &[u8]) -> String {
    let encoding = Some(TextEncoding::guess(bytes, true));
    let conventions = Conventions { encoding, decimal_comma: true, ..Conventions::default() };
    let options = ReadOptions { threads: 1, conventions: Some(&conventions), ..ReadOptions::default() };
    told(&with(bytes, Format::Csv, options))
}

const POLICY: &str = "[columns.age]\nrole = \"quasi\"\n[columns.disease]\nrole = \"sensitive\"\n\
                      [[require]]\nmodel = \"k-anonymity\"\nk = 2\n";
const SERIES_POLICY: &str = "[columns.id]\nrole = \"key\"\n[columns.age]\nrole = \"quasi\"\n[columns.zip]\nrole = \"quasi\"\n\
                             [columns.disease]\nrole = \"sensitive\"\n[[require]]\nmodel = \"k-anonymity\"\nk = 2\n";
const TABLE: &str = "age,disease\n[20-29],Flu\n[20-29],HIV\n*,Flu\n*,Cancer\n";

/// The certificate of a small release that stands.
fn honest() -> &'static Certificate {
    static MADE: OnceLock<Certificate> = OnceLock::new();
    MADE.get_or_init(|| {
        let claim = Claim {
            model: K_ANONYMITY.id.into(),
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
fn release(bytes: &[u8], name: &str) -> String {
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
    verdict.problems.iter().map(|problem| problem.message.as_str()).collect()
}

/// What a policy says is what it says when it is written again.
fn policy(bytes: &[u8]) -> String {
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
            written
        }
        Err(errors) => {
            let message = errors.to_string();
            assert!(!message.is_empty());
            message
        }
    }
}

/// A hierarchy from a file, bound to a column of the file's own first values.
fn hierarchy(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let values: Vec<String> =
        text.lines().take(8).map(|line| line.split([';', ',', '\t']).next().unwrap_or_default().to_string()).collect();
    let column = Column::from_values("c", values.iter().map(String::as_str));
    let recipe = [("file".to_string(), Value::Text("h.csv".into()))];
    let read = |_: &str| Ok(text.clone());
    match build(&Recipe { table: &recipe, read: &read, missing: &[] }, &column) {
        Ok(made) => format!("{}", Generalization::bind(&column, Some(&made)).is_ok()),
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty());
            message
        }
    }
}

/// A certificate that is read is written as the same one, and a release of nothing is held against it.
fn certificate(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let read = match Certificate::parse(&text) {
        Ok(read) => read,
        Err(problem) => return problem.message,
    };
    let written = read.to_json().expect("what was read can be written");
    assert!(Certificate::parse(&written).is_ok_and(|again| again == read), "written again it is another certificate");
    let files = BTreeMap::from([("release.csv".to_string(), TABLE.as_bytes().into())]);
    let verdict = verify(files, &read, &Options::default());
    verdict.problems.iter().map(|problem| problem.message.as_str()).collect()
}

/// Rows that somebody claims to open: nothing commits to them here, and nothing may pass.
fn opening(bytes: &[u8]) -> String {
    let opening = match Opening::parse(&String::from_utf8_lossy(bytes)) {
        Ok(opening) => opening,
        Err(problem) => return problem.message,
    };
    let written = opening.to_json().expect("what was read can be written");
    assert!(Opening::parse(&written).is_ok_and(|again| again == opening), "written again it is another opening");
    let mut certificate = honest().clone();
    certificate.commitment = Some(Commitment {
        scheme: SCHEME.into(),
        columns: vec!["age".into(), "disease".into()],
        rows: 4,
        root: "0".repeat(64),
    });
    certificate.digest = certificate.computed_digest().unwrap_or_default();
    let opening = Opening { certificate: certificate.digest.clone(), ..opening };
    let files = BTreeMap::from([("release.csv".to_string(), TABLE.as_bytes().into())]);
    let verdict = verify(files, &certificate, &Options { opening: Some(&opening), ..Options::default() });
    assert!(!verdict.stands(), "a row out of nothing");
    verdict.problems.iter().map(|problem| problem.message.as_str()).collect()
}

/// An envelope stands only if it is the statement about the certificate and every signature fits: nobody signed here.
fn envelope(bytes: &[u8]) -> String {
    let digest = sha256_hex(b"");
    match Envelope::parse(bytes) {
        Ok(read) => {
            assert!(read.line().as_bytes() == bytes, "an envelope has one form");
            assert!(read.keys(honest(), &digest).is_err(), "a signature out of nothing");
            "an envelope".to_string()
        }
        Err(problem) => problem.message,
    }
}

/// The folder of a series whose state is exchanged, with the policy that the corpus began with.
fn series_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("private")).expect("a folder");
    std::fs::write(folder.path().join("private/policy.toml"), SERIES_POLICY).expect("a policy");
    folder
}

/// The private state of a series.
fn series_state(bytes: &[u8]) -> String {
    thread_local!(static FOLDER: tempfile::TempDir = series_folder());
    FOLDER.with(|folder| {
        let private = folder.path().join("private");
        // What the last state left behind.
        for name in ["state.sqlite-wal", "state.sqlite-shm", "state.sqlite-journal", "state.head"] {
            let _ = std::fs::remove_file(private.join(name));
        }
        std::fs::write(private.join("state.sqlite"), bytes).expect("a state");
        match Series::open(folder.path()) {
            Ok(series) => {
                let (log, chain, check) = (series.log(), series.chain(), series.check());
                let said = [log.err(), chain.err(), check.err()].into_iter().flatten();
                said.map(|failure| failure.to_string()).collect()
            }
            Err(failure) => {
                let message = failure.to_string();
                assert!(!message.is_empty());
                message
            }
        }
    })
}
