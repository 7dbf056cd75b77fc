//! Reads gzip in the form of releases: members one after the other, each with the minimal header, and nothing else.
//!
//! The format allows names, comments, times, empty members and bytes after the last member, which most readers skip
//! silently. Here each of them is an error, and so is a wrong check sum.

use std::io::{BufRead, Error, ErrorKind, Read, Result};

use flate2::{Crc, Decompress, FlushDecompress, Status};

/// A header without name, comment, time, level and system.
const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// Reads the members of a gzip file.
pub(crate) struct Members<R> {
    inner: R,
    member: Option<(Decompress, Crc)>,
    any: bool,
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, what)
}

impl<R: BufRead> Members<R> {
    pub(crate) fn new(inner: R) -> Self {
        Members { inner, member: None, any: false }
    }

    /// Starts the next member; false at the end of the file.
    fn begin(&mut self) -> Result<bool> {
        if self.inner.fill_buf()?.is_empty() {
            return if self.any { Ok(false) } else { Err(wrong("the gzip file is empty")) };
        }
        let mut header = [0; HEADER.len()];
        let behind = if self.any { "there are bytes behind the gzip data" } else { "the file is no gzip" };
        self.inner.read_exact(&mut header).map_err(|_| wrong(behind))?;
        if header != HEADER {
            return Err(wrong(match header.starts_with(&HEADER[..2]) {
                true => "the gzip header carries a name, a comment, a time or something else beside the data",
                false => behind,
            }));
        }
        self.any = true;
        self.member = Some((Decompress::new(false), Crc::new()));
        Ok(true)
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            if self.member.is_none() && !self.begin()? {
                return Ok(0);
            }
            let Some((inflate, crc)) = &mut self.member else { return Ok(0) };
            let input = self.inner.fill_buf()?;
            let (read_before, made_before) = (inflate.total_in(), inflate.total_out());
            let status =
                inflate.decompress(input, out, FlushDecompress::None).map_err(|_| wrong("the gzip data is damaged"))?;
            let (read, made) =
                ((inflate.total_in() - read_before) as usize, (inflate.total_out() - made_before) as usize);
            let starved = input.is_empty() || (read == 0 && made == 0);
            self.inner.consume(read);
            crc.update(&out[..made.min(out.len())]);
            if status == Status::StreamEnd {
                let mut end = [0; 8];
                self.inner.read_exact(&mut end).map_err(|_| wrong("the gzip data ends too early"))?;
                let [sum, length] = [&end[..4], &end[4..]].map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
                if sum != crc.sum() || length != inflate.total_out() as u32 {
                    return Err(wrong("the gzip check sum does not fit the data"));
                }
                if inflate.total_out() == 0 {
                    return Err(wrong("a gzip member holds nothing"));
                }
                self.member = None;
            } else if made == 0 && starved {
                return Err(wrong("the gzip data ends too early"));
            }
            if made > 0 {
                return Ok(made);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        Members::new(bytes).read_to_end(&mut text).map(|_| text)
    }

    #[test]
    fn only_plain_members_are_read() {
        let text: Vec<u8> = (0..300_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
        let good = packed(&text);
        assert_eq!(read(&good).unwrap(), text);
        assert_eq!(read(&[packed(b"head"), good.clone()].concat()).unwrap(), [b"head", &text[..]].concat());
        for bad in [
            Vec::new(),
            good[..good.len() - 1].to_vec(),
            good[..good.len() / 2].to_vec(),
            [&good[..], b"x"].concat(),
            [&good[..], &[0; 512]].concat(),
            [good.clone(), packed(b"")].concat(),
            flate2::GzBuilder::new().comment("Ann").write(Vec::new(), Compression::default()).finish().unwrap(),
        ] {
            assert!(read(&bad).is_err());
        }
        for at in 0..HEADER.len() {
            let mut bad = packed(b"a,b\n");
            bad[at] ^= 4;
            assert!(read(&bad).is_err(), "{at}");
        }
    }
}
