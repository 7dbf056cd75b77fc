//! m-invariance (Xiao & Tao 2007) for a single version: no value in more than 1/m of a class, n ≥ m·r₁ with r₁ the
//! largest count. Groups of at least m rows with distinct values satisfy it, alone and where several share a
//! generalized tuple.

use std::sync::Arc;

use num_rational::BigRational;

use super::{Class, ClassModel, Domain, Figure, Model, Parameters, Reading, Weak};
use crate::number::whole;

struct MInvariance {
    m: BigRational,
}

pub(super) fn build(parameters: &Parameters<'_>, _: &Arc<Domain>) -> Result<Model, String> {
    Ok(Model::Class(Box::new(MInvariance { m: parameters.number("m")? })))
}

impl ClassModel for MInvariance {
    fn figures(&self) -> Vec<Figure> {
        vec![("m", Weak::Small)]
    }

    fn symmetric(&self) -> bool {
        true
    }

    fn judge(&self, class: Class<'_>) -> Result<Reading, String> {
        let most = class.counts.iter().map(|c| c.1).max().unwrap_or(0);
        let figure = class.size.checked_div(most).map_or(f64::INFINITY, |m| m as f64);
        Ok(Reading { holds: whole(class.size) >= self.m.clone() * whole(most), figures: vec![figure] })
    }
}
