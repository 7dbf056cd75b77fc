//! Folders in which something is prepared, and what becomes of those that a killed process left behind.
//!
//! Such a folder lies beside what it prepares, on the same file system, and only its owner can enter it. It holds a
//! file that its process keeps locked: the lock ends with the process, however that ends, in whichever container or on
//! whichever machine it ran. A process that can take the lock therefore knows that no other works there. Process ids
//! would not tell: they mean nothing in another namespace.
//!
//! May use: `files`, and what those use.

mod placing;

use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::{Failure, files};
pub(crate) use placing::Placing;

/// How the names of such folders begin.
const PREFIX: &str = ".amidst-";
/// The file that the process keeps locked.
const LOCK: &str = "lock";
/// How often a new folder is tried for. One is lost only to somebody who sweeps at the very moment.
const TRIES: usize = 100;

/// A folder that only its owner can enter, and that goes away with this value or, after a kill, with the next sweep.
#[derive(Debug)]
pub struct Scratch {
    // Dropped in this order: the lock is held until the folder is gone.
    folder: TempDir,
    _lock: Option<fs::File>,
}

impl Scratch {
    /// Makes a folder in `parent`, after sweeping up what killed processes left there.
    ///
    /// # Errors
    /// When nothing can be written into `parent`.
    pub fn new_in(parent: &Path) -> io::Result<Self> {
        sweep(parent, None);
        for _ in 0..TRIES {
            let folder = files::private_folder_in(parent, PREFIX)?;
            match lock_new(&folder.path().join(LOCK))? {
                Locked::Yes(lock) => return Ok(Scratch { folder, _lock: Some(lock) }),
                // Without locks nothing is swept.
                Locked::Unsupported => return Ok(Scratch { folder, _lock: None }),
                Locked::Lost => {}
            }
        }
        Err(io::Error::other("other processes sweep every new folder away"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Leaves everything as a kill would.
    #[cfg(test)]
    pub(crate) fn abandon(self) -> std::path::PathBuf {
        self.folder.keep()
    }
}

/// Whether a lock could be taken.
enum Locked {
    /// It is held for as long as the file is open.
    Yes(fs::File),
    /// Somebody else holds it, or has removed it.
    Lost,
    /// The file system knows no locks.
    Unsupported,
}

/// Creates and locks a file, unless somebody else sweeps it away at the moment.
fn lock_new(path: &Path) -> io::Result<Locked> {
    match files::create_private(path) {
        Ok(file) => Ok(lock(file, path)),
        Err(e) if [io::ErrorKind::NotFound, io::ErrorKind::AlreadyExists].contains(&e.kind()) => Ok(Locked::Lost),
        Err(e) => Err(e),
    }
}

fn lock(file: fs::File, path: &Path) -> Locked {
    match file.try_lock() {
        // A lock on a file that was removed meanwhile protects nothing.
        Ok(()) if same(&file, path) => Locked::Yes(file),
        Ok(()) | Err(fs::TryLockError::WouldBlock) => Locked::Lost,
        Err(fs::TryLockError::Error(_)) => Locked::Unsupported,
    }
}

#[cfg(unix)]
fn same(file: &fs::File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    file.metadata().ok().map(|found| found.ino()) == files::identity(path)
}

#[cfg(not(unix))]
fn same(_file: &fs::File, path: &Path) -> bool {
    path.exists()
}

/// Removes the folders in `parent` whose process is gone; what it was putting in place is finished or undone first.
/// `guard` is the lock of `parent` where the caller holds it.
pub(crate) fn sweep(parent: &Path, guard: Option<&fs::File>) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) && is_ours(&entry.path()) {
            // Somebody else may be sweeping too; what cannot be removed now goes another time.
            let _ = sweep_one(parent, &entry.path(), guard);
        }
    }
}

/// Whether a folder is one that this user made for himself: nobody else may tell this process what to move.
#[cfg(unix)]
fn is_ours(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(folder).is_ok_and(|found| {
        found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o777 == 0o700
    })
}

#[cfg(not(unix))]
fn is_ours(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir())
}

fn sweep_one(parent: &Path, folder: &Path, guard: Option<&fs::File>) -> Result<(), Failure> {
    let path = folder.join(LOCK);
    let open = fs::OpenOptions::new().read(true).write(true).open(&path);
    let file = match open {
        Ok(file) => file,
        // Its process has not come to lock it, or somebody has not come to remove it.
        Err(e) if e.kind() == io::ErrorKind::NotFound => match files::create_private(&path) {
            Ok(file) => file,
            Err(_) => return Ok(()),
        },
        Err(_) => return Ok(()),
    };
    let Locked::Yes(_lock) = lock(file, &path) else { return Ok(()) };
    if let Some(placing) = Placing::left_in(folder) {
        let _held = match guard {
            Some(_) => None,
            None => files::lock_folder(parent)?,
        };
        if !placing.undo() {
            return Ok(());
        }
    }
    fs::remove_dir_all(folder).map_err(|e| Failure::Io(e.to_string()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn names(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect()
    }

    #[test]
    fn what_is_in_use_is_left_alone_and_what_is_not_is_swept() {
        let place = tempfile::tempdir().unwrap();
        let used = Scratch::new_in(place.path()).unwrap();
        let left = Scratch::new_in(place.path()).unwrap().abandon();
        fs::create_dir(left.join("content")).unwrap();
        // Killed before it had a lock, and while it was being removed.
        let early = files::private_folder_in(place.path(), PREFIX).unwrap().keep();
        let foreign = place.path().join(".amidst-notes");
        fs::create_dir(&foreign).unwrap();
        files::set_mode(&foreign, 0o755).unwrap();
        fs::write(place.path().join(".amidst-file"), "x").unwrap();
        sweep(place.path(), None);
        assert!(used.path().join(LOCK).is_file(), "another process works there");
        assert!(!left.exists() && !early.exists());
        assert!(cfg!(not(unix)) || foreign.exists(), "not made by this program");
        drop(used);
        assert!(names(place.path()).iter().all(|n| n.ends_with(".amidst-notes") || n.ends_with(".amidst-file")));
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_look_inside() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let scratch = Scratch::new_in(place.path()).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(scratch.path()), mode(&scratch.path().join(LOCK))), (0o700, 0o600));
    }

    #[test]
    fn many_at_once_keep_what_is_theirs() {
        let place = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let scratch = Scratch::new_in(place.path()).unwrap();
                        fs::write(scratch.path().join("table"), "x").unwrap();
                        std::thread::yield_now();
                        assert!(scratch.path().join("table").is_file());
                    }
                });
            }
        });
        assert!(names(place.path()).is_empty());
    }
}
