//! Encodes cells as dictionary codes; the hot path of reading.
//!
//! A reading thread owns one [`ColumnEncoder`] per column and keeps it over all blocks that it reads, so that values
//! are looked up in a table that is already filled. Each block yields its codes and the values that were new to the
//! thread. Blocks are assigned to threads in order; therefore a value that is new to the whole table is also new to the
//! thread that reads it, and merging the new values block by block gives the order of first appearance, for any number
//! of threads.

use amidst_core::table::Codes;

use crate::nulls::NULL;

/// A thread discards its values after this many, so that memory stays bounded with many threads.
const GENERATION: usize = 1 << 16;
/// A thread discards its values when their text exceeds this many bytes.
const GENERATION_TEXT: usize = 8 << 20;

const VACANT: u32 = u32::MAX;

/// A distinct value: all of it up to 16 bytes, otherwise its first bytes and a hash.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    low: u64,
    high: u64,
    length: u32,
}

impl Key {
    #[inline(always)]
    fn hash(self) -> u64 {
        let wide = u128::from(self.low ^ 0x9E37_79B9_7F4A_7C15)
            * u128::from(
                self.high ^ u64::from(self.length).wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ 0xA076_1D64_78BD_642F,
            );
        (wide as u64) ^ (wide >> 64) as u64
    }
}

#[derive(Clone, Copy)]
struct Slot {
    key: Key,
    code: u32,
}

const EMPTY: Slot = Slot { key: Key { low: 0, high: 0, length: 0 }, code: VACANT };

/// What is wrong with the bytes of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadCell {
    Nul,
    NotUtf8,
}

/// The bytes of a cell as text; an error for NUL bytes and invalid UTF-8.
pub(crate) fn check(bytes: &[u8]) -> Result<&str, BadCell> {
    if memchr::memchr(0, bytes).is_some() {
        return Err(BadCell::Nul);
    }
    std::str::from_utf8(bytes).map_err(|_| BadCell::NotUtf8)
}

/// The codes of one column in one block, and the values that were new to its thread.
#[derive(Debug, Default)]
pub(crate) struct EncodedColumn {
    /// Whether the thread's codes start again from zero with this block.
    pub reset: bool,
    /// The new values, concatenated.
    pub text: String,
    /// The end of each new value in `text`.
    pub ends: Vec<u32>,
    /// The cells in the thread's codes.
    pub codes: Codes,
}

/// The values that one thread has seen in one column.
pub(crate) struct ColumnEncoder {
    slots: Vec<Slot>,
    /// 64 − log₂ of the number of slots.
    shift: u32,
    text: String,
    ends: Vec<u32>,
    sent: usize,
    reset: bool,
    /// The code of null, if it has occurred.
    null: Option<u32>,
    /// Codes that are not narrowed yet.
    wide: Vec<u32>,
    codes: Codes,
}

const MASKS: [u64; 9] = [
    0,
    0xFF,
    0xFFFF,
    0xFF_FFFF,
    0xFFFF_FFFF,
    0xFF_FFFF_FFFF,
    0xFFFF_FFFF_FFFF,
    0xFF_FFFF_FFFF_FFFF,
    0xFFFF_FFFF_FFFF_FFFF,
];

/// Eight bytes of `data` from `at`; bytes beyond its end are zero.
#[inline(always)]
fn word(data: &[u8], at: usize) -> u64 {
    match data.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => last_word(data, at),
    }
}

#[cold]
fn last_word(data: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(data.get(at..).unwrap_or_default()) {
        *to = *from;
    }
    u64::from_le_bytes(bytes)
}

#[inline(always)]
fn key(data: &[u8], start: usize, length: usize) -> Key {
    let (low, high) = if length <= 8 {
        (word(data, start) & MASKS[length], 0)
    } else if length <= 16 {
        (word(data, start), word(data, start + length - 8))
    } else {
        long_key(data, start, length)
    };
    Key { low, high, length: length as u32 }
}

#[inline(never)]
fn long_key(data: &[u8], start: usize, length: usize) -> (u64, u64) {
    let mut state = Key { low: 0, high: 0, length: length as u32 };
    let bytes = &data[start..start + length];
    for chunk in bytes.chunks(16) {
        state.low ^= word(chunk, 0);
        state.high ^= word(chunk, 8);
        let hash = state.hash();
        state.high = state.low.rotate_left(29) ^ hash;
        state.low = hash;
    }
    (word(bytes, 0), state.hash())
}

impl Default for ColumnEncoder {
    fn default() -> Self {
        ColumnEncoder {
            slots: vec![EMPTY; 64],
            shift: 64 - 6,
            text: String::new(),
            ends: Vec::new(),
            sent: 0,
            reset: true,
            null: None,
            wide: Vec::new(),
            codes: Codes::default(),
        }
    }
}

impl ColumnEncoder {
    /// The code of the bytes `data[start..start + length]`. Faster when `data` extends eight bytes further.
    #[inline(always)]
    pub fn code(&mut self, data: &[u8], start: usize, length: usize) -> Result<u32, BadCell> {
        let key = key(data, start, length);
        let mut at = (key.hash() >> self.shift) as usize;
        let mask = self.slots.len() - 1;
        loop {
            let slot = &self.slots[at & mask];
            if slot.key == key && slot.code != VACANT && (length <= 16 || self.same(slot.code, data, start, length)) {
                return Ok(slot.code);
            }
            if slot.code == VACANT {
                return self.insert(key, at & mask, &data[start..start + length]);
            }
            at += 1;
        }
    }

    #[inline(never)]
    fn same(&self, code: u32, data: &[u8], start: usize, length: usize) -> bool {
        self.value(code).as_bytes() == &data[start..start + length]
    }

    fn value(&self, code: u32) -> &str {
        let code = code as usize;
        let start = if code == 0 { 0 } else { self.ends[code - 1] as usize };
        &self.text[start..self.ends[code] as usize]
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, key: Key, at: usize, value: &[u8]) -> Result<u32, BadCell> {
        // Checked once per distinct value; known values have passed.
        self.text.push_str(check(value)?);
        let code = self.ends.len() as u32;
        self.ends.push(self.text.len() as u32);
        self.slots[at] = Slot { key, code };
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        Ok(code)
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 4;
        let old = std::mem::replace(&mut self.slots, vec![EMPTY; size]);
        self.shift -= 2;
        for slot in old.into_iter().filter(|slot| slot.code != VACANT) {
            let mut at = (slot.key.hash() >> self.shift) as usize;
            while self.slots[at & (size - 1)].code != VACANT {
                at += 1;
            }
            self.slots[at & (size - 1)] = slot;
        }
    }

    /// Appends a cell.
    #[inline]
    pub fn push(&mut self, data: &[u8], start: usize, length: usize) -> Result<(), BadCell> {
        let code = self.code(data, start, length)?;
        self.push_code(code);
        Ok(())
    }

    /// Appends a cell whose code is known.
    #[inline]
    pub fn push_code(&mut self, code: u32) {
        self.wide.push(code);
        if self.wide.len() >= 4096 {
            self.narrow();
        }
    }

    /// Appends a cell that is null.
    pub fn push_null(&mut self) {
        let code = *self.null.get_or_insert_with(|| {
            self.text.push_str(NULL);
            self.ends.push(self.text.len() as u32);
            self.ends.len() as u32 - 1
        });
        self.push_code(code);
    }

    /// The code of the last cell of this block.
    pub fn last_code(&self) -> Option<u32> {
        self.wide.last().copied().or_else(|| self.codes.len().checked_sub(1).map(|row| self.codes.get(row)))
    }

    /// Appends the cells between delimiters: cell `i` lies after `before[i]` and ends before `after[i]`. With `last`, a
    /// carriage return before the end is not part of the cell. Stops at the first bad cell.
    pub fn push_fields<'a>(
        &mut self,
        data: &[u8],
        before: impl Iterator<Item = &'a u32>,
        after: impl Iterator<Item = &'a u32>,
        last: bool,
    ) -> Result<(), BadCell> {
        let mut wide = std::mem::take(&mut self.wide);
        for (&b, &a) in before.zip(after) {
            let start = b.wrapping_add(1) as usize;
            let mut end = a as usize;
            if last && end > start && data[end - 1] == b'\r' {
                end -= 1;
            }
            match self.code(data, start, end.saturating_sub(start)) {
                Ok(code) => wide.push(code),
                Err(bad) => {
                    self.wide = wide;
                    return Err(bad);
                }
            }
        }
        self.wide = wide;
        self.narrow();
        Ok(())
    }

    /// Removes the cells of this block from row `rows` on.
    pub fn truncate(&mut self, rows: usize) {
        self.narrow();
        match &mut self.codes {
            Codes::U8(v) => v.truncate(rows),
            Codes::U16(v) => v.truncate(rows),
            Codes::U32(v) => v.truncate(rows),
        }
    }

    fn narrow(&mut self) {
        let distinct = self.ends.len();
        if distinct > 1 << 8 && matches!(self.codes, Codes::U8(_)) {
            self.widen(distinct);
        }
        if distinct > 1 << 16 && matches!(self.codes, Codes::U16(_)) {
            self.widen(distinct);
        }
        match &mut self.codes {
            Codes::U8(v) => v.extend(self.wide.iter().map(|&c| c as u8)),
            Codes::U16(v) => v.extend(self.wide.iter().map(|&c| c as u16)),
            Codes::U32(v) => v.extend(self.wide.iter()),
        }
        self.wide.clear();
    }

    fn widen(&mut self, distinct: usize) {
        let mut wider = Codes::for_distinct(distinct, self.codes.len() + self.wide.len());
        self.codes.for_each(|c| wider.push(c));
        self.codes = wider;
    }

    /// Whether the limits of a generation are reached.
    pub fn is_full(&self) -> bool {
        self.ends.len() >= GENERATION || self.text.len() >= GENERATION_TEXT
    }

    /// Discards all values; codes start again from zero. To be called between blocks only.
    fn forget(&mut self) {
        self.slots.fill(EMPTY);
        self.text.clear();
        self.ends.clear();
        self.sent = 0;
        self.reset = true;
        self.null = None;
    }

    /// Returns the block's codes and new values, and prepares for the next block.
    pub fn finish(&mut self) -> EncodedColumn {
        self.narrow();
        let from = if self.sent == 0 { 0 } else { self.ends[self.sent - 1] };
        let column = EncodedColumn {
            reset: self.reset,
            text: self.text[from as usize..].to_string(),
            ends: self.ends[self.sent..].iter().map(|e| e - from).collect(),
            codes: std::mem::replace(&mut self.codes, Codes::for_distinct(self.ends.len(), 0)),
        };
        self.sent = self.ends.len();
        self.reset = false;
        if self.is_full() {
            self.forget();
            self.codes = Codes::default();
        }
        column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_length_get_codes_by_first_appearance() {
        let mut encoder = ColumnEncoder::default();
        let mut known: Vec<String> = Vec::new();
        for i in 0..5000u32 {
            let value = format!("{:0width$}", i % 700, width = (i % 41) as usize);
            let expected = known.iter().position(|k| *k == value).unwrap_or_else(|| {
                known.push(value.clone());
                known.len() - 1
            });
            assert_eq!(encoder.code(value.as_bytes(), 0, value.len()), Ok(expected as u32));
            let padded = format!("{value},more of the line");
            assert_eq!(encoder.code(padded.as_bytes(), 0, value.len()), Ok(expected as u32));
        }
    }

    #[test]
    fn zeros_at_the_end_are_not_padding() {
        let mut encoder = ColumnEncoder::default();
        assert_eq!(encoder.code(b"a", 0, 1), Ok(0));
        assert_eq!(encoder.code(b"a\0", 0, 2), Err(BadCell::Nul));
        assert_eq!(encoder.code(b"\xff", 0, 1), Err(BadCell::NotUtf8));
        assert_eq!(encoder.code(b"", 0, 0), Ok(1));
    }
}
