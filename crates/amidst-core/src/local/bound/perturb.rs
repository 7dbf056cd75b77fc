//! Perturbation of prices that are a local optimum: some are lowered so that their neighbours can be raised.
//!
//! The prices of a tuple and of those near it are lowered at random and then raised again in another order. Lowered
//! prices are still a bound, and so are prices raised as far as the others allow; the larger of the two sums is kept.

use super::Effort;
use super::field::Field;
use super::price_tree::{PriceListener, PriceTree};
use crate::random::Random;
use crate::search::{Search, SearchError};

/// Tuples that are perturbed together, at the most.
const TOGETHER: usize = 24;

/// A price is lowered to this share of itself at the least; one below zero by as much.
const LEAST: f64 = 0.6;

/// The parts of what is possible by which prices are raised again.
const PARTS: [f64; 3] = [0.4, 0.7, 1.0];

/// Perturbs prices until the time is over, or as often as `left` looks allow. Tells the prices now and then.
pub(super) fn perturb(
    search: &Search<'_>,
    field: &Field,
    price_tree: &mut PriceTree<'_>,
    (effort, mut left): (Effort, u64),
    (most, told): (f64, PriceListener<'_>),
) -> Result<(), SearchError> {
    let mut random = Random::new(search.seed ^ 0x5bd1_e995);
    let k = field.need.rows;
    // Without a deadline each tuple has its turn a few times.
    let rounds = if effort.deadline.is_some() { u64::MAX } else { (4 * field.len() / TOGETHER + 4) as u64 };
    for round in 0..rounds {
        search.checkpoint()?;
        if effort.late() || search.control.content() || left == 0 {
            return Ok(());
        }
        if round % 512 == 511 {
            price_tree.refresh();
            told(&price_tree.prices);
        }
        let tuples = near(field, random.below(field.len()) as u32, k);
        let before: Vec<f64> = tuples.iter().map(|&t| price_tree.prices[t as usize]).collect();
        for &tuple in &tuples {
            let share = LEAST + (1.0 - LEAST) * random.share();
            let price = price_tree.prices[tuple as usize];
            // Where rows paid each other, prices may be negative: a share of such a price would be higher.
            price_tree.set(tuple, price * if price < 0.0 { 2.0 - share } else { share });
        }
        let mut order = tuples.clone();
        for part in PARTS {
            random.shuffle(&mut order);
            for &tuple in &order {
                price_tree.raise(tuple, part, most, &mut left);
            }
        }
        let worth = |prices: &dyn Fn(usize) -> f64| -> f64 {
            tuples.iter().enumerate().map(|(i, &t)| prices(i) * field.rows[t as usize] as f64).sum()
        };
        let (now, then) = (worth(&|i| price_tree.prices[tuples[i] as usize]), worth(&|i| before[i]));
        if now <= then {
            tuples.iter().zip(before).for_each(|(&tuple, price)| price_tree.set(tuple, price));
        }
    }
    Ok(())
}

/// A tuple and the nearest to it that have fewer rows than a class needs.
fn near(field: &Field, tuple: u32, k: u64) -> Vec<u32> {
    let own = field.shape(tuple);
    let start = field.space.cost(own);
    let mut near = Vec::with_capacity(TOGETHER);
    let mut seen = 0;
    field.tree.ascending(
        |_, hull| start + field.space.stretch(own, hull),
        |other| field.space.cost_merged(own, field.shape(other)),
        |other, _| {
            if field.rows[other as usize] < k {
                near.push(other);
            }
            seen += 1;
            near.len() == TOGETHER || seen == 4 * TOGETHER
        },
    );
    near
}
