//! The population as the classes of a release see it.

use std::collections::BTreeMap;

use crate::content::Content;
use crate::cover::Tuples;
use crate::models::{Census, CensusTuple, Domain};
use crate::options::{ColumnLabels, PopulationTable};
use crate::original::{meanings, sets};
use crate::problem::Problem;
use crate::reader::key::cells;
use crate::reader::{self, Counted, Reading, Selection};

/// For each class of the release, the persons of the population that its tuple covers; with a sensitive column also the
/// tuples and their values.
pub(crate) fn take(
    population: &PopulationTable,
    release: &Counted,
    quasi: &[String],
    sensitive: Option<(&str, &Domain)>,
) -> Result<Vec<Census>, Problem> {
    let mut key = quasi.to_vec();
    key.extend(population.count_column.clone());
    let views = sensitive.iter().map(|(name, _)| vec![name.to_string()]).collect();
    let (counted, _) = reader::count(
        &Content::files(&population.files),
        &Selection { key: Some(key), views, ..Selection::default() },
        Reading::Source,
    )?;
    let nothing = ColumnLabels::default();
    let mut meaning = meanings(quasi, &counted, |name| population.labels.get(name).unwrap_or(&nothing));

    // Distinct quasi tuples with their persons, in all and by sensitive value.
    let mut persons: BTreeMap<Vec<u32>, (u64, BTreeMap<u32, u64>)> = BTreeMap::new();
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
    for (at, key) in counted.keys.iter().enumerate() {
        let parts = cells(key);
        let weight = match &population.count_column {
            None => 1,
            Some(name) => parts
                .get(quasi.len())
                .and_then(|cell| std::str::from_utf8(cell).ok())
                .and_then(|text| text.trim().parse::<u64>().ok())
                .filter(|&n| n <= 1_000_000_000_000)
                .ok_or_else(|| {
                    let message = format!("the population's column \"{name}\" holds something that is no count");
                    Problem::violation(crate::problem::ProblemKind::Unreadable, message)
                })?,
        };
        let codes: Option<Vec<u32>> = meaning.iter().zip(&parts).map(|(column, cell)| column.code(cell)).collect();
        let Some(codes) = codes else { continue };
        let entry = persons.entry(codes).or_default();
        entry.0 += counted.sizes[at] * weight;
        for &(value, count) in counted.views.first().map_or(&[][..], |view| view.histograms[at].as_slice()) {
            *entry.1.entry(numbers[value as usize]).or_insert(0) += count * weight;
        }
    }
    let values: Vec<Vec<(u32, u64)>> = persons.values().map(|p| p.1.iter().map(|(&v, &n)| (v, n)).collect()).collect();
    let tuples = Tuples::new(quasi.len(), persons.into_iter().map(|(codes, p)| (codes, p.0)).collect());

    let mut result = Vec::with_capacity(release.keys.len());
    for key in &release.keys {
        let covered = tuples.covered(&sets(&mut meaning, &cells(key)));
        let rows = covered.iter().map(|&t| tuples.counts[t as usize]).sum();
        let tuple = |&t: &u32| CensusTuple { counts: values[t as usize].clone() };
        let tuples = if sensitive.is_some() { covered.iter().map(tuple).collect() } else { Vec::new() };
        result.push(Census { rows, tuples });
    }
    Ok(result)
}
