//! The classes as the database keeps them between batches: in pages of neighbours, each class with its shape and its
//! counts, so that a batch need not look at the rows of classes that it does not take apart.
//!
//! All of it follows from the rows. Where it is missing (a state from an older Amidst) or out of date (hierarchies that
//! grew with their values), it is made anew from them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use amidst_core::ids::SensitiveId;
use amidst_core::internal::local::shape::Space;
use amidst_core::internal::series::{KeptClass, Loader, MaintainedClasses, RowSource, Rows, StableIds};
use amidst_core::search::Search;
use amidst_core::table::ValueType;
use rusqlite::{OptionalExtension, Statement, params};
use rustc_hash::FxHashMap;

use super::domain::{Bound, Domain};
use super::packed::unpack;
use super::state::Person;
use super::store::Work;
use crate::Failure;
use crate::job::Job;
use crate::policy::Policy;
use crate::prepare::meaning::Meaning;

/// Counts values and sensitive tuples from the rows, if that has not been done yet.
pub fn count_all(work: &Work<'_>, policy: &Policy, names: &[String]) -> Result<(), Failure> {
    if work.meta("counted")?.is_some() {
        return Ok(());
    }
    let mut domain = Domain::load(work, policy, names)?;
    let mut count = || -> rusqlite::Result<()> {
        let mut query = work.transaction.prepare("SELECT cells FROM record")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let cells = unpack(row.get_ref(0)?.as_blob()?);
            if cells.len() >= names.len() {
                // The texts are in the database already.
                domain.count(&cells, 1, |_| String::new());
            }
        }
        Ok(())
    };
    count().map_err(|e| work.fail(e))?;
    domain.store(work)?;
    work.set_meta("counted", "1")
}

/// The classes, from their pages, or from the rows where the pages do not serve.
pub fn load<'a>(
    work: &Work<'_>,
    search: &Search<'a>,
    domain: &Domain,
    bound: &Bound,
) -> Result<MaintainedClasses<'a>, Failure> {
    let next = work.number("SELECT COALESCE(MAX(class), -1) + 1 FROM record")?;
    let next = work.meta("next_class")?.and_then(|n| n.parse().ok()).unwrap_or(0).max(next as u32);
    if work.meta("heights")?.as_deref() == Some(bound.heights().as_str())
        && let Some(maintained) = kept(work, search, bound, next)?
    {
        return Ok(maintained);
    }
    let space = Space::new(search.generalizations);
    let classes = from_rows(work, &space, domain, bound)?;
    work.transaction.execute("DELETE FROM page", []).map_err(|e| work.fail(e))?;
    Ok(MaintainedClasses::of_classes(search, classes, next)?)
}

/// The classes from their pages; `None` when these do not fit.
fn kept<'a>(
    work: &Work<'_>,
    search: &Search<'a>,
    bound: &Bound,
    next: u32,
) -> Result<Option<MaintainedClasses<'a>>, Failure> {
    let mut loader = Loader::new(search)?;
    let mut read = || -> rusqlite::Result<Option<Vec<u8>>> {
        let mut query = work.transaction.prepare("SELECT number, classes FROM page")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            if !loader.page(row.get(0)?, row.get_ref(1)?.as_blob()?, bound) {
                return Ok(None);
            }
        }
        let tree = work.transaction.query_row("SELECT leaves FROM tree", [], |row| row.get(0)).optional()?;
        Ok(Some(tree.unwrap_or_default()))
    };
    let tree = read().map_err(|e| work.fail(e))?;
    Ok(tree.map(|tree| loader.finish(&tree, next)))
}

/// The classes as the rows have them.
fn from_rows(work: &Work<'_>, space: &Space, domain: &Domain, bound: &Bound) -> Result<Vec<KeptClass>, Failure> {
    let mut classes: Vec<KeptClass> = Vec::new();
    let mut read = || -> rusqlite::Result<bool> {
        let mut query = work.transaction.prepare("SELECT class, cells FROM record ORDER BY class, person")?;
        let mut rows = query.query([])?;
        let mut counts: BTreeMap<SensitiveId, u64> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let id: u32 = row.get(0)?;
            // Rows whose sensitive tuple is no longer known are about to leave; their class is made anew then.
            let cells = unpack(row.get_ref(1)?.as_blob()?);
            let quasi = domain.quasi.iter().enumerate().map(|(q, &c)| bound.code(q, cells.get(c).copied()?));
            let Some(codes) = quasi.collect::<Option<Vec<u32>>>() else { return Ok(false) };
            match classes.last_mut().filter(|c| c.id == id) {
                Some(class) => {
                    space.add(&mut class.shape, &codes);
                    class.rows += 1;
                }
                None => {
                    if let Some(last) = classes.last_mut() {
                        last.counts = std::mem::take(&mut counts).into_iter().collect();
                    }
                    let mut shape = space.empty();
                    space.start(&mut shape, &codes);
                    classes.push(KeptClass { id, rows: 1, shape, counts: Vec::new() });
                }
            }
            if let Some(sensitive) = domain.sensitive_name(&cells).and_then(|name| bound.sensitive(name)) {
                *counts.entry(sensitive).or_insert(0) += 1;
            }
        }
        if let Some(last) = classes.last_mut() {
            last.counts = counts.into_iter().collect();
        }
        Ok(true)
    };
    match read().map_err(|e| work.fail(e))? {
        true => Ok(classes),
        false => Err(work.damaged("a row does not fit its columns")),
    }
}

/// Writes down the pages that have changed, and which class every row is in whose class has changed.
pub fn store(work: &Work<'_>, maintained: &MaintainedClasses<'_>, bound: &Bound) -> Result<(), Failure> {
    let store = || -> rusqlite::Result<()> {
        let mut put = work.transaction.prepare("INSERT OR REPLACE INTO page (number, classes) VALUES (?1, ?2)")?;
        let mut clear = work.transaction.prepare("DELETE FROM page WHERE number = ?1")?;
        for (number, classes) in maintained.changed_pages(bound) {
            if classes.is_empty() {
                clear.execute([number])?;
            } else {
                put.execute(params![number, classes])?;
            }
        }
        if let Some(leaves) = maintained.changed_tree() {
            work.transaction.execute("INSERT OR REPLACE INTO tree (root, leaves) VALUES (0, ?1)", [leaves])?;
        }
        Ok(())
    };
    store().map_err(|e| work.fail(e))?;
    work.set_meta("next_class", &maintained.next_id().to_string())?;
    work.set_meta("heights", &bound.heights())
}

/// Makes counts and pages from the rows, so that the first batch finds them.
pub fn begin(work: &Work<'_>, policy: &Policy, names: &[String], job: &Job<'_>) -> Result<(), Failure> {
    count_all(work, policy, names)?;
    let domain = Domain::load(work, policy, names)?;
    let bound = Bound::new(policy, names, &domain, job)?;
    let search = crate::plan::task(policy, &bound.prepared, &job.quiet())?;
    let maintained = load(work, &search, &domain, &bound)?;
    store(work, &maintained, &bound)
}

/// Whether what is kept of the classes is what the rows say.
#[cfg(test)]
pub fn agrees(work: &Work<'_>, policy: &Policy, names: &[String]) -> bool {
    let domain = Domain::load(work, policy, names).unwrap();
    let bound = Bound::new(policy, names, &domain, &Job::default()).unwrap();
    let space = Space::new(&bound.prepared.generalizations);
    let search = crate::plan::task(policy, &bound.prepared, &Job::default()).unwrap();
    let maintained = kept(work, &search, &bound, 0).unwrap().unwrap();
    // The tree that was kept is the one that was used, unless it had grown too deep.
    let tree: Vec<u8> = work.transaction.query_row("SELECT leaves FROM tree", [], |row| row.get(0)).unwrap();
    assert_eq!(maintained.changed_tree().is_none(), !tree.is_empty());
    let mut kept = maintained.kept();
    let mut counted = from_rows(work, &space, &domain, &bound).unwrap();
    // Where only sizes matter nothing else is counted.
    let sizes_only = policy.requirements.iter().all(|r| r.model.id == "k-anonymity");
    for class in kept.iter_mut().chain(&mut counted) {
        class.shape = space.canonical(&class.shape);
        class.counts.retain(|_| !sizes_only);
    }
    let rows = work.number("SELECT COUNT(*) FROM record").unwrap();
    kept == counted && bound.prepared.set.rows == rows && work.meta("heights").unwrap() == Some(bound.heights())
}

/// The rows of classes, from the database, without those that leave.
pub struct SqlRows<'w, 's> {
    work: &'w Work<'s>,
    domain: &'w Domain,
    bound: &'w Bound,
    gone: &'w BTreeSet<Person>,
    query: Statement<'w>,
}

impl<'w, 's> SqlRows<'w, 's> {
    /// The rows of `work`, in the codes of `bound`.
    pub fn new(
        work: &'w Work<'s>,
        domain: &'w Domain,
        bound: &'w Bound,
        gone: &'w BTreeSet<Person>,
    ) -> Result<Self, Failure> {
        let sql = "SELECT person, cells FROM record WHERE class = ?1 ORDER BY person";
        let query = work.transaction.prepare(sql).map_err(|e| work.fail(e))?;
        Ok(SqlRows { work, domain, bound, gone, query })
    }
}

impl RowSource for SqlRows<'_, '_> {
    type Error = Failure;

    fn members(&mut self, class: u32, rows: &mut Rows) -> Result<Vec<u32>, Failure> {
        let mut members = Vec::new();
        let mut read = || -> rusqlite::Result<bool> {
            let mut found = self.query.query([class])?;
            while let Some(row) = found.next()? {
                let person: Person = row.get(0)?;
                if self.gone.contains(&person) {
                    continue;
                }
                let cells = unpack(row.get_ref(1)?.as_blob()?);
                let Some((codes, sensitive)) = self.bound.row(self.domain, &cells) else { return Ok(false) };
                members.push(rows.push(person, &codes, sensitive));
            }
            Ok(true)
        };
        match read().map_err(|e| self.work.fail(e))? {
            true => Ok(members),
            false => Err(self.work.damaged("a row does not fit its columns")),
        }
    }
}

/// Finds the codes of values, column by column, and gives new ones to values that are new.
pub struct Interner<'w, 's> {
    work: &'w Work<'s>,
    known: BTreeMap<(usize, String), u32>,
    next: BTreeMap<usize, u32>,
    /// By column, the codes of the values that can be written in several ways, once one was looked for.
    meant: BTreeMap<usize, FxHashMap<Meaning, u32>>,
    policy: &'w Policy,
    names: &'w [String],
    find: Statement<'w>,
    add: Statement<'w>,
}

impl<'w, 's> Interner<'w, 's> {
    /// The values of `work`.
    pub fn new(work: &'w Work<'s>, policy: &'w Policy, names: &'w [String]) -> Result<Self, Failure> {
        let prepare = |sql| work.transaction.prepare(sql).map_err(|e| work.fail(e));
        let find = prepare("SELECT code FROM value WHERE col = ?1 AND text = ?2")?;
        let add = prepare("INSERT INTO value (col, code, text) VALUES (?1, ?2, ?3)")?;
        let (known, next, meant) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Ok(Interner { work, known, next, meant, policy, names, find, add })
    }

    /// The code of a value; a quasi or sensitive value that the series has under another text, such as 3000.0 for 3000,
    /// is that value.
    pub fn code(&mut self, column: usize, text: &str, kind: ValueType) -> Result<u32, Failure> {
        let key = (column, text.to_string());
        if let Some(&code) = self.known.get(&key) {
            return Ok(code);
        }
        let code = self.look_up(column, text, kind).map_err(|e| self.work.fail(e))?;
        self.known.insert(key, code);
        Ok(code)
    }

    fn look_up(&mut self, column: usize, text: &str, kind: ValueType) -> rusqlite::Result<u32> {
        if let Some(code) = self.find.query_row(params![column as i64, text], |row| row.get(0)).optional()? {
            return Ok(code);
        }
        let meaning = self.meaning(column, kind, text);
        if let Some(meaning) = meaning
            && let Some(&code) = self.meant(column, kind)?.get(&meaning)
        {
            return Ok(code);
        }
        let code = match self.next.get(&column) {
            Some(&next) => next,
            None => {
                let sql = "SELECT COALESCE(MAX(code), -1) + 1 FROM value WHERE col = ?1";
                self.work.transaction.query_row(sql, [column as i64], |row| row.get(0))?
            }
        };
        self.next.insert(column, code + 1);
        self.add.execute(params![column as i64, code, text])?;
        if let (Some(meaning), Some(meant)) = (meaning, self.meant.get_mut(&column)) {
            meant.insert(meaning, code);
        }
        Ok(code)
    }

    fn meaning(&self, column: usize, kind: ValueType, text: &str) -> Option<Meaning> {
        let stated = self.policy.column(self.names.get(column)?)?;
        Meaning::of(self.policy, stated, kind, text)
    }

    fn meant(&mut self, column: usize, kind: ValueType) -> rusqlite::Result<&FxHashMap<Meaning, u32>> {
        let meant = match self.meant.entry(column) {
            Entry::Occupied(known) => return Ok(known.into_mut()),
            Entry::Vacant(unknown) => unknown.insert(FxHashMap::default()),
        };
        let Some(stated) = self.names.get(column).and_then(|name| self.policy.column(name)) else { return Ok(meant) };
        let mut query = self.work.transaction.prepare("SELECT code, text FROM value WHERE col = ?1 ORDER BY code")?;
        let mut rows = query.query([column as i64])?;
        while let Some(row) = rows.next()? {
            if let Some(meaning) = Meaning::of(self.policy, stated, kind, row.get_ref(1)?.as_str()?) {
                meant.entry(meaning).or_insert(row.get(0)?);
            }
        }
        Ok(meant)
    }
}
