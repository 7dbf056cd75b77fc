//! What a batch must know of the whole table without its rows: which values there are, and how often each sensitive
//! tuple occurs. Each batch updates the counts of both.

use std::collections::BTreeMap;

use amidst_core::frequency::{Entry, FrequencySet, Groups, NOBODY};
use amidst_core::ids::SensitiveId;
use amidst_core::internal::series::StableIds;
use amidst_core::table::{Codes, Column, Dictionary, Table};
use rusqlite::params;

use super::packed::{pack, unpack};
use super::store::Work;
use crate::Failure;
use crate::job::Job;
use crate::policy::{Policy, Role};
use crate::prepare::{LoadOptions, Prepared};

/// A sensitive tuple; `kind` is its table in the database.
pub struct SensitiveTuple {
    /// Its number in the database, which it keeps.
    pub id: u32,
    /// How many rows have it.
    pub rows: i64,
}

/// Values and sensitive tuples, with their counts.
#[derive(Default)]
pub struct Domain {
    /// The kept columns that are quasi, and those that are sensitive, by position.
    pub quasi: Vec<usize>,
    pub sensitive: Vec<usize>,
    /// Values by column and code, with the rows that have them.
    values: BTreeMap<(usize, u32), (String, i64)>,
    /// Sensitive tuples, in the codes of the series.
    pub tuples: BTreeMap<Vec<u32>, SensitiveTuple>,
    next_tuple: u32,
    /// What has changed since the domain was loaded.
    changed_values: BTreeMap<(usize, u32), i64>,
    changed_tuples: BTreeMap<Vec<u32>, ()>,
}

/// The positions of the kept columns of a role.
pub fn with_role(policy: &Policy, names: &[String], role: Role) -> Vec<usize> {
    let is = |name: &String| policy.column(name).is_some_and(|c| c.role == role);
    names.iter().enumerate().filter(|(_, n)| is(n)).map(|(i, _)| i).collect()
}

impl Domain {
    /// What the database has counted.
    pub fn load(work: &Work<'_>, policy: &Policy, names: &[String]) -> Result<Self, Failure> {
        let mut domain = Domain {
            quasi: with_role(policy, names, Role::Quasi),
            sensitive: with_role(policy, names, Role::Sensitive),
            ..Domain::default()
        };
        let mut load = || -> rusqlite::Result<()> {
            let mut query = work.transaction.prepare("SELECT col, code, text, rows FROM value")?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                let (column, count) = (row.get::<_, u32>(0)? as usize, row.get::<_, i64>(3)?);
                // A signature may name a value that no row has any more.
                if count > 0 || domain.sensitive.contains(&column) {
                    domain.values.insert((column, row.get(1)?), (row.get(2)?, count));
                }
            }
            let mut query = work.transaction.prepare("SELECT id, codes, rows FROM kind")?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                let tuple = SensitiveTuple { id: row.get(0)?, rows: row.get(2)? };
                domain.next_tuple = domain.next_tuple.max(tuple.id + 1);
                domain.tuples.insert(unpack(row.get_ref(1)?.as_blob()?), tuple);
            }
            Ok(())
        };
        load().map_err(|e| work.fail(e))?;
        Ok(domain)
    }

    /// Counts a row that comes (1) or goes (-1). `text` tells the value of a code that is new.
    pub fn count(&mut self, cells: &[u32], by: i64, text: impl Fn(usize) -> String) {
        for &column in self.quasi.iter().chain(&self.sensitive) {
            let key = (column, cells[column]);
            self.values.entry(key).or_insert_with(|| (text(column), 0)).1 += by;
            *self.changed_values.entry(key).or_insert(0) += by;
        }
        let codes: Vec<u32> = self.sensitive.iter().map(|&c| cells[c]).collect();
        let next = &mut self.next_tuple;
        let tuple = self.tuples.entry(codes.clone()).or_insert_with(|| {
            *next += 1;
            SensitiveTuple { id: *next - 1, rows: 0 }
        });
        tuple.rows += by;
        self.changed_tuples.insert(codes, ());
    }

    /// The number in the database of the sensitive tuple of a row.
    pub fn sensitive_name(&self, cells: &[u32]) -> Option<u32> {
        let codes: Vec<u32> = self.sensitive.iter().map(|&c| cells[c]).collect();
        self.tuples.get(&codes).map(|tuple| tuple.id)
    }

    /// Writes down what has changed.
    pub fn store(&self, work: &Work<'_>) -> Result<(), Failure> {
        let store = || -> rusqlite::Result<()> {
            let mut update =
                work.transaction.prepare("UPDATE value SET rows = rows + ?3 WHERE col = ?1 AND code = ?2")?;
            for (&(column, code), &by) in self.changed_values.iter().filter(|(_, by)| **by != 0) {
                update.execute(params![column as i64, code, by])?;
            }
            let mut update = work.transaction.prepare(
                "INSERT INTO kind (id, codes, rows) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO UPDATE SET rows = ?3",
            )?;
            for codes in self.changed_tuples.keys() {
                if let Some(tuple) = self.tuples.get(codes) {
                    update.execute(params![tuple.id, pack(codes.iter().copied()), tuple.rows])?;
                }
            }
            Ok(())
        };
        store().map_err(|e| work.fail(e))
    }
}

/// A domain bound to its policy: everything that classes are judged and measured by.
pub struct Bound {
    /// Hierarchies and requirements; its set is that of the sensitive tuples alone.
    pub prepared: Prepared,
    /// For each quasi column, the code here of each code of the series, and the other way round.
    to: Vec<Vec<u32>>,
    from: Vec<Vec<u32>>,
    /// The sensitive tuple here of each number in the database, and the other way round.
    sensitive_to: Vec<u32>,
    sensitive_from: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl Bound {
    /// Binds the values that there are. Values that the batch took the last row of are still known in quasi columns,
    /// because the classes that lose that row are loaded with it.
    pub fn new(policy: &Policy, names: &[String], domain: &Domain, job: &Job<'_>) -> Result<Self, Failure> {
        Self::of(policy, names, domain, false, job)
    }

    /// As [`Bound::new`], with every sensitive value that there ever was.
    pub fn whole(policy: &Policy, names: &[String], domain: &Domain, job: &Job<'_>) -> Result<Self, Failure> {
        Self::of(policy, names, domain, true, job)
    }

    fn of(policy: &Policy, names: &[String], domain: &Domain, whole: bool, job: &Job<'_>) -> Result<Self, Failure> {
        let mut columns: Vec<(usize, Dictionary)> = Vec::new();
        for (&(column, _), (text, rows)) in &domain.values {
            if *rows <= 0 && !whole && domain.sensitive.contains(&column) {
                continue;
            }
            if columns.last().is_none_or(|(last, _)| *last != column) {
                columns.push((column, Dictionary::default()));
            }
            if let Some((_, dictionary)) = columns.last_mut() {
                dictionary.intern(text);
            }
        }
        let rows = columns.iter().map(|(_, d)| d.len()).max().unwrap_or(0);
        if domain.tuples.values().all(|tuple| tuple.rows <= 0) || rows == 0 {
            let message = "no row would be left, and a version needs some; nothing was changed";
            return Err(Failure::Impossible(message.into()));
        }
        let table = Table {
            columns: (columns.into_iter())
                .map(|(column, dictionary)| {
                    let mut codes = Codes::for_distinct(dictionary.len(), rows);
                    (0..rows).for_each(|row| codes.push((row % dictionary.len()) as u32));
                    Column { dictionary, codes, ..Column::new(names[column].clone()) }
                })
                .collect(),
            rows,
        };
        let options = LoadOptions { control: job.quiet(), ..LoadOptions::default() };
        let mut prepared = Prepared::of_table(policy, table, &options)?;
        let code = |column: usize, text: &str| prepared.table.column(&names[column])?.dictionary.code(text);
        let (mut all_to, mut all_from) = (Vec::new(), Vec::new());
        let (mut sensitive_to, mut sensitive_from) = (Vec::new(), Vec::new());
        for &column in &domain.quasi {
            let (mut to, mut from) = (Vec::new(), Vec::new());
            for (&(_, series), (text, _)) in domain.values.range((column, 0)..=(column, u32::MAX)) {
                if let Some(here) = code(column, text) {
                    put(&mut to, series, here);
                    put(&mut from, here, series);
                }
            }
            all_to.push(to);
            all_from.push(from);
        }
        let mut tuples: Vec<(Vec<u32>, u32, u64)> = Vec::new();
        for (codes, tuple) in domain.tuples.iter().filter(|(_, tuple)| tuple.rows > 0) {
            let here = codes.iter().zip(&domain.sensitive).map(|(&series, &column)| {
                let value = domain.values.get(&(column, series));
                value.and_then(|(text, _)| code(column, text)).unwrap_or(0)
            });
            tuples.push((here.collect(), tuple.id, tuple.rows.unsigned_abs()));
        }
        tuples.sort_unstable();
        for (here, (_, id, _)) in (0u32..).zip(&tuples) {
            put(&mut sensitive_to, *id, here);
            put(&mut sensitive_from, here, *id);
        }
        prepared.set = FrequencySet {
            groups: Groups {
                offsets: vec![0, tuples.len()],
                entries: (0..)
                    .map(SensitiveId)
                    .zip(&tuples)
                    .map(|(sensitive, (_, _, rows))| Entry { sensitive, person: NOBODY, rows: *rows })
                    .collect(),
            },
            sensitive_width: domain.sensitive.len(),
            sensitive_domains: prepared.domains.iter().map(|d| d.dictionary.len()).collect(),
            rows: tuples.iter().map(|t| t.2).sum(),
            sensitive: tuples.into_iter().flat_map(|t| t.0).collect(),
            ..FrequencySet::default()
        };
        Ok(Bound { prepared, to: all_to, from: all_from, sensitive_to, sensitive_from })
    }

    /// The heights of the hierarchies: shapes that were kept under others mean nothing any more.
    pub fn heights(&self) -> String {
        let heights: Vec<String> = self.prepared.generalizations.iter().map(|g| g.height().to_string()).collect();
        heights.join(" ")
    }

    /// The code here of a code of the series in the only sensitive column.
    pub fn sensitive_code(&self, domain: &Domain, column: usize, series: u32) -> Option<u32> {
        let (text, _) = domain.values.get(&(column, series))?;
        self.prepared.domains.first()?.dictionary.code(text)
    }

    /// The quasi codes and the sensitive tuple of a row, here.
    pub fn row(&self, domain: &Domain, cells: &[u32]) -> Option<(Vec<u32>, SensitiveId)> {
        let codes: Option<Vec<u32>> =
            domain.quasi.iter().enumerate().map(|(q, &column)| self.code(q, *cells.get(column)?)).collect();
        Some((codes?, self.sensitive(domain.sensitive_name(cells)?)?))
    }
}

/// What is kept bears the codes of the series, and the numbers of sensitive tuples in the database.
impl StableIds for Bound {
    fn code(&self, column: usize, name: u32) -> Option<u32> {
        self.to.get(column)?.get(name as usize).copied().filter(|&c| c != ABSENT)
    }

    fn name(&self, column: usize, code: u32) -> u32 {
        self.from.get(column).and_then(|names| names.get(code as usize).copied()).unwrap_or(ABSENT)
    }

    fn sensitive(&self, name: u32) -> Option<SensitiveId> {
        self.sensitive_to.get(name as usize).copied().filter(|&here| here != ABSENT).map(SensitiveId)
    }

    fn sensitive_name(&self, sensitive: SensitiveId) -> u32 {
        self.sensitive_from.get(sensitive.index()).copied().unwrap_or(ABSENT)
    }
}

fn put(list: &mut Vec<u32>, at: u32, value: u32) {
    if list.len() <= at as usize {
        list.resize(at as usize + 1, ABSENT);
    }
    list[at as usize] = value;
}
