//! CSV files with two readings: refused, or read as everybody reads them.
//!
//! Two things are decided here rather than refused, because tables of people have them everywhere and no cell depends
//! on them: blanks around names of columns and marks before the first are no part of a name, and a line without
//! anything is no row.

use std::fs;

use amidst_io::ReadOptions;
use amidst_testkit::readings as corpus;

#[test]
fn files_with_two_readings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.csv");
    let (accepted, wrong) = corpus::compared(
        |bytes| {
            // The mark of UTF-16 is heeded here, and not by every program: how text is encoded is no reading of a
            // table.
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
            // To who keeps the mark before the first name, the quotes after it are a part of the name.
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
