//! How much a file may ask for before it is refused: whatever a table of people needs, and no more.

/// The longest cell.
pub(crate) const CELL: usize = 16 << 20;

/// The longest row.
pub(crate) const ROW: usize = 64 << 20;

/// The most columns.
pub(crate) const COLUMNS: usize = 100_000;
