//! Risks of the whole release: the average over the rows of 1/n, which is classes / rows; the share of rows that are
//! alone in their class; and the greatest 1/n. Each must not exceed its threshold. A release without rows has risk 0.

use std::sync::Arc;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;

use super::{Domain, Model, Parameters, ReleaseModel};
use crate::number::{figure, ratio};

enum Kind {
    Average,
    Uniqueness,
    Max,
}

struct Risk {
    kind: Kind,
    threshold: BigRational,
}

pub(super) fn average(parameters: &Parameters<'_>, _: &Arc<Domain>) -> Result<Model, String> {
    build(parameters, Kind::Average)
}

pub(super) fn uniqueness(parameters: &Parameters<'_>, _: &Arc<Domain>) -> Result<Model, String> {
    build(parameters, Kind::Uniqueness)
}

pub(super) fn max(parameters: &Parameters<'_>, _: &Arc<Domain>) -> Result<Model, String> {
    build(parameters, Kind::Max)
}

fn build(parameters: &Parameters<'_>, kind: Kind) -> Result<Model, String> {
    Ok(Model::Release(Box::new(Risk { kind, threshold: parameters.number("threshold")? })))
}

impl ReleaseModel for Risk {
    fn judge(&self, sizes: &[u64]) -> (bool, f64) {
        let rows: u64 = sizes.iter().sum();
        let risk = match (&self.kind, sizes.iter().min()) {
            (_, None) => BigRational::zero(),
            (Kind::Average, _) => BigRational::new(BigInt::from(sizes.len()), BigInt::from(rows.max(1))),
            (Kind::Uniqueness, _) => ratio(sizes.iter().filter(|&&n| n == 1).count() as u64, rows),
            (Kind::Max, Some(&smallest)) => ratio(1, smallest),
        };
        (risk <= self.threshold, figure(&risk).unwrap_or(1.0))
    }

    fn shows_smallest(&self) -> bool {
        !matches!(self.kind, Kind::Average)
    }
}
