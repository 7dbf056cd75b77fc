//! What all versions of a series reveal together.

use std::collections::BTreeMap;

use amidst_core::attack::{Version, VersionClass};
use amidst_core::series::{Audit, audit};
use rusqlite::params;
use serde_json::{Value, json};

use super::compose::Composed;
use super::state::{State, kept};
use super::store::{Work, pack, unpack};
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
                    a.exposed.len(),
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
                "exposed": c.audit.exposed.len(), "differences": c.audit.revealed.len(), "certain": c.audit.certain,
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
        let work = self.store.read()?;
        let state = State::load(&work, kept(&self.policy, &self.header))?;
        audit_of(&self.policy, &state, &load(&work, sensitive(&self.policy, &state).len())?)
    }

    /// What was published so far: for each sensitive column its name and every version, the oldest first.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn versions(&self) -> Result<Vec<(String, Vec<Version>)>, Failure> {
        let work = self.store.read()?;
        let state = State::load(&work, kept(&self.policy, &self.header))?;
        let columns = sensitive(&self.policy, &state);
        let names = columns.iter().map(|&c| state.names[c].clone());
        Ok(names.zip(load(&work, columns.len())?).collect())
    }
}

/// The sensitive columns, by their position among the kept ones.
pub(super) fn sensitive(policy: &Policy, state: &State) -> Vec<usize> {
    let is = |name: &String| policy.column(name).is_some_and(|c| c.role == Role::Sensitive);
    state.names.iter().enumerate().filter(|(_, n)| is(n)).map(|(i, _)| i).collect()
}

/// Audits versions given column by column.
pub(super) fn audit_of(policy: &Policy, state: &State, versions: &[Vec<Version>]) -> Result<SeriesAudit, Failure> {
    let mut columns = Vec::new();
    for (position, versions) in sensitive(policy, state).into_iter().zip(versions) {
        let name = &state.names[position];
        let promised = promised(policy, name);
        let audit = audit(versions, promised);
        let word = |code: &u32| match state.values[position].len() > *code as usize {
            true => state.values[position].value(*code).to_string(),
            false => String::new(),
        };
        let revealed = audit.revealed.iter().map(|r| ColumnExposure {
            persons: r.persons.clone(),
            versions: vec![r.earlier + 1, r.later + 1],
            values: vec![word(&r.value)],
        });
        let exposed = audit.exposed.iter().map(|e| ColumnExposure {
            persons: vec![e.person],
            versions: Vec::new(),
            values: e.candidates.iter().map(word).collect(),
        });
        let worst = revealed.chain(exposed).take(WORST).collect();
        columns.push(ColumnAudit { column: name.clone(), promised, audit, worst });
    }
    Ok(SeriesAudit { versions: versions.first().map_or(0, Vec::len) as u64, columns })
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
pub(super) fn version_of(state: &State, composed: &Composed) -> Vec<Version> {
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
        let classes = persons.iter().zip(counts);
        Version {
            classes: classes
                .map(|(p, counts)| VersionClass { persons: p.clone(), histogram: counts.into_iter().collect() })
                .collect(),
        }
    };
    composed.prepared.domains.iter().enumerate().map(column).collect()
}

/// Writes a version down, for later audits.
pub(super) fn store(work: &Work<'_>, number: u64, columns: &[Version]) -> rusqlite::Result<()> {
    let mut insert =
        work.transaction.prepare("INSERT INTO history (version, class, persons, counts) VALUES (?1, ?2, ?3, ?4)")?;
    let classes = columns.first().map_or(0, |v| v.classes.len());
    for class in 0..classes {
        let mut counts = Vec::new();
        for version in columns {
            let histogram = &version.classes[class].histogram;
            counts.push(histogram.len() as u32);
            counts.extend(histogram.iter().flat_map(|&(code, n)| [code, u32::try_from(n).unwrap_or(u32::MAX)]));
        }
        let persons = pack(columns[0].classes[class].persons.iter().copied());
        insert.execute(params![number as i64, class as i64, persons, pack(counts)])?;
    }
    Ok(())
}
