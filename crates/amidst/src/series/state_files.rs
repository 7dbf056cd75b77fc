//! What a state is held against before it is opened: how such a file begins, and the files beside it.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::{Failure, files};

/// The file that holds the number of the last change.
const HEAD: &str = "state.head";

/// The start of the file, which decides how SQLite reads the rest, or whether it refuses to write.
pub(super) fn check_head(path: &Path, place: &str) -> Result<(), Failure> {
    use std::io::Read;
    let mut head = Vec::new();
    match std::fs::File::open(path) {
        Ok(file) => drop(file.take(100).read_to_end(&mut head)),
        // A new one, or one that the system does not let be read, which is said below.
        Err(_) => return Ok(()),
    }
    let fits = head.len() == 100
        && head.starts_with(b"SQLite format 3\0")
        && head[18..20].iter().all(|version| matches!(version, 1 | 2))
        && head[20..24] == [0, 64, 32, 32]
        && matches!(head[56..60], [0, 0, 0, 0 | 1]);
    if fits { Ok(()) } else { Err(damaged(place, "it does not begin as a state does")) }
}

/// The folder in which files are made that take the place of those beside the state.
pub(super) const GROWN: &str = "grown";

/// Makes sure that the files beside the state at `path` are those whose digest it holds: a crash may have kept them
/// from being put in place. Says whether they are.
pub(super) fn restored(path: &Path, digest_held: &str) -> bool {
    let folder = path.parent().unwrap_or(Path::new("."));
    if digest(folder) == digest_held {
        return true;
    }
    if digest(&folder.join(GROWN)) == digest_held {
        put_in_place(folder);
    }
    digest(folder) == digest_held
}

/// Puts the files that were made in the place of those beside the state. What cannot be done now, the process that
/// opens the series next does.
pub(super) fn put_in_place(folder: &Path) {
    let grown = folder.join(GROWN);
    let put = |from: &Path, to: &Path| -> std::io::Result<()> {
        let staged = to.with_extension("new");
        files::rewrite_private(&staged, &std::fs::read(from)?)?;
        std::fs::rename(&staged, to)
    };
    let all = || -> std::io::Result<()> {
        let hierarchies = folder.join("hierarchies");
        let mut names = Vec::new();
        if grown.join("hierarchies").is_dir() {
            files::create_private_folders(&hierarchies)?;
            for entry in std::fs::read_dir(grown.join("hierarchies"))? {
                let entry = entry?;
                put(&entry.path(), &hierarchies.join(entry.file_name()))?;
                names.push(entry.file_name());
            }
        }
        for entry in std::fs::read_dir(&hierarchies).into_iter().flatten() {
            let entry = entry?;
            if !names.contains(&entry.file_name()) {
                std::fs::remove_file(entry.path())?;
            }
        }
        put(&grown.join("policy.toml"), &folder.join("policy.toml"))?;
        files::sync_folder(folder);
        std::fs::remove_dir_all(&grown)
    };
    // Nothing of it is lost: the state holds the digest, and the folder stays until all is in place.
    let _ = all();
}

/// The digest of the policy and the hierarchies beside the state at `path`.
pub(super) fn files_beside(path: &Path) -> String {
    digest(path.parent().unwrap_or(Path::new(".")))
}

/// The digest of the policy and the hierarchies in a folder; a file that cannot be read has none.
pub(super) fn digest(folder: &Path) -> String {
    let mut files = vec![folder.join("policy.toml")];
    let hierarchies = std::fs::read_dir(folder.join("hierarchies")).into_iter().flatten().flatten();
    files.extend(hierarchies.map(|entry| entry.path()));
    files.sort();
    let mut digest = Sha256::new();
    for file in files {
        // Names and contents, each with its length, so that one cannot be taken for the other.
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let content = std::fs::read(&file).unwrap_or_default();
        for part in [name.as_bytes(), &content] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Lets only the owner read the state at `path`, and what lies beside it in the private folder of a series: an older
/// program left some of it to the system's default. What is staged has the rights of a release, which others may read.
pub(super) fn close_to_others(path: &Path) {
    let Some(folder) = path.parent() else { return };
    for name in [HEAD, "state.sqlite-wal", "state.sqlite-shm", "state.sqlite-journal", "policy.toml", "reports", GROWN]
    {
        files::close_to_others(&folder.join(name));
    }
    files::close_to_others(&folder.join("hierarchies"));
    files::close_to_others(path);
}

/// The number of the last change, as the file beside the state has it; 0 where there is none.
pub(super) fn read_head(path: &Path, place: &str) -> Result<u64, Failure> {
    match std::fs::read_to_string(path.with_file_name(HEAD)) {
        Ok(text) => text.trim().parse().map_err(|_| damaged(place, &format!("{HEAD} beside it holds no number"))),
        Err(e) if e.kind() == std::io::ErrorKind::InvalidData => {
            Err(damaged(place, &format!("{HEAD} beside it holds no number")))
        }
        Err(_) => Ok(0),
    }
}

/// Writes the number of the last change; one that cannot be written stays behind, which does no harm. It is on the disk
/// before it has its name: a disk that keeps names and loses content would leave a file without a number, and with it
/// a state that is refused.
pub(super) fn write_head(path: &Path, changes: u64) {
    let (to, staged) = (path.with_file_name(HEAD), path.with_file_name(format!("{HEAD}.new")));
    let write = || -> std::io::Result<()> {
        files::rewrite_private(&staged, format!("{changes}\n").as_bytes())?;
        std::fs::rename(&staged, &to)
    };
    let _ = write();
}

/// What is said of a state that is not what it was.
pub(super) fn damaged(place: &str, what: &str) -> Failure {
    Failure::Usage(format!(
        "{place} is damaged, or no state of a series: {what}. Nothing was changed or published. Restore the private folder of \
         the series as a whole (state.sqlite, state.sqlite-wal, state.head) from a backup, or start a new series"
    ))
}
