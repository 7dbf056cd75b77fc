//! How near local recodings come to the best, on the Adult table: `cargo bench -p amidst-core --bench anytime`.
//!
//! For each policy what the portfolio loses, what no release can lose less than, and their ratio; then what annealing
//! makes of it in so many seconds of one processor (arguments that are numbers; 60 without any). Times are processor
//! seconds, so that a machine that others use as well tells the same. Arguments that are names of policies choose
//! those.

#![allow(clippy::print_stdout)] // A bench exists to print its table.

mod adult;

use std::cell::Cell;
use std::time::{Duration, Instant};

use adult::{METRIC, QUASI, ROWS, RankLoss, adult, generalizations, processor_seconds, requirement, thread_seconds};
use amidst_core::algorithm;
use amidst_core::frequency::FrequencySet;
use amidst_core::hierarchy::Generalization;
use amidst_core::internal::local::bound::{Effort, least_loss};
use amidst_core::internal::local::build::anneal::anneal;
use amidst_core::internal::local::class::{Cluster, Judge, World, cluster};
use amidst_core::internal::local::shape::Space;
use amidst_core::metric::{Metric, Release};
use amidst_core::recoding::Recoding;
use amidst_core::requirement::Requirement;
use amidst_core::search::{Found, Search};

/// A policy by its name, with the models it is made of.
type Policy = (&'static str, &'static [(&'static str, &'static [(&'static str, &'static str)])]);

const POLICIES: [Policy; 11] = [
    ("k=5", &[("k-anonymity", &[("k", "5")])]),
    ("k=10", &[("k-anonymity", &[("k", "10")])]),
    ("distinct=5", &[("distinct-l-diversity", &[("l", "5")])]),
    ("entropy=5", &[("entropy-l-diversity", &[("l", "5")])]),
    ("frequency=1/5", &[("general-alpha-k-anonymity", &[("alpha", "1/5"), ("k", "5")])]),
    ("t=0.3", &[("k-anonymity", &[("k", "5")]), ("t-closeness", &[("t", "0.3"), ("distance", "equal")])]),
    ("t=0.2", &[("k-anonymity", &[("k", "5")]), ("t-closeness", &[("t", "0.2"), ("distance", "equal")])]),
    ("t=0.1", &[("k-anonymity", &[("k", "5")]), ("t-closeness", &[("t", "0.1"), ("distance", "equal")])]),
    ("beta=2", &[("k-anonymity", &[("k", "5")]), ("beta-likeness", &[("beta", "2")])]),
    ("beta=1", &[("k-anonymity", &[("k", "5")]), ("beta-likeness", &[("beta", "1")])]),
    ("delta=2", &[("k-anonymity", &[("k", "5")]), ("delta-disclosure", &[("delta", "2")])]),
];

fn loss(set: &FrequencySet, generalizations: &[Generalization], recoding: &Recoding) -> f64 {
    let (groups, suppressed) = recoding.groups(set);
    let release = Release { set, generalizations, recoding, groups: &groups, suppressed, k: 5 };
    RankLoss.loss(&release).unwrap_or(f64::NAN)
}

/// The classes of a recoding.
fn clusters(world: &World<'_>, recoding: &Recoding) -> Vec<Cluster> {
    let groups = &world.set.groups;
    let mut parts = vec![Vec::new(); recoding.classes.len()];
    recoding.for_each_part(world.set, |part| {
        let first = groups.offsets[part.tuple.index()];
        let own = groups.get(part.tuple.index()).iter().position(|e| e.sensitive == part.entry.sensitive);
        if let Some(class) = part.class.and_then(|class| parts.get_mut(class.index())) {
            cluster::put(class, (first + own.unwrap_or(0)) as u32, part.entry.rows);
        }
    });
    parts.into_iter().filter(|p| !p.is_empty()).map(|p| world.cluster(p)).collect()
}

/// What annealing makes of a release in so many processor seconds.
fn annealed(search: &Search<'_>, found: &Found, seconds: f64) -> f64 {
    let (space, judge) = (Space::new(search.generalizations), Judge::new(search).expect("the policy holds"));
    let tuple_of = search.set.tuple_of_entry();
    let world = World { set: search.set, tuple_of: &tuple_of, space: &space, judge: &judge };
    let begun = thread_seconds();
    let spent = || (thread_seconds() - begun) / seconds;
    let last = Cell::new(0.0);
    let scale = 1.0 / (search.set.rows * search.set.width as u64) as f64;
    let told = |loss: f64| {
        let now = thread_seconds() - begun;
        if now > last.get() + seconds / 6.0 {
            last.set(now);
            println!("        {now:6.1} s {:.5}", loss * scale);
        }
    };
    let after = anneal(&world, search, clusters(&world, &found.recoding), &spent, &told).expect("nobody stops it");
    assert!(after.iter().all(|class| world.holds(class)));
    cluster::total(&after) * scale
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let Some(table) = adult(ROWS) else {
        println!("skipped: no Adult table");
        return;
    };
    let mut seconds: Vec<f64> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    if seconds.is_empty() {
        seconds.push(60.0);
    }
    let quasi: Vec<usize> = (0..QUASI.len()).collect();
    let generalizations = generalizations(&table);
    let (set, _) = FrequencySet::count(&table, &quasi, &[QUASI.len()], None);
    println!("{} rows, {} tuples", set.rows, set.len());
    let named = |name: &str| arguments.iter().any(|a| a == name) || !arguments.iter().any(|a| a.contains('='));
    for (name, models) in POLICIES.iter().filter(|p| named(p.0)) {
        let requirements: Vec<Requirement> =
            models.iter().filter_map(|(id, parameters)| requirement(&table, id, parameters)).collect();
        let search = Search { metric: &METRIC, k: 5, ..Search::new(&set, &generalizations, &requirements) };
        for id in ["mondrian", "portfolio"] {
            let (used, start) = (processor_seconds(), Instant::now());
            let Some(found) = algorithm::find(id).and_then(|a| a.algorithm.search(&search).ok()) else { continue };
            let (cpu, time) = (processor_seconds() - used, start.elapsed());
            let lost = loss(&set, &generalizations, &found.recoding);
            let bound = found.least_loss.map_or(String::new(), |l| format!(", at least {l:.5}: {:.3} times", lost / l));
            println!("{name}: {id} {lost:.5} in {cpu:.2} CPU s, {time:.1?}{bound}");
            found.notes.iter().for_each(|note| println!("    {note}"));
            for &seconds in seconds.iter().filter(|s| id == "portfolio" && **s > 0.0) {
                let lost = annealed(&search, &found, seconds);
                println!("    annealed for {seconds} CPU s: {lost:.5}");
                let used = processor_seconds();
                let effort = Effort::until(Instant::now() + Duration::from_secs_f64(seconds));
                let least = least_loss(&search, effort).ok().flatten().unwrap_or(0.0);
                let cpu = processor_seconds() - used;
                println!("    proven in {cpu:.1} CPU s: {least:.5}, {:.3} times", lost / least);
            }
        }
    }
}
