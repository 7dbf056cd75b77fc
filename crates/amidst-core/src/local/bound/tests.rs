//! Every way to divide small tables is the oracle: the bound is never above the least loss of all of them.

use super::*;
use crate::frequency::{Entry, Groups};
use crate::hierarchy::Generalize;
use crate::local::class::{Judge, Partition, cluster};
use crate::local::fixture::Fixture;
use crate::local::shape::Space;
use crate::metric::{self, Release};
use crate::parameter::Parameters;
use crate::requirement::{Evaluator, Requirement};
use crate::search::{MaxSuppression, Suppressed};

/// Calls `see` with every way to put `left` more rows into blocks; block 0 may hold at most `limit`.
fn divisions(blocks: &mut Vec<usize>, rows: usize, limit: usize, see: &mut dyn FnMut(&[usize])) {
    if blocks.len() == rows {
        return see(blocks);
    }
    let next = blocks.iter().max().map_or(1, |&b| b + 1).max(1);
    for block in 0..=next {
        if block == 0 && blocks.iter().filter(|&&b| b == 0).count() >= limit {
            continue;
        }
        blocks.push(block);
        divisions(blocks, rows, limit, see);
        blocks.pop();
    }
}

/// The least loss of any division of a table's rows by each metric that has one.
fn least_of_all(
    fixture: &Fixture,
    requirements: &[Requirement],
    limit: usize,
    metrics: &[&'static metric::Entry],
) -> Vec<f64> {
    let set = &fixture.set;
    let space = Space::new(&fixture.generalizations);
    let tuple_of = set.tuple_of_entry();
    let entries = set.groups.entries.iter().enumerate();
    let rows: Vec<u32> = entries.flat_map(|(e, entry)| vec![e as u32; entry.rows as usize]).collect();
    let mut least = vec![f64::INFINITY; metrics.len()];
    fixture.search(requirements, &Parameters::default(), |search| {
        let Ok(judge) = Judge::new(&Search { max_suppression: MaxSuppression::Rows(limit as u64), ..search.clone() })
        else {
            return;
        };
        divisions(&mut Vec::new(), rows.len(), limit, &mut |blocks| {
            let mut partition = Partition { classes: vec![Vec::new(); blocks.iter().max().map_or(0, |b| b + 1)] };
            for (&row, &block) in rows.iter().zip(blocks) {
                cluster::put(&mut partition.classes[block], row, 1);
            }
            let omitted = std::mem::take(&mut partition.classes[0]);
            if partition.classes.iter().all(Vec::is_empty) {
                return;
            }
            let pairs = partition.classes.iter().enumerate().flat_map(|(c, class)| {
                class.iter().map(move |&(e, rows)| (c as u32, Entry { rows, ..set.groups.entries[e as usize] }))
            });
            let groups = Groups::collect(partition.classes.len(), pairs.collect());
            let evaluator = Evaluator::of_release(set, requirements, &groups);
            if !groups.iter().all(|class| class.is_empty() || evaluator.holds_all(class)) {
                return;
            }
            let Ok(recoding) = partition.recoding_without(set, &tuple_of, &space, &judge, &omitted, Suppressed::Drop)
            else {
                return;
            };
            let (groups, suppressed) = recoding.groups(set);
            let generalizations = &fixture.generalizations[..];
            let release = Release { set, generalizations, recoding: &recoding, groups: &groups, suppressed, k: 1 };
            for (least, metric) in least.iter_mut().zip(metrics) {
                *least = least.min(metric.metric.loss(&release).unwrap_or(f64::INFINITY));
            }
        });
    });
    least
}

fn bound(
    fixture: &Fixture,
    requirements: &[Requirement],
    limit: usize,
    metric: &'static metric::Entry,
    effort: Effort,
) -> Option<f64> {
    fixture.search(requirements, &Parameters::default(), |search| {
        let max_suppression = MaxSuppression::Rows(limit as u64);
        least_loss(&Search { metric, max_suppression, ..search.clone() }, effort).unwrap()
    })
}

/// Rows pay each other, too.
const EXCHANGING: Effort = Effort { rounds: 6, ..Effort::SMALL };

fn metrics() -> Vec<&'static metric::Entry> {
    ["information-loss", "gcp", "loss", "precision", "non-uniform-entropy", "discernibility"]
        .iter()
        .filter_map(|id| metric::find(id))
        .collect()
}

#[test]
fn the_bound_is_never_above_the_least_loss() {
    let (mut proven, mut tight) = (0, 0);
    for seed in 0..14 {
        let mut fixture = Fixture::random(seed, 6 + seed as usize % 2, false);
        if seed % 2 == 1 {
            fixture.generalizations.iter_mut().for_each(|g| g.generalize = Generalize::Hierarchy);
        }
        let mut policies = fixture.policies();
        policies.extend(fixture.requirement("k-anonymity", &[("k", "2")]).map(|r| vec![r]));
        policies.extend(fixture.requirement("beta-likeness", &[("beta", "1")]).map(|r| vec![r]));
        policies.extend(fixture.requirement("delta-disclosure", &[("delta", "1.2")]).map(|r| vec![r]));
        policies
            .extend(fixture.requirement("general-alpha-k-anonymity", &[("alpha", "1/2"), ("k", "2")]).map(|r| vec![r]));
        policies.extend(fixture.requirement("m-invariance", &[("m", "3")]).map(|r| vec![r]));
        policies.extend(fixture.requirement("p-sensitive-k-anonymity", &[("p", "2"), ("k", "3")]).map(|r| vec![r]));
        for requirements in policies {
            let limit = seed as usize % 3;
            let metrics = metrics();
            let least = least_of_all(&fixture, &requirements, limit, &metrics);
            for (metric, least) in metrics.into_iter().zip(least) {
                for (looks, rounds) in [(0, 0), (30, 0), (1_000, 0), (40_000_000, 0), (30, 5), (40_000_000, 8)] {
                    let effort = Effort { looks, rounds, ..Effort::SMALL };
                    let Some(bound) = bound(&fixture, &requirements, limit, metric, effort) else { continue };
                    let id = requirements[0].model.id;
                    assert!(bound <= least, "seed {seed}, {id}, {}, {limit}: {bound} > {least}", metric.id);
                    assert!(metric.id != "discernibility");
                    proven += 1;
                    tight += usize::from(least.is_finite() && bound > 0.999 * least);
                }
            }
        }
    }
    assert!(proven > 400 && tight > 40, "{proven} bounds, {tight} of them tight");
}

/// On tables too large to try everything, no algorithm finds less.
#[test]
fn no_algorithm_is_below_the_bound() {
    for seed in 0..3 {
        let fixture = Fixture::random(seed, 130, false);
        for requirements in fixture.policies() {
            for limit in [0, 6] {
                let metric = metric::find("gcp").unwrap();
                let Some(least) = bound(&fixture, &requirements, limit, metric, EXCHANGING) else { continue };
                for entry in
                    crate::algorithm::ALGORITHMS.iter().filter(|a| a.kind == crate::algorithm::RecodingKind::Local)
                {
                    let found = fixture.search(&requirements, &Parameters::default(), |search| {
                        let max_suppression = MaxSuppression::Rows(limit as u64);
                        entry.algorithm.search(&Search { max_suppression, ..search.clone() })
                    });
                    let Ok(found) = found else { continue };
                    let (groups, suppressed) = found.recoding.groups(&fixture.set);
                    let (set, generalizations) = (&fixture.set, &fixture.generalizations[..]);
                    let recoding = &found.recoding;
                    let release = Release { set, generalizations, recoding, groups: &groups, suppressed, k: 1 };
                    let loss = metric.metric.loss(&release).unwrap();
                    assert!(least <= loss, "{} {}: {least} > {loss}", entry.id, requirements[0].model.id);
                }
            }
        }
    }
}

/// Rows that compete prove more than each by itself, and more work proves no less.
#[test]
fn competition_raises_the_bound() {
    let metric = metric::find("gcp").unwrap();
    let mut more = 0;
    for seed in 0..4 {
        let fixture = Fixture::random(seed, 90, false);
        let requirements = &fixture.policies()[0];
        let with = |looks| bound(&fixture, requirements, 0, metric, Effort { looks, ..Effort::SMALL });
        let (alone, competing) = (with(0).unwrap_or(0.0), with(40_000_000).unwrap());
        more += usize::from(competing > alone * 1.02);
    }
    assert!(more >= 3, "{more}");
}

/// Rows that pay each other prove more than rows that compete, and values that are scarce are dear.
#[test]
fn exchange_raises_the_bound() {
    let metric = metric::find("gcp").unwrap();
    for (id, parameters) in [
        ("k-anonymity", &[("k", "4")][..]),
        ("distinct-l-diversity", &[("l", "3")]),
        ("general-alpha-k-anonymity", &[("alpha", "1/2"), ("k", "2")]),
    ] {
        let mut more = 0;
        for seed in 0..4 {
            let fixture = Fixture::random(seed, 90, false);
            let requirements: Vec<Requirement> = fixture.requirement(id, parameters).into_iter().collect();
            let with = |rounds| {
                let effort = Effort { rounds, looks: 40_000_000, ..Effort::SMALL };
                bound(&fixture, &requirements, 0, metric, effort).unwrap_or(0.0)
            };
            more += usize::from(with(12) > with(0) * 1.02);
        }
        assert!(more >= 3, "{id}: {more}");
    }
}
