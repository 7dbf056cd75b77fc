//! Single files that somebody asked for: whole or not at all, and never in the place of another without leave.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::{Failure, Remedy, files};

/// Fails where `path` is taken: for use before long work, whose result could not be saved.
///
/// # Errors
/// When a file is there and `force` does not allow to replace it.
pub fn vacant(path: &Path, force: bool) -> Result<(), Failure> {
    match fs::symlink_metadata(path) {
        Ok(_) if path.is_dir() => Err(Failure::Usage(format!("{} is a folder; name a file", path.display()))),
        Ok(_) if !force && !is_stream(path) => Err(taken(path)),
        _ => Ok(()),
    }
}

/// Writes a file whole or not at all.
///
/// # Errors
/// As [`vacant`], also when the file was made while the text was; or when it cannot be written.
pub fn save(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    vacant(path, force)?;
    let failed = |e: io::Error| Failure::Io(format!("cannot write {}: {e}", path.display()));
    if is_stream(path) {
        return fs::OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(failed);
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".amidst-");
    // As every new file: what the user's mask leaves of it.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(files::parent(path)).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    let kept = if force { file.persist(path) } else { file.persist_noclobber(path) };
    match kept {
        Ok(_) => {
            files::sync_folder(files::parent(path));
            Ok(())
        }
        Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Err(taken(path)),
        Err(e) => Err(failed(e.error)),
    }
}

/// Puts a finished file in its place, as [`save`] does.
///
/// # Errors
/// As [`save`].
pub fn move_to(from: &Path, path: &Path, force: bool) -> Result<(), Failure> {
    let moved = if force { fs::rename(from, path) } else { files::rename_new(from, path) };
    moved.map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => taken(path),
        _ => Failure::Io(format!("cannot write {}: {e}", path.display())),
    })?;
    files::sync_folder(files::parent(path));
    Ok(())
}

/// Whether a path is a terminal, a pipe or another device, which is written to and not replaced.
pub fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

fn taken(path: &Path) -> Failure {
    Failure::usage(format!("{} exists already", path.display()), Remedy::ReplaceFile)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_by_force_only() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("report.md");
        save(&path, "one", false).unwrap();
        assert!(matches!(save(&path, "two", false), Err(Failure::Advised(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        save(&path, "two", true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        let made = place.path().join("made");
        fs::write(&made, "three").unwrap();
        assert!(matches!(move_to(&made, &path, false), Err(Failure::Advised(_))));
        move_to(&made, &path, true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "three");
        assert!(matches!(save(place.path(), "x", true), Err(Failure::Usage(_))), "a folder is not replaced");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left behind");
        #[cfg(unix)]
        save(Path::new("/dev/null"), "x", false).unwrap();
    }
}
