//! Earth mover's distances between a class and its table, as exact fractions.
//!
//! With n_s of n in the class and N_s of N in the table, every p_s − q_s is (n_s·N − N_s·n)/(n·N): distances are sums
//! of whole numbers over the common denominator n·N. 128-bit integers hold them up to some 10^15 rows; beyond that the
//! same code runs on big integers.

use std::cmp::Ordering;
use std::ops::AddAssign;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

use super::Rational;
use crate::class::{Histogram, Ranking, TableStats};

/// A distance, not reduced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distance {
    /// Numerator and denominator in machine integers.
    Small(i128, i128),
    /// Numerator and denominator, however large.
    Large(BigInt, BigInt),
}

impl Distance {
    /// Compares the distance with a bound.
    pub fn compare(&self, bound: &Rational) -> Ordering {
        match self {
            Distance::Small(n, d) => bound.compare_fraction(n.unsigned_abs(), d.unsigned_abs()),
            Distance::Large(..) => self.to_rational().cmp(bound),
        }
    }

    /// The exact value.
    pub fn to_rational(&self) -> Rational {
        match self {
            Distance::Small(n, d) => BigRational::new((*n).into(), (*d).max(1).into()).into(),
            Distance::Large(n, d) => BigRational::new(n.clone(), d.clone()).into(),
        }
    }
}

/// Integers the distances are computed in.
trait Whole: Signed + Clone + Ord + From<u64> + AddAssign {}
impl Whole for i128 {}
impl Whole for BigInt {}

/// Runs `$compute` in machine integers when they suffice: totals under 2^50, and fewer than 2^20 summands and levels.
macro_rules! distance {
    ($n:expr, $total:expr, $summands:expr, $compute:ident($($argument:expr),*)) => {
        if $n == 0 || $total == 0 {
            Distance::Small(0, 1)
        } else if $n < 1 << 50 && $total < 1 << 50 && $summands < 1 << 20 {
            let (a, b) = $compute::<i128>($($argument),*);
            Distance::Small(a, b)
        } else {
            let (a, b) = $compute::<BigInt>($($argument),*);
            Distance::Large(a, b)
        }
    };
}

fn sum(histogram: &Histogram) -> u64 {
    histogram.iter().map(|&(_, n)| n).sum()
}

/// Equal ground distance: the variational distance ½ Σ |p − q|, which is Σ of p − q where it is positive.
pub fn equal(class: &Histogram, table: &TableStats) -> Distance {
    let (n, total) = (sum(class), sum(&table.histogram));
    distance!(n, total, class.len(), equal_in(class, table, n, total))
}

fn equal_in<T: Whole>(class: &Histogram, table: &TableStats, n: u64, total: u64) -> (T, T) {
    let (n, total) = (T::from(n), T::from(total));
    let mut moved = T::zero();
    for &(code, count) in class {
        let difference = T::from(count) * total.clone() - T::from(table.count(code)) * n.clone();
        if difference.is_positive() {
            moved += difference;
        }
    }
    (moved, n * total)
}

/// Ordered ground distance |i − j|/(m − 1) over m ranks: Σ over the gaps between neighbouring ranks of |Σ_{j≤i} (p_j −
/// q_j)| / (m − 1). The ranks are those of the order's values, also of those that the table lacks, followed by the
/// table's values that the order does not list: all of them where there is no order.
pub fn ordered(class: &Histogram, table: &TableStats, ranking: &Ranking) -> Distance {
    let (n, total) = (sum(class), sum(&table.histogram));
    let summands = table.histogram.len() + ranking.ranks as usize;
    distance!(n, total, summands, ordered_in(class, &table.histogram, ranking, n, total))
}

fn ordered_in<T: Whole>(class: &Histogram, table: &Histogram, ranking: &Ranking, n: u64, total: u64) -> (T, T) {
    let (n, total) = (T::from(n), T::from(total));
    let (mut running, mut moved) = (T::zero(), T::zero());
    let mut rest = class.iter().peekable();
    let unlisted = table.iter().filter(|c| c.0 as usize >= ranking.listed.len()).count() as u64;
    let (mut last, mut next) = (0u64, u64::from(ranking.ranks));
    for &(code, count) in table {
        let rank = ranking.listed.get(code as usize).map_or(next, |&rank| u64::from(rank));
        next += u64::from(code as usize >= ranking.listed.len());
        // What is carried is carried over every rank up to this one.
        moved += running.abs() * T::from(rank.saturating_sub(last));
        last = rank;
        while rest.peek().is_some_and(|&&(c, _)| c < code) {
            rest.next();
        }
        if let Some(&&(_, here)) = rest.peek().filter(|&&&(c, _)| c == code) {
            running += T::from(here) * total.clone();
        }
        running = running - T::from(count) * n.clone();
    }
    let ranks = u64::from(ranking.ranks) + unlisted;
    (moved, n * total * T::from(ranks.saturating_sub(1).max(1)))
}

/// A tree over the values, flattened: the nodes of each level, and the level above.
#[derive(Debug, Clone)]
pub struct Tree {
    /// For each level but the top, the parent (a node of the next level) of each node.
    parents: Vec<Vec<u32>>,
    /// The number of nodes of each level above the values.
    nodes: Vec<usize>,
}

impl Tree {
    /// The tree of a hierarchy given by the group of each value at each level, the last level being one group.
    /// `None` when a level is not a coarsening of the one below or the top is not one group.
    pub fn new(levels: &[Vec<u32>]) -> Option<Self> {
        let values = levels.first()?.len();
        let (mut parents, mut nodes) = (Vec::new(), Vec::new());
        // Level 0 of the tree is the values themselves, whatever the groups of the first level are called.
        let mut below: Vec<u32> = (0..values as u32).collect();
        let mut width = values;
        for level in levels.get(1..)? {
            if level.len() != values {
                return None;
            }
            let mut parent = vec![u32::MAX; width];
            for (&child, &group) in below.iter().zip(level) {
                let slot = parent.get_mut(child as usize)?;
                if *slot != u32::MAX && *slot != group {
                    return None;
                }
                *slot = group;
            }
            width = level.iter().max().map_or(0, |&g| g as usize + 1);
            parents.push(parent);
            nodes.push(width);
            below = level.clone();
        }
        let top = below.first().copied();
        (!parents.is_empty() && below.iter().all(|&g| Some(g) == top)).then_some(Tree { parents, nodes })
    }

    /// The height of the tree.
    pub fn height(&self) -> usize {
        self.parents.len()
    }
}

/// Hierarchical ground distance (height of the lowest common ancestor over the height of the tree): the sum over the
/// inner nodes N of height(N)/H · min(pos_extra(N), neg_extra(N)) (Li et al. 2007, §5.2).
pub fn hierarchical(class: &Histogram, table: &TableStats, tree: &Tree) -> Distance {
    let (n, total) = (sum(class), sum(&table.histogram));
    let summands = table.histogram.len().saturating_mul(tree.height());
    distance!(n, total, summands, hierarchical_in(class, table, tree, n, total))
}

fn hierarchical_in<T: Whole>(class: &Histogram, table: &TableStats, tree: &Tree, n: u64, total: u64) -> (T, T) {
    let (n, total) = (T::from(n), T::from(total));
    let denominator = n.clone() * total.clone() * T::from(tree.height() as u64);
    let values = tree.parents.first().map_or(0, Vec::len);
    let widest = tree.nodes.iter().copied().max().unwrap_or(0).max(values);
    // Most trees fit into buffers on the stack.
    let moved = if widest <= STACK {
        let [mut extra, mut positive, mut negative]: [[T; STACK]; 3] =
            std::array::from_fn(|_| std::array::from_fn(|_| T::zero()));
        differences(class, table, &n, &total, &mut extra);
        climb(tree, &mut extra, &mut positive, &mut negative)
    } else {
        let [mut extra, mut positive, mut negative]: [Vec<T>; 3] = std::array::from_fn(|_| vec![T::zero(); widest]);
        differences(class, table, &n, &total, &mut extra);
        climb(tree, &mut extra, &mut positive, &mut negative)
    };
    (moved, denominator)
}

/// The widest level that needs no allocation.
const STACK: usize = 32;

/// p − q of every value, by code, over the common denominator.
fn differences<T: Whole>(class: &Histogram, table: &TableStats, n: &T, total: &T, extra: &mut [T]) {
    for &(code, count) in class {
        if let Some(e) = extra.get_mut(code as usize) {
            *e += T::from(count) * total.clone();
        }
    }
    for &(code, count) in &table.histogram {
        if let Some(e) = extra.get_mut(code as usize) {
            *e = e.clone() - T::from(count) * n.clone();
        }
    }
}

/// Σ height(N) · min(pos_extra(N), neg_extra(N)), level by level; `extra` starts with the values' own.
fn climb<T: Whole>(tree: &Tree, extra: &mut [T], positive: &mut [T], negative: &mut [T]) -> T {
    let mut moved = T::zero();
    for (height, (parents, &nodes)) in (1u64..).zip(tree.parents.iter().zip(&tree.nodes)) {
        positive[..nodes].fill(T::zero());
        negative[..nodes].fill(T::zero());
        for (e, &parent) in extra.iter().zip(parents).filter(|(e, _)| !e.is_zero()) {
            let side = if e.is_positive() { &mut *positive } else { &mut *negative };
            side[parent as usize] += e.abs();
        }
        let mut here = T::zero();
        for ((e, p), q) in extra.iter_mut().zip(&positive[..nodes]).zip(&negative[..nodes]) {
            here += p.min(q).clone();
            *e = p.clone() - q.clone();
        }
        moved += here * T::from(height);
    }
    moved
}

impl Distance {
    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        match self {
            Distance::Small(n, d) => *n as f64 / *d as f64,
            Distance::Large(..) => self.to_rational().value().to_f64().unwrap_or(f64::INFINITY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The least cost of a transport from `supply` to `demand`, over all vertices of the transport polytope: a vertex
    /// is a forest, so it always has an edge that exhausts one of its ends; peel such edges off in every order.
    fn transport(supply: &mut [i64], demand: &mut [i64], cost: &dyn Fn(usize, usize) -> i64) -> i64 {
        if supply.iter().all(|&s| s == 0) {
            return 0;
        }
        let mut best = i64::MAX;
        for from in 0..supply.len() {
            for to in 0..demand.len() {
                let amount = supply[from].min(demand[to]);
                if amount > 0 {
                    supply[from] -= amount;
                    demand[to] -= amount;
                    best = best.min(amount * cost(from, to) + transport(supply, demand, cost));
                    supply[from] += amount;
                    demand[to] += amount;
                }
            }
        }
        best
    }

    /// The distance with its ground distance given as `cost / scale`, by brute force on the signed differences (mass
    /// that both have stays where it is: ground distances are metrics).
    fn brute(p: &[u64], q: &[u64], cost: &dyn Fn(usize, usize) -> i64, scale: i64) -> Rational {
        let (n, total) = (p.iter().sum::<u64>() as i64, q.iter().sum::<u64>() as i64);
        let difference: Vec<i64> = p.iter().zip(q).map(|(&a, &b)| a as i64 * total - b as i64 * n).collect();
        let mut supply: Vec<i64> = difference.iter().map(|&d| d.max(0)).collect();
        let mut demand: Vec<i64> = difference.iter().map(|&d| (-d).max(0)).collect();
        Rational::new(transport(&mut supply, &mut demand, cost), n * total * scale)
    }

    fn histogram(counts: &[u64]) -> Vec<(u32, u64)> {
        (0u32..).zip(counts.iter().copied()).filter(|c| c.1 > 0).collect()
    }

    fn stats(counts: &[u64]) -> TableStats {
        TableStats { histogram: histogram(counts), ..TableStats::default() }
    }

    /// Five values, two groups of two and three, one group of both, over two levels more: heights are not one.
    fn levels() -> Vec<Vec<u32>> {
        vec![vec![0, 1, 2, 3, 4], vec![0, 0, 1, 1, 2], vec![0, 0, 1, 1, 1], vec![0, 0, 0, 0, 0]]
    }

    fn lowest_common(a: usize, b: usize) -> i64 {
        levels().iter().position(|l| l[a] == l[b]).unwrap() as i64
    }

    proptest! {
        #[test]
        fn distances_are_least_transports(pairs in prop::collection::vec((0u64..5, 1u64..5), 5), scale in 0u32..2) {
            let scale = [1, 1 << 55][scale as usize];
            let (p, q): (Vec<u64>, Vec<u64>) = pairs.into_iter().unzip();
            prop_assume!(p.iter().sum::<u64>() > 0);
            // Scaling both leaves every distance as it was and takes the path of big integers.
            let class = histogram(&p.iter().map(|n| n * scale).collect::<Vec<_>>());
            let table = stats(&q.iter().map(|n| n * scale).collect::<Vec<_>>());
            prop_assert_eq!(equal(&class, &table).to_rational(), brute(&p, &q, &|a, b| i64::from(a != b), 1));
            prop_assert_eq!(
                ordered(&class, &table, &Ranking::default()).to_rational(),
                brute(&p, &q, &|a, b| (a as i64 - b as i64).abs(), 4)
            );
            let tree = Tree::new(&levels()).unwrap();
            prop_assert_eq!(hierarchical(&class, &table, &tree).to_rational(), brute(&p, &q, &lowest_common, 3));
        }
    }

    #[test]
    fn wide_trees_are_as_good_as_narrow_ones() {
        // Forty values of which only five occur: the same distance, without the stack.
        let level = |l: usize, groups: u32| -> Vec<u32> {
            (0..40u32).map(|c| levels()[l][c as usize % 5] + groups * (c / 5)).collect()
        };
        let wide = [level(0, 5), level(1, 3), level(2, 2), vec![0; 40]];
        let (class, table) = (histogram(&[3, 0, 1, 0, 0]), stats(&[1, 2, 3, 1, 1]));
        let narrow = hierarchical(&class, &table, &Tree::new(&levels()).unwrap());
        assert_eq!(hierarchical(&class, &table, &Tree::new(&wide).unwrap()), narrow);
    }

    #[test]
    fn the_order_is_that_of_the_tables_values() {
        // Value 1 does not occur in the table: 0 and 2 are neighbours, one step of one apart.
        let table = TableStats { histogram: vec![(0, 1), (2, 1)], ..TableStats::default() };
        let distance = ordered(&[(0, 1)], &table, &Ranking::default());
        assert_eq!(distance.to_rational(), Rational::new(1, 2));
        assert_eq!(distance.compare(&Rational::new(1, 2)), Ordering::Equal);
        assert_eq!(distance.to_f64(), 0.5);
    }

    #[test]
    fn the_salaries_of_li_et_al() {
        // Li et al. 2007, §5.1: {3k,4k,5k} against nine salaries is 0.375, {6k,8k,11k} is 0.167.
        let table = stats(&[1; 9]);
        assert_eq!(ordered(&[(0, 1), (1, 1), (2, 1)], &table, &Ranking::default()).to_rational(), Rational::new(3, 8));
        assert_eq!(ordered(&[(3, 1), (5, 1), (8, 1)], &table, &Ranking::default()).to_rational(), Rational::new(1, 6));
    }

    #[test]
    fn a_tree_must_be_one() {
        assert!(Tree::new(&[vec![0, 1], vec![0, 1]]).is_none());
        assert!(Tree::new(&[vec![0, 1, 2], vec![0, 0, 1], vec![0, 1, 1], vec![0, 0, 0]]).is_none());
        assert!(Tree::new(&[vec![0, 1]]).is_none());
    }
}
