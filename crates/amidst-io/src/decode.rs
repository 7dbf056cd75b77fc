//! Decodes text in any encoding to UTF-8.
//!
//! A byte order mark takes precedence over the stated encoding. Bytes that are invalid in the encoding are an error
//! with their line, never a replacement character: no value may enter the table that was not in the file.

use std::io::{self, Cursor, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8};

use crate::conventions::TextEncoding;
use crate::converted::{Convert, Converted};

/// Bytes decoded at a time.
const CHUNK: usize = 64 << 10;

/// The content of an I/O error of a decoded stream: bytes that are invalid in the encoding.
#[derive(Debug, thiserror::Error)]
#[error("bytes on line {line} are not {encoding}")]
pub(crate) struct Undecodable {
    pub line: u64,
    pub encoding: String,
}

/// The text of `reader` as UTF-8. Without a byte order mark and a stated encoding the bytes are unchanged.
pub(crate) fn text<'a, R: Read + Send + 'a>(
    mut reader: R,
    stated: Option<TextEncoding>,
) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut start = Vec::new();
    reader.by_ref().take(3).read_to_end(&mut start)?;
    let encoding = match Encoding::for_bom(&start) {
        Some((found, _)) => Some(found),
        None => stated.map(|stated| stated.0),
    };
    let whole = Cursor::new(start).chain(reader);
    Ok(match encoding {
        None => Box::new(whole),
        // The reader of the text removes a byte order mark of UTF-8.
        Some(encoding) if encoding == UTF_8 => Box::new(whole),
        Some(encoding) => Box::new(Converted::new(Decoded::new(whole, encoding))),
    })
}

/// A stream of text that is decoded while it is read.
struct Decoded<R> {
    inner: R,
    encoding: &'static Encoding,
    decoder: Decoder,
    raw: Vec<u8>,
    /// The part of `raw` that is not decoded yet.
    pending: std::ops::Range<usize>,
    ended: bool,
    finished: bool,
    line: u64,
}

impl<R: Read> Decoded<R> {
    fn new(inner: R, encoding: &'static Encoding) -> Self {
        Decoded {
            inner,
            encoding,
            decoder: encoding.new_decoder_with_bom_removal(),
            raw: vec![0; CHUNK],
            pending: 0..0,
            ended: false,
            finished: false,
            line: 1,
        }
    }
}

impl<R: Read> Convert for Decoded<R> {
    fn refill(&mut self, text: &mut Vec<u8>) -> io::Result<()> {
        while text.is_empty() && !self.finished {
            if self.pending.is_empty() && !self.ended {
                let n = self.inner.read(&mut self.raw)?;
                self.pending = 0..n;
                self.ended = n == 0;
            }
            let raw = &self.raw[self.pending.clone()];
            text.resize(CHUNK.max(raw.len()) * 2, 0);
            let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(raw, text, self.ended);
            text.truncate(written);
            self.pending.start += read;
            self.line += memchr::memchr_iter(b'\n', text).count() as u64;
            match result {
                DecoderResult::InputEmpty => self.finished = self.ended,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => {
                    let fault = Undecodable { line: self.line, encoding: self.encoding.name().to_ascii_lowercase() };
                    return Err(io::Error::new(io::ErrorKind::InvalidData, fault));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], stated: Option<&str>) -> io::Result<String> {
        let stated = stated.map(|name| TextEncoding::named(name).unwrap());
        let mut out = String::new();
        text(bytes, stated)?.read_to_string(&mut out)?;
        Ok(out)
    }

    #[test]
    fn text_is_decoded_as_marked_or_stated() {
        let long = "é,Zoë,“x”,7\n".repeat(30_000);
        let little: Vec<u8> = long.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = long.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decoded(&[b"\xff\xfe".as_slice(), &little].concat(), None).unwrap(), long);
        assert_eq!(decoded(&[b"\xfe\xff".as_slice(), &big].concat(), Some("latin-1")).unwrap(), long);
        assert_eq!(decoded(&little, Some("utf-16le")).unwrap(), long);
        assert_eq!(decoded(b"caf\xe9 \x80\n", Some("windows-1252")).unwrap(), "café €\n");
        assert_eq!(decoded("\u{feff}é".as_bytes(), Some("windows-1252")).unwrap(), "\u{feff}é");
        assert_eq!(decoded(b"", Some("windows-1252")).unwrap(), "");
    }

    #[test]
    fn bytes_that_an_encoding_lacks_are_an_error_with_their_line() {
        let error = decoded(b"\xff\xfea\0\n\0b\0\x00\xd8x\0", None).unwrap_err();
        let fault = error.get_ref().unwrap().downcast_ref::<Undecodable>().unwrap();
        assert_eq!((fault.line, fault.encoding.as_str()), (2, "utf-16le"));
        assert!(decoded(b"\xff\xfea\0b", None).is_err());
        assert!(decoded(b"ok\n\x81", Some("shift_jis")).is_err());
    }
}
