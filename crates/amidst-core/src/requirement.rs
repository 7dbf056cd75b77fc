//! Requirements: a privacy model with its parameters, on one or several sensitive columns, tested on classes.

use crate::class::{Class, SensitiveDomain, Sizes, TableStats};
use crate::frequency::{self, Entry, FrequencySet, Groups, histogram};
use crate::model::{self, Level, Needs, PrivacyModel};
use crate::parameter::{ParameterError, Parameters};

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
        Ok(Requirement { model, parameters, on, models })
    }

    /// What its models look at, at the most.
    pub fn needs(&self) -> Needs {
        self.models.iter().map(|m| m.needs()).max().unwrap_or(Needs::Size)
    }

    /// Whether merging satisfying classes always gives a satisfying class, in this table.
    pub fn monotone(&self, set: &FrequencySet) -> bool {
        // Where persons repeat, counts of merged classes are not sums: only what counts heads or kinds stays monotone.
        let counts_only = matches!(self.model.id, "k-anonymity" | "distinct-l-diversity" | "p-sensitive-k-anonymity");
        self.models.iter().all(|m| m.monotone()) && (!set.persons || counts_only)
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
    /// An evaluator for `requirements` on the table counted in `set`.
    pub fn new(set: &'a FrequencySet, requirements: &'a [Requirement]) -> Self {
        let everything: Vec<Entry> = set.groups.entries.clone();
        let tables = requirements
            .iter()
            .map(|r| {
                let size = frequency::size(&everything);
                if r.on.is_empty() {
                    return vec![TableStats { size, ..TableStats::default() }];
                }
                r.on.iter()
                    .map(|&c| TableStats { size, histogram: histogram(set, &everything, c), ..TableStats::default() })
                    .collect()
            })
            .collect();
        Evaluator { set, requirements, tables }
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
        let mut holds = true;
        self.visit(requirement, entries, |model, class, table| {
            holds = model.holds(class, table);
            holds
        });
        holds
    }

    /// Whether the class made of `entries` satisfies every requirement.
    pub fn holds_all(&self, entries: &[Entry]) -> bool {
        (0..self.requirements.len()).all(|r| self.holds(r, entries))
    }

    /// The strongest parameter of the requirement that the class made of `entries` satisfies.
    pub fn measure(&self, requirement: usize, entries: &[Entry]) -> Option<Level> {
        let mut worst: Option<Level> = None;
        self.visit(requirement, entries, |model, class, table| {
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
        let models = &self.requirements[requirement].models;
        if self.requirements[requirement].needs() == Needs::Release {
            let sizes = Sizes::collect(classes.iter().map(frequency::size));
            return (
                models.iter().all(|m| m.holds_release(&sizes)),
                models.first().and_then(|m| m.measure_release(&sizes)),
            );
        }
        let mut holds = true;
        let mut worst: Option<Level> = None;
        for entries in classes.iter().filter(|e| !e.is_empty()) {
            holds &= self.holds(requirement, entries);
            if let Some(level) = self.measure(requirement, entries) {
                worst = Some(match worst.take() {
                    Some(w) => w.worst(level),
                    None => level,
                });
            }
        }
        (holds, worst)
    }

    /// Shows each model of the requirement the class (or classes, by Definition 4.6) it must judge, until one says stop.
    fn visit(
        &self,
        requirement: usize,
        entries: &[Entry],
        mut judge: impl FnMut(&dyn PrivacyModel, &Class<'_>, &TableStats) -> bool,
    ) {
        let r = &self.requirements[requirement];
        let tables = &self.tables[requirement];
        if r.on.is_empty() {
            let class = Class { size: frequency::size(entries), histogram: &[], tuples: &[] };
            judge(r.models[0].as_ref(), &class, &tables[0]);
            return;
        }
        for (i, &column) in r.on.iter().enumerate() {
            let model = r.models[i].as_ref();
            if r.on.len() == 1 {
                let histogram = histogram(self.set, entries, column);
                let class = Class { size: frequency::size(entries), histogram: &histogram, tuples: &[] };
                judge(model, &class, &tables[i]);
                return;
            }
            // Definition 4.6: the other sensitive columns join the quasi-identifier.
            let others: Vec<usize> = r.on.iter().copied().filter(|&c| c != column).collect();
            let mut split: Vec<(Vec<u32>, Entry)> = entries
                .iter()
                .map(|&e| (others.iter().map(|&c| self.set.sensitive_code(e.sensitive, c)).collect(), e))
                .collect();
            split.sort();
            for part in split.chunk_by(|a, b| a.0 == b.0) {
                let part: Vec<Entry> = part.iter().map(|(_, e)| *e).collect();
                let histogram = histogram(self.set, &part, column);
                let class = Class { size: frequency::size(&part), histogram: &histogram, tuples: &[] };
                if !judge(model, &class, &tables[i]) {
                    return;
                }
            }
        }
    }
}
