//! The release that forgeries start from, in every format.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use amidst_check::{Accepted, Certificate, CertificateDraft, Claim, On, Options, SensitiveColumn, issue, sha256_hex};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int64Array, RecordBatch};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use serde_json::{Value, json};

pub const FORMATS: [&str; 6] = ["csv", "tsv", "csv.gz", "jsonl", "parquet", "arrow"];

pub const POLICY: &str = r#"
[data]
input = "patients.csv"

[columns.name]
role = "identifying"
[columns.age]
role = "quasi"
[columns.site]
role = "quasi"
[columns.cost]
role = "insensitive"
accept = "printed on every bill"
[columns.disease]
role = "sensitive"

[[require]]
model = "k-anonymity"
k = 3
[[require]]
model = "distinct-l-diversity"
on = "disease"
l = 2

[search]
max_suppression = 0.1
"#;

/// The rows: three classes of four.
pub fn rows() -> Vec<[String; 4]> {
    let row = |i: usize| {
        let age = ["[20-29]", "[30-39]", "*"][i / 4];
        let disease = ["Flu", "Cancer", "Flu, \"late\"", "HIV"][i % 4];
        [age.to_string(), format!("{}*", i / 4), (100 + i).to_string(), disease.to_string()]
    };
    (0..12).map(row).collect()
}

pub const HEADER: [&str; 4] = ["age", "site", "cost", "disease"];

/// A release that is being forged.
pub struct Case {
    pub place: tempfile::TempDir,
    pub certificate: Certificate,
    pub file: String,
}

impl Case {
    /// A release that is accepted.
    pub fn new(format: &str) -> Case {
        Case::of(&format!("release.{format}"), &table(format), draft())
    }

    /// A release of one file with these bytes, under the draft's own policy.
    pub fn of(file: &str, bytes: &[u8], draft: CertificateDraft) -> Case {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join(file), bytes).unwrap();
        let draft = CertificateDraft { outputs: vec![file.to_string()], ..draft };
        let certificate = issue(draft, place.path(), &Options::default()).unwrap_or_else(|p| panic!("{p:?}"));
        Case { place, certificate, file: file.to_string() }
    }

    pub fn folder(&self) -> &Path {
        self.place.path()
    }

    pub fn path(&self) -> PathBuf {
        self.folder().join(&self.file)
    }

    /// The same release with other bytes in its table.
    pub fn with(self, bytes: impl AsRef<[u8]>) -> Case {
        std::fs::write(self.path(), bytes).unwrap();
        self
    }

    /// The same release with another certificate.
    pub fn saying(mut self, change: impl FnOnce(&mut Certificate)) -> Case {
        change(&mut self.certificate);
        self
    }

    /// The same release with all digests recomputed.
    pub fn sealed(mut self) -> Case {
        for output in &mut self.certificate.outputs {
            let path = self.place.path().join(&output.file);
            if path.metadata().is_ok_and(|found| found.is_file()) {
                let bytes = std::fs::read(path).unwrap();
                (output.bytes, output.sha256) = (bytes.len() as u64, sha256_hex(&bytes));
            }
        }
        self.certificate.policy_digest = sha256_hex(self.certificate.policy.as_bytes());
        self.certificate.digest = self.certificate.computed_digest().unwrap();
        self
    }
}

pub fn claim(model: &str, on: Option<&str>, parameters: Value) -> Claim {
    let parameters = parameters.as_object().cloned().unwrap_or_default();
    Claim { model: model.into(), on: on.map(|name| On::One(name.into())), quasi: None, parameters }
}

/// The draft that follows from [`POLICY`].
pub fn draft() -> CertificateDraft {
    let mut draft = CertificateDraft::new("amidst 0.1.0", POLICY);
    draft.rows_in = 12;
    draft.quasi = vec!["age".into(), "site".into()];
    draft.sensitive = vec![sensitive("disease")];
    draft.accepted = vec![Accepted { column: "cost".into(), reason: "printed on every bill".into() }];
    draft.requirements = vec![
        claim("k-anonymity", None, json!({"k": 3})),
        claim("distinct-l-diversity", Some("disease"), json!({"l": 2})),
    ];
    draft
}

pub fn sensitive(name: &str) -> SensitiveColumn {
    serde_json::from_value(json!({"name": name})).unwrap()
}

/// The table in a format.
pub fn table(format: &str) -> Vec<u8> {
    match format {
        "csv" => delimited(b','),
        "tsv" => delimited(b'\t'),
        "csv.gz" => gzip(&delimited(b',')),
        "jsonl" => json_lines(),
        "parquet" => parquet(&batch(), plain_properties()),
        _ => arrow(&[batch()]),
    }
}

pub fn delimited(separator: u8) -> Vec<u8> {
    let quote = |cell: &str| match cell.contains([separator as char, '"']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_string(),
    };
    let line = |cells: Vec<&str>| {
        cells.into_iter().map(quote).collect::<Vec<_>>().join(std::str::from_utf8(&[separator]).unwrap()) + "\n"
    };
    let rows = rows();
    let body = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
    std::iter::once(line(HEADER.to_vec())).chain(body).collect::<String>().into_bytes()
}

pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

pub fn json_lines() -> Vec<u8> {
    let line = |row: [String; 4]| {
        format!(
            "{{\"age\":{},\"site\":{},\"cost\":{},\"disease\":{}}}\n",
            json!(row[0]),
            json!(row[1]),
            row[2],
            json!(row[3])
        )
    };
    rows().into_iter().map(line).collect::<String>().into_bytes()
}

pub fn texts(at: usize) -> ArrayRef {
    Arc::new(rows().iter().map(|row| row[at].as_str()).collect::<DictionaryArray<Int32Type>>())
}

pub fn costs() -> Vec<i64> {
    rows().iter().map(|row| row[2].parse().unwrap()).collect()
}

/// The rows as a batch, with another column in place of the costs.
pub fn batch_with(costs: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter([("age", texts(0)), ("site", texts(1)), ("cost", costs), ("disease", texts(3))]).unwrap()
}

pub fn batch() -> RecordBatch {
    batch_with(Arc::new(Int64Array::from(costs())))
}

pub fn plain_properties() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_statistics_enabled(EnabledStatistics::None).set_offset_index_disabled(true)
}

pub fn parquet(batch: &RecordBatch, properties: WriterPropertiesBuilder) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

pub fn arrow(batches: &[RecordBatch]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    drop(writer);
    bytes
}

/// A pipe without a writer.
#[cfg(unix)]
pub fn pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
}

/// Writes a file.
pub fn put(path: &Path, bytes: &[u8]) {
    File::create(path).and_then(|mut file| file.write_all(bytes)).unwrap();
}
