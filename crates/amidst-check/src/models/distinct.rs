//! Distinct ℓ-diversity (at least l distinct values; (l,α) paper, Definition 2) and p-sensitive k-anonymity (at least p
//! distinct values in at least k rows; (l,α) paper, 1.1).

use std::sync::Arc;

use num_rational::BigRational;
use num_traits::Zero;

use super::{Class, ClassModel, Domain, Figure, Model, Parameters, Reading, Weak};
use crate::number::whole;

struct Distinct {
    least: BigRational,
    /// None for ℓ-diversity, which does not ask for a size.
    k: Option<BigRational>,
}

pub(super) fn l_diversity(parameters: &Parameters<'_>, _: &Arc<Domain>) -> Result<Model, String> {
    Ok(Model::Class(Box::new(Distinct { least: parameters.number("l")?, k: None })))
}

pub(super) fn p_sensitive(parameters: &Parameters<'_>, _: &Arc<Domain>) -> Result<Model, String> {
    Ok(Model::Class(Box::new(Distinct { least: parameters.number("p")?, k: Some(parameters.number("k")?) })))
}

impl ClassModel for Distinct {
    fn figures(&self) -> Vec<Figure> {
        match self.k {
            None => vec![("l", Weak::Small)],
            Some(_) => vec![("p", Weak::Small), ("k", Weak::Small)],
        }
    }

    fn symmetric(&self) -> bool {
        true
    }

    fn judge(&self, class: Class<'_>) -> Result<Reading, String> {
        let distinct = class.counts.len() as u64;
        let large = whole(class.size) >= self.k.clone().unwrap_or_else(BigRational::zero);
        let mut figures = vec![distinct as f64];
        if self.k.is_some() {
            figures.push(class.size as f64);
        }
        Ok(Reading { holds: large && whole(distinct) >= self.least, figures })
    }
}
