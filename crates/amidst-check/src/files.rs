//! The files of a release: ordinary files inside its folder, each listed once, and no others.
//!
//! File names in a certificate are untrusted input: a name may lead out of the folder, two names may denote one file, a
//! link may lead anywhere, and opening a pipe may block.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};

use crate::content::{Content, Location};
use crate::envelope::{CERTIFICATE, ENVELOPE};
use crate::printable::acts;
use crate::problem::{Problem, ProblemKind};
use crate::reader::Fingerprint;

/// Maximum number of unlisted entries that are named one by one.
const MOST_NAMED: usize = 100;

fn wrong(kind: ProblemKind, message: String) -> Problem {
    Problem::violation(kind, message)
}

/// The path of a listed file. Names that lead out of the folder or are not in normal form are refused.
pub(crate) fn place(base: &Path, file: &str) -> Result<PathBuf, Problem> {
    let relative = Path::new(file);
    let parts: Option<Vec<&str>> = relative
        .components()
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    let plain = parts.is_some_and(|parts| !parts.is_empty() && parts.join("/") == file);
    if !plain {
        let message = format!("the file name \"{file}\" leads out of the release, or is not spelt plainly");
        return Err(wrong(ProblemKind::File, message));
    }
    if file.contains('\\') || file.chars().any(acts) {
        let message = format!("the file name \"{file}\" means different files on different systems");
        return Err(wrong(ProblemKind::File, message));
    }
    Ok(base.join(relative))
}

/// Checks a listed file without opening it: links, folders, pipes and devices are refused.
pub(crate) fn ordinary(base: &Path, file: &str) -> Result<PathBuf, Problem> {
    let path = place(base, file)?;
    let mut at = base.to_path_buf();
    let mut found = None;
    for part in Path::new(file).components() {
        at.push(part);
        let seen = at.symlink_metadata().map_err(|e| missing(&path, &e))?;
        if seen.is_symlink() {
            let message = format!("{}: this is a link; a release holds its files itself", at.display());
            return Err(wrong(ProblemKind::File, message));
        }
        found = Some(seen);
    }
    if !found.is_some_and(|seen| seen.is_file()) {
        return Err(wrong(ProblemKind::File, format!("{}: this is no ordinary file", path.display())));
    }
    Ok(path)
}

/// A listed file of a release, on disk or in memory.
pub(crate) fn content(location: &Location, file: &str) -> Result<Content, Problem> {
    match location {
        Location::Path(base) => ordinary(base, file).map(Content::file),
        Location::Memory(contents) => {
            place(Path::new(""), file)?;
            let missing = || wrong(ProblemKind::MissingFile, format!("{file}: the file is missing"));
            contents.get(file).map(|bytes| Content::memory(file, bytes.clone())).ok_or_else(missing)
        }
    }
}

/// Checks a file that the caller named: it must be an ordinary file or a link to one.
pub(crate) fn named(path: &Path) -> Result<(), Problem> {
    let seen = path.metadata().map_err(|e| missing(path, &e))?;
    if seen.is_file() {
        Ok(())
    } else {
        Err(wrong(ProblemKind::File, format!("{}: this is no ordinary file", path.display())))
    }
}

fn missing(path: &Path, error: &std::io::Error) -> Problem {
    if error.kind() == std::io::ErrorKind::NotFound {
        wrong(ProblemKind::MissingFile, format!("{}: the file is missing", path.display()))
    } else {
        wrong(ProblemKind::MissingFile, format!("{}: {error}", path.display()))
    }
}

/// Problems for names that denote one file: equal, equal except for case, or links to the same place.
pub(crate) fn listed_twice(location: &Location, names: &[&str]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut spelt: BTreeMap<String, &str> = BTreeMap::new();
    let mut places: BTreeMap<(u64, u64), &str> = BTreeMap::new();
    for &name in names {
        if spelt.insert(name.to_lowercase(), name).is_some() {
            problems.push(wrong(ProblemKind::File, format!("the certificate lists the file \"{name}\" twice")));
            continue;
        }
        let Location::Path(base) = location else { continue };
        let place = place(base, name).ok().and_then(|path| path.symlink_metadata().ok()).and_then(|m| identity(&m));
        if let Some(other) = place.and_then(|place| places.insert(place, name)) {
            let message = format!("the files \"{other}\" and \"{name}\" are one and the same");
            problems.push(wrong(ProblemKind::File, message));
        }
    }
    problems
}

#[cfg(unix)]
fn identity(file: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(_file: &Metadata) -> Option<(u64, u64)> {
    None
}

/// Problems for tables with equal content, which would count everybody twice. Tables without rows may be equal.
pub(crate) fn equal_tables(tables: &[Content], prints: &[Fingerprint]) -> Vec<Problem> {
    let mut seen: BTreeMap<&str, &Content> = BTreeMap::new();
    let mut problems = Vec::new();
    for (path, print) in tables.iter().zip(prints).filter(|(_, print)| print.rows > 0) {
        if let Some(other) = seen.insert(&print.sha256, path) {
            let message =
                format!("{} and {} hold the same rows: a copy makes nobody safer", other.display(), path.display());
            problems.push(wrong(ProblemKind::File, message));
        }
    }
    problems
}

/// The contents in memory that the certificate does not list.
pub(crate) fn extra_contents<'a>(names: impl Iterator<Item = &'a String>, listed: &[Content]) -> Vec<Problem> {
    let extra = names.filter(|name| {
        ![CERTIFICATE, ENVELOPE].contains(&name.as_str()) && !listed.iter().any(|l| **l == *Path::new(name))
    });
    let problem =
        |name: &String| wrong(ProblemKind::ExtraFile, format!("{name}: the certificate does not list this file"));
    extra.map(problem).collect()
}

/// Problems for everything in the folder of a release that the certificate does not list.
pub(crate) fn extra_files(folder: &Path, listed: &[Content]) -> Vec<Problem> {
    let listed: BTreeSet<&Path> = listed.iter().map(|content| &**content).collect();
    let mut problems = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder_at) = open.pop() {
        let entries = match std::fs::read_dir(&folder_at) {
            Ok(entries) => entries,
            Err(e) => {
                problems.push(wrong(ProblemKind::ExtraFile, format!("{}: {e}", folder_at.display())));
                continue;
            }
        };
        for entry in entries.flatten() {
            let path = entry.path();
            if listed.contains(path.as_path()) || (folder_at == folder && exempt(&path)) {
                continue;
            }
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && listed.iter().any(|file| file.starts_with(&path)) {
                open.push(path);
            } else if problems.len() < MOST_NAMED {
                let what = if is_folder { "folder" } else { "file" };
                let message = format!("{}: the certificate does not list this {what}", path.display());
                problems.push(wrong(ProblemKind::ExtraFile, message));
            }
        }
    }
    problems.sort_by(|a, b| a.message.cmp(&b.message));
    problems
}

/// Whether a path is the certificate or the signed statement, which are checked separately.
fn exempt(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    [CERTIFICATE, ENVELOPE].contains(&name) && path.symlink_metadata().is_ok_and(|seen| seen.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_inside() {
        let base = Path::new("/release");
        for good in ["a.csv", "parts/a.csv", "a b.csv", ".hidden.csv", "ä.csv"] {
            assert!(place(base, good).is_ok(), "{good}");
        }
        for bad in [
            "",
            ".",
            "..",
            "../a.csv",
            "/a.csv",
            "./a.csv",
            "a//b.csv",
            "a/./b.csv",
            "a/../b.csv",
            "a.csv/",
            "a\\b.csv",
            "a\n.csv",
            "a\u{202e}vsc.csv",
            "a\u{200b}.csv",
            "a\u{2028}.csv",
            "a\u{feff}.csv",
        ] {
            assert!(place(base, bad).is_err(), "{bad}");
        }
    }
}
