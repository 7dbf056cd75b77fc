//! Files and folders: who may read them, and how they get their names without taking another's.
//!
//! What is being made is private; it is opened when it is published. A file appears under its name whole, and never in
//! the place of one that somebody else made meanwhile, unless it is told to replace it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::Failure;

/// How long to wait for somebody else who publishes into the same folder.
const PATIENCE: Duration = Duration::from_secs(60);

/// Creates a file that only its owner can read, writes it and waits for the disk. A file that is there already is an
/// error.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = create_private(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Creates a file that only its owner can read. A file that is there already is an error.
pub fn create_private(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates a folder that only its owner can enter.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a folder that only its owner can enter, and those above it that are not there; one that is there stays as
/// it is.
pub(crate) fn create_private_folders(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Writes a file that only its owner can read, in the place of one that is there, and waits for the disk.
pub(crate) fn rewrite_private(path: &Path, content: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    write_private(path, content)
}

/// Takes from everybody but the owner what they may do with a file, or with a folder and all that is in it. Links are
/// left alone, and so is what is not there or belongs to somebody else.
pub(crate) fn close_to_others(path: &Path) {
    #[cfg(unix)]
    if let Ok(found) = fs::symlink_metadata(path) {
        let mode = std::os::unix::fs::PermissionsExt::mode(&found.permissions());
        if !found.is_symlink() && mode & 0o077 != 0 {
            let _ = set_mode(path, mode & 0o700);
        }
        let within = if found.is_dir() { fs::read_dir(path).ok() } else { None };
        within.into_iter().flatten().flatten().for_each(|entry| close_to_others(&entry.path()));
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// The first file or folder at a path, or in the folder there, that cannot be opened. Links are left alone, and so is
/// what would block.
pub(crate) fn unreadable(path: &Path) -> Option<(PathBuf, io::Error)> {
    let look = || -> io::Result<Vec<PathBuf>> {
        let kind = fs::symlink_metadata(path)?;
        if kind.is_file() {
            fs::File::open(path)?;
        }
        let entries = if kind.is_dir() { fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()? } else { Vec::new() };
        Ok(entries.into_iter().map(|entry| entry.path()).collect())
    };
    match look() {
        Ok(within) => within.iter().find_map(|path| unreadable(path)),
        Err(e) => Some((path.to_path_buf(), e)),
    }
}

/// A temporary folder in `parent` that only its owner can enter.
pub(crate) fn private_folder_in(parent: &Path, prefix: &str) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir_in(parent)
}

/// Lets everybody read a file, or a folder with all that is in it. Links are left alone.
pub fn open_to_readers(path: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(path)?;
    if kind.is_dir() {
        for entry in fs::read_dir(path)? {
            open_to_readers(&entry?.path())?;
        }
        set_mode(path, 0o755)
    } else if kind.is_file() {
        set_mode(path, 0o644)
    } else {
        Ok(())
    }
}

/// Sets who may do what with a file or folder, where the system knows such modes.
#[cfg(unix)]
pub fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

/// Sets who may do what with a file or folder, where the system knows such modes.
#[cfg(not(unix))]
pub fn set_mode(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Makes what happened in a folder durable, where the system lets a folder be synced.
pub fn sync_folder(folder: &Path) {
    if let Ok(handle) = fs::File::open(folder) {
        // A file system that cannot sync folders has renamed all the same.
        let _ = handle.sync_all();
    }
}

/// Waits until the names of a path and of the folders that hold it are on the disk, from its parent up to `top`.
pub fn sync_folders_above(path: &Path, top: &Path) {
    for folder in path.ancestors().skip(1).take_while(|folder| folder.starts_with(top)) {
        sync_folder(folder);
    }
}

/// Waits until a file, or a folder with all that is in it, is on the disk.
pub fn sync_tree(path: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(path)?;
    if kind.is_dir() {
        for entry in fs::read_dir(path)? {
            sync_tree(&entry?.path())?;
        }
        sync_folder(path);
        Ok(())
    } else if kind.is_file() {
        fs::File::open(path)?.sync_all()
    } else {
        Ok(())
    }
}

/// The folder that a path is in.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What tells a file or folder from every other of its file system, whatever its name; none where the system does not
/// say.
#[cfg(unix)]
pub(crate) fn identity(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().map(|found| std::os::unix::fs::MetadataExt::ino(&found))
}

/// What tells a file or folder from every other of its file system, whatever its name; none where the system does not
/// say.
#[cfg(not(unix))]
pub(crate) fn identity(_path: &Path) -> Option<u64> {
    None
}

/// The files below a path, each with its identity and length: equal inventories are the same files.
pub(crate) type Inventory = BTreeMap<PathBuf, (Option<u64>, u64)>;

/// The inventory of a folder, or of a file, which is named by the empty path.
pub(crate) fn inventory(path: &Path) -> io::Result<Inventory> {
    fn add(path: &Path, name: PathBuf, found: &mut Inventory) -> io::Result<()> {
        let kind = fs::symlink_metadata(path)?;
        if kind.is_dir() {
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                add(&entry.path(), name.join(entry.file_name()), found)?;
            }
        } else {
            found.insert(name, (identity(path), kind.len()));
        }
        Ok(())
    }
    let mut found = Inventory::new();
    add(path, PathBuf::new(), &mut found)?;
    Ok(found)
}

/// Keeps others from publishing into a folder for as long as what is returned lives. None where folders cannot be
/// locked: then no-replace renames alone decide who comes first.
pub(crate) fn lock_folder(folder: &Path) -> Result<Option<fs::File>, Failure> {
    let Ok(handle) = fs::File::open(folder) else { return Ok(None) };
    let start = Instant::now();
    loop {
        match handle.try_lock() {
            Ok(()) => return Ok(Some(handle)),
            Err(fs::TryLockError::Error(_)) => return Ok(None),
            Err(fs::TryLockError::WouldBlock) if start.elapsed() > PATIENCE => {
                let message = "another program has kept it locked for a minute; nothing was published";
                return Err(Failure::Io(format!("cannot publish into {}: {message}", folder.display())));
            }
            Err(fs::TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// Renames where nothing may be in the way: what is there already is an error of the kind `AlreadyExists`.
#[cfg(target_os = "linux")]
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(e) if unsupported(e) => rename_new_in_steps(from, to),
        other => Ok(other?),
    }
}

/// Renames where nothing may be in the way: what is there already is an error of the kind `AlreadyExists`.
#[cfg(not(target_os = "linux"))]
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    rename_new_in_steps(from, to)
}

/// The same for systems and file systems that have no such rename.
fn rename_new_in_steps(from: &Path, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(from)?.is_dir() {
        // A folder takes the place of nothing but an empty folder.
        if fs::symlink_metadata(to).is_ok_and(|found| !found.is_dir()) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        return fs::rename(from, to).map_err(|e| match e.kind() {
            io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory => io::ErrorKind::AlreadyExists.into(),
            _ => e,
        });
    }
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists || e.kind() == io::ErrorKind::NotFound => Err(e),
        // No links either: an empty file holds the place.
        Err(_) => create_private(to).and_then(|_| fs::rename(from, to)),
    }
}

/// Swaps two paths in one step; false where the system cannot.
#[cfg(target_os = "linux")]
pub(crate) fn exchange(a: &Path, b: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(e) if unsupported(e) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

/// Swaps two paths in one step; false where the system cannot.
#[cfg(not(target_os = "linux"))]
pub(crate) fn exchange(_a: &Path, _b: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(target_os = "linux")]
fn unsupported(e: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP].contains(&e)
}
