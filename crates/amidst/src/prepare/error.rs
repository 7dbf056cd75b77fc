//! Why a table cannot be prepared, and where in the data.

use amidst_core::table::Column;
use amidst_io::{Input, ReadError};

use crate::failure::Failure;
use crate::policy::{Diagnostic, Policy, PolicyErrors};

/// Why there is nothing to search.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The policy does not fit the data.
    #[error(transparent)]
    Policy(#[from] PolicyErrors),
    /// The input cannot be read.
    #[error(transparent)]
    Read(ReadError),
    /// The caller asked to stop.
    #[error("stopped")]
    Cancelled,
}

impl PrepareError {
    /// Errors of `policy`, in the order of its text.
    pub(crate) fn of(policy: &Policy, list: Vec<Diagnostic>) -> Self {
        PrepareError::Policy(policy.origin.errors(list))
    }

    /// The process's exit code: 2 for what the user can mend, 3 for a failing machine.
    pub fn exit_code(&self) -> u8 {
        match self {
            PrepareError::Policy(_) => 2,
            PrepareError::Read(
                ReadError::Io { .. } | ReadError::PermissionDenied { .. } | ReadError::DatabaseFailed { .. },
            ) => 3,
            PrepareError::Read(_) => 2,
            PrepareError::Cancelled => 3,
        }
    }

    /// The message for people; in colours when `terminal`.
    pub fn render(&self, terminal: bool) -> String {
        match self {
            PrepareError::Policy(errors) => errors.render(terminal),
            other => format!("error: {other}"),
        }
    }
}

impl From<ReadError> for PrepareError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Cancelled => PrepareError::Cancelled,
            error => PrepareError::Read(error),
        }
    }
}

impl From<PrepareError> for Failure {
    fn from(error: PrepareError) -> Self {
        match error {
            PrepareError::Policy(errors) => Failure::Policy(errors),
            PrepareError::Read(error) => Failure::Read(error),
            PrepareError::Cancelled => Failure::Cancelled,
        }
    }
}

/// Finds lines of the input for rows of the table.
pub(super) struct Places<'a> {
    /// The input, as it was read.
    pub input: &'a Input,
    /// Which of its rows are still there; `None` when all are.
    pub kept: Option<&'a [bool]>,
    /// How many rows each row stands for, in a table that was counted elsewhere.
    pub weights: Option<&'a [u64]>,
    /// Whether values are quoted.
    pub show_values: bool,
}

impl Places<'_> {
    /// Some values of a column: how many, in how many rows, and where the first of them stands.
    pub fn of_values(&self, column: &Column, codes: &[u32]) -> String {
        let mut wanted = vec![false; column.dictionary.len()];
        for &code in codes {
            if let Some(slot) = wanted.get_mut(code as usize) {
                *slot = true;
            }
        }
        let (mut rows, mut row, mut first) = (0u64, 0usize, None);
        column.codes.for_each(|code| {
            if wanted[code as usize] {
                rows += self.weights.map_or(1, |weights| weights.get(row).copied().unwrap_or(1));
                first = first.or(Some(row));
            }
            row += 1;
        });
        let place = first.and_then(|row| self.of_row(row)).map(|p| format!("; the first is {p}")).unwrap_or_default();
        let quoted = self.quoted(column, codes);
        format!("{}{quoted}, in {}{place}", counted(codes.len() as u64, "value"), counted(rows, "row"))
    }

    /// Some of the values, where the owner asks for them.
    fn quoted(&self, column: &Column, codes: &[u32]) -> String {
        if !self.show_values {
            return String::new();
        }
        let shown = |code: &u32| {
            let value = column.dictionary.value(*code);
            let short: String = value.chars().take(40).collect();
            format!("\"{}\"", short.escape_debug())
        };
        let mut some: Vec<String> = codes.iter().take(5).map(shown).collect();
        if codes.len() > some.len() {
            some.push("…".to_string());
        }
        format!(" ({})", some.join(", "))
    }

    /// "on line 7 of data.csv", for a row of the table.
    fn of_row(&self, row: usize) -> Option<String> {
        let original = match self.kept {
            None => row,
            Some(kept) => kept.iter().enumerate().filter(|(_, k)| **k).nth(row)?.0,
        };
        let file = self.input.file_of(original)?.display().to_string();
        Some(match self.input.line_of(original) {
            Some(line) => format!("on line {line} of {file}"),
            None => format!("in row {} of {file}", original + 1),
        })
    }
}

/// "1 row", "2 rows".
pub(super) fn counted(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
