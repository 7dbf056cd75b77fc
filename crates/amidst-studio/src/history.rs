//! The history of a document on disk: one line of JSON for each step, appended and synced before the policy is written.
//!
//! A process that is killed at any moment leaves a history that reads back up to its last whole line. The file is
//! locked while a studio has the document open, so that two servers do not write into each other's history; the lock
//! ends with the process.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use amidst::Failure;
use serde::{Deserialize, Serialize};

/// Steps that are kept; the oldest are forgotten when a document is opened.
const KEPT: usize = 400;

/// One state of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What was done, in a few words.
    pub what: String,
    /// The whole text afterwards.
    pub text: String,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Record {
    /// A step after the current one; what could be redone is forgotten.
    Step(Step),
    /// The current step is now this one.
    At(usize),
}

/// The steps of a document, and the file that keeps them.
#[derive(Debug)]
pub struct History {
    file: File,
    pub steps: Vec<Step>,
    pub at: usize,
}

/// Where the history of a policy is kept: beside it, hidden.
pub fn path(policy: &Path) -> PathBuf {
    let name = policy.file_name().unwrap_or_default().to_string_lossy();
    policy.with_file_name(format!(".{name}.history"))
}

impl History {
    /// Opens the history of a policy, or starts one.
    ///
    /// # Errors
    /// When it cannot be read or written, or another studio has it open.
    pub fn open(policy: &Path) -> Result<History, Failure> {
        let path = path(policy);
        let failed = |e: io::Error| Failure::Io(format!("cannot keep the history {}: {e}", path.display()));
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let policy = policy.display();
                return Err(Failure::Usage(format!(
                    "another studio has {policy} open; go on there, or end it before you open the policy again"
                )));
            }
            // Some file systems know no locks; the history is kept all the same.
            Err(TryLockError::Error(_)) => {}
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let (steps, at, whole) = replayed(&bytes);
        // What a killed process did not finish writing is cut off, so that the next line begins a line.
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        let mut history = History { file, steps, at };
        if history.steps.len() > KEPT {
            history.forget(&path).map_err(failed)?;
        }
        Ok(history)
    }

    /// Keeps a new step and goes there.
    pub fn push(&mut self, step: Step) -> io::Result<()> {
        self.append(&Record::Step(step.clone()))?;
        self.steps.truncate(self.at + usize::from(!self.steps.is_empty()));
        self.steps.push(step);
        self.at = self.steps.len() - 1;
        Ok(())
    }

    /// Goes to another step.
    pub fn go(&mut self, at: usize) -> io::Result<()> {
        self.append(&Record::At(at))?;
        self.at = at;
        Ok(())
    }

    fn append(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record).map_err(io::Error::other)?;
        line.push(b'\n');
        self.file.seek(SeekFrom::End(0))?;
        self.file.write_all(&line)?;
        self.file.sync_data()
    }

    /// Writes the file anew with the last steps only.
    fn forget(&mut self, path: &Path) -> io::Result<()> {
        let first = self.steps.len() - KEPT;
        self.steps.drain(..first);
        self.at = self.at.saturating_sub(first);
        let mut text = Vec::new();
        for step in &self.steps {
            text.extend(serde_json::to_vec(&Record::Step(step.clone())).map_err(io::Error::other)?);
            text.push(b'\n');
        }
        text.extend(serde_json::to_vec(&Record::At(self.at)).map_err(io::Error::other)?);
        text.push(b'\n');
        // In place and not by a rename, because the lock belongs to this file. What is lost by a crash in between is
        // history, never the document.
        let keep = path.with_extension("history-old");
        fs::copy(path, &keep)?;
        self.file.set_len(0)?;
        self.file.write_all(&text)?;
        self.file.sync_all()?;
        fs::remove_file(&keep)
    }
}

/// The steps that the lines tell of, the current one, and how many bytes are whole lines.
fn replayed(bytes: &[u8]) -> (Vec<Step>, usize, usize) {
    let (mut steps, mut at, mut whole) = (Vec::<Step>::new(), 0, 0);
    for line in bytes.split_inclusive(|&b| b == b'\n') {
        if line.last() != Some(&b'\n') {
            break;
        }
        match serde_json::from_slice(line) {
            Ok(Record::Step(step)) => {
                steps.truncate(at + usize::from(!steps.is_empty()));
                steps.push(step);
                at = steps.len() - 1;
            }
            Ok(Record::At(to)) if to < steps.len() => at = to,
            Ok(Record::At(_)) => {}
            Err(_) => break,
        }
        whole += line.len();
    }
    (steps, at, whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(n: usize) -> Step {
        Step { what: format!("step {n}"), text: format!("text {n}\n") }
    }

    #[test]
    fn what_was_kept_is_there_after_a_crash_at_any_byte() {
        let folder = tempfile::tempdir().unwrap();
        let policy = folder.path().join("policy.toml");
        let mut history = History::open(&policy).unwrap();
        for n in 0..4 {
            history.push(step(n)).unwrap();
        }
        history.go(1).unwrap();
        history.push(step(9)).unwrap();
        assert_eq!(history.steps, [step(0), step(1), step(9)], "what could be redone is forgotten");
        drop(history);
        let whole = fs::read(path(&policy)).unwrap();
        for cut in 0..=whole.len() {
            fs::write(path(&policy), &whole[..cut]).unwrap();
            let mut again = History::open(&policy).unwrap();
            assert!(again.steps.len() <= 4 && (again.steps.is_empty() || again.at < again.steps.len()), "{cut}");
            again.push(step(5)).unwrap();
            drop(again);
            let read = History::open(&policy).unwrap();
            assert_eq!(read.steps.last(), Some(&step(5)), "{cut}");
        }
    }

    #[test]
    fn one_studio_at_a_time_and_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let policy = folder.path().join("policy.toml");
        let mut history = History::open(&policy).unwrap();
        assert!(matches!(History::open(&policy), Err(Failure::Usage(_))));
        for n in 0..KEPT + 7 {
            history.push(step(n)).unwrap();
        }
        drop(history);
        let again = History::open(&policy).unwrap();
        assert_eq!((again.steps.len(), again.at), (KEPT, KEPT - 1));
        assert_eq!(again.steps[0], step(7));
    }
}
