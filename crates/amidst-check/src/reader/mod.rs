//! The checker's own table readers: CSV and TSV (plain or gz), JSON lines (plain or gz), Parquet and Arrow IPC.
//!
//! All formats feed a [`Tally`], which keeps distinct keys and their histograms but no rows: memory grows with the
//! number of classes, and with the number of threads that count. A cell is the bytes of its text; a missing cell (null)
//! reads as the empty text.
//!
//! May use: `content`, `digest`, `problem`, `unique`, and what those use.

mod arrow;
mod canonical;
mod coded;
mod columnar;
pub(crate) mod counted;
mod delimited;
mod gzip;
mod jsonl;
pub(crate) mod key;
mod limits;
mod marks;
mod number;
mod pages;
mod parquet;
pub(crate) mod selection;
mod stream;
mod tally;
#[cfg(test)]
mod tests;
mod texts;
mod thrift;
mod view_tally;

use std::path::Path;

use rayon::prelude::*;

use crate::content::Content;
use crate::digest::HashingReader;
use crate::problem::{Problem, ProblemKind};
pub(crate) use counted::Counted;
pub(crate) use selection::Selection;
pub(crate) use tally::Tally;

/// The format of a table file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text with a separator; `None`: the header decides.
    Delimited(Option<u8>),
    JsonLines,
    Parquet,
    Arrow,
}

/// The format by a file's name, and whether it is compressed with gzip; `None` for files that are not tables.
pub(crate) fn format_of(path: &Path) -> Option<(Format, bool)> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let (name, gz) = match name.strip_suffix(".gz") {
        Some(rest) => (rest, true),
        None => (name.as_str(), false),
    };
    let format = match name.rsplit_once('.')?.1 {
        "csv" => Format::Delimited(Some(b',')),
        "tsv" => Format::Delimited(Some(b'\t')),
        "jsonl" | "ndjson" => Format::JsonLines,
        "parquet" if !gz => Format::Parquet,
        "arrow" | "ipc" | "feather" if !gz => Format::Arrow,
        _ => return None,
    };
    Some((format, gz))
}

/// A file's length and SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    pub bytes: u64,
    pub sha256: String,
    /// Rows, where it was read as a table.
    pub rows: u64,
}

/// How strictly a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A release: only the one form in which releases are written, so that every reader sees the same rows.
    Release,
    /// A table of the owner: any readable form; the separator of delimited text is detected from the header.
    Source,
}

/// The most files that are counted at once: each has counts of its own, and reads its blocks and row groups in
/// parallel.
const AT_ONCE: usize = 4;

/// Reads `files` in order and counts what `selection` asks for. The separator of delimited text follows from the file
/// name in a release, otherwise from the header.
pub(crate) fn count(
    files: &[Content],
    selection: &Selection,
    reading: Reading,
) -> Result<(Counted, Vec<Fingerprint>), Problem> {
    let mut total = Tally::new(selection);
    let mut header: Option<Vec<String>> = None;
    let mut prints = Vec::with_capacity(files.len());
    // Several files are counted at once, each by itself, unless rows are identified by their numbers.
    let together = if total.needs_row_numbers() { 1 } else { rayon::current_num_threads().min(AT_ONCE) };
    for some in files.chunks(together) {
        let read: Vec<ReadTable> = if let [path] = some {
            vec![table(path, reading, &mut total)]
        } else {
            let shared = &total;
            let count = |path: &Content| {
                let mut own = shared.fork();
                table(path, reading, &mut own).map(|read| (read, own))
            };
            let apart: Vec<Result<_, Problem>> = some.par_iter().map(count).collect();
            let mut merge = |(read, own)| total.merge(own).map_err(put_aside).map(|()| read);
            apart.into_iter().map(|counted| counted.and_then(&mut merge)).collect()
        };
        for (path, read) in some.iter().zip(read) {
            let (columns, print) = read?;
            prints.push(print);
            match &header {
                // A file of JSON lines without lines names no columns.
                _ if columns.is_empty() => {}
                Some(first) if *first != columns => {
                    return Err(Problem::violation(
                        ProblemKind::Column,
                        format!("{}: its columns differ from those of the first file", path.display()),
                    ));
                }
                Some(_) => {}
                None => header = Some(columns),
            }
        }
    }
    let counted = total.finish(selection, header.unwrap_or_default()).map_err(put_aside)?;
    Ok((counted, prints))
}

/// The columns and the fingerprint of a file, or what is wrong with it.
type ReadTable = Result<(Vec<String>, Fingerprint), Problem>;

/// Counts the rows of a file into `tally`.
fn table(path: &Content, reading: Reading, tally: &mut Tally) -> ReadTable {
    let (format, gz) = format_of(path).ok_or_else(|| {
        unreadable(path, "its ending tells no format: .csv .tsv .jsonl (each also .gz), .parquet or .arrow expected")
    })?;
    let format = match format {
        Format::Delimited(_) if reading == Reading::Source => Format::Delimited(None),
        other => other,
    };
    let before = tally.rows_before();
    // Decoders of binary formats are external code: a panic in one is reported as a damaged file.
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| one_file(path, format, gz, reading, tally)));
    let (columns, print) = read.map_err(|_| unreadable(path, "the file is damaged"))??;
    Ok((columns, Fingerprint { rows: tally.rows_before() - before, ..print }))
}

fn one_file(
    path: &Content,
    format: Format,
    gz: bool,
    reading: Reading,
    total: &mut Tally,
) -> Result<(Vec<String>, Fingerprint), Problem> {
    let file = path.open().map_err(|e| {
        let kind =
            if e.kind() == std::io::ErrorKind::NotFound { ProblemKind::MissingFile } else { ProblemKind::Unreadable };
        Problem::violation(kind, format!("{}: {e}", path.display()))
    })?;
    match format {
        Format::Parquet => columnar::read_parquet(path, file, reading, total),
        Format::Arrow => columnar::read_arrow(path, file, reading, total),
        Format::Delimited(_) | Format::JsonLines => {
            let mut hashing = HashingReader::new(file);
            let columns = match (gz, reading) {
                (false, _) => text(path, format, reading, &mut hashing, total)?,
                (true, Reading::Release) => {
                    let mut buffered = std::io::BufReader::with_capacity(1 << 16, &mut hashing);
                    text(path, format, reading, &mut gzip::Members::new(&mut buffered), total)?
                }
                (true, Reading::Source) => {
                    text(path, format, reading, &mut flate2::read::MultiGzDecoder::new(&mut hashing), total)?
                }
            };
            let (bytes, sha256) = hashing.finish().map_err(|e| unreadable(path, &e.to_string()))?;
            Ok((columns, Fingerprint { bytes, sha256, rows: 0 }))
        }
    }
}

fn text(
    path: &Path,
    format: Format,
    reading: Reading,
    reader: &mut (dyn std::io::Read + Send),
    total: &mut Tally,
) -> Result<Vec<String>, Problem> {
    match format {
        Format::Delimited(separator) => delimited::read(path, reader, separator, total),
        _ => jsonl::read(path, reader, reading, total),
    }
}

/// The length and digest of a file that is not read as a table.
pub(crate) fn fingerprint(path: &Content) -> Result<Fingerprint, Problem> {
    let file =
        path.open().map_err(|e| Problem::violation(ProblemKind::MissingFile, format!("{}: {e}", path.display())))?;
    let (bytes, sha256) = HashingReader::new(file).finish().map_err(|e| unreadable(path, &e.to_string()))?;
    Ok(Fingerprint { bytes, sha256, rows: 0 })
}

/// Hashes of rows could not be written to, or read from, a temporary file.
pub(crate) fn put_aside(error: std::io::Error) -> Problem {
    let message = format!("cannot compare all rows: hashes of them cannot be put into a temporary file: {error}");
    Problem::violation(ProblemKind::NotVerifiable, message)
}

pub(crate) fn unreadable(path: &Path, what: &str) -> Problem {
    Problem::violation(ProblemKind::Unreadable, format!("{}: {what}", path.display()))
}

/// A file in the wrong form: not that of releases or, for a table of the owner, not readable at all.
pub(crate) fn refused(path: &Path, reading: Reading, what: &str) -> Problem {
    match reading {
        Reading::Release => Problem::violation(ProblemKind::Form, format!("{}: {what}", path.display())),
        Reading::Source => unreadable(path, what),
    }
}
