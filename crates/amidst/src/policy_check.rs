//! `amidst check`: everything that is wrong at once, or a summary of what is right.

use amidst_check::Accepted;
use amidst_core::internal::sensitive::belief::contradicted;
use amidst_core::internal::sets;
use amidst_core::model::Needs;
use amidst_core::search::{Impossible, SearchError, feasibility};
use amidst_core::table::ValueType;
use amidst_io::Format;

use crate::Failure;
use crate::folder::never_written;
use crate::plan::{ignored_settings, stated_algorithm, task};
use crate::policy::{Diagnostic, Policy, PolicyErrors, Role};
use crate::prepare::{Fitted, LoadOptions, PrepareError, Prepared, alike, consent, giveaway};
use crate::release::show;
use crate::search::search;
use crate::unique::accepted;
use crate::words::counted;

/// What a check found.
#[derive(Debug)]
pub enum Finding {
    /// Nothing is wrong; this is what was found.
    Fits(Summary),
    /// Usable, but probably not what was meant.
    Remark(String),
    /// The policy fits, but no release of the data can satisfy it; why, and what would be possible.
    Impossible(Impossible),
    /// The policy does not fit the data; all of it.
    Wrong(PolicyErrors),
    /// The input cannot be read.
    Unreadable(PrepareError),
}

/// A policy and a table that fit each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The rows that were read.
    pub rows: u64,
    /// The rows that are left out because a cell is unknown.
    pub rows_dropped_missing: u64,
    /// All columns of the input, in its order.
    pub columns: Vec<ColumnSummary>,
    /// The models that are required.
    pub requirements: usize,
    /// Rows, of those that are not left out, that are unique on the insensitive columns alone.
    pub unique_insensitive: u64,
    /// The columns that may single people out, each with the reason that the policy gives.
    pub accepted: Vec<Accepted>,
    /// The rows whose owner waived protection.
    pub waived: u64,
}

/// One column of the input.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSummary {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Its type, for quasi and sensitive columns.
    pub kind: Option<ValueType>,
    /// How many distinct values it has; `None` for identifying columns, which are not read.
    pub distinct: Option<u64>,
    /// The height of its hierarchy, where it has one.
    pub height: Option<usize>,
}

impl Finding {
    /// Whether this finding makes the check fail.
    pub fn is_error(&self) -> bool {
        matches!(self, Finding::Impossible(_) | Finding::Wrong(_) | Finding::Unreadable(_))
    }

    /// The process's exit code for this finding.
    pub fn exit_code(&self) -> u8 {
        match self {
            Finding::Fits(_) | Finding::Remark(_) => 0,
            Finding::Impossible(_) => 1,
            Finding::Wrong(_) => 2,
            Finding::Unreadable(error) => error.exit_code(),
        }
    }
}

/// Checks a policy and its hierarchies against the data, and whether the table as a whole rules a requirement out.
pub fn check(policy: &Policy, options: &LoadOptions<'_>) -> Vec<Finding> {
    check_and_prepare(policy, options).0
}

/// As [`check`]; also returns the table, ready to be searched, where the policy fits it at all.
pub fn check_and_prepare(policy: &Policy, options: &LoadOptions<'_>) -> (Vec<Finding>, Option<Prepared>) {
    let unfit = |error: PrepareError| match error {
        PrepareError::Policy(errors) => Finding::Wrong(errors),
        error => Finding::Unreadable(error),
    };
    let fitted = match Fitted::of(policy, options) {
        Ok(fitted) => fitted,
        Err(error) => return (vec![unfit(error)], None),
    };
    let output = policy.output.file.as_ref().and_then(|file| {
        never_written(file.as_ref()).or_else(|| Format::of_path(file.as_ref()).err().map(|e| e.to_string()))
    });
    let output = output.map(|why| policy.origin.error(&["output", "file"], why));
    let useless: Vec<Diagnostic> = policy.requires_nothing().into_iter().chain(output).collect();
    if !useless.is_empty() {
        return (vec![Finding::Wrong(policy.origin.errors(useless))], fitted.count(policy, options).ok());
    }
    let (unique, raw) = fitted.raw(policy);
    if !raw.is_empty() {
        return (vec![Finding::Wrong(policy.origin.errors(raw))], fitted.count(policy, options).ok());
    }
    let mut findings = vec![Finding::Fits(summary(policy, &fitted, unique))];
    findings.extend(fitted.bound.remarks.iter().map(|(c, r)| Finding::Remark(format!("the hierarchy of `{c}`: {r}"))));
    findings.extend(remarks(policy, &fitted).into_iter().map(Finding::Remark));
    match fitted.count(policy, options) {
        Ok(prepared) => {
            let mut prepared = prepared;
            let mut wrong = unsatisfiable(policy, &prepared, options);
            if let Some(Finding::Impossible(why)) = &wrong
                && prepared.may_protect_everyone()
            {
                prepared = prepared.protecting_everyone(&why.message);
                wrong = unsatisfiable(policy, &prepared, options);
            }
            findings.extend(contradictions(&prepared).map(Finding::Remark));
            // What is impossible does not fit, whatever else does.
            if let Some(finding) = wrong {
                findings[0] = finding;
            }
            (findings, Some(prepared))
        }
        Err(error) => (vec![unfit(error)], None),
    }
}

/// Why there is no release, where there is none. All rows as one class satisfy nearly every policy that can be
/// satisfied; only where they do not is it searched, because leaving out rows may help.
fn unsatisfiable(policy: &Policy, prepared: &Prepared, options: &LoadOptions<'_>) -> Option<Finding> {
    let job = options.control.quiet();
    // A search that cannot even be begun is reported where it is begun.
    let wanted = task(policy, prepared, &job).ok()?;
    if let Some(found) = feasibility::impossible(&wanted) {
        return Some(Finding::Impossible(found));
    }
    if let Some(entry) = stated_algorithm(policy).ok()? {
        let suited = match prepared.sets.is_empty() {
            true => entry.algorithm.supports(&wanted),
            false => sets::supports(&wanted, entry),
        };
        if let Err(SearchError::Unsupported(why)) = suited {
            let error = policy.origin.error(&["search", "algorithm"], why);
            return Some(Finding::Wrong(policy.origin.errors(vec![error.label("does not suit this policy")])));
        }
    }
    // What looks at single tuples can be lost as classes grow, and some algorithms say only then that they do not know
    // it.
    // Whether those who waived find a place is seen only then, too.
    let of_tuples = prepared.requirements.iter().any(|r| r.needs() == Needs::Tuples) || prepared.waived.is_some();
    if !of_tuples && policy.search.levels.is_empty() && feasibility::holds_as_one_class(&wanted) {
        return None;
    }
    match search(policy, prepared, &job) {
        Err(Failure::Impossible(why)) => Some(Finding::Impossible(why)),
        Err(failure) if failure.is_impossible() => Some(Finding::Impossible(failure.to_string().into())),
        Err(Failure::Usage(why)) => {
            let error = policy.origin.error(&["search", "algorithm"], why);
            Some(Finding::Wrong(policy.origin.errors(vec![error.label("does not suit this policy")])))
        }
        Ok(mut chosen) => match show(policy, prepared, &mut chosen.found, chosen.joined.as_ref()) {
            Err(Failure::Usage(why)) => {
                Some(Finding::Wrong(policy.origin.errors(vec![policy.origin.error_at_key(&["output"], why)])))
            }
            _ => None,
        },
        _ => None,
    }
}

fn summary(policy: &Policy, fitted: &Fitted, unique: u64) -> Summary {
    let of = |name: &String| {
        let role = policy.column(name).map_or(Role::Insensitive, |c| c.role);
        let position = fitted.table.position(name);
        let column = position.and_then(|p| fitted.table.columns.get(p));
        let quasi = fitted.bound.generalizations.iter().find(|g| g.name == *name);
        let sensitive = fitted.bound.sensitive.iter().flatten().find(|g| g.name == *name);
        ColumnSummary {
            name: name.clone(),
            role,
            kind: column.filter(|_| matches!(role, Role::Quasi | Role::Sensitive)).map(|c| c.kind),
            distinct: column.map(|c| c.dictionary.len() as u64),
            height: quasi.or(sensitive).map(|g| g.height()),
        }
    };
    Summary {
        rows: fitted.rows_in,
        rows_dropped_missing: fitted.rows_dropped_missing,
        columns: fitted.header.iter().map(of).collect(),
        requirements: fitted.requirements.len(),
        unique_insensitive: unique,
        accepted: accepted(policy, &fitted.header),
        waived: consent::waived(policy, &fitted.layout, &fitted.table).map_or(0, |w| w.rows.len() as u64),
    }
}

/// Rows to which a population, by which beliefs are judged, gives no share.
fn contradictions(prepared: &Prepared) -> impl Iterator<Item = String> {
    let of_beliefs = prepared.requirements.iter().filter(|r| r.needs() == Needs::Tuples && !r.counts_people());
    of_beliefs.filter_map(|r| {
        let (population, &[column]) = (r.population.as_ref()?, &r.on[..]) else { return None };
        let (_, rows) = contradicted(&prepared.set, population, column);
        (rows > 0).then(|| {
            format!(
                "the population of {} contradicts the table: nobody of it has the quasi values and the `{}` of {}",
                r.model.id,
                prepared.domains[column].name,
                counted(rows, "row")
            )
        })
    })
}

/// What is probably not meant.
fn remarks(policy: &Policy, fitted: &Fitted) -> Vec<String> {
    let mut remarks = fitted.remarks.clone();
    // An algorithm that does not exist is reported where it is looked up.
    remarks.extend(stated_algorithm(policy).iter().flat_map(|entry| ignored_settings(policy, *entry)));
    if fitted.bound.generalizations.iter().all(|g| !g.has_hierarchy) {
        remarks.push("no quasi column has a hierarchy: values are kept or become `*`".to_string());
    }
    remarks.extend(alike::labels(&fitted.layout, &fitted.table));
    remarks.extend(giveaway::remarks(policy, &fitted.layout.roles, &fitted.table));
    let sensitive = policy
        .with_role(Role::Sensitive)
        .filter(|name| !policy.requirements.iter().any(|r| r.on.iter().any(|on| on == name)));
    if !policy.requirements.is_empty() {
        remarks.extend(sensitive.map(|name| format!("no requirement protects the sensitive column `{name}`")));
    }
    remarks
}
