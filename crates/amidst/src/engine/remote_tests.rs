//! Searches in pieces against searches of the whole table.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use amidst_core::frequency::rolled::{representatives, roll_up};
use amidst_core::frequency::{self, Entry, FrequencySet};
use amidst_core::hierarchy::Generalization;
use amidst_core::ids::SensitiveId;
use amidst_core::internal::partial::{
    Assembled, Combinations, Counts, Divided, DivisibleTable, Line, MinimumClass, PartialClass, PartialSearch,
    RemoteTable, Removed, SplitRows, Summary, TailQuery,
};
use amidst_core::search::Search;
use amidst_core::table::{Codes, Column, Table};

use super::*;
use crate::plan::task;
use crate::prepare::Counted;
use crate::search::search;

/// A table that pretends to be elsewhere.
struct Elsewhere<'a> {
    policy: &'a Policy,
    whole: Prepared,
    gathered: Cell<u64>,
    /// The part of each tuple.
    parts: RefCell<Vec<u32>>,
    /// Combinations that have left: tuples and sensitive tuples.
    gone: RefCell<BTreeSet<(usize, SensitiveId)>>,
    /// The class of each tuple.
    placed: RefCell<BTreeMap<Vec<u32>, u32>>,
    /// What is dealt out.
    dealt: RefCell<Vec<SplitRows>>,
}

impl RemoteTable for Elsewhere<'_> {
    type Gathered = Prepared;
    type Error = Failure;

    fn search<'a>(&'a self, gathered: &'a Prepared) -> Result<Search<'a>, Failure> {
        task(self.policy, gathered, &Job::default())
    }

    fn generalizations(&self) -> &[Generalization] {
        &self.whole.generalizations
    }

    fn combinations(&self, levels: &[usize]) -> Result<u64, Failure> {
        Ok(roll_up(&self.whole.set, &self.whole.generalizations, levels).groups.entries.len() as u64)
    }

    fn lacking(&self, levels: &[usize], least: MinimumClass) -> Result<u64, Failure> {
        let set = roll_up(&self.whole.set, &self.whole.generalizations, levels);
        let lacks = |entries: &&[Entry]| frequency::rows(entries) < least.rows || (entries.len() as u64) < least.values;
        Ok(set.groups.iter().filter(lacks).map(frequency::rows).sum())
    }

    fn gather(&self, levels: &[usize]) -> Result<Prepared, Failure> {
        let whole = &self.whole;
        let columns = whole.table.columns.iter().enumerate().map(|(position, column)| {
            let quasi = whole.quasi.iter().position(|&q| q == position);
            let of = quasi.map(|q| representatives(&whole.generalizations[q], levels[q]));
            let code = |row: usize| column.codes.get(row);
            let codes = (0..whole.table.rows).map(|row| of.as_ref().map_or(code(row), |of| of[code(row) as usize]));
            Column { codes: Codes::U32(codes.collect()), ..column.clone() }
        });
        let table = Table { columns: columns.collect(), rows: whole.table.rows };
        let counted = Counted {
            weights: vec![1; table.rows],
            table,
            rows_in: whole.rows_in,
            header: whole.header.clone(),
            floor: levels.to_vec(),
            ..Counted::default()
        };
        let prepared = Prepared::of_counts(self.policy, counted, &LoadOptions::default())?;
        self.gathered.set(self.gathered.get().max(prepared.set.groups.entries.len() as u64));
        Ok(prepared)
    }
}

impl<'a> Elsewhere<'a> {
    fn new(policy: &'a Policy, whole: Prepared) -> Self {
        Elsewhere {
            policy,
            whole,
            gathered: Cell::new(0),
            parts: RefCell::default(),
            gone: RefCell::default(),
            placed: RefCell::default(),
            dealt: RefCell::default(),
        }
    }

    /// The rows of each class by sensitive tuple, by where each combination of the table was placed.
    fn counted(&self) -> Vec<((u32, SensitiveId), u64)> {
        let (of_tuple, dealt) = (self.placed.borrow(), self.dealt.borrow());
        let mut counted: BTreeMap<(u32, SensitiveId), u64> = BTreeMap::new();
        for tuple in 0..self.whole.set.len() {
            let codes = self.whole.set.tuple(tuple);
            for entry in self.whole.set.groups.get(tuple) {
                let runs = match dealt.iter().find(|d| d.codes == codes && d.sensitive == entry.sensitive) {
                    Some(dealt) => dealt.runs.clone(),
                    None => vec![(of_tuple[codes], entry.rows)],
                };
                assert_eq!(runs.iter().map(|run| run.1).sum::<u64>(), entry.rows);
                runs.iter().for_each(|run| *counted.entry((run.0, entry.sensitive)).or_default() += run.1);
            }
        }
        counted.into_iter().collect()
    }

    fn of_part(&self, part: u32) -> Vec<usize> {
        let parts = self.parts.borrow();
        (0..self.whole.set.len()).filter(|&tuple| parts[tuple] == part).collect()
    }

    /// The entries of a tuple that are still there.
    fn entries(&self, tuple: usize) -> Vec<Entry> {
        let gone = self.gone.borrow();
        let entries = self.whole.set.groups.get(tuple).iter();
        entries.copied().filter(|e| !gone.contains(&(tuple, e.sensitive))).collect()
    }

    fn part(&self, pieces: &PartialSearch<'_>, part: u32) -> FrequencySet {
        let (mut codes, mut counts) = (Vec::new(), Vec::new());
        for tuple in self.of_part(part) {
            for entry in self.entries(tuple) {
                codes.extend_from_slice(self.whole.set.tuple(tuple));
                counts.push((entry.sensitive, entry.rows));
            }
        }
        pieces.part(&codes, &counts)
    }
}

impl DivisibleTable for Elsewhere<'_> {
    fn begin(&self, _pieces: &PartialSearch<'_>) -> Result<(), Failure> {
        *self.parts.borrow_mut() = vec![0; self.whole.set.len()];
        Ok(())
    }

    fn summaries(&self, pieces: &PartialSearch<'_>, parts: &[u32]) -> Result<Vec<Summary>, Failure> {
        let set = &self.whole.set;
        let of = |&part: &u32| {
            let mut summary = Summary::default();
            for tuple in self.of_part(part) {
                let codes = set.tuple(tuple);
                let reach: Vec<Vec<u32>> = codes.iter().map(|&code| vec![code]).collect();
                for (column, &code) in codes.iter().enumerate() {
                    for Entry { sensitive, rows, .. } in self.entries(tuple) {
                        pieces.add(&mut summary, Line { column, code, sensitive, rows, combinations: 1 }, &reach);
                    }
                }
            }
            summary
        };
        Ok(parts.iter().map(of).collect())
    }

    fn last(&self, _pieces: &PartialSearch<'_>, asked: &[TailQuery]) -> Result<Vec<Combinations>, Failure> {
        let set = &self.whole.set;
        let of = |asked: &TailQuery| {
            let mut found = Vec::new();
            for tuple in self.of_part(asked.part) {
                let codes = set.tuple(tuple);
                let entries = self.entries(tuple).into_iter().filter(|e| e.sensitive == asked.sensitive);
                if asked.codes.contains(&codes[asked.column]) {
                    found.extend(entries.map(|e| (codes.to_vec(), e.rows)));
                }
            }
            found.sort();
            found.reverse();
            found.truncate(asked.most as usize);
            found
        };
        Ok(asked.iter().map(of).collect())
    }

    fn divide(&self, _pieces: &PartialSearch<'_>, divided: &[Divided], gone: &[Removed]) -> Result<(), Failure> {
        for Removed { part, codes, sensitive } in gone {
            let tuple = self.of_part(*part).into_iter().find(|&t| self.whole.set.tuple(t) == codes).unwrap();
            assert!(self.gone.borrow_mut().insert((tuple, *sensitive)));
        }
        for Divided { part, division, first } in divided {
            for tuple in self.of_part(*part) {
                // What has left altogether has no side.
                let code = self.whole.set.tuple(tuple)[division.column];
                let side = division.side(code);
                assert!(side.is_some() || self.entries(tuple).is_empty());
                self.parts.borrow_mut()[tuple] = first + side.unwrap_or_default();
            }
        }
        Ok(())
    }

    fn gather_parts(&self, pieces: &PartialSearch<'_>, parts: &[u32]) -> Result<Vec<FrequencySet>, Failure> {
        let sets: Vec<FrequencySet> = parts.iter().map(|&part| self.part(pieces, part)).collect();
        let gathered = sets.iter().map(|set| set.groups.entries.len() as u64).sum();
        self.gathered.set(self.gathered.get().max(gathered));
        Ok(sets)
    }

    fn place(&self, _pieces: &PartialSearch<'_>, tuples: &[u32], classes: &[u32]) -> Result<(), Failure> {
        for (codes, &class) in tuples.chunks_exact(self.whole.set.width).zip(classes) {
            assert_eq!(self.placed.borrow_mut().insert(codes.to_vec(), class), None);
        }
        Ok(())
    }

    fn place_whole(&self, pieces: &PartialSearch<'_>, part: u32, class: u32) -> Result<(Vec<u32>, Counts), Failure> {
        let set = self.part(pieces, part);
        if set.is_empty() {
            return Ok(Default::default());
        }
        self.place(pieces, &set.tuples, &vec![class; set.len()])?;
        let mut counts = vec![0; set.sensitive_count()];
        set.groups.entries.iter().for_each(|e| counts[e.sensitive.index()] += e.rows);
        Ok((set.tuple(0).to_vec(), (0..).map(SensitiveId).zip(counts).filter(|c| c.1 > 0).collect()))
    }

    fn gather_classes(
        &self,
        _: &PartialSearch<'_>,
        classes: &[PartialClass],
        assembled: &Assembled,
        dealt: Vec<SplitRows>,
    ) -> Result<Prepared, Failure> {
        self.placed.borrow_mut().values_mut().for_each(|class| *class = assembled.class_of[*class as usize]);
        *self.dealt.borrow_mut() = dealt;
        let whole = &self.whole;
        let rows: Vec<(&PartialClass, (SensitiveId, u64))> =
            classes.iter().flat_map(|class| class.counts.iter().map(move |&count| (class, count))).collect();
        let columns = whole.table.columns.iter().enumerate().map(|(position, column)| {
            let quasi = whole.quasi.iter().position(|&q| q == position);
            let sensitive = whole.sensitive.iter().position(|&s| s == position);
            let code = |(class, (tuple, _)): &(&PartialClass, (SensitiveId, u64))| match (quasi, sensitive) {
                (Some(q), _) => class.first[q],
                (_, Some(s)) => whole.set.sensitive_code(*tuple, s),
                _ => 0,
            };
            Column { codes: Codes::U32(rows.iter().map(code).collect()), ..column.clone() }
        });
        let counted = Counted {
            table: Table { columns: columns.collect(), rows: rows.len() },
            weights: rows.iter().map(|row| row.1.1).collect(),
            rows_in: whole.rows_in,
            header: whole.header.clone(),
            floor: whole.generalizations.iter().map(Generalization::height).collect(),
            ..Counted::default()
        };
        Ok(Prepared::of_counts(self.policy, counted, &LoadOptions::default())?)
    }
}

fn policy(algorithm: &str, metric: &str, suppression: &str) -> Policy {
    let text = crate::sample::policy("patients");
    let stated = format!("[search]\nalgorithm = \"{algorithm}\"\nmetric = \"{metric}\"");
    let lines = text.replace("[search]", &stated);
    let lines: Vec<String> = lines
        .lines()
        .map(|line| match line.starts_with("max_suppression") {
            true => format!("max_suppression = {suppression}"),
            false => line.to_string(),
        })
        .collect();
    Policy::parse(&lines.join("\n"), "sample.toml".as_ref()).unwrap()
}

fn levels(policy: &Policy, prepared: &Prepared) -> Option<Vec<usize>> {
    let job = Job::default();
    search(policy, prepared, &job).unwrap().found.recoding.levels
}

fn solved(remote: &Elsewhere<'_>, policy: &Policy, most: u64) -> Result<Solved<()>, Failure> {
    let heights: Vec<usize> = remote.generalizations().iter().map(Generalization::height).collect();
    Solved::remote(policy, remote.gather(&heights)?, remote, most, (), &Job::default())
}

fn patients(policy: &Policy, rows: u64) -> Prepared {
    let mut text = Vec::new();
    crate::sample::write(rows, 5, &mut text).unwrap();
    let options = amidst_io::ReadOptions::default();
    let read = amidst_io::read_from(text.as_slice(), "patients".as_ref(), amidst_io::Format::Csv, &options).unwrap();
    let mut table = read.table;
    table.columns.retain(|c| policy.column(&c.name).is_some_and(|c| c.role != crate::policy::Role::Identifying));
    Prepared::of_table(policy, table, &LoadOptions::default()).unwrap()
}

#[test]
fn pieces_of_a_lattice_lead_to_the_same_node_as_the_whole() {
    for (algorithm, metric, suppression) in [
        ("optimal", "loss", "0.02"),
        ("optimal", "discernibility", "0.0"),
        ("incognito", "loss", "0.01"),
        ("samarati", "precision", "0.02"),
    ] {
        let policy = policy(algorithm, metric, suppression);
        let whole = patients(&policy, 1500);
        let expected = levels(&policy, &whole);
        let all = whole.set.groups.entries.len() as u64;
        let remote = Elsewhere::new(&policy, whole);
        let most = all * 2 / 3;
        let Solved { prepared, found, .. } = solved(&remote, &policy, most).unwrap();
        assert!(prepared.set.rolled_up(), "{algorithm}");
        assert!(remote.gathered.get() <= most, "{algorithm}: {} of {most} were gathered", remote.gathered.get());
        assert_eq!(found.recoding.levels, expected, "{algorithm} by {metric}");
    }
}

#[test]
fn a_table_cut_in_pieces_has_the_classes_of_one_cut_at_once() {
    for (algorithm, suppression) in
        [("mondrian", "0.0"), ("mondrian", "0.02"), ("top-down", "0.0"), ("top-down", "0.02")]
    {
        let policy = policy(algorithm, "loss", suppression);
        let whole = patients(&policy, 1500);
        let job = Job::default();
        let expected = search(&policy, &whole, &job).unwrap().found;
        let counted = expected.recoding.groups(&whole.set);
        // Small parts, so that rows are pulled out of children before they can be gathered.
        let most = whole.set.groups.entries.len() as u64 / if algorithm == "mondrian" { 5 } else { 30 };
        let remote = Elsewhere::new(&policy, whole);
        let Solved { prepared, found, .. } = solved(&remote, &policy, most).unwrap();
        assert!(prepared.set.rolled_up());
        assert!(remote.gathered.get() <= most, "{} of {most} were gathered", remote.gathered.get());
        assert_eq!(remote.gone.borrow().is_empty(), algorithm == "mondrian", "{algorithm}");
        assert_eq!(found.recoding.classes, expected.recoding.classes);
        assert_eq!(found.recoding.groups(&prepared.set), counted);
        assert_eq!(found.notes, expected.notes);
        if counted.1 == 0 {
            let classes = (0..).zip(counted.0.iter());
            let entries =
                classes.flat_map(|(class, entries)| entries.iter().map(move |e| ((class, e.sensitive), e.rows)));
            assert_eq!(remote.counted(), entries.collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_node_that_can_be_neither_gathered_nor_ruled_out_is_named() {
    let policy = policy("optimal", "loss", "1.0");
    let remote = Elsewhere::new(&policy, patients(&policy, 400));
    let Err(Failure::TooLarge(large)) = solved(&remote, &policy, 300) else { panic!("it was found") };
    assert!(large.combinations > 300 && large.message.contains("levels"), "{large}");
}

#[test]
fn what_looks_at_every_tuple_is_refused() {
    for (algorithm, metric) in [("k-member", "loss"), ("optimal", "kl-divergence")] {
        let policy = policy(algorithm, metric, "0.02");
        let remote = Elsewhere::new(&policy, patients(&policy, 400));
        let Err(Failure::TooLarge(large)) = solved(&remote, &policy, 10) else { panic!("it was found") };
        let message = large.to_string();
        assert!(message.contains(if algorithm == "k-member" { "k-member" } else { "kl-divergence" }), "{message}");
    }
}
