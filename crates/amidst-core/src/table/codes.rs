//! Cells of one column, in as few bytes as its dictionary allows.

/// One code per row, one, two or four bytes each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Codes {
    /// Up to 256 distinct values.
    U8(Vec<u8>),
    /// Up to 65,536 distinct values.
    U16(Vec<u16>),
    /// More.
    U32(Vec<u32>),
}

impl Default for Codes {
    fn default() -> Self {
        Codes::U8(Vec::new())
    }
}

/// Runs `$body` with `$v` bound to the vector inside, whatever its width.
macro_rules! each_width {
    ($codes:expr, $v:ident => $body:expr) => {
        match $codes {
            Codes::U8($v) => $body,
            Codes::U16($v) => $body,
            Codes::U32($v) => $body,
        }
    };
}

impl Codes {
    /// An empty vector wide enough for `distinct` values.
    pub fn for_distinct(distinct: usize, capacity: usize) -> Self {
        if distinct <= 1 << 8 {
            Codes::U8(Vec::with_capacity(capacity))
        } else if distinct <= 1 << 16 {
            Codes::U16(Vec::with_capacity(capacity))
        } else {
            Codes::U32(Vec::with_capacity(capacity))
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        each_width!(self, v => v.len())
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The code of row `row`.
    #[inline]
    pub fn get(&self, row: usize) -> u32 {
        match self {
            Codes::U8(v) => u32::from(v[row]),
            Codes::U16(v) => u32::from(v[row]),
            Codes::U32(v) => v[row],
        }
    }

    /// Appends a code, widening the vector when the code does not fit.
    pub fn push(&mut self, code: u32) {
        match self {
            Codes::U8(v) => match u8::try_from(code) {
                Ok(c) => v.push(c),
                Err(_) => {
                    *self = self.widened(code);
                    self.push(code);
                }
            },
            Codes::U16(v) => match u16::try_from(code) {
                Ok(c) => v.push(c),
                Err(_) => {
                    *self = self.widened(code);
                    self.push(code);
                }
            },
            Codes::U32(v) => v.push(code),
        }
    }

    fn widened(&self, code: u32) -> Codes {
        let mut wide = Codes::for_distinct(code as usize + 1, self.len() + 1);
        self.for_each(|c| wide.push(c));
        wide
    }

    /// Calls `visit` with every code, in row order.
    #[inline]
    pub fn for_each(&self, mut visit: impl FnMut(u32)) {
        match self {
            Codes::U8(v) => v.iter().for_each(|&c| visit(u32::from(c))),
            Codes::U16(v) => v.iter().for_each(|&c| visit(u32::from(c))),
            Codes::U32(v) => v.iter().for_each(|&c| visit(c)),
        }
    }

    /// Calls `visit` with the code of every row of a range, in row order.
    #[inline]
    pub fn for_each_in(&self, rows: std::ops::Range<usize>, mut visit: impl FnMut(u32)) {
        match self {
            Codes::U8(v) => v[rows].iter().for_each(|&c| visit(u32::from(c))),
            Codes::U16(v) => v[rows].iter().for_each(|&c| visit(u32::from(c))),
            Codes::U32(v) => v[rows].iter().for_each(|&c| visit(c)),
        }
    }

    /// The same rows with every code replaced by `map[code]`, in the narrowest width for `distinct` values.
    pub fn mapped(&self, map: &[u32], distinct: usize) -> Codes {
        let mut out = Codes::for_distinct(distinct, self.len());
        match &mut out {
            Codes::U8(o) => each_width!(self, v => o.extend(v.iter().map(|&c| map[c as usize] as u8))),
            Codes::U16(o) => each_width!(self, v => o.extend(v.iter().map(|&c| map[c as usize] as u16))),
            Codes::U32(o) => each_width!(self, v => o.extend(v.iter().map(|&c| map[c as usize]))),
        }
        out
    }

    /// Appends the codes of `other`, each replaced by `map[code]`.
    pub fn extend_mapped(&mut self, other: &Codes, map: &[u32], distinct: usize) {
        let width = std::mem::discriminant(&Codes::for_distinct(distinct, 0));
        if std::mem::discriminant(self) != width && !matches!(self, Codes::U32(_)) {
            let mut wide = Codes::for_distinct(distinct, self.len() + other.len());
            if matches!((&*self, &wide), (Codes::U16(_), Codes::U8(_))) {
                wide = Codes::U16(Vec::with_capacity(self.len() + other.len()));
            }
            self.for_each(|c| wide.push(c));
            *self = wide;
        }
        match self {
            Codes::U8(o) => each_width!(other, v => o.extend(v.iter().map(|&c| map[c as usize] as u8))),
            Codes::U16(o) => each_width!(other, v => o.extend(v.iter().map(|&c| map[c as usize] as u16))),
            Codes::U32(o) => each_width!(other, v => o.extend(v.iter().map(|&c| map[c as usize]))),
        }
    }

    /// Keeps the rows for which `keep` is true.
    pub fn retain(&mut self, keep: &[bool]) {
        each_width!(self, v => {
            let mut row = 0;
            v.retain(|_| {
                row += 1;
                keep[row - 1]
            });
        });
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        match self {
            Codes::U8(v) => v.capacity(),
            Codes::U16(v) => v.capacity() * 2,
            Codes::U32(v) => v.capacity() * 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_widen_as_the_dictionary_grows() {
        let mut codes = Codes::default();
        for c in [0, 255, 256, 65_535, 65_536, 7] {
            codes.push(c);
        }
        assert!(matches!(codes, Codes::U32(_)));
        assert_eq!((0..6).map(|r| codes.get(r)).collect::<Vec<_>>(), [0, 255, 256, 65_535, 65_536, 7]);
    }

    #[test]
    fn extending_keeps_the_wider_width() {
        let mut codes = Codes::U16(vec![300, 2]);
        codes.extend_mapped(&Codes::U8(vec![0, 1]), &[5, 6], 7);
        assert_eq!(codes, Codes::U16(vec![300, 2, 5, 6]));
    }
}
