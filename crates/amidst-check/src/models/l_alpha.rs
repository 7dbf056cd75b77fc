//! The (l,α) family: values belong to categories S₁ (the most sensitive) … S_m with weights from 0 to 1. Distinct: at
//! least l distinct values and a total weight of at least α over the rows ((l,α) paper, Definition 4); entropy and
//! recursive (5, 6): also the diversity of the counts of *categories*.

use std::sync::Arc;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};
use serde_json::Value;

use super::parameters::text;
use super::steps::Steps;
use super::{Class, ClassModel, Domain, Figure, Model, Parameters, Reading, Weak, entropy, recursive};
use crate::number::{self, figure, whole};

enum Categories {
    /// Weights only.
    Weighed,
    /// Entropy of the category counts ≥ log l.
    Entropy,
    /// Recursive diversity of the category counts.
    Recursive { c: BigRational, l: u64 },
}

struct LAlpha {
    l: BigRational,
    alpha: BigRational,
    category_of: Vec<Option<usize>>,
    weights: Weights,
    also: Categories,
}

/// The weights of the categories.
#[derive(PartialEq)]
pub(crate) enum Weights {
    /// One weight for each category.
    Listed(Vec<BigRational>),
    /// The number of categories, with weights whose sensitivity is not an integer.
    Steps(usize, Steps),
}

impl Weights {
    fn categories(&self) -> usize {
        match self {
            Weights::Listed(weights) => weights.len(),
            Weights::Steps(m, _) => *m,
        }
    }

    /// Whether rows, counted by category, have a total weight of at least `alpha`; and that weight as a figure.
    fn reach(&self, counts: &[u64], alpha: &BigRational) -> (bool, f64) {
        match self {
            Weights::Listed(weights) => {
                let weight: BigRational = weights.iter().zip(counts).map(|(w, &n)| w * whole(n)).sum();
                (weight >= *alpha, figure(&weight).unwrap_or(0.0))
            }
            Weights::Steps(m, steps) => {
                let weight = steps.figures(*m).iter().zip(counts).map(|(w, &n)| w * n as f64).sum();
                (steps.reach(counts, alpha), weight)
            }
        }
    }
}

pub(super) fn distinct(parameters: &Parameters<'_>, domain: &Arc<Domain>) -> Result<Model, String> {
    build(parameters, domain, Categories::Weighed)
}

pub(super) fn entropy(parameters: &Parameters<'_>, domain: &Arc<Domain>) -> Result<Model, String> {
    build(parameters, domain, Categories::Entropy)
}

pub(super) fn recursive(parameters: &Parameters<'_>, domain: &Arc<Domain>) -> Result<Model, String> {
    let also = Categories::Recursive { c: parameters.number("c")?, l: parameters.count("l")? };
    build(parameters, domain, also)
}

fn build(parameters: &Parameters<'_>, domain: &Arc<Domain>, also: Categories) -> Result<Model, String> {
    let categories = match parameters.get("categories") {
        Some(Value::Array(lists)) => lists
            .iter()
            .map(|list| match list {
                Value::Array(items) => items.iter().map(|item| text("categories", item)).collect(),
                _ => Err("its categories are not lists of values".to_string()),
            })
            .collect::<Result<Vec<Vec<String>>, String>>()?,
        Some(_) => return Err("its categories are not lists of values".into()),
        None => domain.categories.clone().ok_or("its column has no categories")?,
    };
    let weights = match (parameters.get("weights"), &domain.weights) {
        (Some(given), _) => weights(given, categories.len())?,
        (None, Some(given)) => stated_weights(given, categories.len())?,
        (None, None) => weights(&Value::from("uniform"), categories.len())?,
    };
    let mut category_of = vec![None; domain.values.len()];
    for (category, values) in categories.iter().enumerate() {
        for id in values.iter().filter_map(|value| domain.id(value)) {
            if category_of[id as usize].replace(category).is_some() {
                return Err("a value belongs to two categories".into());
            }
        }
    }
    let (l, alpha) = (parameters.number("l")?, parameters.number("alpha")?);
    Ok(Model::Class(Box::new(LAlpha { l, alpha, category_of, weights, also })))
}

/// The prefix of irrational weights in a certificate.
const SENSITIVITY: &str = "sensitivity ";

/// The weights of `m` categories as a certificate states them.
pub(crate) fn stated_weights(stated: &[String], m: usize) -> Result<Weights, String> {
    match stated {
        // Irrational weights are described, not listed.
        [one] if one.starts_with(SENSITIVITY) => {
            weights(&serde_json::json!({ "sensitivity": &one[SENSITIVITY.len()..] }), m)
        }
        _ => weights(&Value::from(stated.to_vec()), m),
    }
}

/// The weights of `m` categories: `uniform`, `{ sensitivity = β }`, or a list.
pub(crate) fn weights(given: &Value, m: usize) -> Result<Weights, String> {
    let steps: Vec<BigRational> = match given {
        Value::Array(list) => {
            if list.len() != m {
                return Err("its weights are not one for each category".into());
            }
            let listed = list.iter().map(|w| number::exact(w).map_err(|what| format!("one of its weights {what}")));
            return listed.collect::<Result<_, _>>().map(Weights::Listed);
        }
        Value::String(name) if name == "uniform" => vec![BigRational::one(); m.saturating_sub(1)],
        Value::Object(map) if map.len() == 1 => {
            let beta = map.get("sensitivity").ok_or("its weights are of no known kind")?;
            let beta = number::exact(beta).map_err(|what| format!("the sensitivity of its weights {what}"))?;
            let steps = Steps::new(&beta)
                .ok_or("the sensitivity of its weights is not from 1 to 64, in thousandths at most")?;
            let Some(beta) = beta.is_integer().then(|| beta.to_integer().to_i32()).flatten() else {
                return Ok(Weights::Steps(m, steps));
            };
            (1..m).map(|i| BigRational::new(BigInt::one(), BigInt::from(i).pow(beta as u32))).collect()
        }
        _ => return Err("its weights are of no known kind".into()),
    };
    let total: BigRational = steps.iter().sum();
    let mut weights = vec![BigRational::zero()];
    let mut reached = BigRational::zero();
    for step in steps {
        reached += step;
        weights.push(&reached / &total);
    }
    weights.truncate(m);
    Ok(Weights::Listed(weights))
}

impl ClassModel for LAlpha {
    fn figures(&self) -> Vec<Figure> {
        match self.also {
            Categories::Weighed | Categories::Entropy => vec![("l", Weak::Small), ("alpha", Weak::Small)],
            Categories::Recursive { .. } => vec![("c", Weak::Great), ("alpha", Weak::Small)],
        }
    }

    fn judge(&self, class: Class<'_>) -> Result<Reading, String> {
        let mut counts = vec![0u64; self.weights.categories()];
        for &(value, count) in class.counts {
            let category = self.category_of.get(value as usize).copied().flatten();
            let category = category.ok_or("a published value belongs to no category")?;
            *counts.get_mut(category).ok_or("a category has no weight")? += count;
        }
        let (heavy, alpha) = self.weights.reach(&counts, &self.alpha);
        counts.retain(|&n| n > 0);
        let distinct = class.counts.len() as u64;
        let base = whole(distinct) >= self.l && heavy;
        let (also, first) = match &self.also {
            Categories::Weighed => (true, distinct as f64),
            Categories::Entropy => (entropy::at_least(&counts, &self.l), entropy::perplexity(&counts)),
            Categories::Recursive { c, l } => {
                let ranked: Vec<(u64, bool)> = counts.iter().map(|&n| (n, false)).collect();
                recursive::compare(recursive::head_and_tail(&ranked, *l), c)
            }
        };
        Ok(Reading { holds: base && also, figures: vec![first, alpha] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn weights_follow_the_equation() {
        let texts = |given: Value, m| match weights(&given, m).unwrap() {
            Weights::Listed(weights) => weights.iter().map(|w| w.to_string()).collect::<Vec<_>>(),
            Weights::Steps(..) => Vec::new(),
        };
        assert!(texts(json!({"sensitivity": "3/2"}), 4).is_empty());
        assert_eq!(texts(json!("uniform"), 4), ["0", "1/3", "2/3", "1"]);
        assert_eq!(texts(json!({"sensitivity": 2}), 4), ["0", "36/49", "45/49", "1"]);
        assert_eq!(texts(json!({"sensitivity": 1}), 5), ["0", "12/25", "18/25", "22/25", "1"]);
        assert_eq!(texts(json!(["0", "9/61", "45/61", "1"]), 4), ["0", "9/61", "45/61", "1"]);
        assert!(weights(&json!(["0", "1"]), 3).is_err());
        assert_eq!(texts(json!("uniform"), 1), ["0"]);
    }
}
