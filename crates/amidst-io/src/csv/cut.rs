//! Splits a stream into blocks that end at record boundaries.

use std::io::Read;
use std::path::{Path, PathBuf};

use memchr::{memchr, memrchr};

use crate::encode::BadCell;
use crate::error::ReadError;
use crate::limits::{COLUMN_LIMIT, FIELD_LIMIT};
use crate::stream::{Settings, read_error};

use super::record::{Field, Record, last_record_end};
use super::sniff::guess_separator;

/// Bytes after a block's text, so that whole words can be read at its end.
pub(crate) const PADDING: usize = 64;
/// Bytes used to guess the separator.
const SAMPLE: usize = 64 << 10;

/// Complete records, as text.
#[derive(Default)]
pub(crate) struct TextBlock {
    /// The text, followed by at least [`PADDING`] bytes.
    pub data: Vec<u8>,
    pub length: usize,
}

/// Reads blocks from a stream.
pub(crate) struct Cutter<'a, R> {
    path: PathBuf,
    reader: R,
    settings: &'a Settings<'a>,
    separator: u8,
    /// Bytes that are read but not returned yet.
    rest: Vec<u8>,
    ended: bool,
    first_line: u64,
    /// Whether records are lines, regardless of quotes.
    lines: bool,
}

impl<'a, R: Read> Cutter<'a, R> {
    /// Reads the start of the stream, and guesses the separator if it is not given.
    pub fn open(
        path: &Path,
        mut reader: R,
        separator: Option<u8>,
        settings: &'a Settings<'a>,
    ) -> Result<Self, ReadError> {
        let mut rest = Vec::new();
        let mut ended = !read_more(path, &mut reader, &mut rest, SAMPLE)?;
        if rest.starts_with(b"\xEF\xBB\xBF") {
            rest.drain(..3);
        }
        let separator = separator.unwrap_or_else(|| guess_separator(&rest, ended));
        // The header must be complete.
        while !ended && last_record_end(&rest, separator).is_none() && rest.len() <= 2 * FIELD_LIMIT {
            let more = rest.len();
            ended = !read_more(path, &mut reader, &mut rest, more)?;
        }
        Ok(Cutter { path: path.to_path_buf(), reader, settings, separator, rest, ended, first_line: 1, lines: false })
    }

    /// A stream of lines without a header.
    pub fn open_lines(path: &Path, mut reader: R, settings: &'a Settings<'a>) -> Result<Self, ReadError> {
        let mut rest = Vec::new();
        let ended = !read_more(path, &mut reader, &mut rest, SAMPLE)?;
        if rest.starts_with(b"\xEF\xBB\xBF") {
            rest.drain(..3);
        }
        if rest.is_empty() {
            return Err(ReadError::Empty { path: path.to_path_buf() });
        }
        Ok(Cutter { path: path.to_path_buf(), reader, settings, separator: 0, rest, ended, first_line: 1, lines: true })
    }

    pub fn separator(&self) -> u8 {
        self.separator
    }

    /// The line of the first row after the header.
    pub fn first_line(&self) -> u64 {
        self.first_line
    }

    /// Whether the whole stream has been read already, so that threads are not worth their cost.
    pub fn is_small(&self) -> bool {
        self.ended
    }

    /// Takes the header off the stream; with `none`, names the columns of the first record, which stays in the stream.
    pub fn header(&mut self, none: bool) -> Result<Vec<String>, ReadError> {
        let path = || self.path.clone();
        let mut at = 0;
        while at < self.rest.len() && Record::is_blank(&self.rest, at) {
            self.first_line += 1;
            at = memchr(b'\n', &self.rest[at..]).map_or(self.rest.len(), |i| at + i + 1);
        }
        if at == self.rest.len() {
            return Err(ReadError::Empty { path: path() });
        }
        let mut record = Record::default();
        record.parse(&self.rest, at, self.separator);
        let line = self.first_line;
        // Text in UTF-16 has zeros everywhere: what else is odd about it follows from that.
        if memchr(0, &self.rest[at..record.next]).is_some() {
            return Err(ReadError::Nul { path: path(), line, column: None });
        }
        if let Some(separator) = separator_line(&self.rest[at..record.next]) {
            return Err(ReadError::SeparatorLine { path: path(), line, separator });
        }
        if let Some(long) = record.fields.iter().find(|f| f.end - f.start > FIELD_LIMIT) {
            return Err(ReadError::FieldTooLong { path: path(), line, column: None, quoted: long.quoted });
        }
        if record.unclosed {
            return Err(ReadError::UnclosedQuote { path: path(), line, column: None });
        }
        // Some programs take a carriage return in a name for the end of the header, quoted or not.
        let has = |f: &Field, byte: u8| memchr(byte, record.bytes(&self.rest, *f)).is_some();
        let stray = |f: &Field| (!f.quoted && has(f, b'"')) || has(f, b'\r');
        if !none && (record.two_readings.is_some() || record.fields.iter().any(stray)) {
            return Err(ReadError::TwoReadings { path: path(), line, column: None });
        }
        if record.fields.len() > COLUMN_LIMIT {
            return Err(ReadError::TooManyColumns { path: path() });
        }
        if none {
            self.rest.drain(..at);
            return Ok((1..=record.fields.len()).map(|i| format!("column{i}")).collect());
        }
        let mut header = Vec::with_capacity(record.fields.len());
        for &field in &record.fields {
            let bytes = record.bytes(&self.rest, field);
            let name = crate::encode::check(bytes).map_err(|bad| match bad {
                BadCell::Nul => ReadError::Nul { path: path(), line, column: None },
                BadCell::NotUtf8 => ReadError::NotUtf8 { path: path(), line, column: None },
            })?;
            header.push(if field.quoted { name } else { name.trim() }.to_string());
        }
        self.first_line += record.breaks;
        self.rest.drain(..record.next);
        Ok(header)
    }

    /// Reads the next block; false at the end.
    pub fn next(&mut self, block: &mut TextBlock) -> Result<bool, ReadError> {
        self.settings.check()?;
        let mut length = self.rest.len();
        let mut size = self.settings.block_size.max(length);
        loop {
            if block.data.len() < size + PADDING {
                block.data.resize(size + PADDING, 0);
            }
            if !self.rest.is_empty() {
                block.data[..length].copy_from_slice(&self.rest);
                self.rest.clear();
            }
            while length < size && !self.ended {
                match self.reader.read(&mut block.data[length..size]) {
                    Ok(0) => self.ended = true,
                    Ok(n) => length += n,
                    Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(e) => return Err(read_error(&self.path, e)),
                }
            }
            let text = &block.data[..length];
            let end = if self.ended {
                Some(length)
            } else if self.lines || memchr(b'"', text).is_none() {
                memrchr(b'\n', text).map(|i| i + 1)
            } else {
                last_record_end(text, self.separator)
            };
            if let Some(end) = end {
                self.rest.extend_from_slice(&block.data[end..length]);
                block.data[end..end + PADDING].fill(0);
                block.length = end;
                return Ok(end > 0);
            }
            if length > FIELD_LIMIT && (self.lines || self.has_long_field(text)) {
                // The block is returned as it is: encoding it reports line and column of the fault.
                self.ended = true;
                block.data[length..length + PADDING].fill(0);
                block.length = length;
                return Ok(true);
            }
            size *= 2;
        }
    }

    fn has_long_field(&self, text: &[u8]) -> bool {
        let mut record = Record::default();
        record.parse(text, 0, self.separator);
        record.fields.iter().any(|f| f.end - f.start > FIELD_LIMIT)
    }
}

/// The separator that a line `sep=;` names, which Excel writes above the header.
fn separator_line(line: &[u8]) -> Option<char> {
    match line.trim_ascii_end() {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', separator] if separator.is_ascii_punctuation() => {
            Some(char::from(*separator))
        }
        // A tab is trimmed.
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'='] if line.contains(&b'\t') => Some('\t'),
        _ => None,
    }
}

/// Reads up to `more` bytes; false when the stream has ended.
fn read_more(path: &Path, reader: &mut impl Read, to: &mut Vec<u8>, more: usize) -> Result<bool, ReadError> {
    let n = reader.by_ref().take(more as u64).read_to_end(to).map_err(|e| read_error(path, e))?;
    Ok(n == more)
}
