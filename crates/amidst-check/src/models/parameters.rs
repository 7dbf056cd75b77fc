//! A requirement's parameters, read without rounding.

use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};
use serde_json::{Map, Value};

use crate::number;

/// The parameters of one requirement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parameters<'a>(pub &'a Map<String, Value>);

impl<'a> Parameters<'a> {
    /// Refuses unknown parameters: a parameter that is ignored would seem to be checked.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), String> {
        match self.0.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(format!("it has no parameter \"{key}\"")),
            None => Ok(()),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|v| !v.is_null())
    }

    /// A number that is not negative.
    pub(crate) fn number(&self, name: &str) -> Result<BigRational, String> {
        let value = self.get(name).ok_or_else(|| format!("its parameter \"{name}\" is missing"))?;
        let number = number::exact(value).map_err(|what| format!("its parameter \"{name}\" {what}"))?;
        if number.is_negative() {
            return Err(format!("its parameter \"{name}\" is negative"));
        }
        Ok(number)
    }

    /// A whole number from 1 up.
    pub(crate) fn count(&self, name: &str) -> Result<u64, String> {
        let number = self.number(name)?;
        let count = if number.is_integer() { number.to_integer().to_u64() } else { None };
        count.filter(|&n| n > 0).ok_or_else(|| format!("its parameter \"{name}\" is not a whole number from 1 up"))
    }

    /// A list of values; absent means empty.
    pub(crate) fn values(&self, name: &str) -> Result<Vec<String>, String> {
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => items.iter().map(|item| text(name, item)).collect(),
            Some(single) => Ok(vec![text(name, single)?]),
        }
    }

    /// A text.
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, String> {
        self.get(name).map(|value| text(name, value)).transpose()
    }

    /// A truth value; absent means false.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, String> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(format!("its parameter \"{name}\" is neither true nor false")),
        }
    }
}

/// A value as the release writes it: a policy may state the number 3 for the cell `3`.
pub(crate) fn text(name: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(format!("its parameter \"{name}\" holds something that is no value")),
    }
}
