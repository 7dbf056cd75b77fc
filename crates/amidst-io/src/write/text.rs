//! Separated values and JSON lines: blocks of rows are put together from ready-made pieces by all threads.

use std::io::Write;
use std::ops::{ControlFlow, Range};

use amidst_core::table::Column;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::number::{Kind, kind};
use super::pieces::{self, Pieces};
use super::{Job, WriteError};

/// Rows put together at a time.
const ROWS: usize = 16 << 10;

/// Writes separated values: a header, then the rows. Fields are quoted only where they must be.
pub(crate) fn csv(job: &Job<'_>, out: &mut impl Write, separator: u8, gzip: bool) -> Result<(), WriteError> {
    let columns = &job.table.columns;
    let ends = |i: usize| if i + 1 == columns.len() { b'\n' } else { separator };
    let mut header = Vec::new();
    for (i, column) in columns.iter().enumerate() {
        let name = column.name.as_str();
        // Spaces around a name without quotes are not read as part of it.
        quoted(name, separator, columns.len() == 1 || name.trim() != name, &mut header);
        header.push(ends(i));
    }
    let pieces = columns.iter().enumerate().map(|(i, column)| {
        let mut pieces = Pieces::default();
        for value in column.dictionary.iter() {
            pieces.push(|out| {
                // A line with nothing on it would be no row.
                quoted(value, separator, value.is_empty() && columns.len() == 1, out);
                out.push(ends(i));
            });
        }
        pieces.seal()
    });
    blocks(job, out, header, &pieces.collect::<Vec<_>>(), gzip)
}

fn quoted(value: &str, separator: u8, always: bool, out: &mut Vec<u8>) {
    let special = |b: u8| b == separator || matches!(b, b'"' | b'\n' | b'\r');
    if always || value.bytes().any(special) || value.starts_with('\u{FEFF}') {
        out.push(b'"');
        out.extend_from_slice(value.replace('"', "\"\"").as_bytes());
        out.push(b'"');
    } else {
        out.extend_from_slice(value.as_bytes());
    }
}

/// Writes one JSON object a line. Number columns have numbers, all else is text.
pub(crate) fn json_lines(job: &Job<'_>, out: &mut impl Write, gzip: bool) -> Result<(), WriteError> {
    let columns = &job.table.columns;
    let pieces = columns.iter().enumerate().map(|(i, column)| {
        let before = format!("{}{}:", if i == 0 { '{' } else { ',' }, json(&column.name));
        let after = if i + 1 == columns.len() { "}\n" } else { "" };
        let kind = json_kind(job, column);
        let mut pieces = Pieces::default();
        for value in column.dictionary.iter() {
            let text = match kind {
                Kind::Text => json(value),
                _ if value.is_empty() => "null".to_string(),
                _ => value.to_string(),
            };
            pieces.push(|out| {
                for part in [before.as_str(), &text, after] {
                    out.extend_from_slice(part.as_bytes());
                }
            });
        }
        pieces.seal()
    });
    blocks(job, out, Vec::new(), &pieces.collect::<Vec<_>>(), gzip)
}

fn json_kind(job: &Job<'_>, column: &Column) -> Kind {
    if column.kind.is_numeric() { kind(column, &job.rows.used(column)) } else { Kind::Text }
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes `header` and all rows. With `gzip`, every block is a member of its own, so that all threads compress.
fn blocks(
    job: &Job<'_>,
    out: &mut impl Write,
    header: Vec<u8>,
    pieces: &[Pieces],
    gzip: bool,
) -> Result<(), WriteError> {
    let total = job.rows.len();
    let (table, rows, path) = (job.table, job.rows, job.path);
    let io = |e| WriteError::io(path, e);
    let first = if gzip { compressed(&header) } else { header };
    out.write_all(&first).map_err(io)?;
    let mut given = 0;
    let mut done = 0;
    crate::pipeline::run(
        if total <= ROWS { 1 } else { job.threads() },
        |range: &mut Range<usize>| {
            *range = given..(given + ROWS).min(total);
            given = range.end;
            Ok(range.start < range.end)
        },
        |_| Vec::new(),
        |codes: &mut Vec<u32>, range| {
            codes.clear();
            for column in &table.columns {
                rows.codes(&column.codes, range.clone(), codes);
            }
            let text = pieces::rows(pieces, codes, range.len());
            (range.len(), if gzip { compressed(&text) } else { text })
        },
        |(count, bytes)| {
            out.write_all(&bytes).map_err(io)?;
            done += count;
            job.advance(done)?;
            Ok(ControlFlow::Continue(()))
        },
    )
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::default());
    // Writing into memory does not fail.
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}
