//! Finds the messages of an Arrow file or stream, by its footer or their own lengths, checked against its size.
//!
//! No byte is read twice: blocks listed in a footer must not overlap, so that a small file cannot stand for a large
//! table.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_buffer::Buffer;
use arrow_ipc::{Block, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::SchemaRef;

use super::verify::{self, metadata};
use super::{CONTINUATION, MAGIC, Wrong};

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Dictionary,
    Batch,
}

/// A message with its body.
pub(super) struct Message {
    pub kind: Kind,
    /// Lengths of metadata and body; the offset is 0, the start of `bytes`.
    pub block: Block,
    pub bytes: Buffer,
}

/// The messages after the schema.
pub(super) struct Messages<R> {
    reader: R,
    /// Size of the whole file.
    size: u64,
    /// The blocks listed in the footer, in reverse order; `None` for a stream.
    listed: Option<Vec<(Kind, Block)>>,
    /// The offset of the next message of a stream.
    at: u64,
}

fn bad<T>(reason: &str) -> Result<T, Wrong> {
    Err(Wrong::Bytes(reason.to_string()))
}

impl<R: Read + Seek> Messages<R> {
    /// Reads the schema and finds the messages. `size` is that of the file, at whose start the reader is.
    pub fn open(mut reader: R, size: u64) -> Result<(SchemaRef, MetadataVersion, Self), Wrong> {
        let mut start = vec![0; MAGIC.len().min(usize::try_from(size).unwrap_or(usize::MAX))];
        reader.read_exact(&mut start)?;
        reader.rewind()?;
        if start == MAGIC { Self::file(reader, size) } else { Self::stream(reader, size) }
    }

    fn file(mut reader: R, size: u64) -> Result<(SchemaRef, MetadataVersion, Self), Wrong> {
        // The file ends with the length of the footer (four bytes) and the magic; it begins with the padded magic.
        let Some(end) = size.checked_sub(4 + MAGIC.len() as u64).filter(|&end| end >= 8) else {
            return bad("it ends early");
        };
        reader.seek(SeekFrom::Start(end))?;
        let mut tail = [0; 10];
        reader.read_exact(&mut tail)?;
        if &tail[4..] != MAGIC {
            return bad("it has no footer at its end");
        }
        let length = i32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
        let Some(from) = u64::try_from(length).ok().and_then(|l| end.checked_sub(l)).filter(|&from| from >= 8) else {
            return bad("its footer is said to be longer than the file");
        };
        reader.seek(SeekFrom::Start(from))?;
        let footer = exactly(&mut reader, end - from)?;
        let Ok(footer) = root_as_footer(&footer) else { return bad("its footer cannot be understood") };
        let Some(declared) = footer.schema() else { return bad("its footer has no schema") };
        let schema = Arc::new(verify::schema(declared)?);
        let dictionaries = footer.dictionaries().into_iter().flatten().map(|b| (Kind::Dictionary, *b));
        let batches = footer.recordBatches().into_iter().flatten().map(|b| (Kind::Batch, *b));
        let mut listed: Vec<(Kind, Block)> = dictionaries.chain(batches).collect();
        check_places(&listed, from)?;
        listed.reverse();
        Ok((schema, footer.version(), Messages { reader, size, listed: Some(listed), at: 0 }))
    }

    fn stream(reader: R, size: u64) -> Result<(SchemaRef, MetadataVersion, Self), Wrong> {
        let mut messages = Messages { reader, size, listed: None, at: 0 };
        let Some((head, _)) = messages.head()? else { return bad("it starts with the end of a stream") };
        let Ok(message) = root_as_message(metadata(&head)) else {
            return bad("it starts neither as an Arrow file nor as a stream");
        };
        let Some(declared) = message.header_as_schema() else { return bad("it does not start with a schema") };
        if message.bodyLength() != 0 {
            return bad("its schema has a body");
        }
        Ok((Arc::new(verify::schema(declared)?), message.version(), messages))
    }

    /// The next dictionary or record batch; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Message>, Wrong> {
        if self.listed.is_some() { self.next_listed() } else { self.next_streamed() }
    }

    fn next_listed(&mut self) -> Result<Option<Message>, Wrong> {
        let Some((kind, block)) = self.listed.as_mut().and_then(Vec::pop) else { return Ok(None) };
        self.reader.seek(SeekFrom::Start(block.offset().unsigned_abs()))?;
        let length = u64::from(block.metaDataLength().unsigned_abs()) + block.bodyLength().unsigned_abs();
        let bytes = exactly(&mut self.reader, length)?;
        let block = Block::new(0, block.metaDataLength(), block.bodyLength());
        Ok(Some(Message { kind, block, bytes: Buffer::from_vec(bytes) }))
    }

    fn next_streamed(&mut self) -> Result<Option<Message>, Wrong> {
        let Some((mut bytes, length)) = self.head()? else { return Ok(None) };
        let Ok(message) = root_as_message(metadata(&bytes)) else {
            return bad("the head of a message cannot be understood");
        };
        let kind = match message.header_type() {
            MessageHeader::DictionaryBatch => Kind::Dictionary,
            MessageHeader::RecordBatch => Kind::Batch,
            MessageHeader::Schema => return bad("it has a second schema"),
            _ => return bad("it has a message that is no batch"),
        };
        let body = message.bodyLength();
        let left = self.size.saturating_sub(self.at);
        let Some(size) = u64::try_from(body).ok().filter(|&size| size <= left) else {
            return bad("a batch is said to be longer than the file");
        };
        let more = exactly(&mut self.reader, size)?;
        bytes.extend_from_slice(&more);
        self.at += size;
        Ok(Some(Message { kind, block: Block::new(0, length, body), bytes: Buffer::from_vec(bytes) }))
    }

    /// The header of the next message of a stream, with the bytes of its length, and the length of both.
    fn head(&mut self) -> Result<Option<(Vec<u8>, i32)>, Wrong> {
        let mut left = self.size.saturating_sub(self.at);
        let mut head = Vec::new();
        // A stream may end without an end marker.
        if left == 0 {
            return Ok(None);
        }
        let mut word = [0; 4];
        self.reader.read_exact(&mut word)?;
        head.extend_from_slice(&word);
        if word == CONTINUATION {
            self.reader.read_exact(&mut word)?;
            head.extend_from_slice(&word);
        }
        left = left.saturating_sub(head.len() as u64);
        let length = i32::from_le_bytes(word);
        if length == 0 {
            return Ok(None);
        }
        let Some(size) = u64::try_from(length).ok().filter(|&size| size <= left) else {
            return bad("the head of a message is said to be longer than the file");
        };
        let metadata = exactly(&mut self.reader, size)?;
        head.extend_from_slice(&metadata);
        self.at += head.len() as u64;
        match i32::try_from(head.len()) {
            Ok(length) => Ok(Some((head, length))),
            Err(_) => bad("the head of a message is too long"),
        }
    }
}

/// Reads exactly `length` bytes, allocating as they arrive.
fn exactly(reader: &mut impl Read, length: u64) -> Result<Vec<u8>, Wrong> {
    // The length has been checked against the size of the file.
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(64 << 20)).unwrap_or_default());
    reader.by_ref().take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { bad("it ends early") }
}

/// Fails unless all blocks lie between the start of the file and its footer and do not overlap.
fn check_places(listed: &[(Kind, Block)], end: u64) -> Result<(), Wrong> {
    let mut places = Vec::with_capacity(listed.len());
    for (_, block) in listed {
        let number = |n: i64| u64::try_from(n).ok();
        let place = number(block.offset()).zip(number(block.metaDataLength().into())).zip(number(block.bodyLength()));
        let Some(((from, head), body)) = place else { return bad("its footer lists a batch at a negative place") };
        let to = from.checked_add(head).and_then(|to| to.checked_add(body)).filter(|&to| to <= end);
        let Some(to) = to else { return bad("its footer lists a batch beyond the end of the file") };
        if from < 8 || head < 8 {
            return bad("its footer lists a batch without a head");
        }
        places.push((from, to));
    }
    places.sort_unstable();
    if places.windows(2).any(|pair| pair[1].0 < pair[0].1) {
        return bad("its footer lists the same bytes twice");
    }
    Ok(())
}
