//! Writes Parquet and Arrow IPC. Dictionaries of text columns hold only values of written rows: a value that was
//! recoded must not be in the file.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use amidst_core::table::Column;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int32Array, Int64Array, LargeStringArray,
    RecordBatch, StringArray,
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::typed::{Kind, days, kind};
use super::{Job, WriteError};
use crate::format::Format;

/// Rows per batch.
const BATCH: usize = 64 << 10;
/// Texts with more bytes need 64-bit offsets.
const NARROW_TEXT: usize = i32::MAX as usize;

/// The values of a column as an array, indexed by code.
enum Values {
    Text { values: ArrayRef, keys: Vec<i32> },
    Integer(Vec<Option<i64>>),
    Decimal(Vec<Option<f64>>),
    Date(Vec<Option<i32>>),
    Boolean(Vec<bool>),
}

impl Values {
    fn new(job: &Job<'_>, column: &Column) -> Values {
        let used = job.rows.used(column);
        let labels = || column.dictionary.iter();
        match kind(job, column, &used) {
            Kind::Integer => Values::Integer(labels().map(|l| l.parse().ok()).collect()),
            Kind::Decimal => Values::Decimal(labels().map(|l| l.parse().ok()).collect()),
            Kind::Date => Values::Date(labels().map(days).collect()),
            Kind::Boolean => Values::Boolean(labels().map(|l| l == "true").collect()),
            Kind::Text => {
                // In the order of first appearance: the order of the table's dictionary may depend on rows that are not
                // written.
                let codes = job.rows.first_seen(column);
                let kept = || codes.iter().map(|&code| column.dictionary.value(code));
                let values: ArrayRef = if kept().map(str::len).sum::<usize>() < NARROW_TEXT {
                    Arc::new(StringArray::from_iter_values(kept()))
                } else {
                    Arc::new(LargeStringArray::from_iter_values(kept()))
                };
                let mut keys = vec![0; used.len()];
                (0..).zip(&codes).for_each(|(key, &code)| keys[code as usize] = key);
                Values::Text { values, keys }
            }
        }
    }

    fn kind(&self) -> DataType {
        match self {
            Values::Text { values, .. } => {
                DataType::Dictionary(Box::new(DataType::Int32), Box::new(values.data_type().clone()))
            }
            Values::Integer(_) => DataType::Int64,
            Values::Decimal(_) => DataType::Float64,
            Values::Date(_) => DataType::Date32,
            Values::Boolean(_) => DataType::Boolean,
        }
    }

    fn nullable(&self) -> bool {
        !matches!(self, Values::Text { .. } | Values::Boolean(_))
    }

    fn pick(&self, codes: &[u32]) -> Result<ArrayRef, ArrowError> {
        Ok(match self {
            Values::Text { values, keys } => {
                let keys = Int32Array::from_iter_values(codes.iter().map(|&c| keys[c as usize]));
                Arc::new(DictionaryArray::<Int32Type>::try_new(keys, Arc::clone(values))?)
            }
            Values::Integer(values) => Arc::new(codes.iter().map(|&c| values[c as usize]).collect::<Int64Array>()),
            Values::Decimal(values) => Arc::new(codes.iter().map(|&c| values[c as usize]).collect::<Float64Array>()),
            Values::Date(values) => Arc::new(codes.iter().map(|&c| values[c as usize]).collect::<Date32Array>()),
            Values::Boolean(values) => {
                Arc::new(codes.iter().map(|&c| Some(values[c as usize])).collect::<BooleanArray>())
            }
        })
    }
}

/// The table as batches of arrays.
struct Batches<'a> {
    job: &'a Job<'a>,
    values: Vec<Values>,
    schema: SchemaRef,
}

impl<'a> Batches<'a> {
    fn new(job: &'a Job<'a>) -> Self {
        let columns = &job.table.columns;
        let values: Vec<Values> = columns.iter().map(|column| Values::new(job, column)).collect();
        let fields = columns.iter().zip(&values).map(|(c, v)| Field::new(&c.name, v.kind(), v.nullable()));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Batches { job, values, schema }
    }

    fn batch(&self, range: Range<usize>) -> Result<RecordBatch, ArrowError> {
        let mut codes = Vec::with_capacity(range.len());
        let arrays = self.job.table.columns.iter().zip(&self.values).map(|(column, values)| {
            codes.clear();
            self.job.rows.codes(&column.codes, range.clone(), &mut codes);
            values.pick(&codes)
        });
        RecordBatch::try_new(Arc::clone(&self.schema), arrays.collect::<Result<_, _>>()?)
    }

    /// Passes all batches to `write`, in order.
    fn each(
        &self,
        format: Format,
        mut write: impl FnMut(&RecordBatch) -> Result<(), ArrowError>,
    ) -> Result<(), WriteError> {
        let rows = self.job.rows.len();
        for start in (0..rows).step_by(BATCH) {
            let end = rows.min(start + BATCH);
            self.batch(start..end).and_then(|batch| write(&batch)).map_err(|e| failed(self.job, format, e))?;
            self.job.advance(end)?;
        }
        Ok(())
    }
}

fn failed(job: &Job<'_>, format: Format, error: ArrowError) -> WriteError {
    match error {
        ArrowError::IoError(_, source) => WriteError::io(job.path, source),
        other => WriteError::Format { path: job.path.to_path_buf(), format: format.name(), reason: other.to_string() },
    }
}

/// Writes an Arrow IPC file.
pub(crate) fn arrow(job: &Job<'_>, out: &mut (impl Write + Send)) -> Result<(), WriteError> {
    let batches = Batches::new(job);
    let failed = |e| failed(job, Format::Arrow, e);
    let mut writer = FileWriter::try_new_buffered(out, &batches.schema).map_err(failed)?;
    batches.each(Format::Arrow, |batch| writer.write(batch))?;
    writer.finish().map_err(failed)?;
    writer.get_mut().flush().map_err(|e| WriteError::io(job.path, e))
}

/// Writes a Parquet file.
pub(crate) fn parquet(job: &Job<'_>, out: &mut (impl Write + Send)) -> Result<(), WriteError> {
    let batches = Batches::new(job);
    let failed = |e: parquet::errors::ParquetError| failed(job, Format::Parquet, e.into());
    // Statistics would repeat values outside the rows; the checker refuses them.
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .build();
    let mut writer = ArrowWriter::try_new(out, Arc::clone(&batches.schema), Some(properties)).map_err(failed)?;
    batches.each(Format::Parquet, |batch| writer.write(batch).map_err(ArrowError::from))?;
    writer.close().map_err(failed)?;
    Ok(())
}
