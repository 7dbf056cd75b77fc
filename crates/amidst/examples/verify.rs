//! A release on the disk, verified; then one cell of it is changed, and it no longer is.

#![allow(clippy::print_stdout)] // An example shows what it does.

use amidst::prelude::*;
use amidst::sample;
use amidst::verify::{Subject, verify};

fn main() -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::Io(e.to_string());
    let folder = tempfile::tempdir().map_err(failed)?;
    let input = folder.path().join("patients.csv");
    sample::save(500, 7, &input)?;
    let policy = Policy::parse(&sample::policy("patients.csv"), &folder.path().join("policy.toml"))?;
    let out = folder.path().join("out");
    let made = anonymize(&policy, &Options { out: Some(out.clone()), ..Options::default() }, &Job::default())?;
    println!("{} of {} rows published", made.rows_out, made.rows_in);

    let subject = Subject::at(&out)?;
    let verdict = verify(&subject);
    for found in &verdict.requirements {
        println!("{}: {}", found.requirement.model, found.verdict.word());
    }
    assert!(verdict.valid);

    let text = std::fs::read_to_string(&made.outputs.release).map_err(failed)?;
    let last = text.trim_end().rsplit_once('\n').map_or("", |(rest, _)| rest);
    std::fs::write(&made.outputs.release, format!("{last}\n")).map_err(failed)?;
    let verdict = verify(&subject);
    println!("after a row was taken out: {}", verdict.problems[0]);
    assert!(!verdict.valid);
    Ok(())
}
