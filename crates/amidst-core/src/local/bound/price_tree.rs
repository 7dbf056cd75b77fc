//! Prices of tuples, and how high the price of one may be as long as the others have theirs: the search of
//! `raise_prices`.

use super::field::Field;
use crate::local::shape::Shape;

/// Called with the prices that prove more than all before.
pub(super) type PriceListener<'a> = &'a dyn Fn(&[f64]);

/// Other tuples that are looked at for one.
const NEAR: usize = 160;

/// Looks for one tuple, at the most.
const LOOKS: u64 = 200_000;

/// Prices, and the highest below each node of the tree.
pub(super) struct PriceTree<'a> {
    field: &'a Field,
    pub(super) prices: Vec<f64>,
    k: usize,
    /// The highest price below each node.
    highest: Vec<f64>,
    parent: Vec<u32>,
    leaf_of: Vec<u32>,
}

const ROOT: u32 = u32::MAX;

/// A tuple that may be among the others.
#[derive(Debug, Clone, Copy)]
struct Other {
    tuple: u32,
    /// What the hull over the box and it costs.
    cost: f64,
    price: f64,
    /// How many of its rows are not in the box yet.
    rows: u32,
}

impl<'a> PriceTree<'a> {
    pub(super) fn new(field: &'a Field, prices: Vec<f64>, k: usize) -> Self {
        let mut price_tree =
            PriceTree { field, prices, k, highest: vec![0.0], parent: vec![ROOT], leaf_of: vec![0; field.len()] };
        price_tree.walk(0);
        price_tree
    }

    /// Learns what is below a node; its highest price.
    fn walk(&mut self, node: u32) -> f64 {
        let (mut halves, mut tuples) = (Vec::new(), Vec::new());
        self.field.tree.open(node, |half, _| halves.push(half), |tuple| tuples.push(tuple));
        let mut highest: f64 = 0.0;
        for tuple in tuples {
            self.leaf_of[tuple as usize] = node;
            highest = highest.max(self.prices[tuple as usize]);
        }
        for half in halves {
            if self.parent.len() <= half as usize {
                self.parent.resize(half as usize + 1, ROOT);
                self.highest.resize(half as usize + 1, 0.0);
            }
            self.parent[half as usize] = node;
            highest = highest.max(self.walk(half));
        }
        self.highest[node as usize] = highest;
        highest
    }

    /// Learns the highest prices anew, after some fell.
    pub(super) fn refresh(&mut self) {
        self.walk(0);
    }

    /// Changes a price. Below a node nothing is dearer than what it says; after prices fell it may say too much.
    pub(super) fn set(&mut self, tuple: u32, price: f64) {
        self.prices[tuple as usize] = price;
        let mut node = self.leaf_of[tuple as usize];
        while node != ROOT && self.highest[node as usize] < price {
            self.highest[node as usize] = price;
            node = self.parent[node as usize];
        }
    }

    /// Raises the price of a tuple by `part` of what is possible, to `most` at the most; tells by how much. What it
    /// looks at is taken from `left`.
    pub(super) fn raise(&mut self, tuple: u32, part: f64, most: f64, left: &mut u64) -> f64 {
        let mut budget = LOOKS.min(*left);
        let before = budget;
        let price = self.prices[tuple as usize];
        let highest = self.highest(tuple, &mut budget).min(most);
        *left = left.saturating_sub((before - budget).max(1));
        let mut raise = 0.0;
        if highest > price {
            raise = (highest - price) * part;
            self.set(tuple, price + raise);
        }
        raise
    }

    /// The highest price of a tuple at which no class with it is charged more than it costs, or less when `budget`
    /// looks do not tell.
    fn highest(&self, tuple: u32, budget: &mut u64) -> f64 {
        let (field, k) = (self.field, self.k);
        let own = field.shape(tuple);
        let rows = field.rows[tuple as usize].min(k as u64) as usize;
        let mut search = Raise { price_tree: self, rows, best: f64::INFINITY, floor: f64::INFINITY, budget };
        if rows >= k {
            return field.space.cost(own);
        }
        let share = k as f64 / (k - 1) as f64;
        // The k − 1 smallest shares so far, added up: no later tuple has a smaller one.
        let mut sums = vec![0.0];
        let mut near: Vec<Other> = Vec::new();
        let start = field.space.cost(own);
        field.tree.ascending(
            |node, hull| share * (start + field.space.stretch(own, hull)) - self.highest[node as usize],
            |t| share * field.space.cost_merged(own, field.shape(t)) - self.prices[t as usize],
            |t, least| {
                if t == tuple {
                    return false;
                }
                if near.len() == 2 * k {
                    search.greedy(own, &near);
                }
                // With this one among i others, of which the rest has the smallest shares.
                let with = |i: usize| (sums[(i - 1).min(sums.len() - 1)] + least) / (k - i) as f64;
                let bound = (k - rows..k).filter(|&i| i > 0).map(with).fold(f64::INFINITY, f64::min);
                if sums.len() >= k && (bound >= search.best || near.len() == NEAR) {
                    search.floor = bound;
                    return true;
                }
                let n = field.rows[t as usize].min(k as u64 - 1) as u32;
                for _ in 0..n {
                    if sums.len() < k {
                        sums.push(sums[sums.len() - 1] + least);
                    }
                }
                let cost = field.space.cost_merged(own, field.shape(t));
                near.push(Other { tuple: t, cost, price: self.prices[t as usize], rows: n });
                false
            },
        );
        // Finding those near takes time as well.
        *search.budget = search.budget.saturating_sub(8 * near.len() as u64);
        search.greedy(own, &near);
        search.choose(own, start, 0, 0.0, &near);
        search.best.min(search.floor)
    }
}

/// The search for the box that allows a tuple the lowest price.
struct Raise<'a, 'b> {
    price_tree: &'a PriceTree<'a>,
    /// The rows of the tuple itself.
    rows: usize,
    best: f64,
    floor: f64,
    budget: &'b mut u64,
}

impl Raise<'_, '_> {
    /// What the tuple may cost at the most where the hull costs `cost` and `others` rows in it have these prices
    /// together.
    fn allowed(&self, cost: f64, others: usize, prices: f64) -> Option<f64> {
        let k = self.price_tree.k;
        (others < k && k - others <= self.rows).then(|| (k as f64 * cost - prices) / (k - others) as f64)
    }

    /// The same at the least once further rows join, given the prices of the dearest of them, added up.
    fn bound(&self, cost: f64, others: usize, prices: f64, dearest: &[f64]) -> f64 {
        let more = |further: usize| {
            let prices = prices + dearest[further.min(dearest.len() - 1)];
            self.allowed(cost, others + further, prices).unwrap_or(f64::INFINITY)
        };
        (0..self.price_tree.k.saturating_sub(others)).map(more).fold(f64::INFINITY, f64::min)
    }

    /// One box, found by taking each time what lowers the price the most.
    fn greedy(&mut self, own: &Shape, near: &[Other]) {
        let (space, k) = (&self.price_tree.field.space, self.price_tree.k);
        let mut shape = own.to_vec();
        let mut left: Vec<u32> = near.iter().map(|o| o.rows).collect();
        let mut prices = 0.0;
        for others in 1..k {
            let worth =
                |o: &Other| k as f64 * space.cost_merged(&shape, self.price_tree.field.shape(o.tuple)) - o.price;
            let open = near.iter().enumerate().filter(|(i, _)| left[*i] > 0);
            let Some((i, other)) = open.min_by(|a, b| worth(a.1).total_cmp(&worth(b.1))) else { return };
            space.merge(&mut shape, self.price_tree.field.shape(other.tuple));
            left[i] -= 1;
            prices += other.price;
            if let Some(allowed) = self.allowed(space.cost(&shape), others, prices) {
                self.best = self.best.min(allowed);
            }
        }
    }

    /// Looks at all boxes over this one and some of the tuples near it.
    fn choose(&mut self, shape: &Shape, cost: f64, others: usize, prices: f64, near: &[Other]) {
        let (field, k) = (self.price_tree.field, self.price_tree.k);
        let mut highest = HighestPrices::new(k - 1 - others);
        near.iter().for_each(|o| highest.take(o.price, o.rows));
        let sums = highest.sums();
        if *self.budget == 0 {
            self.floor = self.floor.min(self.bound(cost, others, prices, &sums));
            return;
        }
        *self.budget = self.budget.saturating_sub(near.len() as u64 + 1);
        let mut kept: Vec<Other> = Vec::with_capacity(near.len());
        for other in near {
            if self.bound(other.cost, others + 1, prices + other.price, &sums) < self.best {
                kept.push(*other);
            }
        }
        kept.sort_unstable_by(|a, b| {
            let worth = |o: &Other| k as f64 * o.cost - o.price;
            worth(a).total_cmp(&worth(b)).then(a.tuple.cmp(&b.tuple))
        });
        for at in 0..kept.len() {
            let other = kept[at];
            let (with, paid) = (others + 1, prices + other.price);
            if let Some(allowed) = self.allowed(other.cost, with, paid) {
                self.best = self.best.min(allowed);
            }
            if with + 1 >= k || self.bound(other.cost, with, paid, &sums) >= self.best {
                continue;
            }
            let mut wider = shape.to_vec();
            field.space.merge(&mut wider, field.shape(other.tuple));
            let again = (other.rows > 1).then_some(Other { rows: other.rows - 1, ..other });
            let rest = again.into_iter().chain(kept[at + 1..].iter().map(|o| {
                let cost = field.space.cost_merged(&wider, field.shape(o.tuple));
                Other { cost, ..*o }
            }));
            let rest: Vec<Other> = rest.collect();
            self.choose(&wider, other.cost, with, paid, &rest);
        }
    }
}

/// The highest of some prices.
struct HighestPrices {
    highest: Vec<f64>,
    most: usize,
}

impl HighestPrices {
    fn new(most: usize) -> Self {
        HighestPrices { highest: Vec::with_capacity(most + 1), most }
    }

    fn take(&mut self, price: f64, times: u32) {
        for _ in 0..times {
            if self.highest.len() == self.most && self.highest.last().is_none_or(|&least| least >= price) {
                return;
            }
            let at = self.highest.partition_point(|&p| p >= price);
            self.highest.insert(at, price);
            self.highest.truncate(self.most);
        }
    }

    /// What the highest one, two, … cost together, from none on.
    fn sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0];
        self.highest.iter().for_each(|p| sums.push(sums[sums.len() - 1] + p));
        sums
    }
}
