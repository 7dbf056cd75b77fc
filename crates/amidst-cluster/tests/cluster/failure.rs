//! Executors that die, schedulers that are not there, storage that cannot be written.

use std::time::{Duration, Instant};

use crate::compare::verified;
use crate::processes::{Cluster, binary, free_port};
use crate::tables;

#[test]
fn a_killed_executor_is_replaced_by_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let data = tables::patients(folder.path(), 120_000, 6);
    let mut cluster = Cluster::start(folder.path(), 2);
    let policy = tables::patients_policy(folder.path(), "optimal");
    let out = folder.path().join("out");
    let mut driver = cluster.driver(&policy, &data, &out);
    let mut driver = driver.args(["--part-rows", "20000"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    // In the middle: some file of the release has been begun, or at least the counting is done.
    let start = Instant::now();
    let begun = || {
        std::fs::read_dir(folder.path()).unwrap().flatten().any(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let inside = |d: &std::path::Path| std::fs::read_dir(d).into_iter().flatten().flatten().count();
            name.starts_with(".amidst-") && name.contains("-work-") && inside(&entry.path()) >= 9
        })
    };
    while !begun() && driver.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(driver.try_wait().unwrap().is_none(), "the driver ended before an executor could be killed");
    cluster.executors[0].kill().unwrap();
    assert!(!out.exists());
    let status = driver.wait().unwrap();
    assert!(status.success(), "{}", std::fs::read_to_string(folder.path().join("scheduler-errors.log")).unwrap());
    verified(&out);
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
    // The scheduler may need a moment until it listens at all.
    std::thread::sleep(Duration::from_secs(2));
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
    // The disk of the executor is gone: it can spill and hand over nothing.
    std::thread::sleep(Duration::from_secs(2));
    let work = folder.path().join("executor-0");
    let _ = std::fs::remove_dir_all(&work);
    std::fs::write(&work, "not a folder").unwrap();
    std::fs::set_permissions(&work, std::fs::Permissions::from_mode(0o400)).unwrap();
    let out = folder.path().join("out");
    let output = cluster.anonymize(&policy, &data, &out, &[]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!out.exists());
    let hidden = |name: &str| name.starts_with(".amidst-");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert!(!left.iter().any(|name| hidden(&name.to_string_lossy())), "{left:?}");
}

fn assert_only(folder: &std::path::Path, expected: &[&str]) {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    assert_eq!(names, expected);
}
