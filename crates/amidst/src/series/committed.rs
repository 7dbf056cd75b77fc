//! The commitment of a version to the rows that it publishes, and what opens single rows of it later.
//!
//! The scheme is that of a release ([`crate::commit`]); the rows are those of the persons in the version, without
//! counterfeits and without rows that are held back, and the key comes first. A release opens rows with the table of
//! that day. The table of a series changes, and the rows of who leaves are erased, so a version keeps the digest of
//! every leaf, from which the tree is made again, and a random salt for each: no secret from which salts follow, since
//! with one who guesses could try out the erased rows. Once a version is published without a row, or with another in
//! its place, the salt of that row is erased from all versions before, as the row is.
//!
//! The file: [`MAGIC`], then for each leaf the person (four bytes, the lowest first), the salt and the digest. A salt
//! of zeros is erased. Erasing writes zeros in place, so that a run that is cut short erases less and damages nothing.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use amidst_check::{Certificate, Commitment, OpenedRow};
use bytes::Bytes;
use rusqlite::OptionalExtension;
use rustc_hash::FxHashMap;

use super::compose::prepare;
use super::draft::SeriesHead;
use super::state::{NOBODY, Person, State, kept};
use super::stated::key_of;
use super::store::Work;
use super::{Series, internal};
use crate::Failure;
use crate::checker_input::labels;
use crate::commit::{Block, Digests, encoded, hex, leaf, random};
use crate::folder::CERTIFICATE;
use crate::job::Job;
use crate::open::{OpenedRows, disclosed, no_such_key, uncommitted};
use crate::policy::Policy;

/// The file with the leaves, in the internal part of a version.
pub(super) const LEAVES: &str = "leaves.bin";

/// What the file begins with.
const MAGIC: &[u8] = b"amidst leaves 1\n";

/// The bytes of a leaf in the file, and where its salt begins.
const WIDTH: usize = SALT + 64;
const SALT: usize = 4;

const ERASED: Block = [0; 32];

struct Leaf {
    person: Person,
    salt: Block,
    digest: Block,
}

/// The leaves of a version.
pub(super) struct Committed {
    names: Vec<String>,
    leaves: Vec<Leaf>,
    digests: Digests,
}

impl Committed {
    /// Commits to the rows of a version, in an order that is drawn, where that is `wanted`.
    pub fn to(work: &Work<'_>, policy: &Policy, state: &State, wanted: bool) -> Result<Option<Committed>, Failure> {
        if !wanted {
            return Ok(None);
        }
        let key = key_of(policy)?;
        let texts = Texts::load(work, state)?;
        let mut drawn: Vec<(Block, Block, usize)> = Vec::with_capacity(state.rows());
        for row in (0..state.rows()).filter(|&row| state.persons[row] != NOBODY) {
            let (mut place, mut salt) = (Block::default(), Block::default());
            random(&mut place)?;
            random(&mut salt)?;
            drawn.push((place, salt, row));
        }
        drawn.sort_unstable();
        let leaf = |(index, (_, salt, row)): (usize, (Block, Block, usize))| Leaf {
            person: state.persons[row],
            salt,
            digest: leaf(&salt, index as u64, &encoded(texts.cells(row))),
        };
        let leaves: Vec<Leaf> = drawn.into_iter().enumerate().map(leaf).collect();
        let names = [key.to_string()].into_iter().chain(state.names.iter().cloned()).collect();
        Ok(Some(Committed { names, digests: over(&leaves), leaves }))
    }

    /// What the certificate says.
    pub fn commitment(&self) -> Commitment {
        self.digests.commitment(&self.names)
    }

    /// The content of the file.
    pub fn to_bytes(&self) -> Bytes {
        let mut bytes = MAGIC.to_vec();
        for leaf in &self.leaves {
            bytes.extend(leaf.person.to_le_bytes());
            bytes.extend(leaf.salt);
            bytes.extend(leaf.digest);
        }
        bytes.into()
    }
}

fn over(leaves: &[Leaf]) -> Digests {
    Digests::over(leaves.iter().map(|leaf| leaf.digest).collect())
}

/// The leaves in a file; none where there is no file.
fn read(path: &Path) -> Result<Option<Vec<Leaf>>, Failure> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Failure::Io(format!("cannot read {}: {e}", path.display()))),
    };
    let leaves = bytes.strip_prefix(MAGIC).filter(|rest| rest.len() % WIDTH == 0);
    let leaves = leaves.ok_or_else(|| Failure::Usage(format!("{} is damaged", path.display())))?;
    let block = |bytes: &[u8]| Block::try_from(bytes).unwrap_or(ERASED);
    let leaf = |bytes: &[u8]| Leaf {
        person: Person::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        salt: block(&bytes[SALT..SALT + 32]),
        digest: block(&bytes[SALT + 32..]),
    };
    Ok(Some(leaves.chunks_exact(WIDTH).map(leaf).collect()))
}

/// The rows of a state as texts, each behind the key of its person.
struct Texts<'a> {
    state: &'a State,
    keys: FxHashMap<Person, String>,
    row_of: FxHashMap<Person, usize>,
}

impl<'a> Texts<'a> {
    fn load(work: &Work<'_>, state: &'a State) -> Result<Self, Failure> {
        let read = || -> rusqlite::Result<FxHashMap<Person, String>> {
            let mut query = work.transaction.prepare("SELECT id, key FROM person")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        let keys = read().map_err(|e| work.fail(e))?;
        let row_of = state.persons.iter().enumerate().map(|(row, &person)| (person, row)).collect();
        Ok(Texts { state, keys, row_of })
    }

    fn cells(&self, row: usize) -> impl Iterator<Item = &str> {
        let State { values, cells, persons, .. } = self.state;
        let key = self.keys.get(&persons[row]).map(String::as_str).unwrap_or_default();
        [key].into_iter().chain(values.iter().zip(cells).map(move |(values, cells)| values.value(cells[row])))
    }

    /// The row that a leaf is the digest of, if the table still has it.
    fn row(&self, index: usize, committed: &Leaf) -> Option<usize> {
        let row = self.row_of.get(&committed.person).copied().filter(|_| committed.salt != ERASED)?;
        let digest = leaf(&committed.salt, index as u64, &encoded(self.cells(row)));
        (digest == committed.digest).then_some(row)
    }
}

impl Series {
    /// Whether versions that are published from now on commit to their rows, so that the owner can open single ones
    /// ([`Series::open_rows`]). The root in the certificate is drawn anew each time.
    pub fn commit_to_rows(&mut self, commit: bool) {
        self.commit = commit;
    }

    /// Opens rows of a version by the keys of their persons, for an auditor who holds the version.
    ///
    /// # Errors
    /// When the version has no commitment, or does not publish one of the persons; when the row of one is not in the
    /// table any more as it was published.
    pub fn open_rows(&self, version: u64, keys: &[String], job: &Job<'_>) -> Result<OpenedRows, Failure> {
        let usage = |what: String| Failure::Usage(what);
        if keys.is_empty() {
            return Err(usage("say which rows of the version to open, by their keys".to_string()));
        }
        let public = self.version_folder(version);
        let certificate = Certificate::read(&public.join(CERTIFICATE)).map_err(|p| usage(p.to_string()))?;
        let commitment = certificate.commitment.as_ref().ok_or_else(|| uncommitted(&public))?;
        let path = self.leaves_of(version);
        let leaves = read(&path)?;
        let leaves = leaves.ok_or_else(|| usage(format!("there is no {}, which opens rows", path.display())))?;
        let digests = over(&leaves);
        if digests.commitment(&commitment.columns) != *commitment {
            return Err(usage(format!("{} is damaged, or belongs to another version", path.display())));
        }
        let work = self.store.read()?;
        let state = State::load(&work, kept(&self.policy, &self.header))?;
        let texts = Texts::load(&work, &state)?;
        let at_leaf: FxHashMap<Person, usize> = leaves.iter().map(|leaf| leaf.person).zip(0..).collect();
        let mut chosen = BTreeSet::new();
        for (at, key) in keys.iter().enumerate() {
            let person: Option<Person> = (work.transaction)
                .query_row("SELECT id FROM person WHERE key = ?1", [key], |row| row.get(0))
                .optional()
                .map_err(|e| work.fail(e))?;
            let person = person.ok_or_else(|| no_such_key(at))?;
            let number = at + 1;
            let absent = || usage(format!("version {version} does not hold who has the key given as number {number}"));
            let index = *at_leaf.get(&person).ok_or_else(absent)?;
            let gone = || {
                usage(format!(
                    "the row with the key given as number {number} is not in the table any more as version {version} \
                     holds it, so it cannot be opened"
                ))
            };
            chosen.insert((index, texts.row(index, &leaves[index]).ok_or_else(gone)?));
        }
        let row = |(index, row): (usize, usize)| OpenedRow {
            leaf: index as u64,
            salt: hex(&leaves[index].salt),
            cells: texts.cells(row).map(String::from).collect(),
            labels: Default::default(),
            path: digests.path(index),
        };
        let rows = chosen.into_iter().map(row).collect();
        let prepared = prepare(&self.policy, self.mode, &state, job)?;
        disclosed(&public, &certificate, &labels::of_columns(&prepared.generalizations), rows)
    }

    fn leaves_of(&self, version: u64) -> PathBuf {
        internal(&self.folder, version).join(LEAVES)
    }

    /// Erases what opens rows that the table has no more, from all versions before `published`, which was the last.
    pub(super) fn forget_leaves(&self, published: u64) -> Result<(), Failure> {
        self.forget_all_leaves().map_err(|failure| {
            Failure::Io(format!(
                "version {published} is published; but what opens rows that left could not be erased, which the next \
                 publication does: {failure}"
            ))
        })
    }

    /// Batches that no version holds can be taken back, so as long as there are any nothing is erased.
    fn forget_all_leaves(&self) -> Result<(), Failure> {
        let work = self.store.read()?;
        let head = SeriesHead::load(&work)?;
        let paths: Vec<PathBuf> =
            (1..head.version).map(|version| self.leaves_of(version)).filter(|path| path.exists()).collect();
        if head.changed() || paths.is_empty() {
            return Ok(());
        }
        let state = State::load(&work, kept(&self.policy, &self.header))?;
        let texts = Texts::load(&work, &state)?;
        for path in paths {
            let leaves = read(&path)?.unwrap_or_default();
            let gone = |&index: &usize| leaves[index].salt != ERASED && texts.row(index, &leaves[index]).is_none();
            let gone: Vec<usize> = (0..leaves.len()).filter(gone).collect();
            erase(&path, &gone).map_err(|e| Failure::Io(format!("cannot write {}: {e}", path.display())))?;
        }
        Ok(())
    }
}

/// Overwrites the salts of leaves.
fn erase(path: &Path, leaves: &[usize]) -> io::Result<()> {
    if leaves.is_empty() {
        return Ok(());
    }
    let mut file = fs::OpenOptions::new().write(true).open(path)?;
    for &index in leaves {
        file.seek(SeekFrom::Start((MAGIC.len() + index * WIDTH + SALT) as u64))?;
        file.write_all(&ERASED)?;
    }
    file.sync_all()
}
