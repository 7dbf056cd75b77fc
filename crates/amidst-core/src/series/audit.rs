//! The cross-release audit: whether all versions together keep what the policy promises.
//!
//! **The contract.** For everybody, what the possible [`worlds`](crate::worlds) of all versions leave (the values they
//! may have, and the share of the worlds in which they have each) is held against every requirement of the policy, as
//! if it were a class. Persons below are counted. Where worlds could not be counted a bound on the safe side takes
//! their place: a person counts as below unless the contrary is proven, and the findings say how many were judged by a
//! bound. So a person who is not counted is safe.
//!
//! Requirements that look at sizes only say nothing about values; they hold in each version by itself, and are not
//! applied here. Whatever the policy states, no value may become certain that each version by itself leaves open.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use super::shares::{Judge, Verdict};
use crate::worlds::{Cohort, CohortBelief, Effort, Group, History, Step};

/// How many of the worst cases are told, for each column.
const WORST: usize = 10;

/// How many persons of a group are named.
const NAMED: usize = 8;

/// What the versions leave of one requirement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kept {
    /// Whether it looks at values, so that it is applied to what all versions leave.
    pub applied: bool,
    /// Persons who are below it.
    pub below: usize,
    /// Those of them who may not be: a bound did not prove the contrary.
    pub unproven: usize,
}

/// What the versions reveal about one sensitive column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnFindings {
    /// Persons about whom all versions together leave fewer values than each by itself.
    pub narrowed: usize,
    /// The fewest values that are left for anybody.
    pub fewest: Option<usize>,
    /// Persons whose value is certain, although each version by itself leaves several.
    pub certain: usize,
    /// Groups that they form: those in one were together in every version.
    pub groups: usize,
    /// Persons who may be certain: a bound did not prove the contrary.
    pub unproven: usize,
    /// Persons who are below a requirement on the column, or certain.
    pub exposed: usize,
    /// Some of them, the worst first.
    pub worst: Vec<Exposure>,
}

/// Somebody of whom too little is left, together with those who were with them in every version.
#[derive(Debug, Clone, PartialEq)]
pub struct Exposure {
    /// Some of the persons, ascending.
    pub persons: Vec<u32>,
    /// How many there are.
    pub count: usize,
    /// The values that are left, and the share of the worlds in which they have each; no share where a bound told.
    pub candidates: Vec<(u32, Option<f64>)>,
    /// How few values the weakest version by itself leaves.
    pub alone: usize,
    /// Whether all worlds were counted.
    pub exact: bool,
    /// The requirements that they are below.
    pub below: Vec<usize>,
    /// Their classes: the version and the number of the class in it, and the values that it publishes.
    pub classes: Vec<(usize, usize, Vec<u32>)>,
    /// How it follows.
    pub steps: Vec<Step>,
    /// Some of the persons whom the steps are about.
    pub named: BTreeMap<Cohort, Vec<u32>>,
}

/// What all versions reveal together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Audit {
    /// Versions looked at.
    pub versions: usize,
    /// Persons who are in any of them.
    pub persons: usize,
    /// Persons about whom everything is known that the versions tell.
    pub exact: usize,
    /// Persons about whom a bound tells.
    pub bound: usize,
    /// Persons whose value has changed: their classes have none in common.
    pub contradicted: usize,
    /// Persons who are below some requirement, or certain.
    pub exposed: usize,
    /// Who they are, ascending.
    pub who: Vec<u32>,
    /// Each requirement.
    pub requirements: Vec<Kept>,
    /// Each sensitive column.
    pub columns: Vec<ColumnFindings>,
}

impl Audit {
    /// Whether anybody is left with less than the policy promises.
    pub fn finds_leaks(&self) -> bool {
        self.exposed > 0
    }
}

/// Audits what was published.
pub fn audit(history: &History, judge: &Judge<'_>, effort: &Effort) -> Audit {
    let columns = judge.columns();
    let mut tally = Tally {
        history,
        judge,
        audit: Audit {
            versions: history.versions(),
            persons: history.persons(),
            requirements: judge.applied().map(|applied| Kept { applied, ..Kept::default() }).collect(),
            columns: vec![ColumnFindings::default(); columns],
            ..Audit::default()
        },
        worst: vec![BTreeMap::new(); columns],
        exposed: FxHashSet::default(),
    };
    history.tell(effort, |group| tally.count(&group));
    let Tally { mut audit, worst, exposed, .. } = tally;
    let out = |&(who, cohort): &(u32, Cohort)| exposed.contains(&(cohort, history.last_of(who)));
    audit.who = history.everybody().filter(out).map(|(person, _)| person).collect();
    audit.who.sort_unstable();
    name(history, &mut audit, worst);
    audit
}

/// The key by which cases are ordered: what is left, whether that is certain, and the cohort.
type Rank = (usize, bool, Cohort);

struct Tally<'a> {
    history: &'a History,
    judge: &'a Judge<'a>,
    audit: Audit,
    worst: Vec<BTreeMap<Rank, Exposure>>,
    /// By cohort and the last version that they are in.
    exposed: FxHashSet<(Cohort, usize)>,
}

impl Tally<'_> {
    fn count(&mut self, group: &Group) {
        let persons = group.persons as usize;
        let exact = group.lives.iter().all(CohortBelief::exact);
        *(if exact { &mut self.audit.exact } else { &mut self.audit.bound }) += persons;
        self.audit.contradicted += if group.lives.len() > 1 { persons } else { 0 };
        let mut below = Vec::new();
        for requirement in 0..self.audit.requirements.len() {
            if !self.audit.requirements[requirement].applied {
                continue;
            }
            let verdicts = group.lives.iter().map(|told| self.judge.verdict(requirement, told, group));
            let worst = verdicts.max().unwrap_or(Verdict::Holds);
            if worst != Verdict::Holds {
                let kept = &mut self.audit.requirements[requirement];
                kept.below += persons;
                kept.unproven += if worst == Verdict::Unproven { persons } else { 0 };
                below.push(requirement);
            }
        }
        let mut exposed = !below.is_empty();
        for column in 0..self.audit.columns.len() {
            exposed |= self.column(column, group, exact, &below);
        }
        if exposed {
            self.audit.exposed += persons;
            self.exposed.insert((group.cohort, group.last));
        }
    }

    /// Counts a group in a column, and tells whether its value there is certain, or may be.
    fn column(&mut self, column: usize, group: &Group, exact: bool, below: &[usize]) -> bool {
        let persons = group.persons as usize;
        let left =
            group.lives.iter().map(|told| self.judge.project(column, told.values().into_iter())).collect::<Vec<_>>();
        let fewest = left.iter().map(Vec::len).min().unwrap_or(0);
        let published = self.history.published(group.cohort);
        let alone = published.map(|values| self.judge.project(column, values).len()).min().unwrap_or(0);
        let findings = &mut self.audit.columns[column];
        findings.fewest = Some(findings.fewest.map_or(fewest, |least| least.min(fewest)));
        findings.narrowed += if fewest < alone { persons } else { 0 };
        let certain = fewest < 2 && alone > 1;
        match (certain, exact) {
            (true, true) => {
                findings.certain += persons;
                findings.groups += 1;
            }
            (true, false) => findings.unproven += persons,
            _ => {}
        }
        let own: Vec<usize> = below.iter().copied().filter(|&r| self.judge.concerns(r, column)).collect();
        if certain || !own.is_empty() {
            findings.exposed += persons;
            let worst = &mut self.worst[column];
            let rank = (fewest, !exact, group.cohort);
            if worst.len() < WORST || worst.last_key_value().is_some_and(|(last, _)| rank < *last) {
                let life = group.lives.iter().zip(&left).min_by_key(|(_, left)| left.len());
                let candidates = life.map_or_else(Vec::new, |(told, left)| self.judge.shares(column, told, left));
                let exposure = Exposure {
                    persons: Vec::new(),
                    count: persons,
                    candidates,
                    alone,
                    exact,
                    below: own,
                    classes: Vec::new(),
                    steps: Vec::new(),
                    named: BTreeMap::new(),
                };
                worst.insert(rank, exposure);
                if worst.len() > WORST {
                    worst.pop_last();
                }
            }
        }
        certain
    }
}

/// Says who the worst cases are, and how they follow.
fn name(history: &History, audit: &mut Audit, worst: Vec<BTreeMap<Rank, Exposure>>) {
    let cohorts: Vec<Cohort> = worst.iter().flat_map(|w| w.keys().map(|rank| rank.2)).collect();
    if cohorts.is_empty() {
        return;
    }
    let steps = history.explain(&cohorts);
    let told = |step: &Step| step.taken.iter().map(|t| t.0).chain(step.about).collect::<Vec<_>>();
    let mut asked: FxHashSet<Cohort> = steps.iter().flatten().flat_map(told).collect();
    asked.extend(&cohorts);
    let mut persons: FxHashMap<Cohort, BTreeSet<u32>> = FxHashMap::default();
    for (person, cohort) in history.everybody().filter(|(_, cohort)| asked.contains(cohort)) {
        let named = persons.entry(cohort).or_default();
        named.insert(person);
        if named.len() > NAMED {
            named.pop_last();
        }
    }
    let named = |cohort: Cohort| persons.get(&cohort).map_or_else(Vec::new, |p| p.iter().copied().collect());
    let mut steps = steps.into_iter();
    for (findings, worst) in audit.columns.iter_mut().zip(worst) {
        for (rank, mut exposure) in worst {
            exposure.steps = steps.next().unwrap_or_default();
            exposure.persons = named(rank.2);
            exposure.classes = history.classes_of(rank.2);
            let about = exposure.steps.iter().flat_map(told);
            exposure.named = about.map(|cohort| (cohort, named(cohort))).collect();
            findings.worst.push(exposure);
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
