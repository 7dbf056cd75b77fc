//! Recursive (c, l, α)-diversity.
//!
//! **Definition.** A class is distinct (l, α)-diverse, and r₁ < c·(r_l + … + r_m) over its sorted *category* counts;
//! the latter always holds for l = 1.
//!
//! **Source.** (l,α) paper Definition 6.
//!
//! **Monotone**: as recursive (c, l)-diversity, and weights only add.
//!
//! **Cost**: one product a value, one pass over the categories.

use super::recursive_c_l_diversity::exceeded;
use super::{Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::exact::Rational;
use crate::exact::recursive::Tail;
use crate::exact::weight::WeightBound;
use crate::parameter::{Kind, Measured, Parameter};
use crate::sensitive::categories::Categories;

pub(super) const ENTRY: Entry = Entry {
    id: "recursive-c-l-alpha-diversity",
    title: "recursive (c, l, α)-diversity",
    definition: "distinct (l, α)-diversity, and r₁ < c·(r_l + … + r_m) over the category counts of every class",
    citation: "Sun, Li & Wang 2010, Definition 6",
    meaning: "no category of {on} dominates a person's class (c = {c}, l = {l}), and the categories weigh {alpha} \
              or more",
    parameters: &[
        Parameter::required("c", Kind::Number, "how many times the tail the most frequent category must stay below")
            .measured(Measured::Above),
        Parameter::required("l", Kind::Count, "the least number of distinct values, and where the tail begins"),
        Parameter::required("alpha", Kind::Number, "what the weights of a class's rows must add up to, at least")
            .measured(Measured::UpTo),
        Parameter::optional("categories", Kind::Categories, "lists of values, the most sensitive first"),
        Parameter::optional("weights", Kind::Weights, "\"uniform\", { sensitivity = β } or a list of weights"),
    ],
    sensitive: Sensitive::OneOrMany,
    audit: &[],
    build: |parameters, domain| {
        let (c, l) = (parameters.number_from("c", 0, true)?, parameters.count("l")?);
        let alpha = parameters.number_from("alpha", 0, false)?;
        let categories = Categories::read(parameters, domain)?;
        Ok(Box::new(RecursiveCLAlpha { c, l, weight: categories.bound(alpha), categories }))
    },
};

#[derive(Debug)]
struct RecursiveCLAlpha {
    c: Rational,
    l: u64,
    weight: WeightBound,
    categories: Categories,
}

impl RecursiveCLAlpha {
    fn distinct(&self, class: &Class<'_>) -> bool {
        class.histogram.len() as u64 >= self.l && self.weight.reached(class.histogram)
    }

    fn tail(&self, class: &Class<'_>) -> Option<Tail> {
        if self.l <= 1 {
            return None;
        }
        self.categories.with_counts(class.histogram, |c| Tail::of(c.iter().map(|&n| (n, true)), self.l))
    }
}

impl PrivacyModel for RecursiveCLAlpha {
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
        Tail::least_rows(&self.c, self.l).max(self.l).max(self.weight.least_rows())
    }

    fn holds(&self, class: &Class<'_>, _table: &TableStats) -> bool {
        self.distinct(class) && self.tail(class).is_none_or(|tail| tail.below(&self.c))
    }

    fn further(&self, class: &Class<'_>, _table: &TableStats) -> Option<Level> {
        Some(Level::largest("alpha", self.weight.reach(class.histogram).into()))
    }

    fn measure(&self, class: &Class<'_>, _table: &TableStats) -> Level {
        let bound = if self.distinct(class) { exceeded(self.tail(class)) } else { Bound::Never };
        Level::smallest("c", bound).open()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::build_on_diseases;
    use super::*;

    fn model(c: &str, l: &str, alpha: &str) -> Box<dyn PrivacyModel> {
        build_on_diseases(&ENTRY, &[("c", c), ("l", l), ("alpha", alpha)])
    }

    #[test]
    fn categories_make_the_tail() {
        // Category counts 6, 3, 1; the weights add up to 2.5.
        let (class, table) = (Class::of(&[(0, 4), (1, 2), (2, 3), (3, 1)]), TableStats::default());
        assert!(model("1.51", "2", "2.5").holds(&class, &table));
        assert!(!model("1.5", "2", "2.5").holds(&class, &table));
        assert!(!model("1.51", "2", "2.51").holds(&class, &table));
        assert!(!model("6", "3", "0").holds(&class, &table));
        assert!(model("0.1", "1", "0").holds(&class, &table));
        assert_eq!(model("9", "4", "0").measure(&class, &table).bound, Bound::Never);
    }
}
