//! Every example runs, and is short enough to be read at one go.

use std::path::{Path, PathBuf};
use std::process::Command;

fn names() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let stem = |path: PathBuf| path.file_stem().map(|s| s.to_string_lossy().into_owned());
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("the examples are there")
        .filter_map(|entry| stem(entry.expect("the examples are there").path()))
        .collect();
    names.sort();
    names
}

#[test]
fn examples_run() {
    // Cargo builds examples beside tests: target/debug/deps/this, target/debug/examples/those.
    let own = std::env::current_exe().unwrap();
    let folder = own.parent().unwrap().parent().unwrap().join("examples");
    for name in names() {
        let program = folder.join(&name);
        if !program.exists() {
            println!("skipped: the example {name} is not built");
            continue;
        }
        let output = Command::new(&program).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "{name} shows nothing");
    }
}

#[test]
fn examples_are_short() {
    assert!(names().len() >= 8);
    for name in names() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(format!("{name}.rs"));
        let lines = std::fs::read_to_string(path).unwrap().lines().count();
        assert!(lines < 60, "the example {name} has {lines} lines");
    }
}
