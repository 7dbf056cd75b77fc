//! What local recoding loses and how long it takes, on the Adult table: `cargo bench -p amidst-core --bench local`.
//!
//! The first 30,162 rows without unknowns; quasi columns age, workclass, education, marital-status, race, sex and
//! native-country, each ordered (text by its path in the hierarchy, top label first) and generalized to ranges of
//! ranks; sensitive column occupation. Arguments: names of algorithms, or of policies; or `scale` (growth with the
//! number of rows; of all or the algorithms and sizes named after it; on rows drawn from Adult or on the table of
//! `amidst sample` that `AMIDST_BENCH_TABLE` names), `hierarchies` (the same for that table under its own hierarchies,
//! by requirement), `indexed` (what an index saves), `survey` (the order of the survey's Figure 1).

#![allow(clippy::print_stdout)] // A bench exists to print its table.

mod adult;

use std::time::{Duration, Instant};

use adult::{METRIC, QUASI, ROWS, RankLoss, adult, generalizations, processor_seconds, requirement, stated};
use amidst_core::algorithm;
use amidst_core::frequency::FrequencySet;
use amidst_core::hierarchy::{Generalization, Generalize, Hierarchy, Level};
use amidst_core::internal::random::Random;
use amidst_core::metric::{self, Metric, Release};
use amidst_core::parameter::{Parameters, Value};
use amidst_core::requirement::{Evaluator, Requirement};
use amidst_core::search::Search;
use amidst_core::table::{Codes, Column, Table, ValueType};

/// A model and its parameters.
type Stated = (&'static str, &'static [(&'static str, &'static str)]);

/// Runs one algorithm; the loss, the number of classes and the time.
fn run(
    id: &str,
    set: &FrequencySet,
    generalizations: &[Generalization],
    requirements: &[Requirement],
    options: &Parameters,
) -> Option<(f64, usize, Duration, Vec<String>)> {
    let search = Search::new(set, generalizations, requirements).with_metric(&METRIC).with_k(5).with_options(options);
    let start = Instant::now();
    let found = match algorithm::find(id)?.algorithm.search(&search) {
        Ok(found) => found,
        Err(error) => {
            println!("{id}: {error}");
            return None;
        }
    };
    let time = start.elapsed();
    let (groups, suppressed) = found.recoding.groups(set);
    let release = Release { set, generalizations, recoding: &found.recoding, groups: &groups, suppressed, k: 5 };
    let evaluator = Evaluator::new(set, requirements);
    assert!((0..requirements.len()).all(|r| evaluator.judge(r, &groups).0), "{id} broke the policy");
    // Nodes of a hierarchy cost what the specification says, ranges what the known figures are in.
    let nodes = generalizations.iter().any(|g| g.generalize == Generalize::Hierarchy);
    let loss = match metric::find("gcp").filter(|_| nodes) {
        Some(gcp) => gcp.metric.loss(&release)?,
        None => RankLoss.loss(&release)?,
    };
    Some((loss, groups.len(), time, found.notes))
}

/// Rows drawn from the table: most columns from one row, three each from another, so that new tuples arise.
fn drawn(table: &Table, rows: usize) -> Table {
    let mut random = Random::new(rows as u64);
    let mut columns: Vec<Column> =
        table.columns.iter().map(|c| Column { codes: Codes::default(), ..c.clone() }).collect();
    for _ in 0..rows {
        let row = random.below(table.rows);
        for (c, column) in columns.iter_mut().enumerate() {
            let from = if matches!(c, 0 | 2 | 7) { random.below(table.rows) } else { row };
            column.codes.push(table.columns[c].codes.get(from));
        }
    }
    columns.iter_mut().for_each(Column::compact);
    Table { columns, rows }
}

/// The first rows of the table of `amidst sample` that `AMIDST_BENCH_TABLE` names, all columns but the first and last.
fn sampled(path: &str, rows: usize) -> Option<Table> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next()?.split(',').skip(1).take(QUASI.len()).collect();
    let mut columns: Vec<Column> = names.iter().map(|n| Column::new(*n)).collect();
    for line in lines.take(rows) {
        columns.iter_mut().zip(line.split(',').skip(1)).for_each(|(column, cell)| column.push(cell));
    }
    for column in &mut columns {
        if column.name == "age" {
            column.kind = ValueType::Integer;
        }
        let order = if column.name == "education" { EDUCATION.map(String::from).to_vec() } else { Vec::new() };
        column.sort(&order);
    }
    Some(Table { rows: columns[0].codes.len(), columns })
}

/// How time grows with the number of rows.
fn scale(table: &Table, only: &[&str]) {
    println!("| algorithm | rows | tuples | counting | search | CPU seconds | GCP |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let sample = std::env::var("AMIDST_BENCH_TABLE").ok();
    let names = ["mondrian", "systematic", "k-member", "one-pass-k-means", "alpha-k-clustering"];
    for name in names {
        for rows in [10_000, 100_000, 1_000_000, 10_000_000] {
            let size = rows.to_string();
            let stated = |text: &str| only.is_empty() || only.contains(&text);
            let sizes_stated = only.iter().any(|o| o.parse::<usize>().is_ok());
            if !stated(name) || (sizes_stated && !stated(&size)) || (name != "mondrian" && rows > 1_000_000) {
                continue;
            }
            let Some(table) = sample.as_ref().map_or_else(|| Some(drawn(table, rows)), |path| sampled(path, rows))
            else {
                continue;
            };
            let start = Instant::now();
            let last = table.columns.len() - 1;
            let (set, _) = FrequencySet::count(&table, &(0..last).collect::<Vec<_>>(), &[last], None);
            let counting = start.elapsed();
            let requirements = [requirement(&table, "k-anonymity", &[("k", "5")]).expect("k-anonymity is a model")];
            let used = processor_seconds();
            if let Some((loss, _, time, _)) =
                run(name, &set, &generalizations(&table), &requirements, &Parameters::default())
            {
                let cpu = processor_seconds() - used;
                let tuples = set.len();
                println!("| {name} | {rows} | {tuples} | {counting:.1?} | {time:.1?} | {cpu:.2} | {loss:.4} |");
            }
        }
    }
}

/// What a value of `amidst sample` becomes level by level, as in the policy that comes with it, without the top.
fn ancestors(column: &str, value: &str) -> Vec<String> {
    let within = |branches: &[(&str, &[&str])]| {
        let branch = branches.iter().find(|b| b.1.contains(&value));
        vec![branch.map_or("other", |b| b.0).to_string()]
    };
    match column {
        "age" => {
            let age: u32 = value.parse().unwrap_or(0);
            [5, 10, 20, 40].map(|width| format!("{} by {width}", age / width * width)).to_vec()
        }
        "zip" => (1..5).map(|n| value.chars().take(value.chars().count().saturating_sub(n)).collect()).collect(),
        "nationality" => within(&[
            ("America", &["USA", "Canada", "Mexico", "Brazil"]),
            ("Europe", &["Germany", "France", "Poland", "Italy"]),
            ("Asia", &["India", "China", "Japan", "Vietnam"]),
            ("Africa", &["Nigeria", "Egypt", "Ethiopia"]),
        ]),
        "occupation" => within(&[
            ("Professional", &["Engineer", "Physician", "Teacher", "Lawyer", "Scientist", "Nurse"]),
            ("Office", &["Clerk", "Manager", "Accountant", "Sales"]),
            ("Not employed", &["Child", "Pupil", "Student", "Retired", "Unemployed", "Homemaker"]),
        ]),
        "education" => {
            let at = EDUCATION.iter().position(|e| *e == value).unwrap_or(0);
            vec![format!("{} of 2", at / 2), format!("{} of 4", at / 4)]
        }
        _ => Vec::new(),
    }
}

const EDUCATION: [&str; 8] =
    ["No schooling", "Primary", "Lower secondary", "Upper secondary", "Vocational", "Bachelor", "Master", "Doctorate"];

/// The quasi columns of `amidst sample` under its own hierarchies.
fn sample_hierarchies(table: &Table) -> Vec<Generalization> {
    let bound = |column: &Column| {
        let mut hierarchy = Hierarchy { leaves: column.dictionary.iter().collect(), levels: Vec::new() };
        let paths: Vec<Vec<String>> = column.dictionary.iter().map(|value| ancestors(&column.name, value)).collect();
        for level in 0..paths.first().map_or(0, Vec::len) {
            let mut labels: Vec<String> = Vec::new();
            let mut number = |path: &Vec<String>| {
                labels.iter().position(|l| *l == path[level]).unwrap_or_else(|| {
                    labels.push(path[level].clone());
                    labels.len() - 1
                }) as u32
            };
            let of_leaf = paths.iter().map(&mut number).collect();
            hierarchy.levels.push(Level { labels, of_leaf });
        }
        hierarchy.close();
        Generalization::bind(column, Some(&hierarchy)).expect("every value has its path")
    };
    table.columns[..table.columns.len() - 1].iter().map(bound).collect()
}

/// How time grows with the number of rows under hierarchies, by requirement.
fn hierarchies(only: &[&str]) {
    let Some(path) = std::env::var("AMIDST_BENCH_TABLE").ok() else {
        println!("skipped: AMIDST_BENCH_TABLE names no table of `amidst sample`");
        return;
    };
    let k: Stated = ("k-anonymity", &[("k", "5")]);
    let policies: [(&str, &[Stated]); 3] = [
        ("k", &[k]),
        ("distinct", &[k, ("distinct-l-diversity", &[("l", "3")])]),
        ("entropy", &[k, ("entropy-l-diversity", &[("l", "3")])]),
    ];
    let names = ["mondrian", "top-down", "systematic", "k-member", "one-pass-k-means", "alpha-k-clustering"];
    let all = |of: &[&str], text: &str| !only.iter().any(|o| of.contains(o)) || only.contains(&text);
    println!("| algorithm | policy | rows | search | CPU seconds | information loss per cell | classes |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for rows in [10_000, 100_000, 1_000_000] {
        if !all(&["10000", "100000", "1000000"], &rows.to_string()) {
            continue;
        }
        let Some(table) = sampled(&path, rows) else { return };
        let last = table.columns.len() - 1;
        let (set, _) = FrequencySet::count(&table, &(0..last).collect::<Vec<_>>(), &[last], None);
        let generalizations = sample_hierarchies(&table);
        for (policy, models) in policies.iter().filter(|p| all(&["k", "distinct", "entropy"], p.0)) {
            let requirements: Vec<Requirement> =
                models.iter().filter_map(|(id, parameters)| requirement(&table, id, parameters)).collect();
            for name in names.iter().filter(|n| all(&names, n)) {
                let used = processor_seconds();
                let options = match only.contains(&"exact") {
                    true => Parameters::from_pairs([("exact", Value::Flag(true))]),
                    false => Parameters::default(),
                };
                if let Some((loss, classes, time, _)) = run(name, &set, &generalizations, &requirements, &options) {
                    let cpu = processor_seconds() - used;
                    println!("| {name} | {policy} | {rows} | {time:.1?} | {cpu:.2} | {loss:.5} | {classes} |");
                }
            }
        }
    }
}

/// What an index saves, and that it costs no loss.
fn indexed(set: &FrequencySet, generalizations: &[Generalization], requirements: &[Requirement]) {
    println!("{:18} {:>10} {:>8} {:>10} {:>8} {:>8}", "k = 5", "scan", "GCP", "index", "GCP", "times");
    let exact = Parameters::from_pairs([("exact", Value::Flag(true))]);
    for name in ["systematic", "k-member", "one-pass-k-means", "alpha-k-clustering"] {
        let scan = run(name, set, generalizations, requirements, &exact);
        let index = run(name, set, generalizations, requirements, &Parameters::default());
        if let (Some(scan), Some(index)) = (scan, index) {
            let times = scan.2.as_secs_f64() / index.2.as_secs_f64();
            println!("{name:18} {:10.1?} {:8.4} {:10.1?} {:8.4} {times:8.1}", scan.2, scan.0, index.2, index.0);
        }
    }
}

/// The order of the survey's Figure 1: the more a policy asks, the more it costs.
fn survey(table: &Table, set: &FrequencySet, generalizations: &[Generalization]) {
    println!("{:6} {:>8} {:>8} {:>8} {:>8}", "k", "k-anon", "simple", "complete", "general");
    for k in ["5", "10"] {
        let value = ("value", "Prof-specialty");
        let mut complete = Parameters::default();
        let bounds = ["Prof-specialty", "Craft-repair", "Exec-managerial"];
        let bound = |v: &&str| (v.to_string(), Value::Text("1/4".to_string()));
        complete.set("alpha", Value::Table(bounds.iter().map(bound).collect()));
        complete.set("k", Value::Text(k.to_string()));
        let models = [
            requirement(table, "k-anonymity", &[("k", k)]),
            requirement(table, "simple-alpha-k-anonymity", &[("alpha", "1/4"), value, ("k", k)]),
            stated(table, "complete-alpha-k-anonymity", complete),
            requirement(table, "general-alpha-k-anonymity", &[("alpha", "1/4"), ("k", k)]),
        ];
        let losses: Vec<f64> = (models.into_iter().flatten())
            .filter_map(|r| run("portfolio", set, generalizations, &[r], &Parameters::default()))
            .map(|found| found.0)
            .collect();
        let order = if losses.is_sorted() { "in order" } else { "OUT OF ORDER" };
        let cells: Vec<String> = losses.iter().map(|l| format!("{l:8.4}")).collect();
        println!("{k:6} {} {order}", cells.join(" "));
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let Some(table) = adult(ROWS) else {
        println!("skipped: no Adult table");
        return;
    };
    let quasi: Vec<usize> = (0..QUASI.len()).collect();
    let generalizations = generalizations(&table);
    let (set, _) = FrequencySet::count(&table, &quasi, &[QUASI.len()], None);
    println!("{} rows, {} tuples, {} entries", set.rows, set.len(), set.groups.entries.len());
    let policies: [(&str, f64, &[Stated]); 5] = [
        ("k = 5", 0.0202, &[("k-anonymity", &[("k", "5")])]),
        ("distinct l = 5", 0.0372, &[("distinct-l-diversity", &[("l", "5")])]),
        ("entropy l = 5", 0.0701, &[("entropy-l-diversity", &[("l", "5")])]),
        ("frequency 1/5", 0.1219, &[("general-alpha-k-anonymity", &[("alpha", "1/5"), ("k", "5")])]),
        ("frequency 1/7", 0.2644, &[("general-alpha-k-anonymity", &[("alpha", "1/7"), ("k", "7")])]),
    ];
    let names: Vec<&str> = match arguments.is_empty() {
        true => algorithm::ALGORITHMS.iter().filter(|a| !a.full_domain() && a.id != "top-down").map(|a| a.id).collect(),
        false => arguments.iter().map(String::as_str).collect(),
    };
    for name in &names {
        match *name {
            "scale" => return scale(&table, &names[1..]),
            "hierarchies" => return hierarchies(&names[1..]),
            "survey" => return survey(&table, &set, &generalizations),
            "indexed" => {
                let k = requirement(&table, "k-anonymity", &[("k", "5")]).expect("k-anonymity is a model");
                return indexed(&set, &generalizations, &[k]);
            }
            _ => (),
        }
    }
    println!("{:18} {:16} {:>8} {:>8} {:>8} {:>10}", "algorithm", "policy", "GCP", "known", "classes", "time");
    for (policy, known, models) in policies {
        if names.iter().any(|n| policies.iter().any(|p| p.0 == *n)) && !names.contains(&policy) {
            continue;
        }
        let requirements: Option<Vec<Requirement>> =
            models.iter().map(|(id, parameters)| requirement(&table, id, parameters)).collect();
        let Some(requirements) = requirements else { continue };
        for name in &names {
            if let Some((loss, classes, time, notes)) =
                run(name, &set, &generalizations, &requirements, &Parameters::default())
            {
                println!("{name:18} {policy:16} {loss:8.4} {known:8.4} {classes:8} {time:10.1?}");
                notes.iter().for_each(|note| println!("    {note}"));
            }
        }
    }
}
