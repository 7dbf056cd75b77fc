//! Reads delimited text in the one form in which releases are written, so that no two readers see different rows.
//!
//! The rules of the writer, stated a second time: every line, the last included, ends with one line feed; a cell is
//! quoted when it contains the separator, a quote, a line feed or a carriage return, when it begins with a byte order
//! mark, or when it is empty and the only cell of its line, and never otherwise; a quote inside quotes is doubled. A
//! column name is also quoted when it is the only one or has white space around it. Everything is UTF-8 without zero
//! bytes.

use super::limits;
use super::selection::Cells;
use super::stream::{Added, Fault};
use super::tally::Tally;

const MARK: &[u8] = b"\xef\xbb\xbf";

/// A record split into cells.
#[derive(Default)]
pub(crate) struct Record<'a> {
    block: &'a [u8],
    /// The range of each cell in the block, quotes included.
    raw: Vec<(usize, usize)>,
    /// The cell without quotes: in the block, or in `text` where doubled quotes were replaced.
    cells: Vec<Place>,
    text: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Place {
    Block(usize, usize),
    Text(usize, usize),
}

impl<'a> Record<'a> {
    pub(crate) fn new(block: &'a [u8]) -> Self {
        Record { block, ..Record::default() }
    }

    /// Reads the record at `at` and returns the offset of the next. An error has the offset of the fault.
    pub(crate) fn read(&mut self, at: usize, separator: u8) -> Result<usize, (usize, &'static str)> {
        let block = self.block;
        self.raw.clear();
        self.cells.clear();
        self.text.clear();
        let mut at = at;
        loop {
            let start = at;
            let place = if block.get(at) == Some(&b'"') {
                let (place, end) = self.quoted(at)?;
                at = end;
                place
            } else {
                let rest = block.get(at..).unwrap_or_default();
                let length = memchr::memchr2(separator, b'\n', rest)
                    .ok_or((at, "the last line does not end with a line feed"))?;
                if let Some(inside) = memchr::memchr2(b'"', b'\r', &rest[..length]) {
                    let what = if rest[inside] == b'"' {
                        "a quote inside a cell that does not stand in quotes"
                    } else {
                        "a carriage return outside of quotes"
                    };
                    return Err((at + inside, what));
                }
                at += length;
                Place::Block(start, at)
            };
            self.raw.push((start, at));
            self.cells.push(place);
            match block.get(at) {
                Some(b'\n') => return Ok(at + 1),
                Some(&byte) if byte == separator => at += 1,
                Some(_) => return Err((at, "something between a quote and the end of its cell")),
                None => return Err((at, "the last line does not end with a line feed")),
            }
        }
    }

    /// Reads the quoted cell at `at`; the end is the offset after the closing quote.
    fn quoted(&mut self, at: usize) -> Result<(Place, usize), (usize, &'static str)> {
        let block = self.block;
        let mut from = at + 1;
        let copied = self.text.len();
        let mut doubled = false;
        loop {
            let rest = block.get(from..).unwrap_or_default();
            let length = memchr::memchr(b'"', rest).ok_or((at, "a quote that is never closed"))?;
            let end = from + length;
            if block.get(end + 1) == Some(&b'"') {
                doubled = true;
                self.text.extend_from_slice(&block[from..=end]);
                from = end + 2;
                continue;
            }
            if !doubled {
                return Ok((Place::Block(at + 1, end), end + 1));
            }
            self.text.extend_from_slice(&block[from..end]);
            return Ok((Place::Text(copied, self.text.len()), end + 1));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The first cell whose quoting differs from the writer's, with what is wrong.
    fn misquoted(&self, needs: impl Fn(&[u8]) -> bool) -> Option<(usize, &'static str)> {
        (0..self.len()).find_map(|column| {
            let (start, _) = self.raw[column];
            let quoted = self.block.get(start) == Some(&b'"');
            match (quoted, needs(self.cell(column))) {
                (true, false) => Some((start, "quotes around a cell that needs none")),
                (false, true) => Some((start, "no quotes around a cell that needs them")),
                _ => None,
            }
        })
    }
}

impl Cells for Record<'_> {
    fn cell(&self, column: usize) -> &[u8] {
        match self.cells.get(column) {
            Some(&Place::Block(start, end)) => &self.block[start..end],
            Some(&Place::Text(start, end)) => &self.text[start..end],
            None => &[],
        }
    }

    fn span(&self, first: usize, last: usize) -> Option<&[u8]> {
        // In the one form, cells are equal exactly when their raw texts are.
        self.block.get(self.raw.get(first)?.0..self.raw.get(last)?.1)
    }
}

/// Whether a cell contains something that must be quoted.
fn special(cell: &[u8], separator: u8) -> bool {
    memchr::memchr3(b'"', b'\n', b'\r', cell).is_some()
        || memchr::memchr(separator, cell).is_some()
        || cell.starts_with(MARK)
}

/// Whether a block can be split at separators and line feeds alone, and is in the one form if its lines are complete.
pub(crate) fn is_plain(block: &[u8]) -> bool {
    block.len() <= limits::CELL
        && block.last() == Some(&b'\n')
        && memchr::memchr3(b'"', b'\r', 0, block).is_none()
        && (block.is_ascii() || (std::str::from_utf8(block).is_ok() && memchr::memmem::find(block, MARK).is_none()))
}

/// The names in a header.
pub(crate) fn header(head: &[u8], separator: u8) -> Result<Vec<String>, String> {
    let text = |what: &str| format!("line 1: {what}");
    if head.contains(&0) || std::str::from_utf8(head).is_err() {
        return Err(text("the header is not UTF-8 text"));
    }
    let mut record = Record::new(head);
    let end = record.read(0, separator).map_err(|(_, what)| text(what))?;
    if head.contains(&b'\r') {
        // Some readers take a carriage return in a name for the line terminator of the file, and then see no rows.
        return Err(text("a carriage return in a name"));
    }
    if end != head.len() || record.len() > limits::COLUMNS {
        return Err(text("the header has too many columns"));
    }
    let alone = record.len() == 1;
    let spaced = |name: &[u8]| std::str::from_utf8(name).is_ok_and(|name| name.trim() != name);
    if let Some((_, what)) = record.misquoted(|name| alone || spaced(name) || special(name, separator)) {
        return Err(text(what));
    }
    Ok((0..record.len()).map(|column| String::from_utf8_lossy(record.cell(column)).into_owned()).collect())
}

/// Adds the rows of a block of complete records, which may contain quotes.
pub(crate) fn add(block: &[u8], separator: u8, columns: usize, first: u64, tally: &mut Tally) -> Result<Added, Fault> {
    let lines = |end: usize| memchr::memchr_iter(b'\n', &block[..end.min(block.len())]).count() as u64;
    let fault = |rows: u64, at: usize, what: &str| Fault { rows, lines: lines(at), what: what.to_string() };
    if let Err(e) = std::str::from_utf8(block) {
        return Err(fault(0, e.valid_up_to(), "this is not UTF-8 text"));
    }
    if let Some(at) = memchr::memchr(0, block) {
        return Err(fault(0, at, "a zero byte"));
    }
    let mut rows = 0;
    let mut record = Record::new(block);
    let mut at = 0;
    while at < block.len() {
        let next = record.read(at, separator).map_err(|(place, what)| fault(rows, place, what))?;
        if record.len() != columns {
            let what = match next - at {
                1 => "an empty line".to_string(),
                _ => format!("{} cells where the header has {columns}", record.len()),
            };
            return Err(fault(rows, at, &what));
        }
        let needs = |cell: &[u8]| special(cell, separator) || (columns == 1 && cell.is_empty());
        if let Some((place, what)) = record.misquoted(needs) {
            return Err(fault(rows, place, what));
        }
        if next - at > limits::CELL && (0..columns).any(|column| record.cell(column).len() > limits::CELL) {
            return Err(fault(rows, at, "a cell longer than cells may be"));
        }
        tally.add(first + rows, &record).map_err(|what| fault(rows, at, &what))?;
        rows += 1;
        at = next;
    }
    Ok(Added { rows, lines: lines(block.len()) })
}
