//! How long `init` takes beside reading the table: at most twice as long.
//!
//! `cargo bench -p amidst --bench init` makes a table of a million rows and prints both times and their ratio; a file
//! named in `AMIDST_BENCH_INIT` is measured as well.

use std::path::Path;
use std::time::Instant;

use amidst::io::{ReadOptions, read};
use amidst::{init, sample};

/// The best of some runs, in seconds.
fn best(mut run: impl FnMut()) -> f64 {
    let once = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..3).map(|_| once(&mut run)).fold(f64::INFINITY, f64::min)
}

#[allow(clippy::print_stdout)]
fn measure(name: &str, file: &Path) {
    let file = file.to_string_lossy();
    let reading = best(|| {
        let _ = read(&file, &ReadOptions::default());
    });
    let drafting = best(|| {
        let _ = init::draft(&file, None);
    });
    println!("{name:<24} read {reading:.3} s, init {drafting:.3} s, ratio {:.2}", drafting / reading);
}

fn main() {
    let Ok(folder) = tempfile::tempdir() else { return };
    let file = folder.path().join("sample.csv");
    if sample::save(1_000_000, 1, &file).is_ok() {
        measure("sample, 1000000 rows", &file);
    }
    if let Ok(other) = std::env::var("AMIDST_BENCH_INIT") {
        measure("AMIDST_BENCH_INIT", Path::new(&other));
    }
}
