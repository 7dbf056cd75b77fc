//! Rows that come one after the other → blocks of codes.

use std::path::Path;

use crate::encode::{BadCell, ColumnEncoder};
use crate::error::ReadError;
use crate::lines::BlockLines;
use crate::merge::{Block, Fault, FaultKind, Merger};
use crate::stream::Settings;

/// Rows of one block.
const ROWS: usize = 16 << 10;

/// The kept columns of a table whose rows come one by one.
pub(crate) struct Rows {
    columns: Vec<ColumnEncoder>,
    /// The position of each in the header.
    places: Vec<usize>,
    rows: usize,
    /// The rows that were there before.
    before: usize,
}

/// A cell that has no text.
pub(crate) struct Binary;

impl Rows {
    /// `kept` tells for each column of the header whether it is kept; `before`, how many rows were read before this
    /// table.
    pub fn new(kept: &[bool], before: usize) -> Self {
        let places: Vec<usize> = (0..kept.len()).filter(|&i| kept[i]).collect();
        Rows { columns: places.iter().map(|_| ColumnEncoder::default()).collect(), places, rows: 0, before }
    }

    /// Appends a row: `cell` gives a column of the header its text, in the buffer, and says whether it is null. Says
    /// whether to go on: not when as many rows have been read as were asked for.
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
                wrong = Some(Fault::new(self.rows as u64, Some(place), kind));
                break;
            }
        }
        if wrong.is_some() {
            // The error names the row, once those before it are merged.
            self.merge(settings, merger, wrong)?;
            return Ok(false);
        }
        self.rows += 1;
        if self.rows == ROWS || merger.rows() + self.rows >= merger.max_rows() {
            self.merge(settings, merger, None)?;
        }
        Ok(!merger.is_full())
    }

    /// Hands over what is left. A table at `place` without rows is an error.
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
            lines: BlockLines { rows, lines: rows as u64, extra: Vec::new(), none: true },
            bytes: 0,
            fault,
        })
    }
}
