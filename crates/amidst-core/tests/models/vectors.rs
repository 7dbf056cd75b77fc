//! The papers' worked examples and cases computed from the definitions by an independent program.

use std::sync::Arc;

use amidst_core::class::{Class, Population, TableStats};
use amidst_core::internal::sensitive::belief::{beliefs, covered};
use amidst_core::internal::sensitive::categories::{Categories, scheme};
use amidst_core::model::{self, Bound};
use amidst_core::parameter::Rational;
use amidst_core::parameter::{Parameters, Value};
use amidst_core::requirement::SensitiveDomain;
use serde_json::Value as Json;

fn vectors() -> Json {
    serde_json::from_str(include_str!("../vectors/models.json")).unwrap()
}

/// A parameter as a policy would state it: JSON numbers print as they were written.
fn value(json: &Json) -> Value {
    match json {
        Json::Number(n) => Value::Number(n.to_string().parse().unwrap()),
        Json::String(text) => Value::Text(text.clone()),
        Json::Bool(flag) => Value::Flag(*flag),
        Json::Array(items) => Value::List(items.iter().map(value).collect()),
        Json::Object(pairs) => Value::Table(pairs.iter().map(|(k, v)| (k.clone(), value(v))).collect()),
        Json::Null => panic!("no parameter is null"),
    }
}

fn parameters(json: &Json) -> Parameters {
    let mut parameters = Parameters::default();
    json.as_object().unwrap().iter().for_each(|(key, v)| parameters.set(key, value(v)));
    parameters
}

fn texts(json: &Json) -> Vec<String> {
    json.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_string()).collect()
}

/// A column with the values of a histogram (and of the papers' categories, when it uses those), and the histogram.
fn column(histogram: &Json, categories: &[Vec<String>]) -> (SensitiveDomain, Vec<(u32, u64)>) {
    let counts = histogram.as_object().unwrap();
    let categorized = counts.keys().all(|v| categories.iter().flatten().any(|c| c == v));
    let mut domain = SensitiveDomain::default();
    let known = categories.iter().flatten().filter(|_| categorized);
    known.chain(counts.keys()).for_each(|v| {
        domain.dictionary.intern(v);
    });
    domain.categories = if categorized { categories.to_vec() } else { Vec::new() };
    let mut histogram: Vec<(u32, u64)> =
        counts.iter().map(|(v, n)| (domain.dictionary.code(v).unwrap(), n.as_u64().unwrap())).collect();
    histogram.sort_unstable();
    (domain, histogram)
}

#[test]
fn every_class_case_gets_its_verdict() {
    let vectors = vectors();
    let categories: Vec<Vec<String>> = vectors["categories"].as_array().unwrap().iter().map(texts).collect();
    let cases = vectors["class_cases"].as_array().unwrap();
    assert!(cases.len() >= 500);
    for case in cases {
        let (domain, histogram) = column(&case["histogram"], &categories);
        let entry = model::find(case["model"].as_str().unwrap()).unwrap();
        let model = (entry.build)(&parameters(&case["params"]), &domain).unwrap_or_else(|e| panic!("{e}: {case}"));
        let table = TableStats::default();
        assert_eq!(model.holds(&Class::of(&histogram), &table), case["holds"].as_bool().unwrap(), "{case}");
    }
}

#[test]
fn weights_follow_equation_1() {
    for case in vectors()["category_weights"].as_array().unwrap() {
        let expected: Vec<Rational> = texts(&case["weights"]).iter().map(|w| w.parse().unwrap()).collect();
        let beta = match case["scheme"].as_str().unwrap() {
            "uniform" => 0,
            "sensitivity" => case["beta"].as_u64().unwrap(),
            _ => {
                let total = case["total"].as_str().unwrap().parse::<Rational>().unwrap();
                listed_weights_add_up(&case["weights"], &texts(&case["total_of"]), total);
                continue;
            }
        };
        assert_eq!(scheme(expected.len(), beta).unwrap(), expected, "{case}");
    }
}

fn listed_weights_add_up(weights: &Json, rows: &[String], total: Rational) {
    let categories = vectors()["categories"].clone();
    let mut domain = SensitiveDomain::default();
    categories.as_array().unwrap().iter().flat_map(texts).for_each(|v| {
        domain.dictionary.intern(&v);
    });
    let stated = Parameters::from_pairs([("categories", value(&categories)), ("weights", value(weights))]);
    let categories = Categories::read(&stated, &domain).unwrap();
    let mut histogram: Vec<(u32, u64)> = rows.iter().map(|v| (domain.dictionary.code(v).unwrap(), 1)).collect();
    histogram.sort_unstable();
    assert!(categories.bound(total.clone()).reached(&histogram));
    let more = total.value() + Rational::new(1, 1_000_000_000).value();
    assert!(!categories.bound(more.into()).reached(&histogram));
}

#[test]
fn adjusted_entropy_is_the_articles() {
    let case = &vectors()["adjusted_entropy"];
    let mut all = case["dont_care"].as_object().unwrap().clone();
    all.extend(case["sensitive"].as_object().unwrap().clone());
    let (domain, histogram) = column(&Json::Object(all), &[]);
    let dont_care = case["dont_care"].as_object().unwrap().keys().map(|y| Value::Text(y.clone())).collect();
    let entry = model::find("entropy-l-diversity").unwrap();
    let stated = Parameters::from_pairs([("l", Value::Number(1.into())), ("dont_care", Value::List(dont_care))]);
    let level = (entry.build)(&stated, &domain).unwrap().measure(&Class::of(&histogram), &TableStats::default());
    let expected = case["adjusted_entropy"].as_f64().unwrap();
    assert!((level.bound.to_f64().ln() - expected).abs() < 1e-12, "{level:?}");
}

#[test]
fn the_three_diverse_table_is_2_8_diverse() {
    let case = &vectors()["three_diverse_table"];
    let entry = model::find("entropy-l-diversity").unwrap();
    let levels = case["classes"].as_array().unwrap().iter().map(|class| {
        let (domain, histogram) = column(class, &[]);
        let model = (entry.build)(&Parameters::from_pairs([("l", Value::Number(1.into()))]), &domain).unwrap();
        model.measure(&Class::of(&histogram), &TableStats::default())
    });
    let worst = levels.reduce(|a, b| a.worst(b)).unwrap();
    assert!((worst.bound.to_f64() - case["entropy_l"].as_f64().unwrap()).abs() < 1e-9);
}

#[test]
fn beliefs_are_those_of_theorem_3_1() {
    let case = &vectors()["beliefs"];
    let values = ["s1", "s2"];
    let tuples = ["q1", "q2"];
    let read = |json: &Json, scale: f64| -> Vec<Vec<(u32, u64)>> {
        let count = |q: &str, s: &str| (json[q][s].as_f64().unwrap() * scale).round() as u64;
        tuples.iter().map(|q| (0u32..).zip(values).map(|(c, s)| (c, count(q, s))).collect()).collect()
    };
    let (f, n) = (read(&case["f"], 100.0), read(&case["n"], 1.0));
    let f: Vec<Vec<(u32, u128)>> = f.iter().map(|h| h.iter().map(|&(c, n)| (c, n.into())).collect()).collect();
    let population = Arc::new(Population { histograms: f.clone(), ..Population::default() });
    let near = |r: &Rational, json: &Json| assert!((r.to_f64() - json.as_f64().unwrap()).abs() < 1e-9, "{r} {json}");
    for (q, name) in tuples.iter().enumerate() {
        let here = beliefs(&f[q], &covered(&population, &[q as u32]), &n[q]).unwrap();
        for (belief, s) in here.iter().zip(values) {
            near(&belief.prior, &case["prior"][name][s]);
            near(&belief.posterior, &case["posterior_ungeneralized"][name][s]);
        }
    }
    let both: Vec<(u32, u64)> = (0..2).map(|s| (s as u32, n[0][s].1 + n[1][s].1)).collect();
    let generalized = beliefs(&f[0], &covered(&population, &[0, 1]), &both).unwrap();
    near(&generalized[0].posterior, &case["posterior_generalized_q1_s1"]);

    let stated = Parameters::from_pairs([
        ("rho1", value(&case["rho1"])),
        ("rho2", value(&case["rho2"])),
        ("population", Value::Text("population.csv".into())),
    ]);
    let model = (model::find("bayes-optimal").unwrap().build)(&stated, &SensitiveDomain::default()).unwrap();
    let size = |h: &[(u32, u64)]| h.iter().map(|c| c.1).sum::<u64>();
    let table = TableStats {
        size: size(&both),
        histogram: both.clone(),
        population: Some(population),
        tuple_sizes: n.iter().map(|h| size(h)).collect(),
    };
    let before =
        (0..2).all(|q| model.holds(&Class { size: size(&n[q]), histogram: &n[q], tuples: &[q as u32] }, &table));
    let after = model.holds(&Class { size: size(&both), histogram: &both, tuples: &[0, 1] }, &table);
    assert_eq!((!before, !after), (case["breach_before"] == true, case["breach_after"] == true));
    let level = model.measure(&Class { size: size(&both), histogram: &both, tuples: &[0, 1] }, &table);
    assert_eq!(level.bound, Bound::ratio(81, 137));
}
