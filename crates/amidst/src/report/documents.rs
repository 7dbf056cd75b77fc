//! The documents of a release, each twice: once for its recipients, once for its owner.
//!
//! What is public must follow from the release alone; what is internal may say what was there before.

use super::Report;
use crate::policy::Policy;
use crate::prepare::Prepared;

/// The policy of a release.
#[derive(Debug)]
pub(crate) struct Policies {
    /// As it is handed over and certified: what it says, without paths, and nothing that was taken from the data.
    pub public: String,
    /// As its owner keeps it, with what was decided where it left something open.
    pub internal: String,
}

impl Policies {
    /// The two texts of a policy.
    pub fn of(policy: &Policy, prepared: &Prepared) -> Self {
        Policies { public: policy.public_form().to_toml(), internal: policy.resolved(prepared).to_toml() }
    }
}

/// The report on a release.
#[derive(Debug)]
pub(crate) struct Reports {
    /// As it is handed over.
    pub public: Report,
    /// As its owner keeps it.
    pub internal: Report,
}

impl Reports {
    /// Applies a change to both.
    pub fn each(&mut self, mut change: impl FnMut(&mut Report)) {
        change(&mut self.public);
        change(&mut self.internal);
    }
}
