//! k-map.
//!
//! **Definition.** At least k people of the *population* share the generalized tuple of the class.
//!
//! **Source.** Sweeney 2001 (thesis, k-map); as in ARX and Google Sensitive Data Protection.
//!
//! **Departures.** The population table is taken to contain the data; people it lacks are not counted. Without a
//! population no class satisfies it.
//!
//! **Monotone**: a merged class covers the tuples of both.
//!
//! **Cost**: one addition a covered tuple.

use super::{Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, TableStats};
use crate::parameter::{Kind, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "k-map",
    title: "k-map",
    definition: "at least k people of the population share the generalized tuple of every class",
    citation: "Sweeney 2001; as in ARX and Google Sensitive Data Protection",
    meaning: "at least {k} people of the population look like the person, so nobody can be sure whose row it is",
    parameters: &[
        Parameter::required("k", Kind::Count, "the least number of people a class must match in the population"),
        Parameter::required("population", Kind::Population, "a table of the people the data were drawn from"),
    ],
    sensitive: Sensitive::None,
    audit: &[],
    build: |parameters, _| {
        let k = parameters.count("k")?;
        parameters.population("population")?;
        Ok(Box::new(KMap { k }))
    },
};

#[derive(Debug)]
struct KMap {
    k: u64,
}

impl PrivacyModel for KMap {
    fn needs(&self) -> Needs {
        Needs::Tuples
    }

    fn monotone(&self) -> bool {
        true
    }

    fn preserved_by_insertion(&self) -> bool {
        true
    }

    fn holds(&self, class: &Class<'_>, table: &TableStats) -> bool {
        table.people(class.tuples).and_then(|people| self.holds_among(class.size, people)).unwrap_or(false)
    }

    fn holds_among(&self, _size: u64, people: u64) -> Option<bool> {
        Some(people >= self.k)
    }

    fn measure(&self, class: &Class<'_>, table: &TableStats) -> Level {
        Level::largest("k", table.people(class.tuples).map_or(Bound::Never, |people| Bound::Exact(people.into())))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, number, text};
    use super::*;
    use crate::class::Population;

    #[test]
    fn the_population_is_counted() {
        let population = Population { totals: vec![3, 4, 5], histograms: Vec::new() };
        let table = TableStats { size: 2, population: Some(population.into()), ..TableStats::default() };
        let class = Class { size: 2, histogram: &[], tuples: &[0, 2] };
        let model = |k| build(&ENTRY, &[("k", number(k)), ("population", text("p.csv"))]).unwrap();
        assert!(model("8").holds(&class, &table) && !model("9").holds(&class, &table));
        assert!(!model("1").holds(&class, &TableStats::default()));
        assert_eq!(build(&ENTRY, &[("k", number("2"))]).unwrap_err().key, "population");
    }
}
