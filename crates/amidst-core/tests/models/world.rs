//! Small random tables with everything a privacy model may look at, and random parameters for any registered model.

use amidst_core::class::{Class, Population, Sizes, TableStats};
use amidst_core::internal::random;
use amidst_core::model::{Entry, Level, Needs, PrivacyModel};
use amidst_core::parameter::Rational;
use amidst_core::parameter::{Kind, Parameters, Value};
use amidst_core::requirement::SensitiveDomain;

/// A generator whose whole state is its seed, so that a failing case is one number.
pub struct Random(random::Random);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(random::Random::new(seed))
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.0.bits() % n as u64) as usize
    }

    pub fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// A class with its own storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owned {
    pub histogram: Vec<(u32, u64)>,
    pub tuples: Vec<u32>,
}

impl Owned {
    pub fn class(&self) -> Class<'_> {
        Class { tuples: &self.tuples, ..Class::of(&self.histogram) }
    }
}

/// A table, its population, and disjoint classes that make it up.
#[derive(Debug, Clone)]
pub struct World {
    pub domain: SensitiveDomain,
    pub table: TableStats,
    /// The table's own histogram of each tuple.
    pub tuples: Vec<Vec<(u32, u64)>>,
    pub classes: Vec<Owned>,
}

const LABELS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// Counts as populations have them.
fn wide(histogram: &[(u32, u64)]) -> Vec<(u32, u128)> {
    histogram.iter().map(|&(c, n)| (c, n.into())).collect()
}

fn narrow(histogram: &[(u32, u128)]) -> Vec<(u32, u64)> {
    histogram.iter().map(|&(c, n)| (c, n as u64)).collect()
}

fn sum(histograms: &[&Vec<(u32, u64)>]) -> Vec<(u32, u64)> {
    let mut counts = [0; LABELS.len()];
    histograms.iter().flat_map(|h| h.iter()).for_each(|&(c, n)| counts[c as usize] += n);
    (0u32..).zip(counts).filter(|c| c.1 > 0).collect()
}

fn total(histogram: &[(u32, u64)]) -> u64 {
    histogram.iter().map(|c| c.1).sum()
}

impl World {
    /// A table of few values and tuples, split into at least two classes.
    pub fn random(random: &mut Random) -> World {
        let values = 2 + random.below(LABELS.len() - 1);
        let most = [2, 4, 13][random.below(3)];
        let mut histogram = |least: u64| -> Vec<(u32, u64)> {
            (0..values as u32).map(|c| (c, least.max(random.below(most) as u64))).filter(|c| c.1 > 0).collect()
        };
        let mut tuples: Vec<Vec<(u32, u64)>> = (0..6).map(|_| histogram(0)).filter(|h| !h.is_empty()).collect();
        while tuples.len() < 2 {
            tuples.push(histogram(1));
        }
        // The population has the table's people, others like them, and tuples of its own.
        let more: Vec<Vec<(u32, u64)>> = (0..tuples.len() + 2).map(|_| histogram(0)).collect();
        let nobody = Vec::new();
        let people: Vec<Vec<(u32, u64)>> =
            more.iter().enumerate().map(|(i, m)| sum(&[m, tuples.get(i).unwrap_or(&nobody)])).collect();
        let own = tuples.len();
        tuples.resize(people.len(), Vec::new());

        let parts = 2 + random.below(own - 1);
        let mut members = vec![Vec::new(); parts];
        for t in 0..people.len() {
            // Each class has a tuple of the table; the rest falls anywhere.
            let part = if t < parts { t } else { random.below(parts) };
            members[part].push(t as u32);
        }
        let classes = members
            .into_iter()
            .map(|m| Owned { histogram: sum(&m.iter().map(|&t| &tuples[t as usize]).collect::<Vec<_>>()), tuples: m })
            .collect();
        let histogram = sum(&tuples.iter().collect::<Vec<_>>());
        // Counts of people need not be whole.
        let scale = 1 + random.below(3) as u128;
        let population = Population {
            totals: people.iter().map(|h| u128::from(total(h)) * scale + scale / 2).collect(),
            histograms: people.iter().map(|h| wide(h)).collect(),
            scale,
        };
        World {
            domain: domain(random, values),
            table: TableStats {
                size: total(&histogram),
                histogram,
                population: Some(population.into()),
                tuple_sizes: tuples.iter().map(|h| total(h)).collect(),
            },
            tuples,
            classes,
        }
    }

    /// The class made of the first two.
    pub fn merged(&self) -> Owned {
        let [a, b] = [&self.classes[0], &self.classes[1]];
        let mut tuples = [a.tuples.clone(), b.tuples.clone()].concat();
        tuples.sort_unstable();
        Owned { histogram: sum(&[&a.histogram, &b.histogram]), tuples }
    }

    /// The same with every count `factor` times as large.
    pub fn times(&self, factor: u64) -> World {
        let scale = |h: &Vec<(u32, u64)>| -> Vec<(u32, u64)> { h.iter().map(|&(c, n)| (c, n * factor)).collect() };
        self.map(factor, scale, self.domain.clone())
    }

    /// The same with value codes given anew: code `c` becomes `to[c]`.
    pub fn recoded(&self, to: &[u32]) -> World {
        let mut from = vec![0; to.len()];
        to.iter().enumerate().for_each(|(c, &t)| from[t as usize] = c as u32);
        let mut domain = self.domain.clone();
        domain.dictionary = from.iter().map(|&c| self.domain.dictionary.value(c)).collect();
        domain.levels =
            domain.levels.map(|l| l.iter().map(|l| from.iter().map(|&c| l[c as usize]).collect()).collect());
        let recode = |h: &Vec<(u32, u64)>| {
            let mut h: Vec<(u32, u64)> = h.iter().map(|&(c, n)| (to[c as usize], n)).collect();
            h.sort_unstable();
            h
        };
        self.map(1, recode, domain)
    }

    fn map(&self, factor: u64, f: impl Fn(&Vec<(u32, u64)>) -> Vec<(u32, u64)>, domain: SensitiveDomain) -> World {
        let population = self.table.population.as_ref().unwrap();
        let population = Population {
            totals: population.totals.iter().map(|n| n * u128::from(factor)).collect(),
            histograms: population.histograms.iter().map(|h| wide(&f(&narrow(h)))).collect(),
            ..**population
        };
        World {
            domain,
            table: TableStats {
                size: self.table.size * factor,
                histogram: f(&self.table.histogram),
                population: Some(population.into()),
                tuple_sizes: self.table.tuple_sizes.iter().map(|n| n * factor).collect(),
            },
            tuples: self.tuples.iter().map(&f).collect(),
            classes: self
                .classes
                .iter()
                .map(|c| Owned { histogram: f(&c.histogram), tuples: c.tuples.clone() })
                .collect(),
        }
    }
}

/// A column that has everything a model could ask for: an order, a hierarchy, categories.
fn domain(random: &mut Random, values: usize) -> SensitiveDomain {
    let labels = &LABELS[..values];
    let below: Vec<u32> = (0..values as u32).collect();
    let groups: Vec<u32> = below.iter().map(|c| c / 2).collect();
    let halves: Vec<u32> = groups.iter().map(|g| g / 2).collect();
    let mut categories = vec![Vec::new(); 2 + random.below(2)];
    labels.iter().for_each(|v| categories[random.below(100) % 2].push(v.to_string()));
    SensitiveDomain {
        name: "disease".into(),
        dictionary: labels.iter().copied().collect(),
        ordered: true,
        levels: Some(vec![below, groups, halves, vec![0; values]]),
        categories,
        ..SensitiveDomain::default()
    }
}

const NUMBERS: [&str; 16] =
    ["0", "0.1", "1/3", "0.25", "0.5", "2/3", "0.8", "1", "1.5", "2", "2.5", "3", "4", "7", "20", "1/1000"];

fn draw(random: &mut Random, kind: Kind, domain: &SensitiveDomain) -> Value {
    let text = |t: &str| Value::Text(t.to_string());
    let labels: Vec<&str> = domain.dictionary.iter().collect();
    let number = |random: &mut Random| Value::Number(random.pick(&NUMBERS).parse().unwrap());
    match kind {
        Kind::Count => Value::Number((1 + random.below(5) as u64).into()),
        Kind::Counts => Value::List((0..2).map(|_| Value::Number((1 + random.below(5) as u64).into())).collect()),
        Kind::Number => number(random),
        Kind::Choice(words) => text(random.pick(words)),
        Kind::Flag => Value::Flag(random.chance(2)),
        Kind::Value => text(if random.chance(9) { "unheard of" } else { random.pick(&labels) }),
        Kind::Values => {
            let mut values: Vec<Value> = labels.iter().filter(|_| random.chance(3)).map(|v| text(v)).collect();
            if random.chance(6) {
                values.push(text("unheard of"));
            }
            Value::List(values)
        }
        Kind::Bounds => {
            let bounded: Vec<&&str> = labels.iter().filter(|_| random.chance(2)).collect();
            Value::Table(bounded.iter().map(|v| (v.to_string(), number(random))).collect())
        }
        Kind::Categories => {
            let mut categories = vec![Vec::new(); 3];
            labels.iter().for_each(|v| categories[random.below(3)].push(text(v)));
            Value::List(categories.into_iter().map(Value::List).collect())
        }
        Kind::Weights => match random.below(3) {
            0 => text("uniform"),
            1 => Value::Table(vec![("sensitivity".into(), Value::Number((1 + random.below(3) as u64).into()))]),
            _ => Value::List((0..2 + random.below(2)).map(|_| number(random)).collect()),
        },
        Kind::Population => text("population.csv"),
    }
}

/// Parameters that the model accepts, and the model.
pub fn instance(entry: &Entry, random: &mut Random, domain: &SensitiveDomain) -> (Parameters, Box<dyn PrivacyModel>) {
    for _ in 0..10_000 {
        let mut parameters = Parameters::default();
        for parameter in entry.parameters {
            if parameter.required || random.chance(2) {
                parameters.set(parameter.name, draw(random, parameter.kind, domain));
            }
        }
        if let Ok(model) = (entry.build)(&parameters, domain) {
            return (parameters, model);
        }
    }
    panic!("{}: no parameters of the declared kinds are accepted", entry.id);
}

/// The model with one parameter replaced; `None` when the value is outside of what it accepts.
pub fn replaced(
    entry: &Entry,
    parameters: &Parameters,
    name: &str,
    value: Rational,
    domain: &SensitiveDomain,
) -> Option<Box<dyn PrivacyModel>> {
    let mut parameters = parameters.clone();
    parameters.set(name, Value::Number(value));
    (entry.build)(&parameters, domain).ok()
}

/// What a model judges: one class, or the sizes of all classes for a model of the whole release.
#[derive(Debug)]
pub struct Subject<'a> {
    pub class: Class<'a>,
    pub table: &'a TableStats,
    pub sizes: Sizes,
}

impl<'a> Subject<'a> {
    /// The class `of`, in a release made of `classes`.
    pub fn new(of: &'a Owned, classes: &[&Owned], table: &'a TableStats) -> Self {
        Subject { class: of.class(), table, sizes: Sizes::collect(classes.iter().map(|c| total(&c.histogram))) }
    }

    pub fn holds(&self, model: &dyn PrivacyModel) -> bool {
        if model.needs() == Needs::Release {
            model.holds_release(&self.sizes)
        } else {
            model.holds(&self.class, self.table)
        }
    }

    pub fn measure(&self, model: &dyn PrivacyModel) -> Level {
        if model.needs() == Needs::Release {
            model.measure_release(&self.sizes).unwrap()
        } else {
            model.measure(&self.class, self.table)
        }
    }
}
