//! Checks that a certificate follows from a policy: same columns, requirements, limits and counting of persons.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{ColumnSaid, Limit, PolicySaid, RequirementSaid, Role, order};
use crate::certificate::{Accepted, Claim, On, SensitiveColumn};
use crate::models::{Domain, Looks, MODELS, stated_weights, weights};
use crate::number;
use crate::problem::{Problem, ProblemKind};

/// Which policy a certificate is compared with, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The one that the certificate itself carries.
    Certificate,
    /// A policy given by the caller.
    Given,
}

impl Owner {
    fn name(self) -> &'static str {
        match self {
            Owner::Certificate => "the policy in the certificate",
            Owner::Given => "the given policy",
        }
    }
}

/// The statements of a certificate that a policy determines.
pub(crate) struct Said<'a> {
    /// The columns of the release; empty when a release without rows does not name them.
    pub published: &'a [String],
    pub quasi: &'a [String],
    pub sensitive: &'a [SensitiveColumn],
    /// Their published values; empty when the release cannot be read.
    pub domains: &'a [Arc<Domain>],
    pub claims: &'a [Claim],
    pub accepted: &'a [Accepted],
    /// Rows of the input that were not dropped for a missing value.
    pub kept: u64,
    pub suppressed: u64,
    pub masked: bool,
    pub persons: bool,
    pub waived: usize,
}

/// Every difference between the certificate and the policy.
pub(crate) fn follows(said: &Said<'_>, text: &str, owner: Owner) -> Vec<Problem> {
    let policy = match PolicySaid::parse(text) {
        Ok(policy) => policy,
        Err(what) => return vec![problem(owner, format!("cannot be followed: {what}"))],
    };
    let mut found = Vec::new();
    columns(said, &policy, &mut found);
    sensitive_columns(said, &policy, &mut found);
    requirements(said, &policy, &mut found);
    rows(said, &policy, &mut found);
    found.into_iter().map(|what| problem(owner, what)).collect()
}

/// The difference between the last day of the certificate's own policy and that of a given one.
pub(crate) fn lasts_as_long(own: &str, given: &str) -> Option<Problem> {
    // Policies that cannot be read are reported by [`follows`].
    let [own, given] = [own, given].map(|text| PolicySaid::parse(text).map(|policy| policy.valid_until));
    let (Ok(own), Ok(given)) = (own, given) else { return None };
    let until = |day: Option<toml::value::Date>| day.map_or("without end".to_string(), |day| format!("until {day}"));
    let what = || format!("lets the release be relied on {}, the certificate {}", until(given), until(own));
    (own != given).then(|| problem(Owner::Given, what()))
}

fn problem(owner: Owner, what: String) -> Problem {
    Problem::violation(ProblemKind::Policy, format!("{} {what}", owner.name()))
}

/// Every published column must have a role that may be published, and the certificate must list it under that role.
fn columns(said: &Said<'_>, policy: &PolicySaid, found: &mut Vec<String>) {
    let is_sensitive = |name: &String| said.sensitive.iter().any(|s| s.name == *name);
    for name in said.published {
        let Some(column) = policy.published(name, said.published) else {
            found.push(format!("does not name the column \"{name}\", which the release publishes"));
            continue;
        };
        let (quasi, sensitive) = (said.quasi.contains(name), is_sensitive(name));
        match column.role {
            role @ (Role::Identifying | Role::Key | Role::Consent) => {
                found.push(format!("makes \"{name}\" {}, but the release publishes it", role.name()));
            }
            Role::Quasi if !quasi => {
                found.push(format!(
                    "makes \"{name}\" quasi, but the certificate does not count it among its quasi columns"
                ));
            }
            Role::Sensitive if !sensitive => {
                found.push(format!("makes \"{name}\" sensitive, but the certificate does not list it as that"));
            }
            role @ (Role::Sensitive | Role::Insensitive) if quasi => {
                found.push(format!("makes \"{name}\" {}, but the certificate counts it as quasi", role.name()));
            }
            role @ (Role::Quasi | Role::Insensitive) if sensitive => {
                found.push(format!("makes \"{name}\" {}, but the certificate lists it as sensitive", role.name()));
            }
            _ => {}
        }
    }
    for Accepted { column, reason } in said.accepted {
        if policy.column(column).and_then(|own| own.accept.as_ref()) != Some(reason) {
            found.push(format!("does not give the reason that the certificate gives for publishing \"{column}\""));
        }
    }
    if said.published.is_empty() {
        return;
    }
    // A quasi column that is in no set would be protected by no requirement.
    let listed: Vec<String> = policy.sets.iter().flatten().flat_map(|n| policy.names(n, said.published)).collect();
    for name in said.quasi.iter().filter(|name| !policy.sets.is_empty() && !listed.contains(name)) {
        found.push(format!("has sets of quasi columns, and \"{name}\" is in none of them"));
    }
    for column in policy.columns.iter().filter(|c| matches!(c.role, Role::Quasi | Role::Sensitive)) {
        if !policy.names(&column.name, said.published).iter().all(|name| said.published.contains(name)) {
            found.push(format!("makes \"{}\" {}, but the release lacks it", column.name, column.role.name()));
        }
    }
}

/// Order, categories and weights must be those of the policy.
fn sensitive_columns(said: &Said<'_>, policy: &PolicySaid, found: &mut Vec<String>) {
    for (at, stated) in said.sensitive.iter().enumerate() {
        let Some(column) = policy.column(&stated.name) else { continue };
        let name = &stated.name;
        if stated.categories.as_deref().unwrap_or_default() != column.categories.as_slice() {
            found.push(format!("sorts the values of \"{name}\" into other categories than the certificate"));
        } else if stated.weights.as_deref().is_some_and(|stated| !same_weights(stated, column)) {
            found.push(format!("gives the categories of \"{name}\" other weights than the certificate"));
        }
        let Some(order) = &stated.order else { continue };
        let domain = said.domains.get(at).map(|domain| &**domain);
        found.extend(order::fault(order, column, name, &policy.missing, domain));
    }
}

fn same_weights(stated: &[String], column: &ColumnSaid) -> bool {
    let uniform = Value::from("uniform");
    let wanted = weights(column.weights.as_ref().unwrap_or(&uniform), column.categories.len());
    matches!((stated_weights(stated, column.categories.len()), wanted), (Ok(stated), Ok(wanted)) if stated == wanted)
}

/// The same requirements, each the same number of times.
fn requirements(said: &Said<'_>, policy: &PolicySaid, found: &mut Vec<String>) {
    let lone = match said.sensitive {
        [only] => std::slice::from_ref(&only.name),
        _ => &[],
    };
    let mut open: Vec<&Claim> = said.claims.iter().collect();
    let sets: Vec<Option<Vec<String>>> = match &policy.sets[..] {
        [] => vec![None],
        sets => {
            let published = |set: &Vec<String>| set.iter().flat_map(|n| policy.names(n, said.published)).collect();
            sets.iter().map(|set| Some(published(set))).collect()
        }
    };
    for (set, wanted) in sets.iter().flat_map(|set| policy.requirements.iter().map(move |wanted| (set, wanted))) {
        match open.iter().position(|claim| claim.quasi == *set && same(wanted, claim, lone)) {
            Some(at) => drop(open.remove(at)),
            None => {
                let near = said.claims.iter().find(|claim| claim.model == wanted.model);
                let instead = near.map(|claim| format!(", the certificate has {}", shown(&claim.parameters)));
                let by = set.as_ref().map(|set| format!(" by {}", set.join(", "))).unwrap_or_default();
                let on = if wanted.on.is_empty() { String::new() } else { format!(" on {}", wanted.on.join(", ")) };
                found.push(format!(
                    "requires {}{on}{by} with {}{}",
                    wanted.model,
                    shown(&wanted.parameters),
                    instead.unwrap_or_else(|| ", which the certificate does not list".into())
                ));
            }
        }
    }
    for claim in open {
        if !policy.requirements.iter().any(|wanted| wanted.model == claim.model) {
            found.push(format!("does not require {}, which the certificate lists", claim.model));
        } else if !sets.contains(&claim.quasi) {
            found.push(format!("requires {} of other quasi columns than the certificate", claim.model));
        } else if policy.requirements.iter().any(|wanted| same(wanted, claim, lone)) {
            found.push(format!("requires {} less often than the certificate lists it", claim.model));
        }
    }
}

fn shown(parameters: &Map<String, Value>) -> String {
    let one = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name} = {text}"),
        other => format!("{name} = {other}"),
    };
    if parameters.is_empty() {
        "no parameters".into()
    } else {
        parameters.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

fn same(wanted: &RequirementSaid, claim: &Claim, lone: &[String]) -> bool {
    let looks = MODELS.iter().find(|entry| entry.id == claim.model).map(|entry| entry.looks);
    let on = match &claim.on {
        Some(on @ (On::One(_) | On::Many(_))) => on.names(),
        None if looks == Some(Looks::Sensitive) => lone,
        None => &[],
    };
    wanted.model == claim.model
        && wanted.on == on
        && wanted.parameters.len() == claim.parameters.len()
        && wanted
            .parameters
            .iter()
            .all(|(name, value)| claim.parameters.get(name).is_some_and(|stated| same_parameter(name, value, stated)))
}

/// Parameters that name values of a column or choices are compared as texts, all others as exact numbers.
const TEXTS: &[&str] = &["value", "dont_care", "no_negative", "categories", "distance"];

fn same_parameter(name: &str, wanted: &Value, stated: &Value) -> bool {
    match name {
        // A public policy may give the file name only, because the owner's paths are private.
        "population" => file_name(wanted).is_some() && file_name(wanted) == file_name(stated),
        _ => same_value(wanted, stated, TEXTS.contains(&name)),
    }
}

fn file_name(value: &Value) -> Option<&str> {
    value.as_str().map(|text| text.rsplit(['/', '\\']).next().unwrap_or(text))
}

fn same_value(wanted: &Value, stated: &Value, as_text: bool) -> bool {
    match (wanted, stated) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b, as_text))
        }
        // A single value may stand for a list of one.
        (Value::Array(a), b) if a.len() == 1 && !b.is_object() => same_value(&a[0], b, as_text),
        (a, Value::Array(b)) if b.len() == 1 && !a.is_object() => same_value(a, &b[0], as_text),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same_value(a, b, as_text)))
        }
        (Value::Bool(a), Value::Bool(b)) => a == b,
        _ => {
            let text = |value: &Value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(n) => Some(n.to_string()),
                Value::Bool(flag) if as_text => Some(flag.to_string()),
                _ => None,
            };
            let (Some(a), Some(b)) = (text(wanted), text(stated)) else { return false };
            let exact = || Some((number::parse(&a).ok()?, number::parse(&b).ok()?));
            a == b || (!as_text && exact().is_some_and(|(a, b)| a == b))
        }
    }
}

/// The limits on rows, and the statements on persons and consent.
fn rows(said: &Said<'_>, policy: &PolicySaid, found: &mut Vec<String>) {
    let consent = policy.columns.iter().find(|c| c.role == Role::Consent);
    let limit = match &policy.limit {
        Limit::Rows(rows) => rows.clone(),
        Limit::Share(share) => share * number::whole(said.kept),
    };
    if number::whole(said.suppressed) > limit {
        let limit = limit.floor().to_integer();
        found.push(format!("lets {limit} rows be suppressed, the certificate has {}", said.suppressed));
    }
    if policy.masked != said.masked {
        let word = |masked| if masked { "mask" } else { "drop" };
        let (wanted, stated) = (word(policy.masked), word(said.masked));
        found.push(format!("says that suppressed rows are {wanted}, the certificate {stated}"));
    }
    if said.persons && !policy.has(Role::Key) {
        found.push("has no key column, but the certificate counts persons".into());
    }
    if said.waived > 0 && consent.is_none_or(|c| c.joins) {
        found.push(format!("lets nobody waive protection, but the certificate has {} waived rows", said.waived));
    }
}
