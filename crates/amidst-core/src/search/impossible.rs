//! Why nothing satisfies a policy: in words for people, and the requirement with the most that is possible for
//! programs.

use std::fmt;

use crate::model::Level;

/// Why nothing satisfies a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Impossible {
    /// The whole of it, in words.
    pub message: String,
    /// The requirement that asks too much, where a single one is known to.
    pub unmet: Option<Box<Unmet>>,
    /// The least number of rows that must be suppressed so that some full-domain generalization satisfies the policy,
    /// where it was counted.
    pub least_suppression: Option<u64>,
}

/// A requirement that asks too much.
#[derive(Debug, Clone, PartialEq)]
pub struct Unmet {
    /// Its position in the policy.
    pub requirement: usize,
    /// The parameter that asks too much, and the most that is possible: what the whole table satisfies as one class.
    pub best: Level,
}

impl Impossible {
    /// The same in other words.
    #[must_use]
    pub fn said(self, message: String) -> Self {
        Impossible { message, ..self }
    }
}

impl From<String> for Impossible {
    fn from(message: String) -> Self {
        Impossible { message, unmet: None, least_suppression: None }
    }
}

impl From<&str> for Impossible {
    fn from(message: &str) -> Self {
        message.to_string().into()
    }
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
