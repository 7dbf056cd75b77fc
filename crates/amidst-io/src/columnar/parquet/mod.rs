//! Reads Parquet: all threads decode row groups, after [`verify`] has checked their sizes against the file.
//!
//! May use: `contain`, `error`, `format`, `limits`, `merge`, `pipeline`, `stream`, the rest of `columnar`, and what
//! those use.

mod delta;
mod thrift;
mod verify;

use std::path::Path;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::reader::ChunkReader;

use super::{BatchEncoder, check_types, names, short};
use crate::contain::contained;
use crate::error::ReadError;
use crate::format::Format;
use crate::merge::{Block, Merger};
use crate::stream::Settings;

/// Rows per batch.
const BATCH: usize = 32 << 10;

/// Reads a Parquet file. `open` opens it once for every row group, because threads must not share a file position.
pub(crate) fn read<T: ChunkReader + 'static>(
    path: &Path,
    open: impl Fn() -> Result<T, ReadError> + Sync,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let damaged = ReadError::damaged(path, Format::Parquet);
    let metadata = metadata(path, &open()?, damaged)?;
    let schema = Arc::clone(metadata.schema());
    let kept = merger.begin(path, names(&schema), 1)?;
    check_types(path, &schema, &kept)?;
    let metadata = contained(|| with_dictionaries(metadata, &schema)).map_err(damaged)?;
    let places: Vec<usize> = (0..kept.len()).filter(|&i| kept[i]).collect();
    let projection = ProjectionMask::roots(metadata.parquet_schema(), places.iter().copied());
    let groups = metadata.metadata().num_row_groups();
    let rows_before = merger.rows();
    let mut given = 0;

    let decode = |encoder: &mut BatchEncoder, group: usize| -> Result<Vec<Block>, ReadError> {
        check_pages(Arc::new(open()?), &metadata, group, &projection).map_err(damaged)?;
        let build = || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(open()?, metadata.clone())
                .with_projection(projection.clone())
                .with_row_groups(vec![group])
                .with_batch_size(BATCH)
                .build()
                .map_err(|e| damaged(reason(&e)))
        };
        let mut reader = contained(build).map_err(damaged)??;
        let mut blocks = Vec::new();
        loop {
            settings.check()?;
            // Dropping the batch may panic as well, so it happens inside.
            let block = contained(|| {
                let Some(batch) = reader.next() else { return Ok(None) };
                let batch = batch.map_err(|e| damaged(short(&e.to_string())))?;
                encoder.encode(path, &batch, &places).map(Some)
            });
            match block.map_err(damaged)?? {
                Some(block) => blocks.push(block),
                None => break,
            }
        }
        let told = metadata.metadata().row_group(group).num_rows();
        let whole = blocks.iter().all(|block| block.fault.is_none());
        if whole && blocks.iter().map(|block| block.rows as i64).sum::<i64>() != told {
            return Err(damaged("a row group has not as many rows as it says".to_string()));
        }
        settings.advance(u64::try_from(metadata.metadata().row_group(group).compressed_size()).unwrap_or(0));
        Ok(blocks)
    };
    crate::pipeline::run(
        settings.threads_for(groups < 2),
        |group: &mut usize| {
            *group = given;
            given += 1;
            Ok(*group < groups)
        },
        |worker| BatchEncoder::new(worker, places.len()),
        |encoder, group| decode(encoder, *group),
        |blocks| {
            for block in blocks? {
                merger.merge(block)?;
            }
            settings.check()?;
            Ok(merger.goes_on())
        },
    )?;
    merger.refuse_no_rows(path, rows_before)
}

/// The metadata of a file, checked against its size.
fn metadata<T: ChunkReader + 'static>(
    path: &Path,
    file: &T,
    damaged: impl Fn(String) -> ReadError,
) -> Result<ArrowReaderMetadata, ReadError> {
    if file.len() == 0 {
        return Err(ReadError::Empty { path: path.to_path_buf() });
    }
    verify::footer(file).map_err(&damaged)?;
    let metadata = contained(|| ArrowReaderMetadata::load(file, ArrowReaderOptions::new())).map_err(&damaged)?;
    let metadata = metadata.map_err(|e| damaged(reason(&e)))?;
    verify::rows(metadata.metadata(), file.len()).map_err(&damaged)?;
    Ok(metadata)
}

/// Checks the pages of the columns that are read in a row group.
fn check_pages<T: ChunkReader + 'static>(
    file: Arc<T>,
    metadata: &ArrowReaderMetadata,
    group: usize,
    projection: &ProjectionMask,
) -> Result<(), String> {
    let group = metadata.metadata().row_group(group);
    for (leaf, chunk) in group.columns().iter().enumerate() {
        if !projection.leaf_included(leaf) {
            continue;
        }
        let differences = verify::pages(file.as_ref(), chunk, group.num_rows())?;
        if differences {
            contained(|| delta::pages(Arc::clone(&file), chunk, group.num_rows()))??;
        }
    }
    Ok(())
}

/// Requests text columns as dictionaries, as most are stored; unchanged metadata if the reader refuses.
fn with_dictionaries(metadata: ArrowReaderMetadata, schema: &Schema) -> ArrowReaderMetadata {
    let hinted = schema.fields().iter().map(|field| match field.data_type() {
        kind @ (DataType::Utf8 | DataType::LargeUtf8) => {
            let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(kind.clone()));
            Arc::new(Field::new(field.name(), kind, field.is_nullable()))
        }
        _ => Arc::clone(field),
    });
    let hint = Arc::new(Schema::new_with_metadata(hinted.collect::<Vec<_>>(), schema.metadata().clone()));
    let options = ArrowReaderOptions::new().with_schema(hint);
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).unwrap_or(metadata)
}

fn reason(error: &parquet::errors::ParquetError) -> String {
    use parquet::errors::ParquetError;
    match error {
        ParquetError::EOF(reason) | ParquetError::General(reason) => short(reason),
        other => short(&other.to_string()),
    }
}
