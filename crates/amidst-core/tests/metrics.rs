//! What every metric of the registry promises, on random tables and recodings.

use amidst_core::frequency::{FrequencySet, rows};
use amidst_core::hierarchy::{Cell, Generalization, Hierarchy, Level};
use amidst_core::metric::{Input, METRICS, Node, Release};
use amidst_core::recoding::{Assignment, Recoding, SUPPRESSED};
use amidst_core::table::{Column, Table};
use proptest::prelude::*;

/// Six values, three pairs, two groups, one top.
fn hierarchy() -> Hierarchy {
    let level = |of_leaf: [u32; 6]| Level {
        labels: (0..=of_leaf[5]).map(|g| format!("g{g}")).collect(),
        of_leaf: of_leaf.to_vec(),
    };
    Hierarchy {
        leaves: ["0", "1", "2", "3", "4", "5"].into_iter().collect(),
        levels: vec![level([0, 0, 1, 1, 2, 2]), level([0, 0, 0, 0, 1, 1]), level([0; 6])],
    }
}

fn prepare(data: &[[u8; 4]]) -> (FrequencySet, Vec<Generalization>) {
    let columns = (0..4)
        .map(|c| {
            let values: Vec<String> = data.iter().map(|row| row[c].to_string()).collect();
            Column::from_values(["a", "b", "c", "s"][c], values.iter().map(String::as_str))
        })
        .collect();
    let table = Table { columns, rows: data.len() };
    let mut generalizations: Vec<Generalization> = (0..3)
        .map(|c| {
            Generalization::bind(&table.columns[c], (c < 2).then_some(&hierarchy())).expect("every value is a leaf")
        })
        .collect();
    // One numeric column, one by height, one without a hierarchy.
    generalizations[1].numeric = false;
    (FrequencySet::count(&table, &[0, 1, 2], &[3], None).0, generalizations)
}

fn losses(set: &FrequencySet, generalizations: &[Generalization], recoding: &Recoding) -> Vec<Option<f64>> {
    let (groups, suppressed) = recoding.groups(set);
    let release = Release { set, generalizations, recoding, groups: &groups, suppressed, k: 2 };
    METRICS.iter().map(|entry| entry.metric.loss(&release)).collect()
}

/// A class for each of `groups` rows at random, in the narrowest cells of a random kind.
fn local(set: &FrequencySet, generalizations: &[Generalization], choices: &[u8]) -> Recoding {
    let choice = |i: usize| choices[i % choices.len()];
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); 4];
    let mut class_of = Vec::new();
    for tuple in 0..set.len() {
        let class = usize::from(choice(tuple) % 5);
        if class == 4 {
            class_of.push(SUPPRESSED);
        } else {
            members[class].push(tuple);
            class_of.push(class as u32);
        }
    }
    let cell = |class: usize, column: usize| {
        let mut codes: Vec<u32> = members[class].iter().map(|&t| set.tuple(t)[column]).collect();
        codes.sort_unstable();
        codes.dedup();
        match (choice(7 * class + column) % 3, codes.first(), codes.last()) {
            (0, Some(&low), Some(&high)) => Cell::Range { low, high },
            (1, Some(_), _) => Cell::Set(codes.into()),
            _ => generalizations[column].lowest_common_node(codes),
        }
    };
    let classes = (0..4).map(|class| (0..3).map(|column| cell(class, column)).collect()).collect();
    Recoding { classes, assignment: Assignment::Tuples(class_of), levels: None, masked: None, shown: None }
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0),
        (a, b) => a == b,
    }
}

fn in_range(losses: &[Option<f64>]) -> Result<(), TestCaseError> {
    for (entry, loss) in METRICS.iter().zip(losses) {
        let Some(loss) = *loss else { continue };
        prop_assert!(loss.is_finite() && loss >= 0.0, "{}: {loss}", entry.id);
        if ["gcp", "loss", "precision"].contains(&entry.id) {
            prop_assert!(loss <= 1.0 + 1e-12, "{}: {loss}", entry.id);
        }
    }
    Ok(())
}

fn data() -> impl Strategy<Value = Vec<[u8; 4]>> {
    prop::collection::vec([0u8..6, 0u8..6, 0u8..3, 0u8..4], 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn full_domain(data in data(), levels in [0usize..4, 0usize..4, 0usize..2], flags in prop::collection::vec(any::<bool>(), 30)) {
        let (set, generalizations) = prepare(&data);
        let mut recoding = Recoding::full_domain(&set, &generalizations, &levels);
        let plain = losses(&set, &generalizations, &recoding);
        prop_assert!(plain.iter().all(Option::is_some));
        in_range(&plain)?;

        // The short cuts, with classes suppressed at random, and the bounds of every node below.
        let (groups, _) = recoding.groups(&set);
        let values: Vec<u32> = recoding.classes.iter().flatten()
            .map(|cell| if let Cell::Node { value, .. } = cell { *value } else { u32::MAX }).collect();
        let sizes: Vec<u64> = groups.iter().map(rows).collect();
        let flags = &flags[..sizes.len()];
        let dropped: u64 = sizes.iter().zip(flags).filter(|(_, f)| **f).map(|(n, _)| n).sum();
        if let Assignment::Tuples(of) = &mut recoding.assignment {
            of.iter_mut().filter(|c| flags[**c as usize]).for_each(|c| *c = SUPPRESSED);
        }
        let suppressed = losses(&set, &generalizations, &recoding);
        in_range(&suppressed)?;
        let input = Input { set: &set, generalizations: &generalizations, k: 2 };
        let node = Node { levels: &levels, values: &values, rows: &sizes, groups: Some(&groups), suppressed: flags, masked: false };
        for (entry, (plain, loss)) in METRICS.iter().zip(plain.iter().zip(&suppressed)) {
            let cost = entry.metric.nodes(&input).unwrap();
            prop_assert!(close(cost.loss(&node), *loss), "{}: {:?} {:?}", entry.id, cost.loss(&node), loss);
            prop_assert!(close(cost.loss(&Node { suppressed: &[], ..node }), *plain), "{}", entry.id);
            let Some(loss) = *loss else { continue };
            for a in 0..=levels[0] {
                for b in 0..=levels[1] {
                    for c in 0..=levels[2] {
                        let below = [a, b, c];
                        if let Some(bound) = cost.lower_bound(&below) {
                            prop_assert!(bound <= loss, "{}: {bound} at {below:?} above {loss}", entry.id);
                        }
                        let finer = Recoding::full_domain(&set, &generalizations, &below);
                        let (groups, _) = finer.groups(&set);
                        let values: Vec<u32> = finer.classes.iter().flatten()
                            .map(|cell| if let Cell::Node { value, .. } = cell { *value } else { u32::MAX }).collect();
                        let sizes: Vec<u64> = groups.iter().map(rows).collect();
                        let finer = Node { levels: &below, values: &values, rows: &sizes, groups: Some(&groups), suppressed: &[], masked: false };
                        if let Some(bound) = cost.bound(&finer, dropped) {
                            prop_assert!(bound <= loss, "{}: {bound} counted at {below:?} above {loss}", entry.id);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn local_recoding(data in data(), choices in prop::collection::vec(any::<u8>(), 8..40), turn in 0usize..30) {
        let (set, generalizations) = prepare(&data);
        let recoding = local(&set, &generalizations, &choices);
        let found = losses(&set, &generalizations, &recoding);
        in_range(&found)?;
        for (entry, loss) in METRICS.iter().zip(&found) {
            let defined = match entry.id {
                "height" => false,
                // Not when everything is suppressed.
                "average-class-size" => recoding.groups(&set).1 < set.rows,
                _ => true,
            };
            prop_assert_eq!(loss.is_some(), defined, "{}", entry.id);
        }

        // The order of the rows changes nothing.
        let mut turned = data.clone();
        turned.rotate_left(turn % data.len());
        turned.reverse();
        let (again, generalizations) = prepare(&turned);
        let recoding = local(&again, &generalizations, &choices);
        prop_assert_eq!(losses(&again, &generalizations, &recoding), found);
    }
}
