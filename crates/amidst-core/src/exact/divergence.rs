//! Comparisons of logarithms of shares with bounds: Kullback–Leibler, Jensen–Shannon, and single log ratios.
//!
//! Natural logarithms throughout. Floating point decides what its error bound covers, [`LogSum`] the rest.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use num_traits::One;

use super::Rational;
use super::logarithm::LogSum;
use crate::class::{Histogram, TableStats};

/// Relative error allowed for a term p·ln(ratio): conversions, products, the quotient and the logarithm.
const UNIT: f64 = 1.0 / (1u64 << 48) as f64;

/// A value with the most it may be off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Approximate {
    /// The value.
    pub value: f64,
    /// The most it may be off.
    pub error: f64,
}

impl Approximate {
    /// The comparison with `bound`, when the error leaves no doubt.
    fn compare(self, bound: f64) -> Option<Ordering> {
        let error = self.error + bound.abs() * UNIT;
        if self.value - bound > error {
            Some(Ordering::Greater)
        } else if bound - self.value > error {
            Some(Ordering::Less)
        } else {
            None
        }
    }
}

fn sum(histogram: &Histogram) -> u64 {
    histogram.iter().map(|&(_, n)| n).sum()
}

fn product(a: u64, b: u64) -> BigUint {
    BigUint::from(u128::from(a) * u128::from(b))
}

/// −r, as the constant of a sum that is compared with r times `factor`.
fn constant(r: &Rational, factor: BigInt) -> BigRational {
    -(r.value() * factor)
}

/// Kullback–Leibler divergence Σ p·ln(p/q) of the class from the table; infinite when the table lacks a value.
pub fn kl(class: &Histogram, table: &TableStats) -> Approximate {
    let (n, total) = (sum(class) as f64, sum(&table.histogram) as f64);
    let (mut value, mut size) = (0.0, 0.0);
    for &(code, count) in class.iter().filter(|c| c.1 > 0) {
        let p = count as f64 / n;
        let term = p * ((count as f64 * total) / (table.count(code) as f64 * n)).ln();
        value += term;
        size += term.abs() + p;
    }
    Approximate { value, error: size * UNIT * (class.len() as f64 + 4.0) }
}

/// Compares the Kullback–Leibler divergence of the class from the table with `bound`.
pub fn compare_kl(class: &Histogram, table: &TableStats, bound: &Rational) -> Ordering {
    if class.iter().any(|&(code, n)| n > 0 && table.count(code) == 0) {
        return Ordering::Greater;
    }
    kl(class, table).compare(bound.to_f64()).unwrap_or_else(|| {
        // Times n: Σ n_s·(ln n_s + ln N − ln n − ln N_s) against n·t.
        let (n, total) = (sum(class), sum(&table.histogram));
        let mut difference = LogSum::new(constant(bound, n.into()));
        for &(code, count) in class {
            difference.add(count, count);
            difference.add(-BigInt::from(count), table.count(code));
        }
        difference.add(n, total);
        difference.add(-BigInt::from(n), n);
        difference.sign()
    })
}

/// Jensen–Shannon divergence ½ KL(P‖M) + ½ KL(Q‖M) with M = (P + Q)/2; at most ln 2.
pub fn js(class: &Histogram, table: &TableStats) -> Approximate {
    let (n, total) = (sum(class) as f64, sum(&table.histogram) as f64);
    let (mut value, mut size) = (0.0, 0.0);
    let mut add = |x: f64, middle: f64| {
        if x > 0.0 {
            let term = 0.5 * x * (x / middle).ln();
            value += term;
            size += term.abs() + x;
        }
    };
    merge(class, &table.histogram, |a, b| {
        let (p, q) = (a as f64 / n, b as f64 / total);
        let middle = 0.5 * (p + q);
        add(p, middle);
        add(q, middle);
    });
    let summands = (class.len() + table.histogram.len()) as f64;
    Approximate { value, error: size * UNIT * (summands + 4.0) }
}

/// Compares the Jensen–Shannon divergence of class and table with `bound`.
pub fn compare_js(class: &Histogram, table: &TableStats, bound: &Rational) -> Ordering {
    js(class, table).compare(bound.to_f64()).unwrap_or_else(|| {
        // Times 2nN, with a = n_s·N and b = N_s·n: Σ a·ln(2a/(a + b)) + b·ln(2b/(a + b)) against 2nN·t.
        let (n, total) = (sum(class), sum(&table.histogram));
        let mut difference = LogSum::new(constant(bound, BigInt::from(product(n, total)) * 2));
        merge(class, &table.histogram, |count, others| {
            let (a, b) = (product(count, total), product(others, n));
            let both = &a + &b;
            difference.add(a.clone(), a);
            difference.add(b.clone(), b);
            difference.add(both.clone(), 2u8);
            difference.add(-BigInt::from(both.clone()), both);
        });
        difference.sign()
    })
}

/// Shows the counts of every value of either histogram, both by code.
fn merge(class: &Histogram, table: &Histogram, mut see: impl FnMut(u64, u64)) {
    let (mut i, mut j) = (0, 0);
    while i < class.len() || j < table.len() {
        let a = class.get(i).map_or(u32::MAX, |c| c.0);
        let b = table.get(j).map_or(u32::MAX, |c| c.0);
        let in_class = i < class.len() && a <= b;
        let in_table = j < table.len() && b <= a;
        see(if in_class { class[i].1 } else { 0 }, if in_table { table[j].1 } else { 0 });
        i += usize::from(in_class);
        j += usize::from(in_table);
    }
}

/// A fraction (a/b)/(c/d) of shares whose logarithm is compared: how much more frequent a value is here than there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    /// The count here.
    pub count: u64,
    /// The number of rows here.
    pub of: u64,
    /// The count there.
    pub base: u64,
    /// The number of rows there.
    pub base_of: u64,
}

impl Ratio {
    /// ln of the ratio.
    pub fn ln(self) -> f64 {
        ((self.count as f64 * self.base_of as f64) / (self.base as f64 * self.of as f64)).ln()
    }

    /// count · base_of and base · of: the ratio is that of the first to the second.
    #[inline]
    pub fn products(self) -> (u128, u128) {
        (u128::from(self.count) * u128::from(self.base_of), u128::from(self.base) * u128::from(self.of))
    }

    /// Compares the ratio with 1, that is the count here with the one that the shares there would give.
    #[inline]
    pub fn compare_one(self) -> Ordering {
        let (here, there) = self.products();
        here.cmp(&there)
    }

    /// Whether ratio − 1 ≤ −ln(base/base_of): the gain is at most the surprise of the value there.
    pub fn gain_within_surprise(self) -> bool {
        if self.base == 0 {
            return false;
        }
        let ratio = (self.count as f64 * self.base_of as f64) / (self.base as f64 * self.of as f64);
        let surprise = (self.base_of as f64 / self.base as f64).ln();
        let difference = Approximate { value: ratio - 1.0 - surprise, error: (ratio + surprise.abs() + 2.0) * UNIT };
        let order = difference.compare(0.0).unwrap_or_else(|| {
            let fraction = BigRational::new(
                product(self.count, self.base_of).into(),
                BigInt::from(product(self.base, self.of.max(1))),
            );
            let mut difference = LogSum::new(fraction - BigRational::one());
            difference.add(-1, self.base_of);
            difference.add(1, self.base);
            difference.sign()
        });
        order.is_le()
    }

    /// Compares |ln of the ratio| with `bound`; a count of zero is infinitely far.
    pub fn compare_abs_ln(self, bound: &Rational) -> Ordering {
        if self.count == 0 || self.base == 0 {
            return Ordering::Greater;
        }
        let value = self.ln().abs();
        let approximate = Approximate { value, error: (value + 1.0) * UNIT };
        approximate.compare(bound.to_f64()).unwrap_or_else(|| {
            let sign = if product(self.count, self.base_of) < product(self.base, self.of) { -1 } else { 1 };
            let mut difference = LogSum::new(constant(bound, 1.into()));
            difference.add(sign, product(self.count, self.base_of));
            difference.add(-sign, product(self.base, self.of));
            difference.sign()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stats(counts: &[u64]) -> TableStats {
        TableStats { histogram: (0u32..).zip(counts.iter().copied()).collect(), ..TableStats::default() }
    }

    #[test]
    fn equal_shares_diverge_by_exactly_nothing() {
        let zero = Rational::from(0);
        for scale in [1, 1_000_000_007] {
            let class: Vec<(u32, u64)> = vec![(0, scale), (1, 2 * scale), (2, 4 * scale)];
            let table = stats(&[3, 6, 12]);
            assert_eq!(compare_kl(&class, &table, &zero), Ordering::Equal);
            assert_eq!(compare_js(&class, &table, &zero), Ordering::Equal);
            let ratio = Ratio { count: scale, of: 7 * scale, base: 3, base_of: 21 };
            assert_eq!(ratio.compare_abs_ln(&zero), Ordering::Equal);
        }
    }

    #[test]
    fn disjoint_shares_diverge_most() {
        // JS is ln 2 = 0.693147180559945309417… there, KL infinite.
        let (class, table) = ([(0, 5)], TableStats { histogram: vec![(1, 7)], ..TableStats::default() });
        assert_eq!(compare_kl(&class, &table, &Rational::from(1_000_000)), Ordering::Greater);
        assert_eq!(compare_js(&class, &table, &"0.69314718055994530941".parse().unwrap()), Ordering::Greater);
        assert_eq!(compare_js(&class, &table, &"0.69314718055994530942".parse().unwrap()), Ordering::Less);
    }

    #[test]
    fn one_row_in_ten_to_the_twelfth_is_seen() {
        let n = 1_000_000_000_000;
        let table = stats(&[n, n]);
        assert_eq!(compare_kl(&[(0, n), (1, n)], &table, &Rational::from(0)), Ordering::Equal);
        assert_eq!(compare_kl(&[(0, n + 1), (1, n)], &table, &Rational::from(0)), Ordering::Greater);
        assert_eq!(compare_js(&[(0, n + 1), (1, n)], &table, &Rational::from(0)), Ordering::Greater);
        // Nothing gained on a value that is no surprise, and one row more than that.
        assert!(Ratio { count: n, of: n, base: n, base_of: n }.gain_within_surprise());
        assert!(!Ratio { count: n, of: n, base: n - 1, base_of: n - 1 + n }.gain_within_surprise());
    }

    proptest! {
        #[test]
        fn values_and_comparisons_agree(pairs in prop::collection::vec((0u64..30, 1u64..30), 1..6)) {
            let (p, q): (Vec<u64>, Vec<u64>) = pairs.into_iter().unzip();
            prop_assume!(p.iter().sum::<u64>() > 0);
            let class: Vec<(u32, u64)> = (0u32..).zip(p).filter(|c| c.1 > 0).collect();
            let table = stats(&q);
            type Compare = fn(&Histogram, &TableStats, &Rational) -> Ordering;
            for (value, compare) in [(kl(&class, &table), compare_kl as Compare), (js(&class, &table), compare_js)] {
                prop_assert!(value.value > -1e-12);
                let bound = |x: f64| format!("{x:.15}").parse::<Rational>().unwrap();
                prop_assert_eq!(compare(&class, &table, &bound(value.value + 1e-9)), Ordering::Less);
                if value.value > 1e-9 {
                    prop_assert_eq!(compare(&class, &table, &bound(value.value - 1e-9)), Ordering::Greater);
                }
            }
        }
    }
}
