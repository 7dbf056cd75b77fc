//! The three kinds of requirement that the article compares.

use amidst::Failure;
use amidst::core::requirement::Requirement;

use crate::trial::Trial;

/// k-anonymity, entropy ℓ-diversity, recursive (3,ℓ)-diversity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// k-anonymity.
    K,
    /// Entropy ℓ-diversity.
    Entropy,
    /// Recursive (3,ℓ)-diversity.
    Recursive,
}

impl Kind {
    /// All kinds, in the order of the figures.
    pub const ALL: [Kind; 3] = [Kind::K, Kind::Entropy, Kind::Recursive];

    /// Its name in words.
    pub fn name(self) -> &'static str {
        match self {
            Kind::K => "k-anonymity",
            Kind::Entropy => "entropy ℓ-diversity",
            Kind::Recursive => "recursive (3,ℓ)-diversity",
        }
    }

    /// The requirement for k = ℓ.
    pub fn require(self, trial: &Trial, l: u64) -> Result<Requirement, Failure> {
        let l = l.to_string();
        match self {
            Kind::K => trial.require("k-anonymity", &[("k", &l)]),
            Kind::Entropy => trial.require("entropy-l-diversity", &[("l", &l)]),
            Kind::Recursive => trial.require("recursive-c-l-diversity", &[("c", "3"), ("l", &l)]),
        }
    }
}

/// The values of k = ℓ in the figures.
pub const LS: [u64; 5] = [2, 4, 6, 8, 10];
