//! New values for a series: hierarchies, orders and categories that have grown.
//!
//! The policy of a series is the one that it began with; its versions are compared under it. Values that no row had
//! then come in by a policy that knows them as well, and says of all that the state knows what it said before: the same
//! labels and groups at every level, the same order, the same categories. A reason to publish a column as it is comes
//! in the same way. Everything else a series keeps.
//!
//! The state seals the files beside it, and both must change together. The new files are made in a folder of their own;
//! the state then seals those; then they are put in place. The next process that opens the series after a crash in
//! between finishes that.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use amidst_core::requirement::SensitiveDomain;

use super::choose::with_m;
use super::own_policy::own_policy;
use super::record::{prepare, values};
use super::state::kept;
use super::store::{Work, forget_shapes};
use super::{Series, private, state_files};
use crate::job::Job;
use crate::policy::{ColumnPolicy, Diagnostic, Policy, PolicyErrors};
use crate::prepare::{PrepareError, Prepared};
use crate::{Failure, Lacks, Remedy, files};

/// What a series was extended by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extended {
    /// The columns of which the policy says more than before, or says it in another way.
    pub columns: Vec<String>,
}

/// What is said of an insert whose values the policy does not know.
pub(super) fn advised(failure: Failure, folder: &Path) -> Failure {
    let Failure::Policy(mut errors) = failure else { return failure };
    for error in errors.list.iter_mut().filter(|error| error.lacks) {
        error.remedy = Some(Box::new(Remedy::ExtendSeries { folder: folder.to_path_buf(), lacks: Lacks::Value }));
    }
    Failure::Policy(errors)
}

/// What is said where columns that are published as they are do what they must not, in a series that has begun.
pub(super) fn reasoned(error: PrepareError, folder: &Path) -> Failure {
    let PrepareError::Policy(mut errors) = error else { return error.into() };
    for error in &mut errors.list {
        error.remedy = Some(Box::new(Remedy::ExtendSeries { folder: folder.to_path_buf(), lacks: Lacks::Reason }));
    }
    Failure::Policy(errors)
}

impl Series {
    /// Takes over what the hierarchies, orders and categories of `policy` say of values that nobody had so far.
    ///
    /// # Errors
    /// When the policy promises something else than that of the series, or says something else of a value that the
    /// state knows; then the series is as it was.
    pub fn extend(&mut self, policy: &Policy, job: &Job<'_>) -> Result<Extended, Failure> {
        let names = kept(&self.policy, &self.header);
        let differs = different(&self.policy, policy, &self.header);
        if !differs.is_empty() {
            return Err(Failure::Policy(policy.origin.errors(differs)));
        }
        let grown = grown(&self.policy, policy);
        let folder = self.folder.clone();
        let place = private(&folder);
        let work = self.store.write()?;
        work.check()?;
        let columns = {
            let values = values(&work)?;
            let before = prepare(&self.policy, &names, &values, job)?;
            let after = prepare(&grown, &names, &values, job)?;
            let errors = contradictions(policy, &before, &after);
            if !errors.list.is_empty() {
                return Err(Failure::Policy(errors));
            }
            let said = |name: &&String| text_of(&self.policy, name) != text_of(&grown, name);
            names.iter().filter(said).cloned().collect::<Vec<String>>()
        };
        if columns.is_empty() {
            return Err(Failure::Usage(
                "the policy says nothing of a hierarchy, an order or categories that the series does not know; nothing was \
                 changed"
                    .into(),
            ));
        }
        let staged = place.join(state_files::GROWN);
        let made = clear(&staged).and_then(|()| files::create_private_folder(&staged));
        made.map_err(|e| Failure::Io(format!("cannot write into {}: {e}", staged.display())))?;
        own_policy(&grown, &staged)?;
        renew(&work, &staged)?;
        work.commit()?;
        state_files::put_in_place(&place);
        self.policy = Policy::read(&place.join("policy.toml"))?;
        Ok(Extended { columns })
    }
}

fn clear(folder: &Path) -> std::io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Seals the files in `staged` instead of those in place. What is kept of the classes was shaped by the old
/// hierarchies, so the next batch makes it anew from the rows.
fn renew(work: &Work<'_>, staged: &Path) -> Result<(), Failure> {
    work.seal_files(&state_files::digest(staged))?;
    work.set_meta("extended", "1")?;
    forget_shapes(work).map_err(|e| work.fail(e))
}

/// What a policy promises otherwise than the series does.
fn different(own: &Policy, other: &Policy, header: &[String]) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    for name in header {
        let (Some(before), Some(after)) = (own.column(name), other.column(name)) else {
            if own.column(name).is_some() {
                errors.push(Diagnostic::new(format!("the policy says nothing of the column `{name}`")));
            }
            continue;
        };
        let mut refuse = |key: &str, same: bool| {
            if !same {
                let message = format!("a series keeps what it began with, and the {key} of `{name}` was another");
                errors.push(other.origin.error(&["columns", &after.name, key], message));
            }
        };
        refuse("role", before.role == after.role);
        refuse("type", after.kind.is_none() || before.kind == after.kind);
        refuse("generalize", before.generalize == after.generalize);
        refuse("weight", before.weight == after.weight);
        refuse("weights", before.weights == after.weights);
    }
    // A series may have derived its m from the other requirements.
    let derived = || with_m(other).is_some_and(|(derived, _)| derived.requirements == own.requirements);
    if own.requirements != other.requirements && !derived() {
        let message = "a series keeps what it promised, and the requirements were others";
        errors.push(other.origin.error_at_key(&["require"], message));
    }
    if own.data.missing != other.data.missing {
        let message = "a series keeps what it began with, and other values meant \"unknown\"";
        errors.push(other.origin.error(&["data", "missing"], message));
    }
    errors
}

/// The policy of the series, with the hierarchies, orders and categories of another.
fn grown(own: &Policy, other: &Policy) -> Policy {
    let mut grown = own.clone();
    for column in grown.columns.iter_mut().chain(&mut grown.default) {
        let stated = other.columns.iter().find(|c| c.name == column.name).or(other.default.as_ref());
        match stated.and_then(|c| c.hierarchy.clone()) {
            Some(hierarchy) => column.hierarchy = Some(hierarchy),
            None => absolute(own, column),
        }
        if let Some(stated) = stated {
            column.accept.clone_from(&stated.accept);
            column.order.clone_from(&stated.order);
            column.categories.clone_from(&stated.categories);
        }
    }
    grown.origin = other.origin.clone();
    grown
}

/// Names the file of a hierarchy by its whole path: the policy is read from another place.
fn absolute(own: &Policy, column: &mut ColumnPolicy) {
    for file in column.hierarchy_files_mut() {
        *file = own.origin.resolve(file).display().to_string();
    }
}

/// What a policy says of the values of a column, the texts of files included.
fn text_of(policy: &Policy, name: &str) -> String {
    let Some(column) = policy.column(name) else { return String::new() };
    let text = |file: &String| fs::read_to_string(policy.origin.resolve(file)).unwrap_or_default();
    let files: Vec<String> = column.hierarchy_files().map(text).collect();
    // Where the files are does not matter, only what they say.
    let mut without = column.clone();
    without.hierarchy_files_mut().for_each(String::clear);
    format!("{:?} {files:?} {:?} {:?} {:?}", without.hierarchy, column.order, column.categories, column.accept)
}

/// What is said otherwise than before of values that the state knows.
fn contradictions(policy: &Policy, before: &Prepared, after: &Prepared) -> PolicyErrors {
    let mut errors = Vec::new();
    let error = |name: &str, key: &str, what: &str| {
        let message = format!("{what} of values that the series knows in `{name}` would change");
        let help = "what was published with the old ones would mean something else; add values, and leave the others as they are";
        let section = policy.column(name).map_or(name, |c| c.name.as_str());
        policy.origin.error_at_key(&["columns", section, key], message).help(help)
    };
    for (old, new) in before.generalizations.iter().zip(&after.generalizations) {
        let values = |p: &Prepared| p.table.column(&old.name).map(|c| c.dictionary.clone()).unwrap_or_default();
        let (a, b) = (values(before), values(after));
        let both: Vec<(u32, u32)> = a.iter().zip(0u32..).filter_map(|(v, code)| Some((code, b.code(v)?))).collect();
        let same = |level: usize| {
            let label = |g: &amidst_core::hierarchy::Generalization, code: u32| {
                let node = g.levels[level].of[code as usize];
                (node, g.levels[level].labels[node as usize].clone())
            };
            let pairs = both.iter().map(|&(a, b)| (label(old, a), label(new, b)));
            let pairs: Vec<_> = pairs.collect();
            pairs.iter().all(|(a, b)| a.1 == b.1) && one_to_one(pairs.iter().map(|(a, b)| (a.0, b.0)))
        };
        if old.height() != new.height() || !(0..=old.height()).all(same) {
            errors.push(error(&old.name, "hierarchy", "labels or levels"));
        }
        if old.numeric != new.numeric || !both.is_sorted_by_key(|pair| pair.1) {
            errors.push(error(&old.name, "order", "the order"));
        }
    }
    for (old, new) in before.domains.iter().zip(&after.domains) {
        let both = old.dictionary.iter().zip(0u32..).filter_map(|(v, code)| Some((code, new.dictionary.code(v)?)));
        let both: Vec<(u32, u32)> = both.collect();
        if old.ordered != new.ordered || old.ordered && !both.is_sorted_by_key(|pair| pair.1) {
            errors.push(error(&old.name, "order", "the order"));
        }
        let category = |domain: &SensitiveDomain, code: u32| {
            let value = domain.dictionary.value(code);
            domain.categories.iter().position(|c| c.iter().any(|v| v == value))
        };
        let same = |&(a, b): &(u32, u32)| category(old, a) == category(new, b);
        if old.categories.len() != new.categories.len() || !both.iter().all(same) {
            errors.push(error(&old.name, "categories", "the categories"));
        }
        let levels = |domain: &SensitiveDomain| domain.levels.as_ref().map_or(0, Vec::len);
        let same = |level: usize| {
            let group = |domain: &SensitiveDomain, code: u32| domain.levels.as_ref().map(|l| l[level][code as usize]);
            one_to_one(both.iter().map(|&(a, b)| (group(old, a), group(new, b))))
        };
        if levels(old) != levels(new) || !(0..levels(old)).all(same) {
            errors.push(error(&old.name, "hierarchy", "the groups"));
        }
    }
    policy.origin.errors(errors)
}

/// Whether each on one side always meets the same on the other.
fn one_to_one<T: Ord + Copy>(pairs: impl Iterator<Item = (T, T)>) -> bool {
    let (mut there, mut back) = (BTreeMap::new(), BTreeMap::new());
    pairs.into_iter().all(|(a, b)| *there.entry(a).or_insert(b) == b && *back.entry(b).or_insert(a) == a)
}
