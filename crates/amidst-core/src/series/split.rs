//! Splitting a class in two, greedily by least information loss, so that both halves satisfy the policy.

use super::class_rules::{ClassRules, MaintainedClass};
use super::rows::Rows;

/// Growing one half row by row looks at every row for each row: only done for classes up to this size.
const SMALL: usize = 1500;

/// Two valid halves of the rows, the cheapest of a few greedy attempts; `None` when none gives two valid halves.
///
/// The first attempt starts both halves at rows that are far apart and gives every other row to the half that grows
/// less. Where that leaves one half invalid, one half is grown from either end, nearest row first, just until it is
/// valid.
pub(super) fn halves(rules: &ClassRules<'_>, table: &Rows, rows: &[u32]) -> Option<(MaintainedClass, MaintainedClass)> {
    let first = *rows.first()?;
    let near = farthest(rules, table, rows, first)?;
    let far = farthest(rules, table, rows, near)?;
    if near == far {
        return None;
    }
    let mut best: Option<(f64, MaintainedClass, MaintainedClass)> = None;
    let mut consider = |attempt: Option<(MaintainedClass, MaintainedClass)>| {
        let Some((a, b)) = attempt.filter(|(a, b)| rules.judge.holds(&a.tally) && rules.judge.holds(&b.tally)) else {
            return;
        };
        let loss = a.cost * a.rows.len() as f64 + b.cost * b.rows.len() as f64;
        if best.as_ref().is_none_or(|(least, ..)| loss < *least) {
            best = Some((loss, a, b));
        }
    };
    consider(Some(shared_out(rules, table, rows, near, far)));
    if rows.len() <= SMALL {
        consider(grown(rules, table, rows, near));
        consider(grown(rules, table, rows, far));
    }
    best.map(|(_, a, b)| (a, b))
}

/// The row that is most expensive to publish together with `from`; the first of equals.
fn farthest(rules: &ClassRules<'_>, table: &Rows, rows: &[u32], from: u32) -> Option<u32> {
    let alone = rules.class(table, vec![from]);
    let mut best: Option<(f64, u32)> = None;
    for &row in rows.iter().filter(|&&row| row != from) {
        let cost = rules.space.cost_with(&alone.shape, table.codes(row));
        if best.is_none_or(|(most, _)| cost > most) {
            best = Some((cost, row));
        }
    }
    best.map(|(_, row)| row)
}

fn growth(rules: &ClassRules<'_>, class: &MaintainedClass, codes: &[u32]) -> f64 {
    rules.growth(class.rows.len() as f64, class.cost, &class.shape, codes)
}

/// Every row to the half that grows less.
fn shared_out(
    rules: &ClassRules<'_>,
    table: &Rows,
    rows: &[u32],
    near: u32,
    far: u32,
) -> (MaintainedClass, MaintainedClass) {
    let (mut a, mut b) = (rules.class(table, vec![near]), rules.class(table, vec![far]));
    for &row in rows.iter().filter(|&&row| row != near && row != far) {
        let codes = table.codes(row);
        let half = if growth(rules, &a, codes) <= growth(rules, &b, codes) { &mut a } else { &mut b };
        rules.join(half, table, row);
    }
    (a, b)
}

/// One half grown from `seed` until it is valid, and the rest.
fn grown(rules: &ClassRules<'_>, table: &Rows, rows: &[u32], seed: u32) -> Option<(MaintainedClass, MaintainedClass)> {
    let mut half = rules.class(table, vec![seed]);
    let mut rest: Vec<u32> = rows.iter().copied().filter(|&row| row != seed).collect();
    while !rules.judge.holds(&half.tally) {
        // Once the half is large enough, only a value that it lacks can still help it.
        let lacks = half.rows.len() as u64 >= rules.k;
        let helps = |row: u32| !lacks || !half.rows.iter().any(|&r| table.sensitive(r) == table.sensitive(row));
        let mut best: Option<(f64, usize)> = None;
        for (at, &row) in rest.iter().enumerate() {
            let growth = growth(rules, &half, table.codes(row));
            if best.is_none_or(|(least, _)| growth < least) && helps(row) {
                best = Some((growth, at));
            }
        }
        let (_, at) = best?;
        rules.join(&mut half, table, rest.remove(at));
    }
    (!rest.is_empty()).then(|| (half, rules.class(table, rest)))
}
