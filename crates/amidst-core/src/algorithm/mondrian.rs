//! Mondrian: multidimensional partitioning, from one class of all rows by valid cuts down to classes that no cut divides.
//!
//! **Source.** LeFevre, DeWitt, Ramakrishnan, *Mondrian Multidimensional k-Anonymity*, ICDE 2006.
//!
//! **Cuts.** A column generalized to ranges (or sets) is cut between two of its codes, one generalized to nodes of its
//! hierarchy is divided into the nodes below the present one, or one of them is parted from the others. Of all cuts
//! whose sides satisfy the policy the one is made that lowers the information loss most (all columns of both sides are
//! measured, not only the one that is cut). With `cut = "median"` the column that costs most is cut at its median, as
//! in the paper. With `relaxed = true` rows that have the median value may go either way.
//!
//! **Departures.** The paper cuts the column with the widest range; looking at all cuts costs a factor of the number of
//! columns and loses far less.
//!
//! **Cost.** O(n·d²) per level of the tree with d columns, O(n·d²·log n) in all; sides are searched in parallel.

use std::ops::Range;

use super::{Algorithm, Entry, Found, Search, SearchError};
use crate::frequency::{FrequencySet, add_up};
use crate::local::cut::{Chooser, Cut, CutKind, Memory, Slots, Source};
use crate::local::{Cuts, Judge, Partition, Space, Tally, found};
use crate::parameter::{Kind, Parameter, Value};

pub(super) const ENTRY: Entry = Entry {
    id: "mondrian",
    title: "Mondrian",
    definition: "cuts the table in two, again and again, where the cut lowers the information loss most and both sides \
                 satisfy the policy",
    citation: "LeFevre, DeWitt & Ramakrishnan, ICDE 2006",
    full_domain: false,
    options: &[
        Parameter {
            name: "relaxed",
            kind: Kind::Flag,
            required: false,
            help: "whether rows with equal values may go to different sides of a cut (default false)",
        },
        Parameter {
            name: "cut",
            kind: Kind::Choice(&["loss", "median"]),
            required: false,
            help: "where to cut: where the loss falls most, or at the median of the widest column (default loss)",
        },
    ],
    algorithm: &Mondrian,
};

#[derive(Debug)]
struct Mondrian;

/// Below this many items the two sides are not worth another thread.
const FORK: usize = 2_048;

impl Algorithm for Mondrian {
    fn supports(&self, _search: &Search<'_>) -> Result<(), SearchError> {
        Ok(())
    }

    fn search(&self, search: &Search<'_>) -> Result<Found, SearchError> {
        let (relaxed, median) = options(search);
        found(search, |search, world| Ok((partition(search, world.space, world.judge, relaxed, median)?, Vec::new())))
    }
}

/// Whether equal rows may part, and whether cuts are made at the median.
pub(crate) fn options(search: &Search<'_>) -> (bool, bool) {
    let relaxed = matches!(search.options.get("relaxed"), Some(Value::Flag(true)));
    let median = matches!(search.options.get("cut"), Some(Value::Text(t)) if t == "median");
    (relaxed, median)
}

/// The classes that strict Mondrian finds in a part of a table, whose policy `judge` knows.
pub(crate) fn strict(
    search: &Search<'_>,
    space: &Space,
    judge: &Judge<'_>,
    median: bool,
) -> Result<Partition, SearchError> {
    partition(search, space, judge, false, median)
}

/// The classes that Mondrian finds.
pub(super) fn partition(
    search: &Search<'_>,
    space: &Space,
    judge: &Judge<'_>,
    relaxed: bool,
    median: bool,
) -> Result<Partition, SearchError> {
    let set = search.set;
    let mut items = Vec::new();
    let mut codes = Vec::new();
    if relaxed {
        for tuple in 0..set.len() {
            for entry in set.groups.offsets[tuple]..set.groups.offsets[tuple + 1] {
                // Row by row, so that equal rows can part; a person's rows stay together.
                let rows = set.groups.entries[entry].rows;
                let pieces = if set.persons { 1 } else { rows };
                for _ in 0..pieces {
                    items.push(Item { unit: entry as u32, rows: rows / pieces });
                    codes.extend_from_slice(set.tuple(tuple));
                }
            }
        }
    } else {
        // Tuples that only a population has are in no class.
        for tuple in (0..set.len()).filter(|&t| !set.groups.get(t).is_empty()) {
            items.push(Item { unit: tuple as u32, rows: crate::frequency::rows(set.groups.get(tuple)) });
            codes.extend_from_slice(set.tuple(tuple));
        }
    }
    let run = Run { search, set, space, judge, relaxed, median };
    let mut classes = Vec::new();
    if !items.is_empty() {
        let tally = judge.tally(set.groups.entries.iter().copied());
        run.divide(&mut items, &mut codes, tally, &mut Scratch::default(), &mut classes)?;
    }
    Ok(Partition { classes })
}

/// A tuple (strict), or a row of an entry (relaxed).
#[derive(Debug, Clone, Copy)]
struct Item {
    unit: u32,
    rows: u64,
}

/// Memory that is used again and again.
#[derive(Debug, Default)]
struct Scratch {
    filled: Filled,
    memory: Memory,
}

/// The slots of a column among the items.
#[derive(Debug, Default)]
struct Filled {
    slots: Slots,
    /// The slot of each item.
    of_item: Vec<u32>,
    /// Items by slot: those of slot s are `order[first[s]..first[s + 1]]`.
    order: Vec<u32>,
    first: Vec<u32>,
    found: Vec<u32>,
}

/// Items to be cut.
struct Items<'a> {
    run: &'a Run<'a>,
    items: &'a [Item],
    codes: &'a [u32],
    filled: &'a mut Filled,
}

struct Run<'a> {
    search: &'a Search<'a>,
    set: &'a FrequencySet,
    space: &'a Space,
    judge: &'a Judge<'a>,
    relaxed: bool,
    median: bool,
}

impl Run<'_> {
    /// Cuts the items as long as a valid cut is found, and collects the classes, left before right.
    fn divide(
        &self,
        items: &mut [Item],
        codes: &mut [u32],
        tally: Tally,
        scratch: &mut Scratch,
        classes: &mut Vec<Vec<(u32, u64)>>,
    ) -> Result<(), SearchError> {
        self.search.checkpoint()?;
        let Some(cut) = self.best_cut(items, codes, &tally, scratch) else {
            classes.push(self.class(items));
            return Ok(());
        };
        let sizes = self.arrange(items, codes, cut);
        if sizes.len() == 2 && items.len() >= FORK {
            let (a, b) = items.split_at_mut(sizes[0]);
            let (x, y) = codes.split_at_mut(sizes[0] * self.space.width());
            let (ta, tb) = (self.tally(a), self.tally(b));
            drop(tally);
            let mut right = Vec::new();
            let (l, r) = rayon::join(
                || self.divide(a, x, ta, scratch, classes),
                || self.divide(b, y, tb, &mut Scratch::default(), &mut right),
            );
            l.and(r)?;
            classes.append(&mut right);
            return Ok(());
        }
        drop(tally);
        let (mut items, mut codes) = (items, codes);
        for size in sizes {
            let (a, rest) = items.split_at_mut(size);
            let (x, rest_codes) = codes.split_at_mut(size * self.space.width());
            let tally = self.tally(a);
            self.divide(a, x, tally, scratch, classes)?;
            (items, codes) = (rest, rest_codes);
        }
        Ok(())
    }

    fn class(&self, items: &[Item]) -> Vec<(u32, u64)> {
        let mut parts: Vec<(u32, u64)> = Vec::with_capacity(items.len());
        if self.relaxed {
            parts.extend(items.iter().map(|i| (i.unit, i.rows)));
            add_up(&mut parts);
            return parts;
        }
        for item in items {
            let (first, last) =
                (self.set.groups.offsets[item.unit as usize], self.set.groups.offsets[item.unit as usize + 1]);
            parts.extend((first..last).map(|e| (e as u32, self.set.groups.entries[e].rows)));
        }
        parts.sort_unstable();
        parts
    }

    /// Calls `visit` with what each item holds.
    fn each_entry(&self, item: Item, mut visit: impl FnMut(crate::frequency::Entry, u64)) {
        if self.relaxed {
            visit(self.set.groups.entries[item.unit as usize], item.rows);
        } else {
            self.set.groups.get(item.unit as usize).iter().for_each(|&e| visit(e, e.rows));
        }
    }

    fn tally(&self, items: &[Item]) -> Tally {
        if self.judge.size_only {
            return Tally { rows: items.iter().map(|i| i.rows).sum(), counts: Vec::new() };
        }
        let mut tally = Tally::default();
        if items.len() < 64 {
            for &item in items {
                self.each_entry(item, |e, rows| self.judge.add(&mut tally, e, rows));
            }
            return tally;
        }
        let mut entries = Vec::with_capacity(items.len());
        for &item in items {
            self.each_entry(item, |e, rows| entries.push(crate::frequency::Entry { rows, ..e }));
        }
        self.judge.tally(entries)
    }

    /// The tightest shape over all of the items.
    fn shape(&self, codes: &[u32]) -> Vec<u64> {
        let width = self.space.width();
        let mut shape = vec![0; self.space.words()];
        self.space.start(&mut shape, &codes[..width]);
        self.space.scatter(&mut shape, &vec![0; codes.len() / width], codes);
        shape
    }

    fn best_cut(&self, items: &[Item], codes: &[u32], tally: &Tally, scratch: &mut Scratch) -> Option<Cut> {
        if items.len() < 2 || tally.rows < 2 * self.judge.least {
            return None;
        }
        let chooser = Chooser { space: self.space, judge: self.judge, median: self.median };
        let Scratch { filled, memory } = scratch;
        chooser.best(&mut Items { run: self, items, codes, filled }, memory, &self.shape(codes), tally)
    }

    /// Puts the items of each side together; returns how many each side has.
    fn arrange(&self, items: &mut [Item], codes: &mut [u32], cut: Cut) -> Vec<usize> {
        let width = self.space.width();
        let shape = self.shape(codes);
        let group: &[u32] = match self.space.cuts(&shape, cut.column) {
            Cuts::Grouped { group } => group,
            _ => &[],
        };
        let code = |i: usize| codes[i * width + cut.column];
        let everyone = 0..items.len() as u32;
        let mut order: Vec<u32> = Vec::with_capacity(items.len());
        let mut part = |left: &dyn Fn(usize) -> bool| {
            order.extend(everyone.clone().filter(|&i| left(i as usize)));
            let size = order.len();
            order.extend(everyone.clone().filter(|&i| !left(i as usize)));
            vec![size]
        };
        let mut sizes = match cut.kind {
            CutKind::Below(last) => part(&|i| code(i) <= last),
            CutKind::One(node) => part(&|i| group[code(i) as usize] == node),
            CutKind::Half(at) => {
                order.extend(everyone);
                order.sort_by_key(|&i| code(i as usize));
                vec![at]
            }
            CutKind::Each => {
                order.extend(everyone);
                let node = |&i: &u32| group[code(i as usize) as usize];
                order.sort_by_key(node);
                let mut sizes: Vec<usize> = order.chunk_by(|a, b| node(a) == node(b)).map(<[u32]>::len).collect();
                sizes.pop();
                sizes
            }
        };
        sizes.push(items.len() - sizes.iter().sum::<usize>());
        let old_items: Vec<Item> = items.to_vec();
        let old_codes: Vec<u32> = codes.to_vec();
        for (new, &old) in order.iter().enumerate() {
            items[new] = old_items[old as usize];
            let from = old as usize * width;
            codes[new * width..(new + 1) * width].copy_from_slice(&old_codes[from..from + width]);
        }
        sizes
    }
}

impl Items<'_> {
    fn held(&self, slots: Range<usize>) -> &[u32] {
        let Filled { order, first, .. } = &*self.filled;
        &order[first[slots.start] as usize..first[slots.end] as usize]
    }

    fn holds(&self, chosen: &[u32]) -> bool {
        let members: Vec<Item> = chosen.iter().map(|&i| self.items[i as usize]).collect();
        let cells = || Some(self.run.space.cells(&self.shape(chosen)));
        self.run.judge.holds_over(&self.run.tally(&members), cells)
    }

    /// The shape over some items.
    fn shape(&self, chosen: &[u32]) -> Vec<u64> {
        let (space, width) = (self.run.space, self.run.space.width());
        let mut shape = vec![0; space.words()];
        for (i, &item) in chosen.iter().enumerate() {
            let codes = &self.codes[item as usize * width..(item as usize + 1) * width];
            if i == 0 { space.start(&mut shape, codes) } else { space.add(&mut shape, codes) }
        }
        shape
    }
}

impl Source for Items<'_> {
    fn fill(&mut self, shape: &[u64], column: usize) -> bool {
        let (items, codes, space) = (self.items, self.codes, self.run.space);
        let width = space.width();
        let Filled { slots, of_item, order, first, found } = &mut *self.filled;
        let key_of = |code: u32| match space.cuts(shape, column) {
            Cuts::Grouped { group } => group[code as usize],
            _ => code,
        };
        slots.key.clear();
        of_item.clear();
        let column_codes = codes.iter().skip(column).step_by(width);
        match space.cuts(shape, column) {
            Cuts::None => return false,
            Cuts::Ordered { low, high } if (high - low) as usize > 8 * items.len() + 64 => {
                // Few items over many codes: sorting them beats clearing a table of all codes.
                slots.key.extend(column_codes.clone());
                slots.key.sort_unstable();
                slots.key.dedup();
                of_item.extend(column_codes.map(|c| slots.key.binary_search(c).unwrap_or(0) as u32));
            }
            cuts => {
                let (low, span) = match cuts {
                    Cuts::Ordered { low, high } => (low, (high - low) as usize + 1),
                    _ => (0, column_codes.clone().map(|&c| key_of(c) as usize + 1).max().unwrap_or(0)),
                };
                found.clear();
                found.resize(span, 0);
                column_codes.clone().for_each(|&c| found[(key_of(c) - low) as usize] = 1);
                for (key, slot) in found.iter_mut().enumerate().filter(|(_, slot)| **slot == 1) {
                    *slot = slots.key.len() as u32;
                    slots.key.push(key as u32 + low);
                }
                of_item.extend(column_codes.map(|&c| found[(key_of(c) - low) as usize]));
            }
        }
        // Items by slot.
        let count = slots.key.len();
        slots.rows.clear();
        slots.rows.resize(count, 0);
        first.clear();
        first.resize(count + 1, 0);
        for (&slot, item) in of_item.iter().zip(items) {
            slots.rows[slot as usize] += item.rows;
            first[slot as usize + 1] += 1;
        }
        for s in 0..count {
            first[s + 1] += first[s];
        }
        order.clear();
        order.resize(items.len(), 0);
        found.clear();
        found.extend_from_slice(&first[..count]);
        for (i, &slot) in of_item.iter().enumerate() {
            let next = &mut found[slot as usize];
            order[*next as usize] = i as u32;
            *next += 1;
        }
        // The shape of each slot.
        let words = space.words();
        slots.shapes.clear();
        slots.shapes.resize(count * words, 0);
        for s in 0..count {
            let i = order[first[s] as usize] as usize;
            space.start(&mut slots.shapes[s * words..(s + 1) * words], &codes[i * width..(i + 1) * width]);
        }
        space.scatter(&mut slots.shapes, of_item, codes);
        true
    }

    fn slots(&self) -> &Slots {
        &self.filled.slots
    }

    fn shift(&self, slots: Range<usize>, from: &mut Tally, to: &mut Tally) {
        for &i in self.held(slots) {
            self.run.each_entry(self.items[i as usize], |e, rows| from.shift(to, e, rows));
        }
    }

    fn tally(&self, slots: Range<usize>) -> Tally {
        let held: Vec<Item> = self.held(slots).iter().map(|&i| self.items[i as usize]).collect();
        self.run.tally(&held)
    }

    fn half(&self, tally: &Tally, total: f64, best: Option<Cut>) -> Option<(f64, CutKind)> {
        if !self.run.relaxed {
            return None;
        }
        let (items, order) = (self.items, &self.filled.order);
        let (space, median) = (self.run.space, self.run.median);
        let mut at = 0;
        let mut left = 0;
        while at + 1 < order.len() && 2 * (left + items[order[at] as usize].rows) <= tally.rows {
            left += items[order[at] as usize].rows;
            at += 1;
        }
        if at == 0 {
            return None;
        }
        let cost = |chosen: &[u32]| space.cost(&self.shape(chosen));
        let (a, b) = order.split_at(at);
        let gain = if median { 0.0 } else { total - cost(a) * left as f64 - cost(b) * (tally.rows - left) as f64 };
        let better = gain > 0.0 && best.is_none_or(|b| gain > b.gain) || median && best.is_none();
        (better && self.holds(a) && self.holds(b)).then_some((gain, CutKind::Half(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::fixture::Fixture;
    use crate::parameter::Parameters;

    fn options(relaxed: bool, cut: &str) -> Parameters {
        Parameters::from_pairs([("relaxed", Value::Flag(relaxed)), ("cut", Value::Text(cut.to_string()))])
    }

    #[test]
    fn every_class_satisfies_the_policy() {
        for relaxed in [false, true] {
            for cut in ["loss", "median"] {
                Fixture::trial("mondrian", &options(relaxed, cut));
            }
        }
    }

    #[test]
    fn cutting_by_loss_loses_less_than_cutting_at_the_median() {
        let fixture = Fixture::random(1, 200, false);
        let requirements = &fixture.policies()[0];
        let loss = |relaxed, median| {
            fixture.search(requirements, &Parameters::default(), |search| {
                let space = Space::new(search.generalizations);
                let judge = Judge::new(search).unwrap();
                let partition = partition(search, &space, &judge, relaxed, median).unwrap();
                partition.loss(search.set, &search.set.tuple_of_entry(), &space)
            })
        };
        assert!(loss(false, false) < loss(false, true));
        assert!(loss(true, false) < loss(true, true));
    }

    #[test]
    fn strict_keeps_equal_tuples_together() {
        let fixture = Fixture::random(3, 150, false);
        let found = fixture.find("mondrian", &fixture.policies()[0], &Parameters::default()).unwrap();
        assert!(matches!(found.recoding.assignment, crate::recoding::Assignment::Tuples(_)));
    }
}
