//! Converts arrays to text cells. Nulls stay nulls, booleans are `true` and `false`, dates and times ISO 8601, numbers
//! have one form.

use std::collections::HashMap;
use std::fmt::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{ByteArrayType, ByteViewType, Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, GenericByteArray, GenericByteViewArray};
use arrow_buffer::ArrowNativeType;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;

use super::number::{float32, float64};
use crate::encode::{BadCell, ColumnEncoder};
use crate::limits::FIELD_LIMIT;

/// Minimum of the limit on the bytes of a view column's cells in a batch.
const VIEWED: usize = 64 << 20;

/// Why an array could not be encoded.
pub(crate) enum BadArray {
    /// The cell in this row is not text.
    Cell(usize, BadCell),
    /// The cell in this row is longer than a cell may be.
    TooLong(usize),
    /// The type has no text form.
    Unsupported,
}

/// Fails when a cell is too long.
fn short_enough(row: usize, length: usize) -> Result<(), BadArray> {
    if length > FIELD_LIMIT { Err(BadArray::TooLong(row)) } else { Ok(()) }
}

/// Appends the cells of `array`, up to the first bad one.
pub(crate) fn encode(array: &dyn Array, encoder: &mut ColumnEncoder) -> Result<(), BadArray> {
    match array.data_type() {
        DataType::Utf8 => bytes(array.as_string::<i32>(), encoder),
        DataType::LargeUtf8 => bytes(array.as_string::<i64>(), encoder),
        DataType::Binary => bytes(array.as_binary::<i32>(), encoder),
        DataType::LargeBinary => bytes(array.as_binary::<i64>(), encoder),
        DataType::Utf8View => views(array.as_string_view(), encoder),
        DataType::BinaryView => views(array.as_binary_view(), encoder),
        DataType::Dictionary(..) => dictionary(array, encoder),
        DataType::Null => {
            (0..array.len()).for_each(|_| encoder.push_null());
            Ok(())
        }
        DataType::Boolean => {
            let values = array.as_boolean();
            each(array, encoder, |row, text| put(text, if values.value(row) { "true" } else { "false" }))
        }
        DataType::Float16 => {
            let values = array.as_primitive::<Float16Type>();
            each(array, encoder, |row, text| put(text, &float32(values.value(row).to_f32())))
        }
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>();
            each(array, encoder, |row, text| put(text, &float32(values.value(row))))
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>();
            each(array, encoder, |row, text| put(text, &float64(values.value(row))))
        }
        kind => {
            let options = FormatOptions::default();
            let formatter = ArrayFormatter::try_new(array, &options).map_err(|_| BadArray::Unsupported)?;
            let decimal = kind.is_decimal();
            each(array, encoder, |row, text| {
                formatter.value(row).write(text).map_err(|_| BadArray::Unsupported)?;
                if decimal && text.contains('.') {
                    text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
                }
                Ok(())
            })
        }
    }
}

fn put(text: &mut String, value: &str) -> Result<(), BadArray> {
    text.write_str(value).map_err(|_| BadArray::Unsupported)
}

/// Appends every cell as formatted by `format`.
fn each(
    array: &dyn Array,
    encoder: &mut ColumnEncoder,
    mut format: impl FnMut(usize, &mut String) -> Result<(), BadArray>,
) -> Result<(), BadArray> {
    let mut text = String::new();
    for row in 0..array.len() {
        if array.is_null(row) {
            encoder.push_null();
            continue;
        }
        text.clear();
        format(row, &mut text)?;
        encoder.push(text.as_bytes(), 0, text.len()).map_err(|bad| BadArray::Cell(row, bad))?;
    }
    Ok(())
}

fn bytes<T: ByteArrayType>(array: &GenericByteArray<T>, encoder: &mut ColumnEncoder) -> Result<(), BadArray> {
    let data = array.value_data();
    // Offsets in a thread's text have 32 bits.
    if data.len() > u32::MAX as usize / 2 {
        return Err(BadArray::TooLong(0));
    }
    for (row, ends) in array.value_offsets().windows(2).enumerate() {
        // Passing an offset into the whole text allows the encoder to read whole words beyond the value's end.
        if array.is_null(row) {
            encoder.push_null();
            continue;
        }
        let (start, end) = (ends[0].as_usize(), ends[1].as_usize());
        short_enough(row, end - start)?;
        encoder.push(data, start, end - start).map_err(|bad| BadArray::Cell(row, bad))?;
    }
    Ok(())
}

fn views<T: ByteViewType>(array: &GenericByteViewArray<T>, encoder: &mut ColumnEncoder) -> Result<(), BadArray> {
    // Views may share bytes, so the cells of a batch can be many times as long as the batch.
    let buffers: usize = array.data_buffers().iter().map(|buffer| buffer.len()).sum();
    let mut left = VIEWED.max(buffers.saturating_mul(64));
    for row in 0..array.len() {
        if array.is_null(row) {
            encoder.push_null();
            continue;
        }
        let value: &[u8] = array.value(row).as_ref();
        short_enough(row, value.len())?;
        left = left.checked_sub(value.len()).ok_or(BadArray::TooLong(row))?;
        encoder.push(value, 0, value.len()).map_err(|bad| BadArray::Cell(row, bad))?;
    }
    Ok(())
}

/// Each value of the dictionary is encoded when a row first uses it; its code is then reused.
fn dictionary(array: &dyn Array, encoder: &mut ColumnEncoder) -> Result<(), BadArray> {
    let Some(dictionary) = array.as_any_dictionary_opt() else { return Err(BadArray::Unsupported) };
    let values = dictionary.values();
    if values.is_empty() {
        (0..array.len()).for_each(|_| encoder.push_null());
        return Ok(());
    }
    let keys = dictionary.normalized_keys();
    let mut known = Known::new(values.len(), keys.len());
    for (row, key) in keys.into_iter().enumerate() {
        if array.is_null(row) {
            encoder.push_null();
            continue;
        }
        match known.get(key) {
            Some(code) => encoder.push_code(code),
            None => {
                encode(values.slice(key, 1).as_ref(), encoder).map_err(|bad| match bad {
                    BadArray::Cell(_, bad) => BadArray::Cell(row, bad),
                    BadArray::TooLong(_) => BadArray::TooLong(row),
                    other => other,
                })?;
                if let Some(code) = encoder.last_code() {
                    known.set(key, code);
                }
            }
        }
    }
    Ok(())
}

/// The codes of a dictionary's values, as far as rows have used them. Many small batches may share a large dictionary.
enum Known {
    All(Vec<Option<u32>>),
    Some(HashMap<usize, u32>),
}

impl Known {
    fn new(values: usize, rows: usize) -> Self {
        if values / 8 > rows { Known::Some(HashMap::new()) } else { Known::All(vec![None; values]) }
    }

    fn get(&self, key: usize) -> Option<u32> {
        match self {
            Known::All(codes) => codes[key],
            Known::Some(codes) => codes.get(&key).copied(),
        }
    }

    fn set(&mut self, key: usize, code: u32) {
        match self {
            Known::All(codes) => codes[key] = Some(code),
            Known::Some(codes) => drop(codes.insert(key, code)),
        }
    }
}
