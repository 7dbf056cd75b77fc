//! Parses a line of COPY in text format: cells separated by tabs, `\N` for null, backslash escapes.

use std::borrow::Cow;

use memchr::memchr;

/// One cell.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Cell<'a> {
    Null,
    Text(Cow<'a, [u8]>),
}

/// The cells of a line without its line feed.
pub(crate) fn cells(line: &[u8]) -> Vec<Cell<'_>> {
    line.split(|&b| b == b'\t').map(cell).collect()
}

fn cell(bytes: &[u8]) -> Cell<'_> {
    if bytes == b"\\N" {
        return Cell::Null;
    }
    if memchr(b'\\', bytes).is_none() {
        return Cell::Text(Cow::Borrowed(bytes));
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter();
    while let Some(&byte) = rest.next() {
        out.push(match (byte, if byte == b'\\' { rest.next() } else { None }) {
            (b'\\', Some(b'b')) => 0x08,
            (b'\\', Some(b'f')) => 0x0C,
            (b'\\', Some(b'n')) => b'\n',
            (b'\\', Some(b'r')) => b'\r',
            (b'\\', Some(b't')) => b'\t',
            (b'\\', Some(b'v')) => 0x0B,
            (b'\\', Some(&other)) => other,
            (byte, _) => byte,
        });
    }
    Cell::Text(Cow::Owned(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_told_from_nulls_and_unescaped() {
        let text = |t: &'static str| Cell::Text(Cow::Borrowed(t.as_bytes()));
        assert_eq!(cells(b"a\t\\N\t\t\\\\N"), [text("a"), Cell::Null, text(""), text("\\N")]);
        assert_eq!(cells(b"x\\ty\\nz\\r\\b\\f\\v\\\\"), [text("x\ty\nz\r\u{8}\u{c}\u{b}\\")]);
        assert_eq!(cells("é\\".as_bytes()), [text("é\\")]);
    }
}
