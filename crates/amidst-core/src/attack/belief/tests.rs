use super::super::view::fixture::{Fixture, figure};
use super::super::{Covering, External, PopulationKnowledge, Tuples, fit};
use super::*;
use crate::class::Population;
use crate::ids::SensitiveId;
use crate::parameter::Value;
use crate::sensitive::belief::covered;
use proptest::prelude::*;

fn rows(classes: [(&'static str, usize, usize); 2]) -> Vec<(&'static str, &'static str)> {
    classes.iter().flat_map(|&(q, s1, s2)| [vec![(q, "s1"); s1], vec![(q, "s2"); s2]].concat()).collect()
}

fn run(fixture: &Fixture, covered: &Tuples, delta: &str, epsilon: &str) -> Findings {
    let people = People::from(&Population::of_figure_5());
    let known = PopulationKnowledge { people: &people, covered: Covering::Told(covered) };
    let extra = Extra { population: Some(&known), ..Extra::default() };
    let pairs = [("delta", Value::Text(delta.into())), ("epsilon", Value::Text(epsilon.into()))];
    ENTRY.run(&fixture.target(), &extra, &Parameters::from_pairs(pairs)).unwrap()
}

#[test]
fn the_posteriors_of_figure_6() {
    // Ungeneralized: q1 has (1, 1), q2 has (35, 15); posteriors .5 and .5, .7 and .3.
    let fixture = Fixture::new(&rows([("q1", 1, 1), ("q2", 35, 15)]));
    let covered = Tuples::collect(2, vec![(0, 0, 2), (1, 1, 50)]);
    let findings = run(&fixture, &covered, "0.42", "0.31");
    assert_eq!(figure(&findings, "largest_posterior"), 0.7);
    assert!((figure(&findings, "smallest_posterior") - 0.3).abs() < 1e-12);
    assert_eq!((findings.classes, findings.persons), (1, 50));
    // Generalized to one class of (36, 16): s1 of q1 rises from .3 to 81/137.
    let fixture = Fixture::new(&rows([("q", 1, 1), ("q", 35, 15)]));
    let covered = Tuples::collect(1, vec![(0, 0, 2), (0, 1, 50)]);
    let findings = run(&fixture, &covered, "0.42", "0.1");
    assert_eq!(figure(&findings, "positive_disclosure_persons"), 52.0);
    assert!((figure(&findings, "largest_rise") - (81.0 / 137.0 - 0.3)).abs() < 1e-12);
}

#[test]
fn a_posterior_on_the_bound_discloses_nothing() {
    let fixture = Fixture::new(&rows([("q1", 1, 1), ("q2", 35, 15)]));
    let covered = Tuples::collect(2, vec![(0, 0, 2), (1, 1, 50)]);
    assert_eq!(run(&fixture, &covered, "0.3", "0.3").persons, 0);
    assert_eq!(run(&fixture, &covered, "0.300001", "0").persons, 50);
    assert_eq!(run(&fixture, &covered, "0", "0.300001").persons, 50);
}

#[test]
fn a_population_that_contradicts_the_release_is_reported() {
    let fixture = Fixture::new(&rows([("q1", 1, 1), ("q2", 35, 15)]));
    let covered = Tuples::collect(2, vec![(0, 7, 2), (1, 1, 50)]);
    let findings = run(&fixture, &covered, "0", "0");
    assert_eq!((findings.persons, figure(&findings, "contradicted_persons")), (0, 2.0));
}

#[test]
fn a_class_is_spread_over_the_tuples_that_it_covers() {
    // Of ten persons 0.67, 2.67 and 6.67 have the tuples of 1, 4 and 10 in 15 people.
    assert_eq!([spread(10, 0, 1, 15), spread(10, 1, 5, 15), spread(10, 5, 15, 15)], [0, 3, 7]);
    assert_eq!(spread(u64::MAX, 0, 5, 5), u64::MAX);
    let rows: Vec<(&str, &str)> = [vec![("[1-3]", "s1"); 4], vec![("[1-3]", "s2"); 6], vec![("9", "s1")]].concat();
    let fixture = Fixture::new(&rows);
    let person = |n: usize| (["1", "2", "2", "2", "2"][n.min(4)], ["s1", "s2"][n % 2]);
    let people: Vec<(&str, &str)> = (0..5).map(person).chain([("3", "s1"); 4]).chain([("3", "s2"); 6]).collect();
    let column = |name: &str, pick: fn(&(&'static str, &'static str)) -> &'static str| {
        crate::table::Column::from_values(name, people.iter().map(pick))
    };
    let table = crate::table::Table { columns: vec![column("class", |p| p.0), column("disease", |p| p.1)], rows: 15 };
    let fits = fit(&fixture.published(), &External { table: &table, covers: &[] }, &[1]).unwrap();
    let people = People::of(&fits.tuples, &[fixture.code("s1"), fixture.code("s2")]);
    for (delta, epsilon) in [("0.1", "0.1"), ("0.4", "0.4"), ("0.5", "0.3"), ("1", "1")] {
        let pairs = [("delta", Value::Text(delta.into())), ("epsilon", Value::Text(epsilon.into()))];
        let known = PopulationKnowledge { people: &people, covered: Covering::Spread(&fits) };
        let extra = Extra { population: Some(&known), ..Extra::default() };
        let found = ENTRY.run(&fixture.target(), &extra, &Parameters::from_pairs(pairs)).unwrap();
        assert!(found.persons <= 10, "{found:?}");
        let figures = ["positive_disclosure_persons", "negative_disclosure_persons", "newly_disclosed_persons"];
        assert!(figures.iter().all(|name| figure(&found, name) <= 10.0), "{found:?}");
        // With δ = 1 whatever is believed at all is disclosed: everybody of the class, and nobody else.
        assert!(delta != "1" || figure(&found, "positive_disclosure_persons") == 10.0, "{found:?}");
    }
}

#[test]
fn a_value_that_is_ruled_out_discloses_the_others() {
    let fixture = Fixture::new(&rows([("q1", 1, 1), ("q2", 35, 15)]));
    let covered = Tuples::collect(2, vec![(0, 0, 2), (1, 1, 50)]);
    let people = People::from(&Population::of_figure_5());
    let known = PopulationKnowledge { people: &people, covered: Covering::Told(&covered) };
    let extra = Extra { population: Some(&known), ..Extra::default() };
    let with = |not: &[&str]| {
        let values = not.iter().map(|v| Value::Text((*v).into())).collect();
        ENTRY.run(&fixture.target(), &extra, &Parameters::from_pairs([("ruled_out", Value::List(values))])).unwrap()
    };
    // A person who does not have s1 has s2: everybody is disclosed, and nothing of it by the release.
    let found = with(&["s1"]);
    assert_eq!((figure(&found, "positive_disclosure_persons"), figure(&found, "newly_disclosed_persons")), (52.0, 0.0));
    assert_eq!(with(&["unheard of"]), with(&[]));
}

#[test]
fn what_was_certain_before_is_disclosed_but_not_newly() {
    let fixture = Fixture::new(&rows([("q1", 2, 0), ("q2", 35, 15)]));
    let certain =
        Population { totals: vec![50, 50], histograms: vec![vec![(0, 50)], vec![(0, 25), (1, 25)]], scale: 1 };
    let covered = Tuples::collect(2, vec![(0, 0, 2), (1, 1, 50)]);
    let people = People::from(&certain);
    let known = PopulationKnowledge { people: &people, covered: Covering::Told(&covered) };
    let extra = Extra { population: Some(&known), ..Extra::default() };
    let found = ENTRY.run(&fixture.target(), &extra, &Parameters::default()).unwrap();
    assert_eq!(figure(&found, "positive_disclosure_persons"), 2.0);
    assert_eq!(figure(&found, "newly_disclosed_persons"), 0.0);
}

proptest! {
    #[test]
    fn disclosures_are_those_of_the_exact_beliefs(
        counts in prop::collection::vec(prop::collection::vec(0u64..6, 4), 1..5),
        class in prop::collection::vec(0u64..6, 4),
        (high, low) in (5u64..11, 0u64..6),
        scale in prop::sample::select(vec![1u64, 1 << 31]),
    ) {
        let histogram = |counts: &[u64]| -> Vec<(u32, u64)> {
            (0u32..).zip(counts).filter(|(_, n)| **n > 0).map(|(v, &n)| (v, n * scale + n % scale)).collect()
        };
        let histograms: Vec<Vec<(u32, u64)>> = counts.iter().map(|c| histogram(c)).collect();
        let class = histogram(&class);
        let wide = |h: &Vec<(u32, u64)>| h.iter().map(|&(v, n)| (v, u128::from(n))).collect::<Vec<_>>();
        let population =
            Population { histograms: histograms.iter().map(wide).collect(), ..Population::default() };
        let tuples: Vec<u32> = (0..histograms.len() as u32).collect();
        let bounds = Bounds::new(Rational::ratio(high, 10), Rational::ratio(low, 10));
        let mut observed = ObservedClass::new(4, &bounds);
        let typed = |h: &[(u32, u64)]| h.iter().map(|&(v, n)| (SensitiveId(v), n)).collect::<Vec<_>>();
        let people: Vec<(SensitiveId, u64)> = typed(&histograms.concat());
        let others = people.get(1..).unwrap_or_default();
        observed.look_at(&[(SensitiveId(3), 9)], others);
        observed.leave(others);
        prop_assert_eq!(observed.look_at(&typed(&class), &people), people.iter().map(|c| c.1).sum::<u64>());
        let mut end = 0;
        for q in &histograms {
            let exact = beliefs(&wide(q), &covered(&population, &tuples), &class);
            let verdict = |b: &[crate::sensitive::belief::Belief]| {
                let newly = b.iter().any(|b| b.posterior > bounds.high && b.prior <= bounds.high);
                let positive = b.iter().any(|b| b.posterior > bounds.high);
                (positive, newly, b.iter().any(|b| b.posterior < bounds.low && b.prior >= bounds.low))
            };
            end += q.len();
            let found = observed.disclosure(&typed(q), &observed.weights[end - q.len()..end], 0.0);
            prop_assert_eq!(found.as_ref().map(|f| (f.positive, f.newly, f.negative)), exact.as_deref().map(verdict));
            if let (Some(found), Some(exact)) = (found, exact) {
                prop_assert_eq!(observed.exactly(&typed(q), q.iter().map(|c| c.1).sum()), Some(verdict(&exact)));
                let largest = exact.iter().map(|b| b.posterior.to_f64()).fold(0.0, f64::max);
                prop_assert!((found.largest - largest).abs() < 1e-12);
            }
        }
    }
}
