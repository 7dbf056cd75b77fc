//! A table bound to hierarchies and counted, on which searches are run.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use amidst::Failure;
use amidst::core::control::Control;
use amidst::core::frequency::FrequencySet;
use amidst::core::hierarchy::{self, Generalization, Generalize, Recipe};
use amidst::core::ids::EntryId;
use amidst::core::internal::lattice;
use amidst::core::metric::{self, Release};
use amidst::core::parameter::{Parameters, Value};
use amidst::core::recoding::{Assignment, Recoding, SUPPRESSED};
use amidst::core::requirement::Requirement;
use amidst::core::requirement::SensitiveDomain;
use amidst::core::search::{Found, Search, SearchError};
use amidst::core::table::Table;
use amidst::core::{algorithm, model};

/// A quasi column: its name, and the lines of its hierarchy in the layout `value;level 1;…;*`.
#[derive(Debug, Clone)]
pub struct Quasi {
    /// The column's name.
    pub name: String,
    /// Its hierarchy; `None` for a column that is generalized to ranges.
    pub hierarchy: Option<String>,
}

/// A counted table.
#[derive(Debug)]
pub struct Trial {
    /// The distinct combinations with their counts.
    pub set: FrequencySet,
    /// The entry of each row.
    pub entry_of_row: Vec<EntryId>,
    /// The generalizations of the quasi columns.
    pub generalizations: Vec<Generalization>,
    /// The sensitive columns.
    pub domains: Vec<SensitiveDomain>,
}

/// The cost of a release.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Number of classes.
    pub classes: u64,
    /// Number of suppressed rows.
    pub suppressed: u64,
    /// Σ n² over the classes, plus the penalty for suppressed rows.
    pub discernibility: f64,
    /// Kullback–Leibler divergence from the table.
    pub kl: f64,
    /// Information loss.
    pub loss: f64,
    /// Information loss per row and column, 0 to 1.
    pub gcp: f64,
}

fn internal(what: impl std::fmt::Display) -> Failure {
    Failure::Io(format!("an experiment is wrong: {what}"))
}

impl Trial {
    /// Counts `table` by these quasi and sensitive columns.
    ///
    /// # Errors
    /// When a column is missing, or a hierarchy lacks a value.
    pub fn new(table: &Table, quasi: &[Quasi], sensitive: &[&str]) -> Result<Trial, Failure> {
        let position = |name: &str| table.position(name).ok_or_else(|| internal(format!("no column {name}")));
        let mut positions = Vec::new();
        let mut generalizations = Vec::new();
        for Quasi { name, hierarchy } in quasi {
            let at = position(name)?;
            let column = &table.columns[at];
            let generalization = match hierarchy {
                None => Generalization::bind(column, None).map(|mut ranges| {
                    ranges.generalize = Generalize::Ranges;
                    ranges
                }),
                Some(lines) => {
                    let keys = [("file".to_string(), Value::Text("lines".to_string()))];
                    let read = |_: &str| Ok(lines.clone());
                    let recipe = Recipe { table: &keys, read: &read, missing: &[] };
                    let built = hierarchy::build(&recipe, column).map_err(|e| internal(format!("{name}: {e}")))?;
                    Generalization::bind(column, Some(&built))
                }
            };
            generalizations.push(generalization.map_err(|codes| {
                let lacking = codes.first().map_or("", |&code| column.dictionary.value(code));
                internal(format!("the hierarchy of {name} lacks {} values, such as `{lacking}`", codes.len()))
            })?);
            positions.push(at);
        }
        let protected = sensitive.iter().map(|name| position(name)).collect::<Result<Vec<_>, _>>()?;
        let (set, entry_of_row) = FrequencySet::count(table, &positions, &protected, None);
        let domains = protected
            .iter()
            .map(|&at| SensitiveDomain {
                name: table.columns[at].name.clone(),
                dictionary: table.columns[at].dictionary.clone(),
                ..SensitiveDomain::default()
            })
            .collect();
        Ok(Trial { set, entry_of_row, generalizations, domains })
    }

    /// A requirement on the first sensitive column, or on none for models that look at sizes only.
    ///
    /// # Errors
    /// When a parameter is invalid.
    pub fn require(&self, id: &str, parameters: &[(&str, &str)]) -> Result<Requirement, Failure> {
        let parameters: Vec<(&str, Value)> =
            parameters.iter().map(|&(name, value)| (name, Value::Text(value.to_string()))).collect();
        self.require_values(id, &parameters)
    }

    /// As [`Trial::require`], with parameters of any kind.
    ///
    /// # Errors
    /// When a parameter is invalid.
    pub fn require_values(&self, id: &str, parameters: &[(&str, Value)]) -> Result<Requirement, Failure> {
        let entry = model::find(id).ok_or_else(|| internal(format!("no model {id}")))?;
        let mut stated = Parameters::default();
        parameters.iter().for_each(|(name, value)| stated.set(name, value.clone()));
        let on = if entry.sensitive == model::Sensitive::None { vec![] } else { vec![0] };
        Requirement::new(entry, stated, on, &self.domains).map_err(internal)
    }

    /// A search for these requirements.
    pub fn search<'a>(
        &'a self,
        requirements: &'a [Requirement],
        metric: &str,
        options: &'a Parameters,
        cancel: &'a AtomicBool,
    ) -> Search<'a> {
        let k = requirements.iter().filter_map(|r| r.parameters.get("k")?.number()?.to_u64()).max().unwrap_or(1);
        Search {
            metric: metric::find(metric).unwrap_or(metric::DEFAULT),
            k,
            options,
            entry_of_row: Some(&self.entry_of_row),
            control: Control { cancel, ..Control::default() },
            ..Search::new(&self.set, &self.generalizations, requirements)
        }
    }

    /// Every minimal node that satisfies the requirements; empty if none does. The cost of a node is by `metric`.
    ///
    /// # Errors
    /// When the search was stopped.
    pub fn minimal(
        &self,
        requirements: &[Requirement],
        metric: &str,
        cancel: &AtomicBool,
    ) -> Result<Vec<lattice::Node>, Failure> {
        let options = Parameters::default();
        Ok(lattice::minimal(&self.search(requirements, metric, &options, cancel))?)
    }

    /// The recoding that an algorithm finds; `None` if the requirements cannot be satisfied.
    ///
    /// # Errors
    /// When the search was stopped, or the algorithm does not support the requirements.
    pub fn find(
        &self,
        id: &str,
        requirements: &[Requirement],
        options: &Parameters,
        seed: u64,
        cancel: &AtomicBool,
    ) -> Result<Option<Recoding>, Failure> {
        let entry = algorithm::find(id).ok_or_else(|| internal(format!("no algorithm {id}")))?;
        let search = Search { seed, ..self.search(requirements, "loss", options, cancel) };
        entry.algorithm.supports(&search)?;
        match entry.algorithm.search(&search) {
            Ok(Found { recoding, .. }) => Ok(Some(recoding)),
            Err(SearchError::Impossible(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The cost of a recoding.
    pub fn cost(&self, recoding: &Recoding) -> Cost {
        let (groups, suppressed) = recoding.groups(&self.set);
        let release = Release {
            set: &self.set,
            generalizations: &self.generalizations,
            recoding,
            groups: &groups,
            suppressed,
            k: 1,
        };
        let by = |id: &str| metric::find(id).and_then(|m| m.metric.loss(&release)).unwrap_or(f64::NAN);
        Cost {
            classes: groups.iter().filter(|g| !g.is_empty()).count() as u64,
            suppressed,
            discernibility: by("discernibility"),
            kl: by("kl-divergence"),
            loss: by("information-loss"),
            gcp: by("gcp"),
        }
    }

    /// The divergence of a release in which every quasi column is suppressed.
    pub fn kl_baseline(&self) -> Option<f64> {
        metric::kl_baseline(&metric::Input { set: &self.set, generalizations: &self.generalizations, k: 1 })
    }
}

/// The class of each row of a trial under a recoding; `None` for suppressed rows.
pub fn class_of_rows(trial: &Trial, recoding: &Recoding) -> Vec<Option<u32>> {
    // For each entry the classes of its rows with their counts, in reverse order.
    let mut runs: Vec<Vec<(u32, u64)>> = match &recoding.assignment {
        Assignment::Tuples(class_of) => {
            let tuples = (0..trial.set.len()).flat_map(|t| {
                let entries = trial.set.groups.offsets[t]..trial.set.groups.offsets[t + 1];
                entries.map(move |e| (t, e))
            });
            tuples.map(|(t, e)| vec![(class_of[t], trial.set.groups.entries[e].rows)]).collect()
        }
        Assignment::Entries { offsets, runs } => {
            offsets.windows(2).map(|w| runs[w[0]..w[1]].iter().rev().copied().collect()).collect()
        }
    };
    let next = |&entry: &EntryId| {
        let runs = runs.get_mut(entry.index())?;
        while runs.last().is_some_and(|run| run.1 == 0) {
            runs.pop();
        }
        let run = runs.last_mut()?;
        run.1 -= 1;
        Some(run.0).filter(|&class| class != SUPPRESSED)
    };
    trial.entry_of_row.iter().map(next).collect()
}

/// The duration of `work` in seconds: median, minimum and maximum of `runs` runs; and the result of the last run.
///
/// # Errors
/// The error of `work`.
pub fn timed<T>(runs: usize, mut work: impl FnMut() -> Result<T, Failure>) -> Result<([f64; 3], T), Failure> {
    let mut seconds = Vec::new();
    let mut once = || {
        let start = Instant::now();
        let done = work()?;
        seconds.push(start.elapsed().as_secs_f64());
        Ok::<T, Failure>(done)
    };
    let mut last = once()?;
    for _ in 1..runs {
        last = once()?;
    }
    seconds.sort_by(f64::total_cmp);
    let spread = [seconds[0], seconds[seconds.len() / 2], seconds[seconds.len() - 1]];
    Ok(([spread[1], spread[0], spread[2]], last))
}
