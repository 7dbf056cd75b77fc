//! All attacks on a release against reading it: `cargo bench -p amidst --bench attacks`.
//!
//! Draws synthetic patients, publishes them twice (full-domain and Mondrian), and for each release prints the time of
//! every attack beside that of reading the file. What an adversary must read beside the release is told by itself. The
//! number of rows comes from `AMIDST_BENCH_ROWS`, a million when absent.
//!
//! All on one thread and by its processor time, so that the machine's other work cancels out; with more threads in
//! `AMIDST_BENCH_THREADS`, by the clock.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use amidst::anonymize::{Options, anonymize};
use amidst::attack::{Adversary, AdversaryTables, targets};
use amidst::audit;
use amidst::core::attack::{ATTACKS, Entry, Extra, Knowledge, labels_of_table};
use amidst::core::parameter::Parameters;
use amidst::io::ReadOptions;
use amidst::job::Job;
use amidst::policy::Policy;
use amidst::prepare::LoadOptions;

fn main() {
    let rows: u64 = std::env::var("AMIDST_BENCH_ROWS").ok().and_then(|r| r.parse().ok()).unwrap_or(1_000_000);
    // With one thread, its time is all the time there is.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads()).use_current_thread().build_global();
    pool.expect("a pool of threads");
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
    let (cancel, quiet) = (AtomicBool::new(false), |_: amidst::job::Stage, _: f64| {});
    let job = Job { cancel: &cancel, progress: &quiet, threads: threads(), ..Job::default() };
    let made = anonymize(&policy, &options, &job).expect("a release");
    let file = made.outputs.release.display().to_string();
    let (_, prepared) =
        audit::load(&policy, &file, &LoadOptions { control: job, ..LoadOptions::default() }).expect("the release");
    println!("\n{name}: {rows} rows, {} classes\n", prepared.set.len());
    let label = || labels_of_table(&prepared.set, &prepared.table, &prepared.quasi);
    let labels = label();
    let counted = targets(&prepared, &labels);
    let quasi: Vec<&str> = labels.columns.iter().map(|c| c.name.as_str()).collect();
    let and_sensitive = [&quasi[..], &[prepared.domains[0].name.as_str()]].concat();
    let beside = |name: &str| folder.join(name).display().to_string();
    let known = AdversaryTables {
        external: vec![beside("known.csv")],
        population: Some(beside("p.csv")),
        original: Some(beside("p.csv")),
        earlier: Vec::new(),
        person: None,
        threads: threads(),
    };
    let adversary = || Adversary::new(&policy, &prepared, &counted, &known);
    let run = |adversary: &mut Adversary<'_>, entry: &'static Entry| adversary.attack(entry, &Parameters::default());
    let alone = |entry: &'static Entry| entry.run(&counted[0], &Extra::default(), &Parameters::default());

    let mut tasks = Tasks::default();
    let reading = tasks.add("reading the release", || {
        let read = amidst::io::read(&file, &ReadOptions { threads: threads(), ..ReadOptions::default() });
        assert_eq!(read.expect("the release").table.rows as u64, made.rows_out);
    });
    let mut of_release =
        vec![tasks.add("counting the sensitive column, once for all attacks", || drop(targets(&prepared, &label())))];
    for entry in ATTACKS.iter().filter(|e| e.needs == Knowledge::Release) {
        of_release.push(tasks.add(entry.id, move || drop(alone(entry).expect("findings"))));
    }
    let (mut of_more, mut applies) = (Vec::new(), Vec::new());
    for entry in ATTACKS.iter().filter(|e| e.needs != Knowledge::Release) {
        if let Err(why) = run(&mut adversary(), entry) {
            println!("{}: {why}", entry.id);
            continue;
        }
        let (what, table, wanted) = match entry.needs {
            Knowledge::External => ("the persons whom the adversary knows", beside("known.csv"), &quasi),
            Knowledge::Population => ("the population", beside("p.csv"), &and_sensitive),
            _ => ("the original table", beside("p.csv"), &quasi),
        };
        let reading_it = tasks.add(&format!("reading {what}"), move || read(&table, wanted));
        let attack = tasks.add(&format!("reading it, and {}", entry.id), move || drop(run(&mut adversary(), entry)));
        of_more.push((entry.needs, reading_it, attack));
        applies.push(entry);
    }
    let together = tasks.add("all of these, population and original being one table", move || {
        let mut adversary = adversary();
        applies.iter().for_each(|entry| drop(run(&mut adversary, entry)));
    });
    let times = tasks.least_times();
    let unit = if threads() == 1 { "CPU seconds" } else { "seconds by the clock" };
    println!("\n| | {unit} | times reading |\n| --- | --- | --- |");
    let line = |what: &str, seconds: f64| println!("| {what} | {seconds:.3} | {:.2} |", seconds / times[reading]);
    tasks.names.iter().zip(&times).for_each(|(name, &seconds)| line(name, seconds));
    let release_alone: f64 = of_release.iter().map(|&task| times[task]).sum();
    let more: f64 = of_more.iter().map(|&(_, read, attack)| times[attack] - times[read]).sum();
    let read_all: f64 = times[reading] + of_more.iter().map(|&(_, read, _)| times[read]).sum::<f64>();
    let twice = of_more.iter().find(|more| more.0 == Knowledge::Original).map_or(0.0, |&(_, read, _)| times[read]);
    let read_once = read_all - twice;
    let shared = release_alone + times[together] - (read_once - times[reading]);
    line("all attacks that need the release alone", release_alone);
    line("all attacks, each by itself, without reading", release_alone + more);
    line("all attacks, population and original being one table, without reading", shared);
    println!("\nEach by itself: {:.2} times reading everything that they need.", (release_alone + more) / read_all);
    println!("One table for both: {:.2} times reading everything that they need.", shared / read_once);
}

/// How many threads there are.
fn threads() -> usize {
    std::env::var("AMIDST_BENCH_THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// Reads the columns of a table that an attack wants.
fn read(file: &str, wanted: &[&str]) {
    let keep = |name: &str| wanted.contains(&name);
    amidst::io::read(file, &ReadOptions { keep: Some(&keep), threads: threads(), ..ReadOptions::default() })
        .expect("a table");
}

/// What is to be timed.
#[derive(Default)]
struct Tasks<'a> {
    names: Vec<String>,
    work: Vec<Box<dyn Fn() + 'a>>,
}

impl<'a> Tasks<'a> {
    /// Adds a task, and tells its number.
    fn add(&mut self, name: &str, work: impl Fn() + 'a) -> usize {
        self.names.push(name.to_string());
        self.work.push(Box::new(work));
        self.names.len() - 1
    }

    /// The least time of each task in nine rounds: what others do on the machine only ever adds to it, and in one round
    /// they do about the same to all tasks.
    fn least_times(&self) -> Vec<f64> {
        let mut least = vec![f64::INFINITY; self.work.len()];
        for _ in 0..9 {
            for (work, least) in self.work.iter().zip(&mut least) {
                let before = now();
                work();
                *least = least.min(now() - before);
            }
        }
        least
    }
}

/// The time so far: the processor time of this thread, or the clock where there are several.
fn now() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    if threads() > 1 {
        return START.get_or_init(Instant::now).elapsed().as_secs_f64();
    }
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}
