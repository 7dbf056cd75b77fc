//! Rows that are better left out, as far as the policy's suppression limit goes.
//!
//! A suppressed row loses everything: all its columns. It is worth that when the other rows of its class lose more by
//! its presence. And a table that cannot satisfy the policy as a whole, because one value is too frequent, may satisfy
//! it once some rows of that value are gone.
//!
//! Masked rows stay in the release, as one class that must satisfy the policy itself. As many are masked as leave such
//! a class; rows that would break it stay where they were. Where persons have several rows, the rows of a person with
//! one tuple and one sensitive value go together, and the person's other rows may stay.

use crate::local::shape::ShapeWord;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::frequency::{Entry, FrequencySet, Groups, rows};
use crate::ids::SensitiveId;
use crate::local::class::{Cluster, Part, World};
use crate::local::index::kd_tree::Total;
use crate::model::Needs;
use crate::recoding::{Assignment, Recoding, SUPPRESSED};
use crate::requirement::Evaluator;
use crate::search::{Search, SearchError};

/// A gain smaller than this is rounding.
const LEAST: f64 = 1e-9;

/// Rows that were taken out, with the class that they were in.
pub(crate) type Taken = Vec<(usize, Part)>;

/// Takes out up to `limit` rows, those first whose absence saves most, as long as that saves more than they lose. Every
/// class still satisfies the policy.
pub(crate) fn omit(world: &World<'_>, clusters: &mut [Cluster], mut limit: u64) -> Taken {
    let mut omitted = Vec::new();
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
            omitted.push((c, (entry, rows)));
            world.take(cluster, entry, rows);
            world.reshape(cluster);
        }
        heap.extend(offer(c, cluster, limit));
    }
    omitted
}

/// Puts rows back, the last first, until the others satisfy the policy as one class of masked rows. Where a class that
/// covers everything is there already, they join it: its rows look like masked ones.
pub(crate) fn mask(world: &World<'_>, clusters: &mut [Cluster], mut omitted: Taken) -> Taken {
    let judge = world.judge;
    let everything = clusters.iter().position(|c| !c.parts.is_empty() && world.space.covers_all(&c.shape));
    let entry = |&(_, (e, rows)): &(usize, Part)| Entry { rows, ..world.entry(e) };
    let mut tally = judge.tally(omitted.iter().map(entry));
    if let Some(c) = everything {
        judge.merge(&mut tally, &clusters[c].tally);
    }
    // Testing the policy on many rows is slow, so several go back between two tests.
    let step = omitted.len().div_ceil(MASKINGS).max(1);
    while !omitted.is_empty() && !judge.holds_over(&tally, || None) {
        for (c, (e, rows)) in omitted.split_off(omitted.len().saturating_sub(step)).into_iter().rev() {
            world.add(&mut clusters[c], e, rows);
            if everything != Some(c) {
                judge.remove(&mut tally, world.entry(e), rows);
            }
        }
    }
    if let Some(c) = everything {
        omitted.drain(..).for_each(|(_, (e, rows))| world.add(&mut clusters[c], e, rows));
    }
    omitted
}

/// How often to ask the policy, at the most, whether masked rows satisfy it.
const MASKINGS: usize = 512;

/// Whether a class with this number of parts may save anything, even if the others lost nothing without one of them.
pub(in crate::local) fn worth_a_look(world: &World<'_>, parts: usize, loss: f64) -> bool {
    loss > world.space.width() as f64 && parts > 1
}

/// The part without which a class saves most a row, if it may go and saves anything.
pub(crate) fn worst(world: &World<'_>, cluster: &Cluster, limit: u64) -> Option<(f64, usize)> {
    let (space, words) = (world.space, world.space.words());
    let everything = space.width() as f64;
    let (n, loss) = (cluster.parts.len(), cluster.loss());
    if !worth_a_look(world, n, loss) {
        return None;
    }
    // The shape over the parts from each one on; then those before it.
    let mut after = vec![ShapeWord::default(); n * words];
    for p in (0..n).rev() {
        let (shape, rest) = after[p * words..].split_at_mut(words);
        space.start(shape, world.codes(cluster.parts[p].0));
        if p + 1 < n {
            space.merge(shape, &rest[..words]);
        }
    }
    let mut before = Vec::new();
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
            before = space.empty();
            space.start(&mut before, world.codes(entry));
        } else {
            space.add(&mut before, world.codes(entry));
        }
    }
    gains.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    gains.into_iter().find(|&(_, p)| world.holds_without(cluster, cluster.parts[p].0, cluster.parts[p].1))
}

/// A table without some rows.
pub(in crate::local) struct Reduced {
    /// What is left.
    pub set: FrequencySet,
    /// The rows left out of each entry of the whole table.
    dropped: Vec<u64>,
    /// The entry of the whole table for each that is left.
    entry_of: Vec<u32>,
}

impl Reduced {
    /// Leaves out up to `limit` rows so that the rest, as one class, satisfies a policy that the whole table fails.
    /// `None` when the whole table holds or so few rows do not help.
    pub(in crate::local) fn of(search: &Search<'_>, limit: u64) -> Option<Self> {
        let set = search.set;
        if search.requirements.iter().any(|r| r.needs() == Needs::Tuples) {
            return None;
        }
        let evaluator = Evaluator::new(set, search.requirements);
        let whole = match set.persons {
            true => Groups::collect(1, set.groups.entries.iter().map(|&e| (0, e)).collect()),
            false => set.groups.regroup(|_| Some(0), 1, set.sensitive_count()),
        };
        let whole = whole.entries;
        if evaluator.holds_all(&whole) {
            return None;
        }
        let dropped = match set.persons {
            true => pairs(set, &evaluator, &whole, limit)?,
            false => thinned(
                set,
                &whole,
                &level_off(&evaluator, &whole, limit).or_else(|| cut_one(&evaluator, &whole, limit))?,
            ),
        };
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
    pub(in crate::local) fn dropped(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// A recoding of what is left as one of the whole table. Fails when the policy, which may compare classes with the
    /// whole table, does not hold there.
    pub(in crate::local) fn expand(&self, search: &Search<'_>, recoding: Recoding) -> Result<Recoding, SearchError> {
        let mut of_entry: Vec<Vec<(u32, u64)>> = vec![Vec::new(); self.dropped.len()];
        let mut position = 0;
        match &recoding.assignment {
            Assignment::Entries { offsets, runs } => {
                for (e, &old) in self.entry_of.iter().enumerate() {
                    of_entry[old as usize].extend_from_slice(&runs[offsets[e]..offsets[e + 1]]);
                }
            }
            Assignment::Tuples(_) => recoding.for_each_part(&self.set, |part| {
                of_entry[self.entry_of[position] as usize]
                    .push((part.class.map_or(SUPPRESSED, |class| class.0), part.entry.rows));
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
                .into(),
        ))
    }
}

/// The rows to leave out of each entry so that `left` of `whole` is left.
fn thinned(set: &FrequencySet, whole: &[Entry], left: &[Entry]) -> Vec<u64> {
    // From the tuples that fewest rows share: those are the ones that would stretch a class.
    let tuple_of = set.tuple_of_entry();
    let mut order: Vec<u32> = (0..tuple_of.len() as u32).collect();
    order.sort_by_cached_key(|&e| (rows(set.groups.get(tuple_of[e as usize] as usize)), e));
    let mut due: Vec<(SensitiveId, u64)> =
        whole.iter().zip(left).map(|(a, b)| (a.sensitive, a.rows - b.rows)).filter(|d| d.1 > 0).collect();
    let mut dropped = vec![0; tuple_of.len()];
    for e in order {
        let entry = set.groups.entries[e as usize];
        if let Some(d) = due.iter_mut().find(|d| d.0 == entry.sensitive) {
            dropped[e as usize] = entry.rows.min(d.1);
            d.1 -= dropped[e as usize];
        }
    }
    dropped
}

/// Where persons repeat: the rows to leave out of each entry so that the rest holds. A value that a person has goes
/// with all rows in which the person has it, or else it still counts.
fn pairs(set: &FrequencySet, evaluator: &Evaluator<'_>, whole: &[Entry], limit: u64) -> Option<Vec<u64>> {
    // The persons of each value, those with the fewest rows last so that they go first.
    let mut of_value: Vec<Vec<Entry>> =
        whole.chunk_by(|a, b| a.sensitive == b.sensitive).map(<[Entry]>::to_vec).collect();
    of_value.iter_mut().for_each(|v| v.sort_by_key(|e| Reverse((e.rows, e.person))));
    let mut gone: Vec<Entry> = Vec::new();
    let mut cost = 0;
    while let Some(most) = of_value.iter_mut().max_by_key(|v| (v.len(), Reverse(v.first().map(|e| e.sensitive)))) {
        let Some(next) = most.pop() else { break };
        cost += next.rows;
        if cost > limit {
            break;
        }
        gone.push(next);
    }
    let without = |n: usize| -> Vec<Entry> {
        let mut out: Vec<(SensitiveId, u32)> = gone[..n].iter().map(|e| (e.sensitive, e.person)).collect();
        out.sort_unstable();
        whole.iter().copied().filter(|e| out.binary_search(&(e.sensitive, e.person)).is_err()).collect()
    };
    let holds = |n: usize| evaluator.holds_all(&without(n));
    if gone.is_empty() || !holds(gone.len()) {
        return None;
    }
    let (mut low, mut high) = (1, gone.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    let mut out: Vec<(SensitiveId, u32)> = gone[..high].iter().map(|e| (e.sensitive, e.person)).collect();
    out.sort_unstable();
    let drops = |e: &Entry| out.binary_search(&(e.sensitive, e.person)).is_ok();
    Some(set.groups.entries.iter().map(|e| if drops(e) { e.rows } else { 0 }).collect())
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
