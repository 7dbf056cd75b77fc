//! Pinned outputs: digests of whatever runs make, held against a file of digests that is checked in, so that a change
//! that only moves code can be told from one that changes what the code makes.
//!
//! `AMIDST_PIN=write` writes the file anew, for changes that are meant; the commit then says why they are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What differs from run to run in the JSON of a release.
const VOLATILE: [&str; 3] = ["seconds", "peak_memory_bytes", "outputs"];

/// Digests by the names of what they are of.
pub struct Pins {
    file: PathBuf,
    digest: fn(&[u8]) -> String,
    found: BTreeMap<String, String>,
}

impl Pins {
    /// Nothing found yet, to be held against `file`.
    pub fn new(file: PathBuf, digest: fn(&[u8]) -> String) -> Self {
        Pins { file, digest, found: BTreeMap::new() }
    }

    /// Digests the JSON of a release, without its volatile keys.
    pub fn json(&mut self, name: &str, mut told: Value) {
        let object = told.as_object_mut().expect("an object of JSON");
        VOLATILE.iter().for_each(|key| drop(object.remove(*key)));
        self.found.insert(name.to_string(), (self.digest)(told.to_string().as_bytes()));
    }

    /// Digests every file below `folder`, without the path of the folder that the run worked in.
    pub fn folder(&mut self, name: &str, folder: &Path, run: &Path) {
        let entries = fs::read_dir(folder).expect("a folder of the run");
        let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("a file of the run").path()).collect();
        entries.sort();
        for path in entries {
            let name = format!("{name}/{}", path.file_name().unwrap_or_default().to_string_lossy());
            if path.is_dir() {
                self.folder(&name, &path, run);
                continue;
            }
            let bytes = fs::read(&path).expect("a file of the run");
            let digest = match std::str::from_utf8(&bytes) {
                Ok(text) => (self.digest)(text.replace(&*run.to_string_lossy(), "").as_bytes()),
                Err(_) => (self.digest)(&bytes),
            };
            self.found.insert(name, digest);
        }
    }

    /// Fails where anything changed, is new or is gone.
    pub fn assert_unchanged(self) {
        if std::env::var_os("AMIDST_PIN").is_some_and(|asked| asked == "write") {
            let text: String = self.found.iter().map(|(name, digest)| format!("{digest}  {name}\n")).collect();
            fs::write(&self.file, &text).expect("the file of digests can be written");
        }
        let pinned = fs::read_to_string(&self.file).unwrap_or_default();
        let split = |line: &str| line.split_once("  ").map(|(digest, name)| (name.to_string(), digest.to_string()));
        let pinned: BTreeMap<String, String> = pinned.lines().filter_map(split).collect();
        let names: BTreeSet<&String> = self.found.keys().chain(pinned.keys()).collect();
        let changed: Vec<&String> =
            names.into_iter().filter(|name| self.found.get(*name) != pinned.get(*name)).collect();
        assert!(changed.is_empty(), "changed, new or gone: {changed:#?}");
    }
}
