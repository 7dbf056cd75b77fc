//! The least change that makes a maintained version safe.
//!
//! **Why it works.** A class that is published again with the values it had, and with no person who was not in it,
//! tells nothing new: a person who left is replaced by a counterfeit of their value, so every world that fitted the
//! class fits it still. A class of rows that were never published says nothing about anybody else. So where the
//! maintained classes leak, the classes of the version before are published again, and rows that came since take the
//! [`Places`] of those who left, are put into classes of their own, or wait until they are enough for one.
//!
//! **How much of it.** Classes then and now that have persons in common hang together. Only what hangs together with
//! somebody whom the version would expose is taken back; the rest stays as it is maintained. Each proposal is audited
//! like any version. What still leaks takes back more, in the end everything.
//!
//! **That it ends.** Everything taken back and all new rows waiting is the version before with the same values in the
//! same classes, hence in the same table: each class satisfies what it satisfied then, and the worlds are the same. So
//! it exposes no person who was not exposed before.
//!
//! All new rows without a place wait, or none: who has to wait alone would tell something about their value.

use std::collections::BTreeMap;

use amidst_core::internal::random::Random;
use amidst_core::internal::series::UNPLACED;
use rustc_hash::{FxHashMap, FxHashSet};

use super::compose::of_groups;
use super::draft::{Context, Draft, Repair, SeriesHead};
use super::init::first_classes;
use super::past::PastClass;
use super::past::past;
use super::places::Places;
use super::record::{PublishedState, Record};
use super::state::State;
use super::store::Work;
use crate::Failure;
use crate::job::Job;
use crate::policy::Role;

/// How often more is taken back before everything is.
const ROUNDS: usize = 5;

/// What becomes of the rows that were not in a class of the version before.
#[derive(Clone, Copy)]
struct Newcomers {
    /// Those who were never published take the places of those who left.
    places: bool,
    /// Those who were never published are published at all.
    fresh: bool,
    /// Those who were, but not in the version before, or with another value, are published with them.
    returned: bool,
    /// Classes that everybody has left are published, too: the table stays what it was.
    departed: bool,
}

/// From all that can be published to nothing but the version before.
const LADDER: [Newcomers; 5] = [
    Newcomers { places: true, fresh: true, returned: true, departed: false },
    Newcomers { places: true, fresh: true, returned: false, departed: false },
    Newcomers { places: false, fresh: true, returned: false, departed: false },
    Newcomers { places: false, fresh: false, returned: false, departed: false },
    Newcomers { places: false, fresh: false, returned: false, departed: true },
];

/// The steps of the ladder on which something of the maintained version may stay.
const PARTLY: usize = 3;

/// A safe version in the place of `plain`, which would expose somebody. `past` are the classes of the last version,
/// whose last batch is `published`.
pub(super) fn safe(
    of: Context<'_>,
    known: &PublishedState,
    plain: &Draft,
    (past, published): (Vec<PastClass>, u64),
    job: &Job<'_>,
) -> Result<Draft, Failure> {
    let mut bench = Bench::new(of, known, plain, past, published, job);
    bench.take_back(&plain.audit.newly);
    let mut best = None;
    for with in &LADDER[..PARTLY] {
        best = bench.proposed(*with)?;
        if best.is_some() {
            break;
        }
    }
    let mut why = None;
    for (everything, with) in [(false, 2), (true, 0), (true, 1), (true, 2), (true, 3), (true, 4)] {
        let with = LADDER[with];
        // Rows need not wait where all new ones together are enough.
        if best.as_ref().is_some_and(|best| waiting(best) == 0 || !with.fresh) {
            break;
        }
        bench.everything = everything;
        match bench.attempt(with) {
            Ok(draft) if !draft.audit.newly.is_empty() => {}
            Ok(draft) if best.as_ref().is_some_and(|best| waiting(&draft) >= waiting(best)) => {}
            Ok(draft) => best = Some(draft),
            Err(Failure::Impossible(reason)) => why = Some(reason),
            Err(failure) => return Err(failure),
        }
    }
    best.ok_or_else(|| Failure::Impossible(why.unwrap_or_else(|| "every version would expose somebody".into())))
}

fn waiting(draft: &Draft) -> u64 {
    draft.repair.map_or(0, |repair| repair.held_back)
}

/// What proposals are made of.
struct Bench<'a> {
    of: Context<'a>,
    known: &'a PublishedState,
    plain: &'a Draft,
    job: &'a Job<'a>,
    /// The positions of the sensitive columns.
    sensitive: Vec<usize>,
    past: Vec<PastClass>,
    /// For each class of the past, the one by which the history knows it; none where it was empty.
    seen: Vec<Option<u32>>,
    /// For each row the class of the past in which it has a place.
    seat: Vec<Option<usize>>,
    /// For each row whether its person was published in any version.
    returned: Vec<bool>,
    /// What hangs together: the classes of the history, then those of the plain version.
    parts: Parts,
    plain_from: u32,
    /// The parts that are taken back.
    taken_back: FxHashSet<u32>,
    everything: bool,
}

impl<'a> Bench<'a> {
    fn new(
        of: Context<'a>,
        known: &'a PublishedState,
        plain: &'a Draft,
        past: Vec<PastClass>,
        published: u64,
        job: &'a Job<'a>,
    ) -> Self {
        let state = &plain.state;
        let sensitive = super::domain::with_role(of.policy, &state.names, Role::Sensitive);
        let last_class = |person: u32| known.seen.history.last_class(known.now(person));
        let seen: Vec<Option<u32>> = (past.iter())
            .map(|class| class.persons.first().and_then(|&p| known.seen.history.last_class(known.then(p, published))))
            .collect();
        let class_of: FxHashMap<u32, usize> = (past.iter().enumerate())
            .flat_map(|(class, past)| past.persons.iter().map(move |&person| (person, class)))
            .filter(|&(person, _)| known.now(person) == known.then(person, published))
            .collect();
        let again: FxHashMap<u32, usize> =
            seen.iter().enumerate().filter_map(|(class, seen)| Some(((*seen)?, class))).collect();
        let mut free: Vec<FxHashMap<&[u32], u64>> =
            past.iter().map(|class| class.counts.iter().map(|(tuple, n)| (&tuple[..], *n)).collect()).collect();
        let mut seat = vec![None; state.rows()];
        // Who was in the version before comes first, who comes back after being away takes what is left.
        for first in [true, false] {
            for (row, &person) in state.persons.iter().enumerate() {
                let class = match first {
                    _ if seat[row].is_some() => None,
                    true => class_of.get(&person).copied(),
                    false => last_class(person).and_then(|class| again.get(&class).copied()),
                };
                let Some(class) = class else { continue };
                let tuple = tuple(state, &sensitive, row);
                if let Some(n) = free[class].get_mut(&tuple[..]).filter(|n| **n > 0) {
                    *n -= 1;
                    seat[row] = Some(class);
                }
            }
        }
        let returned: Vec<bool> = state.persons.iter().map(|&person| last_class(person).is_some()).collect();
        let plain_from = known.seen.history.everybody().filter_map(|(who, _)| known.seen.history.last_class(who)).max();
        let plain_from = plain_from.map_or(0, |class| class + 1);
        let classes = plain.composed.class_of.iter().max().map_or(0, |&class| class + 1);
        let now = state.persons.iter().zip(&plain.composed.class_of);
        let pairs = now.filter_map(|(&person, &class)| Some((last_class(person)?, plain_from + class)));
        let parts = Parts::new(plain_from + classes, pairs);
        let (taken_back, everything) = (FxHashSet::default(), false);
        Bench {
            of,
            known,
            plain,
            job,
            sensitive,
            past,
            seen,
            seat,
            returned,
            parts,
            plain_from,
            taken_back,
            everything,
        }
    }

    /// Takes back what hangs together with these; whether that is more than before.
    fn take_back(&mut self, exposed: &[u32]) -> bool {
        let before = self.taken_back.len();
        let now: FxHashMap<u32, u32> = (self.plain.state.persons.iter().zip(&self.plain.composed.class_of))
            .map(|(&person, &class)| (self.known.now(person), self.plain_from + class))
            .collect();
        for who in exposed {
            let classes = [self.known.seen.history.last_class(*who), now.get(who).copied()];
            for class in classes.into_iter().flatten() {
                let part = self.parts.find(class);
                self.taken_back.insert(part);
            }
        }
        self.taken_back.len() > before
    }

    /// A version that exposes nobody, if taking back what hangs together with whom it would expose leads to one.
    fn proposed(&mut self, with: Newcomers) -> Result<Option<Draft>, Failure> {
        for _ in 0..ROUNDS {
            match self.attempt(with) {
                Ok(draft) if draft.audit.newly.is_empty() => return Ok(Some(draft)),
                Ok(draft) if self.take_back(&draft.audit.newly) => {}
                Ok(_) => return Ok(None),
                Err(failure) if failure.is_impossible() => return Ok(None),
                Err(failure) => return Err(failure),
            }
        }
        Ok(None)
    }

    fn is_taken_back(&self, class: u32) -> bool {
        self.everything || self.taken_back.contains(&self.parts.find(class))
    }

    /// Makes a version, and audits it.
    fn attempt(&self, with: Newcomers) -> Result<Draft, Failure> {
        let state = &self.plain.state;
        // Groups are numbered: maintained classes, then those of the past, then those of new rows.
        let past_from = self.plain.composed.class_of.iter().max().map_or(0, |&class| class + 1);
        let apart_from = past_from + self.past.len() as u32;
        let mut group = vec![UNPLACED; state.rows()];
        let mut apart = Vec::new();
        for (row, &class) in self.plain.composed.class_of.iter().enumerate().take(state.rows()) {
            let comes = if self.returned[row] { with.returned } else { with.fresh };
            match self.seat[row] {
                _ if !self.is_taken_back(self.plain_from + class) => group[row] = class,
                Some(past) => group[row] = past_from + past as u32,
                None if comes => apart.push(row),
                None => {}
            }
        }
        let mut repair = Repair::default();
        if with.places {
            let before = apart.len();
            self.take_places(&mut group, past_from, &mut apart);
            repair.joined = (before - apart.len()) as u64;
        }
        if let Some(classes) = self.classes_of(&apart)? {
            repair.apart = classes.iter().collect::<FxHashSet<_>>().len() as u64;
            apart.iter().zip(classes).for_each(|(&row, class)| group[row] = apart_from + class);
        }
        let rows: Vec<usize> = (0..state.rows()).filter(|&row| group[row] != UNPLACED).collect();
        repair.held_back = (state.rows() - rows.len()) as u64;
        let mut groups: Vec<u32> = rows.iter().map(|&row| group[row]).collect();
        let published = state.pick(&rows);
        let mut table = state.pick(&rows);
        self.fill(&mut table, &mut groups, past_from, with.departed, &mut repair);
        let counterfeits = (table.rows() - published.rows()) as u64;
        let composed = of_groups(self.of.policy, &table, &groups, counterfeits, self.job)?;
        let record = Record::of(&published, &composed, true);
        let audit = self.known.audit(self.of.policy, Some(&record))?;
        Ok(Draft { state: published, composed, record, audit, repair: Some(repair) })
    }

    /// Puts rows that were never published into the places of those who left.
    fn take_places(&self, group: &mut [u32], past_from: u32, apart: &mut Vec<usize>) {
        let state = &self.plain.state;
        let mut present: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        let placed = group.iter().enumerate().filter(|(_, group)| **group != UNPLACED && **group >= past_from);
        placed.for_each(|(row, &group)| present.entry(group).or_default().push(row));
        let mut places = Places::new(&self.plain.composed);
        for class in 0..self.past.len() {
            let present = present.get(&(past_from + class as u32)).map_or(&[][..], Vec::as_slice);
            places.add(class, present, self.left(class, present.iter().map(|&row| tuple(state, &self.sensitive, row))));
        }
        apart.retain(|&row| {
            let place = (!self.returned[row]).then(|| places.take(row, &tuple(state, &self.sensitive, row))).flatten();
            place.inspect(|&class| group[row] = past_from + class as u32).is_none()
        });
    }

    /// What a class of the past publishes beside the tuples of those who are in it.
    fn left(&self, class: usize, present: impl Iterator<Item = Vec<u32>>) -> impl Iterator<Item = (Vec<u32>, u64)> {
        let mut left: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        self.past[class].counts.iter().for_each(|(tuple, n)| *left.entry(tuple.clone()).or_insert(0) += n);
        for tuple in present {
            if let Some(n) = left.get_mut(&tuple) {
                *n = n.saturating_sub(1);
            }
        }
        left.into_iter()
    }

    /// The classes of some rows by themselves; none where they do not satisfy the policy together.
    fn classes_of(&self, rows: &[usize]) -> Result<Option<Vec<u32>>, Failure> {
        if rows.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let mut state = self.plain.state.pick(rows);
        match first_classes(self.of.policy, &mut state, false, self.job) {
            Ok(_) if state.classes.contains(&UNPLACED) => Ok(None),
            Ok(_) => Ok(Some(state.classes)),
            Err(failure) if failure.is_impossible() => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Counterfeits for persons who left the classes of the past that are published again. They have the quasi cells of
    /// their class; their insensitive cells are drawn from the whole column, each for itself.
    fn fill(&self, table: &mut State, groups: &mut Vec<u32>, from: u32, departed: bool, repair: &mut Repair) {
        let rows = table.rows();
        let mut random = Random::new(self.of.policy.search.seed);
        let quasi = super::domain::with_role(self.of.policy, &table.names, Role::Quasi);
        let mut members: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        groups.iter().enumerate().for_each(|(row, &group)| members.entry(group).or_default().push(row));
        for class in 0..self.past.len() {
            let back = self.seen[class].map_or(self.everything, |seen| self.is_taken_back(seen));
            let group = from + class as u32;
            let present = members.get(&group).map_or(&[][..], Vec::as_slice);
            if !back || rows == 0 || (present.is_empty() && !departed) {
                continue;
            }
            repair.kept += 1;
            let own: Vec<Vec<u32>> = present.iter().map(|&row| tuple(table, &self.sensitive, row)).collect();
            for (values, n) in self.left(class, own.into_iter()) {
                for _ in 0..n {
                    let mut cells: Vec<u32> = (table.cells.iter().enumerate())
                        .map(|(column, cells)| match present.first() {
                            Some(&row) if quasi.contains(&column) => cells[row],
                            _ => cells[random.below(rows)],
                        })
                        .collect();
                    self.sensitive.iter().zip(&values).for_each(|(&column, &code)| cells[column] = code);
                    table.push_counterfeit(&cells);
                    groups.push(group);
                }
            }
        }
    }
}

/// The sensitive tuple of a row, in the codes of the series.
fn tuple(state: &State, sensitive: &[usize], row: usize) -> Vec<u32> {
    sensitive.iter().map(|&column| state.cells[column][row]).collect()
}

/// Numbers that hang together.
struct Parts {
    up: Vec<u32>,
}

impl Parts {
    /// Numbers up to `count`, of which these pairs hang together.
    fn new(count: u32, pairs: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut parts = Parts { up: (0..count).collect() };
        for (a, b) in pairs {
            let (a, b) = (parts.lead(a), parts.lead(b));
            parts.up[a.max(b) as usize] = a.min(b);
        }
        for at in 0..count {
            // The leader is smaller, so it has been looked at.
            parts.up[at as usize] = parts.up[parts.up[at as usize] as usize];
        }
        parts
    }

    fn lead(&mut self, mut at: u32) -> u32 {
        while self.up[at as usize] != at {
            self.up[at as usize] = self.up[self.up[at as usize] as usize];
            at = self.up[at as usize];
        }
        at
    }

    /// The number that stands for all that hang together with one.
    fn find(&self, at: u32) -> u32 {
        self.up[at as usize]
    }
}

impl Draft {
    /// A version in the place of this one, which exposes somebody: one that exposes nobody more. There is none where
    /// nobody of the last version is left, and there may be none where columns are published as they are: those of a
    /// counterfeit are not those of the row that left. Only classes that are maintained can be mended.
    pub fn mended(
        &self,
        work: &Work<'_>,
        of: Context<'_>,
        known: &PublishedState,
        head: SeriesHead,
        job: &Job<'_>,
    ) -> Result<Option<Draft>, Failure> {
        let before = past(work, head.version, known.sensitive_width())?;
        match safe(of, known, self, (before, head.published), job) {
            Ok(mended) => Ok(Some(mended)),
            Err(failure) if failure.is_impossible() => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Parts;

    #[test]
    fn what_hangs_together_has_one_leader() {
        let parts = Parts::new(8, [(7, 3), (3, 5), (2, 6), (6, 4), (5, 1)].into_iter());
        let leaders: Vec<u32> = (0..8).map(|at| parts.find(at)).collect();
        assert_eq!(leaders, [0, 1, 2, 1, 2, 1, 2, 1]);
    }
}
