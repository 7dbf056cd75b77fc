//! The sizes of a node's classes, without anything else of them: a quick look at nodes of wide tables.
//!
//! A [`Partition`] holds the class of each tuple. Making one column finer takes one pass over the tuples, whatever the
//! number of columns, where a roll-up maps the keys of all columns; that is what a search among neighbours does most.
//! Classes of fewer rows than every class must have are known to fail; whether the others hold only a judge tells.

use super::snapshot::Classes;
use crate::frequency;
use crate::hierarchy::{Generalization, GeneralizedLevel};
use crate::search::Search;

/// The tuples of a table, column by column.
pub(crate) struct Sizes<'a> {
    generalizations: &'a [Generalization],
    /// The tuples that have rows.
    tuples: Vec<u32>,
    /// The code of each tuple in each column.
    codes: Vec<Vec<u32>>,
    /// The rows of each tuple.
    rows: Vec<u64>,
    /// Classes of fewer rows fail.
    least: u64,
    /// By column and level: how many values at most have the same value one level up, and by code of the column the
    /// number of its value among those.
    child_of: Vec<Vec<(usize, Vec<u32>)>>,
}

/// The class of each tuple at some node.
#[derive(Debug, Clone)]
pub(crate) struct Partition {
    class_of: Vec<u32>,
    classes: usize,
}

impl Partition {
    /// For each class the first of its tuples.
    fn first(&self) -> Vec<u32> {
        let mut first = Vec::with_capacity(self.classes);
        for (tuple, &class) in (0u32..).zip(&self.class_of) {
            // Classes are numbered as they first appear.
            if class as usize == first.len() {
                first.push(tuple);
            }
        }
        first
    }
}

/// Tables that are kept between partitions.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The class + 1 of each (class, value), all zero between uses.
    dense: Vec<u32>,
    /// The same by hash: (class, value) and class + 1.
    hashed: Vec<(u64, u32)>,
    rows: Vec<u64>,
    /// The values of each class at some node.
    values: Vec<u32>,
}

/// Up to this many pairs of class and value are looked up in an array.
const DENSE: usize = 1 << 17;

impl<'a> Sizes<'a> {
    /// The tuples of a search, when every class must have `least` rows.
    pub fn new(search: &Search<'a>, least: u64) -> Self {
        let set = search.set;
        let tuples: Vec<u32> = (0..set.len() as u32).filter(|&t| !set.groups.get(t as usize).is_empty()).collect();
        let codes = |column: usize| tuples.iter().map(|&t| set.tuple(t as usize)[column]).collect();
        Sizes {
            generalizations: search.generalizations,
            codes: (0..set.width).map(codes).collect(),
            rows: tuples.iter().map(|&t| frequency::rows(set.groups.get(t as usize))).collect(),
            tuples,
            least,
            child_of: search.generalizations.iter().map(|g| g.levels.iter().map(child_by_code).collect()).collect(),
        }
    }

    /// The classes of a node.
    pub fn partition(&self, levels: &[usize], scratch: &mut Scratch) -> Partition {
        let mut partition = Partition { class_of: vec![0; self.rows.len()], classes: 1 };
        for (column, &level) in levels.iter().enumerate() {
            if let Some(finer) = self.refine(&partition, column, level, scratch) {
                partition = finer;
            }
        }
        partition
    }

    /// The classes of a node, from those of a finer one.
    pub fn coarser(&self, from: &Partition, levels: &[usize], scratch: &mut Scratch) -> Partition {
        let of: Vec<_> = levels.iter().zip(self.generalizations).map(|(&l, g)| &g.levels[l]).collect();
        let open: Vec<usize> = (0..levels.len()).filter(|&c| of[c].labels.len() > 1).collect();
        let (width, size) = (open.len(), (2 * from.classes).next_power_of_two());
        scratch.values.clear();
        scratch.dense.clear();
        scratch.dense.resize(size, 0);
        let mut classes = 0;
        let mut new = Vec::with_capacity(from.classes);
        for first in from.first() {
            let begin = classes * width;
            let mut hash = 0u64;
            for &column in &open {
                let value = of[column].of[self.codes[column][first as usize] as usize];
                hash = (hash.rotate_left(5) ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                scratch.values.push(value);
            }
            let mut slot = (hash >> 20) as usize & (size - 1);
            new.push(loop {
                let class = scratch.dense[slot] as usize;
                if class == 0 {
                    classes += 1;
                    scratch.dense[slot] = classes as u32;
                    break classes as u32 - 1;
                }
                let (known, own) = scratch.values.split_at(begin);
                if known[(class - 1) * width..class * width] == *own {
                    scratch.values.truncate(begin);
                    break class as u32 - 1;
                }
                slot = (slot + 1) & (size - 1);
            });
        }
        Partition { class_of: from.class_of.iter().map(|&class| new[class as usize]).collect(), classes }
    }

    /// The classes when a column is put to a finer level than before; nothing at a level of one value.
    pub fn refine(&self, from: &Partition, column: usize, level: usize, scratch: &mut Scratch) -> Option<Partition> {
        let level = &self.generalizations[column].levels[level];
        let values = level.labels.len();
        if values < 2 {
            return None;
        }
        let value_of = self.codes[column].iter().map(|&code| level.of[code as usize]);
        let pairs = from.class_of.iter().zip(value_of).map(|(&class, value)| class as usize * values + value as usize);
        let mut classes = 0;
        let mut class_of = Vec::with_capacity(from.class_of.len());
        if from.classes.saturating_mul(values) <= DENSE {
            scratch.dense.clear();
            scratch.dense.resize(from.classes * values, 0);
            for pair in pairs {
                let slot = &mut scratch.dense[pair];
                if *slot == 0 {
                    classes += 1;
                    *slot = classes;
                }
                class_of.push(*slot - 1);
            }
        } else {
            let size = (2 * from.class_of.len()).next_power_of_two();
            scratch.hashed.clear();
            scratch.hashed.resize(size, (0, 0));
            for pair in pairs {
                let pair = pair as u64;
                let mut slot = (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) as usize & (size - 1);
                class_of.push(loop {
                    match &mut scratch.hashed[slot] {
                        (_, class @ 0) => {
                            classes += 1;
                            *class = classes;
                            scratch.hashed[slot].0 = pair;
                            break classes - 1;
                        }
                        (known, class) if *known == pair => break *class - 1,
                        _ => slot = (slot + 1) & (size - 1),
                    }
                });
            }
        }
        Some(Partition { class_of, classes: classes as usize })
    }

    /// The rows of classes that are too small.
    pub fn too_small(&self, partition: &Partition, scratch: &mut Scratch) -> u64 {
        scratch.rows.clear();
        scratch.rows.resize(partition.classes, 0);
        for (&class, rows) in partition.class_of.iter().zip(&self.rows) {
            scratch.rows[class as usize] += rows;
        }
        scratch.rows.iter().filter(|&&rows| rows < self.least).sum()
    }

    /// The rows of classes that are too small when a column is lowered by one level, to this one.
    pub fn too_small_below(&self, from: &Partition, column: usize, level: usize, scratch: &mut Scratch) -> u64 {
        let (most, child_of) = &self.child_of[column][level];
        let rows = &mut scratch.rows;
        rows.clear();
        rows.resize(from.classes * most, 0);
        for ((&class, &code), own) in from.class_of.iter().zip(&self.codes[column]).zip(&self.rows) {
            rows[class as usize * most + child_of[code as usize] as usize] += own;
        }
        rows.iter().filter(|&&rows| rows < self.least).sum()
    }

    /// The classes of a node as searches hold them, without verdicts and views, and those that are too small. Classes
    /// are numbered as they first appear, as a roll-up numbers them.
    pub fn classes(&self, partition: &Partition, levels: &[usize]) -> (Classes, Vec<u32>) {
        let mut first = Vec::with_capacity(partition.classes);
        let mut rows = Vec::with_capacity(partition.classes);
        for ((&class, &tuple), &own) in partition.class_of.iter().zip(&self.tuples).zip(&self.rows) {
            match rows.get_mut(class as usize) {
                Some(rows) => *rows += own,
                None => {
                    first.push(tuple);
                    rows.push(own);
                }
            }
        }
        let too_small = (0u32..).zip(&rows).filter(|(_, rows)| **rows < self.least).map(|(class, _)| class).collect();
        (Classes { levels: levels.to_vec(), first, rows, ..Classes::default() }, too_small)
    }
}

/// How many values of a level at most have the same value one level up, and by code the number of its value among
/// those.
fn child_by_code(level: &GeneralizedLevel) -> (usize, Vec<u32>) {
    let mut next: Vec<u32> = Vec::new();
    let number = |&parent: &u32| {
        let parent = parent as usize;
        next.resize(next.len().max(parent + 1), 0);
        next[parent] += 1;
        next[parent] - 1
    };
    let children: Vec<u32> = level.up.iter().map(number).collect();
    let most = next.iter().max().map_or(1, |&most| most as usize);
    // The top has nothing above.
    (most, level.of.iter().map(|&value| children.get(value as usize).copied().unwrap_or(0)).collect())
}
