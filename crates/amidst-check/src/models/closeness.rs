//! t-closeness: the distance between a class's distribution p and the release's distribution q is at most t (survey,
//! Definition 6).
//!
//! With n rows in the class and N in all classes, every difference is an integer over n·N: Δ_s = n_s·N − N_s·n.
//! - `equal`: Σ|Δ| / 2nN.
//! - `ordered`: Σ over the m − 1 gaps between ranks of |Σ Δ up to the gap| / (m − 1)nN. m is the number of ranks,
//!   including those of values that the release lacks.
//! - `hierarchical`: values whose lowest common ancestor is at level i have distance i/h. That is the length of the
//!   path between them in the tree with edges of length 1/2h, and mass moved on a tree crosses each edge with the net
//!   surplus below it: Σ over groups below the top of |Σ Δ over the group| / 2h·nN.
//! - `kl`: Σ p ln(p/q). `js`: (KL(p‖m) + KL(q‖m)) / 2 with m = (p + q) / 2. Natural logarithms.

use std::cmp::Ordering;
use std::sync::Arc;

use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;

use super::{Class, ClassModel, Domain, Figure, Model, Parameters, Reading, Weak};
use crate::logsum::LogSum;
use crate::number::figure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Distance {
    Equal,
    Ordered,
    Hierarchical,
    KullbackLeibler,
    JensenShannon,
}

struct Closeness {
    t: BigRational,
    distance: Distance,
    domain: Arc<Domain>,
}

pub(super) fn build(parameters: &Parameters<'_>, domain: &Arc<Domain>) -> Result<Model, String> {
    let name = parameters.text("distance")?;
    let distance = match name.as_deref() {
        None | Some("equal") => Distance::Equal,
        Some("ordered") if domain.ranking.is_some() => Distance::Ordered,
        Some("ordered") => return Err("the values of its column have no order".into()),
        Some("hierarchical") => {
            let levels = domain.levels.as_ref().ok_or("its column has no levels")?;
            let held = || levels.iter().zip(&domain.table).filter(|&(_, &count)| count > 0).map(|(path, _)| path);
            let top = held().next().and_then(|path| path.last());
            if held().any(|path| path.last() != top || path.is_empty()) {
                return Err("the levels of its column do not end in one group".into());
            }
            Distance::Hierarchical
        }
        Some("kl") => Distance::KullbackLeibler,
        Some("js") => Distance::JensenShannon,
        Some(other) => return Err(format!("it has no distance \"{other}\"")),
    };
    Ok(Model::Class(Box::new(Closeness { t: parameters.number("t")?, distance, domain: domain.clone() })))
}

impl Closeness {
    /// The distance, where it is rational.
    fn rational(&self, class: Class<'_>, n: u64) -> Result<BigRational, String> {
        let domain = &self.domain;
        let (own, all) = (i128::from(n), i128::from(domain.total));
        let mut difference: Vec<i128> = domain.table.iter().map(|&count| -i128::from(count) * own).collect();
        for &(value, count) in class.counts {
            *difference.get_mut(value as usize).ok_or("a value of a class is not counted")? += i128::from(count) * all;
        }
        let (moved, parts) = match (self.distance, &domain.levels, &domain.ranking) {
            (Distance::Ordered, _, Some(ranking)) => {
                // The surplus carried past a value crosses every rank up to the next value that occurs.
                let mut carried = 0i128;
                let mut moved = 0i128;
                for pair in ranking.ranked.windows(2) {
                    carried += difference[pair[0].0 as usize];
                    moved += carried.abs() * (pair[1].1 - pair[0].1) as i128;
                }
                (moved, ranking.ranks.saturating_sub(1).max(1))
            }
            (Distance::Hierarchical, Some(levels), _) => {
                let height = levels.iter().map(Vec::len).max().unwrap_or(1);
                let mut moved: i128 = difference.iter().map(|d| d.abs()).sum();
                for level in 0..height - 1 {
                    let mut groups: rustc_hash::FxHashMap<u32, i128> = rustc_hash::FxHashMap::default();
                    for (group, d) in levels.iter().zip(&difference).filter_map(|(path, d)| Some((path.get(level)?, d)))
                    {
                        *groups.entry(*group).or_insert(0) += d;
                    }
                    moved += groups.values().map(|d| d.abs()).sum::<i128>();
                }
                (moved, 2 * height)
            }
            _ => (difference.iter().map(|d| d.abs()).sum(), 2),
        };
        Ok(BigRational::new(BigInt::from(moved), BigInt::from(own) * BigInt::from(all) * BigInt::from(parts)))
    }

    /// n·(KL − t), or 2nN·(JS − t).
    fn divergence(&self, class: Class<'_>, n: u64) -> Result<(LogSum, f64), String> {
        let all = self.domain.total;
        let mut sum = LogSum::new();
        let mut rounded = 0.0;
        let (own_f, all_f) = (n as f64, all as f64);
        if self.distance == Distance::KullbackLeibler {
            for &(value, count) in class.counts {
                let in_table = self.domain.in_table(value)?;
                sum.add(count, count);
                sum.add(-BigInt::from(count), in_table);
                let p = count as f64 / own_f;
                rounded += p * (p / (in_table as f64 / all_f)).ln();
            }
            sum.add(n, all);
            sum.add(-BigInt::from(n), n);
            sum.add_constant(-&self.t * BigRational::from_integer(BigInt::from(n)));
        } else {
            let mut absent = all;
            for &(value, count) in class.counts {
                let in_table = self.domain.in_table(value)?;
                absent = absent.saturating_sub(in_table);
                let (a, b) = (BigUint::from(count) * all, BigUint::from(in_table) * n);
                let both = &a + &b;
                for part in [a, b] {
                    let times = BigInt::from(part.clone());
                    sum.add(times.clone(), part * 2u32);
                    sum.add(-times, both.clone());
                }
                let (p, q) = (count as f64 / own_f, in_table as f64 / all_f);
                let m = (p + q) / 2.0;
                rounded += (p * (p / m).ln() + q * (q / m).ln()) / 2.0;
            }
            sum.add(BigInt::from(n) * absent, 2u32);
            rounded += absent as f64 / all_f * std::f64::consts::LN_2 / 2.0;
            let scale = BigInt::from(2) * BigInt::from(n) * BigInt::from(all);
            sum.add_constant(-&self.t * BigRational::from_integer(scale));
        }
        Ok((sum, rounded.max(0.0)))
    }
}

impl ClassModel for Closeness {
    fn figures(&self) -> Vec<Figure> {
        vec![("t", Weak::Great)]
    }

    fn judge(&self, class: Class<'_>) -> Result<Reading, String> {
        let n = class.total();
        if self.domain.total == 0 {
            return Err("the release's classes are empty".into());
        }
        if matches!(self.distance, Distance::KullbackLeibler | Distance::JensenShannon) {
            let (sum, rounded) = self.divergence(class, n)?;
            return Ok(Reading { holds: sum.sign() != Ordering::Greater, figures: vec![rounded] });
        }
        let distance = self.rational(class, n)?;
        let rounded = figure(&distance).unwrap_or(f64::INFINITY);
        Ok(Reading { holds: distance <= self.t, figures: vec![rounded] })
    }
}
