//! What is known about each person: the first of the three ways that gives an answer, cohort by cohort.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{ToPrimitive, Zero};
use rustc_hash::FxHashMap;

use super::component::{Component, components};
use super::history::{Cohort, History};
use super::network::{Bounds, Network};
use super::{count, witness};

/// How much work may be spent, in bounds looked at. The same effort gives the same answer on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Counting the worlds of one component.
    pub component: u64,
    /// Counting all of them, for each person.
    pub person: u64,
    /// Proving what is possible, for each person of components that are not counted.
    pub proof: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { component: 1 << 22, person: 1 << 12, proof: 1 << 12 }
    }
}

impl Effort {
    /// No world is counted: what reasoning leaves open is bounded.
    pub const BOUND: Effort = Effort { component: 0, person: 0, proof: 1 << 12 };
}

/// The shares of the worlds in which somebody has each value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posterior {
    /// Values that are possible, ascending, with their weights.
    pub weights: Vec<(u32, u64)>,
    /// 0 where the weights are exact. Otherwise they are rounded down, and this is the sum of what was cut off.
    pub spare: u64,
}

/// How many of a cohort have a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The value.
    pub value: u32,
    /// In every world at least this number …
    pub low: u32,
    /// … and at most this number have it.
    pub high: u32,
    /// Whether everybody of the cohort is proven to have it in some world.
    pub possible: bool,
}

/// What is told about a cohort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CohortBelief {
    /// The shares of all worlds.
    Exact(Posterior),
    /// A bound on the safe side: by value, without those that are ruled out.
    Bound(Vec<Range>),
}

impl CohortBelief {
    /// The values that are proven to be possible, ascending.
    pub fn values(&self) -> Vec<u32> {
        match self {
            CohortBelief::Exact(posterior) => posterior.weights.iter().map(|w| w.0).collect(),
            CohortBelief::Bound(ranges) => ranges.iter().filter(|r| r.possible).map(|r| r.value).collect(),
        }
    }

    /// The same of what the values stand for. `persons` is how many share the values out.
    fn meant(self, history: &History, persons: u32) -> CohortBelief {
        if !history.is_finer() {
            return self;
        }
        match self {
            CohortBelief::Exact(Posterior { weights, spare }) => {
                let mut meant: BTreeMap<u32, u64> = BTreeMap::new();
                weights.into_iter().for_each(|(value, n)| *meant.entry(history.meant(value)).or_insert(0) += n);
                CohortBelief::Exact(Posterior { weights: meant.into_iter().collect(), spare })
            }
            CohortBelief::Bound(ranges) => {
                let mut meant: BTreeMap<u32, Range> = BTreeMap::new();
                for range in ranges {
                    let value = history.meant(range.value);
                    let sum = meant.entry(value).or_insert(Range { value, low: 0, high: 0, possible: false });
                    sum.low += range.low;
                    sum.high = sum.high.saturating_add(range.high).min(persons);
                    sum.possible |= range.possible;
                }
                CohortBelief::Bound(meant.into_values().collect())
            }
        }
    }

    /// Whether nothing more can be known.
    pub fn exact(&self) -> bool {
        matches!(self, CohortBelief::Exact(_))
    }
}

/// Those of a cohort who were last seen in one version, and what is told about them.
#[derive(Debug, Clone)]
pub struct Group {
    /// The cohort.
    pub cohort: Cohort,
    /// How many persons they are.
    pub persons: u32,
    /// How many are in the cohort, whom bounds are about.
    pub together: u32,
    /// What is told about their value; about each of their values in turn where theirs has changed.
    pub lives: Vec<CohortBelief>,
    /// The fewest rows of one of their classes.
    pub smallest: u64,
    /// The last version that they are in.
    pub last: usize,
}

impl History {
    /// Tells what all versions leave open about every cohort.
    pub fn tell(&self, effort: &Effort, mut visit: impl FnMut(Group)) {
        let mut network = Network::new(self);
        network.tighten(network.entries().saturating_mul(64), &mut ());
        let left = effort.person.saturating_mul(self.persons() as u64);
        let mut told =
            Answers { network: &network, effort, left, of: BTreeMap::new(), worldless: Vec::new(), known: None };
        told.contradicted(network.contradictions.clone());
        let mut open = components(&network);
        // Small ones first: they are many, and cost little.
        open.sort_by_key(|c| c.names.len() * c.width());
        open.iter().for_each(|component| told.component(component));
        let worldless = std::mem::take(&mut told.worldless);
        told.contradicted(worldless);
        let mut lasts: BTreeMap<(Cohort, usize), u32> = BTreeMap::new();
        self.everybody().for_each(|(who, cohort)| *lasts.entry((cohort, self.last_of(who))).or_insert(0) += 1);
        // Those of a cohort who were last seen in one version are a group.
        let mut visit = |group: Group| {
            for (&(_, last), &persons) in lasts.range((group.cohort, 0)..=(group.cohort, usize::MAX)) {
                visit(Group { persons, last, ..group.clone() });
            }
        };
        let mut path = Vec::new();
        let mut next: Option<Group> = None;
        for (number, unknown) in (0u32..).zip(&network.unknowns) {
            let Some(cohort) = unknown.cohort else { break };
            let life = told.of.remove(&number).unwrap_or_else(|| certain(network.bounds.get(number as usize)));
            let life = life.meant(self, unknown.size);
            match &mut next {
                Some(group) if group.cohort == cohort => group.lives.push(life),
                _ => {
                    next.take().into_iter().for_each(&mut visit);
                    self.path(cohort, &mut path);
                    let classes = path.iter().map(|&class| self.classes()[class as usize]);
                    next = Some(Group {
                        cohort,
                        persons: unknown.size,
                        together: unknown.size,
                        lives: vec![life],
                        smallest: classes.clone().map(|c| c.rows).min().unwrap_or(0),
                        last: classes.map(|c| c.last).max().unwrap_or(0) as usize,
                    });
                }
            }
        }
        next.into_iter().for_each(visit);
    }

    /// For a cohort, the values that each of its classes publishes.
    pub fn published(&self, cohort: Cohort) -> impl Iterator<Item = impl Iterator<Item = u32> + '_> + '_ {
        let mut path = Vec::new();
        self.path(cohort, &mut path);
        path.into_iter().map(|class| self.counts(class).iter().map(|c| self.meant(c.0)))
    }
}

/// What is told about the unknowns that reasoning leaves open.
struct Answers<'e> {
    network: &'e Network<'e>,
    effort: &'e Effort,
    /// What cohorts really have, once it was asked for.
    known: Option<FxHashMap<Cohort, Vec<u32>>>,
    /// Steps that are left for counting.
    left: u64,
    of: BTreeMap<u32, CohortBelief>,
    /// Classes of components in which no world was found.
    worldless: Vec<u32>,
}

impl Answers<'_> {
    /// Where classes contradict each other, or may for all that is known, nothing is proven about anybody whom they
    /// have to do with.
    fn contradicted(&mut self, mut stack: Vec<u32>) {
        let network = self.network;
        let mut seen = vec![false; network.members.len()];
        while let Some(class) = stack.pop() {
            if std::mem::replace(&mut seen[class as usize], true) {
                continue;
            }
            for &unknown in network.members.get(class as usize) {
                self.of.insert(unknown, CohortBelief::Bound(Vec::new()));
                stack.extend(network.classes.get(unknown as usize).iter().filter(|&&other| !seen[other as usize]));
            }
        }
    }

    fn component(&mut self, component: &Component) {
        if component.names.iter().any(|name| self.of.contains_key(name)) {
            return;
        }
        let width = component.width();
        if component.too_large {
            component.names.iter().for_each(|&name| {
                self.of.insert(name, CohortBelief::Bound(Vec::new()));
            });
            return;
        }
        if component.symmetric() {
            let all: Vec<(u32, u64)> = component.values.iter().map(|&value| (value, 1)).collect();
            for &name in &component.names {
                self.of.insert(name, CohortBelief::Exact(Posterior { weights: all.clone(), spare: 0 }));
            }
            return;
        }
        let allowed = self.effort.component.min(self.left);
        let mut steps = allowed;
        let counted = count::shares(component, &mut steps);
        self.left -= allowed - steps;
        match counted {
            Ok(Some(sums)) => {
                for (sums, &name) in sums.chunks_exact(width).zip(&component.names) {
                    self.of.insert(name, CohortBelief::Exact(posterior(&component.values, sums)));
                }
            }
            Ok(None) => self.worldless.extend(&component.class_names),
            Err(count::TooMany) => self.bounded(component),
        }
    }

    fn bounded(&mut self, component: &Component) {
        let width = component.width();
        let network = self.network;
        let known = self.known.get_or_insert_with(|| network.history.known_cohorts());
        let cohorts = component.names.iter().map(|&name| network.unknowns[name as usize].cohort);
        let likely: Vec<Option<&[u32]>> =
            cohorts.map(|cohort| cohort.and_then(|c| known.get(&c)).map(Vec::as_slice)).collect();
        let Some(mut possible) = witness::possible(component, &likely, self.effort.proof) else {
            return self.worldless.extend(&component.class_names);
        };
        let groups = component.interchangeable();
        for own in possible.chunks_exact_mut(width) {
            // A value that may be exchanged for one that is possible is so, too.
            let known: Vec<bool> = (0..width).map(|v| (0..width).any(|w| groups[v] == groups[w] && own[w])).collect();
            own.copy_from_slice(&known);
        }
        for (at, &name) in component.names.iter().enumerate() {
            let here = (0..width).map(|v| Range {
                value: component.values[v],
                low: component.low[at * width + v],
                high: component.high[at * width + v],
                possible: possible[at * width + v],
            });
            self.of.insert(name, CohortBelief::Bound(here.filter(|r| r.high > 0).collect()));
        }
    }
}

/// What is told where the bounds meet.
fn certain(bounds: &[Bounds]) -> CohortBelief {
    let weights: Vec<(u32, u64)> = bounds.iter().filter(|b| b.low > 0).map(|b| (b.value, u64::from(b.low))).collect();
    let divisor = weights.iter().fold(0u64, |divisor, w| divisor.gcd(&w.1)).max(1);
    let weights = weights.into_iter().map(|(value, n)| (value, n / divisor)).collect();
    CohortBelief::Exact(Posterior { weights, spare: 0 })
}

/// Weights that add up to more are rounded: models compare integers of this size at ease.
const FINEST: u64 = 1 << 24;

fn posterior(values: &[u32], sums: &[BigUint]) -> Posterior {
    let total: BigUint = sums.iter().sum();
    let divisor = sums.iter().fold(BigUint::zero(), |divisor, n| divisor.gcd(n));
    let mut weights: Vec<(u32, u64)> = Vec::new();
    let exact = &total / divisor.clone().max(1u32.into()) <= FINEST.into();
    for (&value, n) in values.iter().zip(sums).filter(|(_, n)| !n.is_zero()) {
        let weight = if exact { n / &divisor } else { n * FINEST / &total };
        weights.push((value, weight.to_u64().unwrap_or(0)));
    }
    let given: u64 = weights.iter().map(|w| w.1).sum();
    Posterior { weights, spare: if exact { 0 } else { FINEST - given } }
}
