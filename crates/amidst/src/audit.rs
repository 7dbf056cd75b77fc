//! Auditing: what a table, raw or published, protects and what it leaks.
//!
//! The classes are the table's own quasi tuples, exactly as they are written: nothing is generalized.
//!
//! May use: `external`, `init`, `policy`, `population`, `prepare`, and what those use.

mod bounds;
mod cover;
pub(crate) mod survey;

use std::ops::Range;
use std::path::Path;

use amidst_core::attack::{self, Findings, Published, labels_of_table};
use amidst_core::class::{Class, Sizes, TableStats};
use amidst_core::frequency::{self, Entry, Groups};
use amidst_core::internal::sets::Classes;
use amidst_core::model::{self, Level, MODELS, Needs, Sensitive};
use amidst_core::parameter::{Parameters, Value as Stated};
use amidst_core::requirement::SensitiveDomain;
use amidst_core::requirement::{Evaluator, Requirement};
use amidst_core::risk::Risk;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::Failure;
use crate::json::RequirementVerdict;
use crate::policy::{MissingRows, Policy, Role};
use crate::population::{Population, PopulationRisk};
use crate::prepare::{LoadOptions, Prepared, header, read_options};

pub use survey::{ColumnRisk, Scores, SetRisk, Survey, survey, survey_watched};

/// What an audit found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Audit {
    /// The number of rows.
    pub rows: u64,
    /// The number of classes.
    pub classes: u64,
    /// The names of the quasi columns.
    pub quasi: Vec<String>,
    /// The strongest parameters that hold, of the table and per sensitive column.
    pub measured: Vec<Measured>,
    /// Re-identification risk.
    pub risk: Risk,
    /// What the population adds to it, once [`Audit::add_population`] was asked.
    pub population: PopulationRisk,
    /// (class size, number of classes of that size).
    pub sizes: Sizes,
    /// What each attack learned, per sensitive column.
    pub attacks: Vec<(&'static str, Vec<(String, Findings)>)>,
    /// The requirements of the policy, with their verdicts.
    pub requirements: Vec<RequirementVerdict>,
    /// The classes of each set of quasi columns, where the policy has several.
    pub sets: Vec<Classes>,
    /// Whether all of them hold.
    pub holds: bool,
    /// What in the policy is usable, but probably not meant.
    pub remarks: Vec<String>,
}

/// The strongest parameter of one model.
#[derive(Debug)]
pub struct Measured {
    /// The sensitive column; none for models of class sizes.
    pub column: Option<String>,
    /// The name of the figure, such as `entropy_l`.
    pub key: &'static str,
    /// For a model measured at several values of another parameter, that value.
    pub at: Option<u64>,
    /// The model.
    pub model: &'static model::Entry,
    /// The strongest value.
    pub level: Level,
}

/// Reads a table that may already be published, under a policy for the table it was or will be made from.
///
/// Its quasi values may be labels, so they have no type and no hierarchy here, and columns that are never published may
/// be absent. Returns the policy that was really used.
///
/// Without a policy, what the table does not say by itself (its encoding, its sheet) is guessed.
pub fn load(policy: &Policy, data: &str, options: &LoadOptions<'_>) -> Result<(Policy, Prepared), Failure> {
    match load_as_stated(policy, data, options) {
        Err(Failure::Read(_)) if policy.origin.path().is_none() && data != "-" => {
            let mut policy = policy.clone();
            policy.data.conventions = crate::init::needed_conventions(data)?;
            load_as_stated(&policy, data, options)
        }
        loaded => loaded,
    }
}

fn load_as_stated(policy: &Policy, data: &str, options: &LoadOptions<'_>) -> Result<(Policy, Prepared), Failure> {
    // A stream can be read only once, so there the policy must name just the columns that are there.
    let mut stated = policy.clone();
    // What is stated about the policy's own table does not hold for another, such as a release of it.
    let own = policy.data.input.as_deref().map(|input| policy.origin.resolve_source(input));
    if own.is_none_or(|own| own != data && Path::new(&own).canonicalize().ok() != Path::new(data).canonicalize().ok()) {
        stated.data.conventions = Default::default();
        stated.data.separator = None;
    }
    let header = if data == "-" { None } else { Some(header(data, &read_options(&stated)?)?) };
    let options = LoadOptions { input: Some(data.to_string()), ..options.clone() };
    if bounds::may_be_parted(&stated, header.as_deref()) {
        let input = bounds::read(&stated, data, &options)?;
        let policy = policy_for_table(&stated, Some(&input.header), amidst_io::may_have_nulls(data));
        let prepared = Prepared::of_input(&policy, input, &options)?;
        return Ok((policy, prepared));
    }
    let policy = policy_for_table(&stated, header.as_deref(), amidst_io::may_have_nulls(data));
    let prepared = Prepared::load(&policy, &options)?;
    Ok((policy, prepared))
}

fn policy_for_table(policy: &Policy, header: Option<&[String]>, nulls: bool) -> Policy {
    let mut policy = policy.clone();
    if let Some(header) = header {
        policy.columns.retain(|c| c.role.published() || header.contains(&c.name));
    }
    // Insensitive columns have no part in an audit, unless an unknown cell in one of them drops the row.
    let known = policy.data.missing.is_empty() && !nulls;
    let unread = known || policy.data.missing_rows == MissingRows::Keep;
    for column in policy.columns.iter_mut().chain(&mut policy.default) {
        if column.role == Role::Insensitive && unread {
            column.role = Role::Identifying;
        }
        if column.publishes_labels() {
            // Whether values or labels stand in the table, they are taken as they are written.
            (column.hierarchy, column.level) = (None, None);
        }
        if column.role == Role::Quasi {
            column.hierarchy = None;
            column.kind = Some(amidst_core::table::ValueType::Text);
            column.generalize = None;
            column.order.clear();
        }
    }
    policy
}

/// Audits a prepared table against the requirements of `policy`. `stated` is the policy as it was written: its
/// hierarchies tell what labels mean where the table is held against a population.
///
/// # Errors
/// When the table cannot be joined with a population.
pub fn audit(stated: &Policy, policy: &Policy, prepared: &Prepared) -> Result<Audit, Failure> {
    let set = &prepared.set;
    let sizes = Sizes::collect(set.groups.iter().filter(|e| !e.is_empty()).map(frequency::size));
    let labels = labels_of_table(set, &prepared.table, &prepared.quasi);
    let published = Published::new(set, &set.groups, &prepared.domains).with_labels(&labels);
    let covered: Vec<Option<Vec<Vec<u32>>>> = (prepared.requirements.iter())
        .map(|requirement| cover::covered(stated, prepared, &published, requirement))
        .collect::<Result<_, _>>()?;
    let sets: Vec<Classes> = prepared.sets.iter().map(|columns| Classes::of_table(set, &labels, columns)).collect();
    if let Some(r) = prepared.requirements.iter().find(|r| !sets.is_empty() && r.needs() == Needs::Tuples) {
        prepared.refuse_sets(policy, r.model.id)?;
    }
    let ((measured, requirements, holds), found) = rayon::join(
        || measure(policy, prepared, &sizes, &covered, &sets),
        || {
            let columns = (0..prepared.domains.len()).into_par_iter();
            columns.map(|c| attack::audit(&published, c)).collect::<Vec<_>>()
        },
    );
    let mut attacks: Vec<(&'static str, Vec<(String, Findings)>)> = Vec::new();
    for (domain, found) in prepared.domains.iter().zip(found) {
        for (entry, findings) in found {
            // An attack that does not apply to the column has nothing to tell.
            let Ok(findings) = findings else { continue };
            match attacks.iter_mut().find(|(id, _)| *id == entry.id) {
                Some((_, columns)) => columns.push((domain.name.clone(), findings)),
                None => attacks.push((entry.id, vec![(domain.name.clone(), findings)])),
            }
        }
    }

    Ok(Audit {
        rows: set.rows,
        classes: sizes.classes(),
        quasi: prepared.quasi.iter().map(|&c| prepared.table.columns[c].name.clone()).collect(),
        measured,
        risk: Risk::of(&sizes),
        population: PopulationRisk::default(),
        sizes,
        attacks,
        requirements,
        sets,
        holds,
        // Columns that a caller names state no requirement, on purpose.
        remarks: if policy.requirements.is_empty() { Vec::new() } else { prepared.remarks.clone() },
    })
}

/// The strongest parameter of every model, and the requirements with their verdicts.
///
/// `covered` has for each requirement with a population the tuples that each class covers.
fn measure(
    policy: &Policy,
    prepared: &Prepared,
    sizes: &Sizes,
    covered: &[Option<Vec<Vec<u32>>>],
    sets: &[Classes],
) -> (Vec<Measured>, Vec<RequirementVerdict>, bool) {
    let set = &prepared.set;
    // Most classes of a raw table look alike: each look is measured once.
    let looks = if set.persons { set.groups.clone() } else { distinct_looks(&set.groups) };
    let views: Vec<View> = (0..prepared.domains.len()).into_par_iter().map(|c| View::of(prepared, &looks, c)).collect();
    let sizes_only = View::of_sizes(sizes);

    let measured = probes(&prepared.domains)
        .into_par_iter()
        .flat_map_iter(|probe| {
            let view = probe.column.map_or(&sizes_only, |c| &views[c]);
            let (level, further) = view.measure(&probe.requirement, sizes);
            let named = [(Some(probe.key), level), (probe.further, further)];
            let column = probe.column.map(|c| prepared.domains[c].name.clone());
            let (at, model) = (probe.at, probe.requirement.model);
            named.into_iter().filter_map(move |(key, level)| {
                Some(Measured { column: column.clone(), key: key?, at, model, level: level? })
            })
        })
        .collect();

    let evaluator = Evaluator::new(set, &prepared.requirements);
    let mut holds = true;
    let mut requirements = Vec::new();
    if !sets.is_empty() {
        for (at, classes) in sets.iter().enumerate() {
            for (r, stated) in policy.requirements.iter().enumerate() {
                let (satisfied, level) = evaluator.judge(r, &classes.groups);
                holds &= satisfied;
                let further = evaluator.further(r, &classes.groups);
                let verdict = RequirementVerdict::of(stated, satisfied, level.iter().chain(&further));
                requirements.push(verdict.of_set(prepared.set_names(at)));
            }
        }
        return (measured, requirements, holds);
    }
    for (r, stated) in policy.requirements.iter().enumerate() {
        let classes = match prepared.requirements[r].needs() {
            Needs::Size | Needs::Histogram => &looks,
            Needs::Tuples | Needs::Release => &set.groups,
        };
        let (satisfied, level) = evaluator.judge_covering(r, classes, |class| match covered.get(r) {
            Some(Some(covered)) => covered.get(class).cloned().unwrap_or_default(),
            // Without a population a class stands for its own tuple and no other.
            _ => vec![class as u32],
        });
        holds &= satisfied;
        let further = evaluator.further(r, classes);
        requirements.push(RequirementVerdict::of(stated, satisfied, level.iter().chain(&further)));
    }
    (measured, requirements, holds)
}

/// A model to be measured.
struct Probe {
    column: Option<usize>,
    key: &'static str,
    at: Option<u64>,
    /// The name of the second figure.
    further: Option<&'static str>,
    requirement: Requirement,
}

/// How far a swept parameter goes: a list of dozens of figures is of no use.
const SWEEP_LIMIT: u64 = 10;

/// Every model that can be measured on a table, for every sensitive column.
fn probes(domains: &[SensitiveDomain]) -> Vec<Probe> {
    let mut probes = Vec::new();
    for model in MODELS {
        let columns: Vec<Option<usize>> = match model.sensitive {
            Sensitive::None => vec![None],
            Sensitive::One | Sensitive::OneOrMany => (0..domains.len()).map(Some).collect(),
        };
        for column in columns {
            for audit in model.audit {
                let distinct = column.map_or(0, |c| domains[c].dictionary.len() as u64);
                let swept: Vec<Option<u64>> = match audit.sweep {
                    None => vec![None],
                    Some(_) => (2..=distinct.min(SWEEP_LIMIT)).map(Some).collect(),
                };
                for at in swept {
                    let mut parameters = Parameters::default();
                    for (key, value) in audit.parameters {
                        parameters.set(key, Stated::Text((*value).to_string()));
                    }
                    if let (Some(key), Some(value)) = (audit.sweep, at) {
                        parameters.set(key, Stated::Number(value.into()));
                    }
                    // A model that cannot be built here (no order, no categories, no population) has nothing to
                    // measure.
                    if let Ok(requirement) = Requirement::new(model, parameters, column.into_iter().collect(), domains)
                    {
                        probes.push(Probe { column, key: audit.key, at, further: audit.further, requirement });
                    }
                }
            }
        }
    }
    probes
}

/// The classes of a table through one sensitive column, each look once.
struct View {
    table: TableStats,
    /// The size and the histogram of each look, the latter as a range of `pairs`.
    looks: Vec<(u64, Range<usize>)>,
    pairs: Vec<(u32, u64)>,
}

impl View {
    fn of(prepared: &Prepared, looks: &Groups, column: usize) -> Self {
        let set = &prepared.set;
        let histogram = frequency::histogram(set, &set.groups.entries, column);
        let table = TableStats { size: frequency::size(&set.groups.entries), histogram, ..TableStats::default() };
        let mut view = View { table, looks: Vec::with_capacity(looks.len()), pairs: Vec::new() };
        // Tables with several sensitive columns have more looks than this column has.
        let several = set.persons || set.sensitive_width > 1;
        let mut seen: FxHashSet<(u64, Vec<(u32, u64)>)> = FxHashSet::default();
        let mut histogram = Vec::new();
        for entries in looks.iter().filter(|e| !e.is_empty()) {
            let size = frequency::size(entries);
            frequency::histogram_into(set, entries, column, &mut histogram);
            let start = view.pairs.len();
            if !several || seen.insert((size, histogram.clone())) {
                view.pairs.extend_from_slice(&histogram);
                view.looks.push((size, start..view.pairs.len()));
            }
        }
        view
    }

    /// Class sizes alone, for models without a sensitive column.
    fn of_sizes(sizes: &Sizes) -> Self {
        let table = TableStats { size: sizes.persons(), ..TableStats::default() };
        View { table, looks: sizes.counts.iter().map(|&(size, _)| (size, 0..0)).collect(), pairs: Vec::new() }
    }

    /// The strongest parameter of the requirement's model that every look satisfies, and the strongest second one.
    fn measure(&self, requirement: &Requirement, sizes: &Sizes) -> (Option<Level>, Option<Level>) {
        let Some(model) = requirement.models.first() else { return (None, None) };
        if model.needs() == Needs::Release {
            return (model.measure_release(sizes), None);
        }
        let class = |(size, range): &(u64, Range<usize>)| Class {
            size: *size,
            histogram: &self.pairs[range.clone()],
            tuples: &[],
        };
        let level = self.looks.par_iter().map(|look| model.measure(&class(look), &self.table));
        let further = self.looks.par_iter().filter_map(|look| model.further(&class(look), &self.table));
        (level.reduce_with(Level::worst), further.reduce_with(Level::worst))
    }
}

/// One class for each distinct list of entries.
fn distinct_looks(groups: &Groups) -> Groups {
    let mut seen: FxHashSet<&[Entry]> = FxHashSet::default();
    let mut looks = Groups { offsets: vec![0], entries: Vec::new() };
    for entries in groups.iter().filter(|e| !e.is_empty()) {
        if seen.insert(entries) {
            looks.entries.extend_from_slice(entries);
            looks.offsets.push(looks.entries.len());
        }
    }
    looks
}

impl Audit {
    /// Holds the table against the population that a policy speaks of. `stated` is the policy as it was written: its
    /// hierarchies tell what labels mean.
    ///
    /// # Errors
    /// When the population cannot be read or joined with the table.
    pub fn add_population(&mut self, stated: &Policy, prepared: &Prepared) -> Result<(), Failure> {
        let labels = labels_of_table(&prepared.set, &prepared.table, &prepared.quasi);
        let published = Published::new(&prepared.set, &prepared.set.groups, &prepared.domains).with_labels(&labels);
        let quasi: Vec<&str> = self.quasi.iter().map(String::as_str).collect();
        self.population = Population::of(stated, &quasi)?.against(&published, &self.risk)?;
        Ok(())
    }
}

/// A level for people: `3`, `2.8284`, `any` or `none`, rounded to the side that holds.
pub fn level_text(level: &Level) -> String {
    level.figure()
}
