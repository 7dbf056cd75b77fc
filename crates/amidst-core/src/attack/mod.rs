//! Attacks: what an adversary learns from a published table.
//!
//! One attack is one file of this folder; [`ATTACKS`] is the only list of them; `view/` holds what they look at. An
//! attack sees what everyone sees, the published classes, and knows nothing of the models that should have stopped it:
//! a bug must not acquit itself. Some adversaries know more than the release: their attacks declare it
//! ([`Entry::needs`]) and get it as [`Extra`].
//!
//! May use: `class`, `exact`, `frequency`, `hierarchy`, `parameter`, `recoding`, `sensitive`, `table`, `worlds`, and
//! what those use.

use std::fmt::Debug;

use rayon::prelude::*;

use crate::exact::Rational;
use crate::parameter::{Parameter, ParameterError, Parameters};

mod background_knowledge;
mod belief;
pub mod difference;
mod homogeneity;
mod inference;
pub mod intersection;
pub mod linkage;
mod minimality;
mod similarity;
mod skewness;
mod view;

pub use view::{
    ClassProfile, Covering, Covers, External, Extra, Fits, Knowledge, Members, Original, People, PopulationKnowledge,
    Published, Target, Tuples, cell, fit, fit_tuples, labels_of_recoding, labels_of_table, members, narrow,
};

/// Every attack, in the order of the specification.
pub const ATTACKS: &[Entry] = &[
    homogeneity::ENTRY,
    homogeneity::ENTRY_95,
    background_knowledge::ENTRY,
    similarity::ENTRY,
    skewness::ENTRY,
    linkage::ENTRY,
    belief::ENTRY,
    minimality::ENTRY,
    inference::ENTRY,
    intersection::ENTRY,
    difference::ENTRY,
];

/// The attack whose figure summaries tell.
pub const HOMOGENEITY: &Entry = &homogeneity::ENTRY;

/// One attack, as the registry knows it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The name on the command line and in reports.
    pub id: &'static str,
    /// The name in prose.
    pub title: &'static str,
    /// What the adversary is assumed to know.
    pub assumes: &'static str,
    /// What counts as a success.
    pub definition: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// What the adversary knows beside the release, and the caller must therefore supply.
    pub needs: Knowledge,
    /// What may be stated about the adversary.
    pub parameters: &'static [Parameter],
    /// The attack itself.
    pub attack: &'static dyn Attack,
}

/// What an attack learned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Classes in which it succeeded.
    pub classes: u64,
    /// Rows of those classes that it hit.
    pub rows: u64,
    /// Persons that it hit.
    pub persons: u64,
    /// The classes it hit hardest, worst first, as positions in [`Published::classes`].
    pub worst: Vec<usize>,
    /// Further figures, by name.
    pub figures: Vec<(String, f64)>,
}

/// Why an attack could not be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AttackError {
    /// A parameter is wrong.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Something that the attack looks at was not supplied.
    #[error("the {attack} attack needs {what}")]
    Lacks {
        /// The attack.
        attack: &'static str,
        /// What it needs and how to supply it.
        what: String,
    },
}

/// A way to learn what was not to be learned.
pub trait Attack: Debug + Sync {
    /// Runs the attack on one sensitive column of a published table. [`Entry::run`] also checks that
    /// the parameters are known and the knowledge is there.
    fn run(&self, target: &Target<'_>, extra: &Extra<'_>, parameters: &Parameters) -> Result<Findings, AttackError>;
}

impl Entry {
    /// Runs the attack on one sensitive column.
    pub fn run(
        &self,
        target: &Target<'_>,
        extra: &Extra<'_>,
        parameters: &Parameters,
    ) -> Result<Findings, AttackError> {
        if let Some((name, _)) = parameters.iter().find(|(name, _)| self.parameters.iter().all(|p| p.name != *name)) {
            let known: Vec<&str> = self.parameters.iter().map(|p| p.name).collect();
            let known = if known.is_empty() { "no parameters".to_string() } else { known.join(", ") };
            return Err(ParameterError::new(name, format!("`{}` takes {known}, not `{name}`", self.id)).into());
        }
        if !extra.has(self.needs) {
            return Err(AttackError::Lacks { attack: self.id, what: self.needs.describe().to_string() });
        }
        self.attack.run(target, extra, parameters)
    }
}

/// The attack called `id`.
pub fn find(id: &str) -> Option<&'static Entry> {
    ATTACKS.iter().find(|e| e.id == id)
}

/// What the attacks that need nothing but the release learn about one sensitive column, as audits report it. An attack
/// that does not apply to the column (values without categories have no similarity) is an error that says why.
pub fn audit(published: &Published<'_>, column: usize) -> Vec<(&'static Entry, Result<Findings, AttackError>)> {
    let target = Target::new(*published, column);
    let attacks: Vec<&'static Entry> = ATTACKS.iter().filter(|e| e.needs == Knowledge::Release).collect();
    let run = |e: &'static Entry| (e, e.run(&target, &Extra::default(), &Parameters::default()));
    attacks.into_par_iter().with_max_len(1).map(run).collect()
}

/// A share that may be left out.
fn share_or(parameters: &Parameters, key: &str, default: Rational) -> Result<Rational, ParameterError> {
    if parameters.get(key).is_some() { parameters.share(key) } else { Ok(default) }
}

/// A number that may be left out, at least `low`.
fn number_or(parameters: &Parameters, key: &str, low: u64, default: Rational) -> Result<Rational, ParameterError> {
    if parameters.get(key).is_some() { parameters.number_from(key, low, false) } else { Ok(default) }
}

#[cfg(test)]
mod tests {
    use super::view::fixture::Fixture;
    use super::*;
    use crate::parameter::Value;

    #[test]
    fn an_unknown_parameter_is_named() {
        let fixture = Fixture::new(&[("a", "x")]);
        let parameters = Parameters::from_pairs([("shares", Value::Number(1.into()))]);
        let error = find("homogeneity").unwrap().run(&fixture.target(), &Extra::default(), &parameters).unwrap_err();
        assert!(error.to_string().contains("takes share, not `shares`"), "{error}");
    }

    #[test]
    fn an_empty_release_teaches_nothing() {
        let fixture = Fixture::new(&[]);
        for (entry, findings) in audit(&fixture.published(), 0) {
            if let Ok(findings) = findings {
                assert_eq!((findings.classes, findings.rows), (0, 0), "{}", entry.id);
                assert!(findings.figures.iter().all(|(_, f)| f.is_finite()), "{}", entry.id);
            }
        }
    }
}
