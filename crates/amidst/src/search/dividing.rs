//! Releases that are put together from releases of parts of the table.
//!
//! A column is `*` in every row where every class mixes what its hierarchy parts last. If the rows below one node of it
//! are recoded by themselves, they tell that node at the least, whatever becomes of the others. So the table is divided
//! by such a node, the one that costs least, and further parts by other columns that are still `*`. Only requirements
//! that look at one class at a time allow it; the classes of the whole are judged again in the end.

use amidst_core::algorithm;
use amidst_core::frequency::{Entry, FrequencySet, Groups};
use amidst_core::hierarchy::{Cell, Generalize, TOP};
use amidst_core::metric::{cell_loss, column_weights};
use amidst_core::model::Needs;
use amidst_core::recoding::{Assignment, Recoding, SUPPRESSED};
use amidst_core::requirement::Evaluator;
use amidst_core::search::own_distribution::compares;
use amidst_core::search::{Found, MaxSuppression, Search, SearchError, Suppressed};

use super::starred::starred;
use crate::Failure;

/// The most nodes by which a part is tried to be divided.
const MOST_NODES: usize = 16;

/// Tuples of the table, and what they become.
struct Region {
    tuples: Vec<usize>,
    set: FrequencySet,
    recoding: Recoding,
    loss: f64,
}

/// Whether the parts of a table can be recoded one by one: what a class must satisfy hangs on it alone.
fn divisible(search: &Search<'_>) -> bool {
    let alone = |r| !compares(r) && r.needs() != Needs::Tuples && r.monotone(search.set);
    search.suppressed == Suppressed::Drop && !search.set.rolled_up() && search.requirements.iter().all(alone)
}

/// A release divided by the columns that `recoding` has nothing of, in so far as they can be kept. `entry` improves
/// what the quickest algorithm finds. Nothing where none of them can be.
///
/// # Errors
/// When the search is stopped.
pub(super) fn divided(
    search: &Search<'_>,
    entry: &'static algorithm::Entry,
    recoding: &Recoding,
) -> Result<Option<(Found, Vec<usize>)>, Failure> {
    if !divisible(search) {
        return Ok(None);
    }
    let evaluator = Evaluator::new(search.set, search.requirements);
    let tuples: Vec<usize> = (0..search.set.len()).collect();
    let mut regions = vec![Region { tuples, set: search.set.clone(), recoding: recoding.clone(), loss: 0.0 }];
    let (mut columns, mut lost): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut whole = recoding.clone();
    while let Some(&column) = starred(search, &whole).iter().find(|c| !columns.contains(c) && !lost.contains(c)) {
        let mut best: Option<(f64, usize, [Region; 2])> = None;
        for (at, region) in regions.iter().enumerate() {
            for inside in nodes(search, region, column) {
                let halves = [true, false].map(|side| chosen(region, &inside, side));
                if !halves.iter().all(|tuples| holds(search, &evaluator, tuples)) {
                    continue;
                }
                let Some(halves) = recoded(search, algorithm::MONDRIAN, halves)? else { continue };
                let more = halves[0].loss + halves[1].loss - region.loss;
                if best.as_ref().is_none_or(|b| more < b.0) {
                    best = Some((more, at, halves));
                }
            }
        }
        let Some((_, at, halves)) = best else {
            lost.push(column);
            continue;
        };
        regions.swap_remove(at);
        regions.extend(halves);
        columns.push(column);
        whole = together(search.set, &regions);
    }
    if search.control.deadline.is_none() && entry.id != algorithm::MONDRIAN.id {
        for region in &mut regions {
            if let Some(better) = one(search, entry, region.tuples.clone())?.filter(|b| b.loss < region.loss) {
                *region = better;
            }
        }
        let improved = together(search.set, &regions);
        // What is divided stays divided; other columns may have been given up for less loss.
        if starred(search, &improved).len() <= starred(search, &whole).len() {
            whole = improved;
        }
    }
    let (groups, suppressed) = whole.groups(search.set);
    let hold = (0..search.requirements.len()).all(|r| evaluator.judge(r, &groups).0);
    if !hold || suppressed > 0 || columns.is_empty() {
        return Ok(None);
    }
    let notes = vec!["rows that differ in a column are recoded apart, so that it tells something".to_string()];
    let found = Found { recoding: whole, coding: None, optimal: false, gap: None, least_loss: None, notes };
    Ok(Some((found, columns)))
}

/// The tuples of a region inside or outside of a node.
fn chosen(region: &Region, inside: &[bool], side: bool) -> Vec<usize> {
    region.tuples.iter().zip(inside).filter(|(_, inside)| **inside == side).map(|(tuple, _)| *tuple).collect()
}

/// For nodes of a column, coarse ones first, which tuples of a region they hold; some of them, not all.
fn nodes(search: &Search<'_>, region: &Region, column: usize) -> Vec<Vec<bool>> {
    let g = &search.generalizations[column];
    let code = |&tuple: &usize| search.set.tuple(tuple)[column] as usize;
    let codes: Vec<usize> = region.tuples.iter().map(code).collect();
    let mut sorted = codes.clone();
    sorted.sort_unstable();
    let parted = |inside: &Vec<bool>| inside.contains(&true) && inside.contains(&false);
    let mut found: Vec<Vec<bool>> = Vec::new();
    if g.generalize == Generalize::Ranges {
        for share in 1..MOST_NODES {
            let Some(&end) = sorted.get(sorted.len() * share / MOST_NODES) else { continue };
            found.extend(Some(codes.iter().map(|code| *code < end).collect()).filter(&parted));
        }
        found.dedup();
        return found;
    }
    for level in g.levels[..g.height()].iter().rev() {
        for value in (0..level.labels.len()).filter(|value| level.labels[*value] != TOP) {
            let inside: Vec<bool> = codes.iter().map(|&code| level.of[code] as usize == value).collect();
            found.extend(Some(inside).filter(&parted));
        }
        // Finer nodes are inside of coarser ones; they are needed only where there are no coarser ones.
        if found.len() >= 2 {
            break;
        }
    }
    let rows = |inside: &Vec<bool>| inside.iter().filter(|i| **i).count();
    found.sort_by_key(rows);
    // Those of few tuples change least, but must be large enough; the largest are.
    let large = found.len().saturating_sub(MOST_NODES);
    found.split_off(large)
}

/// Whether some tuples satisfy the policy as one class.
fn holds(search: &Search<'_>, evaluator: &Evaluator<'_>, tuples: &[usize]) -> bool {
    let entries = tuples.iter().flat_map(|&tuple| search.set.groups.get(tuple)).map(|&entry| (0, entry));
    let class = Groups::collect(1, entries.collect());
    !class.get(0).is_empty() && evaluator.holds_all(class.get(0))
}

/// Two parts, each recoded by itself; nothing where one of them cannot be.
fn recoded(
    search: &Search<'_>,
    entry: &'static algorithm::Entry,
    [first, second]: [Vec<usize>; 2],
) -> Result<Option<[Region; 2]>, Failure> {
    let Some(first) = one(search, entry, first)? else { return Ok(None) };
    Ok(one(search, entry, second)?.map(|second| [first, second]))
}

/// Some tuples, recoded by themselves without leaving out any.
fn one(search: &Search<'_>, entry: &'static algorithm::Entry, tuples: Vec<usize>) -> Result<Option<Region>, Failure> {
    let set = subset(search.set, &tuples);
    let own = Search {
        set: &set,
        max_suppression: MaxSuppression::Rows(0),
        entry_of_row: None,
        control: search.control.quiet().without_deadline(),
        ..search.clone()
    };
    let recoding = match entry.algorithm.search(&own) {
        Ok(found) => found.recoding,
        Err(SearchError::Cancelled) => return Err(SearchError::Cancelled.into()),
        Err(_) => return Ok(None),
    };
    let loss = loss(&own, &recoding);
    Ok(Some(Region { tuples, set, recoding, loss }))
}

/// What is lost by the weights of the policy, over all cells.
fn loss(search: &Search<'_>, recoding: &Recoding) -> f64 {
    let weights = column_weights(search.generalizations);
    let of_class = |class: &Vec<Cell>| -> f64 {
        let cells = class.iter().zip(search.generalizations).zip(&weights);
        cells.map(|((cell, g), weight)| weight * cell_loss(g, cell)).sum()
    };
    let classes: Vec<f64> = recoding.classes.iter().map(of_class).collect();
    let mut total = 0.0;
    recoding.for_each_part(search.set, |part| {
        let lost = part.class.map_or(weights.iter().sum(), |class| classes[class.index()]);
        total += part.entry.rows as f64 * lost;
    });
    total
}

/// The set of some tuples, ascending.
fn subset(set: &FrequencySet, tuples: &[usize]) -> FrequencySet {
    let mut own = FrequencySet { tuples: Vec::new(), groups: Groups::default(), rows: 0, ..set.clone() };
    own.groups.offsets = vec![0];
    for &tuple in tuples {
        own.tuples.extend_from_slice(set.tuple(tuple));
        own.groups.entries.extend_from_slice(set.groups.get(tuple));
        own.groups.offsets.push(own.groups.entries.len());
    }
    own.rows = own.groups.entries.iter().map(|entry: &Entry| entry.rows).sum();
    own
}

/// One recoding of the table from those of its parts.
fn together(set: &FrequencySet, regions: &[Region]) -> Recoding {
    let mut classes = Vec::new();
    let mut of_entry: Vec<Vec<(u32, u64)>> = vec![Vec::new(); set.groups.entries.len()];
    for region in regions {
        let base = classes.len() as u32;
        let numbered = |class: u32| if class == SUPPRESSED { SUPPRESSED } else { base + class };
        classes.extend(region.recoding.classes.iter().cloned());
        for (own, &tuple) in region.tuples.iter().enumerate() {
            let (from, first) = (region.set.groups.offsets[own], set.groups.offsets[tuple]);
            for (i, entry) in set.groups.get(tuple).iter().enumerate() {
                of_entry[first + i] = match &region.recoding.assignment {
                    Assignment::Tuples(class_of) => vec![(numbered(class_of[own]), entry.rows)],
                    Assignment::Entries { offsets, runs } => {
                        let runs = &runs[offsets[from + i]..offsets[from + i + 1]];
                        runs.iter().map(|&(class, rows)| (numbered(class), rows)).collect()
                    }
                };
            }
        }
    }
    let mut offsets = vec![0];
    for runs in &of_entry {
        offsets.push(offsets[offsets.len() - 1] + runs.len());
    }
    let assignment = Assignment::Entries { offsets, runs: of_entry.concat() };
    Recoding { classes, assignment, levels: None, masked: None, shown: None }
}
