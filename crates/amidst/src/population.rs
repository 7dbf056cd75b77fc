//! The risk that depends on the population behind a table: the journalist's, and how many people are unique in it.
//!
//! A population table (`[risk] population`, or that of a `k-map` requirement) tells how many people fit each class. How
//! large a share of the population the table is, counted or stated (`[risk] sampling_fraction`), lets models estimate
//! who is unique in the population; where nothing is known they are told for [`ASSUMED`] shares, and said to be
//! assumed.

use amidst_core::attack::{Covers, External, Published, fit};
use amidst_core::class::Headcount;
use amidst_core::frequency;
use amidst_core::parameter::Rational;
use amidst_core::risk::population::{Estimate, preferred};
use amidst_core::risk::{Journalist, Risk};
use amidst_core::table::Table;
use serde::Serialize;

use crate::Failure;
use crate::external::{COUNT, all_there, covers, read_input, unknown_rows, weights};
use crate::policy::Policy;
use crate::prepare::population::{Counts, file_of};

/// The shares of the population that are assumed where none is known: one in a hundred, one in ten.
pub const ASSUMED: [(u64, u64); 2] = [(1, 100), (1, 10)];

/// What the population adds to the risk of a table.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct PopulationRisk {
    /// The journalist's risks; only a population table tells them.
    pub journalist: Option<JournalistRisk>,
    /// How many people are unique in the population, by each model that fits the table.
    pub uniques: Vec<Uniques>,
}

/// The risks of someone who knows the population, but not who of it is in the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JournalistRisk {
    /// The largest risk of anyone.
    pub max: f64,
    /// The average risk.
    pub avg: f64,
    /// The share that a marketer with the same population links rightly.
    pub marketer: f64,
    /// Persons whose risk exceeds 0.09.
    pub above_threshold: u64,
    /// Their share.
    pub above_threshold_share: f64,
    /// Persons whose risk exceeds 1/11.
    pub above_one_in_eleven: u64,
    /// Their share.
    pub above_one_in_eleven_share: f64,
    /// The people of the population, to the nearest whole number.
    pub population: u64,
    /// Classes in which the population has fewer people than the table: it cannot have been drawn from it.
    pub inconsistent_classes: u64,
}

/// An estimate of the people who are unique in the population.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Uniques {
    /// The model that it stands on.
    pub model: &'static str,
    /// Where the model comes from.
    pub citation: &'static str,
    /// The share of the population that the table is.
    pub sampling_fraction: f64,
    /// Whether that share is merely assumed.
    pub assumed: bool,
    /// Whether the model is the one that suits this share best.
    pub preferred: bool,
    /// How many people.
    pub uniques: f64,
    /// Their share of the population.
    pub share: f64,
}

/// What a policy says about the population, ready to be held against tables.
pub struct Population {
    table: Option<People>,
    fraction: Option<Rational>,
}

struct People {
    table: Table,
    covers: Vec<(String, Covers)>,
    weights: Counts,
}

impl Population {
    /// Reads the population that `policy` names; its hierarchies tell what the labels of `quasi` columns mean.
    ///
    /// # Errors
    /// When the population table cannot be read, lacks a quasi column, or has counts that are no numbers.
    pub fn of(policy: &Policy, quasi: &[&str]) -> Result<Population, Failure> {
        let required = || policy.requirements.iter().find_map(|r| file_of(r).map(|(_, file)| file));
        let fraction = policy.risk.sampling_fraction.clone();
        let Some(file) = policy.risk.population.clone().or_else(required) else {
            return Ok(Population { table: None, fraction });
        };
        let input = read_input(&policy.origin.resolve_source(&file), &[quasi, &[COUNT]].concat(), 0)?;
        all_there(&file, &input.table, quasi)?;
        let mut weights = weights(&input.table, quasi)?;
        unknown_rows(policy, &input, quasi).into_iter().for_each(|row| weights.parts[row] = 0);
        let table = input.table;
        let covers = covers(policy, &table)?;
        Ok(Population { table: Some(People { table, covers, weights }), fraction })
    }

    /// The risks of a table against this population. Its labels must be known.
    ///
    /// # Errors
    /// When the population cannot be joined with the table.
    pub fn against(&self, published: &Published<'_>, risk: &Risk) -> Result<PopulationRisk, Failure> {
        let mut found = PopulationRisk::default();
        let mut fraction = self.fraction.clone();
        if let Some(people) = &self.table {
            let external = External { table: &people.table, covers: &people.covers };
            let fits = fit(published, &external, &[]).map_err(|e| Failure::Usage(e.to_string()))?;
            let scale = people.weights.scale;
            let mut of_tuple = vec![0u128; fits.tuples.len()];
            for (tuple, &weight) in fits.of_row.iter().zip(&people.weights.parts) {
                of_tuple[tuple.index()] += weight;
            }
            let mut of_class = vec![0u128; published.classes.len()];
            for (classes, &people) in fits.iter().zip(&of_tuple) {
                classes.iter().for_each(|&class| of_class[class as usize] += people);
            }
            let sizes = published.classes.iter().map(frequency::size);
            let journalist = Journalist::of(sizes.zip(of_class), scale);
            let population: u128 = of_tuple.iter().sum();
            found.journalist = Some(journalist_risk(&journalist, (population as f64 / scale as f64).round() as u64));
            // A population that is smaller than the table is not one that it was drawn from.
            let counted = Headcount { parts: population, scale }.is_at_least(risk.persons.max(1)) && risk.persons > 0;
            let share = counted.then(|| Rational::scaled_ratio(risk.persons, scale, population));
            fraction = fraction.or(share);
        }
        found.uniques = match &fraction {
            Some(known) => uniques(risk, known, false),
            None => ASSUMED.iter().flat_map(|&(n, d)| uniques(risk, &Rational::ratio(n, d), true)).collect(),
        };
        Ok(found)
    }
}

fn journalist_risk(journalist: &Journalist, population: u64) -> JournalistRisk {
    let [strict, lenient] = amidst_core::risk::thresholds().map(|t| journalist.above(&t));
    JournalistRisk {
        max: journalist.max,
        avg: journalist.average,
        marketer: journalist.marketer,
        above_threshold: strict.persons,
        above_threshold_share: strict.share,
        above_one_in_eleven: lenient.persons,
        above_one_in_eleven_share: lenient.share,
        population,
        inconsistent_classes: journalist.inconsistent,
    }
}

fn uniques(risk: &Risk, fraction: &Rational, assumed: bool) -> Vec<Uniques> {
    // The model that suits the fraction best comes first, where it has an answer.
    let found = preferred(fraction).into_iter().filter_map(|model| model.estimate(&risk.sizes, fraction));
    let told = |(position, found): (usize, Estimate)| Uniques {
        model: found.model.name(),
        citation: found.model.citation(),
        sampling_fraction: fraction.to_f64(),
        assumed,
        preferred: position == 0,
        uniques: found.uniques.round(),
        share: found.share,
    };
    found.enumerate().map(told).collect()
}
