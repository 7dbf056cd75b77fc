//! Sets of quasi columns against every node and every choice of stars on small tables.

use std::collections::BTreeMap;

use super::{holds, search, supports};
use crate::algorithm;
use crate::frequency::Entry;
use crate::ids::SensitiveId;
use crate::local::fixture::Fixture;
use crate::metric::{self, column_weights};
use crate::parameter::Parameters;
use crate::random::Random;
use crate::recoding::Recoding;
use crate::requirement::{Evaluator, Requirement};
use crate::search::{Found, MaxSuppression, Search, SearchError, Suppressed};

fn find(
    fixture: &Fixture,
    sets: &[Vec<usize>],
    requirements: &[Requirement],
    limit: u64,
    id: &str,
) -> Result<Found, SearchError> {
    fixture.search(requirements, &Parameters::default(), |plain| {
        let metric = metric::find("gcp").unwrap();
        let own = Search { metric, max_suppression: MaxSuppression::Rows(limit), ..plain.clone() };
        let found = search(&own, sets, algorithm::find(id).unwrap(), None)?;
        assert!(holds(&own, sets, &found.recoding), "{id} publishes what does not hold");
        Ok(found)
    })
}

fn gcp(fixture: &Fixture, recoding: &Recoding) -> f64 {
    fixture.loss(recoding, "gcp")
}

/// The least GCP over every node, every choice of stars of each tuple (none where `stars` is false) and every choice of
/// tuples to leave out. Written from the definition: labels are compared, not codes.
fn brute(fixture: &Fixture, sets: &[Vec<usize>], requirements: &[Requirement], limit: u64, stars: bool) -> Option<f64> {
    let (set, gs) = (&fixture.set, &fixture.generalizations);
    let evaluator = Evaluator::new(set, requirements);
    let weights = column_weights(gs);
    let patterns = if stars { 1u64 << gs.len() } else { 1 };
    let ways = patterns + u64::from(limit > 0);
    let mut best: Option<f64> = None;
    for node in fixture.nodes() {
        'ways: for number in 0..ways.pow(set.len() as u32) {
            let (mut left, mut number, mut cost) = (limit, number, 0.0);
            let mut rows: Vec<(Vec<&str>, &[Entry])> = Vec::new();
            for tuple in 0..set.len() {
                let (way, entries) = (number % ways, set.groups.get(tuple));
                number /= ways;
                let count = crate::frequency::rows(entries);
                if way == patterns {
                    let Some(less) = left.checked_sub(count) else { continue 'ways };
                    left = less;
                    cost += count as f64 * weights.iter().sum::<f64>();
                    continue;
                }
                let mut labels = Vec::new();
                for ((label, loss), weight) in fixture.starred(&node, tuple, way).zip(&weights) {
                    cost += count as f64 * weight * loss;
                    labels.push(label);
                }
                rows.push((labels, entries));
            }
            if rows.is_empty() || best.is_some_and(|b| cost >= b) {
                continue;
            }
            let every = sets.iter().all(|columns| {
                let mut classes: BTreeMap<Vec<&str>, Vec<Entry>> = BTreeMap::new();
                for (labels, entries) in &rows {
                    let key = columns.iter().map(|&c| labels[c]).collect();
                    classes.entry(key).or_default().extend(entries.iter().copied());
                }
                classes.values().all(|entries| evaluator.holds_all(&counted(entries)))
            });
            if every {
                best = Some(cost);
            }
        }
    }
    best.map(|cost| cost / (set.rows * gs.len() as u64) as f64)
}

/// The entries of a class as models see them: one for each sensitive tuple, ascending.
fn counted(entries: &[Entry]) -> Vec<Entry> {
    let mut rows: BTreeMap<(SensitiveId, u32), u64> = BTreeMap::new();
    entries.iter().for_each(|e| *rows.entry((e.sensitive, e.person)).or_default() += e.rows);
    rows.into_iter().map(|((sensitive, person), rows)| Entry { sensitive, person, rows }).collect()
}

/// Random sets of `width` columns that cover all of them, overlapping or not.
fn random_sets(random: &mut Random, width: usize) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = vec![Vec::new(); 2];
    for c in 0..width {
        match random.below(3) {
            0 => sets[0].push(c),
            1 => sets[1].push(c),
            _ => sets.iter_mut().for_each(|s| s.push(c)),
        }
    }
    sets.retain(|s| !s.is_empty());
    sets
}

const STATED: [(&str, &[(&str, &str)]); 3] =
    [("k-anonymity", &[("k", "2")]), ("distinct-l-diversity", &[("l", "2")]), ("entropy-l-diversity", &[("l", "2")])];

/// Seeds of tables without ragged hierarchies: a label `*` below the top has the price of its level, which brute force,
/// that looks at labels alone, does not know.
fn seeds(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|i| 2 * i + 1)
}

#[test]
fn whole_levels_lose_the_least_there_is() {
    for seed in seeds(40) {
        let fixture = Fixture::small(seed, 6 + seed as usize % 3, 2 + seed as usize % 2);
        let sets = random_sets(&mut Random::new(seed ^ 77), fixture.generalizations.len());
        for (id, parameters) in STATED {
            let requirements = [fixture.requirement(id, parameters).unwrap()];
            // Which rows are left out is not free there: whole failing classes are.
            let found = find(&fixture, &sets, &requirements, 0, "optimal");
            let least = brute(&fixture, &sets, &requirements, 0, false);
            match (&found, least) {
                (Ok(found), Some(least)) => {
                    let cost = gcp(&fixture, &found.recoding);
                    assert!((cost - least).abs() < 1e-9, "seed {seed}, {id}, {sets:?}: {cost}, not {least}");
                    assert!(found.optimal);
                }
                (Err(SearchError::Impossible(_)), None) => {}
                other => panic!("seed {seed}, {id}, {sets:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn stars_lose_no_more_than_whole_levels_and_no_less_than_can_be() {
    let (mut proven, mut looked) = (0, 0);
    for seed in seeds(40) {
        let fixture = Fixture::small(seed, 5, 2);
        let sets = random_sets(&mut Random::new(seed ^ 5), 2);
        for (id, parameters) in STATED {
            let requirements = [fixture.requirement(id, parameters).unwrap()];
            for limit in [0, 1] {
                let whole = find(&fixture, &sets, &requirements, limit, "optimal");
                let cells = find(&fixture, &sets, &requirements, limit, "cell-suppression");
                let least = brute(&fixture, &sets, &requirements, limit, true);
                let Ok(cells) = cells else {
                    assert!(whole.is_err() && (least.is_none() || limit > 0), "seed {seed}, {id}, {limit}, {sets:?}");
                    continue;
                };
                let cost = gcp(&fixture, &cells.recoding);
                let least = least.expect("brute force finds what is found");
                if let Ok(whole) = whole {
                    let other = gcp(&fixture, &whole.recoding);
                    assert!(cost <= other + 1e-9, "seed {seed}, {id}, {limit}, {sets:?}: {cost} > {other}");
                }
                assert!(cost > least - 1e-9, "seed {seed}, {id}, {limit}, {sets:?}: {cost} < {least}");
                looked += 1;
                if cells.optimal {
                    assert!(cost < least + 1e-9, "seed {seed}, {id}, {limit}, {sets:?}: {cost}, not {least}");
                    proven += 1;
                }
            }
        }
    }
    assert!(proven == looked && looked > 100, "{proven} of {looked} are proven to lose the least");
}

#[test]
fn three_columns_and_more_tuples_are_proven_where_the_steps_suffice() {
    let (mut proven, mut looked) = (0, 0);
    for seed in seeds(12) {
        let fixture = Fixture::small(seed, 8, 3);
        let sets = random_sets(&mut Random::new(seed ^ 9), 3);
        let requirements = [fixture.requirement("k-anonymity", &[("k", "2")]).unwrap()];
        let Ok(cells) = find(&fixture, &sets, &requirements, 0, "cell-suppression") else { continue };
        let whole = find(&fixture, &sets, &requirements, 0, "optimal").map(|w| gcp(&fixture, &w.recoding));
        let cost = gcp(&fixture, &cells.recoding);
        assert!(whole.is_ok_and(|whole| cost <= whole + 1e-9), "seed {seed}, {sets:?}: {cost}");
        looked += 1;
        proven += usize::from(cells.optimal);
    }
    assert!(proven * 2 > looked, "{proven} of {looked} are proven");
}

#[test]
fn larger_tables_hold_in_every_set_for_every_model() {
    for seed in 0..6 {
        let fixture = Fixture::random(seed, 60 + 40 * seed as usize, seed % 3 == 2);
        let sets = random_sets(&mut Random::new(seed), 4);
        for requirements in fixture.policies() {
            for (id, limit) in [("optimal", 0), ("cell-suppression", 0), ("samarati", 8), ("cell-suppression", 8)] {
                match find(&fixture, &sets, &requirements, limit, id) {
                    Ok(_) | Err(SearchError::Impossible(_)) => {}
                    Err(other) => panic!("seed {seed}, {id}, {limit}: {other}"),
                }
            }
        }
    }
}

#[test]
fn small_sets_keep_more_than_one_large_one() {
    let fixture = Fixture::random(4, 200, false);
    let requirements = [fixture.requirement("k-anonymity", &[("k", "4")]).unwrap()];
    let together = find(&fixture, &[vec![0, 1, 2, 3]], &requirements, 0, "optimal").unwrap();
    let apart = find(&fixture, &[vec![0, 1], vec![2, 3]], &requirements, 0, "optimal").unwrap();
    assert!(gcp(&fixture, &apart.recoding) < gcp(&fixture, &together.recoding));
}

#[test]
fn what_does_not_suit_is_refused_with_the_reason() {
    let fixture = Fixture::random(1, 40, false);
    let requirements = [fixture.requirement("k-anonymity", &[("k", "2")]).unwrap()];
    let told = find(&fixture, &[vec![0, 1], vec![2, 3]], &requirements, 0, "mondrian").unwrap_err().to_string();
    assert!(told.contains("all quasi columns together"), "{told}");
    fixture.search(&requirements, &Parameters::default(), |plain| {
        let masked = Search { max_suppression: MaxSuppression::Rows(3), suppressed: Suppressed::Mask, ..plain.clone() };
        assert!(supports(&masked, algorithm::OPTIMAL).unwrap_err().to_string().contains("masked rows"));
    });
}
