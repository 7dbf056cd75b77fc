//! Distinct l-diversity.
//!
//! **Definition.** A class satisfies distinct l-diversity when it has at least l distinct sensitive values.
//!
//! **Source.** (l,α) paper Definition 2; the simplest reading of the ℓ-diversity article's Principle 2.
//!
//! **Monotone**: a merged class has the values of both.
//!
//! **Cost**: one comparison.

use super::{Audit, Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "distinct-l-diversity",
    title: "distinct l-diversity",
    definition: "at least l distinct sensitive values in every class",
    citation: "Sun, Li & Wang 2010, Definition 2; Machanavajjhala et al. 2007",
    meaning: "whoever finds a person's class still sees at least {l} different values of {on} there",
    parameters: &[Parameter::required("l", Kind::Count, "the least number of distinct values a class may have")
        .measured(Measured::UpTo)],
    sensitive: Sensitive::OneOrMany,
    audit: &[Audit::of("distinct_l", &[("l", "1")])],
    build: |parameters, _| Ok(Box::new(DistinctLDiversity { l: parameters.count("l")? })),
};

#[derive(Debug)]
struct DistinctLDiversity {
    l: u64,
}

impl PrivacyModel for DistinctLDiversity {
    fn needs(&self) -> Needs {
        Needs::Histogram
    }

    fn monotone(&self) -> bool {
        true
    }

    fn preserved_by_insertion(&self) -> bool {
        true
    }

    fn least_different(&self, _table: &TableStats) -> u64 {
        self.l
    }

    fn least_rows(&self, _table: &TableStats) -> u64 {
        self.l
    }

    fn least_values(&self) -> u64 {
        self.l
    }

    fn enough_different(&self) -> Option<u64> {
        Some(self.l)
    }

    fn holds(&self, class: &Class<'_>, _table: &TableStats) -> bool {
        class.histogram.len() as u64 >= self.l
    }

    fn measure(&self, class: &Class<'_>, _table: &TableStats) -> Level {
        Level::largest("l", Bound::Exact((class.histogram.len() as u64).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, number};
    use super::*;

    #[test]
    fn values_are_counted_once() {
        let class = Class::of(&[(0, 9), (3, 1)]);
        let holds = |l| build(&ENTRY, &[("l", number(l))]).unwrap().holds(&class, &TableStats::default());
        assert!(holds("2") && !holds("3"));
        assert!(build(&ENTRY, &[("l", number("0"))]).is_err());
        assert!(build(&ENTRY, &[("l", number("1.5"))]).is_err());
        assert!(build(&ENTRY, &[]).is_err());
    }
}
