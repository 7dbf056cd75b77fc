//! Reads Arrow IPC: the file format with a footer, and the stream format.
//!
//! Messages are located ([`layout`]) and checked against their own lengths ([`verify`]) before Arrow's decoder sees
//! them, because the decoder trusts stated lengths.
//!
//! May use: `contain`, `error`, `format`, `limits`, `merge`, `stream`, the rest of `columnar`, and what those use.

mod layout;
mod verify;

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::MetadataVersion;
use arrow_ipc::reader::FileDecoder;
use arrow_schema::{ArrowError, SchemaRef};

use super::{check_types, names, short};
use crate::contain::contained;
use crate::error::ReadError;
use crate::format::Format;
use crate::limits::Cells;
use crate::merge::Merger;
use crate::stream::{Settings, read_error};

use layout::{Kind, Message, Messages};

const CONTINUATION: [u8; 4] = [0xFF; 4];

const MAGIC: &[u8] = b"ARROW1";

/// Tables with more columns are decoded whole and projected afterwards: the decoder compares each column with each kept
/// one.
const PROJECTED: usize = 1000;

/// Why a file cannot be read: an I/O error, or what is wrong with the bytes.
enum Wrong {
    Io(std::io::Error),
    Bytes(String),
}

impl From<std::io::Error> for Wrong {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Wrong::Bytes("it ends early".to_string()),
            _ => Wrong::Io(error),
        }
    }
}

impl From<String> for Wrong {
    fn from(reason: String) -> Self {
        Wrong::Bytes(reason)
    }
}

impl From<ArrowError> for Wrong {
    fn from(error: ArrowError) -> Self {
        Wrong::Bytes(short(&error.to_string()))
    }
}

/// Reads Arrow IPC from the start of `reader`.
pub(crate) fn read(
    path: &Path,
    mut reader: impl Read + Seek + Send,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let size = reader.seek(SeekFrom::End(0)).map_err(|e| read_error(path, e))?;
    reader.rewind().map_err(|e| read_error(path, e))?;
    if size == 0 {
        return Err(ReadError::Empty { path: path.to_path_buf() });
    }
    let wrong = |wrong: Wrong| match wrong {
        Wrong::Io(error) => read_error(path, error),
        Wrong::Bytes(reason) => damaged(path, reason),
    };
    let buffered = BufReader::with_capacity(1 << 20, reader);
    let (schema, version, messages) = Messages::open(buffered, size).map_err(wrong)?;
    let kept = merger.begin(path, names(&schema), 1)?;
    check_types(path, &schema, &kept)?;
    let places: Vec<usize> = (0..kept.len()).filter(|&i| kept[i]).collect();
    let mut batches = Batches::new(messages, schema, version, &places);
    super::merge_batches(path, &places, settings, merger, || batches.next().map_err(wrong))
}

fn damaged(path: &Path, reason: String) -> ReadError {
    ReadError::Damaged { path: path.to_path_buf(), format: Format::Arrow.name(), reason }
}

/// The batches of a file or stream, in order, projected to the kept columns.
struct Batches<'p, R> {
    messages: Messages<R>,
    schema: SchemaRef,
    decoder: FileDecoder,
    /// The kept columns, if the decoder does not project itself.
    cut: Option<&'p [usize]>,
    deltas: usize,
    /// The cells so far.
    cells: Cells,
}

impl<'p, R: Read + Seek> Batches<'p, R> {
    fn new(messages: Messages<R>, schema: SchemaRef, version: MetadataVersion, places: &'p [usize]) -> Self {
        let whole = schema.fields().len() > PROJECTED;
        let decoder = FileDecoder::new(Arc::clone(&schema), version);
        let decoder = if whole { decoder } else { decoder.with_projection(places.to_vec()) };
        Batches { messages, schema, decoder, cut: whole.then_some(places), deltas: 0, cells: Cells::default() }
    }

    fn next(&mut self) -> Result<Option<RecordBatch>, Wrong> {
        while let Some(Message { kind, block, bytes }) = self.messages.next()? {
            match kind {
                Kind::Dictionary => {
                    verify::dictionary(&self.schema, &block, &bytes, &mut self.deltas)?;
                    contained(|| self.decoder.read_dictionary(&block, &bytes))??;
                }
                Kind::Batch => {
                    verify::batch(&self.schema, &block, &bytes, &mut self.cells)?;
                    let Some(batch) = contained(|| self.decoder.read_record_batch(&block, &bytes))?? else { continue };
                    let batch = match self.cut {
                        Some(places) => batch.project(places)?,
                        None => batch,
                    };
                    return Ok(Some(batch));
                }
            }
        }
        Ok(None)
    }
}
