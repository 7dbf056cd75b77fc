//! JSON lines: an object a line. Columns are the keys of the first line; a key that a line lacks is a missing cell.

use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value};

use super::stream::{self, Blocks, Records};
use super::tally::{Cells, Tally};
use super::{number, unreadable};
use crate::problem::Problem;

struct JsonLines {
    columns: Vec<String>,
    needed: Vec<usize>,
}

pub(crate) fn read(path: &Path, reader: &mut (dyn Read + Send), total: &mut Tally) -> Result<Vec<String>, Problem> {
    let mut blocks = Blocks::new(reader);
    // The first line is read for its keys and left where it is.
    let head = blocks.head(|bytes, ended| {
        let start = bytes.iter().position(|b| !b.is_ascii_whitespace())?;
        let end = memchr::memchr(b'\n', &bytes[start..]).map(|n| start + n).or(ended.then_some(bytes.len()))?;
        Some((bytes[start..end].to_vec(), 0))
    });
    let columns: Vec<String> = match head.map_err(|e| unreadable(path, &e.to_string()))? {
        // No line at all is a table without rows, whose columns nobody can know.
        None => Vec::new(),
        Some(line) => {
            let object: Map<String, Value> =
                serde_json::from_slice(&line).map_err(|e| unreadable(path, &format!("row 1: {e}")))?;
            object.into_iter().map(|(name, _)| name).collect()
        }
    };
    if columns.is_empty() {
        return Ok(columns);
    }
    total.open(path, &columns)?;
    let records = JsonLines { needed: total.needed(), columns };
    stream::count(path, blocks, &records, total)?;
    Ok(records.columns)
}

/// The cells of a line, and which of them are null.
struct Row {
    cells: Vec<Vec<u8>>,
    nulls: Vec<bool>,
}

impl Cells for Row {
    fn cell(&self, column: usize) -> &[u8] {
        self.cells.get(column).map_or(&[], Vec::as_slice)
    }

    fn is_null(&self, column: usize) -> bool {
        self.nulls.get(column).copied().unwrap_or(true)
    }
}

impl Records for JsonLines {
    fn whole(&self, bytes: &[u8]) -> usize {
        memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1)
    }

    fn add(&self, block: &[u8], first: u64, tally: &mut Tally) -> Result<u64, (u64, String)> {
        let mut rows = 0;
        let width = self.columns.len();
        let mut row = Row { cells: vec![Vec::new(); width], nulls: vec![true; width] };
        for line in block.split(|&b| b == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            let object: Map<String, Value> = serde_json::from_slice(line).map_err(|e| (rows, e.to_string()))?;
            if let Some(extra) = object.keys().find(|&name| !self.columns.contains(name)) {
                return Err((rows, format!("the key \"{extra}\" is not in the first line")));
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
            tally.add(first + rows, &row).map_err(|what| (rows, what))?;
            rows += 1;
        }
        Ok(rows)
    }
}
