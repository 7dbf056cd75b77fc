//! Releases, certificates, reports and JSON of many policies, pinned by their digests: a change that was meant to move
//! code only, but changes what the code makes, fails here.
//!
//! `AMIDST_PIN=write cargo test -p amidst --test pinned` writes the digests anew, for changes that are meant; the
//! commit then says why they are.

mod cases;

use std::fs;
use std::path::Path;

use amidst::check::sha256_hex;
use amidst::prelude::*;
use amidst::sample;
use amidst::series::{self, Batch, Mode, Series};
use amidst_testkit::pins::Pins;
use cases::{CASES, Case, SERIES};

fn pins() -> Pins {
    Pins::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pinned/digests.txt"), sha256_hex)
}

fn policy(case: &Case, folder: &Path) -> Policy {
    let text = format!(
        "[data]\ninput = \"patients.csv\"\n{}\n[search]\nseed = {}\n{}\n[output]\nfile = \"release.{}\"\n",
        case.columns, case.seed, case.search, case.format
    );
    Policy::parse(&text, &folder.join("policy.toml")).unwrap_or_else(|e| panic!("{}: {e}", case.name))
}

fn release(case: &Case, folder: &Path, pins: &mut Pins) {
    let out = folder.join(case.name);
    let options = Options { out: Some(out.clone()), ..Options::default() };
    let made = anonymize(&policy(case, folder), &options, &Job::default());
    let made = made.unwrap_or_else(|e| panic!("{}: {e}", case.name));
    pins.json(&format!("{}.json", case.name), made.to_json());
    pins.folder(case.name, &out, folder);
}

fn version(case: &Case, mode: Mode, folder: &Path, pins: &mut Pins) {
    let place = folder.join(case.name);
    let job = Job::default();
    series::init(&place, &policy(case, folder), Some(mode), None, &job)
        .unwrap_or_else(|e| panic!("{}: {e}", case.name));
    let mut opened = Series::open(&place).expect("the run can be looked at");
    let batch = Batch { insert: Some(folder.join("more.csv").to_string_lossy().into_owned()), delete: None };
    opened.apply(&batch, &job).unwrap_or_else(|e| panic!("{}: {e}", case.name));
    opened.publish(true, &job).unwrap_or_else(|e| panic!("{}: {e}", case.name));
    pins.folder(case.name, &place.join("versions"), folder);
}

/// Patients 1 to 400, and 401 to 440 to come later.
fn tables(folder: &Path) {
    sample::save(440, 3, &folder.join("all.csv")).expect("the run can be looked at");
    let all = fs::read_to_string(folder.join("all.csv")).expect("the run can be looked at");
    let lines: Vec<&str> = all.lines().collect();
    fs::write(folder.join("patients.csv"), lines[..401].join("\n") + "\n").expect("the run can be looked at");
    fs::write(folder.join("more.csv"), format!("{}\n{}\n", lines[0], lines[401..].join("\n")))
        .expect("the run can be looked at");
}

#[test]
fn nothing_changes_by_a_byte() {
    let folder = tempfile::tempdir().unwrap();
    tables(folder.path());
    let mut pins = pins();
    CASES.iter().for_each(|case| release(case, folder.path(), &mut pins));
    for (mode, case) in SERIES {
        version(case, *mode, folder.path(), &mut pins);
    }
    pins.assert_unchanged();
}
