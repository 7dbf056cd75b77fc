//! Precomputes the text of every distinct value: escaped once, copied once per cell.

/// Short pieces are copied as this many bytes regardless of their length, which avoids a branch.
const SHORT: usize = 16;

/// The texts of a column's values, by code.
#[derive(Default)]
pub(crate) struct Pieces {
    bytes: Vec<u8>,
    /// Start and length of each.
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

    /// Pads the text, so that the last piece can be copied as a short one. To be called after the last `push`.
    pub fn seal(mut self) -> Self {
        self.bytes.resize(self.bytes.len() + SHORT, 0);
        self
    }

    fn copy(&self, code: u32, out: &mut [u8], at: usize) -> usize {
        let (start, length) = self.spans[code as usize];
        if length <= SHORT {
            out[at..at + SHORT].copy_from_slice(&self.bytes[start..start + SHORT]);
        } else {
            out[at..at + length].copy_from_slice(&self.bytes[start..start + length]);
        }
        at + length
    }
}

/// Writes the text of rows made of pieces to the front of `out`, and returns its length: `codes` holds column after
/// column, `rows` codes each.
pub(crate) fn rows(pieces: &[&Pieces], codes: &[u32], rows: usize, out: &mut Vec<u8>) -> usize {
    let longest_row = pieces.iter().map(|p| p.longest).sum::<usize>() + SHORT;
    let expected = longest_row.saturating_mul(rows).clamp(longest_row, longest_row.max(1 << 20));
    out.resize(out.len().max(expected), 0);
    let mut at = 0;
    for row in 0..rows {
        if out.len() < at + longest_row {
            out.resize((at + longest_row) + out.len() / 2, 0);
        }
        for (column, pieces) in pieces.iter().enumerate() {
            at = pieces.copy(codes[column * rows + row], out, at);
        }
    }
    at
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
        let long = "x".repeat(100);
        let pieces = [make(&["a,", &long]), make(&["\n", "sixteen-letters\n", ""])];
        // Whatever memory held before.
        for mut out in [Vec::new(), vec![7; 10], vec![7; 5000]] {
            let length = rows(&[&pieces[0], &pieces[1]], &[0, 1, 0, 0, 1, 2], 3, &mut out);
            out.truncate(length);
            assert_eq!(String::from_utf8(out).unwrap(), format!("a,\n{long}sixteen-letters\na,"));
        }
    }
}
