//! What cells are published as where a policy asks for numbers: the middle of a range, or one value for a whole class.
//!
//! The classes stay what the search found; only their texts change. Where two classes get the same texts no reader can
//! tell them apart, so they become one class here, before anything is judged, and all requirements are looked at again.

use amidst_core::hierarchy::{Cell, Generalization};
use amidst_core::internal::sets::Classes;
use amidst_core::model::Needs;
use amidst_core::recoding::{Assignment, Recoding, SUPPRESSED};
use amidst_core::requirement::Evaluator;
use amidst_core::search::{Found, feasibility};
use amidst_core::table::number;
use rustc_hash::FxHashMap;

use super::bounds::bounds;
use super::join::Joined;
use super::representative::representatives;
use super::rounded::rounded;
use crate::Failure;
use crate::plan::stated_k;
use crate::policy::{OutputValues, Policy, Ranges};
use crate::prepare::Prepared;

/// Changes what the classes of `found` are published as, where the policy asks for it.
///
/// # Errors
/// Where the policy looks at the labels of cells in other ways, or classes that become one do not satisfy it.
pub fn show(policy: &Policy, prepared: &Prepared, found: &mut Found, joined: Option<&Joined>) -> Result<(), Failure> {
    let output = &policy.output;
    if (output.ranges, output.values) == (Ranges::Label, OutputValues::Generalized) {
        return Ok(());
    }
    if (output.ranges, output.values) == (Ranges::Bounds, OutputValues::Representative) {
        let why = "one value stands for a whole class, so there are no ranges; leave out one of the two";
        return Err(Failure::Usage(format!(
            "`ranges = \"bounds\"` and `values = \"representative\"` under [output]: {why}"
        )));
    }
    let key = if output.values == OutputValues::Representative { "values" } else { "ranges" };
    let refused = |why: &str| Failure::Usage(format!("`{key}` under [output] cannot be had here: {why}; leave it out"));
    if joined.is_some() || prepared.waived.is_some() {
        return Err(refused("rows whose owners waived protection are published beside the classes"));
    }
    if prepared.weights.is_some() {
        return Err(refused("the rows are with an engine that writes labels of hierarchies"));
    }
    if prepared.requirements.iter().any(|r| r.needs() == Needs::Tuples) {
        return Err(refused("a requirement compares the labels of hierarchies with a population"));
    }
    if output.values == OutputValues::Representative && !prepared.sets.is_empty() {
        return Err(refused(
            "the sets of [[quasi]] have classes of their own, and a value cannot stand for all of them",
        ));
    }
    let recoding = &mut found.recoding;
    let text = |(label, cell): (String, &Cell)| match (output.ranges, cell) {
        (Ranges::Label, _) => label,
        (Ranges::Midpoint, _) => midpoint(&label).unwrap_or(label),
        (Ranges::Bounds, _) => single(&label).unwrap_or(label),
        // The ends of an interval of a hierarchy are nobody's value.
        (Ranges::Rounded, Cell::Node { .. }) => label,
        (Ranges::Rounded, _) => rounded(&label).unwrap_or(label),
    };
    let cells = |c: usize| recoding.classes.iter().map(move |class| &class[c]);
    let labelled = |c: usize| labels(prepared, recoding, c).zip(cells(c)).map(text);
    let columns: Vec<Vec<String>> = match output.values {
        OutputValues::Representative => {
            let chosen = representatives(prepared, recoding, stated_k(policy).max(2)).into_iter().enumerate();
            chosen
                .map(|(c, chosen)| {
                    chosen.into_iter().zip(labelled(c)).map(|(one, label)| one.unwrap_or(label)).collect()
                })
                .collect()
        }
        OutputValues::Generalized => (0..prepared.generalizations.len()).map(|c| labelled(c).collect()).collect(),
    };
    let shown = (0..recoding.classes.len()).map(|class| columns.iter().map(|c| c[class].clone()).collect());
    recoding.shown = Some(shown.collect());
    let merged = merge(prepared, recoding);
    if let Some(words) = failing_together(prepared, recoding, merged) {
        return Err(refused(&format!("classes that look alike then are one, and fail {words} together")));
    }
    if merged > 0 {
        found.notes.push(match merged {
            1 => "1 class looks like another as they are published, and is one with it.".to_string(),
            n => format!("{n} classes look like others as they are published, and are one with them."),
        });
    }
    if output.values == OutputValues::Representative {
        found.notes.push(
            "Every class is published with one value a column that is typical of its rows and stands for all of \
             them. A cell is not the value of its row."
                .to_string(),
        );
    }
    Ok(())
}

/// A requirement that classes fail which look alike as they are published, in words. Cells of a set of quasi columns
/// may look alike where whole tuples do not.
fn failing_together(prepared: &Prepared, recoding: &Recoding, merged: usize) -> Option<String> {
    if merged == 0 && prepared.sets.is_empty() {
        return None;
    }
    let evaluator = Evaluator::new(&prepared.set, &prepared.requirements);
    let of_set = |columns: &Vec<usize>| Classes::of(&prepared.set, &prepared.generalizations, recoding, columns).groups;
    let together = match &prepared.sets[..] {
        [] => vec![recoding.groups(&prepared.set).0],
        sets => sets.iter().map(of_set).collect(),
    };
    let fails = |r: &usize| together.iter().any(|groups| !evaluator.judge(*r, groups).0);
    (0..prepared.requirements.len()).find(fails).map(|r| feasibility::words(&prepared.requirements[r]))
}

/// The label of a column in every class.
fn labels<'a>(prepared: &'a Prepared, recoding: &'a Recoding, column: usize) -> impl Iterator<Item = String> + 'a {
    let g = &prepared.generalizations[column];
    (0..recoding.classes.len()).map(move |class| recoding.label(class, column, g).into_owned())
}

/// The middle of a range of numbers, such as `[20-39]`.
fn midpoint(label: &str) -> Option<String> {
    let (low, high) = bounds(label)?;
    let two = number(low)?.checked_add(number(high)?)?.checked_div(2.into())?;
    Some(two.normalize().to_string())
}

/// The value of a range that holds only one: its bounds are those of the value itself.
fn single(label: &str) -> Option<String> {
    bounds(label).filter(|(low, high)| low == high).map(|(low, _)| low.to_string())
}

/// Makes classes that are shown alike one; how many are gone.
fn merge(prepared: &Prepared, recoding: &mut Recoding) -> usize {
    let Some(shown) = recoding.shown.take() else { return 0 };
    let before = recoding.classes.len();
    let mut index: FxHashMap<&[String], u32> = FxHashMap::default();
    let mut firsts: Vec<usize> = Vec::new();
    let number: Vec<u32> = (shown.iter().enumerate())
        .map(|(class, texts)| {
            let fresh = firsts.len() as u32;
            let number = *index.entry(texts).or_insert(fresh);
            if number == fresh {
                firsts.push(class);
            }
            number
        })
        .collect();
    let gone = before - firsts.len();
    if gone > 0 {
        let mut classes: Vec<Vec<Cell>> = firsts.iter().map(|&class| recoding.classes[class].clone()).collect();
        for (class, &into) in number.iter().enumerate().filter(|(class, into)| firsts[**into as usize] != *class) {
            for (c, g) in prepared.generalizations.iter().enumerate() {
                let joined = cover(g, &classes[into as usize][c], &recoding.classes[class][c]);
                classes[into as usize][c] = joined;
            }
        }
        recoding.classes = classes;
        let renumbered = |class: &mut u32| {
            if *class != SUPPRESSED {
                *class = number[*class as usize];
            }
        };
        match &mut recoding.assignment {
            Assignment::Tuples(class_of) => class_of.iter_mut().for_each(renumbered),
            Assignment::Entries { offsets, runs } => *runs = joined_runs(offsets, runs, renumbered),
        }
        recoding.masked = recoding.masked.map(|masked| number[masked as usize]);
        recoding.levels = None;
    }
    recoding.shown = Some(firsts.into_iter().map(|class| shown[class].clone()).collect());
    gone
}

/// The runs of every entry with their new classes, no class twice.
fn joined_runs(offsets: &mut [usize], runs: &[(u32, u64)], renumbered: impl Fn(&mut u32)) -> Vec<(u32, u64)> {
    let mut kept: Vec<(u32, u64)> = Vec::with_capacity(runs.len());
    for entry in 0..offsets.len() - 1 {
        let (from, to) = (offsets[entry], offsets[entry + 1]);
        let first = kept.len();
        for &(mut class, rows) in &runs[from..to] {
            renumbered(&mut class);
            match kept[first..].iter_mut().find(|run| run.0 == class) {
                Some(run) => run.1 += rows,
                None => kept.push((class, rows)),
            }
        }
        offsets[entry] = first;
    }
    let last = offsets.len() - 1;
    offsets[last] = kept.len();
    kept
}

/// The least cell that covers two.
fn cover(g: &Generalization, a: &Cell, b: &Cell) -> Cell {
    if a == b {
        return a.clone();
    }
    let codes = (0..g.levels[0].of.len() as u32).filter(|&code| g.covers(a, code) || g.covers(b, code));
    match (a, b) {
        (Cell::Set(_), _) | (_, Cell::Set(_)) => Cell::Set(codes.collect()),
        (Cell::Range { .. }, _) | (_, Cell::Range { .. }) => {
            let codes: Vec<u32> = codes.collect();
            match (codes.first(), codes.last()) {
                (Some(&low), Some(&high)) => Cell::Range { low, high },
                _ => a.clone(),
            }
        }
        _ => g.lowest_common_node(codes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_range_is_a_number() {
        let middle = |label: &str| midpoint(label);
        assert_eq!(middle("[20-39]").as_deref(), Some("29.5"));
        assert_eq!(middle("[20-20]").as_deref(), Some("20"));
        assert_eq!(middle("[-10--5]").as_deref(), Some("-7.5"));
        assert_eq!(middle("[-1-0.5]").as_deref(), Some("-0.25"));
        for none in ["*", "20", "[a-b]", "[20-]", "{20,39}", "[2020-01-01-2020-02-01]", "[39-20]"] {
            assert_eq!(middle(none), None, "{none}");
        }
    }
}
