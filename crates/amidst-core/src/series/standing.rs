//! The classes of a table between batches: what is kept of them, and how they are loaded.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use super::UNPLACED;
use super::house::House;
use super::index::{Classes, Cold, Index, Page};
use super::rows::Rows;
use crate::algorithm::{Search, SearchError};
use crate::frequency::NOBODY;
use crate::local::{Space, Tally};

/// A class as it is kept between batches: all but its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptClass {
    /// The name by which the owner knows it.
    pub id: u32,
    /// The number of its rows.
    pub rows: u64,
    /// Its tightest shape.
    pub shape: Vec<u64>,
    /// Rows per sensitive tuple, ascending; empty where the policy looks at sizes only.
    pub counts: Vec<(u32, u64)>,
}

/// The classes of a table, and where to look for the best of them.
///
/// A batch changes it in place. When a batch fails the classes are half changed, so they must be dropped and loaded anew.
#[derive(Debug)]
pub struct Standing<'a> {
    pub(super) house: House<'a>,
    pub(super) cancel: &'a AtomicBool,
    pub(super) classes: Classes,
    pub(super) index: Index,
    pub(super) next_id: u32,
    /// The rows known so far; new ones are added here before a batch.
    pub rows: Rows,
    /// Rows by number whose class has changed.
    pub(super) moved: Vec<(u32, u32)>,
}

impl<'a> Standing<'a> {
    /// The classes of pages that were kept, under the numbers of the pages. `next_id` is a name that no class ever had.
    ///
    /// # Errors
    /// When the policy cannot be maintained, or not even the whole table as one class satisfies it.
    pub fn of_pages(search: &Search<'a>, pages: Vec<(u32, Vec<KeptClass>)>, next_id: u32) -> Result<Self, SearchError> {
        let house = House::new(search)?;
        let mut classes = Classes::new(house.space.words());
        let mut kept = Vec::with_capacity(pages.len());
        for (number, page) in pages {
            let mut own = Vec::with_capacity(page.len());
            for class in page {
                let mut tally = Tally { rows: class.rows, ..Tally::default() };
                if !house.judge.size_only {
                    tally.counts = class.counts.iter().map(|&(kind, n)| ((kind, NOBODY), n)).collect();
                }
                let (size, cost) = (class.rows as usize, house.space.cost(&class.shape));
                let cold = Cold { tally, ..Cold::default() };
                own.push(classes.push(class.id, size, cost, &class.shape, cold) as u32);
            }
            kept.push(Page { number, classes: own, ..Page::default() });
        }
        let index = Index::of_pages(&house, &mut classes, kept);
        Ok(Self::of(search, house, classes, index, next_id, Rows::new(search.generalizations.len())))
    }

    /// Classes that are not in pages yet; the pages they are put into count as changed.
    ///
    /// # Errors
    /// As [`Standing::of_pages`].
    pub fn of_classes(search: &Search<'a>, classes: Vec<KeptClass>, next_id: u32) -> Result<Self, SearchError> {
        let mut standing = Self::of_pages(search, vec![(0, classes)], next_id)?;
        standing.index = Index::new(&standing.house, &mut standing.classes);
        Ok(standing)
    }

    /// The classes of a table all of whose rows are known, which bear their number as their name: rows that are
    /// [`UNPLACED`] wait to be placed, and are returned.
    ///
    /// # Errors
    /// As [`Standing::of_pages`].
    pub fn of_table(
        search: &Search<'a>,
        entry_of_row: &[u32],
        class_of: &[u32],
    ) -> Result<(Self, Vec<u32>), SearchError> {
        let house = House::new(search)?;
        let (set, tuple_of) = (search.set, search.set.tuple_of_entry());
        let mut rows = Rows::new(set.width);
        let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut waiting = Vec::new();
        for ((row, &entry), &class) in (0u32..).zip(entry_of_row).zip(class_of) {
            let kind = set.groups.entries[entry as usize].sensitive;
            rows.push(row, set.tuple(tuple_of[entry as usize] as usize), kind);
            if class == UNPLACED { waiting.push(row) } else { members.entry(class).or_default().push(row) }
        }
        let next_id = members.last_key_value().map_or(0, |(&id, _)| id + 1);
        let mut classes = Classes::new(house.space.words());
        for (id, members) in members {
            let class = house.class(&rows, members);
            let cold = Cold { tally: class.tally, rows: Some(class.rows), ..Cold::default() };
            classes.push(id, cold.tally.rows as usize, class.cost, &class.shape, cold);
        }
        let index = Index::new(&house, &mut classes);
        Ok((Self::of(search, house, classes, index, next_id, rows), waiting))
    }

    fn of(search: &Search<'a>, house: House<'a>, classes: Classes, index: Index, next_id: u32, rows: Rows) -> Self {
        Standing { house, cancel: search.cancel, classes, index, next_id, rows, moved: Vec::new() }
    }

    /// The space in which shapes are understood.
    pub fn space(&self) -> &Space {
        &self.house.space
    }

    /// A name that no class has or ever had.
    pub fn next_id(&self) -> u32 {
        self.next_id
    }

    /// Rows whose class has changed since the classes were loaded: their name and their class now.
    pub fn moves(&self) -> impl Iterator<Item = (u32, u32)> {
        self.moved.iter().map(|&(row, class)| (self.rows.name(row), class))
    }

    /// The pages that have changed since they were loaded, by number. An empty one is no longer needed.
    pub fn changed_pages(&self) -> impl Iterator<Item = (u32, Vec<KeptClass>)> {
        let kept = |&at: &u32| {
            let at = at as usize;
            let counts = self.classes.cold[at].tally.counts.iter().filter(|c| c.1 > 0);
            KeptClass {
                id: self.classes.ids[at],
                rows: u64::from(self.classes.sizes[at]),
                shape: self.classes.shape(at).to_vec(),
                counts: counts.map(|&((kind, _), n)| (kind, n)).collect(),
            }
        };
        let changed = self.index.pages.iter().filter(|page| page.changed);
        changed.map(move |page| (page.number, page.classes.iter().map(kept).collect()))
    }
}
