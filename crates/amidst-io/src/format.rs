//! The file formats, identified by the extension of a file name.

use std::path::Path;

/// A format that is read and, unless stated otherwise, written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Separated values; by default with commas.
    Csv,
    /// Comma separated values, gzipped.
    CsvGz,
    /// Comma separated values, compressed by zstd. Read only.
    CsvZst,
    /// Tab separated values.
    Tsv,
    /// Tab separated values, gzipped.
    TsvGz,
    /// Tab separated values, compressed by zstd. Read only.
    TsvZst,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC: read as a file or as a stream, written as a file.
    Arrow,
    /// One JSON object per line.
    JsonLines,
    /// One JSON object per line, gzipped.
    JsonLinesGz,
    /// One JSON object per line, compressed by zstd. Read only.
    JsonLinesZst,
    /// A JSON list of objects. Read only.
    Json,
    /// A JSON list of objects, gzipped. Read only.
    JsonGz,
    /// A JSON list of objects, compressed by zstd. Read only.
    JsonZst,
    /// An Excel workbook. Read only.
    Xlsx,
    /// An OpenDocument workbook. Read only.
    Ods,
    /// An SPSS data file. Read only.
    Sav,
    /// A Stata data file. Read only.
    Dta,
}

/// The extensions of files that can be read, as listed in error messages.
pub const SUPPORTED: &str = ".csv .tsv .json .jsonl (each also with .gz or .zst) .parquet .arrow .xlsx .ods .sav .dta";

/// The extensions of files that can be written.
pub const WRITTEN: &str = ".csv .tsv .jsonl (each also with .gz) .parquet .arrow";

const ENDINGS: &[(&str, Format)] = &[
    (".csv", Format::Csv),
    (".txt", Format::Csv),
    (".csv.gz", Format::CsvGz),
    (".txt.gz", Format::CsvGz),
    (".csv.zst", Format::CsvZst),
    (".txt.zst", Format::CsvZst),
    (".tsv", Format::Tsv),
    (".tab", Format::Tsv),
    (".tsv.gz", Format::TsvGz),
    (".tsv.zst", Format::TsvZst),
    (".parquet", Format::Parquet),
    (".pq", Format::Parquet),
    (".arrow", Format::Arrow),
    (".feather", Format::Arrow),
    (".ipc", Format::Arrow),
    (".jsonl", Format::JsonLines),
    (".ndjson", Format::JsonLines),
    (".jsonl.gz", Format::JsonLinesGz),
    (".ndjson.gz", Format::JsonLinesGz),
    (".jsonl.zst", Format::JsonLinesZst),
    (".ndjson.zst", Format::JsonLinesZst),
    (".json", Format::Json),
    (".json.gz", Format::JsonGz),
    (".json.zst", Format::JsonZst),
    (".xlsx", Format::Xlsx),
    (".xlsm", Format::Xlsx),
    (".ods", Format::Ods),
    (".sav", Format::Sav),
    (".zsav", Format::Sav),
    (".dta", Format::Dta),
];

/// Common extensions that are not read, with what to do instead.
const INSTEAD: &[(&str, &str)] = &[
    (".xls", "Open it and save it as .xlsx"),
    (".xlsb", "Open it and save it as .xlsx"),
    (".numbers", "Export it as .xlsx or .csv"),
    (
        ".sas7bdat",
        "Export it in SAS: proc export data=… outfile=\"table.csv\" dbms=csv; or in R: haven::read_sas and write.csv",
    ),
    (".xpt", "Export it as .csv, in R: haven::read_xpt and write.csv"),
    (".por", "Save it in SPSS as .sav"),
    (".rds", "Export it in R: write.csv(readRDS(…), \"table.csv\", row.names = FALSE)"),
    (".rdata", "Export it in R: write.csv(…, \"table.csv\", row.names = FALSE)"),
    (".mdb", "Export the table as .csv or .xlsx"),
    (".accdb", "Export the table as .csv or .xlsx"),
    (".db", "Write sqlite:// before its name if it is a SQLite database"),
    (".sqlite", "Write sqlite:// before its name"),
    (".sqlite3", "Write sqlite:// before its name"),
    (".toml", "It looks like a policy; a table belongs here, and a policy to `amidst check` and `amidst anonymize`"),
    (".zip", "Unpack it first"),
    (".7z", "Unpack it first"),
    (".tar", "Unpack it first"),
    (".gz", "Unpack it first"),
    (".zst", "Unpack it first"),
    (".bz2", "Unpack it first"),
    (".xz", "Unpack it first"),
    (".lz4", "Unpack it first"),
    (".pdf", "It holds pages, not a table"),
    (".docx", "It holds pages, not a table; copy the table into a spreadsheet"),
    (".odt", "It holds pages, not a table; copy the table into a spreadsheet"),
];

/// The extensions of files that are read, each with its dot; a format may have several.
pub fn endings() -> impl Iterator<Item = &'static str> {
    ENDINGS.iter().map(|(ending, _)| *ending)
}

/// Whether `path` has the extension of a known format that is neither read nor written here.
pub fn is_foreign(path: &Path) -> bool {
    let name = lower_name(path);
    INSTEAD.iter().any(|(ending, _)| name.ends_with(ending))
}

/// What to do with a file whose extension is not that of a format.
pub(crate) fn instead(path: &Path) -> String {
    let name = lower_name(path);
    let found = INSTEAD.iter().find(|(ending, _)| name.ends_with(ending));
    let advice = found.map_or("Rename the file if it is one of these", |(_, advice)| advice);
    format!("Supported: {SUPPORTED}. {advice}")
}

fn lower_name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// A file name whose extension is not that of a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: the ending does not tell the format. Supported: {SUPPORTED}")]
pub struct UnknownFormat {
    /// The file's name.
    pub name: String,
}

impl Format {
    /// The format by the extension of `path`, ignoring case.
    ///
    /// # Errors
    /// When the extension is unknown.
    pub fn of_path(path: &Path) -> Result<Format, UnknownFormat> {
        let name = lower_name(path);
        ENDINGS
            .iter()
            .find(|(ending, _)| name.ends_with(ending))
            .map(|(_, format)| *format)
            .ok_or_else(|| UnknownFormat { name: path.display().to_string() })
    }

    /// The usual extension, with its dot.
    pub fn ending(self) -> &'static str {
        ENDINGS.iter().find(|(_, format)| *format == self).map_or(".csv", |(ending, _)| ending)
    }

    /// Whether the bytes are gzipped.
    pub fn is_gzipped(self) -> bool {
        matches!(self, Format::CsvGz | Format::TsvGz | Format::JsonLinesGz | Format::JsonGz)
    }

    /// Whether tables are also written in this format, which the independent checker must then be able to read.
    pub fn is_written(self) -> bool {
        use Format::{Arrow, Csv, CsvGz, JsonLines, JsonLinesGz, Parquet, Tsv, TsvGz};
        matches!(self, Csv | CsvGz | Tsv | TsvGz | JsonLines | JsonLinesGz | Parquet | Arrow)
    }

    /// Whether a file of this name is one that the independent checker knows to be in this format.
    pub fn is_written_as(self, path: &Path) -> bool {
        self.is_written() && lower_name(path).ends_with(self.ending())
    }

    /// Whether the file consists of lines of separated values.
    pub fn is_separated(self) -> bool {
        use Format::{Csv, CsvGz, CsvZst, Tsv, TsvGz, TsvZst};
        matches!(self, Csv | CsvGz | CsvZst | Tsv | TsvGz | TsvZst)
    }

    /// The name used in messages.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv | Format::CsvGz | Format::CsvZst => "CSV",
            Format::Tsv | Format::TsvGz | Format::TsvZst => "TSV",
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow IPC",
            Format::JsonLines | Format::JsonLinesGz | Format::JsonLinesZst => "JSON lines",
            Format::Json | Format::JsonGz | Format::JsonZst => "JSON",
            Format::Xlsx => "Excel",
            Format::Ods => "OpenDocument",
            Format::Sav => "SPSS",
            Format::Dta => "Stata",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_decides() {
        assert_eq!(Format::of_path(Path::new("a/b.CSV")), Ok(Format::Csv));
        assert_eq!(Format::of_path(Path::new("b.tsv.gz")), Ok(Format::TsvGz));
        assert_eq!(Format::of_path(Path::new("b.json.zst")), Ok(Format::JsonZst));
        assert!(Format::of_path(Path::new("b.xls")).is_err());
        for (_, format) in ENDINGS {
            assert_eq!(Format::of_path(Path::new(&format!("x{}", format.ending()))), Ok(*format));
            let listed = WRITTEN.split(' ').any(|ending| ending == format.ending().trim_end_matches(".gz"));
            assert_eq!(listed && *format != Format::JsonGz, format.is_written(), "{format:?}");
        }
        assert!(instead(Path::new("b.XLS")).contains("save it as .xlsx"));
        assert!(
            is_foreign(Path::new("b.arrow.gz")) && is_foreign(Path::new("b.csv.bz2")) && !is_foreign(Path::new("b.v2"))
        );
        let written = |name: &str| Format::of_path(Path::new(name)).is_ok_and(|f| f.is_written_as(Path::new(name)));
        assert!(written("b.CSV") && written("b.jsonl.gz") && written("b.arrow"));
        assert!(!written("b.txt") && !written("b.feather") && !written("b.ndjson") && !written("b.csv.zst"));
    }
}
