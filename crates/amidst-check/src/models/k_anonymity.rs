//! k-anonymity: a class satisfies it when its size n ≥ k.

use std::sync::Arc;

use num_rational::BigRational;

use super::{Class, ClassModel, Domain, Figure, Model, Parameters, Reading, Weak};
use crate::number::whole;

struct KAnonymity {
    k: BigRational,
}

pub(super) fn build(parameters: &Parameters<'_>, _: &Arc<Domain>) -> Result<Model, String> {
    Ok(Model::Class(Box::new(KAnonymity { k: parameters.number("k")? })))
}

impl ClassModel for KAnonymity {
    fn figures(&self) -> Vec<Figure> {
        vec![("k", Weak::Small)]
    }

    fn symmetric(&self) -> bool {
        true
    }

    fn judge(&self, class: Class<'_>) -> Result<Reading, String> {
        Ok(Reading { holds: whole(class.size) >= self.k, figures: vec![class.size as f64] })
    }
}
