//! A proven lower bound on the information loss of an m-invariant version.
//!
//! A class is a box around its rows, and it has at least m different sensitive values; a row that was published before is
//! in a class that has every value of its signature. So the box of a row holds, for m − 1 other values (for every other
//! value of its signature), at least one row of that value, or a counterfeit. A box around two rows costs no more than a
//! box around these and further rows. Therefore each row costs at least the (m − 1)-th smallest, over the other values, of
//! the cost of the box around it and the nearest row of that value; for a row with a signature the largest over its values.
//!
//! Counterfeits lie wherever they cost nothing, and so may stand for any value. A version with c counterfeits has at most c
//! such classes: the bound leaves out the rows that could be in them, those with the largest bounds, as many for each as there
//! are values.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::m_invariant::Signed;
use crate::local::shape::Space;

/// The least total loss (rows times cost, as `information-loss` counts it) of an m-invariant version of these rows with at
/// most `counterfeits` counterfeits. `values` is the number of sensitive values.
pub fn least_loss(space: &Space, rows: &[Signed<'_>], values: usize, m: usize, counterfeits: usize) -> f64 {
    // Rows that agree in everything that the bound looks at share the work.
    let mut kinds: FxHashMap<(&[u32], u32, &[u32]), usize> = FxHashMap::default();
    let mut places: FxHashMap<(&[u32], u32), ()> = FxHashMap::default();
    for row in rows {
        *kinds.entry((row.codes, row.value, row.signature)).or_insert(0) += 1;
        places.insert((row.codes, row.value), ());
    }
    let mut by_value: Vec<Vec<&[u32]>> = vec![Vec::new(); values];
    for (codes, value) in places.into_keys() {
        if let Some(list) = by_value.get_mut(value as usize) {
            list.push(codes);
        }
    }
    let mut bounds: Vec<(f64, usize)> = kinds
        .into_par_iter()
        .map(|((codes, value, signature), count)| (row_bound(space, &by_value, codes, value, signature, m), count))
        .collect();
    bounds.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut spared = counterfeits.saturating_mul(values);
    let mut total = 0.0;
    for (bound, count) in bounds {
        let without = count.min(spared);
        spared -= without;
        total += bound * (count - without) as f64;
    }
    total
}

/// What a row costs at least.
fn row_bound(space: &Space, by_value: &[Vec<&[u32]>], codes: &[u32], value: u32, signature: &[u32], m: usize) -> f64 {
    let mut shape = vec![0; space.words()];
    space.start(&mut shape, codes);
    let known = signature.contains(&value);
    let mut nearest: Vec<f64> = Vec::new();
    for (other, list) in (0u32..).zip(by_value) {
        if other == value || list.is_empty() || (known && !signature.contains(&other)) {
            continue;
        }
        let mut least = f64::INFINITY;
        for codes in list {
            if let Some(cost) = space.cost_with_up_to(&shape, codes, least) {
                least = least.min(cost);
                if least <= 0.0 {
                    break;
                }
            }
        }
        nearest.push(least);
    }
    nearest.sort_by(f64::total_cmp);
    let wanted = if known { signature.len() } else { m };
    match wanted.checked_sub(2) {
        // Where fewer values exist than are wanted, counterfeits fill in, and nothing is proven.
        Some(at) => nearest.get(at).copied().unwrap_or(0.0),
        None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::fixture::Fixture;
    use crate::random::Random;
    use crate::series::m_invariant;

    /// The least loss of all divisions into classes of different values, at least m each, without counterfeits.
    fn cheapest(space: &Space, rows: &[Signed<'_>], m: usize, classes: &mut Vec<Vec<usize>>, at: usize) -> f64 {
        if at == rows.len() {
            if classes.iter().any(|class| class.len() < m) {
                return f64::INFINITY;
            }
            return classes.iter().map(|class| loss(space, rows, class)).sum();
        }
        let mut least = f64::INFINITY;
        for class in 0..=classes.len() {
            match classes.get_mut(class) {
                Some(members) if members.iter().any(|&row| rows[row].value == rows[at].value) => continue,
                Some(members) => members.push(at),
                None => classes.push(vec![at]),
            }
            least = least.min(cheapest(space, rows, m, classes, at + 1));
            classes[class].pop();
            classes.retain(|class| !class.is_empty());
        }
        least
    }

    fn loss(space: &Space, rows: &[Signed<'_>], class: &[usize]) -> f64 {
        let mut shape = vec![0; space.words()];
        space.start(&mut shape, rows[class[0]].codes);
        class.iter().for_each(|&row| space.add(&mut shape, rows[row].codes));
        space.cost(&shape) * class.len() as f64
    }

    #[test]
    fn the_bound_is_never_above_the_least_loss() {
        let (mut tight, mut tried) = (0.0, 0);
        for seed in 0..150 {
            let fixture = Fixture::random(seed, 12, false);
            let space = Space::new(&fixture.generalizations);
            let mut random = Random::new(seed);
            let count = 4 + random.below(5);
            let rows: Vec<Signed<'_>> = (0..count)
                .map(|_| Signed {
                    codes: fixture.set.tuple(random.below(fixture.set.len())),
                    value: random.below(4) as u32,
                    signature: &[],
                })
                .collect();
            let m = 2 + random.below(2);
            let least = cheapest(&space, &rows, m, &mut Vec::new(), 0);
            if least.is_infinite() {
                continue;
            }
            let bound = least_loss(&space, &rows, 4, m, 0);
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
            tried > 50 && tight / f64::from(tried) > 0.3,
            "{tried} tables, mean share {}",
            tight / f64::from(tried)
        );
    }
}
