//! A table in memory becomes a checked release in memory. Nothing touches the disk.

#![allow(clippy::print_stdout)] // An example shows what it does.

use amidst::prelude::*;

fn main() -> Result<(), Failure> {
    let rows = [
        ["29", "13053", "flu"],
        ["28", "13068", "flu"],
        ["21", "13068", "cancer"],
        ["23", "13053", "angina"],
        ["50", "14853", "cancer"],
        ["55", "14853", "angina"],
        ["47", "14850", "flu"],
        ["49", "14850", "angina"],
    ];
    let table = Table::from_rows(["age", "zip", "disease"], rows);
    let policy = Policy::builder()
        .quasi("age", intervals([10, 20, 40]))
        .quasi("zip", mask(5))
        .sensitive("disease")
        .require(k_anonymity(4))
        .require(distinct_l_diversity(3))
        .build()?;

    let release = anonymize_table(&policy, table, &Job::default())?;
    println!("{}", release.text().unwrap_or_default());
    println!("{} classes, certified as {}", release.certificate.classes, release.certificate.digest);

    // What was handed over can be checked again by anybody, from the same bytes.
    let verdict = amidst::check::verify(release.public.clone(), &release.certificate, &Default::default());
    assert!(verdict.valid);
    Ok(())
}
