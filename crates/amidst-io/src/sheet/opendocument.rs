//! Reads OpenDocument sheets. The reader library holds a sheet as a whole and repeats cells as often as the file says;
//! therefore a first pass over the file counts the cells and finds the merged ones.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use calamine::{Ods, OdsError, Reader};
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use super::table::{Region, SheetTable};
use super::{cell, choose, short};
use crate::contain::contained;
use crate::conventions::Conventions;
use crate::error::ReadError;
use crate::format::Format;
use crate::limits::{SHEET_CELLS, SHEET_CELLS_PER_BYTE};
use crate::merge::Merger;
use crate::stream::{Settings, read_error};

pub(super) fn read<R: Read + Seek>(
    path: &Path,
    mut reader: R,
    conventions: &Conventions,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let damaged = ReadError::damaged(path, Format::Ods);
    let said = |error: OdsError| damaged(short(&error));
    let outlines = contained(|| outlines(&mut reader)).and_then(|found| found).map_err(damaged)?;
    reader.seek(SeekFrom::Start(0)).map_err(|e| read_error(path, e))?;
    settings.check()?;
    let mut workbook = contained(|| Ods::new(reader)).map_err(damaged)?.map_err(said)?;
    let names = workbook.sheet_names();
    let name = choose(path, &names, conventions, |name| {
        Ok(outlines.iter().any(|outline| outline.name == name && outline.rows > 0))
    })?;
    let range = contained(|| workbook.worksheet_range(&name)).map_err(damaged)?.map_err(said)?;
    drop(workbook);
    let outline = outlines.into_iter().find(|outline| outline.name == name).unwrap_or_default();
    let mut table = SheetTable::new(path, &name, conventions, outline.merged)?;
    for (&column, &(row, count)) in &outline.not_calculated {
        table.no_result(row, column, count, None);
    }
    let (first_row, first_column) = range.start().unwrap_or_default();
    for (row, column, value) in range.used_cells() {
        let Some(text) = cell::of_opendocument(value) else { continue };
        let (row, column) = (first_row + row as u32, first_column + column as u32);
        if outline.failed.contains(&column) && cell::is_error(&text) {
            table.no_result(row, column, 1, Some(text));
        } else if !table.put(row, column, text, settings, merger)? {
            return table.all_have_results();
        }
    }
    table.finish(settings, merger)
}

/// The size of a sheet and its merged cells.
#[derive(Default)]
struct Outline {
    name: String,
    /// Number of rows up to the last that is not empty.
    rows: u64,
    /// The maximum number of columns of a row.
    columns: u64,
    /// Rows so far, empty ones included.
    row: u64,
    column: u64,
    repeated: u64,
    merged: Vec<Region>,
    /// By column, the first row with a formula that was never calculated, and how many there are.
    not_calculated: BTreeMap<u32, (u32, u64)>,
    /// The columns with formulas that failed.
    failed: BTreeSet<u32>,
}

/// The outlines of all sheets of a file.
fn outlines<R: Read + Seek>(reader: R) -> Result<Vec<Outline>, String> {
    let mut archive = ZipArchive::new(reader).map_err(|_| "it is no zip archive, as such files are".to_string())?;
    let part = archive.by_name("content.xml").map_err(|_| "it has no content".to_string())?;
    let bytes = part.size();
    let mut xml = quick_xml::Reader::from_reader(BufReader::new(part));
    xml.config_mut().expand_empty_elements = true;
    xml.config_mut().check_end_names = false;
    let (mut found, mut buffer): (Vec<Outline>, Vec<u8>) = (Vec::new(), Vec::new());
    loop {
        buffer.clear();
        let event = xml.read_event_into(&mut buffer).map_err(|_| "its content is no XML".to_string())?;
        match event {
            Event::Eof => break,
            Event::Start(element) => match element.name().as_ref() {
                "table:table" => {
                    let name = attribute(&element, "table:name").unwrap_or_default();
                    found.push(Outline { name, ..Outline::default() });
                }
                "table:table-row" => {
                    if let Some(outline) = found.last_mut() {
                        outline.column = 0;
                        outline.repeated = count(&element, "table:number-rows-repeated");
                    }
                }
                "table:table-cell" | "table:covered-table-cell" => {
                    if let Some(outline) = found.last_mut() {
                        outline.cell(&element);
                    }
                }
                _ => {}
            },
            Event::End(element) if element.name().as_ref() == "table:table-row" => {
                if let Some(outline) = found.last_mut() {
                    outline.row = outline.row.saturating_add(std::mem::take(&mut outline.repeated));
                }
            }
            _ => {}
        }
    }
    let cells: u64 = found.iter().map(|o| o.rows.saturating_mul(o.columns)).fold(0, u64::saturating_add);
    if cells > SHEET_CELLS.saturating_add(bytes.saturating_mul(SHEET_CELLS_PER_BYTE)) {
        return Err(format!("{bytes} bytes are said to hold {cells} cells, most of them repeated"));
    }
    Ok(found)
}

impl Outline {
    fn cell(&mut self, element: &BytesStart<'_>) {
        let times = count(element, "table:number-columns-repeated");
        let next = self.column.saturating_add(times);
        let holds = ["office:value-type", "calcext:value-type", "table:formula"];
        if holds.iter().any(|name| attribute(element, name).is_some()) {
            // A repeated row stands for several rows, up to the last of which the sheet extends.
            self.rows = self.row.saturating_add(self.repeated.max(1));
            self.columns = self.columns.max(next);
        }
        let down = count(element, "table:number-rows-spanned");
        let across = count(element, "table:number-columns-spanned");
        let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let not_calculated = attribute(element, "table:formula").is_some() && !has_result(element);
        let failed = attribute(element, "calcext:value-type").as_deref() == Some("error");
        if not_calculated || failed {
            for column in (self.column..next).take(crate::limits::COLUMN_LIMIT).map(number) {
                if failed {
                    self.failed.insert(column);
                } else {
                    let known = self.not_calculated.entry(column).or_insert((number(self.row), 0));
                    known.1 = known.1.saturating_add(self.repeated.max(1));
                }
            }
        }
        if (down > 1 || across > 1) && self.merged.len() < crate::limits::REGIONS_LIMIT + 1 {
            let (row, column) = (self.row, self.column);
            let end = (row.saturating_add(down - 1), column.saturating_add(across - 1));
            self.merged.push(Region { start: (number(row), number(column)), end: (number(end.0), number(end.1)) });
        }
        self.column = next;
    }
}

/// Whether a cell has a value, if only an empty text.
fn has_result(element: &BytesStart<'_>) -> bool {
    let values = ["value", "string-value", "date-value", "time-value", "boolean-value"];
    values.iter().any(|name| attribute(element, &format!("office:{name}")).is_some())
        || attribute(element, "office:value-type").as_deref() == Some("string")
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = element.try_get_attribute(name).ok().flatten()?;
    Some(quick_xml::escape::unescape(&found.value).map_or_else(|_| found.value.to_string(), |text| text.into_owned()))
}

/// A repetition count, at least one.
fn count(element: &BytesStart<'_>, name: &str) -> u64 {
    attribute(element, name).and_then(|text| text.trim().parse().ok()).unwrap_or(1).max(1)
}
