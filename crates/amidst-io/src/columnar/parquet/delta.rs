//! Checks delta encoded pages, whose number of values is stated inside the compressed body.
//!
//! Decoders allocate memory for that number before they see the values, and a text that repeats the start of the
//! previous one can be a thousand times as long as the page. Pages of these encodings, which few writers use, are
//! therefore decompressed an additional time to check the counts.

use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;

use super::thrift::Walked;
use crate::limits::check_unpacked;

/// Fails when a page of the column states more values or bytes than it can hold.
pub(super) fn pages<T: ChunkReader + 'static>(file: Arc<T>, chunk: &ColumnChunkMetaData, rows: i64) -> Walked<()> {
    let rows = usize::try_from(rows).map_err(|_| "a row group has a negative number of rows")?;
    let failed = |_| "a page cannot be decompressed".to_string();
    let mut reader = SerializedPageReader::new(file, chunk, rows, None).map_err(failed)?;
    let has_levels = chunk.column_descr().max_def_level() > 0;
    while let Some(page) = reader.get_next_page().map_err(failed)? {
        let (bytes, cells, encoding) = match &page {
            Page::DataPage { buf, num_values, encoding, .. } => {
                // Levels are preceded by their length.
                let skipped = match (has_levels, buf.first_chunk::<4>()) {
                    (false, _) => Some(0),
                    (true, length) => length.map(|length| 4 + u32::from_le_bytes(*length) as usize),
                };
                (skipped.and_then(|skipped| buf.get(skipped..)), *num_values, *encoding)
            }
            Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let skipped = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                (buf.get(skipped..), *num_values, *encoding)
            }
            Page::DictionaryPage { .. } => continue,
        };
        let bytes = bytes.ok_or("the levels of a page are longer than the page")?;
        match encoding {
            Encoding::DELTA_BINARY_PACKED | Encoding::DELTA_LENGTH_BYTE_ARRAY => {
                let _ = Head::take(bytes, cells)?;
            }
            Encoding::DELTA_BYTE_ARRAY => texts(bytes, cells)?,
            _ => {}
        }
    }
    Ok(())
}

/// Checks delta encoded texts: each as the number of bytes shared with the previous text, and a suffix.
fn texts(bytes: &[u8], cells: u32) -> Walked<()> {
    let mut total = 0u64;
    let mut add = |length: i64| {
        total = total.saturating_add(u64::try_from(length).map_err(|_| "a text has a negative length")?);
        Ok(())
    };
    let (head, rest) = Head::take(bytes, cells)?;
    let rest = head.values(rest, &mut add)?;
    let (head, rest) = Head::take(rest, cells)?;
    head.values(rest, &mut add)?;
    check_unpacked(bytes.len() as u64, total)
}

/// The header of delta encoded integers.
struct Head {
    blocks: usize,
    values: usize,
    first: i64,
    in_block: usize,
}

fn varint(bytes: &mut &[u8]) -> Walked<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let Some((&byte, rest)) = bytes.split_first() else { break };
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err("a page ends early".to_string())
}

fn signed(n: u64) -> i64 {
    (n >> 1).cast_signed() ^ -((n & 1).cast_signed())
}

impl Head {
    /// Parses the header of at most `cells` delta encoded values; returns it and the bytes after it.
    fn take(mut bytes: &[u8], cells: u32) -> Walked<(Head, &[u8])> {
        let (size, blocks, values) = (varint(&mut bytes)?, varint(&mut bytes)?, varint(&mut bytes)?);
        let first = signed(varint(&mut bytes)?);
        if values > u64::from(cells) {
            return Err("a page is said to have more values than cells".to_string());
        }
        // The constraints of the format on block sizes, and an upper bound far above what writers use.
        if size == 0
            || size > 1 << 20
            || size % 128 != 0
            || blocks == 0
            || size % blocks != 0
            || (size / blocks) % 32 != 0
        {
            return Err("the differences of a page come in blocks of an odd size".to_string());
        }
        let (size, blocks, values) = (size as usize, blocks as usize, values as usize);
        Ok((Head { blocks, values, first, in_block: size / blocks }, bytes))
    }

    /// Passes all values to `tell`; returns the bytes after them.
    fn values<'b>(&self, mut bytes: &'b [u8], tell: &mut dyn FnMut(i64) -> Walked<()>) -> Walked<&'b [u8]> {
        if self.values == 0 {
            return Ok(bytes);
        }
        let mut value = self.first;
        tell(value)?;
        let mut left = self.values - 1;
        while left > 0 {
            let least = signed(varint(&mut bytes)?);
            let (widths, rest) = bytes.split_at_checked(self.blocks).ok_or("a page ends early")?;
            bytes = rest;
            for &width in widths {
                if left == 0 {
                    break;
                }
                if width > 64 {
                    return Err("a difference has more than 64 bits".to_string());
                }
                let length = self.in_block * usize::from(width) / 8;
                let (packed, rest) = bytes.split_at_checked(length).ok_or("a page ends early")?;
                bytes = rest;
                for i in 0..left.min(self.in_block) {
                    value = value.wrapping_add(least).wrapping_add(bits(packed, i, usize::from(width)).cast_signed());
                    tell(value)?;
                }
                left = left.saturating_sub(self.in_block);
            }
        }
        Ok(bytes)
    }
}

/// The i-th number of `width` bits in `packed`.
fn bits(packed: &[u8], i: usize, width: usize) -> u64 {
    let (mut number, start) = (0u64, i * width);
    let mut taken = 0;
    while taken < width {
        let at = start + taken;
        let byte = u64::from(packed.get(at / 8).copied().unwrap_or(0)) >> (at % 8);
        number |= byte << taken;
        taken += 8 - at % 8;
    }
    if width < 64 { number & ((1 << width) - 1) } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_undone() {
        // The example of the format's specification: 7, 5, 3, 1, 2, 3, 4, 5 in a block of 128 with four parts.
        let mut bytes = vec![0x80, 0x01, 4, 8, 14];
        bytes.extend([3, 2, 0, 0, 0]);
        // Differences -2 -2 -2 1 1 1 1, less the least: 0 0 0 3 3 3 3 in two bits.
        bytes.extend([0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0, 42]);
        let (head, rest) = Head::take(&bytes, 8).unwrap();
        let mut values = Vec::new();
        let rest = head.values(rest, &mut |v| {
            values.push(v);
            Ok(())
        });
        assert_eq!((values, rest), (vec![7, 5, 3, 1, 2, 3, 4, 5], Ok(&[42u8][..])));
        assert!(Head::take(&bytes, 7).is_err());
        assert!(Head::take(&[0x80, 0x01, 4, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0], u32::MAX).is_err());
    }
}
