//! The cheapest box around a tuple whose rows could be a class, by branch and bound.
//!
//! A box is the hull over the tuples chosen so far. Every further tuple costs what the hull over both costs, so the
//! tuples that would come nearest tell at which cost the box has what it needs, at the least: that bounds a branch. A
//! branch that is left unexplored at the limit of steps counts with its bound.
//!
//! Where different values are all that a box needs, tuples that bring none are passed over, and so is one if another
//! lies within every box around it and brings all that it brings.

use crate::local::shape::{Shape, ShapeWord};
use rayon::prelude::*;

use super::Effort;
use super::field::Field;
use super::items::Items;
use crate::search::need::Need;
use crate::search::{Search, SearchError};

/// Tuples around one that are looked at; those that lie farther count with the cost of reaching them.
const NEAR: usize = 240;

/// Looks for one tuple, at the least and at the most.
const LOOKS: (u64, u64) = (1_000, 1_000_000);

/// Different values beyond which a box is one of many.
const MANY: u64 = 6;

/// Tuples whose prices one task finds.
const TASK: usize = 64;

/// What a row of each tuple pays at the least, at most `most`.
pub(super) fn prices(search: &Search<'_>, field: &Field, effort: Effort, most: f64) -> Result<Vec<f64>, SearchError> {
    let count = field.len();
    let priced = count.min(effort.tuples.max(1));
    let looks = match effort.looks {
        0 => 0,
        // Few looks tell as little as none where a box needs many different values.
        all if field.need.different > MANY => (all / MANY / priced.max(1) as u64).min(LOOKS.1),
        all => (all / priced.max(1) as u64).clamp(LOOKS.0, LOOKS.1),
    };
    let price = |tuple: usize| {
        // Evenly spread over the tuples, where they are too many.
        let chosen = (tuple + 1) * priced / count > tuple * priced / count;
        if !chosen {
            return field.space.cost(field.shape(tuple as u32));
        }
        Cheapest::new(field, field.need, looks).around(tuple as u32).min(most)
    };
    let tasks: Vec<Vec<f64>> = (0..count.div_ceil(TASK))
        .into_par_iter()
        .map(|task| {
            let late = effort.late();
            search.checkpoint()?;
            let tuples = task * TASK..((task + 1) * TASK).min(count);
            Ok(tuples.map(|t| if late { field.space.cost(field.shape(t as u32)) } else { price(t) }).collect())
        })
        .collect::<Result<_, SearchError>>()?;
    Ok(tasks.concat())
}

/// What a row of each item pays at the least in a class that has another row of its value and at least `different`
/// values; at most `most`. What a row of each tuple pays at the least in any class is `alone`.
pub(super) fn repeated(
    search: &Search<'_>,
    (field, items): (&Field, &Items<'_>),
    different: u64,
    effort: Effort,
    (most, alone): (f64, &[f64]),
) -> Result<Vec<f64>, SearchError> {
    let need = Need { different, rows: field.need.rows.max(different + 1), ..field.need };
    let looks = (effort.looks / items.len().max(1) as u64).min(LOOKS.1);
    let price = |item: usize| {
        let (tuple, value) = (items.tuple[item], items.values[item]);
        let twice = (items.rows[item] < 2).then_some(value);
        let values_suffice = need.rows <= different + 1;
        Cheapest { twice, values_suffice, ..Cheapest::new(field, need, looks) }.around(tuple)
    };
    let tasks: Vec<Vec<f64>> = (0..items.len().div_ceil(TASK))
        .into_par_iter()
        .map(|task| {
            let late = effort.late();
            search.checkpoint()?;
            let of = task * TASK..((task + 1) * TASK).min(items.len());
            let least = |item: usize| alone[items.tuple[item] as usize];
            Ok(of.map(|item| if late { least(item) } else { least(item).max(price(item).min(most)) }).collect())
        })
        .collect::<Result<_, SearchError>>()?;
    Ok(tasks.concat())
}

/// A box under construction: its hull, and what it has.
#[derive(Debug, Clone)]
struct Region {
    shape: Vec<ShapeWord>,
    cost: f64,
    rows: u64,
    /// Different values, as far as anybody asks.
    values: Vec<u32>,
    /// Whether the value that must come twice does.
    again: bool,
}

struct Cheapest<'a> {
    field: &'a Field,
    need: Need,
    /// The value of which there must be a row in another tuple.
    twice: Option<u32>,
    /// Whether a box with these values has the rows as well.
    values_suffice: bool,
    /// The cheapest box that has what it needs.
    best: f64,
    /// What those cost at the least that were not looked at.
    floor: f64,
    left: u64,
}

impl<'a> Cheapest<'a> {
    fn new(field: &'a Field, need: Need, looks: u64) -> Self {
        let values_suffice = need.different > 1 && need.rows <= need.different;
        Cheapest { field, need, twice: None, values_suffice, best: f64::INFINITY, floor: f64::INFINITY, left: looks }
    }

    fn around(mut self, tuple: u32) -> f64 {
        let field = self.field;
        let own = field.shape(tuple);
        let (shape, cost) = (own.to_vec(), field.space.cost(own));
        let mut start = Region { shape, cost, rows: 0, values: Vec::new(), again: false };
        self.take(&mut start, tuple);
        start.again = self.twice.is_none();
        if self.enough(&start) {
            return start.cost;
        }
        // A first box: whatever comes nearest until it has what it needs.
        let mut first = start.clone();
        let mut near: Vec<(f64, u32)> = Vec::new();
        let enough = field.tree.ascending(
            |_, hull| start.cost + field.space.stretch(own, hull),
            |other| field.space.cost_merged(own, field.shape(other)),
            |other, cost| {
                if other == tuple {
                    return false;
                }
                if self.best.is_infinite() {
                    self.take(&mut first, other);
                    field.space.merge(&mut first.shape, field.shape(other));
                    if self.enough(&first) {
                        self.best = field.space.cost(&first.shape);
                    }
                }
                // Those that lie farther reach no cheaper box.
                let stop = cost >= self.best || near.len() == NEAR;
                if stop {
                    self.floor = cost;
                } else if self.adds(&start, other) && !self.dominated(own, other, &near) {
                    near.push((cost, other));
                }
                stop
            },
        );
        if !enough && self.best.is_infinite() {
            return f64::INFINITY;
        }
        self.search(&start, near);
        self.best.min(self.floor)
    }

    fn take(&self, own: &mut Region, tuple: u32) {
        own.rows += self.field.rows[tuple as usize];
        for &value in self.field.values(tuple) {
            own.again |= self.twice == Some(value);
            if (own.values.len() as u64) < self.need.different && !own.values.contains(&value) {
                own.values.push(value);
            }
        }
    }

    /// Whether a box has more of what it needs with a tuple.
    fn adds(&self, own: &Region, tuple: u32) -> bool {
        let more = (own.values.len() as u64) < self.need.different;
        let adds = |value: &u32| (more && !own.values.contains(value)) || (!own.again && self.twice == Some(*value));
        !self.values_suffice || self.field.values(tuple).iter().any(adds)
    }

    /// Whether one of those near brings all that a tuple brings and lies within every box around it.
    fn dominated(&self, own: &Shape, tuple: u32, near: &[(f64, u32)]) -> bool {
        let (field, space) = (self.field, &self.field.space);
        if !self.values_suffice {
            return false;
        }
        let mut hull = own.to_vec();
        space.merge(&mut hull, field.shape(tuple));
        let all_of = |other: u32| field.values(tuple).iter().all(|value| field.values(other).contains(value));
        near.iter().any(|&(_, other)| all_of(other) && space.contains(&hull, field.shape(other)))
    }

    fn enough(&self, own: &Region) -> bool {
        let varied = self.need.different <= 1 || own.values.len() as u64 >= self.need.different;
        own.rows >= self.need.rows && varied && own.again
    }

    /// Looks for cheaper boxes over `own` and some of the tuples near it, given with what the hull with each costs.
    fn search(&mut self, own: &Region, mut near: Vec<(f64, u32)>) {
        near.retain(|n| n.0 < self.best && self.adds(own, n.1));
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        // At what cost there would be enough if every tuple came alone.
        let mut all = own.clone();
        let Some(reached) = near.iter().position(|&(_, tuple)| {
            self.take(&mut all, tuple);
            self.enough(&all)
        }) else {
            return;
        };
        if self.left == 0 {
            self.floor = self.floor.min(near[reached].0);
            return;
        }
        self.left = self.left.saturating_sub(near.len() as u64);
        // What lies within the hull belongs to the box.
        let inside = near.iter().take_while(|n| n.0 <= own.cost).count();
        if inside > 0 {
            let mut wider = own.clone();
            near.drain(..inside).for_each(|(_, tuple)| self.take(&mut wider, tuple));
            match self.enough(&wider) {
                true => self.best = self.best.min(own.cost),
                false => self.search(&wider, near),
            }
            return;
        }
        let field = self.field;
        for at in 0..near.len() {
            let (cost, tuple) = near[at];
            if cost >= self.best {
                break;
            }
            let mut wider = Region { cost, ..own.clone() };
            field.space.merge(&mut wider.shape, field.shape(tuple));
            self.take(&mut wider, tuple);
            if self.enough(&wider) {
                // All others cost more.
                self.best = cost;
                break;
            }
            let rest = near[at + 1..].iter();
            let rest = rest.map(|&(_, t)| (field.space.cost_merged(&wider.shape, field.shape(t)), t)).collect();
            self.search(&wider, rest);
        }
    }
}
