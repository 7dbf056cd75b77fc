//! Prices of rows, raised as far as no class is charged more than it costs: the dual of dividing rows into classes.
//!
//! Where sizes alone count, a class of n ≥ k rows is charged at most n/k times what its k dearest rows are, and these
//! are k rows within the same cells. So prices y are a bound if for every k rows Σ y ≤ k · (cost of the hull over
//! them). The price of one tuple can be raised to the least, over all boxes around it, of what the box costs k rows
//! minus the k − 1 dearest others in it, and the sum of the prices is a bound at every moment. The least is found by
//! branch and bound over the other rows: u can only be among them if its own share of it, k/(k − 1) · (cost of the hull
//! over both) − y_u, is small, and the tree shows tuples in ascending order of that.
//!
//! At first prices are raised by a part of what is possible, so that one row does not take all of the slack that it
//! shares with its neighbours; in the end they are perturbed (`perturb`), where there is time.

use super::Effort;
use super::field::Field;
use super::perturb::perturb;
use super::price_tree::{PriceListener, PriceTree};
use crate::random::Random;
use crate::search::{Search, SearchError};

/// The parts of what is possible by which prices are raised, a pass each; the last is repeated while it gains.
const PARTS: [f64; 6] = [0.25, 0.35, 0.5, 0.7, 1.0, 1.0];

/// The same where there is little time.
const QUICK: [f64; 2] = [0.5, 1.0];

/// A pass that gains a smaller share is the last.
const SHARE: f64 = 1e-4;

/// Classes of more rows than this are not looked at: there are too many ways to choose them.
const LARGE: u64 = 24;

/// Raises prices that are a bound; they still are. At most `most` each; `told` is called with them after every pass.
pub(super) fn raised(
    search: &Search<'_>,
    field: &Field,
    prices: Vec<f64>,
    effort: Effort,
    (most, told): (f64, PriceListener<'_>),
) -> Result<Vec<f64>, SearchError> {
    let k = field.need.rows;
    if k > LARGE || prices.iter().any(|p| !p.is_finite()) || field.len() > effort.tuples {
        return Ok(prices);
    }
    let mut price_tree = PriceTree::new(field, prices, k as usize);
    let mut order: Vec<u32> = (0..field.len() as u32).filter(|&t| field.rows[t as usize] < k).collect();
    let mut random = Random::new(search.seed);
    let mut left = effort.looks;
    let parts: &[f64] = if effort.deadline.is_some() { &PARTS } else { &QUICK };
    for pass in 0.. {
        let part = parts[pass.min(parts.len() - 1)];
        (1..order.len()).rev().for_each(|i| order.swap(i, random.below(i + 1)));
        let mut gained = 0.0;
        for (i, &tuple) in order.iter().enumerate() {
            if i % 64 == 0 {
                search.checkpoint()?;
                if effort.late() || search.control.content() {
                    return Ok(price_tree.prices);
                }
            }
            if left == 0 {
                return Ok(price_tree.prices);
            }
            gained += price_tree.raise(tuple, part, most, &mut left) * field.rows[tuple as usize] as f64;
        }
        told(&price_tree.prices);
        let total: f64 = price_tree.prices.iter().zip(&field.rows).map(|(p, &n)| p * n as f64).sum();
        if pass + 1 >= parts.len() && gained <= SHARE * total {
            break;
        }
    }
    price_tree.refresh();
    perturb(search, field, &mut price_tree, (effort, left), (most, told))?;
    Ok(price_tree.prices)
}
