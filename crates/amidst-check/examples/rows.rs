//! Prints what the checker reads in released tables, for `scripts/differential.sh`: paths come on stdin, one per line;
//! for each, one line of JSON with the columns and the distinct rows with their counts, or with why the file is
//! refused.
//!
//! `rows make FOLDER N` writes N tables as Parquet and as Arrow IPC, in the form of releases, for other programs to
//! read and damage.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "the output is what this is for; a failure is to be seen")]

use std::fs::File;
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use serde_json::{Value, json};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, word, folder, many] = &arguments[..]
        && word == "make"
    {
        (0..many.parse().unwrap()).for_each(|number| make(Path::new(folder), number));
        return;
    }
    for path in std::io::stdin().lock().lines().map_while(Result::ok) {
        let text = |bytes: &Vec<u8>| Value::from(String::from_utf8_lossy(bytes).into_owned());
        let found = match amidst_check::rows_of(Path::new(&path)) {
            Err(problem) => json!({"path": path, "refused": problem.message}),
            Ok((columns, rows)) => {
                let rows: Vec<Value> = rows
                    .iter()
                    .map(|(cells, count)| json!([cells.iter().map(text).collect::<Vec<_>>(), count]))
                    .collect();
                json!({"path": path, "columns": columns, "rows": rows})
            }
        };
        println!("{found}");
    }
}

/// Writes a table of every type, different for each number.
fn make(folder: &Path, number: usize) {
    let rows = 1 + number * 7 % 50;
    let pick = |row: usize, salt: usize| row.wrapping_mul(31).wrapping_add(number * salt) % 11;
    let texts = ["Flu", "Cancer", "", "Zwölf", "a,b", "\"", "two\nlines", "*", "[20-29]", " x ", "日本"];
    let text: DictionaryArray<Int32Type> = (0..rows).map(|row| texts[pick(row, 3)]).collect();
    let whole: Int64Array =
        (0..rows).map(|row| (pick(row, 5) > 1).then(|| pick(row, 5) as i64 * 1_000_003 - 7)).collect();
    let decimal: Float64Array = (0..rows).map(|row| (pick(row, 7) > 2).then(|| pick(row, 7) as f64 / 8.0)).collect();
    let date: Date32Array = (0..rows).map(|row| (pick(row, 2) > 0).then(|| pick(row, 2) as i32 * 3001)).collect();
    let truth: BooleanArray = (0..rows).map(|row| Some(pick(row, 9) > 5)).collect();
    let columns: [(&str, ArrayRef, bool); 5] = [
        ("text", Arc::new(text), false),
        ("whole", Arc::new(whole), true),
        ("decimal", Arc::new(decimal), true),
        ("date", Arc::new(date), true),
        ("truth", Arc::new(truth), false),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let file = File::create(folder.join(format!("made-{number}.parquet"))).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .build();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let file = File::create(folder.join(format!("made-{number}.arrow"))).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}
