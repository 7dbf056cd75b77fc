//! Checks the sizes that a Parquet file states against the file, before anything is decoded.
//!
//! The footer states the number of rows and where the pages of each column begin; each page states its length, its
//! decompressed length and its number of cells. The decoder allocates memory for all of these. Runs of equal values
//! take almost no space in Parquet, so bytes alone do not bound the rows: footer and pages must state the same number,
//! and it must be within the limit for a file of this size.

use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::ChunkReader;

use super::thrift::{Event, Walked, Walker};
use crate::limits::{COLUMN_LIMIT, Cells, DEPTH_LIMIT, FREE_ROWS, Packing, ROWS_PER_BYTE};

/// Page bodies up to this length are read and discarded, longer ones skipped by seeking.
const NEAR: u64 = 64 << 10;

/// The encodings that [`super::delta`] checks, by their numbers in the format.
const DIFFERENCES: std::ops::RangeInclusive<i64> = 5..=7;

fn bad<T>(reason: &str) -> Walked<T> {
    Err(reason.to_string())
}

/// Checks the footer: that it ends the file, lies within it and can be walked, and that its schema is complete.
pub(super) fn footer<T: ChunkReader>(file: &T) -> Walked<()> {
    let size = file.len();
    let tail = size.checked_sub(8).filter(|&at| at >= 4);
    let Some((at, bytes)) = tail.and_then(|at| Some((at, file.get_bytes(at, 8).ok()?))) else {
        return bad("it ends early");
    };
    if &bytes[4..] != b"PAR1" {
        return bad("it has no footer at its end");
    }
    let length = u64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let Some(from) = at.checked_sub(length).filter(|&from| from >= 4) else {
        return bad("its footer is said to be longer than the file");
    };
    let reader = file.get_read(from).map_err(|_| "it ends early")?;
    let mut schema = Schema::default();
    Walker::new(reader, length).structure(&mut Vec::new(), &mut |path, event| match (path, event) {
        ([2], Event::Element) => schema.element(),
        ([2, 0, 5], Event::Number(children)) => schema.has(children),
        _ => Ok(()),
    })?;
    schema.element().map(|_| ())
}

/// The columns as the footer lists them: each group before its members.
#[derive(Default)]
struct Schema {
    elements: usize,
    /// For each group that is incomplete, the number of columns that are missing.
    open: Vec<i64>,
    /// The number of children that the current element states.
    children: i64,
}

impl Schema {
    /// The next element begins, or the list has ended.
    fn element(&mut self) -> Walked<()> {
        self.elements += 1;
        if self.elements > 4 * COLUMN_LIMIT {
            return bad("it has too many columns");
        }
        if self.elements == 1 {
            return Ok(());
        }
        if let Some(lacking) = self.open.last_mut() {
            *lacking -= 1;
        }
        let children = std::mem::take(&mut self.children);
        if children > 0 {
            self.open.push(children);
        }
        while self.open.last().is_some_and(|&lacking| lacking <= 0) {
            self.open.pop();
        }
        if self.open.len() > DEPTH_LIMIT { bad("its types are nested too deeply") } else { Ok(()) }
    }

    fn has(&mut self, children: i64) -> Walked<()> {
        self.children = children;
        if (0..=4 * COLUMN_LIMIT as i64).contains(&children) {
            Ok(())
        } else {
            bad("a group has an odd number of columns")
        }
    }
}

/// Checks the numbers of rows and cells against the size of the file.
pub(super) fn rows(metadata: &ParquetMetaData, size: u64) -> Walked<()> {
    let mut rows = 0u64;
    for group in metadata.row_groups() {
        let Ok(more) = u64::try_from(group.num_rows()) else { return bad("a row group has a negative number of rows") };
        rows = rows.saturating_add(more);
    }
    if rows > FREE_ROWS.max(size.saturating_mul(ROWS_PER_BYTE)) {
        return Err(format!("it is said to have {rows} rows, more than a file of {size} bytes may have"));
    }
    Cells::default().add(rows, metadata.file_metadata().schema_descr().num_columns(), size)
}

/// Checks every page of a column in a row group of `rows` rows. Returns whether one is delta encoded.
pub(super) fn pages<T: ChunkReader>(file: &T, chunk: &ColumnChunkMetaData, rows: i64) -> Walked<bool> {
    let packing = match chunk.compression() {
        Compression::UNCOMPRESSED => Packing::None,
        Compression::SNAPPY => Packing::Snappy,
        Compression::GZIP(_) => Packing::Gzip,
        Compression::LZ4 | Compression::LZ4_RAW => Packing::Lz4,
        Compression::ZSTD(_) => Packing::Zstd,
        _ => return bad("a column is compressed in a way that is not supported; use Snappy, gzip, LZ4 or Zstandard"),
    };
    let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
    let place = u64::try_from(start).ok().zip(u64::try_from(chunk.compressed_size()).ok());
    let Some((start, end)) = place.and_then(|(start, length)| Some((start, start.checked_add(length)?))) else {
        return bad("a column has a negative place");
    };
    if start < 4 || end > file.len() {
        return bad("a column lies beyond the end of the file");
    }
    let (mut at, mut cells, mut differences) = (start, 0i64, false);
    let read = |at: u64| file.get_read(at).map_err(|_| "it ends early".to_string());
    let mut reader = read(at)?;
    while at < end {
        let mut walker = Walker::new(reader, end - at);
        let page = Page::walk(&mut walker)?;
        at += walker.taken;
        let body = page.check(packing, end - at)?;
        cells = cells.saturating_add(page.cells);
        differences |= DIFFERENCES.contains(&page.encoding);
        at += body;
        reader = if body > NEAR {
            read(at)?
        } else {
            let mut reader = walker.into_inner();
            let skipped = std::io::copy(&mut std::io::Read::take(&mut reader, body), &mut std::io::sink());
            if !skipped.is_ok_and(|n| n == body) {
                return bad("it ends early");
            }
            reader
        };
    }
    if cells == rows { Ok(differences) } else { bad("a column has not as many cells as its row group has rows") }
}

/// The content of a page header.
#[derive(Debug, Default)]
struct Page {
    packed: Option<i64>,
    unpacked: Option<i64>,
    /// Number of cells of a data page.
    cells: i64,
    /// The encoding of its cells.
    encoding: i64,
    /// Number of values of a dictionary page.
    values: i64,
    /// Bytes of levels in a page of version 2, which are not compressed.
    levels: [i64; 2],
}

impl Page {
    fn walk(walker: &mut Walker<impl std::io::Read>) -> Walked<Page> {
        let mut page = Page::default();
        walker.structure(&mut Vec::new(), &mut |path, event| {
            let Event::Number(number) = event else { return Ok(()) };
            match path {
                [2] => page.unpacked = Some(number),
                [3] => page.packed = Some(number),
                [5 | 8, 1] => page.cells = number,
                [5, 2] | [8, 4] => page.encoding = number,
                [7, 1] => page.values = number,
                [8, 5] => page.levels[0] = number,
                [8, 6] => page.levels[1] = number,
                _ => {}
            }
            Ok(())
        })?;
        Ok(page)
    }

    /// The length of the body; an error when it exceeds `left` bytes or the stated sizes are impossible.
    fn check(&self, packing: Packing, left: u64) -> Walked<u64> {
        let number = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
        let (Some(packed), Some(unpacked)) = (number(self.packed), number(self.unpacked)) else {
            return bad("a page does not tell its length");
        };
        if packed > left {
            return bad("a page is said to be longer than its column");
        }
        packing.check(packed, unpacked)?;
        let levels = self.levels.iter().try_fold(0u64, |sum, &n| Some(sum.saturating_add(u64::try_from(n).ok()?)));
        if levels.is_none_or(|levels| levels > packed.min(unpacked)) {
            return bad("the levels of a page are longer than the page");
        }
        if self.cells < 0 || !u64::try_from(self.values).is_ok_and(|values| values <= unpacked) {
            return bad("a page is said to have more values than it can hold");
        }
        Ok(packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(children: &[i64]) -> bool {
        let mut schema = Schema::default();
        let walked = children.iter().try_for_each(|&n| {
            schema.element()?;
            if n == 0 { Ok(()) } else { schema.has(n) }
        });
        walked.and_then(|()| schema.element()).is_ok()
    }

    #[test]
    fn a_schema_is_flat_enough() {
        assert!(nested(&[3, 0, 0, 0]));
        assert!(nested(&[2, 2, 0, 0, 0]));
        assert!(nested(&vec![1; DEPTH_LIMIT]));
        assert!(!nested(&vec![1; DEPTH_LIMIT + 2]));
        assert!(!nested(&[-1]));
        // Many siblings do not count as depth.
        let wide: Vec<i64> = std::iter::once(1000).chain((0..1000).flat_map(|_| [1, 0])).collect();
        assert!(nested(&wide));
    }
}
