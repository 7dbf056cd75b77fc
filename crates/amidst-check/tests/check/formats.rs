//! The same release in every format, whole and in parts.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use crate::common::{Table, claim, draft, issue, write_csv};
use amidst_check::{Certificate, Options, ProblemKind, verify};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int64Array, RecordBatch};
use serde_json::json;

fn release() -> Table {
    let mut rows = vec![vec!["q".to_string(), "age".into(), "dis,ease".into()]];
    for i in 0..3000u32 {
        let disease = ["Flu", "Cancer, \"late\"", "HIV", "Zwölf\nZeilen"][(i % 4) as usize];
        rows.push(vec![format!("{}*", i % 5), (20 + i % 7).to_string(), disease.into()]);
    }
    rows
}

fn batch(rows: &[Vec<String>]) -> RecordBatch {
    let text =
        |at: usize| Arc::new(rows.iter().map(|r| r[at].as_str()).collect::<DictionaryArray<Int32Type>>()) as ArrayRef;
    let ages: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r[1].parse::<i64>().unwrap())));
    RecordBatch::try_from_iter([("q", text(0)), ("age", ages), ("dis,ease", text(2))]).unwrap()
}

fn write(path: &Path, rows: &Table) {
    let name = path.to_string_lossy().into_owned();
    let (name, gz) = match name.strip_suffix(".gz") {
        Some(rest) => (rest.to_string(), true),
        None => (name, false),
    };
    if name.ends_with(".parquet") {
        let file = std::fs::File::create(path).unwrap();
        let properties = parquet::file::properties::WriterProperties::builder()
            .set_max_row_group_row_count(Some(700))
            .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
            .build();
        let data = batch(&rows[1..]);
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, data.schema(), Some(properties)).unwrap();
        writer.write(&data).unwrap();
        writer.close().unwrap();
        return;
    }
    if name.ends_with(".arrow") {
        let data = batch(&rows[1..]);
        let file = std::fs::File::create(path).unwrap();
        let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &data.schema()).unwrap();
        // Both halves share a dictionary.
        writer.write(&data.slice(0, data.num_rows() / 2)).unwrap();
        writer.write(&data.slice(data.num_rows() / 2, data.num_rows() - data.num_rows() / 2)).unwrap();
        writer.finish().unwrap();
        return;
    }
    if name.ends_with(".jsonl") {
        let lines = rows[1..]
            .iter()
            .map(|r| json!({"q": r[0], "age": r[1].parse::<i64>().unwrap(), "dis,ease": r[2]}).to_string() + "\n");
        std::fs::write(path, lines.collect::<String>()).unwrap();
    } else if name.ends_with(".tsv") {
        let quote = |c: &String| match c.contains(['\t', '"', '\n', '\r']) {
            true => format!("\"{}\"", c.replace('"', "\"\"")),
            false => c.clone(),
        };
        let line = |r: &Vec<String>| r.iter().map(quote).collect::<Vec<_>>().join("\t") + "\n";
        std::fs::write(path, rows.iter().map(line).collect::<String>()).unwrap();
    } else {
        write_csv(path, rows);
    }
    if gz {
        let text = std::fs::read(path).unwrap();
        let mut encoder =
            flate2::write::GzEncoder::new(std::fs::File::create(path).unwrap(), flate2::Compression::default());
        encoder.write_all(&text).unwrap();
        encoder.finish().unwrap();
    }
}

fn seal(folder: &Path, rows: &Table, files: &[&str]) -> Certificate {
    let claims = vec![
        claim("k-anonymity", &[], json!({"k": 85})),
        claim("distinct-l-diversity", &["dis,ease"], json!({"l": 4})),
    ];
    let mut draft = draft(rows, &["q", "age"], &["dis,ease"], claims);
    draft.outputs = files.iter().map(|f| f.to_string()).collect();
    issue(draft, folder, &Options::default()).unwrap()
}

#[test]
fn all_formats_say_the_same() {
    let rows = release();
    let mut first: Option<Certificate> = None;
    for name in ["r.csv", "r.csv.gz", "r.tsv", "r.tsv.gz", "r.jsonl", "r.jsonl.gz", "r.parquet", "r.arrow"] {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join(name), &rows);
        let certificate = seal(folder.path(), &rows, &[name]);
        let verdict = verify(folder.path(), &certificate, &Options::default());
        assert!(verdict.valid, "{name}: {:?}", verdict.problems);
        assert_eq!((certificate.rows_out, certificate.classes), (3000, 35), "{name}");
        let requirements = first.get_or_insert_with(|| certificate.clone()).requirements.clone();
        assert_eq!(certificate.requirements, requirements, "{name}");
        let path = folder.path().join(name);
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(certificate.outputs[0].sha256, amidst_check::sha256_hex(&bytes), "{name}");
        // A truncated file, or one with any byte changed, is refused without a panic.
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(!verify(folder.path(), &certificate, &Options::default()).valid, "{name} cut");
        for at in (0..bytes.len()).step_by(bytes.len() / 23 + 1) {
            let mut changed = bytes.clone();
            changed[at] ^= 0x15;
            std::fs::write(&path, &changed).unwrap();
            assert!(!verify(folder.path(), &certificate, &Options::default()).valid, "{name} at {at}");
        }
    }
}

#[test]
fn a_folder_of_parts_is_one_release() {
    let rows = release();
    let folder = tempfile::tempdir().unwrap();
    let parts = folder.path().join("parts");
    std::fs::create_dir(&parts).unwrap();
    std::fs::write(folder.path().join("report.html"), "<html>").unwrap();
    let mut names = Vec::new();
    for (i, chunk) in rows[1..].chunks(1100).enumerate() {
        let name = format!("parts/part-{i}.{}", ["csv", "parquet", "jsonl"][i]);
        let part: Table = std::iter::once(rows[0].clone()).chain(chunk.iter().cloned()).collect();
        write(&folder.path().join(&name), &part);
        names.push(name);
    }
    names.push("report.html".into());
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let certificate = seal(folder.path(), &rows, &names);
    assert_eq!((certificate.rows_out, certificate.classes), (3000, 35));
    assert!(verify(folder.path(), &certificate, &Options::default()).valid);
    let kinds = || -> Vec<ProblemKind> {
        verify(folder.path(), &certificate, &Options::default()).problems.iter().map(|p| p.kind).collect()
    };
    std::fs::write(folder.path().join("report.html"), "<HTML>").unwrap();
    assert_eq!(kinds(), [ProblemKind::Digest]);
    std::fs::write(folder.path().join("report.html"), "<html>").unwrap();
    std::fs::copy(parts.join("part-0.csv"), parts.join("part-9.csv")).unwrap();
    assert_eq!(kinds(), [ProblemKind::ExtraFile]);
    std::fs::remove_file(parts.join("part-9.csv")).unwrap();
    std::fs::remove_file(parts.join("part-1.parquet")).unwrap();
    assert_eq!(kinds(), [ProblemKind::MissingFile]);
}

#[test]
fn an_empty_release_is_a_release() {
    let rows: Table = vec![vec!["q".into(), "age".into(), "dis,ease".into()]];
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("r.csv"), &rows);
    let certificate = seal(folder.path(), &rows, &["r.csv"]);
    assert_eq!((certificate.rows_out, certificate.classes), (0, 0));
    assert!(certificate.requirements[0].measured["k"].is_null());
    assert!(verify(folder.path(), &certificate, &Options::default()).valid);
}

#[test]
fn quoted_and_plain_rows_of_one_class_are_counted_together() {
    // The key columns are not adjacent; only the first block has quotes, so later rows take another code path.
    let folder = tempfile::tempdir().unwrap();
    let mut text = "q1,dis,q2\n".to_string();
    let mut rows: Table = vec![["q1", "dis", "q2"].map(String::from).to_vec()];
    for row in 0..120_000usize {
        let disease = if row < 50 { "d,0".to_string() } else { format!("d{}", row % 4) };
        let cells = [format!("zone {}", row % 3), disease, format!("[{}-39]", row % 2)];
        text.push_str(&format!("{},{},{}\n", cells[0], if row < 50 { "\"d,0\"" } else { &cells[1] }, cells[2]));
        rows.push(cells.to_vec());
    }
    assert!(text.len() > 3 << 19, "more than one block");
    std::fs::write(folder.path().join("release.csv"), &text).unwrap();
    let claims =
        vec![claim("k-anonymity", &[], json!({"k": 20_000})), claim("distinct-l-diversity", &["dis"], json!({"l": 2}))];
    let draft = draft(&rows, &["q1", "q2"], &["dis"], claims);
    let certificate = issue(draft, folder.path(), &Options::default()).unwrap();
    assert_eq!((certificate.rows_out, certificate.classes), (120_000, 6));
    assert_eq!(certificate.requirements[0].measured["k"], json!(20_000));
    assert_eq!(certificate.requirements[1].measured["l"], json!(3));
}
