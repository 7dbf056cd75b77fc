//! Putting a finished release in its place, whole or not at all.
//!
//! Everything is first written into a folder beside the destination, on the same file system, and then takes its place
//! in one rename. A crash, a kill or a full disk before that moment leaves nothing but the previous release.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{Failure, files, folder};

/// How the folders begin in which releases are prepared; the number of the process that works there follows.
const PREFIX: &str = ".amidst-";

/// A destination being prepared.
#[derive(Debug)]
pub struct Staging {
    folder: TempDir,
    target: PathBuf,
    force: bool,
}

impl Staging {
    /// Prepares to publish at `target`, a folder that must not exist unless `force` allows to replace it.
    pub fn begin(target: &Path, force: bool) -> Result<Self, Failure> {
        if target.symlink_metadata().is_ok() && !force {
            return Err(Failure::Usage(format!(
                "{} exists already; remove it, choose another --out, or replace it with --force",
                target.display()
            )));
        }
        if force && !replaceable(target) {
            return Err(Failure::Usage(format!(
                "{} is there already and no release: it has no certificate. --force replaces releases only; remove it \
                 yourself, or choose another --out",
                target.display()
            )));
        }
        let parent = match target.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        if !parent.is_dir() {
            return Err(Failure::Usage(format!(
                "there is no folder {} to write {} into; create it first",
                parent.display(),
                target.display()
            )));
        }
        sweep(parent);
        let folder = files::private_folder_in(parent, &staging_prefix())
            .map_err(|e| Failure::Io(format!("cannot write into {}: {e}", parent.display())))?;
        Ok(Staging { folder, target: target.to_path_buf(), force })
    }

    /// Where the files are written for now.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Creates a folder in it, for its owner's eyes only until it is published.
    pub fn part(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.path().join(name);
        let made = files::create_private_folder(&path);
        made.map_err(|e| Failure::Io(format!("cannot write into {}: {e}", self.place().display())))?;
        Ok(path)
    }

    /// Writes a small file, for its owner's eyes only until it is published.
    pub fn write(&self, name: &Path, content: &str) -> Result<(), Failure> {
        files::write_private(&self.path().join(name), content.as_bytes())
            .map_err(|e| Failure::Io(format!("cannot write {} into {}: {e}", name.display(), self.place().display())))
    }

    fn place(&self) -> &Path {
        self.target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// Puts the folder in its place; everybody may read what lies in its `public` parts.
    pub fn publish(self, public: &[&str]) -> Result<(), Failure> {
        let failed = |e: std::io::Error| Failure::Io(format!("cannot put {} in place: {e}", self.target.display()));
        for part in public {
            files::open_to_readers(&self.path().join(part)).map_err(failed)?;
        }
        files::set_mode(self.path(), 0o755).map_err(failed)?;
        if self.force && self.target.symlink_metadata().is_ok() {
            exchange(self.folder.path(), &self.target).map_err(failed)?;
            // What was published before is now in the staging folder, and goes with it.
            if self.folder.path().is_file() {
                fs::remove_file(self.folder.path()).map_err(failed)?;
            }
        } else {
            fs::rename(self.folder.path(), &self.target).map_err(failed)?;
        }
        files::sync_folder(self.place());
        Ok(())
    }
}

impl Staging {
    /// Moves single files to their places, one after the other; the last one is the one that readers look for.
    pub fn publish_files(self, moves: &[(PathBuf, &Path)]) -> Result<(), Failure> {
        for (name, to) in moves {
            let from = self.path().join(name);
            files::open_to_readers(&from)
                .and_then(|()| fs::rename(&from, to))
                .map_err(|e| Failure::Io(format!("cannot put {} in place: {e}", to.display())))?;
        }
        files::sync_folder(self.place());
        Ok(())
    }
}

/// Whether nothing is lost but a release when `target` is replaced: there is none, it is empty, or it has a certificate.
fn replaceable(target: &Path) -> bool {
    let Ok(found) = fs::metadata(target) else { return target.symlink_metadata().is_err() };
    if found.is_dir() {
        let empty = fs::read_dir(target).is_ok_and(|mut inside| inside.next().is_none());
        return empty || folder::public_part(target).is_some();
    }
    found.len() == 0 || folder::certificate_beside(target).is_file()
}

/// How the folders of this process begin. The machine is named too: on shared storage, another machine's processes are
/// not gone because they are not here.
pub fn staging_prefix() -> String {
    format!("{PREFIX}{}-{}-", std::process::id(), machine())
}

/// A short name of this machine.
fn machine() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    crate::check::sha256_hex(name.trim().as_bytes()).chars().take(8).collect()
}

/// Removes what a killed process left behind: folders of processes that are gone, where the system tells which are.
fn sweep(parent: &Path) {
    if !Path::new("/proc/self").exists() {
        return;
    }
    let here = format!("{}-", machine());
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|n| {
            let (owner, rest) = n.strip_prefix(PREFIX)?.split_once('-')?;
            rest.starts_with(&here).then(|| owner.parse::<u32>().ok())?
        });
        if owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            // Somebody else may be sweeping too; what cannot be removed now goes another time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Swaps two paths: in one step where the system can, so that there is no moment without a release.
#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
        Err(e) if e == rustix::io::Errno::INVAL || e == rustix::io::Errno::NOSYS => swap_in_steps(a, b),
        other => Ok(other?),
    }
}

#[cfg(not(target_os = "linux"))]
fn exchange(a: &Path, b: &Path) -> std::io::Result<()> {
    swap_in_steps(a, b)
}

/// Swaps two paths in three renames, for file systems that have no exchange.
fn swap_in_steps(a: &Path, b: &Path) -> std::io::Result<()> {
    let aside = a.with_extension("previous");
    fs::rename(b, &aside)?;
    if let Err(e) = fs::rename(a, b) {
        fs::rename(&aside, b)?;
        return Err(e);
    }
    fs::rename(&aside, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_appears_whole_and_replaces_only_by_force() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("out");
        for (force, text) in [(false, "one"), (true, "two")] {
            let staging = Staging::begin(&target, force).unwrap();
            staging.write(Path::new("release.csv"), text).unwrap();
            staging.write(Path::new("certificate.json"), "{}").unwrap();
            staging.publish(&[]).unwrap();
            assert_eq!(fs::read_to_string(target.join("release.csv")).unwrap(), text);
        }
        assert!(matches!(Staging::begin(&target, false), Err(Failure::Usage(_))));
        drop(Staging::begin(&target, true).unwrap());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn only_releases_are_replaced() {
        let place = tempfile::tempdir().unwrap();
        let (folder, file) = (place.path().join("photos"), place.path().join("notes.csv"));
        fs::create_dir(&folder).unwrap();
        assert!(Staging::begin(&folder, true).is_ok(), "an empty folder holds nothing to lose");
        fs::write(folder.join("wedding.jpg"), "x").unwrap();
        fs::write(&file, "x").unwrap();
        for target in [&folder, &file] {
            assert!(matches!(Staging::begin(target, true), Err(Failure::Usage(_))), "{}", target.display());
        }
        fs::write(place.path().join("notes.csv.certificate.json"), "{}").unwrap();
        assert!(Staging::begin(&file, true).is_ok());
    }

    #[test]
    fn swapping_in_steps_keeps_both() {
        let place = tempfile::tempdir().unwrap();
        let (a, b) = (place.path().join("a"), place.path().join("b"));
        fs::write(&a, "a").unwrap();
        fs::write(&b, "b").unwrap();
        swap_in_steps(&a, &b).unwrap();
        assert_eq!((fs::read_to_string(&a).unwrap(), fs::read_to_string(&b).unwrap()), ("b".into(), "a".into()));
    }
}
