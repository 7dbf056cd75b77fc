//! The fuzz targets on their corpus and on some mutants of it, within seconds; `scripts/fuzz.sh` runs for hours.

use std::time::Duration;

use amidst_fuzz::studio;

#[test]
fn no_input_takes_a_reader_down() {
    let corpora = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let state = std::fs::read(corpora.join("studio/state")).unwrap();
    let answers = || studio::request_within(&state, Duration::from_secs(20)).starts_with("HTTP/1.1 200");
    assert!(answers(), "the studio answers");
    // A state is a database on a disk, and slow.
    let inputs = |name: &str| if name == "series_state" { 20 } else { 400 };
    amidst_testkit::mutants::run(amidst_fuzz::TARGETS, &corpora, inputs);
    assert!(answers(), "the studio answers as before");
}
