//! SHA-256 digests in hexadecimal.

use std::io::Read;

use sha2::{Digest, Sha256};

/// The SHA-256 digest of `bytes` in hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [DIGITS[usize::from(b >> 4)] as char, DIGITS[usize::from(b & 15)] as char]).collect()
}

/// A reader that digests the bytes read through it.
pub(crate) struct HashingReader<R> {
    inner: R,
    hasher: Sha256,
    bytes: u64,
}

impl<R: Read> HashingReader<R> {
    pub(crate) fn new(inner: R) -> Self {
        HashingReader { inner, hasher: Sha256::new(), bytes: 0 }
    }

    /// Reads the remaining bytes, so that the digest covers the whole file, and returns length and digest.
    pub(crate) fn finish(mut self) -> std::io::Result<(u64, String)> {
        let mut buffer = vec![0u8; 1 << 16];
        while self.read(&mut buffer)? > 0 {}
        Ok((self.bytes, hex(&self.hasher.finalize())))
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..n]);
        self.bytes += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_the_standard_ones() {
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let (bytes, digest) = HashingReader::new(&b"abc"[..]).finish().unwrap();
        assert_eq!((bytes, digest), (3, sha256_hex(b"abc")));
    }
}
