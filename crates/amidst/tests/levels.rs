//! A policy that names its node of the lattice; what is printed about minimal nodes.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use amidst::core::table::Table;
use amidst::explore::explore;
use amidst::io::Input;
use amidst::json_output::explored;
use amidst::prelude::*;
use amidst::prepare::LoadOptions;

fn people() -> Table {
    let rows = [
        ["29", "13053", "flu"],
        ["28", "13068", "flu"],
        ["21", "13068", "cancer"],
        ["23", "13053", "angina"],
        ["50", "14853", "cancer"],
        ["55", "14853", "cancer"],
        ["47", "14850", "cancer"],
        ["49", "14850", "cancer"],
    ];
    Table::from_rows(["age", "zip", "disease"], rows)
}

fn policy(search: &str) -> Result<Policy, String> {
    let text = format!(
        "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\ntype = \"integer\"\n\
         hierarchy = {{ intervals = [10, 20] }}\n[columns.zip]\nrole = \"quasi\"\ntype = \"text\"\n\
         hierarchy = {{ mask = {{ length = 5, from = \"right\" }} }}\n[columns.disease]\nrole = \"sensitive\"\n\
         [[require]]\nmodel = \"k-anonymity\"\nk = 2\n[search]\n{search}\n"
    );
    Policy::parse(&text, Path::new("policy.toml")).map_err(|e| e.to_string())
}

fn levels(release: &Release) -> Vec<usize> {
    let levels = &release.outcome.to_json()["levels"];
    ["age", "zip"].iter().map(|name| levels[name].as_u64().expect("a level") as usize).collect()
}

#[test]
fn a_policy_publishes_exactly_the_node_that_it_names() {
    for named in [[2, 3], [1, 3], [3, 5], [3, 2]] {
        let search = format!("levels = {{ age = {}, zip = {} }}", named[0], named[1]);
        let policy = policy(&search).unwrap();
        let release = anonymize_table(&policy, people(), &Job::default()).unwrap();
        assert_eq!(levels(&release), named, "{search}");
        // The policy that is handed over names the node, too.
        let written = String::from_utf8(release.public["policy.toml"].to_vec()).unwrap();
        assert!(written.contains(&search), "{written}");
    }
}

#[test]
fn a_node_that_does_not_satisfy_the_policy_is_refused_with_its_reason() {
    let none =
        anonymize_table(&policy("levels = { age = 0, zip = 0 }").unwrap(), people(), &Job::default()).unwrap_err();
    assert_eq!(none.exit_code(), 1);
    assert!(none.to_string().contains("k-anonymity with k = 2 fails in 8 classes with 8 rows"), "{none}");
    // With suppression it is published as far as it goes.
    let some = policy("levels = { age = 1, zip = 0 }\nmax_suppression = 8").unwrap();
    assert_eq!(levels(&anonymize_table(&some, people(), &Job::default()).unwrap()), [1, 0]);
}

#[test]
fn slips_in_levels_are_told() {
    let run = |search: &str| anonymize_table(&policy(search).unwrap(), people(), &Job::default()).unwrap_err();
    assert!(run("levels = { aeg = 1, zip = 1 }").to_string().contains("did you mean `age`"));
    assert!(run("levels = { age = 1 }").to_string().contains("zip missing"));
    assert!(run("levels = { age = 9, zip = 1 }").to_string().contains("the levels 0 to 3"));
    assert!(policy("levels = { age = -1, zip = 1 }").unwrap_err().contains("whole number from 0 on"));
    assert!(
        policy("levels = { age = 1, zip = 1 }\nalgorithm = \"mondrian\"")
            .unwrap_err()
            .contains("nothing for an algorithm")
    );
}

#[test]
fn minimal_nodes_tell_their_homogeneous_classes() {
    let policy = policy("metric = \"height\"").unwrap();
    let mut input = Input::default();
    input.table = people();
    input.header = input.table.columns.iter().map(|c| c.name.clone()).collect();
    let prepared = Prepared::of_input(&policy, input, &LoadOptions::default()).unwrap();
    let stop = AtomicBool::new(false);
    let job = Job { cancel: &stop, ..Job::default() };
    let found = explored(&prepared, &explore(&policy, &prepared, &job).unwrap());
    let minimal = found["minimal"].as_array().unwrap();
    assert!(!minimal.is_empty());
    for node in minimal {
        let levels = node["levels"].as_object().unwrap().iter();
        let search = levels.map(|(name, level)| format!("{name} = {level}")).collect::<Vec<_>>().join(", ");
        let release =
            anonymize_table(&self::policy(&format!("levels = {{ {search} }}")).unwrap(), people(), &Job::default());
        let release = release.unwrap();
        // Counted by hand in the published table.
        let mut classes: Vec<(String, Vec<String>)> = Vec::new();
        for line in release.text().unwrap().lines().skip(1) {
            let (tuple, value) = line.rsplit_once(',').unwrap();
            match classes.iter_mut().find(|c| c.0 == tuple) {
                Some(class) => class.1.push(value.to_string()),
                None => classes.push((tuple.to_string(), vec![value.to_string()])),
            }
        }
        let alike: Vec<usize> =
            classes.iter().filter(|c| c.1.iter().all(|v| *v == c.1[0])).map(|c| c.1.len()).collect();
        let told = &node["homogeneity"]["disease"];
        assert_eq!(told["classes"], alike.len());
        assert_eq!(told["rows"], alike.iter().sum::<usize>());
        assert_eq!(node["mean_class_size"].as_f64().unwrap(), 8.0 / classes.len() as f64);
    }
    let (checked, nodes) = (found["nodes_checked"].as_u64().unwrap(), found["nodes"].as_u64().unwrap());
    assert!(checked >= minimal.len() as u64 && checked <= nodes, "{checked} of {nodes}");
}
