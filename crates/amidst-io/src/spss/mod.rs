//! Reads SPSS data files (`.sav`, `.zsav`): the system file format as described in the PSPP manual
//! (`System File Format`).
//!
//! Labelled values are read as their labels, dates as year-month-day; system-missing values and those that the file
//! declares missing as nulls. Names are the long ones. Text is in the encoding that the file names, otherwise in the
//! stated one, otherwise in Windows-1252.
//!
//! May use: `binary`, `columnar`, `conventions`, `error`, `format`, `limits`, `merge`, `rows`, `stream`, and what
//! those use.

mod dictionary;
mod segments;

use std::path::Path;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use jiff::civil::Date;

use crate::binary::{clock, day, moment};
use crate::columnar::float64;
use crate::conventions::Conventions;
use crate::error::ReadError;
use crate::format::Format;
use crate::merge::Merger;
use crate::rows::Rows;
use crate::stream::Settings;

use dictionary::{Dictionary, Variable};
use segments::Segments;

/// Second 0 of SPSS, the first day of the Gregorian calendar.
const EPOCH: Date = Date::constant(1582, 10, 14);

/// The number that stands for a missing value.
const SYSTEM_MISSING: f64 = f64::MIN;

/// Reads a data file in memory.
pub(crate) fn read(
    path: &Path,
    bytes: &[u8],
    conventions: &Conventions,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let damaged = ReadError::damaged(path, Format::Sav);
    let dictionary = dictionary::parse(bytes, conventions.encoding.map(|stated| stated.0)).map_err(damaged)?;
    let mut rows = Rows::begin(path, dictionary.variables.iter().map(|v| v.name.clone()).collect(), merger)?;
    let mut segments = Segments::of(bytes, &dictionary).map_err(damaged)?;
    let mut row = vec![0; dictionary.width * 8];
    while segments.next_row(&mut row).map_err(damaged)? {
        let go_on = rows.push(settings, merger, |column, text| {
            let Some(variable) = dictionary.variables.get(column) else { return Ok(true) };
            Ok(cell(&dictionary, variable, &row, text))
        })?;
        if !go_on {
            return Ok(());
        }
    }
    rows.finish(path, settings, merger)
}

/// The encoding for a name or the number of a code page.
fn encoding_named(name: &str) -> Option<&'static Encoding> {
    crate::conventions::TextEncoding::named(name).map(|found| found.0)
}

/// The encoding by the file's statements, then by the caller's, then Windows-1252.
fn encoding(named: Option<&str>, page: Option<i32>, stated: Option<&'static Encoding>) -> &'static Encoding {
    let of_page = |page: i32| match page {
        65001 => Some(UTF_8),
        1200 => None,
        1250..=1258 => encoding_named(&format!("windows-{page}")),
        28591 => Some(WINDOWS_1252),
        _ => None,
    };
    named.and_then(encoding_named).or_else(|| page.and_then(of_page)).or(stated).unwrap_or(WINDOWS_1252)
}

/// Writes the text of a cell to `text`; true when the cell is missing.
fn cell(dictionary: &Dictionary, variable: &Variable, row: &[u8], text: &mut Vec<u8>) -> bool {
    let start = variable.segment * 8;
    if variable.width == 0 {
        let Some(bytes) = row.get(start..start + 8).and_then(|b| b.first_chunk::<8>()) else { return true };
        let number = if dictionary.big_endian { f64::from_be_bytes(*bytes) } else { f64::from_le_bytes(*bytes) };
        if !number.is_finite() || number == SYSTEM_MISSING || variable.missing.has(number) {
            return true;
        }
        text.extend_from_slice(written(variable, number).as_bytes());
        return false;
    }
    let bytes = string(variable, row);
    let trimmed = bytes.trim_ascii_end();
    if let Some(label) = variable.text_labels.iter().find(|(value, _)| value.trim_ascii_end() == trimmed) {
        text.extend_from_slice(label.1.as_bytes());
        return false;
    }
    if variable.missing.has_text(trimmed) {
        return true;
    }
    match trimmed.is_ascii() {
        true => text.extend_from_slice(trimmed),
        false => text.extend_from_slice(dictionary.encoding.decode_without_bom_handling(trimmed).0.as_bytes()),
    }
    false
}

/// The bytes of a text, which is stored in pieces of 255 bytes, each padded to 256.
fn string(variable: &Variable, row: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(variable.width);
    let mut at = variable.segment * 8;
    while bytes.len() < variable.width {
        let used = (variable.width - bytes.len()).min(255);
        let Some(piece) = row.get(at..at + used) else { break };
        bytes.extend_from_slice(piece);
        at += 256;
    }
    bytes
}

/// The text of a number: its label, a date, a time, or the number itself.
fn written(variable: &Variable, number: f64) -> String {
    if let Some(label) = variable.labels.get(|code| code.total_cmp(&number)) {
        return label.to_string();
    }
    let days = (number / 86_400.0).floor();
    let dated = match variable.format {
        20 | 23 | 24 | 38 | 39 => day(EPOCH, days),
        22 | 41 => moment(EPOCH, number),
        28..=30 => day(EPOCH, days).and_then(|day| day.get(..7).map(str::to_string)),
        21 | 25 if (0.0..1e9).contains(&number) => Some(clock(number as u64)),
        _ => None,
    };
    dated.unwrap_or_else(|| float64(number))
}
