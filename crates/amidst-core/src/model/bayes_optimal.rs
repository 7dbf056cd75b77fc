//! Bayes-optimal privacy: no (ρ₁, ρ₂)-breach.
//!
//! **Definition.** For every tuple q of the population that the class covers and every sensitive value s, with the
//! adversary's prior α and posterior β (article Theorem 3.1), neither α < ρ₁ and β > ρ₂, nor α > 1 − ρ₁ and β < 1 − ρ₂.
//! Whether somebody with the tuple is in the table does not matter: an adversary may not know that either.
//!
//! **Source.** ℓ-diversity article Definition 3.3 and Theorem 3.1; Evfimievski et al. 2003.
//!
//! **Departures.** The joint distribution f is given by the counts of a population table. Where the population
//! contradicts the table (nobody has a tuple of the table, or a published value) beliefs are undefined and the class
//! fails. People of the population who can have none of the class's values are not in it, and nothing is believed about
//! them.
//!
//! **Not monotone**: Theorem 5.1; merging pulls the posterior of a rare tuple towards that of a frequent one.
//!
//! **Cost**: exact fractions for every tuple present and every value the population gives it.

use num_traits::One;

use super::{Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::exact::Rational;
use crate::parameter::{Kind, Measured, Parameter};
use crate::sensitive::belief::{Belief, CONTRADICTED, every_belief};

pub(super) const ENTRY: Entry = Entry {
    id: "bayes-optimal",
    title: "Bayes-optimal (ρ₁, ρ₂)-privacy",
    definition: "for every tuple and value neither α < ρ₁ ∧ β > ρ₂ nor α > 1 − ρ₁ ∧ β < 1 − ρ₂, prior α, posterior β",
    citation: "Machanavajjhala et al. 2007, Definition 3.3 and Theorem 3.1; Evfimievski et al. 2003",
    meaning: "a value of {on} that was less likely than {rho1} for a person before is at most {rho2} likely after, \
              whatever the release tells",
    parameters: &[
        Parameter::required("rho1", Kind::Number, "a prior belief below this counts as unlikely, 0 to 1"),
        Parameter::required("rho2", Kind::Number, "an unlikely value may be believed up to this, 0 to 1")
            .measured(Measured::From),
        Parameter::required("population", Kind::Population, "a table of the people the data were drawn from"),
    ],
    sensitive: Sensitive::One,
    audit: &[],
    build: |parameters, _| {
        let (rho1, rho2) = (parameters.share("rho1")?, parameters.share("rho2")?);
        parameters.population("population")?;
        let one = || num_rational::BigRational::one();
        let (not_rho1, not_rho2) = ((one() - rho1.value()).into(), (one() - rho2.value()).into());
        Ok(Box::new(BayesOptimal { rho1, rho2, not_rho1, not_rho2 }))
    },
};

#[derive(Debug)]
struct BayesOptimal {
    rho1: Rational,
    rho2: Rational,
    /// 1 − ρ₁.
    not_rho1: Rational,
    /// 1 − ρ₂.
    not_rho2: Rational,
}

impl PrivacyModel for BayesOptimal {
    fn needs(&self) -> Needs {
        Needs::Tuples
    }

    fn monotone(&self) -> bool {
        false
    }

    fn holds(&self, class: &Class<'_>, table: &TableStats) -> bool {
        every_belief(class, table, |Belief { prior, posterior, .. }| {
            let raised = prior < &self.rho1 && posterior > &self.rho2;
            let lowered = prior > &self.not_rho1 && posterior < &self.not_rho2;
            !raised && !lowered
        })
    }

    fn measure(&self, class: &Class<'_>, table: &TableStats) -> Level {
        let mut worst: Option<Rational> = None;
        let defined = every_belief(class, table, |Belief { prior, posterior, .. }| {
            let mut needs = |rho2: Rational| worst = Some(worst.take().map_or(rho2.clone(), |w| w.max(rho2)));
            if prior < &self.rho1 {
                needs(posterior.clone());
            }
            if prior > &self.not_rho1 {
                needs((num_rational::BigRational::one() - posterior.value()).into());
            }
            true
        });
        let bound = match worst {
            _ if !defined => Bound::Never,
            Some(rho2) => Bound::Exact(rho2),
            None => Bound::Always,
        };
        Level::smallest("rho2", bound).but_for(CONTRADICTED)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, figures_5_and_6, number, text};
    use super::*;

    #[test]
    fn theorem_5_1_generalizing_causes_a_breach() {
        let (table, [q1, q2, both]) = figures_5_and_6();
        let parameters = [("rho1", number("0.31")), ("rho2", number("0.58")), ("population", text("f.csv"))];
        let model = build(&ENTRY, &parameters).unwrap();
        assert!(model.holds(&q1, &table) && model.holds(&q2, &table));
        assert!(!model.holds(&both, &table));
        assert_eq!(model.measure(&both, &table).bound, Bound::ratio(81, 137));
        assert!(!model.holds(&q1, &TableStats::default()));
        assert!(!model.holds(&Class { tuples: &[], ..q1 }, &table));
    }
}
