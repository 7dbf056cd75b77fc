//! What is raw is for its owner's eyes only, at every moment of a run, and nothing of it is left behind.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::processes::{Cluster, signal};
use crate::tables;

/// How long processes may take for what they do by and by.
const PATIENCE: Duration = Duration::from_secs(60);

/// Everything below a folder. What disappears meanwhile is not seen.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        found.push(entry.path());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(below(&entry.path()));
        }
    }
    found
}

fn hidden(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().to_string_lossy().starts_with(".amidst-"))
}

/// What others than its owner may read or enter, of what is being made; and how much was looked at. What has its
/// certificate is public.
fn exposed(folder: &Path, sealed: &mut bool) -> (Vec<String>, usize) {
    let making: Vec<PathBuf> = below(folder).into_iter().filter(|path| hidden(path)).collect();
    *sealed |= making.iter().any(|path| path.ends_with("content/public/certificate.json"));
    let mut found = Vec::new();
    for path in making.iter().filter(|path| !(*sealed && path.to_string_lossy().contains("/content"))) {
        let Ok(about) = std::fs::symlink_metadata(path) else { continue };
        if about.permissions().mode() & 0o077 != 0 {
            found.push(format!("{} {:o}", path.display(), about.permissions().mode()));
        }
    }
    (found, making.len())
}

fn ended(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_some()
}

/// Waits until nothing of a job is left in a work folder: locks apart, which say that somebody works there.
fn assert_empty(work: &Path, and_gone: bool) {
    let start = Instant::now();
    loop {
        let left: Vec<PathBuf> = below(work).into_iter().filter(|path| path.is_file()).collect();
        let lives = |path: &PathBuf| !and_gone && path.file_name().is_some_and(|name| name == "lock");
        match left.iter().find(|path| !lives(path)) {
            None if !and_gone || below(work).is_empty() => return,
            left => assert!(start.elapsed() < PATIENCE, "{} has {left:?}", work.display()),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn nobody_else_can_read_what_is_being_made_and_nothing_of_it_stays() {
    let folder = tempfile::tempdir().unwrap();
    let data = tables::patients(folder.path(), 60_000, 3);
    let mut cluster = Cluster::start(folder.path(), 2);
    let policy = tables::patients_policy(folder.path(), "optimal");
    let out = folder.path().join("out");
    let mut driver = cluster.driver(&policy, &data, &out);
    let mut driver = driver.args(["--part-rows", "20000"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (mut most, mut sealed) = (0, false);
    while !ended(&mut driver) {
        let (found, seen) = exposed(folder.path(), &mut sealed);
        assert!(found.is_empty(), "{found:?}");
        most = most.max(seen);
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(driver.wait().unwrap().success() && out.join("public/certificate.json").is_file());
    // Intermediate data of the driver and of two executors was there to be looked at.
    assert!(most > 10, "{most}");
    let left: Vec<PathBuf> = below(folder.path()).into_iter().filter(|path| hidden(path)).collect();
    assert!(left.iter().all(|path| path.to_string_lossy().contains("executor-")), "{left:?}");
    for executor in ["executor-0", "executor-1"] {
        assert_empty(&folder.path().join(executor), false);
    }
    // One is asked to end and tidies up. The other is killed; the next process in its folder tidies up for it.
    signal(&cluster.executors[0], "TERM");
    let start = Instant::now();
    while !ended(&mut cluster.executors[0]) {
        assert!(start.elapsed() < PATIENCE, "the executor does not end");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_empty(&folder.path().join("executor-0"), true);
    let work = folder.path().join("executor-1");
    cluster.executors[1].kill().unwrap();
    cluster.executors[1].wait().unwrap();
    let orphan = below(&work).into_iter().find(|path| path.ends_with("lock")).unwrap();
    cluster.add_at("executor-1");
    let start = Instant::now();
    while orphan.exists() {
        assert!(start.elapsed() < PATIENCE, "{} is left", orphan.display());
        std::thread::sleep(Duration::from_millis(50));
    }
}
