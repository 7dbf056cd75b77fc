//! What was published, as the state keeps it and the audit sees it: who was in which class of each version, and which
//! sensitive values the class has.
//!
//! Sensitive columns are published side by side, so values are tuples of all of them: audited one by one, columns would
//! tell less than they do together. Insensitive columns are published beside them, and link rows of one version with
//! rows of another: where there are any, values are finer, and stand for the tuples ([`InsensitiveLinks`]).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use amidst_core::frequency::FrequencySet;
use amidst_core::internal::worlds::{Compact, History, Version, VersionClass};
use amidst_core::table::{Codes, Column, Dictionary, Table};
use rusqlite::params;

use super::compose::Composed;
use super::domain::with_role;
use super::links::{self, InsensitiveLinks, Links, MARK};
use super::packed::{numbers, pack, unpack};
use super::past::PastClass;
use super::state::State;
use super::store::Work;
use crate::Failure;
use crate::job::Job;
use crate::policy::{Policy, Role};
use crate::prepare::{LoadOptions, Prepared};

/// One version, published or about to be.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// The sensitive tuples, in the codes of the series, each followed by the mark of what stands beside it, if
    /// anything does.
    tuples: Vec<Vec<u32>>,
    /// How many of these numbers are codes.
    width: usize,
    /// The classes, with the numbers of the tuples as values.
    classes: Compact,
    /// Who has which tuple.
    own: Vec<(u32, u32)>,
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
        let marks = links::marks(&composed.prepared);
        let of_row = composed.prepared.entry_of_row.iter().map(|&entry| set.groups.entries[entry.index()].sensitive);
        let values: Vec<u32> = match marks {
            None => of_row.map(|sensitive| sensitive.0).collect(),
            Some(marks) => links::finer(of_row, marks, &mut tuples),
        };
        let class_of = if apart { &composed.groups } else { &composed.class_of };
        let classes = class_of.iter().max().map_or(0, |&c| c as usize + 1);
        let mut persons: Vec<Vec<u32>> = vec![Vec::new(); classes];
        state.persons.iter().zip(class_of).for_each(|(&person, &class)| persons[class as usize].push(person));
        let mut counts: Vec<Vec<(u32, u64)>> = vec![Vec::new(); classes];
        values.iter().zip(class_of).for_each(|(&value, &class)| counts[class as usize].push((value, 1)));
        let mut made = Compact::default();
        persons.into_iter().zip(counts).for_each(|(persons, counts)| made.push(persons, counts));
        let own = state.persons.iter().copied().zip(values).collect();
        Record { tuples, width: set.sensitive_width, classes: made, own }
    }

    /// Writes a version down, for later audits.
    pub fn store(&self, work: &Work<'_>, number: u64) -> rusqlite::Result<()> {
        let mut insert = work.transaction.prepare(
            "INSERT INTO history (version, class, persons, counts, tuples, beside) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        let width = self.width;
        let finer = self.tuples.first().is_some_and(|tuple| tuple.len() > width);
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
            let mut of: BTreeMap<&[u32], u64> = BTreeMap::new();
            held.iter().for_each(|&(t, n)| *of.entry(&self.tuples[t as usize][..width]).or_insert(0) += n);
            let tuple = |(codes, n): (&[u32], u64)| codes.iter().copied().chain([short(n)]).collect::<Vec<u32>>();
            let tuples = (width > 1).then(|| pack(of.into_iter().flat_map(tuple)));
            let fine = held.iter().map(|&(t, n)| (&self.tuples[t as usize][..], n));
            let beside = finer.then(|| pack(fine.flat_map(tuple)));
            let persons = pack(self.classes.persons(class).iter().copied());
            insert.execute(params![number as i64, class as i64, persons, pack(counts), tuples, beside])?;
        }
        Ok(())
    }
}

fn short(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// All that was published so far, and the values it speaks of, as the policy knows them.
#[derive(Debug)]
pub struct PublishedState {
    /// The requirements, on every value that there ever was.
    pub prepared: Prepared,
    /// The sensitive tuples; their numbers are the values of the history.
    pub set: FrequencySet,
    numbers: BTreeMap<Vec<u32>, u32>,
    /// Whose values were changed by which batches.
    changed: BTreeMap<u32, Vec<u64>>,
    /// The versions.
    pub seen: VersionHistory,
}

/// Versions that were seen, published or about to be.
#[derive(Debug, Clone, Default)]
pub struct VersionHistory {
    /// As it was seen.
    pub history: History,
    /// What is published beside the sensitive values, where something is.
    insensitive: Option<InsensitiveLinks>,
}

impl VersionHistory {
    /// The versions, as an audit looks at them.
    pub fn history(&self) -> Cow<'_, History> {
        let mut history = Cow::Borrowed(&self.history);
        for life in self.insensitive.iter().flat_map(InsensitiveLinks::persons_with_changed_cells) {
            history.to_mut().exclude(life);
        }
        history
    }

    /// The columns that are published beside the sensitive ones, as they are.
    pub fn insensitive_columns(&self) -> &[String] {
        self.insensitive.as_ref().map_or(&[], |links| &links.columns)
    }

    /// How many rows of each version what stands beside links to rows of an earlier one.
    pub fn links(&self) -> Vec<Links> {
        self.insensitive.as_ref().map_or_else(Vec::new, InsensitiveLinks::links)
    }
}

/// Lives after the first are numbered from the top down: person and life, in the order of both.
const LIVES: u32 = u32::MAX - 1;

impl PublishedState {
    /// What the state knows.
    pub fn load(work: &Work<'_>, policy: &Policy, names: &[String], job: &Job<'_>) -> Result<PublishedState, Failure> {
        let values = values(work)?;
        let prepared = prepare(policy, names, &values, job)?;
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
        let changed = changed(work, false)?;
        let mut seen = VersionHistory { insensitive: InsensitiveLinks::of(policy, names), ..VersionHistory::default() };
        let mut known = PublishedState { prepared, set, numbers, changed, seen: VersionHistory::default() };
        let published = work.number("SELECT COALESCE(MAX(version), 0) FROM history")?;
        for number in 1..=published {
            let batch = work.number(&format!("SELECT COALESCE(MAX(batch), 0) FROM version WHERE number = {number}"))?;
            let classes = known.read(work, number, seen.insensitive.is_some())?;
            known.see(&mut seen, &classes, batch)?;
        }
        if let Some(links) = &mut seen.insensitive {
            for (person, batches) in self::changed(work, true)? {
                links.changed_cells.extend(batches.into_iter().map(|batch| (known.life(person, batch), batch)));
            }
        }
        // What is known of the rows helps to find a world; what stands beside them is looked up when a version is made.
        if seen.insensitive.is_none() {
            for (person, tuple) in owned(work, &sensitive)? {
                if let Some(value) = known.value(&mut seen, &tuple) {
                    seen.history.know(known.life(person, u64::MAX), value);
                }
            }
        }
        known.seen = seen;
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
    pub fn sensitive_width(&self) -> usize {
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

    /// The classes of a published version: who is in each, and its tuples with their counts, `finer` by what stands
    /// beside.
    fn read(&self, work: &Work<'_>, number: u64, finer: bool) -> Result<Vec<Published>, Failure> {
        let width = self.set.sensitive_width;
        let mut classes = Vec::new();
        let mut lacks = None;
        let mut read = || -> rusqlite::Result<()> {
            let sql = "SELECT persons, counts, tuples, beside FROM history WHERE version = ?1 ORDER BY class";
            let mut query = work.transaction.prepare(sql)?;
            let mut rows = query.query([number as i64])?;
            while let Some(row) = rows.next()? {
                let fine = row.get_ref(3)?.as_blob_or_null()?.filter(|_| finer);
                let (counts, skip, long) = match (fine, row.get_ref(2)?.as_blob_or_null()?) {
                    (Some(fine), _) => (unpack(fine), 0, width + MARK),
                    (None, Some(tuples)) => (unpack(tuples), 0, width),
                    (None, None) => (unpack(row.get_ref(1)?.as_blob()?), 1, width),
                };
                if skip == 1 && width > 1 {
                    lacks = Some("which sensitive values stand together");
                }
                if fine.is_none() && finer {
                    lacks = Some("what stands beside the sensitive values");
                }
                let tuples = counts.get(skip..).unwrap_or_default().chunks_exact(long + 1);
                let tuples = tuples.map(|t| (t[..long].to_vec(), u64::from(t[long]))).collect();
                classes.push(Published { persons: numbers(row.get_ref(0)?.as_blob()?).collect(), tuples });
            }
            Ok(())
        };
        read().map_err(|e| work.fail(e))?;
        match lacks {
            None => Ok(classes),
            Some(what) => Err(Failure::Usage(format!(
                "a version of this series was recorded without {what}, so it cannot be audited; start a new series from the \
                 table as it is now"
            ))),
        }
    }

    /// The value that a tuple is in the versions that were seen.
    fn value(&self, seen: &mut VersionHistory, tuple: &[u32]) -> Option<u32> {
        let (codes, mark) = tuple.split_at(self.set.sensitive_width.min(tuple.len()));
        let known = self.numbers.get(codes).copied()?;
        Some(seen.insensitive.as_mut().map_or(known, |links| links.number(known, mark)))
    }

    /// Sees a version that was made after some batch.
    fn see(&self, seen: &mut VersionHistory, classes: &[Published], batch: u64) -> Result<(), Failure> {
        let mut version = Compact::default();
        for class in classes {
            let mut counts = Vec::with_capacity(class.tuples.len());
            for (tuple, n) in &class.tuples {
                let damaged =
                    || Failure::Io("the state of the series is damaged: a published value has no code".into());
                counts.push((self.value(seen, tuple).ok_or_else(damaged)?, *n));
            }
            let persons: Vec<u32> = class.persons.iter().map(|&person| self.life(person, batch)).collect();
            version.push(persons, counts);
        }
        if let Some(links) = &mut seen.insensitive {
            seen.history.stand_for(links.stands_for.clone());
            links.versions.push((batch, version.clone()));
        }
        seen.history.see(&version);
        Ok(())
    }

    /// What will have been seen when `next` is published, too.
    pub fn with(&self, next: &Record) -> Result<VersionHistory, Failure> {
        let tuple = |&(t, n): &(u32, u64)| (next.tuples[t as usize].clone(), n);
        let class = |class: usize| Published {
            persons: next.classes.persons(class).to_vec(),
            tuples: next.classes.counts(class).iter().map(tuple).collect(),
        };
        let classes: Vec<Published> = (0..next.classes.len()).map(class).collect();
        let mut seen = self.seen.clone();
        self.see(&mut seen, &classes, u64::MAX)?;
        for &(person, tuple) in &next.own {
            if let Some(value) = self.value(&mut seen, &next.tuples[tuple as usize]) {
                seen.history.know(self.life(person, u64::MAX), value);
            }
        }
        Ok(seen)
    }
}

/// A class as it was published, with what stands beside the tuples.
struct Published {
    persons: Vec<u32>,
    tuples: Vec<(Vec<u32>, u64)>,
}

/// Who was changed by which batches: their sensitive values, or only what stands `beside` them.
fn changed(work: &Work<'_>, beside: bool) -> Result<BTreeMap<u32, Vec<u64>>, Failure> {
    let read = || -> rusqlite::Result<BTreeMap<u32, Vec<u64>>> {
        let mut found: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        let sql = "SELECT person, batch FROM changed WHERE beside = ?1 ORDER BY person, batch";
        let mut query = work.transaction.prepare(sql)?;
        let mut rows = query.query([beside])?;
        while let Some(row) = rows.next()? {
            found.entry(row.get(0)?).or_default().push(row.get::<_, i64>(1)?.unsigned_abs());
        }
        Ok(found)
    };
    read().map_err(|e| work.fail(e))
}

/// All values, by column and code, but for those that were erased because nobody has them any more.
pub(super) fn values(work: &Work<'_>) -> Result<BTreeMap<(usize, u32), String>, Failure> {
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
pub(super) fn prepare(
    policy: &Policy,
    names: &[String],
    values: &BTreeMap<(usize, u32), String>,
    job: &Job<'_>,
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
    let options = LoadOptions { control: job.quiet(), ..LoadOptions::default() };
    Ok(Prepared::of_table(policy, table, &options)?)
}

/// Everybody in the table, with their sensitive tuple.
fn owned(work: &Work<'_>, sensitive: &[usize]) -> Result<Vec<(u32, Vec<u32>)>, Failure> {
    let read = || -> rusqlite::Result<Vec<(u32, Vec<u32>)>> {
        let mut query = work.transaction.prepare("SELECT person, cells FROM record")?;
        let row = |row: &rusqlite::Row<'_>| {
            let cells = unpack(row.get_ref(1)?.as_blob()?);
            Ok((row.get(0)?, sensitive.iter().filter_map(|&column| cells.get(column).copied()).collect()))
        };
        query.query_map([], row)?.collect()
    };
    read().map_err(|e| work.fail(e))
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
