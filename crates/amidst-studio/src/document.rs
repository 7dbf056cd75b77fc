//! The document: the text of the policy, written at once with every change, and the steps that led to it.
//!
//! The file is the truth. Edits made elsewhere are followed: what the file says becomes a step of the history. A
//! change is in the history first and in the file next, each synced, so that a crash loses at most the last
//! change, before its writing was confirmed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use amidst::policy::{Policy, PolicyErrors};
use amidst::{Failure, saved};

use crate::history::{History, Step};

/// How often a file that keeps changing is read again.
const MOST_READINGS: usize = 10;

/// A policy that is being edited.
#[derive(Debug)]
pub struct Document {
    path: PathBuf,
    history: Option<History>,
    text: Option<String>,
    revision: u64,
}

impl Document {
    /// Opens the document at `path`, which need not exist yet.
    ///
    /// # Errors
    /// When it cannot be read, or its history cannot be kept.
    pub fn open(path: &Path) -> Result<Document, Failure> {
        let mut document = Document { path: path.to_path_buf(), history: None, text: None, revision: 0 };
        document.follow()?;
        Ok(document)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text; none where nothing was written yet.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// A number that changes with the text.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// What the text says.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn policy(&self) -> Option<Result<Policy, PolicyErrors>> {
        self.text().map(|text| Policy::parse(text, &self.path))
    }

    /// Takes over what somebody else wrote into the file. Returns whether anything changed.
    ///
    /// # Errors
    /// When the file cannot be read, or its history cannot be kept.
    pub fn follow(&mut self) -> Result<bool, Failure> {
        let Some(mut text) = self.read()? else { return Ok(false) };
        if self.text.as_ref() == Some(&text) {
            return Ok(false);
        }
        // Many editors empty a file before they write it: what is only half there is waited for.
        for _ in 0..MOST_READINGS {
            std::thread::sleep(Duration::from_millis(20));
            match self.read()? {
                Some(again) if again != text => text = again,
                _ => break,
            }
        }
        if self.text.as_ref() == Some(&text) {
            return Ok(false);
        }
        let history = self.history()?;
        let current = history.steps.get(history.at).map(|step| step.text == text);
        let kept = match current {
            Some(true) => Ok(()),
            // The last steps may be the file's after a crash, or after an editor's own undo.
            _ => match history.steps.iter().rposition(|step| step.text == text) {
                Some(at) => history.go(at),
                None => {
                    let what = if history.steps.is_empty() { "opened" } else { "edited elsewhere" };
                    history.push(Step { what: what.to_string(), text: text.clone() })
                }
            },
        };
        kept.map_err(|e| self.unkept(&e))?;
        self.text = Some(text);
        self.revision += 1;
        Ok(true)
    }

    /// What the file says; none where there is none.
    fn read(&self) -> Result<Option<String>, Failure> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(Some(text)),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Failure::Usage(format!("cannot read the policy {}: {e}", self.path.display()))),
        }
    }

    /// Writes a new text as a step.
    ///
    /// # Errors
    /// When it cannot be written; the document is as it was then.
    pub fn write(&mut self, what: &str, text: String) -> Result<(), Failure> {
        self.follow()?;
        if self.text.as_ref() == Some(&text) {
            return Ok(());
        }
        let pushed = self.history()?.push(Step { what: what.to_string(), text: text.clone() });
        pushed.map_err(|e| self.unkept(&e))?;
        saved::save(&self.path, &text, true)?;
        self.text = Some(text);
        self.revision += 1;
        Ok(())
    }

    /// Goes one step back or forth. Returns what was undone or redone; none at the end.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn travel(&mut self, back: bool) -> Result<Option<String>, Failure> {
        self.follow()?;
        let history = self.history()?;
        let to = match back {
            true => history.at.checked_sub(1),
            false => Some(history.at + 1).filter(|&at| at < history.steps.len()),
        };
        let Some(to) = to else { return Ok(None) };
        let what = history.steps[if back { history.at } else { to }].what.clone();
        let text = history.steps[to].text.clone();
        let gone = history.go(to);
        gone.map_err(|e| self.unkept(&e))?;
        saved::save(&self.path, &text, true)?;
        self.text = Some(text);
        self.revision += 1;
        Ok(Some(what))
    }

    /// The steps and the current one.
    pub fn steps(&self) -> (&[Step], usize) {
        self.history.as_ref().map_or((&[], 0), |history| (&history.steps, history.at))
    }

    /// The text before the last step.
    pub fn before(&self) -> Option<&Step> {
        let (steps, at) = self.steps();
        at.checked_sub(1).and_then(|before| steps.get(before))
    }

    fn history(&mut self) -> Result<&mut History, Failure> {
        if self.history.is_none() {
            self.history = Some(History::open(&self.path)?);
        }
        self.history.as_mut().ok_or_else(|| Failure::Io("the history is gone".to_string()))
    }

    fn unkept(&self, e: &std::io::Error) -> Failure {
        Failure::Io(format!("cannot keep the history of {}: {e}; nothing was changed", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_can_be_undone_and_redone_also_by_the_next_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.toml");
        let mut document = Document::open(&path).unwrap();
        assert_eq!(document.text(), None);
        assert_eq!(document.travel(true).unwrap(), None);
        for n in 0..5 {
            document.write(&format!("step {n}"), format!("# {n}\n")).unwrap();
        }
        assert_eq!(document.travel(true).unwrap().as_deref(), Some("step 4"));
        assert_eq!(document.travel(true).unwrap().as_deref(), Some("step 3"));
        drop(document);
        let mut document = Document::open(&path).unwrap();
        assert_eq!(document.text(), Some("# 2\n"));
        assert_eq!(document.travel(false).unwrap().as_deref(), Some("step 3"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "# 3\n");
        while document.travel(true).unwrap().is_some() {}
        assert_eq!(document.text(), Some("# 0\n"));
        while document.travel(false).unwrap().is_some() {}
        assert_eq!(document.text(), Some("# 4\n"));
    }

    #[test]
    fn what_others_write_is_a_step() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.toml");
        fs::write(&path, "# theirs\n").unwrap();
        let mut document = Document::open(&path).unwrap();
        document.write("mine", "# mine\n".into()).unwrap();
        fs::write(&path, "# by an editor\n").unwrap();
        assert!(document.follow().unwrap() && !document.follow().unwrap());
        let whats: Vec<&str> = document.steps().0.iter().map(|s| s.what.as_str()).collect();
        assert_eq!(whats, ["opened", "mine", "edited elsewhere"]);
        document.travel(true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "# mine\n");
    }
}
