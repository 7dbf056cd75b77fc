//! A bound on what a release changes in anybody's beliefs.
//!
//! **Definition.** |β − α| ≤ max for every tuple q of the population that the class covers and every sensitive value s,
//! with the adversary's prior α and posterior β (article Theorem 3.1). Both directions count: a value that becomes
//! unlikely tells as much as one that becomes likely.
//!
//! **Source.** ℓ-diversity article §3.2, after Definition 3.3: the uninformative principle, instantiated by bounding
//! the difference between α and β.
//!
//! **Departures.** The article leaves open how the difference is measured; here it is the largest one of any value.
//! Whose beliefs are looked at, and what happens where the population contradicts the table, is as for `bayes-optimal`.
//!
//! **Not monotone**: by Theorem 5.1's example, in which merging raises a posterior that was near its prior.
//!
//! **Cost**: exact fractions for every tuple covered and every value the population gives it.

use super::{Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::exact::Rational;
use crate::parameter::{Kind, Measured, Parameter};
use crate::sensitive::belief::{Belief, CONTRADICTED, every_belief};

pub(super) const ENTRY: Entry = Entry {
    id: "belief-difference",
    title: "bounded difference of prior and posterior belief",
    definition: "|β − α| ≤ max for every tuple and value, prior α, posterior β",
    citation: "Machanavajjhala et al. 2007, §3.2 (uninformative principle) and Theorem 3.1",
    meaning: "whatever was believed about the person's {on} before changes by at most {max}, whatever the release tells",
    parameters: &[
        Parameter::required("max", Kind::Number, "the largest change of any belief, 0 to 1").measured(Measured::From),
        Parameter::required("population", Kind::Population, "a table of the people the data were drawn from"),
    ],
    sensitive: Sensitive::One,
    audit: &[],
    build: |parameters, _| {
        let max = parameters.share("max")?;
        parameters.population("population")?;
        Ok(Box::new(BeliefDifference { max }))
    },
};

#[derive(Debug)]
struct BeliefDifference {
    max: Rational,
}

/// |β − α|.
fn difference(belief: &Belief) -> Rational {
    let (low, high) = if belief.prior < belief.posterior {
        (&belief.prior, &belief.posterior)
    } else {
        (&belief.posterior, &belief.prior)
    };
    (high.value() - low.value()).into()
}

impl PrivacyModel for BeliefDifference {
    fn needs(&self) -> Needs {
        Needs::Tuples
    }

    fn monotone(&self) -> bool {
        false
    }

    fn holds(&self, class: &Class<'_>, table: &TableStats) -> bool {
        every_belief(class, table, |belief| difference(belief) <= self.max)
    }

    fn measure(&self, class: &Class<'_>, table: &TableStats) -> Level {
        let mut largest = Rational::from(0);
        let defined = every_belief(class, table, |belief| {
            let difference = difference(belief);
            if difference > largest {
                largest = difference;
            }
            true
        });
        Level::smallest("max", if defined { Bound::Exact(largest) } else { Bound::Never }).but_for(CONTRADICTED)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, figures_5_and_6, number, text};
    use super::*;
    use crate::class::Population;

    #[test]
    fn figures_5_and_6_of_the_article() {
        let (table, [q1, q2, both]) = figures_5_and_6();
        let model = |max| build(&ENTRY, &[("max", number(max)), ("population", text("f.csv"))]).unwrap();
        // 0.3 becomes 0.5, and 0.7 becomes 0.5: one below, and the bound itself.
        assert!(model("0.2").holds(&q1, &table) && !model("0.19").holds(&q1, &table));
        assert_eq!(model("1").measure(&q1, &table).bound, Bound::ratio(1, 5));
        assert!(model("0.2").holds(&q2, &table));
        // Joined, 0.3 becomes 81/137: not monotone.
        assert_eq!(model("1").measure(&both, &table).bound, Bound::ratio(399, 1370));
        assert!(!model("0.2").holds(&both, &table));
    }

    #[test]
    fn where_the_population_contradicts_the_table_nothing_holds() {
        let population = Population { totals: vec![5], histograms: vec![vec![(0, 5)]], scale: 1 };
        let table = TableStats { population: Some(population.into()), tuple_sizes: vec![1], ..TableStats::default() };
        let model = build(&ENTRY, &[("max", number("1")), ("population", text("f.csv"))]).unwrap();
        let class = Class { size: 1, histogram: &[(1, 1)], tuples: &[0] };
        assert!(!model.holds(&class, &table) && !model.holds(&class, &TableStats::default()));
        assert_eq!(model.measure(&class, &table).bound, Bound::Never);
        assert_eq!(build(&ENTRY, &[("max", number("1.5")), ("population", text("f"))]).unwrap_err().key, "max");
    }
}
