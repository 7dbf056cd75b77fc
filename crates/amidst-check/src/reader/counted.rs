//! The result of counting a table.

/// Classes and histograms of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counted {
    /// The columns of the files.
    pub columns: Vec<String>,
    /// All rows read.
    pub rows: u64,
    /// Rows dropped for a missing value.
    pub dropped: u64,
    /// The distinct keys, ascending by their cells; [`cells`] splits one.
    pub keys: Vec<Box<[u8]>>,
    /// The size of each key's class.
    pub sizes: Vec<u64>,
    /// The views, in the order of the selection.
    pub views: Vec<CountedView>,
    /// For each set of columns in the selection's `unique_beside`, the number of unique rows; 0 for a set without
    /// columns.
    pub unique: Vec<u64>,
}

/// The histograms of one view, a set of columns.
#[derive(Debug, Clone)]
pub(crate) struct CountedView {
    /// The columns.
    pub columns: Vec<String>,
    /// The distinct tuples of their cells, ascending.
    pub values: Vec<Box<[u8]>>,
    /// How often each tuple occurs in all classes together.
    pub totals: Vec<u64>,
    /// For each key, pairs of tuple number and count, ascending.
    pub histograms: Vec<Vec<(u32, u64)>>,
    /// Who has which tuple, ascending by (key, tuple, person). Only filled where persons are counted and the view has
    /// several columns, so that persons who agree in some of the columns can be counted once.
    pub members: Vec<(u32, u32, u64)>,
}
