//! Resolves what a user names as input: a file, a folder, a glob, a table in a database, or `-` for standard input.

use std::path::{Path, PathBuf};

use crate::address::{Address, local_path, without_password};
use crate::error::ReadError;
use crate::format::Format;

/// One source to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    File(PathBuf, Format),
    /// Standard input; the first bytes determine the format.
    Stdin,
    /// A table in a database, with its address for messages.
    Database(PathBuf, Address),
}

/// The sources that `source` stands for, in the order of file names.
pub(crate) fn resolve(source: &str) -> Result<Vec<Source>, ReadError> {
    if source == "-" {
        return Ok(vec![Source::Stdin]);
    }
    if let Some(address) = Address::parse(source) {
        return Ok(vec![Source::Database(PathBuf::from(without_password(source).as_ref()), address?)]);
    }
    if let Some((scheme, _)) = source.split_once("://")
        && !Path::new(source).exists()
    {
        return Err(ReadError::UnknownScheme { scheme: scheme.to_string() });
    }
    let path = Path::new(source);
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => folder(path),
        Ok(_) => Ok(vec![Source::File(path.to_path_buf(), format(path)?)]),
        Err(_) if source.contains(['*', '?', '[']) => glob(source),
        Err(error) => Err(crate::stream::read_error(path, error)),
    }
}

/// The files on this machine that `source` stands for at this moment: of a folder or pattern those that would be read,
/// of a SQLite database its file and the log of its last changes. A file that is not there is named all the same;
/// servers, tables in memory and standard input have none.
pub fn files_of(source: &str) -> Vec<PathBuf> {
    match resolve(source) {
        Ok(found) => found.into_iter().flat_map(files_of_one).collect(),
        Err(_) => local_path(source).into_iter().collect(),
    }
}

fn files_of_one(source: Source) -> Vec<PathBuf> {
    match source {
        Source::File(path, _) => vec![path],
        Source::Database(_, Address::Sqlite { file, .. }) => {
            let mut log = file.clone().into_os_string();
            log.push("-wal");
            vec![file, PathBuf::from(log)]
        }
        Source::Database(..) | Source::Stdin => Vec::new(),
    }
}

fn format(path: &Path) -> Result<Format, ReadError> {
    Format::of_path(path).map_err(|_| ReadError::UnknownFormat { path: path.to_path_buf() })
}

/// All data files directly in the folder. Others (a README, hidden files) are skipped.
fn folder(path: &Path) -> Result<Vec<Source>, ReadError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|e| crate::stream::read_error(path, e))? {
        let file = entry.map_err(|e| crate::stream::read_error(path, e))?.path();
        let hidden = file.file_name().is_some_and(|n| n.to_string_lossy().starts_with(['.', '_']));
        // Notes (`.txt`) and certificates (`.json`) often lie in the same folder as tables.
        let text = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("txt") || e.eq_ignore_ascii_case("json"));
        if let (false, false, true, Ok(format)) = (hidden, text, file.is_file(), Format::of_path(&file)) {
            files.push(Source::File(file, format));
        }
    }
    sorted(files, path)
}

fn glob(pattern: &str) -> Result<Vec<Source>, ReadError> {
    let bad = |reason: String| ReadError::BadGlob { pattern: pattern.to_string(), reason };
    let mut files = Vec::new();
    for entry in glob::glob(pattern).map_err(|e| bad(e.msg.to_string()))? {
        let file = entry.map_err(|e| {
            let path = e.path().to_path_buf();
            crate::stream::read_error(&path, e.into())
        })?;
        if file.is_file() {
            let format = format(&file)?;
            files.push(Source::File(file, format));
        }
    }
    sorted(files, Path::new(pattern))
}

fn sorted(mut files: Vec<Source>, path: &Path) -> Result<Vec<Source>, ReadError> {
    if files.is_empty() {
        return Err(ReadError::NoDataFiles { path: path.to_path_buf() });
    }
    files.sort_by(|a, b| match (a, b) {
        (Source::File(a, _), Source::File(b, _)) => a.cmp(b),
        _ => std::cmp::Ordering::Equal,
    });
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_source_are_those_that_would_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["b.csv", "a.csv", "notes.md", ".hidden.csv"] {
            std::fs::write(at(name), "x\n1\n").unwrap();
        }
        let of = |source: PathBuf| files_of(&source.to_string_lossy());
        assert_eq!(of(at("")), [at("a.csv"), at("b.csv")]);
        assert_eq!(of(at("[b]*.csv")), [at("b.csv")]);
        assert_eq!(of(at("gone.csv")), [at("gone.csv")], "what is not there may come");
        let database = format!("sqlite://{}?table=t", at("w.db").display());
        assert_eq!(files_of(&database), [at("w.db"), at("w.db-wal")]);
        assert!(files_of("-").is_empty() && files_of("postgres://u@h/d?table=t").is_empty());
    }
}
