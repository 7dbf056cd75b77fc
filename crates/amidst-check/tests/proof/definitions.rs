//! The definitions of the models, evaluated literally in integers of any size.

use num_bigint::{BigInt, BigUint};

/// p / q.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fraction {
    pub p: u64,
    pub q: u64,
}

/// Decimals around a bound are multiples of 1/GRAIN.
const GRAIN: u64 = 1_000_000_000;

impl Fraction {
    /// As policies write it.
    pub fn text(self) -> String {
        format!("{}/{}", self.p, self.q)
    }

    /// The two neighbouring multiples of 1/GRAIN that enclose the greatest l of a class; the first may equal it.
    pub fn around(class: &[u64]) -> [Fraction; 2] {
        let (mut low, mut high) = (GRAIN, GRAIN * (class.len() as u64 + 1));
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if entropy(class, Fraction { p: middle, q: GRAIN }) { low = middle } else { high = middle }
        }
        [Fraction { p: low, q: GRAIN }, Fraction { p: high, q: GRAIN }]
    }

    /// The distance of a class from a table, and values slightly below and above it.
    pub fn distances(class: &[u64], table: &[u64]) -> Vec<Fraction> {
        let (n, all): (u64, u64) = (class.iter().sum(), table.iter().sum());
        let gain = |set: u32| -> i128 {
            let of = |counts: &[u64]| -> i128 {
                counts.iter().enumerate().filter(|(s, _)| set >> s & 1 == 1).map(|(_, &c)| i128::from(c)).sum()
            };
            of(class) * i128::from(all) - of(table) * i128::from(n)
        };
        let most = (0..1u32 << table.len()).map(gain).max().unwrap_or(0) as u64;
        let (p, q) = (most * GRAIN, n * all * GRAIN);
        [Some(p), p.checked_sub(1), Some(p + 1)].into_iter().flatten().map(|p| Fraction { p, q }).collect()
    }
}

/// At least k rows.
pub fn k_anonymity(class: &[u64], k: u64) -> bool {
    class.iter().sum::<u64>() >= k
}

/// At least l values that occur.
pub fn distinct(class: &[u64], l: u64) -> bool {
    class.iter().filter(|&&count| count > 0).count() as u64 >= l
}

/// −Σ p ln p ≥ ln l. With counts n_s of n rows and l = a / b, both sides times n and as powers: nⁿ bⁿ ≥ aⁿ Π n_s^n_s.
pub fn entropy(class: &[u64], l: Fraction) -> bool {
    let n: u64 = class.iter().sum();
    let power = |base: u64, exponent: u64| BigUint::from(base).pow(exponent as u32);
    let product = class.iter().filter(|&&count| count > 0).map(|&count| power(count, count)).product::<BigUint>();
    power(n, n) * power(l.q, n) >= power(l.p, n) * product
}

/// Definition 4 of the ℓ-diversity paper as a recursion: (c, 1) always holds; (c, 2) when the most frequent value
/// occurs less than c times as often as all others together; (c, l) when removing any one value leaves a class that is
/// (c, l − 1).
pub fn recursive(class: &[u64], c: Fraction, l: u64) -> bool {
    let without = |at: usize| -> Vec<u64> {
        class.iter().enumerate().filter(|&(other, _)| other != at).map(|(_, &count)| count).collect()
    };
    match l {
        1 => true,
        2 => class.iter().max().is_some_and(|&most| {
            let others: u64 = class.iter().sum::<u64>() - most;
            most * c.q < c.p * others
        }),
        _ => !class.is_empty() && (0..class.len()).all(|at| recursive(&without(at), c, l - 1)),
    }
}

/// The earth mover's distance under equal distances is, by duality, the maximum over sets of values of P(set) − Q(set):
/// for every set, P(set) − Q(set) ≤ t.
pub fn closeness(class: &[u64], table: &[u64], t: Fraction) -> bool {
    let (n, all): (u64, u64) = (class.iter().sum(), table.iter().sum());
    (0..1u32 << table.len()).all(|set| {
        let of = |counts: &[u64]| -> BigInt {
            counts.iter().enumerate().filter(|(s, _)| set >> s & 1 == 1).map(|(_, &c)| BigInt::from(c)).sum()
        };
        (of(class) * all - of(table) * n) * t.q <= BigInt::from(t.p) * n * all
    })
}
