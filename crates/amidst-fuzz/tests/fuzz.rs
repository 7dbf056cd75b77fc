//! The fuzz targets on their corpus and on some mutants of it, within seconds; `scripts/fuzz.sh` runs for hours.

#[test]
fn no_input_takes_a_reader_down() {
    let corpora = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    // A state is a database on a disk, and slow.
    let inputs = |name: &str| if name == "series_state" { 20 } else { 400 };
    amidst_testkit::mutants::run(amidst_fuzz::TARGETS, &corpora, inputs);
}
