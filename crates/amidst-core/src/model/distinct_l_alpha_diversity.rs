//! Distinct (l, α)-diversity.
//!
//! **Definition.** A class has at least l distinct sensitive values, and the weights of its rows' categories add up to
//! at least α.
//!
//! **Source.** (l,α) paper Definition 4, weights by its Equation (1).
//!
//! **Departures.** The weight is added per row, not per distinct value: the paper's Theorem 1 and Table 7 need it.
//!
//! **Monotone**: merging adds values and rows, and no weight is negative.
//!
//! **Cost**: one product a value.

use super::{Audit, Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::exact::weight::WeightBound;
use crate::parameter::{Kind, Measured, Parameter};
use crate::sensitive::categories::Categories;

pub(super) const ENTRY: Entry = Entry {
    id: "distinct-l-alpha-diversity",
    title: "distinct (l, α)-diversity",
    definition: "at least l distinct sensitive values and Σ over rows of weight(category) ≥ α, in every class",
    citation: "Sun, Li & Wang 2010, Definition 4",
    meaning: "a person's class has at least {l} values of {on}, and they are not all from the most sensitive \
              categories (weights of {alpha} or more)",
    parameters: &[
        Parameter::required("l", Kind::Count, "the least number of distinct values a class may have")
            .measured(Measured::UpTo),
        Parameter::required("alpha", Kind::Number, "what the weights of a class's rows must add up to, at least")
            .measured(Measured::UpTo),
        Parameter::optional("categories", Kind::Categories, "lists of values, the most sensitive first"),
        Parameter::optional("weights", Kind::Weights, "\"uniform\", { sensitivity = β } or a list of weights"),
    ],
    sensitive: Sensitive::OneOrMany,
    audit: &[Audit::of("distinct_l_alpha", &[("l", "1"), ("alpha", "0")]).and("weight_alpha")],
    build: |parameters, domain| {
        let (l, alpha) = (parameters.count("l")?, parameters.number_from("alpha", 0, false)?);
        Ok(Box::new(DistinctLAlpha { l, weight: Categories::read(parameters, domain)?.bound(alpha) }))
    },
};

#[derive(Debug)]
struct DistinctLAlpha {
    l: u64,
    weight: WeightBound,
}

impl PrivacyModel for DistinctLAlpha {
    fn needs(&self) -> Needs {
        Needs::Histogram
    }

    fn monotone(&self) -> bool {
        true
    }

    fn scales(&self) -> bool {
        false
    }

    fn preserved_by_insertion(&self) -> bool {
        true
    }

    fn least_different(&self, _table: &TableStats) -> u64 {
        self.l
    }

    fn least_rows(&self, _table: &TableStats) -> u64 {
        self.l.max(self.weight.least_rows())
    }

    fn holds(&self, class: &Class<'_>, _table: &TableStats) -> bool {
        class.histogram.len() as u64 >= self.l && self.weight.reached(class.histogram)
    }

    fn further(&self, class: &Class<'_>, _table: &TableStats) -> Option<Level> {
        Some(Level::largest("alpha", self.weight.reach(class.histogram).into()))
    }

    fn measure(&self, class: &Class<'_>, _table: &TableStats) -> Level {
        let distinct = class.histogram.len() as u64;
        let holds = self.weight.reached(class.histogram);
        Level::largest("l", if holds { Bound::Exact(distinct.into()) } else { Bound::Never })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{DISEASES, build_on, build_on_diseases, number};
    use super::*;

    fn model(l: &str, alpha: &str) -> Box<dyn PrivacyModel> {
        build_on_diseases(&ENTRY, &[("l", l), ("alpha", alpha)])
    }

    #[test]
    fn weights_add_up_over_rows() {
        // Weights 0, 1/2 and 1: two Hepatitis and one Flu weigh 2.
        let (class, table) = (Class::of(&[(0, 4), (2, 2), (3, 1)]), TableStats::default());
        assert!(model("3", "2").holds(&class, &table));
        assert!(!model("3", "2.0000001").holds(&class, &table));
        assert!(!model("4", "2").holds(&class, &table));
        assert_eq!(model("1", "3").measure(&class, &table).bound, Bound::Never);
    }

    #[test]
    fn categories_are_asked_for() {
        let error = build_on(&ENTRY, &[("l", number("2")), ("alpha", number("1"))], &DISEASES).unwrap_err();
        assert_eq!(error.key, "categories");
    }
}
