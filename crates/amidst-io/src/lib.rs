//! Formats of Amidst. Read and written: separated values, Parquet, Arrow IPC and JSON lines. Read only: JSON lists,
//! workbooks, data files of SPSS and Stata, and tables of databases.
//!
//! [`read`] streams any of them into a [`amidst_core::table::Table`] of dictionary codes, with all cores; [`write()`]
//! writes a table to a file. The results do not depend on the number of threads.
//!
//! ```
//! use std::path::Path;
//!
//! use amidst_io::{Format, ReadOptions, WriteOptions, read_from, write_to};
//!
//! let text = "age,town\n34,Ulm\n71,Bonn\n".as_bytes();
//! let input = read_from(text, Path::new("people.csv"), Format::Csv, &ReadOptions::default())?;
//! assert_eq!((input.table.rows, input.table.columns[1].value(1)), (2, "Bonn"));
//!
//! // The second row first.
//! let mut written = Vec::new();
//! write_to(&input.table, Some(&[1, 0]), &mut written, Format::Csv, &WriteOptions::default())?;
//! assert_eq!(String::from_utf8(written)?, "age,town\n71,Bonn\n34,Ulm\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The main types
//!
//! - [`Input`]: a table as read, with the files and lines of its rows and its null cells.
//! - [`Format`]: the formats; [`Conventions`]: properties that a file does not state itself.
//! - [`ReadOptions`], [`WriteOptions`]: columns, threads, cancellation and progress.
//! - [`Lent`]: record batches in memory with an address, for callers that take the name of a table.
//! - [`ReadError`], [`WriteError`]: what is wrong, and where.

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

// The crates of which tables in memory are made, in the version used here.
pub use arrow_array;
pub use arrow_schema;

pub use address::{is_database, local_path, masked, relative_to, without_password};
pub use conventions::{Conventions, DateFormat, Formulas, Merged, TextEncoding};
pub use conversion::with_point;
pub use error::ReadError;
pub use format::{Format, SUPPORTED, UnknownFormat, WRITTEN, endings, is_foreign};
pub use input::{DistinctLimit, Input};
pub use lent::{Lent, lend};
pub use limits::{COLUMN_LIMIT, FIELD_LIMIT, HIERARCHY_LIMIT, NAMES_LIMIT, POLICY_LIMIT, small_file};
pub use merge::ROW_NUMBER;
pub use nulls::Nulls;
pub use read::{ReadOptions, first_bytes, may_have_nulls, read, read_batches, read_from};
pub use source::files_of;
pub use write::{Bundle, Kind, WriteError, WriteOptions, WriteReport, write, write_to};
