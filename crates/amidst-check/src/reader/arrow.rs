//! Checks the form of an Arrow IPC file: a sequence of messages that the footer lists, with bytes that follow from the
//! cells alone.
//!
//! The footer lists batches and can leave some out; buffers can be longer than their values, hold bytes under nulls, or
//! list dictionary entries without a row. The messages are therefore walked first, every length being checked against
//! the file before anything is allocated. Then every batch is rebuilt from its cells, written again and compared with
//! the file byte by byte.

use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int32Array, Int64Array,
    LargeStringArray, RecordBatch, StringArray,
};
use arrow_ipc::writer::FileWriter;
use arrow_ipc::{Block, MessageHeader, RecordBatch as Batch, root_as_footer, root_as_message};
use arrow_schema::{DataType, Schema};

use super::limits;
use super::pages::ordinary;
use crate::content::{Content, Opened};

const MAGIC: &[u8; 6] = b"ARROW1";

/// The largest message header and the largest footer, in bytes.
const LARGEST: u64 = 256 << 20;

/// The first message begins at or before this offset; padding before it is zero.
const LONGEST_START: u64 = 64;

/// Walks the messages of a file; an error says how it differs from the form of releases.
pub(crate) fn walk(path: &Content) -> Result<(), String> {
    let mut file = BufReader::new(path.open().map_err(|e| e.to_string())?);
    let length = file.get_ref().length().map_err(|e| e.to_string())?;
    let footer_end = length.checked_sub(10).filter(|&end| end >= 16).ok_or("it is cut off")?;
    if take(&mut file, 8)? != b"ARROW1\0\0" {
        return Err("it is no Arrow IPC file".into());
    }
    let (mut at, mut dictionaries, mut batches, mut schema) = (8u64, Vec::new(), Vec::new(), false);
    loop {
        let head = take(&mut file, 8)?;
        if !schema && at < LONGEST_START && head == [0; 8] {
            at += 8;
            continue;
        }
        let (mark, size) = head.split_at(4);
        let size = u64::from(u32::from_le_bytes([size[0], size[1], size[2], size[3]]));
        if mark != [0xff; 4] || at + 8 + size > footer_end || size > LARGEST {
            return Err("a message is damaged".into());
        }
        if size == 0 {
            at += 8;
            break;
        }
        let bytes = take(&mut file, size)?;
        let message = root_as_message(&bytes).map_err(|_| "a message is damaged")?;
        let body = u64::try_from(message.bodyLength()).map_err(|_| "a message is damaged")?;
        let end = (at + 8 + size).checked_add(body).filter(|&end| end <= footer_end).ok_or("a message is cut off")?;
        let place = (at, 8 + size, body);
        match message.header_type() {
            MessageHeader::Schema if !schema && body == 0 => schema = true,
            MessageHeader::DictionaryBatch if schema => {
                let inner = message.header_as_dictionary_batch().and_then(|d| d.data());
                fits(inner.ok_or("a message is damaged")?, body)?;
                dictionaries.push(place);
            }
            MessageHeader::RecordBatch if schema => {
                fits(message.header_as_record_batch().ok_or("a message is damaged")?, body)?;
                batches.push(place);
            }
            _ => return Err("a message is of a kind that releases do not use".into()),
        }
        file.seek_relative(body as i64).map_err(|e| e.to_string())?;
        at = end;
    }
    let footer = take(&mut file, footer_end - at)?;
    let tail = take(&mut file, 10)?;
    if footer.len() as u64 > LARGEST || tail[..4] != (footer.len() as u32).to_le_bytes() || tail[4..] != *MAGIC {
        return Err("there are bytes before its footer that belong to no message".into());
    }
    let footer = root_as_footer(&footer).map_err(|_| "its footer is damaged")?;
    let place = |block: &Block| (block.offset() as u64, block.metaDataLength() as u64, block.bodyLength() as u64);
    let listed = |blocks: Option<Vec<(u64, u64, u64)>>, own: &[(u64, u64, u64)]| blocks.unwrap_or_default() == own;
    let same = listed(footer.dictionaries().map(|list| list.iter().map(place).collect()), &dictionaries)
        && listed(footer.recordBatches().map(|list| list.iter().map(place).collect()), &batches);
    if same { Ok(()) } else { Err("its footer does not list the batches that it holds".into()) }
}

fn take(file: &mut impl Read, length: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err("it is cut off".into()) }
}

/// Whether a batch states no more cells and bytes than its body holds.
fn fits(batch: Batch<'_>, body: u64) -> Result<(), String> {
    let most = (body + 1).saturating_mul(8);
    let small = |n: i64| u64::try_from(n).is_ok_and(|n| n <= most);
    let inside = |offset: i64, length: i64| {
        let (Ok(offset), Ok(length)) = (u64::try_from(offset), u64::try_from(length)) else { return false };
        offset.checked_add(length).is_some_and(|end| end <= body)
    };
    let nodes = batch.nodes().is_none_or(|nodes| nodes.iter().all(|n| small(n.length()) && small(n.null_count())));
    // Every cell takes at least one bit, and columns share none.
    let cells = batch.nodes().into_iter().flatten().map(|n| n.length().unsigned_abs());
    let cells = cells.fold(0u64, u64::saturating_add) <= most;
    let buffers = batch.buffers().is_none_or(|list| list.iter().all(|b| inside(b.offset(), b.length())));
    if batch.compression().is_some() || batch.variadicBufferCounts().is_some() {
        return Err("a batch is compressed, or of a type that releases do not use".into());
    }
    if nodes && cells && buffers && small(batch.length()) {
        Ok(())
    } else {
        Err("a batch asks for more than it holds".into())
    }
}

/// Writes batches again and compares the bytes with the file.
pub(crate) struct Rewriter {
    writer: FileWriter<Comparison>,
    /// For columns with a dictionary, which entries occur in rows.
    used: Vec<Option<Vec<bool>>>,
}

impl Rewriter {
    pub(crate) fn new(path: &Content, schema: &Schema) -> Result<Rewriter, String> {
        if schema.fields().len() > limits::COLUMNS {
            return Err("it has too many columns".into());
        }
        // Rewriting would reproduce the metadata of the schema and its fields, so the comparison of bytes does not find
        // it.
        if !schema.metadata().is_empty() || schema.fields().iter().any(|field| !field.metadata().is_empty()) {
            return Err("it carries notes beside the rows".into());
        }
        for field in schema.fields() {
            if !releases_use(field.data_type()) {
                return Err(format!("the column \"{}\" has a type that releases do not use", field.name()));
            }
        }
        let file = path.open().map_err(|e| e.to_string())?;
        let comparison =
            Comparison { file: BufReader::with_capacity(1 << 18, file), buffer: Vec::new(), differs: false };
        let writer = FileWriter::try_new(comparison, schema).map_err(|e| e.to_string())?;
        Ok(Rewriter { writer, used: vec![None; schema.fields().len()] })
    }

    /// Compares the next batch.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), String> {
        let columns = batch.columns().iter().zip(&mut self.used).map(|(column, used)| anew(column, used));
        let columns = columns.collect::<Result<Vec<ArrayRef>, String>>()?;
        let again = RecordBatch::try_new(batch.schema(), columns).map_err(|e| e.to_string())?;
        self.writer.write(&again).map_err(|e| e.to_string())?;
        self.same()
    }

    /// To be called after the last batch: compares the footer, and that the file ends after it.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        if self.used.iter().flatten().any(|used| used.contains(&false)) {
            return Err("a dictionary holds a value that no row has".into());
        }
        self.writer.finish().map_err(|e| e.to_string())?;
        self.same()?;
        let file = &mut self.writer.get_mut().file;
        let here = file.stream_position().map_err(|e| e.to_string())?;
        let end = file.seek(SeekFrom::End(0)).map_err(|e| e.to_string())?;
        if here == end { Ok(()) } else { Err(different()) }
    }

    fn same(&mut self) -> Result<(), String> {
        if self.writer.get_ref().differs { Err(different()) } else { Ok(()) }
    }
}

fn different() -> String {
    "its bytes are not those that follow from its cells: it says more, or says it in another way".into()
}

fn releases_use(kind: &DataType) -> bool {
    match kind {
        DataType::Int64 | DataType::Float64 | DataType::Date32 | DataType::Boolean => true,
        DataType::Dictionary(key, value) => {
            **key == DataType::Int32 && matches!(**value, DataType::Utf8 | DataType::LargeUtf8)
        }
        _ => false,
    }
}

/// The same cells in new buffers. `used` records which dictionary entries occur.
fn anew(column: &ArrayRef, used: &mut Option<Vec<bool>>) -> Result<ArrayRef, String> {
    Ok(match column.data_type() {
        DataType::Int64 => Arc::new(column.as_primitive::<Int64Type>().iter().collect::<Int64Array>()),
        DataType::Date32 => Arc::new(column.as_primitive::<Date32Type>().iter().collect::<Date32Array>()),
        DataType::Boolean => Arc::new(column.as_boolean().iter().collect::<BooleanArray>()),
        DataType::Float64 => {
            let numbers = column.as_primitive::<Float64Type>();
            if !numbers.iter().flatten().all(ordinary) {
                return Err("a number is not finite, or a zero with a sign".into());
            }
            Arc::new(numbers.iter().collect::<Float64Array>())
        }
        _ => {
            let texts = column.as_dictionary::<Int32Type>();
            let values = fresh_texts(texts.values(), used)?;
            let used = used.get_or_insert_default();
            let mut keys = Vec::with_capacity(texts.len());
            for key in texts.keys() {
                let key = key.ok_or("a text is null")?;
                match usize::try_from(key).ok().and_then(|key| used.get_mut(key)) {
                    Some(used) => *used = true,
                    None => return Err("a text refers to a dictionary entry that is not there".into()),
                }
                keys.push(key);
            }
            let keys = Int32Array::from_iter_values(keys);
            Arc::new(DictionaryArray::<Int32Type>::try_new(keys, values).map_err(|e| e.to_string())?)
        }
    })
}

/// The values of a dictionary in new buffers. On first use they must be distinct.
fn fresh_texts(values: &ArrayRef, used: &mut Option<Vec<bool>>) -> Result<ArrayRef, String> {
    if values.null_count() > 0 {
        return Err("a dictionary holds null".into());
    }
    let texts: Vec<&str> = match values.data_type() {
        DataType::Utf8 => values.as_string::<i32>().iter().flatten().collect(),
        _ => values.as_string::<i64>().iter().flatten().collect(),
    };
    if used.is_none() {
        let distinct: std::collections::HashSet<&str> = texts.iter().copied().collect();
        if distinct.len() != texts.len() {
            return Err("a dictionary holds a value twice".into());
        }
        *used = Some(vec![false; texts.len()]);
    }
    Ok(match values.data_type() {
        DataType::Utf8 => Arc::new(StringArray::from_iter_values(texts)),
        _ => Arc::new(LargeStringArray::from_iter_values(texts)),
    })
}

/// A writer that compares what is written with the file.
struct Comparison {
    file: BufReader<Opened>,
    buffer: Vec<u8>,
    differs: bool,
}

impl Write for Comparison {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if !self.differs {
            self.buffer.clear();
            (&mut self.file).take(bytes.len() as u64).read_to_end(&mut self.buffer)?;
            self.differs = self.buffer != bytes;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
