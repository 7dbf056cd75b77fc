//! From the rows of a series to what a version publishes: classes, counterfeits, and the recoding of both.

use std::collections::BTreeMap;

use amidst_core::hierarchy::Cell;
use amidst_core::internal::local::class::{Judge, Partition};
use amidst_core::internal::local::shape::{ShapeWord, Space};
use amidst_core::internal::random::Random;
use amidst_core::internal::series::{Invariant, Signed, m_invariant};
use amidst_core::model::{Needs, PrivacyModel};
use amidst_core::recoding::Recoding;
use amidst_core::requirement::SensitiveDomain;
use amidst_core::search::{Search, feasibility};
use amidst_core::table::Table;
use rustc_hash::FxHashMap;

use super::Mode;
use super::state::State;
use crate::Failure;
use crate::job::Job;
use crate::plan::task;
use crate::policy::{Policy, RequirePolicy, Role};
use crate::prepare::{LoadOptions, Prepared};
use crate::release::Judged;

/// A version, before it is a file.
pub struct Composed {
    /// The rows, followed by the counterfeits.
    pub prepared: Prepared,
    /// What becomes of them.
    pub recoding: Recoding,
    /// What the recoding satisfies and costs.
    pub judged: Judged,
    /// The published class of each row, counterfeits included.
    pub class_of: Vec<u32>,
    /// The group each row was put into, counterfeits included, before groups whose cells agree became one class.
    pub groups: Vec<u32>,
    /// Counterfeits; `None` where the mode has none.
    pub counterfeits: Option<u64>,
    /// The signature of each row, in the codes of the series; empty lists where the mode knows none.
    pub signatures: Vec<Vec<u32>>,
}

/// The rows of a state, ready to be searched.
pub fn prepare(policy: &Policy, mode: Mode, state: &State, job: &Job<'_>) -> Result<Prepared, Failure> {
    prepare_table(policy, table(policy, mode, state), job)
}

fn table(policy: &Policy, mode: Mode, state: &State) -> Table {
    // A signature may name a value that no row has any more.
    let sensitive = |name: &str| policy.column(name).is_some_and(|c| c.role == Role::Sensitive);
    state.table(|name| mode == Mode::MInvariant && sensitive(name))
}

fn prepare_table(policy: &Policy, table: Table, job: &Job<'_>) -> Result<Prepared, Failure> {
    if table.rows == 0 {
        return Err(Failure::Impossible("no row would be left, and a version needs some; nothing was changed".into()));
    }
    let options = LoadOptions { control: job.quiet(), ..LoadOptions::default() };
    Ok(Prepared::of_table(policy, table, &options)?)
}

/// How many different values, and so rows, each class of an m-invariant series has: its m, or more where another
/// requirement asks for larger classes. What is invariant for more values is so for m.
pub fn stated_m(policy: &Policy) -> Option<usize> {
    let models = || policy.requirements.iter().filter_map(model);
    let m = models().filter_map(|model| model.kept_values()).max()?;
    models().filter_map(|model| model.enough_different()).chain([m]).max().map(|m| m as usize)
}

/// Whether classes of m different values, or more, satisfy the whole policy whatever else is in the table.
pub fn follows_from_m(policy: &Policy) -> bool {
    beyond_m(policy).is_none()
}

/// The first requirement that classes of m different values, or more, need not satisfy.
pub fn beyond_m(policy: &Policy) -> Option<&'static str> {
    let m = stated_m(policy).unwrap_or(0) as u64;
    let enough = |r: &&RequirePolicy| model(r).and_then(|model| model.enough_different()).is_some_and(|n| n <= m);
    policy.requirements.iter().find(|r| !enough(r)).map(|r| r.model.id)
}

/// The model of a requirement, as far as it does not depend on the values of a column.
fn model(require: &RequirePolicy) -> Option<Box<dyn PrivacyModel>> {
    (require.model.build)(&require.parameters, &SensitiveDomain::default()).ok()
}

/// Fails when the policy is not one that a series can keep.
pub fn check_policy(policy: &Policy, prepared: &Prepared, mode: Mode) -> Result<(), Failure> {
    let refuse = |what: String| Err(Failure::Usage(what));
    if let Some(r) = prepared.requirements.iter().find(|r| r.needs() == Needs::Tuples) {
        return refuse(format!("a series cannot keep {}, which needs a population", r.model.id));
    }
    if let Some(r) = prepared.requirements.iter().find(|r| !r.monotone(&prepared.set)) {
        return refuse(format!("a series cannot keep {}: it may fail once valid classes merge", r.model.id));
    }
    if mode == Mode::MInvariant {
        if prepared.sensitive.len() != 1 {
            let n = prepared.sensitive.len();
            return refuse(format!("the mode m-invariant needs exactly one sensitive column, but the policy has {n}"));
        }
        if stated_m(policy).is_none() {
            let text = "the mode m-invariant needs to know m: add [[require]] with model = \"m-invariance\" and m = 4";
            return refuse(text.into());
        }
    }
    Ok(())
}

/// Composes the version that the rows of `state` make.
pub fn compose(policy: &Policy, mode: Mode, state: &State, job: &Job<'_>) -> Result<Composed, Failure> {
    let prepared = prepare(policy, mode, state, job)?;
    match mode {
        Mode::Maintain => {
            finish(policy, composed(policy, prepared, state.classes.clone(), None, Vec::new(), job)?, job)
        }
        Mode::MInvariant => {
            let made = invariant(policy, state, &prepared)?;
            let (table, classes) = with_counterfeits(policy, state, &prepared, &made);
            let known = known_codes(state, &prepared);
            let signatures = made.class_of.iter().map(|&class| {
                let mut codes: Vec<u32> = made.signatures[class as usize].iter().map(|&v| known[v as usize]).collect();
                codes.sort_unstable();
                codes
            });
            let signatures = signatures.collect();
            let counterfeits = Some(made.counterfeits.len() as u64);
            let prepared = prepare_table(policy, table, job)?;
            finish(policy, composed(policy, prepared, classes, counterfeits, signatures, job)?, job)
        }
    }
}

/// What the rows of `state` would be as the classes that they are in, which need not satisfy the policy: no version,
/// but what a safe one is made from.
pub fn compose_lacking(policy: &Policy, state: &State, job: &Job<'_>) -> Result<Composed, Failure> {
    let prepared = prepare(policy, Mode::Maintain, state, job)?;
    composed(policy, prepared, state.classes.clone(), None, Vec::new(), job)
}

/// Composes the version of maintained classes that are given: the group of each row of `state`, whose last rows are
/// counterfeits.
pub fn of_groups(
    policy: &Policy,
    state: &State,
    groups: &[u32],
    counterfeits: u64,
    job: &Job<'_>,
) -> Result<Composed, Failure> {
    let mut numbers: BTreeMap<u32, u32> = groups.iter().map(|&group| (group, 0)).collect();
    numbers.values_mut().zip(0u32..).for_each(|(number, next)| *number = next);
    let groups = groups.iter().map(|group| numbers.get(group).copied().unwrap_or(0)).collect();
    let prepared = prepare(policy, Mode::Maintain, state, job)?;
    let counterfeits = (counterfeits > 0).then_some(counterfeits);
    finish(policy, composed(policy, prepared, groups, counterfeits, Vec::new(), job)?, job)
}

/// The code in the series of each value of the one sensitive column.
fn known_codes(state: &State, prepared: &Prepared) -> Vec<u32> {
    let Some(domain) = prepared.domains.first() else { return Vec::new() };
    let column = state.names.iter().position(|n| *n == domain.name).unwrap_or(0);
    domain.dictionary.iter().map(|value| state.values[column].code(value).unwrap_or(u32::MAX)).collect()
}

fn invariant(policy: &Policy, state: &State, prepared: &Prepared) -> Result<Invariant, Failure> {
    let known = known_codes(state, prepared);
    let mut here: BTreeMap<u32, u32> = BTreeMap::new();
    here.extend(known.iter().zip(0u32..).map(|(&series, code)| (series, code)));
    let signature = |codes: &Vec<u32>| {
        let mut codes: Vec<u32> = codes.iter().filter_map(|c| here.get(c).copied()).collect();
        codes.sort_unstable();
        codes
    };
    let signatures: Vec<Vec<u32>> = state.signatures.iter().map(signature).collect();
    let set = &prepared.set;
    let tuple_of = set.tuple_of_entry();
    let rows: Vec<Signed<'_>> = prepared
        .entry_of_row
        .iter()
        .zip(&signatures)
        .map(|(&entry, signature)| Signed {
            codes: set.tuple(tuple_of[entry.index()] as usize),
            value: set.sensitive_code(set.groups.entries[entry.index()].sensitive, 0),
            signature,
        })
        .collect();
    let space = Space::new(&prepared.generalizations);
    let m = stated_m(policy).unwrap_or(2);
    m_invariant(&space, &rows, known.len(), m).map_err(|e| Failure::Impossible(e.to_string().into()))
}

/// The table with the counterfeits behind its rows, and the class of every row of it. A counterfeit has the quasi cells
/// of its class. Its insensitive cells are drawn from the whole column, each for itself: copied from one row they would
/// be that row's a second time, and tell which of the two is the counterfeit.
fn with_counterfeits(policy: &Policy, state: &State, prepared: &Prepared, made: &Invariant) -> (Table, Vec<u32>) {
    let mut table = table(policy, Mode::MInvariant, state);
    let mut classes = made.class_of.clone();
    let mut random = Random::new(policy.search.seed);
    let mut first = vec![0usize; made.signatures.len()];
    for (row, &class) in made.class_of.iter().enumerate().rev() {
        first[class as usize] = row;
    }
    for &(class, value) in &made.counterfeits {
        for column in &mut table.columns {
            let fake = prepared.domains.first().filter(|d| d.name == column.name);
            let quasi = || policy.column(&column.name).is_some_and(|c| c.role == Role::Quasi);
            match fake {
                Some(domain) => {
                    let value = domain.dictionary.value(value).to_string();
                    column.push(&value);
                }
                None if quasi() => column.codes.push(column.codes.get(first[class as usize])),
                None => column.codes.push(column.codes.get(random.below(made.class_of.len()))),
            }
        }
        classes.push(class);
        table.rows += 1;
    }
    (table, classes)
}

/// A version, if it satisfies the policy.
fn finish(policy: &Policy, composed: Composed, job: &Job<'_>) -> Result<Composed, Failure> {
    let Some(names) = composed.judged.failing() else { return Ok(composed) };
    // Where no version could, that is said, with the most that is possible.
    let impossible = feasibility::impossible(&task(policy, &composed.prepared, &job.quiet())?);
    Err(Failure::Impossible(impossible.unwrap_or_else(|| format!("the version would not satisfy {names}").into())))
}

fn composed(
    policy: &Policy,
    prepared: Prepared,
    classes: Vec<u32>,
    counterfeits: Option<u64>,
    signatures: Vec<Vec<u32>>,
    job: &Job<'_>,
) -> Result<Composed, Failure> {
    // What a series keeps stays valid as classes merge, so the requirements have no say in how rows are written.
    let search = task(policy, &prepared, &job.quiet())?;
    let judge = Judge::new(&Search { requirements: &[], ..search.clone() })?;
    let space = Space::new(&prepared.generalizations);
    let (partition, class_of) = partition(&prepared, &space, &classes);
    let tuple_of = prepared.set.tuple_of_entry();
    let recoding = partition.recoding(&prepared.set, &tuple_of, &space, &judge)?;
    let judged = Judged::of(policy, &prepared, &recoding, None);
    Ok(Composed { recoding, judged, class_of, groups: classes, counterfeits, signatures, prepared })
}

/// Classes as they are published: those whose cells agree are one. Also the published class of each row.
fn partition(prepared: &Prepared, space: &Space, classes: &[u32]) -> (Partition, Vec<u32>) {
    let tuple_of = prepared.set.tuple_of_entry();
    let mut shapes: BTreeMap<u32, Vec<ShapeWord>> = BTreeMap::new();
    for (&entry, &class) in prepared.entry_of_row.iter().zip(classes) {
        let codes = prepared.set.tuple(tuple_of[entry.index()] as usize);
        match shapes.get_mut(&class) {
            Some(shape) => space.add(shape, codes),
            None => {
                let mut shape = space.empty();
                space.start(&mut shape, codes);
                shapes.insert(class, shape);
            }
        }
    }
    let mut numbers: FxHashMap<Vec<Cell>, u32> = FxHashMap::default();
    let mut published: BTreeMap<u32, u32> = BTreeMap::new();
    for (class, shape) in shapes {
        let next = numbers.len() as u32;
        published.insert(class, *numbers.entry(space.cells(&shape)).or_insert(next));
    }
    let class_of: Vec<u32> = classes.iter().map(|class| published.get(class).copied().unwrap_or(0)).collect();
    let mut parts: Vec<BTreeMap<u32, u64>> = vec![BTreeMap::new(); numbers.len()];
    for (&entry, &class) in prepared.entry_of_row.iter().zip(&class_of) {
        *parts[class as usize].entry(entry.0).or_insert(0) += 1;
    }
    (Partition { classes: parts.into_iter().map(|p| p.into_iter().collect()).collect() }, class_of)
}
