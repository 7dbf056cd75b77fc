//! Searches in pieces against searches of the whole table.

use std::cell::Cell;
use std::sync::atomic::AtomicBool;

use amidst_core::frequency;
use amidst_core::rolled::{representatives, roll_up};
use amidst_core::table::{Codes, Column, Table};

use super::*;
use crate::anonymize::{Job, search};
use crate::prepare::{Counted, LoadOptions};

/// A table that pretends to be elsewhere.
struct Elsewhere<'a> {
    policy: &'a Policy,
    whole: Prepared,
    gathered: Cell<u64>,
}

impl Remote for Elsewhere<'_> {
    fn generalizations(&self) -> &[Generalization] {
        &self.whole.generalizations
    }

    fn combinations(&self, levels: &[usize]) -> Result<u64, Failure> {
        Ok(roll_up(&self.whole.set, &self.whole.generalizations, levels).groups.entries.len() as u64)
    }

    fn lacking(&self, levels: &[usize], least: Least) -> Result<u64, Failure> {
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
    let cancel = AtomicBool::new(false);
    let job = Job { cancel: &cancel, progress: &|_, _| {}, threads: 0 };
    search(policy, prepared, &job).unwrap().1.recoding.levels
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
        let remote = Elsewhere { policy: &policy, whole, gathered: Cell::new(0) };
        let most = all * 2 / 3;
        let prepared = gather_for(&remote, &policy, most, None).unwrap();
        assert!(prepared.set.rolled_up(), "{algorithm}");
        assert!(remote.gathered.get() <= most, "{algorithm}: {} of {most} were gathered", remote.gathered.get());
        assert_eq!(levels(&policy, &prepared), expected, "{algorithm} by {metric}");
    }
}

#[test]
fn a_node_that_can_be_neither_gathered_nor_ruled_out_is_named() {
    let policy = policy("optimal", "loss", "1.0");
    let remote = Elsewhere { policy: &policy, whole: patients(&policy, 400), gathered: Cell::new(0) };
    let Err(Failure::Usage(message)) = gather_for(&remote, &policy, 300, None) else { panic!("it was found") };
    assert!(message.contains("--gather") && message.contains("levels"), "{message}");
}

#[test]
fn what_looks_at_every_tuple_is_refused() {
    for (algorithm, metric) in [("mondrian", "loss"), ("optimal", "kl-divergence")] {
        let policy = policy(algorithm, metric, "0.02");
        let remote = Elsewhere { policy: &policy, whole: patients(&policy, 400), gathered: Cell::new(0) };
        let Err(Failure::Usage(message)) = gather_for(&remote, &policy, 10, None) else { panic!("it was found") };
        assert!(message.contains(if algorithm == "mondrian" { "mondrian" } else { "kl-divergence" }), "{message}");
    }
}
