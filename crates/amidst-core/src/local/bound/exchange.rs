//! Prices by exchange: rows pay each other for being in one class, which is the dual of dividing rows into classes.
//!
//! **The bound.** Classes are made of sets of s rows (`sets`). Let λ be any numbers, one for each row, and
//!
//!   y_i = min over sets S with i of ( cost of the hull over S − Σ_{j ∈ S} λ_j ) + s·λ_i.
//!
//! Within one set, Σ_{i ∈ S} y_i ≤ s·cost(S) − s·Σλ + s·Σλ = s·cost(S). A class is made of sets within it, whose
//! hulls cost no more than its own, so its rows have Σ y ≤ rows · cost of its cells: Σ y over all rows is a bound,
//! *whatever λ are*. Without λ it is the sum of the cheapest boxes; at the best λ it is the linear relaxation of the
//! problem.
//!
//! **Spare rows.** Where a class may have more rows of a value than sets can hold, one row of each value makes the
//! sets: the one with the highest λ (of equals, the first). Any other row must not have more than the class costs it,
//! so its price has a ceiling: what a box costs that could be a class and holds a row of the same value with a higher
//! λ. A class whose values are all equally frequent is made of sets without spare rows, so the box has the values
//! that a class of unequal frequencies needs.
//!
//! **The search.** Rounds: λ that are best for the sets known so far (`columns`); then, for every item, the cheapest
//! set at these λ (`pricing`), which gives a bound and sets that were not known. λ stay near those of the best bound,
//! since far from them the unknown sets decide. A price found with too few looks is too low, never too high.

use std::time::Instant;

use rayon::prelude::*;

use super::Effort;
use super::columns::Columns;
use super::items::Items;
use super::offers::{Limits, Offers};
use super::pricing::Cheapest;
use super::sets::Sets;
use crate::search::{Search, SearchError};

/// Items whose prices one task finds.
const TASK: usize = 64;

/// Sets of more rows than this are not looked at: there are too many ways to choose them.
const LARGE: usize = 24;

/// Items that are gathered around one: in the first round, how many times as many in each further round, at the most.
const NEAR: (f64, f64, f64) = (60.0, 1.5, 1_200.0);

/// Nodes and items from which it is learnt which λ are near one.
const PATIENCE: usize = 20_000;

/// Looks for one item: for each that may be gathered, and at the most.
const LOOKS: (u64, u64) = (50, 20_000);

/// Looks for one item where nothing is proven, and how often sets are added in this way before prices are proven, where
/// values must differ.
const HINTS: (u64, usize) = (300, 2);

/// Rounds without a gain after which no more are begun, and what a gain is.
const IDLE: usize = 3;
const GAIN: f64 = 2e-4;

/// Prices of items that are a bound, with what they add up to over all rows.
#[derive(Debug, Clone)]
pub(super) struct Prices {
    pub(super) prices: Vec<f64>,
    pub(super) sum: f64,
}

/// Prices that are a bound, at most `most` each; `spares` is what a spare row of each item pays at the least. `None`
/// where none are found in time. `told` is called with prices that prove more than all before.
pub(super) fn prices(
    search: &Search<'_>,
    items: &Items<'_>,
    sets: Sets,
    effort: Effort,
    (most, spares): (f64, &[f64]),
    told: &dyn Fn(&Prices),
) -> Result<Option<Prices>, SearchError> {
    let mut best: Option<Prices> = None;
    if sets.size > LARGE || sets.size < 2 || items.len() > effort.tuples {
        return Ok(best);
    }
    let rows: f64 = items.rows.iter().map(|&n| n as f64).sum();
    let mut columns = Columns::new(sets.size, items.len());
    let mut offers = vec![0.0; items.len()];
    let mut best_offers = offers.clone();
    let mut idle = 0;
    let mut took = 0.0;
    for round in 0..effort.rounds {
        let begun = Instant::now();
        let left = effort.deadline.map_or(f64::INFINITY, |d| d.saturating_duration_since(begun).as_secs_f64());
        if 1.2 * took > left || search.control.content() {
            break;
        }
        let near = (NEAR.0 * NEAR.1.powi(round.min(100) as i32)).min(NEAR.2) as usize;
        let looks = (LOOKS.0 * near as u64).min(LOOKS.1).min(effort.looks);
        let limits = Limits { near, patience: PATIENCE, looks, proven: true };
        let highest = items.highest(&offers);
        let offered = Offers::new(items, sets, &offers, &highest, limits);
        let Some(found) = priced(search, &offered, &columns, effort)? else { break };
        let ceiling: Vec<f64> = (0..items.len() as u32)
            .into_par_iter()
            .map(|item| most.min(if sets.spare { spare(&offered, item, spares) } else { f64::INFINITY }))
            .collect();
        let price = |item: usize| found[item].least + (sets.size - 1) as f64 * offers[item];
        let prices: Vec<f64> = (0..items.len()).map(|item| price(item).min(ceiling[item])).collect();
        let sum: f64 = prices.iter().zip(&items.rows).map(|(price, &n)| price * n as f64).sum();
        if !sum.is_finite() {
            break;
        }
        columns.put_all(items, found);
        let before = best.as_ref().map_or(f64::NEG_INFINITY, |b| b.sum);
        idle = if sum > before + GAIN * before.abs() { 0 } else { idle + 1 };
        if sum > before {
            let now = Prices { prices, sum };
            told(&now);
            (best, best_offers) = (Some(now), offers.clone());
        }
        if idle == IDLE && near as f64 >= NEAR.2 {
            break;
        }
        let mean = (sum.max(before).max(0.0) / rows / sets.size as f64).max(1e-9);
        // Spare rows limit what prices can come to however far λ go.
        let trust = if sets.spare { 2.0 } else { 1.0 } * mean * 0.85f64.powi(round.min(12) as i32).max(0.1);
        offers = columns.ascend(items, &best_offers, &ceiling, (mean, trust)).1;
        for _ in 0..if sets.column.is_some() { HINTS.1 } else { 0 } {
            let highest = items.highest(&offers);
            let limits = Limits { looks: HINTS.0.min(effort.looks), proven: false, ..limits };
            let offered = Offers::new(items, sets, &offers, &highest, limits);
            let Some(found) = priced(search, &offered, &columns, effort)? else { return Ok(best) };
            columns.put_all(items, found);
            offers = columns.ascend(items, &best_offers, &ceiling, (mean, trust)).1;
        }
        took = begun.elapsed().as_secs_f64();
    }
    Ok(best)
}

/// The cheapest set around every item; `None` when time is over before all are found.
fn priced(
    search: &Search<'_>,
    offered: &Offers<'_>,
    columns: &Columns,
    effort: Effort,
) -> Result<Option<Vec<Cheapest>>, SearchError> {
    let count = offered.items.len();
    let tasks: Vec<Option<Vec<Cheapest>>> = (0..count.div_ceil(TASK))
        .into_par_iter()
        .map(|task| {
            search.checkpoint()?;
            if effort.late() || search.control.content() {
                return Ok(None);
            }
            let items = (task * TASK..((task + 1) * TASK).min(count)).map(|item| item as u32);
            Ok(Some(items.map(|item| offered.cheapest(item, columns.cheapest(item, offered.offers))).collect()))
        })
        .collect::<Result<_, SearchError>>()?;
    Ok(tasks.into_iter().collect::<Option<Vec<_>>>().map(|tasks| tasks.concat()))
}

/// What a row pays at the least in a class in which it is spare: one with a row of the same value and a higher λ.
fn spare(offered: &Offers<'_>, item: u32, spares: &[f64]) -> f64 {
    let items = offered.items;
    let alone = spares[item as usize];
    if items.rows[item as usize] > 1 {
        return alone;
    }
    let own = items.shape(item);
    let start = items.space.cost(own);
    let offer = offered.offers[item as usize];
    let mut nearest = f64::INFINITY;
    let mut seen = 0;
    items.tree.ascending(
        |_, hull| start + items.space.stretch(own, hull),
        |other| items.space.cost_merged(own, items.shape(other)),
        |other, cost| {
            let same = other != item && items.values[other as usize] == items.values[item as usize];
            let theirs = offered.offers[other as usize];
            let before = theirs > offer || (theirs == offer && other < item);
            seen += 1;
            // Whatever follows lies no nearer.
            let enough = (same && before) || seen as f64 >= NEAR.2;
            if enough {
                nearest = cost;
            }
            enough
        },
    );
    alone.max(nearest)
}
