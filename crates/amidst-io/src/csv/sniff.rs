//! Guesses the separator from the first lines.

use super::record::Record;

const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];
const LINES: usize = 20;

/// The separator with which the first lines of `sample` have the same number of fields, the largest number if several
/// qualify; a comma if none does. The sample's last line counts only if `whole`, that is, if the file ends there.
pub(crate) fn guess_separator(sample: &[u8], whole: bool) -> u8 {
    let mut best = (false, 1, b',');
    for separator in CANDIDATES {
        let mut record = Record::default();
        let mut counts = Vec::new();
        let mut at = 0;
        while at < sample.len() && counts.len() < LINES {
            let blank = Record::is_blank(sample, at);
            record.parse(sample, at, separator);
            at = record.next;
            let cut = at == sample.len() && !whole && !counts.is_empty();
            if !blank && !cut {
                counts.push(record.fields.len());
            }
        }
        let first = counts.first().copied().unwrap_or(0);
        let even = first > 1 && counts.iter().all(|&n| n == first);
        if (even, first) > (best.0, best.1) {
            best = (even, first, separator);
        }
    }
    best.2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_with_even_lines_wins() {
        assert_eq!(guess_separator(b"a;b\n1,5;2\n3,1,4;2\n", true), b';');
        assert_eq!(guess_separator(b"a,b;c\n1,2\n1;3,4\n", true), b',');
        assert_eq!(guess_separator(b"a\tb\n1\t2\n", true), b'\t');
        assert_eq!(guess_separator(b"a|b|c\n1|2|3,4\n1|2", false), b'|');
        assert_eq!(guess_separator(b"name\nx\n", true), b',');
        assert_eq!(guess_separator(b"a,b\n\"x;y\",\"1\n;2\"\n", true), b',');
    }
}
