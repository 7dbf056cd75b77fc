//! Whether all versions of a series together keep what the policy promises, in words and numbers.
//!
//! [`PublishedState`] is what was published; [`PublishedState::audit`] judges it, alone or together with a version that
//! is about to be published: nothing needs to be written for that, so a plan can be judged before it is carried out.

use amidst_core::internal::series::{Audit, ColumnFindings, Judge, audit, tables};
use amidst_core::internal::worlds::{Effort, Version};

use super::domain::with_role;
use super::exposure::{ColumnExposure, RequirementAudit};
use super::links::Links;
use super::record::{PublishedState, Record, VersionHistory, load};
use super::state::kept;
use super::{Series, explain, promised};
use crate::Failure;
use crate::job::Job;
use crate::policy::{Policy, Role};

/// What all versions of a series leave of what the policy promises.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SeriesAudit {
    /// The versions that were looked at.
    pub versions: u64,
    /// Persons in any of them.
    pub persons: usize,
    /// Persons about whom everything is known that the versions tell: all worlds were counted.
    pub exact: usize,
    /// Persons about whom a bound on the safe side tells.
    pub bound: usize,
    /// Persons whose value has changed.
    pub contradicted: usize,
    /// Persons who are left with less than the policy promises.
    pub exposed: usize,
    /// Those of them who were so before the version that is about to be published; `None` where none is.
    pub before: Option<usize>,
    /// The numbers of those who are so now and were not before, ascending, as the audit knows them. Private.
    pub newly: Vec<u32>,
    /// Each requirement of the policy.
    pub requirements: Vec<RequirementAudit>,
    /// Each sensitive column.
    pub columns: Vec<ColumnAudit>,
    /// Rows that columns which are published as they are link between versions.
    pub links: Vec<Links>,
}

/// The audit of one sensitive column.
#[derive(Debug, Clone)]
pub struct ColumnAudit {
    /// The column.
    pub column: String,
    /// The number of values that the policy promises for everybody.
    pub promised: usize,
    /// What was found.
    pub findings: ColumnFindings,
    /// The worst cases, with the values in words.
    pub worst: Vec<ColumnExposure>,
}

/// "1 person", "2 persons".
fn persons(n: usize) -> String {
    if n == 1 { "1 person".to_string() } else { format!("{n} persons") }
}

impl SeriesAudit {
    /// Whether the versions together leave less than the policy promises, as far as the contrary is not proven.
    pub fn finds_leaks(&self) -> bool {
        self.exposed > 0
    }

    /// How it was found out.
    pub fn method(&self) -> String {
        match self.bound {
            0 => format!("exact for all {}", persons(self.persons)),
            bound => format!("exact for {}, a bound on the safe side for {bound}", persons(self.exact)),
        }
    }

    /// In one sentence.
    pub fn sentence(&self) -> String {
        let mut parts = Vec::new();
        for r in self.requirements.iter().filter(|r| r.below > 0) {
            let unproven = match r.unproven {
                0 => String::new(),
                n => format!(" ({n} of them by a bound, not for certain)"),
            };
            let on = if r.on.is_empty() { String::new() } else { format!(" on `{}`", r.on.join("`, `")) };
            let are = if r.below == 1 { "is" } else { "are" };
            parts.push(format!("{} {are} below {}{on}{unproven}", persons(r.below), r.model));
        }
        for c in &self.columns {
            if c.findings.certain > 0 {
                parts.push(format!("`{}` of {} is certain", c.column, persons(c.findings.certain)));
            }
            if c.findings.unproven > 0 {
                parts.push(format!("`{}` of {} is not proven to be open", c.column, persons(c.findings.unproven)));
            }
        }
        parts.extend(self.links.iter().map(Links::sentence));
        if let Some(before) = self.before.filter(|&before| before > 0) {
            parts.push(format!("{before} of the {} concerned were so before", persons(self.exposed)));
        }
        if parts.is_empty() { "nothing".into() } else { parts.join("; ") }
    }
}

impl Series {
    /// Audits every version that was published.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn audit(&self, job: &Job<'_>) -> Result<SeriesAudit, Failure> {
        let work = self.store.read_whole()?;
        let names = kept(&self.policy, &self.header);
        PublishedState::load(&work, &self.policy, &names, job)?.audit(&self.policy, None)
    }

    /// What was published so far: for each sensitive column its name and every version, the oldest first.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn versions(&self) -> Result<Vec<(String, Vec<Version>)>, Failure> {
        let work = self.store.read_whole()?;
        let columns = sensitive(&self.policy, &kept(&self.policy, &self.header));
        let count = columns.len();
        Ok(columns.into_iter().map(|(_, name)| name).zip(load(&work, count)?).collect())
    }
}

/// The sensitive columns, with their position among the kept ones.
pub(super) fn sensitive(policy: &Policy, kept: &[String]) -> Vec<(usize, String)> {
    let positions = with_role(policy, kept, Role::Sensitive);
    positions.into_iter().map(|position| (position, kept[position].clone())).collect()
}

impl PublishedState {
    /// Judges what was published, and with it a version that is about to be. Nothing is changed.
    ///
    /// # Errors
    /// When the version speaks of values that the state does not know.
    pub fn audit(&self, policy: &Policy, next: Option<&Record>) -> Result<SeriesAudit, Failure> {
        let Some(next) = next else { return Ok(self.judge(policy, &self.seen)) };
        let mut found = self.judge(policy, &self.with(next)?);
        let before = if found.finds_leaks() { self.judge(policy, &self.seen).newly } else { Vec::new() };
        found.before = Some(before.len());
        found.newly.retain(|who| before.binary_search(who).is_err());
        Ok(found)
    }

    fn judge(&self, policy: &Policy, seen: &VersionHistory) -> SeriesAudit {
        let history = seen.history();
        let tables = tables(&history, &self.set);
        let judge = Judge::new(&self.set, &tables, &self.prepared.requirements);
        let found = audit(&history, &judge, &Effort::default());
        let requirements = policy.requirements.iter().zip(&found.requirements);
        let requirements: Vec<RequirementAudit> = requirements
            .map(|(stated, kept)| RequirementAudit {
                model: stated.model.id,
                on: stated.on.clone(),
                applied: kept.applied,
                below: kept.below,
                unproven: kept.unproven,
            })
            .collect();
        let Audit { versions, persons, exact, bound, contradicted, exposed, columns, who: newly, .. } = found;
        let words = explain::Words { known: self, requirements: &requirements };
        let columns = self.prepared.domains.iter().zip(columns).enumerate();
        let columns = columns.map(|(at, (domain, findings))| ColumnAudit {
            column: domain.name.clone(),
            promised: promised(policy, &domain.name),
            worst: findings.worst.iter().map(|worst| words.exposure(at, worst)).collect(),
            findings,
        });
        let columns = columns.collect();
        let (versions, before, links) = (versions as u64, None, seen.links());
        SeriesAudit {
            versions,
            persons,
            exact,
            bound,
            contradicted,
            exposed,
            before,
            newly,
            requirements,
            columns,
            links,
        }
    }
}
