//! A proven lower bound: no release of this kind loses less, whatever algorithm makes it.
//!
//! **The bound.** Every row of a class pays for the class's cells. So a row pays at least for the cheapest box around
//! it whose rows could satisfy the policy (`cheapest`); added up over all rows that bounds every metric that is a sum
//! over rows. Rows compete: the box that is cheapest for one takes the neighbours of another. Prices of rows are a
//! bound too as long as no class is charged more than it costs, Σ over its rows of their prices ≤ rows · cost of its
//! cells, and prices that begin with the cheapest boxes can be raised until every row is part of a class without slack
//! (`raise_prices`). Rows that pay each other for being in one class prove more (`exchange`): that is done where there
//! is time.
//!
//! **Relaxation.** What a class must satisfy is relaxed to numbers of rows and of different sensitive values (`need`),
//! which every policy implies and which a box of more rows has as well; and to how many values a class of unequal
//! frequencies has (`sets`).
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
mod columns;
mod exchange;
mod field;
mod gather;
mod items;
mod offers;
mod perturb;
mod price_tree;
mod pricing;
mod raise_prices;
mod sets;

use std::time::Instant;

use crate::control::Improvement;
use crate::metric::{CellCosts, Input};
use crate::search::need::Need;
use crate::search::{Search, SearchError};
use exchange::Prices;
use field::Field;
use items::Items;
use sets::Sets;

/// How much is done.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Nothing begins after this.
    pub deadline: Option<Instant>,
    /// The most times that a tuple is looked at from a box, once for boxes and once for prices.
    pub looks: u64,
    /// The most tuples that have a price; the others count for nothing.
    pub tuples: usize,
    /// The most rounds in which rows pay each other.
    pub rounds: usize,
}

impl Effort {
    /// What a search without a deadline can afford beside it.
    pub const SMALL: Effort = Effort { deadline: None, looks: 6_000_000, tuples: 60_000, rounds: 0 };

    /// The same for a table of `tuples` tuples: the effort for each tuple is limited, too.
    pub fn small(tuples: usize) -> Effort {
        const LOOKS_EACH: u64 = 2_000;
        Effort { looks: Self::SMALL.looks.min((tuples as u64).saturating_mul(LOOKS_EACH)), ..Self::SMALL }
    }

    /// As much as can be done until then.
    pub fn until(deadline: Instant) -> Effort {
        Effort { deadline: Some(deadline), looks: u64::MAX, tuples: usize::MAX, rounds: usize::MAX }
    }

    /// The part of it for what comes first, `share` of the time that is left.
    fn first(&self, share: f64) -> Effort {
        let now = Instant::now();
        let deadline = self.deadline.map(|d| now + d.saturating_duration_since(now).mul_f64(share));
        Effort { deadline, ..*self }
    }

    fn late(&self) -> bool {
        self.deadline.is_some_and(|d| Instant::now() >= d)
    }
}

/// The share of the time after which prices of rows that pay each other are raised one by one instead.
const EXCHANGE: f64 = 0.85;

/// Looks for one tuple or item with which boxes of single rows are all but exact.
const EXACT: u64 = 50_000;

/// Where rows pay each other afterwards, that is enough for boxes of single rows.
fn alone(effort: Effort, tuples: usize) -> Effort {
    match effort.rounds {
        0 => effort,
        _ => Effort { looks: effort.looks.min((tuples as u64).saturating_mul(EXACT)), ..effort.first(0.3) },
    }
}

fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(f64::max)
}

/// The share of the time for sizes alone, where a class needs more rows than different values, and where it does not.
const BY_SIZE: (f64, f64) = (0.5, 0.1);

/// The least that any release of this kind can lose, by the search's metric. `None` where the metric is no sum over
/// rows, or where nothing above its least value is proven.
pub fn least_loss(search: &Search<'_>, effort: Effort) -> Result<Option<f64>, SearchError> {
    let input = Input { set: search.set, generalizations: search.generalizations, k: search.k };
    let Some(costs) = search.metric.metric.cells(&input).filter(|_| search.set.rows > 0 && !search.set.rolled_up())
    else {
        return Ok(None);
    };
    let Some(need) = Need::of(search) else { return Ok(None) };
    let mut proven = None;
    if need.different > 1 {
        // What sizes alone prove holds for classes of different values, too, and may be more.
        let effort = effort.first(if need.rows > need.different { BY_SIZE.0 } else { BY_SIZE.1 });
        let by_size = Need { different: 1, ..need };
        proven = Relaxed { search, costs: &costs, need: by_size, known: None }.proven(Sets::of_size(need), effort)?;
    }
    let relaxed = Relaxed { search, costs: &costs, need, known: proven };
    relaxed.proven(Sets::of(search, need), effort)
}

/// The least loss where classes need nothing but these numbers of rows and different values.
struct Relaxed<'s, 'a> {
    search: &'s Search<'a>,
    costs: &'s CellCosts<'a>,
    need: Need,
    /// What is proven already.
    known: Option<f64>,
}

impl Relaxed<'_, '_> {
    /// What is proven, what was known included.
    fn proven(&self, sets: Sets, effort: Effort) -> Result<Option<f64>, SearchError> {
        let (search, costs, need) = (self.search, self.costs, self.need);
        let Some(field) = Field::new(search, costs, need) else { return Ok(self.known) };
        let most = if search.suppression_limit() > 0 { costs.suppressed } else { f64::INFINITY };
        let nothing = costs.offset + costs.scale * field.untouched();
        let least = |prices: &mut dyn Iterator<Item = (f64, u64)>| {
            // A hair less, against rounding.
            let sum: f64 = prices.map(|(price, rows)| (price - 1e-9 * price.abs()) * rows as f64).sum();
            let least = costs.offset + costs.scale * sum;
            larger(self.known, (least.is_finite() && least > nothing + 1e-12).then_some(least))
        };
        let of_tuples = |prices: &[f64]| least(&mut prices.iter().copied().zip(field.rows.iter().copied()));
        let tell = |least: Option<f64>| {
            if let Some(least) = least {
                (search.control.improvement)(Improvement::Bound(least));
            }
        };
        let told = |prices: &[f64]| tell(of_tuples(prices));
        let mut prices = cheapest::prices(search, &field, alone(effort, field.len()), most)?;
        told(&prices);
        let mut proven = of_tuples(&prices);
        let items = (effort.rounds > 0).then(|| Items::new(search, &field.space, sets, effort.tuples)).flatten();
        if let Some(items) = items {
            let of_items = |found: &Prices| least(&mut found.prices.iter().copied().zip(items.rows.iter().copied()));
            let share = if sets.column.is_none() { EXCHANGE } else { 1.0 };
            let told = |found: &Prices| tell(of_items(found));
            let mut spares = Vec::new();
            if sets.spare {
                let effort = alone(effort, items.len());
                spares = cheapest::repeated(search, (&field, &items), sets.uneven, effort, (most, &prices))?;
            }
            let found = exchange::prices(search, &items, sets, effort.first(share), (most, &spares), &told)?;
            if let Some(found) = found {
                let exchanged = of_items(&found);
                if sets.column.is_none() && larger(proven, exchanged) == exchanged {
                    prices = found.prices;
                }
                proven = larger(proven, exchanged);
            }
        }
        if need.different == 1 {
            prices = raise_prices::raised(search, &field, prices, effort, (most, &told))?;
            proven = larger(proven, of_tuples(&prices));
        }
        Ok(proven)
    }
}

#[cfg(test)]
mod tests;
