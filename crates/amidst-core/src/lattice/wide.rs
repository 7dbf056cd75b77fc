//! Good nodes of a lattice that is too large for the time there is: many columns, or many levels.
//!
//! A large-neighbourhood search. Some columns of a node are raised, and then all are lowered again one after the other,
//! each as far as the policy allows and the cost falls, in an order that chance decides, those first that gain much.
//! What is found takes the place of the node if it costs less, and now and then if it costs a little more. It begins at
//! the top, in several orders. Several such chains go on side by side; when a better node is found, the worst goes on
//! where the best is.
//!
//! Nearly all nodes on the way are ruled out by the sizes of their classes alone ([`Sizes`]), from what is held of the
//! node before; only what is left is counted and judged. A node with columns raised takes its classes from those of the
//! node it is raised from, and what is finer than a node that lost too many rows is not looked at again ([`Failed`]).
//!
//! The sequence depends on the seed alone; how much of it is seen, on the time.

use std::time::Instant;

use rayon::prelude::*;

use super::failed::Failed;
use super::find::Best;
use super::key::Key;
use super::price::Pricer;
use super::sizes::{Partition, Scratch, Sizes};
use super::walk::Walk;
use crate::model::Needs;
use crate::random::Random;
use crate::search::need::Need;
use crate::search::{Search, SearchError, Suppressed};

/// Chains that go on side by side.
const CHAINS: usize = 4;

/// The steps of a chain before chains are compared.
const STEPS: usize = 24;

/// The number of comparisons without a better node that are enough.
const IDLE: usize = 150;

/// At most this many columns are raised at once.
const MOST_RAISED: usize = 2;

/// A node that costs more by this share of its cost is taken with probability 1/e.
const WARMTH: f64 = 0.001;

/// A node with what it costs.
type Priced = (f64, Vec<usize>);

/// Offers `best` good nodes until the time is over.
pub(crate) fn improve<K: Key>(
    search: &Search<'_>,
    walk: &Walk<'_, K>,
    pricer: &Pricer<'_>,
    best: &Best<'_, '_>,
    until: Instant,
) -> Result<(), SearchError> {
    let wide = WideSearch::new(search, walk, pricer, best, until);
    let Some(top) = wide.price(&walk.top) else { return Ok(()) };
    let mut random = Random::new(search.seed);
    let mut chains: Vec<Chain> = (0..CHAINS)
        .map(|_| Chain {
            here: top.clone(),
            held: wide.sizes.partition(&top.1, &mut Scratch::default()),
            random: Random::new(random.bits()),
            scratch: Scratch::default(),
            failed: Failed::default(),
        })
        .collect();
    chains.par_iter_mut().enumerate().for_each(|(i, chain)| wide.begin(chain, i));
    let mut idle = 0;
    while !wide.over() && idle < IDLE {
        search.checkpoint()?;
        let before = best.ceiling();
        chains.par_iter_mut().for_each(|chain| wide.go_on(chain));
        let better = best.ceiling() < before;
        idle = if better { 0 } else { idle + 1 };
        chains.sort_by(|a, b| a.here.0.total_cmp(&b.here.0).then_with(|| a.here.1.cmp(&b.here.1)));
        // While nothing better is found, each goes its own way: else all of them would be stuck at the same node.
        if better && let [first, .., last] = &mut chains[..] {
            (last.here, last.held) = (first.here.clone(), first.held.clone());
        }
    }
    Ok(())
}

/// A node from which others are looked for.
struct Chain {
    here: Priced,
    /// Its classes.
    held: Partition,
    random: Random,
    scratch: Scratch,
    failed: Failed,
}

struct WideSearch<'s, 'a, K> {
    walk: &'s Walk<'a, K>,
    pricer: &'s Pricer<'a>,
    best: &'s Best<'s, 'a>,
    until: Instant,
    sizes: Sizes<'s>,
    /// Whether sizes tell whether a node is valid, and what it costs.
    sizes_decide: bool,
    rows: u64,
    /// What the top costs with nothing suppressed.
    most: f64,
}

impl<'s, 'a, K: Key> WideSearch<'s, 'a, K> {
    fn new(
        search: &Search<'s>,
        walk: &'s Walk<'a, K>,
        pricer: &'s Pricer<'a>,
        best: &'s Best<'s, 'a>,
        until: Instant,
    ) -> Self {
        let least = Need::of(search).map_or(1, |need| need.rows);
        let by_size = search.requirements.iter().all(|r| r.needs() == Needs::Size && r.monotone(search.set));
        let plain = !search.set.persons && search.suppressed == Suppressed::Drop;
        let sizes_decide = by_size && plain && !pricer.needs_groups() && !pricer.needs_tuples();
        let (sizes, rows, most) = (Sizes::new(search, least), search.set.rows, pricer.lower_bound(&walk.top));
        WideSearch { walk, pricer, best, until, sizes, sizes_decide, rows, most }
    }

    fn over(&self) -> bool {
        Instant::now() >= self.until
    }

    /// What a node costs, and offers it; `None` where it does not satisfy the policy.
    fn price(&self, levels: &[usize]) -> Option<Priced> {
        let mut snapshot = self.walk.base.roll_up(&self.walk.layout, levels, self.walk.judge.carry);
        let outcome = self.walk.judge.judge(&mut snapshot.classes, false);
        let cost = || self.pricer.cost(&self.walk.judge, &snapshot.classes, &outcome.suppressed);
        let found = outcome.valid.then(|| (cost(), levels.to_vec()))?;
        self.best.offer(found.0, &found.1);
        Some(found)
    }

    /// What a node costs, or about what, by the sizes of its classes; `None` where too many rows fail.
    fn cost(&self, partition: &Partition, levels: &[usize], scratch: &mut Scratch) -> Option<f64> {
        let too_small = self.sizes.too_small(partition, scratch);
        if too_small > self.walk.judge.limit || too_small == self.rows {
            return None;
        }
        if self.sizes_decide {
            let (classes, suppressed) = self.sizes.classes(partition, levels);
            return Some(self.pricer.cost(&self.walk.judge, &classes, &suppressed));
        }
        let published = self.pricer.lower_bound(levels);
        if too_small == 0 || !published.is_finite() || self.most <= 0.0 {
            return Some(published);
        }
        // A suppressed row costs what the top does, where it cost the mean before.
        let adds = self.pricer.adds_at_most(too_small);
        let share = (1.0 - published / self.most).clamp(0.0, 1.0);
        Some(published + if adds.is_finite() { adds * share } else { 0.0 })
    }

    /// The first node of a chain: from the top, the columns that gain most first, those that gain least, or by chance.
    fn begin(&self, chain: &mut Chain, number: usize) {
        let mut order = self.order(&self.walk.top, if number < 2 { None } else { Some(&mut chain.random) });
        if number == 1 {
            order.reverse();
        }
        let top = (self.walk.top.clone(), chain.held.clone());
        if let Some(found) = self.lowered(top, &order, f64::INFINITY, chain) {
            (chain.here, chain.held) = found;
        }
    }

    /// The columns in the order of what they gain by going down from here, with some chance.
    fn order(&self, levels: &[usize], mut random: Option<&mut Random>) -> Vec<usize> {
        let here = self.pricer.lower_bound(levels);
        let mut gain = |column: usize| {
            let mut lower = levels.to_vec();
            lower[column] = self.walk.bottom[column];
            let gain = here - self.pricer.lower_bound(&lower);
            let share = random.as_deref_mut().map_or(1.0, |random| random.share());
            if gain.is_finite() { gain * share } else { share }
        };
        let gains: Vec<f64> = (0..levels.len()).map(&mut gain).collect();
        let mut order: Vec<usize> = (0..gains.len()).collect();
        order.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]).then(a.cmp(&b)));
        order
    }

    /// Lowers the columns of a node in this order, each as far as the policy allows and the cost falls; what is found
    /// with its classes, unless it costs more than `ceiling` for sure.
    fn lowered(
        &self,
        (mut levels, mut partition): (Vec<usize>, Partition),
        order: &[usize],
        ceiling: f64,
        chain: &mut Chain,
    ) -> Option<(Priced, Partition)> {
        let mut cost = self.cost(&partition, &levels, &mut chain.scratch)?;
        for &column in order {
            while levels[column] > self.walk.bottom[column] && !self.over() {
                levels[column] -= 1;
                match self.finer(&partition, &levels, column, cost, chain) {
                    Some((finer, less)) => {
                        partition = finer.unwrap_or(partition);
                        cost = less;
                    }
                    None => {
                        levels[column] += 1;
                        break;
                    }
                }
            }
        }
        if self.sizes_decide {
            self.best.offer(cost, &levels);
            return Some(((cost, levels), partition));
        }
        let priced = if self.pricer.lower_bound(&levels) > ceiling { None } else { self.price(&levels) };
        priced.map(|priced| (priced, partition))
    }

    /// The classes after a column was lowered to its level in `levels`, and about what they cost, if that is less than
    /// `cost` and the policy allows it.
    fn finer(
        &self,
        partition: &Partition,
        levels: &[usize],
        column: usize,
        cost: f64,
        chain: &mut Chain,
    ) -> Option<(Option<Partition>, f64)> {
        let Chain { scratch, failed, .. } = chain;
        if failed.covers(levels) {
            return None;
        }
        if self.sizes.too_small_below(partition, column, levels[column], scratch) > self.walk.judge.limit {
            failed.remember(levels);
            return None;
        }
        let finer = self.sizes.refine(partition, column, levels[column], scratch);
        let less = self.cost(finer.as_ref().unwrap_or(partition), levels, scratch)?;
        if less >= cost && less.is_finite() {
            return None;
        }
        (self.sizes_decide || self.price(levels).is_some()).then_some((finer, less))
    }

    /// Some steps of a chain.
    fn go_on(&self, chain: &mut Chain) {
        for _ in 0..STEPS {
            if self.over() {
                return;
            }
            let (raised, columns) = self.raised(&chain.here.1, &mut chain.random);
            let mut order = self.order(&raised, Some(&mut chain.random));
            // The others first: what was raised would mostly take its old place.
            if chain.random.below(4) > 0 {
                order.sort_by_key(|column| columns.contains(column));
            }
            let warm = 1.0 - WARMTH * chain.random.share().max(1e-9).ln();
            let ceiling = chain.here.0 * warm;
            let coarser = self.sizes.coarser(&chain.held, &raised, &mut chain.scratch);
            if let Some((found, held)) = self.lowered((raised, coarser), &order, ceiling, chain)
                && found.0 <= ceiling
            {
                (chain.here, chain.held) = (found, held);
            }
        }
    }

    /// A node with some columns raised, and which.
    fn raised(&self, levels: &[usize], random: &mut Random) -> (Vec<usize>, Vec<usize>) {
        let mut raised = levels.to_vec();
        let mut open: Vec<usize> = (0..levels.len()).filter(|&c| levels[c] < self.walk.top[c]).collect();
        random.shuffle(&mut open);
        open.truncate(1 + random.below(MOST_RAISED));
        for &column in &open {
            raised[column] += 1 + random.below(self.walk.top[column] - raised[column]);
        }
        (raised, open)
    }
}
