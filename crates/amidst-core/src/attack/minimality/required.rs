//! The requirement that the adversary of the minimality attack knows, and whether a part of a class satisfies it.

use crate::attack::Target;
use crate::exact::Rational;
use crate::exact::entropy::EntropyBound;
use crate::parameter::{ParameterError, Parameters};

/// What the adversary knows to be required of every class.
#[derive(Debug)]
pub(super) struct Required {
    pub k: u64,
    pub share: Option<Rational>,
    /// The only value whose share is bounded.
    pub only: Option<u32>,
    pub distinct: Option<u64>,
    pub entropy: Option<EntropyBound>,
    pub recursive: Option<(Rational, u64)>,
    /// The largest credibility that was promised.
    pub promised: f64,
}

impl Required {
    pub fn of(target: &Target<'_>, parameters: &Parameters) -> Result<Self, ParameterError> {
        let has = |key: &str| parameters.get(key).is_some();
        let count = |key: &str| if has(key) { parameters.count(key).map(Some) } else { Ok(None) };
        let mut share = if has("alpha") { Some(parameters.share("alpha")?) } else { None };
        if let Some(l) = count("l")? {
            let one = Rational::ratio(1, l);
            share = Some(share.filter(|s| *s < one).unwrap_or(one));
        }
        let entropy = if has("entropy") { Some(parameters.number_from("entropy", 1, false)?) } else { None };
        let c = if has("c") { Some(parameters.number_from("c", 0, true)?) } else { None };
        let only = match has("value") {
            false => None,
            true => {
                let name = parameters.value("value")?;
                let code = target.domain().and_then(|d| d.dictionary.code(&name));
                let wrong = || ParameterError::new("value", "`value` is not a value of the sensitive column");
                Some(code.ok_or_else(wrong)?)
            }
        };
        let distinct = count("distinct")?;
        let recursive_l = count("recursive_l")?.unwrap_or(2);
        let promises = [
            share.as_ref().map(Rational::to_f64),
            distinct.map(|l| 1.0 / l as f64),
            entropy.as_ref().map(|l| 1.0 / l.to_f64()),
            c.as_ref().map(|c| c.to_f64() / (1.0 + c.to_f64())),
        ];
        let promised = promises.into_iter().flatten().reduce(f64::min).ok_or_else(|| {
            let known = "`l` (no value above 1/l of a class), `alpha`, `distinct`, `entropy` or `c`";
            ParameterError::new("l", format!("`l` is missing: state the requirement that the adversary knows, {known}"))
        })?;
        Ok(Required {
            k: count("k")?.unwrap_or(1),
            share,
            only,
            distinct,
            entropy: entropy.map(EntropyBound::new),
            recursive: c.map(|c| (c, recursive_l)),
            promised,
        })
    }

    /// Whether nothing but a share is required.
    pub fn shares_only(&self) -> bool {
        self.distinct.is_none() && self.entropy.is_none() && self.recursive.is_none()
    }

    /// Whether a part with these counts satisfies everything but k.
    pub fn holds(&self, counts: &[u64]) -> bool {
        let size: u64 = counts.iter().sum();
        let within = |s: &Rational| counts.iter().all(|&n| s.compare_count(n, size).is_le());
        self.share.as_ref().filter(|_| self.only.is_none()).is_none_or(within) && self.diverse(counts)
    }

    fn diverse(&self, counts: &[u64]) -> bool {
        let present = counts.iter().copied().filter(|&n| n > 0);
        let distinct = self.distinct.is_none_or(|l| present.clone().count() as u64 >= l);
        let entropy = self.entropy.as_ref().is_none_or(|bound| bound.compare(present.clone()).is_ge());
        distinct && entropy && self.recursive.as_ref().is_none_or(|(c, l)| recursive(present, c, *l))
    }

    /// Whether the share of the value whose count is the first is within its bound.
    pub fn first_within(&self, counts: &[u64]) -> bool {
        self.share.as_ref().is_none_or(|s| s.compare_count(counts[0], counts.iter().sum()).is_le())
    }
}

/// r₁ < c · (r_l + r_{l+1} + …).
fn recursive(counts: impl Iterator<Item = u64>, c: &Rational, l: u64) -> bool {
    let mut sorted: Vec<u64> = counts.collect();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let tail: u64 = sorted.iter().skip(l.max(1) as usize - 1).sum();
    l < 2 || c.compare_fraction(sorted.first().copied().unwrap_or(0).into(), tail.into()).is_lt()
}
