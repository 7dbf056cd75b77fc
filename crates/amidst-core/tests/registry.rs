//! The registries are the folders: one file a model, and nothing in one that is not in the other.
#![cfg(test)]

use std::collections::BTreeSet;
use std::path::Path;

use amidst_core::algorithm::ALGORITHMS;
use amidst_core::attack::{ATTACKS, Extra, Knowledge, Published, Target};
use amidst_core::frequency::FrequencySet;
use amidst_core::metric::METRICS;
use amidst_core::model::{MODELS, Sensitive};
use amidst_core::parameter::{Kind, Parameters, Value};

/// The ids that the files of a folder of `src` stand for: `k_map.rs` is `k-map`. What several of them share lies in
/// folders of its own.
fn files(folder: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let names = files.map(|entry| entry.file_name().into_string().unwrap()).filter(|name| name != "mod.rs");
    names.map(|name| name.trim_end_matches(".rs").replace('_', "-")).collect()
}

/// Fails unless the folder holds exactly one file for each id, and each id is written as policies write it.
fn assert_same(folder: &str, ids: &[&str]) {
    let registered: BTreeSet<String> = ids.iter().map(|id| id.to_string()).collect();
    assert_eq!(registered.len(), ids.len(), "{folder}: an id is registered twice");
    assert_eq!(files(folder), registered, "{folder}: the folder and its registry differ");
    for id in ids {
        assert!(id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{folder}: {id}");
    }
}

#[test]
fn the_model_folder_is_the_registry() {
    assert_same("model", &MODELS.iter().map(|m| m.id).collect::<Vec<_>>());
}

#[test]
fn the_metric_folder_is_the_registry() {
    assert_same("metric", &METRICS.iter().map(|m| m.id).collect::<Vec<_>>());
}

#[test]
fn the_algorithm_folder_is_the_registry() {
    assert_same("algorithm", &ALGORITHMS.iter().map(|a| a.id).collect::<Vec<_>>());
}

#[test]
fn the_attack_folder_is_the_registry() {
    // Near-homogeneity is the homogeneity attack with another share, under the name that audits report.
    let ids: Vec<&str> = ATTACKS.iter().map(|a| a.id).filter(|&id| id != "homogeneity_95").collect();
    assert_eq!(ids.len() + 1, ATTACKS.len());
    assert_same("attack", &ids);
}

#[test]
fn every_attack_explains_itself_and_asks_for_what_it_needs() {
    let set = FrequencySet::default();
    let target = Target::new(Published::new(&set, &set.groups, &[]), 0);
    for attack in ATTACKS {
        for text in [attack.title, attack.assumes, attack.definition, attack.citation, attack.needs.describe()] {
            assert!(!text.trim().is_empty() && !text.ends_with('.'), "{}", attack.id);
        }
        let names: BTreeSet<&str> = attack.parameters.iter().map(|p| p.name).collect();
        assert_eq!(names.len(), attack.parameters.len(), "{}: a parameter is declared twice", attack.id);
        assert!(attack.parameters.iter().all(|p| !p.help.is_empty() && !p.help.ends_with('.')), "{}", attack.id);
        let result = attack.run(&target, &Extra::default(), &Parameters::default());
        if attack.needs != Knowledge::Release {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(attack.needs.describe()), "{}: {error}", attack.id);
        }
        for parameter in attack.parameters {
            let wrong = Parameters::from_pairs([(parameter.name, Value::List(vec![Value::Flag(true)]))]);
            assert!(attack.run(&target, &Extra::default(), &wrong).is_err(), "{}.{}", attack.id, parameter.name);
        }
    }
}

#[test]
fn every_model_explains_itself() {
    for model in MODELS {
        for text in [model.title, model.definition, model.citation] {
            assert!(!text.trim().is_empty(), "{}", model.id);
        }
        let names: BTreeSet<&str> = model.parameters.iter().map(|p| p.name).collect();
        assert_eq!(names.len(), model.parameters.len(), "{}: a parameter is declared twice", model.id);
        for parameter in model.parameters {
            assert!(!parameter.help.is_empty() && !parameter.help.ends_with('.'), "{}.{}", model.id, parameter.name);
            let on_values =
                matches!(parameter.kind, Kind::Value | Kind::Values | Kind::Bounds | Kind::Categories | Kind::Weights);
            assert!(!(on_values && model.sensitive == Sensitive::None), "{}.{}", model.id, parameter.name);
        }
    }
}

/// Something of the right kind, for the parameters that are not under test.
fn plausible(kind: Kind) -> Value {
    let text = |t: &str| Value::Text(t.to_string());
    match kind {
        Kind::Count | Kind::Number => Value::Number(1.into()),
        Kind::Counts => Value::List(vec![Value::Number(1.into())]),
        Kind::Choice(words) => text(words[0]),
        Kind::Flag => Value::Flag(true),
        Kind::Value => text("a"),
        Kind::Values => Value::List(vec![text("a")]),
        Kind::Bounds => Value::Table(vec![("a".into(), text("1/2"))]),
        Kind::Categories => Value::List(vec![Value::List(vec![text("a")]), Value::List(vec![text("b")])]),
        Kind::Weights => text("uniform"),
        Kind::Population => text("population.csv"),
    }
}

#[test]
fn missing_and_mistyped_parameters_are_errors_that_name_them() {
    let domain = amidst_core::internal::sensitive::SensitiveDomain {
        dictionary: ["a", "b"].into_iter().collect(),
        ..Default::default()
    };
    for model in MODELS {
        let build = |skip: &str, with: Option<Value>| {
            let mut parameters = Parameters::default();
            for p in model.parameters.iter().filter(|p| p.name != skip) {
                parameters.set(p.name, plausible(p.kind));
            }
            if let Some(value) = with {
                parameters.set(skip, value);
            }
            (model.build)(&parameters, &domain).map(|_| ())
        };
        assert_eq!(build("", None), Ok(()), "{}", model.id);
        for parameter in model.parameters {
            let at = format!("{}.{}", model.id, parameter.name);
            // Categories may come from the column, which has none here.
            let needed = parameter.required || parameter.kind == Kind::Categories;
            match build(parameter.name, None) {
                Err(error) => assert!(needed && error.key == parameter.name, "{at}: {error}"),
                Ok(()) => assert!(!needed, "{at} is required but may be left out"),
            }
            let wrong = [
                Value::List(vec![Value::Flag(true)]),
                Value::Text("\u{1f980}".into()),
                Value::Number("-3".parse().unwrap()),
            ];
            for value in wrong {
                let accepted = match parameter.kind {
                    Kind::Value | Kind::Population => matches!(value, Value::Text(_)) || parameter.kind == Kind::Value,
                    _ => false,
                };
                match build(parameter.name, Some(value.clone())) {
                    Err(error) => assert_eq!(error.key, parameter.name, "{at}: {error}"),
                    Ok(()) => assert!(accepted, "{at} accepts {value:?}"),
                }
            }
        }
    }
}
