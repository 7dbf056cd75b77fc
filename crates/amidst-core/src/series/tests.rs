//! Random series: what must hold after any sequence of batches.

use std::collections::BTreeMap;

use super::audit::tests::{Stated, judged};
use super::index::scan;
use super::*;
use crate::ids::{EntryId, SensitiveId};
use crate::local::fixture::Fixture;
use crate::local::shape::Space;
use crate::parameter::Parameters;
use crate::random::Random;
use crate::search::Search;
use crate::worlds::{Version, VersionClass};

/// Every class valid, every row in exactly one.
fn check(fixture: &Fixture, requirements: &[crate::requirement::Requirement], class_of: &[u32]) {
    assert!(class_of.iter().all(|&c| c != UNPLACED));
    let mut classes: std::collections::BTreeMap<u32, Vec<(u32, crate::frequency::Entry)>> = Default::default();
    for (row, &class) in class_of.iter().enumerate() {
        let entry = fixture.set.groups.entries[fixture.entry_of[row].index()];
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
                let mut random = Random::new(seed + 77);
                let class_of: Vec<u32> =
                    (0..400).map(|row| if row % 5 == 0 { UNPLACED } else { random.below(60) as u32 }).collect();
                let (mut maintained, waiting) =
                    MaintainedClasses::of_table(search, &fixture.entry_of, &class_of).unwrap();
                for row in waiting {
                    let (codes, sensitive) = (maintained.rows.codes(row), maintained.rows.sensitive(row));
                    let found = maintained.index.best(&maintained.rules, &maintained.classes, codes, sensitive);
                    assert_eq!(found, scan(&maintained.rules, &maintained.classes, codes, sensitive));
                    if let Some(at) = found {
                        maintained.join(at, row);
                        let mut report = Maintained::default();
                        maintained.split_while_possible(at, &mut report, &mut AllKnown).unwrap();
                    }
                }
            });
        }
    }
}

/// Rows of classes, told when asked, and how often that was.
struct FixtureRows<'f> {
    fixture: &'f Fixture,
    class_of: BTreeMap<u32, u32>,
    asked: usize,
}

impl FixtureRows<'_> {
    fn add(&self, rows: &mut Rows, row: u32) -> u32 {
        let set = &self.fixture.set;
        let entry = self.fixture.entry_of[row as usize].index();
        let tuple = set.tuple_of_entry()[entry] as usize;
        rows.push(row, set.tuple(tuple), set.groups.entries[entry].sensitive)
    }
}

impl RowSource for FixtureRows<'_> {
    type Error = crate::search::SearchError;

    fn members(&mut self, class: u32, rows: &mut Rows) -> Result<Vec<u32>, Self::Error> {
        self.asked += 1;
        let members = self.class_of.iter().filter(|(_, c)| **c == class).map(|(&row, _)| row);
        Ok(members.map(|row| self.add(rows, row)).collect())
    }
}

#[test]
fn a_batch_on_kept_classes_does_what_one_on_all_rows_does() {
    for seed in 0..4u64 {
        let fixture = Fixture::random(seed, 300, false);
        for requirements in fixture.policies() {
            let mut random = Random::new(seed + 5);
            // A person who is in the table all the time keeps the codes and the counts the same in both ways.
            let stats = marginal(&fixture.set);
            fixture.search(&requirements, &Parameters::default(), |search| {
                let mut first = vec![UNPLACED; 300];
                first.iter_mut().take(200).for_each(|c| *c = 0);
                refine(search, &fixture.entry_of, &mut first).unwrap();
                let class_of: BTreeMap<u32, u32> = (0u32..).zip(first).take(220).collect();
                let rows_of = FixtureRows { fixture: &fixture, class_of, asked: 0 };
                let gone: Vec<u32> = (0..220).filter(|_| random.below(6) == 0).collect();
                let slim = Search { set: &stats, ..search.clone() };
                compare(&slim, search, rows_of, &gone);
            });
        }
    }
}

/// Other names than the codes have, which do not even keep their order.
struct Backwards;

impl StableIds for Backwards {
    fn code(&self, column: usize, name: u32) -> Option<u32> {
        (1000 * column as u32 + 500).checked_sub(name)
    }

    fn name(&self, column: usize, code: u32) -> u32 {
        1000 * column as u32 + 500 - code
    }

    fn sensitive(&self, name: u32) -> Option<SensitiveId> {
        70_000u32.checked_sub(name).map(SensitiveId)
    }

    fn sensitive_name(&self, sensitive: SensitiveId) -> u32 {
        70_000 - sensitive.0
    }
}

/// The classes as their owner would keep them.
fn maintained_of<'a>(search: &Search<'a>, rows_of: &FixtureRows<'_>) -> MaintainedClasses<'a> {
    let rows: Vec<EntryId> = rows_of.class_of.keys().map(|&r| rows_of.fixture.entry_of[r as usize]).collect();
    let classes: Vec<u32> = rows_of.class_of.values().copied().collect();
    MaintainedClasses::of_table(search, &rows, &classes).unwrap().0
}

/// Written down and read again.
fn reloaded<'a>(search: &Search<'a>, maintained: &MaintainedClasses<'_>, tree: &[u8]) -> MaintainedClasses<'a> {
    let mut loader = Loader::new(search).unwrap();
    for (number, bytes) in maintained.changed_pages(&Backwards).filter(|(_, bytes)| !bytes.is_empty()) {
        assert!(loader.page(number, &bytes, &Backwards));
    }
    loader.finish(tree, maintained.next_id)
}

fn compare(slim: &Search<'_>, search: &Search<'_>, mut rows_of: FixtureRows<'_>, gone: &[u32]) {
    let next_id = rows_of.class_of.values().max().map_or(0, |m| m + 1);
    // All rows: those that stayed in their classes, and the new ones.
    let stayed: Vec<u32> = rows_of.class_of.keys().copied().filter(|r| !gone.contains(r)).collect();
    let table: Vec<u32> = stayed.iter().copied().chain(220..300).collect();
    let entries: Vec<EntryId> = table.iter().map(|&r| rows_of.fixture.entry_of[r as usize]).collect();
    let mut class_of: Vec<u32> =
        table.iter().map(|r| rows_of.class_of.get(r).filter(|_| *r < 220).copied().unwrap_or(UNPLACED)).collect();
    let (mut whole, waiting) = MaintainedClasses::of_table(search, &entries, &class_of).unwrap();
    whole.next_id = next_id;
    let expected = whole.place(waiting, true, &mut AllKnown).unwrap();
    whole.tell(&mut class_of);

    let mut leaving: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    gone.iter().for_each(|row| leaving.entry(rows_of.class_of[row]).or_default().push(*row));
    let before = maintained_of(search, &rows_of);
    // What is kept may have lost its tree, or the tree may be that of other pages.
    let tree = match next_id % 3 {
        0 => before.changed_tree().unwrap(),
        1 => Vec::new(),
        _ => before.changed_tree().unwrap()[2..].to_vec(),
    };
    let mut maintained = reloaded(slim, &before, &tree);
    assert_eq!(maintained.changed_tree().is_none(), next_id.is_multiple_of(3));
    maintained.next_id = next_id;
    let new: Vec<u32> = (220..300).map(|row| rows_of.add(&mut maintained.rows, row)).collect();
    let found = maintained.apply(&leaving, new, &mut rows_of).unwrap();
    assert_eq!((found.splits, found.dissolved, found.classes), (expected.splits, expected.dissolved, expected.classes));
    assert!((found.loss - expected.loss).abs() < 1e-9);
    assert!(
        rows_of.asked < 300 || found.classes > 100,
        "{} of {} classes were asked for",
        rows_of.asked,
        found.classes
    );
    let mut now = rows_of.class_of.clone();
    gone.iter().for_each(|row| {
        now.remove(row);
    });
    maintained.moves().for_each(|(row, class)| {
        now.insert(row, class);
    });
    assert_eq!(now, table.iter().copied().zip(class_of).collect());
    // What is kept now is what the rows say, also when it has been read again.
    rows_of.class_of = now;
    maintained.index.pages.iter_mut().for_each(|p| p.changed = true);
    let canonical = |maintained: &MaintainedClasses<'_>| {
        let mut all = maintained.kept();
        all.iter_mut().for_each(|c| c.shape = maintained.space().canonical(&c.shape));
        all
    };
    let expected = canonical(&maintained_of(search, &rows_of));
    assert_eq!(canonical(&maintained), expected);
    let again = reloaded(slim, &maintained, &maintained.index.tree());
    assert!(again.changed_tree().is_none());
    assert_eq!(canonical(&again), expected);
}

#[test]
fn damaged_pages_are_refused() {
    let fixture = Fixture::random(2, 60, false);
    let requirements = vec![fixture.requirement("distinct-l-diversity", &[("l", "2")]).unwrap()];
    fixture.search(&requirements, &Parameters::default(), |search| {
        let mut class_of = vec![UNPLACED; 60];
        maintain(search, &fixture.entry_of, &mut class_of).unwrap();
        let (maintained, _) = MaintainedClasses::of_table(search, &fixture.entry_of, &class_of).unwrap();
        let (number, bytes) = maintained.changed_pages(&OwnIds).next().unwrap();
        let read = |bytes: &[u8]| Loader::new(search).unwrap().page(number, bytes, &OwnIds);
        assert!(read(&bytes) && read(&[]));
        assert!(!read(&bytes[..bytes.len() - 1]) && !read(&[&bytes[..], &[0x80]].concat()));
        let mut random = Random::new(1);
        for _ in 0..2000 {
            let mut damaged = bytes.clone();
            let at = random.below(damaged.len());
            damaged[at] = random.below(256) as u8;
            // Whatever it says now, it is read to the end or refused. Codes are the owner's to check.
            let mut loader = Loader::new(search).unwrap();
            let _ = loader.page(number, &damaged, &Within(&fixture));
        }
    });
}

/// The codes themselves, as far as there are such.
struct Within<'f>(&'f Fixture);

impl StableIds for Within<'_> {
    fn code(&self, column: usize, name: u32) -> Option<u32> {
        OwnIds.code(column, name).filter(|&code| (code as usize) < self.0.generalizations[column].active())
    }

    fn name(&self, column: usize, code: u32) -> u32 {
        OwnIds.name(column, code)
    }

    fn sensitive(&self, name: u32) -> Option<SensitiveId> {
        OwnIds.sensitive(name)
    }

    fn sensitive_name(&self, sensitive: SensitiveId) -> u32 {
        OwnIds.sensitive_name(sensitive)
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
    let found = judged(&[first.clone(), second], 6, &[("distinct-l-diversity", &[("l", "2")])]);
    assert_eq!((found.exposed, found.requirements[0].below, found.columns[0].certain), (1, 1, 1));
    let worst = &found.columns[0].worst[0];
    assert_eq!((&worst.persons, &worst.candidates), (&vec![6], &vec![(5, Some(1.0))]));
    assert!(!judged(&[first], 6, &[("distinct-l-diversity", &[("l", "2")])]).finds_leaks());
}

/// Numbers alone tell the signatures and the counterfeits of a version.
fn foretold(signed: &[Signed<'_>], made: &Invariant, values: usize, m: usize) {
    let (mut known, mut new) = (BTreeMap::<Vec<u32>, Vec<u64>>::new(), BTreeMap::new());
    for row in signed {
        match row.signature.binary_search(&row.value) {
            Ok(place) => {
                known.entry(row.signature.to_vec()).or_insert_with(|| vec![0; row.signature.len()])[place] += 1;
            }
            Err(_) => *new.entry(row.value).or_insert(0) += 1,
        }
    }
    let told = forecast(&known, &new, values, m).unwrap();
    let signatures: std::collections::BTreeSet<Vec<u32>> = made.signatures.iter().cloned().collect();
    assert_eq!(told.signatures, signatures.into_iter().collect::<Vec<_>>());
    let mut counterfeits = BTreeMap::new();
    made.counterfeits.iter().for_each(|&(_, value)| *counterfeits.entry(value).or_insert(0) += 1);
    assert_eq!(told.counterfeits, counterfeits);
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
                    codes: fixture.set.tuple(tuple_of[fixture.entry_of[p as usize].index()] as usize),
                    value: secret[p as usize],
                    signature: &signatures[p as usize],
                })
                .collect();
            let made = m_invariant(&space, &signed, values as usize, m).unwrap();
            foretold(&signed, &made, values as usize, m);
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
        let policy: &[Stated<'_>] = &[
            ("m-invariance", &[("m", "3")]),
            ("distinct-l-diversity", &[("l", "3")]),
            ("entropy-l-diversity", &[("l", "3")]),
        ];
        let found = judged(&versions, values as u32, policy);
        assert!(!found.finds_leaks(), "{found:?}");
        assert_eq!((found.bound, found.contradicted), (0, 0));
        assert!(found.columns[0].fewest >= Some(m) && found.columns[0].narrowed == 0);
    }
}

#[test]
fn whoever_came_first_and_leaves_first_costs_few_counterfeits() {
    let (rows, m) = (6000usize, 4usize);
    let fixture = Fixture::random(8, 50, false);
    let space = Space::new(&fixture.generalizations);
    let mut random = Random::new(3);
    // Fourteen values, some common and some rare.
    let value: Vec<u32> = (0..rows).map(|_| ((random.below(14) + random.below(14)) / 2) as u32).collect();
    let mut signatures: Vec<Vec<u32>> = vec![Vec::new(); rows];
    let (size, churn) = (4000, 200);
    for version in 0..8 {
        let present = version * churn..version * churn + size;
        let signed: Vec<Signed<'_>> = present
            .clone()
            .map(|r| Signed { codes: fixture.set.tuple(r % 7), value: value[r], signature: &signatures[r] })
            .collect();
        let made = m_invariant(&space, &signed, 14, m).unwrap();
        let share = made.counterfeits.len() as f64 / size as f64;
        assert!(share < 0.01, "version {version}: {share}");
        for (r, &class) in present.zip(&made.class_of) {
            signatures[r] = made.signatures[class as usize].clone();
        }
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
