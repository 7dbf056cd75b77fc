//! Finds separators and line feeds in a text, 64 bytes at a time.
//!
//! Cells are short: a search for the next separator costs more to start than to run, and a loop over the separators of
//! a block is mispredicted often. A block therefore becomes a mask of 64 bits, and positions are written in groups of
//! eight without a branch per position.

/// Bytes per mask.
const STRETCH: usize = 64;

/// The positions of two byte values in a text, in order.
pub(crate) struct Marks<'a> {
    text: &'a [u8],
    bytes: [u8; 2],
    /// Number of bytes searched so far.
    seen: usize,
    /// Positions found: those from `taken` to `found` are pending.
    places: Vec<u32>,
    taken: usize,
    found: usize,
}

impl<'a> Marks<'a> {
    /// The positions of `separator` and of line feeds in `text`, buffered about `many` at a time; `None` when positions
    /// would exceed 32 bits.
    pub(crate) fn new(text: &'a [u8], separator: u8, many: usize) -> Option<Self> {
        u32::try_from(text.len()).ok()?;
        let places = vec![0; many + 2 * STRETCH];
        Some(Marks { text, bytes: [separator, b'\n'], seen: 0, places, taken: 0, found: 0 })
    }

    /// The pending positions, at least `least` of them unless the text ends before. A text that does not end with a
    /// line feed has an additional position at its end.
    pub(crate) fn wait(&mut self, least: usize) -> &[u32] {
        if self.found - self.taken < least && self.seen < self.text.len() {
            self.places.copy_within(self.taken..self.found, 0);
            (self.taken, self.found) = (0, self.found - self.taken);
            while self.found + STRETCH < self.places.len() && self.seen < self.text.len() {
                self.look();
            }
        }
        &self.places[self.taken..self.found]
    }

    /// Removes the first `count` pending positions.
    pub(crate) fn take(&mut self, count: usize) {
        self.taken = (self.taken + count).min(self.found);
    }

    /// Searches the next block; the buffer has room for it.
    fn look(&mut self) {
        let rest = &self.text[self.seen..];
        let bits = match rest.first_chunk::<STRETCH>() {
            Some(stretch) => equal(stretch, self.bytes),
            None => {
                // The block is padded with zeros; matches in the padding are masked out.
                let mut stretch = [0; STRETCH];
                stretch[..rest.len()].copy_from_slice(rest);
                equal(&stretch, self.bytes) & !(u64::MAX << rest.len())
            }
        };
        self.write(bits, self.seen as u32);
        self.seen = (self.seen + STRETCH).min(self.text.len());
        if self.seen == self.text.len() && self.text.last() != Some(&b'\n') {
            self.places[self.found] = self.seen as u32;
            self.found += 1;
        }
    }

    fn write(&mut self, mut bits: u64, base: u32) {
        let count = bits.count_ones() as usize;
        let room = &mut self.places[self.found..self.found + STRETCH];
        for eight in room.chunks_exact_mut(8) {
            for place in eight {
                *place = base + bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                break;
            }
        }
        self.found += count;
    }
}

/// A bit for each byte that equals `a` or `b`.
fn equal(stretch: &[u8; STRETCH], [a, b]: [u8; 2]) -> u64 {
    let mut same = [0u8; STRETCH];
    for (same, &byte) in same.iter_mut().zip(stretch) {
        *same = u8::from(byte == a) | u8::from(byte == b);
    }
    // The product gathers the lowest bits of eight bytes in its top byte; no two of its terms overlap there.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let words = same.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word).wrapping_mul(GATHER) >> 56);
    words.enumerate().fold(0, |bits, (i, word)| bits | word << (i * 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_wherever_they_stand() {
        let text: Vec<u8> = (0..3000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 & 0x8f).collect();
        let all = [b'\n'; 500];
        for separator in [0, 1, 0x80, 0x8f] {
            for (from, to) in [(0, 3000), (3, 2999), (7, 71), (8, 72), (0, 0), (5, 6), (1, 1000)] {
                for text in [&text[from..to], &all[from.min(400)..to.min(500)]] {
                    let is_mark = |at: &usize| text[*at] == separator || text[*at] == b'\n';
                    let mut wanted: Vec<u32> = (0..text.len()).filter(is_mark).map(|at| at as u32).collect();
                    if text.last().is_some_and(|&last| last != b'\n') {
                        wanted.push(text.len() as u32);
                    }
                    let mut marks = Marks::new(text, separator, 10).unwrap();
                    let mut given = Vec::new();
                    loop {
                        let waiting = marks.wait(7);
                        let count = waiting.len().min(7);
                        given.extend_from_slice(&waiting[..count]);
                        if count == 0 {
                            break;
                        }
                        marks.take(count);
                    }
                    assert_eq!(given, wanted);
                }
            }
        }
    }
}
