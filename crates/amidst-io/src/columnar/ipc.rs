//! Arrow IPC, both kinds: the file with a footer and the stream without.

use std::io::{BufReader, Read, Seek};
use std::ops::ControlFlow;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};

use super::{BatchEncoder, check_types, names, short};
use crate::error::ReadError;
use crate::format::Format;
use crate::merge::Merger;
use crate::stream::{Settings, read_error};

const MAGIC: &[u8] = b"ARROW1";

/// Reads Arrow IPC from the start of `reader`.
pub(crate) fn read(
    path: &Path,
    mut reader: impl Read + Seek + Send,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let mut magic = Vec::new();
    reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(|e| read_error(path, e))?;
    reader.rewind().map_err(|e| read_error(path, e))?;
    if magic.is_empty() {
        return Err(ReadError::Empty { path: path.to_path_buf() });
    }
    let damaged = |e: ArrowError| damaged(path, &e);
    let buffered = BufReader::with_capacity(1 << 20, reader);
    if magic == MAGIC {
        let reader = FileReader::try_new(buffered, None).map_err(damaged)?;
        batches(path, reader.schema(), reader, settings, merger)
    } else {
        let reader = StreamReader::try_new(buffered, None).map_err(damaged)?;
        batches(path, reader.schema(), reader, settings, merger)
    }
}

fn damaged(path: &Path, error: &ArrowError) -> ReadError {
    ReadError::Damaged { path: path.to_path_buf(), format: Format::Arrow.name(), reason: short(&error.to_string()) }
}

/// Batches are decoded in order and encoded by all threads.
fn batches(
    path: &Path,
    schema: SchemaRef,
    mut reader: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let kept = merger.begin(path, names(&schema), 1)?;
    check_types(path, &schema, &kept)?;
    let places: Vec<usize> = (0..kept.len()).filter(|&i| kept[i]).collect();
    let rows_before = merger.rows();
    let empty = || RecordBatch::new_empty(SchemaRef::new(Schema::empty()));
    crate::pipeline::run(
        settings.threads,
        |job: &mut Option<RecordBatch>| match reader.next() {
            None => Ok(false),
            Some(batch) => {
                let batch = batch.map_err(|e| damaged(path, &e))?;
                *job = Some(batch.project(&places).map_err(|e| damaged(path, &e))?);
                Ok(true)
            }
        },
        |worker| BatchEncoder::new(worker, places.len()),
        |encoder, job| encoder.encode(path, &job.take().unwrap_or_else(empty), &places),
        |block| {
            merger.merge(block?)?;
            settings.check()?;
            Ok(if merger.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        },
    )?;
    if merger.rows() == rows_before && !merger.is_full() {
        return Err(ReadError::NoRows { path: path.to_path_buf() });
    }
    Ok(())
}
