//! The fuzz targets (`fuzz/src/targets.rs`) on their corpus and on some mutants of it, within seconds;
//! `scripts/fuzz.sh` fires for hours.

#[cfg(test)]
#[path = "../../../../fuzz/src/driver.rs"]
mod driver;
#[cfg(test)]
#[path = "../../../../fuzz/src/targets.rs"]
mod targets;

#[test]
fn no_input_takes_a_reader_down() {
    let corpora = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    // A state is a database on a disk, and slow.
    driver::run(targets::TARGETS, &corpora, |name| if name == "series_state" { 20 } else { 400 });
}
