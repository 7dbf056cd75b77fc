//! The minimality attack.
//!
//! **Assumes** that the adversary knows the original quasi tuples of everyone in each class (from an external table),
//! knows the requirement (k, and that no value may exceed 1/l of a class), and knows that the release is minimal: a
//! class would have been split by its original tuples had all parts satisfied the requirement. So some part fails, and
//! of all ways to deal the class's sensitive values to its tuples only those remain in which one does.
//!
//! **Succeeds** where the *credibility* of linking a person to a value, the share of the remaining worlds in which the
//! person has it, exceeds `threshold` (1/l, what the requirement promised). With x_i of the m_i persons of part i having
//! the value, Π C(m_i, x_i) worlds agree; all are equally likely.
//!
//! Simplified from the paper: one value is considered at a time, as if the requirement had failed for its sake. A class
//! that k alone keeps together (a part smaller than k) teaches nothing. For a requirement that is monotone, "split by
//! its original tuples" is implied by any minimality, so local and full-domain releases are both covered: `scope` is
//! `class` when each class is minimal by itself (local recoding), `table` when only the table is (full-domain): then some
//! class fails, and nobody knows which.

use std::collections::BTreeMap;

use super::view::worst;
use super::{Attack, AttackError, Entry, Extra, Findings, Knowledge, Target, share_or};
use crate::exact::Rational;
use crate::parameter::{Kind, Parameter, ParameterError, Parameters};

pub(super) const ENTRY: Entry = Entry {
    id: "minimality",
    title: "minimality attack",
    assumes: "the original quasi tuples of each class, the requirement, and that the release generalizes no more than it \
              had to",
    definition: "among the worlds in which the class could not be split, a value is likelier than the requirement allows",
    citation: "Wong, Fu, Wang & Pei, \"Minimality attack in privacy preserving data publishing\", VLDB 2007",
    needs: Knowledge::Original,
    parameters: &[
        Parameter::required("l", Kind::Count, "the requirement: no value may exceed 1/l of a class"),
        Parameter::optional("k", Kind::Count, "the requirement: the smallest class allowed; 1 when absent"),
        Parameter::optional(
            "value",
            Kind::Value,
            "the only value that the requirement protects; each in turn when absent",
        ),
        Parameter::optional("scope", Kind::Choice(SCOPES), "what is minimal: each class, or only the table"),
        Parameter::optional("threshold", Kind::Number, "the credibility that counts as a success; 1/l when absent"),
        Parameter::optional("limit", Kind::Count, "the largest class whose worlds are counted; 1000 when absent"),
    ],
    attack: &Minimality,
};

const SCOPES: &[&str] = &["class", "table"];

/// Counting the worlds of a class of n persons takes up to n² steps for each size of part.
const LIMIT: u64 = 1000;

#[derive(Debug)]
struct Minimality;

/// What [`count`] counts.
type Count = (f64, Vec<(u64, u64, f64)>);

/// What the worlds of one class say about one value.
#[derive(Debug, Clone)]
struct Worlds {
    class: usize,
    /// The share of the value in the class.
    share: f64,
    /// The probability that some part fails, no minimality assumed.
    failing: f64,
    /// For each size of part: (size, persons in parts of that size, probability that a person of such a part has the
    /// value and some part fails).
    parts: Vec<(u64, u64, f64)>,
}

impl Attack for Minimality {
    fn run(&self, target: &Target<'_>, extra: &Extra<'_>, parameters: &Parameters) -> Result<Findings, AttackError> {
        let l = parameters.count("l")?;
        let k = if parameters.get("k").is_some() { parameters.count("k")? } else { 1 };
        let limit = if parameters.get("limit").is_some() { parameters.count("limit")? } else { LIMIT };
        let threshold = share_or(parameters, "threshold", Rational::ratio(1, l))?.to_f64();
        let whole_table = parameters.choice("scope", SCOPES)? == "table";
        let only = match parameters.get("value") {
            None => None,
            Some(_) => {
                let name = parameters.value("value")?;
                let code = target.domain().and_then(|d| d.dictionary.code(&name));
                Some(
                    code.ok_or_else(|| ParameterError::new("value", "`value` is not a value of the sensitive column"))?,
                )
            }
        };
        let Some(original) = extra.original else { return Ok(Findings::default()) };

        let (mut too_large, mut kept_by_k) = (0u64, 0u64);
        let mut by_value: BTreeMap<u32, Vec<Worlds>> = BTreeMap::new();
        let mut cache: BTreeMap<(Vec<u64>, u64), Count> = BTreeMap::new();
        for class in 0..target.published.classes.len() {
            let (size, histogram) = target.class(class);
            let mut sizes: Vec<u64> = original.class(class).iter().map(|t| t.1).filter(|&n| n > 0).collect();
            sizes.sort_unstable();
            if sizes.len() < 2 || sizes.iter().sum::<u64>() != size {
                // One tuple cannot be split. Persons with several rows are beyond this count.
                continue;
            }
            if sizes[0] < k {
                kept_by_k += 1;
                continue;
            }
            if size > limit {
                too_large += 1;
                continue;
            }
            for &(value, n) in histogram.iter().filter(|c| only.is_none_or(|o| o == c.0)) {
                let key = (sizes.clone(), n);
                let (failing, parts) = cache.entry(key).or_insert_with_key(|(sizes, n)| count(sizes, *n, l)).clone();
                let share = n as f64 / size as f64;
                by_value.entry(value).or_default().push(Worlds { class, share, failing, parts });
            }
        }
        let mut hits: BTreeMap<usize, (f64, u64)> = BTreeMap::new();
        let (mut largest, mut gain) = (0.0f64, 0.0f64);
        for worlds in by_value.values() {
            // ln of the probability that no class fails; its complement keeps tiny probabilities.
            let none: f64 = worlds.iter().map(|w| (-w.failing).ln_1p()).sum();
            for w in worlds {
                let others = if whole_table && w.failing < 1.0 { -(none - (-w.failing).ln_1p()).exp_m1() } else { 0.0 };
                let some = if whole_table { -none.exp_m1() } else { w.failing };
                let mut persons = 0;
                let mut hardest = 0.0f64;
                for &(_, here, linked) in &w.parts {
                    if some <= 0.0 {
                        // No world explains the release: this value is not why the class was kept whole.
                        continue;
                    }
                    let credibility = ((linked + (w.share - linked) * others) / some).clamp(0.0, 1.0);
                    largest = largest.max(credibility);
                    gain = gain.max(credibility - w.share);
                    if credibility > threshold + 1e-12 {
                        persons += here;
                        hardest = hardest.max(credibility);
                    }
                }
                if persons > 0 {
                    let hit = hits.entry(w.class).or_insert((0.0, 0));
                    *hit = (hit.0.max(hardest), hit.1.max(persons));
                }
            }
        }
        let persons: u64 = hits.values().map(|h| h.1).sum();
        let figures = [
            ("largest_credibility", largest),
            ("largest_gain", gain),
            ("classes_kept_by_k", kept_by_k as f64),
            ("classes_too_large", too_large as f64),
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

/// Counts the worlds of a class with parts of these sizes, ascending, `n` of whose persons have the value: the
/// probability that some part has more than 1/l of it, and for each size (size, persons, probability that a person of a
/// part of that size has the value and some part fails).
///
/// Parts are drawn as independent binomials; given that they add up to n, they are dealt as in the worlds. All terms are
/// positive, so nothing cancels.
fn count(sizes: &[u64], n: u64, l: u64) -> Count {
    let total: u64 = sizes.iter().sum();
    let n = n as usize;
    let p = n as f64 / total as f64;
    let binomial = Binomial::new(total as usize, p);
    let groups: Vec<(usize, usize)> = sizes.chunk_by(|a, b| a == b).map(|g| (g[0] as usize, g.len())).collect();
    let one: Vec<Drawn> = groups.iter().map(|&(m, _)| Drawn::part(&binomial, m, n, l)).collect();
    let power = |part: &Drawn, times: usize| (0..times).fold(Drawn::nothing(), |drawn, _| drawn.and(part, n));
    // What all groups before and after each group draw together.
    let mut after = vec![Drawn::nothing()];
    for (part, &(_, times)) in one.iter().zip(&groups).rev() {
        after.push(power(part, times).and(&after[after.len() - 1], n));
    }
    after.reverse();
    let dealt = binomial.at(total as usize, n);
    let failing = (after[0].failing.get(n).copied().unwrap_or(0.0) / dealt).min(1.0);
    let mut before = Drawn::nothing();
    let mut parts = Vec::with_capacity(groups.len());
    for ((part, &(m, times)), after) in one.iter().zip(&groups).zip(&after[1..]) {
        let others = before.and(&power(part, times - 1), n).and(after, n);
        let mut linked = 0.0;
        for x in 1..=m.min(n) {
            let rest = n - x;
            let get = |list: &[f64], at: usize| list.get(at).copied().unwrap_or(0.0);
            let any = get(&others.sound, rest) + get(&others.failing, rest);
            let ways = get(&part.failing, x) * any + get(&part.sound, x) * get(&others.failing, rest);
            linked += x as f64 / m as f64 * ways;
        }
        parts.push((m as u64, (m * times) as u64, linked / dealt));
        before = before.and(&power(part, times), n);
    }
    (failing, parts)
}

/// The probabilities of drawing 0, 1, 2, … persons with the value, apart by whether some part fails.
#[derive(Debug, Clone)]
struct Drawn {
    sound: Vec<f64>,
    failing: Vec<f64>,
}

impl Drawn {
    fn nothing() -> Self {
        Drawn { sound: vec![1.0], failing: vec![] }
    }

    fn part(binomial: &Binomial, m: usize, n: usize, l: u64) -> Self {
        let mut drawn = Drawn { sound: Vec::new(), failing: Vec::new() };
        for x in 0..=m.min(n) {
            let probability = binomial.at(m, x);
            let fails = x as u64 * l > m as u64;
            drawn.sound.push(if fails { 0.0 } else { probability });
            drawn.failing.push(if fails { probability } else { 0.0 });
        }
        drawn
    }

    /// Both together, up to `n` persons.
    fn and(&self, other: &Drawn, n: usize) -> Drawn {
        let longest = |a: &Drawn| a.sound.len().max(a.failing.len());
        let mut both = Drawn { sound: vec![0.0; (longest(self) + longest(other) - 1).min(n + 1)], failing: Vec::new() };
        both.failing.resize(both.sound.len(), 0.0);
        convolve(&self.sound, &other.sound, &mut both.sound);
        convolve(&self.failing, &other.sound, &mut both.failing);
        convolve(&self.sound, &other.failing, &mut both.failing);
        convolve(&self.failing, &other.failing, &mut both.failing);
        both
    }
}

fn convolve(a: &[f64], b: &[f64], out: &mut [f64]) {
    for (i, &x) in a.iter().enumerate().filter(|(_, x)| **x > 0.0) {
        for (o, &y) in out.iter_mut().skip(i).zip(b) {
            *o += x * y;
        }
    }
}

/// Binomial probabilities with one probability of success.
struct Binomial {
    /// ln 0!, ln 1!, …
    ln_factorial: Vec<f64>,
    p: f64,
}

impl Binomial {
    fn new(largest: usize, p: f64) -> Self {
        let mut ln_factorial = vec![0.0; largest + 1];
        for i in 1..=largest {
            ln_factorial[i] = ln_factorial[i - 1] + (i as f64).ln();
        }
        Binomial { ln_factorial, p }
    }

    fn at(&self, m: usize, x: usize) -> f64 {
        if self.p >= 1.0 {
            return if x == m { 1.0 } else { 0.0 };
        }
        let f = &self.ln_factorial;
        let (x_, rest) = (x as f64, (m - x) as f64);
        (f[m] - f[x] - f[m - x] + x_ * self.p.ln() + rest * (-self.p).ln_1p()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tuples;
    use super::super::view::fixture::{Fixture, figure};
    use super::*;
    use crate::parameter::Value;
    use proptest::prelude::*;

    fn run(fixture: &Fixture, original: &Tuples, pairs: &[(&str, &str)]) -> Findings {
        let mut parameters = Parameters::from_pairs([("value", Value::Text("hiv".into()))]);
        pairs.iter().for_each(|(key, value)| parameters.set(key, Value::Text((*value).into())));
        let extra = Extra { original: Some(original), ..Extra::default() };
        ENTRY.run(&fixture.target(), &extra, &parameters).unwrap()
    }

    #[test]
    fn both_of_q1_are_positive() {
        // The kind of example that the paper opens with: two persons q1, five persons q2, two HIV among them, 2-diversity. One HIV in each part, or
        // both among the five, would have been published as it was; so both are q1's.
        let mut rows = vec![("Q", "hiv"), ("Q", "hiv")];
        rows.extend([("Q", "flu"); 5]);
        let fixture = Fixture::new(&rows);
        let original = Tuples::collect(1, vec![(0, 0, 2), (0, 1, 5)]);
        let findings = run(&fixture, &original, &[("l", "2")]);
        assert_eq!((findings.classes, findings.persons), (1, 2));
        assert!((figure(&findings, "largest_credibility") - 1.0).abs() < 1e-12);
        assert!((figure(&findings, "largest_gain") - 5.0 / 7.0).abs() < 1e-12);
        // When k alone forbade the split, nothing is learned.
        let findings = run(&fixture, &original, &[("l", "2"), ("k", "3")]);
        assert_eq!((findings.classes, figure(&findings, "classes_kept_by_k")), (0, 1.0));
        let findings = run(&fixture, &original, &[("l", "2"), ("limit", "6")]);
        assert_eq!((findings.classes, figure(&findings, "classes_too_large")), (0, 1.0));
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
        let findings = run(&fixture, &original, &[("l", "2"), ("scope", "table"), ("threshold", "0.5")]);
        // A class fails with probability 1/21. Given that one of two does: a person of q1 has hiv in all failing worlds of
        // the class, and in 10 of the 20 × 2 places of its sound ones.
        let (fails, sound) = (1.0 / 21.0, 10.0 / 42.0);
        let expected = (fails + sound * fails) / (1.0 - (1.0 - fails) * (1.0 - fails));
        assert!((figure(&findings, "largest_credibility") - expected).abs() < 1e-12);
        assert_eq!((findings.classes, findings.persons), (2, 4));
    }

    #[test]
    fn the_value_and_l_are_checked() {
        let fixture = Fixture::new(&[("a", "flu")]);
        let original = Tuples::default();
        let extra = Extra { original: Some(&original), ..Extra::default() };
        let run = |parameters| ENTRY.run(&fixture.target(), &extra, &parameters).unwrap_err().to_string();
        assert!(run(Parameters::default()).contains("`l` is missing"));
        let pairs = [("l", Value::Number(2.into())), ("value", Value::Text("hiv".into()))];
        assert!(run(Parameters::from_pairs(pairs)).contains("not a value"));
    }

    proptest! {
        #[test]
        fn credibilities_agree_with_a_walk_over_all_worlds(
            sizes in prop::collection::vec(1u64..5, 2..4),
            some in 1u64..8,
            l in 1u64..4,
        ) {
            let mut sizes = sizes;
            sizes.sort_unstable();
            let total: u64 = sizes.iter().sum();
            let n = some.min(total);
            // Person i has the value in a world when bit i is set.
            let part_of: Vec<usize> = sizes.iter().enumerate().flat_map(|(p, &m)| vec![p; m as usize]).collect();
            let (mut worlds, mut failing) = (0u64, 0u64);
            let mut linked = vec![0u64; sizes.len()];
            for world in (0u32..1 << total).filter(|w| u64::from(w.count_ones()) == n) {
                let mut x = vec![0u64; sizes.len()];
                part_of.iter().enumerate().filter(|(i, _)| world >> i & 1 == 1).for_each(|(_, &p)| x[p] += 1);
                worlds += 1;
                if x.iter().zip(&sizes).any(|(&x, &m)| x * l > m) {
                    failing += 1;
                    linked.iter_mut().zip(&x).for_each(|(sum, x)| *sum += x);
                }
            }
            let (found, parts) = count(&sizes, n, l);
            prop_assert!((found - failing as f64 / worlds as f64).abs() < 1e-9);
            for (part, &m) in sizes.iter().enumerate() {
                let expected = linked[part] as f64 / m as f64 / worlds as f64;
                let found = parts.iter().find(|p| p.0 == m).unwrap().2;
                prop_assert!((found - expected).abs() < 1e-9);
            }
        }
    }
}
