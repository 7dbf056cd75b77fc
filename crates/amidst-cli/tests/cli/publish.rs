//! Publishing of releases: complete or not at all, one process at a time, after any kill, with the right permissions.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::test_folder::TestFolder;

/// Files and folders left by killed runs.
fn leftovers(scratch: &TestFolder) -> Vec<String> {
    scratch.names().into_iter().filter(|name| name.starts_with(".amidst")).collect()
}

/// The mode bits of a file or folder.
#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn only_the_public_part_can_be_read_by_others() {
    let scratch = TestFolder::with_sample(300);
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "out"]).code, 0);
    for (folder, open, file) in [("out/public", 0o755, 0o644), ("out/internal", 0o700, 0o600)] {
        assert_eq!(mode(&scratch.path(folder)), open, "{folder}");
        for path in scratch.files(folder) {
            assert_eq!(mode(&path), file, "{}", path.display());
        }
    }
    assert_eq!(mode(&scratch.path("out")), 0o755);
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "single.csv"]).code, 0);
    for name in ["single.csv", "single.csv.certificate.json"] {
        assert_eq!(mode(&scratch.path(name)), 0o644, "{name}");
    }
}

#[test]
fn a_kill_at_any_moment_leaves_no_partial_release() {
    let scratch = TestFolder::with_sample(30_000);
    let started = Instant::now();
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "whole"]).code, 0);
    let whole = started.elapsed();
    let mut killed = 0;
    for step in 0..20 {
        let out = format!("out{step}");
        let mut child = scratch.start(&["anonymize", "policy.toml", "--out", &out, "--quiet"]);
        std::thread::sleep(whole.mul_f64(f64::from(step) / 18.0));
        killed += u32::from(child.kill().is_ok());
        child.wait().unwrap();
        if scratch.path(&out).exists() {
            let run = scratch.amidst(&["verify", &out]);
            assert_eq!(run.code, 0, "what appeared is whole: {}{}", run.stdout, run.stderr);
        }
    }
    assert!(killed > 0);
    // The next run removes what killed runs left.
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "last"]).code, 0);
    let leftovers: Vec<String> = scratch.names().into_iter().filter(|n| n.starts_with(".amidst")).collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_cleanly() {
    let scratch = TestFolder::with_sample(300_000);
    let mut child = scratch.start(&["anonymize", "policy.toml", "--out", "out"]);
    std::thread::sleep(Duration::from_millis(150));
    let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let code = child.wait().unwrap().code();
    // A fast machine may have finished before the interrupt.
    assert!(code == Some(130) || code == Some(0) || code.is_none(), "{code:?}");
    if code != Some(0) {
        assert_eq!(scratch.names(), ["patients.csv", "policy.toml"]);
    }
}

#[test]
fn a_kill_while_replacing_leaves_the_old_release_or_the_new_one() {
    let scratch = TestFolder::with_sample(20_000);
    let seeds = ["1", "2"];
    for out in ["out", "out.csv"] {
        let started = Instant::now();
        assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", out]).code, 0);
        let whole = started.elapsed();
        for step in 0..16u32 {
            let seed = seeds[step as usize % 2];
            let call = ["anonymize", "policy.toml", "--out", out, "--force", "--quiet", "--seed", seed];
            let mut child = scratch.start(&call);
            // Most kills come towards the end, where the release is moved to its place.
            std::thread::sleep(whole.mul_f64(if step < 4 {
                f64::from(step) / 4.0
            } else {
                0.8 + f64::from(step) / 40.0
            }));
            let _ = child.kill();
            child.wait().unwrap();
            // The next run, which fails immediately here, restores what a kill in between had moved aside.
            scratch.amidst(&["anonymize", "policy.toml", "--out", out]).fails(2, &["exists already"]);
            let run = scratch.amidst(&["verify", out]);
            assert_eq!(run.code, 0, "step {step}: {}{}", run.stdout, run.stderr);
            assert_eq!(leftovers(&scratch), [""; 0], "step {step}");
        }
    }
}

#[test]
fn of_two_publishers_one_succeeds_and_the_other_says_why() {
    let scratch = TestFolder::with_sample(2_000);
    for out in ["out", "out.csv"] {
        let start = |seed: &str| {
            let call = ["anonymize", "policy.toml", "--out", out, "--seed", seed, "--json"];
            scratch.command(&call).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let children: Vec<_> = ["1", "2", "3"].map(start).into_iter().collect();
        let ends: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
        let codes: Vec<_> = ends.iter().map(|end| end.status.code()).collect();
        assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
        for end in ends.iter().filter(|end| end.status.code() != Some(0)) {
            let said = String::from_utf8_lossy(&end.stderr);
            assert_eq!(end.status.code(), Some(2), "{said}");
            assert!(said.contains("exists already") || said.contains("somebody else"), "{said}");
        }
        assert_eq!(scratch.amidst(&["verify", out]).code, 0);
    }
    assert_eq!(leftovers(&scratch), [""; 0]);
}

#[cfg(target_os = "linux")]
#[test]
fn processes_of_other_namespaces_are_not_swept_away() {
    let alone = |scratch: &TestFolder, out: &str| {
        let mut command = std::process::Command::new("unshare");
        command.args(["--user", "--map-current-user", "--pid", "--fork", env!("CARGO_BIN_EXE_amidst")]);
        command
            .args(["anonymize", "policy.toml", "--out", out, "--quiet", "--threads", "1"])
            .current_dir(scratch.root());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let scratch = TestFolder::with_sample(3_000);
    if !alone(&scratch, "first").status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: no namespaces here");
        return;
    }
    // Each process has a small process id in its own namespace and sees none of the others.
    for round in 0..5 {
        let names: Vec<String> = (0..4).map(|i| format!("out{round}-{i}")).collect();
        let children: Vec<_> = names.iter().map(|out| alone(&scratch, out).spawn().unwrap()).collect();
        for (mut child, out) in children.into_iter().zip(&names) {
            assert!(child.wait().unwrap().success(), "{out}");
            assert_eq!(scratch.amidst(&["verify", out]).code, 0, "{out}");
        }
    }
    assert_eq!(leftovers(&scratch), [""; 0]);
}

#[cfg(unix)]
#[test]
fn what_is_being_made_is_for_its_owner_only() {
    let scratch = TestFolder::with_sample(100_000);
    let mut child = scratch.start(&["anonymize", "policy.toml", "--out", "out", "--quiet"]);
    let mut looked = 0;
    while child.try_wait().unwrap().is_none() {
        for name in leftovers(&scratch) {
            use std::os::unix::fs::PermissionsExt;
            // It may have been removed by now, or have become the release.
            let Ok(found) = fs::metadata(scratch.path(&name)) else { continue };
            assert_eq!(found.permissions().mode() & 0o077, 0, "{name}");
            let release = scratch.path(&name).join("content/public");
            for entry in fs::read_dir(release).into_iter().flatten().flatten() {
                let Ok(found) = entry.metadata() else { continue };
                // At the end the permissions of the public part are widened, inside a folder that is still private.
                if !scratch.path(&name).join("content/public/certificate.json").exists() {
                    assert_eq!(found.permissions().mode() & 0o077, 0, "{}", entry.path().display());
                }
                looked += 1;
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(looked > 0 && scratch.path("out/public").is_dir());
}

#[cfg(target_os = "linux")]
#[test]
fn a_release_that_cannot_be_told_is_published_all_the_same() {
    let scratch = TestFolder::with_sample(300);
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let call = ["anonymize", "policy.toml", "--out", "out", "--json"];
    let end = scratch.command(&call).stdout(full()).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&end.stderr);
    assert_eq!(end.status.code(), Some(0), "{said}");
    assert!(said.contains("out/public/release.csv is published, but"), "{said}");
    assert_eq!(scratch.amidst(&["verify", "out"]).code, 0);
    // A verdict that cannot be printed is a failure: printing it is the whole task.
    let end = scratch.command(&["verify", "out"]).stdout(full()).stderr(Stdio::null()).status().unwrap();
    assert_eq!(end.code(), Some(3));
}

#[test]
fn files_are_replaced_by_force_only() {
    let scratch = TestFolder::with_sample(300);
    assert_eq!(scratch.amidst(&["anonymize", "policy.toml", "--out", "out"]).code, 0);
    for (name, call) in [
        ("made.csv", &["sample", "--rows", "5", "--out", "made.csv"][..]),
        ("made.parquet", &["sample", "--rows", "5", "--out", "made.parquet"]),
        ("made.toml", &["sample", "--rows", "5", "--out", "other.csv", "--policy", "made.toml"]),
        ("drafted.toml", &["init", "patients.csv", "--out", "drafted.toml"]),
        ("audit.html", &["audit", "patients.csv", "--policy", "policy.toml", "--report", "audit.html"]),
        ("verdict.sarif", &["verify", "out", "--sarif", "verdict.sarif"]),
    ] {
        scratch.file(name, "mine");
        scratch.amidst(call).fails(2, &[name, "exists already", "--force"]);
        assert_eq!(scratch.read(name), "mine", "{name}");
        let run = scratch.amidst(&[call, &["--force"]].concat());
        assert!(run.code == 0 || run.code == 1, "{name}: {}", run.stderr);
        assert_ne!(fs::read(scratch.path(name)).unwrap(), b"mine", "{name}");
        let _ = fs::remove_file(scratch.path("other.csv"));
    }
    assert_eq!(leftovers(&scratch), [""; 0]);
}
