//! Rows that are better left out, as far as the policy's suppression limit goes.
//!
//! A suppressed row loses everything: all its columns. It is worth that when the other rows of its class lose more by its
//! presence. And a table that cannot satisfy the policy as a whole, because one value is too frequent, may satisfy
//! it once some rows of that value are gone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::tree::Total;
use super::{Cluster, Part, World};
use crate::algorithm::{Search, SearchError};
use crate::frequency::{Entry, FrequencySet, Groups, rows};
use crate::model::Needs;
use crate::recoding::{Assignment, Recoding, SUPPRESSED};
use crate::requirement::Evaluator;

/// A gain smaller than this is rounding.
const LEAST: f64 = 1e-9;

/// Takes out up to `limit` rows, those first whose absence saves most, as long as that saves more than they lose. Every
/// class still satisfies the policy.
pub(super) fn omit(world: &World<'_>, clusters: &mut [Cluster], mut limit: u64) -> Vec<Part> {
    let mut omitted = Vec::new();
    if world.set.persons {
        // A person is suppressed with all rows or not at all; classes know only their own.
        return omitted;
    }
    let offer = |c: usize, cluster: &Cluster, limit: u64| {
        worst(world, cluster, limit).map(|(gain, part)| (Total(gain), Reverse(c), part))
    };
    let mut heap: BinaryHeap<_> =
        clusters.iter().enumerate().filter_map(|(c, cluster)| offer(c, cluster, limit)).collect();
    while let Some((_, Reverse(c), part)) = heap.pop() {
        let cluster = &mut clusters[c];
        let (entry, rows) = cluster.parts[part];
        if rows <= limit {
            limit -= rows;
            omitted.push((entry, rows));
            world.take(cluster, entry, rows);
            world.reshape(cluster);
        }
        heap.extend(offer(c, cluster, limit));
    }
    omitted
}

/// The part without which a class saves most a row, if it may go and saves anything.
fn worst(world: &World<'_>, cluster: &Cluster, limit: u64) -> Option<(f64, usize)> {
    let (space, words) = (world.space, world.space.words());
    let everything = space.width() as f64;
    let (n, loss) = (cluster.parts.len(), cluster.loss());
    // Even if the others lost nothing afterwards.
    if loss <= everything || n < 2 {
        return None;
    }
    // The shape over the parts from each one on; then those before it.
    let mut after = vec![0; n * words];
    for p in (0..n).rev() {
        let (shape, rest) = after[p * words..].split_at_mut(words);
        space.start(shape, world.codes(cluster.parts[p].0));
        if p + 1 < n {
            space.merge(shape, &rest[..words]);
        }
    }
    let mut before: Vec<u64> = Vec::new();
    let mut gains: Vec<(f64, usize)> = Vec::new();
    for (p, &(entry, rows)) in cluster.parts.iter().enumerate() {
        let next = after.get((p + 1) * words..(p + 2) * words);
        let cost = match (before.is_empty(), next) {
            (true, Some(next)) => space.cost(next),
            (false, Some(next)) => space.cost_merged(&before, next),
            (_, None) => space.cost(&before),
        };
        let left = cluster.tally.rows - rows;
        let gain = (loss - cost * left as f64) / rows as f64 - everything;
        if gain > LEAST && rows <= limit {
            gains.push((gain, p));
        }
        if before.is_empty() {
            before = vec![0; words];
            space.start(&mut before, world.codes(entry));
        } else {
            space.add(&mut before, world.codes(entry));
        }
    }
    gains.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    gains.into_iter().find(|&(_, p)| world.holds_without(cluster, cluster.parts[p].0, cluster.parts[p].1))
}

/// A table without some rows.
pub(super) struct Reduced {
    /// What is left.
    pub set: FrequencySet,
    /// The rows left out of each entry of the whole table.
    dropped: Vec<u64>,
    /// The entry of the whole table for each that is left.
    entry_of: Vec<u32>,
}

impl Reduced {
    /// Leaves out up to `limit` rows so that the rest, as one class, satisfies a policy that the whole table fails. `None`
    /// when the whole table holds or so few rows do not help.
    pub(super) fn of(search: &Search<'_>, limit: u64) -> Option<Self> {
        let set = search.set;
        if set.persons || search.requirements.iter().any(|r| r.needs() == Needs::Tuples) {
            return None;
        }
        let evaluator = Evaluator::new(set, search.requirements);
        let whole = Groups::collect(1, set.groups.entries.iter().map(|&e| (0, e)).collect()).entries;
        if evaluator.holds_all(&whole) {
            return None;
        }
        let left = level_off(&evaluator, &whole, limit).or_else(|| cut_one(&evaluator, &whole, limit))?;
        // From the tuples that fewest rows share: those are the ones that would stretch a class.
        let tuple_of = set.tuple_of_entry();
        let mut order: Vec<u32> = (0..tuple_of.len() as u32).collect();
        order.sort_by_cached_key(|&e| (rows(set.groups.get(tuple_of[e as usize] as usize)), e));
        let mut due: Vec<(u32, u64)> =
            whole.iter().zip(&left).map(|(a, b)| (a.sensitive, a.rows - b.rows)).filter(|d| d.1 > 0).collect();
        let mut dropped = vec![0; tuple_of.len()];
        for e in order {
            let entry = set.groups.entries[e as usize];
            if let Some(d) = due.iter_mut().find(|d| d.0 == entry.sensitive) {
                dropped[e as usize] = entry.rows.min(d.1);
                d.1 -= dropped[e as usize];
            }
        }
        let mut rest = FrequencySet { tuples: Vec::new(), groups: Groups::default(), ..set.clone() };
        let mut entry_of = Vec::new();
        for tuple in 0..set.len() {
            let before = rest.groups.entries.len();
            let first = set.groups.offsets[tuple];
            for (e, (entry, gone)) in set.groups.get(tuple).iter().zip(&dropped[first..]).enumerate() {
                if entry.rows > *gone {
                    rest.groups.entries.push(Entry { rows: entry.rows - gone, ..*entry });
                    entry_of.push((first + e) as u32);
                }
            }
            if rest.groups.entries.len() > before {
                rest.groups.offsets.push(before);
                rest.tuples.extend_from_slice(set.tuple(tuple));
            }
        }
        rest.groups.offsets.push(rest.groups.entries.len());
        rest.rows = rows(&rest.groups.entries);
        Some(Reduced { set: rest, dropped, entry_of })
    }

    /// The number of rows left out.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// A recoding of what is left as one of the whole table. Fails when the policy, which may compare classes with the
    /// whole table, does not hold there.
    pub(super) fn expand(&self, search: &Search<'_>, recoding: Recoding) -> Result<Recoding, SearchError> {
        let mut of_entry: Vec<Vec<(u32, u64)>> = vec![Vec::new(); self.dropped.len()];
        let mut position = 0;
        match &recoding.assignment {
            Assignment::Entries { offsets, runs } => {
                for (e, &old) in self.entry_of.iter().enumerate() {
                    of_entry[old as usize].extend_from_slice(&runs[offsets[e]..offsets[e + 1]]);
                }
            }
            Assignment::Tuples(_) => recoding.for_each_part(&self.set, |part| {
                of_entry[self.entry_of[position] as usize].push((part.class, part.entry.rows));
                position += 1;
            }),
        }
        let mut offsets = vec![0];
        let mut runs = Vec::new();
        for (mut own, &dropped) in of_entry.into_iter().zip(&self.dropped) {
            match own.iter_mut().find(|r| r.0 == SUPPRESSED) {
                Some(run) => run.1 += dropped,
                None if dropped > 0 => own.push((SUPPRESSED, dropped)),
                None => (),
            }
            runs.append(&mut own);
            offsets.push(runs.len());
        }
        let recoding = Recoding { assignment: Assignment::Entries { offsets, runs }, ..recoding };
        let evaluator = Evaluator::new(search.set, search.requirements);
        let (groups, _) = recoding.groups(search.set);
        if (0..search.requirements.len()).all(|r| evaluator.judge(r, &groups).0) {
            return Ok(recoding);
        }
        Err(SearchError::Impossible(
            "not even all rows together as one class satisfy the policy, and leaving out rows within the suppression \
             limit does not help"
                .to_string(),
        ))
    }
}

/// Lowers the most frequent values until the rest holds.
fn level_off(evaluator: &Evaluator<'_>, whole: &[Entry], limit: u64) -> Option<Vec<Entry>> {
    let mut left = whole.to_vec();
    for _ in 0..limit {
        let most = left.iter_mut().max_by_key(|e| (e.rows, Reverse(e.sensitive)))?;
        most.rows -= 1;
        if evaluator.holds_all(&present(&left)) {
            return Some(left);
        }
    }
    None
}

/// Lowers one value alone: a bound may be on a value that is not the most frequent.
fn cut_one(evaluator: &Evaluator<'_>, whole: &[Entry], limit: u64) -> Option<Vec<Entry>> {
    let without = |v: usize, n: u64| {
        let mut left = whole.to_vec();
        left[v].rows -= n;
        left
    };
    (0..whole.len()).find_map(|v| {
        let (mut low, mut high) = (1, limit.min(whole[v].rows));
        if high == 0 || !evaluator.holds_all(&present(&without(v, high))) {
            return None;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if evaluator.holds_all(&present(&without(v, middle))) { high = middle } else { low = middle + 1 }
        }
        Some(without(v, high))
    })
}

fn present(entries: &[Entry]) -> Vec<Entry> {
    entries.iter().copied().filter(|e| e.rows > 0).collect()
}
