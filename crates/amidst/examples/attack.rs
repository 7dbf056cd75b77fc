//! What adversaries learn from a table as it is, and from its release.

#![allow(clippy::print_stdout)] // An example shows what it does.

use amidst::attack::{AdversaryTables, attack};
use amidst::audit::load;
use amidst::core::attack::find;
use amidst::core::parameter::Parameters;
use amidst::prelude::*;
use amidst::sample;

fn main() -> Result<(), Failure> {
    let folder = tempfile::tempdir().map_err(|e| Failure::Io(e.to_string()))?;
    let input = folder.path().join("patients.csv");
    sample::save(2_000, 7, &input)?;
    let policy = Policy::parse(&sample::policy("patients.csv"), &folder.path().join("policy.toml"))?;
    let options = Options { out: Some(folder.path().join("out")), ..Options::default() };
    let made = anonymize(&policy, &options, &Job::default())?;

    let homogeneity = find("homogeneity").ok_or_else(|| Failure::Usage("no such attack".into()))?;
    for (name, table) in [("the table", &input), ("the release", &made.outputs.release)] {
        let (_, prepared) = load(&policy, &table.to_string_lossy(), &Default::default())?;
        let found = attack(homogeneity, &policy, &prepared, &AdversaryTables::default(), &Parameters::none())?;
        for (column, findings, _) in &found.columns {
            println!("{name}, {column}: {} persons hit", findings.persons);
        }
    }
    Ok(())
}
