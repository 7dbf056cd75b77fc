//! CSV and TSV. Blocks without a quote are cut with a vector search for separators and line ends; others go through the
//! csv crate.

use std::io::Read;
use std::path::Path;

use super::stream::{self, Blocks, Records};
use super::tally::{Cells, Tally};
use super::unreadable;
use crate::problem::Problem;

/// Lines that are counted at a time.
const LINES: usize = 64;

struct Delimited {
    separator: u8,
    columns: usize,
}

pub(crate) fn read(
    path: &Path,
    reader: &mut (dyn Read + Send),
    separator: Option<u8>,
    total: &mut Tally,
) -> Result<Vec<String>, Problem> {
    let mut blocks = Blocks::new(reader);
    let head = blocks.head(|bytes, ended| {
        let length = first_record(bytes)?;
        let length = if ended && length == 0 { bytes.len() } else { length };
        (length > 0).then(|| (bytes[..length].to_vec(), length))
    });
    let head = head
        .map_err(|e| unreadable(path, &e.to_string()))?
        .ok_or_else(|| unreadable(path, "the file is empty: a line of column names is expected"))?;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    let separator = separator.unwrap_or_else(|| guess(head));
    let mut record = csv::ByteRecord::new();
    reader_of(head, separator).read_byte_record(&mut record).map_err(|e| unreadable(path, &e.to_string()))?;
    let header: Vec<String> = record.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    total.open(path, &header)?;
    let records = Delimited { separator, columns: header.len() };
    stream::count(path, blocks, &records, total)?;
    Ok(header)
}

/// The length of the first record with its line end: 0 when it has none yet.
fn first_record(bytes: &[u8]) -> Option<usize> {
    let mut quoted = false;
    for at in memchr::memchr2_iter(b'"', b'\n', bytes) {
        if bytes[at] == b'"' {
            quoted = !quoted;
        } else if !quoted {
            return Some(at + 1);
        }
    }
    if bytes.is_empty() { None } else { Some(0) }
}

/// The separator that occurs most in the header.
fn guess(head: &[u8]) -> u8 {
    let count = |separator: u8| memchr::memchr_iter(separator, head).count();
    let mut best = b',';
    for other in [b';', b'\t', b'|'] {
        if count(other) > count(best) {
            best = other;
        }
    }
    best
}

fn reader_of(bytes: &[u8], separator: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator).from_reader(bytes)
}

impl Cells for csv::ByteRecord {
    fn cell(&self, column: usize) -> &[u8] {
        self.get(column).unwrap_or_default()
    }
}

/// A line without quotes and where its cells end.
struct Line<'a> {
    bytes: &'a [u8],
    ends: &'a [usize],
}

impl Cells for Line<'_> {
    fn cell(&self, column: usize) -> &[u8] {
        let start = if column == 0 { 0 } else { self.ends.get(column - 1).map_or(self.bytes.len(), |end| end + 1) };
        let end = self.ends.get(column).copied().unwrap_or(start);
        self.bytes.get(start..end).unwrap_or_default()
    }

    fn span(&self, first: usize, last: usize) -> Option<&[u8]> {
        // Without quotes, separators stand between cells and nowhere else.
        let start = if first == 0 { 0 } else { self.ends.get(first - 1)? + 1 };
        self.bytes.get(start..*self.ends.get(last)?)
    }
}

impl Records for Delimited {
    fn whole(&self, bytes: &[u8]) -> usize {
        if memchr::memchr(b'"', bytes).is_none() {
            return memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        }
        let (mut quoted, mut whole) = (false, 0);
        for at in memchr::memchr2_iter(b'"', b'\n', bytes) {
            if bytes[at] == b'"' {
                quoted = !quoted;
            } else if !quoted {
                whole = at + 1;
            }
        }
        whole
    }

    fn add(&self, block: &[u8], first: u64, tally: &mut Tally) -> Result<u64, (u64, String)> {
        if memchr::memchr(b'"', block).is_some() {
            return self.add_quoted(block, first, tally);
        }
        let mut rows = 0;
        let mut start = 0;
        // Lines are counted some at a time: where each begins and ends, and where the cells of all of them end.
        let mut lines: Vec<(usize, usize)> = Vec::with_capacity(LINES);
        let mut ends: Vec<usize> = Vec::with_capacity(self.columns * LINES);
        let mut cut = |at: usize| {
            if block.get(at) == Some(&self.separator) {
                ends.push(at - start);
                return Ok(());
            }
            let mut end = at;
            if end > start && block[end - 1] == b'\r' {
                end -= 1;
            }
            if end > start {
                ends.push(end - start);
                let cells = ends.len() - lines.len() * self.columns;
                if cells != self.columns {
                    return Err((rows + lines.len() as u64, self.ragged(cells)));
                }
                lines.push((start, end));
            }
            start = at + 1;
            if lines.len() == LINES || at == block.len() {
                let all = lines.iter().zip(ends.chunks_exact(self.columns.max(1)));
                let all: Vec<Line<'_>> =
                    all.map(|(&(start, end), ends)| Line { bytes: &block[start..end], ends }).collect();
                tally.add_all(first + rows, &all).map_err(|(before, what)| (rows + before, what))?;
                rows += all.len() as u64;
                lines.clear();
                ends.clear();
            }
            Ok(())
        };
        each_of(self.separator, b'\n', block, &mut cut)?;
        cut(block.len())?;
        Ok(rows)
    }
}

/// Shows where either of two bytes stands, eight bytes at a time: cells are so short that looking for the next one
/// costs more to start than to do.
fn each_of<E>(a: u8, b: u8, bytes: &[u8], mut see: impl FnMut(usize) -> Result<(), E>) -> Result<(), E> {
    const LOW: u64 = u64::MAX / 255;
    const HIGH: u64 = LOW << 7;
    let (a, b) = (LOW * u64::from(a), LOW * u64::from(b));
    // The top bit of each byte that is zero, and no other.
    let zeros = |word: u64| !(((word & !HIGH) + !HIGH) | word | !HIGH);
    let (words, rest) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let mut marks = zeros(word ^ a) | zeros(word ^ b);
        while marks != 0 {
            see(i * 8 + marks.trailing_zeros() as usize / 8)?;
            marks &= marks - 1;
        }
    }
    let start = words.len() * 8;
    for (i, &byte) in rest.iter().enumerate() {
        if u64::from(byte) * LOW == a || u64::from(byte) * LOW == b {
            see(start + i)?;
        }
    }
    Ok(())
}

impl Delimited {
    fn add_quoted(&self, block: &[u8], first: u64, tally: &mut Tally) -> Result<u64, (u64, String)> {
        let mut rows = 0;
        let mut record = csv::ByteRecord::new();
        let mut reader = reader_of(block, self.separator);
        while reader.read_byte_record(&mut record).map_err(|e| (rows, e.to_string()))? {
            if record.len() != self.columns {
                return Err((rows, self.ragged(record.len())));
            }
            tally.add(first + rows, &record).map_err(|what| (rows, what))?;
            rows += 1;
        }
        Ok(rows)
    }

    fn ragged(&self, cells: usize) -> String {
        format!("{cells} cells where the header has {}", self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::super::stream::Records;
    use super::super::tally::{Selection, Tally};
    use super::{Delimited, each_of};

    #[test]
    fn lines_in_batches_count_as_lines_one_by_one() {
        let names = |list: &[&str]| list.iter().map(|n| n.to_string()).collect::<Vec<_>>();
        let header = names(&["a", "b", "s", "c"]);
        let mut text = String::new();
        for i in 0..500 {
            let end = if i % 3 == 0 { "\r\n" } else { "\n" };
            text += &format!("{},x{},{},{i}{end}", i % 7, i * i % 11, ["flu", "", "gout"][i % 5 % 3]);
            text += if i % 50 == 0 { "\n" } else { "" };
        }
        let records = Delimited { separator: b',', columns: 4 };
        // Key columns side by side, and apart.
        for key in [names(&["a", "b"]), names(&["c", "a"])] {
            let views = vec![names(&["s"]), names(&["s", "b"])];
            let selection = Selection { key: Some(key), views, ..Selection::default() };
            let counted = |quoted: bool| {
                let mut tally = Tally::new(&selection);
                tally.open(std::path::Path::new("t"), &header).unwrap();
                let rows = match quoted {
                    true => records.add_quoted(text.as_bytes(), 0, &mut tally),
                    false => records.add(text.as_bytes(), 0, &mut tally),
                };
                (rows.unwrap(), format!("{:?}", tally.finish(&selection, Vec::new())))
            };
            assert_eq!(counted(false), counted(true));
        }
        let mut tally = Tally::new(&Selection { key: Some(names(&["a"])), ..Selection::default() });
        tally.open(std::path::Path::new("t"), &header).unwrap();
        let ragged = format!("{text}1,2,3\n");
        assert_eq!(records.add(ragged.as_bytes(), 0, &mut tally).unwrap_err().0, 500);
    }

    #[test]
    fn both_bytes_are_found_wherever_they_stand() {
        let bytes: Vec<u8> = (0..1000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 & 0x8f).collect();
        for (a, b) in [(b'\x01', b'\n'), (0, 0x80), (0x81, 0x8f)] {
            for start in 0..9 {
                let mut found = Vec::new();
                let _ = each_of(a, b, &bytes[start..], |at| {
                    found.push(at);
                    Ok::<(), ()>(())
                });
                let wanted = bytes[start..].iter().enumerate().filter(|&(_, &x)| x == a || x == b);
                assert_eq!(found, wanted.map(|(i, _)| i).collect::<Vec<_>>());
            }
        }
    }
}
