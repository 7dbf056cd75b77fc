//! What all versions of a series reveal together.

use std::collections::BTreeMap;

use amidst_core::attack::{Compact, Version, VersionClass};
use amidst_core::series::{Audit, audit_each};
use rusqlite::{OptionalExtension, params};
use serde_json::{Value, json};

use super::compose::Composed;
use super::domain::with_role;
use super::state::{State, kept};
use super::store::{Work, numbers, pack, unpack};
use super::{Series, promised};
use crate::Failure;
use crate::policy::{Policy, Role};

/// The audit of a series, column by column.
#[derive(Debug, Clone)]
pub struct SeriesAudit {
    /// The versions that were looked at.
    pub versions: u64,
    /// Each sensitive column.
    pub columns: Vec<ColumnAudit>,
}

/// The audit of one sensitive column.
#[derive(Debug, Clone)]
pub struct ColumnAudit {
    /// The column.
    pub column: String,
    /// The number of values that the policy promises for everybody.
    pub promised: usize,
    /// What was found.
    pub audit: Audit,
    /// The worst cases, with the values in words.
    pub worst: Vec<ColumnExposure>,
}

/// A person, by the number that only the private state links to a key, and what is known about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnExposure {
    /// The persons: one whose versions intersect, or a group that stands out between two versions.
    pub persons: Vec<u32>,
    /// The versions that tell; all of them when empty.
    pub versions: Vec<usize>,
    /// What is left: the values that are still possible.
    pub values: Vec<String>,
}

/// How many worst cases are told.
const WORST: usize = 10;

impl SeriesAudit {
    /// Whether the versions together reveal more than each of them.
    pub fn condemns(&self) -> bool {
        self.columns.iter().any(|c| c.audit.condemns())
    }

    /// In one sentence.
    pub fn sentence(&self) -> String {
        let parts: Vec<String> = (self.columns.iter().filter(|c| c.audit.condemns()))
            .map(|c| {
                let (a, column) = (&c.audit, &c.column);
                format!(
                    "`{column}`: {} persons are left with fewer than {} candidate values, {} have a value that follows \
                     from subtracting versions",
                    a.exposed,
                    c.promised.max(2),
                    a.certain
                )
            })
            .collect();
        if parts.is_empty() { "nothing".into() } else { parts.join("; ") }
    }

    /// What `amidst series audit --json` prints.
    pub fn to_json(&self) -> Value {
        let column = |c: &ColumnAudit| {
            let worst: Vec<Value> = (c.worst.iter())
                .map(|w| json!({ "persons": w.persons, "versions": w.versions, "values": w.values }))
                .collect();
            json!({
                "column": c.column, "promised": c.promised, "persons": c.audit.persons, "narrowed": c.audit.narrowed,
                "fewest_candidates": c.audit.fewest, "contradicted": c.audit.contradicted,
                "exposed": c.audit.exposed, "differences": c.audit.differences, "certain": c.audit.certain,
                "worst": worst,
            })
        };
        json!({
            "versions": self.versions, "leaks": self.condemns(),
            "columns": self.columns.iter().map(column).collect::<Vec<_>>(),
        })
    }
}

impl Series {
    /// Audits every version that was published.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn audit(&self) -> Result<SeriesAudit, Failure> {
        let work = self.store.read_whole()?;
        let columns = sensitive(&self.policy, &kept(&self.policy, &self.header));
        audit_of(&work, &self.policy, &columns, None)
    }

    /// What was published so far: for each sensitive column its name and every version, the oldest first.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn versions(&self) -> Result<Vec<(String, Vec<Version>)>, Failure> {
        let work = self.store.read_whole()?;
        let columns = sensitive(&self.policy, &kept(&self.policy, &self.header));
        let count = columns.len();
        Ok(columns.into_iter().map(|(_, name)| name).zip(load(&work, count)?).collect())
    }
}

/// The sensitive columns, with their position among the kept ones.
pub(super) fn sensitive(policy: &Policy, kept: &[String]) -> Vec<(usize, String)> {
    let positions = with_role(policy, kept, Role::Sensitive);
    positions.into_iter().map(|position| (position, kept[position].clone())).collect()
}

/// Audits what was published so far, and with it a version that is about to be, column by column. No more than two
/// versions are in memory at a time.
pub(super) fn audit_of(
    work: &Work<'_>,
    policy: &Policy,
    columns: &[(usize, String)],
    new: Option<&[Compact]>,
) -> Result<SeriesAudit, Failure> {
    let published = work.number("SELECT COALESCE(MAX(version), 0) FROM history")? as usize;
    let versions = published + usize::from(new.is_some());
    let mut audited = Vec::new();
    for (at, (position, name)) in columns.iter().enumerate() {
        let load = |number: usize| match new.and_then(|columns| columns.get(at)).filter(|_| number == published) {
            Some(new) => Ok(new.clone()),
            None => load_one(work, number as u64 + 1, at),
        };
        let promised = promised(policy, name);
        let audit = audit_each(versions, load, promised)?;
        let mut worst = Vec::new();
        for r in &audit.revealed {
            let values = words(work, *position, &[r.value])?;
            worst.push(ColumnExposure {
                persons: r.persons.clone(),
                versions: vec![r.earlier + 1, r.later + 1],
                values,
            });
        }
        for e in &audit.exposures {
            let values = words(work, *position, &e.candidates)?;
            worst.push(ColumnExposure { persons: vec![e.person], versions: Vec::new(), values });
        }
        worst.truncate(WORST);
        audited.push(ColumnAudit { column: name.clone(), promised, audit, worst });
    }
    Ok(SeriesAudit { versions: versions as u64, columns: audited })
}

/// The values of codes of the series.
fn words(work: &Work<'_>, position: usize, codes: &[u32]) -> Result<Vec<String>, Failure> {
    let read = || -> rusqlite::Result<Vec<String>> {
        let mut query = work.transaction.prepare("SELECT text FROM value WHERE col = ?1 AND code = ?2")?;
        let word = |code: &u32| query.query_row(params![position as i64, code], |row| row.get(0)).optional();
        codes.iter().map(word).map(|found| found.map(Option::unwrap_or_default)).collect()
    };
    read().map_err(|e| work.fail(e))
}

/// One version, by its number from 1, for one of the sensitive columns.
fn load_one(work: &Work<'_>, number: u64, column: usize) -> Result<Compact, Failure> {
    let mut version = Compact::default();
    let mut read = || -> rusqlite::Result<()> {
        let sql = "SELECT persons, counts FROM history WHERE version = ?1 ORDER BY class";
        let mut query = work.transaction.prepare(sql)?;
        let mut rows = query.query([number as i64])?;
        while let Some(row) = rows.next()? {
            let mut counts = numbers(row.get_ref(1)?.as_blob()?);
            for _ in 0..column {
                let pairs = counts.next().unwrap_or(0) as usize;
                counts.by_ref().take(2 * pairs).for_each(drop);
            }
            let pairs = counts.next().unwrap_or(0) as usize;
            let pair = |_| Some((counts.next()?, u64::from(counts.next()?)));
            version.push(numbers(row.get_ref(0)?.as_blob()?), (0..pairs).map_while(pair));
        }
        Ok(())
    };
    read().map_err(|e| work.fail(e))?;
    Ok(version)
}

/// What was published so far: for each sensitive column, every version.
pub(super) fn load(work: &Work<'_>, columns: usize) -> Result<Vec<Vec<Version>>, Failure> {
    let mut versions: Vec<Vec<Version>> = vec![Vec::new(); columns];
    let mut read = || -> rusqlite::Result<()> {
        let mut query =
            work.transaction.prepare("SELECT version, persons, counts FROM history ORDER BY version, class")?;
        let mut rows = query.query([])?;
        let mut current: Option<i64> = None;
        while let Some(row) = rows.next()? {
            let number: i64 = row.get(0)?;
            if current != Some(number) {
                current = Some(number);
                versions.iter_mut().for_each(|v| v.push(Version::default()));
            }
            let persons = unpack(row.get_ref(1)?.as_blob()?);
            let counts = unpack(row.get_ref(2)?.as_blob()?);
            let mut rest = &counts[..];
            for column in &mut versions {
                let pairs;
                (pairs, rest) = take(rest);
                let histogram = pairs.chunks_exact(2).map(|p| (p[0], u64::from(p[1]))).collect();
                if let Some(version) = column.last_mut() {
                    version.classes.push(VersionClass { persons: persons.clone(), histogram });
                }
            }
        }
        Ok(())
    };
    read().map_err(|e| work.fail(e))?;
    Ok(versions)
}

/// The pairs that a leading count announces, and what follows them.
fn take(numbers: &[u32]) -> (&[u32], &[u32]) {
    match numbers.split_first() {
        Some((&pairs, rest)) => rest.split_at((pairs as usize * 2).min(rest.len())),
        None => (&[], &[]),
    }
}

/// A composed version as the audit sees it: for each sensitive column its classes, in the codes of the series.
pub(super) fn version_of(state: &State, composed: &Composed) -> Vec<Compact> {
    let set = &composed.prepared.set;
    let classes = composed.recoding.classes.len();
    let mut persons: Vec<Vec<u32>> = vec![Vec::new(); classes];
    for (&person, &class) in state.persons.iter().zip(&composed.class_of) {
        persons[class as usize].push(person);
    }
    let column = |(c, domain): (usize, &amidst_core::class::SensitiveDomain)| {
        let position = state.names.iter().position(|n| *n == domain.name).unwrap_or(0);
        let code = |value: u32| state.values[position].code(domain.dictionary.value(value)).unwrap_or(u32::MAX);
        let codes: Vec<u32> = (0..domain.dictionary.len() as u32).map(code).collect();
        let mut counts: Vec<BTreeMap<u32, u64>> = vec![BTreeMap::new(); classes];
        for (&entry, &class) in composed.prepared.entry_of_row.iter().zip(&composed.class_of) {
            let value = set.sensitive_code(set.groups.entries[entry as usize].sensitive, c);
            *counts[class as usize].entry(codes[value as usize]).or_insert(0) += 1;
        }
        let mut version = Compact::default();
        persons.iter().zip(counts).for_each(|(persons, counts)| version.push(persons.iter().copied(), counts));
        version
    };
    composed.prepared.domains.iter().enumerate().map(column).collect()
}

/// Writes a version down, for later audits.
pub(super) fn store(work: &Work<'_>, number: u64, columns: &[Compact]) -> rusqlite::Result<()> {
    let mut insert =
        work.transaction.prepare("INSERT INTO history (version, class, persons, counts) VALUES (?1, ?2, ?3, ?4)")?;
    let Some(first) = columns.first() else { return Ok(()) };
    for class in 0..first.len() {
        let mut counts = Vec::new();
        for version in columns {
            let histogram = version.counts(class);
            counts.push(histogram.len() as u32);
            counts.extend(histogram.iter().flat_map(|&(code, n)| [code, u32::try_from(n).unwrap_or(u32::MAX)]));
        }
        insert.execute(params![
            number as i64,
            class as i64,
            pack(first.persons(class).iter().copied()),
            pack(counts)
        ])?;
    }
    Ok(())
}
