//! An engine of one's own: it reads and writes as this process does, and counts what it writes.

#![allow(clippy::print_stdout)] // An example shows what it does.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use amidst::anonymize::anonymize_on;
use amidst::engine::{Engine, Layout, Local, Recoded, Written};
use amidst::prelude::*;
use amidst::prepare::LoadOptions;
use amidst::sample;

#[derive(Default)]
struct Counting {
    rows: AtomicU64,
}

impl Engine for Counting {
    type Rows<'a> = ();

    fn layout(&self) -> Layout {
        Local.layout()
    }

    fn read<'a>(&'a self, policy: &'a Policy, options: &LoadOptions<'a>) -> Result<(Prepared, ()), Failure> {
        Local.read(policy, options)
    }

    fn write(&self, recoded: &Recoded<'_>, rows: &(), folder: &Path, job: &Job<'_>) -> Result<Written, Failure> {
        let written = Local.write(recoded, rows, folder, job)?;
        self.rows.fetch_add(written.released.rows(), Ordering::Relaxed);
        Ok(written)
    }
}

fn main() -> Result<(), Failure> {
    let folder = tempfile::tempdir().map_err(|e| Failure::Io(e.to_string()))?;
    sample::save(500, 7, &folder.path().join("patients.csv"))?;
    let policy = Policy::parse(&sample::policy("patients.csv"), &folder.path().join("policy.toml"))?;
    let engine = Counting::default();
    let options = Options { out: Some(folder.path().join("out")), ..Options::default() };
    let made = anonymize_on(&engine, &policy, &options, &Job::default())?;
    println!("{} rows written", engine.rows.load(Ordering::Relaxed));
    assert_eq!(engine.rows.load(Ordering::Relaxed), made.rows_out);
    Ok(())
}
