//! What cannot be seen from outside: memory bounds, and what only large lattices do.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::find::LeastSuppression;
use super::*;
use crate::control::Control;
use crate::parameter::Parameters;
use crate::requirement::Requirement;

mod below;
mod brute;
mod exhaustive;
mod explore;
pub(super) mod world;

use world::{Dice, World};

/// A random policy on a random world.
fn policy(dice: &mut Dice) -> (World, Vec<Requirement>) {
    let world = World::new(dice, false, false);
    let ids = ["distinct-l-diversity", "entropy-l-diversity", "recursive-c-l-diversity", "t-closeness"];
    let id = dice.pick(&ids);
    let requirements = vec![world.requirement(dice, "k-anonymity"), world.requirement(dice, id)];
    (world, requirements)
}

/// Shares of the rows that may be suppressed.
const SHARES: [&str; 3] = ["0", "0.2", "1"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_small_budget_is_kept_and_changes_no_answer(seed in any::<u64>(), budget in 0usize..3000) {
        let mut dice = Dice(seed);
        let (world, requirements) = policy(&mut dice);
        let options = Parameters::default();
        let search = world.search(&requirements, &options, &SHARES, &mut dice);
        let run = |budget: usize, negligible: usize| {
            let pricer = Pricer::new(&search, search.metric);
            let judge = Judge::new(&search, pricer.needs_groups());
            on_lattice!(&search, judge, tracked(&search, &pricer), walk => {
                let mut walk = walk;
                (walk.budget, walk.negligible) = (budget, negligible);
                let least = LeastSuppression::default();
                walk.run(&search, &least)?;
                let minimal = Minimal::default();
                walk.run(&search, &minimal)?;
                let best = Best::new(&walk.judge, &pricer);
                walk.run(&search, &best)?;
                let found = (least.into_least(), minimal.into_nodes(), best.into_best());
                Ok::<_, SearchError>((found, walk.peak.load(Ordering::Relaxed)))
            })
        };
        let (free, _) = run(usize::MAX, usize::MAX)?;
        let (bounded, peak) = run(budget, 0)?;
        prop_assert_eq!(bounded, free);
        prop_assert!(peak <= budget, "{peak} bytes of {budget}");
    }

    #[test]
    fn walks_under_a_rising_threshold_prove_a_true_bound(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let (world, requirements) = policy(&mut dice);
        let options = Parameters::default();
        let search = Search {
            control: Control { deadline: Some(Instant::now() + Duration::from_secs(600)), ..Control::default() },
            ..world.search(&requirements, &options, &SHARES, &mut dice)
        };
        let best = super::best(&search).unwrap();
        let pricer = Pricer::new(&search, search.metric);
        let judge = Judge::new(&search, pricer.needs_groups());
        let found = on_lattice!(&search, judge, tracked(&search, &pricer), walk => {
            // As if the lattice were large.
            let mut walk = walk;
            walk.large = 0.0;
            let mut strategy = Best::new(&walk.judge, &pricer);
            offer_first(&search, &walk, &pricer, &strategy);
            let proven = raise_bound(&search, &walk, &pricer, &mut strategy, f64::NEG_INFINITY)?;
            walk.run(&search, &strategy)?;
            // Good nodes found first change neither the answer nor what is valid.
            let climbing = Best::new(&walk.judge, &pricer);
            wide::improve(&search, &walk, &pricer, &climbing, Instant::now() + Duration::from_millis(40))?;
            let climbed = climbing.ceiling();
            walk.run(&search, &climbing)?;
            Ok::<_, SearchError>((strategy.into_best().0, proven, climbing.into_best().0, climbed))
        })?;
        let (found, proven, after, climbed) = (found.0, found.1, found.2, found.3);
        prop_assert_eq!(&after, &found);
        prop_assert!(after.is_none_or(|(cost, _)| climbed >= cost - 1e-9));
        prop_assert_eq!(found.map(|f| f.1), best.as_ref().map(|b| b.node.levels.clone()));
        if let Some(best) = best {
            prop_assert!(proven <= best.node.cost + 1e-9, "{proven} is above {}", best.node.cost);
        }
    }

    #[test]
    fn best_first_and_along_the_tree_the_same_node_is_found(seed in any::<u64>(), budget in 0usize..3000) {
        let mut dice = Dice(seed);
        let (world, requirements) = policy(&mut dice);
        let options = Parameters::default();
        let search = world.search(&requirements, &options, &SHARES, &mut dice);
        let pricer = Pricer::new(&search, search.metric);
        let judge = Judge::new(&search, pricer.needs_groups());
        on_lattice!(&search, judge, tracked(&search, &pricer), walk => {
            let mut walk = walk;
            let tree = Best::new(&walk.judge, &pricer);
            walk.run(&search, &tree)?;
            let tree = tree.into_best().0;
            for (budget, worth_a_step) in [(budget, 0), (usize::MAX, usize::MAX), (usize::MAX, 0)] {
                (walk.budget, walk.worth_a_step) = (budget, worth_a_step);
                walk.peak.store(0, Ordering::Relaxed);
                let first = Best::new(&walk.judge, &pricer);
                best_first::run(&search, &walk, &pricer, &first)?;
                let (first, unexplored) = first.into_best();
                prop_assert_eq!(first.map(|f| f.1), tree.as_ref().map(|t| t.1.clone()));
                prop_assert_eq!(unexplored, f64::INFINITY);
                prop_assert!(walk.peak.load(Ordering::Relaxed) <= budget);
            }
            // With no time at all, nothing is found, and what is left out is bounded.
            let none = Best::new(&walk.judge, &pricer);
            let over = Search { control: Control { deadline: Some(Instant::now()), ..search.control }, ..search.clone() };
            best_first::run(&over, &walk, &pricer, &none)?;
            let (none, unexplored) = none.into_best();
            prop_assert_eq!(none, None);
            prop_assert!(tree.is_none_or(|(cost, _)| unexplored <= cost));
            Ok::<_, SearchError>(())
        })?;
    }
    #[test]
    fn sizes_of_classes_are_those_of_a_roll_up(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let world = World::new(&mut dice, false, false);
        let requirements = vec![world.requirement(&mut dice, "k-anonymity")];
        let options = Parameters::default();
        let search = world.search(&requirements, &options, &SHARES, &mut dice);
        let least = crate::search::need::Need::of(&search).map_or(1, |need| need.rows);
        let pricer = Pricer::new(&search, search.metric);
        let judge = Judge::new(&search, pricer.needs_groups());
        on_lattice!(&search, judge, tracked(&search, &pricer), walk => {
            let (sizes, mut scratch) = (sizes::Sizes::new(&search, least), sizes::Scratch::default());
            let levels: Vec<usize> = walk.bottom.iter().zip(&walk.top).map(|(b, t)| b + dice.below(t - b + 1)).collect();
            let (found, too_small) = sizes.classes(&sizes.partition(&levels, &mut scratch), &levels);
            let rolled = walk.snapshot(&levels);
            prop_assert_eq!((&found.first, &found.rows), (&rolled.classes.first, &rolled.classes.rows));
            let small: u64 = rolled.classes.rows.iter().filter(|&&rows| rows < least).sum();
            prop_assert_eq!(sizes.too_small(&sizes.partition(&levels, &mut scratch), &mut scratch), small);
            let finest = sizes.partition(&walk.bottom, &mut scratch);
            let coarser = sizes.coarser(&finest, &levels, &mut scratch);
            let from_finest = sizes.classes(&coarser, &levels);
            prop_assert_eq!((&from_finest.0.first, &from_finest.0.rows), (&found.first, &found.rows));
            prop_assert_eq!(too_small.iter().map(|&class| found.rows[class as usize]).sum::<u64>(), small);
            // What is offered costs what it is said to cost, and nothing costs less than the best.
            let best = Best::new(&walk.judge, &pricer);
            wide::improve(&search, &walk, &pricer, &best, Instant::now() + Duration::from_millis(20))?;
            if let Some((cost, levels)) = best.into_best().0 {
                prop_assert_eq!(super::price(&search, &[levels])?, vec![Some(cost)]);
            }
            Ok::<_, SearchError>(())
        })?;
    }
}
