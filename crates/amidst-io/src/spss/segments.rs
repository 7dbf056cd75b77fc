//! Reads the rows of an SPSS file: units of eight bytes, plain or in bytecode.

use std::io::Read;

use flate2::read::ZlibDecoder;

use super::SYSTEM_MISSING;
use super::dictionary::Dictionary;
use crate::binary::Place;
use crate::limits::Packing;

/// The units of the rows.
pub(super) enum Segments<'a> {
    Plain(&'a [u8]),
    Coded(Coded<'a>),
}

/// Units in bytecode: eight codes come before the bytes that they refer to.
pub(super) struct Coded<'a> {
    data: std::borrow::Cow<'a, [u8]>,
    at: usize,
    codes: [u8; 8],
    next: usize,
    bias: f64,
    big_endian: bool,
}

impl<'a> Segments<'a> {
    pub fn of(bytes: &'a [u8], dictionary: &Dictionary) -> Result<Self, String> {
        let data = bytes.get(dictionary.data..).unwrap_or_default();
        let coded = |data| {
            let (bias, big_endian) = (dictionary.bias, dictionary.big_endian);
            Segments::Coded(Coded { data, at: 0, codes: [0; 8], next: 8, bias, big_endian })
        };
        match dictionary.compression {
            0 => Ok(Segments::Plain(data)),
            1 => Ok(coded(data.into())),
            2 => Ok(coded(inflated(bytes, dictionary)?.into())),
            _ => Err("its rows are compressed in an unknown way".to_string()),
        }
    }

    /// Reads the next row into `row`; false when there is none.
    pub fn next_row(&mut self, row: &mut [u8]) -> Result<bool, String> {
        let ends = || "it ends within a row".to_string();
        match self {
            Segments::Plain(data) => {
                if data.is_empty() {
                    return Ok(false);
                }
                let (first, rest) = data.split_at_checked(row.len()).ok_or_else(ends)?;
                row.copy_from_slice(first);
                *data = rest;
                Ok(true)
            }
            Segments::Coded(coded) => {
                for (i, unit) in row.chunks_exact_mut(8).enumerate() {
                    match coded.unit()? {
                        Some(bytes) => unit.copy_from_slice(&bytes),
                        None if i == 0 => return Ok(false),
                        None => return Err(ends()),
                    }
                }
                Ok(true)
            }
        }
    }
}

impl Coded<'_> {
    fn take(&mut self) -> Option<[u8; 8]> {
        let taken = self.data.get(self.at..)?.first_chunk::<8>().copied()?;
        self.at += 8;
        Some(taken)
    }

    /// The next unit; `None` at the end.
    fn unit(&mut self) -> Result<Option<[u8; 8]>, String> {
        let bytes = |number: f64| if self.big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
        let (missing, bias) = (bytes(SYSTEM_MISSING), self.bias);
        loop {
            if self.next == 8 {
                match self.take() {
                    Some(codes) => (self.codes, self.next) = (codes, 0),
                    None => return Ok(None),
                }
            }
            let code = self.codes[self.next];
            self.next += 1;
            match code {
                0 => {}
                252 => {
                    (self.next, self.at) = (8, self.data.len());
                    return Ok(None);
                }
                253 => return self.take().map(Some).ok_or_else(|| "it ends within a row".to_string()),
                254 => return Ok(Some([b' '; 8])),
                255 => return Ok(Some(missing)),
                small => {
                    let number = f64::from(small) - bias;
                    return Ok(Some(if self.big_endian { number.to_be_bytes() } else { number.to_le_bytes() }));
                }
            }
        }
    }
}

/// The content of a file compressed by zlib, block after block.
fn inflated(bytes: &[u8], dictionary: &Dictionary) -> Result<Vec<u8>, String> {
    let mut header = Place::new(bytes, dictionary.data, dictionary.big_endian);
    header.i64()?;
    let trailer = usize::try_from(header.i64()?).map_err(|_| "its trailer is nowhere")?;
    let mut place = Place::new(bytes, trailer, dictionary.big_endian);
    place.take(16 + 4)?;
    let blocks = place.u32()?;
    let mut all = Vec::new();
    let mut total = 0u64;
    for _ in 0..blocks {
        place.i64()?;
        let start = usize::try_from(place.i64()?).map_err(|_| "a block is nowhere")?;
        let (unpacked, packed) = (u64::from(place.u32()?), u64::from(place.u32()?));
        Packing::Gzip.check(packed, unpacked)?;
        total += unpacked;
        crate::limits::check_unpacked(bytes.len() as u64, total)?;
        let block = Place::new(bytes, start, false).take(packed as usize)?;
        let before = all.len();
        let mut decoder = ZlibDecoder::new(block).take(unpacked + 1);
        decoder.read_to_end(&mut all).map_err(|_| "a block cannot be decompressed")?;
        if (all.len() - before) as u64 != unpacked {
            return Err("a block has another size than it says".to_string());
        }
    }
    Ok(all)
}
