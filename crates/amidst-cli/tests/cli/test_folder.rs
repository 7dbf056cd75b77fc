//! Shared by the tests of the command: a temporary folder, and the command itself.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder that is removed at the end of the test.
pub struct TestFolder {
    folder: TempDir,
}

/// The result of a run of the command.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl TestFolder {
    pub fn new() -> Self {
        TestFolder { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names in the folder, hidden ones included.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            std::fs::read_dir(self.root()).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into()).collect();
        names.sort();
        names
    }

    /// All files below a folder.
    pub fn files(&self, folder: &str) -> Vec<PathBuf> {
        let mut folders = vec![self.path(folder)];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files
    }

    /// The command, in this folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_amidst"));
        command.current_dir(self.root()).args(arguments);
        command
    }

    /// Starts the command in this folder, for a test that kills it; its output is discarded.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// Runs the command in this folder.
    pub fn amidst(&self, arguments: &[&str]) -> Run {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        Run {
            code: status.code().unwrap_or(-1),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Patients, and a policy for them.
    pub fn with_sample(rows: u64) -> Self {
        let scratch = TestFolder::new();
        let rows = rows.to_string();
        let run = scratch.amidst(&["sample", "--rows", &rows, "--out", "patients.csv", "--policy", "policy.toml"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        scratch
    }
}

impl Run {
    /// The JSON object on standard output, after an assertion on the exit code.
    pub fn json(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "stderr: {}\nstdout: {}", self.stderr, self.stdout);
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}", self.stdout))
    }

    /// Asserts exit code 0.
    pub fn succeeds(&self) {
        assert_eq!(self.code, 0, "stderr: {}\nstdout: {}", self.stderr, self.stdout);
    }

    /// Asserts the exit code, an empty standard output, and that the error contains all of `parts`.
    pub fn fails(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "stderr: {}", self.stderr);
        // With `--json` standard output has the failure as an object.
        let object = serde_json::from_str::<Value>(&self.stdout).is_ok_and(|said| said["error"]["message"].is_string());
        assert!(self.stdout.is_empty() || object, "a failure has no result: {}", self.stdout);
        for part in parts {
            assert!(self.stderr.contains(part), "no `{part}` in: {}", self.stderr);
        }
        assert!(self.stderr.lines().count() <= 40, "more than a screen: {}", self.stderr);
    }
}

/// The policy of a series of people with an id, an age and a disease, as a constant: sections of further columns, and
/// what is required.
macro_rules! people_policy {
    ($further:literal, $required:literal) => {
        concat!(
            "[data]\ninput = \"people.csv\"\n",
            "[columns.id]\nrole = \"key\"\n",
            "[columns.age]\nrole = \"quasi\"\ntype = \"integer\"\ngeneralize = \"ranges\"\n",
            $further,
            "[columns.disease]\nrole = \"sensitive\"\n",
            $required
        )
    };
}
pub(crate) use people_policy;
