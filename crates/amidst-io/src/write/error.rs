//! Why a table could not be written.

use std::path::{Path, PathBuf};

/// Why a table could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The folder of the file does not exist.
    #[error("{}: no such folder to write into. Create it first", path.display())]
    NoFolder {
        /// The file.
        path: PathBuf,
    },
    /// The system denies permission.
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
        /// The system's error.
        source: std::io::Error,
    },
    /// The format's own writer failed.
    #[error("{}: cannot write {format}: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The format.
        format: &'static str,
        /// The message of the format's writer.
        reason: String,
    },
    /// A table without columns, which no format can represent.
    #[error("the table has no columns to write")]
    NoColumns,
    /// A separator that is a quote, a line break, NUL or not ASCII.
    #[error("the separator must be one ASCII character other than a quote or a line break")]
    BadSeparator,
    /// `order` contains a row that the table does not have.
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
    /// The error for an I/O error of the system.
    pub(crate) fn io(path: &Path, source: std::io::Error) -> WriteError {
        let path = path.to_path_buf();
        match source.kind() {
            std::io::ErrorKind::NotFound => WriteError::NoFolder { path },
            std::io::ErrorKind::PermissionDenied => WriteError::PermissionDenied { path },
            _ => WriteError::Io { path, source },
        }
    }
}
