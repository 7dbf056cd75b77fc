//! Rows whose owners waived protection and agreed to join: each is placed in the nearest class and generalized with it.
//!
//! Systematic clustering paper §3.2: the classes are made of the protected rows alone; then the others are distributed.
//! A joining row counts in its class and costs no information loss of its own. The class's cells stretch over it where
//! they must, so that the release stays true; the class is chosen where that costs the protected rows least and where
//! the policy still holds with the row counted.
//!
//! The frequency set of the joining rows must be counted from columns with the same dictionaries as the protected ones,
//! so that equal values have equal codes.

use crate::frequency::{Entry, FrequencySet, Groups};
use crate::hierarchy::Cell;
use crate::ids::{ClassId, SensitiveId};
use crate::local::class::{Judge, Tally};
use crate::local::index::Tree;
use crate::local::shape::minimum::{MinimumClass, clearly_above};
use crate::local::shape::{ShapeWord, Space};
use crate::model::Needs;
use crate::recoding::{Assignment, Recoding, SUPPRESSED};
use crate::search::{Search, SearchError};

/// A recoding that joining rows have entered.
#[derive(Debug, Clone)]
pub struct Joined {
    /// The recoding of the protected rows, its cells stretched over the rows that joined.
    pub recoding: Recoding,
    /// The class of each joining row, by entries of their own frequency set. A row that no class could take without
    /// breaking the policy is suppressed.
    pub joiners: Assignment,
    /// How many rows no class could take.
    pub refused: u64,
}

/// Places `joiners` in the classes of a local recoding of `search.set`.
pub fn join(search: &Search<'_>, recoding: &Recoding, joiners: &FrequencySet) -> Result<Joined, SearchError> {
    let set = search.set;
    supported(search, joiners)?;
    let (union, own, theirs) = union(set, joiners);
    let policy = Search { set: &union, max_suppression: search.max_suppression.clone(), entry_of_row: None, ..*search };
    let space = Space::new(search.generalizations);
    let mut open = OpenClasses::new(&space, Judge::new(&policy)?, set, recoding, &own);
    let mut offsets = vec![0];
    let mut runs: Vec<(u32, u64)> = Vec::new();
    let mut refused = 0;
    let tuple_of = joiners.tuple_of_entry();
    for (e, &entry) in joiners.groups.entries.iter().enumerate() {
        let tuple = joiners.tuple(tuple_of[e] as usize);
        let first = runs.len();
        let step = if joiners.persons { entry.rows } else { 1 };
        for _ in 0..entry.rows / step {
            search.checkpoint()?;
            let newcomer = Entry { sensitive: theirs[entry.sensitive.index()], ..entry };
            let class = open.take(tuple, newcomer, step).unwrap_or_else(|| {
                refused += step;
                SUPPRESSED
            });
            match runs[first..].iter_mut().find(|r| r.0 == class) {
                Some(run) => run.1 += step,
                None => runs.push((class, step)),
            }
        }
        offsets.push(runs.len());
    }
    let classes = open.cells(recoding);
    let recoding = Recoding {
        classes,
        assignment: recoding.assignment.clone(),
        levels: None,
        masked: recoding.masked,
        shown: None,
    };
    Ok(Joined { recoding, joiners: Assignment::Entries { offsets, runs }, refused })
}

/// What rows can be joined to.
fn supported(search: &Search<'_>, joiners: &FrequencySet) -> Result<(), SearchError> {
    if search.set.persons != joiners.persons && !joiners.is_empty() {
        return Err(SearchError::Unsupported(
            "persons have several rows among the protected or the joining rows but not among both; drop the key column \
             or let waived rows be published instead of joined"
                .to_string(),
        ));
    }
    if let Some(r) = search.requirements.iter().find(|r| r.needs() == Needs::Tuples) {
        return Err(SearchError::Unsupported(format!(
            "{} compares classes with a population, and rows that join stretch what their classes cover; let waived rows \
             be published instead of joined",
            r.model.id
        )));
    }
    Ok(())
}

/// The classes of a recoding, which rows may join.
struct OpenClasses<'a> {
    space: &'a Space,
    judge: Judge<'a>,
    shapes: Vec<ShapeWord>,
    tallies: Vec<Tally>,
    /// The rows of each class before anybody joined.
    protected: Vec<u64>,
    tree: Tree,
}

impl<'a> OpenClasses<'a> {
    /// The classes as they are; `own` numbers their sensitive tuples as the judge does.
    fn new(space: &'a Space, judge: Judge<'a>, set: &FrequencySet, recoding: &Recoding, own: &[SensitiveId]) -> Self {
        let (words, width) = (space.words(), space.width());
        let count = recoding.classes.len();
        let mut shapes = vec![ShapeWord::default(); count * words];
        let mut tallies = vec![Tally::default(); count];
        let mut codes = vec![0; count * width];
        recoding.for_each_part(set, |part| {
            let Some(class) = part.class.map(ClassId::index) else { return };
            let (shape, tuple) = (&mut shapes[class * words..(class + 1) * words], set.tuple(part.tuple.index()));
            if tallies[class].rows == 0 {
                space.start(shape, tuple);
                codes[class * width..(class + 1) * width].copy_from_slice(tuple);
            } else {
                space.add(shape, tuple);
            }
            let entry = Entry { sensitive: own[part.entry.sensitive.index()], ..part.entry };
            judge.add(&mut tallies[class], entry, part.entry.rows);
        });
        let protected: Vec<u64> = tallies.iter().map(|t| t.rows).collect();
        let mut tree = Tree::new(space, &codes, count);
        for class in 0..count {
            tree.grown(space, class as u32, &shapes[class * words..(class + 1) * words], MinimumClass::default());
            // Rows do not join the class of masked rows: it tells nothing.
            if protected[class] == 0 || recoding.masked == Some(class as u32) {
                tree.remove(space, class as u32);
            }
        }
        OpenClasses { space, judge, shapes, tallies, protected, tree }
    }

    /// Puts `step` rows into the class whose protected rows lose least by it and that stays valid; none when no class
    /// does.
    fn take(&mut self, tuple: &[u32], newcomer: Entry, step: u64) -> Option<u32> {
        let OpenClasses { space, judge, shapes, tallies, protected, tree } = self;
        let words = space.words();
        let mut best = f64::INFINITY;
        let found = tree.least(
            f64::INFINITY,
            |hull, _, _| space.reach(hull, tuple).1,
            |class, _, _| {
                let shape = &shapes[class as usize * words..(class as usize + 1) * words];
                let more = space.cost_with(shape, tuple) - space.cost(shape);
                let growth = more * protected[class as usize] as f64;
                if clearly_above(growth, best) {
                    return None;
                }
                let mut tally = tallies[class as usize].clone();
                judge.add(&mut tally, newcomer, step);
                if !judge.holds(&tally) {
                    return None;
                }
                best = best.min(growth);
                Some(growth)
            },
        );
        let (_, class) = found?;
        let shape = &mut shapes[class as usize * words..(class as usize + 1) * words];
        space.add(shape, tuple);
        tree.grown(space, class, shape, MinimumClass::default());
        judge.add(&mut tallies[class as usize], newcomer, step);
        Some(class)
    }

    /// The cells of the classes as they have become.
    fn cells(&self, recoding: &Recoding) -> Vec<Vec<Cell>> {
        let words = self.space.words();
        let cells = |class: usize| match self.protected[class] {
            0 => recoding.classes[class].clone(),
            _ if recoding.masked == Some(class as u32) => recoding.classes[class].clone(),
            _ => self.space.cells(&self.shapes[class * words..(class + 1) * words]),
        };
        (0..recoding.classes.len()).map(cells).collect()
    }
}

/// Both sets as one, as far as requirements look, and the sensitive tuples of each as numbered there.
fn union(a: &FrequencySet, b: &FrequencySet) -> (FrequencySet, Vec<SensitiveId>, Vec<SensitiveId>) {
    let width = a.sensitive_width;
    let tuples = |set: &FrequencySet| -> Vec<Vec<u32>> {
        match width {
            0 => vec![Vec::new()],
            _ => set.sensitive.chunks_exact(width).map(<[u32]>::to_vec).collect(),
        }
    };
    let (of_a, of_b) = (tuples(a), tuples(b));
    let mut all: Vec<Vec<u32>> = of_a.iter().chain(&of_b).cloned().collect();
    all.sort_unstable();
    all.dedup();
    let number = |tuples: &[Vec<u32>]| -> Vec<SensitiveId> {
        tuples.iter().map(|t| SensitiveId(all.binary_search(t).unwrap_or(0) as u32)).collect()
    };
    let (own, theirs) = (number(&of_a), number(&of_b));
    let renumbered = |set: &FrequencySet, numbers: &[SensitiveId]| -> Vec<(u32, Entry)> {
        let entries = set.groups.entries.iter();
        entries.map(|e| (0, Entry { sensitive: numbers[e.sensitive.index()], ..*e })).collect()
    };
    let mut pairs = renumbered(a, &own);
    pairs.extend(renumbered(b, &theirs));
    let union = FrequencySet {
        width: 0,
        tuples: Vec::new(),
        domains: Vec::new(),
        groups: Groups::collect(1, pairs),
        sensitive_width: width,
        sensitive: all.concat(),
        sensitive_domains: a.sensitive_domains.clone(),
        rows: a.rows + b.rows,
        persons: a.persons,
        floor: Vec::new(),
    };
    (union, own, theirs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::fixture::Fixture;
    use crate::parameter::Parameters;
    use crate::requirement::Evaluator;

    #[test]
    fn joining_rows_are_covered_and_counted() {
        let fixture = Fixture::random(2, 160, false);
        // Every third tuple's rows join; the others are protected.
        let part = |joins: bool| {
            let mut set = fixture.set.clone();
            let keep: Vec<usize> = (0..set.len()).filter(|t| (t % 3 == 0) == joins).collect();
            let pairs = (keep.iter().enumerate())
                .flat_map(|(new, &old)| fixture.set.groups.get(old).iter().map(move |&e| (new as u32, e)))
                .collect();
            set.tuples = keep.iter().flat_map(|&t| fixture.set.tuple(t)).copied().collect();
            set.groups = Groups::collect(keep.len(), pairs);
            set.rows = set.groups.entries.iter().map(|e| e.rows).sum();
            set
        };
        let joiners = part(true);
        let protected = Fixture { set: part(false), generalizations: fixture.generalizations.clone(), ..fixture };
        for requirements in protected.policies() {
            let found = protected.find("mondrian", &requirements, &Parameters::default()).unwrap();
            let joined = protected
                .search(&requirements, &Parameters::default(), |search| join(search, &found.recoding, &joiners))
                .unwrap();
            protected.check(&Recoding { ..joined.recoding.clone() }, &[]);
            let theirs = Recoding {
                classes: joined.recoding.classes.clone(),
                assignment: joined.joiners,
                levels: None,
                masked: None,
                shown: None,
            };
            let mut classes: Vec<Vec<Entry>> = vec![Vec::new(); theirs.classes.len()];
            let mut refused = 0;
            theirs.for_each_part(&joiners, |part| {
                let Some(class) = part.class else {
                    refused += part.entry.rows;
                    return;
                };
                let cells = &theirs.classes[class.index()];
                for ((g, &code), cell) in
                    protected.generalizations.iter().zip(joiners.tuple(part.tuple.index())).zip(cells)
                {
                    assert!(g.covers(cell, code));
                }
                classes[class.index()].push(part.entry);
            });
            assert_eq!(refused, joined.refused);
            if requirements[0].model.id == "k-anonymity" {
                assert_eq!(refused, 0);
            }
            joined.recoding.for_each_part(&protected.set, |part| {
                classes[part.class.expect("nobody who is protected is left out").index()].push(part.entry);
            });
            let union = fixture_union(&protected.set, &joiners);
            let evaluator = Evaluator::new(&union, &requirements);
            for entries in classes {
                let entries = Groups::collect(1, entries.into_iter().map(|e| (0, e)).collect()).entries;
                assert!(evaluator.holds_all(&entries), "{}", requirements[0].model.id);
            }
        }
    }

    fn fixture_union(a: &FrequencySet, b: &FrequencySet) -> FrequencySet {
        let (union, own, theirs) = union(a, b);
        assert!(own.iter().chain(&theirs).enumerate().all(|(i, &n)| n.index() == i % own.len()));
        union
    }
}
