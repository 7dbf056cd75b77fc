//! The fuzz targets on their corpus and on some mutants of it, within seconds; `scripts/fuzz.sh` runs for hours.

use std::path::{Path, PathBuf};
use std::time::Duration;

use amidst_fuzz::{TARGETS, studio};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

#[test]
fn no_input_takes_a_reader_down() {
    let corpora = folder().join("corpus");
    let state = std::fs::read(corpora.join("studio/state")).unwrap();
    let answers = || studio::request_over_socket(&state, Duration::from_secs(20)).starts_with("HTTP/1.1 200");
    assert!(answers(), "the studio answers");
    // A state is a database on a disk, and slow.
    let inputs = |name: &str| if name == "series_state" { 50 } else { 400 };
    amidst_testkit::mutants::run(TARGETS, &corpora, inputs);
    assert!(answers(), "the studio answers as before");
}

#[test]
fn a_connection_in_memory_is_answered_as_a_socket_is() {
    for file in ["state", "data", "screen", "file"] {
        let request = std::fs::read(folder().join("corpus/studio").join(file)).unwrap();
        let first = |answer: String| answer.lines().next().map(String::from);
        let over_socket = first(studio::request_over_socket(&request, Duration::from_secs(20)));
        assert_eq!(first(studio::request(&request)), over_socket, "{file}");
    }
}

#[test]
fn every_target_has_a_corpus_and_a_program_that_is_guided() {
    let manifest = std::fs::read_to_string(folder().join("Cargo.toml")).unwrap();
    let programs: Vec<&str> =
        manifest.split("[[bin]]\nname = \"").skip(1).map(|p| p.split('"').next().unwrap()).collect();
    assert_eq!(programs, TARGETS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for (name, _) in TARGETS {
        assert!(folder().join("corpus").join(name).is_dir(), "{name}");
    }
}
