//! The strategies of the lattice algorithms: all minimal nodes, the best node, the nodes of one height.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::judge::{Judge, Outcome};
use super::layout::finer;
use super::price::{Pricer, compare, rounded};
use super::snapshot::Classes;
use super::walk::{Plan, Strategy};

/// Locks what a walk writes to. A panic elsewhere ends the search anyway, so a poisoned lock is opened.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Looks for every valid node that generalizes no other valid node.
#[derive(Debug, Default)]
pub(crate) struct Minimal {
    found: Mutex<Vec<Vec<usize>>>,
}

impl Minimal {
    /// The minimal nodes, by levels.
    pub fn into_nodes(self) -> Vec<Vec<usize>> {
        let found = self.found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut minimal: Vec<Vec<usize>> =
            found.iter().filter(|n| !found.iter().any(|m| m != *n && finer(m, n))).cloned().collect();
        minimal.sort();
        minimal
    }
}

impl Strategy for Minimal {
    fn plan(&self, levels: &[usize], inherited: f64) -> Plan {
        // A node above a valid one is not minimal, nor is anything in its subtree.
        let above = lock(&self.found).iter().any(|m| finer(m, levels));
        if above { Plan::Skip } else { Plan::Judge(inherited) }
    }

    fn visit(&self, classes: &Classes, outcome: &Outcome, bound: f64, _leaf: bool) -> Option<f64> {
        if !outcome.valid {
            return Some(bound);
        }
        lock(&self.found).push(classes.levels.clone());
        None
    }
}

/// Looks for the valid node of least cost.
#[derive(Debug)]
pub(crate) struct Best<'s, 'a> {
    judge: &'s Judge<'a>,
    pricer: &'s Pricer<'a>,
    best: Mutex<Option<(f64, Vec<usize>)>>,
    /// The best cost so far, as the bits of a number, for a look without the lock.
    ceiling: AtomicU64,
    /// What the subtrees that were left out for want of time cost at least.
    unexplored: Mutex<f64>,
    /// Subtrees that cost at least this much wait for a later walk.
    threshold: f64,
}

impl<'s, 'a> Best<'s, 'a> {
    /// Looks for the best node by `pricer` among those that `judge` finds valid.
    pub fn new(judge: &'s Judge<'a>, pricer: &'s Pricer<'a>) -> Self {
        Best {
            judge,
            pricer,
            best: Mutex::new(None),
            ceiling: AtomicU64::new(f64::INFINITY.to_bits()),
            unexplored: Mutex::new(f64::INFINITY),
            threshold: f64::INFINITY,
        }
    }

    /// What the best node so far costs.
    pub fn ceiling(&self) -> f64 {
        f64::from_bits(self.ceiling.load(Ordering::Relaxed))
    }

    /// What the subtrees that were left out for want of time cost at least.
    pub fn unexplored(&self) -> f64 {
        *lock(&self.unexplored)
    }

    /// Leaves out subtrees that cost at least `threshold`, and forgets which were left out before.
    pub fn below(&mut self, threshold: f64) {
        self.threshold = threshold;
        self.unexplored = Mutex::new(f64::INFINITY);
    }

    /// The best node with its cost, and what unexplored nodes cost at least (infinite when there are none).
    pub fn into_best(self) -> (Option<(f64, Vec<usize>)>, f64) {
        let best = self.best.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        (best, self.unexplored.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Offers a valid node.
    pub fn offer(&self, cost: f64, levels: &[usize]) {
        let mut best = lock(&self.best);
        if best.as_ref().is_none_or(|(c, l)| compare((cost, levels), (*c, l)).is_lt()) {
            *best = Some((cost, levels.to_vec()));
            self.ceiling.store(rounded(cost).to_bits(), Ordering::Relaxed);
        }
    }

    /// Whether nothing at or above a node that costs at least `bound` can be better than what is known.
    pub fn beaten(&self, bound: f64, levels: &[usize]) -> bool {
        let bound = rounded(bound);
        if bound < self.ceiling() {
            return false;
        }
        // At the same cost the lower node wins, and everything else in the subtree is higher than this one.
        let best = lock(&self.best);
        best.as_ref().is_some_and(|(cost, known)| {
            let height = |l: &[usize]| l.iter().sum::<usize>();
            bound > rounded(*cost)
                || (bound == rounded(*cost) && (height(levels), levels) > (height(known), known.as_slice()))
        })
    }
}

impl Strategy for Best<'_, '_> {
    fn finest_first(&self) -> bool {
        false
    }

    fn plan(&self, levels: &[usize], inherited: f64) -> Plan {
        let bound = inherited.max(self.pricer.lower_bound(levels));
        if self.beaten(bound, levels) || bound >= self.threshold { Plan::Skip } else { Plan::Judge(bound) }
    }

    fn most_suppressed(&self, levels: &[usize]) -> u64 {
        self.pricer.most_suppressed(levels, self.ceiling())
    }

    fn visit(&self, classes: &Classes, outcome: &Outcome, bound: f64, leaf: bool) -> Option<f64> {
        if outcome.valid {
            let cost = self.pricer.cost(self.judge, classes, &outcome.suppressed);
            self.offer(cost, &classes.levels);
            if outcome.suppressed.is_empty() && self.pricer.monotone() {
                return None;
            }
        }
        if leaf {
            return None;
        }
        let bound = bound.max(self.pricer.bound(self.judge, classes, self.judge.limit));
        // With everything that fails suppressed a node may cost much; what is above it may cost less.
        (!self.beaten(bound, &classes.levels)).then_some(bound)
    }

    fn wants_must_suppress(&self) -> bool {
        self.pricer.suppression_costs()
    }

    fn must_suppress_bound(&self, classes: &Classes, must_suppress: &[u32], partly: u64) -> f64 {
        self.pricer.must_suppress_bound(self.judge, classes, must_suppress, partly)
    }

    fn abandon(&self, bound: f64) {
        let mut unexplored = lock(&self.unexplored);
        *unexplored = unexplored.min(bound);
    }
}

/// Looks for the lowest valid nodes, none of which is higher than a ceiling.
#[derive(Debug)]
pub(crate) struct Lowest {
    /// Whether one valid node up to the ceiling is enough.
    first_only: bool,
    state: Mutex<(usize, Vec<Vec<usize>>)>,
}

impl Lowest {
    /// Looks for all valid nodes of the least height up to `ceiling`.
    pub fn all(ceiling: usize) -> Self {
        Lowest { first_only: false, state: Mutex::new((ceiling, Vec::new())) }
    }

    /// Looks for any valid node up to `ceiling`.
    pub fn any(ceiling: usize) -> Self {
        Lowest { first_only: true, state: Mutex::new((ceiling, Vec::new())) }
    }

    /// What was found, by levels.
    pub fn into_nodes(self) -> Vec<Vec<usize>> {
        let (_, mut found) = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        found.sort();
        found
    }
}

impl Strategy for Lowest {
    fn plan(&self, levels: &[usize], inherited: f64) -> Plan {
        let height: usize = levels.iter().sum();
        let state = lock(&self.state);
        let done = height > state.0 || (self.first_only && !state.1.is_empty());
        if done { Plan::Skip } else { Plan::Judge(inherited) }
    }

    fn visit(&self, classes: &Classes, outcome: &Outcome, bound: f64, _leaf: bool) -> Option<f64> {
        let height: usize = classes.levels.iter().sum();
        let mut state = lock(&self.state);
        if outcome.valid && height <= state.0 {
            if height < state.0 {
                state.1.clear();
                state.0 = height;
            }
            state.1.push(classes.levels.clone());
            return None;
        }
        (height < state.0).then_some(bound)
    }
}

/// Looks for the node that must suppress the fewest rows.
#[derive(Debug, Default)]
pub(crate) struct LeastSuppression {
    least: Mutex<Option<(u64, Vec<usize>)>>,
}

impl LeastSuppression {
    /// The fewest rows whose suppression makes some node valid, and the first such node.
    pub fn into_least(self) -> Option<(u64, Vec<usize>)> {
        self.least.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Strategy for LeastSuppression {
    fn everything(&self) -> bool {
        true
    }

    fn plan(&self, _levels: &[usize], inherited: f64) -> Plan {
        Plan::Judge(inherited)
    }

    fn visit(&self, classes: &Classes, outcome: &Outcome, bound: f64, _leaf: bool) -> Option<f64> {
        if outcome.valid {
            let own = (outcome.suppressed_rows, classes.levels.clone());
            let mut least = lock(&self.least);
            if least.as_ref().is_none_or(|l| own < *l) {
                *least = Some(own);
            }
        }
        Some(bound)
    }
}
