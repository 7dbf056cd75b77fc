//! Tables with next to nothing in them: every model, algorithm, way of suppressing, waiver and key on each.
//!
//! Whatever the table, a job ends with a release or with an error that the user can act on. Never with a panic, nor
//! with a refusal by the checker, which would mean that search and checker read the policy differently.
//!
//! The product has some tens of thousands of jobs. An ordinary run takes every n-th of them, another share of each
//! model and algorithm; `AMIDST_EXHAUSTIVE=1` takes all.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use amidst::anonymize::{Options, anonymize};
use amidst::core::algorithm::ALGORITHMS;
use amidst::core::model::{self, MODELS, Sensitive};
use amidst::core::parameter::Kind;
use amidst::job::Job;
use amidst::policy::Policy;

/// Jobs that an ordinary run passes over, plus one. Coprime to the number of options of each kind.
const STRIDE: usize = 37;

/// A table: its name, and its rows of age, town, disease, waiver and key.
type Case = (&'static str, Vec<[&'static str; 5]>);

fn tables() -> Vec<Case> {
    let row = |age, disease, waived, key| [age, "Ulm", disease, waived, key];
    vec![
        ("nobody", vec![]),
        ("one row", vec![row("30", "flu", "no", "a")]),
        ("two rows", vec![row("30", "flu", "no", "a"), row("50", "cold", "no", "b")]),
        ("two rows of one person", vec![row("30", "flu", "no", "a"), row("50", "cold", "no", "a")]),
        ("all rows equal", vec![row("30", "flu", "no", "a"); 6]),
        ("everything missing", vec![["?"; 5]; 4]),
        ("one value", (0..6).map(|i| row(["20", "40", "60"][i % 3], "flu", "no", ["a", "b", "c"][i % 3])).collect()),
        ("everybody waived", vec![row("30", "flu", "yes", "a"), row("50", "cold", "yes", "b")]),
        (
            "all but one waived",
            vec![row("30", "flu", "yes", "a"), row("50", "cold", "yes", "b"), row("35", "hiv", "no", "c")],
        ),
        (
            "some waived",
            (0..12)
                .map(|i| {
                    let waived = if i % 3 == 0 { "yes" } else { "no" };
                    let key = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "k"][i];
                    row(["20", "30", "40", "50"][i % 4], ["flu", "cold", "hiv"][i % 3], waived, key)
                })
                .collect(),
        ),
    ]
}

/// A requirement of the model that can be met by some tables.
fn requirement(entry: &model::Entry) -> String {
    let mut text = format!("[[require]]\nmodel = \"{}\"\n", entry.id);
    if entry.sensitive != Sensitive::None {
        text.push_str("on = \"disease\"\n");
    }
    for p in entry.parameters.iter().filter(|p| p.required) {
        let value = match (p.name, p.kind) {
            ("rho1", _) => "0.1".to_string(),
            ("rho2", _) => "0.9".to_string(),
            ("min", _) => "0".to_string(),
            ("c2", _) => "10".to_string(),
            ("l" | "k" | "p" | "c" | "c1" | "m" | "delta" | "beta", _) => "2".to_string(),
            (_, Kind::Count) => "2".to_string(),
            (_, Kind::Counts) => "[2]".to_string(),
            (_, Kind::Number) => "0.5".to_string(),
            (_, Kind::Choice(words)) => format!("\"{}\"", words[0]),
            (_, Kind::Flag) => "true".to_string(),
            (_, Kind::Value) => "\"flu\"".to_string(),
            (_, Kind::Values) => "[\"flu\"]".to_string(),
            (_, Kind::Bounds) => "{ flu = 0.5 }".to_string(),
            (_, Kind::Categories) => "[[\"hiv\"], [\"flu\", \"cold\", \"?\"]]".to_string(),
            (_, Kind::Weights) => "\"uniform\"".to_string(),
            (_, Kind::Population) => "\"population.csv\"".to_string(),
        };
        text.push_str(&format!("{} = {value}\n", p.name));
    }
    text
}

/// What becomes of those who waived; none is a policy without a consent column.
const WAIVERS: [Option<&str>; 4] = [None, Some("publish"), Some("join"), Some("separate")];

/// What happens to rows that cannot be published, and how many there may be.
const SUPPRESSION: [(&str, &str); 3] = [("drop", "0"), ("drop", "1.0"), ("mask", "1.0")];

/// How columns are generalized: along hierarchies, or in ranges and sets.
const WAYS: [[&str; 2]; 2] = [["hierarchy", "hierarchy"], ["ranges", "sets"]];

fn policy(requirement: &str, algorithm: &str, waiver: Option<&str>, suppression: (&str, &str), keyed: bool) -> String {
    // Which way and whether unknown cells stay varies with the rest.
    let odd = algorithm.len() + requirement.len() + usize::from(keyed);
    let [age, town] = WAYS[odd % 2];
    let missing = if odd.is_multiple_of(3) { "keep" } else { "drop" };
    let (suppressed, limit) = suppression;
    let waiver = match waiver {
        None => "role = \"identifying\"".to_string(),
        Some(mode) => format!("role = \"consent\"\nmode = \"{mode}\""),
    };
    let key = if keyed { "key" } else { "identifying" };
    format!(
        "[data]\ninput = \"people.csv\"\nmissing = [\"?\"]\nmissing_rows = \"{missing}\"\n[columns.age]\nrole = \"quasi\"\n\
         generalize = \"{age}\"\nhierarchy = {{ suppress = true }}\n[columns.town]\nrole = \"quasi\"\n\
         generalize = \"{town}\"\nhierarchy = {{ suppress = true }}\n[columns.disease]\nrole = \"sensitive\"\n\
         order = [\"cold\", \"flu\", \"hiv\", \"?\"]\ncategories = [[\"hiv\"], [\"flu\", \"cold\", \"?\"]]\n\
         [columns.waived]\n{waiver}\n[columns.id]\nrole = \"{key}\"\n{requirement}\
         [search]\nalgorithm = \"{algorithm}\"\nmax_suppression = {limit}\nsuppressed = \"{suppressed}\"\n"
    )
}

/// Runs a job; what went wrong if it ended in a way that no user should see.
fn run(folder: &Path, text: &str) -> Result<u8, String> {
    let path = folder.join("policy.toml");
    let policy = Policy::parse(text, &path).map_err(|e| format!("the test's policy is wrong: {e}"))?;
    let options = Options { out: Some(folder.join("out")), force: true, ..Options::default() };
    let cancel = AtomicBool::new(false);
    let job = Job { cancel: &cancel, progress: &|_, _| (), threads: 1, ..Job::default() };
    match catch_unwind(AssertUnwindSafe(|| anonymize(&policy, &options, &job))) {
        Ok(Ok(_)) => Ok(0),
        Ok(Err(failure)) if matches!(failure.exit_code(), 1 | 2) => Ok(failure.exit_code()),
        Ok(Err(failure)) => Err(failure.to_string()),
        Err(panic) => Err(format!(
            "panic: {}",
            panic
                .downcast_ref::<String>()
                .cloned()
                .or(panic.downcast_ref::<&str>().map(|s| s.to_string()))
                .unwrap_or_default()
        )),
    }
}

#[test]
fn every_job_on_next_to_nothing_ends_well() {
    let all = std::env::var_os("AMIDST_EXHAUSTIVE").is_some();
    let (mut number, mut ends, mut wrong) = (0usize, [0usize; 3], Vec::new());
    for (name, rows) in tables() {
        let place = tempfile::tempdir().unwrap();
        let lines: String = rows.iter().map(|row| row.join(",") + "\n").collect();
        std::fs::write(place.path().join("people.csv"), format!("age,town,disease,waived,id\n{lines}")).unwrap();
        let population = "age,town,disease,count\n30,Ulm,flu,5\n50,Ulm,cold,5\n20,Ulm,hiv,4\n40,Ulm,flu,3\n35,Ulm,hiv,2\n\
                          60,Ulm,flu,2\n90,Bonn,cold,9\n?,?,?,3\n";
        std::fs::write(place.path().join("population.csv"), population).unwrap();
        for entry in MODELS {
            let requirement = requirement(entry);
            for algorithm in ALGORITHMS {
                for waiver in WAIVERS {
                    for suppression in SUPPRESSION {
                        for keyed in [false, true] {
                            number += 1;
                            if !all && number % STRIDE != 0 {
                                continue;
                            }
                            let text = policy(&requirement, algorithm.id, waiver, suppression, keyed);
                            match run(place.path(), &text) {
                                Ok(code) => ends[usize::from(code)] += 1,
                                Err(what) => wrong.push(format!(
                                    "{name}, {}, {}, waivers {waiver:?}, {suppression:?}, key {keyed}: {what}",
                                    entry.id, algorithm.id
                                )),
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {number} jobs: {}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    assert!(ends.iter().all(|&n| n > 0), "the tables try nothing: {ends:?}");
    println!("{ends:?} of {number} jobs ended with exit code 0, 1, 2");
}
