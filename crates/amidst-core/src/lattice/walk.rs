//! The walk over the lattice: every node once, each rolled up from a finer one that is still held.
//!
//! The lattice is covered by a tree. The root is the finest node; a child raises one column by a level, never a column
//! before the one its parent raised. So each node has one parent, the walk needs only the snapshots on the way from the
//! root, and subtrees are independent of each other: both cores walk at once, whatever they find.
//!
//! Subset pruning, after Incognito's a-priori rule (LeFevre, DeWitt & Ramakrishnan 2005). In the subtree of a node the
//! columns before the raised one are fixed. Putting all others to their top leaves the projection on that subset of
//! the quasi-identifier, the coarsest node that the subtree may reach; if it is hopeless, so is the whole
//! subtree. In the same way the projection on the fixed columns and one more tells how far that one must be
//! raised. What "hopeless" rests on is only ever a requirement for which this is sound (see [`super::judge`]). All
//! subsets are looked at in [`super::apriori`].

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::judge::{Judge, Outcome};
use super::key::Key;
use super::layout::Layout;
use super::snapshot::{Classes, Snapshot};
use crate::control::{Control, Stage};
use crate::search::{Search, SearchError};

/// What to do with a node before its classes are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Plan {
    /// Nothing, nor with its subtree.
    Skip,
    /// Judge it; it and its subtree cost at least this.
    Judge(f64),
}

/// What is looked for on a walk.
pub(crate) trait Strategy: Sync {
    /// Whether nodes that are hopeless are wanted too.
    fn everything(&self) -> bool {
        false
    }

    /// Whether children that raise late columns come first, so that finer nodes come before coarser ones.
    fn finest_first(&self) -> bool {
        true
    }

    /// What to do with a node. `inherited` is what its subtree is already known to cost at least.
    fn plan(&self, levels: &[usize], inherited: f64) -> Plan;

    /// The most rows that a node of any use may suppress: once more of them fail, it is not judged to the end.
    fn most_suppressed(&self, _levels: &[usize]) -> u64 {
        u64::MAX
    }

    /// Takes note of a judged node. The answer is what its subtree costs at least, or nothing to leave the subtree out.
    fn visit(&self, classes: &Classes, outcome: &Outcome, bound: f64, leaf: bool) -> Option<f64>;

    /// Whether knowing rows that must be suppressed raises the bound of a subtree.
    fn wants_must_suppress(&self) -> bool {
        false
    }

    /// What a subtree costs at least in which the classes of `must_suppress` (ascending) are suppressed everywhere, and
    /// `partly` rows of the others.
    fn must_suppress_bound(&self, _classes: &Classes, _must_suppress: &[u32], _partly: u64) -> f64 {
        f64::NEG_INFINITY
    }

    /// Called for a subtree that is left out because the time is over, with what it costs at least.
    fn abandon(&self, _bound: f64) {}
}

/// The lattice of one search.
#[derive(Debug)]
pub(crate) struct Walk<'a, K> {
    /// Where key fields lie.
    pub layout: Layout<'a>,
    /// Judges nodes.
    pub judge: Judge<'a>,
    /// The finest node.
    pub base: Snapshot<K>,
    /// The lowest level of each column that there is.
    pub bottom: Vec<usize>,
    /// The highest level of each column.
    pub top: Vec<usize>,
    /// The columns in the order in which the tree raises them, those with the most values first: snapshots then shrink
    /// early, and most roll-ups start from a source hardly larger than their result.
    order: Vec<usize>,
    /// How many nodes were judged.
    pub judged: AtomicU64,
    /// Bytes of snapshots held at the moment.
    held: AtomicUsize,
    /// The most bytes of snapshots that were held at once.
    pub peak: AtomicUsize,
    /// Bytes of snapshots that may be held.
    pub budget: usize,
    /// Snapshots up to this many bytes are held whatever the budget.
    pub negligible: usize,
    /// From this many nodes on the lattice counts as large.
    pub large: f64,
    /// From a source of fewer classes than this it is quicker to go on without a step, and with all its rows.
    pub worth_a_step: usize,
}

/// How far a walk has come, in nodes of the tree.
struct Progress<'s> {
    done: AtomicU64,
    total: f64,
    control: Control<'s>,
    last: AtomicU64,
}

/// Subtrees of at least this many nodes are shared between cores.
const SHARED: f64 = 64.0;

/// Subtrees of at least this many nodes are worth a look at how far their columns must be raised.
const RAISED: f64 = 32.0;

/// Snapshots beyond this many bytes are not kept for their children, which then start from a finer one.
const BUDGET: usize = 256 << 20;

/// Snapshots of this many bytes are always kept: as many as the lattice is high, for each thread.
const NEGLIGIBLE: usize = 1 << 16;

/// A source of this many classes is large.
const WORTH_A_STEP: usize = 1024;

/// From this many nodes on a lattice is large.
const LARGE: f64 = 1e5;

impl<'a, K: Key> Walk<'a, K> {
    /// The lattice of a search.
    pub fn new(search: &Search<'a>, judge: Judge<'a>, layout: Layout<'a>, track: bool) -> Self {
        let track = track || judge.from_entries;
        let base = Snapshot::base(search.set, &layout, &judge.views, judge.all_tuples, track);
        Walk {
            bottom: search.set.bottom(),
            top: layout.top(),
            order: layout.order.clone(),
            layout,
            judge,
            base,
            judged: AtomicU64::new(0),
            held: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            budget: BUDGET,
            negligible: NEGLIGIBLE,
            large: LARGE,
            worth_a_step: WORTH_A_STEP,
        }
    }

    /// Walks the whole lattice. False when the time was over before the end.
    pub fn run(&self, search: &Search<'_>, strategy: &impl Strategy) -> Result<bool, SearchError> {
        let bottom = &self.bottom;
        let progress = Progress {
            done: AtomicU64::new(0),
            total: self.subtree(bottom, 0),
            control: search.control,
            last: AtomicU64::new(0),
        };
        self.descend(search, strategy, &progress, bottom, 0, &self.base, f64::NEG_INFINITY, !strategy.everything())
    }

    /// The classes of a node, rolled up from the finest.
    pub fn snapshot(&self, levels: &[usize]) -> Snapshot<K> {
        self.base.roll_up(&self.layout, levels, self.judge.carry)
    }

    /// The number of nodes.
    pub fn nodes(&self) -> f64 {
        self.subtree(&self.bottom, 0)
    }

    /// The number of nodes in the subtree of a node whose columns before `position` are fixed.
    fn subtree(&self, levels: &[usize], position: usize) -> f64 {
        self.order[position..].iter().map(|&c| (self.top[c] - levels[c] + 1) as f64).product()
    }

    /// Where a doubtful subtree can begin, how many nodes it has from there, and what they cost at least; none when
    /// nothing of it can be valid or cheap enough.
    fn raised(
        &self,
        strategy: &impl Strategy,
        progress: &Progress<'_>,
        levels: &[usize],
        position: usize,
        source: &Snapshot<K>,
        bound: f64,
    ) -> Option<(Vec<usize>, f64, f64)> {
        let nodes = self.subtree(levels, position);
        let mut raised = levels.to_vec();
        if !self.raise(&mut raised, position, source) {
            progress.add(nodes);
            return None;
        }
        if raised == levels {
            return Some((raised, nodes, bound));
        }
        let left = self.subtree(&raised, position);
        progress.add(nodes - left);
        let Plan::Judge(higher) = strategy.plan(&raised, bound) else {
            progress.add(left);
            return None;
        };
        Some((raised, left, higher))
    }

    #[expect(clippy::too_many_arguments, reason = "the state of a recursion")]
    fn descend(
        &self,
        search: &Search<'_>,
        strategy: &impl Strategy,
        progress: &Progress<'_>,
        levels: &[usize],
        position: usize,
        source: &Snapshot<K>,
        inherited: f64,
        doubtful: bool,
    ) -> Result<bool, SearchError> {
        search.checkpoint()?;
        let nodes = self.subtree(levels, position);
        let Plan::Judge(bound) = strategy.plan(levels, inherited) else {
            progress.add(nodes);
            return Ok(true);
        };
        let raised = match doubtful && nodes >= RAISED {
            true => self.raised(strategy, progress, levels, position, source, bound),
            false => Some((levels.to_vec(), nodes, bound)),
        };
        let Some((levels, nodes, bound)) = raised else { return Ok(true) };
        let levels = &levels[..];
        if search.control.overdue() {
            strategy.abandon(bound);
            return Ok(false);
        }
        let leaf = nodes <= 1.0;
        let mut own = source.roll_up(&self.layout, levels, self.judge.carry);
        self.judged.fetch_add(1, Ordering::Relaxed);
        let cap = strategy.most_suppressed(levels);
        let outcome = self.judge.judge_up_to(&mut own.classes, strategy.everything(), cap);
        let Some(bound) = strategy.visit(&own.classes, &outcome, bound, leaf) else {
            progress.add(nodes);
            return Ok(true);
        };
        let mut children = self.prospects(strategy, &own, &outcome, position, bound);
        let mut reached = 1.0;
        children.iter().for_each(|&(i, _)| reached += self.child_nodes(levels, i));
        progress.add(nodes - reached + 1.0);
        if strategy.finest_first() {
            children.reverse();
        }
        let over = self.judge.limit > 0 && outcome.suppressed_rows > self.judge.limit && self.judge.can_rule_out();
        let doubtful = (outcome.hopeless || over) && !strategy.everything();
        // Children start from this node, unless there is no room to keep it.
        let bytes = own.bytes();
        let held = self.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let keep = held <= self.budget || bytes <= self.negligible;
        let from = if keep {
            self.peak.fetch_max(held, Ordering::Relaxed);
            &own
        } else {
            self.held.fetch_sub(bytes, Ordering::Relaxed);
            own = Snapshot { keys: Vec::new(), classes: Classes::default() };
            source
        };
        let child = |&(i, bound): &(usize, f64)| {
            let mut levels = levels.to_vec();
            levels[self.order[i]] += 1;
            self.descend(search, strategy, progress, &levels, i, from, bound, doubtful)
        };
        let both = |complete: bool, one: Result<bool, SearchError>| one.map(|c| complete && c);
        let complete = if reached >= SHARED && children.len() > 1 {
            let all: Vec<Result<bool, SearchError>> = children.par_iter().with_max_len(1).map(child).collect();
            all.into_iter().try_fold(true, both)
        } else {
            children.iter().map(child).try_fold(true, both)
        };
        if keep {
            self.held.fetch_sub(bytes, Ordering::Relaxed);
        }
        drop(own);
        complete
    }

    /// The number of nodes below the child that raises the column at `position` of the order.
    fn child_nodes(&self, levels: &[usize], position: usize) -> f64 {
        let column = self.order[position];
        (self.top[column] - levels[column]) as f64 * self.subtree(levels, position + 1)
    }

    /// Raises the free columns of a subtree as far as every valid node in it must have them: a column must reach the
    /// level at which the projection on the fixed columns and this one is no longer hopeless. False when none does.
    fn raise(&self, levels: &mut [usize], position: usize, source: &Snapshot<K>) -> bool {
        let mut coarsest = levels.to_vec();
        self.order[position..].iter().for_each(|&c| coarsest[c] = self.top[c]);
        self.raise_some(levels, &coarsest, &self.order[position..], source)
    }

    /// Raises some of the free columns. Half of them at a time are projected first: their own projections then start
    /// from something far smaller than the source.
    fn raise_some(&self, levels: &mut [usize], coarsest: &[usize], columns: &[usize], source: &Snapshot<K>) -> bool {
        let half = columns.len() / 2;
        let halves = if half == 0 { [columns, &[]] } else { [&columns[..half], &columns[half..]] };
        halves.into_iter().filter(|columns| !columns.is_empty()).all(|columns| {
            let mut node = coarsest.to_vec();
            columns.iter().for_each(|&c| node[c] = levels[c]);
            let mut projection = source.roll_up(&self.layout, &node, self.judge.carry);
            let [column] = *columns else { return self.raise_some(levels, coarsest, columns, &projection) };
            while self.judge.hopeless(&mut projection.classes) {
                if node[column] == self.top[column] {
                    return false;
                }
                node[column] += 1;
                projection = projection.roll_up(&self.layout, &node, self.judge.carry);
            }
            levels[column] = node[column];
            true
        })
    }

    /// The children worth a walk: the position of the column that each raises, and what its subtree costs at least.
    fn prospects(
        &self,
        strategy: &impl Strategy,
        own: &Snapshot<K>,
        outcome: &Outcome,
        position: usize,
        bound: f64,
    ) -> Vec<(usize, f64)> {
        let levels = &own.classes.levels;
        let failing = !outcome.suppressed.is_empty() && !strategy.everything();
        let rules_out = failing && self.judge.can_rule_out() && self.judge.limit > 0;
        let priced = rules_out && strategy.wants_must_suppress();
        let must_suppress = priced || (rules_out && outcome.suppressed_rows > self.judge.limit);
        let mut children: Vec<(usize, f64)> = (position..self.order.len())
            .filter(|&i| levels[self.order[i]] < self.top[self.order[i]])
            .map(|i| (i, bound))
            .collect();
        if !(must_suppress || failing && outcome.hopeless) {
            return children;
        }
        // The coarsest node below each child, the last child first: each is rolled up from the one before it.
        let mut projection: Option<Snapshot<K>> = None;
        let mut map: Vec<u32> = Vec::new();
        for child in (0..children.len()).rev() {
            let i = children[child].0;
            // Looking ahead costs a roll-up and a half; a subtree of a few nodes is not worth it.
            if self.child_nodes(levels, i) <= 2.0 {
                continue;
            }
            let mut coarsest = levels.clone();
            self.order[i..].iter().for_each(|&c| coarsest[c] = self.top[c]);
            let finer = projection.as_ref().unwrap_or(own);
            let mut coarser = if priced {
                let (coarser, up) = finer.roll_up_mapped(&self.layout, &coarsest, self.judge.carry);
                match map.is_empty() {
                    true => map = up,
                    false => map.iter_mut().for_each(|class| *class = up[*class as usize]),
                }
                coarser
            } else {
                finer.roll_up(&self.layout, &coarsest, self.judge.carry)
            };
            // The more columns are fixed, the less hope is left: all later children are hopeless too.
            if must_suppress {
                let must_suppress = self.judge.must_suppress(&mut coarser.classes);
                if must_suppress.rows > self.judge.limit {
                    children.truncate(child);
                } else if must_suppress.rows > 0 && priced {
                    let mut lost = vec![false; coarser.classes.len()];
                    must_suppress.classes.iter().for_each(|&c| lost[c as usize] = true);
                    let own_must_suppress: Vec<u32> =
                        (0u32..).zip(&map).filter(|&(_, &c)| lost[c as usize]).map(|(own, _)| own).collect();
                    let partly = must_suppress.partly.iter().map(|&(_, rows)| rows).sum();
                    let least = strategy.must_suppress_bound(&own.classes, &own_must_suppress, partly);
                    children[child].1 = bound.max(least);
                }
            } else if self.judge.hopeless(&mut coarser.classes) {
                children.truncate(child);
            }
            projection = Some(coarser);
        }
        children
    }
}

impl Progress<'_> {
    fn add(&self, nodes: f64) {
        let done = self.done.fetch_add(nodes as u64, Ordering::Relaxed) as f64 + nodes;
        let share = (done / self.total).clamp(0.0, 1.0);
        let step = (share * 200.0) as u64;
        if self.last.fetch_max(step, Ordering::Relaxed) < step {
            self.control.tell(Stage::Search, share);
        }
    }
}
