//! Small random tables and policies on which every local algorithm is tested.

use crate::control::Control;
use crate::frequency::FrequencySet;
use crate::hierarchy::{Cell, Generalization, Generalize, Hierarchy, Level};
use crate::ids::EntryId;
use crate::local::class::{Cluster, Judge, World};
use crate::local::shape::Space;
use crate::metric::{self, Metric, Release, cell_loss};
use crate::parameter::{Parameters, Value};
use crate::random::Random;
use crate::recoding::Recoding;
use crate::requirement::{Evaluator, Requirement};
use crate::search::{Found, MaxSuppression, Search, SearchError, Suppressed};
use crate::sensitive::SensitiveDomain;
use crate::table::{Column, Table};
use crate::{algorithm, model};

/// Local algorithms bring their own cost; the tests need no other.
#[derive(Debug)]
struct NoMetric;

impl Metric for NoMetric {
    fn loss(&self, _release: &Release<'_>) -> Option<f64> {
        None
    }
}

static METRIC: metric::Entry = metric::Entry { id: "none", title: "", definition: "", citation: "", metric: &NoMetric };

/// A model and its parameters.
type Stated = (&'static str, &'static [(&'static str, &'static str)]);

/// A counted table with what its columns can become.
pub(crate) struct Fixture {
    pub set: FrequencySet,
    pub generalizations: Vec<Generalization>,
    pub domains: Vec<SensitiveDomain>,
    pub entry_of: Vec<EntryId>,
}

/// A hierarchy over the values of a column: leaf → label at each level, the top added.
pub(crate) fn hierarchy(column: &Column, labels: &[&dyn Fn(&str) -> String]) -> Hierarchy {
    let mut h = Hierarchy { leaves: column.dictionary.iter().collect(), levels: Vec::new() };
    for label in labels {
        let mut level = Level { labels: Vec::new(), of_leaf: Vec::new() };
        for leaf in h.leaves.iter() {
            let text = label(leaf);
            let at = level.labels.iter().position(|l| *l == text).unwrap_or_else(|| {
                level.labels.push(text);
                level.labels.len() - 1
            });
            level.of_leaf.push(at as u32);
        }
        h.levels.push(level);
    }
    h.close();
    h
}

impl Fixture {
    /// Random rows: an age in ranges, a town with a hierarchy, a trade in sets, an income in intervals; a disease and a
    /// faith; perhaps a key with people who have several rows.
    pub(crate) fn random(seed: u64, rows: usize, keyed: bool) -> Self {
        let mut random = Random::new(seed);
        let mut columns: Vec<Vec<String>> = vec![Vec::new(); 7];
        for row in 0..rows {
            columns[0].push((20 + random.below(30)).to_string());
            columns[1].push(format!("{}{}", ["a", "b", "c"][random.below(3)], random.below(3)));
            columns[2].push(["smith", "baker", "clerk", "nurse"][random.below(4)].to_string());
            columns[3].push((random.below(12) * 5).to_string());
            columns[4].push(["flu", "hiv", "cold", "gout", "ache"][random.below(7) % 5].to_string());
            columns[5].push(["x", "y", "z"][random.below(3)].to_string());
            columns[6].push(if keyed { random.below(rows * 2 / 3 + 1) } else { row }.to_string());
        }
        let names = ["age", "town", "trade", "income", "disease", "faith", "id"];
        let columns: Vec<Column> = (names.iter().zip(&columns))
            .map(|(name, values)| Column::from_values(name, values.iter().map(String::as_str)))
            .collect();
        let table = Table { columns, rows };
        let (set, entry_of) = FrequencySet::count(&table, &[0, 1, 2, 3], &[4, 5], keyed.then_some(6));
        let interval = |width: u64| move |v: &str| format!("from {}", v.parse::<u64>().unwrap_or(0) / width * width);
        let (ten, twenty) = (interval(10), interval(20));
        let hierarchies = [
            hierarchy(&table.columns[0], &[&ten, &twenty]),
            hierarchy(&table.columns[1], &[&|v| v[..1].to_string()]),
            hierarchy(&table.columns[2], &[&|v| if v == "clerk" { "office" } else { "hand" }.to_string()]),
            hierarchy(&table.columns[3], &[&ten, &twenty]),
        ];
        let ways = [Generalize::Ranges, Generalize::Hierarchy, Generalize::Sets, Generalize::Hierarchy];
        let generalizations = (0..4)
            .map(|c| {
                let mut g = Generalization::bind(&table.columns[c], Some(&hierarchies[c])).unwrap();
                g.generalize = ways[c];
                g.weight = [1.0, 2.0, 1.0, 0.5][c];
                g
            })
            .collect();
        let domains = [4, 5].map(|c| SensitiveDomain {
            name: table.columns[c].name.clone(),
            dictionary: table.columns[c].dictionary.clone(),
            ..SensitiveDomain::default()
        });
        Fixture { set, generalizations, domains: domains.to_vec(), entry_of }
    }

    /// A few rows of two or three columns with hierarchies of one or two levels, and a sensitive value.
    pub(crate) fn small(seed: u64, rows: usize, width: usize) -> Fixture {
        Fixture::few(seed, rows, width, false)
    }

    /// The same, perhaps with unknown cells, which are a value of their own at every level below the top.
    pub(crate) fn few(seed: u64, rows: usize, width: usize, unknown: bool) -> Fixture {
        let mut random = Random::new(seed);
        let mut columns: Vec<Vec<String>> = vec![Vec::new(); width + 1];
        for _ in 0..rows {
            for column in &mut columns[..width] {
                column.push(match unknown && random.below(5) == 0 {
                    true => "?".to_string(),
                    false => format!("{}{}", ["a", "b"][random.below(2)], random.below(2)),
                });
            }
            columns[width].push(["flu", "hiv", "cold"][random.below(3)].to_string());
        }
        let names = ["p", "q", "r", "disease"];
        let named = names[..width].iter().chain([&names[3]]);
        let columns: Vec<Column> = named
            .zip(&columns)
            .map(|(name, values)| Column::from_values(name, values.iter().map(String::as_str)))
            .collect();
        let table = Table { columns, rows };
        let quasi: Vec<usize> = (0..width).collect();
        let (set, entry_of) = FrequencySet::count(&table, &quasi, &[width], None);
        let first = |v: &str| v[..1].to_string();
        // At level 1 of the last column one value is the top already: a star must not be told from it.
        let ragged = |v: &str| if v.starts_with('a') { "*".to_string() } else { v.to_string() };
        let generalizations = (0..width)
            .map(|c| {
                let column = &table.columns[c];
                let levels: &[&dyn Fn(&str) -> String] = match c {
                    0 => &[&first],
                    1 if seed.is_multiple_of(2) => &[&ragged],
                    _ => &[],
                };
                let mut g = Generalization::bind(column, Some(&hierarchy(column, levels))).unwrap();
                g.weight = [1.0, 2.0, 0.5][(c + seed as usize) % 3];
                g
            })
            .collect();
        let disease = &table.columns[width];
        let domain = SensitiveDomain {
            name: disease.name.clone(),
            dictionary: disease.dictionary.clone(),
            ..SensitiveDomain::default()
        };
        Fixture { set, generalizations, domains: vec![domain], entry_of }
    }

    /// Policies that the random tables can satisfy, in so far as their models exist.
    pub(crate) fn policies(&self) -> Vec<Vec<Requirement>> {
        let stated: [&[Stated]; 7] = [
            &[("k-anonymity", &[("k", "3")])],
            &[("distinct-l-diversity", &[("l", "3")])],
            &[("entropy-l-diversity", &[("l", "2")]), ("k-anonymity", &[("k", "4")])],
            &[("recursive-c-l-diversity", &[("c", "3"), ("l", "2")])],
            &[("general-alpha-k-anonymity", &[("alpha", "1/2"), ("k", "2")])],
            &[("simple-alpha-k-anonymity", &[("alpha", "1/3"), ("k", "3"), ("value", "gout")])],
            &[("t-closeness", &[("t", "0.4"), ("distance", "equal")])],
        ];
        let policy = |models: &[Stated]| {
            models.iter().map(|(id, parameters)| self.requirement(id, parameters)).collect::<Option<Vec<_>>>()
        };
        let mut policies: Vec<Vec<Requirement>> = stated.iter().filter_map(|models| policy(models)).collect();
        // Several columns at once, by Definition 4.6.
        if let Some(entry) = model::find("distinct-l-diversity") {
            let parameters = Parameters::from_pairs([("l", Value::Number(2.into()))]);
            policies.extend(Requirement::new(entry, parameters, vec![0, 1], &self.domains).ok().map(|r| vec![r]));
        }
        policies
    }

    pub(crate) fn requirement(&self, id: &str, parameters: &[(&str, &str)]) -> Option<Requirement> {
        let entry = model::find(id)?;
        let mut stated = Parameters::default();
        parameters.iter().for_each(|(key, value)| stated.set(key, Value::Text(value.to_string())));
        let on = if entry.sensitive == model::Sensitive::None { vec![] } else { vec![0] };
        Some(Requirement::new(entry, stated, on, &self.domains).unwrap())
    }

    pub(crate) fn search<T>(
        &self,
        requirements: &[Requirement],
        options: &Parameters,
        run: impl FnOnce(&Search<'_>) -> T,
    ) -> T {
        let k = requirements.iter().filter_map(|r| r.parameters.count("k").ok()).max().unwrap_or(1);
        run(&Search {
            set: &self.set,
            generalizations: &self.generalizations,
            requirements,
            metric: &METRIC,
            max_suppression: MaxSuppression::Rows(0),
            suppressed: Suppressed::Drop,
            k,
            options,
            entry_of_row: None,
            seed: 7,
            control: Control::default(),
        })
    }

    pub(crate) fn find(
        &self,
        id: &str,
        requirements: &[Requirement],
        options: &Parameters,
    ) -> Result<Found, SearchError> {
        self.search(requirements, options, |search| algorithm::find(id).unwrap().algorithm.search(search))
    }

    /// Every node of the lattice.
    pub(crate) fn nodes(&self) -> Vec<Vec<usize>> {
        let mut nodes: Vec<Vec<usize>> = vec![Vec::new()];
        for g in &self.generalizations {
            nodes = nodes.iter().flat_map(|n| (0..=g.height()).map(|l| [&n[..], &[l]].concat())).collect();
        }
        nodes
    }

    /// The label of each cell of a tuple at a node, and what the cell loses; the columns whose bits are set in `stars`
    /// are at the top.
    pub(crate) fn starred(&self, node: &[usize], tuple: usize, stars: u64) -> impl Iterator<Item = (&str, f64)> {
        let columns = self.generalizations.iter().zip(self.set.tuple(tuple)).zip(node).enumerate();
        columns.map(move |(c, ((g, &code), &level))| {
            let level = if stars >> c & 1 == 1 { g.height() } else { level };
            let value = g.levels[level].of[code as usize];
            let label = g.levels[level].labels[value as usize].as_str();
            // A value that is called like the top says as little as the top.
            let top = label == g.levels[g.height()].labels[0];
            let (at, value) = if top { (g.height(), 0) } else { (level, value) };
            (label, cell_loss(g, &Cell::Node { level: at as u32, value }))
        })
    }

    /// What a recoding loses by the metric `id`.
    pub(crate) fn loss(&self, recoding: &Recoding, id: &str) -> f64 {
        let (groups, suppressed) = recoding.groups(&self.set);
        let (set, generalizations) = (&self.set, &self.generalizations[..]);
        let release = Release { set, generalizations, recoding, groups: &groups, suppressed, k: 1 };
        metric::find(id).unwrap().metric.loss(&release).unwrap()
    }

    /// Every row in exactly one class, every cell covers its rows, every class satisfies the policy.
    pub(crate) fn check(&self, recoding: &Recoding, requirements: &[Requirement]) {
        let mut rows = vec![0; self.set.len()];
        recoding.for_each_part(&self.set, |part| {
            let class = part.class.expect("nothing is left out");
            rows[part.tuple.index()] += part.entry.rows;
            let codes = self.set.tuple(part.tuple.index());
            let cells = &recoding.classes[class.index()];
            for ((g, &code), cell) in self.generalizations.iter().zip(codes).zip(cells) {
                assert!(g.covers(cell, code), "{cell:?} does not cover {code} of {}", g.name);
            }
        });
        let expected: Vec<u64> = self.set.groups.iter().map(crate::frequency::rows).collect();
        assert_eq!(rows, expected);
        let (groups, _) = recoding.groups(&self.set);
        assert_eq!(groups.entries.iter().map(|e| e.rows).sum::<u64>(), self.set.rows);
        assert!(groups.iter().all(|g| !g.is_empty()), "an empty class");
        let evaluator = Evaluator::new(&self.set, requirements);
        for (r, requirement) in requirements.iter().enumerate() {
            assert!(evaluator.judge(r, &groups).0, "{} fails", requirement.model.id);
        }
    }

    /// Finds clusters with and without an index, on random tables and policies: they must be the same.
    pub(crate) fn compare(clusters: impl Fn(&Search<'_>, &World<'_>, bool) -> Vec<Cluster>) {
        for seed in 0..4 {
            let fixture = Fixture::random(seed, 60 + 80 * seed as usize, seed == 2);
            for requirements in fixture.policies() {
                if !requirements.iter().all(|r| r.monotone(&fixture.set)) {
                    continue;
                }
                fixture.search(&requirements, &Parameters::default(), |search| {
                    let Ok(judge) = Judge::new(search) else { return };
                    let space = Space::new(search.generalizations);
                    let tuple_of = search.set.tuple_of_entry();
                    let world = World { set: search.set, tuple_of: &tuple_of, space: &space, judge: &judge };
                    let (indexed, exact) = (clusters(search, &world, false), clusters(search, &world, true));
                    assert!(indexed == exact, "{}", requirements[0].model.id);
                });
            }
        }
    }

    /// Runs an algorithm on random tables and policies, with and without repeated persons, and on one and two threads.
    pub(crate) fn trial(id: &str, options: &Parameters) {
        for seed in 0..6 {
            let fixture = Fixture::random(seed, 30 + 20 * seed as usize, seed % 3 == 2);
            for requirements in fixture.policies() {
                let again = |threads| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    pool.install(|| fixture.find(id, &requirements, options))
                };
                match (again(1), again(2)) {
                    (Ok(found), Ok(same)) => {
                        assert_eq!(format!("{:?}", found.recoding), format!("{:?}", same.recoding), "{id}");
                        fixture.check(&found.recoding, &requirements);
                    }
                    (Err(SearchError::Impossible(_) | SearchError::Unsupported(_)), Err(_)) => {
                        // Only where counting persons makes a policy unfit, or the whole table fails it.
                        let evaluator = Evaluator::new(&fixture.set, &requirements);
                        let whole = evaluator.holds_all(&fixture.set.groups.entries);
                        let monotone = requirements.iter().all(|r| r.monotone(&fixture.set));
                        assert!(!whole || !monotone, "{id} gave up on {}", requirements[0].model.id);
                    }
                    (a, b) => panic!("{id}: {a:?} {b:?}"),
                }
            }
        }
    }
}
