//! Reads CSV and TSV. Blocks without quotes are split by a vectorized search for separators and line feeds; others by
//! the strict rules of releases or, for a table of the owner, by the csv crate.

use std::io::Read;
use std::path::Path;

use super::marks::Marks;
use super::selection::Cells;
use super::stream::{self, Added, Blocks, Fault, Records};
use super::tally::Tally;
use super::{Reading, canonical, refused};
use crate::problem::Problem;

/// Lines per batch.
const LINES: usize = 64;

struct Delimited {
    separator: u8,
    columns: usize,
    strict: bool,
}

pub(crate) fn read(
    path: &Path,
    reader: &mut (dyn Read + Send),
    separator: Option<u8>,
    total: &mut Tally,
) -> Result<Vec<String>, Problem> {
    let mut blocks = Blocks::new(reader);
    let (separator, reading) = match separator {
        Some(separator) => (Some(separator), Reading::Release),
        None => (None, Reading::Source),
    };
    let wrong = |what: &str| refused(path, reading, what);
    let head = blocks.head(|bytes, ended| {
        let length = first_record(bytes)?;
        let length = if ended && length == 0 { bytes.len() } else { length };
        (length > 0).then(|| (bytes[..length].to_vec(), length))
    });
    let head = head
        .map_err(|e| wrong(&e.to_string()))?
        .ok_or_else(|| wrong("the file is empty: a line of column names is expected"))?;
    let lines = memchr::memchr_iter(b'\n', &head).count() as u64;
    let (separator, header) = match separator {
        Some(separator) => (separator, canonical::header(&head, separator).map_err(|what| wrong(&what))?),
        None => loose_header(&head).map_err(|what| wrong(&what))?,
    };
    total.open(path, &header)?;
    let records = Delimited { separator, columns: header.len(), strict: reading == Reading::Release };
    stream::count(path, blocks, &records, (reading, lines), total)?;
    Ok(header)
}

/// The separator and the column names in the header of a table of the owner.
fn loose_header(head: &[u8]) -> Result<(u8, Vec<String>), String> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let separator = guess(head);
    let mut record = csv::ByteRecord::new();
    reader_of(head, separator).read_byte_record(&mut record).map_err(|e| e.to_string())?;
    Ok((separator, record.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()))
}

/// The length of the first record with its line feed; 0 while it is incomplete, `None` without any bytes.
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

/// A line without quotes.
struct Row<'a> {
    block: &'a [u8],
    start: usize,
    end: usize,
    /// The end of every cell except the last.
    ends: &'a [u32],
}

impl Row<'_> {
    fn start(&self, column: usize) -> Option<usize> {
        if column == 0 { Some(self.start) } else { self.ends.get(column - 1).map(|&end| end as usize + 1) }
    }

    fn end(&self, column: usize) -> usize {
        self.ends.get(column).map_or(self.end, |&end| end as usize)
    }
}

impl Cells for Row<'_> {
    fn cell(&self, column: usize) -> &[u8] {
        let found = self.start(column).and_then(|start| self.block.get(start..self.end(column)));
        found.unwrap_or_default()
    }

    fn span(&self, first: usize, last: usize) -> Option<&[u8]> {
        // Without quotes, separators occur only between cells.
        self.block.get(self.start(first)?..self.end(last))
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

    fn add(&self, block: &[u8], first: u64, tally: &mut Tally) -> Result<Added, Fault> {
        let plain = if self.strict { canonical::is_plain(block) } else { memchr::memchr(b'"', block).is_none() };
        if !plain {
            return self.add_quoted(block, first, tally);
        }
        let columns = self.columns.max(1);
        let Some(mut marks) = Marks::new(block, self.separator, columns * LINES) else {
            return self.add_quoted(block, first, tally);
        };
        let (mut rows, mut start) = (0, 0);
        loop {
            let ends = marks.wait(columns);
            if ends.is_empty() {
                return Ok(Added::rows(rows));
            }
            let mut batch: Vec<Row<'_>> = Vec::with_capacity(LINES);
            let mut used = 0;
            while batch.len() < LINES
                && let Some(&next) = ends.get(used)
            {
                let line = ends.get(used..used + columns).filter(|own| self.is_line(block, own));
                let line = line.and_then(|own| own.split_last());
                // Not a line with `columns` cells; it may still be an empty line.
                let (&stop, inner) = line.unwrap_or((&next, &[]));
                let stop = stop as usize;
                let end = if stop > start && block[stop - 1] == b'\r' { stop - 1 } else { stop };
                if end > start {
                    if line.is_none() {
                        break;
                    }
                    batch.push(Row { block, start, end, ends: inner });
                } else if self.strict || block.get(stop).is_some_and(|&byte| byte != b'\n') {
                    break;
                }
                used += inner.len() + 1;
                start = stop + 1;
            }
            if used == 0 {
                let line =
                    memchr::memchr(b'\n', &block[start..]).map_or(&block[start..], |at| &block[start..start + at]);
                if line.is_empty() {
                    return Err(Fault::row(rows, "an empty line".into()));
                }
                return Err(Fault::row(rows, self.ragged(memchr::memchr_iter(self.separator, line).count() + 1)));
            }
            tally.add_all(first + rows, &batch).map_err(|(before, what)| Fault::row(rows + before, what))?;
            rows += batch.len() as u64;
            marks.take(used);
        }
    }
}

impl Delimited {
    /// Whether these marks are those of one line: separators after all cells except the last, then a line feed.
    fn is_line(&self, block: &[u8], marks: &[u32]) -> bool {
        marks.split_last().is_some_and(|(&last, others)| {
            block.get(last as usize).is_none_or(|&byte| byte == b'\n')
                && others.iter().all(|&at| block.get(at as usize) == Some(&self.separator))
        })
    }

    fn add_quoted(&self, block: &[u8], first: u64, tally: &mut Tally) -> Result<Added, Fault> {
        if self.strict {
            return canonical::add(block, self.separator, self.columns, first, tally);
        }
        let mut rows = 0;
        let mut record = csv::ByteRecord::new();
        let mut reader = reader_of(block, self.separator);
        while reader.read_byte_record(&mut record).map_err(|e| Fault::row(rows, e.to_string()))? {
            if record.len() != self.columns {
                return Err(Fault::row(rows, self.ragged(record.len())));
            }
            tally.add(first + rows, &record).map_err(|what| Fault::row(rows, what))?;
            rows += 1;
        }
        Ok(Added::rows(rows))
    }

    fn ragged(&self, cells: usize) -> String {
        format!("{cells} cells where the header has {}", self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::super::selection::Selection;
    use super::super::stream::Records;
    use super::super::tally::Tally;
    use super::Delimited;

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
        let records = Delimited { separator: b',', columns: 4, strict: false };
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
        assert_eq!(records.add(ragged.as_bytes(), 0, &mut tally).unwrap_err().rows, 500);
    }
}
