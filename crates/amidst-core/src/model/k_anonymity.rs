//! k-anonymity.
//!
//! **Definition.** A class satisfies k-anonymity when it has at least k rows: n ≥ k.
//!
//! **Source.** Samarati & Sweeney 1998; all five papers build on it (survey Definition 2).
//!
//! **Monotone**: merging classes only adds rows.
//!
//! **Cost**: one comparison.

use super::{Audit, Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "k-anonymity",
    title: "k-anonymity",
    definition: "n ≥ k: every class has at least k rows",
    citation: "Samarati & Sweeney 1998; Sweeney 2002; survey Definition 2",
    meaning: "whoever knows what others may know of a person finds at least {k} rows that fit, and cannot tell \
              which is theirs",
    parameters: &[
        Parameter::required("k", Kind::Count, "the least number of rows a class may have").measured(Measured::UpTo)
    ],
    sensitive: Sensitive::None,
    audit: &[Audit::of("k", &[("k", "1")])],
    build: |parameters, _| Ok(Box::new(KAnonymity { k: parameters.count("k")? })),
};

#[derive(Debug)]
struct KAnonymity {
    k: u64,
}

impl PrivacyModel for KAnonymity {
    fn needs(&self) -> Needs {
        Needs::Size
    }

    fn monotone(&self) -> bool {
        true
    }

    fn preserved_by_insertion(&self) -> bool {
        true
    }

    fn enough_different(&self) -> Option<u64> {
        Some(self.k)
    }

    fn holds(&self, class: &Class<'_>, _table: &TableStats) -> bool {
        class.size >= self.k
    }

    fn measure(&self, class: &Class<'_>, _table: &TableStats) -> Level {
        Level::largest("k", Bound::Exact(class.size.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::{Parameters, Value};

    #[test]
    fn a_class_of_exactly_k_rows_is_k_anonymous() {
        let build =
            |k: u64| (ENTRY.build)(&Parameters::from_pairs([("k", Value::Number(k.into()))]), &Default::default());
        let class = Class { size: 5, histogram: &[], tuples: &[] };
        let table = TableStats::default();
        assert!(build(5).unwrap().holds(&class, &table));
        assert!(!build(6).unwrap().holds(&class, &table));
        assert!(build(0).is_err());
    }
}
