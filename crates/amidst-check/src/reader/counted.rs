//! Finished counts of a file.

/// A finished count.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counted {
    /// The files' columns.
    pub columns: Vec<String>,
    /// All rows read.
    pub rows: u64,
    /// Rows left out for a missing value.
    pub dropped: u64,
    /// The distinct keys, ascending by their cells; [`cells`] takes one apart.
    pub keys: Vec<Box<[u8]>>,
    /// The size of each key's class.
    pub sizes: Vec<u64>,
    /// The views, in the order of the selection.
    pub views: Vec<CountedView>,
    /// How many rows are unique on each set of columns that the selection asks for; 0 for a set without columns.
    pub unique: Vec<u64>,
}

/// The histograms of one set of columns.
#[derive(Debug, Clone)]
pub(crate) struct CountedView {
    /// The columns.
    pub columns: Vec<String>,
    /// The distinct tuples of their cells, ascending.
    pub values: Vec<Box<[u8]>>,
    /// How often each tuple occurs in all classes together.
    pub totals: Vec<u64>,
    /// For each key, tuple and count.
    pub histograms: Vec<Vec<(u32, u64)>>,
    /// Who has which tuple, ascending by (key, tuple, person): only where persons are counted and columns are several,
    /// so that those who agree in some columns can be told apart.
    pub members: Vec<(u32, u32, u64)>,
}
