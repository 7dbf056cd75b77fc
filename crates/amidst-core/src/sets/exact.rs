//! The least cost, proven, for tables of few tuples: at every node each tuple is given every pattern of stars in turn,
//! or is left out, and what cannot become cheaper than the best so far is not followed.
//!
//! Tuples stay whole, as everywhere with sets. Where the metric is no sum of prices nothing is proven.

use rustc_hash::FxHashMap;

use super::view::{Published, Stars, View};
use crate::lattice;
use crate::requirement::Requirement;
use crate::search::SearchError;

/// With more tuples there is no hope to be through.
const MOST_TUPLES: usize = 16;

/// With more columns there are too many patterns.
const MOST_COLUMNS: usize = 4;

/// Nodes up to which it is tried.
const FEW_NODES: f64 = 1_000.0;

/// Steps of the search over all nodes. Counted, so that the outcome depends on the table alone.
const STEPS: u64 = 200_000;

/// Steps between two looks at whether the search is to stop.
const PAUSE: u64 = 1 << 12;

/// A gain below this is rounding.
const ROUNDING: f64 = 1e-9;

/// What becomes of a tuple, and what that costs more than its levels; without stars it is left out.
type Way = (f64, Option<Stars>);

/// The search at one node.
struct Tree<'s, 'v, 'a> {
    view: &'s View<'v, 'a>,
    published: Published,
    /// The tuples that have rows, with what may become of each, the cheapest first.
    ways: Vec<(usize, Vec<Way>)>,
    /// What the tuples from each on cost at least.
    rest: Vec<f64>,
    /// What all of them may cost before it is too much.
    ceiling: f64,
    found: Option<Published>,
    steps: &'s mut u64,
}

/// Looks at every node for something cheaper than `best`; whether nothing costs less than what is then in it.
pub(super) fn all(view: &View<'_, '_>, best: &mut Option<(f64, Published)>) -> Result<bool, SearchError> {
    let search = view.search;
    let few = view.rows.len() <= MOST_TUPLES && search.generalizations.len() <= MOST_COLUMNS;
    if !few || lattice::nodes(search) > FEW_NODES || !view.exact_prices() {
        return Ok(false);
    }
    let mut nodes: Vec<Vec<usize>> = vec![Vec::new()];
    for (g, bottom) in search.generalizations.iter().zip(search.set.bottom()) {
        nodes = nodes.iter().flat_map(|n| (bottom..=g.height()).map(|l| [&n[..], &[l]].concat())).collect();
    }
    let mut priced: Vec<(f64, Published)> =
        nodes.iter().map(|node| view.plain(node)).map(|published| (view.cost(&published), published)).collect();
    priced.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut steps = STEPS;
    for (base, published) in priced {
        search.checkpoint()?;
        let ceiling = best.as_ref().map_or(f64::INFINITY, |b| b.0);
        if base >= ceiling - ROUNDING {
            break;
        }
        let mut tree = Tree::new(view, published, ceiling - base - ROUNDING, &mut steps);
        let finished = tree.descend(0, 0.0, search.suppression_limit())?;
        if let Some(found) = tree.found {
            *best = Some((view.cost(&found), found));
        }
        if !finished {
            return Ok(false);
        }
    }
    Ok(true)
}

impl<'s, 'v, 'a> Tree<'s, 'v, 'a> {
    fn new(view: &'s View<'v, 'a>, published: Published, ceiling: f64, steps: &'s mut u64) -> Self {
        let tuples: Vec<usize> = (0..view.rows.len()).filter(|&tuple| view.rows[tuple] > 0).collect();
        let patterns = patterns(view, &published);
        let satisfiable = Satisfiable::new(view, &published, &tuples, &patterns);
        let limit = view.search.suppression_limit();
        let of = |&tuple: &usize| {
            let rows = view.rows[tuple] as f64;
            let stars = patterns.iter().filter(|&&stars| satisfiable.serves(view, &published, tuple, stars));
            let mut ways: Vec<Way> =
                stars.map(|&stars| (rows * view.extra(&published, tuple, stars), Some(stars))).collect();
            if view.rows[tuple] <= limit {
                ways.push((rows * view.dropped_extra(&published, tuple), None));
            }
            ways.sort_by(|a, b| a.0.total_cmp(&b.0));
            (tuple, ways)
        };
        let ways: Vec<(usize, Vec<Way>)> = tuples.iter().map(of).collect();
        let mut rest = vec![0.0; ways.len() + 1];
        for at in (0..ways.len()).rev() {
            rest[at] = rest[at + 1] + ways[at].1.first().map_or(f64::INFINITY, |way| way.0);
        }
        Tree { view, published, ways, rest, ceiling, found: None, steps }
    }

    /// Gives the tuples from `at` on what may become of them; whether the steps were enough.
    fn descend(&mut self, at: usize, cost: f64, limit: u64) -> Result<bool, SearchError> {
        if cost + self.rest[at] >= self.ceiling {
            return Ok(true);
        }
        let Some(left) = self.steps.checked_sub(1) else { return Ok(false) };
        *self.steps = left;
        if left.is_multiple_of(PAUSE) {
            self.view.search.checkpoint()?;
        }
        if at == self.ways.len() {
            if self.holds() {
                self.ceiling = cost - ROUNDING;
                self.found = Some(self.published.clone());
            }
            return Ok(true);
        }
        let tuple = self.ways[at].0;
        for way in 0..self.ways[at].1.len() {
            let (more, stars) = self.ways[at].1[way];
            let rows = if stars.is_none() { self.view.rows[tuple] } else { 0 };
            let Some(limit) = limit.checked_sub(rows) else { continue };
            self.published.stars[tuple] = stars.unwrap_or_default();
            self.published.out[tuple] = stars.is_none();
            if !self.descend(at + 1, cost + more, limit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether what all tuples together are published as satisfies the policy.
    fn holds(&self) -> bool {
        let anybody = self.ways.iter().any(|&(tuple, _)| !self.published.out[tuple]);
        let set_holds = |set: usize| self.view.failing(&self.published, set).is_empty();
        anybody && (0..self.view.sets.len()).all(set_holds) && self.view.whole(&self.published)
    }
}

/// Every pattern of stars that changes something at a node, and the one without any.
fn patterns(view: &View<'_, '_>, published: &Published) -> Vec<Stars> {
    let open: Vec<usize> = (0..published.levels.len())
        .filter(|&c| published.levels[c] < view.search.generalizations[c].height())
        .collect();
    (0u64..1 << open.len())
        .map(|choice| (0..open.len()).filter(|i| choice >> i & 1 == 1).fold(0, |stars, i| stars | 1 << open[i]))
        .collect()
}

/// Which cells of a set some tuples could have together so that they satisfy the policy. Where every requirement that
/// holds goes on holding with more rows, no other cells need be tried.
struct Satisfiable {
    /// For each set, whether all tuples that could have these cells satisfy the policy together.
    of_set: Option<Vec<FxHashMap<Vec<u32>, bool>>>,
}

impl Satisfiable {
    fn new(view: &View<'_, '_>, published: &Published, tuples: &[usize], patterns: &[Stars]) -> Satisfiable {
        if !view.search.requirements.iter().all(Requirement::preserved_by_insertion) {
            return Satisfiable { of_set: None };
        }
        let judge = view.judge(published);
        let of = |set: usize| {
            let mut members: FxHashMap<Vec<u32>, Vec<Option<u32>>> = FxHashMap::default();
            for &tuple in tuples {
                for &stars in patterns {
                    let key = view.key(published, tuple, set, stars);
                    members.entry(key).or_insert_with(|| vec![None; view.rows.len()])[tuple] = Some(0);
                }
            }
            let holds = |of: Vec<Option<u32>>| judge.holds(&view.groups(&of, 1).entries);
            members.into_iter().map(|(key, of)| (key, holds(of))).collect()
        };
        Satisfiable { of_set: Some((0..view.sets.len()).map(of).collect()) }
    }

    /// Whether a tuple may be published with these stars.
    fn serves(&self, view: &View<'_, '_>, published: &Published, tuple: usize, stars: Stars) -> bool {
        let Some(of_set) = &self.of_set else { return true };
        let hope = |(set, known): (usize, &FxHashMap<Vec<u32>, bool>)| {
            known.get(&view.key(published, tuple, set, stars)).copied().unwrap_or(false)
        };
        of_set.iter().enumerate().all(hope)
    }
}
