//! Cell suppression against every way there is on small tables, and against full-domain recodings on larger ones.

use std::collections::BTreeMap;

use crate::algorithm;
use crate::frequency::Entry;
use crate::hierarchy::Cell;
use crate::local::fixture::Fixture;
use crate::metric::{self, column_weights};
use crate::parameter::Parameters;
use crate::requirement::{Evaluator, Requirement};
use crate::search::{Found, MaxSuppression, Search, SearchError};

fn find(fixture: &Fixture, id: &str, requirements: &[Requirement], limit: u64, by: &str) -> Result<Found, SearchError> {
    let options = Parameters::default();
    fixture.search(requirements, &options, |search| {
        let metric = metric::find(by).unwrap();
        let search = Search { metric, max_suppression: MaxSuppression::Rows(limit), ..search.clone() };
        algorithm::find(id).unwrap().algorithm.search(&search)
    })
}

/// The least GCP over every node, every set of stars of every row and every choice of rows to leave out.
fn brute(fixture: &Fixture, requirements: &[Requirement], limit: u64) -> Option<f64> {
    let (set, gs) = (&fixture.set, &fixture.generalizations);
    let evaluator = Evaluator::new(set, requirements);
    let weights = column_weights(gs);
    let rows: Vec<(usize, Entry)> = (0..set.len())
        .flat_map(|t| set.groups.get(t).iter().map(move |&e| (t, e)))
        .flat_map(|(t, e)| (0..e.rows).map(move |_| (t, Entry { rows: 1, ..e })))
        .collect();
    let ways = (1u64 << gs.len()) + 1;
    let mut best: Option<f64> = None;
    for node in fixture.nodes() {
        'ways: for number in 0..ways.pow(rows.len() as u32) {
            let (mut left, mut number, mut cost) = (limit, number, 0.0);
            let mut classes: BTreeMap<Vec<&str>, Vec<Entry>> = BTreeMap::new();
            for &(tuple, entry) in &rows {
                let way = number % ways;
                number /= ways;
                if way == ways - 1 {
                    if left == 0 {
                        continue 'ways;
                    }
                    left -= 1;
                    cost += weights.iter().sum::<f64>();
                    continue;
                }
                let mut labels = Vec::new();
                for ((label, loss), weight) in fixture.starred(&node, tuple, way).zip(&weights) {
                    cost += weight * loss;
                    labels.push(label);
                }
                classes.entry(labels).or_default().push(entry);
            }
            let cheaper = best.is_none_or(|b| cost < b);
            if cheaper && classes.values().all(|entries| evaluator.holds_all(entries)) {
                best = Some(cost);
            }
        }
    }
    best.map(|cost| cost / (set.rows * gs.len() as u64) as f64)
}

#[test]
fn small_tables_get_the_least_loss_there_is() {
    let mut proven = 0;
    for seed in 0..42 {
        let (rows, width) = if seed % 3 == 2 { (4, 3) } else { (6, 2) };
        let fixture = Fixture::small(seed, rows, width);
        let stated: [(&str, &[(&str, &str)]); 3] = [
            ("k-anonymity", &[("k", "2")]),
            ("distinct-l-diversity", &[("l", "2")]),
            ("entropy-l-diversity", &[("l", "2")]),
        ];
        for (id, parameters) in stated {
            let requirements = [fixture.requirement(id, parameters).unwrap()];
            for limit in [0, 1] {
                let found = find(&fixture, "cell-suppression", &requirements, limit, "gcp");
                let least = brute(&fixture, &requirements, limit);
                let (Ok(found), Some(least)) = (&found, least) else {
                    // Where only leaving out rows helps the whole table, no more than full-domain recodings is
                    // promised.
                    assert!(found.is_err() || limit > 0, "seed {seed}, {id}, {limit}: {found:?} {least:?}");
                    continue;
                };
                let cost = fixture.loss(&found.recoding, "gcp");
                if found.optimal {
                    assert!((cost - least).abs() < 1e-9, "seed {seed}, {id}, {limit}: {cost}, not {least}");
                    proven += usize::from(found.coding.is_some());
                }
                assert!(cost > least - 1e-9, "seed {seed}, {id}, {limit}: {cost} < {least}");
                let evaluator = Evaluator::new(&fixture.set, &requirements);
                assert!(evaluator.judge(0, &found.recoding.groups(&fixture.set).0).0, "seed {seed}, {id}");
            }
        }
    }
    assert!(proven > 30, "only {proven} releases with stars are proven");
}

#[test]
fn two_requirements_and_unknown_cells_get_the_least_loss_there_is() {
    let (mut compared, mut stars) = (0, 0);
    for seed in 100..190 {
        let (rows, width) = if seed % 3 == 2 { (4, 3) } else { (6, 2) };
        let fixture = Fixture::few(seed, rows, width, true);
        let requirement = |id: &str, parameter: &str| fixture.requirement(id, &[(parameter, "2")]).unwrap();
        let requirements = [requirement("k-anonymity", "k"), requirement("entropy-l-diversity", "l")];
        for limit in [0, 1] {
            let found = find(&fixture, "cell-suppression", &requirements, limit, "gcp");
            let (Ok(found), Some(least)) = (&found, brute(&fixture, &requirements, limit)) else {
                assert!(found.is_err() || limit > 0, "seed {seed}, {limit}: {found:?}");
                continue;
            };
            let cost = fixture.loss(&found.recoding, "gcp");
            assert!(cost > least - 1e-9, "seed {seed}, {limit}: {cost} < {least}");
            assert!(!found.optimal || (cost - least).abs() < 1e-9, "seed {seed}, {limit}: {cost}, not {least}");
            compared += usize::from(found.optimal);
            stars += usize::from(found.optimal && found.coding.is_some());
            let evaluator = Evaluator::new(&fixture.set, &requirements);
            let groups = found.recoding.groups(&fixture.set).0;
            assert!((0..2).all(|r| evaluator.judge(r, &groups).0), "seed {seed}, {limit}");
        }
    }
    assert!(compared > 20 && stars > 5, "{compared} proven, {stars} of them with stars");
}

#[test]
fn nothing_is_lost_against_full_domain_recodings_with_suppressed_rows() {
    let mut better = 0;
    for seed in 0..6 {
        let fixture = Fixture::random(seed, 20 + 40 * seed as usize, seed % 4 == 3);
        for requirements in fixture.policies() {
            for limit in [0, 10] {
                for by in [["gcp", "loss", "discernibility"][seed as usize % 3]] {
                    let whole = find(&fixture, "optimal", &requirements, limit, by);
                    let cells = match find(&fixture, "cell-suppression", &requirements, limit, by) {
                        Err(SearchError::Unsupported(_)) => continue,
                        cells => cells,
                    };
                    let Ok(whole) = whole else { continue };
                    let cells = cells.unwrap();
                    let (a, b) = (fixture.loss(&cells.recoding, by), fixture.loss(&whole.recoding, by));
                    let id = requirements[0].model.id;
                    assert!(a <= b + 1e-9, "seed {seed}, {id}, {limit}, {by}: {a} > {b}");
                    better += usize::from(a < b - 1e-9);
                    let (groups, suppressed) = cells.recoding.groups(&fixture.set);
                    assert!(suppressed <= limit, "seed {seed}, {id}");
                    let evaluator = Evaluator::new(&fixture.set, &requirements);
                    assert!((0..requirements.len()).all(|r| evaluator.judge(r, &groups).0), "seed {seed}, {id}, {by}");
                }
            }
        }
    }
    assert!(better > 15, "stars helped only {better} times");
}

/// Models with their parameters.
type Stated = &'static [(&'static str, &'static [(&'static str, &'static str)])];

#[test]
fn hundreds_of_small_tables_lose_no_more_than_with_suppressed_rows() {
    let (mut looked, mut better) = (0, 0);
    for seed in 0..300u64 {
        let unknown = seed % 7 < 3;
        let fixture = Fixture::few(seed, 7 + (seed % 9) as usize, 2 + (seed % 2) as usize, unknown);
        let stated: [Stated; 4] = [
            &[("k-anonymity", &[("k", "3")])],
            &[("distinct-l-diversity", &[("l", "2")])],
            &[("general-alpha-k-anonymity", &[("alpha", "2/3"), ("k", "2")])],
            &[("k-anonymity", &[("k", "3")]), ("entropy-l-diversity", &[("l", "3/2")])],
        ];
        let stated = stated[seed as usize % 4].iter();
        let requirements: Vec<Requirement> =
            stated.map(|(id, parameters)| fixture.requirement(id, parameters).unwrap()).collect();
        let id = requirements[0].model.id;
        for limit in [0, 2] {
            let Ok(whole) = find(&fixture, "optimal", &requirements, limit, "gcp") else { continue };
            let cells = find(&fixture, "cell-suppression", &requirements, limit, "gcp").unwrap();
            let (a, b) = (fixture.loss(&cells.recoding, "gcp"), fixture.loss(&whole.recoding, "gcp"));
            assert!(a <= b + 1e-9, "seed {seed}, {id}, {limit}: {a} > {b}");
            looked += 1;
            better += usize::from(a < b - 1e-9);
            let (groups, suppressed) = cells.recoding.groups(&fixture.set);
            let evaluator = Evaluator::new(&fixture.set, &requirements);
            let holds = (0..requirements.len()).all(|r| evaluator.judge(r, &groups).0);
            assert!(suppressed <= limit && holds, "seed {seed}, {id}, {limit}");
        }
    }
    assert!(looked > 300 && better * 4 > looked, "stars helped {better} of {looked} times");
}

#[test]
fn every_cell_is_the_coding_or_the_top() {
    let fixture = Fixture::random(3, 150, false);
    let requirements = &fixture.policies()[0];
    let found = find(&fixture, "cell-suppression", requirements, 0, "gcp").unwrap();
    let coding = found.coding.expect("some cells are suppressed");
    found.recoding.for_each_part(&fixture.set, |part| {
        let class = part.class.expect("nothing is left out").index();
        for ((cell, g), &level) in found.recoding.classes[class].iter().zip(&fixture.generalizations).zip(&coding) {
            let Cell::Node { level: at, .. } = cell else { panic!("{cell:?} is no node") };
            assert!(*at as usize == level || *at as usize == g.height(), "{}: level {at}", g.name);
        }
    });
    fixture.check(&found.recoding, requirements);
}

#[test]
fn columns_of_little_weight_are_suppressed_first() {
    let mut fixture = Fixture::random(5, 200, false);
    let requirements = [fixture.requirement("k-anonymity", &[("k", "5")]).unwrap()];
    let starred = |fixture: &Fixture, column: usize| {
        let found = find(fixture, "cell-suppression", &requirements, 0, "gcp").unwrap();
        let mut rows = 0;
        found.recoding.for_each_part(&fixture.set, |part| {
            let top = fixture.generalizations[column].height() as u32;
            let cell = &found.recoding.classes[part.class.expect("nothing is left out").index()][column];
            rows += if matches!(cell, Cell::Node { level, .. } if *level == top) { part.entry.rows } else { 0 };
        });
        rows
    };
    let mut weigh = |weight: f64| {
        fixture.generalizations.iter_mut().for_each(|g| g.weight = 1.0);
        fixture.generalizations[1].weight = weight;
        starred(&fixture, 1)
    };
    let (heavy, light) = (weigh(20.0), weigh(0.05));
    assert!(heavy < light, "{heavy} stars where it weighs much, {light} where it weighs little");
}

#[test]
fn random_policies_and_threads() {
    Fixture::trial("cell-suppression", &Parameters::default());
}
