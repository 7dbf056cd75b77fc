//! The classes between batches, as bytes: pages of neighbouring classes, and the tree over the pages.
//!
//! A page holds its classes one after the other: the name, the rows, the number of sensitive tuples, the shape, and
//! each tuple with its rows. Codes change as values come and go, so everything is written under [`StableIds`] that
//! last.

use super::class_rules::ClassRules;
use super::classes::Classes;
use super::index::{Index, Page};
use super::rows::Rows;
use super::varint::{Numbers, put};
use super::{KeptClass, MaintainedClasses};
use crate::ids::SensitiveId;
use crate::search::{Search, SearchError};

/// The lasting names of codes and of sensitive tuples.
pub trait StableIds {
    /// The code of a quasi column that has this name now.
    fn code(&self, column: usize, name: u32) -> Option<u32>;

    /// The name of a code of a quasi column.
    fn name(&self, column: usize, code: u32) -> u32;

    /// The sensitive tuple that has this name now; `None` when no row has it any more.
    fn sensitive(&self, name: u32) -> Option<SensitiveId>;

    /// The name of a sensitive tuple.
    fn sensitive_name(&self, sensitive: SensitiveId) -> u32;
}

/// For a table whose codes stay what they are: they are their own names.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnIds;

impl StableIds for OwnIds {
    fn code(&self, _column: usize, name: u32) -> Option<u32> {
        Some(name)
    }

    fn name(&self, _column: usize, code: u32) -> u32 {
        code
    }

    fn sensitive(&self, name: u32) -> Option<SensitiveId> {
        Some(SensitiveId(name))
    }

    fn sensitive_name(&self, sensitive: SensitiveId) -> u32 {
        sensitive.0
    }
}

/// Loads classes page by page.
#[derive(Debug)]
pub struct Loader<'a> {
    maintained: MaintainedClasses<'a>,
    pages: Vec<Page>,
}

impl<'a> Loader<'a> {
    /// Nothing loaded yet.
    ///
    /// # Errors
    /// When the policy cannot be maintained, or not even the whole table as one class satisfies it.
    pub fn new(search: &Search<'a>) -> Result<Self, SearchError> {
        let rules = ClassRules::new(search)?;
        let classes = Classes::new(rules.space.words());
        let maintained = MaintainedClasses {
            rules,
            control: search.control,
            classes,
            index: Index::default(),
            next_id: 0,
            rows: Rows::new(search.generalizations.len()),
            moved: Vec::new(),
        };
        Ok(Loader { maintained, pages: Vec::new() })
    }

    /// Adds a page. Where this is false its bytes are damaged or of another table, and the loader is of no more use.
    #[must_use]
    pub fn page(&mut self, number: u32, bytes: &[u8], names: &impl StableIds) -> bool {
        let mut numbers = Numbers(bytes);
        let mut own = Vec::new();
        while !numbers.0.is_empty() {
            let Some(at) = self.class(&mut numbers, names) else { return false };
            own.push(at);
        }
        self.pages.push(Page { number, classes: own, ..Page::default() });
        true
    }

    fn class(&mut self, numbers: &mut Numbers<'_>, names: &impl StableIds) -> Option<u32> {
        let (id, size, tuples) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let MaintainedClasses { rules, classes, .. } = &mut self.maintained;
        rules.space.import(classes.begin(), &mut *numbers, |column, name| names.code(column, name))?;
        for _ in 0..tuples {
            let (name, rows) = (numbers.next()?, numbers.next()?);
            // A tuple that is no longer known belongs to a row that this batch deletes.
            if let Some(sensitive) = names.sensitive(name).filter(|_| !rules.judge.size_only) {
                classes.begun(sensitive, rows);
            }
        }
        Some(classes.end(id, size, &rules.space) as u32)
    }

    /// Adds a page of classes that were never kept.
    fn page_of(&mut self, kept: Vec<KeptClass>) {
        let MaintainedClasses { rules, classes, .. } = &mut self.maintained;
        let place = |class: KeptClass| {
            classes.begin().copy_from_slice(&class.shape);
            for &(sensitive, rows) in class.counts.iter().filter(|_| !rules.judge.size_only) {
                classes.begun(sensitive, u32::try_from(rows).unwrap_or(u32::MAX));
            }
            let size = u32::try_from(class.rows).unwrap_or(u32::MAX);
            classes.end(class.id, size, &rules.space) as u32
        };
        let own = kept.into_iter().map(place).collect();
        self.pages.push(Page { classes: own, ..Page::default() });
    }

    /// The classes, under the tree that [`MaintainedClasses::changed_tree`] wrote down, or a new one where that does
    /// not fit. `next_id` is a name that no class ever had.
    pub fn finish(self, tree: &[u8], next_id: u32) -> MaintainedClasses<'a> {
        let Loader { mut maintained, pages } = self;
        maintained.next_id = next_id;
        maintained.index = Index::of_tree(&maintained.rules, &mut maintained.classes, pages, tree);
        maintained
    }
}

impl<'a> MaintainedClasses<'a> {
    /// Classes that are not in pages yet; the pages they are put into count as changed.
    ///
    /// # Errors
    /// As [`Loader::new`].
    pub fn of_classes(search: &Search<'a>, kept: Vec<KeptClass>, next_id: u32) -> Result<Self, SearchError> {
        let mut loader = Loader::new(search)?;
        loader.page_of(kept);
        let Loader { mut maintained, .. } = loader;
        maintained.next_id = next_id;
        maintained.index = Index::new(&maintained.rules, &mut maintained.classes);
        Ok(maintained)
    }

    /// The pages that have changed since they were loaded, by number. An empty one is no longer needed.
    pub fn changed_pages(&self, names: &impl StableIds) -> impl Iterator<Item = (u32, Vec<u8>)> {
        let changed = self.index.pages.iter().filter(|page| page.changed);
        changed.map(move |page| {
            let mut bytes = Vec::with_capacity(48 * page.classes.len());
            page.classes.iter().for_each(|&at| self.write(at as usize, names, &mut bytes));
            (page.number, bytes)
        })
    }

    fn write(&self, at: usize, names: &impl StableIds, bytes: &mut Vec<u8>) {
        let counts = self.classes.counts(at);
        put(bytes, self.classes.ids[at]);
        put(bytes, self.classes.sizes[at]);
        put(bytes, counts.len() as u32);
        let name = |column, code| names.name(column, code);
        self.rules.space.export(self.classes.shape(at), name, |mark| put(bytes, mark));
        for (sensitive, rows) in counts {
            put(bytes, names.sensitive_name(sensitive));
            put(bytes, u32::try_from(rows).unwrap_or(u32::MAX));
        }
    }

    /// The tree over the pages, if it is another than the one that was loaded.
    pub fn changed_tree(&self) -> Option<Vec<u8>> {
        self.index.replanted.then(|| self.index.tree())
    }

    /// All classes, by their name.
    pub fn kept(&self) -> Vec<KeptClass> {
        let kept = |at: usize| KeptClass {
            id: self.classes.ids[at],
            rows: u64::from(self.classes.sizes[at]),
            shape: self.classes.shape(at).to_vec(),
            counts: self.classes.counts(at),
        };
        let mut all: Vec<KeptClass> = self.classes.live().map(kept).collect();
        all.sort_unstable_by_key(|class| class.id);
        all
    }
}
