//! The text of every distinct value, ready to be copied: escaped once, copied once per cell.

/// Pieces of up to so many bytes are copied as so many, which needs no call. The quasi columns of a class are often that
/// long together.
const SHORT: usize = 64;

/// The texts of a column's values, by code.
#[derive(Default)]
pub(crate) struct Pieces {
    bytes: Vec<u8>,
    /// Where each starts and how long it is.
    spans: Vec<(usize, usize)>,
    longest: usize,
}

impl Pieces {
    /// Appends the text of the next code, written by `make`.
    pub fn push(&mut self, make: impl FnOnce(&mut Vec<u8>)) {
        let start = self.bytes.len();
        make(&mut self.bytes);
        let length = self.bytes.len() - start;
        self.spans.push((start, length));
        self.longest = self.longest.max(length);
    }

    /// To be called once all texts are there.
    pub fn seal(mut self) -> Self {
        self.bytes.resize(self.bytes.len() + SHORT, 0);
        self
    }

    fn copy(&self, code: u32, out: &mut [u8], at: usize) -> usize {
        let (start, length) = self.spans[code as usize];
        if length <= SHORT {
            out[at..at + SHORT].copy_from_slice(&self.bytes[start..start + SHORT]);
        } else {
            copy_long(&self.bytes[start..start + length], &mut out[at..at + length]);
        }
        at + length
    }
}

/// Apart from the short ones: else both would become one call with a length that varies.
#[inline(never)]
fn copy_long(from: &[u8], to: &mut [u8]) {
    to.copy_from_slice(from);
}

/// Rows of pieces: `codes` holds column after column, `rows` codes each.
pub(crate) fn rows(pieces: &[&Pieces], codes: &[u32], rows: usize) -> Vec<u8> {
    let longest_row = pieces.iter().map(|p| p.longest).sum::<usize>() + SHORT;
    let mut out = vec![0; longest_row.saturating_mul(rows).clamp(longest_row, longest_row.max(1 << 20))];
    let mut at = 0;
    for row in 0..rows {
        if out.len() < at + longest_row {
            out.resize((at + longest_row) + out.len() / 2, 0);
        }
        for (column, pieces) in pieces.iter().enumerate() {
            at = pieces.copy(codes[column * rows + row], &mut out, at);
        }
    }
    out.truncate(at);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_length_are_copied_whole() {
        let make = |values: &[&str]| {
            let mut pieces = Pieces::default();
            values.iter().for_each(|v| pieces.push(|out| out.extend_from_slice(v.as_bytes())));
            pieces.seal()
        };
        let (long, middling) = ("x".repeat(100), "y".repeat(SHORT));
        let pieces = [make(&["a,", &long, &middling]), make(&["\n", "sixteen-letters\n", "", "seventeen letters"])];
        let text = rows(&[&pieces[0], &pieces[1]], &[0, 1, 0, 2, 0, 0, 1, 2, 0, 3], 5);
        let expected = format!("a,\n{long}sixteen-letters\na,{middling}\na,seventeen letters");
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
