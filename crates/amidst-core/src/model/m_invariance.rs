//! m-invariance, as far as one version of a release can show it.
//!
//! **Definition.** A series of releases is m-invariant when every class of every version is m-unique (at least m rows,
//! all with different sensitive values) and everybody stays in classes with the same set of values. That is a property
//! of the series, which `amidst series` keeps and audits.
//!
//! What a published table shows of it: several m-unique classes whose generalized tuples agree appear as one class. So
//! a class satisfies the model when no value has more than 1/m of it: n ≥ m·r₁. An m-unique class does, and so do
//! several together.
//!
//! **Source.** Xiao & Tao 2007, Definitions 4–6; the test of a class is their m-eligibility (Lemma 2).
//!
//! **Monotone**: r₁ of a merged class is at most the sum of both.
//!
//! **Cost**: one look at the counts.

use super::{Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "m-invariance",
    title: "m-invariance",
    definition: "in every version of a series, classes made of m-unique groups: n ≥ m·r₁; and everybody keeps the set of \
                 values they are published with",
    citation: "Xiao & Tao, SIGMOD 2007, Definitions 4–6",
    meaning: "a person keeps at least {m} possible values of {on}, the same ones in all versions together",
    parameters: &[Parameter::required("m", Kind::Count, "the least number of candidate values for everybody")
        .measured(Measured::UpTo)],
    sensitive: Sensitive::One,
    audit: &[],
    build: |parameters, _| Ok(Box::new(MInvariance { m: parameters.count("m")? })),
};

#[derive(Debug)]
struct MInvariance {
    m: u64,
}

fn most(class: &Class<'_>) -> u64 {
    class.histogram.iter().map(|c| c.1).max().unwrap_or(0)
}

impl PrivacyModel for MInvariance {
    fn needs(&self) -> Needs {
        Needs::Histogram
    }

    fn monotone(&self) -> bool {
        true
    }

    fn least_different(&self, _table: &TableStats) -> u64 {
        // The most frequent of fewer values is more than one in m.
        self.m
    }

    fn least_rows(&self, _table: &TableStats) -> u64 {
        self.m
    }

    fn least_ratio(&self) -> u64 {
        self.m
    }

    fn enough_different(&self) -> Option<u64> {
        Some(self.m)
    }

    fn kept_values(&self) -> Option<u64> {
        Some(self.m)
    }

    fn holds(&self, class: &Class<'_>, _table: &TableStats) -> bool {
        u128::from(class.size) >= u128::from(self.m) * u128::from(most(class))
    }

    fn measure(&self, class: &Class<'_>, _table: &TableStats) -> Level {
        let bound = match most(class) {
            0 => Bound::Always,
            most => Bound::Exact((class.size / most).into()),
        };
        Level::largest("m", bound)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, number};
    use super::*;

    #[test]
    fn no_value_may_have_more_than_its_share() {
        let holds = |m, class: &[(u32, u64)]| {
            build(&ENTRY, &[("m", number(m))]).unwrap().holds(&Class::of(class), &TableStats::default())
        };
        assert!(holds("3", &[(0, 1), (1, 1), (2, 1)]) && !holds("4", &[(0, 1), (1, 1), (2, 1)]));
        assert!(holds("2", &[(0, 2), (1, 1), (2, 1)]) && !holds("3", &[(0, 2), (1, 1), (2, 1)]));
    }
}
