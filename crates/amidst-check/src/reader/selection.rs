//! What is counted of a file, and where its columns stand.

use std::sync::Arc;

/// What to count.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// The columns that make a key; none means every column of the file.
    pub key: Option<Vec<String>>,
    /// Sets of columns, a histogram each.
    pub views: Vec<Vec<String>>,
    /// Rows that belong to no class, ascending.
    pub waived: Vec<u64>,
    /// The person behind each row: sizes and histograms then count persons.
    pub persons: Option<Arc<Vec<u64>>>,
    /// Rows to leave out.
    pub missing: Option<Missing>,
    /// How many rows are unique on all columns but these, each list for itself.
    pub unique_beside: Vec<Vec<String>>,
}

impl Selection {
    /// Whether sizes must be counted: else they are what the histograms of the first view add up to, and every row asks
    /// for one place in memory less.
    pub(super) fn counts_sizes(&self) -> bool {
        self.persons.is_some() || self.views.is_empty()
    }
}

/// Rows with one of these texts, or with null, in one of these columns are left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Missing {
    pub columns: Vec<String>,
    pub tokens: Vec<String>,
}

/// The cells of a row.
pub(crate) trait Cells {
    fn cell(&self, column: usize) -> &[u8];

    /// Whether the cell is null, in formats that tell null from the empty text.
    fn is_null(&self, _column: usize) -> bool {
        false
    }

    /// The text of the row from one column to another, where equal texts always mean equal cells.
    fn span(&self, _first: usize, _last: usize) -> Option<&[u8]> {
        None
    }
}

/// Where the columns of a selection stand in a file.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub key: Vec<usize>,
    pub views: Vec<Vec<usize>>,
    pub missing: Vec<usize>,
    /// The columns of each set that unique rows are counted on.
    pub unique: Vec<Vec<usize>>,
    /// The first and last column of each run of neighbours among the key columns.
    pub runs: Vec<(usize, usize)>,
}

/// Columns that follow each other, as runs.
pub(super) fn runs(columns: &[usize]) -> Vec<(usize, usize)> {
    columns.chunk_by(|a, b| a + 1 == *b).map(|run| (run[0], run[run.len() - 1])).collect()
}
