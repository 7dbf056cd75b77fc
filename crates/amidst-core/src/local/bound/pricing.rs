//! The cheapest set around an item, where other rows lower its price: the pricing problem of `exchange`.
//!
//! Looked for is the least, over all sets with a row of the item, of cost of the hull − Σ λ of the other rows. A branch
//! is a hull over some rows and a list of what may still join. Whatever joins, the hull costs at least what it costs
//! with the farthest of them: so the least over all costs c of c − (the highest λ among what joins at no more than c)
//! bounds a branch, and the same with one row fixed tells which rows need not be looked at.
//!
//! Which items may be in such a set is told by `gather`. Where nothing is to be proven, a few of those that look
//! promising are enough.

use super::gather::{gathered, promising};
use super::offers::{Highest, Offers, Other, by_cost};
use crate::local::shape::Shape;

/// The others of the cheapest set, and what no set is below.
#[derive(Debug, Clone)]
pub(super) struct Cheapest {
    pub(super) least: f64,
    pub(super) others: Vec<u32>,
}

impl Offers<'_> {
    /// The cheapest set around an item, given one that is known.
    pub(super) fn cheapest(&self, item: u32, known: Option<Cheapest>) -> Cheapest {
        let own = self.items.shape(item);
        let others = self.sets.size - 1;
        let best = known.unwrap_or(Cheapest { least: f64::INFINITY, others: Vec::new() });
        let mut search = Search { offers: self, best, floor: f64::INFINITY, looks: self.limits.looks, chosen: vec![] };
        if others == 0 {
            return Cheapest { least: self.items.space.cost(own), others: Vec::new() };
        }
        if !self.limits.proven || search.best.least.is_infinite() {
            let near = promising(self, item, own);
            search.greedy(own, others, &near);
            if !self.limits.proven {
                search.choose(own, others, 0.0, near);
                return search.best;
            }
        }
        let (near, floor) = gathered(self, item, own, search.best.least);
        search.floor = floor;
        search.choose(own, others, 0.0, near);
        search.best.least = search.best.least.min(search.floor);
        search.best
    }
}

struct Search<'a, 'b> {
    offers: &'a Offers<'b>,
    best: Cheapest,
    /// What was not looked at is not below this.
    floor: f64,
    looks: u64,
    chosen: Vec<u32>,
}

impl Search<'_, '_> {
    /// One set, found by taking each time what is best at once.
    fn greedy(&mut self, own: &Shape, others: usize, near: &[Other]) {
        let items = self.offers.items;
        let mut shape = own.to_vec();
        let mut left: Vec<u32> = near.iter().map(|o| o.rows).collect();
        let (mut chosen, mut sum) = (Vec::with_capacity(others), 0.0);
        for _ in 0..others {
            let worth = |o: &Other| items.space.cost_merged(&shape, items.shape(o.item)) - o.offer;
            let open = near.iter().enumerate().filter(|(i, _)| left[*i] > 0);
            let Some((_, other)) = open.min_by(|a, b| worth(a.1).total_cmp(&worth(b.1))) else { return };
            items.space.merge(&mut shape, items.shape(other.item));
            sum += other.offer;
            chosen.push(other.item);
            for (left, o) in left.iter_mut().zip(near) {
                if self.offers.varied() && o.value == other.value {
                    *left = 0;
                } else if o.item == other.item {
                    *left -= 1;
                }
            }
        }
        self.found(items.space.cost(&shape) - sum, || chosen);
    }

    fn found(&mut self, least: f64, others: impl FnOnce() -> Vec<u32>) {
        if least < self.best.least {
            self.best = Cheapest { least, others: others() };
        }
    }

    /// Looks at all sets of what is chosen, whose λ add up to `sum`, and `more` rows of those near.
    fn choose(&mut self, shape: &Shape, more: usize, sum: f64, mut near: Vec<Other>) {
        let items = self.offers.items;
        if more == 1 {
            self.looks = self.looks.saturating_sub(near.len() as u64);
            if let Some(last) = near.iter().min_by(|a, b| (a.cost - a.offer).total_cmp(&(b.cost - b.offer))) {
                let chosen = &self.chosen;
                let others = || chosen.iter().copied().chain([last.item]).collect();
                let least = last.cost - sum - last.offer;
                if least < self.best.least {
                    self.best = Cheapest { least, others: others() };
                }
            }
            return;
        }
        let bound = bounds(&mut near, more, self.offers.varied(), sum);
        if bound >= self.best.least {
            return;
        }
        if self.looks == 0 {
            self.floor = self.floor.min(bound);
            return;
        }
        self.looks = self.looks.saturating_sub(near.len() as u64 + 2);
        near.retain(|o| o.bound < self.best.least);
        near.sort_unstable_by(|a, b| a.bound.total_cmp(&b.bound).then(a.item.cmp(&b.item)));
        for at in 0..near.len() {
            let other = near[at];
            if other.bound >= self.best.least {
                break;
            }
            let mut wider = shape.to_vec();
            items.space.merge(&mut wider, items.shape(other.item));
            let again = !self.offers.varied() && other.rows > 1;
            let again = again.then_some(Other { rows: other.rows - 1, ..other });
            let differs = |o: &&Other| !self.offers.varied() || o.value != other.value;
            let rest = near[at + 1..].iter().take_while(|o| o.bound < self.best.least).filter(differs);
            let rest = rest.map(|o| Other { cost: items.space.cost_merged(&wider, items.shape(o.item)), ..*o });
            let rest: Vec<Other> = again.into_iter().chain(rest).collect();
            self.chosen.push(other.item);
            self.choose(&wider, more - 1, sum + other.offer, rest);
            self.chosen.pop();
        }
    }
}

/// What `more` rows of those near come to at the least, less `sum`; and the same with a row of each.
fn bounds(near: &mut [Other], more: usize, varied: bool, sum: f64) -> f64 {
    by_cost(near);
    let (mut all, mut rest) = (Highest::new(more, varied), Highest::new(more - 1, varied));
    let mut bound = f64::INFINITY;
    for other in near.iter_mut() {
        all.take(other);
        rest.take(other);
        other.bound = f64::INFINITY;
        if all.full() {
            bound = bound.min(other.cost - all.sum);
            other.bound = other.cost - rest.sum;
        }
    }
    let mut least = f64::INFINITY;
    for other in near.iter_mut().rev() {
        least = least.min(other.bound);
        other.bound = least - other.offer - sum;
    }
    bound - sum
}
