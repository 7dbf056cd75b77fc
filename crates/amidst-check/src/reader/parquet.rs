//! Checks the layout of a Parquet file: every byte belongs to a known part, and nothing but the rows is stored.
//!
//! Readers follow the footer's offsets and skip the rest, so a file can carry further rows, names in statistics, notes
//! in its metadata, dictionary entries without a row, or values after the last one of a page. A release has none of
//! these: pages tile the chunks, chunks and offset indexes tile the file, statistics and notes are absent. Sizes are
//! checked before anything is allocated for them.

use std::io::{Read, Seek, SeekFrom};

use super::limits;
use super::thrift::Thrift;
use crate::content::{Content, Opened};

const MAGIC: &[u8; 4] = b"PAR1";

/// The largest footer, and the largest page.
const LARGEST: u64 = 256 << 20;

/// The most values of a page, and the most row groups.
const MOST_VALUES: u64 = 1 << 20;
const MOST_GROUPS: usize = 1 << 12;

/// The maximum number of rows per byte of a file: equal values are run-length encoded, but not without any bytes.
const DENSEST: u64 = 400;

/// The physical type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Physical {
    Truth,
    Four,
    Eight,
    Single,
    Double,
    Text,
}

/// A column.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub physical: Physical,
    pub optional: bool,
}

/// A page of a chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageHead {
    pub dictionary: bool,
    pub encoding: i64,
    pub values: u64,
}

/// The pages of one column in one row group.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    pub pages: Vec<PageHead>,
}

/// The layout of a file.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub leaves: Vec<Leaf>,
    /// By row group, then column.
    pub groups: Vec<Vec<Chunk>>,
    /// The Arrow schema in the footer's metadata, if any, as written.
    pub arrow_schema: Option<Vec<u8>>,
}

/// Checks a whole file; an error says how it differs from the form of releases.
pub(crate) fn layout(path: &Content) -> Result<Layout, String> {
    let mut file = path.open().map_err(|e| e.to_string())?;
    let length = file.length().map_err(|e| e.to_string())?;
    let ends = if length < 12 { None } else { Some((read(&mut file, 0, 4)?, read(&mut file, length - 8, 8)?)) };
    let Some((head, tail)) = ends.filter(|(head, tail)| head == MAGIC && tail[4..] == *MAGIC) else {
        return Err("it is no Parquet file, or it is cut off".into());
    };
    drop(head);
    let size = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    let start = (length - 8).checked_sub(size).filter(|&start| start >= 4 && size <= LARGEST);
    let start = start.ok_or("its footer is longer than the file")?;
    let footer = read(&mut file, start, size)?;
    let (footer, used) = Thrift::read(&footer).ok_or("its footer is damaged")?;
    if used as u64 != size {
        return Err("there are bytes behind its footer".into());
    }
    let mut found = described(&footer)?;
    let mut parts: Vec<(u64, u64)> = Vec::new();
    let mut rows = 0u64;
    let most = length.saturating_mul(DENSEST);
    if footer.list(4).len() > MOST_GROUPS || footer.size(3).is_none_or(|stated| stated > most) {
        return Err("it claims more rows than so few bytes hold, or too many row groups".into());
    }
    let cells = footer.size(3).unwrap_or(0).saturating_mul(found.leaves.len() as u64);
    if cells > limits::cells(length) {
        return Err("it claims more cells than so few bytes hold".into());
    }
    for group in footer.list(4) {
        if !group.only(&[1, 2, 3, 5, 6, 7]) || group.list(1).len() != found.leaves.len() {
            return Err("a row group says more than where its columns are".into());
        }
        let own = group.size(3).ok_or("a row group has no number of rows")?;
        rows = rows.checked_add(own).filter(|&rows| rows <= most).ok_or("its row groups have too many rows")?;
        let mut chunks = Vec::new();
        for (column, leaf) in group.list(1).iter().zip(&found.leaves) {
            chunks.push(chunk(&mut file, start, column, leaf, own, &mut parts)?);
        }
        found.groups.push(chunks);
    }
    if footer.size(3) != Some(rows) {
        return Err("its footer states another number of rows than its row groups".into());
    }
    parts.sort_unstable();
    let mut at = 4;
    for (from, to) in parts {
        if from != at {
            return Err("it holds bytes that belong to no row group".into());
        }
        at = to;
    }
    if at != start {
        return Err("it holds bytes that belong to no row group".into());
    }
    Ok(found)
}

fn read(file: &mut Opened, from: u64, length: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let seek = file.seek(SeekFrom::Start(from));
    seek.and_then(|_| file.take(length).read_to_end(&mut bytes)).map_err(|e| e.to_string())?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err("it is cut off".into()) }
}

/// The columns, and the Arrow schema if the footer has one; an error if the footer holds anything else.
fn described(footer: &Thrift<'_>) -> Result<Layout, String> {
    if !footer.only(&[1, 2, 3, 4, 5, 6, 7]) || footer.field(7).is_some_and(Thrift::has_bytes) {
        return Err("its footer says more than releases do".into());
    }
    let made_by = footer.bytes(6).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
    let version = ["parquet-rs version ", "datafusion version "].iter().find_map(|name| made_by.strip_prefix(name));
    let plain = |v: &str| !v.is_empty() && v.len() <= 20 && v.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if !version.is_some_and(plain) {
        return Err("the program that it says it was made by writes no releases".into());
    }
    let mut found = Layout::default();
    for note in footer.list(5) {
        let (key, value) = (note.bytes(1), note.bytes(2));
        match (key, value) {
            (Some(b"ARROW:schema"), Some(value)) if found.arrow_schema.is_none() && note.only(&[1, 2]) => {
                found.arrow_schema = Some(value.to_vec());
            }
            _ => return Err("its footer carries notes beside the rows".into()),
        }
    }
    let [root, leaves @ ..] = footer.list(2) else { return Err("it has no columns".into()) };
    let named = matches!(root.bytes(4), Some(b"arrow_schema" | b"schema"));
    if !named || !root.only(&[3, 4, 5]) || root.size(5) != Some(leaves.len() as u64) || leaves.len() > limits::COLUMNS {
        return Err("its columns are nested, or too many".into());
    }
    found.leaves = leaves.iter().map(leaf).collect::<Result<_, _>>()?;
    Ok(found)
}

fn leaf(element: &Thrift<'_>) -> Result<Leaf, String> {
    let is_text = element.whole(6) == Some(0) || element.field(10).is_some_and(|kind| kind.field(1).is_some());
    let physical = match element.whole(1) {
        Some(0) => Physical::Truth,
        Some(1) => Physical::Four,
        Some(2) => Physical::Eight,
        Some(4) => Physical::Single,
        Some(5) => Physical::Double,
        Some(6) if is_text => Physical::Text,
        Some(6) => return Err("a column holds bytes that are no text".into()),
        _ => return Err("a column has a type that releases do not use".into()),
    };
    let optional = match element.whole(3) {
        Some(0) => false,
        Some(1) => true,
        _ => return Err("a column holds lists".into()),
    };
    if !element.only(&[1, 3, 4, 6, 7, 8, 10]) || element.field(10).is_some_and(Thrift::has_bytes) {
        return Err("a column says more than its name and type".into());
    }
    Ok(Leaf { physical, optional })
}

/// The pages of a chunk, from the page headers. The byte ranges of the chunk and of its offset index are added to
/// `parts`.
fn chunk(
    file: &mut Opened,
    end: u64,
    column: &Thrift<'_>,
    leaf: &Leaf,
    rows: u64,
    parts: &mut Vec<(u64, u64)>,
) -> Result<Chunk, String> {
    let about = column.field(3).ok_or("a column has no place in a row group")?;
    if !column.only(&[2, 3, 4, 5]) || !about.only(&[1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 16]) {
        return Err("a column carries statistics, an index, a filter or notes beside its rows".into());
    }
    // Other codecs may decompress to more bytes than they state.
    if !matches!(about.whole(4), Some(0 | 1)) {
        return Err("a column is packed in a way that releases do not use".into());
    }
    if [13, 16].iter().any(|&field| about.field(field).is_some_and(Thrift::has_bytes)) {
        return Err("a column carries notes beside its rows".into());
    }
    let from = about.size(11).or(about.size(9)).ok_or("a column has no place in the file")?;
    let to = about.size(7).and_then(|length| from.checked_add(length)).filter(|&to| to <= end && from >= 4);
    let to = to.ok_or("a column lies beyond the file")?;
    parts.push((from, to));
    if about.size(5) != Some(rows) {
        return Err("a column has another number of rows than its row group".into());
    }
    let mut places = Vec::new();
    let mut chunk = Chunk { pages: Vec::new() };
    let (mut at, mut seen) = (from, 0u64);
    while at < to {
        let head = read(file, at, (to - at).min(1 << 16))?;
        let (head, used) = Thrift::read(&head).ok_or("the head of a page is damaged")?;
        let packed = head.size(3).filter(|&n| n <= LARGEST).ok_or("a page is too large")?;
        head.size(2).filter(|&n| n <= LARGEST).ok_or("a page is too large")?;
        let page = page(&head, chunk.pages.is_empty())?;
        let next = at + used as u64 + packed;
        if !page.dictionary {
            places.push((at, next - at, seen));
            seen = seen.checked_add(page.values).ok_or("a page has too many values")?;
        }
        chunk.pages.push(page);
        at = next;
    }
    if at != to || seen != rows {
        return Err("the pages of a column do not hold its rows, or hold more".into());
    }
    if leaf.physical == Physical::Truth && chunk.pages.iter().any(|page| page.dictionary) {
        return Err("a column of truth has a dictionary".into());
    }
    if let Some(from) = column.size(4) {
        let length = column.size(5).filter(|&n| n <= LARGEST).ok_or("an index of pages is too large")?;
        let to = from.checked_add(length).filter(|&to| to <= end).ok_or("an index of pages lies beyond the file")?;
        index(&read(file, from, length)?, &places)?;
        parts.push((from, to));
    }
    Ok(chunk)
}

fn page(head: &Thrift<'_>, first: bool) -> Result<PageHead, String> {
    let own = match head.whole(1) {
        Some(0) if head.only(&[1, 2, 3, 4, 5]) => head.field(5).filter(|own| own.only(&[1, 2, 3, 4])),
        Some(2) if first && head.only(&[1, 2, 3, 4, 7]) => head.field(7).filter(|own| own.only(&[1, 2, 3])),
        _ => None,
    };
    let own = own.ok_or("a page is of a kind that releases do not use, or carries statistics")?;
    let values = own.size(1).filter(|&n| n <= MOST_VALUES).ok_or("a page has too many values")?;
    let encoding = own.whole(2).ok_or("a page has no encoding")?;
    let levels = head.field(5).is_none_or(|own| own.whole(3) == Some(3) && own.whole(4) == Some(3));
    if !levels || !matches!(encoding, 0 | 2 | 8) {
        return Err("a page has an encoding that releases do not use".into());
    }
    Ok(PageHead { dictionary: head.field(7).is_some(), encoding, values })
}

/// Checks that a page index holds the positions of the pages and nothing else.
fn index(bytes: &[u8], places: &[(u64, u64, u64)]) -> Result<(), String> {
    let same = Thrift::read(bytes).is_some_and(|(index, used)| {
        let listed = index.list(1);
        let fits = |(own, place): (&Thrift<'_>, &(u64, u64, u64))| {
            own.only(&[1, 2, 3])
                && (own.size(1), own.size(2), own.size(3)) == (Some(place.0), Some(place.1), Some(place.2))
        };
        used == bytes.len()
            && index.only(&[1, 2])
            && !index.has_bytes()
            && index.list(2).len() <= places.len()
            && listed.len() == places.len()
            && listed.iter().zip(places).all(fits)
    });
    if same { Ok(()) } else { Err("an index of pages does not point at the pages".into()) }
}
