//! The folder of a release: a public part that may be handed over, and an internal part that stays with the owner.
//!
//! A caller names a release by its folder, its public part alone as a recipient has it, or a folder of older versions
//! in which everything lay together; what is where is told here only.

use std::path::{Path, PathBuf};

use amidst_io::Format;

/// The part that may be handed over: the table, its certificate, the public report and policy.
pub const PUBLIC: &str = "public";
/// The part that stays with the owner: the report with what was there before, and the policy with its paths.
pub const INTERNAL: &str = "internal";
/// The name of the certificate.
pub const CERTIFICATE: &str = "certificate.json";
/// The name of the policy, in either part.
pub const POLICY: &str = "policy.toml";
/// How the table is called, before its ending.
pub(crate) const TABLE: &str = "release";

/// The folder that holds the certificate of the release in `folder`: its public part, or `folder` itself when that is
/// one.
pub fn public_part(folder: &Path) -> Option<PathBuf> {
    [folder.join(PUBLIC), folder.to_path_buf()].into_iter().find(|part| part.join(CERTIFICATE).is_file())
}

/// The certificate of a table that was published as a single file.
pub fn certificate_beside(table: &Path) -> PathBuf {
    let mut name = table.as_os_str().to_os_string();
    name.push(".");
    name.push(CERTIFICATE);
    PathBuf::from(name)
}

/// The signed statement about a table that was published as a single file.
pub fn envelope_beside(table: &Path) -> PathBuf {
    let mut name = table.as_os_str().to_os_string();
    name.push(".intoto.jsonl");
    PathBuf::from(name)
}

/// Why a file of this name can be no release, where it cannot; any other name is that of a folder.
pub(crate) fn never_written(path: &Path) -> Option<String> {
    match Format::of_path(path) {
        Ok(format) if !format.is_written() => Some(format!(
            "{} cannot be written as a release: {} files are read only, because the checker must read every release in one \
             form. Choose one of {}",
            path.display(),
            format.name(),
            amidst_io::WRITTEN
        )),
        Ok(format) if !format.is_written_as(path) => Some(format!(
            "{} cannot be written as a release: the checker knows {} files by another ending. Choose one of {}",
            path.display(),
            format.name(),
            amidst_io::WRITTEN
        )),
        // A folder that is called like a file of another program would be taken for one.
        Err(_) if amidst_io::is_foreign(path) => Some(format!(
            "{} cannot be written as a release. Choose one of {}, or the name of a folder",
            path.display(),
            amidst_io::WRITTEN
        )),
        _ => None,
    }
}

/// A released table, and the policy that it was made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The file, or the folder of its parts.
    pub table: PathBuf,
    /// The policy: that of the owner where it is there, because it names the input.
    pub policy: PathBuf,
}

/// The table and the policy of the release in `folder`; none when it is no such folder.
pub fn table_in(folder: &Path) -> Option<Table> {
    let public = public_part(folder)?;
    let policies = [folder.join(INTERNAL), public.clone()].map(|part| part.join(POLICY));
    let policy = policies.into_iter().find(|policy| policy.is_file())?;
    let files = std::fs::read_dir(&public).into_iter().flatten().flatten().map(|f| f.path());
    let table =
        files.filter(|f| f.file_stem().is_some_and(|s| Path::new(s).file_stem() == Some(TABLE.as_ref()))).min()?;
    Some(Table { table, policy })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_found_whole_in_part_and_as_it_was() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = place.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        for name in ["public/certificate.json", "public/policy.toml", "public/release.csv.gz", "internal/policy.toml"] {
            write(&format!("new/{name}"));
        }
        for name in ["certificate.json", "policy.toml", "release.csv", "report.md"] {
            write(&format!("old/{name}"));
        }
        write("none/policy.toml");
        let at = |name: &str| place.path().join(name);
        let found = |folder: &str, table: &str, policy: &str| {
            let expected = Table { table: at(table), policy: at(policy) };
            assert_eq!(table_in(&at(folder)), Some(expected), "{folder}");
        };
        found("new", "new/public/release.csv.gz", "new/internal/policy.toml");
        found("new/public", "new/public/release.csv.gz", "new/public/policy.toml");
        found("old", "old/release.csv", "old/policy.toml");
        assert_eq!((table_in(&at("none")), public_part(&at("none"))), (None, None));
        assert_eq!(certificate_beside(Path::new("a/b.csv")), Path::new("a/b.csv.certificate.json"));
    }
}
