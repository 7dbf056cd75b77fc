//! Where to cut some rows, as Mondrian chooses it.
//!
//! The choice looks at columns one by one: at the distinct codes of a column (or the nodes that they lie below), each
//! with its number of rows, the shape over them, and what they count. Rows need not be at hand for that; a caller that
//! can tell these is a [`Source`].
//!
//! Judging the sides of a cut takes as long as they have sensitive values, so as few cuts as possible are judged: those
//! that lower the loss most come first, in blocks that grow ([`highest_first`]), each judged in one pass from slot to
//! slot. Of several cuts that gain the same the first counts, as if all were looked at in their order. Whoever cancels
//! is heard between two judgements; once the time is over only the first block of each column is judged.

use std::ops::Range;

use crate::control::Control;
use crate::hierarchy::Cell;
use crate::local::class::judge::Histogram;
use crate::local::class::{Judge, Tally};
use crate::local::mondrian::set_values::SetValues;
use crate::local::shape::{CountedSets, Cuts, Shape, ShapeWord, Space};

/// A cut and how much it lowers the loss.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    pub gain: f64,
    pub column: usize,
    pub kind: CutKind,
}

/// The sides of a cut.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CutKind {
    /// Codes up to this one to the left.
    Below(u32),
    /// Each node for itself.
    Each,
    /// One node from the others.
    One(u32),
    /// The first items by code to the left, whatever the code.
    Half(usize),
}

/// The distinct codes (or nodes) of a column, in order, with what each holds.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    pub key: Vec<u32>,
    pub rows: Vec<u64>,
    pub shapes: Vec<ShapeWord>,
}

/// Rows to be cut. What is not asked for need not be made ready: most cuts are ruled out by the number of rows alone.
pub(crate) trait Source {
    /// Makes ready the slots of a column, where all rows together have `shape`; false when the column cannot be cut.
    fn fill(&mut self, shape: &Shape, column: usize) -> bool;

    /// Makes ready the shapes of the slots.
    fn reach(&mut self, _shape: &Shape) {}

    /// Tells for each row, or those with some codes in common, its slot and its code in another column.
    fn each_code(&self, _column: usize, _visit: &mut dyn FnMut(u32, u32)) {}

    /// Makes ready what the slots hold.
    fn count(&mut self) {}

    /// The slots made ready last.
    fn slots(&self) -> &Slots;

    /// Moves what some slots hold from one tally to another.
    fn shift(&self, slots: Range<usize>, from: &mut Tally, to: &mut Tally);

    /// What some slots hold.
    fn tally(&self, slots: Range<usize>) -> Tally;

    /// Whether one slot satisfies the policy, as far as that does not ask for cells.
    fn alone(&self, judge: &Judge<'_>, slot: usize, _spare: &mut Histogram) -> bool {
        judge.counts_hold(&self.tally(slot..slot + 1))
    }

    /// Whether all the other slots together do.
    fn without(&self, judge: &Judge<'_>, slot: usize, _spare: &mut Histogram) -> bool {
        let mut others = self.tally(0..self.slots().key.len());
        let mut own = others.emptied();
        self.shift(slot..slot + 1, &mut others, &mut own);
        judge.counts_hold(&others)
    }

    /// The cut at the middle row, whatever its value, where rows that agree may part; only if it is valid and beats
    /// `best`.
    fn half(&self, _uncut: Uncut) -> Option<(f64, CutKind)> {
        None
    }
}

/// What a cut has to improve on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Uncut {
    /// The number of rows.
    pub rows: u64,
    /// What they cost as one class.
    pub total: f64,
    /// The best cut so far, which was of another column.
    pub best: Option<Cut>,
}

/// Memory that is used again and again.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    suffix: Vec<f64>,
    gains: Vec<f64>,
    /// The slots whose cuts are worth judging.
    promising: Vec<u32>,
    /// The shape over some slots.
    shape: Vec<ShapeWord>,
    /// The shape over the slots from each one on.
    after: Vec<ShapeWord>,
    /// The values of each set that is counted.
    sets: Vec<SetValues>,
    histogram: Histogram,
}

/// How many cuts the first block has, and how many times as many the next.
const BLOCK: usize = 4;

/// Calls `look` with the places that gain most, then with more and more of those that gain less, until it finds
/// something or is `late` after the first. What stands in a block is in the order of the slots; of places that gain
/// the same, the first come first.
fn highest_first<T>(
    gains: &[f64],
    promising: &mut [u32],
    late: impl Fn() -> bool,
    mut look: impl FnMut(&[u32]) -> Option<T>,
) -> Option<T> {
    let (mut rest, mut size) = (promising, BLOCK);
    while !rest.is_empty() {
        if size < rest.len() {
            let gain = |&place: &u32| gains[place as usize];
            rest.select_nth_unstable_by(size, |a, b| gain(b).total_cmp(&gain(a)).then(a.cmp(b)));
        }
        let (block, others) = rest.split_at_mut(size.min(rest.len()));
        block.sort_unstable();
        let found = look(block);
        if found.is_some() || late() {
            return found;
        }
        (rest, size) = (others, size * BLOCK);
    }
    None
}

/// Chooses cuts.
#[derive(Clone, Copy)]
pub(crate) struct Chooser<'a> {
    pub space: &'a Space,
    /// The sets whose values are counted, because the shapes of the slots do without them. Not where the policy asks
    /// for cells.
    pub counted: Option<&'a CountedSets>,
    pub judge: &'a Judge<'a>,
    pub control: Control<'a>,
    /// Whether the costliest column is cut at its median, rather than whatever lowers the loss most.
    pub median: bool,
}

impl Chooser<'_> {
    /// The cut to make, if any is valid. All rows together have `shape`, and are `rows` in number. Means nothing once
    /// the work was asked to stop.
    pub fn best(&self, source: &mut impl Source, memory: &mut Memory, shape: &Shape, rows: u64) -> Option<Cut> {
        if rows < 2 * self.judge.least {
            return None;
        }
        let total = self.space.cost(shape) * rows as f64;
        let mut columns: Vec<usize> = (0..self.space.width()).collect();
        if self.median {
            let cost: Vec<f64> = columns.iter().map(|&c| self.space.column_cost(shape, c)).collect();
            columns.sort_by(|&a, &b| cost[b].total_cmp(&cost[a]));
        }
        let mut best: Option<Cut> = None;
        for column in columns {
            if self.stopped() {
                return None;
            }
            if !source.fill(shape, column) {
                continue;
            }
            let uncut = Uncut { rows, total, best };
            let ordered = !matches!(self.space.cuts(shape, column), Cuts::Grouped { .. });
            let cut = if self.large_enough(&source.slots().rows, rows, ordered) {
                source.reach(shape);
                match (ordered, self.median) {
                    (true, false) => self.ordered(source, memory, uncut),
                    (true, true) => self.at_median(source, rows),
                    (false, _) => self.grouped(source, memory, uncut),
                }
            } else {
                None
            };
            let half = if ordered { source.half(uncut) } else { None };
            for (gain, kind) in [cut, half].into_iter().flatten() {
                if best.is_none_or(|b| gain > b.gain) {
                    best = Some(Cut { gain, column, kind });
                }
            }
            if self.median && best.is_some() {
                break;
            }
        }
        best
    }

    /// The space of the shapes of slots.
    fn slot_space(&self) -> &Space {
        self.counted.map_or(self.space, |counted| &counted.space)
    }

    /// What a shape costs each row, given the values of each set that is counted.
    fn cost(&self, shape: &Shape, values: impl Fn(usize) -> u32) -> f64 {
        self.counted.map_or_else(|| self.space.cost(shape), |counted| counted.cost(shape, &values))
    }

    /// Counts the values of sets: with `alone` of each slot and all others, else on both sides of each place.
    fn count_sets(&self, source: &impl Source, sets: &mut Vec<SetValues>, alone: bool) {
        let columns = self.counted.map_or(&[][..], |counted| &counted.columns[..]);
        let slots = source.slots().key.len();
        sets.resize_with(columns.len(), SetValues::default);
        for (values, &column) in sets.iter_mut().zip(columns) {
            let each = |visit: &mut dyn FnMut(u32, u32)| source.each_code(column, visit);
            if alone { values.count_each(slots, each) } else { values.count(slots, each) }
        }
    }

    fn stopped(&self) -> bool {
        self.control.checkpoint().is_err()
    }

    /// Whether it is too late to judge any but the best cuts.
    fn late(&self) -> bool {
        self.stopped() || self.control.overdue()
    }

    /// Whether some cut leaves enough rows on each of its sides.
    fn large_enough(&self, slots: &[u64], rows: u64, ordered: bool) -> bool {
        let least = self.judge.least;
        if ordered {
            let mut left = 0;
            return slots.iter().any(|&r| {
                left += r;
                left >= least && rows - left >= least
            });
        }
        slots.iter().all(|&r| r >= least) || slots.len() > 2 && slots.iter().any(|&r| r >= least && rows - r >= least)
    }

    /// The best valid cut between two codes, if it beats the best so far.
    fn ordered(&self, source: &mut impl Source, memory: &mut Memory, uncut: Uncut) -> Option<(f64, CutKind)> {
        let Uncut { rows, total, best } = uncut;
        let Memory { suffix, gains, shape, promising, sets, .. } = memory;
        self.count_sets(source, sets, false);
        let (slots, space) = (source.slots(), self.slot_space());
        let (count, words) = (slots.key.len(), space.words());
        // What the right side costs a row, for each place of the cut; then the left side.
        suffix.clear();
        suffix.resize(count, 0.0);
        shape.clear();
        shape.extend_from_slice(&slots.shapes[(count - 1) * words..]);
        let mut right = 0;
        for s in (1..count).rev() {
            space.merge(shape, &slots.shapes[s * words..(s + 1) * words]);
            right += slots.rows[s];
            if right >= self.judge.least {
                suffix[s] = self.cost(shape, |set| sets[set].from[s]);
            }
        }
        shape.copy_from_slice(&slots.shapes[..words]);
        gains.clear();
        let mut left = 0;
        for s in 0..count - 1 {
            space.merge(shape, &slots.shapes[s * words..(s + 1) * words]);
            left += slots.rows[s];
            let right = rows - left;
            gains.push(match left >= self.judge.least && right >= self.judge.least {
                true => {
                    total - self.cost(shape, |set| sets[set].before[s]) * left as f64 - suffix[s + 1] * right as f64
                }
                false => f64::NEG_INFINITY,
            });
        }
        let least = best.map_or(f64::NEG_INFINITY, |b| b.gain);
        let (gains, better) = (&*gains, |s: &usize| gains[*s] > least);
        if self.judge.size_only {
            let first = (0..gains.len()).filter(better).reduce(|a, b| if gains[b] > gains[a] { b } else { a });
            return first.map(|s| (gains[s], CutKind::Below(slots.key[s])));
        }
        promising.clear();
        promising.extend((0..gains.len()).filter(better).map(|s| s as u32));
        if promising.is_empty() {
            return None;
        }
        source.count();
        let (source, everything) = (&*source, source.tally(0..count));
        highest_first(gains, promising, || self.late(), |block| self.first_valid(source, &everything, gains, block))
    }

    /// Of some places between two codes, in their order, the one with the highest gain where both sides are valid.
    fn first_valid(
        &self,
        source: &impl Source,
        everything: &Tally,
        gains: &[f64],
        block: &[u32],
    ) -> Option<(f64, CutKind)> {
        let slots = source.slots();
        let (mut left, mut right, mut moved) = (everything.emptied(), everything.clone(), 0);
        let mut cut: Option<(f64, CutKind)> = None;
        for &place in block {
            let (at, gain) = (place as usize + 1, gains[place as usize]);
            if cut.is_some_and(|c| gain <= c.0) {
                continue;
            }
            // The time may run out within a large block.
            if self.stopped() || block.len() > BLOCK && self.late() {
                break;
            }
            source.shift(moved..at, &mut right, &mut left);
            moved = at;
            let over = |range: Range<usize>| move || Some(self.cells(slots, range));
            if self.judge.holds_over(&left, over(0..at)) && self.judge.holds_over(&right, over(at..slots.key.len())) {
                cut = Some((gain, CutKind::Below(slots.key[at - 1])));
            }
        }
        cut
    }

    /// The cells over some slots.
    fn cells(&self, slots: &Slots, range: Range<usize>) -> Vec<Cell> {
        let words = self.space.words();
        let mut shapes = slots.shapes[range.start * words..range.end * words].chunks(words.max(1));
        let mut shape = shapes.next().unwrap_or_default().to_vec();
        shapes.for_each(|other| self.space.merge(&mut shape, other));
        self.space.cells(&shape)
    }

    /// Whether some slots satisfy the policy as one class.
    fn holds(&self, source: &impl Source, range: Range<usize>) -> bool {
        self.judge.holds_over(&source.tally(range.clone()), || Some(self.cells(source.slots(), range)))
    }

    /// The cut nearest to the middle, if it is valid.
    fn at_median(&self, source: &mut impl Source, rows: u64) -> Option<(f64, CutKind)> {
        let slots = source.slots();
        let count = slots.key.len();
        let mut left = 0;
        let mut nearest = (u64::MAX, 0);
        for s in 0..count - 1 {
            left += slots.rows[s];
            nearest = nearest.min((left.abs_diff(rows - left), s));
        }
        let (at, key) = (nearest.1 + 1, slots.key[nearest.1]);
        source.count();
        let valid = self.holds(source, 0..at) && self.holds(source, at..count);
        valid.then_some((0.0, CutKind::Below(key)))
    }

    /// The best valid division into the nodes below: all of them, or one from the others.
    fn grouped(&self, source: &mut impl Source, memory: &mut Memory, uncut: Uncut) -> Option<(f64, CutKind)> {
        let Uncut { total, best, .. } = uncut;
        let judge = self.judge;
        let Memory { gains, promising, shape: before, after, sets, histogram, .. } = memory;
        self.count_sets(source, sets, true);
        let (count, words) = (source.slots().key.len(), self.slot_space().words());
        let least = best.map_or(f64::NEG_INFINITY, |b| b.gain);
        let mut counted = judge.size_only;
        let slots = source.slots();
        let cost =
            |slots: &Slots, s: usize| self.cost(&slots.shapes[s * words..(s + 1) * words], |set| sets[set].own[s]);
        let gain = total - (0..count).map(|s| cost(slots, s) * slots.rows[s] as f64).sum::<f64>();
        if gain > least && slots.rows.iter().all(|&r| r >= judge.least) {
            if !counted {
                source.count();
                counted = true;
            }
            let mut holds = |s: usize| match judge.needs_population() {
                true => self.holds(source, s..s + 1),
                false => source.alone(judge, s, histogram),
            };
            if judge.size_only || (0..count).all(&mut holds) {
                return Some((gain, CutKind::Each));
            }
        }
        if count == 2 {
            return None;
        }
        self.gains_of_one(source.slots(), uncut, (before, after, &*sets), gains);
        let gains = &*gains;
        promising.clear();
        promising.extend((0..).zip(gains).filter(|g| *g.1 > least).map(|g| g.0));
        if promising.is_empty() {
            return None;
        }
        if !counted {
            source.count();
        }
        let source = &*source;
        let mut valid = |&s: &u32| judge.size_only || self.parts(source, s as usize, histogram);
        let look = |block: &[u32]| {
            let mut cut: Option<(f64, CutKind)> = None;
            for place in block {
                let gain = gains[*place as usize];
                if cut.is_none_or(|c| gain > c.0) && !self.stopped() && valid(place) {
                    cut = Some((gain, CutKind::One(source.slots().key[*place as usize])));
                }
            }
            cut
        };
        highest_first(gains, promising, || self.late(), look)
    }

    /// How much the loss falls when one slot is parted from the others, for each; of those with too few rows on a side,
    /// nothing.
    fn gains_of_one(
        &self,
        slots: &Slots,
        Uncut { rows, total, .. }: Uncut,
        (before, after, sets): (&mut Vec<ShapeWord>, &mut Vec<ShapeWord>, &[SetValues]),
        gains: &mut Vec<f64>,
    ) {
        let space = self.slot_space();
        let (count, words) = (slots.key.len(), space.words());
        // The shape over the slots after each one; those before it follow as it goes.
        after.clear();
        after.extend_from_slice(&slots.shapes);
        for s in (0..count - 1).rev() {
            let (shape, rest) = after[s * words..].split_at_mut(words);
            space.merge(shape, &rest[..words]);
        }
        before.clear();
        gains.clear();
        for s in 0..count {
            let (own, rest) = (slots.rows[s], rows - slots.rows[s]);
            let shape = &slots.shapes[s * words..(s + 1) * words];
            let of_others = |set: usize| sets[set].others[s];
            let others = || match (after.get((s + 1) * words..(s + 2) * words), self.counted) {
                (Some(next), Some(counted)) if s > 0 => counted.cost_merged(before, next, of_others),
                (Some(next), None) if s > 0 => space.cost_merged(before, next),
                (Some(next), _) => self.cost(next, of_others),
                (None, _) => self.cost(before, of_others),
            };
            gains.push(match own >= self.judge.least && rest >= self.judge.least {
                true => total - (self.cost(shape, |set| sets[set].own[s]) * own as f64 + others() * rest as f64),
                false => f64::NEG_INFINITY,
            });
            if s == 0 { before.extend_from_slice(shape) } else { space.merge(before, shape) }
        }
    }

    /// Whether one slot and all the others satisfy the policy, each as a class.
    fn parts(&self, source: &impl Source, slot: usize, histogram: &mut Histogram) -> bool {
        if !self.judge.needs_population() {
            return source.alone(self.judge, slot, histogram) && source.without(self.judge, slot, histogram);
        }
        let (slots, words) = (source.slots(), self.space.words());
        let mut right = source.tally(0..slots.key.len());
        let mut left = right.emptied();
        source.shift(slot..slot + 1, &mut right, &mut left);
        let cells = |chosen: &dyn Fn(usize) -> bool| {
            let mut shapes = slots.shapes.chunks(words.max(1)).enumerate().filter(|(s, _)| chosen(*s)).map(|s| s.1);
            let mut shape = shapes.next().unwrap_or_default().to_vec();
            shapes.for_each(|other| self.space.merge(&mut shape, other));
            Some(self.space.cells(&shape))
        };
        self.judge.holds_over(&left, || cells(&|s| s == slot))
            && self.judge.holds_over(&right, || cells(&|s| s != slot))
    }
}

#[cfg(test)]
mod tests;
