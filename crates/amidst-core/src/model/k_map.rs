//! k-map.
//!
//! **Definition.** At least k people of the *population* share the generalized tuple of the class.
//!
//! **Source.** Sweeney 2001 (thesis, k-map); as in ARX and Google Sensitive Data Protection.
//!
//! **Departures.** The population table is taken to contain the data; people it lacks are not counted. Its counts may
//! be fractions, as the weights of a survey are. Without a population no class satisfies it.
//!
//! **Monotone**: a merged class covers the tuples of both.
//!
//! **Cost**: one addition a covered tuple.

use super::{Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, Headcount, TableStats};
use crate::exact::Rational;
use crate::parameter::{Kind, Measured, Parameter};

pub(super) const ENTRY: Entry = Entry {
    id: "k-map",
    title: "k-map",
    definition: "at least k people of the population share the generalized tuple of every class",
    citation: "Sweeney 2001; as in ARX and Google Sensitive Data Protection",
    meaning: "at least {k} people of the population look like the person, so nobody can be sure whose row it is",
    parameters: &[
        Parameter::required("k", Kind::Count, "the least number of people a class must match in the population")
            .measured(Measured::UpTo),
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

    fn holds_among(&self, _size: u64, people: Headcount) -> Option<bool> {
        Some(people.is_at_least(self.k))
    }

    fn measure(&self, class: &Class<'_>, table: &TableStats) -> Level {
        // k is a whole number, and the largest that they reach is what counts.
        let people = table.people(class.tuples).map(|people| Rational::wide_ratio(people.parts / people.scale, 1));
        Level::largest("k", people.map_or(Bound::Never, Bound::Exact))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, number, text};
    use super::*;
    use crate::class::Population;

    #[test]
    fn the_population_is_counted() {
        let population = Population { totals: vec![3, 4, 5], ..Population::default() };
        let table = TableStats { size: 2, population: Some(population.into()), ..TableStats::default() };
        let class = Class { size: 2, histogram: &[], tuples: &[0, 2] };
        let model = |k| build(&ENTRY, &[("k", number(k)), ("population", text("p.csv"))]).unwrap();
        assert!(model("8").holds(&class, &table) && !model("9").holds(&class, &table));
        assert!(!model("1").holds(&class, &TableStats::default()));
        // 3.5 people: more than three, fewer than four.
        let weighted = Population { totals: vec![3, 4, 4], scale: 2, ..Population::default() };
        let table = TableStats { population: Some(weighted.into()), ..table };
        assert!(model("3").holds(&class, &table) && !model("4").holds(&class, &table));
        assert_eq!(model("3").measure(&class, &table).bound, Bound::ratio(3, 1));
        assert_eq!(build(&ENTRY, &[("k", number("2"))]).unwrap_err().key, "population");
    }
}
