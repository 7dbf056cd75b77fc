//! Reads a source of any kind into a table of codes.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64};

use arrow_array::RecordBatch;
use arrow_schema::Schema;

use crate::conventions::Conventions;
use crate::decode;
use crate::error::ReadError;
use crate::format::Format;
use crate::input::{DistinctLimit, Input};
use crate::merge::Merger;
use crate::source::{Source, resolve};
use crate::stream::{Counted, Settings, gunzip, open, read_error, unzstd};
use crate::{columnar, csv, database, json, sheet, spss, stata};

/// How to read. The default reads everything, with one thread per core.
#[derive(Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    /// The separator of CSV files; `None`: detected from the first lines. TSV files have tabs.
    pub separator: Option<u8>,
    /// Properties that the file does not state itself; `None`: the defaults of [`Conventions`].
    pub conventions: Option<&'a Conventions>,
    /// Which columns to keep, by name; `None`: all.
    pub keep: Option<&'a dyn Fn(&str) -> bool>,
    /// The number of threads; 0 means one per core.
    pub threads: usize,
    /// The number of rows after which reading stops; `None`: all rows are read.
    pub max_rows: Option<u64>,
    /// Reading stops with [`ReadError::Cancelled`] soon after this becomes true.
    pub cancel: Option<&'a AtomicBool>,
    /// Called from time to time with the number of bytes read and the total (`None` for standard input), or of rows for
    /// a table in memory, by any of the reading threads.
    pub progress: Option<&'a (dyn Fn(u64, Option<u64>) + Sync)>,
    /// The maximum number of distinct values by column; exceeding it is an error.
    pub distinct_limit: Option<DistinctLimit<'a>>,
    /// Bytes of text per block; 0 means 1 MiB. The table does not depend on it.
    pub block_size: usize,
}

impl<'a> ReadOptions<'a> {
    /// The stated conventions, or the default ones.
    fn stated(&self) -> &'a Conventions {
        static NONE: std::sync::OnceLock<Conventions> = std::sync::OnceLock::new();
        self.conventions.unwrap_or_else(|| NONE.get_or_init(Conventions::default))
    }
}

/// Reads `source`: a path, a folder or glob of files with the same columns, a table of a database
/// (`sqlite://file?table=name`, `postgres://user@host/database?table=name`), a table in memory ([`crate::lend`]), or
/// `-` for standard input.
///
/// The result does not depend on the number of threads. Memory use is the codes, the dictionaries and a few blocks of
/// text.
///
/// # Errors
/// When the source cannot be opened, is damaged or exceeds a limit, or when reading is cancelled; see [`ReadError`].
pub fn read(source: &str, options: &ReadOptions<'_>) -> Result<Input, ReadError> {
    let sources = resolve(source)?;
    let total = sources.iter().try_fold(0, |sum, source| match source {
        Source::File(path, _) => std::fs::metadata(path).ok().map(|m| sum + m.len()),
        Source::Stdin | Source::Database(..) => None,
    });
    let settings = settings(options, total);
    let mut merger = Merger::new(options.keep, options.distinct_limit, options.max_rows);
    for source in &sources {
        settings.check()?;
        match source {
            Source::File(path, format) => file(path, *format, options, &settings, &mut merger)?,
            Source::Stdin => standard_input(options, &settings, &mut merger)?,
            Source::Database(place, address) => database::read(place, address, &settings, &mut merger)?,
        }
        if merger.is_full() {
            break;
        }
    }
    Ok(finished(merger, options))
}

/// The table with numbers and dates converted according to the conventions.
fn finished(merger: Merger<'_>, options: &ReadOptions<'_>) -> Input {
    let mut input = merger.finish();
    if let Some(conventions) = options.conventions {
        conventions.convert(&mut input.table);
    }
    input
}

/// Reads a table from a stream of known format; `name` is the file's name in messages.
///
/// Parquet and Arrow streams are buffered in memory, because these formats are read from the end.
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
    stream(name, Box::new(reader), format, options, &settings, &mut merger)?;
    Ok(finished(merger, options))
}

/// Reads a table from Arrow record batches of one schema; `name` is its name in messages.
///
/// # Errors
/// As [`read`].
pub fn read_batches(
    name: &Path,
    schema: &Schema,
    batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send>,
    options: &ReadOptions<'_>,
) -> Result<Input, ReadError> {
    let settings = settings(options, None);
    let mut merger = Merger::new(options.keep, options.distinct_limit, options.max_rows);
    columnar::read_batches(name, schema, &mut batches.into_iter(), &settings, &mut merger)?;
    Ok(finished(merger, options))
}

/// Whether cells of `source` can be null: not in separated values, where every cell is a text.
pub fn may_have_nulls(source: &str) -> bool {
    !Format::of_path(Path::new(source)).is_ok_and(Format::is_separated)
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

/// Reads a file: Parquet and Arrow by random access, other formats as a stream.
fn file(
    path: &Path,
    format: Format,
    options: &ReadOptions<'_>,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    match format {
        Format::Parquet => columnar::read_parquet(path, || open(path), settings, merger),
        Format::Arrow => {
            let counted = Counted { inner: open(path)?, settings };
            columnar::read_ipc(path, counted, settings, merger)
        }
        Format::Xlsx | Format::Ods => {
            let reader = std::io::BufReader::with_capacity(256 << 10, open(path)?);
            sheet::read(path, reader, format, options.stated(), settings, merger)
        }
        _ => stream(path, Box::new(open(path)?), format, options, settings, merger),
    }
}

fn stream<'a>(
    path: &Path,
    reader: Box<dyn Read + Send + 'a>,
    format: Format,
    options: &ReadOptions<'_>,
    settings: &'a Settings<'a>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let mut counted = Counted { inner: reader, settings };
    let failed = |e| read_error(path, e);
    let stated = options.stated();
    let text = |reader: Box<dyn Read + Send + 'a>| decode::text(reader, stated.encoding).map_err(failed);
    let separated = |reader, separator, merger: &mut Merger<'_>| {
        csv::read(path, text(reader)?, separator, stated.no_header, settings, merger)
    };
    match format {
        Format::Csv => separated(Box::new(counted), options.separator, merger),
        Format::CsvGz => separated(Box::new(gunzip(counted)), options.separator, merger),
        Format::CsvZst => separated(Box::new(unzstd(counted).map_err(failed)?), options.separator, merger),
        Format::Tsv => separated(Box::new(counted), Some(b'\t'), merger),
        Format::TsvGz => separated(Box::new(gunzip(counted)), Some(b'\t'), merger),
        Format::TsvZst => separated(Box::new(unzstd(counted).map_err(failed)?), Some(b'\t'), merger),
        Format::JsonLines => json::read(path, text(Box::new(counted))?, settings, merger),
        Format::JsonLinesGz => json::read(path, text(Box::new(gunzip(counted)))?, settings, merger),
        Format::JsonLinesZst => json::read(path, text(Box::new(unzstd(counted).map_err(failed)?))?, settings, merger),
        Format::Json => json::read_any(path, text(Box::new(counted))?, settings, merger),
        Format::JsonGz => json::read_any(path, text(Box::new(gunzip(counted)))?, settings, merger),
        Format::JsonZst => json::read_any(path, text(Box::new(unzstd(counted).map_err(failed)?))?, settings, merger),
        Format::Parquet => {
            let bytes = bytes::Bytes::from(whole(path, &mut counted)?);
            columnar::read_parquet(path, || Ok(bytes.clone()), settings, merger)
        }
        Format::Arrow => {
            let bytes = std::io::Cursor::new(whole(path, &mut counted)?);
            columnar::read_ipc(path, bytes, settings, merger)
        }
        Format::Xlsx | Format::Ods => {
            let bytes = std::io::Cursor::new(whole(path, &mut counted)?);
            sheet::read(path, bytes, format, stated, settings, merger)
        }
        Format::Sav => spss::read(path, &whole(path, &mut counted)?, stated, settings, merger),
        Format::Dta => stata::read(path, &whole(path, &mut counted)?, stated, settings, merger),
    }
}

/// At most `limit` bytes from the start of the text of `source`, or of its first file, decompressed; true if that is
/// all of it. `None` for formats that are not text.
///
/// # Errors
/// When the file cannot be opened or decompressed.
pub fn first_bytes(source: &str, limit: u64) -> Result<Option<(Vec<u8>, bool)>, ReadError> {
    let Some(Source::File(path, format)) = resolve(source)?.into_iter().next() else { return Ok(None) };
    let failed = |e| read_error(&path, e);
    use Format::{Csv, CsvGz, CsvZst, Json, JsonGz, JsonLines, JsonLinesGz, JsonLinesZst, JsonZst, Tsv, TsvGz, TsvZst};
    let file = open(&path)?;
    let reader: Box<dyn Read> = match format {
        Csv | Tsv | JsonLines | Json => Box::new(file),
        CsvGz | TsvGz | JsonLinesGz | JsonGz => Box::new(gunzip(file)),
        CsvZst | TsvZst | JsonLinesZst | JsonZst => Box::new(unzstd(file).map_err(failed)?),
        _ => return Ok(None),
    };
    let mut bytes = Vec::new();
    reader.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    let whole = (bytes.len() as u64) < limit;
    Ok(Some((bytes, whole)))
}

fn whole(path: &Path, reader: &mut impl Read) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(|e| read_error(path, e))?;
    Ok(bytes)
}

/// Reads standard input; the first bytes determine the format.
fn standard_input(
    options: &ReadOptions<'_>,
    settings: &Settings<'_>,
    merger: &mut Merger<'_>,
) -> Result<(), ReadError> {
    let path = Path::new("-");
    let (start, reader) = peek(path, std::io::stdin())?;
    if start.starts_with(b"\x1f\x8b") {
        let (start, reader) = peek(path, gunzip(reader))?;
        return stream(path, Box::new(reader), format_of(&start), options, settings, merger);
    }
    if start.starts_with(b"\x28\xb5\x2f\xfd") {
        let (start, reader) = peek(path, unzstd(reader).map_err(|e| read_error(path, e))?)?;
        return stream(path, Box::new(reader), format_of(&start), options, settings, merger);
    }
    stream(path, Box::new(reader), format_of(&start), options, settings, merger)
}

/// The first bytes of a stream, and the whole stream including them.
fn peek<R: Read>(path: &Path, mut reader: R) -> Result<(Vec<u8>, impl Read + use<R>), ReadError> {
    let mut start = Vec::new();
    reader.by_ref().take(64).read_to_end(&mut start).map_err(|e| read_error(path, e))?;
    Ok((start.clone(), std::io::Cursor::new(start).chain(reader)))
}

fn format_of(start: &[u8]) -> Format {
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    if start.starts_with(b"PAR1") {
        Format::Parquet
    } else if start.starts_with(b"ARROW1") || start.starts_with(b"\xFF\xFF\xFF\xFF") {
        Format::Arrow
    } else if text.trim_ascii_start().starts_with(b"{") {
        Format::JsonLines
    } else if text.trim_ascii_start().starts_with(b"[{") {
        Format::Json
    } else if start.starts_with(b"PK\x03\x04") {
        // The first entry of an OpenDocument archive is its media type.
        if memchr::memmem::find(start, b"mimetypeapplication/vnd.oasis").is_some() { Format::Ods } else { Format::Xlsx }
    } else if start.starts_with(b"$FL2@(#)") || start.starts_with(b"$FL3@(#)") {
        Format::Sav
    } else if start.starts_with(b"<stata_dta>") {
        Format::Dta
    } else {
        Format::Csv
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_the_format() {
        assert_eq!(format_of(b"PAR1.."), Format::Parquet);
        assert_eq!(format_of(b"\n {\"a\":1}"), Format::JsonLines);
        assert_eq!(format_of(b"a,b\n"), Format::Csv);
        assert_eq!(format_of(b""), Format::Csv);
        assert_eq!(format_of(b"[{\"a\":1}]"), Format::Json);
        assert_eq!(format_of(b"PK\x03\x04..."), Format::Xlsx);
    }
}
