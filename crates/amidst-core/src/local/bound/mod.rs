//! A proven lower bound: no release of this kind loses less, whatever algorithm makes it.
//!
//! **The bound.** Every row of a class pays for the class's cells. So a row pays at least for the cheapest box around
//! it whose rows could satisfy the policy (`cheapest`); added up over all rows that bounds every metric that is a sum
//! over rows. Rows compete: the box that is cheapest for one takes the neighbours of another. Prices of rows are a
//! bound too as long as no class is charged more than it costs, Σ over its rows of their prices ≤ rows · cost of its
//! cells, and prices that begin with the cheapest boxes can be raised until every row is part of a class without slack
//! (`compete`).
//!
//! **Relaxation.** What a class must satisfy is relaxed to numbers of rows and of different sensitive values (`need`),
//! which every policy implies and which a box of more rows has as well.
//!
//! **Suppression.** A suppressed row pays for everything. Prices never exceed that where rows may be suppressed, so
//! that their sum is a bound whichever rows are.
//!
//! **Effort.** Prices that were not raised are prices, so whatever is cut short is a bound. Without a deadline the work
//! is limited by counts, and the outcome depends on table, policy and seed alone.
//!
//! May use: `class`, `control`, `metric`, `model`, `random`, `requirement`, `search`, the rest of `local`, and what
//! those use.

mod cheapest;
mod compete;
mod field;
mod market;
mod shake;

use std::time::Instant;

use crate::control::Standing;
use crate::metric::Input;
use crate::search::need::Need;
use crate::search::{Search, SearchError};
use field::Field;

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Nothing begins after this.
    pub deadline: Option<Instant>,
    /// The most times that a tuple is looked at from a box, once for boxes and once for prices.
    pub looks: u64,
    /// The most tuples that have a price; the others count for nothing.
    pub tuples: usize,
}

impl Effort {
    /// What a search without a deadline can afford beside it.
    pub const SMALL: Effort = Effort { deadline: None, looks: 6_000_000, tuples: 60_000 };

    /// The same for a table of `tuples` tuples: the effort for each tuple is limited, too.
    pub fn small(tuples: usize) -> Effort {
        const LOOKS_EACH: u64 = 2_000;
        Effort { looks: Self::SMALL.looks.min((tuples as u64).saturating_mul(LOOKS_EACH)), ..Self::SMALL }
    }

    fn late(&self) -> bool {
        self.deadline.is_some_and(|d| Instant::now() >= d)
    }
}

/// The least that any release of this kind can lose, by the search's metric. `None` where the metric is no sum over
/// rows, or where nothing above its least value is proven.
pub fn least_loss(search: &Search<'_>, effort: Effort) -> Result<Option<f64>, SearchError> {
    let input = Input { set: search.set, generalizations: search.generalizations, k: search.k };
    let Some(costs) = search.metric.metric.cells(&input).filter(|_| search.set.rows > 0 && !search.set.rolled_up())
    else {
        return Ok(None);
    };
    let Some(need) = Need::of(search) else { return Ok(None) };
    let Some(field) = Field::new(search, &costs, need) else { return Ok(None) };
    let most = if search.suppression_limit() > 0 { costs.suppressed } else { f64::INFINITY };
    let nothing = costs.offset + costs.scale * field.untouched();
    let least = |prices: &[f64]| {
        let sum: f64 = prices.iter().zip(&field.rows).map(|(price, &rows)| price * rows as f64).sum();
        // A hair less, against rounding.
        let least = costs.offset + costs.scale * (sum - 1e-9 * sum.abs());
        (least.is_finite() && least > nothing + 1e-12).then_some(least)
    };
    let told = |prices: &[f64]| {
        if let Some(least) = least(prices) {
            (search.control.standing)(Standing::Bound(least));
        }
    };
    let mut prices = cheapest::prices(search, &field, effort, most)?;
    told(&prices);
    if field.need.different == 1 {
        prices = compete::raised(search, &field, prices, effort, (most, &told))?;
    }
    Ok(least(&prices))
}

#[cfg(test)]
mod tests;
