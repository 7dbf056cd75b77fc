//! Walks over Thrift's compact protocol, in which Parquet writes its metadata, without decoding it.
//!
//! A list is preceded by its length, for which decoders allocate memory before they read the first element; structures
//! may be nested to any depth, which decoders follow until the stack overflows. The walk visits everything first, with
//! a bound on both, and reports the numbers to a callback.

use std::io::Read;

use crate::limits::DEPTH_LIMIT;

/// A reader over the bytes of a structure.
pub(super) struct Walker<R> {
    reader: R,
    /// Bytes that the structure may still take.
    left: u64,
    /// Bytes that it took.
    pub taken: u64,
}

/// The result of a walk. I/O errors are reported as texts too: either way the structure cannot be read.
pub(super) type Walked<T> = Result<T, String>;

/// A callback for numbers: the field ids that lead to the number, the outermost first. Elements of a list have its
/// field id.
pub(super) type Visit<'v> = &'v mut dyn FnMut(&[i16], Event) -> Walked<()>;

/// What the walk reports.
pub(super) enum Event {
    /// A whole number.
    Number(i64),
    /// The start of a list element that is a structure.
    Element,
}

impl<R: Read> Walker<R> {
    /// A walk over the next structure, which has at most `left` bytes.
    pub fn new(reader: R, left: u64) -> Self {
        Walker { reader, left, taken: 0 }
    }

    /// The reader, positioned after the structure.
    pub fn into_inner(self) -> R {
        self.reader
    }

    fn byte(&mut self) -> Walked<u8> {
        let mut byte = [0];
        self.left = self.left.checked_sub(1).ok_or("its metadata ends early")?;
        self.reader.read_exact(&mut byte).map_err(|_| "its metadata ends early")?;
        self.taken += 1;
        Ok(byte[0])
    }

    fn skip(&mut self, length: u64) -> Walked<()> {
        self.left = self.left.checked_sub(length).ok_or("a part of its metadata is longer than the whole")?;
        let skipped = std::io::copy(&mut self.reader.by_ref().take(length), &mut std::io::sink());
        self.taken += length;
        if skipped.is_ok_and(|n| n == length) { Ok(()) } else { Err("its metadata ends early".to_string()) }
    }

    fn varint(&mut self) -> Walked<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("a number of its metadata is too long".to_string())
    }

    fn number(&mut self) -> Walked<i64> {
        let n = self.varint()?;
        Ok((n >> 1).cast_signed() ^ -((n & 1).cast_signed()))
    }

    /// Walks over a structure; `path` holds the field ids that lead to it.
    pub fn structure(&mut self, path: &mut Vec<i16>, visit: Visit<'_>) -> Walked<()> {
        if path.len() > DEPTH_LIMIT {
            return Err("its metadata is nested too deeply".to_string());
        }
        let mut field = 0i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            field = match head >> 4 {
                0 => i16::try_from(self.number()?).map_err(|_| "a field of its metadata has no number")?,
                more => field.checked_add(i16::from(more)).ok_or("a field of its metadata has no number")?,
            };
            path.push(field);
            // The type itself encodes the value of a boolean.
            if !matches!(head & 0x0F, 1 | 2) {
                self.value(head & 0x0F, path, visit)?;
            }
            path.pop();
        }
    }

    fn value(&mut self, kind: u8, path: &mut Vec<i16>, visit: Visit<'_>) -> Walked<()> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => {
                let number = self.number()?;
                visit(path, Event::Number(number))
            }
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => self.list(path, visit),
            11 => self.map(path, visit),
            12 => self.structure(path, visit),
            13 => self.skip(16),
            _ => Err("its metadata has a value of no known kind".to_string()),
        }
    }

    /// Every element takes at least one byte.
    fn fits(&self, length: u64) -> Walked<()> {
        if length > self.left { Err("a list of its metadata is longer than the file".to_string()) } else { Ok(()) }
    }

    fn list(&mut self, path: &mut Vec<i16>, visit: Visit<'_>) -> Walked<()> {
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => self.varint()?,
            short => u64::from(short),
        };
        self.fits(length)?;
        if path.len() > DEPTH_LIMIT {
            return Err("its metadata is nested too deeply".to_string());
        }
        for _ in 0..length {
            if head & 0x0F == 12 {
                visit(path, Event::Element)?;
            }
            // Nested lists count as depth, like nested structures.
            path.push(0);
            let walked = self.value(head & 0x0F, path, visit);
            path.pop();
            walked?;
        }
        Ok(())
    }

    fn map(&mut self, path: &mut Vec<i16>, visit: Visit<'_>) -> Walked<()> {
        let length = self.varint()?;
        if length == 0 {
            return Ok(());
        }
        self.fits(length)?;
        let kinds = self.byte()?;
        if path.len() > DEPTH_LIMIT {
            return Err("its metadata is nested too deeply".to_string());
        }
        for _ in 0..length {
            path.push(0);
            let walked = self.value(kinds >> 4, path, visit).and_then(|()| self.value(kinds & 0x0F, path, visit));
            path.pop();
            walked?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(bytes: &[u8]) -> Walked<Vec<(Vec<i16>, i64)>> {
        let mut seen = Vec::new();
        Walker::new(bytes, bytes.len() as u64).structure(&mut Vec::new(), &mut |path, event| {
            if let Event::Number(n) = event {
                seen.push((path.to_vec(), n));
            }
            Ok(())
        })?;
        Ok(seen)
    }

    #[test]
    fn numbers_are_told_with_their_fields() {
        // 1: i32 -3, 3: struct { 2: i64 64 }, 4: list of one i32 5.
        let bytes = [0x15, 5, 0x2C, 0x26, 0x80, 0x01, 0, 0x19, 0x15, 10, 0];
        let expected = vec![(vec![1], -3), (vec![3, 2], 64), (vec![4, 0], 5)];
        assert_eq!(numbers(&bytes), Ok(expected));
        for end in 0..bytes.len() {
            assert!(numbers(&bytes[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn depth_and_length_are_bounded() {
        assert!(numbers(&[0x1C; 100_000]).is_err());
        assert!(numbers(&[0x19; 100_000]).is_err());
        let mut long = vec![0x19, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F];
        long.extend([0; 100]);
        assert!(numbers(&long).is_err());
    }
}
