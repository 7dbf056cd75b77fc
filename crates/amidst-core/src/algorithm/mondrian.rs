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

use super::{Algorithm, Entry, Found, Search, SearchError};
use crate::frequency::{FrequencySet, add_up};
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
        let relaxed = matches!(search.options.get("relaxed"), Some(Value::Flag(true)));
        let median = matches!(search.options.get("cut"), Some(Value::Text(t)) if t == "median");
        found(search, |search, world| Ok((partition(search, world.space, world.judge, relaxed, median)?, Vec::new())))
    }
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
        items.extend((0..set.len()).map(|t| Item { unit: t as u32, rows: crate::frequency::rows(set.groups.get(t)) }));
        codes.extend_from_slice(&set.tuples);
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

/// A cut and how much it lowers the loss.
#[derive(Debug, Clone, Copy)]
struct Cut {
    gain: f64,
    column: usize,
    kind: CutKind,
}

#[derive(Debug, Clone, Copy)]
enum CutKind {
    /// Codes up to this one to the left.
    Below(u32),
    /// Each node for itself.
    Each,
    /// One node from the others.
    One(u32),
    /// The first items by code to the left, whatever the code.
    Half(usize),
}

/// The distinct codes (or nodes) of a column among the items, in order, with what each holds.
#[derive(Debug, Default)]
struct Slots {
    key: Vec<u32>,
    rows: Vec<u64>,
    shapes: Vec<u64>,
    /// The slot of each item.
    of_item: Vec<u32>,
    /// Items by slot: those of slot s are `order[first[s]..first[s + 1]]`.
    order: Vec<u32>,
    first: Vec<u32>,
}

/// Memory that is used again and again.
#[derive(Debug, Default)]
struct Scratch {
    slots: Slots,
    found: Vec<u32>,
    suffix: Vec<f64>,
    gains: Vec<f64>,
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

    /// The slots of a column; false when the column cannot be cut.
    fn fill(&self, items: &[Item], codes: &[u32], shape: &[u64], column: usize, scratch: &mut Scratch) -> bool {
        let width = self.space.width();
        let Scratch { slots, found, .. } = scratch;
        let key_of = |code: u32| match self.space.cuts(shape, column) {
            Cuts::Grouped { group } => group[code as usize],
            _ => code,
        };
        slots.key.clear();
        slots.of_item.clear();
        let column_codes = codes.iter().skip(column).step_by(width);
        match self.space.cuts(shape, column) {
            Cuts::None => return false,
            Cuts::Ordered { low, high } if (high - low) as usize > 8 * items.len() + 64 => {
                // Few items over many codes: sorting them beats clearing a table of all codes.
                slots.key.extend(column_codes.clone());
                slots.key.sort_unstable();
                slots.key.dedup();
                slots.of_item.extend(column_codes.map(|c| slots.key.binary_search(c).unwrap_or(0) as u32));
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
                slots.of_item.extend(column_codes.map(|&c| found[(key_of(c) - low) as usize]));
            }
        }
        // Items by slot.
        let count = slots.key.len();
        slots.rows.clear();
        slots.rows.resize(count, 0);
        slots.first.clear();
        slots.first.resize(count + 1, 0);
        for (&slot, item) in slots.of_item.iter().zip(items) {
            slots.rows[slot as usize] += item.rows;
            slots.first[slot as usize + 1] += 1;
        }
        for s in 0..count {
            slots.first[s + 1] += slots.first[s];
        }
        slots.order.clear();
        slots.order.resize(items.len(), 0);
        found.clear();
        found.extend_from_slice(&slots.first[..count]);
        for (i, &slot) in slots.of_item.iter().enumerate() {
            let next = &mut found[slot as usize];
            slots.order[*next as usize] = i as u32;
            *next += 1;
        }
        // The shape of each slot.
        let words = self.space.words();
        slots.shapes.clear();
        slots.shapes.resize(count * words, 0);
        for s in 0..count {
            let i = slots.order[slots.first[s] as usize] as usize;
            self.space.start(&mut slots.shapes[s * words..(s + 1) * words], &codes[i * width..(i + 1) * width]);
        }
        self.space.scatter(&mut slots.shapes, &slots.of_item, codes);
        true
    }

    fn best_cut(&self, items: &[Item], codes: &[u32], tally: &Tally, scratch: &mut Scratch) -> Option<Cut> {
        let width = self.space.width();
        if items.len() < 2 || tally.rows < 2 * self.judge.least {
            return None;
        }
        let mut shape = vec![0; self.space.words()];
        self.space.start(&mut shape, &codes[..width]);
        self.space.scatter(&mut shape, &vec![0; items.len()], codes);
        let total = self.space.cost(&shape) * tally.rows as f64;
        let mut columns: Vec<usize> = (0..width).collect();
        if self.median {
            let cost: Vec<f64> = columns.iter().map(|&c| self.space.column_cost(&shape, c)).collect();
            columns.sort_by(|&a, &b| cost[b].total_cmp(&cost[a]));
        }
        let mut best: Option<Cut> = None;
        for column in columns {
            if !self.fill(items, codes, &shape, column, scratch) {
                continue;
            }
            let ordered = !matches!(self.space.cuts(&shape, column), Cuts::Grouped { .. });
            let cut = match (ordered, self.median) {
                (true, false) => self.ordered_cut(items, tally, total, best, scratch),
                (true, true) => self.median_cut(items, tally, scratch),
                (false, _) => self.grouped_cut(items, tally, total, best, scratch),
            };
            let half = (self.relaxed && ordered).then(|| self.half_cut(items, codes, tally, total, best, scratch));
            for (gain, kind) in [cut, half.flatten()].into_iter().flatten() {
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
    fn ordered_cut(
        &self,
        items: &[Item],
        tally: &Tally,
        total: f64,
        best: Option<Cut>,
        scratch: &mut Scratch,
    ) -> Option<(f64, CutKind)> {
        let Scratch { slots, suffix, gains, .. } = scratch;
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
                for &i in &slots.order[moved..slots.first[s + 1] as usize] {
                    self.each_entry(items[i as usize], |e, rows| right.shift(&mut left, e, rows));
                }
                moved = slots.first[s + 1] as usize;
                if self.judge.holds(&left) && self.judge.holds(&right) {
                    (least, cut) = (gain, Some((gain, CutKind::Below(slots.key[s]))));
                }
            }
        }
        cut
    }

    /// The cut nearest to the middle, if it is valid.
    fn median_cut(&self, items: &[Item], tally: &Tally, scratch: &mut Scratch) -> Option<(f64, CutKind)> {
        let slots = &scratch.slots;
        let mut left = 0;
        let mut nearest = (u64::MAX, 0);
        for s in 0..slots.key.len() - 1 {
            left += slots.rows[s];
            nearest = nearest.min((left.abs_diff(tally.rows - left), s));
        }
        let at = slots.first[nearest.1 + 1] as usize;
        let valid = self.holds(items, &slots.order[..at]) && self.holds(items, &slots.order[at..]);
        valid.then(|| (0.0, CutKind::Below(slots.key[nearest.1])))
    }

    fn holds(&self, items: &[Item], chosen: &[u32]) -> bool {
        let chosen: Vec<Item> = chosen.iter().map(|&i| items[i as usize]).collect();
        self.judge.holds(&self.tally(&chosen))
    }

    /// The cut at the middle row, whatever its value, if it is valid and beats `best`.
    fn half_cut(
        &self,
        items: &[Item],
        codes: &[u32],
        tally: &Tally,
        total: f64,
        best: Option<Cut>,
        scratch: &mut Scratch,
    ) -> Option<(f64, CutKind)> {
        let (order, width) = (&scratch.slots.order, self.space.width());
        let mut at = 0;
        let mut left = 0;
        while at + 1 < order.len() && 2 * (left + items[order[at] as usize].rows) <= tally.rows {
            left += items[order[at] as usize].rows;
            at += 1;
        }
        if at == 0 {
            return None;
        }
        let cost = |chosen: &[u32]| {
            let mut shape = vec![0; self.space.words()];
            for (i, &item) in chosen.iter().enumerate() {
                let codes = &codes[item as usize * width..(item as usize + 1) * width];
                if i == 0 { self.space.start(&mut shape, codes) } else { self.space.add(&mut shape, codes) }
            }
            self.space.cost(&shape)
        };
        let (a, b) = order.split_at(at);
        let gain = if self.median { 0.0 } else { total - cost(a) * left as f64 - cost(b) * (tally.rows - left) as f64 };
        let better = gain > 0.0 && best.is_none_or(|b| gain > b.gain) || self.median && best.is_none();
        (better && self.holds(items, a) && self.holds(items, b)).then_some((gain, CutKind::Half(at)))
    }

    /// The best valid division into the nodes below: all of them, or one from the others.
    fn grouped_cut(
        &self,
        items: &[Item],
        tally: &Tally,
        total: f64,
        best: Option<Cut>,
        scratch: &mut Scratch,
    ) -> Option<(f64, CutKind)> {
        let slots = &scratch.slots;
        let (count, words) = (slots.key.len(), self.space.words());
        let shape = |s: usize| &slots.shapes[s * words..(s + 1) * words];
        let of = |s: usize| &slots.order[slots.first[s] as usize..slots.first[s + 1] as usize];
        let mut least = best.map_or(f64::NEG_INFINITY, |b| b.gain);
        let mut cut = None;
        let gain = total - (0..count).map(|s| self.space.cost(shape(s)) * slots.rows[s] as f64).sum::<f64>();
        if gain > least
            && slots.rows.iter().all(|&r| r >= self.judge.least)
            && (self.judge.size_only || (0..count).all(|s| self.holds(items, of(s))))
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
                for &i in of(s) {
                    self.each_entry(items[i as usize], |e, rows| right.shift(&mut left, e, rows));
                }
                self.judge.holds(&left) && self.judge.holds(&right)
            };
            if valid {
                (least, cut) = (total - cost, Some((total - cost, CutKind::One(slots.key[s]))));
            }
        }
        cut
    }

    /// Puts the items of each side together; returns how many each side has.
    fn arrange(&self, items: &mut [Item], codes: &mut [u32], cut: Cut) -> Vec<usize> {
        let width = self.space.width();
        let mut shape = vec![0; self.space.words()];
        self.space.start(&mut shape, &codes[..width]);
        self.space.scatter(&mut shape, &vec![0; items.len()], codes);
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
