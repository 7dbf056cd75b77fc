//! Lattice searches against an oracle that looks at every node: small random tables, every model, every metric.

use crate::frequency::rolled;
use crate::lattice;
use crate::metric::METRICS;
use crate::model::{Bound, MODELS, Needs};
use crate::parameter::Parameters;
use crate::requirement::Requirement;
use crate::search::{MaxSuppression, Search, SearchError, Suppressed};
use proptest::prelude::*;

use super::brute;
use super::world::{Dice, World};

/// Shares of the rows that may be suppressed.
pub(super) const SHARES: [&str; 5] = ["0", "0", "0.1", "0.3", "1"];

/// Compares all three searches with the oracle.
fn compare(search: &Search<'_>) -> Result<(), TestCaseError> {
    let valid = brute::valid(search);
    let minimal = lattice::minimal(search).unwrap();
    prop_assert_eq!(minimal.iter().map(|n| n.levels.clone()).collect::<Vec<_>>(), brute::minimal(&valid));
    if let Some(by_subsets) = lattice::minimal_by_subsets(search).unwrap() {
        prop_assert_eq!(&by_subsets, &minimal);
    }
    for node in &minimal {
        let expected = valid.iter().find(|v| v.levels == node.levels).unwrap();
        prop_assert_eq!((node.classes, node.suppressed), (expected.classes, expected.suppressed));
        let expected = expected.cost.unwrap_or(f64::INFINITY);
        let near = node.cost == expected || (node.cost - expected).abs() <= 1e-9 * expected.abs().max(1e-3);
        prop_assert!(near, "{} of {:?}: {} is not {expected}", search.metric.id, node, node.cost);
    }
    let lowest = lattice::lowest(search).unwrap();
    prop_assert_eq!(lowest.iter().map(|n| n.levels.clone()).collect::<Vec<_>>(), brute::lowest(&valid));
    let best = lattice::best(search).unwrap();
    prop_assert_eq!(best.as_ref().map(|b| b.node.levels.clone()), brute::best(&valid), "{}", search.metric.id);
    prop_assert!(best.is_none_or(|b| b.gap.is_none()));
    if let Some(impossible) = crate::search::feasibility::impossible(search) {
        prop_assert!(valid.is_empty(), "{}", impossible.message);
    }
    Ok(())
}

/// How many random worlds a property looks at; `PROPTEST_CASES` asks for more.
pub(super) fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_model_alone_equals_exhaustive_search(seed in any::<u64>()) {
        for entry in MODELS {
            let mut dice = Dice(seed);
            let world = World::new(&mut dice, false, true);
            let requirements = [world.requirement(&mut dice, entry.id)];
            let options = Parameters::default();
            compare(&world.search(&requirements, &options, &SHARES, &mut dice))?;
        }
    }

    #[test]
    fn models_together_equal_exhaustive_search(seed in any::<u64>(), persons in any::<bool>()) {
        for round in 0..12 {
            let mut dice = Dice(seed ^ round);
            let strangers = dice.below(2) == 0;
            let world = World::new(&mut dice, persons, strangers);
            let requirements: Vec<Requirement> = (0..1 + dice.below(3))
                .map(|_| {
                    let id = MODELS[dice.below(MODELS.len())].id;
                    world.requirement(&mut dice, id)
                })
                .collect();
            let options = Parameters::default();
            compare(&world.search(&requirements, &options, &SHARES, &mut dice))?;
        }
    }

    #[test]
    fn subsets_are_searched_for_every_monotone_model(seed in any::<u64>()) {
        for entry in MODELS {
            let mut dice = Dice(seed);
            let world = World::new(&mut dice, false, false);
            let requirements = [world.requirement(&mut dice, entry.id), world.requirement(&mut dice, "k-anonymity")];
            let options = Parameters::default();
            let search = world.search(&requirements, &options, &SHARES, &mut dice);
            let search = Search { max_suppression: MaxSuppression::Rows(0), ..search };
            let monotone = requirements.iter().all(|r| r.monotone(search.set));
            let found = lattice::minimal_by_subsets(&search).unwrap();
            prop_assert_eq!(found.is_some(), monotone, "{}", entry.id);
            if let Some(found) = found {
                let levels: Vec<Vec<usize>> = found.into_iter().map(|n| n.levels).collect();
                prop_assert_eq!(levels, brute::minimal(&brute::valid(&search)), "{}", entry.id);
            }
        }
    }

    #[test]
    fn suppression_of_either_kind_equals_exhaustive_search(seed in any::<u64>()) {
        // Not monotone: validity may come and go on the way up.
        let ids =
            ["bayes-optimal", "belief-difference", "entropy-l-diversity", "recursive-c-l-diversity", "t-closeness", "beta-likeness"];
        for id in ids {
            for (suppressed, share) in
                [Suppressed::Drop, Suppressed::Mask].into_iter().flat_map(|s| ["0.1", "0.4", "1"].map(|share| (s, share)))
            {
                let mut dice = Dice(seed);
                let world = World::new(&mut dice, false, false);
                let requirements = [world.requirement(&mut dice, id), world.requirement(&mut dice, "k-anonymity")];
                let options = Parameters::default();
                let search = world.search(&requirements, &options, &SHARES, &mut dice);
                let max_suppression = MaxSuppression::Share(share.parse().unwrap());
                compare(&Search { suppressed, max_suppression, ..search })?;
            }
        }
    }

    #[test]
    fn every_metric_is_minimized(seed in any::<u64>()) {
        for metric in METRICS {
            let mut dice = Dice(seed);
            let world = World::new(&mut dice, false, false);
            let ids = ["k-anonymity", "distinct-l-diversity", "entropy-l-diversity", "recursive-c-l-diversity"];
            let id = dice.pick(&ids);
            let requirements = [world.requirement(&mut dice, "k-anonymity"), world.requirement(&mut dice, id)];
            let options = Parameters::default();
            let search = Search { metric, ..world.search(&requirements, &options, &SHARES, &mut dice) };
            compare(&search)?;
        }
    }

    #[test]
    fn a_table_that_was_rolled_up_is_searched_from_there(seed in any::<u64>()) {
        for round in 0..8 {
            let mut dice = Dice(seed ^ round);
            let world = World::new(&mut dice, false, false);
            let id = MODELS[dice.below(MODELS.len())].id;
            let requirements = [world.requirement(&mut dice, "k-anonymity"), world.requirement(&mut dice, id)];
            let options = Parameters::default();
            let whole = world.search(&requirements, &options, &SHARES, &mut dice);
            // What looks at single tuples or values is not asked of such a table.
            if whole.metric.metric.looks_at_values() || requirements.iter().any(|r| r.needs() == Needs::Tuples) {
                continue;
            }
            let floor: Vec<usize> = world.generalizations.iter().map(|g| dice.below(g.height() + 1)).collect();
            let set = rolled::roll_up(whole.set, whole.generalizations, &floor);
            prop_assert_eq!(set.rows, whole.set.rows);
            let rolled = Search { set: &set, ..whole.clone() };
            let above = |v: &brute::Valid| v.levels.iter().zip(&floor).all(|(level, floor)| level >= floor);
            let valid: Vec<brute::Valid> = brute::valid(&whole).into_iter().filter(above).collect();
            let levels = |nodes: Vec<lattice::Node>| nodes.into_iter().map(|n| n.levels).collect::<Vec<_>>();
            prop_assert_eq!(levels(lattice::minimal(&rolled).unwrap()), brute::minimal(&valid));
            prop_assert_eq!(levels(lattice::lowest(&rolled).unwrap()), brute::lowest(&valid));
            let best = lattice::best(&rolled).unwrap();
            prop_assert_eq!(best.as_ref().map(|b| b.node.levels.clone()), brute::best(&valid));
            if let Some(best) = best {
                let expected = valid.iter().find(|v| v.levels == best.node.levels).unwrap();
                prop_assert_eq!((best.node.classes, best.node.suppressed), (expected.classes, expected.suppressed));
            }
        }
    }

    #[test]
    fn the_number_of_threads_changes_nothing(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let world = World::new(&mut dice, false, false);
        let requirements =
            [world.requirement(&mut dice, "k-anonymity"), world.requirement(&mut dice, "entropy-l-diversity")];
        let options = Parameters::default();
        let search = world.search(&requirements, &options, &SHARES, &mut dice);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let explored = lattice::explore(&search).unwrap();
                (lattice::minimal(&search), lattice::best(&search), lattice::lowest(&search), explored)
            })
        };
        let one = run(1);
        for threads in [2, 7] {
            prop_assert_eq!(&run(threads), &one);
        }
    }
}

#[test]
fn an_impossible_policy_names_the_requirement_and_the_best_value() {
    let mut dice = Dice(7);
    let world = World::new(&mut dice, false, false);
    let entry = crate::model::find("k-anonymity").unwrap();
    let mut parameters = Parameters::default();
    parameters.set("k", crate::parameter::Value::Number(1000u64.into()));
    let requirements = [Requirement::new(entry, parameters, vec![], &world.domains).unwrap()];
    let options = Parameters::default();
    let search = Search {
        max_suppression: MaxSuppression::Rows(0),
        suppressed: Suppressed::Drop,
        ..world.search(&requirements, &options, &SHARES, &mut dice)
    };
    for id in ["incognito", "optimal", "samarati"] {
        let error = crate::algorithm::find(id).unwrap().algorithm.search(&search).unwrap_err();
        let SearchError::Impossible(why) = error else { panic!("{error:?}") };
        let message = why.to_string();
        let unmet = why.unmet.as_deref().unwrap();
        assert_eq!((unmet.requirement, unmet.best.parameter), (0, "k"), "{message}");
        assert_eq!(unmet.best.bound, Bound::ratio(world.set.rows, 1), "{message}");
        assert_eq!(why.least_suppression, None, "{message}");
        assert!(message.contains("k-anonymity with k = 1000"), "{message}");
        assert!(message.contains(&format!("the largest possible k in this table is {}", world.set.rows)), "{message}");
        assert!(message.contains("with any number of suppressed rows"), "{message}");
    }
}
