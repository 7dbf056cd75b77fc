//! δ-disclosure privacy: |ln(p/q)| < δ for every value of the release (Brickell and Shmatikov, KDD 2008), and
//! β-likeness: (p − q)/q ≤ β for every value that gained, enhanced also ≤ −ln q (Cao and Karras, VLDB 2012).

use std::cmp::Ordering;
use std::sync::Arc;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::One;

use super::{Class, ClassModel, Domain, Figure, Model, Parameters, Reading, Weak};
use crate::logsum::LogSum;
use crate::number::{figure, ratio};

struct DeltaDisclosure {
    delta: BigRational,
    domain: Arc<Domain>,
    /// Number of values that occur in the classes.
    held: usize,
}

struct BetaLikeness {
    beta: BigRational,
    enhanced: bool,
    domain: Arc<Domain>,
}

pub(super) fn delta_disclosure(parameters: &Parameters<'_>, domain: &Arc<Domain>) -> Result<Model, String> {
    let held = domain.table.iter().filter(|&&count| count > 0).count();
    Ok(Model::Class(Box::new(DeltaDisclosure { delta: parameters.number("delta")?, domain: domain.clone(), held })))
}

pub(super) fn beta_likeness(parameters: &Parameters<'_>, domain: &Arc<Domain>) -> Result<Model, String> {
    let (beta, enhanced) = (parameters.number("beta")?, parameters.flag("enhanced")?);
    Ok(Model::Class(Box::new(BetaLikeness { beta, enhanced, domain: domain.clone() })))
}

/// The sign of ln(of) − bound.
fn against(of: &BigRational, bound: &BigRational) -> Ordering {
    let mut sum = LogSum::new();
    sum.add_ratio(&BigInt::one(), of);
    sum.add_constant(-bound.clone());
    sum.sign()
}

impl ClassModel for DeltaDisclosure {
    fn figures(&self) -> Vec<Figure> {
        vec![("delta", Weak::Great)]
    }

    fn judge(&self, class: Class<'_>) -> Result<Reading, String> {
        let n = class.total();
        let mut holds = true;
        let mut largest = 0.0f64;
        for &(value, count) in class.counts {
            let gain = ratio(count, n) / ratio(self.domain.in_table(value)?, self.domain.total);
            let gain = if gain < BigRational::one() { gain.recip() } else { gain };
            holds &= against(&gain, &self.delta) == Ordering::Less;
            largest = largest.max(figure(&gain).unwrap_or(f64::INFINITY).ln());
        }
        if class.counts.len() < self.held {
            // A value of the release that the class lacks: p = 0, so |ln(p/q)| is infinite.
            (holds, largest) = (false, f64::INFINITY);
        }
        Ok(Reading { holds, figures: vec![largest] })
    }
}

impl ClassModel for BetaLikeness {
    fn figures(&self) -> Vec<Figure> {
        vec![("beta", Weak::Great)]
    }

    fn judge(&self, class: Class<'_>) -> Result<Reading, String> {
        let n = class.total();
        let mut holds = true;
        let mut largest = 0.0f64;
        for &(value, count) in class.counts {
            let q = ratio(self.domain.in_table(value)?, self.domain.total);
            let gain = ratio(count, n) / &q - BigRational::one();
            if gain <= BigRational::from_integer(BigInt::from(0)) {
                continue;
            }
            holds &= gain <= self.beta;
            if self.enhanced {
                holds &= against(&q.recip(), &gain) != Ordering::Less;
            }
            largest = largest.max(figure(&gain).unwrap_or(f64::INFINITY));
        }
        Ok(Reading { holds, figures: vec![largest] })
    }
}
