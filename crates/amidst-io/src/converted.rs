//! A stream of bytes that are converted piece by piece from other bytes.

use std::io::{self, Read};

/// Produces the next bytes of a stream.
pub(crate) trait Convert {
    /// Appends more bytes to `out`, which is empty; appends nothing at the end of the stream.
    fn refill(&mut self, out: &mut Vec<u8>) -> io::Result<()>;
}

/// The output of a [`Convert`] as a stream.
pub(crate) struct Converted<C> {
    convert: C,
    made: Vec<u8>,
    /// Number of bytes of `made` that were returned.
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
