//! The rows that a batch has to look at: those that are new, and those of classes that must be taken apart.

use crate::ids::SensitiveId;

/// Rows by number, each with the name that its owner gave it. Most rows of a large table never get here.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    width: usize,
    codes: Vec<u32>,
    sensitive: Vec<SensitiveId>,
    names: Vec<u32>,
}

impl Rows {
    /// No rows yet, with this number of quasi columns.
    pub fn new(width: usize) -> Self {
        Rows { width, ..Rows::default() }
    }

    /// Adds a row: its name, its quasi codes, its sensitive tuple. Returns its number.
    pub fn push(&mut self, name: u32, codes: &[u32], sensitive: SensitiveId) -> u32 {
        self.codes.extend_from_slice(&codes[..self.width]);
        self.sensitive.push(sensitive);
        self.names.push(name);
        self.names.len() as u32 - 1
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The quasi codes of a row.
    pub fn codes(&self, row: u32) -> &[u32] {
        &self.codes[row as usize * self.width..(row as usize + 1) * self.width]
    }

    /// The sensitive tuple of a row.
    pub fn sensitive(&self, row: u32) -> SensitiveId {
        self.sensitive[row as usize]
    }

    /// The name of a row.
    pub fn name(&self, row: u32) -> u32 {
        self.names[row as usize]
    }
}

/// Where the rows of a class are found when it must be taken apart.
pub trait RowSource {
    /// Why they may not be found, or why a batch is refused.
    type Error: From<crate::search::SearchError>;

    /// Adds the rows of a class, in the order of their names, and returns their numbers.
    ///
    /// # Errors
    /// When they cannot be read.
    fn members(&mut self, class: u32, rows: &mut Rows) -> Result<Vec<u32>, Self::Error>;
}

/// A source for classes all of whose rows are known.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllKnown;

impl RowSource for AllKnown {
    type Error = crate::search::SearchError;

    fn members(&mut self, _class: u32, _rows: &mut Rows) -> Result<Vec<u32>, Self::Error> {
        Ok(Vec::new())
    }
}
