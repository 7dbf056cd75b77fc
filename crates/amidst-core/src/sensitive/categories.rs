//! Categories of sensitive values and their weights, for the (l, α)-diversity family.
//!
//! The (l, α) paper sorts the values into categories S₁ (the most sensitive) … S_m and gives each a weight, by its
//! Equation (1): weight(S₁) = 0, weight(S_m) = 1, and steps weight(Sᵢ) − weight(Sᵢ₋₁) proportional to wᵢ. `uniform` has
//! wᵢ = 1, `sensitivity` β has wᵢ = 1/(i−1)^β; where β is not whole the weights are irrational, and never computed:
//! what is asked about them is decided exactly all the same. The weights may also be listed outright.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};

use crate::class::Histogram;
use crate::exact::Rational;
use crate::exact::power::{LARGEST_DEGREE, LARGEST_EXPONENT, Powers};
use crate::exact::weight::WeightBound;
use crate::parameter::{ParameterError, Parameters, Value};
use crate::sensitive::SensitiveDomain;

/// The category of each value of a column, and the categories' weights.
#[derive(Debug, Clone)]
pub struct Categories {
    /// The category of each code.
    of: Vec<u32>,
    weights: Weights,
}

/// The weights of the categories.
#[derive(Debug, Clone)]
enum Weights {
    /// One each.
    Listed(Vec<Rational>),
    /// Their number, with the sensitivity β, which is not whole.
    Sensitivity(usize, Rational, Powers),
}

impl Categories {
    /// Reads `categories` and `weights` from the parameters, else from the column.
    pub fn read(parameters: &Parameters, domain: &SensitiveDomain) -> Result<Self, ParameterError> {
        let lists = match parameters.get("categories") {
            Some(value) => value.lists().ok_or_else(no_lists)?,
            None => domain.categories.clone(),
        };
        if lists.is_empty() {
            return Err(ParameterError::new(
                "categories",
                format!(
                    "the values of {} need categories: write `categories = [[\"HIV\", \"Cancer\"], [\"Flu\"]]` on the \
                     column, the most sensitive first",
                    column(domain)
                ),
            ));
        }
        let weights = match parameters.get("weights").or(domain.weights.as_ref()) {
            Some(value) => weights(value, lists.len())?,
            None => Weights::Listed(scheme(lists.len(), 0)?),
        };
        Ok(Categories { of: assign(&lists, domain)?, weights })
    }

    /// The number of categories.
    pub fn len(&self) -> usize {
        match &self.weights {
            Weights::Listed(weights) => weights.len(),
            Weights::Sensitivity(categories, ..) => *categories,
        }
    }

    /// Whether there is no category. There always is one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The weights as texts, the most sensitive category first; `sensitivity β` alone where they are irrational.
    pub fn weights(&self) -> Vec<String> {
        match &self.weights {
            Weights::Listed(weights) => weights.iter().map(Rational::to_string).collect(),
            Weights::Sensitivity(_, beta, _) => vec![format!("sensitivity {beta}")],
        }
    }

    /// The requirement that the weights of a class's rows add up to `alpha`.
    pub fn bound(&self, alpha: Rational) -> WeightBound {
        match &self.weights {
            Weights::Listed(weights) => {
                WeightBound::new(self.of.iter().map(|&c| weights[c as usize].clone()).collect(), alpha)
            }
            Weights::Sensitivity(categories, _, powers) => {
                WeightBound::of_steps(self.of.clone(), *categories, powers.clone(), alpha)
            }
        }
    }

    /// Shows the number of rows in each category; empty categories may be among them.
    pub fn with_counts<R>(&self, histogram: &Histogram, see: impl FnOnce(&[u64]) -> R) -> R {
        // Few columns have more categories than this; those that do pay for an allocation.
        let mut small = [0u64; 16];
        let mut large = Vec::new();
        let counts = if self.len() <= small.len() {
            &mut small[..self.len()]
        } else {
            large.resize(self.len(), 0);
            &mut large[..]
        };
        for &(code, n) in histogram {
            if let Some(count) = self.of.get(code as usize).and_then(|&c| counts.get_mut(c as usize)) {
                *count += n;
            }
        }
        see(counts)
    }
}

fn column(domain: &SensitiveDomain) -> String {
    if domain.name.is_empty() { "the sensitive column".to_string() } else { format!("`{}`", domain.name) }
}

/// A few of `values`, quoted, for a message.
fn some(values: &[&str]) -> String {
    let mut text = values.iter().take(3).map(|v| format!("`{v}`")).collect::<Vec<_>>().join(", ");
    if values.len() > 3 {
        text.push_str(&format!(" and {} more", values.len() - 3));
    }
    text
}

fn no_lists() -> ParameterError {
    ParameterError::new(
        "categories",
        "`categories` must be lists of values, the most sensitive first, such as [[\"HIV\"], [\"Flu\", \"Cold\"]]",
    )
}

/// The category of each code of the column.
fn assign(lists: &[Vec<String>], domain: &SensitiveDomain) -> Result<Vec<u32>, ParameterError> {
    let mut of: Vec<Option<u32>> = vec![None; domain.dictionary.len()];
    for (category, values) in (0u32..).zip(lists) {
        for value in values {
            let Some(slot) = domain.dictionary.code(value).and_then(|code| of.get_mut(code as usize)) else { continue };
            if slot.is_some_and(|other| other != category) {
                let message = format!("`{value}` is in two categories: leave it in one");
                return Err(ParameterError::new("categories", message));
            }
            *slot = Some(category);
        }
    }
    let without: Vec<&str> = domain.dictionary.iter().zip(&of).filter(|(_, c)| c.is_none()).map(|(v, _)| v).collect();
    if !without.is_empty() {
        let are = if without.len() == 1 { "is a value" } else { "are values" };
        let message =
            format!("{} {are} of {} in no category: add each to one of the lists", some(&without), column(domain));
        return Err(ParameterError::new("categories", message));
    }
    Ok(of.into_iter().flatten().collect())
}

fn weights(value: &Value, categories: usize) -> Result<Weights, ParameterError> {
    let bad = || {
        ParameterError::new(
            "weights",
            "`weights` must be \"uniform\", { sensitivity = 2 } or a list of numbers such as [\"0\", \"9/61\", \"1\"]",
        )
    };
    match value {
        Value::Text(word) if word == "uniform" => Ok(Weights::Listed(scheme(categories, 0)?)),
        Value::Table(pairs) => {
            let [(key, beta)] = pairs.as_slice() else { return Err(bad()) };
            if key != "sensitivity" {
                return Err(bad());
            }
            let beta = beta.number().ok_or_else(bad)?;
            let wrong = || {
                ParameterError::new(
                    "weights",
                    format!(
                        "`sensitivity` must be a number from 1 to {LARGEST_EXPONENT} with a denominator up to {LARGEST_DEGREE}, \
                         such as 2, \"3/2\" or 1.25, not {beta}"
                    ),
                )
            };
            if beta < Rational::from(1) {
                return Err(wrong());
            }
            let powers = Powers::new(&beta).ok_or_else(wrong)?;
            match beta.to_u64() {
                Some(beta) => Ok(Weights::Listed(scheme(categories, beta)?)),
                None => {
                    scheme(categories, 0)?;
                    Ok(Weights::Sensitivity(categories, beta, powers))
                }
            }
        }
        Value::List(items) => {
            if items.len() != categories {
                let message = format!("there are {categories} categories but {} weights: give one each", items.len());
                return Err(ParameterError::new("weights", message));
            }
            let weights: Vec<Rational> = items.iter().map(|v| v.number().ok_or_else(bad)).collect::<Result<_, _>>()?;
            match weights.iter().find(|w| w.is_negative()) {
                Some(w) => Err(ParameterError::new("weights", format!("a weight must be at least 0, not {w}"))),
                None => Ok(Weights::Listed(weights)),
            }
        }
        _ => Err(bad()),
    }
}

/// The weights of `categories` categories with steps 1/(i−1)^β; β = 0 is `uniform`.
pub fn scheme(categories: usize, beta: u64) -> Result<Vec<Rational>, ParameterError> {
    if categories < 2 {
        return Err(ParameterError::new(
            "weights",
            "a single category has no scale from 0 to 1: write at least two categories, or the weight as a list",
        ));
    }
    let step = |i: usize| BigRational::new(BigInt::one(), BigInt::from(i).pow(beta as u32));
    let total = (1..categories).fold(BigRational::zero(), |sum, i| sum + step(i));
    let mut weights = vec![Rational::from(0)];
    let mut sum = BigRational::zero();
    for i in 1..categories {
        sum += step(i);
        weights.push((&sum / &total).into());
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain() -> SensitiveDomain {
        SensitiveDomain {
            name: "disease".into(),
            dictionary: ["HIV", "Flu", "Cold", "Cancer", "Angina"].into_iter().collect(),
            ..SensitiveDomain::default()
        }
    }

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(|&t| Value::Text(t.into())).collect())
    }

    fn read(categories: &[&[&str]], weights: Value) -> Result<Categories, ParameterError> {
        let categories = Value::List(categories.iter().map(|c| list(c)).collect());
        Categories::read(&Parameters::from_pairs([("categories", categories), ("weights", weights)]), &domain())
    }

    #[test]
    fn rows_are_counted_by_category() {
        let categories =
            read(&[&["HIV", "Cancer"], &["Flu", "Cold", "Angina", "Measles"]], Value::Text("uniform".into())).unwrap();
        categories.with_counts(&[(0, 2), (1, 3), (3, 5)], |counts| assert_eq!(counts, [7, 3]));
        assert!(categories.bound(3.into()).reached(&[(0, 2), (1, 3), (3, 5)]));
        assert!(!categories.bound(4.into()).reached(&[(0, 2), (1, 3), (3, 5)]));
    }

    #[test]
    fn mistakes_are_explained() {
        let uniform = || Value::Text("uniform".into());
        let message = |r: Result<Categories, ParameterError>| r.unwrap_err().message;
        let none = message(Categories::read(&Parameters::default(), &domain()));
        assert!(none.contains("`categories = [["), "{none}");
        let left_out = message(read(&[&["HIV"], &["Flu", "Cold", "Cancer"]], uniform()));
        assert_eq!(left_out, "`Angina` is a value of `disease` in no category: add each to one of the lists");
        let left_out = message(read(&[&["HIV"], &[]], uniform()));
        assert!(left_out.starts_with("`Flu`, `Cold`, `Cancer` and 1 more are values of `disease`"), "{left_out}");
        assert!(message(read(&[&["HIV"], &["HIV"]], uniform())).contains("two categories"));
        let all: &[&[&str]] = &[&["HIV", "Flu"], &["Cold", "Cancer", "Angina"]];
        assert!(message(read(all, list(&["1"]))).contains("2 categories but 1 weights"));
        assert!(message(read(all, list(&["0", "-1"]))).contains("at least 0"));
        let sensitivity = |beta: &str| Value::Table(vec![("sensitivity".into(), Value::Text(beta.into()))]);
        for beta in ["0.5", "65", "1.00001"] {
            assert!(message(read(all, sensitivity(beta))).contains("from 1 to 64"), "{beta}");
        }
        assert_eq!(read(all, sensitivity("1.5")).unwrap().weights(), ["sensitivity 1.5"]);
        assert_eq!(read(all, sensitivity("2")).unwrap().weights(), ["0", "1"]);
        assert!(message(read(&[&["HIV", "Flu", "Cold", "Cancer", "Angina"]], uniform())).contains("at least two"));
    }
}
