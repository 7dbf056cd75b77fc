//! Recursive (c,ℓ)-diversity (article, Definition 4.2) and its forms with a don't-care set (4.3, positive disclosure)
//! and with values that must not be ruled out (4.4, negative disclosure).
//!
//! l = 1 always holds, in all three forms.

use std::sync::Arc;

use num_bigint::BigInt;
use num_rational::BigRational;

use super::{Class, ClassModel, Domain, Figure, Model, Parameters, Reading, Weak};
use crate::number::{figure, ratio, whole};

struct Recursive {
    c: BigRational,
    l: u64,
    dont_care: Vec<bool>,
    /// c2 and the values that must not be ruled out; `None` unless the model is npd-recursive.
    negative: Option<(BigRational, Vec<Option<u32>>)>,
}

pub(super) fn recursive(parameters: &Parameters<'_>, _: &Arc<Domain>) -> Result<Model, String> {
    build(parameters, "c", Vec::new(), None)
}

pub(super) fn pd_recursive(parameters: &Parameters<'_>, domain: &Arc<Domain>) -> Result<Model, String> {
    build(parameters, "c", domain.flags(&parameters.values("dont_care")?), None)
}

pub(super) fn npd_recursive(parameters: &Parameters<'_>, domain: &Arc<Domain>) -> Result<Model, String> {
    // A value of W that is not published has count 0 in every class, which fails unless c2 = 0.
    let kept = parameters.values("no_negative")?.iter().map(|value| domain.id(value)).collect();
    let negative = Some((parameters.number("c2")?, kept));
    build(parameters, "c1", domain.flags(&parameters.values("dont_care")?), negative)
}

fn build(
    parameters: &Parameters<'_>,
    c: &str,
    dont_care: Vec<bool>,
    negative: Option<(BigRational, Vec<Option<u32>>)>,
) -> Result<Model, String> {
    let model = Recursive { c: parameters.number(c)?, l: parameters.count("l")?, dont_care, negative };
    Ok(Model::Class(Box::new(model)))
}

/// The two sides of the comparison in a class: the count of the most frequent value to protect and the sum of the tail;
/// required is head < c·tail. `None` when the class satisfies the model for every c.
pub(super) fn head_and_tail(counts: &[(u64, bool)], l: u64) -> Option<(u64, u64)> {
    if l <= 1 {
        return None;
    }
    let mut ranked = counts.to_vec();
    // Descending; among equal counts don't-care values come first.
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    let y = ranked.iter().position(|&(_, free)| !free)? as u64 + 1;
    let rank = |from: u64, to: u64| -> u64 {
        ranked.iter().enumerate().filter(|(j, _)| (from..=to).contains(&(*j as u64 + 1))).map(|(_, c)| c.0).sum()
    };
    let head = rank(y, y);
    let tail = if y < l { rank(l, u64::MAX) } else { rank(l - 1, y - 1) + rank(y + 1, u64::MAX) };
    Some((head, tail))
}

/// Whether head < c·tail, and the c that would make them equal.
pub(super) fn compare(sides: Option<(u64, u64)>, c: &BigRational) -> (bool, f64) {
    match sides {
        None => (true, 0.0),
        Some((_, 0)) => (false, f64::INFINITY),
        Some((head, tail)) => (whole(head) < c * whole(tail), figure(&ratio(head, tail)).unwrap_or(f64::INFINITY)),
    }
}

impl ClassModel for Recursive {
    fn figures(&self) -> Vec<Figure> {
        match self.negative {
            None => vec![("c", Weak::Great)],
            Some(_) => vec![("c1", Weak::Great), ("c2", Weak::Small)],
        }
    }

    fn symmetric(&self) -> bool {
        self.negative.is_none() && !self.dont_care.contains(&true)
    }

    fn judge(&self, class: Class<'_>) -> Result<Reading, String> {
        let free = |value: u32| self.dont_care.get(value as usize).copied().unwrap_or(false);
        let counts: Vec<(u64, bool)> = class.counts.iter().map(|&(v, n)| (n, free(v))).collect();
        let (mut holds, c) = compare(head_and_tail(&counts, self.l), &self.c);
        let mut figures = vec![c];
        if let Some((c2, kept)) = &self.negative {
            let count =
                |value: &Option<u32>| value.and_then(|v| class.counts.iter().find(|c| c.0 == v)).map_or(0, |c| c.1);
            let hundred = BigRational::from_integer(BigInt::from(100));
            let mut least = f64::INFINITY;
            for n in kept.iter().map(count) {
                let percent = ratio(n, class.size) * &hundred;
                holds &= percent >= *c2;
                least = least.min(figure(&percent).unwrap_or(0.0));
            }
            figures.push(least);
        }
        Ok(Reading { holds, figures })
    }
}
