//! Writes a table of codes to a file of any format.
//!
//! May use: `columnar`, `format`, `pipeline`, and what those use.

mod columnar;
mod error;
mod pieces;
mod text;
mod typed;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use amidst_core::table::Table;

use crate::format::{Format, WRITTEN};

pub use error::WriteError;
pub use typed::Kind;

/// How to write.
#[derive(Clone, Copy)]
pub struct WriteOptions<'a> {
    /// The separator of CSV files; `None`: a comma. TSV files have tabs.
    pub separator: Option<u8>,
    /// The number of threads; 0 means one per core.
    pub threads: usize,
    /// Whether to wait until the file is stored on the disk (fsync).
    pub sync: bool,
    /// Writing stops with [`WriteError::Cancelled`] soon after this becomes true.
    pub cancel: Option<&'a AtomicBool>,
    /// Called from time to time with the number of rows written and the total.
    pub progress: Option<&'a dyn Fn(u64, u64)>,
    /// Adjacent columns whose cells follow from one number per row.
    pub bundle: Option<Bundle<'a>>,
    /// By name, columns without a declared type: in formats with types it is derived from their labels.
    pub untyped: Option<&'a dyn Fn(&str) -> bool>,
    /// Whether only the owner may read the file (mode 0600 on Unix).
    pub private: bool,
}

/// Adjacent columns whose cells all follow from one number per row, as the quasi columns of a release follow from the
/// class. Text formats then copy them in one piece.
#[derive(Clone, Copy)]
pub struct Bundle<'a> {
    /// The position of the first of them.
    pub first: usize,
    /// Number of columns.
    pub count: usize,
    /// The number of each row of the table; arbitrary for rows that are not written.
    pub of_row: &'a [u32],
    /// An exclusive upper bound on the numbers of written rows.
    pub distinct: usize,
}

impl Default for WriteOptions<'_> {
    fn default() -> Self {
        WriteOptions {
            separator: None,
            threads: 0,
            sync: true,
            cancel: None,
            progress: None,
            bundle: None,
            untyped: None,
            private: false,
        }
    }
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteReport {
    /// The number of rows, without the header.
    pub rows: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// Writes `table` to `path`: the rows that `order` lists, in this order, or all rows.
///
/// The file appears under its name only when it is complete: it is written to a hidden file in the same folder and
/// renamed.
///
/// # Errors
/// When the file cannot be written, writing is cancelled, the table has no columns, or `order` lists a row that does
/// not exist. The file at `path`, if there is one, is unchanged then.
pub fn write(
    table: &Table,
    order: Option<&[u32]>,
    path: &Path,
    format: Format,
    options: &WriteOptions<'_>,
) -> Result<WriteReport, WriteError> {
    let partial = partial_path(path);
    let io = |e| WriteError::io(path, e);
    let target = partial.as_deref().unwrap_or(path);
    let result = create(target, options.private).map_err(io).and_then(|mut file| {
        let report = write_named(table, order, &mut file, path, format, options)?;
        if options.sync && partial.is_some() {
            file.sync_all().map_err(io)?;
        }
        drop(file);
        if let Some(partial) = &partial {
            std::fs::rename(partial, path).map_err(io)?;
        }
        Ok(report)
    });
    if let (Err(_), Some(partial)) = (&result, &partial) {
        // The first error is the one to report.
        let _ = std::fs::remove_file(partial);
    }
    result
}

/// Creates a file, or truncates an existing one.
fn create(path: &Path, private: bool) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    options.open(path)
}

/// The hidden name under which the file is written; `None` if something other than a regular file is at `path` (a
/// terminal, a pipe).
fn partial_path(path: &Path) -> Option<PathBuf> {
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return None;
    }
    let name = path.file_name()?.to_string_lossy().into_owned();
    Some(path.with_file_name(format!(".{name}.{}.partial", std::process::id())))
}

/// Writes `table` to a stream.
///
/// # Errors
/// As [`write()`].
pub fn write_to(
    table: &Table,
    order: Option<&[u32]>,
    out: &mut (dyn Write + Send),
    format: Format,
    options: &WriteOptions<'_>,
) -> Result<WriteReport, WriteError> {
    write_named(table, order, out, Path::new("-"), format, options)
}

fn write_named(
    table: &Table,
    order: Option<&[u32]>,
    out: &mut (dyn Write + Send),
    path: &Path,
    format: Format,
    options: &WriteOptions<'_>,
) -> Result<WriteReport, WriteError> {
    if table.columns.is_empty() {
        return Err(WriteError::NoColumns);
    }
    let separator =
        if matches!(format, Format::Tsv | Format::TsvGz) { b'\t' } else { options.separator.unwrap_or(b',') };
    if !separator.is_ascii() || matches!(separator, b'"' | b'\n' | b'\r' | 0) {
        return Err(WriteError::BadSeparator);
    }
    let rows = Rows::new(table, order)?;
    let mut out = Counted { inner: out, bytes: 0 };
    let job = Job { table, rows, path, options };
    match format {
        Format::Csv | Format::Tsv => text::csv(&job, &mut out, separator, false)?,
        Format::CsvGz | Format::TsvGz => text::csv(&job, &mut out, separator, true)?,
        Format::JsonLines => text::json_lines(&job, &mut out, false)?,
        Format::JsonLinesGz => text::json_lines(&job, &mut out, true)?,
        Format::Arrow => columnar::arrow(&job, &mut out)?,
        Format::Parquet => columnar::parquet(&job, &mut out)?,
        other => {
            let reason = format!("it is read only; written are {WRITTEN}");
            return Err(WriteError::Format { path: path.to_path_buf(), format: other.name(), reason });
        }
    }
    out.flush().map_err(|e| WriteError::io(path, e))?;
    Ok(WriteReport { rows: rows.len() as u64, bytes: out.bytes })
}

/// A table to be written, with options.
pub(crate) struct Job<'a> {
    pub table: &'a Table,
    pub rows: Rows<'a>,
    pub path: &'a Path,
    pub options: &'a WriteOptions<'a>,
}

impl Job<'_> {
    /// Reports progress; an error when the caller asked to stop.
    pub fn advance(&self, done: usize) -> Result<(), WriteError> {
        if let Some(progress) = self.options.progress {
            progress(done as u64, self.rows.len() as u64);
        }
        if self.options.cancel.is_some_and(|c| c.load(Ordering::Relaxed)) { Err(WriteError::Cancelled) } else { Ok(()) }
    }

    pub fn threads(&self) -> usize {
        match self.options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        }
    }
}

/// The rows to write.
#[derive(Clone, Copy)]
pub(crate) enum Rows<'a> {
    All(usize),
    Listed(&'a [u32]),
}

impl<'a> Rows<'a> {
    fn new(table: &Table, order: Option<&'a [u32]>) -> Result<Self, WriteError> {
        let rows = table.columns.iter().map(|c| c.codes.len()).min().unwrap_or(0).min(table.rows);
        let Some(order) = order else { return Ok(Rows::All(rows)) };
        match order.iter().find(|&&row| row as usize >= rows) {
            Some(&row) => Err(WriteError::NoSuchRow { row, rows }),
            None => Ok(Rows::Listed(order)),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Rows::All(n) => *n,
            Rows::Listed(order) => order.len(),
        }
    }

    /// Appends the numbers of the rows in `range` to `out`.
    pub fn numbers(&self, numbers: &[u32], range: std::ops::Range<usize>, out: &mut Vec<u32>) {
        match self {
            Rows::All(_) => out.extend_from_slice(&numbers[range]),
            Rows::Listed(order) => out.extend(order[range].iter().map(|&r| numbers[r as usize])),
        }
    }

    /// Appends a column's codes of the rows in `range` to `out`.
    pub fn codes(&self, codes: &amidst_core::table::Codes, range: std::ops::Range<usize>, out: &mut Vec<u32>) {
        use amidst_core::table::Codes;
        match (self, codes) {
            (Rows::All(_), Codes::U8(v)) => out.extend(v[range].iter().map(|&c| u32::from(c))),
            (Rows::All(_), Codes::U16(v)) => out.extend(v[range].iter().map(|&c| u32::from(c))),
            (Rows::All(_), Codes::U32(v)) => out.extend_from_slice(&v[range]),
            (Rows::Listed(order), Codes::U8(v)) => out.extend(order[range].iter().map(|&r| u32::from(v[r as usize]))),
            (Rows::Listed(order), Codes::U16(v)) => out.extend(order[range].iter().map(|&r| u32::from(v[r as usize]))),
            (Rows::Listed(order), Codes::U32(v)) => out.extend(order[range].iter().map(|&r| v[r as usize])),
        }
    }

    /// The codes of a column that occur in written rows, in the order of first appearance.
    pub fn first_seen(&self, column: &amidst_core::table::Column) -> Vec<u32> {
        let mut seen = vec![false; column.dictionary.len()];
        let mut codes = Vec::new();
        let mut see = |code: u32| {
            if !std::mem::replace(&mut seen[code as usize], true) {
                codes.push(code);
            }
        };
        match self {
            Rows::All(_) => column.codes.for_each(see),
            Rows::Listed(order) => order.iter().for_each(|&r| see(column.codes.get(r as usize))),
        }
        codes
    }

    /// For each code of a column, whether it occurs in a written row.
    pub fn used(&self, column: &amidst_core::table::Column) -> Vec<bool> {
        let mut used = vec![false; column.dictionary.len()];
        match self {
            Rows::All(_) => column.codes.for_each(|c| used[c as usize] = true),
            Rows::Listed(order) => order.iter().for_each(|&r| used[column.codes.get(r as usize) as usize] = true),
        }
        used
    }
}

struct Counted<'a> {
    inner: &'a mut (dyn Write + Send),
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}
