//! Releases, certificates, reports and JSON of many policies, pinned by their digests: whoever moves code without
//! meaning to change what it makes finds out here.
//!
//! `AMIDST_PIN=write cargo test -p amidst --test pinned` writes the digests anew, for changes that are meant; the
//! commit then says why they are.

mod cases;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use amidst::check::sha256_hex;
use amidst::prelude::*;
use amidst::sample;
use amidst::series::{self, Batch, Mode, Series};
use cases::{CASES, Case, SERIES};

/// Digests by what they are of.
type Digests = BTreeMap<String, String>;

fn pinned_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pinned/digests.txt")
}

/// Digests every file below `folder`, without the name of the folder that this run worked in.
fn digest_folder(name: &str, folder: &Path, run: &Path, digests: &mut Digests) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the run can be looked at")
        .map(|entry| entry.expect("the run can be looked at").path())
        .collect();
    entries.sort();
    for path in entries {
        let name = format!("{name}/{}", path.file_name().expect("the run can be looked at").to_string_lossy());
        if path.is_dir() {
            digest_folder(&name, &path, run, digests);
        } else {
            let bytes = fs::read(&path).expect("the run can be looked at");
            let digest = match std::str::from_utf8(&bytes) {
                Ok(text) => sha256_hex(text.replace(&*run.to_string_lossy(), "").as_bytes()),
                Err(_) => sha256_hex(&bytes),
            };
            digests.insert(name, digest);
        }
    }
}

/// What is told as JSON, without what differs from run to run.
fn digest_json(mut told: serde_json::Value) -> String {
    let object = told.as_object_mut().expect("the run can be looked at");
    for volatile in ["seconds", "peak_memory_bytes", "outputs"] {
        object.remove(volatile);
    }
    sha256_hex(told.to_string().as_bytes())
}

fn policy(case: &Case, folder: &Path) -> Policy {
    let text = format!(
        "[data]\ninput = \"patients.csv\"\n{}\n[search]\nseed = {}\n{}\n[output]\nfile = \"release.{}\"\n",
        case.columns, case.seed, case.search, case.format
    );
    Policy::parse(&text, &folder.join("policy.toml")).unwrap_or_else(|e| panic!("{}: {e}", case.name))
}

fn release(case: &Case, folder: &Path, digests: &mut Digests) {
    let out = folder.join(case.name);
    let options = Options { out: Some(out.clone()), ..Options::default() };
    let made = anonymize(&policy(case, folder), &options, &Job::default());
    let made = made.unwrap_or_else(|e| panic!("{}: {e}", case.name));
    digests.insert(format!("{}.json", case.name), digest_json(made.to_json()));
    digest_folder(case.name, &out, folder, digests);
}

fn version(case: &Case, mode: Mode, folder: &Path, digests: &mut Digests) {
    let place = folder.join(case.name);
    let job = Job::default();
    series::init(&place, &policy(case, folder), Some(mode), None, &job)
        .unwrap_or_else(|e| panic!("{}: {e}", case.name));
    let mut opened = Series::open(&place).expect("the run can be looked at");
    let batch = Batch { insert: Some(folder.join("more.csv").to_string_lossy().into_owned()), delete: None };
    opened.apply(&batch, &job).unwrap_or_else(|e| panic!("{}: {e}", case.name));
    opened.publish(true, &job).unwrap_or_else(|e| panic!("{}: {e}", case.name));
    digest_folder(case.name, &place.join("versions"), folder, digests);
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
    let mut found = Digests::new();
    CASES.iter().for_each(|case| release(case, folder.path(), &mut found));
    for (mode, case) in SERIES {
        version(case, *mode, folder.path(), &mut found);
    }
    let text: String = found.iter().map(|(name, digest)| format!("{digest}  {name}\n")).collect();
    if std::env::var_os("AMIDST_PIN").is_some_and(|asked| asked == "write") {
        fs::write(pinned_file(), &text).unwrap();
    }
    let pinned = fs::read_to_string(pinned_file()).unwrap_or_default();
    let split = |line: &str| line.split_once("  ").map(|(digest, name)| (name.to_string(), digest.to_string()));
    let pinned: Digests = pinned.lines().filter_map(split).collect();
    let names = found.keys().chain(pinned.keys()).collect::<std::collections::BTreeSet<_>>();
    let changed: Vec<&String> = names.into_iter().filter(|name| found.get(*name) != pinned.get(*name)).collect();
    assert!(changed.is_empty(), "changed, new or gone: {changed:#?}");
}
