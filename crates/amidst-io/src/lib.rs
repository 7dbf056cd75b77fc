//! Formats in and out of Amidst: separated values, Parquet, Arrow IPC and JSON lines.
//!
//! [`read`] streams any of them into a [`amidst_core::table::Table`] of dictionary codes, on all cores; [`write()`] puts a
//! table into a file. Both give the same result whatever the number of threads.

mod columnar;
mod csv;
mod encode;
mod error;
mod format;
mod json;
mod lines;
mod merge;
mod pipeline;
mod read;
mod source;
mod stream;
mod write;

pub use error::{FIELD_LIMIT, ReadError};
pub use format::{Format, SUPPORTED, UnknownFormat};
pub use read::{DistinctLimit, Input, ReadOptions, read, read_from};
pub use write::{Bundle, WriteError, WriteOptions, WriteReport, write, write_to};
