//! Policies made in code: [`Policy::builder`], with the words of the policy file.
//!
//! What is built is written as TOML and parsed like any other policy, so that code and files are held to the same rules
//! and get the same errors, which quote the text that the code amounts to.

use std::path::Path;

use amidst_core::parameter::{Rational, Value};
use amidst_core::search::MaxSuppression;

use super::quote::text;
use super::write::{texts, value};
use super::{ColumnPolicy, Policy, PolicyErrors, Role};

/// What errors call a policy that was made in code.
const NAME: &str = "policy.toml";

/// A parameter or an option, as code states it.
pub trait IntoValue {
    /// The value.
    fn into_value(self) -> Value;
}

impl IntoValue for Value {
    fn into_value(self) -> Value {
        self
    }
}

impl IntoValue for u64 {
    fn into_value(self) -> Value {
        Value::Number(self.into())
    }
}

impl IntoValue for f64 {
    /// The decimal number as it is written: 0.1 is one tenth.
    fn into_value(self) -> Value {
        self.to_string().parse().map_or_else(|_| Value::Text(self.to_string()), Value::Number)
    }
}

impl IntoValue for Rational {
    fn into_value(self) -> Value {
        Value::Number(self)
    }
}

impl IntoValue for bool {
    fn into_value(self) -> Value {
        Value::Flag(self)
    }
}

impl IntoValue for &str {
    fn into_value(self) -> Value {
        Value::Text(self.to_string())
    }
}

impl<T: IntoValue, const N: usize> IntoValue for [T; N] {
    fn into_value(self) -> Value {
        Value::List(self.into_iter().map(IntoValue::into_value).collect())
    }
}

impl<T: IntoValue> IntoValue for Vec<T> {
    fn into_value(self) -> Value {
        Value::List(self.into_iter().map(IntoValue::into_value).collect())
    }
}

/// How the hierarchy of a column is made: one of [`BUILDERS`](amidst_core::hierarchy::BUILDERS) with its options.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct HierarchyPolicy(Vec<(String, Value)>);

/// The hierarchy that the builder `id` makes of `value`.
pub fn hierarchy(id: &str, value: impl IntoValue) -> HierarchyPolicy {
    HierarchyPolicy(vec![(id.to_string(), value.into_value())])
}

impl HierarchyPolicy {
    /// States an option of the builder.
    pub fn with(mut self, option: &str, value: impl IntoValue) -> Self {
        self.0.push((option.to_string(), value.into_value()));
        self
    }
}

/// What a release must satisfy: a model with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct RequirementPolicy {
    model: String,
    on: Vec<String>,
    parameters: Vec<(String, Value)>,
}

/// A requirement of the model `id`, whose parameters follow with [`RequirementPolicy::with`].
pub fn require(id: &str) -> RequirementPolicy {
    RequirementPolicy { model: id.to_string(), on: Vec::new(), parameters: Vec::new() }
}

impl RequirementPolicy {
    /// Protects this sensitive column; may be left out where a policy has only one, repeated where a model takes
    /// several.
    pub fn on(mut self, column: &str) -> Self {
        self.on.push(column.to_string());
        self
    }

    /// States a parameter.
    pub fn with(mut self, parameter: &str, value: impl IntoValue) -> Self {
        self.parameters.push((parameter.to_string(), value.into_value()));
        self
    }

    fn to_toml(&self) -> String {
        let mut out = format!("\n[[require]]\nmodel = {}\n", text(&self.model));
        match &self.on[..] {
            [] => {}
            [one] => out.push_str(&format!("on = {}\n", text(one))),
            several => out.push_str(&format!("on = {}\n", texts(several))),
        }
        for (name, parameter) in &self.parameters {
            out.push_str(&format!("{name} = {}\n", value(parameter)));
        }
        out
    }
}

/// A policy under construction; see [`Policy::builder`].
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct PolicyBuilder {
    policy: Policy,
    requirements: Vec<RequirementPolicy>,
}

impl PolicyBuilder {
    /// A quasi column, generalized along a hierarchy.
    pub fn quasi(self, name: &str, hierarchy: HierarchyPolicy) -> Self {
        self.column(ColumnPolicy { hierarchy: Some(hierarchy.0), ..ColumnPolicy::new(name, Role::Quasi) })
    }

    /// A sensitive column.
    pub fn sensitive(self, name: &str) -> Self {
        self.column(ColumnPolicy::new(name, Role::Sensitive))
    }

    /// A column that names people: it is not even read.
    pub fn identifying(self, name: &str) -> Self {
        self.column(ColumnPolicy::new(name, Role::Identifying))
    }

    /// A column that is published as it is.
    pub fn insensitive(self, name: &str) -> Self {
        self.column(ColumnPolicy::new(name, Role::Insensitive))
    }

    /// A column with everything that a policy can say of one.
    pub fn column(mut self, column: ColumnPolicy) -> Self {
        self.policy.columns.push(column);
        self
    }

    /// Columns that are not named are left out of the release.
    pub fn leave_out_others(mut self) -> Self {
        self.policy.default = Some(ColumnPolicy::new("*", Role::Identifying));
        self
    }

    /// A requirement that every class must satisfy.
    pub fn require(mut self, requirement: RequirementPolicy) -> Self {
        self.requirements.push(requirement);
        self
    }

    /// The algorithm, by its id; a sensible one is chosen where none is named.
    pub fn algorithm(mut self, id: &str) -> Self {
        self.policy.search.algorithm = Some(id.to_string());
        self
    }

    /// The metric that says what is best, by its id.
    pub fn metric(mut self, id: &str) -> Self {
        self.policy.search.metric = Some(id.to_string());
        self
    }

    /// The share of the rows that may be left out, as it is written: `"0.02"`, `"1/50"`.
    pub fn max_suppression(mut self, share: Rational) -> Self {
        self.policy.search.max_suppression = MaxSuppression::Share(share);
        self
    }

    /// Where randomness starts.
    pub fn seed(mut self, seed: u64) -> Self {
        self.policy.search.seed = seed;
        self
    }

    /// The policy, if everything in it fits.
    ///
    /// # Errors
    /// Whatever is wrong with it, all of it at once, each with its place in the text that [`Policy::to_toml`] would
    /// write.
    pub fn build(self) -> Result<Policy, PolicyErrors> {
        let mut toml = self.policy.to_toml();
        self.requirements.iter().for_each(|requirement| toml.push_str(&requirement.to_toml()));
        Policy::parse(&toml, Path::new(NAME))
    }
}

impl Policy {
    /// Starts a policy in code.
    ///
    /// ```
    /// use amidst::policy::{Policy, intervals, k_anonymity, mask};
    ///
    /// let policy = Policy::builder()
    ///     .quasi("age", intervals([5, 10, 20]))
    ///     .quasi("zip", mask(5))
    ///     .sensitive("disease")
    ///     .identifying("name")
    ///     .require(k_anonymity(5))
    ///     .build()?;
    /// assert_eq!(policy.requirements[0].model.id, "k-anonymity");
    /// # Ok::<(), amidst::policy::PolicyErrors>(())
    /// ```
    pub fn builder() -> PolicyBuilder {
        PolicyBuilder::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{entropy_l_diversity, intervals, k_anonymity, mask};

    #[test]
    fn code_and_file_say_the_same() {
        let built = Policy::builder()
            .quasi("age", intervals([5, 10]))
            .quasi("zip", mask(5))
            .sensitive("disease")
            .identifying("name")
            .require(k_anonymity(3))
            .require(entropy_l_diversity(2.5).on("disease"))
            .max_suppression("0.02".parse().unwrap())
            .seed(7)
            .build()
            .unwrap();
        let read = Policy::parse(&built.to_toml(), Path::new("p.toml")).unwrap();
        assert_eq!(built, read);
        assert_eq!(built.requirements[1].parameters.number("l").unwrap(), "5/2".parse().unwrap());
    }

    #[test]
    fn errors_are_those_of_a_file() {
        let wrong = Policy::builder().sensitive("disease").require(require("k-anonimity").with("k", 5)).build();
        assert!(wrong.unwrap_err().to_string().contains("k-anonymity"));
    }
}
