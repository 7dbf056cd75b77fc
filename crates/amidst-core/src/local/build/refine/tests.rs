//! Local search on small tables.

use super::*;
use crate::local::class::Judge;
use crate::local::fixture::Fixture;
use crate::local::shape::Space;
use crate::parameter::Parameters;

/// Classes by chance, with what is asked of them.
fn with_classes(seed: u64, run: impl Fn(&Search<'_>, &World<'_>, Vec<Cluster>)) {
    let fixture = Fixture::random(seed, 150, false);
    for requirements in fixture.policies() {
        fixture.search(&requirements, &Parameters::default(), |search| {
            let space = Space::new(search.generalizations);
            let judge = Judge::new(search).unwrap();
            let tuple_of = search.set.tuple_of_entry();
            let world = World { set: search.set, tuple_of: &tuple_of, space: &space, judge: &judge };
            let mut random = Random::new(seed);
            let mut parts: Vec<Vec<Part>> = vec![Vec::new(); 8];
            for (e, entry) in search.set.groups.entries.iter().enumerate() {
                (0..entry.rows).for_each(|_| cluster::put(&mut parts[random.below(8)], e as u32, 1));
            }
            let classes: Vec<Cluster> = parts.into_iter().filter(|p| !p.is_empty()).map(|p| world.cluster(p)).collect();
            if classes.iter().all(|class| world.holds(class)) {
                run(search, &world, classes);
            }
        });
    }
}

#[test]
fn what_is_remembered_changes_nothing() {
    let effort = Effort { rounds: 12, share: 0.0, deadline: None };
    for seed in 0..6 {
        with_classes(seed, |search, world, classes| {
            let first = cluster::total(&classes);
            let run = |most| remembering(world, search, classes.clone(), (effort, most), &mut Random::new(1)).unwrap();
            let (with, without) = (run(MOST_UNPROFITABLE), run(0));
            assert_eq!(with, without, "seed {seed}");
            assert!(with.iter().all(|class| world.holds(class)) && cluster::total(&with) <= first, "seed {seed}");
        });
    }
}

#[test]
fn members_know_what_they_cost_without_each_part_and_bounds_are_bounds() {
    for seed in 0..6 {
        with_classes(seed, |_, world, classes| {
            let (space, words) = (world.space, world.space.words());
            let members: Vec<Member> = (classes.into_iter())
                .map(|class| {
                    let mut member = Member::new(class);
                    member.prepare(world, 1);
                    member
                })
                .collect();
            for member in &members {
                let parts = &member.cluster.parts;
                for p in 0..parts.len() {
                    let mut rest = parts.clone();
                    rest[p].1 -= 1;
                    rest.retain(|part| part.1 > 0);
                    let rest = if rest.is_empty() { parts.clone() } else { rest };
                    let without = &member.without[p * words..(p + 1) * words];
                    assert_eq!(space.canonical(without), space.canonical(&world.shape(&rest)));
                    assert_eq!(member.cost[p], space.cost(without));
                    for other in &members {
                        for q in 0..other.cluster.parts.len() {
                            let theirs = &other.without[q * words..(q + 1) * words];
                            let swapped = space.cost_with(theirs, world.codes(parts[p].0));
                            assert!(other.least_with(world, world.codes(parts[p].0)) <= swapped + LEAST);
                            let back = space.cost_with(without, world.codes(other.cluster.parts[q].0));
                            let least = member.cost[p] + other.least_stretch(world, without);
                            assert!(least <= back + LEAST, "seed {seed}: {least} and {back}");
                        }
                    }
                }
            }
        });
    }
}
