//! Which node: from the best of some starting nodes to the cheapest neighbour, one level in one column at a time, for
//! as long as that helps and the work allows; on small tables every node, with the least cost of each.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::coded::{Coded, Prices};
use super::{exact, place};
use crate::lattice;
use crate::local::class::Judge;
use crate::metric::CellLoss;
use crate::recoding::Recoding;
use crate::requirement::{Evaluator, Requirement};
use crate::search::{Search, SearchError, Suppressed};

/// Units looked at under patterns until no further step is taken. Counted, so that the outcome depends on the table
/// alone.
const WORK: u64 = 150_000_000;

/// A gain below this share of the cost is rounding.
const ROUNDING: f64 = 1e-12;

/// Steps of the exact search over all nodes.
const STEPS: u64 = 3_000_000;

/// Nodes up to which the exact search is tried.
const FEW_NODES: f64 = 5_000.0;

/// What was chosen.
#[derive(Debug)]
pub(crate) struct Choice {
    /// What each row becomes.
    pub recoding: Recoding,
    /// The level of each column where no cell is suppressed.
    pub levels: Vec<usize>,
    /// Whether it is proven that nothing costs less.
    pub optimal: bool,
}

/// The table and what it is searched for.
struct Chooser<'s, 'a> {
    search: &'s Search<'a>,
    judge: &'s Judge<'a>,
    prices: &'s Prices,
    /// Whether a unit that fails still does after any rows are gone.
    growing: bool,
    limit: u64,
}

/// Looks for the node and the cells of least cost, from the starting nodes on. Nothing where no node can be placed.
pub(crate) fn choose(
    search: &Search<'_>,
    judge: &Judge<'_>,
    loss: CellLoss,
    starts: &[Vec<usize>],
) -> Result<Option<Choice>, SearchError> {
    let prices = Prices::new(search.set, search.generalizations, loss);
    let growing = search.requirements.iter().all(Requirement::preserved_by_insertion);
    // Masked rows are rows whose every cell is suppressed: here they need no word of their own.
    let limit = if search.suppressed == Suppressed::Drop { search.suppression_limit() } else { 0 };
    let chooser = Chooser { search, judge, prices: &prices, growing, limit };
    let mut best: Option<(f64, Vec<usize>)> = None;
    let mut known: FxHashMap<Vec<usize>, f64> = FxHashMap::default();
    let mut work = 0;
    // A walk from each would mostly end where that from the best one does.
    let costs = starts.par_iter().map(|start| chooser.cost(start, f64::INFINITY)).collect::<Result<Vec<_>, _>>()?;
    let start = starts.iter().zip(&costs).min_by(|a, b| a.1.0.total_cmp(&b.1.0));
    if let Some((start, (cost, _))) = start {
        chooser.climb((*cost, start.clone()), &mut known, &mut best, &mut work)?;
    }
    let mut choice = match &best {
        Some((cost, levels)) => chooser.at(levels)?.map(|recoding| (*cost, levels.clone(), recoding)),
        None => None,
    };
    let few = search.set.rows <= exact::MOST_ROWS && search.generalizations.len() <= exact::MOST_COLUMNS;
    let optimal = few && lattice::nodes(search) <= FEW_NODES && chooser.all(&mut choice)?;
    let holds = |recoding: &Recoding| {
        let (groups, suppressed) = recoding.groups(search.set);
        let evaluator = Evaluator::new(search.set, search.requirements);
        suppressed <= limit && (0..search.requirements.len()).all(|r| evaluator.judge(r, &groups).0)
    };
    Ok(choice.filter(|c| holds(&c.2)).map(|(_, levels, recoding)| Choice { recoding, levels, optimal }))
}

impl<'a> Chooser<'_, 'a> {
    fn coded(&self, levels: &[usize]) -> Option<Coded<'_>> {
        Coded::new(self.search.set, self.search.generalizations, self.prices, levels)
    }

    /// What a node costs, and how much work that took; infinite where it is not placed, or costs `ceiling` at least.
    fn cost(&self, levels: &[usize], ceiling: f64) -> Result<(f64, u64), SearchError> {
        self.search.checkpoint()?;
        let mut work = self.search.set.len() as u64;
        if self.prices.base(levels) >= ceiling {
            return Ok((f64::INFINITY, 1));
        }
        let Some(coded) = self.coded(levels) else { return Ok((f64::INFINITY, work)) };
        let bad = place::misfits(&coded, self.judge);
        if place::least(&coded, &bad, self.growing) >= ceiling {
            return Ok((f64::INFINITY, work));
        }
        work += (bad.len() as u64) << coded.columns.len().min(9) >> 1;
        let placed = place::place(self.search, &coded, self.judge, bad, self.limit)?;
        Ok((placed.map_or(f64::INFINITY, |p| p.cost), work))
    }

    /// The recoding of a node.
    fn at(&self, levels: &[usize]) -> Result<Option<Recoding>, SearchError> {
        let Some(coded) = self.coded(levels) else { return Ok(None) };
        let bad = place::misfits(&coded, self.judge);
        let placed = place::place(self.search, &coded, self.judge, bad, self.limit)?;
        Ok(placed.map(|placed| coded.recoding(&placed.runs(&coded))))
    }

    /// Goes from a node to its cheapest neighbour while that helps.
    fn climb(
        &self,
        start: (f64, Vec<usize>),
        known: &mut FxHashMap<Vec<usize>, f64>,
        best: &mut Option<(f64, Vec<usize>)>,
        work: &mut u64,
    ) -> Result<(), SearchError> {
        let mut here = start;
        known.insert(here.1.clone(), here.0);
        while *work < WORK {
            if best.as_ref().is_none_or(|b| here.0 < b.0 - b.0 * ROUNDING) && here.0.is_finite() {
                *best = Some(here.clone());
            }
            let neighbours: Vec<Vec<usize>> = self.neighbours(&here.1).filter(|n| !known.contains_key(n)).collect();
            let priced: Vec<(f64, u64)> =
                neighbours.par_iter().map(|n| self.cost(n, here.0)).collect::<Result<_, SearchError>>()?;
            let mut next: Option<(f64, Vec<usize>)> = None;
            for (levels, (cost, more)) in neighbours.into_iter().zip(priced) {
                *work += more;
                known.insert(levels.clone(), cost);
                if cost < here.0 - here.0.min(1e300) * ROUNDING && next.as_ref().is_none_or(|n| cost < n.0) {
                    next = Some((cost, levels));
                }
            }
            self.search.tell((*work as f64 / WORK as f64).min(0.9));
            let late = self.search.control.overdue();
            match next {
                Some(next) if !late => here = next,
                _ => break,
            }
        }
        if best.as_ref().is_none_or(|b| here.0 < b.0) && here.0.is_finite() {
            *best = Some(here);
        }
        Ok(())
    }

    /// The nodes one level up or down in one column.
    fn neighbours(&self, levels: &[usize]) -> impl Iterator<Item = Vec<usize>> {
        let at = |c: usize, level: usize| {
            let mut next = levels.to_vec();
            next[c] = level;
            next
        };
        let bottom = self.search.set.bottom();
        let steps = self.search.generalizations.iter().enumerate().flat_map(|(c, g)| {
            let down = levels[c].checked_sub(1).filter(|&level| level >= bottom[c]);
            let up = Some(levels[c] + 1).filter(|&level| level <= g.height());
            down.into_iter().chain(up).map(move |level| (c, level))
        });
        steps.map(|(c, level)| at(c, level)).collect::<Vec<_>>().into_iter()
    }

    /// Looks at every node for something cheaper; whether the search came to its end.
    fn all(&self, choice: &mut Option<(f64, Vec<usize>, Recoding)>) -> Result<bool, SearchError> {
        let bottom = self.search.set.bottom();
        let mut nodes: Vec<Vec<usize>> = vec![Vec::new()];
        for (g, &bottom) in self.search.generalizations.iter().zip(&bottom) {
            let longer =
                |node: &Vec<usize>| (bottom..=g.height()).map(|l| [&node[..], &[l]].concat()).collect::<Vec<_>>();
            nodes = nodes.iter().flat_map(longer).collect();
        }
        nodes.sort_by(|a, b| self.prices.base(a).total_cmp(&self.prices.base(b)));
        let mut steps = STEPS;
        for levels in nodes {
            self.search.checkpoint()?;
            let ceiling = choice.as_ref().map_or(f64::INFINITY, |c| c.0);
            if self.prices.base(&levels) >= ceiling {
                break;
            }
            let Some(coded) = self.coded(&levels) else { return Ok(false) };
            let bad = place::misfits(&coded, self.judge);
            if place::least(&coded, &bad, self.growing) >= ceiling {
                continue;
            }
            match exact::cheapest(&coded, self.judge, self.limit, ceiling, &mut steps) {
                Err(exact::Unfinished) => return Ok(false),
                Ok(None) => {}
                Ok(Some((cost, runs))) => *choice = Some((cost, levels.clone(), coded.recoding(&runs))),
            }
        }
        Ok(true)
    }
}
