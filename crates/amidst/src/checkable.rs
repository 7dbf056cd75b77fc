//! Tables of databases as files: the independent checker reads files only.

use std::path::PathBuf;

use amidst_io::{Format, Input, ReadOptions, WriteOptions};
use tempfile::TempDir;

use crate::Failure;
use crate::prepare::PrepareError;

/// A table as files that the checker can read.
#[derive(Debug, Default)]
pub(crate) struct Checkable {
    /// The files.
    pub files: Vec<PathBuf>,
    /// What cells that are null say in these files, where it is not for the files to say.
    pub null: Option<String>,
    /// The names of all columns.
    pub header: Vec<String>,
    /// Where a copy is kept, for its owner's eyes only, until it has been read.
    _copy: Option<TempDir>,
}

impl Checkable {
    /// The files that `source` names; for a database, a copy of its columns that `keep` chooses, `without` rows that have a
    /// null there.
    pub fn of(source: &str, keep: &dyn Fn(&str) -> bool, without: bool) -> Result<Checkable, Failure> {
        if !amidst_io::is_database(source) {
            let first = ReadOptions { max_rows: Some(1), threads: 1, ..ReadOptions::default() };
            let input = amidst_io::read(source, &first).map_err(PrepareError::from)?;
            return Ok(Checkable { files: input.files, header: input.header, ..Checkable::default() });
        }
        let options = ReadOptions { keep: Some(keep), ..ReadOptions::default() };
        let mut input = amidst_io::read(source, &options).map_err(PrepareError::from)?;
        let order = without.then(|| {
            let known = |row: &u32| !input.nulls.iter().flatten().any(|nulls| nulls.contains(*row as usize));
            (0..input.table.rows as u32).filter(known).collect::<Vec<u32>>()
        });
        let null = name_nulls(&mut input);
        let failed = |e: &dyn std::fmt::Display| Failure::Io(format!("cannot copy the table for the checker: {e}"));
        let copy = tempfile::Builder::new().prefix("amidst-").tempdir().map_err(|e| failed(&e))?;
        let file = copy.path().join("table.csv");
        let options = WriteOptions { sync: false, ..WriteOptions::default() };
        amidst_io::write(&input.table, order.as_deref(), &file, Format::Csv, &options).map_err(|e| failed(&e))?;
        Ok(Checkable { files: vec![file], null, header: input.header, _copy: Some(copy) })
    }
}

/// Gives cells that are null a text that no other cell has; `None` when there are none.
fn name_nulls(input: &mut Input) -> Option<String> {
    if input.nulls.iter().all(Option::is_none) {
        return None;
    }
    let mut name = "null".to_string();
    while input.table.columns.iter().any(|c| c.dictionary.code(&name).is_some()) {
        name.push('*');
    }
    for (column, nulls) in input.table.columns.iter_mut().zip(&input.nulls) {
        let Some(nulls) = nulls else { continue };
        let code = column.dictionary.intern(&name);
        let mut codes = amidst_core::table::Codes::for_distinct(column.dictionary.len(), column.codes.len());
        let mut row = 0;
        column.codes.for_each(|own| {
            codes.push(if nulls.contains(row) { code } else { own });
            row += 1;
        });
        column.codes = codes;
    }
    Some(name)
}
