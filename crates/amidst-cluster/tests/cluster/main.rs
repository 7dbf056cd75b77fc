//! A scheduler and executors as processes on loopback: the same policy on both engines, and what happens when they die.
//!
//! `AMIDST_CLUSTER_ROWS` sets the rows of the large table.

#![cfg(test)]

mod aliases;
mod compare;
mod failure;
mod pinned;
mod private;
mod processes;
mod s3;
mod shown;
mod tables;
mod typed;

use compare::{both, verified};
use processes::Cluster;

/// Rows of the synthetic patients.
fn rows() -> u64 {
    std::env::var("AMIDST_CLUSTER_ROWS").ok().and_then(|text| text.parse().ok()).unwrap_or(300_000)
}

#[test]
fn patients_are_released_alike_by_both_engines() {
    let folder = tempfile::tempdir().unwrap();
    let data = tables::patients(folder.path(), rows(), 3);
    let cluster = Cluster::start(folder.path(), 2);
    let policy = tables::patients_policy(folder.path(), "optimal");
    // Small parts, so that there are several.
    let part = (rows() / 3).to_string();
    both(&cluster, folder.path(), &policy, &data, "optimal", &["--part-rows", &part]);
    let parts = std::fs::read_dir(folder.path().join("optimal-cluster/public/release")).unwrap().count();
    assert!(parts >= 2, "{parts} parts");
    verified(&folder.path().join("optimal-cluster"));
}

#[test]
fn a_table_that_cannot_be_gathered_is_rolled_up_by_the_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let data = tables::patients(folder.path(), 12_000, 2);
    let cluster = Cluster::start(folder.path(), 2);
    let policy = tables::patients_policy(folder.path(), "optimal");
    // Every node that is rolled up is a job: half as many of them will do.
    let text = std::fs::read_to_string(&policy).unwrap();
    let fewer = text.replace("intervals = [5, 10, 20, 40]", "intervals = [10, 40]").replace("[2, 4]", "[4]");
    assert_eq!(text.len() - fewer.len(), "5, 20, 2, ".len());
    std::fs::write(&policy, fewer).unwrap();
    both(&cluster, folder.path(), &policy, &data, "rolled", &["--gather", "8000"]);
    verified(&folder.path().join("rolled-cluster"));
    // What looks at every combination says what it would take.
    let policy = tables::patients_policy(folder.path(), "k-member");
    let output = cluster.anonymize(&policy, &data, &folder.path().join("out"), &["--gather", "8000"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("k-member") && said.contains("--gather"), "{said}");
}

#[test]
fn a_table_that_cannot_be_gathered_is_cut_by_the_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let data = tables::patients(folder.path(), 12_000, 2);
    let cluster = Cluster::start(folder.path(), 2);
    // With rows left out, and with rows masked; with sets of values where there is no hierarchy.
    let policy = tables::patients_policy(folder.path(), "mondrian");
    let text = std::fs::read_to_string(&policy).unwrap();
    let masking = text.replace("[search]", "[search]\nsuppressed = \"mask\"");
    let sets = text.replace("hierarchy = { suppress = true }", "").replace("max_suppression = 0.02", "");
    let sets = sets + "\n[search.options]\ncut = \"median\"\n";
    assert!(masking != text && !sets.contains("suppress"));
    for (name, text) in [("dropping", &text), ("masking", &masking), ("sets", &sets)] {
        let policy = folder.path().join(format!("{name}.toml"));
        std::fs::write(&policy, text).unwrap();
        both(&cluster, folder.path(), &policy, &data, name, &["--gather", "3000", "--part-rows", "5000"]);
        verified(&folder.path().join(format!("{name}-cluster")));
    }
}

#[test]
fn a_table_that_cannot_be_gathered_is_specialized_by_the_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let data = tables::patients(folder.path(), 12_000, 2);
    let cluster = Cluster::start(folder.path(), 2);
    // With rows left out, with rows masked, and with neither.
    let policy = tables::patients_policy(folder.path(), "top-down");
    let text = std::fs::read_to_string(&policy).unwrap();
    let masking = text.replace("[search]", "[search]\nsuppressed = \"mask\"");
    let all = text.replace("max_suppression = 0.02", "");
    assert!(masking != text && all != text);
    for (name, text, most) in [("dropping", &text, "3000"), ("masking", &masking, "3000"), ("all", &all, "300")] {
        let policy = folder.path().join(format!("{name}.toml"));
        std::fs::write(&policy, text).unwrap();
        both(&cluster, folder.path(), &policy, &data, name, &["--gather", most, "--part-rows", "5000"]);
        verified(&folder.path().join(format!("{name}-cluster")));
    }
}

#[test]
fn local_recodings_are_the_same_on_a_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let data = tables::patients(folder.path(), 6_000, 2);
    let cluster = Cluster::start(folder.path(), 2);
    for algorithm in ["mondrian", "top-down", "portfolio"] {
        let policy = tables::patients_policy(folder.path(), algorithm);
        both(&cluster, folder.path(), &policy, &data, algorithm, &["--part-rows", "4000"]);
        verified(&folder.path().join(format!("{algorithm}-cluster")));
    }
}

#[test]
fn a_person_with_several_rows_counts_once_on_a_cluster_too() {
    let folder = tempfile::tempdir().unwrap();
    let data = tables::visits(folder.path());
    let cluster = Cluster::start(folder.path(), 1);
    let policy = tables::visits_policy(folder.path());
    both(&cluster, folder.path(), &policy, &data, "visits", &[]);
}

#[test]
fn adult_is_released_alike_by_both_engines() {
    let folder = tempfile::tempdir().unwrap();
    let Some((data, policy)) = tables::adult(folder.path()) else {
        println!("skipped: the Adult table is not here");
        return;
    };
    let cluster = Cluster::start(folder.path(), 2);
    both(&cluster, folder.path(), &policy, &data, "adult", &[]);
    verified(&folder.path().join("adult-cluster"));
    // The same, cut on the cluster down to parts of a thousand combinations.
    let text = std::fs::read_to_string(&policy).unwrap().replace("\"optimal\"", "\"mondrian\"");
    std::fs::write(&policy, text).unwrap();
    both(&cluster, folder.path(), &policy, &data, "adult-cut", &["--gather", "1000"]);
    verified(&folder.path().join("adult-cut-cluster"));
    let text = std::fs::read_to_string(&policy).unwrap().replace("\"mondrian\"", "\"top-down\"");
    std::fs::write(&policy, text).unwrap();
    both(&cluster, folder.path(), &policy, &data, "adult-down", &["--gather", "4000"]);
    verified(&folder.path().join("adult-down-cluster"));
}
