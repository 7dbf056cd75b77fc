//! What is counted in a file, and the positions of its columns.

use std::sync::Arc;

/// What to count.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// The columns that form a key; `None`: every column of the file.
    pub key: Option<Vec<String>>,
    /// Sets of columns with one histogram per key each.
    pub views: Vec<Vec<String>>,
    /// Numbers of the rows that belong to no class, ascending.
    pub waived: Vec<u64>,
    /// The person behind each row; sizes and histograms then count persons.
    pub persons: Option<Arc<Vec<u64>>>,
    /// Rows to leave out.
    pub missing: Option<Missing>,
    /// Unique rows are counted on all columns except these, once for each list.
    pub unique_beside: Vec<Vec<String>>,
}

impl Selection {
    /// Whether sizes must be counted. Otherwise they are the sums of the histograms of the first view, which saves one
    /// memory access per row.
    pub(super) fn counts_sizes(&self) -> bool {
        self.persons.is_some() || self.views.is_empty()
    }

    /// The view whose histograms tell which rows of a file with this header are unique on all columns but `out`: rows
    /// that agree there are those of one class and one value. `None` where rows must be compared.
    pub(super) fn view_of_unique(&self, out: &[String], header: &[String]) -> Option<usize> {
        let key = self.key.as_ref()?;
        // Classes and histograms must count every row, and count it once.
        if !self.waived.is_empty() || self.persons.is_some() || self.missing.is_some() {
            return None;
        }
        let told = |view: &Vec<String>| {
            header.iter().all(|name| out.contains(name) != (key.contains(name) || view.contains(name)))
        };
        self.views.iter().position(told)
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

    /// The text of the row from one column to another, where equal texts imply equal cells; `None` where there is no
    /// such text.
    fn span(&self, _first: usize, _last: usize) -> Option<&[u8]> {
        None
    }
}

/// The positions of a selection's columns in a file.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub key: Vec<usize>,
    pub views: Vec<Vec<usize>>,
    pub missing: Vec<usize>,
    /// The columns of each set on which rows are compared to find unique ones; none where histograms tell them.
    pub unique: Vec<Vec<usize>>,
    /// The first and last column of each run of adjacent key columns.
    pub runs: Vec<(usize, usize)>,
}

/// Groups columns into runs of adjacent ones.
pub(super) fn runs(columns: &[usize]) -> Vec<(usize, usize)> {
    columns.chunk_by(|a, b| a + 1 == *b).map(|run| (run[0], run[run.len() - 1])).collect()
}
