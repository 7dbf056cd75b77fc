//! Proofs that a value is possible: worlds that show it.
//!
//! One world is looked for, where the owner's own values are if these are known, and from it others by exchange:
//! somebody takes another value, somebody else of each of their classes gives it up for the first, and so on until
//! every class comes out as published. Each world proves every value that it gives out. What no world was found for
//! stays unproven, which says nothing about it.

use super::component::Component;

/// For each unknown and value whether a world was found that has it; `None` where no world was found, so that there may
/// be none. `likely` are the values that unknowns really have, where these are known: the first world to try.
pub(super) fn possible(component: &Component, likely: &[Option<&[u32]>], steps: u64) -> Option<Vec<bool>> {
    let mut proven: Vec<bool> = component.low.iter().map(|&low| low > 0).collect();
    let persons: u64 = component.sizes.iter().map(|&n| u64::from(n)).sum();
    let mut steps = steps.saturating_mul(persons);
    let world = Search::new(component, likely, &mut steps).world()?;
    let moved = vec![0; component.members.len()];
    Exchange { component, world, moved, open: Vec::new(), turned: Vec::new(), steps: 0 }.all(&mut proven, steps);
    Some(proven)
}

/// A search for one world: unknowns are given values one after the other, and bounds tighten after each.
struct Search<'c> {
    component: &'c Component,
    likely: &'c [Option<&'c [u32]>],
    low: Vec<u32>,
    high: Vec<u32>,
    /// What was changed, to take it back: the place and the bounds that were there.
    trail: Vec<(usize, u32, u32)>,
    steps: &'c mut u64,
}

/// How many ways of giving values to one unknown are tried before the search goes further back.
const WAYS: usize = 17;

impl<'c> Search<'c> {
    fn new(component: &'c Component, likely: &'c [Option<&'c [u32]>], steps: &'c mut u64) -> Self {
        let (low, high) = (component.low.clone(), component.high.clone());
        Search { component, likely, low, high, trail: Vec::new(), steps }
    }

    fn world(mut self) -> Option<Vec<u32>> {
        let order = self.order();
        // For each unknown that was given values: where the trail stood, and the next way to try.
        let mut given: Vec<(usize, usize)> = Vec::new();
        let mut next = 0;
        while let Some(&unknown) = order.get(given.len()) {
            let mark = self.trail.len();
            let mut fits = |way: &usize| {
                let fits = self.try_way(unknown, *way);
                if !fits {
                    self.undo(mark);
                }
                fits
            };
            match (next..WAYS).find(&mut fits) {
                Some(way) => {
                    given.push((mark, way + 1));
                    next = 0;
                }
                None => {
                    let (mark, tried) = given.pop()?;
                    self.undo(mark);
                    next = tried;
                }
            }
        }
        let (component, width) = (self.component, self.component.width());
        let comes_out = |class: usize, v: usize| {
            let given = component.members[class].iter().map(|&u| u64::from(self.low[u as usize * width + v]));
            given.sum::<u64>() == u64::from(component.left[class * width + v])
        };
        (0..component.members.len()).all(|class| (0..width).all(|v| comes_out(class, v))).then_some(self.low)
    }

    /// Unknowns in the order in which classes lead from one to the next.
    fn order(&self) -> Vec<usize> {
        let mut seen = vec![false; self.component.names.len()];
        let (mut order, mut at) = (Vec::new(), 0);
        for first in 0..seen.len() {
            if std::mem::replace(&mut seen[first], true) {
                continue;
            }
            order.push(first);
            while at < order.len() {
                for &class in &self.component.classes[order[at]] {
                    for &other in &self.component.members[class as usize] {
                        if !std::mem::replace(&mut seen[other as usize], true) {
                            order.push(other as usize);
                        }
                    }
                }
                at += 1;
            }
        }
        // What is known comes first, so that it is not in the way of itself; counterfeits take what is left.
        order.sort_by_key(|&unknown| (self.component.counterfeit[unknown], self.likely[unknown].is_none()));
        order
    }

    /// Gives an unknown values: first those that it really has, if these are known; then those with the most room
    /// first, beginning with another one for each way.
    fn try_way(&mut self, unknown: usize, way: usize) -> bool {
        let Some(way) = way.checked_sub(1) else { return self.try_likely(unknown) };
        let width = self.component.width();
        let first = unknown * width;
        let mut given = self.low[first..first + width].to_vec();
        let mut rest = (self.component.sizes[unknown]).saturating_sub(given.iter().sum());
        let mut open: Vec<usize> = (0..width).filter(|&v| self.high[first + v] > given[v]).collect();
        if way > 0 && way >= open.len() {
            return false;
        }
        open.sort_by_key(|&v| std::cmp::Reverse(self.high[first + v] - given[v]));
        let many = open.len().max(1);
        open.rotate_left(way % many);
        while rest > 0 {
            let before = rest;
            for &v in &open {
                if rest > 0 && given[v] < self.high[first + v] {
                    given[v] += 1;
                    rest -= 1;
                }
            }
            if rest == before {
                return false;
            }
        }
        for (v, &n) in given.iter().enumerate() {
            self.set(first + v, n, n);
        }
        self.tighten(self.component.classes[unknown].clone())
    }

    fn try_likely(&mut self, unknown: usize) -> bool {
        let Some(values) = self.likely[unknown] else { return false };
        let component = self.component;
        let first = unknown * component.width();
        let mut given = vec![0; component.width()];
        for value in values {
            match component.values.binary_search(value) {
                Ok(v) => given[v] += 1,
                Err(_) => return false,
            }
        }
        let fits = |(v, n): (usize, &u32)| self.low[first + v] <= *n && *n <= self.high[first + v];
        if !given.iter().enumerate().all(fits) {
            return false;
        }
        for (v, &n) in given.iter().enumerate() {
            self.set(first + v, n, n);
        }
        self.tighten(component.classes[unknown].clone())
    }

    fn set(&mut self, at: usize, low: u32, high: u32) {
        if (self.low[at], self.high[at]) != (low, high) {
            self.trail.push((at, self.low[at], self.high[at]));
            (self.low[at], self.high[at]) = (low, high);
        }
    }

    fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some((at, low, high)) = self.trail.pop() {
                (self.low[at], self.high[at]) = (low, high);
            }
        }
    }

    /// Tightens the bounds around some classes; false when there is no world, or no step left.
    fn tighten(&mut self, mut queue: Vec<u32>) -> bool {
        let component = self.component;
        let width = component.width();
        while let Some(class) = queue.pop() {
            let members = &component.members[class as usize];
            let cost = (members.len() * width) as u64 + 1;
            let Some(left) = self.steps.checked_sub(cost) else { return false };
            *self.steps = left;
            let before = self.trail.len();
            for v in 0..width {
                let sum =
                    |bounds: &[u32]| members.iter().map(|&u| u64::from(bounds[u as usize * width + v])).sum::<u64>();
                let (mut low, mut high) = (sum(&self.low), sum(&self.high));
                let left = u64::from(component.left[class as usize * width + v]);
                if low > left || high < left {
                    return false;
                }
                for at in members.iter().map(|&u| u as usize * width + v) {
                    let (old_low, old_high) = (u64::from(self.low[at]), u64::from(self.high[at]));
                    let most = (left - (low - old_low)).min(old_high);
                    let least = left.saturating_sub(high - old_high).max(old_low);
                    if least > most {
                        return false;
                    }
                    (low, high) = (low + least - old_low, high + most - old_high);
                    self.set(at, least as u32, most as u32);
                }
            }
            let mut changed: Vec<usize> = self.trail[before..].iter().map(|t| t.0 / width).collect();
            changed.sort_unstable();
            changed.dedup();
            for unknown in changed {
                if !self.fit(unknown) {
                    return false;
                }
                queue.extend(
                    component.classes[unknown].iter().filter(|c| !queue.contains(c)).copied().collect::<Vec<_>>(),
                );
            }
        }
        true
    }

    fn fit(&mut self, unknown: usize) -> bool {
        let width = self.component.width();
        let range = unknown * width..(unknown + 1) * width;
        let size = u64::from(self.component.sizes[unknown]);
        let sum = |bounds: &[u32]| bounds[range.clone()].iter().map(|&n| u64::from(n)).sum::<u64>();
        let (low, high) = (sum(&self.low), sum(&self.high));
        let (Some(room), Some(lack)) = (size.checked_sub(low), high.checked_sub(size)) else { return false };
        for at in range {
            let most = (u64::from(self.low[at]) + room).min(u64::from(self.high[at])) as u32;
            let least = u64::from(self.high[at]).saturating_sub(lack).max(u64::from(self.low[at])) as u32;
            self.set(at, least, most);
        }
        true
    }
}

/// A world, and the exchanges that lead to others.
struct Exchange<'c> {
    component: &'c Component,
    world: Vec<u32>,
    /// By class, how many more than published have the value that came, for the one that went.
    moved: Vec<i32>,
    /// The classes that do not come out as published.
    open: Vec<u32>,
    /// Exchanges that were made, (unknown, value given up): none is made back, or nothing would have changed.
    turned: Vec<(usize, usize)>,
    steps: u64,
}

/// How many exchanges may follow from one.
const LONGEST: usize = 24;
/// How often everything that is not proven yet is tried.
const ROUNDS: usize = 4;
/// How many are tried for one value.
const TRIES: u64 = 4096;

impl Exchange<'_> {
    /// Proves as much as the steps allow.
    fn all(&mut self, proven: &mut [bool], mut steps: u64) {
        self.note(proven);
        for _ in 0..ROUNDS {
            let before = proven.iter().filter(|&&p| p).count();
            self.round(proven, &mut steps);
            // Every world found is a new place to start from.
            if before == proven.iter().filter(|&&p| p).count() {
                break;
            }
        }
    }

    fn round(&mut self, proven: &mut [bool], steps: &mut u64) {
        let width = self.component.width();
        for unknown in (0..self.component.names.len()).filter(|&u| !self.component.counterfeit[u]) {
            for v in 0..width {
                for w in 0..width {
                    let (to, from) = (unknown * width + v, unknown * width + w);
                    if proven[to] || self.component.high[to] == 0 {
                        break;
                    }
                    if w == v || self.world[from] == 0 || *steps == 0 {
                        continue;
                    }
                    let allowed = TRIES.min(*steps);
                    self.steps = allowed;
                    if self.turn(unknown, w, v, LONGEST) {
                        self.note(proven);
                        self.turned.clear();
                    }
                    *steps -= allowed - self.steps;
                }
            }
        }
    }

    fn note(&self, proven: &mut [bool]) {
        proven.iter_mut().zip(&self.world).for_each(|(proven, &n)| *proven |= n > 0);
    }

    /// One of an unknown gives up a value for another, and the rest follows; if it cannot, nothing has changed.
    fn turn(&mut self, unknown: usize, gives: usize, takes: usize, depth: usize) -> bool {
        let width = self.component.width();
        let (from, to) = (unknown * width + gives, unknown * width + takes);
        let (component, world) = (self.component, &mut self.world);
        if depth == 0 || self.steps == 0 || world[from] <= component.low[from] || world[to] >= component.high[to] {
            return false;
        }
        if self.turned.contains(&(unknown, takes)) {
            return false;
        }
        self.steps -= 1;
        world[from] -= 1;
        world[to] += 1;
        self.turned.push((unknown, gives));
        // Exchanges between two values only: one way counts 1, the other −1.
        let sign = if gives < takes { 1 } else { -1 };
        component.classes[unknown].iter().for_each(|&class| self.shift(class, sign));
        let done = match self.open.last().copied() {
            None => true,
            Some(class) => self.balance(class, gives.min(takes), gives.max(takes), depth - 1),
        };
        if !done {
            self.turned.pop();
            self.world[from] += 1;
            self.world[to] -= 1;
            component.classes[unknown].iter().for_each(|&class| self.shift(class, -sign));
        }
        done
    }

    fn shift(&mut self, class: u32, by: i32) {
        let moved = &mut self.moved[class as usize];
        let before = std::mem::replace(moved, *moved + by);
        if before == 0 {
            self.open.push(class);
        } else if *moved == 0 {
            self.open.retain(|&open| open != class);
        }
    }

    fn balance(&mut self, class: u32, lower: usize, upper: usize, depth: usize) -> bool {
        let component = self.component;
        // Too many took the upper value: somebody must give it up for the lower one, or the other way round.
        let (gives, takes) = if self.moved[class as usize] > 0 { (upper, lower) } else { (lower, upper) };
        let mut members: Vec<u32> = component.members[class as usize].clone();
        members.sort_by_key(|&u| {
            let sign = if gives < takes { 1 } else { -1 };
            let after = |&c: &u32| (self.moved[c as usize] + sign).abs() - self.moved[c as usize].abs();
            component.classes[u as usize].iter().map(after).sum::<i32>()
        });
        members.into_iter().any(|other| self.turn(other as usize, gives, takes, depth))
    }
}
