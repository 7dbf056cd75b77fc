//! Reads one sheet of an Excel or OpenDocument workbook as a table.
//!
//! The crate calamine reads the cells. Before that, every part of the archive is decompressed once and counted
//! (`archive`), so that a small file cannot claim a large memory; merged cells and repetitions of OpenDocument sheets,
//! which calamine does not report, are collected separately (`opendocument`). The first row that is not empty is the
//! header; empty rows are skipped.
//!
//! May use: `binary`, `columnar`, `contain`, `conventions`, `error`, `format`, `limits`, `merge`, `rows`, `stream`,
//! and what those use.

mod archive;
mod cell;
mod opendocument;
mod table;

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use calamine::{Reader, Xlsx, XlsxError};

use crate::contain::contained;
use crate::conventions::Conventions;
use crate::error::ReadError;
use crate::format::Format;
use crate::merge::Merger;
use crate::stream::{Settings, read_error};

use cell::Held;
use table::{Region, SheetTable};

/// Reads a sheet of a workbook.
pub(crate) fn read<R: Read + Seek>(
    path: &Path,
    mut reader: R,
    format: Format,
    conventions: &Conventions,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let damaged = ReadError::damaged(path, format);
    let length = reader.seek(SeekFrom::End(0)).map_err(|e| read_error(path, e))?;
    reader.seek(SeekFrom::Start(0)).map_err(|e| read_error(path, e))?;
    let mut start = Vec::new();
    reader.by_ref().take(8).read_to_end(&mut start).map_err(|e| read_error(path, e))?;
    if start.starts_with(b"\xd0\xcf\x11\xe0") {
        let reason = "it is encrypted, or an old .xls file. Open it, take the password off and save it as .xlsx";
        return Err(damaged(reason.to_string()));
    }
    contained(|| archive::check(&mut reader, length)).and_then(|checked| checked).map_err(damaged)?;
    settings.advance(length);
    settings.check()?;
    reader.seek(SeekFrom::Start(0)).map_err(|e| read_error(path, e))?;
    match format {
        Format::Ods => opendocument::read(path, reader, conventions, settings, merger),
        _ => excel(path, reader, conventions, settings, merger),
    }
}

/// The sheet to read; `holds` says whether a sheet has cells. An error when none is stated and several have.
fn choose(
    path: &Path,
    names: &[String],
    conventions: &Conventions,
    mut holds: impl FnMut(&str) -> Result<bool, ReadError>,
) -> Result<String, ReadError> {
    let path = path.to_path_buf();
    if let Some(stated) = &conventions.sheet {
        return match names.contains(stated) {
            true => Ok(stated.clone()),
            false => Err(ReadError::NoSuchSheet { path, sheet: stated.clone(), sheets: names.to_vec() }),
        };
    }
    let mut holding = Vec::new();
    for name in names {
        if holds(name)? {
            holding.push(name.clone());
        }
    }
    match holding.as_slice() {
        [] => Err(ReadError::Empty { path }),
        [only] => Ok(only.clone()),
        _ => Err(ReadError::SeveralSheets { path, sheets: holding }),
    }
}

fn excel<R: Read + Seek>(
    path: &Path,
    reader: R,
    conventions: &Conventions,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let damaged = ReadError::damaged(path, Format::Xlsx);
    let said = |error: XlsxError| damaged(short(&error));
    let mut workbook = contained(|| Xlsx::new(reader)).map_err(damaged)?.map_err(said)?;
    let names = workbook.sheet_names();
    let name = choose(path, &names, conventions, |name| {
        let found = contained(|| -> Result<bool, XlsxError> {
            let mut cells = match workbook.worksheet_cells_reader(name) {
                Ok(cells) => cells,
                // A chart sheet has no cells.
                Err(_) => return Ok(false),
            };
            while let Some(found) = cells.next_cell_with_formula_metadata()? {
                if cell::held(&found.value, found.formula.is_some()) != Held::Nothing {
                    return Ok(true);
                }
            }
            Ok(false)
        });
        found.map_err(damaged)?.map_err(said)
    })?;
    let regions = contained(|| workbook.merge_cells_by_sheet_name(&name)).map_err(damaged)?.map_err(said)?;
    let regions = regions.iter().map(|r| Region { start: r.start, end: r.end }).collect();
    let mut cells = contained(|| workbook.worksheet_cells_reader(&name)).map_err(damaged)?.map_err(said)?;
    let mut table = SheetTable::new(path, &name, conventions, regions)?;
    loop {
        let next = contained(|| {
            let next = cells.next_cell_with_formula_metadata()?;
            Ok(next.map(|found| (found.pos, cell::held(&found.value, found.formula.is_some()))))
        });
        let Some(((row, column), held)) = next.map_err(damaged)?.map_err(said)? else { break };
        match held {
            Held::Nothing => {}
            Held::Failed(error) => table.no_result(row, column, 1, Some(error)),
            Held::NotCalculated => table.no_result(row, column, 1, None),
            Held::Text(text) => {
                if !table.put(row, column, text, settings, merger)? {
                    return table.all_have_results();
                }
            }
        }
    }
    table.finish(settings, merger)
}

/// The first line of an error message, shortened.
fn short(error: &dyn std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().chars().take(160).collect()
}
