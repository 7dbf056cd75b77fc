//! Limits on what a file may claim.
//!
//! A file states its length, its number of rows and the memory that its cells need; a damaged or hostile file states
//! anything. Every stated size is checked against the bytes that are really there, or against one of these limits,
//! before memory is allocated for it.
//!
//! docs/data.md lists the same numbers for users; a test compares the two.

use std::io::Read;
use std::path::Path;

/// Cells longer than this are refused: 16 MiB.
pub const FIELD_LIMIT: usize = 16 << 20;

/// Tables with more columns are refused: each column has a dictionary and buffers in every thread.
pub const COLUMN_LIMIT: usize = 20_000;

/// Maximum total length of the column names of a table, in bytes: 16 MiB.
pub const NAMES_LIMIT: usize = 16 << 20;

/// Decompressed bytes that any batch or page may have: 512 MiB.
pub(crate) const UNPACKED_LIMIT: u64 = 512 << 20;

/// A batch or page of more than [`UNPACKED_LIMIT`] bytes may be at most this factor larger than its compressed bytes.
pub(crate) const UNPACKED_RATIO: u64 = 64;

/// Rows that a Parquet file of any size may have: runs of equal values take almost no space.
pub(crate) const FREE_ROWS: u64 = 1 << 24;

/// Maximum number of rows per byte of a Parquet file with more than [`FREE_ROWS`].
pub(crate) const ROWS_PER_BYTE: u64 = 1024;

/// Rows of an Arrow batch in addition to one per bit of its buffers: columns of nulls have no buffers.
pub(crate) const FREE_BATCH_ROWS: u64 = 1 << 16;

/// Cells that a Parquet or Arrow file of any size may have: runs of equal values and nulls take no space in the file,
/// but each cell takes time and memory when it is read.
pub(crate) const FREE_CELLS: u64 = 1 << 29;

/// Counts the cells of a file (rows × columns) against its bytes, as far as both are known.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cells {
    cells: u64,
    bytes: u64,
}

impl Cells {
    /// Adds `rows` rows of `columns` columns from `bytes` bytes; fails when the file has more cells than its bytes
    /// allow.
    pub fn add(&mut self, rows: u64, columns: usize, bytes: u64) -> Result<(), String> {
        self.cells = self.cells.saturating_add(rows.saturating_mul(columns as u64));
        self.bytes = self.bytes.saturating_add(bytes);
        if self.cells > FREE_CELLS.saturating_add(self.bytes.saturating_mul(CELLS_PER_BYTE as u64)) {
            return Err(format!(
                "it is said to have {} cells, more than {} bytes may have; select the columns that are needed first",
                self.cells, self.bytes
            ));
        }
        Ok(())
    }
}

/// Maximum number of delta dictionaries in an Arrow file: each copies the values before it.
pub(crate) const DELTA_LIMIT: usize = 4096;

/// Maximum nesting of types, and of structures in metadata.
pub(crate) const DEPTH_LIMIT: usize = 32;

/// Maximum number of cells for `bytes` bytes of text, where a line need not mention every column: a few lines with many
/// different keys would otherwise fill the memory with nulls.
pub(crate) fn sparse_limit(bytes: usize) -> usize {
    bytes.saturating_mul(CELLS_PER_BYTE).saturating_add(16 << 20)
}

/// Cells per byte; see [`sparse_limit`] and [`Cells`].
const CELLS_PER_BYTE: usize = 64;

/// Maximum number of parts of a workbook's archive.
pub(crate) const PARTS_LIMIT: usize = 10_000;

/// Maximum number of merged regions of a sheet.
pub(crate) const REGIONS_LIMIT: usize = 10_000;

/// Cells that an OpenDocument file of any size may have: cells carry repetition counts.
pub(crate) const SHEET_CELLS: u64 = 4 << 20;

/// Maximum number of cells per byte of content in a file with more than [`SHEET_CELLS`].
pub(crate) const SHEET_CELLS_PER_BYTE: u64 = 2;

/// A policy longer than this is refused: 4 MiB.
pub const POLICY_LIMIT: u64 = 4 << 20;

/// A hierarchy file longer than this is refused: 256 MiB.
pub const HIERARCHY_LIMIT: u64 = 256 << 20;

/// Compression methods, with the maximum expansion that follows from how each encodes a run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Packing {
    None,
    /// A copy of 64 bytes takes three.
    Snappy,
    /// A length grows by 255 for each byte.
    Lz4,
    /// A copy of 258 bytes takes two bits.
    Gzip,
    /// A run of 128 KiB takes four bytes.
    Zstd,
}

impl Packing {
    /// Fails when `packed` bytes cannot expand to `unpacked` bytes, or when that is more than a file may claim.
    pub fn check(self, packed: u64, unpacked: u64) -> Result<(), String> {
        let ratio = match self {
            Packing::None => 1,
            Packing::Snappy => 24,
            Packing::Lz4 => 256,
            Packing::Gzip => 1040,
            Packing::Zstd => 40_000,
        };
        if unpacked > packed.saturating_mul(ratio).saturating_add(64) {
            return Err(format!("{packed} compressed bytes are said to hold {unpacked}, which they cannot"));
        }
        check_unpacked(packed, unpacked)
    }
}

/// Fails when `packed` bytes claim too much memory.
pub(crate) fn check_unpacked(packed: u64, unpacked: u64) -> Result<(), String> {
    if unpacked > UNPACKED_LIMIT.max(packed.saturating_mul(UNPACKED_RATIO)) {
        return Err(format!(
            "{packed} compressed bytes ask for {unpacked} bytes of memory; write the table in smaller batches or pages"
        ));
    }
    Ok(())
}

/// The bytes of a small file such as a policy or a hierarchy: a regular file of at most `limit` bytes, so that pipes
/// and devices do not block and reading ends.
///
/// # Errors
/// When `path` is not a regular file, is longer, or cannot be read.
pub fn small_file(path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    let refused = |reason: String| Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, reason));
    let found = std::fs::metadata(path)?;
    if found.is_dir() {
        return refused("this is a folder, not a file".to_string());
    }
    if !found.is_file() {
        return refused("this is a pipe or a device; give a regular file".to_string());
    }
    let mut bytes = Vec::new();
    // Some files, such as those of /proc, have a stated length of 0, so the bytes read are counted as well.
    if found.len() <= limit {
        std::fs::File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    }
    if found.len() > limit || bytes.len() as u64 > limit {
        return refused(format!(
            "the file is longer than {} MiB, which is more than such a file may have",
            limit >> 20
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_true_is_refused() {
        assert!(Packing::None.check(100, 100).is_ok() && Packing::None.check(100, 1000).is_err());
        assert!(Packing::Zstd.check(100, 3_000_000).is_ok() && Packing::Zstd.check(100, 5_000_000).is_err());
        assert!(Packing::Zstd.check(1 << 20, 1 << 30).is_err());
        assert!(Packing::Zstd.check(1 << 28, 1 << 30).is_ok());
        assert!(Packing::Lz4.check(u64::MAX, u64::MAX).is_ok());
    }

    #[test]
    fn the_manual_tells_the_same_numbers() {
        let manual = include_str!("../../../docs/data.md");
        for told in [
            format!("{} MiB a cell", FIELD_LIMIT >> 20),
            format!("{} columns", COLUMN_LIMIT),
            format!("{} MiB for their names", NAMES_LIMIT >> 20),
            format!("{} MiB once decompressed", UNPACKED_LIMIT >> 20),
            format!("{UNPACKED_RATIO} times its compressed size"),
            format!("{ROWS_PER_BYTE} rows a byte"),
            format!("{CELLS_PER_BYTE} cells a byte"),
            format!("{PARTS_LIMIT} parts"),
            format!("{REGIONS_LIMIT} groups of merged cells"),
            format!("{} million cells", SHEET_CELLS >> 20),
            format!("{SHEET_CELLS_PER_BYTE} cells a byte of its content"),
            format!("{} million cells", FREE_CELLS / 1_000_000),
            format!("{} MiB for a policy", POLICY_LIMIT >> 20),
            format!("{} MiB for a hierarchy", HIERARCHY_LIMIT >> 20),
        ] {
            assert!(manual.contains(&told), "docs/data.md does not say: {told}");
        }
    }

    #[test]
    fn cells_are_held_against_bytes() {
        let mut cells = Cells::default();
        assert!(cells.add(1 << 24, 32, 100).is_ok());
        assert!(cells.add(1, 6400, 100).is_ok() && cells.add(1, 6401, 0).is_err());
        assert!(Cells::default().add(u64::MAX, 2, u64::MAX).is_ok());
        assert!(Cells::default().add(1 << 24, 20_000, 20 << 20).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn endless_files_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        assert!(small_file(Path::new("/dev/zero"), 10).is_err());
        assert!(small_file(folder.path(), 10).is_err());
        let file = folder.path().join("x");
        std::fs::write(&file, [b'a'; 10]).unwrap();
        assert_eq!(small_file(&file, 10).unwrap().len(), 10);
        assert!(small_file(&file, 9).is_err());
    }
}
