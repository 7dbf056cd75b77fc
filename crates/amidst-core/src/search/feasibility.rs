//! Policies that no release can satisfy, recognised from the table's histogram before any search.
//!
//! A monotone requirement that every class satisfies holds for all classes merged: for the whole table. So when the
//! whole table fails it and every row must be published, no release satisfies it, by generalization of
//! whatever kind. When rows may be left out, that argument needs a requirement that leaving out rows cannot
//! help: enough persons, or enough kinds of values.

use crate::frequency::{Entry, Groups};
use crate::model::{Bound, Level, Needs, Stronger};
use crate::requirement::{Evaluator, Requirement};
use crate::search::{Impossible, Search, Unmet};
use crate::sensitive::belief::{CONTRADICTED, contradicted};

/// The first requirement that no release can satisfy, whatever the algorithm. `None` does not promise that there is
/// one.
pub fn impossible(search: &Search<'_>) -> Option<Impossible> {
    let limit = search.suppression_limit();
    let bounded = |r: &Requirement| r.monotone(search.set) && (limit == 0 || r.preserved_by_insertion());
    // Of risks over a whole release none is lower than that of all rows in one class.
    let (requirement, best) = whole_table(search, |r| r.needs() == Needs::Release || bounded(r))?;
    let message = format!("no release can satisfy {}: {}", words(&search.requirements[requirement]), possible(&best));
    Some(unmet(message, requirement, best))
}

/// The first requirement that the whole table fails as one class, and what it reaches, in words. Unlike
/// [`impossible`] this proves nothing: leaving out rows may help, or a finer class may do better.
pub fn failing(search: &Search<'_>) -> Option<Impossible> {
    let (requirement, best) = whole_table(search, |_| true)?;
    let failed = &search.requirements[requirement];
    // Where finer classes may do better, what the whole table reaches bounds nothing.
    let reached = match best.bound == Bound::Never || failed.monotone(search.set) {
        true => possible(&best) + &such_rows(search, failed, &best),
        false => format!("it reaches {} {} {}", best.parameter, best.sign(), best.figure()),
    };
    let words = words(failed);
    let message =
        format!("no generalization satisfies the policy; the whole table as one class fails {words} ({reached})");
    Some(unmet(message, requirement, best))
}

/// How many rows a population contradicts, where that is what stands in the way.
fn such_rows(search: &Search<'_>, failed: &Requirement, best: &Level) -> String {
    let (Some(population), [column], Some(CONTRADICTED)) = (&failed.population, &failed.on[..], best.obstacle) else {
        return String::new();
    };
    let (rows, _) = contradicted(search.set, population, *column);
    format!(", {rows} of {} rows", search.set.rows)
}

fn unmet(message: String, requirement: usize, best: Level) -> Impossible {
    Impossible { message, unmet: Some(Box::new(Unmet { requirement, best })), least_suppression: None }
}

/// Whether all rows as one class satisfy every requirement: then there is a release, if not a useful one.
pub fn holds_as_one_class(search: &Search<'_>) -> bool {
    let (_, entries) = one_class(search);
    !entries.is_empty() && whole_table(search, |_| true).is_none()
}

/// For each requirement the strongest parameter that any release of all rows can satisfy: what the whole table
/// satisfies as one class. `None` for requirements of which that is no bound, and for an empty table.
pub fn strongest(search: &Search<'_>) -> Vec<Option<Level>> {
    let evaluator = Evaluator::new(search.set, search.requirements);
    let (tuples, entries) = one_class(search);
    let measured = |(i, requirement): (usize, &Requirement)| {
        let bound = requirement.monotone(search.set) && !entries.is_empty();
        bound.then(|| evaluator.measure_covering(i, &entries, &tuples)).flatten()
    };
    search.requirements.iter().enumerate().map(measured).collect()
}

/// The whole table as one class: its tuples and its entries.
fn one_class(search: &Search<'_>) -> (Vec<u32>, Vec<Entry>) {
    let set = search.set;
    let entries = match set.persons {
        true => Groups::collect(1, set.groups.entries.iter().map(|&e| (0, e)).collect()).entries,
        false => set.groups.regroup(|_| Some(0), 1, set.sensitive_count()).entries,
    };
    ((0..set.len() as u32).collect(), entries)
}

/// The first of the requirements in question that the whole table fails as one class, and what the table reaches.
fn whole_table(search: &Search<'_>, in_question: impl Fn(&Requirement) -> bool) -> Option<(usize, Level)> {
    let evaluator = Evaluator::new(search.set, search.requirements);
    let (tuples, entries) = one_class(search);
    if entries.is_empty() {
        return None;
    }
    let whole = Groups { offsets: vec![0, entries.len()], entries };
    search.requirements.iter().enumerate().filter(|(_, r)| in_question(r)).find_map(|(i, r)| match r.needs() {
        Needs::Release => match evaluator.judge(i, &whole) {
            (false, Some(level)) => Some((i, level)),
            _ => None,
        },
        _ if evaluator.holds_covering(i, &whole.entries, &tuples) => None,
        _ => Some((i, evaluator.measure_covering(i, &whole.entries, &tuples)?)),
    })
}

/// A requirement in words: its model and parameters.
pub fn words(requirement: &Requirement) -> String {
    let parameters: Vec<String> = requirement
        .parameters
        .iter()
        .filter_map(|(name, value)| value.number().map(|n| format!("{name} = {n}")))
        .collect();
    let model = requirement.model.id;
    if parameters.is_empty() { model.to_string() } else { format!("{model} with {}", parameters.join(", ")) }
}

/// A fraction that takes more characters is told as a decimal, rounded to the side that holds.
const LONGEST: usize = 20;

/// The most that is possible, in words.
pub fn possible(level: &Level) -> String {
    let value = match &level.bound {
        Bound::Never => {
            let why = level.obstacle.map(|why| format!(": {why}")).unwrap_or_default();
            return format!("no {} is possible in this table{why}", level.parameter);
        }
        Bound::Always => return format!("any {} is possible", level.parameter),
        Bound::Exact(value) => {
            Some(value.to_string()).filter(|text| text.len() <= LONGEST).unwrap_or_else(|| level.figure())
        }
        Bound::Real(_) => level.figure(),
    };
    let how = match (level.stronger, level.attained) {
        (Stronger::Larger, true) => "the largest possible",
        (Stronger::Larger, false) => "it must be less than the",
        (Stronger::Smaller, true) => "the smallest possible",
        (Stronger::Smaller, false) => "it must be more than the",
    };
    match level.attained {
        true => format!("{how} {} in this table is {value}", level.parameter),
        false => format!("{how} {} of the whole table, {value}", level.parameter),
    }
}
