use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::judge::Judge;
use super::super::price::Pricer;
use super::super::tests::world::{Dice, World};
use super::super::{Layout, Wide, on_lattice, price, tracked};
use super::*;
use crate::frequency::FrequencySet;
use crate::hierarchy::{Generalization, Hierarchy, Level};
use crate::metric;
use crate::parameter::Parameters;
use crate::requirement::Requirement;
use crate::table::{Column, Table};

/// Metrics that are sums over cells.
const SUMS: [&str; 4] = ["loss", "gcp", "precision", "non-uniform-entropy"];

/// The least cost among all nodes of a lattice.
fn least(search: &Search<'_>) -> Option<f64> {
    let bottom = search.set.bottom();
    let mut nodes: Vec<Vec<usize>> = vec![vec![]];
    for (g, &bottom) in search.generalizations.iter().zip(&bottom) {
        let longer = |node: &Vec<usize>| {
            let node = node.clone();
            (bottom..g.levels.len()).map(move |level| node.iter().copied().chain([level]).collect::<Vec<_>>())
        };
        nodes = nodes.iter().flat_map(longer).collect();
    }
    price(search, &nodes).unwrap().into_iter().flatten().min_by(f64::total_cmp)
}

/// What is proven in some time when a node of cost `ceiling` is known.
fn proven(search: &Search<'_>, ceiling: f64, time: Duration) -> Option<Proven> {
    let pricer = Pricer::new(search, search.metric);
    let judge = Judge::new(search, pricer.needs_groups());
    let found = on_lattice!(search, judge, tracked(search, &pricer), walk => {
        let best = Best::new(&walk.judge, &pricer);
        best.offer(ceiling, &walk.top);
        prove(search, &walk, &best, Instant::now() + time)
    });
    found.unwrap()
}

/// A random table of up to six columns, each with two to four levels.
fn wider(dice: &mut Dice) -> World {
    let mut world = World::new(dice, false, false);
    let (rows, width) = (20 + dice.below(60), 3 + dice.below(4));
    let mut columns = Vec::new();
    world.generalizations.clear();
    for q in 0..width {
        let count = 2 + dice.below(5);
        // Every other column mostly repeats the one before it.
        let mut values: Vec<usize> = (0..rows).map(|_| dice.below(count)).collect();
        if let Some(before) = columns.last().filter(|_| q % 2 == 1) {
            let before: &Column = before;
            let repeated = |row: usize| before.codes.get(row) as usize % count;
            (0..rows).filter(|_| dice.below(5) > 0).for_each(|row| values[row] = repeated(row));
        }
        let values: Vec<String> = values.iter().map(|v| format!("v{v}")).collect();
        let column = Column::from_values(&format!("q{q}"), values.iter().map(String::as_str));
        let leaves = column.dictionary.len();
        let mut hierarchy = Hierarchy { leaves: column.dictionary.iter().collect(), levels: Vec::new() };
        for size in [2, 3].into_iter().take(dice.below(3)) {
            let labels = (0..leaves.div_ceil(size)).map(|l| format!("{l} of {size}")).collect();
            let of_leaf: Vec<u32> = (0..leaves as u32).map(|leaf| leaf / size as u32).collect();
            if size == 2 || hierarchy.levels.is_empty() {
                hierarchy.levels.push(Level { labels, of_leaf });
            }
        }
        hierarchy.close();
        world.generalizations.push(Generalization::bind(&column, Some(&hierarchy)).unwrap());
        columns.push(column);
    }
    columns.push(Column::from_values("s", (0..rows).map(|row| ["a", "b", "c"][row % 3])));
    columns.push(Column::from_values("t", (0..rows).map(|row| ["a", "b"][row % 2])));
    let quasi: Vec<usize> = (0..width).collect();
    world.set = FrequencySet::count(&Table { columns, rows }, &quasi, &[width, width + 1], None).0;
    world
}

/// A random table with a random policy of sizes, or of more than that.
fn policy(dice: &mut Dice, more: bool) -> (World, Vec<Requirement>) {
    if !more && dice.below(3) > 0 {
        let world = wider(dice);
        let requirements = vec![world.requirement(dice, "k-anonymity")];
        return (world, requirements);
    }
    let world = World::new(dice, false, false);
    let mut requirements = vec![world.requirement(dice, "k-anonymity")];
    if more {
        let id = dice.pick(&["distinct-l-diversity", "entropy-l-diversity", "t-closeness"]);
        requirements.push(world.requirement(dice, id));
    }
    (world, requirements)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_node_costs_less_than_what_is_proven(seed in any::<u64>(), more in any::<bool>(), micros in 0u64..3000) {
        let mut dice = Dice(seed);
        let (world, requirements) = policy(&mut dice, more);
        let options = Parameters::default();
        let mut search = world.search(&requirements, &options, &["0", "0.1", "0.4", "1"], &mut dice);
        search.metric = metric::find(dice.pick(&SUMS)).unwrap();
        let Some(least) = least(&search) else { return Ok(()) };
        for time in [Duration::from_micros(micros), Duration::from_secs(600)] {
            // As long as nothing better is known than what costs more, the bound is not about that.
            if let Some(proven) = proven(&search, least * 1.5 + 1.0, time) {
                prop_assert!(proven.bound <= least + 1e-9 * least.abs(), "{} is above {least}", proven.bound);
            }
            // Once the best is known, nothing is left to find.
            if let Some(proven) = proven(&search, least, time) {
                prop_assert!(proven.bound <= least + 1e-9 * least.abs() || proven.bound == f64::INFINITY);
            }
        }
    }

    #[test]
    fn where_sizes_decide_the_least_cost_is_proven(seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let (world, requirements) = policy(&mut dice, false);
        let options = Parameters::default();
        let mut search = world.search(&requirements, &options, &["0", "0.1", "0.4", "1"], &mut dice);
        search.metric = metric::find(dice.pick(&SUMS)).unwrap();
        search.suppressed = Suppressed::Drop;
        let Some(least) = least(&search).filter(|least| *least > 1e-6) else { return Ok(()) };
        let ceiling = least * 1.5 + 1.0;
        let Some(proven) = proven(&search, ceiling, Duration::from_secs(600)) else { return Ok(()) };
        // A node that publishes nothing is not valid, which sizes do not tell.
        let nothing = search.suppression_limit() >= search.set.rows;
        prop_assert!(nothing || (proven.bound - least).abs() <= 1e-6 * least, "{} is not {least}", proven.bound);
        if let (false, Some(levels)) = (nothing, proven.levels) {
            let cost = price(&search, &[levels]).unwrap()[0];
            prop_assert!(cost.is_some_and(|cost| (cost - least).abs() <= 1e-9 * least), "{cost:?} is not {least}");
        }
    }
}
