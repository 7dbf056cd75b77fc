//! Population tables: counts of people beyond the table, for `k-map`, `delta-presence` and `bayes-optimal`.
//!
//! A population file has the quasi columns of the table under the same names, the sensitive column where the
//! requirement names one, and optionally a column `count`: how many people a row stands for, which need not be a whole
//! number. Values that the table lacks get codes behind the table's own, and tuples that the table lacks get ids behind
//! the table's own, with no entries.

use std::sync::Arc;

use amidst_core::class::Population;
use amidst_core::frequency::FrequencySet;
use amidst_core::ids::EntryId;
use amidst_core::parameter::Rational;
use amidst_core::parameter::{Kind, Value};
use amidst_core::table::{Column, Dictionary, Table};
use amidst_io::ReadOptions;
use rustc_hash::FxHashMap;

use super::columns::Layout;
use super::{PrepareError, missing};
use crate::policy::{ColumnPolicy, Diagnostic, MissingRows, Policy, RequirePolicy, Role};

/// The column that says how many people a row of a population stands for.
const COUNT: &str = "count";

/// Populations before the table is counted.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    /// For each requirement, its population.
    of_requirement: Vec<Option<People>>,
    /// For each quasi column, the values that only populations have.
    extra: Vec<Dictionary>,
    lists: Vec<Vec<String>>,
}

/// A population by quasi tuple.
#[derive(Debug)]
struct People {
    tuples: Vec<Tuple>,
    /// How many parts make a person.
    scale: u128,
}

/// People who share a quasi tuple, in codes of the table; counted in parts.
#[derive(Debug)]
struct Tuple {
    codes: Vec<u32>,
    total: u128,
    histogram: Vec<(u32, u128)>,
}

impl Raw {
    /// Reads the population of every requirement that names one.
    pub fn read(policy: &Policy, layout: &Layout, table: &Table) -> Result<(Raw, Vec<Diagnostic>), PrepareError> {
        let mut raw = Raw { extra: vec![Dictionary::default(); layout.quasi.len()], ..Raw::default() };
        let mut errors = Vec::new();
        for (i, requirement) in policy.requirements.iter().enumerate() {
            let Some((key, file)) = file_of(requirement) else {
                raw.of_requirement.push(None);
                continue;
            };
            let index = i.to_string();
            let place = ["require", index.as_str(), key];
            let generalized = |name: &&String| policy.column(name).is_some_and(ColumnPolicy::publishes_labels);
            if let Some(name) = requirement.on.iter().find(generalized) {
                let message = format!("a population has the values of `{name}`, and its labels are published");
                errors.push(policy.origin.error(&place, message).help("leave out `level`, or the requirement"));
                raw.of_requirement.push(None);
                continue;
            }
            match raw.read_one(policy, layout, table, requirement, &file)? {
                Ok(people) => raw.of_requirement.push(Some(people)),
                Err(message) => errors.push(policy.origin.error(&place, message)),
            }
        }
        raw.lists = raw.extra.iter().map(|d| d.iter().map(str::to_string).collect()).collect();
        Ok((raw, errors))
    }

    /// The values of a quasi column that only populations have; their codes follow those of the table.
    pub fn extra(&self, quasi: usize) -> &[String] {
        self.lists.get(quasi).map_or(&[], Vec::as_slice)
    }

    fn read_one(
        &mut self,
        policy: &Policy,
        layout: &Layout,
        table: &Table,
        requirement: &RequirePolicy,
        file: &str,
    ) -> Result<Result<People, String>, PrepareError> {
        let quasi: Vec<&Column> = layout.quasi.iter().map(|&c| &table.columns[c]).collect();
        let sensitive = requirement.on.first().and_then(|name| table.column(name));
        let wanted: Vec<&str> = quasi.iter().copied().chain(sensitive).map(|c| c.name.as_str()).collect();
        let keep = |name: &str| wanted.contains(&name) || name == COUNT;
        let options = ReadOptions { keep: Some(&keep), ..ReadOptions::default() };
        let read = crate::prepare::read_beside(policy, &policy.origin.resolve_source(file), &options)?;
        let (mut people, nulls) = (read.table, read.nulls);
        let lacking: Vec<&str> = wanted.iter().copied().filter(|name| people.position(name).is_none()).collect();
        if !lacking.is_empty() {
            return Ok(Err(format!("the population lacks the column {}", lacking.join(", "))));
        }
        if policy.data.missing_rows == MissingRows::Drop {
            let roles = vec![Role::Quasi; people.columns.len()];
            let all = Layout { roles, quasi: Vec::new(), sensitive: Vec::new(), key: None, consent: None };
            missing::drop_rows(policy, &all, &mut people, &nulls);
        }
        let counts = match people.column(COUNT).filter(|_| !wanted.contains(&COUNT)) {
            None => None,
            Some(column) => match counts(column) {
                Ok(counts) => Some((column, counts)),
                Err(message) => return Ok(Err(message)),
            },
        };
        let scale = counts.as_ref().map_or(1, |(_, counts)| counts.scale);
        let position = |column: &&Column| people.position(&column.name);
        let positions: Vec<usize> = quasi.iter().filter_map(position).collect();
        let with_sensitive: Vec<usize> = sensitive.iter().filter_map(position).collect();
        let (set, entry_of) = FrequencySet::count(&people, &positions, &with_sensitive, None);
        let weights = weights(&set, &entry_of, counts);
        // Codes of the population in codes of the table.
        let maps: Vec<Vec<u32>> = (positions.iter().zip(&quasi).zip(&mut self.extra))
            .map(|((&p, column), extra)| translate(&people.columns[p].dictionary, &column.dictionary, extra))
            .collect();
        let mut unseen = Dictionary::default();
        let of_value: Vec<u32> = match (with_sensitive.first(), sensitive) {
            (Some(&p), Some(column)) => translate(&people.columns[p].dictionary, &column.dictionary, &mut unseen),
            _ => Vec::new(),
        };
        let tuples = (0..set.len()).map(|t| {
            let codes = set.tuple(t).iter().zip(&maps).map(|(&code, map)| map[code as usize]).collect();
            let entries = set.groups.offsets[t]..set.groups.offsets[t + 1];
            let mut histogram: Vec<(u32, u128)> = Vec::new();
            if !of_value.is_empty() {
                let code = |e: usize| of_value[set.sensitive_code(set.groups.entries[e].sensitive, 0) as usize];
                histogram = entries.clone().map(|e| (code(e), weights[e])).filter(|&(_, n)| n > 0).collect();
                histogram.sort_unstable();
            }
            Tuple { codes, total: entries.map(|e| weights[e]).sum(), histogram }
        });
        Ok(Ok(People { tuples: tuples.collect(), scale }))
    }

    /// Gives every population the tuple ids of `set`, which gets the tuples it lacks.
    pub fn unify(self, set: &mut FrequencySet) -> Vec<Option<Arc<Population>>> {
        if self.of_requirement.iter().all(Option::is_none) {
            return self.of_requirement.iter().map(|_| None).collect();
        }
        let mut ids: FxHashMap<Vec<u32>, u32> = (0..set.len()).map(|t| (set.tuple(t).to_vec(), t as u32)).collect();
        for tuple in self.of_requirement.iter().flatten().flat_map(|people| &people.tuples) {
            let next = ids.len() as u32;
            let id = *ids.entry(tuple.codes.clone()).or_insert(next);
            if id == next {
                set.tuples.extend(&tuple.codes);
                let end = set.groups.entries.len();
                set.groups.offsets.push(end);
            }
        }
        for (domain, extra) in set.domains.iter_mut().zip(&self.extra) {
            *domain += extra.len();
        }
        let count = set.len();
        let population = |people: People| {
            let scale = people.scale;
            let mut population = Population { totals: vec![0; count], histograms: vec![Vec::new(); count], scale };
            for tuple in people.tuples {
                if let Some(&id) = ids.get(&tuple.codes) {
                    population.totals[id as usize] = tuple.total;
                    population.histograms[id as usize] = tuple.histogram;
                }
            }
            Arc::new(population)
        };
        self.of_requirement.into_iter().map(|people| people.map(population)).collect()
    }
}

/// The population file that a requirement names, with the key that names it.
pub(crate) fn file_of(requirement: &RequirePolicy) -> Option<(&'static str, String)> {
    let parameter = requirement.model.parameters.iter().find(|p| p.kind == Kind::Population)?;
    match requirement.parameters.get(parameter.name) {
        Some(Value::Text(file)) => Some((parameter.name, file.clone())),
        _ => None,
    }
}

/// How many people each value of a column `count` stands for, in parts of which `scale` make a person.
#[derive(Debug)]
pub(crate) struct Counts {
    pub parts: Vec<u128>,
    pub scale: u128,
}

/// Reads a column `count`: decimals and fractions from 0 up, exactly.
pub(crate) fn counts(column: &Column) -> Result<Counts, String> {
    let number = |text: &str| text.parse::<Rational>().ok().filter(|n| !n.is_negative());
    let Some(numbers) = column.dictionary.iter().map(number).collect::<Option<Vec<Rational>>>() else {
        return Err(format!(
            "the column `{COUNT}` of the population must hold numbers from 0 up, such as 12, 0.75 or 1/3"
        ));
    };
    let counts = Rational::to_common_scale(&numbers).map(|(parts, scale)| Counts { parts, scale });
    // All rows together must fit, so that no sum of some of them can fail to.
    let all = |counts: &Counts| {
        let rows = column.counts().into_iter().map(u128::from).zip(&counts.parts);
        let sum = rows.map(|(rows, parts)| rows.checked_mul(*parts)).try_fold(0u128, |sum, n| sum.checked_add(n?));
        sum.is_some_and(|sum| sum < u128::MAX)
    };
    counts.filter(all).ok_or_else(|| {
        format!(
            "the column `{COUNT}` of the population holds numbers that cannot be added up exactly in 38 digits; round \
             them, for instance to ten decimals"
        )
    })
}

/// How many people each entry stands for, in parts.
fn weights(set: &FrequencySet, entry_of: &[EntryId], counts: Option<(&Column, Counts)>) -> Vec<u128> {
    let Some((column, counts)) = counts else { return set.groups.entries.iter().map(|e| e.rows.into()).collect() };
    let mut weights = vec![0u128; set.groups.entries.len()];
    for (row, entry) in entry_of.iter().enumerate() {
        weights[entry.index()] += counts.parts[column.codes.get(row) as usize];
    }
    weights
}

/// For each code of `from`, the code in `to`, or behind it in `extra`.
fn translate(from: &Dictionary, to: &Dictionary, extra: &mut Dictionary) -> Vec<u32> {
    let behind = to.len() as u32;
    from.iter().map(|value| to.code(value).unwrap_or_else(|| behind + extra.intern(value))).collect()
}
