//! A table that changes: published, grown, published again, and audited as a whole.

#![allow(clippy::print_stdout)] // An example shows what it does.

use std::fs;

use amidst::prelude::*;
use amidst::sample;
use amidst::series::{Batch, Series, init};

const POLICY: &str = r#"
[data]
input = "patients.csv"
[columns]
id = { role = "key" }
age = { role = "quasi", hierarchy = { intervals = [5, 10, 20, 40] } }
sex = { role = "quasi", hierarchy = { suppress = true } }
diagnosis = { role = "sensitive" }
"*" = { role = "identifying" }
[[require]]
model = "distinct-l-diversity"
l = 3
"#;

fn main() -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::Io(e.to_string());
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = |name: &str| folder.path().join(name);
    sample::save(440, 7, &path("all.csv"))?;
    let all = fs::read_to_string(path("all.csv")).map_err(failed)?;
    let lines: Vec<&str> = all.lines().collect();
    fs::write(path("patients.csv"), lines[..401].join("\n") + "\n").map_err(failed)?;
    fs::write(path("more.csv"), format!("{}\n{}\n", lines[0], lines[401..].join("\n"))).map_err(failed)?;

    let policy = Policy::parse(POLICY, &path("policy.toml"))?;
    let job = Job::default();
    let first = init(&path("clinic"), &policy, None, None::<String>, &job)?;
    println!("version {}: {} rows", first.version, first.rows);

    let mut clinic = Series::open(&path("clinic"))?;
    let insert = Some(path("more.csv").to_string_lossy().into_owned());
    let applied = clinic.apply(&Batch { insert, delete: None }, &job)?;
    println!("{} rows came", applied.inserted);
    let second = clinic.publish_safe(false, &job)?;
    println!("version {}: {} rows; {}", second.version, second.rows, clinic.audit(&job)?.sentence());
    Ok(())
}
