//! Errors of reading. Messages name files, lines and columns and say how to correct the input; they never quote cells.

use std::path::{Path, PathBuf};

use crate::format::{Format, SUPPORTED, instead};

/// Why an input could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no such file.
    #[error("{}: no such file.{}", path.display(), nearest.as_ref().map(|n| format!(" Did you mean {n}?")).unwrap_or_default())]
    Missing {
        /// The path as given.
        path: PathBuf,
        /// The most similar name in the same folder.
        nearest: Option<String>,
    },
    /// The system denies permission.
    #[error("{}: permission denied. Let this user read the file (chmod +r), or copy it", path.display())]
    PermissionDenied {
        /// The file.
        path: PathBuf,
    },
    /// Reading failed.
    #[error("{}: cannot read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The extension is not that of a format.
    #[error("{}: the ending does not tell the format. {}", path.display(), instead(path))]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The source has an unknown scheme.
    #[error(
        "{scheme}:// sources cannot be read. Give a file, a folder, a glob, sqlite://…, postgres://… or - for standard input"
    )]
    UnknownScheme {
        /// The text before `://`.
        scheme: String,
    },
    /// The requested table is not in the database, or the address is wrong.
    #[error("{place}: {reason}")]
    Database {
        /// The address, without its password.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// A database that cannot be reached or read.
    #[error("{place}: {reason}")]
    DatabaseFailed {
        /// The address, without its password.
        place: String,
        /// The database's message.
        reason: String,
    },
    /// A cell of binary data.
    #[error("{}, row {row}{}: binary data, which has no text. Make the column identifying (it is then left out), or select others with ?query=SELECT …", path.display(), in_column(column))]
    Binary {
        /// The address.
        path: PathBuf,
        /// The row, from 1.
        row: u64,
        /// The column's name.
        column: Option<String>,
    },
    /// A folder or glob without any data file.
    #[error("{}: no data files there. Supported: {SUPPORTED}", path.display())]
    NoDataFiles {
        /// The folder or glob.
        path: PathBuf,
    },
    /// An invalid glob.
    #[error("{pattern}: not a valid glob: {reason}")]
    BadGlob {
        /// The pattern as given.
        pattern: String,
        /// What is wrong.
        reason: String,
    },
    /// A separator that is a quote, a line break, NUL or not ASCII.
    #[error("the separator must be one ASCII character other than a quote or a line break")]
    BadSeparator,
    /// The file is empty.
    #[error("{}: the file is empty. It needs a header line and at least one row", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A header without rows.
    #[error("{}: no rows, only a header", path.display())]
    NoRows {
        /// The file.
        path: PathBuf,
    },
    /// A row with too few or too many fields.
    #[error("{}, line {line}: {}, but the header has {expected}. {}", path.display(), fields(*found), ragged(*expected))]
    Ragged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Fields in the header.
        expected: usize,
        /// Fields in the row.
        found: usize,
    },
    /// A NUL byte.
    #[error("{}, line {line}{}: a NUL byte. The file is damaged, or not text, or UTF-16: then state `encoding = \"utf-16le\"` under [data]", path.display(), in_column(column))]
    Nul {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The column's name.
        column: Option<String>,
    },
    /// Bytes that are not UTF-8.
    #[error("{}, line {line}{}: not UTF-8, which is expected where nothing else is stated. State what it is under [data], for files of Windows and Excel mostly `encoding = \"windows-1252\"`", path.display(), in_column(column))]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The line (or row, in formats without lines), from 1.
        line: u64,
        /// The column's name.
        column: Option<String>,
    },
    /// Bytes that are invalid in the stated encoding, or in that of the byte order mark.
    #[error("{}, line {line}: not {encoding}, as is stated or as its first bytes say. State another `encoding` under [data], or export the file again", path.display())]
    NotEncoding {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The encoding.
        encoding: String,
    },
    /// A workbook in which several sheets have cells, and none is stated.
    #[error("{}: {} sheets hold something: {}. State which one is the table under [data]: `sheet = {}`", path.display(), sheets.len(), listed(sheets), toml_text(sheets.first()))]
    SeveralSheets {
        /// The file.
        path: PathBuf,
        /// Their names, in the order of the workbook.
        sheets: Vec<String>,
    },
    /// A stated sheet that the workbook does not have.
    #[error("{}: there is no sheet {}. It has {}. State one of them under [data]: `sheet = {}`", path.display(), shown(sheet), listed(sheets), toml_text(sheets.first()))]
    NoSuchSheet {
        /// The file.
        path: PathBuf,
        /// The stated sheet.
        sheet: String,
        /// The sheets of the workbook.
        sheets: Vec<String>,
    },
    /// Merged cells in a table.
    #[error("{}, sheet {}, cells {cells}: merged cells{}. State under [data] what they mean: `merged = \"fill\"` (each of them has the value) or `merged = \"empty\"` (only the first has it), or part them", path.display(), shown(sheet), more(*count))]
    MergedCells {
        /// The file.
        path: PathBuf,
        /// The sheet.
        sheet: String,
        /// The first region, such as B2:B5.
        cells: String,
        /// Number of regions.
        count: usize,
    },
    /// Cells of a sheet whose formula failed or was never calculated.
    #[error("{}, sheet {}, cell {cell}: {}{}. {}, or state under [data] that such cells are unknown: `formulas = \"unknown\"`", path.display(), shown(sheet), no_result(error), cells_more(*count), if error.is_some() { "Mend them" } else { "Open the workbook in a spreadsheet program and save it there, so that it holds the results" })]
    NoResult {
        /// The file.
        path: PathBuf,
        /// The sheet.
        sheet: String,
        /// The first such cell, such as C3.
        cell: String,
        /// What it holds, such as #N/A; nothing where the formula was never calculated.
        error: Option<String>,
        /// Number of such cells.
        count: u64,
    },
    /// A title above the header of a sheet.
    #[error("{}, sheet {}, cells {cells}: one text merged across the columns stands where their names should. Delete what stands above the table, or state `header = false` under [data] if it has no header", path.display(), shown(sheet))]
    TitleAbove {
        /// The file.
        path: PathBuf,
        /// The sheet.
        sheet: String,
        /// The merged cells, such as A1:D1.
        cells: String,
    },
    /// A cell of a sheet outside the columns of its header.
    #[error("{}, sheet {}, cell {cell}: a cell beside the columns of the header, which is taken to be row {header}. Delete what stands above or beside the table, or state `header = false` under [data] if it has none", path.display(), shown(sheet))]
    BesideHeader {
        /// The file.
        path: PathBuf,
        /// The sheet.
        sheet: String,
        /// The cell, such as F7.
        cell: String,
        /// The row of the header, from 1.
        header: u32,
    },
    /// An element of a JSON list that is not an object of single values.
    #[error("{}, object {element}: {reason}", path.display())]
    JsonElement {
        /// The file.
        path: PathBuf,
        /// Its number in the list, from 1.
        element: u64,
        /// What is wrong, without the text.
        reason: String,
    },
    /// JSON that is neither a list of objects nor one object per line.
    #[error("{}: neither a list of objects ([{{…}}, {{…}}]) nor an object a line. Export it as such; in pandas: to_json(…, orient = \"records\")", path.display())]
    JsonShape {
        /// The file.
        path: PathBuf,
    },
    /// Two columns with the same name.
    #[error("{}: columns {first} and {second} are both called {}. Rename one, or state `header = false` under [data] if there is no header", path.display(), shown(column))]
    DuplicateColumn {
        /// The file.
        path: PathBuf,
        /// The name.
        column: String,
        /// Position of the first, from 1.
        first: usize,
        /// Position of the second, from 1.
        second: usize,
    },
    /// More columns than a table may have.
    #[error("{}: more than {} columns, names of more than {} MiB, or many more cells than the file has bytes. Select the columns that are needed first", path.display(), crate::COLUMN_LIMIT, crate::NAMES_LIMIT >> 20)]
    TooManyColumns {
        /// The file.
        path: PathBuf,
    },
    /// A column without a name.
    #[error("{}: column {position} has no name. Give every column a name in the header, delete lines above it, or state `header = false` under [data] if there is none", path.display())]
    EmptyColumnName {
        /// The file.
        path: PathBuf,
        /// Its position, from 1.
        position: usize,
    },
    /// Excel's line that names the separator, in the place of the header.
    #[error("{}, line {line}: a line that only Excel understands, sep=, stands where the names of the columns should. Delete it, and state `separator = {}` under [data]", path.display(), toml_text(Some(&separator.to_string())))]
    SeparatorLine {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The separator that it names.
        separator: char,
    },
    /// More distinct values than the column may have.
    #[error("{}: column {} has more than {limit} distinct values. Make it identifying (it is then left out) or insensitive", path.display(), shown(column))]
    TooManyDistinct {
        /// The file in which the limit was passed.
        path: PathBuf,
        /// The column's name.
        column: String,
        /// The limit.
        limit: u64,
    },
    /// A field longer than [`FIELD_LIMIT`](crate::FIELD_LIMIT).
    #[error("{}, line {line}{}: a field of more than 16 MiB.{}", path.display(), in_column(column), if *quoted { " Its quote is probably never closed: look for a stray \" on that line" } else { " Shorten it" })]
    FieldTooLong {
        /// The file.
        path: PathBuf,
        /// The line on which the row starts, from 1.
        line: u64,
        /// The column's name.
        column: Option<String>,
        /// Whether the field starts with a quote.
        quoted: bool,
    },
    /// The file ends inside a quoted field.
    #[error("{}, line {line}{}: a quote that opens here is never closed", path.display(), in_column(column))]
    UnclosedQuote {
        /// The file.
        path: PathBuf,
        /// The line on which the row starts, from 1.
        line: u64,
        /// The column's name.
        column: Option<String>,
    },
    /// A cell that programs read in different ways.
    #[error(
        "{}, line {line}{}: programs read this cell in different ways: it has text or blanks around its quotes, or a carriage \
         return that ends no line. Put the whole cell in quotes, or export the table again",
        path.display(), in_column(column)
    )]
    TwoReadings {
        /// The file.
        path: PathBuf,
        /// The line on which the row starts, from 1.
        line: u64,
        /// The column's name.
        column: Option<String>,
    },
    /// The file's columns are not those of the first file.
    #[error("{}: column {position} is {}, but {} has {} there. All files must have the same columns in the same order", path.display(), or_none(found), first.display(), or_none(expected))]
    HeaderDiffers {
        /// The file.
        path: PathBuf,
        /// The first file.
        first: PathBuf,
        /// Position of the first difference, from 1.
        position: usize,
        /// The first file's column there.
        expected: Option<String>,
        /// This file's column there.
        found: Option<String>,
    },
    /// A line that is not a JSON object.
    #[error("{}, line {line}: not a JSON object: {reason}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong, without the text.
        reason: String,
    },
    /// A JSON value that is itself a list or an object.
    #[error("{}, line {line}{}: a list or an object where one value is expected. Flatten it into columns of its own", path.display(), in_column(column))]
    Nested {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The key.
        column: Option<String>,
    },
    /// A column whose type has no text form.
    #[error("{}: column {} has the type {kind}, which is not one value a cell. Flatten it or leave it out", path.display(), shown(column))]
    UnsupportedType {
        /// The file.
        path: PathBuf,
        /// The column's name.
        column: String,
        /// Its type.
        kind: String,
    },
    /// A gzip stream that stops before its end.
    #[error("{}: the compressed data ends early. Copy or download the file again", path.display())]
    GzipEndsEarly {
        /// The file.
        path: PathBuf,
    },
    /// A stream that is not gzip, or is damaged.
    #[error("{}: the compressed data is damaged. Copy or download the file again", path.display())]
    GzipDamaged {
        /// The file.
        path: PathBuf,
    },
    /// A file of a binary format that is truncated or damaged.
    #[error("{}: not a whole {format} file: {reason}. Copy or export it again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The format.
        format: &'static str,
        /// The message of the format's reader.
        reason: String,
    },
    /// The caller asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl ReadError {
    /// An error constructor for damage in the file at `path`.
    pub(crate) fn damaged(path: &Path, format: Format) -> impl Fn(String) -> ReadError + Copy {
        move |reason| ReadError::Damaged { path: path.to_path_buf(), format: format.name(), reason }
    }
}

fn fields(count: usize) -> String {
    if count == 1 { "1 field".to_string() } else { format!("{count} fields") }
}

/// The remedies for rows of another length than the header.
fn ragged(expected: usize) -> &'static str {
    match expected {
        // A title or a remark is one field.
        1 => "Delete what stands above the names of the columns, or state the separator",
        _ => "Quote fields that contain the separator, or state the separator",
    }
}

fn in_column(column: &Option<String>) -> String {
    column.as_ref().map(|c| format!(", column {}", shown(c))).unwrap_or_default()
}

fn or_none(column: &Option<String>) -> String {
    column.as_ref().map_or_else(|| "missing".to_string(), |c| shown(c))
}

/// The first names of a list, and the number of others.
fn listed(names: &[String]) -> String {
    let mut some: Vec<String> = names.iter().take(12).map(|name| shown(name)).collect();
    if names.len() > 12 {
        some.push(format!("{} more", names.len() - 12));
    }
    some.join(", ")
}

/// A name as a TOML string.
fn toml_text(name: Option<&String>) -> String {
    let short: String = name.map(String::as_str).unwrap_or_default().chars().take(60).collect();
    format!("\"{}\"", short.escape_debug())
}

fn no_result(error: &Option<String>) -> String {
    match error {
        Some(error) => format!("an error ({error}) where a value should be"),
        None => "a formula whose result is not in the file".to_string(),
    }
}

fn cells_more(count: u64) -> String {
    match count {
        0 | 1 => String::new(),
        2 => ", and 1 cell more".to_string(),
        _ => format!(", and {} cells more", count - 1),
    }
}

fn more(count: usize) -> String {
    if count > 1 { format!(", and {} groups more", count - 1) } else { String::new() }
}

/// A name for one line of a message: quoted, control characters escaped, cut after 60 characters.
pub(crate) fn shown(name: &str) -> String {
    let short: String = name.chars().take(60).flat_map(char::escape_debug).collect();
    if name.chars().count() > 60 { format!("“{short}…”") } else { format!("“{short}”") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_on_one_screen() {
        let column = "x\n".repeat(1000);
        let message = ReadError::TooManyDistinct { path: "a.csv".into(), column, limit: 5 }.to_string();
        assert!(message.len() < 400 && !message.contains('\n'));
    }
}
