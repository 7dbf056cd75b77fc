//! The best node of a lattice that can be held whole: best first, and from above.
//!
//! Every node has a bound on its cost. The open node with the least bound must be dealt with by any search that proves
//! its answer; but judging it tells little of others, and the finest nodes are the dearest to judge. What a coarser
//! node must suppress for a reason that no finer node can mend, all nodes below it must suppress, too: that rules out,
//! or makes dearer, all of them at once. So a chain of open nodes is followed upwards (after Flash: Kohlmayer et al.
//! 2012), and nodes of it are judged, from near its top downwards, until the one it started from is beaten or judged
//! itself. Before that, nodes of two columns are judged ([`pairs`]).
//!
//! In the other direction, what the classes of a node cost when nothing is suppressed bounds every node above it.
//!
//! The answer is that of comparing all nodes, so it depends on no order, and threads deal with different nodes at once.

mod held;
mod pairs;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use self::held::Held;
use super::find::{Best, lock};
use super::judge::MustSuppress;
use super::key::Key;
use super::layout::finer;
use super::price::Pricer;
use super::snapshot::{Classes, Snapshot};
use super::walk::{Strategy, Walk};
use crate::search::{Search, SearchError};

/// Whether the best node is found sooner this way than along the tree of [`Walk`].
///
/// Where no row may be suppressed, the tree rules out most nodes by small projections, unless there are very many
/// tuples to project. Where rows may be, these rule out little; here they make nodes dearer, if suppression costs
/// anything. A metric that tells what nodes cost before they are counted puts them in a good order; without that it
/// takes many rows.
pub(crate) fn suits<K: Key>(search: &Search<'_>, walk: &Walk<'_, K>, pricer: &Pricer<'_>) -> bool {
    let (limit, ordered) = (walk.judge.limit, pricer.known_by_levels());
    let priced = limit > 0 && pricer.suppression_costs() && (ordered || limit.saturating_mul(4) >= search.set.rows);
    walk.nodes() < walk.large && (priced || (ordered && walk.base.classes.len() > MANY_TUPLES))
}

/// Above this many tuples every roll-up of the finest node counts.
const MANY_TUPLES: usize = 1 << 18;

/// Offers `best` the best node, and tells it what was left out when the time is over.
pub(crate) fn run<K: Key>(
    search: &Search<'_>,
    walk: &Walk<'_, K>,
    pricer: &Pricer<'_>,
    best: &Best<'_, '_>,
) -> Result<(), SearchError> {
    let budget = walk.budget.min((walk.base.bytes() * 2).max(LEAST_BUDGET));
    let grid = Grid::new(&walk.bottom, &walk.top);
    let held = Mutex::new(Held::new(budget));
    let order = BestFirst { search, walk, pricer, best, grid, state: Mutex::default(), held };
    order.open();
    order.judge_pairs()?;
    let failure = Mutex::new(None);
    rayon::scope(|scope| {
        for _ in 0..rayon::current_num_threads() {
            scope.spawn(|_| {
                if let Err(error) = order.work() {
                    *lock(&failure) = Some(error);
                }
            });
        }
    });
    failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
}

/// When this many nodes of a chain did not rule out its lowest, that one is counted, and the others from there.
const FAILED: usize = 2;

/// A snapshot is held a second time without lost rows where these are at least one in this number of classes.
const LEFT_OUT: usize = 2;

/// Snapshots of this many bytes are held however small the table is.
const LEAST_BUDGET: usize = 64 << 20;

/// The nodes of a lattice, numbered.
#[derive(Debug)]
struct Grid {
    bottom: Vec<usize>,
    top: Vec<usize>,
    /// How far apart the numbers of two nodes are that differ by one level of a column.
    strides: Vec<usize>,
    nodes: usize,
}

impl Grid {
    fn new(bottom: &[usize], top: &[usize]) -> Self {
        let mut strides = vec![1; top.len()];
        let mut nodes = 1;
        for column in (0..top.len()).rev() {
            strides[column] = nodes;
            nodes *= top[column] - bottom[column] + 1;
        }
        Grid { bottom: bottom.to_vec(), top: top.to_vec(), strides, nodes }
    }

    fn number(&self, levels: &[usize]) -> usize {
        (levels.iter().zip(&self.bottom).zip(&self.strides)).map(|((l, b), s)| (l - b) * s).sum()
    }

    fn levels(&self, node: usize) -> Vec<usize> {
        let mut rest = node;
        let digit = |(&stride, &bottom): (&usize, &usize)| {
            let level = bottom + rest / stride;
            rest %= stride;
            level
        };
        self.strides.iter().zip(&self.bottom).map(digit).collect()
    }

    /// Calls `visit` with every node from `low` to `high` until it breaks off, and with the sum of what the levels of
    /// the node cost: by column and level, nothing for columns that are not listed.
    fn between(
        &self,
        low: &[usize],
        high: &[usize],
        costs: &[Vec<f64>],
        mut visit: impl FnMut(usize, f64) -> ControlFlow<()>,
    ) {
        let mut levels = low.to_vec();
        let mut node = self.number(low);
        // The sum over the columns before each.
        let mut sums = vec![0.0; levels.len() + 1];
        let mut changed = 0;
        loop {
            for c in changed..levels.len() {
                sums[c + 1] = sums[c] + costs.get(c).map_or(0.0, |costs| costs[levels[c]]);
            }
            if visit(node, sums[levels.len()]).is_break() {
                return;
            }
            let Some(column) = (0..levels.len()).rev().find(|&c| levels[c] < high[c]) else { return };
            for c in column + 1..levels.len() {
                node -= (levels[c] - low[c]) * self.strides[c];
                levels[c] = low[c];
            }
            levels[column] += 1;
            node += self.strides[column];
            changed = column;
        }
    }
}

/// What is known of a node.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// What it costs at least with nothing suppressed.
    least: f64,
    /// What the rows that it must suppress add at least.
    adds: f64,
    /// Whether it is judged, being judged, or cannot be published.
    closed: bool,
    /// Whether it was wanted as a step on the way to another.
    wanted: bool,
}

impl Known {
    fn bound(&self) -> f64 {
        self.least + self.adds
    }
}

/// A bound in an order, and the node it was once the bound of.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Open(f64, usize);

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

#[derive(Debug, Default)]
struct State {
    nodes: Vec<Known>,
    heap: BinaryHeap<Reverse<Open>>,
}

struct BestFirst<'s, 'a, K> {
    search: &'s Search<'s>,
    walk: &'s Walk<'a, K>,
    pricer: &'s Pricer<'a>,
    best: &'s Best<'s, 'a>,
    grid: Grid,
    state: Mutex<State>,
    held: Mutex<Held<K>>,
}

impl<K: Key> BestFirst<'_, '_, K> {
    /// Opens all nodes.
    fn open(&self) {
        let mut state = lock(&self.state);
        let (bottom, top) = (&self.grid.bottom, &self.grid.top);
        self.grid.between(bottom, top, &[], |node, _| {
            let least = self.pricer.lower_bound(&self.grid.levels(node));
            state.nodes.push(Known { least, ..Known::default() });
            state.heap.push(Reverse(Open(least, node)));
            ControlFlow::Continue(())
        });
    }

    /// Deals with open nodes until there is none, or the time is over.
    fn work(&self) -> Result<(), SearchError> {
        while let Some((node, over)) = self.next() {
            if over {
                self.best.abandon(lock(&self.state).nodes[node].bound());
                continue;
            }
            let chain = self.chain(node);
            let mut end = chain.len();
            let mut judged = 0;
            while end > 0 && !self.is_beaten(node) {
                // Near the top most nodes are ruled out at once. Of very many tuples every look is dear, so fewer are
                // taken.
                end = if self.walk.base.classes.len() > MANY_TUPLES { end / 2 } else { end * 7 / 8 };
                self.search.checkpoint()?;
                if judged == FAILED && end > 0 {
                    self.step_to(node);
                }
                self.judge(chain[end], node);
                judged += 1;
            }
        }
        Ok(())
    }

    /// The open node with the least bound, and whether the time is over.
    fn next(&self) -> Option<(usize, bool)> {
        let over = self.search.control.overdue();
        let mut state = lock(&self.state);
        while let Some(Reverse(Open(bound, node))) = state.heap.pop() {
            let known = state.nodes[node];
            if known.closed || self.best.beaten(known.bound(), &self.grid.levels(node)) {
                continue;
            }
            if known.bound() > bound {
                state.heap.push(Reverse(Open(known.bound(), node)));
                continue;
            }
            self.search.tell(1.0 - state.heap.len() as f64 / self.grid.nodes as f64);
            return Some((node, over));
        }
        None
    }

    /// Whether a node may be beaten when it must suppress some rows.
    fn may_beat(&self, node: usize, rows: u64) -> bool {
        let least = lock(&self.state).nodes[node].least;
        rows > 0 && least + self.pricer.adds_at_most(rows) >= self.best.ceiling() * (1.0 - 1e-9)
    }

    fn is_beaten(&self, node: usize) -> bool {
        let known = lock(&self.state).nodes[node];
        known.closed || self.best.beaten(known.bound(), &self.grid.levels(node))
    }

    /// Open nodes from `node` upwards, each above the one before it: always the one that costs least with nothing
    /// suppressed.
    fn chain(&self, node: usize) -> Vec<usize> {
        let state = lock(&self.state);
        let mut levels = self.grid.levels(node);
        let mut chain = vec![node];
        let mut last = node;
        loop {
            let mut next: Option<(Open, usize)> = None;
            for column in 0..levels.len() {
                if levels[column] == self.grid.top[column] {
                    continue;
                }
                let node = last + self.grid.strides[column];
                let known = state.nodes[node];
                let open = Open(known.least, node);
                if known.closed || next.is_some_and(|(other, _)| other < open) {
                    continue;
                }
                levels[column] += 1;
                if !self.best.beaten(known.bound(), &levels) {
                    next = Some((open, column));
                }
                levels[column] -= 1;
            }
            let Some((Open(_, node), column)) = next else { return chain };
            levels[column] += 1;
            last = node;
            chain.push(node);
        }
    }

    /// Judges a node, as far as that is of use: it may be known to be beaten, and `aim` with it, before it is judged to
    /// the end.
    fn judge(&self, node: usize, aim: usize) {
        let (walk, judge) = (self.walk, &self.walk.judge);
        let levels = self.grid.levels(node);
        if std::mem::replace(&mut lock(&self.state).nodes[node].closed, true) {
            // Another thread is at it.
            return;
        }
        walk.judged.fetch_add(1, Ordering::Relaxed);
        let mut held = self.stepped(&levels);
        let mut source = held.as_deref().unwrap_or(&walk.base);
        let (mut own, mut class_of) = source.roll_up_sizes(&walk.layout, &levels, judge.carry);
        // Counting views takes longer than all the rest; sizes alone often tell enough.
        if let Some(must_suppress) = judge.must_suppress_by_size(&own.classes)
            && (must_suppress.rows > judge.limit || self.may_beat(aim, must_suppress.rows))
        {
            let bound = self.rule_out(node, &own.classes, &must_suppress);
            let lost = must_suppress.rows > judge.limit || self.best.beaten(bound, &levels);
            if lost && self.is_beaten(aim) {
                self.leave_out(source, &class_of, &own.classes, &must_suppress);
                self.hold(own);
                return;
            }
        }
        if source.classes.views.len() == walk.base.classes.views.len() {
            own.add_views(source, &class_of);
        } else {
            held = self.source(&levels, true);
            source = held.as_deref().unwrap_or(&walk.base);
            (own, class_of) = source.roll_up_sizes(&walk.layout, &levels, judge.carry);
            own.add_views(source, &class_of);
        }
        let most = self.pricer.most_suppressed(&levels, self.best.ceiling());
        let outcome = judge.judge_up_to(&mut own.classes, false, most);
        if outcome.valid {
            let cost = self.pricer.cost(judge, &own.classes, &outcome.suppressed);
            self.best.offer(cost, &levels);
        }
        if judge.limit == 0 {
            if outcome.hopeless {
                self.rule_out(node, &own.classes, &MustSuppress { rows: u64::MAX, ..MustSuppress::default() });
            }
        } else if !outcome.suppressed.is_empty() && judge.can_rule_out() && self.any_open_below(&levels) {
            let must_suppress = judge.must_suppress(&mut own.classes);
            self.rule_out(node, &own.classes, &must_suppress);
            if self.any_open_below(&levels) {
                self.leave_out(source, &class_of, &own.classes, &must_suppress);
            }
        }
        drop((held, class_of));
        self.raise(&own.classes);
        self.hold(own);
    }

    /// Whether some node below these levels is open, and not known to be beaten.
    fn any_open_below(&self, levels: &[usize]) -> bool {
        let ceiling = self.best.ceiling();
        let state = lock(&self.state);
        let mut found = false;
        self.grid.between(&self.grid.bottom, levels, &[], |node, _| {
            let known = state.nodes[node];
            found = !known.closed && known.bound() <= ceiling;
            if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        found
    }

    /// Takes note of what all nodes below one must suppress. The answer is what that makes the node cost at least.
    fn rule_out(&self, node: usize, classes: &Classes, must_suppress: &MustSuppress) -> f64 {
        let (limit, levels) = (self.walk.judge.limit, &classes.levels);
        let dead = must_suppress.rows > limit;
        let adds = if dead { None } else { self.pricer.adds_below(classes, must_suppress) };
        let mut state = lock(&self.state);
        if dead {
            self.grid.between(&self.grid.bottom, levels, &[], |node, _| {
                state.nodes[node].closed = true;
                ControlFlow::Continue(())
            });
        } else if let Some(adds) = adds {
            self.grid.between(&self.grid.bottom, levels, &adds.published, |node, published| {
                let known = &mut state.nodes[node];
                known.adds = known.adds.max(adds.less(published));
                ControlFlow::Continue(())
            });
        }
        state.nodes[node].bound()
    }

    /// Holds what a node was rolled up from without the rows that all nodes below it must suppress, if these are many.
    fn leave_out(&self, source: &Snapshot<K>, class_of: &[u32], classes: &Classes, must_suppress: &MustSuppress) {
        let alone = !self.walk.judge.from_entries && source.classes.class_of.is_empty();
        if !alone || !self.pricer.suppression_costs() || source.classes.len() < self.walk.worth_a_step {
            return;
        }
        if let Some(without) = source.without(self.search.set, classes, class_of, &must_suppress.classes, LEFT_OUT) {
            self.hold(without);
        }
    }

    /// Takes note of what all nodes above one cost at least.
    fn raise(&self, classes: &Classes) {
        let bound = self.pricer.bound(&self.walk.judge, classes, self.walk.judge.limit);
        if bound <= self.pricer.lower_bound(&classes.levels) {
            return;
        }
        let mut state = lock(&self.state);
        self.grid.between(&classes.levels, &self.grid.top, &[], |node, _| {
            let known = &mut state.nodes[node];
            known.least = known.least.max(bound);
            ControlFlow::Continue(())
        });
    }

    /// Counts a node, and holds it: more than one of those above it will be rolled up from there.
    fn step_to(&self, node: usize) {
        let levels = self.grid.levels(node);
        let held = self.source(&levels, true);
        let source = held.as_deref().unwrap_or(&self.walk.base);
        if source.classes.len() >= self.walk.worth_a_step && source.classes.levels != levels {
            self.hold(source.roll_up(&self.walk.layout, &levels, self.walk.judge.carry));
        }
    }

    /// The smallest snapshot held that is finer than a node; where that is large, a node between the two that has been
    /// wanted before is counted first, and held.
    fn stepped(&self, levels: &[usize]) -> Option<Arc<Snapshot<K>>> {
        let held = self.source(levels, false);
        let source = held.as_deref().unwrap_or(&self.walk.base);
        // The columns with the most values are where they should be, the others still at the bottom: many nodes share
        // that.
        let order = &self.walk.layout.order;
        let mut step = levels.to_vec();
        order[order.len() / 2..].iter().for_each(|&c| step[c] = self.grid.bottom[c]);
        let from = &source.classes.levels;
        if source.classes.len() < self.walk.worth_a_step || *from == step || !finer(from, &step) {
            return held;
        }
        let wanted = std::mem::replace(&mut lock(&self.state).nodes[self.grid.number(&step)].wanted, true);
        if wanted { Some(self.hold(source.roll_up(&self.walk.layout, &step, self.walk.judge.carry))) } else { held }
    }

    /// The smallest snapshot held that is finer than a node, with its views where they are asked for; none where that
    /// is the finest of all.
    fn source(&self, levels: &[usize], views: bool) -> Option<Arc<Snapshot<K>>> {
        lock(&self.held).source(levels, if views { self.walk.base.classes.views.len() } else { 0 })
    }

    /// Holds a snapshot, as far as there is room.
    fn hold(&self, snapshot: Snapshot<K>) -> Arc<Snapshot<K>> {
        let mut held = lock(&self.held);
        let snapshot = held.hold(snapshot);
        self.walk.peak.fetch_max(held.bytes(), Ordering::Relaxed);
        snapshot
    }
}
