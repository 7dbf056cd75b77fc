//! Small series whose worlds are all enumerated: what is told must be what the worlds say.

pub(crate) mod changing;

use super::*;
use crate::random::Random;
use crate::worlds::Compact;

pub(crate) const VALUES: usize = 4;

/// A class: who is in it, and how often it publishes each value.
pub(crate) type Class = (Vec<u32>, [u8; VALUES]);

/// Some versions of a table that people join and leave.
pub(crate) fn series(random: &mut Random) -> Vec<Vec<Class>> {
    let persons = 2 + random.below(7);
    let values = 2 + random.below(VALUES - 1);
    let truth: Vec<usize> = (0..persons).map(|_| random.below(values)).collect();
    let stays = 1 + random.below(4);
    let fakes = random.below(3) == 0;
    let version = |random: &mut Random| {
        let classes = 1 + random.below(3);
        let mut made: Vec<Class> = vec![(Vec::new(), [0; VALUES]); classes];
        for (person, &value) in truth.iter().enumerate() {
            if random.below(5) < stays {
                let class = &mut made[random.below(classes)];
                class.0.push(person as u32);
                class.1[value] += 1;
            }
        }
        if fakes {
            let class = random.below(classes);
            (0..=random.below(2)).for_each(|_| made[class].1[random.below(values)] += 1);
        }
        made.retain(|class| !class.0.is_empty());
        made
    };
    (0..2 + random.below(3)).map(|_| version(random)).collect()
}

/// How many worlds give each person each value, by trying them all.
pub(crate) fn enumerate(versions: &[Vec<Class>]) -> Vec<[u64; VALUES]> {
    let persons = versions.iter().flatten().flat_map(|c| &c.0).max().map_or(0, |&p| p as usize + 1);
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); persons];
    let mut left: Vec<[u8; VALUES]> = Vec::new();
    for (people, counts) in versions.iter().flatten() {
        people.iter().for_each(|&p| places[p as usize].push(left.len()));
        left.push(*counts);
    }
    fn walk(places: &[Vec<usize>], left: &mut [[u8; VALUES]], given: &mut Vec<usize>, found: &mut [[u64; VALUES]]) {
        let Some(own) = places.get(given.len()) else {
            given.iter().zip(found).for_each(|(&value, found)| found[value] += 1);
            return;
        };
        for value in 0..VALUES {
            if own.iter().all(|&class| left[class][value] > 0) && (!own.is_empty() || value == 0) {
                own.iter().for_each(|&class| left[class][value] -= 1);
                given.push(value);
                walk(places, left, given, found);
                given.pop();
                own.iter().for_each(|&class| left[class][value] += 1);
            }
        }
    }
    let mut found = vec![[0; VALUES]; persons];
    walk(&places, &mut left, &mut Vec::new(), &mut found);
    found.iter_mut().zip(&places).filter(|(_, own)| own.is_empty()).for_each(|(found, _)| *found = [0; VALUES]);
    found
}

pub(crate) fn history(versions: &[Vec<Class>]) -> History {
    let mut history = History::default();
    versions.iter().for_each(|classes| history.see(&compact(classes)));
    history
}

fn compact(classes: &[Class]) -> Compact {
    let mut version = Compact::default();
    for (people, counts) in classes {
        let counts = (0u32..).zip(counts).filter(|c| *c.1 > 0).map(|(value, &n)| (value, u64::from(n)));
        version.push(people.iter().copied(), counts);
    }
    version
}

/// What is told about each person.
fn told(history: &History, effort: &Effort) -> Vec<(u32, CohortBelief)> {
    let mut of: std::collections::BTreeMap<Cohort, CohortBelief> = std::collections::BTreeMap::new();
    history.tell(effort, |group| {
        assert_eq!(group.lives.len(), 1, "nobody changed");
        of.insert(group.cohort, group.lives[0].clone());
    });
    let mut all: Vec<(u32, CohortBelief)> =
        history.everybody().map(|(person, cohort)| (person, of[&cohort].clone())).collect();
    all.sort_by_key(|p| p.0);
    all
}

/// A hundred thousand series and more, whose worlds are enumerated. Counting agrees with them; bounds never call a
/// value possible that no world has, and the persons whom they accuse without need are few.
#[test]
fn no_leak_is_missed_in_a_hundred_thousand_series() {
    let mut random = Random::new(16);
    // For l = 2 and 3: persons below it, and those whom the bound counts as below.
    let (mut below, mut accused, mut persons, mut bounded) = ([0u64; 2], [0u64; 2], 0u64, 0u64);
    for turn in 0..110_000 {
        let versions = series(&mut random);
        let worlds = enumerate(&versions);
        let history = history(&versions);
        for (person, told) in told(&history, &Effort::default()) {
            let CohortBelief::Exact(posterior) = told else { panic!("series {turn}: person {person} was not counted") };
            let counts = worlds[person as usize];
            let total: u64 = counts.iter().sum();
            let weights: u64 = posterior.weights.iter().map(|w| w.1).sum();
            assert_eq!(posterior.spare, 0);
            let of = |v: usize| posterior.weights.iter().find(|w| w.0 == v as u32).map_or(0, |w| w.1);
            for (v, &n) in counts.iter().enumerate() {
                assert_eq!(n * weights, of(v) * total, "series {turn} {versions:?}: person {person}, value {v}");
            }
        }
        for (person, told) in told(&history, &Effort::BOUND) {
            let counts = worlds[person as usize];
            let possible = told.values();
            assert!(possible.iter().all(|&v| counts[v as usize] > 0), "series {turn} {versions:?}: person {person}");
            persons += 1;
            bounded += u64::from(!told.exact());
            for l in [2, 3] {
                let really = counts.iter().filter(|&&n| n > 0).count() < l;
                let counted = possible.len() < l;
                assert!(counted || !really, "series {turn} {versions:?}: person {person} is missed for l = {l}");
                below[l - 2] += u64::from(really);
                accused[l - 2] += u64::from(counted && !really);
            }
        }
    }
    for l in [2, 3] {
        let innocent = persons - below[l - 2];
        println!(
            "l = {l}: {} of {persons} persons are below, {} of the other {innocent} are accused by the bound ({:.4} %); \
             {bounded} were bounded",
            below[l - 2],
            accused[l - 2],
            100.0 * accused[l - 2] as f64 / innocent as f64
        );
        assert!(accused[l - 2] * 100 <= 3 * innocent, "more than three percent of false alarms");
    }
    assert!(bounded * 10 > persons && below[0] * 10 > persons, "the series are no test: {bounded} {below:?}");
}

#[test]
fn chained_subtraction_is_seen_through() {
    // {A,C} {D,B} {C,D}; persons 1 and 6 leave; then one class of four.
    let first = vec![(vec![2, 5], [1, 0, 1, 0]), (vec![1, 3], [0, 1, 0, 1]), (vec![4, 6], [0, 0, 1, 1])];
    let versions = [first, vec![(vec![2, 3, 4, 5], [1, 1, 1, 1])]];
    let history = history(&versions);
    let values: Vec<Vec<u32>> = told(&history, &Effort::default()).iter().map(|(_, told)| told.values()).collect();
    assert_eq!(values, [vec![3], vec![0, 2], vec![1], vec![3], vec![0, 2], vec![2]]);
    let of = |person: u32| history.everybody().find(|p| p.0 == person).unwrap().1;
    let why = &history.explain(&[of(4)])[0];
    let last = why.last().unwrap();
    assert_eq!((last.version, last.about, &last.left), (1, Some(of(4)), &vec![3]));
    assert!(
        why.iter().any(|s| s.about == Some(of(2)) && s.version == 0),
        "what the others have is told before: {why:?}"
    );
}

#[test]
fn values_that_may_be_exchanged_are_equally_likely() {
    // An m-invariant history of many persons in pairs, dealt out anew in each version: too many worlds to count.
    let mut random = Random::new(3);
    let mut people: Vec<u32> = (0..600).collect();
    let mut history = History::default();
    for _ in 0..4 {
        random.shuffle(&mut people);
        let mut version = Compact::default();
        // Some classes lack a person, for whom a counterfeit stands.
        people
            .chunks(3)
            .for_each(|three| version.push(three[random.below(2)..].iter().copied(), [(7, 1), (8, 1), (9, 1)]));
        history.see(&version);
    }
    history.tell(&Effort::BOUND, |group| {
        let all = Posterior { weights: vec![(7, 1), (8, 1), (9, 1)], spare: 0 };
        assert_eq!(group.lives, [CohortBelief::Exact(all)]);
    });
}

#[test]
fn a_value_that_changes_begins_a_new_life() {
    let versions = [vec![(vec![1, 2], [1, 1, 0, 0])], vec![(vec![1, 3], [0, 0, 1, 1])]];
    let mut lives = Vec::new();
    history(&versions).tell(&Effort::default(), |group| lives.push((group.persons, group.lives.len())));
    lives.sort_unstable();
    assert_eq!(lives, [(1, 1), (1, 1), (1, 2)]);
}

#[test]
fn classes_that_come_again_are_kept_once() {
    let class = (vec![1, 2, 3], [2, 1, 0, 0]);
    let mut versions = vec![vec![class.clone()]; 5];
    versions.push(vec![class, (vec![4, 5], [1, 1, 0, 0])]);
    let history = history(&versions);
    assert_eq!((history.versions(), history.classes().len(), history.persons()), (6, 2, 5));
    history.tell(&Effort::default(), |group| assert_eq!(group.last, 5));
}

/// Versions of some classes, in which people leave and come back, and counterfeits stand for those who are away.
#[test]
fn classes_whose_values_stay_tell_nothing_new() {
    let mut random = Random::new(29);
    for turn in 0..3000 {
        let first = series(&mut random);
        let Some(classes) = first.last() else { continue };
        let mut versions = first.clone();
        for _ in 0..1 + random.below(3) {
            let again = classes.iter().map(|(people, counts)| {
                let stay = people.iter().copied().filter(|_| random.below(3) > 0);
                (stay.collect::<Vec<_>>(), *counts)
            });
            versions.push(again.filter(|c| !c.0.is_empty()).collect());
        }
        assert_eq!(enumerate(&first), enumerate(&versions), "series {turn} {versions:?}");
        let (before, after) = (history(&first), history(&versions));
        assert_eq!(before.classes().len(), after.classes().len(), "series {turn} {versions:?}");
        assert_eq!(told(&before, &Effort::BOUND), told(&after, &Effort::BOUND));
    }
}
