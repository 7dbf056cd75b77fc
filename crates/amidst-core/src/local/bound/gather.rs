//! Which items may be in the cheapest set around an item, by what the farthest and the dearest of a set allow.
//!
//! Whatever a set holds, its hull costs at least what the hull over the item and the farthest of its rows costs. So
//! with W(T) the highest λ of s − 1 rows of which none is reached at more than T, no set is below the least of
//! T − W(T), and no set with a certain row, reached at t, is below the least of T − (W of one row fewer)(T) over all
//! T ≥ t less the row's own λ. W is a staircase: it changes only where a row has a higher λ than the last of those that
//! count so far, and the tree is looked at nowhere else. Then those rows are collected with which a set may be cheaper
//! than the best that is known.
//!
//! **Dominance.** Where values differ within a set, a row can take the place of another of its value: if it lies within
//! the hull over the item and the other, and its λ is no lower, the set is no dearer. So the other need not be looked
//! at.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::offers::{Highest, Offers, Other, by_cost};
use crate::local::index::kd_tree::Total;
use crate::local::shape::Shape;

/// Items that are looked at where nothing is to be proven.
const PROMISING: usize = 60;

/// More items than this many times the limit are not collected.
const MANY: usize = 16;

/// A change of W: what it costs to reach the row, and the highest λ from there on, with their values.
#[derive(Debug)]
struct Step {
    reached: f64,
    sum: f64,
    highest: Vec<(f64, u32)>,
}

impl Step {
    /// The highest λ of one row fewer, none of it of this value.
    fn without(&self, value: Option<u32>) -> f64 {
        let same = value.and_then(|value| self.highest.iter().find(|h| h.1 == value));
        self.sum - same.or(self.highest.last()).map_or(0.0, |h| h.0)
    }
}

/// W around an item, as far as sets may be cheaper than the best that is known.
struct Staircase {
    steps: Vec<Step>,
    /// The least of T − (W of one row fewer)(T) from each step on.
    least: Vec<f64>,
    varied: bool,
}

impl Staircase {
    fn of(offers: &Offers<'_>, item: u32, own: &Shape, best: f64) -> Staircase {
        let (items, others, varied) = (offers.items, offers.sets.size - 1, offers.sets.column.is_some());
        let start = items.space.cost(own);
        let mut steps: Vec<Step> = Vec::new();
        let mut top = Highest::new(others, varied);
        let mut waiting = BinaryHeap::with_capacity(64);
        waiting.push(Reverse((Total(start), false, 0)));
        let mut found = Vec::with_capacity(8);
        let mut looked = 0;
        while let Some(Reverse((Total(reached), is_item, number))) = waiting.pop() {
            // Farther rows are in no cheaper set, whatever their λ.
            if reached - offers.top.sum >= best {
                break;
            }
            looked += 1;
            if looked > offers.limits.patience {
                steps.push(Step { reached, sum: offers.top.sum, highest: offers.top.highest.clone() });
                break;
            }
            let least = if top.full() { top.highest[others - 1].0 } else { f64::NEG_INFINITY };
            if is_item {
                let (before, was_full) = (top.sum, top.full());
                let other = offers.other(number, item, reached);
                if other.rows > 0 {
                    top.take(&other);
                }
                if top.full() && (!was_full || top.sum > before) {
                    steps.pop_if(|last| last.reached == reached);
                    steps.push(Step { reached, sum: top.sum, highest: top.highest.clone() });
                }
            } else if offers.highest[number as usize] > least {
                items.tree.open(
                    number,
                    |half, hull| {
                        if offers.highest[half as usize] > least {
                            waiting.push(Reverse((Total(start + items.space.stretch(own, hull)), false, half)));
                        }
                    },
                    |other| found.push(other),
                );
                for other in found.drain(..).filter(|&other| offers.offers[other as usize] > least) {
                    let reached = items.space.cost_merged(own, items.shape(other));
                    waiting.push(Reverse((Total(reached), true, other)));
                }
            }
        }
        let mut least: Vec<f64> = steps.iter().map(|step| step.reached - step.without(None)).collect();
        for at in (1..least.len()).rev() {
            least[at - 1] = least[at - 1].min(least[at]);
        }
        Staircase { steps, least, varied }
    }

    /// What no set is below.
    fn bound(&self) -> f64 {
        self.steps.iter().map(|step| step.reached - step.sum).fold(f64::INFINITY, f64::min)
    }

    /// What the others of a set cost at the least with a row that is reached at this, its λ not counted.
    fn rest(&self, reached: f64) -> f64 {
        let next = self.steps.partition_point(|step| step.reached <= reached);
        let here = next.checked_sub(1).map_or(f64::INFINITY, |at| reached - self.steps[at].without(None));
        self.least.get(next).map_or(here, |least| here.min(*least))
    }

    /// The same for a row of this value, more closely.
    fn rest_of(&self, reached: f64, value: u32) -> f64 {
        let value = Some(value).filter(|_| self.varied);
        let next = self.steps.partition_point(|step| step.reached <= reached);
        let here = next.checked_sub(1).map_or(f64::INFINITY, |at| reached - self.steps[at].without(value));
        self.steps[next..].iter().map(|step| step.reached - step.without(value)).fold(here, f64::min)
    }
}

/// The items that may be in a set around `item` that is cheaper than `best`, and what no set with any of the others is
/// below.
pub(super) fn gathered(offers: &Offers<'_>, item: u32, own: &Shape, best: f64) -> (Vec<Other>, f64) {
    let (items, space) = (offers.items, offers.items.space);
    let stairs = Staircase::of(offers, item, own, best);
    if stairs.bound() >= best {
        return (Vec::new(), f64::INFINITY);
    }
    let start = space.cost(own);
    let mut near: Vec<Other> = Vec::new();
    let mut waiting = vec![0];
    let mut halves = Vec::with_capacity(2);
    let mut floor = f64::INFINITY;
    while let Some(node) = waiting.pop() {
        if near.len() > MANY * offers.limits.near {
            floor = stairs.bound();
            break;
        }
        items.tree.open(
            node,
            |half, hull| {
                if stairs.rest(start + space.stretch(own, hull)) - offers.highest[half as usize] < best {
                    halves.push(half);
                }
            },
            |other| {
                let mut other = offers.other(other, item, space.cost_merged(own, items.shape(other)));
                if other.rows > 0 && stairs.rest(other.cost) - other.offer < best {
                    other.bound = stairs.rest_of(other.cost, other.value) - other.offer;
                    near.extend((other.bound < best).then_some(other));
                }
            },
        );
        waiting.append(&mut halves);
    }
    if near.len() > offers.limits.near {
        near.sort_unstable_by(|a, b| a.bound.total_cmp(&b.bound).then(a.item.cmp(&b.item)));
        floor = floor.min(near[offers.limits.near].bound);
        near.truncate(offers.limits.near);
    }
    (undominated(offers, own, near), floor)
}

/// Those whose place no other of the same value can take; all where values do not count.
fn undominated(offers: &Offers<'_>, own: &Shape, mut near: Vec<Other>) -> Vec<Other> {
    if offers.sets.column.is_none() {
        return near;
    }
    let (items, space) = (offers.items, offers.items.space);
    by_cost(&mut near);
    let mut kept: Vec<Other> = Vec::with_capacity(near.len());
    let mut hull = own.to_vec();
    for other in near {
        hull.copy_from_slice(own);
        space.merge(&mut hull, items.shape(other.item));
        let takes_its_place =
            |k: &Other| k.value == other.value && k.offer >= other.offer && space.contains(&hull, items.shape(k.item));
        if !kept.iter().any(takes_its_place) {
            kept.push(other);
        }
    }
    kept
}

/// The items that look most promising, as many as the limits allow and as a set needs: nothing is proven about the
/// others.
pub(super) fn promising(offers: &Offers<'_>, item: u32, own: &Shape) -> Vec<Other> {
    let (items, space, others) = (offers.items, offers.items.space, offers.sets.size - 1);
    let (start, share) = (space.cost(own), 1.0 / others as f64);
    let mut near: Vec<Other> = Vec::new();
    let mut all = Highest::new(others, offers.sets.column.is_some());
    let mut seen = 0;
    items.tree.ascending(
        |node, hull| share * (start + space.stretch(own, hull)) - offers.highest[node as usize],
        |other| share * space.cost_merged(own, items.shape(other)) - offers.offers[other as usize],
        |other, _| {
            let other = offers.other(other, item, space.cost_merged(own, items.shape(other)));
            if other.rows > 0 {
                all.take(&other);
                near.push(other);
            }
            seen += 1;
            seen >= PROMISING && all.full()
        },
    );
    undominated(offers, own, near)
}
