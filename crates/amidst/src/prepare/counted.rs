//! Tables that an engine counted: every distinct combination once, with the number of rows that have it.
//!
//! Types, hierarchies and requirements look at dictionaries only, so a counted table is prepared by the same steps as
//! one that was read row by row, and leads to the same frequency set.

use std::path::PathBuf;

use amidst_core::frequency::FrequencySet;
use amidst_core::table::Table;

use super::{Fitted, LoadOptions, PrepareError, Prepared, columns, missing};
use crate::policy::{Policy, Role};

/// A counted table.
#[derive(Debug, Default)]
pub struct Counted {
    /// The quasi and sensitive columns, and the key where some person has several rows. Rows may agree.
    pub table: Table,
    /// How many rows of the input each row stands for.
    pub weights: Vec<u64>,
    /// The rows of the input.
    pub rows_in: u64,
    /// The rows of it that were left out because a cell is unknown.
    pub rows_dropped_missing: u64,
    /// The names of all columns of the input.
    pub header: Vec<String>,
    /// Whether a cell of a column that is read is null. Such cells are empty texts in `table`.
    pub nulls: bool,
    /// The level of each quasi column that the table was rolled up to; empty when its values are those of the rows.
    /// Values then stand for all that share their label on that level; dictionaries have all values nevertheless.
    pub floor: Vec<usize>,
    /// The files of the input, as far as they are files of this machine.
    pub files: Vec<PathBuf>,
}

impl Prepared {
    /// How many rows of the input have each value of a column.
    pub fn counts(&self, column: usize) -> Vec<u64> {
        let Some(column) = self.table.columns.get(column) else { return Vec::new() };
        let Some(weights) = &self.weights else { return column.counts() };
        let mut counts = vec![0; column.dictionary.len()];
        for (row, weight) in weights.iter().enumerate() {
            if let Some(count) = counts.get_mut(column.codes.get(row) as usize) {
                *count += weight;
            }
        }
        counts
    }

    /// Checks that the policy covers the columns of an input, before an engine counts it.
    ///
    /// # Errors
    /// Columns that are missing or not covered.
    pub fn covers(policy: &Policy, header: &[String]) -> Result<(), PrepareError> {
        columns::covered(policy, header)
    }

    /// Prepares a table that an engine counted.
    ///
    /// # Errors
    /// Whatever does not fit the policy; see [`PrepareError`].
    pub fn of_counts(policy: &Policy, counted: Counted, options: &LoadOptions<'_>) -> Result<Prepared, PrepareError> {
        // Rows that stay with their engine are published with the values that they have there.
        if let Some(column) = policy.columns.iter().find(|c| c.publishes_labels()) {
            let message = "sensitive values are published generalized only where the rows are in this process";
            return Err(PrepareError::of(
                policy,
                vec![policy.origin.error(&["columns", &column.name, "level"], message)],
            ));
        }
        if let Some(second) = policy.with_role(Role::Key).nth(1) {
            let message = "several columns tell people apart together only where the rows are in this process";
            let error = policy.origin.error(&["columns", second, "role"], message).label("a second key column");
            return Err(PrepareError::of(policy, vec![error]));
        }
        let Counted { table, mut weights, rows_in, rows_dropped_missing, header, nulls, floor, files } = counted;
        let amended = missing::amended(policy, nulls);
        let policy = amended.as_ref().unwrap_or(policy);
        let persons = table.columns.iter().any(|c| policy.column(&c.name).is_some_and(|p| p.role == Role::Key));
        let mut input = amidst_io::Input::default();
        input.header = header;
        input.files = files;
        input.table = table;
        let fitted = Fitted::fit(policy, options, input, Some(&weights), 0.0)?;
        let before: u64 = weights.iter().sum();
        if let Some(kept) = &fitted.kept {
            let mut kept = kept.iter();
            weights.retain(|_| kept.next().copied().unwrap_or(true));
        }
        // An engine need not know how cells of every type are written, so some unknown ones may be found only here.
        let rows_dropped_missing = rows_dropped_missing + before - weights.iter().sum::<u64>();
        let key = fitted.layout.key.filter(|_| persons);
        let layout = &fitted.layout;
        let (mut set, entry_of_row) = FrequencySet::count_persons(&fitted.table, &layout.quasi, &layout.sensitive, key);
        set.weigh(&entry_of_row, &weights);
        set.floor = floor;
        let mut prepared = fitted.counted(options, None, (set, entry_of_row))?;
        prepared.weights = Some(weights);
        prepared.rows_in = rows_in;
        prepared.rows_dropped_missing = rows_dropped_missing;
        Ok(prepared)
    }
}
