//! From a policy and its data to everything that a search needs.
//!
//! [`Prepared::load`] reads the table (identifying columns are not even kept), leaves out rows with unknown cells,
//! gives every column its type and its order, binds the hierarchies, reads the requirements, and counts. Whatever does
//! not fit is found before the counting, all of it at once, each error with its place in the policy and its line in the
//! data.
//!
//! May use: `job`, `policy`, `words`, and what those use.

pub(crate) mod alike;
mod columns;
pub(crate) mod consent;
mod counted;
pub(crate) mod equal;
mod error;
pub(crate) mod giveaway;
mod hierarchies;
pub(crate) mod meaning;
mod missing;
pub(crate) mod population;
mod published_level;
mod requirements;
mod resolved;
#[cfg(test)]
mod tests;
mod types;
mod values;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use amidst_core::class::Population;
use amidst_core::frequency::FrequencySet;
use amidst_core::hierarchy::Generalization;
use amidst_core::ids::EntryId;
use amidst_core::requirement::Requirement;
use amidst_core::requirement::SensitiveDomain;
use amidst_core::table::Table;
use amidst_io::{Conventions, ReadError, ReadOptions};

use crate::job::{Control, Stage};
use crate::policy::{Policy, Role};

pub(crate) use columns::{BOUNDS, is_value, is_year};
pub use consent::{NO_ENTRY, Waived};
pub use counted::Counted;
pub use error::PrepareError;
pub(crate) use hierarchies::{hierarchy_text, lacked};
use published_level::PublishedLabels;
pub(crate) use types::{rank_order, shape};

/// More distinct values than this make a quasi or sensitive column useless, and its hierarchy too large to search.
pub const DISTINCT_LIMIT: u64 = 4_194_304;

/// How to load; the default loads what the policy names, on all cores.
#[derive(Clone, Default)]
pub struct LoadOptions<'a> {
    /// Another input than the policy's; relative to the working directory, not to the policy.
    pub input: Option<String>,
    /// How reading is stopped and watched, and on how many threads.
    pub control: Control<'a>,
}

/// A table, ready to be searched.
#[derive(Debug)]
pub struct Prepared {
    /// All columns but the identifying ones, in the order of the input, without the rows that were left out.
    pub table: Table,
    /// The role of each of those columns.
    pub roles: Vec<Role>,
    /// The positions of the quasi columns in `table`.
    pub quasi: Vec<usize>,
    /// The positions of the sensitive columns in `table`.
    pub sensitive: Vec<usize>,
    /// The position of the column that tells persons apart.
    pub key: Option<usize>,
    /// Rows whose owner waived protection; they are in `table`, but not in `set`.
    pub waived: Option<Waived>,
    /// What each quasi column can become.
    pub generalizations: Vec<Generalization>,
    /// The sets of quasi columns that must satisfy the requirements each by itself, by their positions in
    /// `generalizations`; none: all columns together.
    pub sets: Vec<Vec<usize>>,
    /// The sensitive columns, as models know them.
    pub domains: Vec<SensitiveDomain>,
    /// The requirements, in the order of the policy.
    pub requirements: Vec<Requirement>,
    /// For each requirement, the population it names, by the tuple ids of `set`. Tuples that only a population has come
    /// after the table's own and have no entries.
    pub populations: Vec<Option<Arc<Population>>>,
    /// For each sensitive column that is published generalized, the label of each text of the input.
    pub published_labels: HashMap<String, HashMap<String, String>>,
    /// The distinct combinations of the quasi and sensitive columns.
    pub set: FrequencySet,
    /// How many rows of the input each row of `table` stands for, where an engine counted them; each for itself when
    /// absent.
    pub weights: Option<Vec<u64>>,
    /// The entry of each row of `table`; [`NO_ENTRY`] for rows whose owner waived protection.
    pub entry_of_row: Vec<EntryId>,
    /// The rows that were read.
    pub rows_in: u64,
    /// The rows left out because a cell is unknown.
    pub rows_dropped_missing: u64,
    /// The names of all columns of the input, identifying ones included.
    pub header: Vec<String>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// What in the policy is usable, but probably not meant.
    pub remarks: Vec<String>,
    /// How long reading took.
    pub seconds_read: f64,
    /// How long everything after reading took.
    pub seconds_prepare: f64,
}

impl Prepared {
    /// Reads and prepares the table of a policy.
    ///
    /// # Errors
    /// Whatever is wrong with the input or does not fit the policy; see [`PrepareError`].
    pub fn load(policy: &Policy, options: &LoadOptions<'_>) -> Result<Prepared, PrepareError> {
        let fitted = Fitted::of(policy, options)?;
        fitted.count(policy, options)
    }

    /// Prepares what was read already, wherever it came from.
    ///
    /// # Errors
    /// Whatever does not fit the policy; see [`PrepareError`].
    pub fn of_input(
        policy: &Policy,
        mut input: amidst_io::Input,
        options: &LoadOptions<'_>,
    ) -> Result<Prepared, PrepareError> {
        columns::covered(policy, &input.header)?;
        let keep = |name: &str| policy.column(name).is_some_and(|c| c.role != Role::Identifying);
        let kept: Vec<bool> = input.table.columns.iter().map(|c| keep(&c.name)).collect();
        let mut at = kept.iter();
        input.table.columns.retain(|_| at.next().is_none_or(|&kept| kept));
        let mut at = kept.iter();
        input.nulls.retain(|_| at.next().is_none_or(|&kept| kept));
        Fitted::fit(policy, options, input, None, 0.0)?.count(policy, options)
    }

    /// Prepares a table that was not read from a file, whose columns are all covered by the policy.
    ///
    /// # Errors
    /// Whatever does not fit the policy; see [`PrepareError`].
    pub fn of_table(policy: &Policy, table: Table, options: &LoadOptions<'_>) -> Result<Prepared, PrepareError> {
        let mut input = amidst_io::Input::default();
        input.header = table.columns.iter().map(|c| c.name.clone()).collect();
        input.table = table;
        Fitted::fit(policy, options, input, None, 0.0)?.count(policy, options)
    }
}

impl Prepared {
    /// The names of the columns of a set of quasi columns, where there are sets.
    pub fn set_names(&self, set: usize) -> Option<Vec<String>> {
        Some(self.sets.get(set)?.iter().map(|&c| self.generalizations[c].name.clone()).collect())
    }

    /// Refuses sets of quasi columns for `what`, which makes classes of all quasi columns together.
    ///
    /// # Errors
    /// Where the policy has such sets.
    pub fn refuse_sets(&self, policy: &Policy, what: &str) -> Result<(), PrepareError> {
        if self.sets.is_empty() {
            return Ok(());
        }
        let message = format!("{what} looks at all quasi columns together, and the policy has sets of them");
        let error = policy.origin.error_at_key(&["quasi"], message);
        Err(PrepareError::of(policy, vec![error.help("leave out [[quasi]] here")]))
    }
}

/// A table that fits its policy, before it is counted.
pub(crate) struct Fitted {
    pub(crate) table: Table,
    pub(crate) layout: columns::Layout,
    pub(crate) bound: hierarchies::Bound,
    pub(crate) sets: Vec<Vec<usize>>,
    pub(crate) domains: Vec<SensitiveDomain>,
    pub(crate) requirements: Vec<Requirement>,
    pub(crate) populations: population::Raw,
    pub(crate) published: PublishedLabels,
    /// Which rows stayed, where their weights must follow.
    pub(crate) kept: Option<Vec<bool>>,
    pub(crate) rows_in: u64,
    pub(crate) rows_dropped_missing: u64,
    pub(crate) header: Vec<String>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) remarks: Vec<String>,
    pub(crate) seconds_read: f64,
    pub(crate) started: Instant,
}

impl Fitted {
    pub(crate) fn of(policy: &Policy, options: &LoadOptions<'_>) -> Result<Fitted, PrepareError> {
        let source = source(policy, options)?;
        let started = Instant::now();
        // The header first: a wrong name should not cost the reading of the whole table. A stream is read only once.
        if source != "-" {
            columns::covered(policy, &header(&source, &read_options(policy)?)?)?;
        }
        let keep = |name: &str| policy.column(name).is_some_and(|c| c.role != Role::Identifying);
        let limit = |name: &str| match policy.column(name).map(|c| c.role) {
            Some(Role::Quasi | Role::Sensitive) => Some(DISTINCT_LIMIT),
            _ => None,
        };
        let progress = |done: u64, total: Option<u64>| {
            if let Some(total) = total.filter(|&t| t > 0) {
                options.control.tell(Stage::Read, (done as f64 / total as f64).min(1.0));
            }
        };
        let read = ReadOptions {
            keep: Some(&keep),
            distinct_limit: Some(&limit),
            threads: options.control.threads,
            cancel: Some(options.control.cancel),
            progress: Some(&progress),
            ..read_options(policy)?
        };
        let input = amidst_io::read(&source, &read)?;
        columns::covered(policy, &input.header)?;
        Self::fit(policy, options, input, None, started.elapsed().as_secs_f64())
    }

    /// Fits what was read to the policy.
    fn fit(
        policy: &Policy,
        options: &LoadOptions<'_>,
        mut input: amidst_io::Input,
        weights: Option<&[u64]>,
        seconds_read: f64,
    ) -> Result<Fitted, PrepareError> {
        let started = Instant::now();
        let mut table = std::mem::take(&mut input.table);
        // Lines are asked for by the row numbers of the file, so the input must go on knowing how many there were.
        input.table.rows = table.rows;
        let rows_in = table.rows as u64;
        let amended = missing::amended(policy, input.nulls.iter().any(Option::is_some));
        let policy = amended.as_ref().unwrap_or(policy);
        let layout = columns::Layout::of(policy, &table);
        let dropped = missing::drop_rows(policy, &layout, &mut table, &input.nulls);
        let rows_dropped_missing = dropped.as_ref().map_or(0, |keep| keep.iter().filter(|&&k| !k).count() as u64);
        let show_values = policy.origin.quote_values;
        let places = error::Places { input: &input, kept: dropped.as_deref(), weights, show_values };
        if table.rows == 0 {
            let message = "every row has an unknown cell, so nothing is left";
            let error = policy.origin.error(&["data", "missing"], message);
            let help = "list fewer tokens as `missing`, or write `missing_rows = \"keep\"`";
            return Err(PrepareError::of(policy, vec![error.help(help)]));
        }
        options.check()?;
        let joined_keys = columns::join_keys(&layout, &mut table);
        let mut errors = types::assign_types(policy, &layout, &mut table, &places);
        errors.extend(columns::wrong_sets(policy, &input.header));
        errors.extend(columns::wrong_bounds(policy, &input.header));
        let mut published = PublishedLabels::default();
        if errors.is_empty() {
            (published, errors) = published_level::publish(policy, &layout, &mut table, &places);
        }
        let (populations, more) = population::Raw::read(policy, &layout, &table)?;
        errors.extend(more);
        options.check()?;
        let (bound, more) = hierarchies::bind(policy, &layout, &table, &populations, &published.hierarchies, &places);
        errors.extend(more);
        let domains = requirements::domains(policy, &layout, &table, &bound);
        let requirements = match errors.is_empty() {
            true => {
                let (requirements, more) = requirements::read(policy, &domains);
                errors.extend(more);
                requirements
            }
            false => Vec::new(),
        };
        if !errors.is_empty() {
            return Err(PrepareError::of(policy, errors));
        }
        let mut remarks = values::remarks(policy, &table);
        remarks.extend(joined_keys);
        remarks.extend(consent::remarks(policy, &layout, &table));
        remarks.extend(alike::remarks(&layout, &table));
        let header = std::mem::take(&mut input.header);
        let files = std::mem::take(&mut input.files);
        Ok(Fitted {
            sets: columns::set_positions(policy, &table, &layout),
            table,
            layout,
            bound,
            domains,
            requirements,
            populations,
            published,
            kept: dropped.filter(|_| weights.is_some()),
            rows_in,
            rows_dropped_missing,
            header,
            files,
            remarks,
            seconds_read,
            started,
        })
    }

    pub(crate) fn count(self, policy: &Policy, options: &LoadOptions<'_>) -> Result<Prepared, PrepareError> {
        options.check()?;
        let waived = consent::waived(policy, &self.layout, &self.table);
        let counted = consent::count(&self.table, &self.layout, waived.as_ref());
        self.counted(options, waived, counted)
    }

    /// Puts everything together, once the table is counted.
    fn counted(
        self,
        options: &LoadOptions<'_>,
        waived: Option<Waived>,
        (mut set, entry_of_row): (FrequencySet, Vec<EntryId>),
    ) -> Result<Prepared, PrepareError> {
        let Fitted { table, layout, bound, sets, domains, mut requirements, populations, published, .. } = self;
        options.check()?;
        let populations = populations.unify(&mut set);
        for (requirement, population) in requirements.iter_mut().zip(&populations) {
            requirement.population = population.clone();
        }
        Ok(Prepared {
            table,
            roles: layout.roles,
            quasi: layout.quasi,
            sensitive: layout.sensitive,
            key: layout.key,
            waived,
            generalizations: bound.generalizations,
            sets,
            domains,
            requirements,
            populations,
            published_labels: published.labels,
            set,
            weights: None,
            entry_of_row,
            rows_in: self.rows_in,
            rows_dropped_missing: self.rows_dropped_missing,
            header: self.header,
            files: self.files,
            remarks: self.remarks,
            seconds_read: self.seconds_read,
            seconds_prepare: self.started.elapsed().as_secs_f64(),
        })
    }
}

impl<'a> LoadOptions<'a> {
    /// How a job reads.
    pub(crate) fn of(job: &Control<'a>, input: Option<String>) -> Self {
        LoadOptions { input, control: *job }
    }
}

impl LoadOptions<'_> {
    fn check(&self) -> Result<(), PrepareError> {
        self.control.checkpoint().map_err(|_| PrepareError::Cancelled)
    }
}

/// The names of the columns of a table.
pub(crate) fn header(source: &str, options: &ReadOptions<'_>) -> Result<Vec<String>, PrepareError> {
    // Which columns of a database are wanted is not known yet; some may hold what cannot be read.
    let keep = |_: &str| !amidst_io::is_database(source);
    let first = ReadOptions { max_rows: Some(1), threads: 1, keep: Some(&keep), ..*options };
    Ok(amidst_io::read(source, &first)?.header)
}

/// Reads a table that stands beside the policy's own. Numbers and dates are written as in that; its sheet and header
/// are its own; and where it is not UTF-8 it is in the encoding of that, if one is stated.
pub(crate) fn read_beside(
    policy: &Policy,
    source: &str,
    options: &ReadOptions<'_>,
) -> Result<amidst_io::Input, PrepareError> {
    let stated = &policy.data.conventions;
    let mut own = Conventions { encoding: None, sheet: None, no_header: false, ..stated.clone() };
    match amidst_io::read(source, &ReadOptions { conventions: Some(&own), ..*options }) {
        Err(ReadError::NotUtf8 { .. }) if stated.encoding.is_some() => {
            own.encoding = stated.encoding;
            Ok(amidst_io::read(source, &ReadOptions { conventions: Some(&own), ..*options })?)
        }
        read => Ok(read?),
    }
}

/// Where the table is: what was asked for, or what the policy names, which is relative to the policy.
pub(crate) fn source(policy: &Policy, options: &LoadOptions<'_>) -> Result<String, PrepareError> {
    if let Some(input) = &options.input {
        return Ok(input.clone());
    }
    let Some(input) = &policy.data.input else {
        let error = policy.origin.error_at_key(&["data"], "the policy names no input");
        return Err(PrepareError::of(policy, vec![error.help("add `input = \"…\"` to [data]")]));
    };
    Ok(policy.origin.resolve_source(input))
}

pub(crate) fn read_options(policy: &Policy) -> Result<ReadOptions<'_>, PrepareError> {
    let separator = match policy.data.separator.map(u8::try_from) {
        None => None,
        Some(Ok(byte)) if byte.is_ascii() => Some(byte),
        Some(_) => {
            let error = policy.origin.error(&["data", "separator"], "`separator` must be an ASCII character");
            return Err(PrepareError::of(policy, vec![error]));
        }
    };
    Ok(ReadOptions { separator, conventions: Some(&policy.data.conventions), ..ReadOptions::default() })
}
