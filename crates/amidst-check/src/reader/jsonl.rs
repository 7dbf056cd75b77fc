//! Reads JSON lines: one object per line. Columns are the keys of the first line.
//!
//! A release has one form, that of its writer: every line is an object with all keys in the order of the first, without
//! white space, and ends with a line feed; strings escape only what JSON requires, in the shortest way; numbers have
//! the one text that reads back as the same double; no value is an object or a list. A column holds strings, numbers or
//! booleans, never a mixture, because `1` and `"1"` are the same cell here and different values elsewhere. A table of
//! the owner may have any form; a key that a line lacks is a missing cell there.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::{Map, Value};

use super::selection::Cells;
use super::stream::{self, Added, Blocks, Fault, Records};
use super::tally::Tally;
use super::{Reading, limits, number, refused};
use crate::problem::Problem;

struct JsonLines {
    columns: Vec<String>,
    needed: Vec<usize>,
}

/// Reads a file of JSON lines.
pub(crate) fn read(
    path: &Path,
    reader: &mut (dyn Read + Send),
    reading: Reading,
    total: &mut Tally,
) -> Result<Vec<String>, Problem> {
    let wrong = |what: &str| refused(path, reading, what);
    let mut blocks = Blocks::new(reader);
    // The first line is parsed for its keys and stays in the stream.
    let head = blocks.head(|bytes, ended| {
        // In a release an empty line is an error; in other tables leading white space is skipped.
        let start = match reading {
            Reading::Release if bytes.is_empty() => return None,
            Reading::Release => 0,
            Reading::Source => bytes.iter().position(|b| !b.is_ascii_whitespace())?,
        };
        let end = memchr::memchr(b'\n', &bytes[start..]).map(|n| start + n).or(ended.then_some(bytes.len()))?;
        Some((bytes[start..end].to_vec(), 0))
    });
    let columns: Vec<String> = match head.map_err(|e| wrong(&e.to_string()))? {
        // A file without lines is a table without rows whose columns are unknown.
        None => Vec::new(),
        Some(line) => {
            let object: Map<String, Value> =
                serde_json::from_slice(&line).map_err(|e| wrong(&format!("row 1: {e}")))?;
            object.into_iter().map(|(name, _)| name).collect()
        }
    };
    if columns.is_empty() {
        return Ok(columns);
    }
    if columns.len() > limits::COLUMNS {
        return Err(wrong("row 1: more columns than tables may have"));
    }
    total.open(path, &columns)?;
    if reading == Reading::Release {
        let records = Strict::new(&columns);
        stream::count(path, blocks, &records, (reading, 0), total)?;
        records.mixed(&columns).map_err(|what| wrong(&what))?;
        return Ok(columns);
    }
    let records = JsonLines { needed: total.needed(), columns };
    stream::count(path, blocks, &records, (reading, 0), total)?;
    Ok(records.columns)
}

/// The cells of a line, and which of them are null.
struct Row {
    cells: Vec<Vec<u8>>,
    nulls: Vec<bool>,
}

impl Row {
    fn new(width: usize) -> Row {
        Row { cells: vec![Vec::new(); width], nulls: vec![true; width] }
    }
}

impl Cells for Row {
    fn cell(&self, column: usize) -> &[u8] {
        self.cells.get(column).map_or(&[], Vec::as_slice)
    }

    fn is_null(&self, column: usize) -> bool {
        self.nulls.get(column).copied().unwrap_or(true)
    }
}

fn whole(bytes: &[u8]) -> usize {
    memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1)
}

impl Records for JsonLines {
    fn whole(&self, bytes: &[u8]) -> usize {
        whole(bytes)
    }

    fn add(&self, block: &[u8], first: u64, tally: &mut Tally) -> Result<Added, Fault> {
        let mut rows = 0;
        let mut row = Row::new(self.columns.len());
        for line in block.split(|&b| b == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            let object: Map<String, Value> =
                serde_json::from_slice(line).map_err(|e| Fault::row(rows, e.to_string()))?;
            if let Some(extra) = object.keys().find(|&name| !self.columns.contains(name)) {
                return Err(Fault::row(rows, format!("the key \"{extra}\" is not in the first line")));
            }
            for &column in &self.needed {
                let cell = &mut row.cells[column];
                cell.clear();
                let value = object.get(&self.columns[column]);
                row.nulls[column] = matches!(value, None | Some(Value::Null));
                match value {
                    None | Some(Value::Null) => {}
                    Some(Value::String(text)) => cell.extend_from_slice(text.as_bytes()),
                    Some(Value::Number(n)) if n.is_f64() => {
                        let text = n.as_f64().map(number::of_double).unwrap_or_default();
                        cell.extend_from_slice(text.as_bytes());
                    }
                    Some(other) => cell.extend_from_slice(other.to_string().as_bytes()),
                }
            }
            tally.add(first + rows, &row).map_err(|what| Fault::row(rows, what))?;
            rows += 1;
        }
        Ok(Added::rows(rows))
    }
}

// What a column holds, as bits.
const TEXT: u8 = 1;
const EMPTY: u8 = 2;
const NUMBER: u8 = 4;
const TRUTH: u8 = 8;
const NULL: u8 = 16;
const NO_DATE: u8 = 32;

/// The lines of a release.
struct Strict {
    /// The text before each cell: `{` or `,`, the key and `:`.
    before: Vec<Vec<u8>>,
    /// The kinds of cells that each column held.
    seen: Vec<AtomicU8>,
}

impl Strict {
    fn new(columns: &[String]) -> Strict {
        let before = |(at, name): (usize, &String)| {
            format!("{}{}:", if at == 0 { '{' } else { ',' }, Value::from(name.as_str())).into_bytes()
        };
        Strict {
            before: columns.iter().enumerate().map(before).collect(),
            seen: columns.iter().map(|_| AtomicU8::new(0)).collect(),
        }
    }

    /// Refuses columns that hold cells of several kinds.
    fn mixed(&self, columns: &[String]) -> Result<(), String> {
        for (name, seen) in columns.iter().zip(&self.seen) {
            let seen = seen.load(Ordering::Relaxed);
            let kinds = [TEXT | EMPTY, NUMBER, TRUTH].iter().filter(|&&kind| seen & kind != 0).count();
            // Null is allowed in columns of numbers or dates only; other columns have the empty string instead.
            let nulls = seen & NULL != 0 && seen & (EMPTY | TRUTH | NO_DATE) != 0;
            if kinds > 1 || nulls {
                return Err(format!("the column \"{name}\" mixes texts, numbers, truth or null"));
            }
        }
        Ok(())
    }

    /// Reads one line without its line feed into `row`; `seen` collects the kinds of cells.
    fn line(&self, line: &[u8], row: &mut Row, seen: &mut [u8]) -> Result<(), String> {
        let mut rest = line;
        for (column, before) in self.before.iter().enumerate() {
            rest = rest
                .strip_prefix(before.as_slice())
                .ok_or("the keys are not those of the first line, in its order and form")?;
            let cell = &mut row.cells[column];
            cell.clear();
            row.nulls[column] = false;
            let (length, kind) = if rest.first() == Some(&b'"') {
                text(rest, cell)?
            } else {
                let length = memchr::memchr2(b',', b'}', rest).unwrap_or(rest.len());
                let kind = match &rest[..length] {
                    b"null" => {
                        row.nulls[column] = true;
                        NULL
                    }
                    word @ (b"true" | b"false") => {
                        cell.extend_from_slice(word);
                        TRUTH
                    }
                    word => {
                        cell.extend_from_slice(canonical_number(word)?.as_bytes());
                        NUMBER
                    }
                };
                (length, kind)
            };
            if cell.len() > limits::CELL {
                return Err("a cell longer than cells may be".into());
            }
            seen[column] |= kind;
            rest = &rest[length..];
        }
        if rest == b"}" { Ok(()) } else { Err("there is more on the line than the first line's keys".into()) }
    }
}

/// Parses the string at the start of `rest` into `cell`; returns its length in bytes and its kind.
fn text(rest: &[u8], cell: &mut Vec<u8>) -> Result<(usize, u8), String> {
    let mut at = 1;
    loop {
        let plain =
            memchr::memchr2(b'"', b'\\', rest.get(at..).unwrap_or_default()).ok_or("a text that does not end")?;
        let piece = &rest[at..at + plain];
        if piece.iter().any(|&b| b < 0x20) {
            return Err("a control character that JSON escapes".into());
        }
        cell.extend_from_slice(piece);
        at += plain;
        if rest[at] == b'"' {
            break;
        }
        let (byte, length) = escape(&rest[at..]).ok_or("an escape that is not the shortest, or none")?;
        cell.push(byte);
        at += length;
    }
    let text = std::str::from_utf8(cell).map_err(|_| "this is not UTF-8 text")?;
    let kind = match text {
        "" => EMPTY,
        text if is_date(text) => TEXT,
        _ => TEXT | NO_DATE,
    };
    Ok((at + 1, kind))
}

/// The byte that an escape stands for, and the escape's length; `None` for escapes that the writer does not use.
fn escape(rest: &[u8]) -> Option<(u8, usize)> {
    let short = match rest.get(1)? {
        b'"' => b'"',
        b'\\' => b'\\',
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'f' => 12,
        b'r' => b'\r',
        b'u' => {
            let digits = std::str::from_utf8(rest.get(2..6)?).ok()?;
            let code = u8::try_from(u32::from_str_radix(digits, 16).ok()?).ok()?;
            let own = code < 0x20 && !matches!(code, 8 | 9 | 10 | 12 | 13) && format!("{code:04x}") == digits;
            return own.then_some((code, 6));
        }
        _ => return None,
    };
    Some((short, 2))
}

/// The largest integer up to which every reader, including those with doubles, is exact.
const GREATEST: u64 = 1 << 53;

/// A number, if it has the one text that releases use for it.
fn canonical_number(word: &[u8]) -> Result<&str, String> {
    let wrong = || "neither a text, a number, true, false nor null".to_string();
    let text = std::str::from_utf8(word).map_err(|_| wrong())?;
    if text.len() > 400 || !text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b)) {
        return Err(wrong());
    }
    if let Ok(whole) = text.parse::<i64>()
        && whole.to_string() == text
    {
        return match whole.unsigned_abs() <= GREATEST {
            true => Ok(text),
            false => Err("a whole number that not every reader holds exactly".into()),
        };
    }
    let double = text.parse::<f64>().map_err(|_| wrong())?;
    match double.is_finite() && number::of_double(double) == text {
        true => Ok(text),
        false => Err("a number that is not in its shortest form, or that no double holds exactly".into()),
    }
}

/// Whether a text is a date, year-month-day.
fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(at, b)| if at == 4 || at == 7 { b == b'-' } else { b.is_ascii_digit() })
}

impl Records for Strict {
    fn whole(&self, bytes: &[u8]) -> usize {
        whole(bytes)
    }

    fn add(&self, block: &[u8], first: u64, tally: &mut Tally) -> Result<Added, Fault> {
        let mut rows = 0;
        let mut row = Row::new(self.before.len());
        let mut seen = vec![0; self.before.len()];
        let Some(inner) = block.strip_suffix(b"\n") else {
            let lines = memchr::memchr_iter(b'\n', block).count() as u64;
            return Err(Fault::row(lines, "the last line does not end with a line feed".into()));
        };
        for line in inner.split(|&b| b == b'\n') {
            self.line(line, &mut row, &mut seen).map_err(|what| Fault::row(rows, what))?;
            tally.add(first + rows, &row).map_err(|what| Fault::row(rows, what))?;
            rows += 1;
        }
        for (all, own) in self.seen.iter().zip(seen) {
            all.fetch_or(own, Ordering::Relaxed);
        }
        Ok(Added::rows(rows))
    }
}
