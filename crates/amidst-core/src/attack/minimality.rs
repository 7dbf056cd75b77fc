//! The minimality attack.
//!
//! **Assumes** that the adversary knows the original quasi tuples of everyone in each class (from an external table),
//! the requirement, and that the release is minimal: a class would have been split by its original tuples had all parts
//! satisfied the requirement. So some part fails, and of all ways to deal the class's sensitive values to its tuples
//! (the *worlds*) only those remain in which one does.
//!
//! **Succeeds** where the *credibility* of linking a person to a value, the share of the remaining worlds in which the
//! person has it, exceeds `threshold` (what the requirement promised: 1/l), and also what the class tells without this
//! knowledge.
//!
//! The paper's requirement is that no value exceeds 1/l of a class (`l`, or `alpha` for a share that is not one over a
//! whole number); other forms of diversity that a policy may state are known here as well, and all that are stated must
//! hold. Where k is why a class was kept whole (a part is smaller than `k`), nothing is learned from it.
//!
//! For a monotone requirement, "split by its original tuples" is implied by any minimality, so local and full-domain
//! releases are both covered: `scope` is `class` when each class is minimal by itself (local recoding), `table` when
//! only the table is (full-domain): then some class fails, and it is open which; a class that `k` explains
//! suffices as the explanation.
//!
//! Classes that overlap are looked at as far as the numbers of rows tell who is in them ([`members`](super::members));
//! the others are counted as unmatched. Nothing is learned from a full-domain release with suppressed rows: it is the
//! best table, not the least general one that satisfies the requirement, since a less general one may cost more by the
//! rows that it would suppress, and whether the parts of suppressed rows fail depends on unpublished values.
//!
//! **Departure.** A class with too many worlds to count is looked at one value at a time, as if the requirement had
//! failed for its sake, which only ever makes the value seem likelier; such classes are counted.

mod required;

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry as Place};

use rayon::prelude::*;

use super::view::possible_worlds::{PartWorlds, Worlds, steps, worlds};
use super::view::worst;
use super::{Attack, AttackError, Entry, Extra, Findings, Knowledge, Original, Target, share_or};
use crate::class::Histogram;
use crate::exact::Rational;
use crate::parameter::{Kind, Parameter, Parameters};
use required::Required;

pub(super) const ENTRY: Entry = Entry {
    id: "minimality",
    title: "minimality attack",
    assumes: "the original quasi tuples of each class, the requirement, and that the release generalizes no more than it \
              had to",
    definition: "among the worlds in which the class could not be split, a value is likelier than the requirement allows",
    citation: "Wong, Fu, Wang & Pei, \"Minimality attack in privacy preserving data publishing\", VLDB 2007",
    needs: Knowledge::Original,
    parameters: &[
        Parameter::optional("l", Kind::Count, "the requirement: no value may exceed 1/l of a class"),
        Parameter::optional("alpha", Kind::Number, "the requirement: no value may exceed this share of a class"),
        Parameter::optional("distinct", Kind::Count, "the requirement: so many distinct values in a class"),
        Parameter::optional("entropy", Kind::Number, "the requirement: an entropy of at least the logarithm of this"),
        Parameter::optional("c", Kind::Number, "the requirement: recursive (c,l)-diversity, with `recursive_l`"),
        Parameter::optional("recursive_l", Kind::Count, "the l of recursive (c,l)-diversity; 2 when absent"),
        Parameter::optional("k", Kind::Count, "the requirement: the smallest class allowed; 1 when absent"),
        Parameter::optional("value", Kind::Value, "the only value whose share is bounded; every value when absent"),
        Parameter::optional("scope", Kind::Choice(SCOPES), "what is minimal: each class, or only the table"),
        Parameter::optional("threshold", Kind::Number, "the credibility that counts as a success; 1/l when absent"),
        Parameter::optional("limit", Kind::Count, "the largest class whose worlds are counted; 1000 when absent"),
    ],
    attack: &Minimality,
};

const SCOPES: &[&str] = &["class", "table"];

/// The largest class whose worlds are counted, where none is stated.
const LIMIT: u64 = 1000;

/// Steps that counting the worlds of one class may take, and of all classes.
const STEPS: u64 = 2_000_000;
const ALL_STEPS: u64 = 1_000_000_000;

/// Differences of probabilities below this are rounding.
const ROUNDING: f64 = 1e-12;

#[derive(Debug)]
struct Minimality;

/// The worlds of one class.
struct Case {
    class: usize,
    /// The value at whose fault the class was kept whole, where one is looked at alone.
    alone: Option<u32>,
    /// For each value its share of the class; in the order of `worlds`.
    shares: Vec<f64>,
    worlds: Worlds,
}

/// The classes as an adversary sees them who knows the original tuples.
struct Classes<'a> {
    target: &'a Target<'a>,
    required: &'a Required,
    /// (class, sizes of its parts, ascending) of those that could have been split.
    splittable: Vec<(usize, Vec<u64>)>,
    kept_by_k: u64,
    too_large: u64,
    unmatched: u64,
    one_value: u64,
    steps: u64,
    counted: BTreeMap<PartSizes, Option<Worlds>>,
}

/// Whether one value is looked at alone, the sizes of the parts, and the counts of the values.
type PartSizes = (bool, Vec<u64>, Vec<u64>);

impl<'a> Classes<'a> {
    fn of(target: &'a Target<'a>, required: &'a Required, original: Original<'_>, limit: u64) -> Self {
        let mut classes = Classes {
            target,
            required,
            splittable: Vec::new(),
            kept_by_k: 0,
            too_large: 0,
            unmatched: 0,
            one_value: 0,
            steps: ALL_STEPS,
            counted: BTreeMap::new(),
        };
        let mut splittable = Vec::new();
        for class in 0..target.published.classes.len() {
            let (size, whole) = (target.class(class).0, original.whole(class));
            if whole.rows != size {
                // Suppressed rows, or persons with several rows: who is in the class is not known.
                classes.unmatched += u64::from(size > 0);
            } else if whole.tuples < 2 {
                // One tuple cannot be split.
            } else if whole.fewest < required.k {
                classes.kept_by_k += 1;
            } else if size > limit {
                classes.too_large += 1;
            } else {
                splittable.push(class);
            }
        }
        let parts = original.parts(&splittable);
        classes.splittable = splittable.into_iter().zip(parts).collect();
        classes
    }

    /// The worlds of every class that could have been split.
    fn cases(&mut self, whole_table: bool) -> Vec<Case> {
        let mut cases = Vec::new();
        let mut alone = self.required.only.is_some() && self.required.shares_only();
        if !alone {
            self.count_together();
        }
        loop {
            for (class, sizes) in std::mem::take(&mut self.splittable) {
                let found = if alone { Vec::new() } else { self.together(class, &sizes).into_iter().collect() };
                let found = if found.is_empty() { self.one_by_one(class, &sizes) } else { found };
                self.one_value += u64::from(self.required.only.is_none() && found.iter().any(|c| c.alone.is_some()));
                self.too_large += u64::from(found.is_empty());
                cases.extend(found);
                self.splittable.push((class, sizes));
            }
            // Which class of a table fails can be weighed only when all are looked at in the same way.
            let mixed = cases.iter().any(|c| c.alone.is_some()) && cases.iter().any(|c| c.alone.is_none());
            if !(whole_table && mixed) {
                return cases;
            }
            alone = true;
            cases.clear();
            (self.one_value, self.too_large) = (0, 0);
        }
    }

    /// Counts the worlds of all classes that could have been split, all values at once.
    fn count_together(&mut self) {
        let mut affordable: Vec<PartSizes> = Vec::new();
        for (class, sizes) in &self.splittable {
            let parted = (false, sizes.clone(), counts(self.target.class(*class).1));
            if let Place::Vacant(place) = self.counted.entry(parted) {
                let cost = steps(&place.key().1, &place.key().2).filter(|&cost| cost <= STEPS.min(self.steps));
                self.steps -= cost.unwrap_or(0);
                affordable.extend(cost.map(|_| place.key().clone()));
                place.insert(None);
            }
        }
        let required = self.required;
        let found = affordable.into_par_iter().map(|parted| {
            let found = worlds(&parted.1, &parted.2, |part| required.holds(part));
            (parted, found)
        });
        self.counted.extend(found.collect::<Vec<_>>());
    }

    /// All values at once.
    fn together(&self, class: usize, sizes: &[u64]) -> Option<Case> {
        let (size, histogram) = self.target.class(class);
        let parted = (false, sizes.to_vec(), counts(histogram));
        let worlds = self.counted.get(&parted).cloned().flatten()?;
        let shares = parted.2.iter().map(|&n| n as f64 / size as f64).collect();
        Some(Case { class, alone: None, shares, worlds })
    }

    /// One value after the other; only where shares are all that is required.
    fn one_by_one(&mut self, class: usize, sizes: &[u64]) -> Vec<Case> {
        let required = self.required;
        let (size, histogram) = self.target.class(class);
        let mut cases = Vec::new();
        for &(value, n) in histogram.iter().filter(|c| required.only.is_none_or(|o| o == c.0)) {
            if !required.shares_only() {
                break;
            }
            let counts = if n < size { vec![n, size - n] } else { vec![n] };
            if let Some(worlds) = self.count_alone(sizes, counts) {
                cases.push(Case { class, alone: Some(value), shares: vec![n as f64 / size as f64], worlds });
            }
        }
        cases
    }

    fn count_alone(&mut self, sizes: &[u64], counts: Vec<u64>) -> Option<Worlds> {
        let (left, required) = (&mut self.steps, self.required);
        let counted = self.counted.entry((true, sizes.to_vec(), counts)).or_insert_with_key(|(_, sizes, counts)| {
            let cost = steps(sizes, counts).filter(|&cost| cost <= STEPS.min(*left) * 10)?;
            *left = left.saturating_sub(cost);
            worlds(sizes, counts, |part| required.first_within(part))
        });
        counted.clone()
    }
}

/// The counts of a histogram, ascending: classes with the same ones share their worlds, whatever the values are.
fn counts(histogram: &Histogram) -> Vec<u64> {
    let mut counts: Vec<u64> = histogram.iter().map(|c| c.1).collect();
    counts.sort_unstable();
    counts
}

impl Attack for Minimality {
    fn run(&self, target: &Target<'_>, extra: &Extra<'_>, parameters: &Parameters) -> Result<Findings, AttackError> {
        let required = Required::of(target, parameters)?;
        let limit = if parameters.get("limit").is_some() { parameters.count("limit")? } else { LIMIT };
        let threshold = match parameters.get("threshold") {
            Some(_) => share_or(parameters, "threshold", Rational::from(1))?.to_f64(),
            None => required.promised,
        };
        let whole_table = parameters.choice("scope", SCOPES)? == "table";
        let Some(original) = extra.original else { return Ok(Findings::default()) };

        let mut classes = Classes::of(target, &required, original, limit);
        if whole_table && classes.kept_by_k > 0 {
            // Some class is too small when split, so the table had to be generalized whatever the values are.
            classes.splittable.clear();
        }
        let cases = classes.cases(whole_table);
        let mut hits: BTreeMap<usize, (f64, BTreeSet<usize>)> = BTreeMap::new();
        let (mut largest, mut gain) = (0.0f64, 0.0f64);
        let mut by_value: BTreeMap<Option<u32>, Vec<&Case>> = BTreeMap::new();
        cases.iter().for_each(|case| by_value.entry(case.alone).or_default().push(case));
        for cases in by_value.values() {
            // ln of the probability that no class fails; its complement keeps tiny probabilities.
            let none: f64 = cases.iter().map(|case| (-case.worlds.failing).ln_1p()).sum();
            for case in cases {
                let failing = case.worlds.failing;
                let others = if whole_table && failing < 1.0 { -(none - (-failing).ln_1p()).exp_m1() } else { 0.0 };
                let some = if whole_table { -none.exp_m1() } else { failing };
                if some <= 0.0 {
                    // No world explains the release: these values are not why the class was kept whole.
                    continue;
                }
                for (at, PartWorlds { linked, .. }) in case.worlds.parts.iter().enumerate() {
                    for (&share, linked) in case.shares.iter().zip(linked) {
                        let credibility = ((linked + (share - linked) * others) / some).clamp(0.0, 1.0);
                        largest = largest.max(credibility);
                        gain = gain.max(credibility - share);
                        if credibility > threshold + ROUNDING && credibility > share + ROUNDING {
                            let hit = hits.entry(case.class).or_default();
                            hit.0 = hit.0.max(credibility);
                            hit.1.insert(at);
                        }
                    }
                }
            }
        }
        let persons_of = |class: usize, parts: &BTreeSet<usize>| -> u64 {
            let case = cases.iter().find(|c| c.class == class);
            case.map_or(0, |c| parts.iter().filter_map(|&p| c.worlds.parts.get(p)).map(|p| p.persons).sum())
        };
        let persons: u64 = hits.iter().map(|(&class, (_, parts))| persons_of(class, parts)).sum();
        let figures = [
            ("largest_credibility", largest),
            ("largest_gain", gain),
            ("classes_kept_by_k", classes.kept_by_k as f64),
            ("classes_too_large", classes.too_large as f64),
            ("classes_unmatched", classes.unmatched as f64),
            ("classes_one_value_at_a_time", classes.one_value as f64),
        ];
        Ok(Findings {
            classes: hits.len() as u64,
            rows: persons,
            persons,
            worst: worst(hits.iter().map(|(&class, &(credibility, _))| (credibility, target.class(class).0, class))),
            figures: figures.map(|(name, figure)| (name.to_string(), figure)).to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tuples;
    use super::super::view::fixture::{Fixture, figure};
    use super::*;
    use crate::parameter::Value;

    fn run(fixture: &Fixture, original: &Tuples, pairs: &[(&str, &str)]) -> Findings {
        let mut parameters = Parameters::default();
        pairs.iter().for_each(|(key, value)| parameters.set(key, Value::Text((*value).into())));
        let extra = Extra { original: Some(Original::Told(original)), ..Extra::default() };
        ENTRY.run(&fixture.target(), &extra, &parameters).unwrap()
    }

    /// Two persons q1 and five persons q2, published as one class with two HIV: the paper's opening example.
    fn opening() -> (Fixture, Tuples) {
        let mut rows = vec![("Q", "hiv"), ("Q", "hiv")];
        rows.extend([("Q", "flu"); 5]);
        (Fixture::new(&rows), Tuples::collect(1, vec![(0, 0, 2), (0, 1, 5)]))
    }

    #[test]
    fn both_of_q1_are_positive() {
        // 2-diversity of HIV. One HIV in each part, or both among the five, would have been published as it was; so
        // both are q1's.
        let (fixture, original) = opening();
        let findings = run(&fixture, &original, &[("l", "2"), ("value", "hiv")]);
        assert_eq!((findings.classes, findings.persons), (1, 2));
        assert!((figure(&findings, "largest_credibility") - 1.0).abs() < 1e-12);
        assert!((figure(&findings, "largest_gain") - 5.0 / 7.0).abs() < 1e-12);
        // When k alone forbade the split, nothing is learned.
        let findings = run(&fixture, &original, &[("l", "2"), ("value", "hiv"), ("k", "3")]);
        assert_eq!((findings.classes, figure(&findings, "classes_kept_by_k")), (0, 1.0));
        let findings = run(&fixture, &original, &[("l", "2"), ("value", "hiv"), ("limit", "6")]);
        assert_eq!((findings.classes, figure(&findings, "classes_too_large")), (0, 1.0));
    }

    #[test]
    fn the_papers_formula_weighs_every_way_to_fail() {
        // Parts of 2 and 4 persons, three of the six HIV, l = 2. With x of the first part HIV, C(2, x)·C(4, 3 − x)
        // worlds agree: 4 for x = 0 (the second part has 3 of 4: fails), 12 for x = 1 (1 of 2 and 2 of 4: sound), 4 for
        // x = 2 (fails). So x is 0 or 2, each as likely: the first part has HIV in half of the places, as has the
        // second.
        let rows = [vec![("Q", "hiv"); 3], vec![("Q", "flu"); 3]].concat();
        let original = Tuples::collect(1, vec![(0, 0, 2), (0, 1, 4)]);
        let findings = run(&Fixture::new(&rows), &original, &[("l", "2"), ("value", "hiv")]);
        assert!((figure(&findings, "largest_credibility") - 0.5).abs() < 1e-12);
        assert_eq!(findings.persons, 0);
        // With four of eight persons, parts of 3 and 5: 5 worlds for x = 0, 30 for 1, 30 for 2, 5 for 3. The first part
        // fails from 2 on, the second from 3 on, that is at x = 0 and 1: every world fails, and nothing is learned.
        let rows = [vec![("Q", "hiv"); 4], vec![("Q", "flu"); 4]].concat();
        let original = Tuples::collect(1, vec![(0, 0, 3), (0, 1, 5)]);
        let findings = run(&Fixture::new(&rows), &original, &[("l", "2"), ("value", "hiv")]);
        assert!(figure(&findings, "largest_gain").abs() < 1e-12);
    }

    #[test]
    fn when_every_value_is_protected_any_of_them_may_be_at_fault() {
        // Flu is protected, too, and the five fail for its sake in every world (at least 3 flu among 5): so the class
        // could never be split, and nothing is learned.
        let (fixture, original) = opening();
        let findings = run(&fixture, &original, &[("l", "2")]);
        assert_eq!((findings.persons, figure(&findings, "classes_one_value_at_a_time")), (0, 0.0));
        assert!(figure(&findings, "largest_gain").abs() < 1e-12);
        // One value at a time would blame HIV: it is what a class with too many worlds falls back to.
        let values: Vec<String> = (0..12).map(|v| format!("v{v:02}")).collect();
        let rows: Vec<(&str, &str)> = values.iter().flat_map(|v| [("Q", v.as_str()); 10]).collect();
        let original = Tuples::collect(1, vec![(0, 0, 60), (0, 1, 60)]);
        let findings = run(&Fixture::new(&rows), &original, &[("l", "12")]);
        assert_eq!(figure(&findings, "classes_one_value_at_a_time"), 1.0);
    }

    #[test]
    fn other_diversities_leak_as_well() {
        // Two pairs published together as 2-diverse, with values a, a, b, b: had they not been (a, a) and (b, b) each,
        // they would have been published apart. Nobody knows which pair has which value.
        let rows = [("Q", "a"), ("Q", "a"), ("Q", "b"), ("Q", "b")];
        let (fixture, original) = (Fixture::new(&rows), Tuples::collect(1, vec![(0, 0, 2), (0, 1, 2)]));
        for requirement in [("distinct", "2"), ("entropy", "2"), ("c", "2"), ("l", "2"), ("alpha", "0.5")] {
            let findings = run(&fixture, &original, &[requirement]);
            assert!((figure(&findings, "largest_credibility") - 0.5).abs() < 1e-12, "{requirement:?}");
        }
        // With a, a, b, c the pair without b and c has a, a; which pair that is stays open, but a is likelier than not
        // to be together: credibility 1/2 for each, no more than the class says.
        let rows = [("Q", "a"), ("Q", "a"), ("Q", "b"), ("Q", "c")];
        let findings = run(&Fixture::new(&rows), &original, &[("distinct", "2")]);
        assert!((figure(&findings, "largest_credibility") - 0.5).abs() < 1e-12);
        // A pair and a four with a, a, b, c, d, e: only the pair can fail to be 2-diverse, so it has a, a.
        let rows = [("Q", "a"), ("Q", "a"), ("Q", "b"), ("Q", "c"), ("Q", "d"), ("Q", "e")];
        let original = Tuples::collect(1, vec![(0, 0, 2), (0, 1, 4)]);
        let findings = run(&Fixture::new(&rows), &original, &[("distinct", "2")]);
        assert!((figure(&findings, "largest_credibility") - 1.0).abs() < 1e-12);
        assert_eq!(findings.persons, 2);
    }

    #[test]
    fn when_only_the_table_is_minimal_the_guilt_is_shared() {
        let mut rows = Vec::new();
        for class in ["P", "Q"] {
            rows.extend([(class, "hiv"); 2]);
            rows.extend([(class, "flu"); 5]);
        }
        let fixture = Fixture::new(&rows);
        let original = Tuples::collect(2, vec![(0, 0, 2), (0, 1, 5), (1, 2, 2), (1, 3, 5)]);
        let table = [("l", "2"), ("value", "hiv"), ("scope", "table"), ("threshold", "0.5")];
        let findings = run(&fixture, &original, &table);
        // A class fails with probability 1/21. Given that one of two does: a person of q1 has hiv in all failing worlds
        // of the class, and in 10 of the 20 × 2 places of its sound ones.
        let (fails, sound) = (1.0 / 21.0, 10.0 / 42.0);
        let expected = (fails + sound * fails) / (1.0 - (1.0 - fails) * (1.0 - fails));
        assert!((figure(&findings, "largest_credibility") - expected).abs() < 1e-12);
        assert_eq!((findings.classes, findings.persons), (2, 4));
        // A class somewhere that k keeps together explains why the table was generalized.
        let original = Tuples::collect(2, vec![(0, 0, 1), (0, 1, 6), (1, 2, 2), (1, 3, 5)]);
        let findings = run(&fixture, &original, &[&table[..], &[("k", "2")]].concat());
        assert_eq!((findings.persons, figure(&findings, "classes_kept_by_k")), (0, 1.0));
    }

    #[test]
    fn the_requirement_and_the_value_are_checked() {
        let fixture = Fixture::new(&[("a", "flu")]);
        let original = Tuples::default();
        let extra = Extra { original: Some(Original::Told(&original)), ..Extra::default() };
        let run = |parameters| ENTRY.run(&fixture.target(), &extra, &parameters).unwrap_err().to_string();
        let error = run(Parameters::default());
        assert!(error.contains("`l` is missing") && error.contains("`distinct`"), "{error}");
        let pairs = [("l", Value::Number(2.into())), ("value", Value::Text("hiv".into()))];
        assert!(run(Parameters::from_pairs(pairs)).contains("not a value"));
    }
}
