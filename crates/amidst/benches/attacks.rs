//! All attacks on a release against reading it: `cargo bench -p amidst --bench attacks`.
//!
//! Draws synthetic patients, publishes them twice (full-domain and Mondrian), and for each release prints the processor
//! time of every attack beside that of reading the file, all on one thread, so that the machine's other work cancels
//! out. What an adversary must read beside the release is told by itself, and taken off the attack. The number of rows comes from `AMIDST_BENCH_ROWS`, a million when absent.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use std::path::Path;
use std::sync::atomic::AtomicBool;

use amidst::anonymize::{Job, Options, anonymize};
use amidst::attack::{Beside, attack_targets, targets};
use amidst::audit;
use amidst::core::attack::{ATTACKS, Entry, Extra, Knowledge, Target, labels_of_table};
use amidst::core::parameter::Parameters;
use amidst::io::ReadOptions;
use amidst::policy::Policy;
use amidst::prepare::{LoadOptions, Prepared};

fn main() {
    let rows: u64 = std::env::var("AMIDST_BENCH_ROWS").ok().and_then(|r| r.parse().ok()).unwrap_or(1_000_000);
    // One thread: the time of this thread is then all the time there is.
    let single = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    single.expect("a pool of one thread");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("p.csv");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&data).expect("a file for the patients"));
    amidst::sample::write(rows, 1, &mut file).expect("room for the patients");
    drop(file);
    // Persons whom an adversary knows: every thousandth patient.
    let text = std::fs::read_to_string(&data).expect("the patients");
    let known: Vec<&str> = text.lines().take(1).chain(text.lines().skip(1).step_by(1000)).collect();
    std::fs::write(folder.path().join("known.csv"), known.join("\n") + "\n").expect("room for them");
    for (name, search) in [("full-domain", ""), ("mondrian", "algorithm = \"mondrian\"\n")] {
        let policy = amidst::sample::policy("p.csv").replace("[search]\n", &format!("[search]\n{search}"));
        let path = folder.path().join("p.toml");
        std::fs::write(&path, policy).expect("a policy");
        release(name, rows, &path, folder.path());
    }
}

fn release(name: &str, rows: u64, policy: &Path, folder: &Path) {
    let policy = Policy::read(policy).expect("a policy");
    let options = Options { out: Some(folder.join(name)), ..Options::default() };
    let (cancel, quiet) = (AtomicBool::new(false), |_: amidst::anonymize::Stage, _: f64| {});
    let job = Job { cancel: &cancel, progress: &quiet, threads: 1 };
    let made = anonymize(&policy, &options, &job).expect("a release");
    let file = made.outputs.release.display().to_string();
    let reading = best(|| {
        let read = amidst::io::read(&file, &ReadOptions { threads: 1, ..ReadOptions::default() }).expect("the release");
        assert_eq!(read.table.rows as u64, made.rows_out);
    });
    let (_, prepared) = audit::load(&policy, &file, &LoadOptions { threads: 1, ..LoadOptions::default() }).expect("it");
    println!("\n{name}: {rows} rows, {} classes\n", prepared.set.len());
    println!("| | CPU seconds | times reading |\n| --- | --- | --- |");
    let line = |name: &str, seconds: f64| println!("| {name} | {seconds:.3} | {:.2} |", seconds / reading);
    line("reading the release", reading);
    let label = || labels_of_table(&prepared.set, &prepared.table, &prepared.quasi);
    let counting = best(|| drop(targets(&prepared, &label())));
    line("counting the sensitive column, once for all attacks", counting);
    let labels = label();
    let counted = targets(&prepared, &labels);
    let target = &counted[0];
    let mut sum = counting;
    for entry in ATTACKS.iter().filter(|e| e.needs == Knowledge::Release) {
        let seconds = best(|| drop(entry.run(target, &Extra::default(), &Parameters::default()).expect("findings")));
        line(entry.id, seconds);
        sum += seconds;
    }
    line("all that need the release alone", sum);
    let quasi: Vec<&str> = labels.columns.iter().map(|c| c.name.as_str()).collect();
    let and_sensitive = [&quasi[..], &[prepared.domains[0].name.as_str()]].concat();
    let mut read_beside = 0.0;
    for entry in ATTACKS.iter().filter(|e| e.needs != Knowledge::Release) {
        let (what, file, wanted) = match entry.needs {
            Knowledge::External => ("the persons whom the adversary knows", "known.csv", &quasi),
            Knowledge::Population => ("the population", "p.csv", &and_sensitive),
            _ => ("the original table", "p.csv", &quasi),
        };
        if let Some(seconds) = beside(entry, &policy, &prepared, &counted, folder) {
            let reading_it = best(|| read(&folder.join(file).display().to_string(), wanted));
            line(&format!("reading {what}"), reading_it);
            line(entry.id, seconds - reading_it);
            sum += seconds - reading_it;
            if entry.needs != Knowledge::Original {
                read_beside += reading_it;
            }
        }
    }
    line("all", sum);
    println!("\nAll take {:.2} times the reading of release, persons and population.", sum / (reading + read_beside));
}

/// Reads the columns of a table that an attack wants.
fn read(file: &str, wanted: &[&str]) {
    let keep = |name: &str| wanted.contains(&name);
    amidst::io::read(file, &ReadOptions { keep: Some(&keep), threads: 1, ..ReadOptions::default() }).expect("a table");
}

/// The time of an attack that needs more than the release, where it applies.
fn beside(
    entry: &'static Entry,
    policy: &Policy,
    prepared: &Prepared,
    targets: &[Target<'_>],
    folder: &Path,
) -> Option<f64> {
    let file = |name: &str| folder.join(name).display().to_string();
    let known = Beside {
        external: vec![file("known.csv")],
        population: Some(file("p.csv")),
        original: Some(file("p.csv")),
        earlier: Vec::new(),
        person: None,
        threads: 1,
    };
    let run = || attack_targets(entry, policy, prepared, targets, &known, &Parameters::default());
    match run() {
        Ok(_) => Some(best(|| drop(run()))),
        Err(why) => {
            println!("| {} | – | {why} |", entry.id);
            None
        }
    }
}

/// The least processor time of three runs: what others do on the machine only ever adds to it.
fn best(work: impl Fn()) -> f64 {
    let times = (0..3).map(|_| {
        let before = cpu();
        work();
        cpu() - before
    });
    times.fold(f64::INFINITY, f64::min)
}

/// The processor time of this thread so far.
fn cpu() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
