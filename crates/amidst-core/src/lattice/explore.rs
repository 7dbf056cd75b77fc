//! What a lattice offers: its minimal nodes with every metric, and the front of risk against utility.

use std::sync::Mutex;

use rustc_hash::FxHashMap;

use super::find::{LeastSuppression, lock};
use super::judge::{Judge, Outcome};
use super::key::{Key, Wide};
use super::layout::Layout;
use super::price::{Pricer, compare, rounded};
use super::snapshot::Classes;
use super::walk::{Plan, Strategy, Walk};
use super::{Node, minimal_counted, nodes, on_lattice, recoding};
use crate::frequency::{self, Entry, FrequencySet, Groups};
use crate::metric::METRICS;
use crate::search::{MaxSuppression, Search, SearchError};

/// What a lattice offers.
#[derive(Debug, Clone, PartialEq)]
pub struct Explored {
    /// Every minimal node that satisfies the policy.
    pub minimal: Vec<ExploredNode>,
    /// The nodes that no other node beats in both risk and cost, with nothing suppressed and whatever the policy says;
    /// from the cheapest to the safest.
    pub front: Vec<FrontPoint>,
    /// Every node, in the order of their levels, where they were asked for; empty for lattices of more than
    /// [`LISTED`] nodes.
    pub all: Vec<FrontPoint>,
    /// The number of nodes of the lattice.
    pub nodes: f64,
    /// How many of them the search for the minimal ones looked at.
    pub nodes_checked: u64,
    /// Whether the front covers the whole lattice.
    pub complete: bool,
}

/// The largest lattice of which every node is told.
pub const LISTED: f64 = 20_000.0;

/// Each metric of the registry by id, `None` where it is not defined.
pub type Metrics = Vec<(&'static str, Option<f64>)>;

/// A minimal node with what it costs.
#[derive(Debug, Clone, PartialEq)]
pub struct ExploredNode {
    /// The level of each quasi column.
    pub levels: Vec<usize>,
    /// The number of published classes.
    pub classes: u64,
    /// The number of rows left out or masked.
    pub suppressed: u64,
    /// What it costs.
    pub metrics: Metrics,
    /// For each sensitive column, how far its classes agree on one value.
    pub homogeneity: Vec<Homogeneity>,
}

/// How many published classes agree on one sensitive value, and the rows in them: the homogeneity attack of the
/// ℓ-diversity article's Figures 9 to 12.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Homogeneity {
    /// Classes in which all rows have one value.
    pub classes: u64,
    /// Their rows.
    pub rows: u64,
    /// Classes in which at least 95 % of the rows have one value, those above included.
    pub classes_95: u64,
    /// Their rows.
    pub rows_95: u64,
}

impl Homogeneity {
    /// That of the sensitive column at `column`, over the classes of `groups`.
    pub fn of(set: &FrequencySet, groups: &Groups, column: usize) -> Self {
        let mut found = Homogeneity::default();
        for entries in groups.iter().filter(|entries| !entries.is_empty()) {
            let rows = frequency::rows(entries);
            let top = most_frequent(set, entries, column);
            if top == rows {
                found.classes += 1;
                found.rows += rows;
            }
            if u128::from(top) * 100 >= u128::from(rows) * 95 {
                found.classes_95 += 1;
                found.rows_95 += rows;
            }
        }
        found
    }
}

/// The rows of a class that have its most frequent value.
fn most_frequent(set: &FrequencySet, entries: &[Entry], column: usize) -> u64 {
    let mut counts: FxHashMap<u32, u64> = FxHashMap::default();
    for entry in entries {
        *counts.entry(set.sensitive_code(entry.sensitive, column)).or_default() += entry.rows;
    }
    counts.into_values().max().unwrap_or(0)
}

/// A node of the front.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontPoint {
    /// The level of each quasi column.
    pub levels: Vec<usize>,
    /// The number of classes.
    pub classes: u64,
    /// The smallest class.
    pub smallest: u64,
    /// The prosecutor's risk at worst: one over the smallest class.
    pub max_risk: f64,
    /// The prosecutor's risk on average: classes over persons.
    pub average_risk: f64,
    /// What the node costs by the search's metric.
    pub cost: f64,
}

/// Looks at the whole lattice.
pub fn explore(search: &Search<'_>) -> Result<Explored, SearchError> {
    explored(search, false, &|_| {})
}

/// The same with every node of a lattice of at most [`LISTED`] nodes. Each of them is priced, which takes far longer
/// than the search for the minimal ones and the front. `seen` is called with every node as soon as it is priced, from
/// several threads and in no order.
pub fn explore_all(search: &Search<'_>, seen: &(dyn Fn(&FrontPoint) + Sync)) -> Result<Explored, SearchError> {
    explored(search, nodes(search) <= LISTED, seen)
}

fn explored(search: &Search<'_>, list: bool, seen: &(dyn Fn(&FrontPoint) + Sync)) -> Result<Explored, SearchError> {
    let (found, nodes_checked) = minimal_counted(search)?;
    let costs = all_metrics(search, &found.iter().map(|n| n.levels.as_slice()).collect::<Vec<_>>())?;
    let homogeneity: Vec<Vec<Homogeneity>> =
        found.iter().map(|node| homogeneity(search, &node.levels)).collect::<Result<_, _>>()?;
    let minimal = (found.into_iter().zip(costs).zip(homogeneity))
        .map(|((node, metrics), homogeneity)| {
            let Node { levels, classes, suppressed, .. } = node;
            ExploredNode { levels, classes, suppressed, metrics, homogeneity }
        })
        .collect();
    let free = Search { requirements: &[], max_suppression: MaxSuppression::Rows(0), ..search.clone() };
    let pricer = Pricer::new(&free, free.metric);
    let judge = Judge::new(&free, pricer.needs_groups());
    let tracked = super::tracked(&free, &pricer);
    on_lattice!(&free, judge, tracked, walk => {
        let listed = list.then(Mutex::default);
        let strategy = Front { judge: &walk.judge, pricer: &pricer, points: Mutex::default(), listed, seen };
        let complete = walk.run(&free, &strategy)?;
        let mut front = strategy.points.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        front.sort_by(|a, b| compare((a.cost, &a.levels), (b.cost, &b.levels)));
        let all = strategy.listed.map(|all| all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner));
        let mut all: Vec<FrontPoint> = all.unwrap_or_default();
        all.sort_by(|a, b| a.levels.cmp(&b.levels));
        Ok(Explored { minimal, front, all, nodes: nodes(search), nodes_checked, complete })
    })
}

/// How far the published classes of a valid node agree on one value, for each sensitive column.
fn homogeneity(search: &Search<'_>, levels: &[usize]) -> Result<Vec<Homogeneity>, SearchError> {
    let Some(recoding) = recoding(search, levels)? else { return Ok(Vec::new()) };
    let (groups, _) = recoding.groups(search.set);
    Ok((0..search.set.sensitive_width).map(|column| Homogeneity::of(search.set, &groups, column)).collect())
}

/// Every metric of some nodes that satisfy the policy.
pub fn all_metrics(search: &Search<'_>, found: &[&[usize]]) -> Result<Vec<Metrics>, SearchError> {
    let pricers: Vec<Pricer<'_>> = METRICS.iter().map(|entry| Pricer::new(search, entry)).collect();
    let judge = Judge::new(search, true);
    on_lattice!(search, judge, true, walk => {
        Ok(found.iter().map(|levels| {
            let mut snapshot = walk.snapshot(levels);
            let outcome = walk.judge.judge(&mut snapshot.classes, true);
            let cost = |p: &Pricer<'_>| p.cost(&walk.judge, &snapshot.classes, &outcome.suppressed);
            METRICS.iter().zip(&pricers).map(|(m, p)| (m.id, Some(cost(p)).filter(|c| c.is_finite()))).collect()
        }).collect())
    })
}

/// The fewest rows whose suppression lets some node satisfy the policy, with that node. `None` when no number does.
///
/// Looks at the whole lattice, so a lattice of more than a hundred thousand nodes is refused.
pub fn least_suppression(search: &Search<'_>) -> Result<Option<(u64, Vec<usize>)>, SearchError> {
    if nodes(search) > 1e5 {
        return Err(SearchError::Unsupported("the lattice is too large to look at every node".to_string()));
    }
    let judge = Judge::with_limit(search, false, search.set.rows);
    on_lattice!(search, judge, false, walk => {
        let strategy = LeastSuppression::default();
        walk.run(&Search { control: search.control.quiet().without_deadline(), ..search.clone() }, &strategy)?;
        Ok(strategy.into_least())
    })
}

/// Looks for nodes that no other beats.
struct Front<'s, 'a> {
    judge: &'s Judge<'a>,
    pricer: &'s Pricer<'a>,
    points: Mutex<Vec<FrontPoint>>,
    listed: Option<Mutex<Vec<FrontPoint>>>,
    seen: &'s (dyn Fn(&FrontPoint) + Sync),
}

impl Strategy for Front<'_, '_> {
    fn everything(&self) -> bool {
        true
    }

    fn plan(&self, _levels: &[usize], inherited: f64) -> Plan {
        Plan::Judge(inherited)
    }

    fn visit(&self, classes: &Classes, _outcome: &Outcome, bound: f64, _leaf: bool) -> Option<f64> {
        let sizes = self.judge.sizes(classes);
        let persons = self.judge.persons();
        let count = sizes.iter().filter(|&&n| n > 0).count() as u64;
        let Some(&smallest) = sizes.iter().filter(|&&n| n > 0).min() else { return Some(bound) };
        // Pricing is what costs: a node that is beaten whatever it turns out to cost is not priced, unless all are
        // listed. The least that it may cost is known from its levels.
        let least = rounded(self.pricer.lower_bound(&classes.levels));
        let beaten = |p: &FrontPoint| p.smallest >= smallest && rounded(p.cost) < least;
        if self.listed.is_none() && lock(&self.points).iter().any(beaten) {
            return Some(bound);
        }
        let cost = self.pricer.cost(self.judge, classes, &[]);
        let point = FrontPoint {
            levels: classes.levels.clone(),
            classes: count,
            smallest,
            max_risk: 1.0 / smallest as f64,
            average_risk: count as f64 / persons.max(1) as f64,
            cost,
        };
        (self.seen)(&point);
        if let Some(listed) = &self.listed {
            lock(listed).push(point.clone());
        }
        // Which points are left at the end does not depend on the order in which they came.
        let mut points = lock(&self.points);
        if cost.is_finite() && !points.iter().any(|p| beats(p, &point)) {
            points.retain(|p| !beats(&point, p));
            points.push(point);
        }
        Some(bound)
    }
}

/// Whether `a` is as safe and as cheap as `b`, and better in one of the two, or first in the order of equals.
fn beats(a: &FrontPoint, b: &FrontPoint) -> bool {
    a.smallest >= b.smallest
        && rounded(a.cost) <= rounded(b.cost)
        && (a.smallest > b.smallest || compare((a.cost, &a.levels), (b.cost, &b.levels)).is_lt())
}
