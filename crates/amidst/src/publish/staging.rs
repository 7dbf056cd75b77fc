//! Putting a finished release in its place, whole or not at all.
//!
//! Everything is first written into a folder beside the destination, on the same file system, and then takes its place
//! in one rename. A crash, a kill or a full disk before that moment leaves nothing but the previous release. Where a
//! rename is not enough (a table with its certificate beside it; a file system that cannot exchange two folders) a plan
//! is written down first, and the next process undoes what a kill left half done.
//!
//! Several may publish at the same place at once. Without `force` exactly one of them succeeds, because nothing is
//! renamed over something else; with it the last one does, because they take turns.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::scratch::{Placing, Scratch, sweep};
use crate::{Failure, Remedy, files, folder};

/// What becomes the folder of a release, in the scratch folder.
const CONTENT: &str = "content";

/// A destination being prepared.
#[derive(Debug)]
pub struct Staging {
    scratch: Scratch,
    content: PathBuf,
    target: PathBuf,
    force: bool,
}

impl Staging {
    /// Prepares to publish at `target`, a folder or file that must not exist unless `force` allows to replace it.
    pub fn begin(target: &Path, force: bool) -> Result<Self, Failure> {
        let parent = files::parent(target);
        if !parent.is_dir() {
            vacant(target, force)?;
            return Err(Failure::Usage(format!(
                "there is no folder {} to write {} into; create it first",
                parent.display(),
                target.display()
            )));
        }
        // What a killed process had set aside is back before anything is looked for.
        sweep(parent, None);
        vacant(target, force)?;
        let failed = |e: io::Error| Failure::Io(format!("cannot write into {}: {e}", parent.display()));
        let scratch = Scratch::new_in(parent).map_err(failed)?;
        let content = scratch.path().join(CONTENT);
        files::create_private_folder(&content).map_err(failed)?;
        Ok(Staging { scratch, content, target: target.to_path_buf(), force })
    }

    /// Where the files are written for now.
    pub fn path(&self) -> &Path {
        &self.content
    }

    /// A folder in it, for its owner's eyes only until it is published; made when it is first asked for.
    pub fn part(&self, name: &str) -> Result<PathBuf, Failure> {
        let path = self.path().join(name);
        let made = if path.is_dir() { Ok(()) } else { files::create_private_folder(&path) };
        made.map_err(|e| Failure::Io(format!("cannot write into {}: {e}", self.place().display())))?;
        Ok(path)
    }

    /// Writes a small file, for its owner's eyes only until it is published.
    pub fn write(&self, name: &Path, content: &str) -> Result<(), Failure> {
        files::write_private(&self.path().join(name), content.as_bytes())
            .map_err(|e| Failure::Io(format!("cannot write {} into {}: {e}", name.display(), self.place().display())))
    }

    fn place(&self) -> &Path {
        files::parent(&self.target)
    }

    /// Puts the folder in its place; everybody may read what lies in its `public` parts.
    pub fn publish(self, public: &[&str]) -> Result<(), Failure> {
        let failed = |e: io::Error| self.failed(&self.target, &e);
        for part in public {
            files::open_to_readers(&self.content.join(part)).map_err(failed)?;
        }
        files::set_mode(&self.content, 0o755).map_err(failed)?;
        let staged = self.sync_and_list(&self.content)?;
        let guard = files::lock_folder(self.place())?;
        sweep(self.place(), guard.as_ref());
        vacant(&self.target, self.force)?;
        if !self.exchanged().map_err(failed)? {
            let moves = [(CONTENT.into(), file_name(&self.target))];
            Placing::new(self.scratch.path(), &moves).carry_out(self.force).map_err(failed)?;
        }
        self.refuse_other_content(&self.target, &staged)?;
        files::sync_folder(self.place());
        drop(guard);
        Ok(())
    }

    /// Swaps the folder with the one that it replaces, so that there is no moment without a release. False where there
    /// is nothing to replace, or no such swap.
    fn exchanged(&self) -> io::Result<bool> {
        if !self.force || self.target.symlink_metadata().is_err() || !files::exchange(&self.content, &self.target)? {
            return Ok(false);
        }
        // What was published before is now in the scratch folder, and goes with it; unless it came there just now.
        if !replaceable(&self.content) {
            files::exchange(&self.content, &self.target)?;
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(true)
    }

    /// Moves single files to their places, which everybody may read; the last one is the one that readers look for.
    pub fn publish_files(self, moves: &[(PathBuf, &Path)]) -> Result<(), Failure> {
        let mut staged = Vec::new();
        for (name, to) in moves {
            let from = self.content.join(name);
            files::open_to_readers(&from).map_err(|e| self.failed(to, &e))?;
            staged.push((*to, self.sync_and_list(&from)?));
        }
        let guard = files::lock_folder(self.place())?;
        sweep(self.place(), guard.as_ref());
        vacant(&self.target, self.force)?;
        let planned: Vec<(PathBuf, PathBuf)> =
            moves.iter().map(|(name, to)| (Path::new(CONTENT).join(name), file_name(to))).collect();
        let placed = Placing::new(self.scratch.path(), &planned).carry_out(self.force);
        placed.map_err(|e| {
            let taken = moves.iter().map(|(_, to)| *to).find(|to| to.symlink_metadata().is_ok());
            self.failed(taken.unwrap_or(&self.target), &e)
        })?;
        for (to, staged) in &staged {
            self.refuse_other_content(to, staged)?;
        }
        files::sync_folder(self.place());
        drop(guard);
        Ok(())
    }

    /// Waits for the disk, and tells what is staged.
    fn sync_and_list(&self, path: &Path) -> Result<files::Inventory, Failure> {
        let listed = files::sync_tree(path).and_then(|()| files::inventory(path));
        listed.map_err(|e| self.failed(&self.target, &e))
    }

    /// Fails where something else than what was staged is in place.
    fn refuse_other_content(&self, place: &Path, staged: &files::Inventory) -> Result<(), Failure> {
        if files::inventory(place).is_ok_and(|found| found == *staged) {
            return Ok(());
        }
        Err(Failure::Io(format!(
            "{} is not what was put there: something else changed it at the same moment. Do not hand it over; publish again",
            place.display()
        )))
    }

    fn failed(&self, place: &Path, e: &io::Error) -> Failure {
        let place = place.display();
        match e.kind() {
            io::ErrorKind::AlreadyExists => Failure::Usage(format!(
                "{place} was made by somebody else while this release was; it was left alone, and nothing was published"
            )),
            _ => Failure::Io(format!("cannot put {place} in place: {e}")),
        }
    }
}

/// The last part of a destination.
fn file_name(path: &Path) -> PathBuf {
    path.file_name().map(PathBuf::from).unwrap_or_default()
}

/// Fails where `target` is taken, or with `force` where it is something else than a release.
fn vacant(target: &Path, force: bool) -> Result<(), Failure> {
    if target.symlink_metadata().is_ok() && !force {
        return Err(Failure::usage(format!("{} exists already", target.display()), Remedy::ReplaceRelease));
    }
    if force && !replaceable(target) {
        let problem = format!("{} is there already and no release: it has no certificate", target.display());
        return Err(Failure::usage(problem, Remedy::RemoveOrMove));
    }
    Ok(())
}

/// Whether nothing is lost but a release when `target` is replaced: there is none, it is empty, or it has a
/// certificate.
fn replaceable(target: &Path) -> bool {
    let Ok(found) = fs::metadata(target) else { return target.symlink_metadata().is_err() };
    if found.is_dir() {
        let empty = fs::read_dir(target).is_ok_and(|mut inside| inside.next().is_none());
        return empty || folder::public_part(target).is_some();
    }
    found.len() == 0 || folder::certificate_beside(target).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::{CERTIFICATE, certificate_beside};

    /// A folder with a release, ready to be published.
    fn release(target: &Path, force: bool, text: &str) -> Staging {
        let staging = Staging::begin(target, force).unwrap();
        for part in ["public", "internal"] {
            let part = staging.part(part).unwrap();
            fs::write(part.join(CERTIFICATE), text).unwrap();
        }
        staging
    }

    fn told(target: &Path) -> String {
        fs::read_to_string(target.join("public").join(CERTIFICATE)).unwrap_or_default()
    }

    /// A table and its certificate, ready to be published.
    fn table(target: &Path, force: bool, text: &str) -> Staging {
        let staging = Staging::begin(target, force).unwrap();
        for name in ["t", "c"] {
            staging.write(Path::new(name), text).unwrap();
        }
        staging
    }

    fn publish_table(staging: Staging) -> Result<(), Failure> {
        let target = staging.target.clone();
        staging.publish_files(&[("c".into(), &certificate_beside(&target)), ("t".into(), &target)])
    }

    fn pair(target: &Path) -> (String, String) {
        (fs::read_to_string(target).unwrap(), fs::read_to_string(certificate_beside(target)).unwrap())
    }

    #[test]
    fn a_release_appears_whole_and_replaces_only_by_force() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("out");
        for (force, text) in [(false, "one"), (true, "two")] {
            release(&target, force, text).publish(&["public"]).unwrap();
            assert_eq!(told(&target), text);
        }
        assert!(matches!(Staging::begin(&target, false), Err(Failure::Advised(_))));
        drop(Staging::begin(&target, true).unwrap());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn only_releases_are_replaced() {
        let place = tempfile::tempdir().unwrap();
        let (folder, file) = (place.path().join("photos"), place.path().join("notes.csv"));
        fs::create_dir(&folder).unwrap();
        assert!(Staging::begin(&folder, true).is_ok(), "an empty folder holds nothing to lose");
        let late = release(&folder, true, "new");
        fs::write(folder.join("wedding.jpg"), "x").unwrap();
        fs::write(&file, "x").unwrap();
        for target in [&folder, &file] {
            assert!(matches!(Staging::begin(target, true), Err(Failure::Advised(_))), "{}", target.display());
        }
        assert!(matches!(late.publish(&["public"]), Err(Failure::Advised(_))), "it was filled meanwhile");
        assert!(folder.join("wedding.jpg").is_file());
        fs::write(place.path().join("notes.csv.certificate.json"), "{}").unwrap();
        assert!(Staging::begin(&file, true).is_ok());
    }

    #[test]
    fn of_many_publishers_one_succeeds() {
        let place = tempfile::tempdir().unwrap();
        let (folder, file) = (place.path().join("out"), place.path().join("out.csv"));
        let texts: Vec<String> = (0..6).map(|i| i.to_string()).collect();
        let folders: Vec<Staging> = texts.iter().map(|text| release(&folder, false, text)).collect();
        let tables: Vec<Staging> = texts.iter().map(|text| table(&file, false, text)).collect();
        let (folders, tables): (Vec<bool>, Vec<bool>) = std::thread::scope(|scope| {
            let started: Vec<_> = folders
                .into_iter()
                .zip(tables)
                .map(|(f, t)| {
                    let folder = scope.spawn(|| f.publish(&["public"]).is_ok());
                    (folder, scope.spawn(|| publish_table(t).is_ok()))
                })
                .collect();
            started.into_iter().map(|(f, t)| (f.join().unwrap(), t.join().unwrap())).unzip()
        });
        for won in [&folders, &tables] {
            assert_eq!(won.iter().filter(|&&won| won).count(), 1, "{won:?}");
        }
        let winner = |won: &[bool]| won.iter().position(|&won| won).unwrap().to_string();
        assert_eq!(told(&folder), winner(&folders));
        assert_eq!(pair(&file), (winner(&tables), winner(&tables)));
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 3, "the others left nothing");
    }

    #[test]
    fn forced_publishers_take_turns_and_never_mix() {
        let place = tempfile::tempdir().unwrap();
        let (folder, file) = (place.path().join("out"), place.path().join("out.csv"));
        release(&folder, false, "first").publish(&["public"]).unwrap();
        publish_table(table(&file, false, "first")).unwrap();
        std::thread::scope(|scope| {
            for i in 0..4 {
                let (folder, file) = (&folder, &file);
                scope.spawn(move || {
                    for j in 0..8 {
                        let text = format!("{i}/{j}");
                        release(folder, true, &text).publish(&["public"]).unwrap();
                        publish_table(table(file, true, &text)).unwrap();
                    }
                });
            }
        });
        let (table, certificate) = pair(&file);
        assert_eq!(table, certificate);
        assert_eq!(told(&folder), fs::read_to_string(folder.join("internal").join(CERTIFICATE)).unwrap());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 3);
    }

    #[test]
    fn without_an_exchange_a_kill_between_the_renames_loses_nothing() {
        // As `publish` does where folders cannot be exchanged: the old one is set aside, the new one is put.
        for put in [false, true] {
            let place = tempfile::tempdir().unwrap();
            let target = place.path().join("out");
            release(&target, false, "old").publish(&["public"]).unwrap();
            let staging = release(&target, true, "new");
            let moves = [(PathBuf::from(CONTENT), PathBuf::from("out"))];
            if put {
                Placing::new(staging.scratch.path(), &moves).carry_out(true).unwrap();
            } else {
                let placing = Placing::new(staging.scratch.path(), &moves);
                placing.carry_out_in_part(1);
                assert!(!target.exists(), "the moment between the renames");
            }
            staging.scratch.abandon();
            assert!(Staging::begin(&target, true).is_ok(), "the next run");
            assert_eq!(told(&target), if put { "new" } else { "old" });
            assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn what_is_not_what_was_staged_is_told() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("out");
        let staging = release(&target, false, "x");
        let staged = staging.sync_and_list(&staging.content).unwrap();
        fs::create_dir_all(target.join("public")).unwrap();
        fs::write(target.join("public").join(CERTIFICATE), "x").unwrap();
        assert!(
            matches!(staging.refuse_other_content(&target, &staged), Err(Failure::Io(_))),
            "others' files of the same length"
        );
    }
}
