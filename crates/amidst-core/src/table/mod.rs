//! Tables as dictionary codes: every distinct string is stored once, every cell is a code of one, two or four bytes.
//!
//! Readers build columns in order of first appearance; [`Column::sort`] then puts each dictionary in the order of its
//! type, so that codes do not depend on the number of reading threads, and comparing codes compares values.
//!
//! May use: nothing else of this crate.

mod calendar;
mod codes;
mod column;
mod dictionary;
mod value;

pub use calendar::{DATE_ORDERS, DateOrder, date_order};
pub use codes::Codes;
pub use column::Column;
pub use dictionary::Dictionary;
pub use value::{ValueType, number};

/// Rows × named columns, each cell a dictionary code.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// The columns, in the order of the input.
    pub columns: Vec<Column>,
    /// The number of rows; every column has as many codes.
    pub rows: usize,
}

impl Table {
    /// A table of texts, row by row; the type of each column is guessed from its values.
    ///
    /// ```
    /// use amidst_core::table::{Table, ValueType};
    ///
    /// let table = Table::from_rows(["age", "disease"], [["29", "flu"], ["31", "cancer"]]);
    /// assert_eq!((table.rows, table.columns[0].kind), (2, ValueType::Integer));
    /// ```
    pub fn from_rows<'a, const N: usize>(names: [&str; N], rows: impl IntoIterator<Item = [&'a str; N]>) -> Self {
        let rows: Vec<[&str; N]> = rows.into_iter().collect();
        let column = |(at, name)| Column::from_values(name, rows.iter().map(|row| row[at]));
        Table { columns: names.into_iter().enumerate().map(column).collect(), rows: rows.len() }
    }

    /// The position of the column called `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// Keeps the rows for which `keep` is true, and drops dictionary values that no row uses any more.
    pub fn retain(&mut self, keep: &[bool]) {
        debug_assert_eq!(keep.len(), self.rows);
        for column in &mut self.columns {
            column.codes.retain(keep);
            column.compact();
        }
        self.rows = keep.iter().filter(|&&k| k).count();
    }
}
