//! The commands that teach: registries, explanations, samples, first policies, completions.

use crate::house::House;

#[test]
fn every_entry_of_every_registry_can_be_explained() {
    let house = House::new();
    for registry in ["models", "algorithms", "metrics"] {
        let json = house.amidst(&[registry, "--json"]).json(0);
        let entries = json[registry].as_array().unwrap();
        assert!(!entries.is_empty(), "{registry}");
        for entry in entries {
            let id = entry["id"].as_str().unwrap();
            let run = house.amidst(&["explain", id]);
            assert_eq!(run.code, 0, "{id}");
            assert!(run.stdout.contains(entry["citation"].as_str().unwrap()), "{id}");
        }
    }
}

#[test]
fn a_sample_is_the_same_for_the_same_seed() {
    let house = House::new();
    let first = house.amidst(&["sample", "--rows", "500", "--seed", "7"]);
    assert_eq!(first.stdout.lines().count(), 501);
    assert_eq!(first.stdout, house.amidst(&["sample", "--rows", "500", "--seed", "7"]).stdout);
    assert!(first.stdout != house.amidst(&["sample", "--rows", "500", "--seed", "8"]).stdout);
}

#[test]
fn a_sample_has_the_format_of_its_ending() {
    let house = House::new();
    for name in ["p.parquet", "p.arrow", "p.jsonl", "p.csv.gz", "p.tsv"] {
        let run = house.amidst(&["sample", "--rows", "300", "--out", name, "--policy", "p.toml"]);
        assert_eq!(run.code, 0, "{name}: {}", run.stderr);
        let run = house.amidst(&["check", "p.toml"]);
        assert_eq!(run.code, 0, "{name}: {}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains("300"), "{name}: {}", run.stdout);
    }
}

#[test]
fn a_first_policy_passes_its_check() {
    let house = House::with_sample(2000);
    let run = house.amidst(&["init", "patients.csv", "--out", "mine.toml"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let run = house.amidst(&["check", "mine.toml"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    house.amidst(&["init", "patients.csv", "--out", "mine.toml"]).fails(2, &["exists already", "--force"]);
}

#[test]
fn pipes_carry_no_colour_and_may_close_early() {
    let house = House::with_sample(200);
    let run = house.amidst(&["audit", "patients.csv", "--qi", "age,sex", "--sensitive", "diagnosis"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!run.stdout.contains('\u{1b}'));
    for shell in ["bash", "zsh", "fish"] {
        assert!(house.amidst(&["completions", shell]).stdout.contains("anonymize"), "{shell}");
    }
}
