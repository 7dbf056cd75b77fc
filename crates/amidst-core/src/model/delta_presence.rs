//! δ-presence.
//!
//! **Definition.** min ≤ n/N ≤ max, with n the rows of the class and N the people of the population who share its
//! generalized tuple: nobody of the population can be known to be in the data, or not to be, beyond these shares.
//!
//! **Source.** Nergiz, Atzori & Clifton 2007, Definition 2; as in ARX and Google Sensitive Data Protection.
//!
//! **Departures.** The population table is taken to contain the data; a class with more rows than the population has
//! people shows that it does not, and fails. People of the population whom no class covers are not judged: they show
//! when the release lacks them, which only min = 0 allows.
//!
//! **Monotone**: the share of a merged class lies between the two (classes cover different tuples). Classes of a local
//! recoding may cover the same tuples; there it is not.
//!
//! **Cost**: one addition a covered tuple, two comparisons.

use super::{Bound, Entry, Level, Needs, PrivacyModel, Sensitive};
use crate::class::{Class, Headcount, TableStats};
use crate::exact::Rational;
use crate::parameter::{Kind, Measured, Parameter, ParameterError};

pub(super) const ENTRY: Entry = Entry {
    id: "delta-presence",
    title: "δ-presence",
    definition: "min ≤ rows of the class / people of the population that it matches ≤ max, in every class",
    citation: "Nergiz, Atzori & Clifton 2007, Definition 2; as in ARX",
    meaning: "of the people who might be the person, at most {max} are in the data, so being in it stays unknown",
    parameters: &[
        Parameter::optional(
            "min",
            Kind::Number,
            "the least share of matching people that are in the data; 0 when absent",
        ),
        Parameter::required("max", Kind::Number, "the largest share of matching people that are in the data, 0 to 1")
            .measured(Measured::From),
        Parameter::required("population", Kind::Population, "a table of the people the data were drawn from"),
    ],
    sensitive: Sensitive::None,
    audit: &[],
    build: |parameters, _| {
        let min = if parameters.get("min").is_some() { parameters.share("min")? } else { Rational::from(0) };
        let max = parameters.share("max")?;
        if min > max {
            return Err(ParameterError::new("min", format!("`min` must be at most `max`: {min} is more than {max}")));
        }
        parameters.population("population")?;
        Ok(Box::new(DeltaPresence { min, max }))
    },
};

#[derive(Debug)]
struct DeltaPresence {
    min: Rational,
    max: Rational,
}

impl PrivacyModel for DeltaPresence {
    fn needs(&self) -> Needs {
        Needs::Tuples
    }

    fn monotone(&self) -> bool {
        true
    }

    fn holds(&self, class: &Class<'_>, table: &TableStats) -> bool {
        table.people(class.tuples).and_then(|people| self.holds_among(class.size, people)).unwrap_or(false)
    }

    fn holds_among(&self, size: u64, people: Headcount) -> Option<bool> {
        Some(share(size, people).is_some_and(|share| self.min <= share && share <= self.max))
    }

    fn measure(&self, class: &Class<'_>, table: &TableStats) -> Level {
        let share = table.people(class.tuples).and_then(|people| share(class.size, people));
        // With another max, not with another min; and no max lets a class have more rows than there are people.
        let share = share.filter(|share| *share >= self.min && *share <= Rational::from(1));
        let level = Level::smallest("max", share.map_or(Bound::Never, Bound::Exact));
        level.but_for("fewer of the people whom it matches are in the data than `min` asks for, or more than there are")
    }
}

/// The share of these people that `size` of them are; none where there is nobody.
fn share(size: u64, people: Headcount) -> Option<Rational> {
    (people.parts > 0).then(|| Rational::scaled_ratio(size, people.scale, people.parts))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{build, number, text};
    use super::*;
    use crate::class::Population;

    #[test]
    fn a_third_of_the_population_is_present() {
        let population = Population { totals: vec![2, 4], ..Population::default() };
        let table = TableStats { size: 2, population: Some(population.into()), ..TableStats::default() };
        let model =
            |min, max| build(&ENTRY, &[("min", number(min)), ("max", number(max)), ("population", text("p.csv"))]);
        let holds =
            |min, max, size| model(min, max).unwrap().holds(&Class { size, histogram: &[], tuples: &[0, 1] }, &table);
        assert!(holds("1/3", "1/3", 2) && !holds("0.34", "1", 2) && !holds("0", "0.33", 2));
        assert!(!holds("0", "1", 7));
        // Two of 2.5 people.
        let weighted = Population { totals: vec![2, 3], scale: 2, ..Population::default() };
        let table = TableStats { population: Some(weighted.into()), ..table.clone() };
        let class = Class { size: 2, histogram: &[], tuples: &[0, 1] };
        assert!(
            model("0.8", "0.8").unwrap().holds(&class, &table) && !model("0", "0.79").unwrap().holds(&class, &table)
        );
        assert_eq!(model("0.5", "0.4").unwrap_err().key, "min");
    }
}
