//! The oracle: every node of the lattice, counted from the tuples and judged class by class.

use std::collections::BTreeMap;

use crate::class::Sizes;
use crate::frequency::{self, Entry, Groups};
use crate::hierarchy::Cell;
use crate::metric::Release;
use crate::model::Needs;
use crate::recoding::{Assignment, Recoding, SUPPRESSED};
use crate::requirement::Evaluator;
use crate::search::{Search, Suppressed};

/// A valid node.
#[derive(Debug, Clone)]
pub struct Valid {
    pub levels: Vec<usize>,
    pub suppressed: u64,
    pub classes: u64,
    /// The persons of the smallest class that is published as it stands.
    pub smallest: u64,
    pub cost: Option<f64>,
}

/// All levels from the bottom to the top.
pub fn nodes(heights: &[usize]) -> Vec<Vec<usize>> {
    let mut nodes = vec![vec![]];
    for &h in heights {
        nodes = nodes.iter().flat_map(|n| (0..=h).map(move |l| [&n[..], &[l]].concat())).collect();
    }
    nodes
}

/// The valid nodes of a search.
pub fn valid(search: &Search<'_>) -> Vec<Valid> {
    let heights: Vec<usize> = search.generalizations.iter().map(|g| g.height()).collect();
    let evaluator = Evaluator::new(search.set, search.requirements);
    nodes(&heights).into_iter().filter_map(|levels| judge(search, &evaluator, levels)).collect()
}

/// The classes of a node in the order of their first tuple, as ties among equal sizes are broken: values and tuples.
pub fn classes(search: &Search<'_>, levels: &[usize]) -> Vec<(Vec<u32>, Vec<u32>)> {
    let set = search.set;
    let mut classes: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
    for tuple in 0..set.len() {
        let values: Vec<u32> = (set.tuple(tuple).iter().zip(search.generalizations).zip(levels))
            .map(|((&c, g), &l)| g.levels[l].of[c as usize])
            .collect();
        classes.entry(values).or_default().push(tuple as u32);
    }
    let mut classes: Vec<(Vec<u32>, Vec<u32>)> = classes.into_iter().collect();
    classes.sort_by_key(|c| c.1[0]);
    classes
}

/// The entries of some tuples.
pub fn entries(search: &Search<'_>, tuples: &[u32]) -> Vec<Entry> {
    let pairs = tuples.iter().flat_map(|&t| search.set.groups.get(t as usize).iter().map(|&e| (0, e))).collect();
    Groups::collect(1, pairs).entries
}

/// What a node is worth; `None` when it is not valid.
pub fn judge(search: &Search<'_>, evaluator: &Evaluator<'_>, levels: Vec<usize>) -> Option<Valid> {
    let set = search.set;
    let classes = classes(search, &levels);
    let entries = |tuples: &[u32]| entries(search, tuples);
    let by_class: Vec<usize> =
        (0..search.requirements.len()).filter(|&r| search.requirements[r].needs() != Needs::Release).collect();
    let holds =
        |entries: &[Entry], tuples: &[u32]| by_class.iter().all(|&r| evaluator.holds_covering(r, entries, tuples));
    let mut kept: Vec<(u64, usize)> = Vec::new();
    let mut out: Vec<usize> = Vec::new();
    for (i, (_, tuples)) in classes.iter().enumerate() {
        let entries = entries(tuples);
        if entries.is_empty() {
            continue;
        }
        if holds(&entries, tuples) {
            kept.push((frequency::size(&entries), i));
        } else {
            out.push(i);
        }
    }
    let rows = |out: &[usize]| out.iter().map(|&i| frequency::rows(&entries(&classes[i].1))).sum::<u64>();
    let masked = |out: &[usize]| {
        let tuples: Vec<u32> = out.iter().flat_map(|&i| classes[i].1.iter().copied()).collect();
        entries(&tuples)
    };
    kept.sort();
    loop {
        if rows(&out) > search.suppression_limit() {
            return None;
        }
        let mut sizes: Vec<u64> = kept.iter().map(|k| k.0).collect();
        if search.suppressed == Suppressed::Mask && !out.is_empty() {
            sizes.push(frequency::size(&masked(&out)));
        }
        let sizes = Sizes::collect(sizes);
        let release = search.requirements.iter().filter(|r| r.needs() == Needs::Release);
        if release.into_iter().all(|r| r.models.iter().all(|m| m.holds_release(&sizes))) {
            break;
        }
        if kept.is_empty() {
            return None;
        }
        out.push(kept.remove(0).1);
    }
    let all: Vec<u32> = (0..set.len() as u32).collect();
    if search.suppressed == Suppressed::Mask && !out.is_empty() && !holds(&masked(&out), &all) {
        return None;
    }
    if search.suppressed == Suppressed::Drop && kept.is_empty() {
        return None;
    }
    let mut class_of = vec![SUPPRESSED; set.len()];
    let mut cells: Vec<Vec<Cell>> = Vec::new();
    for &(_, i) in &kept {
        classes[i].1.iter().for_each(|&t| class_of[t as usize] = cells.len() as u32);
        let cell = |(&value, &level): (&u32, &usize)| Cell::Node { level: level as u32, value };
        cells.push(classes[i].0.iter().zip(&levels).map(cell).collect());
    }
    if search.suppressed == Suppressed::Mask && !out.is_empty() {
        out.iter().for_each(|&i| classes[i].1.iter().for_each(|&t| class_of[t as usize] = cells.len() as u32));
        let top = |g: &crate::hierarchy::Generalization| Cell::Node { level: g.height() as u32, value: 0 };
        cells.push(search.generalizations.iter().map(top).collect());
    }
    let count = cells.len() as u64;
    let smallest = kept.first().map_or(0, |k| k.0);
    let recoding = Recoding {
        classes: cells,
        assignment: Assignment::Tuples(class_of),
        levels: Some(levels.clone()),
        masked: None,
        shown: None,
    };
    let (groups, suppressed) = recoding.groups(set);
    let cost = search.metric.metric.loss(&Release {
        set,
        generalizations: search.generalizations,
        recoding: &recoding,
        groups: &groups,
        suppressed,
        k: search.k,
    });
    Some(Valid { levels, suppressed: rows(&out), classes: count, smallest, cost })
}

/// The levels of the valid nodes that generalize no other.
pub fn minimal(valid: &[Valid]) -> Vec<Vec<usize>> {
    let finer = |a: &[usize], b: &[usize]| a != b && a.iter().zip(b).all(|(x, y)| x <= y);
    let mut minimal: Vec<Vec<usize>> =
        (valid.iter().map(|v| v.levels.clone())).filter(|v| !valid.iter().any(|w| finer(&w.levels, v))).collect();
    minimal.sort();
    minimal
}

/// The levels of the best node; costs that differ by rounding alone are equal.
pub fn best(valid: &[Valid]) -> Option<Vec<usize>> {
    let cost = |v: &Valid| v.cost.unwrap_or(f64::INFINITY);
    let least = valid.iter().map(cost).fold(f64::INFINITY, f64::min);
    valid
        .iter()
        .filter(|v| cost(v) <= least + 1e-10 * least.abs() + 1e-14)
        .min_by_key(|v| (v.levels.iter().sum::<usize>(), v.levels.clone()))
        .map(|v| v.levels.clone())
}

/// The levels of the valid nodes of least height.
pub fn lowest(valid: &[Valid]) -> Vec<Vec<usize>> {
    let height = |v: &Valid| v.levels.iter().sum::<usize>();
    let least = valid.iter().map(height).min();
    let mut lowest: Vec<Vec<usize>> =
        valid.iter().filter(|v| Some(height(v)) == least).map(|v| v.levels.clone()).collect();
    lowest.sort();
    lowest
}
