//! Cell suppression: one coding for each column, and single cells of the rows that do not fit become `*`.
//!
//! **What it does.** Chooses a node of the lattice and, for the rows whose generalized tuples do not satisfy the
//! policy, which of their cells become the top of the hierarchy: those that lose least first, so that columns of little
//! weight go before others. Every class is the rows whose published tuples agree exactly, a star being a value like any
//! other, and satisfies every requirement. Rows may be left out besides, within the policy's limit.
//!
//! **How good.** Never worse by the policy's metric than the best full-domain recoding with suppressed rows, which it
//! starts from. On tables of a few rows the least cost over all nodes and cells is proven; on larger ones cells are
//! chosen pattern by pattern, the cheapest first, and the node by descent.
//!
//! **Not for every policy.** Rows that share a star merge classes, so the requirements must survive that; those that
//! look at the tuples which a class covers are refused, because classes with stars overlap others.

use super::{Algorithm, Entry, Found, RecodingKind, Search, SearchError, optimal};
use crate::cells;
use crate::control::{Control, Stage};
use crate::lattice;
use crate::local::class::Judge;
use crate::metric::{self, Release};
use crate::model::Needs;
use crate::recoding::Recoding;
use crate::search::feasibility;

pub(super) const ENTRY: Entry = Entry {
    id: "cell-suppression",
    title: "cell suppression",
    definition: "one level of its hierarchy for each column, and single cells of rows that do not fit become `*`, those that \
                 lose least first; classes are judged by exact match, a `*` being a value",
    citation: "the setting of Aggarwal et al. 2005 and of sdcMicro's kAnon, with exact match and any monotone requirement",
    kind: RecodingKind::Cells,
    options: &[],
    algorithm: &CellSuppression,
};

#[derive(Debug)]
struct CellSuppression;

/// Cells (distinct tuples times quasi columns) up to which it competes where a policy names no algorithm.
const BUDGET: u64 = 1_200_000;

impl Algorithm for CellSuppression {
    fn competes(&self, search: &Search<'_>) -> bool {
        let cells = search.set.len() as u64 * search.generalizations.len() as u64;
        optimal::by_levels(search) && cells <= BUDGET
    }

    fn supports(&self, search: &Search<'_>) -> Result<(), SearchError> {
        if search.set.rolled_up() {
            return Err(SearchError::Unsupported("cell suppression looks at single values of the table".to_string()));
        }
        for requirement in search.requirements {
            let id = requirement.model.id;
            if requirement.needs() == Needs::Tuples {
                return Err(SearchError::Unsupported(format!(
                    "{id} looks at the tuples that a class covers, and classes with suppressed cells cover those of others; \
                     choose a full-domain algorithm, such as optimal"
                )));
            }
            if !requirement.monotone_overlapping(search.set) {
                return Err(SearchError::Unsupported(format!(
                    "{id} can be lost when classes merge, as they do where rows share a suppressed cell; choose a \
                     full-domain algorithm, such as optimal"
                )));
            }
        }
        Ok(())
    }

    fn search(&self, search: &Search<'_>) -> Result<Found, SearchError> {
        self.supports(search)?;
        if feasibility::impossible(search).is_some() {
            return Err(lattice::impossible(search));
        }
        let halved = |stage: Stage, share: f64| search.control.tell(stage, share / 2.0);
        let first = Search { control: Control { progress: &halved, ..search.control }, ..search.clone() };
        let whole = match optimal::affordable(search) {
            true => match optimal::ENTRY.algorithm.search(&first) {
                Ok(found) => Some(found),
                Err(SearchError::Impossible(_)) => None,
                Err(other) => return Err(other),
            },
            false => None,
        };
        let later = |stage: Stage, share: f64| search.control.tell(stage, 0.5 + share / 2.0);
        let inner = Search { control: Control { progress: &later, ..search.control }, ..search.clone() };
        let cells = match Judge::new(search) {
            Ok(judge) => {
                let bottom = search.set.bottom();
                let top: Vec<usize> = search.generalizations.iter().map(|g| g.height()).collect();
                let node = whole.as_ref().and_then(|found| found.recoding.levels.clone());
                let starts: Vec<Vec<usize>> = node.into_iter().chain([top, bottom]).collect();
                let cell = search.metric.metric.cell_loss().unwrap_or(metric::cell_loss);
                cells::choose(&inner, &judge, cell, &starts)?
            }
            // The whole table as one class fails, and only leaving out rows may help.
            Err(SearchError::Impossible(_)) => None,
            Err(other) => return Err(other),
        };
        search.tell(1.0);
        let Some(cells) = cells else {
            return whole.ok_or_else(|| lattice::impossible(search));
        };
        if let Some(whole) = whole
            && let (Some(known), Some(found)) = (cost(search, &whole.recoding), cost(search, &cells.recoding))
            && known <= found
        {
            return Ok(whole);
        }
        // Where columns weigh differently and the metric knows no weights, the cells were chosen by another price.
        let weights = search.generalizations.windows(2).all(|pair| pair[0].weight == pair[1].weight);
        let exact = search.metric.metric.cell_loss().is_some() && (weights || search.metric.metric.weighted());
        let coding = cells.recoding.levels.is_none().then_some(cells.levels);
        Ok(Found {
            recoding: cells.recoding,
            coding,
            optimal: cells.optimal && exact,
            gap: None,
            least_loss: None,
            notes: Vec::new(),
        })
    }
}

fn cost(search: &Search<'_>, recoding: &Recoding) -> Option<f64> {
    let (groups, suppressed) = recoding.groups(search.set);
    let (set, generalizations) = (search.set, search.generalizations);
    search.metric.metric.loss(&Release { set, generalizations, recoding, groups: &groups, suppressed, k: search.k })
}
