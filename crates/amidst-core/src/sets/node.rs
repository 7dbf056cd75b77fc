//! Which node: every one of a small lattice, the cheapest first; in a large one down from the top, always to the
//! cheapest valid neighbour.
//!
//! Classes that fail in some set are left out within the limit. That takes rows from classes of other sets, which may
//! fail then, so it is repeated until nothing fails.

use rustc_hash::FxHashMap;

use super::view::{Published, View};
use crate::algorithm::Choice;
use crate::lattice;
use crate::metric::Release;
use crate::recoding::Recoding;
use crate::search::SearchError;

/// Nodes times tuples up to which every node is looked at.
const WORK: f64 = 3e8;

/// Nodes up to which every node is looked at.
const MOST_NODES: f64 = 1e5;

/// A node, and the tuples that are left out there.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    pub levels: Vec<usize>,
    pub out: Vec<bool>,
    /// Whether no node is better.
    pub optimal: bool,
}

/// What is known of the sets at their levels, where no row may be left out.
type Known = FxHashMap<(usize, Vec<usize>), bool>;

/// The node of these levels, if it satisfies the policy.
pub(super) fn at(view: &View<'_, '_>, levels: &[usize]) -> Result<Option<Chosen>, SearchError> {
    let found = valid(view, levels, &mut Known::default())?;
    Ok(found.map(|p| Chosen { levels: p.levels, out: p.out, optimal: false }))
}

/// The node that the policy's algorithm would choose; nothing where none was found.
pub(super) fn choose(view: &View<'_, '_>, choice: Choice) -> Result<Option<Chosen>, SearchError> {
    let count = lattice::nodes(view.search);
    match count <= MOST_NODES && count * view.rows.len() as f64 * view.sets.len() as f64 <= WORK {
        true => among_all(view, choice),
        false => downwards(view),
    }
}

/// What is published at a node, if it satisfies the policy with few enough rows left out.
fn valid(view: &View<'_, '_>, levels: &[usize], known: &mut Known) -> Result<Option<Published>, SearchError> {
    view.search.checkpoint()?;
    let limit = view.search.suppression_limit();
    let mut published = view.plain(levels);
    if limit == 0 {
        for (set, columns) in view.sets.iter().enumerate() {
            let own: Vec<usize> = columns.iter().map(|&c| levels[c]).collect();
            let holds = *known.entry((set, own)).or_insert_with(|| view.failing(&published, set).is_empty());
            if !holds {
                return Ok(None);
            }
        }
        return Ok(view.whole(&published).then_some(published));
    }
    let mut left = limit;
    loop {
        let mut failing: Vec<u32> = (0..view.sets.len()).flat_map(|set| view.failing(&published, set)).collect();
        failing.sort_unstable();
        failing.dedup();
        if failing.is_empty() {
            let anybody = published.out.iter().zip(&view.rows).any(|(&out, &rows)| !out && rows > 0);
            return Ok((anybody && view.whole(&published)).then_some(published));
        }
        for tuple in failing {
            let Some(less) = left.checked_sub(view.rows[tuple as usize]) else { return Ok(None) };
            left = less;
            published.out[tuple as usize] = true;
        }
    }
}

/// The metric's own word on a node.
fn metric(view: &View<'_, '_>, published: &Published) -> f64 {
    let search = view.search;
    let kept = |tuple: usize| !published.out[tuple];
    let recoding = Recoding::full_domain_of(search.set, search.generalizations, &published.levels, kept);
    let (groups, suppressed) = recoding.groups(search.set);
    let (set, generalizations, k) = (search.set, search.generalizations, search.k);
    let release = Release { set, generalizations, recoding: &recoding, groups: &groups, suppressed, k };
    search.metric.metric.loss(&release).unwrap_or_else(|| view.cost(published))
}

fn among_all(view: &View<'_, '_>, choice: Choice) -> Result<Option<Chosen>, SearchError> {
    let search = view.search;
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for (g, bottom) in search.generalizations.iter().zip(search.set.bottom()) {
        all = all.iter().flat_map(|n| (bottom..=g.height()).map(|l| [&n[..], &[l]].concat())).collect();
    }
    let height = |node: &[usize]| node.iter().sum::<usize>();
    let exact = view.exact_prices();
    let mut priced: Vec<(f64, Vec<usize>)> =
        all.into_iter().map(|node| (if exact { view.cost(&view.plain(&node)) } else { 0.0 }, node)).collect();
    // The lower first among equals, then by levels, so that nothing depends on chance.
    priced.sort_by(|a, b| a.0.total_cmp(&b.0).then(height(&a.1).cmp(&height(&b.1))).then(a.1.cmp(&b.1)));
    if choice == Choice::Lowest {
        priced.sort_by_key(|(_, node)| height(node));
    }
    let total = priced.len();
    let mut known = Known::default();
    let mut best: Option<(f64, Published)> = None;
    for (i, (least, node)) in priced.into_iter().enumerate() {
        search.tell(0.5 * i as f64 / total as f64);
        if let Some((cost, found)) = &best {
            let lower = choice == Choice::Lowest && height(&node) > height(&found.levels);
            // No node costs less than its own cells do before anything is left out.
            let dearer = exact && choice != Choice::Lowest && least >= *cost;
            if lower || dearer {
                break;
            }
        }
        let Some(found) = valid(view, &node, &mut known)? else { continue };
        let cost = if exact { view.cost(&found) } else { metric(view, &found) };
        if best.as_ref().is_none_or(|b| cost < b.0) && (choice != Choice::Minimal || minimal(view, &node, &mut known)?)
        {
            best = Some((cost, found));
        }
    }
    let optimal = choice == Choice::Best;
    Ok(best.map(|(_, p)| Chosen { levels: p.levels, out: p.out, optimal }))
}

/// Whether no node one level lower in one column is valid.
fn minimal(view: &View<'_, '_>, node: &[usize], known: &mut Known) -> Result<bool, SearchError> {
    for (c, bottom) in view.search.set.bottom().into_iter().enumerate() {
        let mut lower = node.to_vec();
        if lower[c] > bottom {
            lower[c] -= 1;
            if valid(view, &lower, known)?.is_some() {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn downwards(view: &View<'_, '_>) -> Result<Option<Chosen>, SearchError> {
    let bottom = view.search.set.bottom();
    let mut known = Known::default();
    let top: Vec<usize> = view.search.generalizations.iter().map(|g| g.height()).collect();
    let steps = top.iter().zip(&bottom).map(|(t, b)| t - b).sum::<usize>().max(1);
    let Some(mut here) = valid(view, &top, &mut known)? else { return Ok(None) };
    let mut cost = view.cost(&here);
    for step in 0.. {
        view.search.tell(0.5 * (f64::from(step) / steps as f64).min(1.0));
        let mut next: Option<(f64, Published)> = None;
        for c in 0..top.len() {
            let mut levels = here.levels.clone();
            if levels[c] == bottom[c] {
                continue;
            }
            levels[c] -= 1;
            if let Some(found) = valid(view, &levels, &mut known)? {
                let cost = view.cost(&found);
                if next.as_ref().is_none_or(|n| cost < n.0) {
                    next = Some((cost, found));
                }
            }
        }
        match next {
            Some((less, found)) if less < cost => (cost, here) = (less, found),
            _ => break,
        }
    }
    Ok(Some(Chosen { levels: here.levels, out: here.out, optimal: false }))
}
