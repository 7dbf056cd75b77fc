//! CSV files with two readings: refused, or read as everybody reads them.

use std::fs;

use amidst_io::ReadOptions;

#[path = "../../../amidst-check/tests/readings/mod.rs"]
mod corpus;

#[test]
fn files_with_two_readings_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.csv");
    let (accepted, wrong) = corpus::compared(|bytes| {
        fs::write(&path, bytes).unwrap();
        let options = ReadOptions { separator: Some(b','), ..ReadOptions::default() };
        let read = amidst_io::read(path.to_str().unwrap(), &options).map_err(|e| e.to_string())?;
        let table = read.table;
        let row = |r: usize| table.columns.iter().map(|c| c.value(r).to_string()).collect();
        Ok(corpus::seen(read.header, (0..table.rows).map(row).collect()))
    });
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(accepted > 50, "only {accepted} were read");
}
