//! Reads JSON: one object per line, or a list of objects, whose values are strings, numbers, booleans or null.
//!
//! Columns are the keys, in the order of their first appearance. A key that an object lacks is null.
//!
//! May use: `columnar`, `csv`, `encode`, `error`, `limits`, `lines`, `merge`, `stream`, and what those use.

mod array;
mod object;

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use memchr::memchr;

use crate::csv::cut::{Cutter, TextBlock};
use crate::csv::merge_blocks;
use crate::encode::ColumnEncoder;
use crate::error::ReadError;
use crate::limits::{COLUMN_LIMIT, FIELD_LIMIT, sparse_limit};
use crate::lines::BlockLines;
use crate::merge::{Block, Fault, FaultKind, Merger};
use crate::stream::{Settings, read_error};

use array::Lines;
use object::{Member, Members};

/// Reads a list of objects or one object per line, depending on the first character.
pub(crate) fn read_any(
    path: &Path,
    mut reader: impl Read + Send,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let mut start = Vec::new();
    let mut first = None;
    // Blanks and a byte order mark may come first.
    while first.is_none() && start.len() < 1 << 20 {
        let mut byte = [0];
        match reader.read(&mut byte).map_err(|e| read_error(path, e))? {
            0 => break,
            _ => {
                start.push(byte[0]);
                let skipped = matches!(byte[0], b' ' | b'\t' | b'\r' | b'\n' | 0xEF | 0xBB | 0xBF);
                first = (!skipped).then_some(byte[0]);
            }
        }
    }
    let whole = std::io::Cursor::new(start).chain(reader);
    match first {
        Some(b'[') => read_list(path, skip_mark(whole), settings, merger),
        Some(b'{') => match read(path, whole, settings, merger) {
            Err(ReadError::Json { line: 1, .. } | ReadError::Nested { line: 1, .. }) => {
                Err(ReadError::JsonShape { path: path.to_path_buf() })
            }
            result => result,
        },
        Some(_) => Err(ReadError::JsonShape { path: path.to_path_buf() }),
        None => Err(ReadError::Empty { path: path.to_path_buf() }),
    }
}

/// The stream from its first opening bracket on, without the blanks and the byte order mark before it.
fn skip_mark<R: Read>(mut reader: R) -> impl Read {
    let mut byte = [0];
    while matches!(reader.read(&mut byte), Ok(1)) && byte[0] != b'[' {}
    std::io::Cursor::new(byte).chain(reader)
}

/// Reads a list of objects.
fn read_list(
    path: &Path,
    reader: impl Read + Send,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let path_of = || path.to_path_buf();
    match lines(path, Lines::of(reader), false, settings, merger) {
        Err(ReadError::Json { line, reason, .. }) => Err(ReadError::JsonElement {
            path: path_of(),
            element: line,
            reason: format!("not a JSON object: {reason}"),
        }),
        Err(ReadError::Nested { line, column, .. }) => {
            let column = column.map(|c| format!("under {}, ", crate::error::shown(&c))).unwrap_or_default();
            let reason = format!("{column}a list or an object where one value is expected. Flatten it first");
            Err(ReadError::JsonElement { path: path_of(), element: line, reason })
        }
        Err(ReadError::Empty { .. }) => Err(ReadError::NoRows { path: path_of() }),
        result => result,
    }
}

/// Reads a stream of JSON lines into `merger`.
pub(crate) fn read(
    path: &Path,
    reader: impl Read + Send,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    lines(path, reader, true, settings, merger)
}

/// Reads one object per line; `own` is false when the lines were made from a list and have no line numbers of the file.
fn lines(
    path: &Path,
    reader: impl Read + Send,
    own: bool,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let cutter = Cutter::open_lines(path, reader, settings)?;
    merger.begin_open(path);
    let encoder = |worker| ObjectEncoder::new(worker, own);
    merge_blocks(path, cutter, settings, merger, encoder, |encoder, block| encoder.encode(block))
}

/// A column in the state of one thread.
struct KeyColumn {
    name: String,
    encoder: ColumnEncoder,
    /// Rows of this block for which the column has a cell.
    filled: usize,
}

/// The state of one thread that encodes blocks of lines.
struct ObjectEncoder {
    worker: usize,
    columns: Vec<KeyColumn>,
    /// Position in `columns` by key.
    places: HashMap<String, usize>,
    /// Number of columns already passed to the merger.
    reported: usize,
    rows: usize,
    /// Maximum number of cells of this block.
    budget: usize,
    /// Whether the lines are those of the file.
    own: bool,
}

impl ObjectEncoder {
    fn new(worker: usize, own: bool) -> Self {
        ObjectEncoder { worker, columns: Vec::new(), places: HashMap::new(), reported: 0, rows: 0, budget: 0, own }
    }

    fn encode(&mut self, block: &mut TextBlock) -> Block {
        let data = &block.data[..block.length];
        let (mut at, mut lines, mut fault) = (0, 0, None);
        let mut extra: Vec<(u32, u32)> = Vec::new();
        self.rows = 0;
        self.budget = sparse_limit(block.length);
        self.columns.iter_mut().for_each(|c| c.filled = 0);
        while at < data.len() && fault.is_none() {
            let end = memchr(b'\n', &data[at..]).map_or(data.len(), |i| at + i);
            let line = data[at..end].trim_ascii();
            if !line.is_empty() {
                match self.object(line) {
                    Ok(()) => {
                        let more = (lines - self.rows as u64) as u32;
                        if more != extra.last().map_or(0, |e| e.1) {
                            extra.push((self.rows as u32, more));
                        }
                        self.rows += 1;
                    }
                    Err((kind, key)) => fault = Some(Fault { line: lines, column: None, key, kind }),
                }
            }
            lines += 1;
            at = end + 1;
        }
        let rows = self.rows;
        self.columns.iter_mut().for_each(|c| c.encoder.truncate(rows));
        let new_names = self.columns[self.reported..].iter().map(|c| c.name.clone()).collect();
        self.reported = self.columns.len();
        Block {
            worker: self.worker,
            rows,
            columns: self.columns.iter_mut().map(|c| c.encoder.finish()).collect(),
            new_names,
            lines: BlockLines { rows, lines, extra, none: !self.own },
            bytes: block.length,
            fault,
        }
    }

    /// Encodes one object; an error has the kind of fault and the key.
    fn object(&mut self, line: &[u8]) -> Result<(), (FaultKind, Option<String>)> {
        if line.len() > FIELD_LIMIT {
            return Err((FaultKind::TooLong { quoted: false }, None));
        }
        // Most objects have the same keys as the previous one, in the same order.
        let mut expected = 0;
        for member in Members::new(line) {
            let Member { key, value } = member.map_err(|(kind, key)| (kind, key.map(|k| k.into_owned())))?;
            let place = match self.columns.get(expected) {
                Some(column) if column.name == key => expected,
                _ => self.place(&key).ok_or((FaultKind::TooManyColumns, None))?,
            };
            expected = place + 1;
            let column = &mut self.columns[place];
            if column.filled > self.rows {
                return Err((FaultKind::Json("a key appears twice"), Some(column.name.clone())));
            }
            match value {
                None => column.encoder.push_null(),
                Some(value) => column
                    .encoder
                    .push(&value, 0, value.len())
                    .map_err(|bad| (FaultKind::Cell(bad), Some(column.name.clone())))?,
            }
            column.filled = self.rows + 1;
        }
        if (self.rows + 1).saturating_mul(self.columns.len()) > self.budget {
            return Err((FaultKind::TooManyColumns, None));
        }
        for column in self.columns.iter_mut().filter(|c| c.filled <= self.rows) {
            column.fill(self.rows + 1);
        }
        Ok(())
    }

    /// The position of a key's column; a new column is null in the rows before. `None` when there are too many columns
    /// or cells.
    fn place(&mut self, key: &str) -> Option<usize> {
        if let Some(&place) = self.places.get(key) {
            return Some(place);
        }
        let place = self.columns.len();
        if place >= COLUMN_LIMIT || self.rows.saturating_mul(place + 1) > self.budget {
            return None;
        }
        let mut column = KeyColumn { name: key.to_string(), encoder: ColumnEncoder::default(), filled: 0 };
        column.fill(self.rows);
        self.columns.push(column);
        self.places.insert(key.to_string(), place);
        Some(place)
    }
}

impl KeyColumn {
    fn fill(&mut self, rows: usize) {
        while self.filled < rows {
            self.encoder.push_null();
            self.filled += 1;
        }
    }
}
