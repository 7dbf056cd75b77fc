//! What was published, as the state keeps it and the audit sees it: who was in which class of each version, and which
//! sensitive values the class has.
//!
//! Sensitive columns are published side by side, so values are tuples of all of them: audited one by one, columns would
//! tell less than they do together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use amidst_core::frequency::FrequencySet;
use amidst_core::table::{Codes, Column, Dictionary, Table};
use amidst_core::worlds::{Compact, History, Version, VersionClass};
use rusqlite::params;

use super::compose::Composed;
use super::domain::with_role;
use super::state::State;
use super::store::{Work, numbers, pack, unpack};
use crate::Failure;
use crate::policy::{Policy, Role};
use crate::prepare::{LoadOptions, Prepared};

/// One version, published or about to be.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// The sensitive tuples, in the codes of the series.
    tuples: Vec<Vec<u32>>,
    /// The classes, with the numbers of the tuples as values.
    classes: Compact,
}

impl Record {
    /// A composed version. Where classes are told `apart`, the groups that were composed count, also where their cells
    /// agree so that they are published as one class: an adversary who could tell them apart knows more.
    pub fn of(state: &State, composed: &Composed, apart: bool) -> Record {
        let set = &composed.prepared.set;
        let columns: Vec<Vec<u32>> = (composed.prepared.domains.iter())
            .map(|domain| {
                let position = state.names.iter().position(|n| *n == domain.name).unwrap_or(0);
                let code = |value: &str| state.values[position].code(value).unwrap_or(u32::MAX);
                domain.dictionary.iter().map(code).collect()
            })
            .collect();
        let width = set.sensitive_width.max(1);
        let tuple = |t: &[u32]| t.iter().zip(&columns).map(|(&code, codes)| codes[code as usize]).collect();
        let mut tuples: Vec<Vec<u32>> = set.sensitive.chunks_exact(width).map(tuple).collect();
        if columns.is_empty() {
            tuples.push(Vec::new());
        }
        let class_of = if apart { &composed.groups } else { &composed.class_of };
        let classes = class_of.iter().max().map_or(0, |&c| c as usize + 1);
        let mut persons: Vec<Vec<u32>> = vec![Vec::new(); classes];
        state.persons.iter().zip(class_of).for_each(|(&person, &class)| persons[class as usize].push(person));
        let mut counts: Vec<Vec<(u32, u64)>> = vec![Vec::new(); classes];
        for (&entry, &class) in composed.prepared.entry_of_row.iter().zip(class_of) {
            counts[class as usize].push((set.groups.entries[entry as usize].sensitive, 1));
        }
        let mut made = Compact::default();
        persons.into_iter().zip(counts).for_each(|(persons, counts)| made.push(persons, counts));
        Record { tuples, classes: made }
    }

    /// Writes a version down, for later audits.
    pub fn store(&self, work: &Work<'_>, number: u64) -> rusqlite::Result<()> {
        let mut insert = work
            .transaction
            .prepare("INSERT INTO history (version, class, persons, counts, tuples) VALUES (?1, ?2, ?3, ?4, ?5)")?;
        let width = self.tuples.first().map_or(0, Vec::len);
        for class in 0..self.classes.len() {
            let held = self.classes.counts(class);
            let mut counts = Vec::new();
            for column in 0..width {
                let mut of: BTreeMap<u32, u64> = BTreeMap::new();
                held.iter().for_each(|&(t, n)| *of.entry(self.tuples[t as usize][column]).or_insert(0) += n);
                counts.push(of.len() as u32);
                counts.extend(of.into_iter().flat_map(|(code, n)| [code, short(n)]));
            }
            // With one column the counts say it all.
            let tuple = |&(t, n): &(u32, u64)| self.tuples[t as usize].iter().copied().chain([short(n)]);
            let tuples = (width > 1).then(|| pack(held.iter().flat_map(tuple)));
            let persons = pack(self.classes.persons(class).iter().copied());
            insert.execute(params![number as i64, class as i64, persons, pack(counts), tuples])?;
        }
        Ok(())
    }
}

fn short(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// All that was published so far, and the values it speaks of, as the policy knows them.
#[derive(Debug)]
pub struct Known {
    /// The requirements, on every value that there ever was.
    pub prepared: Prepared,
    /// The sensitive tuples; their numbers are the values of the history.
    pub set: FrequencySet,
    numbers: BTreeMap<Vec<u32>, u32>,
    /// Whose values were changed by which batches.
    changed: BTreeMap<u32, Vec<u64>>,
    /// The versions.
    pub history: History,
}

/// Lives after the first are numbered from the top down: person and life, in the order of both.
const LIVES: u32 = u32::MAX - 1;

impl Known {
    /// What the state knows.
    pub fn load(work: &Work<'_>, policy: &Policy, names: &[String], cancel: &AtomicBool) -> Result<Known, Failure> {
        let values = values(work)?;
        let prepared = prepare(policy, names, &values, cancel)?;
        let sensitive = with_role(policy, names, Role::Sensitive);
        // The code of a value in the order of the policy, by its code in the series.
        let mut codes: Vec<BTreeMap<u32, u32>> = Vec::new();
        for &column in &sensitive {
            let domain = prepared.domains.iter().find(|d| d.name == names[column]);
            let of = |(&(c, code), text): (&(usize, u32), &String)| match domain {
                Some(domain) if c == column => Some((code, domain.dictionary.code(text)?)),
                _ => None,
            };
            codes.push(values.iter().filter_map(of).collect());
        }
        let mut tuples: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
        let mut add = |series: Vec<u32>| {
            let here =
                series.iter().zip(&codes).map(|(code, codes)| codes.get(code).copied()).collect::<Option<Vec<u32>>>();
            if let Some(here) = here {
                tuples.insert(here, series);
            }
        };
        match codes.len() {
            1 => codes[0].keys().for_each(|&code| add(vec![code])),
            _ => tuples_of(work, &sensitive)?.into_iter().for_each(&mut add),
        }
        let set = FrequencySet {
            sensitive_width: sensitive.len(),
            sensitive_domains: prepared.domains.iter().map(|d| d.dictionary.len()).collect(),
            sensitive: tuples.keys().flatten().copied().collect(),
            ..FrequencySet::default()
        };
        let numbers = tuples.into_values().zip(0u32..).collect();
        let changed = changed(work)?;
        let mut known = Known { prepared, set, numbers, changed, history: History::default() };
        let published = work.number("SELECT COALESCE(MAX(version), 0) FROM history")?;
        for number in 1..=published {
            let version = known.version(work, number)?;
            known.history.see(&version);
        }
        Ok(known)
    }

    /// Somebody in a version that was made after some batch: themselves, or another life of theirs since their values
    /// changed.
    fn life(&self, person: u32, batch: u64) -> u32 {
        let lives = self.changed.get(&person).map_or(0, |batches| batches.partition_point(|&b| b <= batch));
        if lives == 0 {
            return person;
        }
        let before: usize = self.changed.range(..person).map(|(_, batches)| batches.len()).sum();
        LIVES - (before + lives - 1) as u32
    }

    /// Somebody after some batch.
    pub fn then(&self, person: u32, batch: u64) -> u32 {
        self.life(person, batch)
    }

    /// Somebody after all batches.
    pub fn now(&self, person: u32) -> u32 {
        self.life(person, u64::MAX)
    }

    /// Everybody in some classes that were published after some batch.
    pub fn lives(&self, classes: &[PastClass], batch: u64) -> BTreeSet<u32> {
        classes.iter().flat_map(|c| &c.persons).map(|&person| self.life(person, batch)).collect()
    }

    /// Everybody who is in the table now.
    pub fn present(&self, work: &Work<'_>) -> Result<BTreeSet<u32>, Failure> {
        let read = || -> rusqlite::Result<BTreeSet<u32>> {
            let mut query = work.transaction.prepare("SELECT person FROM record")?;
            query.query_map([], |row| Ok(self.now(row.get(0)?)))?.collect()
        };
        read().map_err(|e| work.fail(e))
    }

    /// The number of sensitive columns.
    pub fn width(&self) -> usize {
        self.set.sensitive_width
    }

    /// Whose life it is.
    pub fn person(&self, life: u32) -> u32 {
        let mut at = (LIVES - life.min(LIVES)) as usize;
        for (&person, batches) in &self.changed {
            match at.checked_sub(batches.len()) {
                Some(rest) => at = rest,
                None => return person,
            }
        }
        life
    }

    fn number(&self, tuple: &[u32]) -> Result<u32, Failure> {
        let damaged = || Failure::Io("the state of the series is damaged: a published value has no code".into());
        self.numbers.get(tuple).copied().ok_or_else(damaged)
    }

    /// A published version, by its number from 1.
    fn version(&self, work: &Work<'_>, number: u64) -> Result<Compact, Failure> {
        let width = self.set.sensitive_width;
        let batch = work.number(&format!("SELECT COALESCE(MAX(batch), 0) FROM version WHERE number = {number}"))?;
        let mut version = Compact::default();
        let mut failed = None;
        let mut read = || -> rusqlite::Result<()> {
            let sql = "SELECT persons, counts, tuples FROM history WHERE version = ?1 ORDER BY class";
            let mut query = work.transaction.prepare(sql)?;
            let mut rows = query.query([number as i64])?;
            while let Some(row) = rows.next()? {
                let (counts, skip) = match row.get_ref(2)?.as_blob_or_null()? {
                    Some(tuples) => (unpack(tuples), 0),
                    None => (unpack(row.get_ref(1)?.as_blob()?), 1),
                };
                if skip == 1 && width > 1 {
                    let message = "a version of this series was recorded without which sensitive values stand together, so \
                                   it cannot be audited; start a new series from the table as it is now";
                    failed = Some(Failure::Usage(message.into()));
                    return Ok(());
                }
                let tuples = counts.get(skip..).unwrap_or_default().chunks_exact(width + 1);
                let tuples = tuples.map(|t| Ok((self.number(&t[..width])?, u64::from(t[width]))));
                match tuples.collect::<Result<Vec<(u32, u64)>, Failure>>() {
                    Ok(counts) => {
                        let persons = numbers(row.get_ref(0)?.as_blob()?);
                        version.push(persons.map(|person| self.life(person, batch)), counts);
                    }
                    Err(failure) => failed = Some(failure),
                }
            }
            Ok(())
        };
        read().map_err(|e| work.fail(e))?;
        failed.map_or(Ok(version), Err)
    }

    /// What will have been published when `next` is, too.
    pub fn with(&self, next: &Record) -> Result<History, Failure> {
        let numbers: Vec<u32> = next.tuples.iter().map(|t| self.number(t)).collect::<Result<_, _>>()?;
        let mut version = Compact::default();
        for class in 0..next.classes.len() {
            let counts = next.classes.counts(class).iter().map(|&(t, n)| (numbers[t as usize], n));
            let persons = next.classes.persons(class).iter();
            version.push(persons.map(|&person| self.life(person, u64::MAX)), counts);
        }
        let mut history = self.history.clone();
        history.see(&version);
        Ok(history)
    }
}

/// A class as it was published.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastClass {
    /// Who was in it.
    pub persons: Vec<u32>,
    /// Its sensitive tuples, in the codes of the series, with the rows that have them.
    pub counts: Vec<(Vec<u32>, u64)>,
}

/// The classes of a published version, by its number from 1.
pub fn past(work: &Work<'_>, number: u64, width: usize) -> Result<Vec<PastClass>, Failure> {
    let read = || -> rusqlite::Result<Vec<PastClass>> {
        let sql = "SELECT persons, counts, tuples FROM history WHERE version = ?1 ORDER BY class";
        let mut query = work.transaction.prepare(sql)?;
        let class = |row: &rusqlite::Row<'_>| {
            // With one column the counts say it all, behind their number.
            let (counts, skip) = match row.get_ref(2)?.as_blob_or_null()? {
                Some(tuples) => (unpack(tuples), 0),
                None => (unpack(row.get_ref(1)?.as_blob()?), 1),
            };
            let tuples = counts.get(skip..).unwrap_or_default().chunks_exact(width + 1);
            let counts = tuples.map(|t| (t[..width].to_vec(), u64::from(t[width]))).collect();
            Ok(PastClass { persons: numbers(row.get_ref(0)?.as_blob()?).collect(), counts })
        };
        query.query_map([number as i64], class)?.collect()
    };
    read().map_err(|e| work.fail(e))
}

/// Whose values were changed by which batches.
fn changed(work: &Work<'_>) -> Result<BTreeMap<u32, Vec<u64>>, Failure> {
    let read = || -> rusqlite::Result<BTreeMap<u32, Vec<u64>>> {
        let mut found: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        let mut query = work.transaction.prepare("SELECT person, batch FROM changed ORDER BY person, batch")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            found.entry(row.get(0)?).or_default().push(row.get::<_, i64>(1)?.unsigned_abs());
        }
        Ok(found)
    };
    read().map_err(|e| work.fail(e))
}

/// All values, by column and code, but for those that were erased because nobody has them any more.
fn values(work: &Work<'_>) -> Result<BTreeMap<(usize, u32), String>, Failure> {
    let read = || -> rusqlite::Result<BTreeMap<(usize, u32), String>> {
        let mut query = work.transaction.prepare("SELECT col, code, text FROM value")?;
        let row = |row: &rusqlite::Row<'_>| Ok(((row.get::<_, u32>(0)? as usize, row.get(1)?), row.get(2)?));
        let all = query.query_map([], row)?;
        // SQL takes the mark of an erased text for its end, so it is looked for here.
        all.filter(|found| found.as_ref().map_or(true, |(_, text): &((usize, u32), String)| !text.starts_with('\0')))
            .collect()
    };
    read().map_err(|e| work.fail(e))
}

/// The policy on a table that has every value once or more.
fn prepare(
    policy: &Policy,
    names: &[String],
    values: &BTreeMap<(usize, u32), String>,
    cancel: &AtomicBool,
) -> Result<Prepared, Failure> {
    let mut columns: Vec<(usize, Dictionary)> = Vec::new();
    let wanted = [Role::Quasi, Role::Sensitive].map(|role| with_role(policy, names, role)).concat();
    for (&(column, _), text) in values.iter().filter(|(key, _)| wanted.contains(&key.0)) {
        match columns.last_mut().filter(|(last, _)| *last == column) {
            Some((_, dictionary)) => {
                dictionary.intern(text);
            }
            None => columns.push((column, [text.as_str()].into_iter().collect())),
        }
    }
    let rows = columns.iter().map(|(_, d)| d.len()).max().unwrap_or(0);
    let column = |(column, dictionary): (usize, Dictionary)| {
        let mut codes = Codes::for_distinct(dictionary.len(), rows);
        (0..rows).for_each(|row| codes.push((row % dictionary.len()) as u32));
        Column { dictionary, codes, ..Column::new(names[column].clone()) }
    };
    let table = Table { columns: columns.into_iter().map(column).collect(), rows };
    let options = LoadOptions { cancel: Some(cancel), ..LoadOptions::default() };
    Ok(Prepared::of_table(policy, table, &options)?)
}

/// The sensitive tuples that were published, or that rows have now.
fn tuples_of(work: &Work<'_>, sensitive: &[usize]) -> Result<Vec<Vec<u32>>, Failure> {
    let width = sensitive.len();
    let read = || -> rusqlite::Result<Vec<Vec<u32>>> {
        let mut found: BTreeSet<Vec<u32>> = BTreeSet::new();
        let mut query = work.transaction.prepare("SELECT tuples FROM history WHERE tuples IS NOT NULL")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let tuples = unpack(row.get_ref(0)?.as_blob()?);
            found.extend(tuples.chunks_exact(width + 1).map(|t| t[..width].to_vec()));
        }
        let mut query = work.transaction.prepare("SELECT cells FROM record")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let cells = unpack(row.get_ref(0)?.as_blob()?);
            found.extend(sensitive.iter().map(|&c| cells.get(c).copied()).collect::<Option<Vec<u32>>>());
        }
        Ok(found.into_iter().collect())
    };
    read().map_err(|e| work.fail(e))
}

/// What was published so far, for attacks: for each sensitive column, every version.
pub fn load(work: &Work<'_>, columns: usize) -> Result<Vec<Vec<Version>>, Failure> {
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
