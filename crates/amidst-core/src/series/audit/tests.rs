//! The audit against models that are shown the shares of all worlds, enumerated.

use super::super::shares::tables;
use super::*;
use crate::class::Class;
use crate::frequency::FrequencySet;
use crate::parameter::{Parameters, Value};
use crate::random::Random;
use crate::requirement::Requirement;
use crate::sensitive::SensitiveDomain;
use crate::worlds::tests::changing::returners;
use crate::worlds::tests::{VALUES, enumerate, history, series};
use crate::worlds::{Compact, Version, VersionClass};

/// A model with its parameters.
pub type Stated<'a> = (&'a str, &'a [(&'a str, &'a str)]);

fn requirements(stated: &[Stated<'_>], values: u32) -> Vec<Requirement> {
    let dictionary = (0..values).map(|v| format!("v{v}")).collect::<Vec<_>>();
    let dictionary = dictionary.iter().map(String::as_str).collect();
    let categories = vec![vec!["v0".to_string(), "v1".to_string()], vec!["v2".to_string()], vec!["v3".to_string()]];
    let domain = SensitiveDomain { dictionary, ordered: true, categories, ..SensitiveDomain::default() };
    let one = |&(model, parameters): &Stated<'_>| {
        let mut stated = Parameters::default();
        for (key, value) in parameters {
            let value = value.parse().map_or_else(|_| Value::Text(value.to_string()), Value::Number);
            stated.set(key, value);
        }
        let entry = crate::model::find(model).unwrap();
        let on = if entry.sensitive == crate::model::Sensitive::None { vec![] } else { vec![0] };
        Requirement::new(entry, stated, on, std::slice::from_ref(&domain)).unwrap()
    };
    stated.iter().map(one).collect()
}

fn judge_history(history: &History, values: u32, stated: &[Stated<'_>], effort: &Effort) -> Audit {
    let set = FrequencySet {
        sensitive_width: 1,
        sensitive_domains: vec![values as usize],
        sensitive: (0..values).collect(),
        ..FrequencySet::default()
    };
    let (tables, requirements) = (tables(history, &set), requirements(stated, values));
    audit(history, &Judge::new(&set, &tables, &requirements), effort)
}

/// The audit of some versions of a column with this many values.
pub fn judged(versions: &[Version], values: u32, stated: &[Stated<'_>]) -> Audit {
    let mut history = History::default();
    versions.iter().for_each(|version| history.see(&Compact::of(version)));
    judge_history(&history, values, stated, &Effort::default())
}

fn class(persons: &[u32], histogram: &[(u32, u64)]) -> VersionClass {
    VersionClass { persons: persons.to_vec(), histogram: histogram.to_vec() }
}

#[test]
fn the_promised_number_of_values_is_asked_of_what_subtraction_leaves() {
    // Both versions are 3-diverse; the two who joined have one value each of the two that joined with them.
    let versions = [
        Version { classes: vec![class(&[1, 2, 3], &[(0, 1), (1, 1), (2, 1)])] },
        Version { classes: vec![class(&[1, 2, 3, 4, 5], &[(0, 2), (1, 1), (2, 1), (3, 1)])] },
    ];
    let found = judged(&versions, 4, &[("distinct-l-diversity", &[("l", "3")]), ("k-anonymity", &[("k", "3")])]);
    let kept = |below| Kept { applied: true, below, unproven: 0 };
    assert_eq!(found.requirements, [kept(2), Kept::default()]);
    assert_eq!((found.exposed, found.exact, found.columns[0].certain), (2, 5, 0));
    let worst = &found.columns[0].worst[0];
    assert_eq!((&worst.persons, &worst.candidates), (&vec![4, 5], &vec![(0, Some(0.5)), (3, Some(0.5))]));
    assert!(!judged(&versions, 4, &[("distinct-l-diversity", &[("l", "2")])]).finds_leaks());
}

const POLICIES: &[Stated<'_>] = &[
    ("distinct-l-diversity", &[("l", "2")]),
    ("distinct-l-diversity", &[("l", "3")]),
    ("entropy-l-diversity", &[("l", "1.8")]),
    ("entropy-l-diversity", &[("l", "2")]),
    ("recursive-c-l-diversity", &[("c", "2"), ("l", "2")]),
    ("recursive-c-l-diversity", &[("c", "1.5"), ("l", "3")]),
    ("general-alpha-k-anonymity", &[("alpha", "0.6"), ("k", "2")]),
    ("p-sensitive-k-anonymity", &[("p", "2"), ("k", "3")]),
    ("t-closeness", &[("t", "0.4")]),
    ("t-closeness", &[("t", "0.2"), ("distance", "ordered")]),
    ("m-invariance", &[("m", "2")]),
];

/// How many the audit calls below each requirement, really and by the bound alone, and how many there are.
#[derive(Default)]
struct Tried {
    really: Vec<usize>,
    accused: Vec<usize>,
    persons: usize,
}

impl Tried {
    /// What the models say of the shares of all worlds, enumerated, is what the audit says; a bound says it of no
    /// fewer.
    fn compare(&mut self, turn: usize, versions: &[Vec<crate::worlds::tests::Class>], models: &[Requirement]) {
        self.really.resize(models.len(), 0);
        self.accused.resize(models.len(), 0);
        let worlds = enumerate(versions);
        let history = history(versions);
        let exact = judge_history(&history, VALUES as u32, POLICIES, &Effort::default());
        let bound = judge_history(&history, VALUES as u32, POLICIES, &Effort::BOUND);
        let mut below = vec![0; models.len()];
        for (person, counts) in worlds.iter().enumerate().filter(|(_, counts)| counts.iter().sum::<u64>() > 0) {
            // A thousandfold, so that k is no matter.
            let shares: Vec<(u32, u64)> =
                (0u32..).zip(counts).filter(|c| *c.1 > 0).map(|(v, &n)| (v, 1000 * n)).collect();
            let last = versions.iter().rposition(|v| v.iter().any(|c| c.0.contains(&(person as u32)))).unwrap();
            let mut table = [0u64; VALUES];
            versions[last].iter().for_each(|c| (0..VALUES).for_each(|v| table[v] += u64::from(c.1[v])));
            let histogram: Vec<(u32, u64)> = (0u32..).zip(table).filter(|c| c.1 > 0).collect();
            let size = histogram.iter().map(|c| c.1).sum();
            let table = crate::class::TableStats { size, histogram, ..Default::default() };
            for (below, model) in below.iter_mut().zip(models) {
                *below += usize::from(!model.models[0].holds(&Class::of(&shares), &table));
            }
            self.persons += 1;
        }
        for (at, below) in below.into_iter().enumerate() {
            let model = models[at].model.id;
            assert_eq!(exact.requirements[at].below, below, "series {turn} {versions:?}: {model}");
            assert_eq!(exact.requirements[at].unproven, 0);
            assert!(bound.requirements[at].below >= below, "series {turn} {versions:?}: {model} by a bound");
            self.really[at] += below;
            self.accused[at] += bound.requirements[at].below - below;
        }
    }

    fn finish(self) {
        for ((stated, really), accused) in POLICIES.iter().zip(self.really).zip(self.accused) {
            println!("{stated:?}: {really} of {} persons are below, {accused} more by the bound", self.persons);
            assert!(really > 0 && really < self.persons);
        }
    }
}

#[test]
fn every_requirement_is_applied_to_the_shares_of_all_worlds() {
    let mut random = Random::new(61);
    let models = requirements(POLICIES, VALUES as u32);
    let mut tried = Tried::default();
    (0..6000).for_each(|turn| tried.compare(turn, &series(&mut random), &models));
    tried.finish();
}

/// The same of people who leave and come back with another value, or with the same.
#[test]
fn every_requirement_is_applied_to_those_who_come_back() {
    let mut random = Random::new(67);
    let models = requirements(POLICIES, VALUES as u32);
    let (mut tried, mut again) = (Tried::default(), 0);
    for turn in 0..4000 {
        let (versions, lives) = returners(&mut random);
        again += lives;
        tried.compare(turn, &versions, &models);
    }
    assert!(again > 400, "only {again} came back with another value");
    tried.finish();
}
