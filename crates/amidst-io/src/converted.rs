//! Bytes that are made from other bytes piece by piece, as a stream.

use std::io::{self, Read};

/// Makes the next bytes of a stream.
pub(crate) trait Convert {
    /// Appends more bytes to `out`, which is empty; nothing at the end of the stream.
    fn refill(&mut self, out: &mut Vec<u8>) -> io::Result<()>;
}

/// The stream of what a [`Convert`] makes.
pub(crate) struct Converted<C> {
    convert: C,
    made: Vec<u8>,
    /// How much of `made` has been handed out.
    given: usize,
}

impl<C: Convert> Converted<C> {
    pub fn new(convert: C) -> Self {
        Converted { convert, made: Vec::new(), given: 0 }
    }
}

impl<C: Convert> Read for Converted<C> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.made.len() {
            self.made.clear();
            self.given = 0;
            self.convert.refill(&mut self.made)?;
        }
        let rest = &self.made[self.given..];
        let n = rest.len().min(buffer.len());
        buffer[..n].copy_from_slice(&rest[..n]);
        self.given += n;
        Ok(n)
    }
}
