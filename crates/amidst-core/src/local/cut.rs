//! Where to cut some rows, as Mondrian chooses it.
//!
//! The choice looks at columns one by one: at the distinct codes of a column (or the nodes that they lie below), each with
//! its number of rows, the shape over them, and what they count. Rows need not be at hand for that; whoever can tell
//! these is a [`Source`].

use std::ops::Range;

use super::{Cuts, Judge, Space, Tally};
use crate::hierarchy::Cell;

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
    pub shapes: Vec<u64>,
}

/// Rows to be cut.
pub(crate) trait Source {
    /// Makes ready the slots of a column, where all rows together have `shape`; false when the column cannot be cut.
    fn fill(&mut self, shape: &[u64], column: usize) -> bool;

    /// The slots made ready last.
    fn slots(&self) -> &Slots;

    /// Moves what some slots hold from one tally to another.
    fn shift(&self, slots: Range<usize>, from: &mut Tally, to: &mut Tally);

    /// What some slots hold.
    fn tally(&self, slots: Range<usize>) -> Tally;

    /// The cut at the middle row, whatever its value, where rows that agree may part; only if it is valid and beats `best`.
    fn half(&self, _tally: &Tally, _total: f64, _best: Option<Cut>) -> Option<(f64, CutKind)> {
        None
    }
}

/// Memory that is used again and again.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    suffix: Vec<f64>,
    gains: Vec<f64>,
}

/// Chooses cuts.
#[derive(Clone, Copy)]
pub(crate) struct Chooser<'a> {
    pub space: &'a Space,
    pub judge: &'a Judge<'a>,
    /// Whether the costliest column is cut at its median, rather than whatever lowers the loss most.
    pub median: bool,
}

impl Chooser<'_> {
    /// The cut to make, if any is valid. All rows together have `shape` and count `tally`.
    pub fn best(&self, source: &mut impl Source, memory: &mut Memory, shape: &[u64], tally: &Tally) -> Option<Cut> {
        if tally.rows < 2 * self.judge.least {
            return None;
        }
        let total = self.space.cost(shape) * tally.rows as f64;
        let mut columns: Vec<usize> = (0..self.space.width()).collect();
        if self.median {
            let cost: Vec<f64> = columns.iter().map(|&c| self.space.column_cost(shape, c)).collect();
            columns.sort_by(|&a, &b| cost[b].total_cmp(&cost[a]));
        }
        let mut best: Option<Cut> = None;
        for column in columns {
            if !source.fill(shape, column) {
                continue;
            }
            let ordered = !matches!(self.space.cuts(shape, column), Cuts::Grouped { .. });
            let cut = match (ordered, self.median) {
                (true, false) => self.ordered(source, memory, tally, total, best),
                (true, true) => self.at_median(source, tally),
                (false, _) => self.grouped(source, tally, total, best),
            };
            let half = if ordered { source.half(tally, total, best) } else { None };
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

    /// The best valid cut between two codes, if it beats `best`.
    fn ordered(
        &self,
        source: &impl Source,
        memory: &mut Memory,
        tally: &Tally,
        total: f64,
        best: Option<Cut>,
    ) -> Option<(f64, CutKind)> {
        let Memory { suffix, gains } = memory;
        let slots = source.slots();
        let (count, words) = (slots.key.len(), self.space.words());
        // What the right side costs a row, for each place of the cut; then the left side.
        suffix.clear();
        suffix.resize(count, 0.0);
        let mut shape = slots.shapes[(count - 1) * words..].to_vec();
        for s in (1..count).rev() {
            self.space.merge(&mut shape, &slots.shapes[s * words..(s + 1) * words]);
            suffix[s] = self.space.cost(&shape);
        }
        shape.copy_from_slice(&slots.shapes[..words]);
        gains.clear();
        let mut left = 0;
        for s in 0..count - 1 {
            self.space.merge(&mut shape, &slots.shapes[s * words..(s + 1) * words]);
            left += slots.rows[s];
            let right = tally.rows - left;
            let valid = left >= self.judge.least && right >= self.judge.least;
            let gain = total - self.space.cost(&shape) * left as f64 - suffix[s + 1] * right as f64;
            gains.push(if valid { gain } else { f64::NEG_INFINITY });
        }
        let mut least = best.map_or(f64::NEG_INFINITY, |b| b.gain);
        let mut cut = None;
        if self.judge.size_only {
            for (s, &gain) in gains.iter().enumerate().filter(|g| *g.1 > f64::NEG_INFINITY) {
                if gain > least {
                    (least, cut) = (gain, Some((gain, CutKind::Below(slots.key[s]))));
                }
            }
            return cut;
        }
        let (mut right, mut left, mut moved) = (tally.clone(), tally.emptied(), 0);
        for (s, &gain) in gains.iter().enumerate() {
            if gain > least {
                source.shift(moved..s + 1, &mut right, &mut left);
                moved = s + 1;
                let over = |range: Range<usize>| move || Some(self.cells(slots, range));
                if self.judge.holds_over(&left, over(0..s + 1)) && self.judge.holds_over(&right, over(s + 1..count)) {
                    (least, cut) = (gain, Some((gain, CutKind::Below(slots.key[s]))));
                }
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
    fn at_median(&self, source: &impl Source, tally: &Tally) -> Option<(f64, CutKind)> {
        let slots = source.slots();
        let count = slots.key.len();
        let mut left = 0;
        let mut nearest = (u64::MAX, 0);
        for s in 0..count - 1 {
            left += slots.rows[s];
            nearest = nearest.min((left.abs_diff(tally.rows - left), s));
        }
        let at = nearest.1 + 1;
        let valid = self.holds(source, 0..at) && self.holds(source, at..count);
        valid.then(|| (0.0, CutKind::Below(slots.key[nearest.1])))
    }

    /// The best valid division into the nodes below: all of them, or one from the others.
    fn grouped(&self, source: &impl Source, tally: &Tally, total: f64, best: Option<Cut>) -> Option<(f64, CutKind)> {
        let slots = source.slots();
        let (count, words) = (slots.key.len(), self.space.words());
        let shape = |s: usize| &slots.shapes[s * words..(s + 1) * words];
        let mut least = best.map_or(f64::NEG_INFINITY, |b| b.gain);
        let mut cut = None;
        let gain = total - (0..count).map(|s| self.space.cost(shape(s)) * slots.rows[s] as f64).sum::<f64>();
        if gain > least
            && slots.rows.iter().all(|&r| r >= self.judge.least)
            && (self.judge.size_only || (0..count).all(|s| self.holds(source, s..s + 1)))
        {
            return Some((gain, CutKind::Each));
        }
        if count == 2 {
            return None;
        }
        for s in 0..count {
            let rest = tally.rows - slots.rows[s];
            if slots.rows[s] < self.judge.least || rest < self.judge.least {
                continue;
            }
            let mut others = shape(usize::from(s == 0)).to_vec();
            (0..count).filter(|&o| o != s).for_each(|o| self.space.merge(&mut others, shape(o)));
            let cost = self.space.cost(shape(s)) * slots.rows[s] as f64 + self.space.cost(&others) * rest as f64;
            if total - cost <= least {
                continue;
            }
            let valid = self.judge.size_only || {
                let (mut right, mut left) = (tally.clone(), tally.emptied());
                source.shift(s..s + 1, &mut right, &mut left);
                self.judge.holds_over(&left, || Some(self.space.cells(shape(s))))
                    && self.judge.holds_over(&right, || Some(self.space.cells(&others)))
            };
            if valid {
                (least, cut) = (total - cost, Some((total - cost, CutKind::One(slots.key[s]))));
            }
        }
        cut
    }
}
