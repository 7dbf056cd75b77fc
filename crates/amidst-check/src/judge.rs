//! Evaluates requirements on a counted release.

use std::cmp::Ordering;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use crate::certificate::{Claim, Requirement, SensitiveColumn, Worst, number};
use crate::models::{self, Census, Class, ClassModel, Domain, Figure, Looks, Model, Parameters, Reading, Weak};
use crate::reader::Counted;
use crate::reader::counted::CountedView;
use crate::reader::key::cells;

/// A requirement with its recomputed figures, and why it is undecided, if it is.
pub(crate) struct Judged {
    pub requirement: Requirement,
    pub undecided: Option<String>,
    /// The names of the model's figures, with their weak ends.
    pub figures: Vec<Figure>,
}

/// The views that these requirements need: every sensitive column by itself, then every set that a requirement names.
pub(crate) fn views<'a>(sensitive: &[SensitiveColumn], claims: impl Iterator<Item = &'a Claim>) -> Vec<Vec<String>> {
    let mut views: Vec<Vec<String>> = sensitive.iter().map(|s| vec![s.name.clone()]).collect();
    for names in claims.filter_map(|c| c.on.as_ref()).map(|on| on.names()) {
        if names.len() > 1 && !views.iter().any(|v| v == names) {
            views.push(names.to_vec());
        }
    }
    views
}

/// Counts the population for each class: from the population of a claim, with the values of a sensitive column or
/// without. `None` when that population was not given.
pub(crate) type CensusCounter<'a> = dyn Fn(&Claim, Option<(&str, &Domain)>) -> Result<Option<Vec<Census>>, String> + 'a;

/// The inputs of the evaluation.
pub(crate) struct Facts<'a> {
    pub counted: &'a Counted,
    pub quasi: &'a [String],
    pub domains: Vec<(String, Arc<Domain>)>,
    /// Counts the population for each class.
    pub census: &'a CensusCounter<'a>,
}

/// The class nearest to the bound so far.
struct Nearest {
    reading: Reading,
    class: usize,
    joined: Vec<(String, Vec<u8>)>,
    size: u64,
}

impl Facts<'_> {
    /// Evaluates a requirement; an error says why its statement is invalid.
    pub(crate) fn judge(&self, claim: &Claim) -> Result<Judged, String> {
        let entry = models::find(&claim.model)?;
        let parameters = Parameters(&claim.parameters);
        parameters.only(entry.parameters)?;
        let on = self.columns(claim, entry.looks)?;
        let nothing = Arc::new(Domain::default());
        let mut sweep = Sweep::default();
        let mut undecided = None;
        if on.is_empty() {
            match (entry.build)(&parameters, &nothing)? {
                Model::Class(model) => {
                    let sizes = &self.counted.sizes;
                    sweep.see_all(model.as_ref(), sizes.len(), |class| Class { size: sizes[class], counts: &[] })?;
                }
                Model::Release(model) => {
                    return Ok(self.whole(claim, model.as_ref()));
                }
                Model::Population(model) => {
                    undecided = self.population(claim, model.as_ref(), None, &mut sweep)?;
                }
            }
        }
        for (at, name) in on.iter().enumerate() {
            let domain = self.domain(name)?;
            match (entry.build)(&parameters, domain)? {
                Model::Class(model) => {
                    sweep.figures = model.figures();
                    sweep.memory.clear();
                    if on.len() == 1 {
                        let (sizes, histograms) = (&self.counted.sizes, &self.view(&on)?.histograms);
                        let class = |class: usize| Class { size: sizes[class], counts: &histograms[class] };
                        sweep.see_all(model.as_ref(), histograms.len(), class)?;
                    } else {
                        self.joined(&on, at, domain, model.as_ref(), &mut sweep)?;
                    }
                }
                Model::Release(model) => {
                    return Ok(self.whole(claim, model.as_ref()));
                }
                Model::Population(model) => {
                    if on.len() > 1 {
                        return Err("it takes one sensitive column".into());
                    }
                    undecided = self.population(claim, model.as_ref(), Some(self.view(&on)?), &mut sweep)?;
                }
            }
        }
        let figures = sweep.figures.clone();
        Ok(Judged { requirement: sweep.requirement(claim, self), undecided, figures })
    }

    fn columns(&self, claim: &Claim, looks: Looks) -> Result<Vec<String>, String> {
        match (looks, &claim.on) {
            (Looks::Sizes, _) => Ok(Vec::new()),
            (Looks::Sensitive, Some(on)) if !on.names().is_empty() => {
                let mut names = on.names().to_vec();
                names.sort();
                names.dedup();
                if names.len() < on.names().len() {
                    return Err("it names a column twice".into());
                }
                Ok(on.names().to_vec())
            }
            (Looks::Sensitive, _) => match self.domains.as_slice() {
                [(name, _)] => Ok(vec![name.clone()]),
                _ => Err("it names no sensitive column".into()),
            },
        }
    }

    fn domain(&self, name: &str) -> Result<&Arc<Domain>, String> {
        let found = self.domains.iter().find(|(n, _)| n == name);
        found.map(|(_, d)| d).ok_or_else(|| format!("\"{name}\" is not a sensitive column"))
    }

    fn view(&self, on: &[String]) -> Result<&CountedView, String> {
        let found = self.counted.views.iter().find(|v| v.columns == on);
        found.ok_or_else(|| format!("\"{}\" is not a sensitive column", on.join("\", \"")))
    }

    /// Evaluates one of several sensitive columns; the others join the quasi-identifier (Definition 4.6).
    fn joined(
        &self,
        on: &[String],
        at: usize,
        domain: &Domain,
        model: &dyn ClassModel,
        sweep: &mut Sweep,
    ) -> Result<(), String> {
        let view = self.view(on)?;
        // For each tuple: its value in the judged column, and the group of its other cells. Groups are sorted, so that
        // the first of several classes equally near to the bound is reported.
        let mut split = Vec::with_capacity(view.values.len());
        for tuple in &view.values {
            let mut parts = cells(tuple);
            if parts.len() != on.len() {
                return Err("its columns were not read".into());
            }
            let own = parts.remove(at);
            split.push((own, parts));
        }
        let mut others: Vec<Vec<&[u8]>> = split.iter().map(|(_, parts)| parts.clone()).collect();
        others.sort_unstable();
        others.dedup();
        let mut tuples = Vec::with_capacity(split.len());
        for (own, parts) in &split {
            let value = domain.values.binary_search_by(|v| v.as_slice().cmp(own));
            let (Ok(value), Ok(group)) = (value, others.binary_search(parts)) else {
                return Err("its column was not read".into());
            };
            tuples.push((group as u32, value as u32));
        }
        let mut names = on.to_vec();
        names.remove(at);
        let mut members = view.members.chunk_by(|a, b| a.0 == b.0).peekable();
        for (class, histogram) in view.histograms.iter().enumerate() {
            // The persons of each group: a person may be there with several values.
            let own = members.next_if(|m| m[0].0 as usize == class).unwrap_or_default();
            let mut persons: Vec<(u32, u64)> = own.iter().map(|&(_, t, p)| (tuples[t as usize].0, p)).collect();
            persons.sort_unstable();
            persons.dedup();
            let mut rows: Vec<(u32, u32, u64)> =
                histogram.iter().map(|&(t, n)| (tuples[t as usize].0, tuples[t as usize].1, n)).collect();
            rows.sort_unstable();
            for chunk in rows.chunk_by(|a, b| a.0 == b.0) {
                let counts: Vec<(u32, u64)> = chunk.iter().map(|&(_, v, n)| (v, n)).collect();
                let group = chunk[0].0;
                let size = match &persons[..] {
                    [] => counts.iter().map(|c| c.1).sum(),
                    all => (all.partition_point(|p| p.0 <= group) - all.partition_point(|p| p.0 < group)) as u64,
                };
                let group = group as usize;
                let context = || names.iter().cloned().zip(others[group].iter().map(|c| c.to_vec())).collect();
                sweep.see(model, Class { size, counts: &counts }, class, context)?;
            }
        }
        Ok(())
    }

    fn population(
        &self,
        claim: &Claim,
        model: &dyn models::PopulationModel,
        view: Option<&CountedView>,
        sweep: &mut Sweep,
    ) -> Result<Option<String>, String> {
        sweep.figures = model.figures();
        let column = match view.and_then(|v| v.columns.first()) {
            Some(name) => Some((name.as_str(), self.domain(name)?.as_ref())),
            None => None,
        };
        let Some(census) = (self.census)(claim, column)? else {
            return Ok(Some("it cannot be verified without the population".into()));
        };
        for (class, covered) in census.iter().enumerate() {
            let counts = view.map_or(&[][..], |v| v.histograms.get(class).map_or(&[][..], Vec::as_slice));
            let size = self.counted.sizes.get(class).copied().unwrap_or(0);
            let reading = model.judge(Class { size, counts }, covered)?;
            sweep.take(reading, class, size, Vec::new);
        }
        Ok(None)
    }

    fn whole(&self, claim: &Claim, model: &dyn models::ReleaseModel) -> Judged {
        let sizes = &self.counted.sizes;
        let (holds, reached) = model.judge(sizes);
        let smallest = sizes.iter().enumerate().min_by_key(|&(class, &size)| (size, class));
        let worst = smallest.filter(|_| model.shows_smallest()).map(|(class, &size)| Worst {
            cells: self.cells(class, &[]),
            size,
            figures: Map::new(),
        });
        let mut measured = Map::new();
        measured.insert("threshold".into(), number(Some(reached)));
        let requirement = requirement(claim, holds, measured, worst);
        Judged { requirement, undecided: None, figures: vec![("threshold", Weak::Great)] }
    }

    fn cells(&self, class: usize, joined: &[(String, Vec<u8>)]) -> Map<String, Value> {
        let text = |bytes: &[u8]| Value::from(String::from_utf8_lossy(bytes).into_owned());
        let key = self.counted.keys.get(class).map(|k| cells(k)).unwrap_or_default();
        let quasi = self.quasi.iter().cloned().zip(key.into_iter().map(text));
        quasi.chain(joined.iter().map(|(name, cell)| (name.clone(), text(cell)))).collect()
    }
}

fn requirement(claim: &Claim, holds: bool, measured: Map<String, Value>, worst: Option<Worst>) -> Requirement {
    Requirement {
        model: claim.model.clone(),
        on: claim.on.clone(),
        quasi: claim.quasi.clone(),
        parameters: claim.parameters.clone(),
        holds,
        measured,
        worst,
    }
}

/// A pass over all classes with one model.
#[derive(Default)]
struct Sweep {
    figures: Vec<Figure>,
    failed: bool,
    reached: Vec<f64>,
    nearest: Option<Nearest>,
    /// Verdicts by histogram: there are far fewer distinct histograms than classes.
    memory: FxHashMap<Box<[u64]>, Reading>,
}

/// Classes per task.
const PART: usize = 1 << 11;

impl Sweep {
    /// Evaluates all classes in parallel and combines the results in the order of the classes.
    fn see_all<'c>(
        &mut self,
        model: &dyn ClassModel,
        classes: usize,
        class: impl Fn(usize) -> Class<'c> + Sync,
    ) -> Result<(), String> {
        self.figures = model.figures();
        let part = |part: usize| {
            let mut sweep = Sweep { figures: self.figures.clone(), ..Sweep::default() };
            for index in part * PART..((part + 1) * PART).min(classes) {
                sweep.see(model, class(index), index, Vec::new)?;
            }
            sweep.memory.clear();
            Ok(sweep)
        };
        let parts: Vec<Result<Sweep, String>> = (0..classes.div_ceil(PART)).into_par_iter().map(part).collect();
        for part in parts {
            let part = part?;
            self.failed |= part.failed;
            self.reach(&part.reached);
            if let Some(nearest) = part.nearest
                && self.nearer(&nearest.reading)
            {
                self.nearest = Some(nearest);
            }
        }
        Ok(())
    }

    fn see(
        &mut self,
        model: &dyn ClassModel,
        class: Class<'_>,
        index: usize,
        context: impl FnOnce() -> Vec<(String, Vec<u8>)>,
    ) -> Result<(), String> {
        let mut key = Vec::with_capacity(2 * class.counts.len() + 1);
        if model.symmetric() {
            key.extend(class.counts.iter().map(|c| c.1));
            key.sort_unstable();
        } else {
            key.extend(class.counts.iter().flat_map(|&(value, count)| [u64::from(value), count]));
        }
        key.push(class.size);
        let reading = match self.memory.get(key.as_slice()) {
            Some(known) => known.clone(),
            None => {
                let reading = model.judge(class)?;
                self.memory.insert(key.into_boxed_slice(), reading.clone());
                reading
            }
        };
        self.take(reading, index, class.size, context);
        Ok(())
    }

    fn take(&mut self, reading: Reading, class: usize, size: u64, context: impl FnOnce() -> Vec<(String, Vec<u8>)>) {
        self.failed |= !reading.holds;
        self.reach(&reading.figures);
        if self.nearer(&reading) {
            self.nearest = Some(Nearest { reading, class, joined: context(), size });
        }
    }

    /// Keeps the weaker value of each figure.
    fn reach(&mut self, figures: &[f64]) {
        if self.reached.is_empty() {
            self.reached = figures.to_vec();
        }
        for ((reached, &new), &(_, weak)) in self.reached.iter_mut().zip(figures).zip(&self.figures) {
            if weaker(new, *reached, weak) == Ordering::Less {
                *reached = new;
            }
        }
    }

    /// Whether a reading is nearer to the bound than all before it.
    fn nearer(&self, reading: &Reading) -> bool {
        match &self.nearest {
            None => true,
            Some(nearest) => self.order(reading, &nearest.reading) == Ordering::Less,
        }
    }

    /// Failing before holding, then by the figures in order; equal readings keep the order of the classes.
    fn order(&self, a: &Reading, b: &Reading) -> Ordering {
        let by_figures = || {
            let pairs = a.figures.iter().zip(&b.figures).zip(&self.figures);
            pairs.map(|((&x, &y), &(_, weak))| weaker(x, y, weak)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
        };
        a.holds.cmp(&b.holds).then_with(by_figures)
    }

    fn requirement(self, claim: &Claim, facts: &Facts<'_>) -> Requirement {
        let named = |values: &[f64]| -> Map<String, Value> {
            let names = self.figures.iter().map(|f| f.0.to_string());
            names.zip(values.iter().map(|&v| Some(v)).chain(std::iter::repeat(None)).map(number)).collect()
        };
        let worst = self.nearest.as_ref().map(|n| Worst {
            cells: facts.cells(n.class, &n.joined),
            size: n.size,
            figures: named(&n.reading.figures),
        });
        requirement(claim, !self.failed, named(&self.reached), worst)
    }
}

/// Less when `a` is weaker than `b`.
fn weaker(a: f64, b: f64, weak: Weak) -> Ordering {
    match weak {
        Weak::Small => a.total_cmp(&b),
        Weak::Great => b.total_cmp(&a),
    }
}
