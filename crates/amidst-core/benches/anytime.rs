//! How near local recodings come to the best, on the Adult table: `cargo bench -p amidst-core --bench anytime`.
//!
//! Without names of policies: what `portfolio` with a time limit of 60 s (or the arguments that are numbers)
//! reaches on one thread for k = 5 and for distinct, entropy and frequency policies, search and proof within that
//! one limit, beside what is wanted. The limit is by the clock; the processor seconds of it are told, which are
//! fewer where others use the machine. Then what it loses without a limit beside the figures that are held.
//!
//! With names of policies, for each what `mondrian` and the portfolio lose, what no release can lose less than, and
//! their ratio; then what annealing makes of it within a number of processor seconds (arguments that are numbers;
//! 60 without any, none with 0).

#![allow(clippy::print_stdout)] // A bench exists to print its table.

mod adult;

use std::cell::Cell;
use std::time::{Duration, Instant};

use adult::{METRIC, QUASI, ROWS, RankLoss, adult, generalizations, processor_seconds, requirement, thread_seconds};
use amidst_core::algorithm;
use amidst_core::control::Control;
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
use amidst_core::table::Table;

/// A policy by its name, with the models it is made of.
type Policy = (&'static str, &'static [(&'static str, &'static [(&'static str, &'static str)])]);

const POLICIES: [Policy; 12] = [
    ("k=5", &[("k-anonymity", &[("k", "5")])]),
    ("k=10", &[("k-anonymity", &[("k", "10")])]),
    ("distinct=5", &[("distinct-l-diversity", &[("l", "5")])]),
    ("entropy=5", &[("entropy-l-diversity", &[("l", "5")])]),
    ("frequency=1/5", &[("general-alpha-k-anonymity", &[("alpha", "1/5"), ("k", "5")])]),
    ("frequency=1/7", &[("general-alpha-k-anonymity", &[("alpha", "1/7"), ("k", "7")])]),
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

/// What is wanted within a minute: policy, loss, and how many times the least possible it is.
const WANTED: [(&str, Option<f64>, Option<f64>); 4] = [
    ("k=5", Some(0.0135), Some(1.5)),
    ("distinct=5", None, None),
    ("entropy=5", None, None),
    ("frequency=1/5", None, None),
];

/// What releases lost that were the best known before: no policy may be worse.
const HELD: [(&str, f64); 5] = [
    ("k=5", 0.0145),
    ("distinct=5", 0.0290),
    ("entropy=5", 0.0534),
    ("frequency=1/5", 0.0960),
    ("frequency=1/7", 0.2195),
];

/// The requirements of a policy.
fn requirements(table: &Table, name: &str) -> Vec<Requirement> {
    let models = POLICIES.iter().find(|p| p.0 == name).map_or(&[][..], |p| p.1);
    models.iter().filter_map(|(id, parameters)| requirement(table, id, parameters)).collect()
}

/// The portfolio on one thread; what it loses, what is the least possible, seconds by the clock and of the processor.
fn within(search: &Search<'_>, limit: Option<f64>) -> (f64, Option<f64>, f64, f64) {
    let (used, start) = (processor_seconds(), Instant::now());
    let deadline = limit.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
    let search = search.clone().with_control(Control { deadline, ..search.control });
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread is to be had");
    let portfolio = algorithm::find("portfolio").expect("it is an algorithm");
    let found = pool.install(|| portfolio.algorithm.search(&search)).expect("the policy can be satisfied");
    let (cpu, clock) = (processor_seconds() - used, start.elapsed().as_secs_f64());
    (loss(search.set, search.generalizations, &found.recoding), found.least_loss, clock, cpu)
}

/// The figures that are wanted beside those that are reached.
fn wanted(table: &Table, set: &FrequencySet, generalizations: &[Generalization], limits: &[f64]) {
    let figure = |wanted: Option<f64>| wanted.map_or(String::new(), |w| w.to_string());
    println!("| policy | limit, s | CPU s | loss | wanted | no release below | times | wanted |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for &limit in limits {
        for (name, most, times) in WANTED {
            let requirements = requirements(table, name);
            let search = Search::new(set, generalizations, &requirements).with_metric(&METRIC).with_k(5);
            let (lost, least, _, cpu) = within(&search, Some(limit));
            let (most, times) = (if limit >= 600.0 { most.map(|_| 0.0130) } else { most }, figure(times));
            let ratio = least.map_or(f64::NAN, |least| lost / least);
            let (most, least) = (figure(most), least.unwrap_or(0.0));
            println!("| {name} | {limit} | {cpu:.0} | {lost:.5} | {most} | {least:.5} | {ratio:.2} | {times} |");
        }
    }
    println!();
    println!("| policy, no limit | loss | held | CPU s |");
    println!("| --- | --- | --- | --- |");
    for (name, held) in HELD {
        let requirements = requirements(table, name);
        let search = Search::new(set, generalizations, &requirements).with_metric(&METRIC).with_k(5);
        let (lost, _, _, cpu) = within(&search, None);
        println!("| {name} | {lost:.4} | {held:.4} | {cpu:.1} |");
    }
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

/// What annealing makes of a release within `seconds` of processor time.
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
    if !arguments.iter().any(|a| a.contains('=')) {
        return wanted(&table, &set, &generalizations, &seconds);
    }
    for (name, _) in POLICIES.iter().filter(|p| arguments.iter().any(|a| a == p.0)) {
        let requirements = requirements(&table, name);
        let search = Search::new(&set, &generalizations, &requirements).with_metric(&METRIC).with_k(5);
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
