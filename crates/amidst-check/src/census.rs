//! Counts, for every class of a release, the people of a population that it covers.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::content::Content;
use crate::cover::Tuples;
use crate::models::{Census, CensusTuple, Domain};
use crate::number;
use crate::options::{ColumnLabels, PopulationTable};
use crate::original::{meanings, sets};
use crate::problem::{Problem, ProblemKind};
use crate::reader::key::cells;
use crate::reader::selection::Missing;
use crate::reader::{self, Counted, Reading, Selection};

/// The people with one quasi tuple, in fractions of a person, in all and by sensitive value.
type People = (u128, BTreeMap<u32, u128>);

/// For each class of the release, the people of the population that its cells cover; with a sensitive column also their
/// tuples and values.
pub(crate) fn take(
    population: &PopulationTable,
    release: &Counted,
    quasi: &[String],
    sensitive: Option<(&str, &Domain)>,
) -> Result<Vec<Census>, Problem> {
    let mut key = quasi.to_vec();
    key.extend(population.count_column.clone());
    let views = sensitive.iter().map(|(name, _)| vec![name.to_string()]).collect();
    let looked_at = || key.iter().cloned().chain(sensitive.iter().map(|(name, _)| name.to_string()));
    let missing =
        population.missing.as_ref().map(|tokens| Missing { columns: looked_at().collect(), tokens: tokens.clone() });
    let (counted, _) = reader::count(
        &Content::files(&population.files),
        &Selection { views, missing, key: Some(key), ..Selection::default() },
        Reading::Source,
    )?;
    let nothing = ColumnLabels::default();
    let mut meaning = meanings(quasi, &counted, |name| population.labels.get(name).unwrap_or(&nothing));

    // Distinct quasi tuples with their people, in all and by sensitive value.
    let mut persons: BTreeMap<Vec<u32>, People> = BTreeMap::new();
    let numbers: Vec<u32> = match (sensitive, counted.views.first()) {
        (Some((_, domain)), Some(view)) => view
            .values
            .iter()
            .enumerate()
            .map(|(at, value)| {
                let text = cells(value).first().copied().unwrap_or_default().to_vec();
                let beyond = domain.values.len() + at;
                domain.values.binary_search(&text).unwrap_or(beyond) as u32
            })
            .collect(),
        _ => Vec::new(),
    };
    let (weights, scale) = weights(population, &counted, quasi.len())?;
    for ((at, key), &weight) in counted.keys.iter().enumerate().zip(&weights) {
        let parts = cells(key);
        let codes: Option<Vec<u32>> = meaning.iter().zip(&parts).map(|(column, cell)| column.code(cell)).collect();
        let Some(codes) = codes else { continue };
        let entry = persons.entry(codes).or_default();
        entry.0 += u128::from(counted.sizes[at]) * weight;
        for &(value, count) in counted.views.first().map_or(&[][..], |view| view.histograms[at].as_slice()) {
            *entry.1.entry(numbers[value as usize]).or_insert(0) += u128::from(count) * weight;
        }
    }
    let (codes, people): (Vec<Vec<u32>>, Vec<People>) = persons.into_iter().unzip();
    // `BTreeMap` order is the order of `Tuples`, so positions in `people` are tuple numbers.
    let tuples = Tuples::new(quasi.len(), codes.into_iter().map(|codes| (codes, 1)).collect());

    let mut result = Vec::with_capacity(release.keys.len());
    for key in &release.keys {
        let covered = tuples.covered(&sets(&mut meaning, &cells(key)));
        let all = covered.iter().map(|&t| people[t as usize].0).sum();
        let tuple = |&t: &u32| CensusTuple { counts: people[t as usize].1.iter().map(|(&v, &n)| (v, n)).collect() };
        let tuples = if sensitive.is_some() { covered.iter().map(tuple).collect() } else { Vec::new() };
        result.push(Census { people: all, scale, tuples });
    }
    Ok(result)
}

/// The number of people for which one row of each key stands, as a multiple of 1/scale, and the scale: the least common
/// denominator of the column of counts, which may hold decimals and fractions. Without such a column every row is one
/// person.
fn weights(population: &PopulationTable, counted: &Counted, quasi: usize) -> Result<(Vec<u128>, u128), Problem> {
    let Some(name) = &population.count_column else { return Ok((vec![1; counted.keys.len()], 1)) };
    let unreadable = |what: &str| {
        let message = format!("the population's column \"{name}\" holds {what}");
        Problem::violation(ProblemKind::Unreadable, message)
    };
    let mut numbers = Vec::with_capacity(counted.keys.len());
    let mut scale = BigInt::one();
    for key in &counted.keys {
        let text = cells(key).get(quasi).and_then(|cell| std::str::from_utf8(cell).ok().map(str::to_string));
        let count = text.and_then(|text| number::parse(&text).ok()).filter(|n| !n.is_negative());
        let count = count.ok_or_else(|| unreadable("something that is no count"))?;
        scale = scale.lcm(count.denom());
        if scale.bits() > 128 {
            return Err(unreadable("fractions that have no common denominator of reasonable size"));
        }
        numbers.push(count);
    }
    let mut all = BigInt::zero();
    let mut parts = Vec::with_capacity(numbers.len());
    for (count, &rows) in numbers.iter().zip(&counted.sizes) {
        let own = count.numer() * (&scale / count.denom());
        all += &own * rows;
        parts.push(own);
    }
    // If the sum fits into `u128`, so does every partial sum.
    let fits = all.to_u128().is_some();
    let parts = parts.iter().map(ToPrimitive::to_u128).collect::<Option<Vec<u128>>>().filter(|_| fits);
    match (parts, scale.to_u128()) {
        (Some(parts), Some(scale)) => Ok((parts, scale)),
        _ => Err(unreadable("counts of too many digits to be added up")),
    }
}
