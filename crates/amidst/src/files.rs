//! Files and folders with the right to read them: private while they are made, open when they are published.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Creates a file that only its owner can read, writes it and waits for the disk. A file that is there already is an error.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = create_private(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Creates a file that only its owner can read. A file that is there already is an error.
pub fn create_private(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
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

/// A temporary folder in `parent` that only its owner can enter.
pub fn private_folder_in(parent: &Path, prefix: &str) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir_in(parent)
}
