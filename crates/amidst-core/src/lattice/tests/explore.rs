//! What is told about a whole lattice and about single nodes, against the oracle.

use std::cmp::Ordering;

use crate::frequency;
use crate::hierarchy::Cell;
use crate::lattice;
use crate::metric::METRICS;
use crate::model::{MODELS, Needs};
use crate::parameter::Parameters;
use crate::requirement::{Evaluator, Requirement};
use crate::search::{MaxSuppression, Search};
use proptest::prelude::*;

use super::brute::{self, Valid};
use super::exhaustive::{SHARES, cases};
use super::world::{Dice, World};

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * b.abs().max(1e-3),
        _ => a.is_none() && b.is_none(),
    }
}

/// Costs that differ by rounding alone are equal.
fn compare_costs(a: f64, b: f64) -> Ordering {
    if (a - b).abs() <= 1e-10 * a.abs().max(b.abs()) + 1e-14 { Ordering::Equal } else { a.total_cmp(&b) }
}

/// The nodes that no other beats in both the smallest class and the cost; of equal ones the lowest, then the first.
fn front(nodes: &[Valid]) -> Vec<Vec<usize>> {
    let height = |v: &Valid| v.levels.iter().sum::<usize>();
    let beats = |a: &Valid, b: &Valid| {
        let (Some(x), Some(y)) = (a.cost, b.cost) else { return false };
        let cost = compare_costs(x, y);
        let first = (height(a), &a.levels) < (height(b), &b.levels);
        a.smallest >= b.smallest && cost.is_le() && (a.smallest > b.smallest || cost.is_lt() || first)
    };
    let mut front: Vec<Vec<usize>> = (nodes.iter())
        .filter(|v| v.cost.is_some() && !nodes.iter().any(|w| w.levels != v.levels && beats(w, v)))
        .map(|v| v.levels.clone())
        .collect();
    front.sort();
    front
}

fn requirements(world: &World, dice: &mut Dice) -> Vec<Requirement> {
    (0..1 + dice.below(3))
        .map(|_| {
            let id = MODELS[dice.below(MODELS.len())].id;
            world.requirement(dice, id)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases() * 3, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_minimal_nodes_and_the_front_are_those_of_the_oracle(seed in any::<u64>(), persons in any::<bool>()) {
        let mut dice = Dice(seed);
        let world = World::new(&mut dice, persons, false);
        let requirements = requirements(&world, &mut dice);
        let options = Parameters::default();
        let search = world.search(&requirements, &options, &SHARES, &mut dice);
        let explored = lattice::explore(&search).unwrap();
        let evaluator = Evaluator::new(search.set, search.requirements);

        let minimal: Vec<Vec<usize>> = explored.minimal.iter().map(|n| n.levels.clone()).collect();
        prop_assert_eq!(minimal, brute::minimal(&brute::valid(&search)));
        for node in &explored.minimal {
            for (metric, (id, cost)) in METRICS.iter().zip(&node.metrics) {
                let expected = brute::judge(&Search { metric, ..search.clone() }, &evaluator, node.levels.clone()).unwrap();
                prop_assert_eq!((node.classes, node.suppressed), (expected.classes, expected.suppressed));
                prop_assert!(near(*cost, expected.cost), "{id} of {:?}: {cost:?}, not {:?}", node.levels, expected.cost);
            }
        }

        let free = Search { requirements: &[], max_suppression: MaxSuppression::Rows(0), ..search.clone() };
        let nodes = brute::valid(&free);
        prop_assert_eq!(explored.nodes, nodes.len() as f64);
        // The search for the minimal nodes looks at no more nodes than there are, and at each that it finds.
        prop_assert!((explored.minimal.len() as u64..=nodes.len() as u64).contains(&explored.nodes_checked));
        for node in &explored.minimal {
            let classes: Vec<_> = (brute::classes(&search, &node.levels).into_iter())
                .map(|class| brute::entries(&search, &class.1))
                .filter(|entries| !entries.is_empty())
                .collect();
            // Without suppression every class is published; what its rows have in common is counted from its entries.
            for (column, told) in node.homogeneity.iter().enumerate().filter(|_| node.suppressed == 0) {
                let alike = |entries: &&Vec<frequency::Entry>| {
                    let value = |e: &frequency::Entry| search.set.sensitive_code(e.sensitive, column);
                    entries.iter().all(|e| value(e) == value(&entries[0]))
                };
                let rows: Vec<u64> = classes.iter().filter(alike).map(|entries| frequency::rows(entries)).collect();
                prop_assert_eq!((told.classes, told.rows), (rows.len() as u64, rows.iter().sum::<u64>()));
                prop_assert!(told.classes_95 >= told.classes && told.rows_95 >= told.rows);
            }
        }
        prop_assert!(explored.complete);
        let mut levels: Vec<Vec<usize>> = explored.front.iter().map(|p| p.levels.clone()).collect();
        levels.sort();
        prop_assert_eq!(levels, front(&nodes), "{}", search.metric.id);
        for point in &explored.front {
            let node = nodes.iter().find(|n| n.levels == point.levels).unwrap();
            prop_assert_eq!((point.classes, point.smallest), (node.classes, node.smallest));
            prop_assert!(near(Some(point.cost), node.cost));
            prop_assert_eq!(point.max_risk, 1.0 / node.smallest as f64);
        }
        // From the cheapest to the safest.
        prop_assert!(explored.front.windows(2).all(|w| w[0].smallest < w[1].smallest));
    }

    #[test]
    fn why_not_counts_the_failing_classes_of_the_oracle(seed in any::<u64>(), persons in any::<bool>()) {
        let mut dice = Dice(seed);
        let strangers = dice.below(2) == 0;
        let world = World::new(&mut dice, persons, strangers);
        let requirements = requirements(&world, &mut dice);
        let options = Parameters::default();
        let search = world.search(&requirements, &options, &SHARES, &mut dice);
        let levels: Vec<usize> = world.generalizations.iter().map(|g| dice.below(g.height() + 1)).collect();
        let told = lattice::why_not(&search, &levels).unwrap();

        let evaluator = Evaluator::new(search.set, search.requirements);
        let classes: Vec<(Vec<u32>, Vec<u32>)> = (brute::classes(&search, &levels).into_iter())
            .filter(|c| !brute::entries(&search, &c.1).is_empty())
            .collect();
        let rows = |tuples: &[u32]| frequency::rows(&brute::entries(&search, tuples));
        let fails = |r: usize, tuples: &[u32]| {
            requirements[r].needs() != Needs::Release
                && !evaluator.holds_covering(r, &brute::entries(&search, tuples), tuples)
        };
        prop_assert_eq!(told.valid, brute::judge(&search, &evaluator, levels.clone()).is_some());
        prop_assert_eq!((told.classes, told.limit), (classes.len() as u64, search.suppression_limit()));
        let lost = classes.iter().filter(|c| (0..requirements.len()).any(|r| fails(r, &c.1)));
        prop_assert_eq!(told.rows, lost.map(|c| rows(&c.1)).sum::<u64>());
        prop_assert_eq!(told.requirements.len(), requirements.len());
        for (r, obstacle) in told.requirements.iter().enumerate() {
            let failing: Vec<&(Vec<u32>, Vec<u32>)> = classes.iter().filter(|c| fails(r, &c.1)).collect();
            prop_assert_eq!(obstacle.requirement, r);
            prop_assert_eq!(obstacle.classes, failing.len() as u64);
            prop_assert_eq!(obstacle.rows, failing.iter().map(|c| rows(&c.1)).sum::<u64>());
            prop_assert_eq!(obstacle.worst.len(), failing.len().min(5));
            for class in &obstacle.worst {
                let values = class.cells.iter().zip(&levels).map(|(cell, &l)| match cell {
                    Cell::Node { level, value } if *level as usize == l => Some(*value),
                    _ => None,
                });
                let values: Option<Vec<u32>> = values.collect();
                let own = failing.iter().find(|c| Some(&c.0) == values.as_ref());
                prop_assert_eq!(own.map(|c| rows(&c.1)), Some(class.rows));
            }
            if requirements[r].needs() != Needs::Release {
                prop_assert_eq!(obstacle.holds, failing.is_empty());
            }
        }
    }
}
