//! Converts the cells of a sheet, row by row, to a table with a header.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::cell;
use crate::conventions::{Conventions, Formulas, Merged};
use crate::error::ReadError;
use crate::format::Format;
use crate::limits::{COLUMN_LIMIT, REGIONS_LIMIT};
use crate::merge::Merger;
use crate::rows::Rows;
use crate::stream::Settings;

/// A region of merged cells: first and last cell, as (row, column) from 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region {
    pub start: (u32, u32),
    pub end: (u32, u32),
}

impl Region {
    /// The region in spreadsheet notation: A1:C1.
    fn name(&self) -> String {
        format!("{}:{}", cell::name(self.start.0, self.start.1), cell::name(self.end.0, self.end.1))
    }
}

/// The table of a sheet while its cells arrive.
pub(super) struct SheetTable<'c> {
    path: PathBuf,
    sheet: String,
    conventions: &'c Conventions,
    /// Ascending by first cell.
    regions: Vec<Region>,
    /// Regions that reach into the current row, with their value.
    active: Vec<(Region, Option<String>)>,
    /// Number of regions that begin at or before the current row.
    reached: usize,
    /// The current row and its cells.
    row: u32,
    cells: BTreeMap<u32, String>,
    /// The header, kept until the next row shows whether a nameless column precedes it.
    header: Option<(u32, BTreeMap<u32, String>)>,
    begun: Option<Begun>,
    /// Cells whose formula has no result, by column.
    no_result: BTreeMap<u32, NoResult>,
}

/// The cells of a column whose formula has no result.
struct NoResult {
    /// The row of the first.
    row: u32,
    /// What it holds; nothing where it was never calculated.
    error: Option<String>,
    count: u64,
}

/// The state once the columns are known.
struct Begun {
    header: u32,
    first: u32,
    last: u32,
    rows: Rows,
    /// Whether each column is kept.
    kept: Vec<bool>,
    /// The row that follows the last one.
    next: u32,
}

impl<'c> SheetTable<'c> {
    pub fn new(
        path: &Path,
        sheet: &str,
        conventions: &'c Conventions,
        mut regions: Vec<Region>,
    ) -> Result<Self, ReadError> {
        if regions.len() > REGIONS_LIMIT {
            let reason = format!("its sheet has more than {REGIONS_LIMIT} groups of merged cells");
            return Err(ReadError::damaged(path, Format::Xlsx)(reason));
        }
        regions.sort_by_key(|region| region.start);
        Ok(SheetTable {
            path: path.to_path_buf(),
            sheet: sheet.to_string(),
            conventions,
            regions,
            active: Vec::new(),
            reached: 0,
            row: 0,
            cells: BTreeMap::new(),
            header: None,
            begun: None,
            no_result: BTreeMap::new(),
        })
    }

    /// Notes `count` cells of a column, from a row on, whose formula failed with an error or was never calculated.
    pub fn no_result(&mut self, row: u32, column: u32, count: u64, error: Option<String>) {
        let known = self.no_result.entry(column).or_insert(NoResult { row, error: error.clone(), count: 0 });
        known.count = known.count.saturating_add(count);
        // What was never calculated can be had by saving the file again, so it is told first.
        if known.error.is_some() && error.is_none() {
            (known.row, known.error) = (row, None);
        }
    }

    /// An error when a column that is kept has formulas without a result, unless they are to be unknown.
    pub fn all_have_results(&self) -> Result<(), ReadError> {
        let kept = |column: u32| match &self.begun {
            Some(begun) if (begun.first..=begun.last).contains(&column) => {
                begun.kept.get((column - begun.first) as usize).copied().unwrap_or(true)
            }
            _ => true,
        };
        let of_kept: Vec<(u32, &NoResult)> =
            self.no_result.iter().map(|(column, found)| (*column, found)).filter(|(column, _)| kept(*column)).collect();
        let first = of_kept.iter().min_by_key(|(column, found)| (found.error.is_some(), found.row, *column));
        match first.filter(|_| self.conventions.formulas == Formulas::Refuse) {
            None => Ok(()),
            Some(&(column, found)) => Err(ReadError::NoResult {
                path: self.path.clone(),
                sheet: self.sheet.clone(),
                cell: cell::name(found.row, column),
                error: found.error.clone(),
                count: of_kept.iter().map(|(_, found)| found.count).fold(0, u64::saturating_add),
            }),
        }
    }

    /// Adds a cell; rows must not descend. Returns false when no more rows are wanted.
    pub fn put(
        &mut self,
        row: u32,
        column: u32,
        text: String,
        settings: &Settings<'_>,
        merger: &mut Merger<'_>,
    ) -> Result<bool, ReadError> {
        if row != self.row {
            if row < self.row {
                let reason = "its rows are not in order".to_string();
                return Err(ReadError::damaged(&self.path, Format::Xlsx)(reason));
            }
            if !self.end_row(settings, merger)? {
                return Ok(false);
            }
            self.row = row;
        }
        self.cells.insert(column, text);
        Ok(true)
    }

    /// Ends the sheet; an error when it has no cells or no rows.
    pub fn finish(mut self, settings: &Settings<'_>, merger: &mut Merger<'_>) -> Result<(), ReadError> {
        if !self.end_row(settings, merger)? {
            return Ok(());
        }
        if let Some((row, header)) = self.header.take() {
            let none = BTreeMap::new();
            self.begin(row, header, &none, merger)?;
        }
        self.all_have_results()?;
        match self.begun {
            None => Err(ReadError::Empty { path: self.path }),
            Some(begun) => begun.rows.finish(&self.path, settings, merger),
        }
    }

    /// Ends a row. Returns false when no more rows are wanted.
    fn end_row(&mut self, settings: &Settings<'_>, merger: &mut Merger<'_>) -> Result<bool, ReadError> {
        let mut cells = std::mem::take(&mut self.cells);
        if cells.is_empty() {
            return Ok(true);
        }
        if self.conventions.merged == Merged::Fill {
            self.fill(&mut cells);
        }
        if self.begun.is_none() && self.header.is_none() && !self.conventions.no_header {
            self.header = Some((self.row, cells));
            return Ok(true);
        }
        if self.begun.is_none() {
            match self.header.take() {
                Some((row, header)) => self.begin(row, header, &cells, merger)?,
                None => {
                    let (Some(first), Some(last)) = (cells.keys().next(), cells.keys().last()) else { return Ok(true) };
                    let names = (0..).zip(*first..=*last).map(|(i, column)| (column, format!("column{}", i + 1)));
                    let names = names.take(COLUMN_LIMIT + 1).collect();
                    self.begin(self.row, names, &cells, merger)?;
                }
            }
        }
        self.data_row(&cells, settings, merger)
    }

    /// Fixes the columns: those of the header and, if the row below has one, a nameless column before them.
    fn begin(
        &mut self,
        row: u32,
        header: BTreeMap<u32, String>,
        below: &BTreeMap<u32, String>,
        merger: &mut Merger<'_>,
    ) -> Result<(), ReadError> {
        let (Some(&first), Some(&last)) = (header.keys().next(), header.keys().last()) else { return Ok(()) };
        let before = below.keys().next().copied().filter(|column| column.checked_add(1) == Some(first));
        let first = before.unwrap_or(first);
        if (last - first) as usize >= COLUMN_LIMIT {
            return Err(ReadError::TooManyColumns { path: self.path.clone() });
        }
        let title = |region: &&Region| {
            let whole = region.start.0 == row && region.start.1 <= first && region.end.1 >= last;
            whole && region.end.1 > region.start.1
        };
        if let (false, Some(region)) = (self.conventions.no_header, self.regions.iter().find(title)) {
            let (path, sheet, cells) = (self.path.clone(), self.sheet.clone(), region.name());
            return Err(ReadError::TitleAbove { path, sheet, cells });
        }
        let within = |region: &&Region| region.end.0 >= row && region.start.1 <= last && region.end.1 >= first;
        let merged: Vec<&Region> = self.regions.iter().filter(within).collect();
        if let (Merged::Refuse, Some(region)) = (self.conventions.merged, merged.first()) {
            let (path, sheet, count) = (self.path.clone(), self.sheet.clone(), merged.len());
            let cells = region.name();
            return Err(ReadError::MergedCells { path, sheet, cells, count });
        }
        if self.no_result.values().any(|found| found.row == row) && !self.conventions.no_header {
            self.all_have_results()?;
        }
        let name = |column: u32| header.get(&column).map(|name| name.trim().to_string()).unwrap_or_default();
        let names: Vec<String> = (first..=last).map(name).collect();
        let rows_before = merger.rows();
        let data = if self.conventions.no_header { row } else { row + 1 };
        let kept = merger.begin(&self.path, names, u64::from(data) + 1)?;
        let rows = Rows::on_lines(&kept, rows_before);
        self.begun = Some(Begun { header: row, first, last, rows, kept, next: data });
        Ok(())
    }

    fn data_row(
        &mut self,
        cells: &BTreeMap<u32, String>,
        settings: &Settings<'_>,
        merger: &mut Merger<'_>,
    ) -> Result<bool, ReadError> {
        let Some(begun) = &mut self.begun else { return Ok(true) };
        let beside = cells.keys().find(|column| **column < begun.first || **column > begun.last);
        if let Some(&column) = beside {
            return Err(ReadError::BesideHeader {
                path: self.path.clone(),
                sheet: self.sheet.clone(),
                cell: cell::name(self.row, column),
                header: begun.header + 1,
            });
        }
        begun.rows.skip_lines(u64::from(self.row.saturating_sub(begun.next)));
        begun.next = self.row.saturating_add(1);
        let first = begun.first;
        begun.rows.push(settings, merger, |place, text| match cells.get(&(first + place as u32)) {
            None => Ok(true),
            Some(value) => {
                text.extend_from_slice(value.as_bytes());
                Ok(false)
            }
        })
    }

    /// Gives every merged cell of the current row the value of the region's first cell.
    fn fill(&mut self, cells: &mut BTreeMap<u32, String>) {
        let row = self.row;
        self.active.retain(|(region, _)| region.end.0 >= row);
        while let Some(region) = self.regions.get(self.reached).filter(|region| region.start.0 <= row) {
            let value = (region.start.0 == row).then(|| cells.get(&region.start.1).cloned()).flatten();
            if region.end.0 >= row {
                self.active.push((*region, value));
            }
            self.reached += 1;
        }
        for (region, value) in &self.active {
            let Some(value) = value else { continue };
            let columns = region.start.1..=region.end.1.min(region.start.1.saturating_add(COLUMN_LIMIT as u32));
            columns.for_each(|column| drop(cells.insert(column, value.clone())));
        }
    }
}
