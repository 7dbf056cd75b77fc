use std::sync::atomic::Ordering;
use std::time::Instant;

use super::*;
use crate::control::Control;
use crate::frequency::FrequencySet;
use crate::hierarchy::{Generalization, Generalize};
use crate::local::class::Judge;
use crate::local::fixture::Fixture;
use crate::local::shape::Space;
use crate::parameter::Parameters;
use crate::random::Random;
use crate::sensitive::SensitiveDomain;
use crate::table::{Column, Table};

const VALUES: usize = 6;

/// Numbers and one of six values, the last of which only this many rows have; δ-disclosure privacy is asked for.
fn rare(rows: usize, times: usize, see: impl FnOnce(&Search<'_>, &World<'_>)) {
    let mut random = Random::new(9);
    let numbers: Vec<String> = (0..rows).map(|_| random.below(900).to_string()).collect();
    let values: Vec<String> = (0..rows)
        .map(|row| if row % (rows / times) == 1 { VALUES - 1 } else { row % (VALUES - 1) })
        .map(|value| format!("v{value}"))
        .collect();
    let column = |name: &str, values: &[String]| Column::from_values(name, values.iter().map(String::as_str));
    let table = Table { columns: vec![column("age", &numbers), column("value", &values)], rows };
    let (set, entry_of) = FrequencySet::count(&table, &[0], &[1], None);
    let mut age = Generalization::bind(&table.columns[0], None).unwrap();
    age.generalize = Generalize::Ranges;
    let domains = vec![SensitiveDomain {
        name: "value".to_string(),
        dictionary: table.columns[1].dictionary.clone(),
        ..SensitiveDomain::default()
    }];
    let fixture = Fixture { set, generalizations: vec![age], domains, entry_of };
    let requirements: Vec<_> = fixture.requirement("delta-disclosure", &[("delta", "1")]).into_iter().collect();
    fixture.search(&requirements, &Parameters::default(), |search| {
        let (space, judge) = (Space::new(search.generalizations), Judge::new(search).unwrap());
        let tuple_of = search.set.tuple_of_entry();
        judge.looked.store(0, Ordering::Relaxed);
        see(search, &World { set: search.set, tuple_of: &tuple_of, space: &space, judge: &judge });
    });
}

#[test]
fn a_value_that_every_class_must_hold_ends_the_drawing_when_it_occurs_once() {
    let rows = 400;
    for times in [1, 2, 4] {
        rare(rows, times, |search, world| {
            let clusters = drawn(search, world, (Seeds::OutsideIn, Draw::Proportional(1.6)), false).unwrap().unwrap();
            assert!((1..=times).contains(&clusters.len()), "{times}: {}", clusters.len());
            assert!(clusters.iter().all(|c| world.holds(c)));
            let looked = world.judge.looked.load(Ordering::Relaxed);
            // Each row that is drawn asks once for each value, and each answer looks at all of them.
            assert!(looked < (4 * rows * VALUES * VALUES) as u64, "{times}: {looked}");
        });
    }
}

#[test]
fn rows_of_two_classes_that_hold_are_divisible() {
    let mut indivisible = 0;
    for seed in 0..4 {
        let fixture = Fixture::random(seed, 60, false);
        for requirements in fixture.policies() {
            fixture.search(&requirements, &Parameters::default(), |search| {
                let judge = Judge::new(search).unwrap();
                let mut random = Random::new(seed);
                for size in (2..30).chain(2..30) {
                    let mut sides = [Tally::default(), Tally::default()];
                    for _ in 0..size {
                        let entry = search.set.groups.entries[random.below(search.set.groups.entries.len())];
                        judge.add(&mut sides[random.below(2)], entry, 1);
                    }
                    let mut both = sides[0].clone();
                    judge.merge(&mut both, &sides[1]);
                    let valid = sides.iter().all(|side| side.rows > 0 && judge.counts_hold(side));
                    assert!(!valid || judge.divisible(&both), "{}", requirements[0].model.id);
                    indivisible += usize::from(!judge.divisible(&both));
                }
            });
        }
    }
    assert!(indivisible > 10, "{indivisible}");
}

#[test]
fn what_is_of_use_only_in_time_is_given_up_after_it() {
    rare(400, 4, |search, world| {
        let control = Control { deadline: Some(Instant::now()), ..search.control };
        let late = search.clone().with_control(control.stopping_when_overdue());
        for draw in [Draw::Different, Draw::Proportional(1.6)] {
            let found = drawn(&late, world, (Seeds::OutsideIn, draw), false);
            assert!(matches!(found, Ok(None) | Err(SearchError::Cancelled)));
        }
    });
}
