//! What an adversary may know beside the release. Attacks that assume it declare it, and the caller supplies it.

use super::external::External;
use super::original::Original;
use super::population::PopulationKnowledge;
use crate::worlds::Version;

/// What an adversary knows beside the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// Nothing more: an audit runs these attacks on every table.
    Release,
    /// A table of named persons with some of the quasi columns: [`Extra::external`].
    External,
    /// The joint distribution of quasi tuples and sensitive values in a population: [`Extra::population`].
    Population,
    /// The original quasi tuples of each class, and how the release was made: [`Extra::original`].
    Original,
    /// Several versions of the release, and who is in which class of each: [`Extra::versions`].
    Versions,
}

impl Knowledge {
    /// What has to be supplied, in words.
    pub fn describe(self) -> &'static str {
        match self {
            Knowledge::Release => "nothing but the release",
            Knowledge::External => "an external table that has some of the quasi columns",
            Knowledge::Population => "a population table with the quasi columns and the sensitive column",
            Knowledge::Original => "the original quasi values of the rows in each class",
            Knowledge::Versions => "two or more versions of the release, with the persons of each class",
        }
    }
}

/// What was supplied of an adversary's further knowledge.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extra<'a> {
    /// For [`Knowledge::External`].
    pub external: Option<&'a External<'a>>,
    /// For [`Knowledge::Population`].
    pub population: Option<&'a PopulationKnowledge<'a>>,
    /// For [`Knowledge::Original`].
    pub original: Option<Original<'a>>,
    /// For [`Knowledge::Versions`], the oldest first.
    pub versions: Option<&'a [Version]>,
}

impl Extra<'_> {
    /// Whether `knowledge` was supplied.
    pub fn has(&self, knowledge: Knowledge) -> bool {
        match knowledge {
            Knowledge::Release => true,
            Knowledge::External => self.external.is_some(),
            Knowledge::Population => self.population.is_some(),
            Knowledge::Original => self.original.is_some(),
            Knowledge::Versions => self.versions.is_some_and(|v| v.len() > 1),
        }
    }
}
