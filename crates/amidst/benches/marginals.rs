//! How much of the pairs of columns a release keeps: the k-marginal score on a census excerpt.
//!
//! `cargo bench -p amidst --bench marginals` reads the excerpt of Massachusetts of NIST's Diverse Communities data
//! (7,634 persons; `AMIDST_BENCH_ACS` names another folder), publishes it with k = 6 and no row left out, and prints
//! for generalized, cell-suppressed and representative releases the mean over all pairs of quasi columns of (2 −
//! Σ|difference|) · 500: 1000 where every pair of values is as frequent in the release as in the input. A label is a
//! value of its own, so that generalized cells count as lost. Wanted: 975 for representative releases.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use amidst::io::{ReadOptions, read};
use amidst::prelude::*;

/// The quasi columns: who people are, where and how they live.
const COLUMNS: [&str; 17] = [
    "PUMA",
    "AGEP",
    "SEX",
    "MSP",
    "HISP",
    "RAC1P",
    "NOC",
    "NPF",
    "HOUSING_TYPE",
    "OWN_RENT",
    "EDU",
    "PINCP_DECILE",
    "DVET",
    "DREM",
    "DPHY",
    "DEYE",
    "DEAR",
];

/// What is published: its name, lines of `[search]`, lines of `[output]`.
const RELEASES: [(&str, &str, &str); 5] = [
    ("one coding, generalized", "algorithm = \"optimal\"", ""),
    ("cell-suppressed", "algorithm = \"cell-suppression\"", ""),
    ("local, generalized", "algorithm = \"portfolio\"", ""),
    ("local, representative", "algorithm = \"portfolio\"", "values = \"representative\""),
    ("default, representative", "", "values = \"representative\""),
];

fn policy(input: &Path, search: &str, output: &str) -> String {
    let mut text = format!("[data]\ninput = {:?}\nmissing = []\n[columns.\"*\"]\nrole = \"identifying\"\n", input);
    for name in COLUMNS {
        let (kind, hierarchy) = match name {
            "AGEP" => ("integer", "{ intervals = [5, 10, 20, 40] }"),
            _ => ("text", "{ suppress = true }"),
        };
        text += &format!("[columns.{name}]\nrole = \"quasi\"\ntype = \"{kind}\"\nhierarchy = {hierarchy}\n");
    }
    text + &format!(
        "[[require]]\nmodel = \"k-anonymity\"\nk = 6\n[search]\nmax_suppression = 0\nseed = 1\n{search}\n[output]\nfile = \
         \"release.csv\"\n{output}\n"
    )
}

/// The mean over pairs of columns of how much two tables have in common, from 0 to 1000.
fn score(original: &Table, release: &Table) -> f64 {
    let share = |table: &Table, a: &str, b: &str| {
        let mut shares: HashMap<(String, String), f64> = HashMap::new();
        if let (Some(a), Some(b)) = (table.column(a), table.column(b)) {
            for row in 0..table.rows {
                *shares.entry((a.value(row).to_string(), b.value(row).to_string())).or_default() +=
                    1.0 / table.rows as f64;
            }
        }
        shares
    };
    let (mut sum, mut pairs) = (0.0, 0.0);
    for (i, a) in COLUMNS.iter().enumerate() {
        for b in &COLUMNS[..i] {
            let (before, after) = (share(original, a, b), share(release, a, b));
            let kept: f64 = before.iter().map(|(key, p)| p.min(after.get(key).copied().unwrap_or(0.0))).sum();
            // Both sum to one, so Σ|difference| = 2 − 2 Σ min.
            sum += 2.0 * kept * 500.0;
            pairs += 1.0;
        }
    }
    sum / pairs
}

#[allow(clippy::print_stdout, clippy::print_stderr)]
fn main() {
    let given = std::env::var("AMIDST_BENCH_ACS").map(PathBuf::from);
    let folder = given.unwrap_or_else(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/nist-acs"));
    let input = folder.join("ma2019.csv");
    let Ok(original) = read(&input.to_string_lossy(), &ReadOptions::default()) else {
        eprintln!("{} cannot be read; name the folder in AMIDST_BENCH_ACS", input.display());
        return;
    };
    let Ok(place) = tempfile::tempdir() else { return };
    for (name, search, output) in RELEASES {
        let start = Instant::now();
        let out = place.path().join("release");
        let options = Options { out: Some(out.clone()), force: true, ..Options::default() };
        let done = Policy::parse(&policy(&input, search, output), &place.path().join("policy.toml"))
            .map_err(|e| e.to_string())
            .and_then(|policy| anonymize(&policy, &options, &Job::default()).map_err(|e| e.to_string()));
        match done {
            Ok(done) => {
                let file = out.join("public/release.csv");
                let Ok(release) = read(&file.to_string_lossy(), &ReadOptions::default()) else { continue };
                let (rows, classes) = (done.rows_out, done.judged.class_count());
                let seconds = start.elapsed().as_secs_f64();
                let score = score(&original.table, &release.table);
                println!(
                    "{name:<26} {score:7.1} of 1000, {rows} rows in {classes} classes by {}, {seconds:.1} s",
                    done.algorithm
                );
            }
            Err(error) => println!("{name:<26} {error}"),
        }
    }
}
