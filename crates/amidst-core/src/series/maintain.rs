//! Maintaining classes: insertion by least growth of information loss, dissolving after deletion, splitting.
//!
//! **Source.** The update paper (Sun, Wang & Li, "ℓ-diversity based dynamic update for large time-evolving microdata"), §3.
//!
//! **Departures.** The paper knows distinct ℓ-diversity, which no further row can break. Here a row joins the best class
//! *that stays valid with it*, so that every monotone policy can be maintained; rows that no class can take form a class
//! of their own, together with the nearest classes as far as needed.
//!
//! **Cost**: a row looks at few classes ([`Index`]); a split looks at the rows of its class only.

use std::collections::BTreeMap;

use super::index::Index;
use super::split;
use crate::algorithm::{Search, SearchError};
use crate::frequency::FrequencySet;
use crate::local::{Judge, Space, Tally};

/// The class of a row that has none yet.
pub const UNPLACED: u32 = u32::MAX;

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

/// A class of the maintained table.
#[derive(Debug, Clone)]
pub(super) struct Class {
    /// The name by which the caller knows it.
    pub id: u32,
    /// Its rows.
    pub rows: Vec<u32>,
    /// Its tightest shape, and what that costs a row.
    pub shape: Vec<u64>,
    pub cost: f64,
    pub tally: Tally,
    /// The number of rows at which the next split is tried; splitting failed at fewer.
    pub next_split: usize,
}

/// The table, its space and its policy.
pub(super) struct House<'a> {
    pub set: &'a FrequencySet,
    pub space: Space,
    pub judge: Judge<'a>,
    pub tuple_of: Vec<u32>,
    pub entry_of_row: &'a [u32],
    /// A class may split when it has more than twice as many rows …
    pub k: u64,
    /// … and in each of these sensitive columns at least twice as many values.
    pub values: Vec<(usize, u64)>,
    /// Whether no further row can make a valid class invalid.
    grows_safely: bool,
}

impl<'a> House<'a> {
    pub fn new(search: &Search<'a>, entry_of_row: &'a [u32]) -> Result<Self, SearchError> {
        let judge = Judge::new(search)?;
        if let Some(r) = search.requirements.iter().find(|r| !r.monotone(search.set)) {
            let id = r.model.id;
            return Err(SearchError::Unsupported(format!(
                "{id} may fail once valid classes merge, so classes cannot be maintained for it; leave it out, or use a \
                 model that stays satisfied"
            )));
        }
        let stated = |key: &'static str| {
            search.requirements.iter().filter_map(move |r| {
                let number = r.parameters.get(key)?.number()?.to_f64();
                Some((r.on.first().copied(), (number - 1e-9).ceil().max(0.0) as u64))
            })
        };
        let k = stated("k").map(|(_, k)| k).max().unwrap_or(0).max(judge.least);
        let values = stated("l").chain(stated("p")).chain(stated("m")).filter_map(|(c, l)| Some((c?, l))).collect();
        let safe = ["k-anonymity", "distinct-l-diversity", "p-sensitive-k-anonymity"];
        let one_column = search.requirements.iter().all(|r| r.on.len() < 2);
        Ok(House {
            set: search.set,
            space: Space::new(search.generalizations),
            tuple_of: search.set.tuple_of_entry(),
            entry_of_row,
            k,
            values,
            grows_safely: judge.size_only
                || (one_column && search.requirements.iter().all(|r| safe.contains(&r.model.id))),
            judge,
        })
    }

    /// The quasi codes of a row.
    pub fn codes(&self, row: u32) -> &'a [u32] {
        self.set.tuple(self.tuple_of[self.entry_of_row[row as usize] as usize] as usize)
    }

    fn entry(&self, row: u32) -> crate::frequency::Entry {
        self.set.groups.entries[self.entry_of_row[row as usize] as usize]
    }

    /// Whether two rows have the same sensitive values.
    pub fn same_values(&self, a: u32, b: u32) -> bool {
        self.entry(a).sensitive == self.entry(b).sensitive
    }

    /// A class of these rows.
    pub fn class(&self, id: u32, rows: Vec<u32>) -> Class {
        let mut shape = vec![0; self.space.words()];
        let mut tally = Tally::default();
        for (i, &row) in rows.iter().enumerate() {
            if i == 0 {
                self.space.start(&mut shape, self.codes(row));
            } else {
                self.space.add(&mut shape, self.codes(row));
            }
            self.judge.add(&mut tally, self.entry(row), 1);
        }
        let cost = if rows.is_empty() { 0.0 } else { self.space.cost(&shape) };
        Class { id, rows, shape, cost, tally, next_split: 0 }
    }

    /// By how much the total information loss grows when `codes` join the class.
    pub fn growth(&self, class: &Class, codes: &[u32]) -> f64 {
        let n = class.rows.len() as f64;
        let with = self.space.cost_with(&class.shape, codes);
        n * (with - class.cost) + with
    }

    /// Whether the class stays valid when the row joins.
    pub fn accepts(&self, class: &Class, row: u32) -> bool {
        if self.grows_safely {
            return true;
        }
        let mut tally = class.tally.clone();
        self.judge.add(&mut tally, self.entry(row), 1);
        self.judge.holds(&tally)
    }

    pub fn join(&self, class: &mut Class, row: u32) {
        self.space.add(&mut class.shape, self.codes(row));
        class.cost = self.space.cost(&class.shape);
        self.judge.add(&mut class.tally, self.entry(row), 1);
        class.rows.push(row);
    }

    /// Whether the class is large and varied enough to become two.
    pub fn may_split(&self, class: &Class) -> bool {
        class.rows.len() as u64 > 2 * self.k
            && class.rows.len() >= class.next_split
            && self.values.iter().all(|&(column, l)| self.distinct(&class.tally, column) >= 2 * l)
    }

    /// The number of values of a sensitive column in a class.
    fn distinct(&self, tally: &Tally, column: usize) -> u64 {
        let present = tally.counts.iter().filter(|c| c.1 > 0);
        let mut codes: Vec<u32> = present.map(|c| self.set.sensitive_code(c.0.0, column)).collect();
        codes.sort_unstable();
        codes.dedup();
        codes.len() as u64
    }
}

/// Brings the classes up to date: `class_of` says for each row of the table the class it was in, or [`UNPLACED`] for a
/// row that is new. Rows that were deleted are simply no longer in the table. Afterwards every row has a class, and
/// every class satisfies the policy.
///
/// # Errors
/// When not even the whole table as one class satisfies the policy, or the policy cannot be maintained.
pub fn maintain(search: &Search<'_>, entry_of_row: &[u32], class_of: &mut [u32]) -> Result<Maintained, SearchError> {
    let house = House::new(search, entry_of_row)?;
    let mut work = Work::begin(&house, class_of);
    work.place_all(search)?;
    Ok(work.finish(class_of))
}

/// Splits every class that may be split, as a first version made by an algorithm that knows nothing of splits needs it.
///
/// # Errors
/// As [`maintain`].
pub fn refine(search: &Search<'_>, entry_of_row: &[u32], class_of: &mut [u32]) -> Result<Maintained, SearchError> {
    let house = House::new(search, entry_of_row)?;
    let mut work = Work::begin(&house, class_of);
    work.place_all(search)?;
    for at in 0..work.classes.len() {
        search.checkpoint()?;
        work.split_while_possible(at, None);
    }
    Ok(work.finish(class_of))
}

struct Work<'h, 'a> {
    house: &'h House<'a>,
    classes: Vec<Class>,
    next_id: u32,
    /// Rows to be placed: those of dissolved classes, then the new ones.
    waiting: Vec<u32>,
    report: Maintained,
}

impl<'h, 'a> Work<'h, 'a> {
    fn begin(house: &'h House<'a>, class_of: &[u32]) -> Self {
        let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut new = Vec::new();
        for (row, &class) in (0u32..).zip(class_of) {
            if class == UNPLACED { new.push(row) } else { members.entry(class).or_default().push(row) }
        }
        let next_id = members.last_key_value().map_or(0, |(&id, _)| id + 1);
        let mut report = Maintained { placed: new.len() as u64, ..Maintained::default() };
        let (mut classes, mut waiting) = (Vec::with_capacity(members.len()), Vec::new());
        for (id, rows) in members {
            let class = house.class(id, rows);
            if house.judge.holds(&class.tally) {
                classes.push(class);
            } else {
                report.dissolved += 1;
                report.moved += class.rows.len() as u64;
                waiting.extend(class.rows);
            }
        }
        waiting.extend(new);
        Work { house, classes, next_id, waiting, report }
    }

    fn place_all(&mut self, search: &Search<'_>) -> Result<(), SearchError> {
        let mut waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        if self.classes.is_empty() {
            // Nobody to join: everyone is one class, which the policy allows, and which then splits.
            let all = self.house.class(self.next_id, waiting);
            self.next_id += 1;
            self.classes.push(all);
            self.split_while_possible(0, None);
            return Ok(());
        }
        let mut index = Index::new(self.house, &self.classes);
        loop {
            let before = waiting.len();
            let mut left = Vec::new();
            for (turn, row) in waiting.into_iter().enumerate() {
                if turn % 256 == 0 {
                    search.checkpoint()?;
                }
                match index.best(self.house, &self.classes, row) {
                    Some(at) => {
                        self.house.join(&mut self.classes[at], row);
                        index.refresh(self.house, &self.classes, at);
                        self.split_while_possible(at, Some(&mut index));
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
            self.gather(waiting);
        }
        Ok(())
    }

    /// Rows that no class can take one by one become a class together, with the nearest classes as far as needed. All
    /// classes together satisfy the policy, so this ends.
    fn gather(&mut self, rows: Vec<u32>) {
        let mut gathered = self.house.class(self.next_id, rows);
        self.next_id += 1;
        while !self.house.judge.holds(&gathered.tally) && !self.classes.is_empty() {
            let loss = |c: &Class| {
                let merged = self.house.space.cost_merged(&c.shape, &gathered.shape);
                merged * (c.rows.len() + gathered.rows.len()) as f64 - c.cost * c.rows.len() as f64
            };
            let losses: Vec<f64> = self.classes.iter().map(loss).collect();
            let nearest = (0..losses.len()).min_by(|&a, &b| losses[a].total_cmp(&losses[b])).unwrap_or(0);
            let class = self.classes.remove(nearest);
            let rows = [gathered.rows, class.rows].concat();
            gathered = self.house.class(gathered.id, rows);
        }
        self.classes.push(gathered);
        self.split_while_possible(self.classes.len() - 1, None);
    }

    /// Splits the class at `at`, and its halves, as long as the rule and the policy allow.
    fn split_while_possible(&mut self, at: usize, mut index: Option<&mut Index>) {
        let mut waiting = vec![at];
        while let Some(at) = waiting.pop() {
            if !self.house.may_split(&self.classes[at]) {
                continue;
            }
            let Some((kept, apart)) = split::halves(self.house, &self.classes[at].rows) else {
                let class = &mut self.classes[at];
                class.next_split = class.rows.len() + (self.house.k as usize).max(class.rows.len() / 8).max(1);
                continue;
            };
            self.report.splits += 1;
            let id = self.classes[at].id;
            self.classes[at] = self.house.class(id, kept);
            self.classes.push(self.house.class(self.next_id, apart));
            self.next_id += 1;
            let new = self.classes.len() - 1;
            if let Some(index) = index.as_deref_mut() {
                index.add_beside(self.house, &self.classes, at, new);
            }
            waiting.extend([at, new]);
        }
    }

    fn finish(mut self, class_of: &mut [u32]) -> Maintained {
        for class in &self.classes {
            for &row in &class.rows {
                class_of[row as usize] = class.id;
            }
        }
        self.report.classes = self.classes.len() as u64;
        self.report.loss = self.classes.iter().map(|c| c.cost * c.rows.len() as f64).sum();
        self.report
    }
}
