//! A hash table from texts to numbers with batched look-up.
//!
//! With 100,000 classes neither the slots nor the texts fit the processor's caches. A batch is looked up in stages (all
//! slots, then all records, then the comparisons), so that the cache misses of its texts overlap.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// Number of texts in a batch.
pub(crate) const BATCH: usize = 64;

/// Texts with one number each. A text that could not be stored is not found; callers then look it up by its key.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// Open addressing, length a power of two. Upper 32 bits: those of the hash; lower 32 bits: position of the record
    /// in units, plus one. Zero: free.
    slots: Vec<u64>,
    /// Records one after the other: number, length, text.
    records: Vec<u8>,
    count: usize,
}

/// Records begin at multiples of this, so that most short ones lie in one cache line.
const UNIT: usize = 16;

/// Bytes before the text of a record.
const HEAD: usize = 8;

/// The hash of a text.
fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.finish()
}

/// The upper half of a hash, which slots keep.
fn tag(hash: u64) -> u64 {
    hash & !u64::from(u32::MAX)
}

impl Texts {
    /// Removes all texts.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.records.clear();
        self.count = 0;
    }

    /// The number of a text.
    pub(crate) fn get(&self, text: &[u8]) -> Option<u32> {
        let hash = hash(text);
        self.find(text, hash, self.first(hash))
    }

    /// Looks up at most [`BATCH`] texts; `found[i]` is the number of the i-th.
    pub(crate) fn get_all<'t>(
        &self,
        texts: impl ExactSizeIterator<Item = Option<&'t [u8]>> + Clone,
        found: &mut [Option<u32>; BATCH],
    ) {
        let mut hashes = [0u64; BATCH];
        let mut slots = [0u64; BATCH];
        for (hash_of, text) in hashes.iter_mut().zip(texts.clone()) {
            *hash_of = text.map_or(0, hash);
        }
        for (slot, &hash) in slots.iter_mut().zip(&hashes).take(texts.len()) {
            *slot = self.first(hash);
        }
        // Touching one byte of each record loads it into the cache before the comparisons.
        let mut touched = 0u8;
        for &slot in &slots[..texts.len().min(BATCH)] {
            touched ^= self.records.get(place(slot)).copied().unwrap_or(0);
        }
        std::hint::black_box(touched);
        for (((found, text), &hash), &slot) in found.iter_mut().zip(texts).zip(&hashes).zip(&slots) {
            *found = text.and_then(|text| self.find(text, hash, slot));
        }
    }

    /// The content of the first slot for a hash.
    fn first(&self, hash: u64) -> u64 {
        self.slots.get(hash as usize & self.slots.len().wrapping_sub(1)).copied().unwrap_or(0)
    }

    /// Probes from the first slot until the text or a free slot is found.
    fn find(&self, text: &[u8], hash: u64, first: u64) -> Option<u32> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        let mut slot = first;
        while slot != 0 {
            if tag(slot) == tag(hash)
                && let Some((number, known)) = self.record(slot)
                && known == text
            {
                return Some(number);
            }
            at = (at + 1) & mask;
            slot = self.slots.get(at).copied().unwrap_or(0);
        }
        None
    }

    /// The number and the text of a record.
    fn record(&self, slot: u64) -> Option<(u32, &[u8])> {
        let (head, rest) = self.records.get(place(slot)..)?.split_first_chunk::<HEAD>()?;
        let head = u64::from_le_bytes(*head);
        Some((head as u32, rest.get(..(head >> 32) as usize)?))
    }

    /// Stores the number of a text that is not in the table yet; does nothing when positions would exceed 32 bits.
    pub(crate) fn insert(&mut self, text: &[u8], number: u32) {
        let (Ok(length), Ok(unit)) = (u32::try_from(text.len()), u32::try_from(self.records.len() / UNIT + 1)) else {
            return;
        };
        if (self.count + 1) * 2 > self.slots.len() {
            self.grow();
        }
        self.records.extend_from_slice(&(u64::from(length) << 32 | u64::from(number)).to_le_bytes());
        self.records.extend_from_slice(text);
        self.records.resize(self.records.len().next_multiple_of(UNIT), 0);
        let hash = hash(text);
        put(&mut self.slots, hash as usize, tag(hash) | u64::from(unit));
        self.count += 1;
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = vec![0; (self.slots.len() * 2).max(64)];
        for &slot in self.slots.iter().filter(|&&slot| slot != 0) {
            // Slots keep the upper half of the hash; the position follows from the lower half.
            if let Some((_, text)) = self.record(slot) {
                put(&mut slots, hash(text) as usize, slot);
            }
        }
        self.slots = slots;
    }
}

/// The offset of the record of a slot.
fn place(slot: u64) -> usize {
    ((slot as u32).wrapping_sub(1) as usize).wrapping_mul(UNIT)
}

/// Puts a slot into the first free position from `at` on. At most half of the positions are taken.
fn put(slots: &mut [u64], at: usize, slot: u64) {
    let mask = slots.len().wrapping_sub(1);
    let mut at = at & mask;
    while slots.get(at).is_some_and(|&taken| taken != 0) {
        at = (at + 1) & mask;
    }
    if let Some(free) = slots.get_mut(at) {
        *free = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_keeps_its_number() {
        let text = |i: u32| format!("{}{}", "x".repeat(i as usize % 40), i).into_bytes();
        let mut texts = Texts::default();
        assert_eq!(texts.get(b""), None);
        for i in 0..5000 {
            assert_eq!(texts.get(&text(i)), None);
            texts.insert(&text(i), i * 3);
        }
        texts.insert(b"", 7);
        assert_eq!(texts.get(b""), Some(7));
        let asked: Vec<Vec<u8>> = (0..10_000).step_by(3).map(text).collect();
        for (batch, asked) in asked.chunks(BATCH).enumerate() {
            let mut found = [None; BATCH];
            texts.get_all(asked.iter().map(|t| Some(t.as_slice())), &mut found);
            for (i, found) in found.iter().enumerate().take(asked.len()) {
                let number = (batch * BATCH + i) as u32 * 3;
                assert_eq!(*found, (number < 5000).then_some(number * 3));
                assert_eq!(*found, texts.get(&asked[i]));
            }
        }
        texts.clear();
        assert_eq!((texts.get(b""), texts.get(&text(3))), (None, None));
    }
}
