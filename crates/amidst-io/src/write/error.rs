//! Why a table could not be written.

use std::path::{Path, PathBuf};

/// What went wrong in writing. Nothing is left under the file's name then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The folder to write into is not there.
    #[error("{}: no such folder to write into. Create it first", path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("{}: permission denied. Choose a folder that this user may write to", path.display())]
    PermissionDenied {
        /// The file.
        path: PathBuf,
    },
    /// Writing failed midway, for example because the disk is full.
    #[error("{}: cannot write: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The format's own writer failed.
    #[error("{}: cannot write {format}: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The format.
        format: &'static str,
        /// What its writer said.
        reason: String,
    },
    /// A table without columns has no form in any format.
    #[error("the table has no columns to write")]
    NoColumns,
    /// A separator that could not separate.
    #[error("the separator must be one ASCII character other than a quote or a line break")]
    BadSeparator,
    /// The order names a row that the table does not have.
    #[error("row {row} is to be written, but the table has {rows} rows")]
    NoSuchRow {
        /// The row, from 0.
        row: u32,
        /// The number of rows.
        rows: usize,
    },
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl WriteError {
    /// What an error of the system means.
    pub(crate) fn io(path: &Path, source: std::io::Error) -> WriteError {
        let path = path.to_path_buf();
        match source.kind() {
            std::io::ErrorKind::NotFound => WriteError::NoFolder { path },
            std::io::ErrorKind::PermissionDenied => WriteError::PermissionDenied { path },
            _ => WriteError::Io { path, source },
        }
    }
}
