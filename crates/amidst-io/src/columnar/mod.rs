//! Reads Parquet and Arrow IPC: columns of typed arrays, converted to text cells.
//!
//! May use: `contain`, `encode`, `error`, `format`, `limits`, `lines`, `merge`, `pipeline`, `stream`, and what those
//! use.

mod cells;
mod ipc;
mod number;
mod parquet;

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema, SchemaRef};

use crate::contain::contained;
use crate::encode::ColumnEncoder;
use crate::error::ReadError;
use crate::format::Format;
use crate::lines::BlockLines;
use crate::merge::{Block, Fault, FaultKind, Merger};
use crate::stream::Settings;

use cells::BadArray;

pub(crate) use ipc::read as read_ipc;
pub(crate) use number::{canonical_number, float32, float64};
pub(crate) use parquet::read as read_parquet;

/// The names of a schema's columns.
fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|f| f.name().clone()).collect()
}

/// Fails for the first kept column whose cells are not single values.
fn check_types(path: &Path, schema: &Schema, kept: &[bool]) -> Result<(), ReadError> {
    let mut fields = schema.fields().iter().zip(kept).filter(|(_, kept)| **kept).map(|(field, _)| field);
    match fields.find(|field| !is_scalar(field.data_type())) {
        None => Ok(()),
        Some(field) => Err(ReadError::UnsupportedType {
            path: path.to_path_buf(),
            column: field.name().clone(),
            kind: type_name(field.data_type()),
        }),
    }
}

/// The name of a type, without its parameters.
fn type_name(kind: &DataType) -> String {
    let name = kind.to_string();
    name.split(['(', '<', '{', '[']).next().unwrap_or_default().trim().to_string()
}

fn is_scalar(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => !matches!(**values, DataType::Dictionary(..)) && is_scalar(values),
        DataType::List(_)
        | DataType::ListView(_)
        | DataType::LargeList(_)
        | DataType::LargeListView(_)
        | DataType::FixedSizeList(..)
        | DataType::Struct(_)
        | DataType::Union(..)
        | DataType::Map(..)
        | DataType::RunEndEncoded(..) => false,
        _ => true,
    }
}

/// The first line of an error message, shortened.
fn short(reason: &str) -> String {
    reason.lines().next().unwrap_or_default().chars().take(160).collect()
}

/// Encodes batches on all threads and merges them in order. `next` returns batches of exactly the kept columns, whose
/// positions in the file are `places`.
fn merge_batches(
    path: &Path,
    places: &[usize],
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
    mut next: impl FnMut() -> Result<Option<RecordBatch>, ReadError> + Send,
) -> Result<(), ReadError> {
    let rows_before = merger.rows();
    let empty = || RecordBatch::new_empty(SchemaRef::new(Schema::empty()));
    let damaged = ReadError::damaged(path, Format::Arrow);
    crate::pipeline::run(
        settings.threads,
        |job: &mut Option<RecordBatch>| {
            settings.check()?;
            *job = next()?;
            Ok(job.is_some())
        },
        |worker| BatchEncoder::new(worker, places.len()),
        |encoder, job| {
            let batch = job.take().unwrap_or_else(empty);
            contained(|| encoder.encode(path, &batch, places)).unwrap_or_else(|reason| Err(damaged(reason)))
        },
        |block| {
            merger.merge(block?)?;
            settings.check()?;
            Ok(merger.goes_on())
        },
    )?;
    merger.refuse_no_rows(path, rows_before)
}

/// Reads record batches in memory; `name` is their name in messages.
pub(crate) fn read_batches(
    name: &Path,
    schema: &Schema,
    batches: &mut (dyn Iterator<Item = RecordBatch> + Send),
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let kept = merger.begin(name, names(schema), 1)?;
    check_types(name, schema, &kept)?;
    let places: Vec<usize> = (0..kept.len()).filter(|&i| kept[i]).collect();
    let damaged = ReadError::damaged(name, Format::Arrow);
    let failed = |reason: &dyn std::fmt::Display| damaged(short(&reason.to_string()));
    merge_batches(name, &places, settings, merger, || {
        let Some(batch) = batches.next() else { return Ok(None) };
        if batch.schema().fields().len() != schema.fields().len() {
            return Err(failed(&"a batch has other columns than the schema"));
        }
        batch.project(&places).map(Some).map_err(|e| failed(&e))
    })
}

/// The state of one thread that encodes batches.
struct BatchEncoder {
    worker: usize,
    columns: Vec<ColumnEncoder>,
}

impl BatchEncoder {
    fn new(worker: usize, kept: usize) -> Self {
        BatchEncoder { worker, columns: (0..kept).map(|_| ColumnEncoder::default()).collect() }
    }

    /// Encodes a batch of exactly the kept columns, whose positions in the file are `places`.
    fn encode(&mut self, path: &Path, batch: &RecordBatch, places: &[usize]) -> Result<Block, ReadError> {
        let mut fault: Option<Fault> = None;
        let mut rows = batch.num_rows();
        for (i, ((encoder, array), &place)) in self.columns.iter_mut().zip(batch.columns()).zip(places).enumerate() {
            match cells::encode(array.as_ref(), encoder) {
                Ok(()) => {}
                Err(BadArray::Cell(row, bad)) => {
                    if row < rows {
                        rows = row;
                        fault = Some(Fault::new(row as u64, Some(place), FaultKind::Cell(bad)));
                    }
                }
                Err(BadArray::TooLong(row)) => {
                    if row < rows {
                        rows = row;
                        fault = Some(Fault::new(row as u64, Some(place), FaultKind::TooLong { quoted: false }));
                    }
                }
                Err(BadArray::Unsupported) => {
                    return Err(ReadError::UnsupportedType {
                        path: path.to_path_buf(),
                        column: batch.schema_ref().field(i).name().clone(),
                        kind: type_name(array.data_type()),
                    });
                }
            }
        }
        self.columns.iter_mut().for_each(|c| c.truncate(rows));
        Ok(Block {
            worker: self.worker,
            rows,
            columns: self.columns.iter_mut().map(ColumnEncoder::finish).collect(),
            new_names: Vec::new(),
            lines: BlockLines { rows, lines: rows as u64, extra: Vec::new(), none: true },
            bytes: 0,
            fault,
        })
    }
}
