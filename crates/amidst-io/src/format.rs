//! The file formats, told apart by the ending of the file's name.

use std::path::Path;

/// A format that tables are read from and written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma (or otherwise) separated values.
    Csv,
    /// Comma separated values, gzipped.
    CsvGz,
    /// Tab separated values.
    Tsv,
    /// Tab separated values, gzipped.
    TsvGz,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC: read as a file or as a stream, written as a file.
    Arrow,
    /// One JSON object a line.
    JsonLines,
    /// One JSON object a line, gzipped.
    JsonLinesGz,
}

/// The endings a file may have, as listed in error messages.
pub const SUPPORTED: &str = ".csv .tsv .jsonl (each also with .gz) .parquet .arrow";

const ENDINGS: [(&str, Format); 16] = [
    (".csv", Format::Csv),
    (".txt", Format::Csv),
    (".csv.gz", Format::CsvGz),
    (".txt.gz", Format::CsvGz),
    (".tsv", Format::Tsv),
    (".tab", Format::Tsv),
    (".tsv.gz", Format::TsvGz),
    (".parquet", Format::Parquet),
    (".pq", Format::Parquet),
    (".arrow", Format::Arrow),
    (".feather", Format::Arrow),
    (".ipc", Format::Arrow),
    (".jsonl", Format::JsonLines),
    (".ndjson", Format::JsonLines),
    (".jsonl.gz", Format::JsonLinesGz),
    (".ndjson.gz", Format::JsonLinesGz),
];

/// A file name whose ending says no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: the ending does not tell the format. Supported: {SUPPORTED}")]
pub struct UnknownFormat {
    /// The file's name.
    pub name: String,
}

impl Format {
    /// The format that the ending of `path` says.
    ///
    /// # Errors
    /// When the ending is not a known one.
    pub fn of_path(path: &Path) -> Result<Format, UnknownFormat> {
        let name = path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        ENDINGS
            .iter()
            .find(|(ending, _)| name.ends_with(ending))
            .map(|(_, format)| *format)
            .ok_or_else(|| UnknownFormat { name: path.display().to_string() })
    }

    /// The usual ending, with its dot.
    pub fn ending(self) -> &'static str {
        ENDINGS.iter().find(|(_, format)| *format == self).map_or(".csv", |(ending, _)| ending)
    }

    /// Whether the bytes are gzipped.
    pub fn is_gzipped(self) -> bool {
        matches!(self, Format::CsvGz | Format::TsvGz | Format::JsonLinesGz)
    }

    /// The name used in messages.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv | Format::CsvGz => "CSV",
            Format::Tsv | Format::TsvGz => "TSV",
            Format::Parquet => "Parquet",
            Format::Arrow => "Arrow IPC",
            Format::JsonLines | Format::JsonLinesGz => "JSON lines",
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
        assert!(Format::of_path(Path::new("b.xlsx")).is_err());
        for (_, format) in ENDINGS {
            assert_eq!(Format::of_path(Path::new(&format!("x{}", format.ending()))), Ok(format));
        }
    }
}
