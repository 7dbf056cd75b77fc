//! Maintaining classes: insertion by least growth of information loss, dissolving after deletion, splitting.
//!
//! **Source.** The update paper (Sun, Wang & Li, "ℓ-diversity based dynamic update for large time-evolving microdata"),
//! §3.
//!
//! **Departures.** The paper knows distinct ℓ-diversity, which no further row can break. Here a row joins the best
//! class *that stays valid with it*, so that every monotone policy can be maintained; rows that no class can take form
//! a class of their own, together with the nearest classes as far as needed.
//!
//! **Cost**: a row looks at few classes ([`Index`]), and only classes that lose a row, split or dissolve need their
//! rows.

use std::collections::BTreeMap;

use super::class_rules::MaintainedClass;
use super::classes::Touched;
use super::index::{Index, Page};
use super::maintained_classes::MaintainedClasses;
use super::rows::{AllKnown, RowSource};
use super::split;
use crate::ids::EntryId;
use crate::local::class::Tally;
use crate::search::{Search, SearchError};

/// What a batch did to the classes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Maintained {
    /// The rows that had no class.
    pub placed: u64,
    /// Classes that were no longer valid.
    pub dissolved: u64,
    /// Rows of such classes, which went elsewhere.
    pub moved: u64,
    /// Classes that became two.
    pub splits: u64,
    /// The classes there are now.
    pub classes: u64,
    /// The information loss of all of them.
    pub loss: f64,
}

impl MaintainedClasses<'_> {
    /// Applies a batch: rows leave their classes (`gone`, by class and name), classes that are no longer valid are
    /// dissolved, and `new` rows, by number in [`MaintainedClasses::rows`], are placed.
    ///
    /// # Errors
    /// When the policy cannot be satisfied any more, or the source fails.
    pub fn apply<R: RowSource>(
        &mut self,
        gone: &BTreeMap<u32, Vec<u32>>,
        new: Vec<u32>,
        source: &mut R,
    ) -> Result<Maintained, R::Error> {
        let doubtful = !gone.is_empty() || !self.rules.grows_safely;
        if doubtful {
            for at in 0..self.classes.len() {
                if self.classes.sizes[at] > 0
                    && let Some(names) = gone.get(&self.classes.ids[at])
                {
                    self.leave(at, names, source)?;
                }
            }
        }
        self.place(new, doubtful, source)
    }

    /// Dissolves invalid classes, if there may be some, and places their rows and new ones.
    pub(super) fn place<R: RowSource>(
        &mut self,
        new: Vec<u32>,
        doubtful: bool,
        source: &mut R,
    ) -> Result<Maintained, R::Error> {
        let mut report = Maintained { placed: new.len() as u64, ..Maintained::default() };
        let mut waiting = Vec::new();
        let mut tally = Tally::default();
        let mut invalid: BTreeMap<u32, usize> = BTreeMap::new();
        // What happens elsewhere in the table may matter to a class, so all of them are looked at.
        for at in self.classes.live().filter(|_| doubtful) {
            self.classes.tally(at, &mut tally);
            if !self.rules.judge.holds(&tally) {
                invalid.insert(self.classes.ids[at], at);
            }
        }
        for at in invalid.into_values() {
            let members = self.members(at, source)?;
            report.dissolved += 1;
            report.moved += members.len() as u64;
            waiting.extend(members);
            self.remove(at);
        }
        waiting.extend(new);
        self.place_all(waiting, &mut report, source)?;
        Ok(self.finish(report))
    }

    fn checkpoint(&self) -> Result<(), SearchError> {
        Ok(self.control.checkpoint()?)
    }

    fn finish(&self, report: Maintained) -> Maintained {
        let live = || self.classes.live();
        let loss = live().map(|at| self.classes.costs[at] * f64::from(self.classes.sizes[at])).sum();
        Maintained { classes: live().count() as u64, loss, ..report }
    }

    /// The rows of a class, which from now on are known.
    fn members<R: RowSource>(&mut self, at: usize, source: &mut R) -> Result<Vec<u32>, R::Error> {
        let id = self.classes.ids[at];
        let touched = self.classes.touch(at);
        if touched.rows.is_none() {
            let mut rows = source.members(id, &mut self.rows)?;
            rows.append(&mut touched.joined);
            touched.rows = Some(rows);
        }
        Ok(touched.rows.clone().unwrap_or_default())
    }

    /// Some rows leave a class.
    fn leave<R: RowSource>(&mut self, at: usize, names: &[u32], source: &mut R) -> Result<(), R::Error> {
        let mut members = self.members(at, source)?;
        members.retain(|&row| !names.contains(&self.rows.name(row)));
        if members.is_empty() {
            self.remove(at);
        } else {
            let class = self.rules.class(&self.rows, members);
            self.set(at, class);
            self.index.refresh(&self.rules, &self.classes, at);
        }
        Ok(())
    }

    fn set(&mut self, at: usize, class: MaintainedClass) {
        self.classes.sizes[at] = class.rows.len() as u32;
        self.classes.costs[at] = class.cost;
        self.classes.shape_mut(at).copy_from_slice(&class.shape);
        let touched = self.classes.touch(at);
        (touched.tally, touched.rows, touched.next_split) = (class.tally, Some(class.rows), 0);
    }

    fn remove(&mut self, at: usize) {
        self.classes.sizes[at] = 0;
        self.classes.touch(at).rows = Some(Vec::new());
        self.index.remove(&self.rules, &self.classes, at);
    }

    /// Adds a class, its rows with it.
    fn add(&mut self, class: MaintainedClass, beside: Option<usize>) -> usize {
        let id = self.next_id;
        self.next_id += 1;
        self.moved.extend(class.rows.iter().map(|&row| (row, id)));
        let touched = Touched { tally: class.tally, rows: Some(class.rows), ..Touched::default() };
        let at = self.classes.push(id, class.cost, &class.shape, touched);
        match beside {
            Some(beside) => self.index.add_beside(&self.rules, &mut self.classes, beside, at),
            None if self.index.add(&self.rules, &mut self.classes, at) => {}
            None => {
                let number = self.index.next_number;
                let page = Page { number, classes: vec![at as u32], changed: true, ..Page::default() };
                // Pages that became empty must still be reported.
                let mut pages = std::mem::take(&mut self.index.pages);
                pages.push(page);
                self.index = Index::of_pages(&self.rules, &mut self.classes, pages);
            }
        }
        at
    }

    fn place_all<R: RowSource>(
        &mut self,
        mut waiting: Vec<u32>,
        report: &mut Maintained,
        source: &mut R,
    ) -> Result<(), R::Error> {
        if waiting.is_empty() {
            return Ok(());
        }
        if self.index.pages.iter().all(|page| page.classes.is_empty()) {
            // There is no class to join: all rows are one class, which the policy allows, and which then splits.
            let all = self.rules.class(&self.rows, waiting);
            let at = self.add(all, None);
            return self.split_while_possible(at, report, source);
        }
        loop {
            let before = waiting.len();
            let mut left = Vec::new();
            for (turn, row) in waiting.into_iter().enumerate() {
                if turn % 256 == 0 {
                    self.checkpoint()?;
                }
                let (codes, sensitive) = (self.rows.codes(row), self.rows.sensitive(row));
                match self.index.best(&self.rules, &self.classes, codes, sensitive) {
                    Some(at) => {
                        self.join(at, row);
                        self.split_while_possible(at, report, source)?;
                    }
                    None => left.push(row),
                }
            }
            waiting = left;
            // Rows that came later may have made room.
            if waiting.is_empty() || waiting.len() == before {
                break;
            }
        }
        if !waiting.is_empty() {
            self.gather(waiting, report, source)?;
        }
        Ok(())
    }

    pub(super) fn join(&mut self, at: usize, row: u32) {
        self.rules.space.add(self.classes.shape_mut(at), self.rows.codes(row));
        self.classes.costs[at] = self.rules.space.cost(self.classes.shape(at));
        // Touched first: what is made of the kept counts is made of the kept size.
        let touched = self.classes.touch(at);
        self.rules.count(&mut touched.tally, self.rows.sensitive(row));
        touched.rows.as_mut().unwrap_or(&mut touched.joined).push(row);
        self.classes.sizes[at] += 1;
        self.moved.push((row, self.classes.ids[at]));
        self.index.refresh(&self.rules, &self.classes, at);
    }

    /// Rows that no class can take one by one become a class together, with the nearest classes as far as needed. All
    /// classes together satisfy the policy, so this ends.
    fn gather<R: RowSource>(
        &mut self,
        rows: Vec<u32>,
        report: &mut Maintained,
        source: &mut R,
    ) -> Result<(), R::Error> {
        let mut gathered = self.rules.class(&self.rows, rows);
        while !self.rules.judge.holds(&gathered.tally) {
            let loss = |at: usize| {
                let (rows, shape) = (self.classes.sizes[at] as usize, self.classes.shape(at));
                let merged = self.rules.space.cost_merged(shape, &gathered.shape);
                merged * (rows + gathered.rows.len()) as f64 - self.classes.costs[at] * rows as f64
            };
            let nearest = self.classes.live().map(|at| (loss(at), self.classes.ids[at], at));
            let Some((_, _, at)) = nearest.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))) else { break };
            let mut all = std::mem::take(&mut gathered.rows);
            all.extend(self.members(at, source)?);
            gathered = self.rules.class(&self.rows, all);
            self.remove(at);
        }
        let at = self.add(gathered, None);
        self.split_while_possible(at, report, source)
    }

    /// Splits the class at `at`, and its halves, as long as the rule and the policy allow.
    pub(super) fn split_while_possible<R: RowSource>(
        &mut self,
        at: usize,
        report: &mut Maintained,
        source: &mut R,
    ) -> Result<(), R::Error> {
        let mut waiting = vec![at];
        while let Some(at) = waiting.pop() {
            let size = self.classes.sizes[at] as usize;
            let touched = self.classes.touch(at);
            if size < touched.next_split || !self.rules.may_split(size, &touched.tally) {
                continue;
            }
            let members = self.members(at, source)?;
            let Some((kept, apart)) = split::halves(&self.rules, &self.rows, &members) else {
                self.classes.touch(at).next_split = size + (self.rules.k as usize).max(size / 8).max(1);
                continue;
            };
            report.splits += 1;
            self.set(at, kept);
            let new = self.add(apart, Some(at));
            waiting.extend([at, new]);
        }
        Ok(())
    }

    /// Splits every class that may be split.
    fn split_all<R: RowSource>(&mut self, report: &mut Maintained, source: &mut R) -> Result<(), R::Error> {
        for at in 0..self.classes.len() {
            if at % 256 == 0 {
                self.checkpoint()?;
            }
            if self.classes.sizes[at] > 0 {
                self.split_while_possible(at, report, source)?;
            }
        }
        Ok(())
    }

    /// Tells every row of a table its class.
    pub(super) fn tell(&self, class_of: &mut [u32]) {
        for &(row, class) in &self.moved {
            class_of[self.rows.name(row) as usize] = class;
        }
    }
}

/// Brings the classes up to date: `class_of` says for each row of the table the class it was in, or
/// [`UNPLACED`](super::maintained_classes::UNPLACED) for a row that is new. Rows that were deleted are simply no longer
/// in the table. Afterwards every row has a class, and every class satisfies the policy.
///
/// # Errors
/// When not even the whole table as one class satisfies the policy, or the policy cannot be maintained.
pub fn maintain(
    search: &Search<'_>,
    entry_of_row: &[EntryId],
    class_of: &mut [u32],
) -> Result<Maintained, SearchError> {
    let (mut maintained, waiting) = MaintainedClasses::of_table(search, entry_of_row, class_of)?;
    let report = maintained.place(waiting, true, &mut AllKnown)?;
    maintained.tell(class_of);
    Ok(report)
}

/// Splits every class that may be split, as a first version made by an algorithm that knows nothing of splits needs it.
///
/// # Errors
/// As [`maintain`].
pub fn refine(search: &Search<'_>, entry_of_row: &[EntryId], class_of: &mut [u32]) -> Result<Maintained, SearchError> {
    let (mut maintained, waiting) = MaintainedClasses::of_table(search, entry_of_row, class_of)?;
    let mut report = maintained.place(waiting, true, &mut AllKnown)?;
    maintained.split_all(&mut report, &mut AllKnown)?;
    maintained.tell(class_of);
    Ok(maintained.finish(report))
}
