//! Checks the pages of a Parquet file value by value: nothing after the last value, no dictionary entry without a row,
//! no number with a second reading.

use parquet::column::page::Page;

use super::parquet::{Chunk, Leaf, PageHead, Physical};

/// A dictionary, and which of its entries rows refer to.
#[derive(Default)]
struct Dictionary {
    used: Vec<bool>,
}

/// Checks the pages of a chunk, decompressed and in order.
pub(crate) fn check(
    chunk: &Chunk,
    leaf: &Leaf,
    mut pages: impl Iterator<Item = Result<Page, String>>,
) -> Result<(), String> {
    let mut dictionary: Option<Dictionary> = None;
    for head in &chunk.pages {
        let page = pages.next().ok_or("a page is missing")??;
        match page {
            Page::DictionaryPage { buf, num_values, .. } if head.dictionary => {
                if u64::from(num_values) != head.values {
                    return Err("a dictionary is damaged".into());
                }
                plain(&buf, leaf.physical, head.values, true)?;
                dictionary = Some(Dictionary { used: vec![false; num_values as usize] });
            }
            Page::DataPage { buf, num_values, .. } if !head.dictionary => {
                if u64::from(num_values) != head.values {
                    return Err("a page is damaged".into());
                }
                data(&buf, leaf, head, dictionary.as_mut())?;
            }
            _ => return Err("a page is of a kind that releases do not use".into()),
        }
    }
    if pages.next().is_some() {
        return Err("there are more pages than rows need".into());
    }
    match dictionary.is_some_and(|d| d.used.contains(&false)) {
        true => Err("a dictionary holds a value that no row has".into()),
        false => Ok(()),
    }
}

fn data(buf: &[u8], leaf: &Leaf, head: &PageHead, dictionary: Option<&mut Dictionary>) -> Result<(), String> {
    let (mut present, mut rest) = (head.values, buf);
    if leaf.optional {
        let (size, behind) = rest.split_first_chunk::<4>().ok_or("a page is cut off")?;
        let size = u32::from_le_bytes(*size) as usize;
        let levels = behind.get(..size).ok_or("a page is cut off")?;
        present = 0;
        hybrid(levels, 1, head.values, |level| present += level)?;
        rest = &behind[size..];
    }
    if head.encoding == 0 {
        return plain(rest, leaf.physical, present, false);
    }
    let dictionary = dictionary.ok_or("a page refers to a dictionary that is not there")?;
    let (&width, indexes) = rest.split_first().ok_or("a page is cut off")?;
    let mut beyond = false;
    hybrid(indexes, width, present, |index| match dictionary.used.get_mut(index as usize) {
        Some(used) => *used = true,
        None => beyond = true,
    })?;
    if beyond { Err("a page refers to a dictionary entry that is not there".into()) } else { Ok(()) }
}

/// Checks that `bytes` are exactly `values` plain-encoded values; with `once` (a dictionary), distinct ones.
fn plain(bytes: &[u8], physical: Physical, values: u64, once: bool) -> Result<(), String> {
    let behind = || "there are bytes behind the values of a page, or too few".to_string();
    let count = usize::try_from(values).map_err(|_| behind())?;
    let mut seen = std::collections::HashSet::new();
    let mut twice = false;
    let mut enter = |value: &'_ [u8]| twice |= once && !seen.insert(value.to_vec());
    match physical {
        Physical::Truth => {
            let spare = bytes.last().map_or(0, |last| if count % 8 == 0 { 0 } else { last >> (count % 8) });
            if bytes.len() != count.div_ceil(8) || spare != 0 {
                return Err(behind());
            }
        }
        Physical::Four | Physical::Single => fixed::<4>(bytes, count, &mut enter).ok_or_else(behind)?,
        Physical::Eight | Physical::Double => fixed::<8>(bytes, count, &mut enter).ok_or_else(behind)?,
        Physical::Text => {
            let mut rest = bytes;
            for _ in 0..count {
                let (length, more) = rest.split_first_chunk::<4>().ok_or_else(behind)?;
                let length = u32::from_le_bytes(*length) as usize;
                let text = more.get(..length).ok_or_else(behind)?;
                if std::str::from_utf8(text).is_err() {
                    return Err("a text is not UTF-8".into());
                }
                enter(text);
                rest = &more[length..];
            }
            if !rest.is_empty() {
                return Err(behind());
            }
        }
    }
    let one_reading = match physical {
        Physical::Double => bytes.as_chunks::<8>().0.iter().all(|b| ordinary(f64::from_le_bytes(*b))),
        Physical::Single => bytes.as_chunks::<4>().0.iter().all(|b| ordinary(f64::from(f32::from_le_bytes(*b)))),
        _ => true,
    };
    match (one_reading, twice) {
        (false, _) => Err("a number is not finite, or a zero with a sign".into()),
        (_, true) => Err("a dictionary holds a value twice".into()),
        _ => Ok(()),
    }
}

/// Whether a number has one text: finite and not negative zero.
pub(crate) fn ordinary(number: f64) -> bool {
    number.is_finite() && !(number == 0.0 && number.is_sign_negative())
}

fn fixed<const WIDTH: usize>(bytes: &[u8], count: usize, enter: &mut impl FnMut(&[u8])) -> Option<()> {
    if Some(bytes.len()) != count.checked_mul(WIDTH) {
        return None;
    }
    bytes.chunks_exact(WIDTH).for_each(enter);
    Some(())
}

/// Decodes Parquet's hybrid of run-length and bit-packed integers of `width` bits: exactly `count`, except for zeros
/// that fill the last pack of eight.
fn hybrid(bytes: &[u8], width: u8, count: u64, mut see: impl FnMut(u64)) -> Result<(), String> {
    let wrong = || "there is something behind the numbers of a page, or too little".to_string();
    if width > 32 {
        return Err(wrong());
    }
    let (mut rest, mut left) = (bytes, count);
    while left > 0 {
        let (mut head, mut shift) = (0u64, 0);
        loop {
            let (&byte, more) = rest.split_first().ok_or_else(wrong)?;
            rest = more;
            head |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
            if shift > 35 {
                return Err(wrong());
            }
        }
        if head & 1 == 0 {
            let size = usize::from(width.div_ceil(8));
            let value = rest.get(..size).ok_or_else(wrong)?;
            let value = value.iter().rev().fold(0u64, |all, &byte| all << 8 | u64::from(byte));
            let run = head >> 1;
            if run == 0 || run > left || (value >> width) != 0 {
                return Err(wrong());
            }
            see_run(value, run, &mut see);
            rest = &rest[size..];
            left -= run;
        } else {
            let packs = usize::try_from(head >> 1).map_err(|_| wrong())?;
            let size = packs.checked_mul(usize::from(width)).ok_or_else(wrong)?;
            let packed = rest.get(..size).ok_or_else(wrong)?;
            let values = packs as u64 * 8;
            if packs == 0 || values >= left.saturating_add(8) {
                return Err(wrong());
            }
            for at in 0..values {
                let value = bits(packed, at as usize * usize::from(width), width);
                match at < left {
                    true => see(value),
                    false if value != 0 => return Err(wrong()),
                    false => {}
                }
            }
            rest = &rest[size..];
            left = left.saturating_sub(values);
        }
    }
    if rest.is_empty() { Ok(()) } else { Err(wrong()) }
}

/// Passes a run to `see` value by value; `run` is at most the number of values of the page.
fn see_run(value: u64, run: u64, see: &mut impl FnMut(u64)) {
    for _ in 0..run {
        see(value);
    }
}

fn bits(packed: &[u8], from: usize, width: u8) -> u64 {
    let first = from / 8;
    let mut window = [0u8; 8];
    let end = packed.len().min(first + 8);
    window[..end - first].copy_from_slice(&packed[first..end]);
    u64::from_le_bytes(window) >> (from % 8) & ((1u64 << width) - 1)
}
