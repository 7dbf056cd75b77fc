//! The least that some columns cost alone: every level of each, with branch and bound.
//!
//! Columns are fixed one after the other, always the one that has the fewest levels left. Beside those that are fixed,
//! each other column has levels at which too many rows would fail, and costs at least what it costs at the cheapest of
//! the others; and some sets of columns are known to cost more together ([`Block`]).

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::super::find::lock;
use super::part::{Fields, Part, Scratch};

/// What sets of columns cost at least together: a tree whose leaves are the columns.
#[derive(Debug, Clone)]
pub(super) enum Block {
    /// A column, by its position.
    One(usize),
    /// Two sets, and what they cost at least together.
    Both(Box<Block>, Box<Block>, f64),
}

impl Block {
    /// What the columns that are not fixed cost at least, when each costs at least `least`; and whether none is fixed.
    fn least(&self, least: &[f64], fixed: &[bool]) -> (f64, bool) {
        match self {
            Block::One(position) if fixed[*position] => (0.0, false),
            Block::One(position) => (least[*position], true),
            Block::Both(a, b, together) => {
                let ((x, whole), (y, other)) = (a.least(least, fixed), b.least(least, fixed));
                if whole && other { ((x + y).max(*together), true) } else { (x + y, false) }
            }
        }
    }

    /// The same tree with every position moved.
    pub fn shifted(&self, by: usize) -> Block {
        match self {
            Block::One(position) => Block::One(position + by),
            Block::Both(a, b, together) => Block::Both(Box::new(a.shifted(by)), Box::new(b.shifted(by)), *together),
        }
    }
}

/// A proof under way: nothing costs less than the threshold unless it is found.
pub(super) struct Proof<'s, 'a> {
    fields: &'s Fields<'a>,
    block: &'s Block,
    /// The rows that may be suppressed.
    limit: u64,
    until: Instant,
    /// Costs from here on are of no use, as the bits of a number.
    threshold: AtomicU64,
    found: Mutex<Option<(f64, Vec<usize>)>>,
    cut: AtomicBool,
    stop: &'s (dyn Fn() -> bool + Sync),
}

/// What is known where some columns are fixed.
#[derive(Clone)]
struct State {
    levels: Vec<usize>,
    fixed: Vec<bool>,
    /// The lowest level of each column at which not too many rows fail.
    lowest: Vec<usize>,
    /// What each column costs at least.
    least: Vec<f64>,
    /// How many columns are fixed.
    depth: usize,
}

/// While fewer columns are fixed, levels are shared between cores.
const SHARED: usize = 3;

impl<'s, 'a> Proof<'s, 'a> {
    /// Looks for levels that cost less than `threshold`, until the time is over.
    pub fn new(
        fields: &'s Fields<'a>,
        block: &'s Block,
        limit: u64,
        until: Instant,
        threshold: f64,
        stop: &'s (dyn Fn() -> bool + Sync),
    ) -> Self {
        Proof {
            fields,
            block,
            limit,
            until,
            threshold: AtomicU64::new(threshold.to_bits()),
            found: Mutex::new(None),
            cut: AtomicBool::new(false),
            stop,
        }
    }

    /// The cheapest levels below the threshold, if there are any; nothing where the time was over before it was known.
    pub fn run(self) -> Option<Option<(f64, Vec<usize>)>> {
        let count = self.fields.fields.len();
        let state = State {
            levels: self.fields.fields.iter().map(|f| f.top).collect(),
            fixed: vec![false; count],
            lowest: self.fields.fields.iter().map(|f| f.bottom).collect(),
            least: self.fields.fields.iter().map(|f| f.whole[f.bottom]).collect(),
            depth: 0,
        };
        self.descend(self.fields.whole(), state, &mut Scratch::default());
        let found = self.found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        (!self.cut.into_inner()).then_some(found)
    }

    fn threshold(&self) -> f64 {
        f64::from_bits(self.threshold.load(Ordering::Relaxed))
    }

    fn over(&self) -> bool {
        if !self.cut.load(Ordering::Relaxed) && (Instant::now() >= self.until || (self.stop)()) {
            self.cut.store(true, Ordering::Relaxed);
        }
        self.cut.load(Ordering::Relaxed)
    }

    /// Takes note of levels for all columns.
    fn offer(&self, cost: f64, levels: Vec<usize>) {
        let mut found = lock(&self.found);
        let better = match &*found {
            Some((known, at)) => (cost, &levels) < (*known, at),
            None => cost < self.threshold(),
        };
        if better {
            *found = Some((cost, levels));
            self.threshold.store(cost.to_bits(), Ordering::Relaxed);
        }
    }

    /// Looks at everything below a state.
    fn descend(&self, mut part: Part, mut state: State, scratch: &mut Scratch) {
        let own = part.cost();
        if state.depth == state.fixed.len() {
            return self.offer(own, state.levels);
        }
        if self.over() || !self.look_ahead(&part, own, &mut state, scratch) {
            return;
        }
        if state.depth > 0 {
            let open = |(&level, &fixed): (&usize, &bool)| (!fixed).then_some(level);
            let lowest: Vec<Option<usize>> = state.lowest.iter().zip(&state.fixed).map(open).collect();
            self.fields.compact(&mut part, &lowest, scratch);
        }
        let Some(next) = self.next(&mut state, own) else { return };
        let field = &self.fields.fields[next];
        let step = |level: usize, scratch: &mut Scratch| {
            if own + self.at_level(&mut state.least.clone(), &state.fixed, next, level) >= self.threshold() {
                return;
            }
            let finer = self.fields.split(&part, next, level, scratch);
            if finer.lost > self.limit {
                return;
            }
            let mut state = state.clone();
            state.levels[next] = level;
            state.fixed[next] = true;
            state.depth += 1;
            self.descend(finer, state, scratch);
        };
        if state.depth < SHARED {
            let levels = (state.lowest[next]..field.top + 1).into_par_iter().with_max_len(1);
            levels.for_each_init(Scratch::default, |scratch, level| step(level, scratch));
        } else {
            (state.lowest[next]..=field.top).for_each(|level| step(level, scratch));
        }
    }

    /// Finds out what each column costs at least beside those that are fixed. False where nothing is left to find.
    fn look_ahead(&self, part: &Part, own: f64, state: &mut State, scratch: &mut Scratch) -> bool {
        let beaten = |state: &State| own + self.block.least(&state.least, &state.fixed).0 >= self.threshold();
        if beaten(state) {
            return false;
        }
        for position in 0..state.fixed.len() {
            if state.fixed[position] {
                continue;
            }
            let field = &self.fields.fields[position];
            let mut least = f64::INFINITY;
            for level in state.lowest[position]..=field.top {
                if least <= field.whole[level] {
                    break;
                }
                let (failing, cost) = self.fields.probe(part, position, level, scratch);
                if failing <= self.limit {
                    least = least.min(cost);
                } else if level == field.top {
                    return false;
                } else {
                    state.lowest[position] = level + 1;
                }
            }
            if least > state.least[position] {
                state.least[position] = least;
                if beaten(state) {
                    return false;
                }
            }
        }
        true
    }

    /// What the columns that are not fixed cost at least when one of them is put at a level.
    fn at_level(&self, least: &mut [f64], fixed: &[bool], position: usize, level: usize) -> f64 {
        let own = least[position];
        least[position] = own.max(self.fields.fields[position].whole[level]);
        let all = self.block.least(least, fixed).0;
        least[position] = own;
        all
    }

    /// The column that has the fewest levels left; of these the one that costs most.
    fn next(&self, state: &mut State, own: f64) -> Option<usize> {
        let threshold = self.threshold();
        let mut least = std::mem::take(&mut state.least);
        let mut best = None;
        for position in (0..state.fixed.len()).filter(|&position| !state.fixed[position]) {
            let levels = state.lowest[position]..=self.fields.fields[position].top;
            let open = |&level: &usize| own + self.at_level(&mut least, &state.fixed, position, level) < threshold;
            let left = levels.take_while(open).count();
            let order = (left, std::cmp::Reverse((least[position] * 1e6) as i64), position);
            best = best.filter(|known| *known < order).or(Some(order));
        }
        state.least = least;
        best.map(|order| order.2)
    }
}
