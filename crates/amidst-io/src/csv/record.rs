//! Parses one record at a time, with quotes.
//!
//! A field that starts with a quote ends at the next quote that is not doubled; a quote inside a field that does not
//! start with one is an ordinary character, as in other programs. Where programs differ, the record is flagged as
//! having [`two readings`](Record::two_readings): text after the closing quote, blanks before the opening quote, and a
//! carriage return that does not end a line.

use memchr::{memchr, memchr2};

/// The range of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub start: usize,
    pub end: usize,
    /// The range is in the scratch buffer instead of the data, because quotes were removed.
    pub in_scratch: bool,
    /// Whether it starts with a quote.
    pub quoted: bool,
}

/// The fields of one record; its buffers are reused for the next.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub fields: Vec<Field>,
    /// Text of the fields that differ from the data.
    pub scratch: Vec<u8>,
    /// Where the next record starts.
    pub next: usize,
    /// Line breaks in the record, its own end included.
    pub breaks: u64,
    /// Whether the data ended inside a quoted field, which is then the last one.
    pub unclosed: bool,
    /// The first field that other programs read differently.
    pub two_readings: Option<usize>,
}

impl Record {
    /// Parses the record at `start`. The data must end with a complete record or with the file.
    pub fn parse(&mut self, data: &[u8], start: usize, separator: u8) {
        self.fields.clear();
        self.scratch.clear();
        self.unclosed = false;
        self.two_readings = None;
        self.breaks = 0;
        let mut at = start;
        loop {
            let quoted = data.get(at) == Some(&b'"');
            let end = if quoted { self.quoted(data, at + 1, separator) } else { self.plain(data, at, separator) };
            at = end + 1;
            if data.get(end) != Some(&separator) {
                self.breaks += u64::from(end < data.len());
                self.next = at.min(data.len());
                return;
            }
        }
    }

    /// Whether the line at `start` is empty.
    pub fn is_blank(data: &[u8], start: usize) -> bool {
        match data.get(start) {
            None | Some(b'\n') => true,
            Some(b'\r') => matches!(data.get(start + 1), None | Some(b'\n')),
            _ => false,
        }
    }

    fn plain(&mut self, data: &[u8], start: usize, separator: u8) -> usize {
        let end = find_end(data, start, separator);
        let stop = end - returned(data, start, end, separator);
        let text = &data[start..stop];
        if memchr(b'\r', text).is_some() || text.trim_ascii_start().first() == Some(&b'"') {
            self.doubt();
        }
        self.fields.push(Field { start, end: stop, in_scratch: false, quoted: false });
        end
    }

    /// Records that other programs read the next field differently.
    fn doubt(&mut self) {
        self.two_readings = self.two_readings.or(Some(self.fields.len()));
    }

    /// Parses the field whose opening quote is before `start`; returns the offset of the separator or line break after
    /// it.
    fn quoted(&mut self, data: &[u8], start: usize, separator: u8) -> usize {
        let from = self.scratch.len();
        let mut at = start;
        loop {
            let rest = data.get(at..).unwrap_or_default();
            let Some(i) = memchr(b'"', rest) else {
                self.unclosed = true;
                self.breaks += breaks(rest);
                self.fields.push(Field { start, end: data.len(), in_scratch: false, quoted: true });
                return data.len();
            };
            let close = at + i;
            self.breaks += breaks(&data[at..close]);
            if data.get(close + 1) == Some(&b'"') {
                self.scratch.extend_from_slice(&data[at..=close]);
                at = close + 2;
                continue;
            }
            let end = find_end(data, close + 1, separator);
            let stop = end - returned(data, close + 1, end, separator);
            if at == start && stop == close + 1 {
                self.fields.push(Field { start, end: close, in_scratch: false, quoted: true });
            } else {
                self.scratch.extend_from_slice(&data[at..close]);
                self.scratch.extend_from_slice(&data[close + 1..stop]);
                if stop > close + 1 {
                    self.doubt();
                }
                self.fields.push(Field { start: from, end: self.scratch.len(), in_scratch: true, quoted: true });
            }
            return end;
        }
    }

    /// The bytes of a field.
    pub fn bytes<'a>(&'a self, data: &'a [u8], field: Field) -> &'a [u8] {
        let text = if field.in_scratch { self.scratch.as_slice() } else { data };
        &text[field.start..field.end]
    }
}

fn find_end(data: &[u8], from: usize, separator: u8) -> usize {
    memchr2(separator, b'\n', data.get(from..).unwrap_or_default()).map_or(data.len(), |i| from + i)
}

/// 1 when the line ends with a carriage return, which is then part of the line break.
fn returned(data: &[u8], start: usize, end: usize, separator: u8) -> usize {
    usize::from(end > start && data[end - 1] == b'\r' && data.get(end) != Some(&separator))
}

fn breaks(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// The end of the last complete record of `data`, with quotes as in [`Record::parse`].
pub(crate) fn last_record_end(data: &[u8], separator: u8) -> Option<usize> {
    let mut last = None;
    let mut at = 0;
    while let Some(i) = memchr2(b'"', b'\n', &data[at..]) {
        let found = at + i;
        at = found + 1;
        if data[found] == b'\n' {
            last = Some(at);
        } else if found == 0 || data[found - 1] == separator || data[found - 1] == b'\n' {
            loop {
                let i = memchr(b'"', data.get(at..)?);
                let Some(i) = i else { return last };
                at += i + 1;
                match data.get(at) {
                    Some(b'"') => at += 1,
                    // The next byte, not yet read, may double the quote.
                    None => return last,
                    Some(_) => break,
                }
            }
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(data: &str) -> Vec<Vec<String>> {
        let (data, mut record, mut at, mut out) = (data.as_bytes(), Record::default(), 0, Vec::new());
        while at < data.len() {
            record.parse(data, at, b',');
            let text = |f: &Field| String::from_utf8_lossy(record.bytes(data, *f)).into_owned();
            out.push(record.fields.iter().map(text).collect());
            at = record.next;
        }
        out
    }

    #[test]
    fn quotes_are_read_as_rfc_4180_says() {
        assert_eq!(all("a,\"b,\"\"c\"\"\n\",d\r\n,\"\"\r\n"), [vec!["a", "b,\"c\"\n", "d"], vec!["", ""]]);
        assert_eq!(all("5\" pipe,\"x\"y\n"), [["5\" pipe", "xy"]]);
        assert_eq!(all("a,b"), [["a", "b"]]);
        assert_eq!(all("\"a\r\"\r\nb\r\r\n"), [["a\r"], ["b\r"]]);
    }

    #[test]
    fn what_others_read_otherwise_is_noticed() {
        let doubted = |text: &str| {
            let mut record = Record::default();
            record.parse(text.as_bytes(), 0, b',');
            record.two_readings
        };
        for (text, field) in
            [("a,\"b\"c\n", 1), ("\"b\" ,c\n", 0), ("a, \"b\"\n", 1), ("a\rb,c\n", 0), ("a,b\r\r\n", 1)]
        {
            assert_eq!(doubted(text), Some(field), "{text:?}");
        }
        for text in ["a,b\r\n", "\"a\rb\",\"c\"\r\n", "5\" pipe,\"\"\"x\"\"\"\n", "\"a\"", " a ,b\n"] {
            assert_eq!(doubted(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_open_quote_is_noticed() {
        let mut record = Record::default();
        record.parse(b"a,\"b\nc\n", 0, b',');
        assert!(record.unclosed);
        assert_eq!(record.breaks, 2);
    }

    #[test]
    fn blocks_end_after_the_last_whole_record() {
        assert_eq!(last_record_end(b"a,b\nc,\"d\ne", b','), Some(4));
        assert_eq!(last_record_end(b"a,\"b\n\"\nc", b','), Some(7));
        assert_eq!(last_record_end(b"a,\"b\n\"", b','), None);
        assert_eq!(last_record_end(b"5\" pipe\nx\"\ny", b','), Some(11));
    }
}
