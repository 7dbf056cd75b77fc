//! What a table is worth before anything is done to it.

#![allow(clippy::print_stdout)] // An example shows what it does.

use amidst::audit::{audit, level_text, load};
use amidst::prelude::*;
use amidst::sample;

fn main() -> Result<(), Failure> {
    let folder = tempfile::tempdir().map_err(|e| Failure::Io(e.to_string()))?;
    let file = folder.path().join("patients.csv");
    sample::save(1_000, 7, &file)?;
    let data = file.to_string_lossy();

    let quasi = ["age", "sex", "zip"].map(String::from);
    let stated = Policy::for_audit(&data, &quasi, &["diagnosis".to_string()]);
    let (policy, prepared) = load(&stated, &data, &Default::default())?;
    let audit = audit(&stated, &policy, &prepared)?;
    for figure in &audit.measured {
        println!("{}: {}", figure.key, level_text(&figure.level));
    }
    println!("{} of {} persons are alone in their class", audit.risk.sample_uniques, audit.risk.persons);
    Ok(())
}
