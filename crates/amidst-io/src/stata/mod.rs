//! Reads Stata data files: formats 113 to 115 (Stata 8 to 12) and 117 to 119 (Stata 13 and later), as documented in
//! Stata's `help dta`.
//!
//! Labelled values are read as their labels, dates as year-month-day, missing values (`.`, `.a` to `.z`) as nulls. Text
//! is UTF-8 from format 118 on; before that it is in the stated encoding, by default Windows-1252, in which every byte
//! is a character.
//!
//! May use: `binary`, `columnar`, `conventions`, `error`, `format`, `limits`, `merge`, `rows`, `stream`, and what
//! those use.

mod header;
mod values;

use std::collections::HashMap;
use std::path::Path;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use crate::binary::{Place, ValueLabels};
use crate::conventions::Conventions;
use crate::error::ReadError;
use crate::format::Format;
use crate::merge::Merger;
use crate::rows::Rows;
use crate::stream::Settings;

/// A variable of the file.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    name: String,
    kind: Kind,
    /// Offset of its bytes in a row.
    offset: usize,
    /// Its display format, which identifies dates.
    format: String,
    /// The name of its value labels; empty when it has none.
    labels: String,
}

/// How a cell is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Byte,
    Int,
    Long,
    Float,
    Double,
    Text(usize),
    /// A reference to a long text (strL).
    Long2,
}

impl Kind {
    fn width(self) -> usize {
        match self {
            Kind::Byte => 1,
            Kind::Int => 2,
            Kind::Long | Kind::Float => 4,
            Kind::Double | Kind::Long2 => 8,
            Kind::Text(width) => width,
        }
    }
}

/// A parsed file.
pub(super) struct File<'a> {
    release: u32,
    big_endian: bool,
    variables: Vec<Variable>,
    rows: std::slice::ChunksExact<'a, u8>,
    /// Long texts by variable and observation.
    texts: HashMap<(u32, u64), &'a [u8]>,
    labels: HashMap<String, ValueLabels<i32>>,
}

/// Reads a data file in memory.
pub(crate) fn read(
    path: &Path,
    bytes: &[u8],
    conventions: &Conventions,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let damaged = ReadError::damaged(path, Format::Dta);
    let stated = conventions.encoding.map_or(WINDOWS_1252, |stated| stated.0);
    let file = header::parse(bytes, stated).map_err(damaged)?;
    let mut rows = Rows::begin(path, file.variables.iter().map(|v| v.name.clone()).collect(), merger)?;
    let encoding = file.encoding(stated);
    for row in file.rows.clone() {
        let go_on = rows.push(settings, merger, |column, text| {
            let Some(variable) = file.variables.get(column) else { return Ok(true) };
            Ok(values::cell(&file, variable, row, encoding, text))
        })?;
        if !go_on {
            return Ok(());
        }
    }
    rows.finish(path, settings, merger)
}

impl File<'_> {
    fn encoding(&self, stated: &'static Encoding) -> &'static Encoding {
        if self.release >= 118 { UTF_8 } else { stated }
    }

    fn place<'d>(&self, data: &'d [u8]) -> Place<'d> {
        Place::new(data, 0, self.big_endian)
    }
}
