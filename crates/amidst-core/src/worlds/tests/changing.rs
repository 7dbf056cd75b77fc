//! Series in which people come back with another value, and series whose values stand for others.

use super::*;

/// Some versions, and for each of them and each person the number of the life that the person is in.
struct Changing {
    versions: Vec<Vec<Class>>,
    lives: Vec<Vec<usize>>,
}

/// A series in which a person who was away may come back with another value. With `keep`, the new value stands for what
/// the old one stood for, and may come without having been away.
fn changing(random: &mut Random, keep: Option<&[u32]>) -> Changing {
    let persons = 2 + random.below(5);
    let mut truth: Vec<usize> = (0..persons).map(|_| random.below(VALUES)).collect();
    let mut life = vec![0; persons];
    let (mut before, mut ever) = (vec![true; persons], vec![false; persons]);
    let (mut versions, mut lives) = (Vec::new(), Vec::new());
    for _ in 0..2 + random.below(3) {
        let classes = 1 + random.below(2);
        let mut made: Vec<Class> = vec![(Vec::new(), [0; VALUES]); classes];
        for person in 0..persons {
            let here = random.below(4) > 0;
            let returns = here && ever[person] && (!before[person] || keep.is_some());
            if returns && random.below(3) == 0 {
                let fits = |&v: &usize| keep.is_none_or(|of| of[v] == of[truth[person]]);
                let fitting: Vec<usize> = (0..VALUES).filter(fits).collect();
                let new = fitting[random.below(fitting.len())];
                life[person] += usize::from(new != truth[person]);
                truth[person] = new;
            }
            if here {
                let class = &mut made[random.below(classes)];
                class.0.push(person as u32);
                class.1[truth[person]] += 1;
            }
            (before[person], ever[person]) = (here, ever[person] || here);
        }
        made.retain(|class| !class.0.is_empty());
        versions.push(made);
        lives.push(life.clone());
    }
    Changing { versions, lives }
}

/// A series in which a person who was away may come back with another value, as its owner records it: every life of a
/// person is somebody else. With the number of lives beyond the first.
pub(crate) fn returners(random: &mut Random) -> (Vec<Vec<Class>>, usize) {
    let Changing { mut versions, lives } = changing(random, None);
    let mut numbers: std::collections::BTreeMap<(u32, usize), u32> = std::collections::BTreeMap::new();
    for (version, lives) in versions.iter_mut().zip(&lives) {
        for person in version.iter_mut().flat_map(|class| &mut class.0) {
            let next = numbers.len() as u32;
            *person = *numbers.entry((*person, lives[*person as usize])).or_insert(next);
        }
        version.iter_mut().for_each(|class| class.0.sort_unstable());
    }
    let people: std::collections::BTreeSet<u32> = numbers.keys().map(|key| key.0).collect();
    let again = numbers.len() - people.len();
    (versions, again)
}

/// The values that each life of each person has in some world of an adversary who knows when somebody began another
/// one; with `keep` all lives of a person stand for the same.
fn possible(series: &Changing, keep: Option<&[u32]>) -> Vec<Vec<[bool; VALUES]>> {
    let persons = series.lives[0].len();
    let mut left: Vec<[u8; VALUES]> = Vec::new();
    // By person and life, the classes.
    let mut units: Vec<Vec<Vec<usize>>> = vec![Vec::new(); persons];
    for (version, lives) in series.versions.iter().zip(&series.lives) {
        for (people, counts) in version {
            for &person in people {
                let own = &mut units[person as usize];
                own.resize(own.len().max(lives[person as usize] + 1), Vec::new());
                own[lives[person as usize]].push(left.len());
            }
            left.push(*counts);
        }
    }
    struct Walk<'a> {
        /// Person, life, classes.
        order: Vec<(usize, usize, &'a [usize])>,
        keep: Option<&'a [u32]>,
        left: Vec<[u8; VALUES]>,
        given: Vec<usize>,
        found: Vec<Vec<[bool; VALUES]>>,
    }
    impl Walk<'_> {
        fn on(&mut self) {
            let Some(&(person, life, classes)) = self.order.get(self.given.len()) else {
                for (&(person, life, _), &value) in self.order.iter().zip(&self.given) {
                    self.found[person][life][value] = true;
                }
                return;
            };
            let _ = life;
            for value in 0..VALUES {
                let before = self.given.last().filter(|_| self.order[self.given.len() - 1].0 == person);
                let kept = before.is_none_or(|&b| self.keep.is_none_or(|of| of[b] == of[value]));
                if kept && classes.iter().all(|&class| self.left[class][value] > 0) {
                    classes.iter().for_each(|&class| self.left[class][value] -= 1);
                    self.given.push(value);
                    self.on();
                    self.given.pop();
                    classes.iter().for_each(|&class| self.left[class][value] += 1);
                }
            }
        }
    }
    let found = units.iter().map(|lives| vec![[false; VALUES]; lives.len()]).collect();
    let mut order = Vec::new();
    for (person, lives) in units.iter().enumerate() {
        let published = lives.iter().enumerate().filter(|(_, classes)| !classes.is_empty());
        order.extend(published.map(|(life, classes)| (person, life, classes.as_slice())));
    }
    let mut walk = Walk { order, keep, left, given: Vec::new(), found };
    walk.on();
    walk.found
}

fn told_lives(history: &History, effort: &Effort) -> Vec<(u32, Vec<CohortBelief>)> {
    let mut of: std::collections::BTreeMap<Cohort, Vec<CohortBelief>> = std::collections::BTreeMap::new();
    history.tell(effort, |group| {
        of.insert(group.cohort, group.lives);
    });
    history.everybody().map(|(person, cohort)| (person, of[&cohort].clone())).collect()
}

/// A person who comes back with another value is not stated to the audit: what it calls possible must be so all the
/// same for an adversary who knows who changed and when.
#[test]
fn who_comes_back_with_another_value_hides_no_leak() {
    let mut random = Random::new(29);
    let (mut changed, mut several, mut proven) = (0, 0, 0);
    for turn in 0..30_000 {
        let series = changing(&mut random, None);
        let worlds = possible(&series, None);
        let history = history(&series.versions);
        changed += usize::from(series.lives.last().unwrap().iter().any(|&life| life > 0));
        for effort in [Effort::default(), Effort::BOUND] {
            for (person, told) in told_lives(&history, &effort) {
                let published: Vec<_> = worlds[person as usize].iter().filter(|life| life.contains(&true)).collect();
                several += usize::from(told.len() > 1);
                for (life, told) in [(published[0], &told[0]), (published[published.len() - 1], &told[told.len() - 1])]
                {
                    proven += told.values().len();
                    let wrong = told.values().into_iter().find(|&v| !life[v as usize]);
                    assert_eq!(wrong, None, "series {turn} {:?} {:?}: person {person}", series.versions, series.lives);
                }
            }
        }
    }
    assert!(changed > 3_000 && several > 1_000 && proven > 200_000, "no test: {changed} {several} {proven}");
}

/// The same of a value that is finer than what is asked about: what it stands for is kept, the value itself is not.
#[test]
fn what_stands_beside_a_value_may_change_and_hides_no_leak() {
    let mut random = Random::new(31);
    let mut proven = 0;
    for turn in 0..30_000 {
        let of: Vec<u32> = (0..VALUES).map(|_| random.below(3) as u32).collect();
        let series = changing(&mut random, Some(&of));
        let worlds = possible(&series, Some(&of));
        let history = finer(&series.versions, &of);
        for (person, told) in told_lives(&history, &Effort::default()) {
            let lives = worlds[person as usize].iter().filter(|life| life.contains(&true));
            let mut meant = lives.map(|life| (0..VALUES).filter(|&v| life[v]).map(|v| of[v]).collect::<Vec<u32>>());
            let meant = meant.next_back().unwrap();
            for told in &told {
                proven += told.values().len();
                let wrong = told.values().into_iter().find(|v| !meant.contains(v));
                assert_eq!(
                    wrong, None,
                    "series {turn} {:?} {:?} {of:?}: person {person}",
                    series.versions, series.lives
                );
            }
        }
    }
    assert!(proven > 50_000, "no test: {proven}");
}

fn finer(versions: &[Vec<Class>], of: &[u32]) -> History {
    let mut history = History::default();
    history.stand_for(of.to_vec());
    versions.iter().for_each(|classes| history.see(&compact(classes)));
    history
}

/// Worlds are those of the fine values, and shares are told of what these stand for.
#[test]
fn what_stands_beside_a_value_is_reasoned_with() {
    let mut random = Random::new(17);
    let (mut persons, mut narrowed) = (0, 0);
    for turn in 0..40_000 {
        let versions = series(&mut random);
        let of: Vec<u32> = (0..VALUES).map(|_| random.below(3) as u32).collect();
        let worlds = enumerate(&versions);
        let coarse: Vec<Vec<Class>> = versions.iter().map(|v| v.iter().map(|c| meant(c, &of)).collect()).collect();
        let without = enumerate(&coarse);
        let history = finer(&versions, &of);
        for (person, told) in told(&history, &Effort::default()) {
            let CohortBelief::Exact(posterior) = told else { panic!("series {turn}: person {person} was not counted") };
            let mut counts = [0; VALUES];
            (0..VALUES).for_each(|v| counts[of[v] as usize] += worlds[person as usize][v]);
            let total: u64 = counts.iter().sum();
            let weights: u64 = posterior.weights.iter().map(|w| w.1).sum();
            let share = |v: usize| posterior.weights.iter().find(|w| w.0 == v as u32).map_or(0, |w| w.1);
            for (v, &n) in counts.iter().enumerate() {
                assert_eq!(n * weights, share(v) * total, "series {turn} {versions:?} {of:?}: person {person}");
            }
            let kinds = |counts: &[u64; VALUES]| counts.iter().filter(|&&n| n > 0).count();
            persons += 1;
            narrowed += usize::from(kinds(&counts) < kinds(&without[person as usize]));
        }
        for (person, told) in told(&history, &Effort::BOUND) {
            let may = |v: u32| (0..VALUES).any(|fine| of[fine] == v && worlds[person as usize][fine] > 0);
            assert!(told.values().into_iter().all(may), "series {turn} {versions:?} {of:?}: person {person}");
        }
    }
    assert!(narrowed * 200 > persons, "what stands beside tells nothing: {narrowed} of {persons}");
}

fn meant(class: &Class, of: &[u32]) -> Class {
    let mut counts = [0; VALUES];
    (0..VALUES).for_each(|v| counts[of[v] as usize] += class.1[v]);
    (class.0.clone(), counts)
}

/// A person who is known to have changed what stands beside their value is left out of the reasoning, with all who hang
/// together with them.
#[test]
fn nothing_is_proven_about_those_who_are_excluded() {
    let versions = [
        vec![(vec![1, 2], [1, 0, 1, 0]), (vec![3, 4], [1, 0, 1, 0])],
        vec![(vec![1, 2], [0, 1, 0, 1]), (vec![3, 4], [1, 0, 1, 0])],
    ];
    let mut history = finer(&versions, &[0, 0, 1, 1]);
    history.exclude(1);
    for (person, told) in told_lives(&history, &Effort::default()) {
        let values: Vec<u32> = if person < 3 { vec![] } else { vec![0, 1] };
        assert!(told.iter().all(|told| told.values() == values), "{person}: {told:?}");
    }
}

/// What the owner knows only helps to find a world: false knowledge proves nothing that is not so.
#[test]
fn what_the_owner_says_proves_nothing_by_itself() {
    let mut random = Random::new(43);
    for turn in 0..10_000 {
        let versions = series(&mut random);
        let worlds = enumerate(&versions);
        let mut history = history(&versions);
        (0..8).for_each(|person| history.know(person, random.below(VALUES) as u32));
        for (person, told) in told(&history, &Effort::BOUND) {
            let may = |v: u32| worlds[person as usize][v as usize] > 0;
            assert!(told.values().into_iter().all(may), "series {turn} {versions:?}: person {person}");
        }
    }
}

/// Many people dealt out anew in every version, so that all hang together and worlds are too many to count.
#[test]
fn in_large_components_a_world_is_found_where_the_owner_knows_one() {
    let mut random = Random::new(44);
    let truth: Vec<u32> = (0..600).map(|_| [0, 0, 0, 0, 0, 1, 1, 2, 3][random.below(9)]).collect();
    let mut people: Vec<u32> = (0..600).collect();
    let mut plain = History::default();
    for _ in 0..3 {
        random.shuffle(&mut people);
        let mut version = Compact::default();
        people.chunks(6).for_each(|six| version.push(six.iter().copied(), six.iter().map(|&p| (truth[p as usize], 1))));
        plain.see(&version);
    }
    let mut knowing = plain.clone();
    truth.iter().zip(0u32..).for_each(|(&value, person)| knowing.know(person, value));
    let below = |history: &History| {
        let (mut below, mut empty) = (0, 0);
        history.tell(&Effort::BOUND, |group| {
            let left = group.lives[0].values().len();
            below += usize::from(left < 2);
            empty += usize::from(left == 0);
        });
        (below, empty)
    };
    let (without, with) = (below(&plain), below(&knowing));
    assert!(with.0 <= without.0 && with.1 == 0, "{without:?} {with:?}");
}
