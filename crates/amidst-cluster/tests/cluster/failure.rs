//! Executors that die, schedulers that are not there, storage that cannot be written.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::compare::verified;
use crate::processes::{Cluster, binary, free_port, signal};
use crate::tables;

#[test]
fn a_killed_executor_is_replaced_by_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let data = tables::patients(folder.path(), 120_000, 6);
    let mut cluster = Cluster::start(folder.path(), 2);
    let policy = tables::patients_policy(folder.path(), "optimal");
    // Early in a run, and late in it. A driver may be done before the signal arrives, and is then run again.
    for stage in ["counting", "writing"] {
        let out = folder.path().join(stage);
        let mut tries = 0;
        while !killed_in_the_middle(&mut cluster, &policy, &data, &out, stage) {
            tries += 1;
            assert!(tries < 10, "no executor could be killed in time");
        }
        verified(&out);
    }
}

/// Runs a driver and kills an executor as soon as the driver says that it began `stage`; another executor takes its
/// place for the next run. False when the driver had ended by then.
fn killed_in_the_middle(cluster: &mut Cluster, policy: &Path, data: &Path, out: &Path, stage: &str) -> bool {
    let mut driver = cluster.driver(policy, data, out);
    driver.args(["--part-rows", "20000"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut driver = driver.spawn().unwrap();
    let mut lines = BufReader::new(driver.stderr.take().unwrap()).lines().map(Result::unwrap);
    let begun = lines.by_ref().any(|line| line.contains(stage));
    assert!(begun, "the driver never began {stage}");
    // The driver stands still, so that it cannot end between the look at it and the kill.
    signal(&driver, "STOP");
    let running = driver.try_wait().unwrap().is_none();
    let elder = cluster.executors.len() - 2;
    cluster.executors[elder].kill().unwrap();
    signal(&driver, "CONT");
    let rest: Vec<String> = lines.collect();
    assert!(driver.wait().unwrap().success(), "{rest:#?}");
    cluster.add();
    running
}

#[test]
fn an_absent_scheduler_is_said_to_be_absent() {
    let folder = tempfile::tempdir().unwrap();
    let data = tables::patients(folder.path(), 100, 1);
    let policy = tables::patients_policy(folder.path(), "optimal");
    let out = folder.path().join("out");
    let mut command = binary();
    command.arg("anonymize").arg(&policy).arg("--input").arg(&data).arg("--out").arg(&out);
    let output = command.args(["--scheduler", &format!("df://127.0.0.1:{}", free_port())]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("no scheduler answers"), "{said}");
    assert_only(folder.path(), &["optimal.toml", "patients-100"]);
}

#[test]
fn a_cluster_without_executors_is_not_waited_for_forever() {
    let folder = tempfile::tempdir().unwrap();
    let data = tables::patients(folder.path(), 100, 1);
    let policy = tables::patients_policy(folder.path(), "optimal");
    let cluster = Cluster::start(folder.path(), 0);
    let output = cluster.anonymize(&policy, &data, &folder.path().join("out"), &["--wait", "1"]);
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("has no executor"), "{said}");
}

#[test]
fn what_executors_cannot_write_is_not_released() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let data = tables::patients(folder.path(), 100, 1);
    let policy = tables::patients_policy(folder.path(), "optimal");
    let cluster = Cluster::start(folder.path(), 1);
    let work = folder.path().join("executor-0");
    let start = Instant::now();
    // It makes a folder of its own there, and a file in that.
    while std::fs::read_dir(&work).map_or(0, |found| found.count()) == 0 {
        assert!(start.elapsed() < Duration::from_secs(120), "the executor does not start");
        std::thread::sleep(Duration::from_millis(50));
    }
    // The disk of the executor is gone: it can spill and hand over nothing.
    let _ = std::fs::remove_dir_all(&work);
    std::fs::write(&work, "not a folder").unwrap();
    std::fs::set_permissions(&work, std::fs::Permissions::from_mode(0o400)).unwrap();
    let out = folder.path().join("out");
    let output = cluster.anonymize(&policy, &data, &out, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!out.exists());
    assert!(!names(folder.path()).iter().any(|name| name.starts_with(".amidst-")));
}

#[test]
fn a_full_disk_is_told_and_nothing_is_released() {
    let folder = tempfile::tempdir().unwrap();
    let data = tables::patients(folder.path(), 120_000, 2);
    let policy = tables::patients_policy(folder.path(), "optimal");
    let mut cluster = Cluster::start(folder.path(), 0);
    if !cluster.add_on_small_disk(256) {
        println!("skipped: this machine does not let a test mount a small disk");
        return;
    }
    let out = folder.path().join("out");
    let output = cluster.anonymize(&policy, &data, &out, &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("storage of the cluster is full"), "{said}");
    assert!(!out.exists());
    assert!(!names(folder.path()).iter().any(|name| name.starts_with(".amidst-")));
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn assert_only(folder: &Path, expected: &[&str]) {
    assert_eq!(names(folder), expected);
}
