//! Limits on what a file may require, above what tables of people need.

/// The longest cell, in bytes.
pub(crate) const CELL: usize = 16 << 20;

/// The longest row, in bytes.
pub(crate) const ROW: usize = 64 << 20;

/// The most columns.
pub(crate) const COLUMNS: usize = 100_000;

/// The maximum number of cells (rows × columns) for a file of this many bytes: runs of equal values take almost no
/// space, but every cell takes time.
pub(crate) fn cells(bytes: u64) -> u64 {
    bytes.saturating_mul(64).saturating_add(1 << 29)
}
