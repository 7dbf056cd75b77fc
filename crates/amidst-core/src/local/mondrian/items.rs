//! Tuples or rows of a frequency set, to be cut.
//!
//! A column is looked at in linear passes, each only where the one before leaves a cut to consider: the rows below each
//! code or node, then how far those reach in the other columns, then what they count.

use std::ops::Range;

use crate::frequency::{Entry, FrequencySet, NOBODY};
use crate::ids::SensitiveId;
use crate::local::class::judge::Histogram;
use crate::local::class::{Judge, Tally};
use crate::local::mondrian::cut::{CutKind, Slots, Source, Uncut};
use crate::local::shape::{CountedSets, Cuts, Shape, ShapeWord, Space};

/// A tuple, or where equal rows may part a row of an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub unit: u32,
    pub rows: u64,
}

/// What items are of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub set: &'a FrequencySet,
    pub space: &'a Space,
    /// The sets that the shapes of slots do without.
    pub counted: Option<&'a CountedSets>,
    pub judge: &'a Judge<'a>,
    /// Whether items are rows of entries.
    pub relaxed: bool,
    /// Whether the median decides.
    pub median: bool,
}

/// The slots of a column among some items, in memory that is used again and again.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    slots: Slots,
    column: usize,
    /// The slot of each item.
    of_item: Vec<u32>,
    /// An item of each slot, the first.
    some: Vec<u32>,
    /// Items by slot: those of slot s are `order[first[s]..first[s + 1]]`. Only where counts are not kept, or equal
    /// rows may part.
    order: Vec<u32>,
    first: Vec<u32>,
    /// `counts[s · tuples + v]`: the rows of slot s with sensitive tuple v; then those of all slots.
    counts: Vec<u64>,
    found: Vec<u32>,
}

/// Items to be cut, with the codes of each.
pub(crate) struct Items<'a> {
    pub ground: Ground<'a>,
    pub items: &'a [Item],
    pub codes: &'a [u32],
    pub filled: &'a mut Filled,
}

impl<'a> Ground<'a> {
    /// Calls `visit` with what an item holds, as far as the policy looks at it.
    #[inline]
    fn each_entry(&self, item: Item, mut visit: impl FnMut(Entry, u64)) {
        let looked_at = |e: Entry| Entry { sensitive: self.judge.alike(e.sensitive), ..e };
        if self.relaxed {
            visit(looked_at(self.set.groups.entries[item.unit as usize]), item.rows);
        } else {
            self.set.groups.get(item.unit as usize).iter().for_each(|&e| visit(looked_at(e), e.rows));
        }
    }

    fn tally(&self, items: impl Iterator<Item = Item>) -> Tally {
        let mut entries = Vec::new();
        for item in items {
            self.each_entry(item, |e, rows| entries.push(Entry { rows, ..e }));
        }
        self.judge.tally(entries)
    }

    /// The sensitive tuples, where counting rows by each is worth it for the number of slots and items.
    fn dense(&self, slots: usize, items: usize) -> Option<usize> {
        let tuples = self.set.sensitive_count();
        (!self.set.persons && slots * tuples <= 8 * items + 1024).then_some(tuples)
    }
}

impl Items<'_> {
    fn column_codes(&self, column: usize) -> impl Iterator<Item = u32> + Clone {
        self.codes.chunks_exact(self.ground.space.width()).map(move |row| row[column])
    }

    /// Numbers the items by a few small numbers: the slots are those that occur, in order.
    fn number(&mut self, column: usize, span: usize, of: impl Fn(u32) -> u32) {
        let codes = self.codes.chunks_exact(self.ground.space.width());
        let Filled { slots, of_item, found, .. } = &mut *self.filled;
        slots.rows.clear();
        slots.rows.resize(span, 0);
        of_item.clear();
        of_item.extend(codes.zip(self.items).map(|(row, item)| {
            let number = of(row[column]);
            slots.rows[number as usize] += item.rows;
            number
        }));
        // No item is without rows.
        if slots.rows.contains(&0) {
            found.clear();
            let mut next = 0;
            for at in 0..span {
                found.push(next as u32);
                if slots.rows[at] > 0 {
                    slots.rows[next] = slots.rows[at];
                    next += 1;
                }
            }
            slots.rows.truncate(next);
            of_item.iter_mut().for_each(|slot| *slot = found[*slot as usize]);
        }
    }

    /// Numbers the items by a few of many numbers: sorting them beats clearing a table of all.
    fn rank(&mut self, column: usize, of: impl Fn(u32) -> u32) {
        let numbers = self.column_codes(column).map(of).collect::<Vec<u32>>();
        let Filled { slots, of_item, found, .. } = &mut *self.filled;
        found.clear();
        found.extend_from_slice(&numbers);
        found.sort_unstable();
        found.dedup();
        slots.rows.clear();
        slots.rows.resize(found.len(), 0);
        of_item.clear();
        of_item.extend(numbers.iter().zip(self.items).map(|(number, item)| {
            let slot = found.binary_search(number).unwrap_or(0);
            slots.rows[slot] += item.rows;
            slot as u32
        }));
    }

    /// Lists the items of each slot.
    fn list(&mut self) {
        let Filled { slots, of_item, order, first, found, .. } = &mut *self.filled;
        let count = slots.rows.len();
        first.clear();
        first.resize(count + 1, 0);
        of_item.iter().for_each(|&slot| first[slot as usize + 1] += 1);
        for s in 0..count {
            first[s + 1] += first[s];
        }
        order.clear();
        order.resize(of_item.len(), 0);
        found.clear();
        found.extend_from_slice(&first[..count]);
        for (i, &slot) in of_item.iter().enumerate() {
            let next = &mut found[slot as usize];
            order[*next as usize] = i as u32;
            *next += 1;
        }
    }

    fn held(&self, slots: Range<usize>) -> impl Iterator<Item = Item> {
        let Filled { order, first, .. } = &*self.filled;
        order[first[slots.start] as usize..first[slots.end] as usize].iter().map(|&i| self.items[i as usize])
    }

    /// How many sensitive tuples `counts` tells apart, if it does.
    fn dense(&self) -> Option<usize> {
        self.ground.dense(self.filled.slots.rows.len(), self.items.len())
    }

    /// The rows of a slot by sensitive tuple.
    fn row(&self, slot: usize, tuples: usize) -> &[u64] {
        &self.filled.counts[slot * tuples..(slot + 1) * tuples]
    }

    fn holds(&self, chosen: &[u32]) -> bool {
        let cells = || Some(self.ground.space.cells(&self.shape(chosen)));
        let tally = self.ground.tally(chosen.iter().map(|&i| self.items[i as usize]));
        self.ground.judge.holds_over(&tally, cells)
    }

    /// The shape over some items.
    fn shape(&self, chosen: &[u32]) -> Vec<ShapeWord> {
        let (space, width) = (self.ground.space, self.ground.space.width());
        let mut shape = space.empty();
        for (i, &item) in chosen.iter().enumerate() {
            let codes = &self.codes[item as usize * width..(item as usize + 1) * width];
            if i == 0 { space.start(&mut shape, codes) } else { space.add(&mut shape, codes) }
        }
        shape
    }
}

/// Fewer items over more numbers than this are sorted.
fn sparse(span: usize, items: usize) -> bool {
    span > 8 * items + 64
}

/// Adds up as many rows of each sensitive tuple as `counts` says.
fn counted(counts: impl Iterator<Item = u64>) -> Tally {
    let mut tally = Tally::default();
    for (sensitive, rows) in (0..).zip(counts).filter(|c| c.1 > 0) {
        tally.rows += rows;
        tally.counts.push(((SensitiveId(sensitive), NOBODY), rows));
    }
    tally
}

impl Source for Items<'_> {
    fn fill(&mut self, shape: &Shape, column: usize) -> bool {
        let space = self.ground.space;
        let cuts = space.cuts(shape, column);
        match cuts {
            Cuts::None => return false,
            Cuts::Ordered { low, high } => match (high - low) as usize + 1 {
                span if sparse(span, self.items.len()) => self.rank(column, |code| code),
                span => self.number(column, span, |code| code - low),
            },
            Cuts::Grouped { rank, nodes, .. } => match sparse(nodes, self.items.len()) {
                true => self.rank(column, |code| rank[code as usize]),
                false => self.number(column, nodes, |code| rank[code as usize]),
            },
        }
        let width = space.width();
        let Filled { slots, of_item, some, .. } = &mut *self.filled;
        let mut missing = slots.rows.len();
        some.clear();
        some.resize(missing, u32::MAX);
        slots.key.clear();
        slots.key.resize(missing, 0);
        for (i, &slot) in of_item.iter().enumerate() {
            if some[slot as usize] == u32::MAX {
                some[slot as usize] = i as u32;
                let code = self.codes[i * width + column];
                slots.key[slot as usize] = match cuts {
                    Cuts::Grouped { group, .. } => group[code as usize],
                    _ => code,
                };
                missing -= 1;
                if missing == 0 {
                    break;
                }
            }
        }
        self.filled.column = column;
        if self.ground.relaxed && !matches!(cuts, Cuts::Grouped { .. }) {
            self.list();
        }
        true
    }

    fn reach(&mut self, shape: &Shape) {
        let left = self.ground.counted.map(|counted| counted.without_sets(self.ground.space, shape));
        let space = self.ground.counted.map_or(self.ground.space, |counted| &counted.space);
        let (words, width) = (space.words(), space.width());
        let Filled { slots, of_item, some, column, .. } = &mut *self.filled;
        slots.shapes.clear();
        slots.shapes.resize(some.len() * words, ShapeWord::default());
        for (&i, shape) in some.iter().zip(slots.shapes.chunks_exact_mut(words)) {
            space.start(shape, &self.codes[i as usize * width..(i as usize + 1) * width]);
        }
        space.spread(&mut slots.shapes, of_item, self.codes, left.as_deref().unwrap_or(shape), *column);
    }

    fn each_code(&self, column: usize, visit: &mut dyn FnMut(u32, u32)) {
        self.filled.of_item.iter().zip(self.column_codes(column)).for_each(|(&slot, code)| visit(slot, code));
    }

    fn count(&mut self) {
        if self.ground.judge.size_only {
            return;
        }
        let Some(tuples) = self.dense() else { return self.list() };
        let Filled { slots, of_item, counts, .. } = &mut *self.filled;
        let count = slots.rows.len();
        counts.clear();
        counts.resize((count + 1) * tuples, 0);
        for (&item, &slot) in self.items.iter().zip(&*of_item) {
            let row = &mut counts[slot as usize * tuples..(slot as usize + 1) * tuples];
            self.ground.each_entry(item, |e, rows| row[e.sensitive.index()] += rows);
        }
        let (rows, whole) = counts.split_at_mut(count * tuples);
        for row in rows.chunks_exact(tuples) {
            whole.iter_mut().zip(row).for_each(|(sum, rows)| *sum += rows);
        }
    }

    fn slots(&self) -> &Slots {
        &self.filled.slots
    }

    fn shift(&self, slots: Range<usize>, from: &mut Tally, to: &mut Tally) {
        let Some(tuples) = self.dense() else {
            for item in self.held(slots) {
                self.ground.each_entry(item, |e, rows| from.shift(to, e, rows));
            }
            return;
        };
        for slot in slots {
            for (sensitive, &rows) in (0..).map(SensitiveId).zip(self.row(slot, tuples)).filter(|c| *c.1 > 0) {
                from.shift(to, Entry { sensitive, person: NOBODY, rows }, rows);
            }
        }
    }

    fn tally(&self, slots: Range<usize>) -> Tally {
        let rows = &self.filled.slots.rows;
        if self.ground.judge.size_only {
            return Tally { rows: rows[slots].iter().sum(), counts: Vec::new() };
        }
        let Some(tuples) = self.dense() else { return self.ground.tally(self.held(slots)) };
        if slots == (0..rows.len()) {
            return counted(self.row(rows.len(), tuples).iter().copied());
        }
        counted((0..tuples).map(|at| slots.clone().map(|s| self.row(s, tuples)[at]).sum()))
    }

    fn alone(&self, judge: &Judge<'_>, slot: usize, spare: &mut Histogram) -> bool {
        match self.dense() {
            Some(tuples) => {
                let counts = (0..).map(SensitiveId).zip(self.row(slot, tuples).iter().copied());
                judge.holds_counted(self.filled.slots.rows[slot], counts, spare)
            }
            None => judge.counts_hold(&self.tally(slot..slot + 1)),
        }
    }

    fn without(&self, judge: &Judge<'_>, slot: usize, spare: &mut Histogram) -> bool {
        let rows = &self.filled.slots.rows;
        let Some(tuples) = self.dense() else {
            let others = self.held(0..slot).chain(self.held(slot + 1..rows.len()));
            return judge.counts_hold(&self.ground.tally(others));
        };
        let both = self.row(rows.len(), tuples).iter().zip(self.row(slot, tuples));
        let counts = (0..).map(SensitiveId).zip(both.map(|(whole, own)| whole - own));
        judge.holds_counted(rows.iter().sum::<u64>() - rows[slot], counts, spare)
    }

    fn half(&self, Uncut { rows, total, best }: Uncut) -> Option<(f64, CutKind)> {
        if !self.ground.relaxed {
            return None;
        }
        let (items, order) = (self.items, &self.filled.order);
        let (space, median) = (self.ground.space, self.ground.median);
        let mut at = 0;
        let mut left = 0;
        while at + 1 < order.len() && 2 * (left + items[order[at] as usize].rows) <= rows {
            left += items[order[at] as usize].rows;
            at += 1;
        }
        if at == 0 {
            return None;
        }
        let cost = |chosen: &[u32]| space.cost(&self.shape(chosen));
        let (a, b) = order.split_at(at);
        let gain = if median { 0.0 } else { total - cost(a) * left as f64 - cost(b) * (rows - left) as f64 };
        let better = gain > 0.0 && best.is_none_or(|b| gain > b.gain) || median && best.is_none();
        (better && self.holds(a) && self.holds(b)).then_some((gain, CutKind::Half(at)))
    }
}
