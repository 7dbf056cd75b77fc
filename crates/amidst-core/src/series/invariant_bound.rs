//! A proven lower bound on the information loss of an m-invariant version.
//!
//! A class is a box around its rows, and it has at least m different sensitive values; a row that was published before
//! is in a class that has every value of its signature, and no row of another signature. So the box of a row holds, for
//! m − 1 other values (for every other value of its signature), at least one row of that value that may be with it, or
//! a counterfeit. A box around two rows costs no more than a box around these and further rows. Therefore each row
//! costs at least the (m − 1)-th smallest, over the other values, of the cost of the box around it and the nearest row
//! of that value; for a row with a signature the largest over its values. This is the bound *of the row*.
//!
//! **Rows are used once.** The rows of a class, each with the next one, make a circle: a way to give every row a
//! partner that may be with it, such that no row is the partner of two. What a class costs each of its rows is at least
//! the cost of the box around a row and its partner, and at least the bounds of both. So no version loses less than the
//! cheapest way to give every row a partner, which is an assignment.
//!
//! **Counterfeits** lie wherever they cost nothing, and so may stand for any value. In a class with j of them, rows
//! need only m − 1 − j others; and a class has fewer rows than values. With c counterfeits in all, the bounds of rows
//! are lowered by at most c times the values of the widest class but one, of steps, wherever that saves the most; or as
//! many rows have no partner.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::assignment::{NEVER, cheapest};
use super::m_invariant::Signed;
use crate::local::shape::Space;

/// Partners are looked for among at most as many rows: the costs of all pairs are kept.
const PARTNERS: usize = 4096;

/// What a version may use that the bound is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed {
    /// The most counterfeits.
    pub counterfeits: usize,
    /// The most values that a class has.
    pub widest: usize,
}

/// The least total loss (rows times cost, as `information-loss` counts it) of an m-invariant version of these rows with
/// no more than is allowed. `values` is the number of sensitive values.
pub fn least_loss(space: &Space, rows: &[Signed<'_>], values: usize, m: usize, allowed: Allowed) -> f64 {
    let spared = allowed.counterfeits.saturating_mul(allowed.widest.max(1) - 1);
    // Rows that agree in everything that the bound looks at share the work.
    let mut kinds = FxHashMap::<_, Vec<usize>>::default();
    for (at, row) in rows.iter().enumerate() {
        kinds.entry((row.codes, row.value, row.signature)).or_default().push(at);
    }
    let mut by_value: Vec<Vec<Signed<'_>>> = vec![Vec::new(); values];
    for &(codes, value, signature) in kinds.keys() {
        if let Some(list) = by_value.get_mut(value as usize) {
            list.push(Signed { codes, value, signature });
        }
    }
    let lowered: Vec<(Vec<f64>, &Vec<usize>)> = kinds
        .par_iter()
        .map(|(&(codes, value, signature), own)| (steps(space, &by_value, &Signed { codes, value, signature }, m), own))
        .collect();
    let by_rows = lowered_sum(&lowered, spared);
    // Who may be alone needs no partner.
    let alone = m < 2 || rows.iter().any(|row| known(row) && row.signature.len() < 2);
    if alone || rows.len() > PARTNERS || spared * 2 > rows.len() {
        return by_rows;
    }
    let mut bounds = vec![0.0; rows.len()];
    for (steps, own) in &lowered {
        own.iter().for_each(|&at| bounds[at] = steps.first().copied().unwrap_or(0.0));
    }
    by_rows.max(by_partners(space, rows, &bounds, spared))
}

/// Whether a row was published before, with the value that it has now.
fn known(row: &Signed<'_>) -> bool {
    row.signature.contains(&row.value)
}

/// Whether two rows may be in one class.
fn may_meet(a: &Signed<'_>, b: &Signed<'_>) -> bool {
    let fits = |a: &Signed<'_>, b: &Signed<'_>| !known(a) || a.signature.contains(&b.value);
    let apart = known(a) && known(b) && a.signature != b.signature;
    a.value != b.value && !apart && fits(a, b) && fits(b, a)
}

/// What a row costs at least in a class without counterfeits, with one, with two …; at last nothing.
fn steps(space: &Space, by_value: &[Vec<Signed<'_>>], row: &Signed<'_>, m: usize) -> Vec<f64> {
    let mut shape = space.empty();
    space.start(&mut shape, row.codes);
    let mut nearest: Vec<f64> = Vec::new();
    for list in by_value {
        let mut least = f64::INFINITY;
        for other in list.iter().filter(|other| may_meet(row, other)) {
            if let Some(cost) = space.cost_with_up_to(&shape, other.codes, least) {
                least = least.min(cost);
                if least <= 0.0 {
                    break;
                }
            }
        }
        if least.is_finite() {
            nearest.push(least);
        }
    }
    nearest.sort_by(f64::total_cmp);
    let others = if known(row) { row.signature.len() } else { m }.saturating_sub(1);
    // A value without a row that may be in the same class is filled by a counterfeit in any case.
    nearest.truncate(others);
    nearest.reverse();
    nearest.push(0.0);
    nearest
}

/// The sum of the bounds of all rows, lowered by some steps in all, where that saves the most. Steps of a row are taken
/// along the least concave line above what they save, which saves no less.
fn lowered_sum(rows: &[(Vec<f64>, &Vec<usize>)], mut steps_left: usize) -> f64 {
    let mut total = 0.0;
    // (saved by each step, steps, rows)
    let mut savings: Vec<(f64, usize, usize)> = Vec::new();
    for (steps, own) in rows {
        let Some(&first) = steps.first() else { continue };
        total += first * own.len() as f64;
        let mut from = 0;
        while from + 1 < steps.len() {
            let slope = |to: usize| (steps[from] - steps[to]) / (to - from) as f64;
            let to = (from + 1..steps.len()).max_by(|&a, &b| slope(a).total_cmp(&slope(b))).unwrap_or(from + 1);
            savings.push((slope(to), to - from, own.len()));
            from = to;
        }
    }
    savings.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (each, steps, rows) in savings {
        let taken = steps.saturating_mul(rows).min(steps_left);
        steps_left -= taken;
        total -= each * taken as f64;
    }
    total.max(0.0)
}

/// The cheapest way to give everybody a partner, but for as many as are spared.
fn by_partners(space: &Space, rows: &[Signed<'_>], bounds: &[f64], spared: usize) -> f64 {
    let mut shape = space.empty();
    let (_, sum) = cheapest(rows.len(), rows.len() + spared, |at, costs| {
        let row = &rows[at];
        space.start(&mut shape, row.codes);
        costs.fill(0.0);
        for ((cost, other), bound) in costs.iter_mut().zip(rows).zip(bounds) {
            *cost = match may_meet(row, other) {
                true => space.cost_with(&shape, other.codes).max(*bound).max(bounds[at]),
                false => NEVER,
            };
        }
    });
    // Somebody who can have no partner needs more counterfeits than are allowed: there is no such version, and no
    // bound.
    if sum < NEVER { sum } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::fixture::Fixture;
    use crate::random::Random;
    use crate::series::m_invariant;

    /// The least loss of all divisions into classes of at least m values, of which rows may be counterfeits, at most as
    /// many as are allowed.
    fn cheapest(
        space: &Space,
        rows: &[Signed<'_>],
        m: usize,
        spare: usize,
        classes: &mut Vec<Vec<usize>>,
        at: usize,
    ) -> f64 {
        if at == rows.len() {
            let lacking: usize = classes.iter().map(|class| m.saturating_sub(class.len())).sum();
            return match lacking <= spare {
                true => classes.iter().map(|class| loss(space, rows, class)).sum(),
                false => f64::INFINITY,
            };
        }
        let mut least = f64::INFINITY;
        for class in 0..=classes.len() {
            match classes.get_mut(class) {
                Some(members) if members.iter().any(|&row| rows[row].value == rows[at].value) => continue,
                Some(members) => members.push(at),
                None => classes.push(vec![at]),
            }
            least = least.min(cheapest(space, rows, m, spare, classes, at + 1));
            classes[class].pop();
            classes.retain(|class| !class.is_empty());
        }
        least
    }

    fn loss(space: &Space, rows: &[Signed<'_>], class: &[usize]) -> f64 {
        let mut shape = space.empty();
        space.start(&mut shape, rows[class[0]].codes);
        class.iter().for_each(|&row| space.add(&mut shape, rows[row].codes));
        space.cost(&shape) * class.len() as f64
    }

    /// Rows of random tuples with one of four values.
    fn drawn<'a>(fixture: &'a Fixture, random: &mut Random, count: usize) -> Vec<Signed<'a>> {
        (0..count)
            .map(|_| Signed {
                codes: fixture.set.tuple(random.below(fixture.set.len())),
                value: random.below(4) as u32,
                signature: &[],
            })
            .collect()
    }

    #[test]
    fn the_bound_is_never_above_the_least_loss() {
        let (mut tight, mut tried) = (0.0, 0);
        for seed in 0..150 {
            let fixture = Fixture::random(seed, 12, false);
            let space = Space::new(&fixture.generalizations);
            let mut random = Random::new(seed);
            let count = 4 + random.below(5);
            let rows = drawn(&fixture, &mut random, count);
            let m = 2 + random.below(2);
            let least = cheapest(&space, &rows, m, 0, &mut Vec::new(), 0);
            if least.is_infinite() {
                continue;
            }
            let bound = least_loss(&space, &rows, 4, m, Allowed { counterfeits: 0, widest: 4 });
            assert!(bound <= least * (1.0 + 1e-9) + 1e-9, "seed {seed}: {bound} above {least}");
            let made = m_invariant(&space, &rows, 4, m).unwrap();
            let mut classes = vec![Vec::new(); made.signatures.len()];
            made.class_of.iter().enumerate().for_each(|(row, &class)| classes[class as usize].push(row));
            let found: f64 = classes.iter().map(|class| loss(&space, &rows, class)).sum();
            if made.counterfeits.is_empty() {
                assert!(found >= least * (1.0 - 1e-9), "seed {seed}: {found} below the least {least}");
            }
            tried += 1;
            tight += if least > 0.0 { bound / least } else { 1.0 };
        }
        assert!(
            tried > 50 && tight / f64::from(tried) > 0.5,
            "{tried} tables, mean share {}",
            tight / f64::from(tried)
        );
    }

    #[test]
    fn with_counterfeits_it_is_no_higher_than_the_least_loss_either() {
        let mut positive = 0;
        for seed in 0..200 {
            let fixture = Fixture::random(seed + 900, 12, false);
            let space = Space::new(&fixture.generalizations);
            let mut random = Random::new(seed);
            let count = 5 + random.below(4);
            let rows = drawn(&fixture, &mut random, count);
            let (m, counterfeits) = (2 + random.below(2), random.below(3));
            let least = cheapest(&space, &rows, m, counterfeits, &mut Vec::new(), 0);
            if least.is_infinite() {
                continue;
            }
            let bound = least_loss(&space, &rows, 4, m, Allowed { counterfeits, widest: 4 });
            assert!(bound <= least * (1.0 + 1e-9) + 1e-9, "seed {seed}: {bound} above {least}");
            positive += usize::from(bound > 0.0 && counterfeits > 0);
        }
        assert!(positive > 5, "{positive} bounds say something");
    }

    /// Classes of one signature each, for rows that were all published before.
    #[test]
    fn rows_of_one_signature_stay_among_themselves() {
        for seed in 0..100 {
            let fixture = Fixture::random(seed + 300, 12, false);
            let space = Space::new(&fixture.generalizations);
            let mut random = Random::new(seed);
            let signatures: [&[u32]; 2] = [&[0, 1], &[1, 2]];
            let mut rows = Vec::new();
            for signature in signatures {
                for _ in 0..2 {
                    for &value in signature {
                        let codes = fixture.set.tuple(random.below(fixture.set.len()));
                        rows.push(Signed { codes, value, signature });
                    }
                }
            }
            // Two rows of each value under each signature: two ways to pair them.
            let least: f64 = [0, 4]
                .iter()
                .map(|&from| {
                    let pairs = |a: [usize; 2], b: [usize; 2]| {
                        loss(&space, &rows, &a.map(|r| from + r)) + loss(&space, &rows, &b.map(|r| from + r))
                    };
                    pairs([0, 1], [2, 3]).min(pairs([0, 3], [2, 1]))
                })
                .sum();
            let bound = least_loss(&space, &rows, 3, 2, Allowed { counterfeits: 0, widest: 2 });
            assert!((bound - least).abs() < 1e-9 * (1.0 + least), "seed {seed}: {bound} instead of {least}");
            let made = m_invariant(&space, &rows, 3, 2).unwrap();
            let mut classes = vec![Vec::new(); made.signatures.len()];
            made.class_of.iter().enumerate().for_each(|(row, &class)| classes[class as usize].push(row));
            let found: f64 = classes.iter().map(|class| loss(&space, &rows, class)).sum();
            assert!((found - least).abs() < 1e-9 * (1.0 + least), "seed {seed}: {found} instead of {least}");
        }
    }
}
