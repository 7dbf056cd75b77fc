//! Merges blocks of encoded columns, in the order of the input, into one table.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use amidst_core::table::{Codes, Column, Table};

use crate::encode::{BadCell, EncodedColumn};
use crate::error::ReadError;
use crate::input::{DistinctLimit, Input};
use crate::limits::{COLUMN_LIMIT, NAMES_LIMIT, sparse_limit};
use crate::lines::{BlockLines, Lines};
use crate::nulls::{NULL, Nulls};

/// The name given to a nameless first column.
pub const ROW_NUMBER: &str = "row_number";

/// A fault in a block, with the line relative to the block.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Number of lines of the block before the faulty one.
    pub line: u64,
    /// Position of the column in the file's header.
    pub column: Option<usize>,
    /// The column's name, in files without a header.
    pub key: Option<String>,
    /// The kind of fault.
    pub kind: FaultKind,
}

impl Fault {
    pub fn new(line: u64, column: Option<usize>, kind: FaultKind) -> Self {
        Fault { line, column, key: None, kind }
    }
}

/// The kinds of faults.
#[derive(Debug)]
pub(crate) enum FaultKind {
    Cell(BadCell),
    Ragged { expected: usize, found: usize },
    TooLong { quoted: bool },
    Unclosed,
    TwoReadings,
    Json(&'static str),
    Nested,
    Binary,
    TooManyColumns,
}

/// The result of encoding a block.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The thread in whose codes the columns are.
    pub worker: usize,
    pub rows: usize,
    /// One per kept column, in the order of the file.
    pub columns: Vec<EncodedColumn>,
    /// Names of columns that are new to the thread (JSON lines); the last columns of `columns` belong to them.
    pub new_names: Vec<String>,
    pub lines: BlockLines,
    /// Bytes of text of the block, in formats without a header; otherwise 0.
    pub bytes: usize,
    /// The first fault; rows before it are in `columns`.
    pub fault: Option<Fault>,
}

/// Maps codes of a thread to codes of the table.
#[derive(Default)]
struct CodeMap {
    codes: Vec<u32>,
    identity: bool,
}

/// The table under construction.
pub(crate) struct Merger<'a> {
    keep: Option<&'a dyn Fn(&str) -> bool>,
    distinct_limit: Option<DistinctLimit<'a>>,
    max_rows: usize,
    pub header: Vec<String>,
    /// For each column of the header, its position among the kept ones.
    places: Vec<Option<usize>>,
    columns: Vec<Column>,
    limits: Vec<u64>,
    rows: usize,
    pub files: Vec<PathBuf>,
    lines: Lines,
    /// For the current file: by thread, by column of the thread's blocks.
    maps: Vec<Vec<CodeMap>>,
    /// For the current file: by thread, the target of each column of the thread's blocks.
    targets: Vec<Vec<Option<usize>>>,
    truncated: bool,
    /// Whether the current file has no header, so that columns appear while it is read.
    open: bool,
    /// Bytes of text in such files so far.
    bytes: usize,
    /// Bytes of column names in such files so far.
    names: usize,
}

impl<'a> Merger<'a> {
    pub fn new(
        keep: Option<&'a dyn Fn(&str) -> bool>,
        distinct_limit: Option<DistinctLimit<'a>>,
        max_rows: Option<u64>,
    ) -> Self {
        Merger {
            keep,
            distinct_limit,
            max_rows: max_rows.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX)),
            header: Vec::new(),
            places: Vec::new(),
            columns: Vec::new(),
            limits: Vec::new(),
            rows: 0,
            files: Vec::new(),
            lines: Lines::default(),
            maps: Vec::new(),
            targets: Vec::new(),
            truncated: false,
            open: false,
            bytes: 0,
            names: 0,
        }
    }

    /// The maximum number of rows.
    pub fn max_rows(&self) -> usize {
        self.max_rows
    }

    /// Whether more blocks are wanted.
    pub fn goes_on(&self) -> ControlFlow<()> {
        if self.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Fails if no row was added since there were `before` rows.
    pub fn refuse_no_rows(&self, path: &Path, before: usize) -> Result<(), ReadError> {
        if self.rows() == before && !self.is_full() {
            return Err(ReadError::NoRows { path: path.to_path_buf() });
        }
        Ok(())
    }

    /// Whether the maximum number of rows is reached.
    pub fn is_full(&self) -> bool {
        self.rows >= self.max_rows
    }

    /// Starts a file with a known header. Returns for each column whether it is kept.
    pub fn begin(&mut self, path: &Path, mut header: Vec<String>, first_line: u64) -> Result<Vec<bool>, ReadError> {
        name_row_numbers(&mut header);
        if header.len() > COLUMN_LIMIT || header.iter().map(String::len).sum::<usize>() > NAMES_LIMIT {
            return Err(ReadError::TooManyColumns { path: path.to_path_buf() });
        }
        check_names(path, &header)?;
        if let Some(first) = self.files.first() {
            let differs = (0..header.len().max(self.header.len())).find(|&i| header.get(i) != self.header.get(i));
            if let Some(i) = differs {
                return Err(ReadError::HeaderDiffers {
                    path: path.to_path_buf(),
                    first: first.clone(),
                    position: i + 1,
                    expected: self.header.get(i).cloned(),
                    found: header.get(i).cloned(),
                });
            }
        } else {
            for name in header {
                self.add_column(name);
            }
        }
        self.begin_file(path, first_line);
        self.open = false;
        Ok(self.places.iter().map(Option::is_some).collect())
    }

    /// Starts a file whose columns appear while it is read.
    pub fn begin_open(&mut self, path: &Path) {
        self.begin_file(path, 1);
        self.open = true;
    }

    fn begin_file(&mut self, path: &Path, first_line: u64) {
        self.files.push(path.to_path_buf());
        self.lines.begin_file(self.rows, first_line);
        self.maps.clear();
        self.targets.clear();
    }

    fn add_column(&mut self, name: String) -> Option<usize> {
        let place = self.keep.is_none_or(|keep| keep(&name)).then_some(self.columns.len());
        if place.is_some() {
            let mut column = Column::new(name.clone());
            if self.rows > 0 {
                // A key that appears late is null in all earlier rows.
                column.dictionary.intern(NULL);
                column.codes = Codes::U8(vec![0; self.rows]);
            }
            self.limits.push(self.distinct_limit.and_then(|limit| limit(&name)).unwrap_or(u64::from(u32::MAX)));
            self.columns.push(column);
        }
        self.header.push(name);
        self.places.push(place);
        place
    }

    /// The target of a column of a file without a header; `None` when it is not kept. Only the first file may add
    /// columns.
    fn target_of(&mut self, name: String) -> Result<Option<usize>, ReadError> {
        if let Some(i) = self.header.iter().position(|h| *h == name) {
            return Ok(self.places[i]);
        }
        if let [first, .., last] = self.files.as_slice() {
            return Err(ReadError::HeaderDiffers {
                path: last.clone(),
                first: first.clone(),
                position: self.header.len() + 1,
                expected: None,
                found: Some(name),
            });
        }
        if name.is_empty() {
            let path = self.files.first().cloned().unwrap_or_default();
            return Err(ReadError::EmptyColumnName { path, position: self.header.len() + 1 });
        }
        self.names += name.len();
        let cells = self.rows.saturating_mul(self.header.len() + 1);
        if self.header.len() >= COLUMN_LIMIT || self.names > NAMES_LIMIT || cells > sparse_limit(self.bytes) {
            return Err(self.too_many_columns());
        }
        Ok(self.add_column(name))
    }

    /// Appends a block. Blocks must come in the order of the input.
    pub fn merge(&mut self, mut block: Block) -> Result<(), ReadError> {
        if self.is_full() {
            return Ok(());
        }
        self.bytes = self.bytes.saturating_add(block.bytes);
        self.register(&mut block)?;
        if self.open && (self.rows + block.rows).saturating_mul(self.columns.len()) > sparse_limit(self.bytes) {
            return Err(self.too_many_columns());
        }
        let Block { worker, rows, columns, mut lines, fault, .. } = block;
        let (maps, targets) = (&mut self.maps[worker], &self.targets[worker]);
        let mut filled = vec![false; self.columns.len()];
        for ((encoded, map), target) in columns.iter().zip(maps).zip(targets) {
            let Some(target) = *target else { continue };
            filled[target] = true;
            let column = &mut self.columns[target];
            map.extend(encoded, column);
            if column.dictionary.len() as u64 > self.limits[target] {
                return Err(ReadError::TooManyDistinct {
                    path: self.files.last().cloned().unwrap_or_default(),
                    column: column.name.clone(),
                    limit: self.limits[target],
                });
            }
        }
        for (column, _) in self.columns.iter_mut().zip(&filled).filter(|(_, filled)| !**filled) {
            let empty = column.dictionary.intern(NULL);
            let distinct = column.dictionary.len();
            column.codes.extend_mapped(&Codes::U8(vec![0; rows]), &[empty], distinct);
        }
        let first_line = self.lines.next_line();
        lines.rows = rows;
        self.lines.push(lines);
        self.rows += rows;
        self.truncated |= self.rows > self.max_rows;
        match fault {
            Some(fault) if !self.is_full() => Err(self.error(fault, first_line)),
            _ => Ok(()),
        }
    }

    /// Creates the state for the block's thread, and finds the targets of its columns.
    fn register(&mut self, block: &mut Block) -> Result<(), ReadError> {
        let worker = block.worker;
        while self.maps.len() <= worker {
            self.maps.push(Vec::new());
            self.targets.push(Vec::new());
        }
        for name in std::mem::take(&mut block.new_names) {
            let target = self.target_of(name)?;
            self.targets[worker].push(target);
        }
        if !self.open && self.targets[worker].is_empty() {
            self.targets[worker] = (0..self.columns.len()).map(Some).collect();
        }
        while self.maps[worker].len() < block.columns.len() {
            self.maps[worker].push(CodeMap::default());
        }
        Ok(())
    }

    fn too_many_columns(&self) -> ReadError {
        ReadError::TooManyColumns { path: self.files.last().cloned().unwrap_or_default() }
    }

    fn error(&self, fault: Fault, first_line: u64) -> ReadError {
        let path = self.files.last().cloned().unwrap_or_default();
        let line = first_line + fault.line;
        let column = fault.key.or_else(|| fault.column.and_then(|c| self.header.get(c).cloned()));
        match fault.kind {
            FaultKind::Cell(BadCell::Nul) => ReadError::Nul { path, line, column },
            FaultKind::Cell(BadCell::NotUtf8) => ReadError::NotUtf8 { path, line, column },
            FaultKind::Ragged { expected, found } => ReadError::Ragged { path, line, expected, found },
            FaultKind::TooLong { quoted } => ReadError::FieldTooLong { path, line, column, quoted },
            FaultKind::Unclosed => ReadError::UnclosedQuote { path, line, column },
            FaultKind::TwoReadings => ReadError::TwoReadings { path, line, column },
            FaultKind::Json(reason) => ReadError::Json { path, line, reason: reason.to_string() },
            FaultKind::Binary => ReadError::Binary { path, row: line, column },
            FaultKind::Nested => ReadError::Nested { path, line, column },
            FaultKind::TooManyColumns => ReadError::TooManyColumns { path },
        }
    }

    /// The number of rows so far.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The finished table with files, lines and nulls.
    pub fn finish(mut self) -> Input {
        let rows = self.rows.min(self.max_rows);
        for column in &mut self.columns {
            match &mut column.codes {
                Codes::U8(v) => trim(v, rows),
                Codes::U16(v) => trim(v, rows),
                Codes::U32(v) => trim(v, rows),
            }
            if self.truncated {
                column.compact();
            }
        }
        let nulls = self.columns.iter_mut().map(Nulls::extract).collect();
        let table = Table { columns: self.columns, rows };
        Input { table, files: self.files, header: self.header, nulls, lines: self.lines }
    }
}

fn trim<T>(codes: &mut Vec<T>, rows: usize) {
    codes.truncate(rows);
    codes.shrink_to_fit();
}

impl CodeMap {
    /// Appends the block's cells to `column`, after adding the block's new values to its dictionary.
    fn extend(&mut self, encoded: &EncodedColumn, column: &mut Column) {
        if encoded.reset {
            self.codes.clear();
            self.identity = true;
        }
        let mut start = 0;
        for &end in &encoded.ends {
            let code = column.dictionary.intern(&encoded.text[start..end as usize]);
            self.identity &= code as usize == self.codes.len();
            self.codes.push(code);
            start = end as usize;
        }
        match (&mut column.codes, &encoded.codes) {
            (Codes::U8(to), Codes::U8(from)) if self.identity => to.extend_from_slice(from),
            (Codes::U16(to), Codes::U16(from)) if self.identity => to.extend_from_slice(from),
            (Codes::U32(to), Codes::U32(from)) if self.identity => to.extend_from_slice(from),
            (to, from) => to.extend_mapped(from, &self.codes, column.dictionary.len()),
        }
    }
}

/// Names the nameless first column of row numbers or row names that R's `write.csv` and pandas' `to_csv` write.
fn name_row_numbers(header: &mut [String]) {
    if header.len() < 2 || !header[0].is_empty() {
        return;
    }
    let mut name = ROW_NUMBER.to_string();
    while header.contains(&name) {
        name.push('_');
    }
    header[0] = name;
}

fn check_names(path: &Path, header: &[String]) -> Result<(), ReadError> {
    let mut seen = std::collections::HashMap::new();
    for (i, name) in header.iter().enumerate() {
        if name.is_empty() {
            return Err(ReadError::EmptyColumnName { path: path.to_path_buf(), position: i + 1 });
        }
        if let Some(first) = seen.insert(name.as_str(), i) {
            return Err(ReadError::DuplicateColumn {
                path: path.to_path_buf(),
                column: name.clone(),
                first: first + 1,
                second: i + 1,
            });
        }
    }
    Ok(())
}
