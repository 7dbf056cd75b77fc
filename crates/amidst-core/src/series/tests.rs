//! Random series: what must hold after any sequence of batches.

use super::index::{Index, scan};
use super::maintain::House;
use super::{Signed, UNPLACED, audit, m_invariant, maintain, refine};
use crate::attack::{Version, VersionClass};
use crate::local::fixture::Fixture;
use crate::local::{Random, Space};
use crate::parameter::Parameters;

/// Every class valid, every row in exactly one.
fn check(fixture: &Fixture, requirements: &[crate::requirement::Requirement], class_of: &[u32]) {
    assert!(class_of.iter().all(|&c| c != UNPLACED));
    let mut classes: std::collections::BTreeMap<u32, Vec<(u32, crate::frequency::Entry)>> = Default::default();
    for (row, &class) in class_of.iter().enumerate() {
        let entry = fixture.set.groups.entries[fixture.entry_of[row] as usize];
        classes.entry(class).or_default().push((0, crate::frequency::Entry { rows: 1, ..entry }));
    }
    let evaluator = crate::requirement::Evaluator::new(&fixture.set, requirements);
    for entries in classes.into_values() {
        let entries = crate::frequency::Groups::collect(1, entries).entries;
        assert!(evaluator.holds_all(&entries), "{}", requirements[0].model.id);
    }
}

#[test]
fn any_batch_leaves_every_class_valid() {
    for seed in 0..8u64 {
        let fixture = Fixture::random(seed, 150, false);
        for requirements in fixture.policies() {
            let mut random = Random::new(seed);
            fixture.search(&requirements, &Parameters::default(), |search| {
                // Rows of unknown history: some together, some new, some in classes that deletions left too small.
                let mut class_of: Vec<u32> = (0..150)
                    .map(|_| match random.below(4) {
                        0 => UNPLACED,
                        1 => 100 + random.below(12) as u32,
                        _ => random.below(12) as u32,
                    })
                    .collect();
                let report = maintain(search, &fixture.entry_of, &mut class_of).unwrap();
                check(&fixture, &requirements, &class_of);
                let distinct: std::collections::BTreeSet<u32> = class_of.iter().copied().collect();
                assert_eq!(report.classes, distinct.len() as u64);
                // A batch that changes nothing changes nothing.
                let before = class_of.clone();
                let again = maintain(search, &fixture.entry_of, &mut class_of).unwrap();
                assert_eq!((again.dissolved, again.splits, &before), (0, 0, &class_of));
                // Dissolving some classes, as deletions would.
                for c in class_of.iter_mut().filter(|c| **c % 5 == 0) {
                    *c = UNPLACED;
                }
                maintain(search, &fixture.entry_of, &mut class_of).unwrap();
                check(&fixture, &requirements, &class_of);
            });
        }
    }
}

#[test]
fn nothing_to_join_gives_one_class_that_splits() {
    let fixture = Fixture::random(3, 200, false);
    let requirements = vec![fixture.requirement("k-anonymity", &[("k", "4")]).unwrap()];
    fixture.search(&requirements, &Parameters::default(), |search| {
        let mut class_of = vec![UNPLACED; 200];
        let report = maintain(search, &fixture.entry_of, &mut class_of).unwrap();
        check(&fixture, &requirements, &class_of);
        assert!(report.classes > 10, "{report:?}");
        let mut refined = class_of.clone();
        refine(search, &fixture.entry_of, &mut refined).unwrap();
        check(&fixture, &requirements, &refined);
    });
}

#[test]
fn an_impossible_batch_is_refused() {
    let fixture = Fixture::random(1, 20, false);
    let requirements = vec![fixture.requirement("k-anonymity", &[("k", "21")]).unwrap()];
    fixture.search(&requirements, &Parameters::default(), |search| {
        assert!(maintain(search, &fixture.entry_of, &mut [UNPLACED; 20]).is_err());
    });
}

#[test]
fn the_index_finds_what_the_scan_finds() {
    for seed in 0..6u64 {
        let fixture = Fixture::random(seed, 400, false);
        for requirements in fixture.policies() {
            fixture.search(&requirements, &Parameters::default(), |search| {
                let house = House::new(search, &fixture.entry_of).unwrap();
                let mut random = Random::new(seed + 77);
                let mut rows: Vec<u32> = (0..400).collect();
                rows.sort_by_key(|&r| house.codes(r).to_vec());
                let waiting: Vec<u32> = rows.iter().copied().filter(|r| r % 5 == 0).collect();
                rows.retain(|r| r % 5 != 0);
                let mut classes = Vec::new();
                while !rows.is_empty() {
                    let rest = rows.split_off((3 + random.below(6)).min(rows.len()));
                    classes.push(house.class(classes.len() as u32, std::mem::replace(&mut rows, rest)));
                }
                let mut index = Index::new(&house, &classes);
                for row in waiting {
                    let found = index.best(&house, &classes, row);
                    assert_eq!(found, scan(&house, &classes, row));
                    if let Some(at) = found {
                        house.join(&mut classes[at], row);
                        index.refresh(&house, &classes, at);
                    }
                }
            });
        }
    }
}

/// The versions of one sensitive column: classes by the persons in them and the values they publish.
fn version(persons: &[u32], class_of: &[u32], values: &[u32], counterfeits: &[(u32, u32)]) -> Version {
    let classes = class_of.iter().max().map_or(0, |&c| c as usize + 1);
    let mut version = Version { classes: vec![VersionClass::default(); classes] };
    let mut counts = vec![std::collections::BTreeMap::new(); classes];
    for ((&person, &class), &value) in persons.iter().zip(class_of).zip(values) {
        version.classes[class as usize].persons.push(person);
        *counts[class as usize].entry(value).or_insert(0u64) += 1;
    }
    for &(class, value) in counterfeits {
        *counts[class as usize].entry(value).or_insert(0) += 1;
    }
    for (class, counts) in version.classes.iter_mut().zip(counts) {
        class.histogram = counts.into_iter().collect();
    }
    version.classes.retain(|c| !c.persons.is_empty());
    version
}

#[test]
fn maintaining_leaks_what_one_row_adds() {
    // Table 1 of the update paper in its two classes, and then a seventh patient.
    let diseases = [0, 0, 1, 2, 3, 4];
    let first = version(&[0, 1, 2, 3, 4, 5], &[0, 0, 0, 1, 1, 1], &diseases, &[]);
    let second = version(&[0, 1, 2, 3, 4, 5, 6], &[0, 0, 0, 1, 1, 1, 1], &[0, 0, 1, 2, 3, 4, 5], &[]);
    let found = audit(&[first.clone(), second], 2);
    assert!(found.condemns());
    assert_eq!((found.revealed[0].persons.as_slice(), found.revealed[0].value), (&[6][..], 5));
    assert!(!audit(&[first], 2).condemns());
}

#[test]
fn m_invariant_versions_reveal_nothing() {
    let (rows, values, m) = (300usize, 9u64, 3usize);
    let fixture = Fixture::random(5, rows, false);
    let space = Space::new(&fixture.generalizations);
    let tuple_of = fixture.set.tuple_of_entry();
    for seed in 0..5 {
        let mut random = Random::new(seed);
        let secret: Vec<u32> = (0..rows).map(|_| random.below(values as usize) as u32).collect();
        let mut signatures: Vec<Vec<u32>> = vec![Vec::new(); rows];
        let mut present: Vec<bool> = (0..rows).map(|_| random.below(2) == 0).collect();
        let mut versions = Vec::new();
        for _ in 0..5 {
            let persons: Vec<u32> = (0..rows as u32).filter(|&p| present[p as usize]).collect();
            let signed: Vec<Signed<'_>> = persons
                .iter()
                .map(|&p| Signed {
                    codes: fixture.set.tuple(tuple_of[fixture.entry_of[p as usize] as usize] as usize),
                    value: secret[p as usize],
                    signature: &signatures[p as usize],
                })
                .collect();
            let made = m_invariant(&space, &signed, values as usize, m).unwrap();
            let mut sizes = vec![0; made.signatures.len()];
            made.class_of.iter().for_each(|&c| sizes[c as usize] += 1);
            made.counterfeits.iter().for_each(|&(c, _)| sizes[c as usize] += 1);
            for (size, signature) in sizes.iter().zip(&made.signatures) {
                assert!(*size == signature.len() && *size >= m, "a class is not m-unique");
            }
            assert!(made.counterfeits.len() < persons.len(), "{} counterfeits", made.counterfeits.len());
            let value: Vec<u32> = persons.iter().map(|&p| secret[p as usize]).collect();
            versions.push(version(&persons, &made.class_of, &value, &made.counterfeits));
            for (&person, &class) in persons.iter().zip(&made.class_of) {
                let signature = &made.signatures[class as usize];
                let known = &mut signatures[person as usize];
                assert!(known.is_empty() || known == signature, "a survivor's signature changed");
                *known = signature.clone();
            }
            for p in &mut present {
                if random.below(8) == 0 {
                    *p = !*p;
                }
            }
        }
        let found = audit(&versions, m);
        assert!(!found.condemns(), "{found:?}");
        assert!(found.fewest >= Some(m) && found.contradicted == 0 && found.narrowed == 0);
    }
}

#[test]
fn too_few_values_cannot_be_m_unique() {
    let fixture = Fixture::random(5, 10, false);
    let space = Space::new(&fixture.generalizations);
    let row = Signed { codes: fixture.set.tuple(0), value: 0, signature: &[] };
    assert!(m_invariant(&space, &[row], 2, 3).is_err());
    let alone = m_invariant(&space, &[row], 3, 3).unwrap();
    assert_eq!((alone.counterfeits.len(), alone.signatures[0].len()), (2, 3));
}
