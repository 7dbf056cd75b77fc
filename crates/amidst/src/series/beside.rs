//! What a state is held against before it is opened: how such a file begins, and the files beside it.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::store::damaged;
use crate::Failure;

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

/// The digest of the policy and the hierarchies beside the state; a file that cannot be read has none.
pub(super) fn files_beside(path: &Path) -> String {
    let folder = path.parent().unwrap_or(Path::new("."));
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

/// Writes the number of the last change; one that cannot be written stays behind, which does no harm.
pub(super) fn write_head(path: &Path, changes: u64) {
    let (to, staged) = (path.with_file_name(HEAD), path.with_file_name(format!("{HEAD}.new")));
    let _ = std::fs::write(&staged, format!("{changes}\n")).and_then(|()| std::fs::rename(&staged, &to));
}
