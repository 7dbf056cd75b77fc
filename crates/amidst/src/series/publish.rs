//! Publishing a version: checked, audited against all before it, and in its place whole or not at all.
//!
//! The files are made in the private folder first. Then the state says that the version exists; then one rename puts it
//! in its place. The next process that opens the series after a crash between the two finishes the rename.

use std::fs;
use std::path::{Path, PathBuf};

use amidst_check::Link;
use amidst_core::search::Found;
use rusqlite::params;

use super::audit::{self, SeriesAudit};
use super::chain::{certificate_name, certificate_of};
use super::committed::{Committed, LEAVES};
use super::compose::{Composed, follows_from_m};
use super::draft::Repair;
use super::draft::{Context, Draft, MakeSafe, SAFE_SINCE, SeriesHead, safe_since};
use super::forecast::Signed;
use super::log::held_back;
use super::packed::pack;
use super::record::PublishedState;
use super::refuse::{refusal, unchanged};
use super::state::{State, kept};
use super::store::Work;
use super::{Mode, Series, internal, private, replaced, undo, versions};
use crate::folder::{CERTIFICATE, INTERNAL};
use crate::job::Job;
use crate::plan::algorithm_of;
use crate::policy::{OutputOrder, Policy};
use crate::publish::{Bundle, Folders, Workspace, table_name};
use crate::release::{Judged, Released};
use crate::report::{self, Audience, Policies, Report};
use crate::unique::UniqueRows;
use crate::{Failure, files};

/// A version that was published.
#[derive(Debug)]
#[non_exhaustive]
pub struct Published {
    /// Its number, from 1.
    pub version: u64,
    /// How it was made.
    pub mode: Mode,
    /// Why the series has this mode, in a sentence; only where it begins with this version and the mode was not asked
    /// for.
    pub chosen: Option<String>,
    /// Rows that stand for somebody.
    pub rows: u64,
    /// Counterfeits: rows that stand for no person.
    pub counterfeits: u64,
    /// What was changed to make it safe; none where it is as the technique of the mode makes it.
    pub repair: Option<Repair>,
    /// The first version that was made safe, where one before this was: versions are made safe since.
    pub safe_before: Option<u64>,
    /// Verdicts, metrics and risk.
    pub judged: Judged,
    /// Rows that no other row agrees with.
    pub unique: UniqueRows,
    /// What the report says first.
    pub leading: Vec<String>,
    /// How often classes that the policy's algorithm found were split further, where a series begins with this version.
    pub splits: u64,
    /// What all versions together reveal.
    pub audit: SeriesAudit,
    /// Its folder, which may be handed over.
    pub folder: PathBuf,
    /// What stays with the owner: a report with what was there before, and the policy.
    pub internal: PathBuf,
    /// The table.
    pub release: PathBuf,
}

impl Series {
    /// Publishes the rows as they are now, as the next version. Where the series has safe versions
    /// ([`Series::publish_safe`]) and the version would expose somebody, it is made safe, too, unless `allow_leak`.
    ///
    /// # Errors
    /// When nothing has changed, when the versions together would leave less than the policy promises (unless
    /// `allow_leak`), or when something cannot be written; then no version is published.
    pub fn publish(&mut self, allow_leak: bool, job: &Job<'_>) -> Result<Published, Failure> {
        self.publish_as(MakeSafe::AsBefore, allow_leak, job)
    }

    /// As [`Series::publish`]; but where the version would expose somebody, the least change is made to it with which
    /// it does not: classes stay as they were published, with counterfeits for persons who left, and new rows have
    /// classes of their own or wait. The series remembers it: from then on [`Series::publish`] does the same.
    ///
    /// # Errors
    /// As [`Series::publish`]; `allow_leak` is needed only where versions before have exposed somebody.
    pub fn publish_safe(&mut self, allow_leak: bool, job: &Job<'_>) -> Result<Published, Failure> {
        self.publish_as(MakeSafe::Always, allow_leak, job)
    }

    /// As [`Series::publish`], but a version that would expose somebody is refused also where the series has safe
    /// versions.
    ///
    /// # Errors
    /// As [`Series::publish`].
    pub fn publish_plain(&mut self, allow_leak: bool, job: &Job<'_>) -> Result<Published, Failure> {
        self.publish_as(MakeSafe::Never, allow_leak, job)
    }

    fn publish_as(&mut self, when: MakeSafe, allow_leak: bool, job: &Job<'_>) -> Result<Published, Failure> {
        self.recover()?;
        let folder = self.folder.clone();
        let work = self.store.write()?;
        let of = Context { policy: &self.policy, mode: self.mode, header: &self.header };
        let head = SeriesHead::load(&work)?;
        let (last, number, batch) = (head.version, head.version + 1, head.batch);
        if !head.changed() {
            return Err(unchanged(&work, last)?);
        }
        let place = free_place(&folder, number)?;
        let known = PublishedState::load(&work, of.policy, &kept(of.policy, of.header), job)?;
        let mut draft = Draft::plain(&work, of, &known, job)?;
        draft.refuse_raw(of, &folder)?;
        let safe_before = safe_since(&work)?;
        let safe = when == MakeSafe::Always || when == MakeSafe::AsBefore && safe_before.is_some() && !allow_leak;
        // What would be safe is also told where it was not asked for.
        if draft.mendable(of.mode) && (safe || !allow_leak || !draft.satisfies()) {
            draft = match draft.mended(&work, of, &known, head, job)? {
                Some(mended) if safe && (allow_leak || !mended.audit.finds_leaks()) => mended,
                None if allow_leak && draft.satisfies() => draft,
                mended => return Err(refusal(&folder, number, of.mode, &draft, mended.as_ref())),
            };
            draft.refuse_raw(of, &folder)?;
        }
        drop(known);
        if draft.audit.finds_leaks() && !allow_leak {
            return Err(refusal(&folder, number, of.mode, &draft, None));
        }
        let Draft { state, composed, record, audit: found, repair } = draft;
        let sensitive = audit::sensitive(&self.policy, &state.names);
        let mut staging = [staged_folder(&folder, number), internal(&folder, number)].map(Leftover::of);
        let committed = Committed::to(&work, &self.policy, &state, self.commit)?;
        let link = Link { version: number, previous: certificate_of(&work, &folder, last)? };
        let about =
            About { number, mode: self.mode, audit: &found, repair, link: &link, committed: committed.as_ref() };
        let staged = stage(&folder, &self.policy, composed, &about, job)?;
        store(&work, number, batch, &state, &staged, &found).map_err(|e| work.fail(e))?;
        record.store(&work, number).map_err(|e| work.fail(e))?;
        work.set_meta(&certificate_name(number), &staged.certificate)?;
        if let Some(waiting) = repair.map(|r| r.held_back).filter(|&n| n > 0) {
            work.set_meta(&held_back(number), &waiting.to_string())?;
        }
        if repair.is_some() && safe_before.is_none() {
            work.set_meta(SAFE_SINCE, &number.to_string())?;
        }
        if self.mode == Mode::MInvariant && !follows_from_m(&self.policy) {
            sign(&work, &sensitive, &state, &staged.signatures)?;
        }
        // A commit that fails may be found to have happened all the same, once the disk works again.
        staging.iter_mut().for_each(Leftover::keep);
        work.commit()?;
        // From here on the version is published; what is still to do, the next publication can do as well.
        if let Err(failure) = self.recover()
            && !place.is_dir()
        {
            return Err(Failure::Io(format!(
                "version {number} is made but not in its place yet, where the next publication puts it: \
                 {failure}"
            )));
        }
        self.forget_leaves(number)?;
        Ok(Published {
            version: number,
            mode: self.mode,
            chosen: None,
            rows: state.rows() as u64,
            counterfeits: staged.counterfeits,
            repair,
            safe_before,
            judged: staged.judged,
            unique: staged.unique,
            leading: staged.leading,
            splits: 0,
            audit: found,
            release: place.join(staged.release),
            folder: place,
            internal: internal(&folder, number),
        })
    }

    /// Puts a version in its place that the state knows of but that is not there yet, and removes folders that
    /// the state does not know.
    fn recover(&mut self) -> Result<(), Failure> {
        let folder = self.folder.clone();
        let work = self.store.write()?;
        let waiting: Vec<u64> = {
            let read = || -> rusqlite::Result<Vec<i64>> {
                let mut query = work.transaction.prepare("SELECT number FROM version WHERE placed = 0")?;
                query.query_map([], |row| row.get(0))?.collect()
            };
            read().map_err(|e| work.fail(e))?.into_iter().map(i64::unsigned_abs).collect()
        };
        for number in waiting {
            let (from, to) = (staged_folder(&folder, number), versions(&folder).join(number.to_string()));
            // After a failure of power the disk may hold both names of the folder.
            if from.is_dir() && !same_version(&from, &to) {
                fs::create_dir_all(versions(&folder))
                    .and_then(|()| files::rename_new(&from, &to))
                    .map_err(|e| Failure::Io(format!("cannot put {} in place: {e}", to.display())))?;
                files::sync_folders_above(&to, &folder);
            }
            if !to.is_dir() {
                return Err(Failure::Io(format!("version {number} has been removed from {}", to.display())));
            }
            work.transaction
                .execute("UPDATE version SET placed = 1 WHERE number = ?1", [number as i64])
                .map_err(|e| work.fail(e))?;
        }
        // What is staged now belongs to a publisher that did not live to commit.
        let leftovers = private(&folder).join("staged");
        if leftovers.exists() {
            fs::remove_dir_all(&leftovers)
                .map_err(|e| Failure::Io(format!("cannot clear {}: {e}", leftovers.display())))?;
        }
        work.commit()
    }
}

/// Whether both folders hold the same version: its certificate, which has the digests of all else, and files of the
/// same names and lengths.
fn same_version(one: &Path, other: &Path) -> bool {
    let lengths = |folder: &Path| -> Option<Vec<(PathBuf, u64)>> {
        Some(files::inventory(folder).ok()?.into_iter().map(|(name, (_, length))| (name, length)).collect())
    };
    let certificate = |folder: &Path| fs::read(folder.join(CERTIFICATE)).ok();
    certificate(one).is_some() && certificate(one) == certificate(other) && lengths(one) == lengths(other)
}

fn staged_folder(folder: &Path, number: u64) -> PathBuf {
    private(folder).join("staged").join(number.to_string())
}

/// An empty folder for its owner's eyes only.
fn fresh_folder(folder: &Path) -> std::io::Result<()> {
    if let Some(parent) = folder.parent() {
        files::create_private_folders(parent)?;
    }
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    files::create_private_folder(folder)
}

/// A folder that is of no use any more when its owner fails.
struct Leftover {
    folder: Option<PathBuf>,
}

impl Leftover {
    fn of(folder: PathBuf) -> Self {
        Leftover { folder: Some(folder) }
    }

    fn keep(&mut self) {
        self.folder = None;
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            // The next publication clears what cannot be removed now.
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// A version that is written and checked, but not in its place.
struct Staged {
    release: String,
    /// The digest of its certificate.
    certificate: String,
    counterfeits: u64,
    rows: u64,
    judged: Judged,
    unique: UniqueRows,
    leading: Vec<String>,
    signatures: Vec<Vec<u32>>,
}

/// What is said about a version.
struct About<'a> {
    number: u64,
    mode: Mode,
    audit: &'a SeriesAudit,
    repair: Option<Repair>,
    link: &'a Link,
    committed: Option<&'a Committed>,
}

fn stage(
    folder: &Path,
    policy: &Policy,
    composed: Composed,
    about: &About<'_>,
    job: &Job<'_>,
) -> Result<Staged, Failure> {
    let About { number, link, committed, .. } = *about;
    let mut policy = policy.clone();
    if composed.counterfeits.is_some() {
        // Counterfeits come last in the table; its order would betray them.
        policy.output.order = OutputOrder::Shuffled;
    }
    let policy = &policy;
    let (place, own) = (staged_folder(folder, number), internal(folder, number));
    let what = format!("version {number} into {}", place.display());
    let mut folders = Folders { public: place.clone(), internal: own.clone(), what };
    let fail = |folders: &Folders, e: std::io::Error| folders.unwritten(&e.to_string());
    for fresh in [&place, &own] {
        fresh_folder(fresh).map_err(|e| fail(&folders, e))?;
    }
    let (_, release) = table_name(policy)?;
    let Composed { prepared, recoding, judged, counterfeits, signatures, class_of, .. } = composed;
    let released = Released { counterfeits, ..Released::with_classes(policy, &prepared, &recoding, class_of) };
    released.write(policy, &place.join(&release), job).map_err(|e| folders.tell(e))?;
    let heading = heading(about);
    let mut policies = Policies::of(policy, &prepared);
    policies.public.insert_str(0, &heading);
    policies.internal.insert_str(0, &heading);
    let found = Found { recoding, coding: None, optimal: false, gap: None, least_loss: None, notes: Vec::new() };
    let made = report::Made {
        policy,
        prepared: &prepared,
        algorithm: algorithm_of(policy, &prepared)?,
        found: &found,
        judged: &judged,
        released: &released,
        joined: None,
        policies: &policies,
        unique: UniqueRows::of_release(&prepared, &released),
    };
    let told = |report: &mut Report| of_version(report, counterfeits, about);
    if let Some(committed) = committed {
        folders.store(INTERNAL, LEAVES, &committed.to_bytes())?;
    }
    let commitment = committed.map(Committed::commitment);
    let bundle = Bundle::of_version(std::slice::from_ref(&release), link, commitment.as_ref(), &told);
    let sealed = folders.check(&made, &bundle, job)?;
    let unique = sealed.unique;
    let leading = sealed.reports.internal.summary[..sealed.reports.internal.leading].to_vec();
    // A version is meant to be read by everyone; until it has its place, the private half keeps it from them.
    files::open_to_readers(&place).map_err(|e| fail(&folders, e))?;
    // The state will say that the version exists, so all of it, and the names of its folders, must survive a failure of
    // power.
    for made in [&own, &place] {
        files::sync_tree(made).map_err(|e| fail(&folders, e))?;
        files::sync_folders_above(made, folder);
    }
    let (counterfeits, certificate) = (counterfeits.unwrap_or(0), sealed.certificate.digest);
    Ok(Staged { release, certificate, counterfeits, rows: prepared.rows_in, judged, unique, leading, signatures })
}

/// What the policies of a version begin with.
fn heading(about: &About<'_>) -> String {
    let About { number, mode, audit, .. } = *about;
    let mut heading = format!("# Version {number} of a series in the mode {}.\n", mode.name());
    if audit.finds_leaks() {
        heading.push_str(&format!(
            "# Published with allow-leak: the versions so far leave together less than the policy promises.\n# {}\n",
            audit.sentence()
        ));
    }
    heading
}

/// What the report of a version says beside that of a release.
fn of_version(report: &mut Report, counterfeits: Option<u64>, about: &About<'_>) {
    let About { number, mode, audit, repair, .. } = *about;
    let verdict = match audit.finds_leaks() {
        true => format!("published with allow-leak although of all versions together {}", audit.sentence()),
        false => "all versions so far together leave of everybody what the policy promises".to_string(),
    };
    report.summary.push(format!("This is version {number} of a series in the mode {}; {verdict}.", mode.name()));
    if let Some(counterfeits) = counterfeits {
        report.rows.input = report.rows.input.saturating_sub(counterfeits);
        let people = match counterfeits {
            0 => "No row of it is a counterfeit.".to_string(),
            1 => "1 row of it is a counterfeit, which stands for nobody.".to_string(),
            n => format!("{n} rows of it are counterfeits, which stand for nobody."),
        };
        report.summary.push(people);
    }
    let waiting = repair.map_or(0, |r| r.held_back);
    if waiting > 0 && report.audience == Audience::Owner {
        report.summary.push(match waiting {
            1 => "1 row is held back until it can join without exposing anybody.".to_string(),
            n => format!("{n} rows are held back until they can join without exposing anybody."),
        });
    }
    if let Some(method) = &mut report.method {
        let (id, title, definition, citation) = match mode {
            Mode::Maintain => (
                "maintain",
                "maintained classes",
                "The classes of the first table are kept valid as rows come and go: a new row joins the class that grows \
                 least, large classes split, and classes that are no longer valid are dissolved.",
                "Sun, Wang & Li, \u{2113}-diversity based dynamic update for large time-evolving microdata",
            ),
            Mode::MInvariant => (
                "m-invariant",
                "m-invariant classes",
                "Everybody is published with the same set of sensitive values in every version; counterfeits fill what \
                 is lacking.",
                "Xiao & Tao, m-invariance: towards privacy preserving re-publication of dynamic datasets, SIGMOD 2007",
            ),
        };
        let first = std::mem::replace(&mut method.algorithm, id.to_string());
        if mode == Mode::Maintain {
            method.notes.push(format!("the classes of the first version were found by {first}"));
            if repair.is_some() {
                let note = "classes that would have revealed something together with the versions before are published as \
                            they were in the last one; rows that came since have classes of their own";
                method.notes.push(note.into());
            }
        }
        (method.title, method.definition, method.citation) = (title.into(), definition.into(), citation.into());
    }
}

fn store(
    work: &Work<'_>,
    number: u64,
    batch: u64,
    state: &State,
    staged: &Staged,
    found: &SeriesAudit,
) -> rusqlite::Result<()> {
    work.transaction.execute(
        "INSERT INTO version (number, batch, rows, classes, counterfeits, placed, leaks)
         VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6)",
        params![
            number as i64,
            batch as i64,
            staged.rows as i64,
            staged.judged.class_count() as i64,
            staged.counterfeits as i64,
            found.finds_leaks()
        ],
    )?;
    undo::forget(work)?;
    replaced::forget(work)?;
    let mut sign = work.transaction.prepare("UPDATE person SET signature = ?2 WHERE id = ?1")?;
    for ((&person, signature), known) in state.persons.iter().zip(&staged.signatures).zip(&state.signatures) {
        if signature != known {
            sign.execute(params![person, pack(signature.iter().copied())])?;
        }
    }
    Ok(())
}

/// Counts everybody under the signature that they have from now on.
fn sign(work: &Work<'_>, sensitive: &[(usize, String)], state: &State, signatures: &[Vec<u32>]) -> Result<(), Failure> {
    let Some(cells) = sensitive.first().and_then(|(column, _)| state.cells.get(*column)) else { return Ok(()) };
    let mut signed = Signed::default();
    cells.iter().zip(signatures).for_each(|(&value, signature)| signed.count(signature, value, 1));
    signed.replace(work)
}

/// Where a version goes: nothing may be there yet.
fn free_place(folder: &Path, number: u64) -> Result<PathBuf, Failure> {
    let place = versions(folder).join(number.to_string());
    if place.symlink_metadata().is_ok() {
        return Err(Failure::Usage(format!(
            "{} is in the way, though version {number} was never published; move it elsewhere",
            place.display()
        )));
    }
    Ok(place)
}
