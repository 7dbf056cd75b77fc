//! Which cells become the top, so that every set satisfies the policy at a node: quickly here, and proven by `exact`
//! where a table is small.
//!
//! Set by set, again and again: tuples of failing classes that agree under a pattern of stars and satisfy the policy
//! together, with the tuples that have that pattern already, are given it, the cheapest pattern first. What no pattern
//! serves is left out within the limit, or is given the top in every column of the set, with companions where it needs
//! them. Stars in a column that several sets share change the classes of the others; they are looked at again. Cells
//! only ever become coarser, so it ends.

use rustc_hash::FxHashMap;

use super::exact;
use super::node::Chosen;
use super::view::{MOST_COLUMNS, Published, Stars, View};
use crate::cells::published as cell_of;
use crate::hierarchy::Cell;
use crate::recoding::{Assignment, Recoding, SUPPRESSED};
use crate::search::SearchError;

/// With at most this many columns in a set every choice of them is tried as a pattern.
const ALL_PATTERNS: usize = 8;

/// Nodes that are looked at on the way to the best one.
const MOST_STEPS: usize = 60;

/// A recoding with stars, and the levels of all other cells.
pub(super) type Starred = (Recoding, Vec<usize>);

/// The best node with its stars, from the node of whole levels on, and whether nothing costs less.
pub(super) fn choose(view: &View<'_, '_>, whole: Option<&Chosen>) -> Result<(Option<Starred>, bool), SearchError> {
    if view.search.generalizations.len() > MOST_COLUMNS {
        return Ok((None, false));
    }
    let mut best = quickly(view, whole)?;
    let proven = exact::all(view, &mut best)?;
    Ok((best.map(|(_, found)| (recoding(view, &found), found.levels)), proven))
}

/// A good node with its stars: from the best of some nodes to the cheapest neighbour, while that helps.
fn quickly(view: &View<'_, '_>, whole: Option<&Chosen>) -> Result<Option<(f64, Published)>, SearchError> {
    let search = view.search;
    let top: Vec<usize> = search.generalizations.iter().map(|g| g.height()).collect();
    let starts = whole.map(|c| c.levels.clone()).into_iter().chain([search.set.bottom(), top.clone()]);
    let mut best: Option<(f64, Published)> = None;
    for start in starts {
        take(&mut best, view, place(view, &start)?);
    }
    let Some(mut here) = best else { return Ok(None) };
    for step in 0..MOST_STEPS {
        search.tell(0.5 + 0.5 * step as f64 / MOST_STEPS as f64);
        let mut next: Option<(f64, Published)> = None;
        for (c, (&top, bottom)) in top.iter().zip(search.set.bottom()).enumerate() {
            let level = here.1.levels[c];
            let around = [level.checked_sub(1).filter(|&l| l >= bottom), Some(level + 1).filter(|&l| l <= top)];
            for level in around.into_iter().flatten() {
                let mut levels = here.1.levels.clone();
                levels[c] = level;
                // Stars only make a node dearer than its levels.
                if view.cost(&view.plain(&levels)) < here.0 {
                    take(&mut next, view, place(view, &levels)?);
                }
            }
        }
        match next {
            Some(found) if found.0 < here.0 - here.0 * 1e-12 && !search.control.overdue() => here = found,
            _ => break,
        }
    }
    Ok(Some(here))
}

/// Keeps the cheaper.
fn take(best: &mut Option<(f64, Published)>, view: &View<'_, '_>, found: Option<Published>) {
    if let Some(found) = found.filter(|found| view.whole(found)) {
        let cost = view.cost(&found);
        if best.as_ref().is_none_or(|b| cost < b.0) {
            *best = Some((cost, found));
        }
    }
}

/// Places the tuples of a node; nothing where no way was found.
fn place(view: &View<'_, '_>, levels: &[usize]) -> Result<Option<Published>, SearchError> {
    let mut published = view.plain(levels);
    let mut limit = view.search.suppression_limit();
    loop {
        let mut stable = true;
        for set in 0..view.sets.len() {
            view.search.checkpoint()?;
            let failing = view.failing(&published, set);
            if failing.is_empty() {
                continue;
            }
            stable = false;
            let left = together(view, &mut published, set, failing)?;
            if !left.is_empty() && !alone(view, &mut published, set, left, &mut limit) {
                return Ok(None);
            }
        }
        if stable {
            return Ok(Some(published));
        }
    }
}

/// The patterns of stars in a set, the cheapest first by what they cost the tuples that need them.
fn patterns(view: &View<'_, '_>, published: &Published, set: usize, failing: &[u32]) -> Vec<Stars> {
    let open = |c: &&usize| published.levels[**c] < view.search.generalizations[**c].height();
    let columns: Vec<usize> = view.sets[set].iter().filter(open).copied().collect();
    let price = |stars: Stars| -> f64 {
        failing.iter().map(|&t| view.rows[t as usize] as f64 * view.extra(published, t as usize, stars)).sum()
    };
    let all: Stars = columns.iter().fold(0, |p, c| p | 1 << c);
    let mut patterns: Vec<Stars> = match columns.len() {
        n if n <= ALL_PATTERNS => {
            (1u64..1 << n).map(|set| (0..n).filter(|i| set >> i & 1 == 1).fold(0, |p, i| p | 1 << columns[i])).collect()
        }
        _ => columns.iter().flat_map(|a| columns.iter().map(move |b| 1 << a | 1 << b)).chain([all]).collect(),
    };
    patterns.sort_unstable();
    patterns.dedup();
    let mut priced: Vec<(f64, Stars)> = patterns.into_iter().map(|p| (price(p), p)).collect();
    priced.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.count_ones().cmp(&b.1.count_ones())).then(a.1.cmp(&b.1)));
    priced.into_iter().map(|p| p.1).collect()
}

/// Gives stars to the failing tuples that satisfy the policy under one pattern together; those that are left.
fn together(
    view: &View<'_, '_>,
    published: &mut Published,
    set: usize,
    mut failing: Vec<u32>,
) -> Result<Vec<u32>, SearchError> {
    for pattern in patterns(view, published, set, &failing) {
        if failing.is_empty() {
            break;
        }
        view.search.checkpoint()?;
        let judge = view.judge(published);
        let mut index: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut of: Vec<Option<u32>> = vec![None; view.rows.len()];
        for &tuple in &failing {
            let fresh = index.len() as u32;
            let key = view.key(published, tuple as usize, set, pattern);
            of[tuple as usize] = Some(*index.entry(key).or_insert(fresh));
        }
        // Tuples that are published like that already are in the same class.
        for (tuple, group) in of.iter_mut().enumerate() {
            if group.is_none() && !published.out[tuple] && view.rows[tuple] > 0 {
                *group = index.get(&view.key(published, tuple, set, 0)).copied();
            }
        }
        let groups = view.groups(&of, index.len());
        let enough: Vec<bool> = groups.iter().map(|entries| judge.holds(entries)).collect();
        let (served, left): (Vec<u32>, Vec<u32>) =
            failing.into_iter().partition(|&t| of[t as usize].is_some_and(|g| enough[g as usize]));
        served.into_iter().for_each(|t| published.stars[t as usize] |= pattern);
        failing = left;
    }
    Ok(failing)
}

/// Leaves out the tuples that no pattern serves, or publishes them with the top in every column of the set, with
/// companions where they need them. Whether there was a way.
fn alone(view: &View<'_, '_>, published: &mut Published, set: usize, left: Vec<u32>, limit: &mut u64) -> bool {
    let pattern: Stars = view.sets[set].iter().fold(0, |p, c| p | 1 << c);
    let rows: u64 = left.iter().map(|&t| view.rows[t as usize]).sum();
    let mut starred = published.clone();
    left.iter().for_each(|&t| starred.stars[t as usize] |= pattern);
    let (of, count) = view.classes(&starred, set);
    let groups = view.groups(&of, count);
    let own = left.first().and_then(|&t| of[t as usize]);
    let mut others: Vec<u32> = (0..count as u32).filter(|&c| Some(c) != own).collect();
    others.sort_by_key(|&c| (crate::frequency::rows(groups.get(c as usize)), c));
    let judge = view.judge(&starred);
    let mut members: Vec<Option<u32>> = of.iter().map(|c| (c.is_some() && *c == own).then_some(0)).collect();
    let mut holds = judge.holds(&view.groups(&members, 1).entries);
    let mut companions = others.into_iter();
    while !holds {
        let Some(class) = companions.next() else { break };
        for (tuple, member) in of.iter().enumerate().filter(|(_, c)| **c == Some(class)).map(|(t, _)| (t, 0)) {
            members[tuple] = Some(member);
            starred.stars[tuple] |= pattern;
        }
        holds = judge.holds(&view.groups(&members, 1).entries);
    }
    let dropped: f64 =
        left.iter().map(|&t| view.rows[t as usize] as f64 * view.dropped_extra(published, t as usize)).sum();
    let dearer = || view.cost(&starred) - view.cost(published);
    if rows <= *limit && (!holds || dropped < dearer()) {
        *limit -= rows;
        left.iter().for_each(|&t| published.out[t as usize] = true);
        return published.out.iter().zip(&view.rows).any(|(&out, &rows)| !out && rows > 0);
    }
    *published = starred;
    holds
}

/// What each row becomes.
fn recoding(view: &View<'_, '_>, published: &Published) -> Recoding {
    let (set, generalizations) = (view.search.set, view.search.generalizations);
    let mut index: FxHashMap<Vec<Cell>, u32> = FxHashMap::default();
    let mut classes: Vec<Vec<Cell>> = Vec::new();
    let mut plain = true;
    let mut class = |tuple: usize| {
        if published.out[tuple] {
            return SUPPRESSED;
        }
        plain &= published.stars[tuple] == 0;
        let cell = |(c, (&code, g)): (usize, (&u32, &crate::hierarchy::Generalization))| {
            let level = if published.stars[tuple] >> c & 1 == 1 { g.height() } else { published.levels[c] };
            cell_of(g, level, g.levels[level].of[code as usize])
        };
        let cells: Vec<Cell> = set.tuple(tuple).iter().zip(generalizations).enumerate().map(cell).collect();
        *index.entry(cells).or_insert_with_key(|cells| {
            classes.push(cells.clone());
            classes.len() as u32 - 1
        })
    };
    let of_tuple: Vec<u32> = (0..set.len()).map(&mut class).collect();
    let levels = plain.then(|| published.levels.clone());
    Recoding { classes, assignment: Assignment::Tuples(of_tuple), levels, masked: None, shown: None }
}
