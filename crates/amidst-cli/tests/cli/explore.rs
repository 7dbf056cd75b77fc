//! The output of `explore` about lattices and local algorithms.

use crate::test_folder::TestFolder;

#[test]
fn a_lattice_is_looked_through() {
    let scratch = TestFolder::with_sample(400);
    let json = scratch.amidst(&["explore", "policy.toml", "--json"]).json(0);
    assert!(!json["minimal"].as_array().unwrap().is_empty());
    assert!(json["nodes"].as_u64().unwrap() > 100);
    assert!(json["algorithms"].is_null());
}

#[test]
fn local_algorithms_are_compared() {
    let scratch = TestFolder::with_sample(300);
    let policy = scratch.read("policy.toml").replace("[search]", "[search]\nalgorithm = \"mondrian\"");
    scratch.file("local.toml", &policy);
    let json = scratch.amidst(&["explore", "local.toml", "--json"]).json(0);
    let tried = json["algorithms"].as_array().unwrap();
    let names =
        ["mondrian", "portfolio", "systematic", "top-down", "k-member", "one-pass-k-means", "alpha-k-clustering"];
    for name in names {
        let one = tried.iter().find(|t| t["algorithm"] == name).unwrap();
        assert!(one["unsuited"].is_null(), "{one}");
        assert!(one["metrics"]["gcp"].is_number() && one["risk"]["smallest_class"].as_u64().unwrap() >= 5, "{one}");
        assert!(one["requirements"].as_array().unwrap().iter().all(|r| r["holds"] == true));
    }
    let losses: Vec<f64> = tried.iter().map(|t| t["metrics"]["loss"].as_f64().unwrap()).collect();
    assert!(losses.is_sorted(), "{losses:?}");
    let front = json["front"].as_array().unwrap();
    assert!(front.len() > 2);
    for pair in front.windows(2) {
        assert!(pair[0]["risk"]["prosecutor_max"].as_f64() >= pair[1]["risk"]["prosecutor_max"].as_f64());
        assert!(pair[0]["loss"].as_f64() < pair[1]["loss"].as_f64());
    }
    let text = scratch.amidst(&["explore", "local.toml"]);
    assert_eq!(text.code, 0, "{}", text.stderr);
    assert!(text.stdout.contains("portfolio") && text.stdout.contains("smallest class"));
}
