//! What a node tells of all finer ones, and the search that rests on it, against every node looked at by itself.

use proptest::prelude::*;

use super::super::*;
use super::brute::{self, Valid};
use super::exhaustive::cases;
use super::world::{Dice, World};
use crate::lattice::judge::MustSuppress;
use crate::lattice::layout::finer;
use crate::lattice::snapshot::Classes;
use crate::parameter::Parameters;
use crate::requirement::{Evaluator, Requirement};
use crate::search::Suppressed;

/// Shares of the rows that may be suppressed.
const SHARES: [&str; 5] = ["0", "0.1", "0.3", "0.6", "1"];

/// Asked for beside k-anonymity; nothing at times.
const MODELS: [&str; 8] = [
    "",
    "distinct-l-diversity",
    "entropy-l-diversity",
    "recursive-c-l-diversity",
    "t-closeness",
    "general-alpha-k-anonymity",
    "simple-alpha-k-anonymity",
    "beta-likeness",
];

const METRICS: [&str; 2] = ["loss", "discernibility"];

/// A world, and k-anonymity with some of the models.
fn policy(dice: &mut Dice) -> (World, Vec<Requirement>) {
    let world = World::new(dice, false, false);
    let mut ids = vec!["k-anonymity"];
    ids.extend((0..1 + dice.below(2)).map(|_| dice.pick(&MODELS)).filter(|id| !id.is_empty()));
    let requirements = ids.into_iter().map(|id| world.requirement(dice, id)).collect();
    (world, requirements)
}

/// Compares what `classes` are said to lose in all finer nodes with what each of `nodes` that is finer loses and costs.
fn holds_below(
    search: &Search<'_>,
    pricer: &Pricer<'_>,
    classes: &Classes,
    must_suppress: &MustSuppress,
    nodes: &[(Vec<usize>, f64, Option<Valid>)],
) -> Result<u32, TestCaseError> {
    let adds = pricer.adds_below(classes, must_suppress);
    let mut told = 0;
    for (levels, least, valid) in nodes {
        let Some(valid) = valid.as_ref().filter(|_| finer(levels, &classes.levels)) else { continue };
        let (at, rows) = (&classes.levels, must_suppress.rows);
        prop_assert!(valid.suppressed >= rows, "{rows} rows at {at:?}, {} at {levels:?}", valid.suppressed);
        if let (Some(adds), Some(cost)) = (&adds, valid.cost) {
            let published = adds.published.iter().zip(levels).map(|(costs, &level)| costs[level]).sum();
            let bound = least + adds.less(published);
            let metric = search.metric.id;
            prop_assert!(bound <= cost * (1.0 + 1e-9) + 1e-12, "{metric} {bound} by {at:?}, {cost} at {levels:?}");
            told += u32::from(adds.less(published) > 0.0);
        }
    }
    Ok(told)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_finer_node_suppresses_fewer_rows_nor_costs_less(seed in any::<u64>()) {
        for round in 0..10 {
            let mut dice = Dice(seed ^ round);
            let (world, requirements) = policy(&mut dice);
            let options = Parameters::default();
            let search = world.search(&requirements, &options, &SHARES, &mut dice);
            let search = Search { metric: crate::metric::find(dice.pick(&METRICS)).unwrap(), ..search };
            let pricer = Pricer::new(&search, search.metric);
            let judge = Judge::new(&search, pricer.needs_groups());
            let evaluator = Evaluator::new(search.set, search.requirements);
            on_lattice!(&search, judge, tracked(&search, &pricer), walk => {
                let judge = &walk.judge;
                // What each node costs with nothing suppressed, and as it is published.
                let nodes: Vec<(Vec<usize>, f64, Option<Valid>)> = (brute::nodes(&walk.top).into_iter())
                    .map(|levels| {
                        let classes = walk.snapshot(&levels).classes;
                        let least = pricer.lower_bound(&levels).max(pricer.bound(judge, &classes, judge.limit));
                        let valid = brute::judge(&search, &evaluator, levels.clone());
                        (levels, least, valid)
                    })
                    .collect();
                for (levels, ..) in &nodes {
                    let (mut own, class_of) = walk.base.roll_up_mapped(&walk.layout, levels, judge.carry);
                    if let Some(by_size) = judge.must_suppress_by_size(&own.classes) {
                        holds_below(&search, &pricer, &own.classes, &by_size, &nodes)?;
                    }
                    let must_suppress = judge.must_suppress(&mut own.classes);
                    holds_below(&search, &pricer, &own.classes, &must_suppress, &nodes)?;
                    // The same from rows that were taken together because a coarser node loses them.
                    let without =
                        walk.base.without(search.set, &own.classes, &class_of, &must_suppress.classes, 1 << 30);
                    let below = nodes.iter().map(|n| &n.0).filter(|below| without.is_some() && finer(below, levels));
                    for below in below {
                        let source = without.as_ref().unwrap_or(&walk.base);
                        let mut rolled = source.roll_up(&walk.layout, below, judge.carry);
                        if let Some(by_size) = judge.must_suppress_by_size(&rolled.classes) {
                            holds_below(&search, &pricer, &rolled.classes, &by_size, &nodes)?;
                        }
                        let must_suppress = judge.must_suppress(&mut rolled.classes);
                        holds_below(&search, &pricer, &rolled.classes, &must_suppress, &nodes)?;
                    }
                }
                Ok::<_, SearchError>(())
            })?;
        }
    }

    #[test]
    fn best_first_finds_the_node_that_looking_at_all_finds(seed in any::<u64>()) {
        for round in 0..10 {
            let mut dice = Dice(seed ^ round);
            let (world, requirements) = policy(&mut dice);
            let options = Parameters::default();
            let search = world.search(&requirements, &options, &SHARES, &mut dice);
            let metric = crate::metric::find(dice.pick(&METRICS)).unwrap();
            for suppressed in [Suppressed::Drop, Suppressed::Mask] {
                let search = Search { metric, suppressed, ..search.clone() };
                let valid = brute::valid(&search);
                let pricer = Pricer::new(&search, search.metric);
                let judge = Judge::new(&search, pricer.needs_groups());
                on_lattice!(&search, judge, tracked(&search, &pricer), walk => {
                    let mut walk = walk;
                    for worth_a_step in [0, usize::MAX] {
                        walk.worth_a_step = worth_a_step;
                        let best = Best::new(&walk.judge, &pricer);
                        best_first::run(&search, &walk, &pricer, &best)?;
                        let (found, unexplored) = best.into_best();
                        prop_assert_eq!(unexplored, f64::INFINITY);
                        prop_assert_eq!(found.as_ref().map(|f| f.1.clone()), brute::best(&valid), "{}", metric.id);
                        if let Some((cost, levels)) = found {
                            let cheapest = valid.iter().find(|v| v.levels == levels).and_then(|v| v.cost);
                            let near = cheapest.is_none_or(|c| (cost - c).abs() <= 1e-9 * c.abs().max(1e-3));
                            prop_assert!(near, "{cost} is not {cheapest:?}");
                        }
                    }
                    Ok::<_, SearchError>(())
                })?;
            }
        }
    }
}
