use std::cell::Cell;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::control::Control;
use crate::local::class::Judge;
use crate::local::fixture::Fixture;
use crate::local::shape::Space;
use crate::parameter::Parameters;

/// Calls `see` with the world of a search and classes that Mondrian made.
fn begun(fixture: &Fixture, policy: usize, see: impl FnOnce(&Search<'_>, &World<'_>, Vec<Cluster>)) {
    fixture.search(&fixture.policies()[policy], &Parameters::default(), |search| {
        let (space, judge) = (Space::new(search.generalizations), Judge::new(search).unwrap());
        let tuple_of = search.set.tuple_of_entry();
        let world = World { set: search.set, tuple_of: &tuple_of, space: &space, judge: &judge };
        let classes = crate::algorithm::find("mondrian").unwrap().algorithm.search(search).unwrap();
        let (groups, _) = classes.recoding.groups(search.set);
        let mut parts = vec![Vec::new(); groups.len()];
        let mut entry = 0;
        // Mondrian divides no tuple here, so the parts of the recoding are whole entries in their order.
        classes.recoding.for_each_part(search.set, |part| {
            cluster::put(&mut parts[part.class.expect("nothing is left out").index()], entry, part.entry.rows);
            entry += 1;
        });
        let clusters = parts.into_iter().filter(|p| !p.is_empty()).map(|p| world.cluster(p)).collect();
        see(search, &world, clusters);
    });
}

/// A clock that stands at this many readings in all.
fn looks(most: u32) -> impl Fn() -> f64 {
    let seen = Cell::new(0);
    move || {
        seen.set(seen.get() + 1);
        f64::from(seen.get()) / f64::from(most)
    }
}

#[test]
fn rows_stay_and_classes_hold_while_the_loss_falls() {
    let mut better = 0;
    for seed in 0..2 {
        let fixture = Fixture::random(seed, 140, false);
        for policy in 0..fixture.policies().len() {
            begun(&fixture, policy, |search, world, clusters| {
                let before = cluster::total(&clusters);
                let after = anneal(world, search, clusters, &looks(12), &|_| ()).unwrap();
                let mut rows = vec![0; search.set.groups.entries.len()];
                for class in &after {
                    assert!(world.holds(class), "{}", search.requirements[0].model.id);
                    assert_eq!(*class, world.cluster(class.parts.clone()));
                    class.parts.iter().for_each(|&(entry, n)| rows[entry as usize] += n);
                }
                assert!(rows.iter().zip(&search.set.groups.entries).all(|(n, e)| *n == e.rows));
                let now = cluster::total(&after);
                assert!(now <= before + 1e-9, "{now} {before}");
                better += usize::from(now < 0.97 * before);
            });
        }
    }
    assert!(better > 6, "{better}");
}

#[test]
fn the_running_loss_is_the_loss() {
    let fixture = Fixture::random(5, 200, false);
    for policy in [0, 2] {
        begun(&fixture, policy, |_, world, clusters| {
            let mut state = State::new(world, &clusters, 3);
            state.temperature = state.total / clusters.len() as f64 * 0.1;
            for _ in 0..40_000 {
                state.step();
            }
            assert!((state.total - cluster::total(&state.clusters())).abs() < 1e-6);
            for (number, class) in state.classes.iter().enumerate() {
                for (place, &unit) in class.units.iter().enumerate() {
                    assert_eq!(
                        (state.class_of[unit as usize], state.place[unit as usize]),
                        (number as u32, place as u32)
                    );
                }
            }
        });
    }
}

#[test]
fn whoever_is_content_need_not_wait() {
    static ENOUGH: AtomicBool = AtomicBool::new(true);
    let fixture = Fixture::random(6, 120, false);
    begun(&fixture, 0, |search, world, clusters| {
        let control = Control { enough: &ENOUGH, ..search.control };
        let search = Search { control, ..search.clone() };
        let before = cluster::total(&clusters);
        let after = anneal(world, &search, clusters, &|| 0.0, &|_| ()).unwrap();
        assert!(cluster::total(&after) <= before + 1e-9 && after.iter().all(|class| world.holds(class)));
    });
}
