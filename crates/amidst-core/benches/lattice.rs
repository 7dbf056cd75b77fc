//! Lattice searches on the Adult table against the naive way: `cargo bench -p amidst-core --bench lattice [-- --all]`.
//!
//! The first 30,162 rows without unknowns, ARX's hierarchies. Eight quasi columns make 4,320 nodes, with occupation as
//! the sensitive column; with occupation as a ninth, 12,960 nodes, and relationship is sensitive. The naive baseline
//! evaluates nodes from rows: every row generalized and hashed, every class judged by every requirement, the metric
//! added up. It is run on every 61st node and scaled up. Times are CPU time of all threads. `--all` runs every metric
//! with every policy; `count` measures counting ten million rows instead; `wide` a lattice of 15 columns; `minimal` the
//! search for all minimal nodes, by subsets and by a walk; `suppressed` searches alone where every row may be
//! suppressed, the least of five each.

#![allow(clippy::print_stdout)] // A bench exists to print its table.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use amidst_core::frequency::{Entry, FrequencySet, NOBODY};
use amidst_core::hierarchy::Generalization;
use amidst_core::ids::SensitiveId;
use amidst_core::internal::lattice;
use amidst_core::parameter::{Parameters, Value};
use amidst_core::requirement::SensitiveDomain;
use amidst_core::requirement::{Evaluator, Requirement};
use amidst_core::search::{MaxSuppression, Search};
use amidst_core::table::{Codes, Column, Table};
use amidst_core::{metric, model, table};
use amidst_testkit::adult;

const ROWS: usize = 30_162;
const COLUMNS: [&str; 9] =
    ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class", "occupation"];
const STRIDE: usize = 61;

/// What is asked for beside k = 5.
const POLICIES: [(&str, &[(&str, &str)]); 5] = [
    ("", &[]),
    ("distinct-l-diversity", &[("l", "3")]),
    ("entropy-l-diversity", &[("l", "3")]),
    ("recursive-c-l-diversity", &[("c", "4"), ("l", "3")]),
    ("t-closeness", &[("t", "0.2")]),
];

/// The CPU time of all threads so far; wall-clock time where the system does not tell.
fn cpu() -> Duration {
    let own = std::fs::read_dir("/proc/self/task").ok().map(|tasks| {
        let nanoseconds = |task: std::fs::DirEntry| -> Option<u64> {
            std::fs::read_to_string(task.path().join("schedstat")).ok()?.split(' ').next()?.parse().ok()
        };
        tasks.flatten().filter_map(nanoseconds).sum::<u64>()
    });
    match own {
        Some(n) if n > 0 => Duration::from_nanos(n),
        _ => std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default(),
    }
}

fn requirement(id: &str, parameters: &[(&str, &str)], on: Vec<usize>, domains: &[SensitiveDomain]) -> Requirement {
    let mut values = Parameters::default();
    for (name, number) in parameters {
        values.set(name, Value::Number(number.parse().expect("a number")));
    }
    Requirement::new(model::find(id).expect("a model"), values, on, domains).expect("a requirement")
}

fn search<'a>(
    set: &'a FrequencySet,
    generalizations: &'a [Generalization],
    requirements: &'a [Requirement],
    options: &'a Parameters,
) -> Search<'a> {
    Search::new(set, generalizations, requirements).with_k(5).with_options(options)
}

/// Evaluates every `STRIDE`th node from rows. Returns the time of one node and a number that keeps the work alive.
fn naive(table: &Table, quasi: &[usize], sensitive: usize, search: &Search<'_>) -> (Duration, f64) {
    let evaluator = Evaluator::new(search.set, search.requirements);
    let heights: Vec<usize> = search.generalizations.iter().map(|g| g.height()).collect();
    let count: usize = heights.iter().map(|h| h + 1).product();
    let start = cpu();
    let (mut nodes, mut sum) = (0, 0.0);
    for node in (0..count).step_by(STRIDE) {
        let mut rest = node;
        let levels: Vec<usize> = heights
            .iter()
            .map(|h| {
                let level = rest % (h + 1);
                rest /= h + 1;
                level
            })
            .collect();
        let mut classes: HashMap<Vec<u32>, HashMap<u32, u64>> = HashMap::new();
        for row in 0..table.rows {
            let tuple: Vec<u32> = (quasi.iter().zip(search.generalizations).zip(&levels))
                .map(|((&c, g), &l)| g.levels[l].of[table.columns[c].codes.get(row) as usize])
                .collect();
            *classes.entry(tuple).or_default().entry(table.columns[sensitive].codes.get(row)).or_default() += 1;
        }
        for histogram in classes.values() {
            let entry = |(&id, &rows): (&u32, &u64)| Entry { sensitive: SensitiveId(id), person: NOBODY, rows };
            let mut entries: Vec<Entry> = histogram.iter().map(entry).collect();
            entries.sort_unstable();
            let rows: u64 = entries.iter().map(|e| e.rows).sum();
            let holds = evaluator.holds_all(&entries);
            sum += if holds { (rows * rows) as f64 } else { (rows * table.rows as u64) as f64 };
        }
        nodes += 1;
    }
    ((cpu() - start) / nodes, sum)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).find(|a| !a.starts_with("--bench")) {
        Some("count") => return count(),
        Some("wide") => return wide(),
        Some("minimal") => return minimal(),
        Some("suppressed") => return suppressed(),
        _ => {}
    }
    let all = arguments.iter().any(|a| a == "--all");
    let Some(table) = adult::read("adult.csv", ROWS) else {
        println!("skipped: the Adult data is not there");
        return;
    };
    println!("| columns | policy | suppression | metric | search ms | naive ms | ratio | levels |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (width, sensitive) in [(8, "occupation"), (9, "relationship")] {
        let sensitive = table.position(sensitive).expect("a column");
        let Some((quasi, generalizations)) = adult::quasi(&table, "hierarchies_arx", &COLUMNS[..width]) else {
            println!("skipped: the hierarchies are not there");
            return;
        };
        let start = Instant::now();
        let (set, _) = FrequencySet::count(&table, &quasi, &[sensitive], None);
        let tuples = set.len();
        let column = &table.columns[sensitive];
        let domains = [SensitiveDomain {
            name: column.name.clone(),
            dictionary: column.dictionary.clone(),
            ..SensitiveDomain::default()
        }];
        println!("| {width} | {tuples} tuples, counted in {:?} | | | | | | |", start.elapsed());
        for (i, (id, parameters)) in POLICIES.into_iter().enumerate() {
            let mut requirements = vec![requirement("k-anonymity", &[("k", "5")], vec![], &domains)];
            if !id.is_empty() {
                requirements.push(requirement(id, parameters, vec![0], &domains));
            }
            let options = Parameters::default();
            let mut search = search(&set, &generalizations, &requirements, &options);
            let (node, _) = naive(&table, &quasi, sensitive, &search);
            let naive = node.mul_f64(lattice::nodes(&search));
            for (j, share) in ["0", "0.02", "1"].into_iter().enumerate() {
                for (m, id) in ["loss", "discernibility", "height"].into_iter().enumerate() {
                    if !all && i > 0 && m != (i + j) % 3 {
                        continue;
                    }
                    search.metric = metric::find(id).expect("a metric");
                    search.max_suppression = MaxSuppression::Share(share.parse().expect("a share"));
                    let start = cpu();
                    let best = lattice::best(&search).expect("a search");
                    let took = cpu() - start;
                    let levels = best.map_or("none".to_string(), |b| format!("{:?}", b.node.levels));
                    println!(
                        "| {width} | {} | {share} | {id} | {:.1} | {:.0} | {:.4} | {levels} |",
                        requirements.iter().map(|r| r.model.id).collect::<Vec<_>>().join(" + "),
                        took.as_secs_f64() * 1e3,
                        naive.as_secs_f64() * 1e3,
                        took.as_secs_f64() / naive.as_secs_f64(),
                    );
                }
            }
        }
    }
}

/// Searches where every row may be suppressed.
fn suppressed() {
    let Some(table) = adult::read("adult.csv", ROWS) else { return };
    println!("| columns | policy | loss ms | discernibility ms | nodes judged | levels, suppressed |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (width, sensitive) in [(8, "occupation"), (9, "relationship")] {
        let sensitive = table.position(sensitive).expect("a column");
        let Some((quasi, generalizations)) = adult::quasi(&table, "hierarchies_arx", &COLUMNS[..width]) else { return };
        let (set, _) = FrequencySet::count(&table, &quasi, &[sensitive], None);
        let column = &table.columns[sensitive];
        let (name, dictionary) = (column.name.clone(), column.dictionary.clone());
        let domains = [SensitiveDomain { name, dictionary, ..SensitiveDomain::default() }];
        for (id, parameters) in POLICIES {
            let mut requirements = vec![requirement("k-anonymity", &[("k", "5")], vec![], &domains)];
            if !id.is_empty() {
                requirements.push(requirement(id, parameters, vec![0], &domains));
            }
            let options = Parameters::default();
            let mut search = search(&set, &generalizations, &requirements, &options);
            search.max_suppression = MaxSuppression::Rows(set.rows);
            let mut cells = Vec::new();
            let (mut found, mut judged) = (Vec::new(), Vec::new());
            for metric in ["loss", "discernibility"] {
                search.metric = metric::find(metric).expect("a metric");
                let once = |_: usize| {
                    let start = cpu();
                    let best = lattice::best_counted(&search).expect("a search");
                    (cpu() - start, best)
                };
                let (took, (best, nodes)) = (0..5).map(once).min_by_key(|(took, _)| *took).expect("five searches");
                cells.push(format!("{:.0}", took.as_secs_f64() * 1e3));
                judged.push(nodes);
                found.push(best.map(|b| (b.node.levels, b.node.suppressed)));
            }
            println!("| {width} | {id} | {} | {} | {judged:?} | {found:?} |", cells[0], cells[1]);
        }
    }
}

/// Every minimal node of Adult, by subsets of the columns and by a walk.
fn minimal() {
    let Some(table) = adult::read("adult.csv", ROWS) else { return };
    println!("| columns | k | minimal | subsets ms | walk ms |");
    println!("| --- | --- | --- | --- | --- |");
    for width in [4, 6, 8, 9] {
        let Some((quasi, generalizations)) = adult::quasi(&table, "hierarchies_arx", &COLUMNS[..width]) else { return };
        let (set, _) = FrequencySet::count(&table, &quasi, &[], None);
        for k in ["2", "5", "50"] {
            let requirements = [requirement("k-anonymity", &[("k", k)], vec![], &[])];
            let options = Parameters::default();
            let search = search(&set, &generalizations, &requirements, &options);
            let start = cpu();
            let found = lattice::minimal_by_subsets(&search).expect("a search").map_or(0, |n| n.len());
            let subsets = cpu() - start;
            let start = cpu();
            lattice::minimal(&search).expect("a search");
            let walk = cpu() - start;
            let ms = |d: Duration| d.as_secs_f64() * 1e3;
            println!("| {width} | {k} | {found} | {:.1} | {:.1} |", ms(subsets), ms(walk));
        }
    }
}

/// A table of random codes; the columns have `domains` values, the low codes the more frequent.
fn random(rows: usize, domains: &[usize]) -> Table {
    let mut state = 1u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize) % n
    };
    let columns = domains
        .iter()
        .enumerate()
        .map(|(c, &n)| {
            let values: Vec<String> = (0..n).map(|v| format!("{v:06}")).collect();
            let mut codes = Codes::for_distinct(n, rows);
            for row in 0..rows {
                codes.push(if row < n { row } else { below(n).min(below(n)) } as u32);
            }
            let dictionary: table::Dictionary = values.iter().map(String::as_str).collect();
            Column { name: format!("c{c}"), dictionary, codes, ..Column::default() }
        })
        .collect();
    Table { columns, rows }
}

/// Counts ten million rows of eight quasi columns and a sensitive one.
fn count() {
    for domains in [[4, 5, 2, 3, 6, 2, 4, 3, 10], [20, 16, 2, 7, 5, 2, 10, 4, 10], [74, 16, 2, 7, 5, 2, 41, 7, 14]] {
        let table = random(10_000_000, &domains);
        for _ in 0..2 {
            let (start, before) = (Instant::now(), cpu());
            let (set, _) = FrequencySet::count(&table, &[0, 1, 2, 3, 4, 5, 6, 7], &[8], None);
            let (wall, took) = (start.elapsed(), cpu() - before);
            println!("{domains:?}: {} tuples, {} entries: {wall:?}, CPU {took:?}", set.len(), set.groups.entries.len());
        }
    }
}

/// Searches a lattice of fifteen columns and 191 million nodes with a time limit.
fn wide() {
    let domains: Vec<usize> = (0..15).map(|c| [12, 10, 6, 9, 16][c % 5]).chain([8]).collect();
    let table = random(20_000, &domains);
    let quasi: Vec<usize> = (0..15).collect();
    let generalizations: Vec<Generalization> = quasi
        .iter()
        .map(|&c| Generalization::bind(&table.columns[c], Some(&halving(&table.columns[c]))).expect("a hierarchy"))
        .collect();
    let (set, _) = FrequencySet::count(&table, &quasi, &[15], None);
    let requirements = [requirement("k-anonymity", &[("k", "5")], vec![], &[])];
    let options = Parameters::default();
    println!("| nodes | suppression | metric | limit s | took s | cost | gap | peak MB |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (share, metric) in [("0", "loss"), ("0.02", "loss"), ("0.02", "discernibility"), ("1", "loss")] {
        for seconds in [2, 10] {
            let mut search = search(&set, &generalizations, &requirements, &options);
            search.metric = metric::find(metric).expect("a metric");
            search.max_suppression = MaxSuppression::Share(share.parse().expect("a share"));
            search.control.deadline = Some(Instant::now() + Duration::from_secs(seconds));
            let start = Instant::now();
            let Some(best) = lattice::best(&search).expect("a search") else { continue };
            println!(
                "| {} | {share} | {metric} | {seconds} | {:.1} | {:.4} | {:.4} | {:.0} |",
                lattice::nodes(&search),
                start.elapsed().as_secs_f64(),
                best.node.cost,
                best.gap.unwrap_or(0.0),
                peak()
            );
        }
    }
}

/// The most memory that this process has held, in megabytes; zero where the system does not tell.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(0.0) / 1e3
}

/// A hierarchy that halves the number of groups from level to level.
fn halving(column: &Column) -> amidst_core::hierarchy::Hierarchy {
    let mut levels = Vec::new();
    let mut of_leaf: Vec<u32> = (0..column.dictionary.len() as u32).collect();
    let mut groups = column.dictionary.len();
    while groups > 1 {
        groups = groups.div_ceil(3);
        of_leaf.iter_mut().for_each(|g| *g /= 3);
        let labels = (0..groups).map(|g| if groups == 1 { "*".to_string() } else { format!("{}-{g}", levels.len()) });
        levels.push(amidst_core::hierarchy::Level { labels: labels.collect(), of_leaf: of_leaf.clone() });
    }
    amidst_core::hierarchy::Hierarchy { leaves: column.dictionary.clone(), levels }
}
