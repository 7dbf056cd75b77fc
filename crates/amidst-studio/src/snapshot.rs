//! What files held when something was made from them, so that a page can tell when they have changed since.
//!
//! Small files are known by a digest of their bytes, so that one that was only touched has not changed. Large ones are
//! known by what the file system says of them: length, times and number. A digest is taken once for each state of a
//! file; where the file was changed within the last moments, the clock of the file system is too coarse to tell its
//! states apart, and its bytes are read again.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

/// The length of the largest file whose bytes are looked at.
const DIGESTED: u64 = 4 << 20;

/// How long after its last change a file is not trusted to be as its times say.
const COARSE: Duration = Duration::from_secs(2);

/// Files and what they held at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// In the order of their paths.
    files: Vec<(PathBuf, Content)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    /// There is no such file, or it cannot be read.
    Absent,
    Digest([u8; 32]),
    Large(State),
}

/// What the file system says of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    length: u64,
    modified: Option<SystemTime>,
    /// When anything of the file changed, and its number: neither can be set back by a program.
    changed: (i64, i64, u64),
}

impl State {
    fn of(found: &Metadata) -> State {
        #[cfg(unix)]
        let changed = {
            use std::os::unix::fs::MetadataExt;
            (found.ctime(), found.ctime_nsec(), found.ino())
        };
        #[cfg(not(unix))]
        let changed = (0, 0, 0);
        State { length: found.len(), modified: found.modified().ok(), changed }
    }

    /// Whether a change in the moment of `taken` would show.
    fn is_distinct_at(&self, taken: SystemTime) -> bool {
        self.modified.and_then(|modified| taken.duration_since(modified).ok()).is_some_and(|age| age > COARSE)
    }
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// Whether it is there no more.
    pub gone: bool,
}

impl Snapshot {
    /// The files that are not what they were `then`; also those that came or went.
    pub fn changes_since(&self, then: &Snapshot) -> Vec<Change> {
        let content = |snapshot: &Snapshot, path: &Path| {
            snapshot.files.iter().find(|(own, _)| own == path).map_or(Content::Absent, |(_, content)| content.clone())
        };
        let mut paths: Vec<&PathBuf> = self.files.iter().chain(&then.files).map(|(path, _)| path).collect();
        paths.sort();
        paths.dedup();
        let changed = paths.into_iter().filter_map(|path| {
            let (before, now) = (content(then, path), content(self, path));
            (before != now).then(|| Change { path: path.clone(), gone: now == Content::Absent })
        });
        changed.collect()
    }
}

/// Takes snapshots, and remembers the digests of files that stay as they are.
#[derive(Debug, Default)]
pub struct Files {
    known: Mutex<HashMap<PathBuf, Known>>,
}

#[derive(Debug, Clone)]
struct Known {
    state: State,
    taken: SystemTime,
    digest: [u8; 32],
}

impl Files {
    /// What files hold now.
    pub fn snapshot(&self, mut paths: Vec<PathBuf>) -> Snapshot {
        paths.sort();
        paths.dedup();
        let files = paths.into_iter().map(|path| {
            let content = self.content(&path);
            (path, content)
        });
        Snapshot { files: files.collect() }
    }

    fn content(&self, path: &Path) -> Content {
        let Some(found) = fs::metadata(path).ok().filter(Metadata::is_file) else { return Content::Absent };
        let state = State::of(&found);
        if state.length > DIGESTED {
            return Content::Large(state);
        }
        let taken = SystemTime::now();
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        if let Some(known) = known.filter(|known| known.state == state && known.state.is_distinct_at(known.taken)) {
            return Content::Digest(known.digest);
        }
        let Ok(bytes) = amidst::io::small_file(path, DIGESTED) else { return Content::Large(state) };
        let digest: [u8; 32] = Sha256::digest(&bytes).into();
        let known = Known { state, taken, digest };
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf(), known);
        Content::Digest(digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone(path: &Path, gone: bool) -> Vec<Change> {
        vec![Change { path: path.to_path_buf(), gone }]
    }

    #[test]
    fn a_change_is_seen_also_where_length_and_times_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (file, files) = (folder.path().join("t.csv"), Files::default());
        let now = || files.snapshot(vec![file.clone()]);
        fs::write(&file, "a\n1\n").unwrap();
        let modified = fs::metadata(&file).unwrap().modified().unwrap();
        let first = now();
        assert_eq!(now(), first);
        // As an editor that sets the time back.
        fs::write(&file, "a\n2\n").unwrap();
        fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
        assert_eq!(now().changes_since(&first), gone(&file, false));
        fs::write(&file, "a\n1\n").unwrap();
        assert_eq!(now(), first, "the same bytes are no change");
        fs::remove_file(&file).unwrap();
        assert_eq!(now().changes_since(&first), gone(&file, true));
        assert_eq!(first.changes_since(&now()), gone(&file, false), "what comes back is a change, too");
    }

    #[test]
    fn an_old_file_is_read_once_and_a_large_one_never() {
        let folder = tempfile::tempdir().unwrap();
        let (old, large, files) = (folder.path().join("old.csv"), folder.path().join("large.csv"), Files::default());
        fs::write(&old, "a\n1\n").unwrap();
        let past = SystemTime::now() - Duration::from_secs(60);
        fs::File::options().write(true).open(&old).unwrap().set_modified(past).unwrap();
        fs::write(&large, vec![b'1'; DIGESTED as usize + 1]).unwrap();
        let first = files.snapshot(vec![old.clone(), large.clone()]);
        assert_eq!(files.known.lock().unwrap().len(), 1);
        let taken = |files: &Files| files.known.lock().unwrap()[&old].taken;
        let before = taken(&files);
        assert_eq!(files.snapshot(vec![large.clone(), old.clone()]), first);
        assert_eq!(taken(&files), before, "what is known was not read again");
        fs::write(&large, vec![b'2'; DIGESTED as usize + 2]).unwrap();
        assert_eq!(files.snapshot(vec![old.clone(), large.clone()]).changes_since(&first), gone(&large, false));
        let fewer = files.snapshot(vec![old]);
        assert_eq!(fewer.changes_since(&first), gone(&large, true), "a file that a pattern no longer means is gone");
    }
}
