//! The classes of a table between batches: what is kept of them, and how they are loaded.

use std::collections::BTreeMap;

use super::class_rules::ClassRules;
use super::classes::{Classes, Touched};
use super::index::Index;
use super::rows::Rows;
use crate::control::Control;
use crate::ids::{EntryId, SensitiveId};
use crate::local::shape::{ShapeWord, Space};
use crate::search::{Search, SearchError};

/// The class of a row that has none yet.
pub const UNPLACED: u32 = u32::MAX;

/// A class as it is kept between batches: all but its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptClass {
    /// The name by which the owner knows it.
    pub id: u32,
    /// The number of its rows.
    pub rows: u64,
    /// Its tightest shape.
    pub shape: Vec<ShapeWord>,
    /// Rows per sensitive tuple, ascending; empty where the policy looks at sizes only.
    pub counts: Vec<(SensitiveId, u64)>,
}

/// The classes of a table, and where to look for the best of them.
///
/// A batch changes it in place. When a batch fails the classes are half changed, so they must be dropped and loaded
/// anew.
#[derive(Debug)]
pub struct MaintainedClasses<'a> {
    pub(super) rules: ClassRules<'a>,
    pub(super) control: Control<'a>,
    pub(super) classes: Classes,
    pub(super) index: Index,
    pub(super) next_id: u32,
    /// The rows known so far; new ones are added here before a batch.
    pub rows: Rows,
    /// Rows by number whose class has changed.
    pub(super) moved: Vec<(u32, u32)>,
}

impl<'a> MaintainedClasses<'a> {
    /// The classes of a table all of whose rows are known, which bear their number as their name: rows that are
    /// [`UNPLACED`] wait to be placed, and are returned.
    ///
    /// # Errors
    /// When the policy cannot be maintained, or not even the whole table as one class satisfies it.
    pub fn of_table(
        search: &Search<'a>,
        entry_of_row: &[EntryId],
        class_of: &[u32],
    ) -> Result<(Self, Vec<u32>), SearchError> {
        let rules = ClassRules::new(search)?;
        let (set, tuple_of) = (search.set, search.set.tuple_of_entry());
        let mut rows = Rows::new(set.width);
        let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut waiting = Vec::new();
        for ((row, &entry), &class) in (0u32..).zip(entry_of_row).zip(class_of) {
            let sensitive = set.groups.entries[entry.index()].sensitive;
            rows.push(row, set.tuple(tuple_of[entry.index()] as usize), sensitive);
            if class == UNPLACED { waiting.push(row) } else { members.entry(class).or_default().push(row) }
        }
        let next_id = members.last_key_value().map_or(0, |(&id, _)| id + 1);
        let mut classes = Classes::new(rules.space.words());
        for (id, members) in members {
            let class = rules.class(&rows, members);
            let touched = Touched { tally: class.tally, rows: Some(class.rows), ..Touched::default() };
            classes.push(id, class.cost, &class.shape, touched);
        }
        let index = Index::new(&rules, &mut classes);
        let (control, moved) = (search.control, Vec::new());
        Ok((MaintainedClasses { rules, control, classes, index, next_id, rows, moved }, waiting))
    }

    /// The space in which shapes are understood.
    pub fn space(&self) -> &Space {
        &self.rules.space
    }

    /// A name that no class has or ever had.
    pub fn next_id(&self) -> u32 {
        self.next_id
    }

    /// Rows whose class has changed since the classes were loaded: their name and their class now.
    pub fn moves(&self) -> impl Iterator<Item = (u32, u32)> {
        self.moved.iter().map(|&(row, class)| (self.rows.name(row), class))
    }
}
