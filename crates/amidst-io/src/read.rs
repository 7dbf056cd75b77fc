//! Reading: from what the user names to a table of codes.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};

use amidst_core::table::{Table, ValueType};

use crate::error::ReadError;
use crate::format::Format;
use crate::lines::Lines;
use crate::merge::Merger;
use crate::source::{Source, resolve};
use crate::stream::{Counted, Settings, gunzip, open, read_error};

/// How to read. The default reads everything, on all cores.
#[derive(Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    /// The separator of CSV files; guessed from the first lines when absent. TSV files have tabs.
    pub separator: Option<u8>,
    /// Which columns to keep, by name; all when absent.
    pub keep: Option<&'a dyn Fn(&str) -> bool>,
    /// The number of threads; 0 means one per core.
    pub threads: usize,
    /// Stop after so many rows.
    pub max_rows: Option<u64>,
    /// Stop with [`ReadError::Cancelled`] soon after this becomes true.
    pub cancel: Option<&'a AtomicBool>,
    /// Told from time to time how many bytes have been read, and of how many (unknown for standard input). Called by
    /// any of the reading threads.
    pub progress: Option<&'a (dyn Fn(u64, Option<u64>) + Sync)>,
    /// By column name, how many distinct values it may have; `None` sets no limit.
    pub distinct_limit: Option<&'a dyn Fn(&str) -> Option<u64>>,
    /// Bytes of text that a thread takes at a time; 0 means 1 MiB. The table does not depend on it.
    pub block_size: usize,
}

/// What was read.
#[derive(Debug)]
pub struct Input {
    /// The kept columns. Values have codes by first appearance and are all text; see [`Input::guess_types`].
    pub table: Table,
    /// The files, in the order in which they were read; `-` for standard input.
    pub files: Vec<PathBuf>,
    /// The names of all columns, kept or not.
    pub header: Vec<String>,
    lines: Lines,
}

impl Input {
    /// The line on which a row stands in its file, from 1. `None` in formats without lines.
    pub fn line_of(&self, row: usize) -> Option<u64> {
        self.lines.place(row).filter(|_| row < self.table.rows).and_then(|(_, line)| line)
    }

    /// The file in which a row stands.
    pub fn file_of(&self, row: usize) -> Option<&Path> {
        let (file, _) = self.lines.place(row).filter(|_| row < self.table.rows)?;
        self.files.get(file).map(PathBuf::as_path)
    }

    /// Gives every column the narrowest type that all its values but the `missing` tokens have, and sorts its
    /// dictionary by that type.
    pub fn guess_types(&mut self, missing: &[String]) {
        for column in &mut self.table.columns {
            let values = column.dictionary.iter().filter(|v| !missing.iter().any(|m| m == v));
            column.kind = ValueType::guess(values);
            column.sort(&[]);
        }
    }
}

/// Reads `source`: a path, a folder or glob of files with the same columns, or `-` for standard input.
///
/// The result does not depend on the number of threads. Memory is the codes, the dictionaries and a few blocks of text.
///
/// # Errors
/// Whatever is wrong with the input; see [`ReadError`].
pub fn read(source: &str, options: &ReadOptions<'_>) -> Result<Input, ReadError> {
    let sources = resolve(source)?;
    let total = sources.iter().try_fold(0, |sum, source| match source {
        Source::File(path, _) => std::fs::metadata(path).ok().map(|m| sum + m.len()),
        Source::Stdin => None,
    });
    read_sources(&sources, total, options, |_| Ok(Box::new(std::io::stdin())))
}

/// Reads a table from a stream whose format is known; `name` stands for the file in messages.
///
/// # Errors
/// As [`read`].
pub fn read_from(
    reader: impl Read + Send,
    name: &Path,
    format: Format,
    options: &ReadOptions<'_>,
) -> Result<Input, ReadError> {
    let settings = settings(options, None);
    let mut merger = Merger::new(options.keep, options.distinct_limit, options.max_rows);
    read_stream(name, Box::new(reader), format, options, &settings, &mut merger)?;
    Ok(finish(merger))
}

fn settings<'a>(options: &ReadOptions<'a>, total: Option<u64>) -> Settings<'a> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    Settings {
        threads: if options.threads == 0 { cores() } else { options.threads },
        block_size: if options.block_size == 0 { 1 << 20 } else { options.block_size },
        cancel: options.cancel,
        progress: options.progress,
        total,
        done: AtomicU64::new(0),
    }
}

fn read_sources(
    sources: &[Source],
    total: Option<u64>,
    options: &ReadOptions<'_>,
    stdin: impl Fn(()) -> Result<Box<dyn Read + Send>, ReadError>,
) -> Result<Input, ReadError> {
    let settings = settings(options, total);
    let mut merger = Merger::new(options.keep, options.distinct_limit, options.max_rows);
    for source in sources {
        settings.check()?;
        match source {
            Source::File(path, format) => {
                let file = open(path)?;
                read_stream(path, Box::new(file), *format, options, &settings, &mut merger)?;
            }
            Source::Stdin => {
                let reader = stdin(())?;
                read_stream(Path::new("-"), reader, Format::Csv, options, &settings, &mut merger)?;
            }
        }
        if merger.is_full() {
            break;
        }
    }
    Ok(finish(merger))
}

fn finish(merger: Merger<'_>) -> Input {
    let (table, files, header, lines) = merger.finish();
    Input { table, files, header, lines }
}

fn read_stream<'a>(
    path: &Path,
    reader: Box<dyn Read + Send + 'a>,
    format: Format,
    options: &ReadOptions<'_>,
    settings: &'a Settings<'a>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let counted = Counted { inner: reader, settings };
    match format {
        Format::Csv => crate::csv::read(path, counted, options.separator, settings, merger),
        Format::CsvGz => crate::csv::read(path, gunzip(counted), options.separator, settings, merger),
        Format::Tsv => crate::csv::read(path, counted, Some(b'\t'), settings, merger),
        Format::TsvGz => crate::csv::read(path, gunzip(counted), Some(b'\t'), settings, merger),
        _ => Err(read_error(path, std::io::ErrorKind::Unsupported.into())),
    }
}
