//! Sets of rows that are known, and the λ at which they prove most: the restricted problem of `exchange`.

use rustc_hash::FxHashSet;

use super::items::Items;
use super::pricing::Cheapest;

/// Steps of one ascent.
const STEPS: usize = 150;

/// Sets that are dearer than the cheapest by this many widths do not count.
const DEAREST: f64 = 12.0;

/// More sets than this are not kept.
const MANY: usize = 2_000_000;

/// Known sets of rows, all of the same size.
#[derive(Debug)]
pub(super) struct Columns {
    size: usize,
    /// The items of each set, one after the other, in ascending order; an item stands as often as it has rows in it.
    members: Vec<u32>,
    costs: Vec<f64>,
    /// The sets with each item.
    of: Vec<Vec<u32>>,
    known: FxHashSet<Vec<u32>>,
}

impl Columns {
    pub(super) fn new(size: usize, items: usize) -> Self {
        Columns {
            size,
            members: Vec::new(),
            costs: Vec::new(),
            of: vec![Vec::new(); items],
            known: FxHashSet::default(),
        }
    }

    /// Takes up a set, if it is whole and new.
    pub(super) fn put(&mut self, items: &Items<'_>, mut set: Vec<u32>) {
        if set.len() != self.size || self.costs.len() >= MANY {
            return;
        }
        set.sort_unstable();
        if !self.known.insert(set.clone()) {
            return;
        }
        let mut shape = items.shape(set[0]).to_vec();
        set[1..].iter().for_each(|&item| items.space.merge(&mut shape, items.shape(item)));
        for (at, &item) in set.iter().enumerate() {
            if at == 0 || set[at - 1] != item {
                self.of[item as usize].push(self.costs.len() as u32);
            }
        }
        self.costs.push(items.space.cost(&shape));
        self.members.extend(set);
    }

    /// Takes up the set that was found around every item.
    pub(super) fn put_all(&mut self, items: &Items<'_>, found: Vec<Cheapest>) {
        for (item, set) in found.into_iter().enumerate() {
            self.put(items, set.others.into_iter().chain([item as u32]).collect());
        }
    }

    fn set(&self, column: u32) -> &[u32] {
        &self.members[column as usize * self.size..(column as usize + 1) * self.size]
    }

    /// The cheapest known set around an item: its others, and its cost less their λ.
    pub(super) fn cheapest(&self, item: u32, offers: &[f64]) -> Option<Cheapest> {
        let least = |&column: &u32| {
            let sum: f64 = self.set(column).iter().map(|&i| offers[i as usize]).sum();
            (self.costs[column as usize] - sum + offers[item as usize], column)
        };
        let best = self.of[item as usize].iter().map(least).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
        let mut others = self.set(best.1).to_vec();
        if let Some(at) = others.iter().position(|&i| i == item) {
            others.remove(at);
        }
        Some(Cheapest { least: best.0, others })
    }

    /// λ near `from`, by `trust` at the most, at which the known sets allow prices that add up to the most; and what
    /// they add up to. No price is above its `ceiling`; `mean` is what λ are measured by.
    ///
    /// A gradient ascent with momentum: in place of the cheapest set around an item all that are nearly as cheap count,
    /// the dearer the less, and less and less of them. An item that sets use more than its rows allow is offered for
    /// less, one that they use less for more.
    pub(super) fn ascend(
        &self,
        items: &Items<'_>,
        from: &[f64],
        ceiling: &[f64],
        (mean, trust): (f64, f64),
    ) -> (f64, Vec<f64>) {
        let size = self.size as f64;
        let mut offers = from.to_vec();
        let mut speed = vec![0.0; offers.len()];
        let mut best = (f64::NEG_INFINITY, offers.clone());
        let mut values = vec![0.0; self.costs.len()];
        let mut used = vec![0.0; offers.len()];
        let mut weights = Vec::new();
        for step in 0..STEPS {
            let share = step as f64 / STEPS as f64;
            let (width, rate) = (mean * size * 0.15 * 0.02f64.powf(share), mean * 0.5 * 0.03f64.powf(share));
            for (column, value) in values.iter_mut().enumerate() {
                *value = self.costs[column] - self.set(column as u32).iter().map(|&i| offers[i as usize]).sum::<f64>();
            }
            used.fill(0.0);
            let mut sum = 0.0;
            for (item, columns) in self.of.iter().enumerate() {
                let rows = items.rows[item] as f64;
                let top = ceiling[item] - size * offers[item];
                let least = columns.iter().map(|&c| values[c as usize]).fold(top, f64::min);
                if !least.is_finite() {
                    continue;
                }
                sum += rows * (least + size * offers[item]);
                let weight = |value: f64| {
                    let dearer = (value - least) / width;
                    if dearer < DEAREST { (-dearer).exp() } else { 0.0 }
                };
                let at_top = if top.is_finite() { weight(top) } else { 0.0 };
                weights.clear();
                weights.extend(columns.iter().map(|&c| weight(values[c as usize])));
                let total = weights.iter().sum::<f64>() + at_top;
                for (&column, weight) in columns.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0) {
                    let weight = rows * weight / total;
                    self.set(column).iter().for_each(|&i| used[i as usize] += weight);
                }
                // At its ceiling a price does not follow its own λ.
                used[item] += size * rows * at_top / total;
            }
            if sum > best.0 {
                best = (sum, offers.clone());
            }
            for (item, offer) in offers.iter_mut().enumerate() {
                let slope = 1.0 - used[item] / (size * items.rows[item] as f64);
                speed[item] = 0.8 * speed[item] + 0.2 * slope.clamp(-3.0, 1.0);
                *offer = (*offer + rate * speed[item]).clamp(from[item] - trust, from[item] + trust);
            }
        }
        best
    }
}
