//! The machine words of shapes and hulls, with types of their own: the same numbers elsewhere are counts of rows.
//!
//! What a word holds depends on its column ([`Measure`](super::axis::Measure)), so only this folder looks inside. A
//! word of zeros is the start of every shape.

/// One word of a [`Shape`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShapeWord(pub(super) u64);

/// The tightest generalized tuple over some rows, [`Space::words`](super::Space::words) words.
pub type Shape = [ShapeWord];

/// One word of a [`Hull`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HullWord(pub(super) u64);

/// What a branch of an index knows of the shapes below it, [`Space::hull_words`](super::Space::hull_words) words.
pub type Hull = [HullWord];

impl ShapeWord {
    /// A word of two numbers: the ends of a range, or the level of a node and a code below it.
    #[inline]
    pub(super) fn pair(high: u32, low: u32) -> Self {
        ShapeWord(u64::from(high) << 32 | u64::from(low))
    }

    /// The two numbers.
    #[inline]
    pub(super) fn unpair(self) -> (u32, u32) {
        unpair(self.0)
    }

    /// Whether a word of a set holds a code, by the code's place in the word.
    #[inline]
    pub(super) fn holds(self, code: u32) -> bool {
        self.0 >> (code % 64) & 1 == 1
    }

    /// Puts a code into a word of a set.
    #[inline]
    pub(super) fn insert(&mut self, code: u32) {
        self.0 |= 1 << (code % 64);
    }
}

impl HullWord {
    /// A word of two numbers: the ends of a range, or the grades of the least and the most that nodes cost.
    #[inline]
    pub(super) fn pair(high: u32, low: u32) -> Self {
        HullWord(ShapeWord::pair(high, low).0)
    }

    /// The two numbers.
    #[inline]
    pub(super) fn unpair(self) -> (u32, u32) {
        unpair(self.0)
    }
}

#[inline]
fn unpair(word: u64) -> (u32, u32) {
    ((word >> 32) as u32, word as u32)
}
