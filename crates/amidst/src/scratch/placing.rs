//! Putting several files in their places, so that a kill between them is undone.
//!
//! One rename is whole or not at all; several are not. So a plan is written down first: which staged file goes where,
//! in which order. What is in the way is set aside, the last of the files first, because it is the one that readers
//! look for; then the files are put, the last one last. At no moment does the last file stand beside one that it does
//! not belong to. A process that finds the plan of a killed one undoes it, unless it was carried out: the place of the
//! last file tells.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files;

/// The plan in the folder of its process.
const PLAN: &str = "plan.json";

/// A file or folder that gets its place.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Move {
    /// Its path in the scratch folder.
    staged: PathBuf,
    /// Its name beside the scratch folder.
    place: PathBuf,
    /// What tells it from others.
    identity: Option<u64>,
}

/// Files that get their places together.
#[derive(Debug)]
pub(crate) struct Placing {
    scratch: PathBuf,
    moves: Vec<Move>,
}

/// One step of it, each a single rename.
#[derive(Debug, Clone, Copy)]
enum Step {
    SetAside(usize),
    Put(usize),
}

impl Placing {
    /// Plans to put what is `staged` in the folder `scratch` under names beside it, the last of them last.
    pub fn new(scratch: &Path, moves: &[(PathBuf, PathBuf)]) -> Self {
        let of = |(staged, place): &(PathBuf, PathBuf)| Move {
            staged: staged.clone(),
            place: place.clone(),
            identity: files::identity(&scratch.join(staged)),
        };
        Placing { scratch: scratch.to_path_buf(), moves: moves.iter().map(of).collect() }
    }

    /// The plan that a killed process left, if it had come to make one.
    pub fn left_in(scratch: &Path) -> Option<Self> {
        let moves: Vec<Move> = serde_json::from_slice(&fs::read(scratch.join(PLAN)).ok()?).ok()?;
        // Names beside the scratch folder, and paths in it: nothing else is moved, whatever a file says.
        let plain = |path: &Path| path.components().all(|c| matches!(c, std::path::Component::Normal(_)));
        let sound = moves.iter().all(|m| plain(&m.staged) && plain(&m.place) && m.place.components().count() == 1);
        sound.then(|| Placing { scratch: scratch.to_path_buf(), moves })
    }

    /// Carries the plan out; with `replace`, what is in the way goes into the scratch folder.
    ///
    /// # Errors
    /// When a place is taken (of the kind `AlreadyExists`) or a rename fails; then everything is as it was.
    pub fn carry_out(&self, replace: bool) -> io::Result<()> {
        self.write()?;
        let done = self.steps(replace).into_iter().try_for_each(|step| self.perform(step));
        if done.is_err() {
            self.undo();
        }
        done
    }

    /// Performs the first steps of replacing what is there, as if killed then.
    #[cfg(test)]
    pub fn carry_out_in_part(&self, steps: usize) {
        self.write().unwrap();
        self.steps(true).into_iter().take(steps).for_each(|step| self.perform(step).unwrap());
    }

    fn write(&self) -> io::Result<()> {
        let text = serde_json::to_vec(&self.moves).map_err(io::Error::other)?;
        files::write_private(&self.scratch.join(PLAN), &text)?;
        files::sync_folder(&self.scratch);
        Ok(())
    }

    fn steps(&self, replace: bool) -> Vec<Step> {
        let aside = (0..self.moves.len()).rev().filter(|_| replace).map(Step::SetAside);
        aside.chain((0..self.moves.len()).map(Step::Put)).collect()
    }

    fn perform(&self, step: Step) -> io::Result<()> {
        if matches!(step, Step::Put(i) if i > 0 || self.previous(i).symlink_metadata().is_ok()) {
            // A disk may keep a later name and lose an earlier one: readers must not find a table without its
            // certificate.
            files::sync_folder(files::parent(&self.scratch));
            files::sync_folder(&self.scratch);
        }
        match step {
            Step::SetAside(i) => match files::rename_new(&self.place(i), &self.previous(i)) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
                other => other,
            },
            Step::Put(i) => files::rename_new(&self.staged(i), &self.place(i)),
        }
    }

    fn staged(&self, i: usize) -> PathBuf {
        self.scratch.join(&self.moves[i].staged)
    }

    fn place(&self, i: usize) -> PathBuf {
        files::parent(&self.scratch).join(&self.moves[i].place)
    }

    fn previous(&self, i: usize) -> PathBuf {
        self.scratch.join(format!("previous-{i}"))
    }

    /// Undoes what was carried out in part; leaves alone what was carried out whole. False when something that was set
    /// aside could not be put back, because its place is taken: then the scratch folder must stay.
    pub fn undo(&self) -> bool {
        let there = |path: &Path| path.symlink_metadata().is_ok();
        let Some(last) = self.moves.len().checked_sub(1) else { return true };
        if !there(&self.staged(last)) {
            return true;
        }
        for i in (0..last).rev() {
            // Only what this plan put there: its name may be another's by now.
            if !there(&self.staged(i)) && files::identity(&self.place(i)) == self.moves[i].identity {
                let _ = files::rename_new(&self.place(i), &self.staged(i));
            }
        }
        let mut restored = true;
        for i in 0..self.moves.len() {
            let previous = self.previous(i);
            restored &= !there(&previous) || files::rename_new(&previous, &self.place(i)).is_ok();
        }
        files::sync_folder(files::parent(&self.scratch));
        restored
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Scratch, sweep};
    use super::*;

    const CERTIFICATE: &str = "t.csv.certificate.json";

    fn staged(parent: &Path, text: &str) -> (Scratch, Placing) {
        let scratch = Scratch::new_in(parent).unwrap();
        for name in ["certificate", "table"] {
            fs::write(scratch.path().join(name), text).unwrap();
        }
        let moves = [("certificate", CERTIFICATE), ("table", "t.csv")].map(|(a, b)| (a.into(), b.into()));
        let placing = Placing::new(scratch.path(), &moves);
        (scratch, placing)
    }

    fn now(parent: &Path) -> [Option<String>; 2] {
        [CERTIFICATE, "t.csv"].map(|name| fs::read_to_string(parent.join(name)).ok())
    }

    fn pair(text: &str) -> [Option<String>; 2] {
        [Some(text.to_string()), Some(text.to_string())]
    }

    #[test]
    fn a_kill_after_any_step_is_undone_or_was_the_last() {
        for replace in [false, true] {
            let count = if replace { 4 } else { 2 };
            for steps in 0..=count {
                let place = tempfile::tempdir().unwrap();
                if replace {
                    staged(place.path(), "old").1.carry_out(false).unwrap();
                }
                let before = now(place.path());
                assert_eq!(before[1].is_some(), replace);
                let (scratch, placing) = staged(place.path(), "new");
                placing.write().unwrap();
                assert_eq!(placing.steps(replace).len(), count);
                for step in placing.steps(replace).into_iter().take(steps) {
                    placing.perform(step).unwrap();
                    let [certificate, table] = now(place.path());
                    assert!(table.is_none() || table == certificate, "never a table with another's certificate");
                }
                scratch.abandon();
                sweep(place.path(), None);
                let expected = if steps == count { pair("new") } else { before };
                assert_eq!(now(place.path()), expected, "{steps} steps, replacing {replace}");
                let left = fs::read_dir(place.path()).unwrap().count();
                assert_eq!(left, now(place.path()).iter().flatten().count(), "nothing else is left");
            }
        }
    }

    #[test]
    fn undoing_can_be_killed_as_well() {
        let place = tempfile::tempdir().unwrap();
        staged(place.path(), "old").1.carry_out(false).unwrap();
        let (scratch, placing) = staged(place.path(), "new");
        placing.write().unwrap();
        placing.steps(true).into_iter().take(3).for_each(|step| placing.perform(step).unwrap());
        // The new certificate is gone and the old one is back, but not the table.
        fs::rename(place.path().join(CERTIFICATE), scratch.path().join("certificate")).unwrap();
        fs::rename(scratch.path().join("previous-0"), place.path().join(CERTIFICATE)).unwrap();
        scratch.abandon();
        sweep(place.path(), None);
        assert_eq!(now(place.path()), pair("old"));
    }

    #[test]
    fn a_file_made_meanwhile_is_never_overwritten() {
        for taken in [CERTIFICATE, "t.csv"] {
            let place = tempfile::tempdir().unwrap();
            let (_scratch, placing) = staged(place.path(), "new");
            fs::write(place.path().join(taken), "mine").unwrap();
            assert_eq!(placing.carry_out(false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(now(place.path()).iter().flatten().collect::<Vec<_>>(), ["mine"], "{taken}");
        }
    }

    #[test]
    fn what_was_set_aside_stays_while_its_place_is_taken() {
        let place = tempfile::tempdir().unwrap();
        staged(place.path(), "old").1.carry_out(false).unwrap();
        let (scratch, placing) = staged(place.path(), "new");
        placing.write().unwrap();
        placing.perform(Step::SetAside(1)).unwrap();
        let folder = scratch.abandon();
        fs::write(place.path().join("t.csv"), "mine").unwrap();
        sweep(place.path(), None);
        assert_eq!(now(place.path())[1].as_deref(), Some("mine"));
        assert_eq!(fs::read_to_string(folder.join("previous-1")).unwrap(), "old");
        fs::remove_file(place.path().join("t.csv")).unwrap();
        sweep(place.path(), None);
        assert_eq!(now(place.path()), pair("old"));
    }

    #[test]
    fn a_plan_moves_nothing_elsewhere() {
        let place = tempfile::tempdir().unwrap();
        let scratch = Scratch::new_in(place.path()).unwrap();
        for (staged, target) in
            [("table", "../t.csv"), ("../table", "t.csv"), ("table", "/t.csv"), ("table", "a/t.csv")]
        {
            Placing::new(scratch.path(), &[(staged.into(), target.into())]).write().unwrap();
            assert!(Placing::left_in(scratch.path()).is_none(), "{staged} to {target}");
            fs::remove_file(scratch.path().join(PLAN)).unwrap();
        }
    }
}
