//! Encodes rows that arrive one by one into blocks of codes.

use std::path::Path;

use crate::encode::{BadCell, ColumnEncoder};
use crate::error::ReadError;
use crate::lines::BlockLines;
use crate::merge::{Block, Fault, FaultKind, Merger};
use crate::stream::Settings;

/// Rows per block.
const ROWS: usize = 16 << 10;

/// The kept columns of a table whose rows arrive one by one.
pub(crate) struct Rows {
    columns: Vec<ColumnEncoder>,
    /// The position of each kept column in the header.
    places: Vec<usize>,
    rows: usize,
    /// Number of rows before this table.
    before: usize,
    /// Lines of this block, in formats with lines, including those that are not rows; see [`BlockLines`].
    lines: Option<u64>,
    extra: Vec<(u32, u32)>,
}

/// A cell without a text form.
pub(crate) struct Binary;

impl Rows {
    /// `kept` says for each column of the header whether it is kept; `before` is the number of rows read before this
    /// table.
    pub fn new(kept: &[bool], before: usize) -> Self {
        let places: Vec<usize> = (0..kept.len()).filter(|&i| kept[i]).collect();
        Rows {
            columns: places.iter().map(|_| ColumnEncoder::default()).collect(),
            places,
            rows: 0,
            before,
            lines: None,
            extra: Vec::new(),
        }
    }

    /// As [`Rows::new`], for a table whose rows have line numbers.
    pub fn on_lines(kept: &[bool], before: usize) -> Self {
        Rows { lines: Some(0), ..Self::new(kept, before) }
    }

    /// Begins the table at `path` with the columns `names`; an error if there are none.
    pub fn begin(path: &Path, names: Vec<String>, merger: &mut Merger<'_>) -> Result<Self, ReadError> {
        if names.is_empty() {
            return Err(ReadError::Empty { path: path.to_path_buf() });
        }
        let kept = merger.begin(path, names, 1)?;
        Ok(Self::new(&kept, merger.rows()))
    }

    /// Skips lines that are not rows.
    pub fn skip_lines(&mut self, count: u64) {
        if let Some(lines) = self.lines.as_mut().filter(|_| count > 0) {
            *lines += count;
            let more = u32::try_from(*lines - self.rows as u64).unwrap_or(u32::MAX);
            self.extra.push((self.rows as u32, more));
        }
    }

    /// Appends a row: `cell` writes the text of a column of the header to the buffer and returns whether it is null.
    /// Returns false when the maximum number of rows is reached.
    pub fn push(
        &mut self,
        settings: &Settings<'_>,
        merger: &mut Merger<'_>,
        mut cell: impl FnMut(usize, &mut Vec<u8>) -> Result<bool, Binary>,
    ) -> Result<bool, ReadError> {
        let mut text = Vec::new();
        let mut wrong = None;
        for (encoder, &place) in self.columns.iter_mut().zip(&self.places) {
            text.clear();
            let pushed = match cell(place, &mut text) {
                Err(Binary) => Err(FaultKind::Binary),
                Ok(true) => {
                    encoder.push_null();
                    Ok(())
                }
                Ok(false) => encoder.push(&text, 0, text.len()).map_err(|bad: BadCell| FaultKind::Cell(bad)),
            };
            if let Err(kind) = pushed {
                wrong = Some(Fault::new(self.lines.unwrap_or(self.rows as u64), Some(place), kind));
                break;
            }
        }
        if wrong.is_some() {
            // The rows before must be merged first, so that the error names the right row.
            self.merge(settings, merger, wrong)?;
            return Ok(false);
        }
        self.rows += 1;
        self.lines = self.lines.map(|lines| lines + 1);
        if self.rows == ROWS || merger.rows() + self.rows >= merger.max_rows() {
            self.merge(settings, merger, None)?;
        }
        Ok(!merger.is_full())
    }

    /// Merges the remaining rows. A table at `place` without rows is an error.
    pub fn finish(mut self, place: &Path, settings: &Settings<'_>, merger: &mut Merger<'_>) -> Result<(), ReadError> {
        self.merge(settings, merger, None)?;
        if merger.rows() == self.before {
            return Err(ReadError::NoRows { path: place.to_path_buf() });
        }
        Ok(())
    }

    fn merge(
        &mut self,
        settings: &Settings<'_>,
        merger: &mut Merger<'_>,
        fault: Option<Fault>,
    ) -> Result<(), ReadError> {
        settings.check()?;
        let rows = std::mem::take(&mut self.rows);
        self.columns.iter_mut().for_each(|column| column.truncate(rows));
        merger.merge(Block {
            worker: 0,
            rows,
            columns: self.columns.iter_mut().map(ColumnEncoder::finish).collect(),
            new_names: Vec::new(),
            lines: BlockLines {
                rows,
                lines: self.lines.unwrap_or(rows as u64),
                extra: std::mem::take(&mut self.extra),
                none: self.lines.is_none(),
            },
            bytes: 0,
            fault,
        })?;
        self.lines = self.lines.map(|_| 0);
        Ok(())
    }
}
