//! The result of reading: a table of codes, and the file and line of each row.

use std::path::{Path, PathBuf};

use amidst_core::table::{Table, ValueType};

use crate::lines::Lines;
use crate::nulls::Nulls;

/// The maximum number of distinct values of a column, by its name; `None`: no limit.
pub type DistinctLimit<'a> = &'a dyn Fn(&str) -> Option<u64>;

/// The result of reading. The default is an empty table.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Input {
    /// The kept columns. Codes are numbered by first appearance, and all values are text until [`Input::guess_types`].
    pub table: Table,
    /// The files in the order in which they were read; `-` for standard input.
    pub files: Vec<PathBuf>,
    /// The names of all columns, kept or not.
    pub header: Vec<String>,
    /// For each column of the table, which of its cells are null, in formats that have nulls; in the table they are
    /// empty texts. `None` for a column without nulls.
    pub nulls: Vec<Option<Nulls>>,
    pub(crate) lines: Lines,
}

impl Input {
    /// The line of a row in its file, from 1; `None` in formats without lines and for a row that does not exist.
    pub fn line_of(&self, row: usize) -> Option<u64> {
        self.lines.place(row).filter(|_| row < self.table.rows).and_then(|(_, line)| line)
    }

    /// The file of a row; `None` for a row that does not exist.
    pub fn file_of(&self, row: usize) -> Option<&Path> {
        let (file, _) = self.lines.place(row).filter(|_| row < self.table.rows)?;
        self.files.get(file).map(PathBuf::as_path)
    }

    /// Gives every column the narrowest type that all its values except the `missing` tokens have, and sorts its
    /// dictionary by that type.
    pub fn guess_types(&mut self, missing: &[String]) {
        for column in &mut self.table.columns {
            let values = column.dictionary.iter().filter(|v| !missing.iter().any(|m| m == v));
            column.kind = ValueType::guess(values);
            column.sort(&[]);
        }
    }
}
