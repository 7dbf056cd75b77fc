//! Encodes a block of records column by column.

use memchr::{memchr, memchr_iter, memrchr};

use crate::encode::ColumnEncoder;
use crate::limits::FIELD_LIMIT;
use crate::lines::BlockLines;
use crate::merge::{Block, Fault, FaultKind};

use super::cut::{PADDING, TextBlock};
use super::record::Record;
use super::scan;

/// Rows per batch: their text stays in the first-level cache while the columns are encoded one after the other.
const ROWS: usize = 1024;
/// The minimum length of a part without quotes for which the fast path is used.
const STRETCH: usize = 4096;

/// Properties shared by all records of a file.
pub(crate) struct Shape {
    pub separator: u8,
    /// For each field, whether it is kept.
    pub kept: Vec<bool>,
}

/// The state of one thread that encodes blocks.
pub(crate) struct BlockEncoder<'a> {
    worker: usize,
    shape: &'a Shape,
    columns: Vec<ColumnEncoder>,
    record: Record,
    positions: Vec<u32>,
    rows: usize,
    lines: u64,
    extra: Vec<(u32, u32)>,
}

impl<'a> BlockEncoder<'a> {
    pub fn new(worker: usize, shape: &'a Shape) -> Self {
        let kept = shape.kept.iter().filter(|k| **k).count();
        BlockEncoder {
            worker,
            shape,
            columns: (0..kept).map(|_| ColumnEncoder::default()).collect(),
            record: Record::default(),
            positions: Vec::new(),
            rows: 0,
            lines: 0,
            extra: Vec::new(),
        }
    }

    /// Encodes a block up to its first fault.
    pub fn encode(&mut self, block: &mut TextBlock) -> Block {
        (self.rows, self.lines) = (0, 0);
        let data = &block.data[..block.length + PADDING];
        let mut fault = None;
        // Only the slow path knows that an empty line of a single column is not a row, and measures fields of very long
        // lines.
        let mut fast = self.shape.kept.len() > 1 && block.length <= FIELD_LIMIT;
        let mut at = 0;
        let mut quote = 0;
        while at < block.length && fault.is_none() {
            if fast {
                if quote <= at {
                    quote = memchr(b'"', &data[at..block.length]).map_or(block.length, |i| at + i);
                }
                if quote - at >= STRETCH || quote == block.length {
                    let to = memrchr(b'\n', &data[at..quote]).map_or(at, |i| at + i + 1);
                    at = self.plain_records(data, at, to);
                    // The slow path determines what is unusual here.
                    fast = at == to;
                }
            }
            if at < block.length {
                match self.one_record(&data[..block.length], at) {
                    Ok(next) => at = next,
                    Err(found) => fault = Some(found),
                }
            }
        }
        for column in &mut self.columns {
            column.truncate(self.rows);
        }
        Block {
            worker: self.worker,
            rows: self.rows,
            columns: self.columns.iter_mut().map(ColumnEncoder::finish).collect(),
            new_names: Vec::new(),
            lines: BlockLines {
                rows: self.rows,
                lines: self.lines,
                extra: std::mem::take(&mut self.extra),
                none: false,
            },
            bytes: 0,
            fault,
        }
    }

    /// Encodes `data[from..to]`, complete lines without quotes. Returns `to`, or the start of a batch with a row that
    /// the slow path must read.
    fn plain_records(&mut self, data: &[u8], from: usize, to: usize) -> usize {
        let fields = self.shape.kept.len();
        let mut positions = std::mem::take(&mut self.positions);
        let mut start = from;
        let mut scanned = from;
        positions.clear();
        // The line break before the first row; at the start of a block it wraps around, which the additions below undo.
        positions.push((from as u32).wrapping_sub(1));
        while start < to {
            scanned =
                scan::positions(data, scanned, to, (self.shape.separator, b'\n'), &mut positions, 1 + ROWS * fields);
            let rows = ((positions.len() - 1) / fields).min(ROWS);
            if rows == 0 || !self.plain_rows(data, start, &positions[..=rows * fields]) {
                break;
            }
            let used = rows * fields;
            start = positions[used] as usize + 1;
            positions.copy_within(used.., 0);
            positions.truncate(positions.len() - used);
        }
        self.positions = positions;
        start
    }

    /// Encodes the rows whose delimiters are at `positions`. Returns false, without any effect, if a row is irregular.
    fn plain_rows(&mut self, data: &[u8], start: usize, positions: &[u32]) -> bool {
        let fields = self.shape.kept.len();
        let rows = (positions.len() - 1) / fields;
        let end = positions[rows * fields] as usize + 1;
        // With as many line breaks as rows, and one at the end of each row, all other delimiters are separators.
        let breaks = memchr_iter(b'\n', &data[start..end]).count();
        if breaks != rows || positions[fields..].iter().step_by(fields).any(|&p| data[p as usize] != b'\n') {
            return false;
        }
        // A carriage return that does not end a line is reported by the slow path.
        let lone = |i: usize| data.get(start + i + 1) != Some(&b'\n');
        if memchr_iter(b'\r', &data[start..end]).any(lone) {
            return false;
        }
        let kept = (0..fields).filter(|&f| self.shape.kept[f]);
        for (field, column) in kept.zip(&mut self.columns) {
            let before = positions[field..].iter().step_by(fields).take(rows);
            let after = positions[field + 1..].iter().step_by(fields);
            if column.push_fields(data, before, after, field + 1 == fields).is_err() {
                // The slow path finds the first bad cell in reading order.
                self.columns.iter_mut().for_each(|c| c.truncate(self.rows));
                return false;
            }
        }
        self.note_line();
        self.rows += rows;
        self.lines += rows as u64;
        true
    }

    /// Records the line of the next row if lines and rows have diverged.
    fn note_line(&mut self) {
        let extra = (self.lines - self.rows as u64) as u32;
        if extra != self.extra.last().map_or(0, |e| e.1) {
            self.extra.push((self.rows as u32, extra));
        }
    }

    /// Encodes the record at `at`; returns the offset of the next one.
    fn one_record(&mut self, data: &[u8], at: usize) -> Result<usize, Fault> {
        if Record::is_blank(data, at) {
            let next = memchr(b'\n', &data[at..]).map_or(data.len(), |i| at + i + 1);
            self.lines += 1;
            return Ok(next);
        }
        let mut record = std::mem::take(&mut self.record);
        record.parse(data, at, self.shape.separator);
        let encoded = self.fields(data, &record);
        let next = record.next;
        if encoded.is_ok() {
            self.note_line();
            self.rows += 1;
            self.lines += record.breaks;
        }
        self.record = record;
        encoded.map(|()| next)
    }

    fn fields(&mut self, data: &[u8], record: &Record) -> Result<(), Fault> {
        let fault = |column, kind| Fault::new(self.lines, column, kind);
        if let Some(i) = record.fields.iter().position(|f| f.end - f.start > FIELD_LIMIT) {
            return Err(fault(Some(i), FaultKind::TooLong { quoted: record.fields[i].quoted }));
        }
        if record.unclosed {
            return Err(fault(Some(record.fields.len() - 1), FaultKind::Unclosed));
        }
        if let Some(i) = record.two_readings {
            return Err(fault(Some(i), FaultKind::TwoReadings));
        }
        let (expected, found) = (self.shape.kept.len(), record.fields.len());
        if expected != found {
            return Err(fault(None, FaultKind::Ragged { expected, found }));
        }
        let mut columns = self.columns.iter_mut();
        for (i, field) in record.fields.iter().enumerate().filter(|(i, _)| self.shape.kept[*i]) {
            let Some(column) = columns.next() else { break };
            let text = if field.in_scratch { record.scratch.as_slice() } else { data };
            column
                .push(text, field.start, field.end - field.start)
                .map_err(|bad| Fault::new(self.lines, Some(i), FaultKind::Cell(bad)))?;
        }
        Ok(())
    }
}
