//! Mondrian: multidimensional partitioning, from one class of all rows by valid cuts down to classes that no cut
//! divides.
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
//! **Cost.** At most O(n·d²) per level of the tree with d columns, O(n·d²·log n) in all, besides judging cuts: each
//! judgement takes as long as the sides have values in the columns that the policy looks at, and few are judged, the
//! best first, unless most of them fail. Sides are searched in parallel.

use super::{Algorithm, Entry, Found, InParts, RecodingKind, Search, SearchError};
use crate::frequency::add_up;
use crate::local::class::{Judge, Partition};
use crate::local::finish::found;
use crate::local::mondrian::cut::{Chooser, Cut, CutKind, Memory};
use crate::local::mondrian::items::{Filled, Ground, Item, Items};
use crate::local::shape::{CountedSets, Cuts, Shape, Space};
use crate::parameter::{Kind, Parameter, Value};

pub(super) const ENTRY: Entry = Entry {
    id: "mondrian",
    title: "Mondrian",
    definition: "cuts the table in two, again and again, where the cut lowers the information loss most and both sides \
                 satisfy the policy",
    citation: "LeFevre, DeWitt & Ramakrishnan, ICDE 2006",
    kind: RecodingKind::Local,
    options: &[
        Parameter::optional(
            "relaxed",
            Kind::Flag,
            "whether rows with equal values may go to different sides of a cut (default false)",
        ),
        Parameter::optional(
            "cut",
            Kind::Choice(&["loss", "median"]),
            "where to cut: where the loss falls most, or at the median of the widest column (default loss)",
        ),
    ],
    algorithm: &Mondrian,
};

#[derive(Debug)]
struct Mondrian;

/// Below this many items the two sides are not worth another thread.
const FORK: usize = 2_048;

impl Algorithm for Mondrian {
    fn competes(&self, _search: &Search<'_>) -> bool {
        // Quicker than reading the table.
        true
    }

    fn supports(&self, _search: &Search<'_>) -> Result<(), SearchError> {
        Ok(())
    }

    fn in_parts(&self) -> InParts {
        InParts::Mondrian
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
    let mut items = Vec::with_capacity(set.len());
    let mut codes = Vec::with_capacity(set.tuples.len());
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
    // The shapes of a policy that looks at cells have all of them.
    let counted = CountedSets::of(space).filter(|_| !judge.needs_population());
    let run = Run { search, ground: Ground { set, space, counted: counted.as_ref(), judge, relaxed, median } };
    let mut classes = Vec::new();
    if !items.is_empty() {
        run.divide(&mut items, &mut codes, None, &mut Scratch::default(), &mut classes)?;
    }
    Ok(Partition { classes })
}

/// Memory that is used again and again.
#[derive(Debug, Default)]
struct Scratch {
    filled: Filled,
    memory: Memory,
    items: Vec<Item>,
    codes: Vec<u32>,
    places: Vec<usize>,
}

/// The parts of each class found so far.
type Classes = Vec<Vec<(u32, u64)>>;

struct Run<'a> {
    search: &'a Search<'a>,
    ground: Ground<'a>,
}

impl Run<'_> {
    /// Cuts the items as long as a valid cut is found, and collects the classes, left before right. `around` is the
    /// shape over these and other items.
    fn divide(
        &self,
        items: &mut [Item],
        codes: &mut [u32],
        around: Option<&Shape>,
        scratch: &mut Scratch,
        classes: &mut Classes,
    ) -> Result<(), SearchError> {
        self.search.checkpoint()?;
        let rows = items.iter().map(|i| i.rows).sum::<u64>();
        if items.len() < 2 || rows < 2 * self.ground.judge.least {
            classes.push(self.class(items));
            return Ok(());
        }
        let shape = self.ground.space.over(codes, around);
        let Ground { space, counted, judge, median, .. } = self.ground;
        let Scratch { filled, memory, .. } = scratch;
        let mut source = Items { ground: self.ground, items, codes, filled };
        let chooser = Chooser { space, counted, judge, control: self.search.control, median };
        let cut = chooser.best(&mut source, memory, &shape, rows);
        self.search.checkpoint()?;
        let Some(cut) = cut else {
            classes.push(self.class(items));
            return Ok(());
        };
        let sizes = self.arrange(items, codes, cut, &shape, scratch);
        self.sides(&sizes, items, codes, &shape, scratch, classes)
    }

    /// Cuts each side further.
    fn sides(
        &self,
        sizes: &[usize],
        items: &mut [Item],
        codes: &mut [u32],
        around: &Shape,
        scratch: &mut Scratch,
        classes: &mut Classes,
    ) -> Result<(), SearchError> {
        let width = self.ground.space.width();
        if items.len() < FORK || sizes.len() == 1 {
            let (mut items, mut codes) = (items, codes);
            for &size in sizes {
                let (a, rest) = items.split_at_mut(size);
                let (x, rest_codes) = codes.split_at_mut(size * width);
                self.divide(a, x, Some(around), scratch, classes)?;
                (items, codes) = (rest, rest_codes);
            }
            return Ok(());
        }
        // Where the halves are most alike.
        let (mut middle, mut size) = (1, sizes[0]);
        while middle + 1 < sizes.len() && 2 * size + sizes[middle] <= items.len() {
            size += sizes[middle];
            middle += 1;
        }
        let (a, b) = items.split_at_mut(size);
        let (x, y) = codes.split_at_mut(size * width);
        let (left, right) = sizes.split_at(middle);
        let mut others = Vec::new();
        let (l, r) = rayon::join(
            || self.sides(left, a, x, around, scratch, classes),
            || self.sides(right, b, y, around, &mut Scratch::default(), &mut others),
        );
        l.and(r)?;
        classes.append(&mut others);
        Ok(())
    }

    fn class(&self, items: &[Item]) -> Vec<(u32, u64)> {
        let groups = &self.ground.set.groups;
        let mut parts: Vec<(u32, u64)> = Vec::with_capacity(items.len());
        if self.ground.relaxed {
            parts.extend(items.iter().map(|i| (i.unit, i.rows)));
            add_up(&mut parts);
            return parts;
        }
        for item in items {
            let (first, last) = (groups.offsets[item.unit as usize], groups.offsets[item.unit as usize + 1]);
            parts.extend((first..last).map(|e| (e as u32, groups.entries[e].rows)));
        }
        parts.sort_unstable();
        parts
    }

    /// Puts the items of each side together; returns how many each side has.
    fn arrange(
        &self,
        items: &mut [Item],
        codes: &mut [u32],
        cut: Cut,
        shape: &Shape,
        scratch: &mut Scratch,
    ) -> Vec<usize> {
        let width = self.ground.space.width();
        let (group, rank, nodes): (&[u32], &[u32], usize) = match self.ground.space.cuts(shape, cut.column) {
            Cuts::Grouped { group, rank, nodes } => (group, rank, nodes),
            _ => (&[], &[], 0),
        };
        let at = cut.column;
        match cut.kind {
            CutKind::Below(last) => scratch.part(items, codes, width, 2, |row| usize::from(row[at] > last)),
            CutKind::One(node) => {
                scratch.part(items, codes, width, 2, |row| usize::from(group[row[at] as usize] != node))
            }
            CutKind::Each => scratch.part(items, codes, width, nodes, |row| rank[row[at] as usize] as usize),
            CutKind::Half(first) => {
                let mut order: Vec<u32> = (0..items.len() as u32).collect();
                order.sort_by_key(|&i| codes[i as usize * width + at]);
                let (old, old_codes) = (items.to_vec(), codes.to_vec());
                for (new, &old_place) in order.iter().enumerate() {
                    let from = old_place as usize * width;
                    items[new] = old[old_place as usize];
                    codes[new * width..(new + 1) * width].copy_from_slice(&old_codes[from..from + width]);
                }
                vec![first, items.len() - first]
            }
        }
    }
}

impl Scratch {
    /// Sorts the items by side, those of a side in the order in which they were; returns how many each side has, those
    /// without any left out.
    fn part(
        &mut self,
        items: &mut [Item],
        codes: &mut [u32],
        width: usize,
        sides: usize,
        side: impl Fn(&[u32]) -> usize,
    ) -> Vec<usize> {
        let Scratch { items: old, codes: old_codes, places, .. } = self;
        places.clear();
        places.resize(sides, 0);
        codes.chunks_exact(width).for_each(|row| places[side(row)] += 1);
        let sizes = places.iter().copied().filter(|&size| size > 0).collect();
        let mut next = 0;
        for place in places.iter_mut() {
            (next, *place) = (next + *place, next);
        }
        old.clear();
        old.extend_from_slice(items);
        old_codes.clear();
        old_codes.extend_from_slice(codes);
        for (item, row) in old.iter().zip(old_codes.chunks_exact(width)) {
            let place = &mut places[side(row)];
            items[*place] = *item;
            codes[*place * width..(*place + 1) * width].copy_from_slice(row);
            *place += 1;
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
