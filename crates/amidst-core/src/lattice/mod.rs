//! The generalization lattice: every way to put each quasi column at one level of its hierarchy.
//!
//! A node is a level per quasi column; above it are the nodes that generalize it. The classes of a node are counted by
//! rolling up those of a finer node, never from rows (`snapshot`); a walk along a tree that covers the lattice keeps
//! the snapshots it needs and no more (`walk`); verdicts, too, are handed up from class to class (`judge`).
//!
//! - [`minimal`]: every minimal node, for `incognito`;
//! - [`best`]: the node that a metric likes best, for `optimal`;
//! - [`lowest`]: the valid nodes of least height, for `samarati`;
//! - `explore`: the minimal nodes with all metrics, and the front of risk against utility over the whole lattice;
//! - `why_not`: what keeps a node from being published.
//!
//! May use: `class`, `control`, `frequency`, `hierarchy`, `metric`, `model`, `parameter`, `random`, `recoding`,
//! `requirement`, `search`, and what those use.

mod apriori;
mod best_first;
mod by_class;
mod explore;
mod failed;
mod find;
mod judge;
mod key;
mod layout;
mod lost;
mod mapping;
mod price;
mod projections;
mod recode;
mod sensitive_view;
mod sizes;
mod snapshot;
#[cfg(test)]
mod tests;
mod walk;
mod why_not;
mod wide;

pub use explore::{
    Explored, ExploredNode, FrontPoint, Homogeneity, LISTED, Metrics, all_metrics, explore, explore_all,
    least_suppression,
};
pub use layout::finer;
pub use why_not::{FailingClass, Obstacle, WhyNot, why_not};

use rayon::prelude::*;

use crate::recoding::Recoding;
use crate::search::{Found, Impossible, Search, SearchError, feasibility};
use find::{Best, Lowest, Minimal};
use judge::Judge;
use key::{Key, Wide};
use layout::Layout;
use price::Pricer;
use sensitive_view::Counts;
use snapshot::Snapshot;
use walk::Walk;

/// A valid node.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The level of each quasi column.
    pub levels: Vec<usize>,
    /// The number of published classes, a class of masked rows included.
    pub classes: u64,
    /// The number of rows left out or masked.
    pub suppressed: u64,
    /// What it costs by the search's metric; infinite where the metric is not defined.
    pub cost: f64,
}

/// The best node of a lattice.
#[derive(Debug, Clone, PartialEq)]
pub struct BestNode {
    /// The node.
    pub node: Node,
    /// How far its cost may at most be from the optimum; `None` when it is the optimum.
    pub gap: Option<f64>,
}

/// Runs `$body` with a walk over the search's lattice, its keys as wide as the table needs.
macro_rules! on_lattice {
    ($search:expr, $judge:expr, $track:expr, $walk:ident => $body:expr) => {{
        let layout = Layout::new($search.generalizations);
        match layout.bits(&vec![0; layout.columns()]) {
            ..=64 => {
                let $walk = Walk::<u64>::new($search, $judge, layout, $track);
                $body
            }
            65..=128 => {
                let $walk = Walk::<u128>::new($search, $judge, layout, $track);
                $body
            }
            129..=Wide::BITS => {
                let $walk = Walk::<Wide>::new($search, $judge, layout, $track);
                $body
            }
            bits => Err(SearchError::Unsupported(format!(
                "the quasi columns have too many distinct values for a lattice ({bits} bits a row, at most {} are \
                 possible); generalize or leave out some of them first",
                Wide::BITS
            ))),
        }
    }};
}
pub(crate) use on_lattice;

/// Every node that satisfies the policy and generalizes no other that does, in the order of their levels.
///
/// Where the policy is not monotone there may be nodes above them that do not satisfy it.
///
/// Walks the lattice, pruning by the subsets that the walk passes: on real tables several times faster than
/// [`minimal_by_subsets`], which has to look at all of them.
pub fn minimal(search: &Search<'_>) -> Result<Vec<Node>, SearchError> {
    minimal_counted(search).map(|(nodes, _)| nodes)
}

/// The same, with the number of nodes that were looked at to find them.
pub fn minimal_counted(search: &Search<'_>) -> Result<(Vec<Node>, u64), SearchError> {
    let pricer = Pricer::new(search, search.metric);
    let judge = Judge::new(search, pricer.needs_groups());
    on_lattice!(search, judge, tracked(search, &pricer), walk => {
        let strategy = Minimal::default();
        walk.run(&search.without_deadline(), &strategy)?;
        let judged = walk.judged.load(std::sync::atomic::Ordering::Relaxed);
        Ok((describe(search, &walk, &pricer, strategy.into_nodes()), judged))
    })
}

/// The same by Incognito's iterations over subsets of the quasi columns alone. `None` where they are not sound, or
/// where the nodes of all subsets are too many.
pub fn minimal_by_subsets(search: &Search<'_>) -> Result<Option<Vec<Node>>, SearchError> {
    let pricer = Pricer::new(search, search.metric);
    let judge = Judge::new(search, pricer.needs_groups());
    on_lattice!(search, judge, tracked(search, &pricer), walk => {
        Ok(apriori::minimal(search, &walk)?.map(|found| describe(search, &walk, &pricer, found)))
    })
}

/// The node that satisfies the policy at the least cost by the search's metric; of equal ones the lowest, then the one
/// whose levels come first. `None` when no node satisfies it.
///
/// When the search's deadline passes, the best node found by then, with the gap to what the rest of the lattice may
/// hold. If none was found by then, the top is tried, and failing that the search goes on until it has one.
pub fn best(search: &Search<'_>) -> Result<Option<BestNode>, SearchError> {
    best_counted(search).map(|(best, _)| best)
}

/// The same, with the number of nodes that were judged to find it.
pub fn best_counted(search: &Search<'_>) -> Result<(Option<BestNode>, u64), SearchError> {
    let pricer = Pricer::new(search, search.metric);
    let judge = Judge::new(search, pricer.needs_groups());
    on_lattice!(search, judge, tracked(search, &pricer), walk => {
        let mut strategy = Best::new(&walk.judge, &pricer);
        let mut proven = f64::NEG_INFINITY;
        if best_first::suits(search, &walk, &pricer) {
            best_first::run(search, &walk, &pricer, &strategy)?;
        } else {
            match search.control.deadline.filter(|_| walk.nodes() >= walk.large) {
                // Of most of the lattice nothing will be known in the end: good nodes first, then what they leave to
                // prove.
                Some(deadline) => {
                    let now = std::time::Instant::now();
                    let until = now + deadline.saturating_duration_since(now).mul_f64(NODES_FIRST);
                    wide::improve(search, &walk, &pricer, &strategy, until)?;
                    // Where no row may be suppressed, walks prove much as well: each has half of what is left.
                    let now = std::time::Instant::now();
                    let half = now + deadline.saturating_duration_since(now) / 2;
                    let until = if walk.judge.limit == 0 { half } else { deadline };
                    proven = prove_by_projections(search, &walk, &pricer, &strategy, until)?;
                }
                None => offer_first(search, &walk, &pricer, &strategy),
            }
            if proven < strategy.ceiling() {
                proven = raise_bound(search, &walk, &pricer, &mut strategy, proven)?;
                walk.run(search, &strategy)?;
            }
        }
        let (mut found, unexplored) = strategy.into_best();
        let mut unexplored = unexplored.max(proven);
        if found.is_none() && unexplored < f64::INFINITY {
            let strategy = Lowest::any(walk.top.iter().sum());
            walk.run(&search.without_deadline(), &strategy)?;
            found = strategy.into_nodes().into_iter().next().map(|levels| (f64::INFINITY, levels));
            unexplored = f64::NEG_INFINITY;
        }
        let judged = walk.judged.load(std::sync::atomic::Ordering::Relaxed);
        let Some((_, levels)) = found else { return Ok((None, judged)) };
        let node = describe(search, &walk, &pricer, vec![levels]).into_iter().next();
        // Metrics are never negative, so zero bounds them all.
        let gap = |cost: f64| Some((cost - unexplored.max(0.0)).max(0.0)).filter(|_| unexplored < cost);
        Ok((node.map(|node| BestNode { gap: gap(node.cost), node }), judged))
    })
}

/// The nodes of least height that satisfy the policy, in the order of their levels: the k-minimal generalizations of
/// survey Definition 4.
///
/// Samarati's binary search on height where a node above a valid one is always valid; otherwise, from the lowest up.
pub fn lowest(search: &Search<'_>) -> Result<Vec<Node>, SearchError> {
    let pricer = Pricer::new(search, search.metric);
    let judge = Judge::new(search, pricer.needs_groups());
    on_lattice!(search, judge, tracked(search, &pricer), walk => {
        let search = &search.without_deadline();
        let (mut low, mut high) = (walk.bottom.iter().sum::<usize>(), walk.top.iter().sum::<usize>());
        if walk.judge.monotone() {
            // Every height from the answer on has a valid node, none below it.
            while low < high {
                let middle = low + (high - low) / 2;
                let strategy = Lowest::any(middle);
                walk.run(search, &strategy)?;
                match strategy.into_nodes().first() {
                    Some(found) => high = found.iter().sum(),
                    None => low = middle + 1,
                }
            }
        }
        let strategy = Lowest::all(high);
        walk.run(search, &strategy)?;
        Ok(describe(search, &walk, &pricer, strategy.into_nodes()))
    })
}

/// The cheapest of some nodes; of equal ones the lowest, then the one whose levels come first.
pub fn cheapest(nodes: Vec<Node>) -> Option<Node> {
    nodes.into_iter().min_by(|a, b| price::compare((a.cost, &a.levels), (b.cost, &b.levels)))
}

/// What some nodes cost by the search's metric; `None` for those that do not satisfy the policy.
pub fn price(search: &Search<'_>, nodes: &[Vec<usize>]) -> Result<Vec<Option<f64>>, SearchError> {
    let pricer = Pricer::new(search, search.metric);
    let judge = Judge::new(search, pricer.needs_groups());
    on_lattice!(search, judge, tracked(search, &pricer), walk => {
        let price = |levels: &Vec<usize>| {
            let mut snapshot = walk.snapshot(levels);
            let outcome = walk.judge.judge(&mut snapshot.classes, false);
            outcome.valid.then(|| pricer.cost(&walk.judge, &snapshot.classes, &outcome.suppressed))
        };
        Ok(nodes.par_iter().map(price).collect())
    })
}

/// The recoding that publishes a node, its failing classes suppressed; `None` when the node does not satisfy the
/// policy.
pub fn recoding(search: &Search<'_>, levels: &[usize]) -> Result<Option<Recoding>, SearchError> {
    let mut judge = Judge::new(search, false);
    // One node is wanted: its views are counted from the table at once, not rolled up from those of all tuples.
    let views = std::mem::take(&mut judge.views);
    on_lattice!(search, judge, true, walk => {
        let mut snapshot = walk.snapshot(levels);
        let (class_of, classes) = (&snapshot.classes.class_of, snapshot.classes.len());
        let counted = views.par_iter().map(|view| Counts::of_classes(search.set, view, class_of, classes)).collect();
        snapshot.classes.views = counted;
        let mut walk = walk;
        walk.judge.views = views;
        let outcome = walk.judge.judge(&mut snapshot.classes, true);
        let classes = &snapshot.classes;
        Ok(outcome.valid.then(|| {
            recode::recoding(search.set, search.generalizations, classes, &outcome.suppressed, search.suppressed)
        }))
    })
}

/// Why no node satisfies the policy, as far as it can be told: the requirement that the whole table fails, or else the
/// suppression that it would take.
pub fn impossible(search: &Search<'_>) -> SearchError {
    let known = feasibility::impossible(search).or_else(|| feasibility::failing(search));
    let least = least_suppression(search);
    if let Err(SearchError::Cancelled) = least {
        return SearchError::Cancelled;
    }
    let rows = search.set.rows;
    let suppression = match least {
        Ok(Some((least, _))) if least < rows => Some(format!(
            "it takes the suppression of at least {least} of {rows} rows ({:.2} %), and {} may be suppressed",
            least as f64 * 100.0 / rows as f64,
            search.suppression_limit().min(rows)
        )),
        Ok(None) => Some("no full-domain generalization satisfies it with any number of suppressed rows".to_string()),
        _ => None,
    };
    let message = match (&known, suppression) {
        (Some(known), Some(suppression)) => format!("{known}; {suppression}"),
        (Some(known), None) => known.to_string(),
        (None, Some(suppression)) => format!("no generalization satisfies the policy: {suppression}"),
        (None, None) => "no generalization satisfies the policy within the suppression allowed".to_string(),
    };
    let least_suppression = least.ok().flatten().map(|(least, _)| least).filter(|&least| least < rows);
    SearchError::Impossible(Impossible { message, unmet: known.and_then(|known| known.unmet), least_suppression })
}

/// What a full-domain algorithm hands over for the node it chose.
pub(crate) fn found(search: &Search<'_>, node: Option<Node>) -> Result<Found, SearchError> {
    let recoding = match &node {
        Some(node) => recoding(search, &node.levels)?,
        None => None,
    };
    match recoding {
        Some(recoding) => {
            Ok(Found { recoding, coding: None, optimal: false, gap: None, least_loss: None, notes: Vec::new() })
        }
        None => Err(impossible(search)),
    }
}

/// The number of nodes of the search's lattice.
pub fn nodes(search: &Search<'_>) -> f64 {
    let levels = search.generalizations.iter().zip(search.set.bottom());
    levels.map(|(g, bottom)| g.levels.len().saturating_sub(bottom) as f64).product()
}

/// Whether walks must know the class of each tuple to price nodes.
fn tracked(search: &Search<'_>, pricer: &Pricer<'_>) -> bool {
    pricer.needs_tuples() || (pricer.needs_groups() && search.set.sensitive_width == 0)
}

/// Tries the coarsest node first: nearly always valid, so that the search has something to return and to compare with.
/// In a large lattice, or where rows may be suppressed, goes down from there, always to the cheapest valid neighbour:
/// what is found is often close to the best, and prunes much of the lattice.
fn offer_first<K: Key>(search: &Search<'_>, walk: &Walk<'_, K>, pricer: &Pricer<'_>, best: &Best<'_, '_>) {
    let price = |source: &Snapshot<K>, levels: Vec<usize>| {
        let mut snapshot = source.roll_up(&walk.layout, &levels, walk.judge.carry);
        let outcome = walk.judge.judge(&mut snapshot.classes, false);
        outcome.valid.then(|| (pricer.cost(&walk.judge, &snapshot.classes, &outcome.suppressed), levels))
    };
    let bottom = walk.bottom.clone();
    if walk.judge.limit > 0
        && let Some((cost, levels)) = price(&walk.base, bottom.clone())
    {
        best.offer(cost, &levels);
        if cost <= pricer.lower_bound(&bottom) {
            return;
        }
    }
    let order = |a: &(f64, Vec<usize>), b: &(f64, Vec<usize>)| price::compare((a.0, &a.1), (b.0, &b.1));
    let mut current = price(&walk.base, walk.top.clone());
    // Where going down in a column does not help, it seldom does later on: that column stays, and what follows is
    // rolled up from a node that has it so.
    let mut floor = bottom;
    let mut source = None;
    while let Some((cost, levels)) = current {
        best.offer(cost, &levels);
        let over = search.control.overdue() || search.checkpoint().is_err();
        let small = walk.judge.limit == 0 || walk.nodes() < SMALL || walk.base.classes.len() > MANY;
        if (walk.nodes() < walk.large && small) || over {
            return;
        }
        let from = source.as_ref().unwrap_or(&walk.base);
        let columns: Vec<usize> = (0..levels.len()).filter(|&c| levels[c] > floor[c]).collect();
        let tried: Vec<_> = columns
            .into_par_iter()
            .map(|c| {
                let mut next = levels.clone();
                next[c] -= 1;
                (c, price(from, next))
            })
            .collect();
        let here = (cost, levels);
        let mut raised = false;
        for (c, found) in &tried {
            if found.as_ref().is_none_or(|n| order(n, &here).is_gt()) {
                floor[*c] = here.1[*c];
                raised = true;
            }
        }
        if raised {
            source = Some(from.roll_up(&walk.layout, &floor, walk.judge.carry));
        }
        let next = tried.into_iter().filter_map(|(_, found)| found).min_by(order);
        current = next.filter(|n| order(n, &here).is_lt());
    }
}

/// Proves a lower bound on the cost of every node, for a lattice that may be too large for the time there is: walks it
/// several times, each time only where nodes may cost less than a threshold, which rises towards the best cost known. A
/// walk that comes to its end proves its threshold, or the best cost known by then where that is less; one that the
/// time limit cuts short, what it left out. Walking cheap parts again costs little, and no list of open nodes is held.
fn raise_bound<K: Key>(
    search: &Search<'_>,
    walk: &Walk<'_, K>,
    pricer: &Pricer<'_>,
    best: &mut Best<'_, '_>,
    known: f64,
) -> Result<f64, SearchError> {
    let mut proven = known;
    if search.control.deadline.is_some() && walk.nodes() >= walk.large && best.ceiling().is_finite() {
        let quiet = Search { control: search.control.quiet(), ..search.clone() };
        let least = pricer.lower_bound(&walk.bottom).max(known).max(0.0);
        for step in 1..STEPS {
            let threshold = least + (best.ceiling() - least) * f64::from(step) / f64::from(STEPS);
            best.below(threshold);
            let complete = walk.run(&quiet, &*best)?;
            proven = proven.max(threshold.min(best.unexplored()).min(best.ceiling()));
            if !complete {
                break;
            }
        }
        best.below(f64::INFINITY);
    }
    Ok(proven)
}

/// A bound on the cost of every node from projections on some of the columns; offers the node that they lead to.
fn prove_by_projections<K: Key>(
    search: &Search<'_>,
    walk: &Walk<'_, K>,
    pricer: &Pricer<'_>,
    best: &Best<'_, '_>,
    until: std::time::Instant,
) -> Result<f64, SearchError> {
    if !best.ceiling().is_finite() {
        return Ok(f64::NEG_INFINITY);
    }
    let Some(proven) = projections::prove(search, walk, best, until)? else { return Ok(f64::NEG_INFINITY) };
    if let Some(levels) = proven.levels {
        let mut snapshot = walk.snapshot(&levels);
        let outcome = walk.judge.judge(&mut snapshot.classes, false);
        if outcome.valid {
            best.offer(pricer.cost(&walk.judge, &snapshot.classes, &outcome.suppressed), &levels);
        }
    }
    Ok(if proven.bound >= best.ceiling() * (1.0 - 1e-9) { f64::INFINITY } else { proven.bound })
}

/// The share of the time in which good nodes are looked for, before anything is proven.
const NODES_FIRST: f64 = 0.6;

/// In how many steps the proven bound rises to the best cost known.
const STEPS: u32 = 16;

/// With more tuples than this, pricing a node costs more than the walk saves by it, unless the lattice is large.
const MANY: usize = 1 << 18;

/// Below this many nodes a lattice is small.
const SMALL: f64 = 500.0;

/// The figures of some valid nodes.
fn describe<K: Key>(search: &Search<'_>, walk: &Walk<'_, K>, pricer: &Pricer<'_>, found: Vec<Vec<usize>>) -> Vec<Node> {
    found
        .into_iter()
        .map(|levels| {
            let mut snapshot = walk.snapshot(&levels);
            let outcome = walk.judge.judge(&mut snapshot.classes, true);
            let cost = pricer.cost(&walk.judge, &snapshot.classes, &outcome.suppressed);
            let all = snapshot.classes.rows.iter().filter(|&&n| n > 0).count() as u64;
            let masked = search.suppressed == crate::search::Suppressed::Mask && !outcome.suppressed.is_empty();
            let classes = all - outcome.suppressed.len() as u64 + u64::from(masked);
            Node { levels, classes, suppressed: outcome.suppressed_rows, cost }
        })
        .collect()
}
