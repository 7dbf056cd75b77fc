//! Parameters of a model, as a policy, a form or a script states them, before the model reads them.
//!
//! A model's file declares its [`Parameter`]s once; the policy schema, `amidst explain`, forms and bindings are made
//! from that declaration.

pub use crate::exact::Rational;

/// The declaration of one parameter.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// The key in a policy.
    pub name: &'static str,
    /// What may be written there.
    pub kind: Kind,
    /// Whether it must be given.
    pub required: bool,
    /// One line for people.
    pub help: &'static str,
    /// Which of its values a release can be measured to satisfy; none where it is not measured.
    pub measured: Option<Measured>,
}

/// The values of a parameter that a release satisfies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measured {
    /// Up to a largest one.
    UpTo,
    /// From a smallest one on.
    From,
    /// All above one that does not hold itself: the definition says "less than".
    Above,
}

impl Measured {
    /// What stands between the parameter and the figure that was measured.
    pub fn sign(self) -> &'static str {
        if self == Measured::Above { ">" } else { "=" }
    }

    /// A figure for people, to four places, rounded to the side that holds: what is printed is never more than is true.
    pub fn rounded(self, value: f64) -> String {
        // What a double may have lost is less than this.
        let slack = value.abs() * 1e-12;
        let scaled = match self {
            Measured::UpTo => ((value - slack) * 1e4).floor(),
            Measured::From | Measured::Above => ((value + slack) * 1e4).ceil(),
        };
        let rounded = scaled / 1e4;
        // Very small and very large ones would not be themselves any more.
        if rounded == 0.0 || scaled.abs() >= 9e15 { format!("{value:.4e}") } else { format!("{rounded:.4}") }
    }
}

impl Parameter {
    /// A parameter that must be given.
    pub const fn required(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Parameter { name, kind, required: true, help, measured: None }
    }

    /// A parameter that may be left out.
    pub const fn optional(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Parameter { name, kind, required: false, help, measured: None }
    }

    /// The same, with the values that a release is measured to satisfy.
    pub const fn measured(self, measured: Measured) -> Self {
        Parameter { measured: Some(measured), ..self }
    }
}

/// What may be written as a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number from 1 on.
    Count,
    /// Whole numbers from 1 on.
    Counts,
    /// A number, written in decimal or as a fraction.
    Number,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// True or false.
    Flag,
    /// One value of the sensitive column.
    Value,
    /// Values of the sensitive column.
    Values,
    /// A number for each of some values of the sensitive column.
    Bounds,
    /// Lists of values, the most sensitive first.
    Categories,
    /// A weighting scheme: `"uniform"`, `{ sensitivity = β }` or a list of numbers.
    Weights,
    /// A file that holds a population table.
    Population,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(Rational),
    /// A text.
    Text(String),
    /// True or false.
    Flag(bool),
    /// A list.
    List(Vec<Value>),
    /// Names with values.
    Table(Vec<(String, Value)>),
}

/// The parameters of one requirement, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    values: Vec<(String, Value)>,
}

/// A parameter that is missing or wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct ParameterError {
    /// The parameter's name.
    pub key: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl ParameterError {
    /// An error about the parameter `key`.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        ParameterError { key: key.into(), message: message.into() }
    }
}

impl Value {
    /// The number, also when it is written as a text.
    pub fn number(&self) -> Option<Rational> {
        match self {
            Value::Number(n) => Some(n.clone()),
            Value::Text(t) => t.parse().ok(),
            _ => None,
        }
    }

    /// The text; a number is the text of that number (a sensitive value may be one).
    pub fn text(&self) -> Option<String> {
        match self {
            Value::Text(t) => Some(t.clone()),
            Value::Number(n) => Some(n.to_string()),
            _ => None,
        }
    }

    /// The texts of a list of lists.
    pub(crate) fn lists(&self) -> Option<Vec<Vec<String>>> {
        let Value::List(lists) = self else { return None };
        let texts = |list: &Value| match list {
            Value::List(values) => values.iter().map(Value::text).collect(),
            _ => None,
        };
        lists.iter().map(texts).collect()
    }
}

impl Parameters {
    /// No parameters.
    pub const fn none() -> Self {
        Parameters { values: Vec::new() }
    }

    /// Parameters with these names and values.
    pub fn from_pairs<const N: usize>(pairs: [(&str, Value); N]) -> Self {
        Parameters { values: pairs.into_iter().map(|(k, v)| (k.to_string(), v)).collect() }
    }

    /// Sets a parameter, replacing what was there.
    pub fn set(&mut self, key: &str, value: Value) {
        match self.values.iter_mut().find(|(k, _)| k == key) {
            Some((_, v)) => *v = value,
            None => self.values.push((key.to_string(), value)),
        }
    }

    /// What was written for `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// All parameters, in the order they were written.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(k, v)| (k.as_str(), v))
    }

    /// A required number.
    pub fn number(&self, key: &str) -> Result<Rational, ParameterError> {
        let value = self.get(key).ok_or_else(|| ParameterError::new(key, format!("`{key}` is missing")))?;
        value
            .number()
            .ok_or_else(|| ParameterError::new(key, format!("`{key}` must be a number or a fraction such as \"1/3\"")))
    }

    /// A required number that is at least `low`, and more than it when `strict`.
    pub fn number_from(&self, key: &str, low: u64, strict: bool) -> Result<Rational, ParameterError> {
        let n = self.number(key)?;
        let bound = Rational::from(low);
        if n < bound || (strict && n == bound) {
            let words = if strict { "more than" } else { "at least" };
            return Err(ParameterError::new(key, format!("`{key}` must be {words} {low}, not {n}")));
        }
        Ok(n)
    }

    /// A required number between 0 and 1, both allowed.
    pub fn share(&self, key: &str) -> Result<Rational, ParameterError> {
        let n = self.number_from(key, 0, false)?;
        if n > Rational::from(1) {
            return Err(ParameterError::new(key, format!("`{key}` is a share, so it must be at most 1, not {n}")));
        }
        Ok(n)
    }

    /// A required whole number from 1 on.
    pub fn count(&self, key: &str) -> Result<u64, ParameterError> {
        let n = self.number(key)?;
        match n.to_u64() {
            Some(n) if n >= 1 => Ok(n),
            _ => Err(ParameterError::new(key, format!("`{key}` must be a whole number from 1 on, not {n}"))),
        }
    }

    /// A required value of the sensitive column.
    pub fn value(&self, key: &str) -> Result<String, ParameterError> {
        let value = self.get(key).ok_or_else(|| ParameterError::new(key, format!("`{key}` is missing")))?;
        value.text().ok_or_else(|| {
            ParameterError::new(key, format!("`{key}` must be one value of the column, such as \"Flu\""))
        })
    }

    /// True or false; false when it is absent.
    pub fn flag(&self, key: &str) -> Result<bool, ParameterError> {
        match self.get(key) {
            None => Ok(false),
            Some(Value::Flag(flag)) => Ok(*flag),
            Some(_) => Err(ParameterError::new(key, format!("`{key}` must be true or false"))),
        }
    }

    /// One of a few words; the first of them when it is absent.
    pub fn choice(&self, key: &str, words: &[&'static str]) -> Result<&'static str, ParameterError> {
        let options = || words.join(", ");
        let word = match self.get(key) {
            None => words.first().copied(),
            Some(Value::Text(text)) => words.iter().copied().find(|w| w == text),
            Some(_) => None,
        };
        word.ok_or_else(|| {
            let written = match self.get(key).and_then(Value::text) {
                Some(text) => format!(", not `{text}`"),
                None => String::new(),
            };
            ParameterError::new(key, format!("`{key}` must be one of {}{written}", options()))
        })
    }

    /// A number between 0 and 1 for each of some values; at least one.
    pub fn bounds(&self, key: &str) -> Result<Vec<(String, Rational)>, ParameterError> {
        let bad =
            || ParameterError::new(key, format!("`{key}` must give values their bounds, such as {{ Flu = 0.5 }}"));
        let Value::Table(pairs) =
            self.get(key).ok_or_else(|| ParameterError::new(key, format!("`{key}` is missing")))?
        else {
            return Err(bad());
        };
        if pairs.is_empty() {
            return Err(bad());
        }
        let mut bounds = Vec::with_capacity(pairs.len());
        for (value, bound) in pairs {
            let bound = bound.number().ok_or_else(bad)?;
            if bound.is_negative() || bound > Rational::from(1) {
                let message = format!("the bound of `{value}` is a share, so it must be between 0 and 1, not {bound}");
                return Err(ParameterError::new(key, message));
            }
            bounds.push((value.clone(), bound));
        }
        Ok(bounds)
    }

    /// The name of a population table; the counts themselves come with the table's statistics.
    pub fn population(&self, key: &str) -> Result<String, ParameterError> {
        match self.get(key) {
            Some(Value::Text(name)) if !name.is_empty() => Ok(name.clone()),
            Some(_) => Err(ParameterError::new(key, format!("`{key}` must name a file, such as \"population.csv\""))),
            None => Err(ParameterError::new(
                key,
                format!("`{key}` is missing: name a table of the people the data were drawn from"),
            )),
        }
    }

    /// A list of texts; empty when it is absent.
    pub fn texts(&self, key: &str) -> Result<Vec<String>, ParameterError> {
        let bad = || ParameterError::new(key, format!("`{key}` must be a list of values, such as [\"Flu\", \"Cold\"]"));
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(Value::List(items)) => items.iter().map(|v| v.text().ok_or_else(bad)).collect(),
            Some(_) => Err(bad()),
        }
    }
}
