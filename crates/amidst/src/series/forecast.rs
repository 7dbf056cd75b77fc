//! Whether an m-invariant version will satisfy its policy, decided from counts alone.
//!
//! Every class of such a version has one row of each value of its signature, so whatever looks at the values of a class
//! looks at its signature; and which signatures there will be follows from how many rows there are of each value under
//! each signature. Each batch updates these numbers, so that it need not compose the version.

use std::collections::BTreeMap;

use amidst_core::frequency::{Entry, FrequencySet, Groups, NOBODY};
use amidst_core::ids::SensitiveId;
use amidst_core::internal::local::class::{Judge, Tally};
use amidst_core::internal::series::forecast;
use amidst_core::search::feasibility;
use rusqlite::params;

use super::compose::stated_m;
use super::domain::{Bound, Domain};
use super::packed::{pack, unpack};
use super::store::Work;
use crate::Failure;
use crate::job::Job;
use crate::plan::task;
use crate::policy::Policy;

/// Rows by the signature under which they were published (none: they were not) and by their value, in the codes of the
/// series.
#[derive(Debug, Default)]
pub struct Signed {
    rows: BTreeMap<(Vec<u32>, u32), i64>,
}

impl Signed {
    /// A row that comes (1) or goes (-1).
    pub fn count(&mut self, signature: &[u32], value: u32, by: i64) {
        *self.rows.entry((signature.to_vec(), value)).or_insert(0) += by;
    }

    /// Adds to what the database has counted.
    pub fn store(&self, work: &Work<'_>) -> Result<(), Failure> {
        let store = || -> rusqlite::Result<()> {
            let mut add = work.transaction.prepare(
                "INSERT INTO signed (signature, value, rows) VALUES (?1, ?2, ?3)
                 ON CONFLICT (signature, value) DO UPDATE SET rows = rows + ?3",
            )?;
            for ((signature, value), by) in self.rows.iter().filter(|(_, by)| **by != 0) {
                add.execute(params![pack(signature.iter().copied()), value, by])?;
            }
            Ok(())
        };
        store().map_err(|e| work.fail(e))
    }

    /// In the place of what the database has counted.
    pub fn replace(&self, work: &Work<'_>) -> Result<(), Failure> {
        work.transaction.execute("DELETE FROM signed", []).map_err(|e| work.fail(e))?;
        self.store(work)?;
        work.set_meta("signed", "1")
    }

    fn load(work: &Work<'_>) -> Result<Self, Failure> {
        let mut signed = Signed::default();
        let mut load = || -> rusqlite::Result<()> {
            let mut query = work.transaction.prepare("SELECT signature, value, rows FROM signed WHERE rows > 0")?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                signed.count(&unpack(row.get_ref(0)?.as_blob()?), row.get(1)?, row.get(2)?);
            }
            Ok(())
        };
        load().map_err(|e| work.fail(e))?;
        Ok(signed)
    }
}

/// Counts the rows by signature and value, if that has not been done yet.
pub fn count_all(work: &Work<'_>, column: usize) -> Result<(), Failure> {
    if work.meta("signed")?.is_some() {
        return Ok(());
    }
    let mut signed = Signed::default();
    let mut count = || -> rusqlite::Result<()> {
        let sql = "SELECT cells, signature FROM record JOIN person ON person.id = record.person";
        let mut query = work.transaction.prepare(sql)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let signature = row.get_ref(1)?.as_blob_or_null()?.map(unpack).unwrap_or_default();
            if let Some(&value) = unpack(row.get_ref(0)?.as_blob()?).get(column) {
                signed.count(&signature, value, 1);
            }
        }
        Ok(())
    };
    count().map_err(|e| work.fail(e))?;
    signed.replace(work)
}

/// Whether the numbers tell that the version will satisfy the policy. If they do not, it may all the same: classes
/// whose cells agree are published as one.
pub fn satisfied(
    work: &Work<'_>,
    policy: &Policy,
    names: &[String],
    domain: &Domain,
    job: &Job<'_>,
) -> Result<bool, Failure> {
    let Some(&column) = domain.sensitive.first() else { return Ok(false) };
    let mut bound = Bound::whole(policy, names, domain, job)?;
    let Some(values) = bound.prepared.domains.first().map(|d| d.dictionary.len()) else { return Ok(false) };
    let (mut known, mut new) = (BTreeMap::<Vec<u32>, Vec<u64>>::new(), BTreeMap::new());
    let mut rows = vec![0; values];
    for ((signature, value), n) in Signed::load(work)?.rows {
        let here = |code: u32| bound.sensitive_code(domain, column, code).filter(|&code| (code as usize) < values);
        let Some(value) = here(value) else { return Ok(false) };
        let Some(mut signature) = signature.into_iter().map(here).collect::<Option<Vec<u32>>>() else {
            return Ok(false);
        };
        signature.sort_unstable();
        let n = n.unsigned_abs();
        rows[value as usize] += n;
        match signature.binary_search(&value) {
            Ok(place) => {
                let width = signature.len();
                known.entry(signature).or_insert_with(|| vec![0; width])[place] += n;
            }
            Err(_) => *new.entry(value).or_insert(0) += n,
        }
    }
    let m = stated_m(policy).unwrap_or(2);
    let Ok(told) = forecast(&known, &new, values, m) else { return Ok(false) };
    told.counterfeits.iter().for_each(|(&value, &n)| rows[value as usize] += n);
    let present = (0..).map(SensitiveId).zip(&rows).filter(|(_, rows)| **rows > 0);
    let entries: Vec<Entry> = present.map(|(sensitive, &rows)| Entry { sensitive, person: NOBODY, rows }).collect();
    bound.prepared.set = FrequencySet {
        groups: Groups { offsets: vec![0, entries.len()], entries },
        sensitive_width: 1,
        sensitive_domains: vec![values],
        rows: rows.iter().sum(),
        sensitive: (0..values as u32).collect(),
        ..FrequencySet::default()
    };
    let search = task(policy, &bound.prepared, &job.quiet())?;
    if feasibility::impossible(&search).is_some() {
        return Ok(false);
    }
    let Ok(judge) = Judge::new(&search) else { return Ok(false) };
    let holds = |signature: &Vec<u32>| {
        let counts = signature.iter().map(|&value| ((SensitiveId(value), NOBODY), 1));
        let counts = if judge.size_only { Vec::new() } else { counts.collect() };
        judge.holds(&Tally { rows: signature.len() as u64, counts })
    };
    Ok(told.signatures.iter().all(holds))
}
