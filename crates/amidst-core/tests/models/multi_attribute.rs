//! Several sensitive columns together: Definition 4.6 of the ℓ-diversity article, against its plain reading row by row.

use std::collections::{BTreeMap, BTreeSet};

use crate::world::{Random, instance};
use amidst_core::class::{Class, TableStats};
use amidst_core::frequency::FrequencySet;
use amidst_core::model::{self, Level, MODELS, Sensitive};
use amidst_core::parameter::{Parameters, Value};
use amidst_core::requirement::SensitiveDomain;
use amidst_core::requirement::{Evaluator, Requirement};
use amidst_core::table::{Column, Table};

/// A table of one quasi column and sensitive columns, from rows of labels.
fn table(rows: &[Vec<String>]) -> Table {
    let column = |c: usize| Column::from_values(&format!("c{c}"), rows.iter().map(|r| r[c].as_str()));
    Table { columns: (0..rows[0].len()).map(column).collect(), rows: rows.len() }
}

fn domains(table: &Table, sensitive: &[usize], categories: bool) -> Vec<SensitiveDomain> {
    let domain = |&c: &usize| {
        let dictionary = table.columns[c].dictionary.clone();
        let values: Vec<String> = dictionary.iter().map(str::to_string).collect();
        let half = values.len() / 2;
        let categories = if categories { vec![values[..half].to_vec(), values[half..].to_vec()] } else { Vec::new() };
        SensitiveDomain { name: format!("c{c}"), dictionary, categories, ..SensitiveDomain::default() }
    };
    sensitive.iter().map(domain).collect()
}

#[test]
fn the_articles_example() {
    // Article §4.3: each column alone is distinct 3-diverse, together they are not even 2-diverse.
    let json: serde_json::Value = serde_json::from_str(include_str!("../vectors/models.json")).unwrap();
    let case = &json["multi_attribute"];
    let rows: Vec<Vec<String>> = case["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let values = row.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_string());
            std::iter::once("q".to_string()).chain(values).collect()
        })
        .collect();
    let table = table(&rows);
    let (set, _) = FrequencySet::count(&table, &[0], &[1, 2], None);
    let holds = |on: &[usize], l: u64| {
        let parameters = Parameters::from_pairs([("l", Value::Number(l.into()))]);
        let entry = model::find("distinct-l-diversity").unwrap();
        let requirement = Requirement::new(entry, parameters, on.to_vec(), &domains(&table, &[1, 2], false)).unwrap();
        let requirements = [requirement];
        Evaluator::new(&set, &requirements).holds(0, set.groups.get(0))
    };
    assert_eq!(holds(&[0], 3) && holds(&[1], 3), case["each_column_alone_distinct_3"] == true);
    assert_eq!(holds(&[0, 1], 2), case["joint_distinct_2"] == true);
}

#[test]
fn definition_4_6_row_by_row() {
    let mut verdicts = BTreeSet::new();
    for entry in MODELS.iter().filter(|m| m.sensitive == Sensitive::OneOrMany) {
        for seed in 0..60 {
            let mut random = Random::new(seed);
            let columns = 2 + random.below(2);
            let label = |random: &mut Random, of: usize| ["a", "b", "c", "d"][random.below(of)].to_string();
            let rows: Vec<Vec<String>> = (0..4 + random.below(40))
                .map(|_| {
                    std::iter::once(label(&mut random, 2)).chain((0..columns).map(|_| label(&mut random, 3))).collect()
                })
                .collect();
            let table = table(&rows);
            let sensitive: Vec<usize> = (1..=columns).collect();
            let domains = domains(&table, &sensitive, true);
            if domains.iter().any(|d| d.dictionary.len() < 3) {
                continue;
            }
            let (set, _) = FrequencySet::count(&table, &[0], &sensitive, None);
            let (parameters, _) = instance(entry, &mut random, &domains[0]);
            let on: Vec<usize> = (0..columns).collect();
            // Parameters drawn for the first column (lists of weights, say) fit the others, which have as many values.
            let requirement = Requirement::new(entry, parameters, on, &domains).unwrap();
            let requirements = [requirement];
            let evaluator = Evaluator::new(&set, &requirements);
            for (q, entries) in (0u32..).zip(set.groups.iter()) {
                let name = table.columns[0].dictionary.value(set.tuple(q as usize)[0]);
                let class: Vec<&Vec<String>> = rows.iter().filter(|r| r[0] == name).collect();
                let (holds, level) = plainly(&requirements[0], &domains, &table, &class);
                verdicts.insert((entry.id, holds));
                assert_eq!(evaluator.holds(0, entries), holds, "{} seed {seed}", entry.id);
                let measured = evaluator.measure(0, entries).unwrap();
                assert_eq!(
                    measured.bound.to_f64().to_bits(),
                    level.bound.to_f64().to_bits(),
                    "{} seed {seed}",
                    entry.id
                );
            }
        }
    }
    let models = MODELS.iter().filter(|m| m.sensitive == Sensitive::OneOrMany).count();
    assert!(verdicts.len() > models, "the tables are too alike to tell anything");
}

/// For each sensitive column: the rows that agree in all the others form a class of their own; the worst of them
/// counts.
fn plainly(
    requirement: &Requirement,
    domains: &[SensitiveDomain],
    table: &Table,
    rows: &[&Vec<String>],
) -> (bool, Level) {
    let mut holds = true;
    let mut worst: Option<Level> = None;
    for (column, (model, domain)) in requirement.models.iter().zip(domains).enumerate() {
        let mut parts: BTreeMap<Vec<&String>, BTreeMap<u32, u64>> = BTreeMap::new();
        for row in rows {
            let others = row[1..].iter().enumerate().filter(|&(c, _)| c != column).map(|(_, v)| v).collect();
            let code = domain.dictionary.code(&row[column + 1]).unwrap();
            *parts.entry(others).or_default().entry(code).or_default() += 1;
        }
        for part in parts.into_values() {
            let histogram: Vec<(u32, u64)> = part.into_iter().collect();
            let stats = TableStats { size: table.rows as u64, ..TableStats::default() };
            holds &= model.holds(&Class::of(&histogram), &stats);
            let level = model.measure(&Class::of(&histogram), &stats);
            worst = Some(match worst {
                Some(w) => w.worst(level),
                None => level,
            });
        }
    }
    (holds, worst.unwrap())
}
