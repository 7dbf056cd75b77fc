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

/// The text of rows made of pieces: `codes` holds column after column, `rows` codes each.
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
        let long = "x".repeat(100);
        let pieces = [make(&["a,", &long]), make(&["\n", "sixteen-letters\n", ""])];
        let text = rows(&[&pieces[0], &pieces[1]], &[0, 1, 0, 0, 1, 2], 3);
        assert_eq!(String::from_utf8(text).unwrap(), format!("a,\n{long}sixteen-letters\na,"));
    }
}
