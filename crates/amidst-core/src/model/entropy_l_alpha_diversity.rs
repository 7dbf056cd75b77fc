//! Entropy (l, α)-diversity.
//!
//! **Definition.** A class is distinct (l, α)-diverse, and the entropy of its *category* counts is at least log l.
//!
//! **Source.** (l,α) paper Definition 5.
//!
//! **Departures.** l may be any number from 1 on. The part about distinct values needs no test of its own: a class
//! whose categories reach log l has at least l categories, so at least l values.
//!
//! **Monotone**: entropy is concave, weights only add.
//!
//! **Cost**: one product a value, one logarithm a category.

use super::{Audit, Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::exact::entropy::{self, Effective, EntropyBound};
use crate::exact::weight::WeightBound;
use crate::parameter::{Kind, Measured, Parameter};
use crate::sensitive::categories::Categories;

pub(super) const ENTRY: Entry = Entry {
    id: "entropy-l-alpha-diversity",
    title: "entropy (l, α)-diversity",
    definition: "distinct (l, α)-diversity, and −Σ p log p ≥ log l over the categories of every class",
    citation: "Sun, Li & Wang 2010, Definition 5",
    meaning: "the categories of {on} in a person's class are as mixed as {l} equally frequent ones, with weights of \
              {alpha} or more",
    parameters: &[
        Parameter::required("l", Kind::Number, "the number of equally frequent categories to be as diverse as")
            .measured(Measured::UpTo),
        Parameter::required("alpha", Kind::Number, "what the weights of a class's rows must add up to, at least")
            .measured(Measured::UpTo),
        Parameter::optional("categories", Kind::Categories, "lists of values, the most sensitive first"),
        Parameter::optional("weights", Kind::Weights, "\"uniform\", { sensitivity = β } or a list of weights"),
    ],
    sensitive: Sensitive::OneOrMany,
    audit: &[Audit::of("entropy_category_l", &[("l", "1"), ("alpha", "0")])],
    build: |parameters, domain| {
        let l = EntropyBound::new(parameters.number_from("l", 1, false)?);
        let alpha = parameters.number_from("alpha", 0, false)?;
        let categories = Categories::read(parameters, domain)?;
        Ok(Box::new(EntropyLAlpha { l, weight: categories.bound(alpha), categories }))
    },
};

#[derive(Debug)]
struct EntropyLAlpha {
    l: EntropyBound,
    weight: WeightBound,
    categories: Categories,
}

impl PrivacyModel for EntropyLAlpha {
    fn needs(&self) -> Needs {
        Needs::Histogram
    }

    fn monotone(&self) -> bool {
        true
    }

    fn scales(&self) -> bool {
        false
    }

    fn least_rows(&self, _table: &TableStats) -> u64 {
        self.l.least_rows().max(self.weight.least_rows())
    }

    fn holds(&self, class: &Class<'_>, _table: &TableStats) -> bool {
        self.weight.reached(class.histogram)
            && self.categories.with_counts(class.histogram, |c| self.l.compare(c.iter().copied()).is_ge())
    }

    fn further(&self, class: &Class<'_>, _table: &TableStats) -> Option<Level> {
        Some(Level::largest("alpha", self.weight.reach(class.histogram).into()))
    }

    fn measure(&self, class: &Class<'_>, _table: &TableStats) -> Level {
        let effective = || self.categories.with_counts(class.histogram, |c| entropy::effective(c.iter().copied()));
        let bound = if self.weight.reached(class.histogram) {
            match effective() {
                Effective::Whole(n) => Bound::Exact(n.into()),
                Effective::Real(x) => Bound::Real(x),
            }
        } else {
            Bound::Never
        };
        Level::largest("l", bound)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::build_on_diseases;
    use super::*;

    fn model(l: &str, alpha: &str) -> Box<dyn PrivacyModel> {
        build_on_diseases(&ENTRY, &[("l", l), ("alpha", alpha)])
    }

    #[test]
    fn categories_not_values_are_diverse() {
        let table = TableStats::default();
        // Two values of one category are no diversity.
        assert!(!model("2", "0").holds(&Class::of(&[(0, 5), (1, 5)]), &table));
        assert!(model("2", "10").holds(&Class::of(&[(0, 5), (1, 5), (3, 10)]), &table));
        assert!(!model("2", "10.1").holds(&Class::of(&[(0, 5), (1, 5), (3, 10)]), &table));
        assert!(!model("2.01", "10").holds(&Class::of(&[(0, 5), (1, 5), (3, 10)]), &table));
    }
}
