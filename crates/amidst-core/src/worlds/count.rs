//! Counting the worlds of a component, exactly.
//!
//! One unknown after the other is given its values. The bounds of the rest are tightened, the rest is divided into
//! independent parts, and each part is counted once, however often it comes up. The result is a graph of sums of
//! products; one pass back through it yields how often every unknown has every value over all worlds.
//!
//! **Weights.** A world gives values to persons; how many persons of a cohort have each value stands for as many worlds
//! as there are ways to choose them, n!/Πxᵥ!. Only ratios matter, so that is divided by n!/Πhᵥ! with the upper bounds
//! hᵥ: small numbers where bounds are tight. The values of counterfeits follow from those of the persons and weigh
//! nothing.

use num_bigint::BigUint;
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

use super::component::Component;

/// The steps that were allowed are used up.
#[derive(Debug)]
pub(super) struct TooMany;

/// What is given out at once, and the parts that remain: a product.
#[derive(Debug, Default)]
struct Branch {
    given: Vec<(u32, Vec<u32>)>,
    weight: BigUint,
    parts: Vec<u32>,
    /// The weight times the worlds of the parts.
    worlds: BigUint,
}

/// A part: the branches of the unknown that is given values first, a sum.
#[derive(Debug)]
struct ComponentWorlds {
    branches: Vec<Branch>,
    worlds: BigUint,
}

/// How often every unknown has every value, summed over all worlds; `None` when there is no world.
pub(super) fn shares(component: &Component, steps: &mut u64) -> Result<Option<Vec<BigUint>>, TooMany> {
    let mut counter = Counter {
        component,
        left: component.left.clone(),
        parts: Vec::new(),
        known: FxHashMap::default(),
        steps,
        place: vec![u32::MAX; component.names.len()],
        depth: 0,
    };
    let all: Vec<u32> = (0..component.names.len() as u32).collect();
    let Some(root) = counter.propagate(&all, None)? else { return Ok(None) };
    let mut sums = vec![BigUint::zero(); component.names.len() * component.width()];
    let mut mass = vec![BigUint::zero(); counter.parts.len()];
    counter.spread(&root, &BigUint::one(), &mut sums, &mut mass);
    // Parts come after those they are made of.
    for at in (0..counter.parts.len()).rev() {
        let own = std::mem::take(&mut mass[at]);
        if own.is_zero() {
            continue;
        }
        for branch in &counter.parts[at].branches {
            counter.spread(branch, &own, &mut sums, &mut mass);
        }
    }
    Ok(Some(sums))
}

struct Counter<'c> {
    component: &'c Component,
    /// What each class still has to give out.
    left: Vec<u32>,
    parts: Vec<ComponentWorlds>,
    known: FxHashMap<Vec<u32>, u32>,
    steps: &'c mut u64,
    /// Where an unknown stands in the part that is being looked at.
    place: Vec<u32>,
    /// How many unknowns were given values to get here.
    depth: usize,
}

/// The stack has its limits, too.
const DEEPEST: usize = 200;

/// Bounds of some unknowns, one after the other.
struct Open {
    low: Vec<u32>,
    high: Vec<u32>,
}

impl Counter<'_> {
    fn spend(&mut self, steps: usize) -> Result<(), TooMany> {
        *self.steps = self.steps.checked_sub(steps as u64).ok_or(TooMany)?;
        Ok(())
    }

    /// Gives out what is certain and counts what remains; `None` when there is no world. `chosen` was given its values
    /// already.
    fn propagate(&mut self, part: &[u32], chosen: Option<(u32, Vec<u32>)>) -> Result<Option<Branch>, TooMany> {
        let mut branch = Branch { weight: BigUint::one(), ..Branch::default() };
        if let Some((unknown, given)) = chosen {
            branch.weight = self.weight(unknown, &given);
            branch.given.push((unknown, given));
        }
        let Some(open) = self.tighten(part)? else { return Ok(None) };
        let width = self.component.width();
        let mut rest = Vec::new();
        let first = branch.given.len();
        for (at, &unknown) in part.iter().enumerate() {
            let (low, high) = (&open.low[at * width..(at + 1) * width], &open.high[at * width..(at + 1) * width]);
            if low == high {
                self.take(unknown, low);
                branch.weight *= self.weight(unknown, low);
                branch.given.push((unknown, low.to_vec()));
            } else {
                rest.push(unknown);
            }
        }
        let mut worlds = branch.weight.clone();
        let mut outcome = Ok(());
        for part in self.split(&rest) {
            match self.part(part) {
                Ok(number) => {
                    worlds *= &self.parts[number as usize].worlds;
                    branch.parts.push(number);
                    if worlds.is_zero() {
                        break;
                    }
                }
                Err(stop) => {
                    outcome = Err(stop);
                    break;
                }
            }
        }
        for (unknown, given) in &branch.given[first..] {
            self.give_back(*unknown, given);
        }
        outcome?;
        branch.worlds = worlds;
        Ok((!branch.worlds.is_zero()).then_some(branch))
    }

    /// The number of a part, counted now unless it was before.
    fn part(&mut self, part: Vec<u32>) -> Result<u32, TooMany> {
        let key = self.key(&part);
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        if self.depth == DEEPEST {
            return Err(TooMany);
        }
        let width = self.component.width();
        let mut made = ComponentWorlds { branches: Vec::new(), worlds: BigUint::zero() };
        if let Some(open) = self.tighten(&part)? {
            let at = choose(self.component, &part, &open);
            let (unknown, range) = (part[at], at * width..(at + 1) * width);
            let rest: Vec<u32> = part.iter().copied().filter(|&u| u != unknown).collect();
            let size = self.component.sizes[unknown as usize];
            let mut ways = Ways::new(&open.low[range.clone()], &open.high[range], size);
            while let Some(given) = ways.next() {
                self.spend(width)?;
                self.take(unknown, &given);
                self.depth += 1;
                let branch = self.propagate(&rest, Some((unknown, given.clone())));
                self.depth -= 1;
                self.give_back(unknown, &given);
                if let Some(branch) = branch? {
                    made.worlds += &branch.worlds;
                    made.branches.push(branch);
                }
            }
        }
        self.parts.push(made);
        let number = self.parts.len() as u32 - 1;
        self.known.insert(key, number);
        Ok(number)
    }

    /// A part is known by its unknowns and by what their classes have left.
    fn key(&self, part: &[u32]) -> Vec<u32> {
        let width = self.component.width();
        let mut classes: Vec<u32> = part.iter().flat_map(|&u| &self.component.classes[u as usize]).copied().collect();
        classes.sort_unstable();
        classes.dedup();
        let mut key = part.to_vec();
        key.push(u32::MAX);
        classes.iter().for_each(|&c| key.extend(&self.left[c as usize * width..(c as usize + 1) * width]));
        key
    }

    fn take(&mut self, unknown: u32, given: &[u32]) {
        let width = given.len();
        for &class in &self.component.classes[unknown as usize] {
            let left = &mut self.left[class as usize * width..(class as usize + 1) * width];
            left.iter_mut().zip(given).for_each(|(left, n)| *left = left.wrapping_sub(*n));
        }
    }

    fn give_back(&mut self, unknown: u32, given: &[u32]) {
        let width = given.len();
        for &class in &self.component.classes[unknown as usize] {
            let left = &mut self.left[class as usize * width..(class as usize + 1) * width];
            left.iter_mut().zip(given).for_each(|(left, n)| *left = left.wrapping_add(*n));
        }
    }

    fn weight(&self, unknown: u32, given: &[u32]) -> BigUint {
        let at = unknown as usize;
        if self.component.counterfeit[at] {
            return BigUint::one();
        }
        let most = &self.component.high[at * given.len()..(at + 1) * given.len()];
        let mut product = BigUint::one();
        let mut small = 1u64;
        for factor in given.iter().zip(most).flat_map(|(&n, &most)| n + 1..=most) {
            match small.checked_mul(u64::from(factor)) {
                Some(next) => small = next,
                None => {
                    product *= small;
                    small = u64::from(factor);
                }
            }
        }
        product * small
    }

    /// The bounds of a part, from what its classes have left; `None` when they contradict each other.
    fn tighten(&mut self, part: &[u32]) -> Result<Option<Open>, TooMany> {
        let width = self.component.width();
        let mut open = Open { low: vec![0; part.len() * width], high: vec![0; part.len() * width] };
        for (at, &unknown) in part.iter().enumerate() {
            self.place[unknown as usize] = at as u32;
            let (own, high) = (unknown as usize * width, &mut open.high[at * width..(at + 1) * width]);
            for (v, high) in high.iter_mut().enumerate() {
                let classes = &self.component.classes[unknown as usize];
                let left = classes.iter().map(|&c| self.left[c as usize * width + v]).min();
                *high = self.component.high[own + v].min(left.unwrap_or(u32::MAX));
            }
        }
        let found = self.tighten_from(part, &mut open);
        part.iter().for_each(|&unknown| self.place[unknown as usize] = u32::MAX);
        Ok(found?.then_some(open))
    }

    fn tighten_from(&mut self, part: &[u32], open: &mut Open) -> Result<bool, TooMany> {
        let width = self.component.width();
        let mut classes: Vec<u32> = part.iter().flat_map(|&u| &self.component.classes[u as usize]).copied().collect();
        classes.sort_unstable();
        classes.dedup();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            self.spend(part.len() * width + 1)?;
            for (at, &unknown) in part.iter().enumerate() {
                let range = at * width..(at + 1) * width;
                let size = self.component.sizes[unknown as usize];
                match fit(&mut open.low[range.clone()], &mut open.high[range], size) {
                    None => return Ok(false),
                    Some(told) => changed |= told,
                }
            }
            for &class in &classes {
                let members = &self.component.members[class as usize];
                for v in 0..width {
                    let here = members.iter().filter_map(|&u| match self.place[u as usize] {
                        u32::MAX => None,
                        at => Some(at as usize * width + v),
                    });
                    let (mut low, mut high) = (0u64, 0u64);
                    for at in here.clone() {
                        low += u64::from(open.low[at]);
                        high += u64::from(open.high[at]);
                    }
                    let left = u64::from(self.left[class as usize * width + v]);
                    if low > left || high < left {
                        return Ok(false);
                    }
                    for at in here {
                        let (old_low, old_high) = (u64::from(open.low[at]), u64::from(open.high[at]));
                        let (most, least) = (left - (low - old_low), left.saturating_sub(high - old_high));
                        if most < old_high || least > old_low {
                            let (new_low, new_high) = (least.max(old_low), most.min(old_high));
                            if new_low > new_high {
                                return Ok(false);
                            }
                            (open.low[at], open.high[at]) = (new_low as u32, new_high as u32);
                            (low, high) = (low + new_low - old_low, high + new_high - old_high);
                            changed = true;
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    /// Parts that no class ties together.
    fn split(&mut self, rest: &[u32]) -> Vec<Vec<u32>> {
        rest.iter().for_each(|&unknown| self.place[unknown as usize] = 0);
        let mut parts = Vec::new();
        for &first in rest {
            if self.place[first as usize] == u32::MAX {
                continue;
            }
            self.place[first as usize] = u32::MAX;
            let (mut part, mut at) = (vec![first], 0);
            while at < part.len() {
                for &class in &self.component.classes[part[at] as usize] {
                    for &other in &self.component.members[class as usize] {
                        if self.place[other as usize] == 0 {
                            self.place[other as usize] = u32::MAX;
                            part.push(other);
                        }
                    }
                }
                at += 1;
            }
            part.sort_unstable();
            parts.push(part);
        }
        parts
    }

    /// Adds the worlds of a branch, each of which stands for `mass` worlds of what was decided before.
    fn spread(&self, branch: &Branch, mass: &BigUint, sums: &mut [BigUint], below: &mut [BigUint]) {
        let width = self.component.width();
        let worlds = mass * &branch.worlds;
        for (unknown, given) in &branch.given {
            for (v, &n) in given.iter().enumerate().filter(|(_, n)| **n > 0) {
                sums[*unknown as usize * width + v] += &worlds * n;
            }
        }
        for (at, &part) in branch.parts.iter().enumerate() {
            let others = branch.parts.iter().enumerate().filter(|(other, _)| *other != at);
            let own = mass * &branch.weight;
            below[part as usize] +=
                others.fold(own, |product, (_, &other)| product * &self.parts[other as usize].worlds);
        }
    }
}

/// As the network's fitting of bounds to a size.
fn fit(low: &mut [u32], high: &mut [u32], size: u32) -> Option<bool> {
    let total = |bounds: &[u32]| bounds.iter().map(|&b| u64::from(b)).sum::<u64>();
    let mut changed = false;
    loop {
        let room = u64::from(size).checked_sub(total(low))?;
        let lack = total(high).checked_sub(u64::from(size))?;
        let mut again = false;
        for (low, high) in low.iter_mut().zip(high.iter_mut()) {
            let most = (u64::from(*low) + room).min(u64::from(*high)) as u32;
            let least = u64::from(*high).saturating_sub(lack).max(u64::from(*low)) as u32;
            again |= (least, most) != (*low, *high);
            (*low, *high) = (least, most);
        }
        if !again {
            return Some(changed);
        }
        changed = true;
    }
}

/// The unknown with the fewest ways; counterfeits last, whose values follow from the others'.
fn choose(component: &Component, part: &[u32], open: &Open) -> usize {
    let width = component.width();
    let ways = |at: usize| {
        let ranges = (at * width..(at + 1) * width).map(|v| f64::from(open.high[v] - open.low[v] + 1));
        let (product, largest) = ranges.fold((1.0, 1.0f64), |(product, largest), r| (product * r, largest.max(r)));
        product / largest
    };
    let real = (0..part.len()).filter(|&at| !component.counterfeit[part[at] as usize]);
    let ties = |at: &usize| component.classes[part[*at] as usize].len();
    real.min_by(|a, b| ways(*a).total_cmp(&ways(*b)).then(ties(b).cmp(&ties(a)))).unwrap_or(0)
}

/// All ways to give an unknown values between its bounds that add up to its size.
struct Ways<'b> {
    low: &'b [u32],
    high: &'b [u32],
    size: u32,
    current: Option<Vec<u32>>,
    begun: bool,
}

impl<'b> Ways<'b> {
    fn new(low: &'b [u32], high: &'b [u32], size: u32) -> Self {
        Ways { low, high, size, current: None, begun: false }
    }

    /// The first way with the given beginning: as much as possible in the last places.
    fn filled(&self, mut given: Vec<u32>) -> Option<Vec<u32>> {
        let fixed = given.len();
        let used: u64 = given.iter().chain(&self.low[fixed..]).map(|&n| u64::from(n)).sum();
        let mut rest = u64::from(self.size).checked_sub(used)?;
        given.extend(&self.low[fixed..]);
        for (n, &high) in given.iter_mut().zip(self.high).skip(fixed).rev() {
            let more = rest.min(u64::from(high - *n));
            *n += more as u32;
            rest -= more;
        }
        (rest == 0).then_some(given)
    }

    fn next(&mut self) -> Option<Vec<u32>> {
        if !std::mem::replace(&mut self.begun, true) {
            self.current = self.filled(Vec::new());
            return self.current.clone();
        }
        let current = self.current.take()?;
        for at in (0..current.len()).rev() {
            if current[at] < self.high[at] {
                let mut given = current[..at].to_vec();
                given.push(current[at] + 1);
                if let Some(next) = self.filled(given) {
                    self.current = Some(next);
                    return self.current.clone();
                }
            }
        }
        None
    }
}
