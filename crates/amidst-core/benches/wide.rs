//! How good `optimal` is on wide tables within a time limit: `cargo bench -p amidst-core --bench wide`.
//!
//! Tables of correlated columns (each a mixture of a few hidden factors and noise, under a hierarchy of halves), k
//! = 5, by `loss`, without suppression and with 2 %. `optimal` with limits of one second, a tenth of the time and
//! all of it (30 s without arguments), each with the gap that it proves; beside it a plain genetic search over
//! nodes (tournaments, uniform crossover, single steps as mutations, the best survive) with all of it. Arguments:
//! the seconds and numbers of columns, the seconds first. Times are by the clock: on a machine that others use,
//! everything here has less.

#![allow(clippy::print_stdout)] // A bench exists to print its table.

use std::time::{Duration, Instant};

use amidst_core::control::Control;
use amidst_core::frequency::FrequencySet;
use amidst_core::hierarchy::{Generalization, Hierarchy, Level};
use amidst_core::internal::lattice;
use amidst_core::internal::random::Random;
use amidst_core::model;
use amidst_core::parameter::{Parameters, Value};
use amidst_core::requirement::Requirement;
use amidst_core::search::{MaxSuppression, Search};
use amidst_core::table::{Column, Table, ValueType};

const ROWS: usize = 20_000;
const FACTORS: usize = 4;

/// A table of correlated columns.
fn table(columns: usize, seed: u64) -> Table {
    let mut random = Random::new(seed);
    let weights: Vec<[f64; FACTORS]> = (0..columns).map(|_| std::array::from_fn(|_| random.share().powi(3))).collect();
    let values: Vec<usize> = (0..columns).map(|_| 2 + random.below(2 + random.clone().below(30))).collect();
    let mut made: Vec<Column> = (0..columns).map(|c| Column::new(format!("c{c:02}"))).collect();
    for _ in 0..ROWS {
        let factors: [f64; FACTORS] = std::array::from_fn(|_| (random.share() + random.share()) / 2.0);
        for (c, column) in made.iter_mut().enumerate() {
            let whole: f64 = weights[c].iter().sum::<f64>() + 0.3;
            let mixed: f64 = weights[c].iter().zip(&factors).map(|(w, f)| w * f).sum::<f64>() + 0.3 * random.share();
            let value = ((mixed / whole * values[c] as f64) as usize).min(values[c] - 1);
            column.push(&value.to_string());
        }
    }
    for column in &mut made {
        column.kind = ValueType::Integer;
        column.sort(&[]);
    }
    Table { rows: ROWS, columns: made }
}

/// A column under a hierarchy of halves.
fn halves(column: &Column) -> Generalization {
    let mut hierarchy = Hierarchy { leaves: column.dictionary.iter().collect(), levels: Vec::new() };
    let leaves = column.dictionary.len();
    let mut width = 2;
    while width < leaves {
        let labels = (0..leaves.div_ceil(width)).map(|l| format!("{l} of {width}")).collect();
        hierarchy.levels.push(Level { labels, of_leaf: (0..leaves).map(|leaf| (leaf / width) as u32).collect() });
        width *= 2;
    }
    hierarchy.close();
    Generalization::bind(column, Some(&hierarchy)).expect("every value has its path")
}

/// A plain genetic search; the least cost it finds.
fn genetic(search: &Search<'_>, until: Instant) -> f64 {
    let top: Vec<usize> = search.generalizations.iter().map(|g| g.levels.len() - 1).collect();
    let mut random = Random::new(search.seed);
    let any = |random: &mut Random| -> Vec<usize> { top.iter().map(|&t| random.below(t + 1)).collect() };
    let price = |nodes: &[Vec<usize>]| -> Vec<f64> {
        let found = lattice::price(search, nodes).expect("nobody stops it");
        found.into_iter().map(|cost| cost.unwrap_or(f64::INFINITY)).collect()
    };
    let mut nodes: Vec<Vec<usize>> = (0..39).map(|_| any(&mut random)).chain([top.clone()]).collect();
    let mut costs = price(&nodes);
    while Instant::now() < until {
        let pick = |random: &mut Random| {
            let (a, b) = (random.below(nodes.len()), random.below(nodes.len()));
            if costs[a] <= costs[b] { &nodes[a] } else { &nodes[b] }
        };
        let children: Vec<Vec<usize>> = (0..40)
            .map(|_| {
                let (a, b) = (pick(&mut random), pick(&mut random));
                let mut child: Vec<usize> =
                    a.iter().zip(b).map(|(&a, &b)| if random.below(2) == 0 { a } else { b }).collect();
                for _ in 0..random.below(3) {
                    let c = random.below(child.len());
                    child[c] = if random.below(2) == 0 { child[c].saturating_sub(1) } else { top[c].min(child[c] + 1) };
                }
                child
            })
            .collect();
        let more = price(&children);
        let mut all: Vec<(f64, Vec<usize>)> =
            costs.into_iter().zip(nodes).chain(more.into_iter().zip(children)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        all.dedup();
        all.truncate(40);
        (costs, nodes) = all.into_iter().unzip();
    }
    costs.into_iter().fold(f64::INFINITY, f64::min)
}

fn main() {
    let arguments: Vec<f64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let seconds = arguments.first().copied().unwrap_or(30.0);
    let widths: Vec<usize> = match &arguments[..] {
        [_, widths @ ..] if !widths.is_empty() => widths.iter().map(|&w| w as usize).collect(),
        _ => vec![16, 24, 32, 40],
    };
    let limits = [1.0, seconds / 10.0, seconds];
    let heads: Vec<String> = limits.iter().map(|limit| format!("optimal, {limit} s | gap")).collect();
    println!("| columns | suppression | {} | genetic, {seconds} s |", heads.join(" | "));
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for columns in widths {
        let table = table(columns, columns as u64);
        let (set, _) = FrequencySet::count(&table, &(0..columns).collect::<Vec<_>>(), &[], None);
        let generalizations: Vec<Generalization> = table.columns.iter().map(halves).collect();
        let parameters = Parameters::from_pairs([("k", Value::Number(5.into()))]);
        let k = model::find("k-anonymity").map(|m| Requirement::new(m, parameters, vec![], &[]));
        let requirements = [k.expect("k-anonymity is a model").expect("5 is a size")];
        for share in [0, 2] {
            let max_suppression = MaxSuppression::Rows((ROWS * share / 100) as u64);
            let search =
                Search::new(&set, &generalizations, &requirements).with_k(5).with_max_suppression(max_suppression);
            let within = |seconds: f64| {
                let deadline = Some(Instant::now() + Duration::from_secs_f64(seconds));
                let control = Control { deadline, ..search.control };
                lattice::best(&search.clone().with_control(control)).ok().flatten()
            };
            let told = |found: Option<lattice::BestNode>| match found {
                Some(found) => format!("{:.4} | {:.4}", found.node.cost, found.gap.unwrap_or(0.0)),
                None => "none |".to_string(),
            };
            let found: Vec<String> = limits.iter().map(|&limit| told(within(limit))).collect();
            let other = genetic(&search, Instant::now() + Duration::from_secs_f64(seconds));
            println!("| {columns} | {share} % | {} | {other:.4} |", found.join(" | "));
        }
    }
}
