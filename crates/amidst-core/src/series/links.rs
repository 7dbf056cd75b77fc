//! Rows of two versions that can be told to be the same row, because of what is published beside their sensitive value.
//!
//! A row of one version fits a row of another when both have the same cells and their classes have somebody in common.
//! Where each fits no other, they are linked: the same person was in both classes, and everything that either version
//! tells of the row concerns one person. Rows that the sensitive value alone would link are not counted: the audit
//! sees those anyway.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::worlds::Compact;

/// How many rows of version `b` are linked to a row of version `a`. `meant` is the sensitive value that a value stands
/// for.
pub fn linked(a: &Compact, b: &Compact, meant: impl Fn(u32) -> u32) -> u64 {
    let mut class_of: FxHashMap<u32, usize> = FxHashMap::default();
    for class in 0..a.len() {
        class_of.extend(a.persons(class).iter().map(|&person| (person, class)));
    }
    let mut meets_a: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); b.len()];
    let mut meets_b: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); a.len()];
    for (class, meets) in meets_a.iter_mut().enumerate() {
        meets.extend(b.persons(class).iter().filter_map(|person| class_of.get(person)));
        meets.iter().for_each(|&other| {
            meets_b[other].insert(class);
        });
    }
    let of = |version: &Compact, class: usize| counts(version.counts(class), |value| value);
    let fine = Side { held: (0..a.len()).map(|c| of(a, c)).collect(), meets: &meets_b };
    let fine_b = Side { held: (0..b.len()).map(|c| of(b, c)).collect(), meets: &meets_a };
    let of = |version: &Compact, class: usize| counts(version.counts(class), &meant);
    let coarse = Side { held: (0..a.len()).map(|c| of(a, c)).collect(), meets: &meets_b };
    let coarse_b = Side { held: (0..b.len()).map(|c| of(b, c)).collect(), meets: &meets_a };
    let anyway: FxHashSet<(usize, u32)> = pairs(&coarse, &coarse_b).collect();
    pairs(&fine, &fine_b).filter(|&(class, value)| !anyway.contains(&(class, meant(value)))).count() as u64
}

/// The classes of a version: how often each value is in each, and the classes of the other version that they meet.
struct Side<'m> {
    held: Vec<FxHashMap<u32, u64>>,
    meets: &'m [BTreeSet<usize>],
}

fn counts(held: &[(u32, u64)], meant: impl Fn(u32) -> u32) -> FxHashMap<u32, u64> {
    let mut counts = FxHashMap::default();
    held.iter().for_each(|&(value, n)| *counts.entry(meant(value)).or_insert(0) += n);
    counts
}

impl Side<'_> {
    fn rows(&self, class: usize, value: u32) -> u64 {
        self.held[class].get(&value).copied().unwrap_or(0)
    }

    /// The only row of the other side that a row here fits, by its class; `None` where it fits none or several.
    fn only(&self, class: usize, value: u32, other: &Side<'_>) -> Option<usize> {
        let mut fitting = self.meets[class].iter().filter(|&&c| other.rows(c, value) > 0);
        let one = *fitting.next()?;
        (fitting.next().is_none() && other.rows(one, value) == 1).then_some(one)
    }
}

/// The rows of the second side that fit exactly one row of the first, which fits no other.
fn pairs<'s>(a: &'s Side<'_>, b: &'s Side<'_>) -> impl Iterator<Item = (usize, u32)> + 's {
    let of = move |class: usize| {
        let alone = b.held[class].iter().filter(|(_, n)| **n == 1).map(|(&value, _)| value);
        alone.filter(move |&value| b.only(class, value, a).and_then(|other| a.only(other, value, b)) == Some(class))
    };
    (0..b.held.len()).flat_map(move |class| of(class).map(move |value| (class, value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A class: who is in it, and how many rows have each value.
    type Class = (Vec<u32>, Vec<(u32, u64)>);

    fn version(classes: &[Class]) -> Compact {
        let mut version = Compact::default();
        classes.iter().for_each(|(persons, counts)| version.push(persons.iter().copied(), counts.iter().copied()));
        version
    }

    #[test]
    fn rows_that_fit_one_row_each_are_linked() {
        // Values 0 and 1 stand for 0, 2 and 3 for 1. The second version has two rows with 2: these are not linked.
        let a = version(&[(vec![1, 2, 3], vec![(0, 1), (2, 1), (3, 1)]), (vec![4, 5], vec![(1, 1), (2, 1)])]);
        let b = version(&[(vec![1, 2], vec![(0, 1), (3, 1)]), (vec![3, 4, 5], vec![(1, 1), (2, 2)])]);
        let meant = |value: u32| value / 2;
        // 0 and 3 in the first class, 1 in the second: what 0 and 1 stand for fits two rows, and so does what 3 stands
        // for.
        assert_eq!(linked(&a, &b, meant), 3);
        assert_eq!(linked(&a, &b, |value| value), 0, "the values alone tell as much");
        // Classes that have nobody in common are no place to look.
        let apart = version(&[(vec![8, 9], vec![(0, 1), (3, 1)])]);
        assert_eq!(linked(&a, &apart, meant), 0);
    }

    /// All pairs of rows, one by one.
    fn plainly(a: &Compact, b: &Compact, meant: impl Fn(u32) -> u32 + Copy) -> u64 {
        let rows = |v: &Compact| -> Vec<(Vec<u32>, u32)> {
            let of = |c: usize| v.counts(c).iter().flat_map(|&(x, n)| std::iter::repeat_n(x, n as usize));
            (0..v.len()).flat_map(|c| of(c).map(move |x| (v.persons(c).to_vec(), x)).collect::<Vec<_>>()).collect()
        };
        let (a, b) = (rows(a), rows(b));
        let is = |of: &dyn Fn(u32) -> u32, at: usize| {
            let fits = |x: &(Vec<u32>, u32), y: &(Vec<u32>, u32)| {
                of(x.1) == of(y.1) && x.0.iter().any(|person| y.0.contains(person))
            };
            let back: Vec<usize> = (0..a.len()).filter(|&i| fits(&a[i], &b[at])).collect();
            back.len() == 1 && (0..b.len()).filter(|&j| fits(&a[back[0]], &b[j])).count() == 1
        };
        (0..b.len()).filter(|&at| is(&|x| x, at) && !is(&meant, at)).count() as u64
    }

    #[test]
    fn counting_agrees_with_looking_at_all_pairs_of_rows() {
        let mut random = Random::new(12);
        let mut found = 0;
        for _ in 0..3000 {
            let mut made = || {
                let mut classes: Vec<Class> = vec![Default::default(); 1 + random.below(3)];
                let many = classes.len();
                for person in 0..6 {
                    let class = &mut classes[random.below(many)];
                    class.0.push(person);
                    class.1.push((random.below(6) as u32, 1));
                }
                let mut version = Compact::default();
                classes.into_iter().for_each(|(persons, counts)| version.push(persons, counts));
                version
            };
            let (a, b) = (made(), made());
            let meant = |value: u32| value / 3;
            assert_eq!(linked(&a, &b, meant), plainly(&a, &b, meant), "{a:?} {b:?}");
            found += linked(&a, &b, meant);
        }
        assert!(found > 1000, "no test: {found}");
    }
}
