//! A partition of the table's rows into classes, and the recoding it stands for.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::frequency::{Entry, FrequencySet};
use crate::hierarchy::Cell;
use crate::local::class::Judge;
use crate::local::shape::{Shape, Space};
use crate::recoding::{Assignment, Recoding, SUPPRESSED};
use crate::search::{SearchError, Suppressed};

/// Rows of one entry in a class.
pub type Part = (u32, u64);

/// Classes, each a number of rows of some entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Partition {
    /// The parts of each class.
    pub classes: Vec<Vec<Part>>,
}

impl Partition {
    /// The information loss: over all classes, the rows times what the class's cells cost a row.
    pub fn loss(&self, set: &FrequencySet, tuple_of: &[u32], space: &Space) -> f64 {
        let mut shape = space.empty();
        let mut loss = 0.0;
        for class in self.classes.iter().filter(|c| !c.is_empty()) {
            shape_of(class, set, tuple_of, space, &mut shape);
            loss += space.cost(&shape) * class.iter().map(|p| p.1).sum::<u64>() as f64;
        }
        loss
    }

    /// The recoding, each class with its tightest cells. Classes whose cells agree are one class of the release.
    pub fn recoding(
        &self,
        set: &FrequencySet,
        tuple_of: &[u32],
        space: &Space,
        judge: &Judge<'_>,
    ) -> Result<Recoding, SearchError> {
        self.recoding_without(set, tuple_of, space, judge, &[], Suppressed::Drop)
    }

    /// The same, with some rows, in none of the classes, left out or masked. Masked rows must satisfy the policy as one
    /// class.
    pub fn recoding_without(
        &self,
        set: &FrequencySet,
        tuple_of: &[u32],
        space: &Space,
        judge: &Judge<'_>,
        omitted: &[Part],
        how: Suppressed,
    ) -> Result<Recoding, SearchError> {
        let own: Vec<&Vec<Part>> = self.classes.iter().filter(|c| !c.is_empty()).collect();
        let cells_of = |class: &&Vec<Part>| {
            let mut shape = space.empty();
            shape_of(class, set, tuple_of, space, &mut shape);
            space.cells(&shape)
        };
        let cells: Vec<Vec<Cell>> = own.par_iter().map(cells_of).collect();
        let mut index: FxHashMap<&[Cell], u32> = FxHashMap::default();
        let mut distinct: Vec<usize> = Vec::new();
        let mut runs: Vec<(u32, u32, u64)> = Vec::with_capacity(set.groups.entries.len());
        for (c, class) in own.iter().enumerate() {
            let number = *index.entry(&cells[c]).or_insert_with(|| {
                distinct.push(c);
                distinct.len() as u32 - 1
            });
            runs.extend(class.iter().map(|&(entry, rows)| (entry, number, rows)));
        }
        drop(index);
        let mut next = distinct.into_iter().peekable();
        let kept = |(c, cells)| next.next_if_eq(&c).map(|_| cells);
        let mut classes: Vec<Vec<Cell>> = cells.into_iter().enumerate().filter_map(kept).collect();
        // Merging is harmless for a monotone policy; any other is tested again, on what is published.
        if !judge.monotone {
            let mut merged: Vec<Vec<Entry>> = vec![Vec::new(); classes.len()];
            for &(entry, class, rows) in &runs {
                merged[class as usize].push(Entry { rows, ..set.groups.entries[entry as usize] });
            }
            let holds = |(entries, cells): (Vec<Entry>, &Vec<Cell>)| {
                judge.holds_over(&judge.tally(entries), || Some(cells.clone()))
            };
            if !merged.into_iter().zip(&classes).all(holds) {
                return Err(SearchError::Unsupported(
                    "classes that satisfy the policy one by one fail it once they share a generalized tuple; use a \
                     policy that stays satisfied when classes merge"
                        .to_string(),
                ));
            }
        }
        let masked = (how == Suppressed::Mask && !omitted.is_empty()).then_some(classes.len() as u32);
        if masked.is_some() {
            classes.push(space.tops());
        }
        let class = masked.unwrap_or(SUPPRESSED);
        runs.extend(omitted.iter().map(|&(entry, rows)| (entry, class, rows)));
        let assignment = assign(set, tuple_of, runs, omitted.is_empty());
        Ok(Recoding { classes, assignment, levels: None, masked, shown: None })
    }
}

/// The tightest shape over some parts.
pub fn shape_of(parts: &[Part], set: &FrequencySet, tuple_of: &[u32], space: &Space, shape: &mut Shape) {
    for (i, &(entry, _)) in parts.iter().enumerate() {
        let codes = set.tuple(tuple_of[entry as usize] as usize);
        if i == 0 { space.start(shape, codes) } else { space.add(shape, codes) }
    }
}

/// Which rows go where: by tuple when none is divided and all are published.
fn assign(set: &FrequencySet, tuple_of: &[u32], runs: Vec<(u32, u32, u64)>, all: bool) -> Assignment {
    let mut class_of = vec![u32::MAX; set.len()];
    let whole = all
        && runs.iter().all(|&(entry, class, _)| {
            let slot = &mut class_of[tuple_of[entry as usize] as usize];
            if *slot == u32::MAX {
                *slot = class;
            }
            *slot == class
        });
    if whole {
        return Assignment::Tuples(class_of);
    }
    // Counted into place, so that an entry's rows come in the order in which its classes were made.
    let entries = set.groups.entries.len();
    let mut ends = vec![0usize; entries + 1];
    runs.iter().for_each(|&(entry, ..)| ends[entry as usize + 1] += 1);
    (0..entries).for_each(|e| ends[e + 1] += ends[e]);
    let mut merged: Vec<(u32, u64)> = vec![(0, 0); runs.len()];
    for (entry, class, rows) in runs {
        // Where the runs of the entry before end, and in the end its own.
        let at = &mut ends[entry as usize];
        merged[*at] = (class, rows);
        *at += 1;
    }
    let mut offsets = vec![0; entries + 1];
    let (mut from, mut kept) = (0, 0);
    for e in 0..entries {
        for at in from..ends[e] {
            let (class, rows) = merged[at];
            match merged[offsets[e]..kept].iter_mut().find(|r| r.0 == class) {
                Some(run) => run.1 += rows,
                None => {
                    merged[kept] = (class, rows);
                    kept += 1;
                }
            }
        }
        from = ends[e];
        offsets[e + 1] = kept;
    }
    merged.truncate(kept);
    Assignment::Entries { offsets, runs: merged }
}
