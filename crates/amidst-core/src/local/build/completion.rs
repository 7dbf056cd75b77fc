//! Whether a partial class of bucket assembly can be completed to a valid one, found by testing the policy.

use rustc_hash::FxHashMap;

use crate::frequency::{Entry, NOBODY};
use crate::ids::SensitiveId;
use crate::local::class::{Counts, Tally, World};

/// How many rows beyond the least a class may need before assembly gives up on the policy.
const PATIENCE: u64 = 64;

/// The largest class that is drawn in proportion.
const LARGEST: u64 = 20_000;

/// How far the remainder may be from the table, as a share of its rows, before values that it lacks are spared.
const AWAY: f64 = 0.02;

/// How the rows of a class are drawn from the buckets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Draw {
    /// As many different values as are needed, and whatever is nearest.
    Different,
    /// In proportion to the table, into classes of a multiple of the least size that allows it.
    Proportional(f64),
}

/// What the policy says about sensitive values, learnt by asking it.
pub(super) struct Oracle<'a> {
    world: &'a World<'a>,
    /// Sensitive tuples, the most frequent first.
    values: Vec<SensitiveId>,
    /// The number of rows a class is filled up to.
    pub(super) target: u64,
    /// (counts of a class, value): whether the class can take the value and still be completed.
    known: FxHashMap<(Counts, SensitiveId), bool>,
    /// The share of each value in the table, by its number, where classes are drawn in proportion.
    shares: Vec<f64>,
    /// Values of which the remainder has less than its share, while it is far from the table.
    scarce: Vec<bool>,
    /// What is known of each value for the class as it is.
    now: Vec<Option<bool>>,
}

impl<'a> Oracle<'a> {
    /// `None` when no class of reasonable size satisfies the policy.
    pub(super) fn new(world: &'a World<'a>, everything: &Tally, draw: Draw) -> Option<Self> {
        let mut counted: Vec<(u64, SensitiveId)> = everything.counts.iter().map(|&((s, _), n)| (n, s)).collect();
        counted.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let count = counted.iter().map(|c| c.1.index() + 1).max().unwrap_or(0);
        let mut shares = Vec::new();
        if let Draw::Proportional(_) = draw {
            shares = vec![0.0; count];
            counted.iter().for_each(|&(n, s)| shares[s.index()] = n as f64 / everything.rows.max(1) as f64);
        }
        let values = counted.into_iter().map(|c| c.1).collect();
        let (known, scarce, now) = (FxHashMap::default(), vec![false; count], vec![None; count]);
        let mut oracle = Oracle { world, values, target: 0, known, shares, scarce, now };
        let least = world.judge.least;
        let holds = |oracle: &Oracle<'_>, target: u64| {
            target <= everything.rows && world.judge.holds(&oracle.completed(Tally::default(), target, None))
        };
        let near = (least..=(least * 2 + PATIENCE).min(everything.rows)).find(|&target| holds(&oracle, target));
        let Draw::Proportional(times) = draw else {
            oracle.target = near?;
            return Some(oracle);
        };
        // Values that are rare and must occur take large classes.
        let far = || (0..24).map(|i| ((least * 2 + PATIENCE) as f64 * 1.3f64.powi(i)) as u64);
        let least = near.or_else(|| far().find(|&target| target <= LARGEST && holds(&oracle, target)))?;
        oracle.target = ((least as f64 * times).round() as u64).max(least).min(everything.rows);
        (oracle.target..oracle.target + 8).find(|&target| holds(&oracle, target)).map(|target| {
            oracle.target = target;
            oracle
        })
    }

    /// Looks at the remainder before a class is drawn from it.
    pub(super) fn look_at(&mut self, rest: &Tally) {
        if self.shares.is_empty() {
            return;
        }
        let share = |n: u64| n as f64 / rest.rows.max(1) as f64;
        self.scarce.fill(true);
        let mut away = 0.0;
        for &((s, _), n) in &rest.counts {
            let more = share(n) - self.shares[s.index()];
            self.scarce[s.index()] = more < 0.0;
            away += more.max(0.0);
        }
        if away < AWAY {
            self.scarce.fill(false);
        }
    }

    /// The class has grown.
    pub(super) fn forget(&mut self) {
        self.now.fill(None);
    }

    /// The tally filled up to `target` rows in proportion to the table: each time with the value of which it lacks
    /// most.
    fn completed_in_proportion(&self, tally: &Tally, target: u64) -> Tally {
        let mut lacks: Vec<f64> = self.shares.iter().map(|share| share * target as f64).collect();
        let mut counts: Vec<u64> = vec![0; self.shares.len()];
        for &((s, _), n) in &tally.counts {
            counts[s.index()] = n;
            lacks[s.index()] -= n as f64;
        }
        let mut open = target.saturating_sub(tally.rows);
        // Whole rows first, all at once.
        for (count, lacks) in counts.iter_mut().zip(&mut lacks) {
            let whole = (lacks.floor().max(0.0) as u64).min(open);
            *count += whole;
            *lacks -= whole as f64;
            open -= whole;
        }
        let mut order: Vec<usize> = (0..lacks.len()).filter(|&v| self.shares[v] > 0.0).collect();
        order.sort_by(|&a, &b| lacks[b].total_cmp(&lacks[a]).then(a.cmp(&b)));
        for &v in order.iter().cycle().take(open as usize) {
            counts[v] += 1;
        }
        let counts = (0..).map(SensitiveId).zip(counts).filter(|c| c.1 > 0);
        Tally { rows: tally.rows.max(target), counts: counts.map(|(s, n)| ((s, NOBODY), n)).collect() }
    }

    /// The tally filled up to `target` rows, each time with a value it has fewest of, leaving out one.
    fn completed(&self, mut tally: Tally, target: u64, without: Option<SensitiveId>) -> Tally {
        if self.world.judge.size_only {
            tally.rows = tally.rows.max(target);
            return tally;
        }
        if !self.shares.is_empty() {
            return self.completed_in_proportion(&tally, target);
        }
        let mut counts: Vec<u64> = vec![0; self.values.len()];
        for &((s, _), n) in &tally.counts {
            if let Some(at) = self.values.iter().position(|&v| v == s) {
                counts[at] = n;
            }
        }
        while tally.rows < target {
            let open = (0..counts.len()).filter(|&v| Some(self.values[v]) != without);
            let Some(v) = open.min_by_key(|&v| (counts[v], v)) else { break };
            counts[v] += 1;
            let entry = Entry { sensitive: self.values[v], person: NOBODY, rows: 1 };
            self.world.judge.add(&mut tally, entry, 1);
        }
        tally
    }

    /// Whether a class can take the value and still be completed.
    pub(super) fn fits(&mut self, tally: &Tally, value: SensitiveId) -> bool {
        if self.world.judge.size_only {
            return true;
        }
        if !self.shares.is_empty() {
            return self.fits_in_proportion(tally, value);
        }
        let key = (tally.counts.clone(), value);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let mut with = tally.clone();
        let entry = Entry { sensitive: value, person: NOBODY, rows: 1 };
        self.world.judge.add(&mut with, entry, 1);
        let fits = self.world.judge.holds(&self.completed(with, self.target, None));
        self.known.insert(key, fits);
        fits
    }

    /// The same where classes are drawn in proportion.
    fn fits_in_proportion(&mut self, tally: &Tally, value: SensitiveId) -> bool {
        if let Some(known) = self.now[value.index()] {
            return known;
        }
        let mut with = tally.clone();
        self.world.judge.add(&mut with, Entry { sensitive: value, person: NOBODY, rows: 1 }, 1);
        let count = with.counts.binary_search_by_key(&(value, NOBODY), |c| c.0).map_or(0, |at| with.counts[at].1);
        let share = (self.shares[value.index()] * self.target as f64).ceil();
        let fits = (!self.scarce[value.index()] || count as f64 <= share)
            && self.world.judge.holds(&self.completed_in_proportion(&with, self.target));
        self.now[value.index()] = Some(fits);
        fits
    }

    /// The values that the next class must take, or else the remainder would not hold.
    pub(super) fn due(&self, rest: &Tally) -> Vec<SensitiveId> {
        let mut due = Vec::new();
        // What is drawn in proportion leaves what is in proportion.
        if self.world.judge.size_only || !self.shares.is_empty() {
            return due;
        }
        let mut left: Vec<(u64, SensitiveId)> = rest.counts.iter().map(|&((s, _), n)| (n, s)).collect();
        left.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        for &(_, value) in left.iter().take(self.target as usize) {
            // The class that leaves the most of this value and takes what else there is most of.
            let mut after = rest.clone();
            let mut taken = 0;
            for &(_, other) in left.iter().filter(|l| l.1 != value).cycle().take(4 * left.len().max(1)) {
                if taken == self.target {
                    break;
                }
                let key = (other, NOBODY);
                if let Ok(at) = after.counts.binary_search_by_key(&key, |c| c.0)
                    && after.counts[at].1 > 0
                {
                    after.counts[at].1 -= 1;
                    after.rows -= 1;
                    taken += 1;
                }
            }
            if after.rows > 0 && self.world.judge.holds(&after) {
                break;
            }
            due.push(value);
        }
        due
    }
}
