use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::*;
use crate::frequency::{Entry, FrequencySet};
use crate::hierarchy::{Generalization, Generalize};
use crate::local::fixture::Fixture;
use crate::local::mondrian::items::{Filled, Ground, Item, Items};
use crate::parameter::Parameters;
use crate::random::Random;
use crate::requirement::Requirement;
use crate::search::Search;
use crate::sensitive::SensitiveDomain;
use crate::table::{Column, Table};

/// The best cut of some tuples.
fn chosen(
    search: &Search<'_>,
    space: &Space,
    counted: Option<&CountedSets>,
    judge: &Judge<'_>,
    tuples: &[u32],
) -> Option<Cut> {
    let set = search.set;
    let rows = |&unit: &u32| crate::frequency::rows(set.groups.get(unit as usize));
    let items: Vec<Item> = tuples.iter().map(|unit| Item { unit: *unit, rows: rows(unit) }).collect();
    let codes: Vec<u32> = tuples.iter().flat_map(|&t| set.tuple(t as usize)).copied().collect();
    let shape = space.over(&codes, None);
    let ground = Ground { set, space, counted, judge, relaxed: false, median: false };
    let mut source = Items { ground, items: &items, codes: &codes, filled: &mut Filled::default() };
    let chooser = Chooser { space, counted, judge, control: search.control, median: false };
    chooser.best(&mut source, &mut Memory::default(), &shape, tuples.iter().map(rows).sum())
}

/// The same found by judging every cut of every column from its rows.
fn judged_one_by_one(search: &Search<'_>, space: &Space, judge: &Judge<'_>, tuples: &[u32]) -> Option<Cut> {
    let set = search.set;
    let side = |tuples: &[u32]| {
        let codes: Vec<u32> = tuples.iter().flat_map(|&t| set.tuple(t as usize)).copied().collect();
        let tally =
            judge.tally(tuples.iter().flat_map(|&t| set.groups.get(t as usize)).copied().collect::<Vec<Entry>>());
        (space.cost(&space.over(&codes, None)), tally)
    };
    let codes: Vec<u32> = tuples.iter().flat_map(|&t| set.tuple(t as usize)).copied().collect();
    let shape = space.over(&codes, None);
    let (cost, everything) = side(tuples);
    let total = cost * everything.rows as f64;
    let mut best: Option<Cut> = None;
    let mut offer = |column: usize, kind: CutKind, gain: f64, valid: bool| {
        if valid && best.is_none_or(|b| gain > b.gain) {
            best = Some(Cut { gain, column, kind });
            return true;
        }
        false
    };
    for column in 0..space.width() {
        let code = |t: u32| set.tuple(t as usize)[column];
        let cuts = space.cuts(&shape, column);
        let key = |t: u32| match cuts {
            Cuts::Grouped { group, rank, .. } => (rank[code(t) as usize], group[code(t) as usize]),
            _ => (code(t), code(t)),
        };
        let mut keys: Vec<(u32, u32)> = tuples.iter().map(|&t| key(t)).collect();
        keys.sort_unstable();
        keys.dedup();
        if keys.len() < 2 {
            continue;
        }
        let part = |chosen: &dyn Fn((u32, u32)) -> bool| {
            let (a, b): (Vec<u32>, Vec<u32>) = tuples.iter().partition(|&&t| chosen(key(t)));
            (side(&a), side(&b))
        };
        if let Cuts::Grouped { .. } = cuts {
            let sides: Vec<_> = keys.iter().map(|&k| part(&|other| other == k).0).collect();
            let gain = total - sides.iter().map(|(cost, tally)| cost * tally.rows as f64).sum::<f64>();
            let valid = sides.iter().all(|(_, tally)| judge.counts_hold(tally));
            if offer(column, CutKind::Each, gain, valid) || keys.len() == 2 {
                continue;
            }
        }
        let last = keys.len() - usize::from(!matches!(cuts, Cuts::Grouped { .. }));
        for &k in &keys[..last] {
            let (kind, (a, b)) = match cuts {
                Cuts::Grouped { .. } => (CutKind::One(k.1), part(&|other| other == k)),
                _ => (CutKind::Below(k.1), part(&|other| other <= k)),
            };
            let (left, right) = (a.0 * a.1.rows as f64, b.0 * b.1.rows as f64);
            let gain = match cuts {
                Cuts::Grouped { .. } => total - (left + right),
                _ => total - left - right,
            };
            offer(column, kind, gain, judge.counts_hold(&a.1) && judge.counts_hold(&b.1));
        }
    }
    best
}

#[test]
fn the_cut_is_that_of_judging_every_cut() {
    let (mut cuts, mut none) = (0, 0);
    for seed in 0..12 {
        let fixture = Fixture::random(seed, 150, seed % 4 == 3);
        let mut random = Random::new(seed);
        for requirements in fixture.policies() {
            fixture.search(&requirements, &Parameters::default(), |search| {
                let (space, Ok(judge)) = (Space::new(search.generalizations), Judge::new(search)) else { return };
                for share in [1, 1, 2, 4, 8] {
                    let tuples: Vec<u32> = (0..search.set.len() as u32).filter(|_| random.below(share) == 0).collect();
                    if tuples.len() < 2 {
                        continue;
                    }
                    let best = chosen(search, &space, None, &judge, &tuples);
                    let counted = CountedSets::above(&space, 0);
                    assert_eq!(counted.as_ref().map(|c| c.columns.len()), Some(1));
                    let counting = chosen(search, &space, counted.as_ref(), &judge, &tuples);
                    assert_eq!(format!("{best:?}"), format!("{counting:?}"), "seed {seed}");
                    let oracle = judged_one_by_one(search, &space, &judge, &tuples);
                    assert_eq!(format!("{best:?}"), format!("{oracle:?}"), "seed {seed} {}", requirements[0].model.id);
                    if best.is_some() { cuts += 1 } else { none += 1 }
                }
            });
        }
    }
    assert!(cuts > 100 && none > 9, "{cuts} {none}");
}

/// Two numbers that are different in every row, and two sensitive columns of a twelfth as many values, with a policy on
/// the first.
fn diverse(rows: usize, id: &str, parameters: &[(&str, &str)], see: impl FnOnce(&Search<'_>, &Space, &Judge<'_>)) {
    let mut random = Random::new(5);
    let mut drawn =
        |below: usize| -> Vec<String> { (0..rows).map(|_| format!("{:06}", random.below(below))).collect() };
    let texts = [drawn(1_000_000), drawn(1_000_000), drawn(rows / 12), drawn(rows / 12)];
    let column = |(name, values): (&str, &Vec<String>)| Column::from_values(name, values.iter().map(String::as_str));
    let table = Table { columns: ["u", "v", "s", "t"].into_iter().zip(&texts).map(column).collect(), rows };
    let (set, entry_of) = FrequencySet::count(&table, &[0, 1], &[2, 3], None);
    let of = |c: usize| {
        let mut g = Generalization::bind(&table.columns[c], None).unwrap();
        g.generalize = Generalize::Ranges;
        g
    };
    let domain = |c: usize| SensitiveDomain {
        name: table.columns[c].name.clone(),
        dictionary: table.columns[c].dictionary.clone(),
        ..SensitiveDomain::default()
    };
    let domains = vec![domain(2), domain(3)];
    let fixture = Fixture { set, generalizations: vec![of(0), of(1)], domains, entry_of };
    let requirements: Vec<Requirement> = fixture.requirement(id, parameters).into_iter().collect();
    fixture.search(&requirements, &Parameters::default(), |search| {
        let (space, judge) = (Space::new(search.generalizations), Judge::new(search).unwrap());
        judge.looked.store(0, Ordering::Relaxed);
        see(search, &space, &judge);
    });
}

#[test]
fn judging_cuts_takes_work_in_proportion_to_the_rows() {
    let work = |rows: usize| {
        let mut looked = 0;
        diverse(rows, "entropy-l-diversity", &[("l", "3")], |search, space, judge| {
            let classes = crate::algorithm::mondrian_partition(search, space, judge, false).unwrap().classes.len();
            assert!(classes > rows / 12, "{classes}");
            looked = judge.looked.load(Ordering::Relaxed);
        });
        looked
    };
    let (few, many) = (work(1_500), work(6_000));
    // Four times the rows make log₂ 4 = 2 more levels of cuts of some ten. Judging every cut takes sixteen times as
    // much.
    assert!(many < 6 * few, "{few} {many}");
}

#[test]
fn sensitive_columns_without_a_requirement_are_not_counted() {
    diverse(600, "entropy-l-diversity", &[("l", "3")], |search, _, judge| {
        let ids = (0..search.set.sensitive_count() as u32).map(crate::ids::SensitiveId);
        let (mut values, mut alike): (Vec<u32>, Vec<u32>) =
            ids.map(|id| (search.set.sensitive_code(id, 0), judge.alike(id).0)).unzip();
        let codes_agree = |&id: &u32| search.set.sensitive_code(crate::ids::SensitiveId(id), 0);
        assert!(values.iter().zip(&alike).all(|(code, id)| *code == codes_agree(id)));
        for list in [&mut values, &mut alike] {
            list.sort_unstable();
            list.dedup();
        }
        assert_eq!(values.len(), alike.len());
        assert!(values.len() * 4 < search.set.sensitive_count());
    });
}

/// A policy that hardly any cut satisfies, so that a choice judges nearly all of them.
const STRICT: (&str, &[(&str, &str)]) = ("t-closeness", &[("t", "0.05"), ("distance", "equal")]);

#[test]
fn who_cancels_does_not_wait_for_a_choice() {
    diverse(600, STRICT.0, STRICT.1, |search, space, judge| {
        let tuples: Vec<u32> = (0..search.set.len() as u32).collect();
        let looked = |control: Control<'_>| {
            judge.looked.store(0, Ordering::Relaxed);
            chosen(&search.clone().with_control(control), space, None, judge, &tuples);
            judge.looked.load(Ordering::Relaxed)
        };
        let all = looked(Control::default());
        let stop = AtomicBool::new(true);
        assert_eq!(looked(Control { cancel: &stop, ..Control::default() }), 0);
        // Once the time is over four cuts of each of two columns are judged, two sides each at most.
        let late = looked(Control { deadline: Some(Instant::now()), ..Control::default() });
        assert!(late <= 4 * 2 * 2 * 50 && 10 * late < all, "{late} {all}");
    });
}
