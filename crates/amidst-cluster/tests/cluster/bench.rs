//! One machine's two engines: `cargo bench -p amidst-cluster`.
//!
//! Draws synthetic patients as Parquet files, then runs the sample's own policy with the local engine and with a
//! scheduler and two executors on loopback, and prints time and peak memory of every process. All share the cores of
//! one machine, so the table tells what the cluster's way costs, not what more machines gain. The numbers of rows come
//! from `AMIDST_BENCH_ROWS`, a million and ten million when absent.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]
#![expect(clippy::unwrap_used, reason = "a bench may panic")]

#[expect(dead_code, reason = "shared with the tests, which do more")]
mod processes;
#[expect(dead_code, reason = "shared with the tests, which do more")]
mod tables;

use std::path::Path;
use std::process::{Child, Command, Output};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use amidst::anonymize::{Options, anonymize};
use amidst::job::Job;
use amidst::policy::Policy;
use serde_json::Value;

/// Set in the process that is the local engine.
const STEP: &str = "AMIDST_BENCH_LOCAL";

/// Rows of a file.
const FILE: u64 = 2_500_000;

fn main() {
    if let Ok(step) = std::env::var(STEP) {
        return local(Path::new(&step));
    }
    let rows = std::env::var("AMIDST_BENCH_ROWS").unwrap_or_else(|_| "1000000,10000000".to_string());
    println!("| rows | engine | seconds | count | search | write | check | peak MB | each executor | scheduler |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for rows in rows.split(',').map(|rows| rows.trim().parse::<u64>().unwrap()) {
        let folder = tempfile::tempdir().unwrap();
        let data = tables::patients(folder.path(), rows, rows.div_ceil(FILE));
        let policy = tables::patients_policy(folder.path(), "optimal");
        std::os::unix::fs::symlink(&data, folder.path().join("data")).unwrap();

        let start = Instant::now();
        let here = Command::new(std::env::current_exe().unwrap()).env(STEP, &policy).output().unwrap();
        print(rows, "local", start, &here, "");

        let cluster = processes::Cluster::start(folder.path(), 2);
        let start = Instant::now();
        let there = cluster.anonymize(&policy, &data, &folder.path().join("there"), &[]);
        let executors: Vec<String> = cluster.executors.iter().map(|e| peak(e).to_string()).collect();
        let others = format!("{} | {}", executors.join(", "), peak(&cluster.scheduler));
        print(rows, "cluster", start, &there, &others);
        let figures = |output: &Output| {
            let json: Value = serde_json::from_slice(&output.stdout).unwrap();
            (json["levels"].clone(), json["classes"].clone(), json["metrics"].clone())
        };
        assert_eq!(figures(&here), figures(&there), "the engines agree");
    }
}

/// What the local engine does, in a process of its own.
fn local(policy: &Path) {
    let folder = policy.parent().unwrap();
    let cancel = AtomicBool::new(false);
    let job = Job { cancel: &cancel, progress: &|_, _| {}, threads: 0, ..Job::default() };
    let input = Some(folder.join("data").to_string_lossy().into_owned());
    let options = Options { input, out: Some(folder.join("here")), ..Options::default() };
    let done = anonymize(&Policy::read(policy).unwrap(), &options, &job).unwrap();
    println!("{}", done.to_json());
}

/// The most memory that a process had so far, in MB, where the system tells.
fn peak(process: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024 / 1_000_000
}

fn print(rows: u64, engine: &str, start: Instant, output: &Output, others: &str) {
    let seconds = start.elapsed().as_secs_f64();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    let stage = |name: &str| format!("{:.1}", json["seconds"][name].as_f64().unwrap_or(f64::NAN));
    let stages = ["read", "search", "write", "check"].map(stage).join(" | ");
    let peak = json["peak_memory_bytes"].as_f64().unwrap_or(f64::NAN) / 1e6;
    let others = if others.is_empty() { " | " } else { others };
    println!("| {rows} | {engine} | {seconds:.1} | {stages} | {peak:.0} | {others} |");
}
