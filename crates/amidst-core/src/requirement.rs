//! Requirements: a privacy model with its parameters, on one or several sensitive columns, tested on classes.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::class::{Class, Headcount, Population, Sizes, TableStats};
use crate::frequency::{self, Entry, FrequencySet, Groups, histogram, histogram_into};
use crate::model::{self, Level, Needs, PrivacyModel};
use crate::parameter::{ParameterError, Parameters};
pub use crate::sensitive::SensitiveDomain;

/// One line of a policy: a model, its parameters, and the columns it protects.
#[derive(Debug)]
pub struct Requirement {
    /// The model.
    pub model: &'static model::Entry,
    /// Its parameters, as stated.
    pub parameters: Parameters,
    /// The sensitive columns it protects, by their position among the sensitive columns.
    pub on: Vec<usize>,
    /// The model built for each of those columns; one without a column when there is none.
    pub models: Vec<Box<dyn PrivacyModel>>,
    /// Counts of a larger population, where the requirement names one.
    pub population: Option<Arc<Population>>,
}

impl Requirement {
    /// Builds the model for each column in `on`.
    pub fn new(
        model: &'static model::Entry,
        parameters: Parameters,
        on: Vec<usize>,
        domains: &[SensitiveDomain],
    ) -> Result<Self, ParameterError> {
        let models = if on.is_empty() {
            vec![(model.build)(&parameters, &SensitiveDomain::default())?]
        } else {
            on.iter().map(|&c| (model.build)(&parameters, &domains[c])).collect::<Result<_, _>>()?
        };
        let population = on.first().and_then(|&c| domains[c].population.clone());
        Ok(Requirement { model, parameters, on, models, population })
    }

    /// The same requirement against a population, also for a model without a sensitive column.
    #[must_use]
    pub fn with_population(self, population: Arc<Population>) -> Self {
        Requirement { population: Some(population), ..self }
    }

    /// What its models look at, at the most.
    pub fn needs(&self) -> Needs {
        self.models.iter().map(|m| m.needs()).max().unwrap_or(Needs::Size)
    }

    /// Whether a class that satisfies it still does after any further row. Not where several columns are protected
    /// together: a row with new values of the others is a class of its own then.
    pub fn preserved_by_insertion(&self) -> bool {
        self.on.len() <= 1 && self.models.iter().all(|m| m.preserved_by_insertion())
    }

    /// Whether local recoding can test it: where it looks at the tuples that a class covers, all that counts must be
    /// how many people of the population have them.
    pub fn counts_people(&self) -> bool {
        self.needs() == Needs::Tuples && self.models.iter().all(|m| m.holds_among(0, Headcount::NOBODY).is_some())
    }

    /// The same for classes whose cells may overlap, as those of local recodings do: two of them can match the same
    /// people of a population, who then count once.
    pub fn monotone_overlapping(&self, set: &FrequencySet) -> bool {
        self.monotone(set) && (self.needs() != Needs::Tuples || self.preserved_by_insertion())
    }

    /// Whether merging satisfying classes always gives a satisfying class, in this table.
    pub fn monotone(&self, set: &FrequencySet) -> bool {
        // A class that grows may come to cover tuples that only the population has: no class of their own merges in.
        let strangers =
            self.models.iter().any(|m| m.needs() == Needs::Tuples) && set.groups.iter().any(<[Entry]>::is_empty);
        // Where persons repeat, counts of merged classes are not sums.
        let sums = !set.persons && !strangers;
        self.models.iter().all(|m| m.monotone() && (sums || m.preserved_by_insertion()))
    }
}

/// Tests classes of one table against a list of requirements.
#[derive(Debug)]
pub struct Evaluator<'a> {
    set: &'a FrequencySet,
    requirements: &'a [Requirement],
    /// For each requirement, the table as each of its models sees it.
    tables: Vec<Vec<TableStats>>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator for `requirements` on the table counted in `set`: classes are compared with all of it.
    pub fn new(set: &'a FrequencySet, requirements: &'a [Requirement]) -> Self {
        Self::against(set, requirements, &set.groups.entries)
    }

    /// The same for a release of that table whose classes are `classes`: they are compared with what is published, as
    /// anybody can who has the release alone.
    pub fn of_release(set: &'a FrequencySet, requirements: &'a [Requirement], classes: &Groups) -> Self {
        Self::against(set, requirements, &classes.entries)
    }

    fn against(set: &'a FrequencySet, requirements: &'a [Requirement], everything: &[Entry]) -> Self {
        let size = frequency::size(everything);
        let table = |r: &Requirement, column: Option<usize>| {
            let tuples = r.needs() == Needs::Tuples;
            TableStats {
                size,
                histogram: column.map_or_else(Vec::new, |c| histogram(set, everything, c)),
                population: r.population.clone(),
                tuple_sizes: if tuples { set.groups.iter().map(frequency::size).collect() } else { Vec::new() },
            }
        };
        let tables = requirements
            .iter()
            .map(|r| match &r.on[..] {
                [] => vec![table(r, None)],
                columns => columns.iter().map(|&c| table(r, Some(c))).collect(),
            })
            .collect();
        Evaluator { set, requirements, tables }
    }

    /// The table, as each model of a requirement sees it.
    pub(crate) fn tables(&self, requirement: usize) -> &[TableStats] {
        &self.tables[requirement]
    }

    /// The requirements.
    pub fn requirements(&self) -> &'a [Requirement] {
        self.requirements
    }

    /// The table, as the model at position `model` of a requirement sees it.
    pub fn table(&self, requirement: usize, model: usize) -> &TableStats {
        &self.tables[requirement][model]
    }

    /// Whether the class made of `entries` satisfies the requirement at position `requirement`.
    pub fn holds(&self, requirement: usize, entries: &[Entry]) -> bool {
        self.holds_covering(requirement, entries, &[])
    }

    /// Whether the class made of `entries` satisfies the requirement, when its generalized tuple covers `tuples`: those
    /// of the entries, and those that only a population has.
    pub fn holds_covering(&self, requirement: usize, entries: &[Entry], tuples: &[u32]) -> bool {
        let mut holds = true;
        self.visit(requirement, entries, tuples, |model, class, table| {
            holds = model.holds(class, table);
            holds
        });
        holds
    }

    /// Whether the class made of `entries` satisfies every requirement.
    pub fn holds_all(&self, entries: &[Entry]) -> bool {
        (0..self.requirements.len()).all(|r| self.holds(r, entries))
    }

    /// Whether the class made of `entries` satisfies every requirement that compares it with the whole table.
    pub fn holds_compared(&self, entries: &[Entry]) -> bool {
        let compares = |r: &Requirement| r.models.iter().any(|model| model.compares_with_table());
        entries.is_empty()
            || (0..self.requirements.len()).all(|r| !compares(&self.requirements[r]) || self.holds(r, entries))
    }

    /// The strongest parameter of the requirement that the class made of `entries` satisfies.
    pub fn measure(&self, requirement: usize, entries: &[Entry]) -> Option<Level> {
        self.measure_covering(requirement, entries, &[])
    }

    /// The strongest parameter that the class satisfies, when its generalized tuple covers `tuples`.
    pub fn measure_covering(&self, requirement: usize, entries: &[Entry], tuples: &[u32]) -> Option<Level> {
        let mut worst: Option<Level> = None;
        self.visit(requirement, entries, tuples, |model, class, table| {
            let level = model.measure(class, table);
            worst = Some(match worst.take() {
                Some(w) => w.worst(level),
                None => level,
            });
            true
        });
        worst
    }

    /// Whether a release made of these classes satisfies the requirement, and the strongest parameter it satisfies.
    pub fn judge(&self, requirement: usize, classes: &Groups) -> (bool, Option<Level>) {
        self.judge_covering(requirement, classes, |_| Vec::new())
    }

    /// The same for a requirement on tuples: `covered` tells which tuples the generalized tuple of a class covers.
    pub fn judge_covering(
        &self,
        requirement: usize,
        classes: &Groups,
        covered: impl Fn(usize) -> Vec<u32> + Sync,
    ) -> (bool, Option<Level>) {
        let models = &self.requirements[requirement].models;
        if self.requirements[requirement].needs() == Needs::Release {
            let sizes = Sizes::collect(classes.iter().filter(|e| !e.is_empty()).map(frequency::size));
            return (
                models.iter().all(|m| m.holds_release(&sizes)),
                models.first().and_then(|m| m.measure_release(&sizes)),
            );
        }
        let part = |range: Range<usize>| {
            let (mut holds, mut worst) = (true, None::<Level>);
            for class in range.filter(|&class| !classes.get(class).is_empty()) {
                self.visit(requirement, classes.get(class), &covered(class), |model, class, table| {
                    holds &= model.holds(class, table);
                    let level = model.measure(class, table);
                    worst = Some(match worst.take() {
                        Some(w) => w.worst(level),
                        None => level,
                    });
                    true
                });
            }
            (holds, worst)
        };
        in_parts(classes.len(), part).into_iter().fold((true, None), |(holds, worst), (also, level)| {
            let worst = match (worst, level) {
                (Some(w), Some(level)) => Some(w.worst(level)),
                (worst, level) => worst.or(level),
            };
            (holds && also, worst)
        })
    }

    /// The strongest value of its second parameter that all classes satisfy, for a requirement that bounds two things.
    pub fn further(&self, requirement: usize, classes: &Groups) -> Option<Level> {
        let weaker = |a: Option<Level>, b: Option<Level>| match (a, b) {
            (Some(a), Some(b)) => Some(a.worst(b)),
            (a, b) => a.or(b),
        };
        let part = |range: Range<usize>| {
            let mut worst = None;
            for class in range.filter(|&class| !classes.get(class).is_empty()) {
                self.visit(requirement, classes.get(class), &[], |model, class, table| {
                    let level = model.further(class, table);
                    let asked = level.is_some();
                    worst = weaker(worst.take(), level);
                    asked
                });
            }
            worst
        };
        in_parts(classes.len(), part).into_iter().fold(None, weaker)
    }

    /// The first class with the weakest measurement of a requirement.
    pub fn weakest(&self, requirement: usize, classes: &Groups) -> Option<(usize, Level)> {
        let weaker = |known: Option<(usize, Level)>, (class, level): (usize, Level)| match known {
            None => Some((class, level)),
            Some((at, weakest)) => {
                let weaker = weakest.clone().worst(level);
                Some(if weaker == weakest { (at, weakest) } else { (class, weaker) })
            }
        };
        let part = |range: Range<usize>| {
            let measured = range.filter(|&class| !classes.get(class).is_empty());
            let measured = measured.filter_map(|class| Some((class, self.measure(requirement, classes.get(class))?)));
            measured.fold(None, weaker)
        };
        in_parts(classes.len(), part).into_iter().flatten().fold(None, weaker)
    }

    /// Shows each model of the requirement the class (or classes, by Definition 4.6) it must judge, until one says
    /// stop.
    fn visit(
        &self,
        requirement: usize,
        entries: &[Entry],
        tuples: &[u32],
        mut judge: impl FnMut(&dyn PrivacyModel, &Class<'_>, &TableStats) -> bool,
    ) {
        let r = &self.requirements[requirement];
        let tables = &self.tables[requirement];
        if r.on.is_empty() || r.needs() == Needs::Size {
            let class = Class { size: frequency::size(entries), histogram: &[], tuples };
            for (model, table) in r.models.iter().zip(tables) {
                if !judge(model.as_ref(), &class, table) {
                    return;
                }
            }
            return;
        }
        if let [column] = r.on[..] {
            // The buffer survives from class to class, so that judging one allocates nothing.
            let mut buffer = BUFFER.take();
            histogram_into(self.set, entries, column, &mut buffer);
            let class = Class { size: frequency::size(entries), histogram: &buffer, tuples };
            judge(r.models[0].as_ref(), &class, &tables[0]);
            BUFFER.set(buffer);
            return;
        }
        for (i, &column) in r.on.iter().enumerate() {
            // Definition 4.6: the other sensitive columns join the quasi-identifier.
            let others: Vec<usize> = r.on.iter().copied().filter(|&c| c != column).collect();
            let code = |e: &Entry, c: usize| self.set.sensitive_code(e.sensitive, c);
            let compare = |a: &Entry, b: &Entry| {
                let order = others.iter().map(|&c| code(a, c).cmp(&code(b, c))).find(|o| o.is_ne());
                order.unwrap_or(std::cmp::Ordering::Equal)
            };
            let mut sorted = entries.to_vec();
            sorted.sort_by(compare);
            for part in sorted.chunk_by(|a, b| compare(a, b).is_eq()) {
                let histogram = histogram(self.set, part, column);
                let class = Class { size: frequency::size(part), histogram: &histogram, tuples };
                if !judge(r.models[i].as_ref(), &class, &tables[i]) {
                    return;
                }
            }
        }
    }
}

/// Classes that one thread judges at a time.
const PART: usize = 1 << 11;

/// Looks at `count` classes on all cores; what is found in each part, in their order.
fn in_parts<T: Send>(count: usize, look: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let parts = (0..count.div_ceil(PART)).into_par_iter();
    parts.map(|part| look(part * PART..((part + 1) * PART).min(count))).collect()
}

thread_local! {
    /// A histogram's memory, kept between classes.
    static BUFFER: Cell<Vec<(u32, u64)>> = const { Cell::new(Vec::new()) };
}
