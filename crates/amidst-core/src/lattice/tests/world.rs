//! Small random tables, hierarchies and policies.

use std::sync::Arc;

use crate::class::Population;
use crate::control::Control;
use crate::exact::Rational;
use crate::frequency::FrequencySet;
use crate::hierarchy::{Generalization, Hierarchy, Level};
use crate::metric::METRICS;
use crate::model;
use crate::parameter::{Parameters, Value};
use crate::requirement::Requirement;
use crate::search::{MaxSuppression, Search, Suppressed};
use crate::sensitive::SensitiveDomain;
use crate::table::{Column, Table};

/// A stream of numbers that depends on a seed alone.
pub struct Dice(pub u64);

impl Dice {
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    /// One of `choices`.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// A table, counted, with what its columns can become.
pub struct World {
    pub set: FrequencySet,
    pub generalizations: Vec<Generalization>,
    pub domains: Vec<SensitiveDomain>,
    pub population: Arc<Population>,
}

/// A random hierarchy over the leaves 0…count.
fn hierarchy(dice: &mut Dice, count: usize) -> Hierarchy {
    let leaves: Vec<String> = (0..count).map(|v| format!("v{v}")).collect();
    let mut levels: Vec<Level> = Vec::new();
    let mut of_leaf: Vec<u32> = (0..count as u32).collect();
    let mut groups = count;
    for _ in 0..dice.below(3) {
        let fewer = 1 + dice.below(groups);
        let up: Vec<u32> = (0..groups).map(|g| if g < fewer { g as u32 } else { dice.below(fewer) as u32 }).collect();
        of_leaf.iter_mut().for_each(|g| *g = up[*g as usize]);
        groups = fewer;
        let labels = (0..groups).map(|g| format!("g{}-{g}", levels.len())).collect();
        levels.push(Level { labels, of_leaf: of_leaf.clone() });
    }
    let mut hierarchy = Hierarchy { leaves: leaves.iter().map(String::as_str).collect(), levels };
    hierarchy.close();
    hierarchy
}

impl World {
    /// A random world; `persons` gives some persons several rows, `strangers` adds tuples that only a population has.
    pub fn new(dice: &mut Dice, persons: bool, strangers: bool) -> World {
        let rows = 1 + dice.below(28);
        let width = 1 + dice.below(3);
        let mut columns = Vec::new();
        let mut generalizations = Vec::new();
        for q in 0..width {
            let count = 1 + dice.below(5);
            let values: Vec<String> = (0..rows).map(|_| format!("v{}", dice.below(count))).collect();
            let column = Column::from_values(&format!("q{q}"), values.iter().map(String::as_str));
            let hierarchy = hierarchy(dice, count);
            generalizations.push(Generalization::bind(&column, Some(&hierarchy)).unwrap());
            columns.push(column);
        }
        let mut domains = Vec::new();
        for (s, count) in [(0, 4), (1, 2)] {
            let values: Vec<String> = (0..rows).map(|_| format!("s{}", dice.below(count).min(dice.below(6)))).collect();
            let column = Column::from_values(&format!("s{s}"), values.iter().map(String::as_str));
            let half = column.dictionary.len() / 2;
            let all: Vec<String> = column.dictionary.iter().map(str::to_string).collect();
            domains.push(SensitiveDomain {
                name: column.name.clone(),
                dictionary: column.dictionary.clone(),
                ordered: true,
                levels: Some(vec![(0..all.len() as u32).collect(), vec![0; all.len()]]),
                categories: [&all[..half], &all[half..]].iter().map(|c| c.to_vec()).collect(),
                ..SensitiveDomain::default()
            });
            columns.push(column);
        }
        let key: Vec<String> = (0..rows).map(|r| format!("p{}", if persons { r * 2 / 3 } else { r })).collect();
        columns.push(Column::from_values("key", key.iter().map(String::as_str)));
        let table = Table { columns, rows };
        let quasi: Vec<usize> = (0..width).collect();
        let (mut set, _) = FrequencySet::count(&table, &quasi, &[width, width + 1], Some(width + 2));
        if strangers {
            for _ in 0..dice.below(4) {
                let tuple: Vec<u32> = set.domains.iter().map(|&d| dice.below(d) as u32).collect();
                if !(0..set.len()).any(|t| set.tuple(t) == tuple) {
                    set.tuples.extend(tuple);
                    set.groups.offsets.push(set.groups.entries.len());
                }
            }
        }
        let mut population = Population::default();
        for tuple in 0..set.len() {
            let codes = set.sensitive_domains[0] as u32;
            let histogram: Vec<(u32, u128)> = (0..codes).map(|c| (c, 1 + dice.below(6) as u128)).collect();
            population.totals.push(histogram.iter().map(|h| h.1).sum());
            population.histograms.push(histogram);
            let own = set.groups.get(tuple).iter().map(|e| u128::from(e.rows)).sum::<u128>();
            population.totals[tuple] = population.totals[tuple].max(own);
        }
        World { set, generalizations, domains, population: Arc::new(population) }
    }

    /// A search by a random metric, with one of `shares` of the rows that may be suppressed, in either way.
    pub fn search<'a>(
        &'a self,
        requirements: &'a [Requirement],
        options: &'a Parameters,
        shares: &[&str],
        dice: &mut Dice,
    ) -> Search<'a> {
        Search {
            set: &self.set,
            generalizations: &self.generalizations,
            requirements,
            metric: &METRICS[dice.below(METRICS.len())],
            max_suppression: MaxSuppression::Share(dice.pick(shares).parse().unwrap()),
            suppressed: dice.pick(&[Suppressed::Drop, Suppressed::Mask]),
            k: 2,
            options,
            entry_of_row: None,
            seed: 1,
            control: Control::default(),
        }
    }

    /// A requirement of the model `id` with random parameters, on one or (where the model allows it) both columns.
    pub fn requirement(&self, dice: &mut Dice, id: &str) -> Requirement {
        let entry = model::find(id).unwrap();
        let mut parameters = Parameters::default();
        let mut set = |name: &str, choices: &[&str]| {
            let number: Rational = dice.pick(choices).parse().unwrap();
            parameters.set(name, Value::Number(number));
        };
        match id {
            "k-anonymity" | "k-map" => set("k", &["1", "2", "3", "5"]),
            "distinct-l-diversity" => set("l", &["1", "2", "3"]),
            "entropy-l-diversity" => set("l", &["1", "1.5", "2", "2.5"]),
            "recursive-c-l-diversity" | "pd-recursive-c-l-diversity" => {
                set("c", &["1", "2", "3"]);
                set("l", &["1", "2", "3"]);
            }
            "npd-recursive-c1-c2-l-diversity" => {
                set("c1", &["2", "3"]);
                set("c2", &["0", "10"]);
                set("l", &["1", "2"]);
            }
            "p-sensitive-k-anonymity" => {
                set("p", &["1", "2"]);
                set("k", &["2", "4"]);
            }
            "simple-alpha-k-anonymity" | "general-alpha-k-anonymity" => {
                set("alpha", &["1/3", "0.5", "0.75"]);
                set("k", &["1", "3"]);
            }
            "complete-alpha-k-anonymity" => set("k", &["1", "3"]),
            "distinct-l-alpha-diversity" | "entropy-l-alpha-diversity" => {
                set("l", &["1", "2"]);
                set("alpha", &["0", "1", "2"]);
            }
            "recursive-c-l-alpha-diversity" => {
                set("c", &["2", "3"]);
                set("l", &["1", "2"]);
                set("alpha", &["0", "1"]);
            }
            "t-closeness" => set("t", &["0.1", "0.25", "0.5"]),
            "bayes-optimal" => {
                set("rho1", &["0.2", "0.3"]);
                set("rho2", &["0.5", "0.6"]);
            }
            "belief-difference" => set("max", &["0.2", "0.4"]),
            "m-invariance" => set("m", &["1", "2"]),
            "delta-disclosure" => set("delta", &["0.5", "1", "2"]),
            "beta-likeness" => set("beta", &["0.5", "1", "2"]),
            "delta-presence" => {
                set("min", &["0", "0.1"]);
                set("max", &["0.5", "0.9"]);
            }
            "average-risk" | "sample-uniqueness" | "max-risk" => set("threshold", &["0.2", "0.34", "0.5"]),
            _ => panic!("no parameters for {id}"),
        }
        let first = || Value::Text(self.domains[0].dictionary.value(0).to_string());
        match id {
            "simple-alpha-k-anonymity" => parameters.set("value", first()),
            "complete-alpha-k-anonymity" => {
                let bound = Value::Number("0.5".parse().unwrap());
                let name = self.domains[0].dictionary.value(0).to_string();
                parameters.set("alpha", Value::Table(vec![(name, bound)]));
            }
            "pd-recursive-c-l-diversity" | "npd-recursive-c1-c2-l-diversity" => {
                parameters.set("dont_care", Value::List(vec![first()]));
            }
            _ => {}
        }
        let population = entry.parameters.iter().any(|p| p.name == "population");
        if population {
            parameters.set("population", Value::Text("population.csv".to_string()));
        }
        let on = match entry.sensitive {
            model::Sensitive::None => vec![],
            model::Sensitive::One => vec![0],
            model::Sensitive::OneOrMany => dice.pick(&[&[0][..], &[1], &[0, 1]]).to_vec(),
        };
        // Values of the first column are not those of the second.
        let on = if parameters.get("dont_care").is_some() { vec![0] } else { on };
        let requirement = Requirement::new(entry, parameters, on, &self.domains).unwrap();
        if population { requirement.with_population(self.population.clone()) } else { requirement }
    }
}
