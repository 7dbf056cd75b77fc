//! What other items offer to share a set with one: their λ, and how much is looked at.

use super::items::Items;
use super::sets::Sets;

/// How much is looked at for one item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Items that are gathered.
    pub(super) near: usize,
    /// Nodes and items from which it is learnt which λ are near; farther ones may be as high as any.
    pub(super) patience: usize,
    /// Looks at items from a branch.
    pub(super) looks: u64,
    /// Whether nothing else is cheaper than what is found; otherwise it is only a set that is cheap.
    pub(super) proven: bool,
}

/// λ of every item, and the highest below each node of the tree.
pub(super) struct Offers<'a> {
    pub(super) items: &'a Items<'a>,
    pub(super) sets: Sets,
    pub(super) offers: &'a [f64],
    pub(super) highest: &'a [f64],
    /// The highest λ that can be in a set beside a row.
    pub(super) top: Highest,
    pub(super) limits: Limits,
}

/// An item that may join a hull.
#[derive(Debug, Clone, Copy)]
pub(super) struct Other {
    pub(super) item: u32,
    /// What the hull costs with it.
    pub(super) cost: f64,
    pub(super) offer: f64,
    pub(super) rows: u32,
    pub(super) value: u32,
    /// What a set with it is not below.
    pub(super) bound: f64,
}

impl<'a> Offers<'a> {
    pub(super) fn new(items: &'a Items<'a>, sets: Sets, offers: &'a [f64], highest: &'a [f64], limits: Limits) -> Self {
        let mut top = Highest::new(sets.size.saturating_sub(1), sets.column.is_some());
        for (item, &offer) in offers.iter().enumerate() {
            let rows = items.rows[item].min(sets.size as u64) as u32;
            let value = items.values[item];
            top.take(&Other { item: item as u32, cost: 0.0, offer, rows, value, bound: 0.0 });
        }
        Offers { items, sets, offers, highest, top, limits }
    }

    /// Another item, as it may join the hull of `item`.
    pub(super) fn other(&self, other: u32, item: u32, cost: f64) -> Other {
        let (offer, value) = (self.offers[other as usize], self.items.values[other as usize]);
        Other { item: other, cost, offer, rows: self.may_join(other, item), value, bound: 0.0 }
    }

    pub(super) fn varied(&self) -> bool {
        self.sets.column.is_some()
    }

    /// The rows of an item that may join another.
    fn may_join(&self, other: u32, item: u32) -> u32 {
        let rows = self.items.rows[other as usize].min(self.sets.size as u64) as u32;
        match self.varied() {
            true => u32::from(self.items.values[other as usize] != self.items.values[item as usize]),
            false => rows - u32::from(other == item),
        }
    }
}

/// Sorts by what the hull costs with each.
pub(super) fn by_cost(near: &mut [Other]) {
    near.sort_unstable_by(|a, b| a.cost.total_cmp(&b.cost).then(a.item.cmp(&b.item)));
}

/// The highest λ of some rows, of different values where they must differ.
#[derive(Debug)]
pub(super) struct Highest {
    pub(super) highest: Vec<(f64, u32)>,
    most: usize,
    varied: bool,
    pub(super) sum: f64,
}

impl Highest {
    pub(super) fn new(most: usize, varied: bool) -> Self {
        Highest { highest: Vec::with_capacity(most + 1), most, varied, sum: 0.0 }
    }

    pub(super) fn full(&self) -> bool {
        self.highest.len() == self.most
    }

    pub(super) fn take(&mut self, other: &Other) {
        if self.full() && self.highest.last().is_none_or(|last| last.0 >= other.offer) {
            return;
        }
        if self.varied
            && let Some(at) = self.highest.iter().position(|h| h.1 == other.value)
        {
            if self.highest[at].0 >= other.offer {
                return;
            }
            self.highest.remove(at);
        }
        for _ in 0..if self.varied { 1 } else { other.rows } {
            let at = self.highest.partition_point(|h| h.0 >= other.offer);
            if at == self.most {
                break;
            }
            self.highest.insert(at, (other.offer, other.value));
            self.highest.truncate(self.most);
        }
        self.sum = self.highest.iter().map(|h| h.0).sum();
    }
}
