//! p-sensitive k-anonymity.
//!
//! **Definition.** A class has at least k rows and at least p distinct sensitive values.
//!
//! **Source.** Truta & Vinay 2006; (l,α) paper §1.1.
//!
//! **Monotone**: merging adds rows and values.
//!
//! **Cost**: two comparisons.

use super::{Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "p-sensitive-k-anonymity",
    title: "p-sensitive k-anonymity",
    definition: "n ≥ k and at least p distinct sensitive values in every class",
    citation: "Truta & Vinay 2006; Sun, Li & Wang 2010, §1.1",
    meaning: "a person stands amidst at least {k} rows with at least {p} different values of {on}",
    parameters: &[
        Parameter::required("p", Kind::Count, "the least number of distinct values a class may have")
            .measured(Measured::UpTo),
        Parameter::required("k", Kind::Count, "the least number of rows a class may have"),
    ],
    sensitive: Sensitive::OneOrMany,
    audit: &[],
    build: |parameters, _| Ok(Box::new(PSensitive { p: parameters.count("p")?, k: parameters.count("k")? })),
};

#[derive(Debug)]
struct PSensitive {
    p: u64,
    k: u64,
}

impl PrivacyModel for PSensitive {
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
        self.p
    }

    fn least_rows(&self, _table: &TableStats) -> u64 {
        self.k.max(self.p)
    }

    fn enough_different(&self) -> Option<u64> {
        Some(self.k.max(self.p))
    }

    fn holds(&self, class: &Class<'_>, _table: &TableStats) -> bool {
        class.size >= self.k && class.histogram.len() as u64 >= self.p
    }

    fn measure(&self, class: &Class<'_>, _table: &TableStats) -> Level {
        let distinct = class.histogram.len() as u64;
        Level::largest("p", if class.size >= self.k { Bound::Exact(distinct.into()) } else { Bound::Never })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, number};
    use super::*;

    #[test]
    fn both_parts_count() {
        let holds = |p, k| {
            let model = build(&ENTRY, &[("p", number(p)), ("k", number(k))]).unwrap();
            model.holds(&Class::of(&[(0, 3), (1, 1)]), &TableStats::default())
        };
        assert!(holds("2", "4") && !holds("3", "4") && !holds("2", "5"));
        assert_eq!(build(&ENTRY, &[("p", number("2"))]).unwrap_err().key, "k");
    }
}
