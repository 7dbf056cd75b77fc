//! CSV files with two readings are refused, or read as all programs read them.
//!
//! Two things are decided here instead of refused, because they are common in tables of people and no cell depends on
//! them: blanks around column names and a byte order mark before the first are not part of a name, and an empty line is
//! not a row.

use std::fs;

use amidst_io::ReadOptions;
use amidst_testkit::readings as corpus;

#[test]
fn files_with_two_readings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.csv");
    let (accepted, wrong) = corpus::compared(
        |bytes| {
            // The byte order mark of UTF-16 is respected here, and not by every program; the encoding is not a reading
            // of the table.
            if bytes.starts_with(b"\xff\xfe") {
                return Err("UTF-16".to_string());
            }
            fs::write(&path, bytes).unwrap();
            let options = ReadOptions { separator: Some(b','), ..ReadOptions::default() };
            let read = amidst_io::read(path.to_str().unwrap(), &options).map_err(|e| e.to_string())?;
            let table = read.table;
            let row = |r: usize| table.columns.iter().map(|c| c.value(r).to_string()).collect();
            Ok(corpus::seen(read.header, (0..table.rows).map(row).collect()))
        },
        |(names, rows)| {
            // For programs that keep the byte order mark before the first name, the quotes after it are part of the
            // name.
            let name = |name: &String| match name.strip_prefix('\u{feff}') {
                Some(marked) => marked.trim_matches(['\u{feff}', '"', ' ']).to_string(),
                None => name.trim().to_string(),
            };
            let rows = rows.into_iter().filter(|row: &Vec<String>| row.iter().any(|cell| !cell.is_empty()));
            corpus::seen(names.iter().map(name).collect(), rows.collect())
        },
    );
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(accepted > 50, "only {accepted} were read");
}
