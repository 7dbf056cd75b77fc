//! Formats in and out of Amidst: separated values, Parquet, Arrow IPC and JSON lines; JSON lists, workbooks, data files
//! of SPSS and Stata, and tables of databases in.
//!
//! [`read`] streams any of them into a [`amidst_core::table::Table`] of dictionary codes, on all cores; [`write()`]
//! puts a table into a file. Both give the same result whatever the number of threads.

mod address;
mod binary;
mod columnar;
mod contain;
mod conventions;
mod conversion;
mod converted;
mod csv;
mod database;
mod decode;
mod encode;
mod error;
mod format;
mod input;
mod json;
mod lent;
mod limits;
mod lines;
mod merge;
mod nulls;
mod pipeline;
mod read;
mod rows;
mod sheet;
mod source;
mod spss;
mod stata;
mod stream;
mod write;

// What tables in memory are made of, in the version that is used here.
pub use arrow_array;
pub use arrow_schema;

pub use address::{is_database, local_path, masked, relative_to, without_password};
pub use conventions::{Conventions, DateFormat, Merged, TextEncoding};
pub use conversion::with_point;
pub use error::ReadError;
pub use format::{Format, SUPPORTED, UnknownFormat, WRITTEN, endings, is_foreign};
pub use input::{DistinctLimit, Input};
pub use lent::{Lent, lend};
pub use limits::{COLUMN_LIMIT, FIELD_LIMIT, HIERARCHY_LIMIT, NAMES_LIMIT, POLICY_LIMIT, small_file};
pub use merge::ROW_NUMBER;
pub use nulls::Nulls;
pub use read::{ReadOptions, first_bytes, may_have_nulls, read, read_batches, read_from};
pub use write::{Bundle, Kind, WriteError, WriteOptions, WriteReport, write, write_to};
