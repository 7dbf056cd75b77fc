//! Systematic clustering, in the two steps of the systematic clustering paper.
//!
//! **Source.** Kabir, Wang, Bertino, Chi, *Systematic Clustering Method for l-diversity Model*, ADC 2010, Tables 4 and
//! 5.
//!
//! **First step.** The n rows are sorted by their quasi tuple. p = ⌊n/k⌋ clusters begin with every k-th row from a
//! random one among the first k; then the rows of the other k − 1 strides join, each the cluster with fewer than k rows
//! whose information loss grows least; the n − pk rows that remain join the cluster whose loss grows least.
//!
//! **Second step.** Clusters that fail the policy are dissolved, each row joining the valid cluster whose loss grows
//! least (and which still holds: the paper's l-diversity cannot be lost, other policies can).
//!
//! **Departures.**
//! - A row joins the cluster whose loss *grows* least; the paper takes the cluster that loses least with the row, which
//!   favours small clusters over near ones.
//! - Clusters have max(k, l) rows where the policy cannot hold with k, and more where hardly any of that size holds;
//!   the paper's have k.
//! - Rows that agree are sorted by their sensitive values, and the strides begin in random order.
//! - Clusters are found through a k-d tree of growing boxes instead of the published O(n²/k) scan.
//!
//! The options undo each of them: `reading = "paper"` chooses by the cluster's loss and takes the policy's k as it is,
//! `order = "input"` takes the rows as they come, `starts` gives the strides, `exact` asks for the scan. Stride k
//! throughout (the paper's Table 4 once prints p).

use super::clustering::{Clustering, EXACT, cluster_size, sized};
use super::{Entry, RecodingKind, Search, SearchError};
use crate::local::build::place_rows::{Choice, Index, dissolve_failing};
use crate::local::class::{Cluster, Part, World, cluster};
use crate::parameter::{Kind, Parameter, Value};
use crate::random::Random;

/// What the cluster that a row joins is chosen by.
const READING: Parameter = Parameter::optional(
    "reading",
    Kind::Choice(&["growth", "paper"]),
    "growth: a row joins the cluster whose loss grows least, and clusters are as large as the policy needs; paper: it joins \
     the cluster that loses least with it, as published, and clusters have the policy's k (default growth)",
);

/// In which order rows are gone through.
const ORDER: Parameter = Parameter::optional(
    "order",
    Kind::Choice(&["sorted", "input"]),
    "sorted: by the quasi columns; input: as they come, for a table that is sorted already (default sorted)",
);

/// Where strides begin.
const STARTS: Parameter = Parameter::optional(
    "starts",
    Kind::Counts,
    "the rows among the first k from which the strides go, in their order, each from 1 to k once, such as [2, 3, 1] \
     (default a random order)",
);

pub(super) const ENTRY: Entry = Entry {
    id: "systematic",
    title: "Systematic clustering",
    definition: "begins ⌊n/k⌋ clusters at every k-th row of the sorted table, lets every other row join where the \
                 information loss grows least, and dissolves the clusters that fail the policy. It departs from the paper \
                 in that a row joins where the loss grows least, not the cluster that loses least with it, and in that \
                 clusters have max(k, l) rows, or more where hardly any of that size satisfies the policy; the options \
                 give the paper's own reading",
    citation: "systematic clustering paper Tables 4 and 5",
    kind: RecodingKind::Local,
    options: &[EXACT, READING, ORDER, STARTS],
    algorithm: &Clustering { id: "systematic", clusters },
};

/// The rows one by one, sorted by quasi tuple; the rows of a person who has several stay together.
pub(super) fn units(world: &World<'_>) -> Vec<Part> {
    let mut units = Vec::with_capacity(world.set.rows as usize);
    for (e, entry) in world.set.groups.entries.iter().enumerate() {
        let (rows, times) = if world.set.persons { (entry.rows, 1) } else { (1, entry.rows) };
        units.extend((0..times).map(|_| (e as u32, rows)));
    }
    units
}

/// The rows one by one as they come, those of a person who has several where the first of them stands.
fn as_they_come(search: &Search<'_>, world: &World<'_>) -> Result<Vec<Part>, SearchError> {
    let unknown =
        || SearchError::Unsupported("the order of the input is not known here; leave out `order`".to_string());
    let Some(rows) = search.entry_of_row else { return Err(unknown()) };
    let mut left: Vec<u64> = world.set.groups.entries.iter().map(|e| e.rows).collect();
    let mut units = Vec::with_capacity(rows.len());
    for &entry in rows {
        let Some(left) = left.get_mut(entry.index()) else { continue };
        let step = if world.set.persons { *left } else { 1 };
        if *left >= step && step > 0 {
            units.push((entry.0, step));
            *left -= step;
        }
    }
    // Rows may have been left out of the set beforehand, but it has none that the table lacks.
    if left.iter().all(|&rows| rows == 0) { Ok(units) } else { Err(unknown()) }
}

/// What the options say.
fn option<'a>(search: &'a Search<'_>, option: &Parameter) -> Option<&'a Value> {
    search.options.get(option.name)
}

/// Whether an option is this word.
fn is(search: &Search<'_>, parameter: &Parameter, word: &str) -> bool {
    matches!(option(search, parameter), Some(Value::Text(text)) if text == word)
}

/// The places among the first k rows from which the strides go.
fn starts(search: &Search<'_>, k: usize) -> Result<Vec<usize>, SearchError> {
    let Some(Value::List(stated)) = option(search, &STARTS) else {
        let mut starts: Vec<usize> = (0..k).collect();
        Random::new(search.seed).shuffle(&mut starts);
        return Ok(starts);
    };
    let starts: Option<Vec<usize>> = stated.iter().map(|v| (v.number()?.to_u64()? as usize).checked_sub(1)).collect();
    let starts = starts.unwrap_or_default();
    let mut sorted = starts.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..k) {
        return Err(SearchError::Unsupported(format!(
            "clusters have {k} rows here, so `starts` must list each number from 1 to {k} once"
        )));
    }
    Ok(starts)
}

/// The clusters of both steps. With `scan` every cluster is looked at for every row.
pub(super) fn clusters(search: &Search<'_>, world: &World<'_>, scan: bool) -> Result<Vec<Cluster>, SearchError> {
    let rows = if is(search, &ORDER, "input") { as_they_come(search, world)? } else { units(world) };
    if !is(search, &READING, "paper") {
        let choice = Choice::by_growth(scan);
        return sized(search, world, scan, |k| first_step(search, world, &rows, &starts(search, k)?, choice));
    }
    let k = if search.k > 1 { search.k.min(world.set.rows.max(1)) as usize } else { cluster_size(search, world) };
    let choice = Choice { scan, by_loss: true };
    let clusters = first_step(search, world, &rows, &starts(search, k)?, choice)?;
    dissolve_failing(search, world, clusters, choice)
}

/// The clustering step for k-anonymity; `starts` are the places among the first k rows from which the strides go.
fn first_step(
    search: &Search<'_>,
    world: &World<'_>,
    rows: &[Part],
    starts: &[usize],
    choice: Choice,
) -> Result<Vec<Cluster>, SearchError> {
    let k = starts.len();
    let p = rows.len() / k;
    if p == 0 {
        return Ok(vec![world.cluster(cluster::combined(rows))]);
    }
    let mut clusters: Vec<Cluster> = (0..p).map(|i| world.cluster(vec![rows[starts[0] + k * i]])).collect();
    let mut open = Index::new(world, &clusters, choice);
    let mut taken = vec![1; p];
    for &start in &starts[1..] {
        for i in 0..p {
            search.checkpoint()?;
            let (entry, n) = rows[start + k * i];
            let Some(c) = open.least_growth(world, &clusters, entry, n, |_| true) else { continue };
            world.add(&mut clusters[c], entry, n);
            taken[c] += 1;
            if taken[c] == k { open.close(world, c) } else { open.grown(world, c, &clusters[c]) }
        }
        search.tell(taken.iter().sum::<usize>() as f64 / rows.len() as f64);
    }
    let mut all = Index::new(world, &clusters, choice);
    for &(entry, n) in &rows[p * k..] {
        if let Some(c) = all.least_growth(world, &clusters, entry, n, |_| true) {
            world.add(&mut clusters[c], entry, n);
            all.grown(world, c, &clusters[c]);
        }
    }
    Ok(clusters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frequency::FrequencySet;
    use crate::hierarchy::{Generalization, Generalize};
    use crate::local::class::Judge;
    use crate::local::fixture::{Fixture, hierarchy};
    use crate::local::shape::Space;
    use crate::parameter::Parameters;
    use crate::sensitive::SensitiveDomain;
    use crate::table::{Column, Table};

    #[test]
    fn every_class_satisfies_the_policy() {
        Fixture::trial("systematic", &Parameters::default());
    }

    #[test]
    fn the_index_changes_nothing() {
        Fixture::compare(|search, world, scan| clusters(search, world, scan).unwrap());
    }

    /// The paper's nine patients, k = 3, strides from rows 2, 3, 1: three clusters of three; with l = 3 the one that
    /// has nothing but diabetes dissolves.
    #[test]
    fn the_paper_s_example() {
        let columns = [
            Column::from_values("zip", ["4350", "4351", "4352", "4350", "4350", "4350", "4352", "4352", "4352"]),
            Column::from_values("gender", ["m", "m", "m", "m", "f", "f", "m", "f", "m"]),
            Column::from_values("age", ["24", "25", "26", "35", "40", "38", "41", "42", "43"]),
            Column::from_values("education", ["9", "10", "9", "9", "10", "11", "9", "10", "10"]),
            Column::from_values(
                "disease",
                ["flu", "cancer", "hiv", "diabetes", "diabetes", "diabetes", "flu", "heart", "cancer"],
            ),
        ];
        let table = Table { columns: columns.to_vec(), rows: 9 };
        let (set, entry_of) = FrequencySet::count(&table, &[0, 1, 2, 3], &[4], None);
        let school = |v: &str| if v.len() == 1 || v == "10" { "Primary" } else { "Secondary" }.to_string();
        let hierarchies = [
            hierarchy(&table.columns[0], &[]),
            hierarchy(&table.columns[1], &[]),
            hierarchy(&table.columns[2], &[]),
            hierarchy(&table.columns[3], &[&school]),
        ];
        let generalizations: Vec<Generalization> = (0..4)
            .map(|c| {
                let mut g = Generalization::bind(&table.columns[c], Some(&hierarchies[c])).unwrap();
                g.numeric = c == 2;
                g.generalize = if c == 2 { Generalize::Ranges } else { Generalize::Hierarchy };
                g
            })
            .collect();
        let domain = SensitiveDomain { dictionary: table.columns[4].dictionary.clone(), ..SensitiveDomain::default() };
        let fixture = Fixture { set, generalizations, domains: vec![domain], entry_of };
        let requirements = [
            fixture.requirement("k-anonymity", &[("k", "3")]).unwrap(),
            fixture.requirement("distinct-l-diversity", &[("l", "3")]).unwrap(),
        ];
        fixture.search(&requirements, &Parameters::default(), |search| {
            let space = Space::new(search.generalizations);
            let judge = Judge::new(search).unwrap();
            let tuple_of = search.set.tuple_of_entry();
            let world = World { set: search.set, tuple_of: &tuple_of, space: &space, judge: &judge };
            let rows: Vec<Part> = fixture.entry_of.iter().map(|&e| (e.0, 1)).collect();
            let members = |clusters: &[Cluster]| -> Vec<Vec<usize>> {
                let mut all: Vec<Vec<usize>> = (clusters.iter())
                    .map(|c| (0..9).filter(|&r| c.parts.iter().any(|p| p.0 == fixture.entry_of[r].0)).collect())
                    .collect();
                all.sort();
                all
            };
            let clusters = first_step(search, &world, &rows, &[1, 2, 0], Choice::default()).unwrap();
            assert_eq!(members(&clusters), [vec![0, 1, 2], vec![3, 4, 5], vec![6, 7, 8]]);
            // The example's loss by Equation (1), which the paper misprints.
            assert!((cluster::total(&clusters) - 16.42105263).abs() < 1e-8);
            // By the same equation row 4 then goes to the first cluster: 3.50 against 6.87.
            let clusters = dissolve_failing(search, &world, clusters, Choice::default()).unwrap();
            assert_eq!(members(&clusters), [vec![0, 1, 2, 3], vec![4, 5, 6, 7, 8]]);
            // The paper counts zip and gender as fully generalized everywhere, as if they had no weight: then 1.87
            // against 2.50, and all three rows go to the third.
            let mut light = search.generalizations.to_vec();
            light[0].weight = 0.0;
            light[1].weight = 0.0;
            let space = Space::new(&light);
            let world = World { space: &space, ..world };
            let clusters = first_step(search, &world, &rows, &[1, 2, 0], Choice::default()).unwrap();
            assert_eq!(members(&clusters), [vec![0, 1, 2], vec![3, 4, 5], vec![6, 7, 8]]);
            let clusters = dissolve_failing(search, &world, clusters, Choice::default()).unwrap();
            assert_eq!(members(&clusters), [vec![0, 1, 2], vec![3, 4, 5, 6, 7, 8]]);
        });
    }
}
