//! (α,k)-anonymity: at least k rows, and no value's share above its bound. Simple: one value (survey, Definition 9);
//! general: every value, one bound (Definition 12); complete: a bound a value, 1 where none is given (Definition 7).

use std::sync::Arc;

use num_rational::BigRational;
use num_traits::One;
use serde_json::Value;

use super::{Class, ClassModel, Domain, Figure, Model, Parameters, Reading, Weak};
use crate::number::{self, figure, ratio, whole};

struct AlphaK {
    k: BigRational,
    /// The bound of each published value.
    bounds: Vec<Option<BigRational>>,
    symmetric: bool,
}

pub(super) fn simple(parameters: &Parameters<'_>, domain: &Arc<Domain>) -> Result<Model, String> {
    let value = parameters.text("value")?.ok_or("its parameter \"value\" is missing")?;
    let mut bounds = vec![None; domain.values.len()];
    if let Some(id) = domain.id(&value) {
        bounds[id as usize] = Some(parameters.number("alpha")?);
    }
    build(parameters, bounds, false)
}

pub(super) fn general(parameters: &Parameters<'_>, domain: &Arc<Domain>) -> Result<Model, String> {
    let alpha = parameters.number("alpha")?;
    build(parameters, vec![Some(alpha); domain.values.len()], true)
}

pub(super) fn complete(parameters: &Parameters<'_>, domain: &Arc<Domain>) -> Result<Model, String> {
    let Some(Value::Object(given)) = parameters.get("alpha") else {
        return Err("its parameter \"alpha\" is not a bound for each value".into());
    };
    let mut bounds = vec![None; domain.values.len()];
    for (value, bound) in given {
        let bound = number::exact(bound).map_err(|what| format!("its bound of \"{value}\" {what}"))?;
        if let Some(id) = domain.id(value) {
            bounds[id as usize] = Some(bound);
        }
    }
    build(parameters, bounds, false)
}

fn build(parameters: &Parameters<'_>, bounds: Vec<Option<BigRational>>, symmetric: bool) -> Result<Model, String> {
    Ok(Model::Class(Box::new(AlphaK { k: parameters.number("k")?, bounds, symmetric })))
}

impl ClassModel for AlphaK {
    fn figures(&self) -> Vec<Figure> {
        vec![("alpha", Weak::Great), ("k", Weak::Small)]
    }

    fn symmetric(&self) -> bool {
        self.symmetric
    }

    fn judge(&self, class: Class<'_>) -> Result<Reading, String> {
        let mut holds = whole(class.size) >= self.k;
        let mut largest = 0.0f64;
        for &(value, count) in class.counts {
            if let Some(Some(bound)) = self.bounds.get(value as usize) {
                let share = ratio(count, class.size);
                holds &= share <= *bound;
                // A bound of 1 or more always holds; its share would hide the figure of the bounds that matter.
                if *bound < BigRational::one() || self.symmetric {
                    largest = largest.max(figure(&share).unwrap_or(1.0));
                }
            }
        }
        Ok(Reading { holds, figures: vec![largest, class.size as f64] })
    }
}
