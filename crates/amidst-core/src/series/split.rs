//! Splitting a class in two, greedily by least information loss, so that both halves satisfy the policy.

use super::maintain::{Class, House};

/// Growing one half row by row looks at every row for each row: only done for classes up to this size.
const SMALL: usize = 1500;

/// Two valid halves of the rows, the cheapest of a few greedy attempts; `None` when none gives two valid halves.
///
/// The first attempt starts both halves at rows that are far apart and gives every other row to the half that grows less.
/// Where that leaves one half invalid, one half is grown from either end, nearest row first, just until it is valid.
pub(super) fn halves(house: &House<'_>, rows: &[u32]) -> Option<(Vec<u32>, Vec<u32>)> {
    let first = *rows.first()?;
    let near = farthest(house, rows, first)?;
    let far = farthest(house, rows, near)?;
    if near == far {
        return None;
    }
    let mut best: Option<(f64, Vec<u32>, Vec<u32>)> = None;
    let mut consider = |attempt: Option<(Class, Class)>| {
        let Some((a, b)) = attempt.filter(|(a, b)| house.judge.holds(&a.tally) && house.judge.holds(&b.tally)) else {
            return;
        };
        let loss = a.cost * a.rows.len() as f64 + b.cost * b.rows.len() as f64;
        if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
            best = Some((loss, a.rows, b.rows));
        }
    };
    consider(Some(shared_out(house, rows, near, far)));
    if rows.len() <= SMALL {
        consider(grown(house, rows, near));
        consider(grown(house, rows, far));
    }
    best.map(|(_, a, b)| (a, b))
}

/// The row that is most expensive to publish together with `from`; the first of equals.
fn farthest(house: &House<'_>, rows: &[u32], from: u32) -> Option<u32> {
    let alone = house.class(0, vec![from]);
    let mut best: Option<(f64, u32)> = None;
    for &row in rows.iter().filter(|&&row| row != from) {
        let cost = house.space.cost_with(&alone.shape, house.codes(row));
        if best.is_none_or(|(most, _)| cost > most) {
            best = Some((cost, row));
        }
    }
    best.map(|(_, row)| row)
}

/// Every row to the half that grows less.
fn shared_out(house: &House<'_>, rows: &[u32], near: u32, far: u32) -> (Class, Class) {
    let (mut a, mut b) = (house.class(0, vec![near]), house.class(0, vec![far]));
    for &row in rows.iter().filter(|&&row| row != near && row != far) {
        let codes = house.codes(row);
        let half = if house.growth(&a, codes) <= house.growth(&b, codes) { &mut a } else { &mut b };
        house.join(half, row);
    }
    (a, b)
}

/// One half grown from `seed` until it is valid, and the rest.
fn grown(house: &House<'_>, rows: &[u32], seed: u32) -> Option<(Class, Class)> {
    let mut half = house.class(0, vec![seed]);
    let mut rest: Vec<u32> = rows.iter().copied().filter(|&row| row != seed).collect();
    while !house.judge.holds(&half.tally) {
        // Once the half is large enough, only a value that it lacks can still help it.
        let lacks = half.rows.len() as u64 >= house.k;
        let helps = |row: u32| !lacks || !half.rows.iter().any(|&r| house.same_values(r, row));
        let mut best: Option<(f64, usize)> = None;
        for (at, &row) in rest.iter().enumerate() {
            let growth = house.growth(&half, house.codes(row));
            if best.is_none_or(|(least, _)| growth < least) && helps(row) {
                best = Some((growth, at));
            }
        }
        let (_, at) = best?;
        house.join(&mut half, rest.remove(at));
    }
    (!rest.is_empty()).then(|| (half, house.class(0, rest)))
}
