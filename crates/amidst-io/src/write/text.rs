//! Writes separated values and JSON lines: all threads assemble blocks of rows from precomputed pieces.

use std::io::Write;
use std::ops::{ControlFlow, Range};
use std::sync::Mutex;

use amidst_core::table::Codes;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::pieces::{self, Pieces};
use super::typed::{Kind, kind};
use super::{Bundle, Job, WriteError};
use crate::pipeline::{self, lock};

/// Rows per block.
const ROWS: usize = 16 << 10;

/// Writes separated values: a header, then the rows. Fields are quoted only where they must be.
pub(crate) fn csv(job: &Job<'_>, out: &mut impl Write, separator: u8, gzip: bool) -> Result<(), WriteError> {
    let columns = &job.table.columns;
    let ends = |i: usize| if i + 1 == columns.len() { b'\n' } else { separator };
    let mut header = Vec::new();
    for (i, column) in columns.iter().enumerate() {
        let name = column.name.as_str();
        // Readers strip spaces around unquoted names.
        quoted(name, separator, columns.len() == 1 || name.trim() != name, &mut header);
        header.push(ends(i));
    }
    let piece = |i: usize, code: u32, out: &mut Vec<u8>| {
        let value = columns[i].dictionary.value(code);
        // An empty line would not be read as a row.
        quoted(value, separator, value.is_empty() && columns.len() == 1, out);
        out.push(ends(i));
    };
    let mut strips = Vec::new();
    let mut i = 0;
    while i < columns.len() {
        let mut pieces = Pieces::default();
        match job.options.bundle.as_ref().and_then(|bundle| Some((bundle, bundled(job, bundle, i)?))) {
            Some((bundle, rows)) => {
                for row in rows {
                    pieces.push(|out| {
                        // A number without a row needs no text.
                        let Some(row) = row else { return };
                        for (i, column) in columns.iter().enumerate().skip(i).take(bundle.count) {
                            piece(i, column.codes.get(row as usize), out);
                        }
                    });
                }
                strips.push((Source::Numbers(bundle.of_row), pieces.seal()));
                i += bundle.count;
            }
            None => {
                (0..columns[i].dictionary.len() as u32).for_each(|code| pieces.push(|out| piece(i, code, out)));
                strips.push((Source::Codes(&columns[i].codes), pieces.seal()));
                i += 1;
            }
        }
    }
    blocks(job, out, header, &strips, gzip)
}

/// Where the codes for one column of pieces come from.
enum Source<'a> {
    Codes(&'a Codes),
    Numbers(&'a [u32]),
}

/// For each number of a bundle that starts at column `first`, a row that has it. `None` when there is no such bundle,
/// or when it has more than one number per eight rows, so that its texts would take too much memory.
fn bundled(job: &Job<'_>, bundle: &Bundle<'_>, first: usize) -> Option<Vec<Option<u32>>> {
    let fits = bundle.first == first
        && bundle.count > 1
        && first + bundle.count <= job.table.columns.len()
        && bundle.of_row.len() == job.table.rows
        && bundle.distinct <= job.rows.len() / 8;
    if !fits {
        return None;
    }
    let mut rows = vec![None; bundle.distinct];
    let mut missing = bundle.distinct;
    for (row, &number) in (0u32..).zip(bundle.of_row) {
        if let Some(place @ None) = rows.get_mut(number as usize) {
            *place = Some(row);
            missing -= 1;
            if missing == 0 {
                break;
            }
        }
    }
    Some(rows)
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

/// Writes one JSON object per line. Columns of numbers and booleans are written as such, all others as strings.
pub(crate) fn json_lines(job: &Job<'_>, out: &mut impl Write, gzip: bool) -> Result<(), WriteError> {
    let columns = &job.table.columns;
    let pieces = columns.iter().enumerate().map(|(i, column)| {
        let before = format!("{}{}:", if i == 0 { '{' } else { ',' }, json(&column.name));
        let after = if i + 1 == columns.len() { "}\n" } else { "" };
        let used = job.rows.used(column);
        let kind = match kind(job, column, &used) {
            // Many JSON readers use doubles, in which large integers are not distinct.
            Kind::Integer if !column.dictionary.iter().zip(&used).all(|(label, &used)| !used || held(label)) => {
                Kind::Text
            }
            other => other,
        };
        let mut pieces = Pieces::default();
        for value in column.dictionary.iter() {
            let text = match kind {
                Kind::Text => json(value),
                // JSON has no dates.
                Kind::Date if !value.is_empty() => json(value),
                _ if value.is_empty() => "null".to_string(),
                _ => value.to_string(),
            };
            pieces.push(|out| {
                for part in [before.as_str(), &text, after] {
                    out.extend_from_slice(part.as_bytes());
                }
            });
        }
        (Source::Codes(&column.codes), pieces.seal())
    });
    blocks(job, out, Vec::new(), &pieces.collect::<Vec<_>>(), gzip)
}

/// Whether a label is empty or an integer up to which doubles are exact.
fn held(label: &str) -> bool {
    label.parse::<i64>().is_ok_and(|n| n.unsigned_abs() <= 1 << 53) || label.is_empty()
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes `header` and all rows. With `gzip`, every block is a separate member, so that all threads compress.
fn blocks(
    job: &Job<'_>,
    out: &mut impl Write,
    header: Vec<u8>,
    strips: &[(Source<'_>, Pieces)],
    gzip: bool,
) -> Result<(), WriteError> {
    let total = job.rows.len();
    let (rows, path) = (job.rows, job.path);
    let pieces: Vec<&Pieces> = strips.iter().map(|(_, pieces)| pieces).collect();
    let io = |e| WriteError::io(path, e);
    let first = if gzip { compressed(&header) } else { header };
    out.write_all(&first).map_err(io)?;
    let mut given = 0;
    let mut done = 0;
    // Memory of blocks that were written: new memory is dear, since the system clears every page of it.
    let spare: Mutex<Vec<Vec<u8>>> = Mutex::default();
    pipeline::run(
        if total <= ROWS { 1 } else { job.threads() },
        |range: &mut Range<usize>| {
            *range = given..(given + ROWS).min(total);
            given = range.end;
            Ok(range.start < range.end)
        },
        |_| Vec::new(),
        |codes: &mut Vec<u32>, range| {
            codes.clear();
            for (source, _) in strips {
                match source {
                    Source::Codes(own) => rows.codes(own, range.clone(), codes),
                    Source::Numbers(own) => rows.numbers(own, range.clone(), codes),
                }
            }
            let mut text = lock(&spare).pop().unwrap_or_default();
            let mut length = pieces::rows(&pieces, codes, range.len(), &mut text);
            if gzip {
                let compressed = compressed(&text[..length]);
                length = compressed.len();
                lock(&spare).push(std::mem::replace(&mut text, compressed));
            }
            (range.len(), text, length)
        },
        |(count, bytes, length)| {
            out.write_all(&bytes[..length]).map_err(io)?;
            if !gzip {
                lock(&spare).push(bytes);
            }
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
    // Writing to memory does not fail.
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use amidst_core::table::{Column, Table};

    use super::super::{Bundle, WriteOptions, write_to};
    use crate::format::Format;

    #[test]
    fn columns_that_go_together_are_written_as_they_are_apart() {
        // Three classes over the two middle columns; rows with a fourth class number are not written.
        let classes: Vec<u32> = (0..200).map(|row| row * 7 % 4).collect();
        let of = |values: [&'static str; 4]| classes.iter().map(move |&c| values[c as usize]);
        let numbers: Vec<String> = (0..200).map(|row| (row % 9).to_string()).collect();
        let table = Table {
            columns: vec![
                Column::from_values("n", numbers.iter().map(String::as_str)),
                Column::from_values("a", of(["x", "y, z", "", "gone"])),
                Column::from_values("b", of(["\"", "p", "q", "gone"])),
                Column::from_values("m", numbers.iter().rev().map(String::as_str)),
            ],
            rows: 200,
        };
        let order: Vec<u32> = (0..200).rev().filter(|&row| classes[row as usize] < 3).collect();
        let text = |bundle| {
            let mut out = Vec::new();
            let options = WriteOptions { bundle, ..WriteOptions::default() };
            write_to(&table, Some(&order), &mut out, Format::Csv, &options).unwrap();
            String::from_utf8(out).unwrap()
        };
        let bundle = Bundle { first: 1, count: 2, of_row: &classes, distinct: 3 };
        assert_eq!(text(Some(bundle)), text(None));
        assert!(text(None).contains("\"y, z\",p,"));
    }
}
