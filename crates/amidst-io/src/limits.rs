//! What a file may ask for. Nothing here is a matter of taste of a format: a file says how long it is, how many rows it
//! has and how much memory its cells need, and a damaged or hostile one says anything. Every size that a file declares
//! is held against the bytes that are really there, or against a limit of this list, before memory is taken for it.
//!
//! docs/data.md tells users the same numbers; a test compares the two.

use std::io::Read;
use std::path::Path;

/// Cells longer than this are refused: 16 MiB.
pub const FIELD_LIMIT: usize = 16 << 20;

/// Tables with more columns than this are refused. Each column has a dictionary and buffers in every thread.
pub const COLUMN_LIMIT: usize = 20_000;

/// Bytes that the names of a table's columns may have together: 16 MiB.
pub const NAMES_LIMIT: usize = 16 << 20;

/// Bytes that a batch or page may hold once decompressed, if it is not large as it stands: 512 MiB.
pub(crate) const UNPACKED_LIMIT: u64 = 512 << 20;

/// A batch or page of more than [`UNPACKED_LIMIT`] may be at most this factor larger than its compressed bytes.
pub(crate) const UNPACKED_RATIO: u64 = 64;

/// Rows that a Parquet file of any size may have: runs of equal values take no space, whatever their number.
pub(crate) const FREE_ROWS: u64 = 1 << 24;

/// Rows of a Parquet file with more than [`FREE_ROWS`], for each of its bytes.
pub(crate) const ROWS_PER_BYTE: u64 = 1024;

/// Rows of an Arrow batch beyond one for each bit of its buffers: columns of nulls have rows without any.
pub(crate) const FREE_BATCH_ROWS: u64 = 1 << 16;

/// Cells that a Parquet or Arrow file of any size may have: runs of equal values and nulls take no space in it, but
/// each cell takes time and memory once it is read.
pub(crate) const FREE_CELLS: u64 = 1 << 29;

/// The cells of a file, rows times columns, held against its bytes as far as both are known.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cells {
    cells: u64,
    bytes: u64,
}

impl Cells {
    /// Adds rows with their number of columns and of bytes; an error when the file has more cells than its bytes may
    /// make.
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

/// Additions to dictionaries in an Arrow file: each copies what the dictionary had before.
pub(crate) const DELTA_LIMIT: usize = 4096;

/// Levels of nested types, and of structures in metadata.
pub(crate) const DEPTH_LIMIT: usize = 32;

/// How many cells a number of bytes of text may make where a line need not mention a column: few lines with many keys
/// of their own would otherwise fill the memory with nulls.
pub(crate) fn sparse_limit(bytes: usize) -> usize {
    bytes.saturating_mul(CELLS_PER_BYTE).saturating_add(16 << 20)
}

/// See [`sparse_limit`].
const CELLS_PER_BYTE: usize = 64;

/// Parts that the archive of a workbook may have.
pub(crate) const PARTS_LIMIT: usize = 10_000;

/// Groups of merged cells that a sheet may have.
pub(crate) const REGIONS_LIMIT: usize = 10_000;

/// Cells that the sheets of an OpenDocument file of any size may have: a cell can say how often it is repeated.
pub(crate) const SHEET_CELLS: u64 = 4 << 20;

/// Cells of a file with more than [`SHEET_CELLS`], for each byte of its content.
pub(crate) const SHEET_CELLS_PER_BYTE: u64 = 2;

/// A policy longer than this is refused: 4 MiB.
pub const POLICY_LIMIT: u64 = 4 << 20;

/// A hierarchy file longer than this is refused: 256 MiB.
pub const HIERARCHY_LIMIT: u64 = 256 << 20;

/// How many bytes a compressed buffer can hold at most, which follows from how each compression writes a run.
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
    /// An error when `packed` bytes cannot hold `unpacked` ones, or when that is more than a file may ask for.
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

/// An error when `packed` bytes ask for too much memory.
pub(crate) fn check_unpacked(packed: u64, unpacked: u64) -> Result<(), String> {
    if unpacked > UNPACKED_LIMIT.max(packed.saturating_mul(UNPACKED_RATIO)) {
        return Err(format!(
            "{packed} compressed bytes ask for {unpacked} bytes of memory; write the table in smaller batches or pages"
        ));
    }
    Ok(())
}

/// The bytes of a small file such as a policy or a hierarchy: a regular file of at most `limit` bytes, so that neither
/// a pipe nor a device is waited for and nothing endless is read.
///
/// # Errors
/// When it is none, is longer, or cannot be read.
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
    // Files of some systems, such as /proc, say that they are empty and are not: what is read counts, too.
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
