//! What an audit says of persons: below which requirement they are, and why.

/// A requirement of the policy, held against what all versions leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequirementAudit {
    /// The model.
    pub model: &'static str,
    /// The columns.
    pub on: Vec<String>,
    /// Whether it looks at values: one that looks at sizes says nothing about them.
    pub applied: bool,
    /// Persons who are below it.
    pub below: usize,
    /// Those of them who may not be: a bound did not prove the contrary.
    pub unproven: usize,
}

/// Persons, by the numbers that only the private state links to keys, and what is known about them.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnExposure {
    /// Some of those who were together in every version.
    pub persons: Vec<u32>,
    /// How many they are.
    pub count: usize,
    /// The versions that tell.
    pub versions: Vec<usize>,
    /// What is left: the values that are still possible, the likeliest first.
    pub values: Vec<String>,
    /// The share of the worlds in which they have each; `None` where worlds were not counted.
    pub shares: Vec<Option<f64>>,
    /// Whether all worlds were counted; otherwise more values may be possible.
    pub exact: bool,
    /// The requirements that they are below.
    pub below: Vec<&'static str>,
    /// How it follows, step by step.
    pub why: Vec<String>,
}
