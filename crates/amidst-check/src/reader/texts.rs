//! Numbers by the text that stands for them, many texts looked up at a time.
//!
//! With a hundred thousand classes neither the texts nor where to find them fit the fastest memory. Asking for a whole
//! batch in steps (all places, then all texts, then the comparisons) lets the waits of one row pass while others
//! wait, too.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// As many texts as are looked up at a time.
pub(crate) const BATCH: usize = 64;

/// Texts with a number each. Not every text has a place: the others are looked up elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// Open addressing, a power of two long: the upper half is that of the hash, the lower half the place of the record
    /// in units, plus one; zero where free.
    slots: Vec<u64>,
    /// Records side by side: the number, the length, the text.
    records: Vec<u8>,
    count: usize,
}

/// Records begin at multiples of this, so that short ones seldom need two pieces of memory.
const UNIT: usize = 16;

/// What stands before the text of a record.
const HEAD: usize = 8;

/// The hash of a text.
fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.finish()
}

/// The part of a hash that is kept beside the place.
fn tag(hash: u64) -> u64 {
    hash & !u64::from(u32::MAX)
}

impl Texts {
    /// Forgets everything.
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

    /// Writes the numbers of up to [`BATCH`] texts.
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
        // The records themselves come near while the next ones are asked for.
        let mut touched = 0u8;
        for &slot in &slots[..texts.len().min(BATCH)] {
            touched ^= self.records.get(place(slot)).copied().unwrap_or(0);
        }
        std::hint::black_box(touched);
        for (((found, text), &hash), &slot) in found.iter_mut().zip(texts).zip(&hashes).zip(&slots) {
            *found = text.and_then(|text| self.find(text, hash, slot));
        }
    }

    /// The slot at which the search for a hash begins.
    fn first(&self, hash: u64) -> u64 {
        self.slots.get(hash as usize & self.slots.len().wrapping_sub(1)).copied().unwrap_or(0)
    }

    /// Goes on from the first slot until the text or a free slot is found.
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

    /// Remembers the number of a text that is not known yet, unless there is no room for it.
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
            // Slots keep only half of the hash, the wrong one to find a place by.
            if let Some((_, text)) = self.record(slot) {
                put(&mut slots, hash(text) as usize, slot);
            }
        }
        self.slots = slots;
    }
}

/// Where the record of a slot begins.
fn place(slot: u64) -> usize {
    ((slot as u32).wrapping_sub(1) as usize).wrapping_mul(UNIT)
}

/// Puts a slot into the first free place from `at` on; one always is.
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
