//! How much a file may ask for before it is refused: whatever a table of people needs, and no more.

/// The longest cell.
pub(crate) const CELL: usize = 16 << 20;

/// The longest row.
pub(crate) const ROW: usize = 64 << 20;

/// The most columns.
pub(crate) const COLUMNS: usize = 100_000;

/// The most cells (rows times columns) of a file, by its number of bytes: a run of equal values takes no space, but
/// each cell is looked at.
pub(crate) fn cells(bytes: u64) -> u64 {
    bytes.saturating_mul(64).saturating_add(1 << 29)
}
