//! The competition where a policy names no algorithm: every algorithm whose budget allows it runs, and the release that
//! loses least is published.
//!
//! Budgets count work (rows, cells, nodes), never time, so the same table and seed give the same release everywhere.
//! One metric decides: the policy's, or GCP, in which a suppressed row is lost in every column. A metric that is not
//! defined for local recodings (`height`) leaves the choice to those that it is defined for. What the others would have
//! cost is for the owner; the public part of a release does not tell it, because it follows from the input. Where the
//! release that loses least has columns of nothing but `*`, one that keeps more of them is published (`keeping`).

use amidst_core::algorithm::{self, ALGORITHMS, RecodingKind};
use amidst_core::search::Search;

use super::keeping::{self, Candidate};
use super::{Chosen, cost, run};
use crate::Failure;
use crate::job::{Control, Stage};
use crate::policy::Policy;
use crate::policy::quote::key;
use crate::prepare::Prepared;
/// A gain below this is rounding: then the simpler recoding is published.
const LEAST_GAIN: f64 = 1e-9;

/// What the algorithms that competed would have cost.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// What decided.
    pub metric: &'static str,
    /// Those that ran, in the order of the kinds of their recodings.
    pub contenders: Vec<Contender>,
    /// The one whose release is published.
    pub published: &'static str,
    /// Columns that weigh more than the policy says, and what they weigh: without that they would be `*` in every row.
    pub weights: Vec<(String, f64)>,
    /// Columns by which rows were recoded apart, because they would be `*` in every row otherwise.
    pub divided: Vec<String>,
    /// The least loss, where a release that loses more is published because it keeps something of more columns.
    pub least: Option<f64>,
    /// Columns that are `*` in every row all the same: no release was found that keeps something of them.
    pub starred: Vec<String>,
}

/// One algorithm of the competition.
#[derive(Debug, Clone, PartialEq)]
pub struct Contender {
    /// The algorithm.
    pub algorithm: &'static str,
    /// What its recodings are like.
    pub kind: RecodingKind,
    /// What its release costs, or why there is none.
    pub cost: Result<f64, String>,
}

impl Compared {
    /// What each would have cost, in one line.
    pub fn sentence(&self) -> String {
        let told = self.contenders.iter().filter_map(|c| {
            let cost = c.cost.as_ref().ok()?;
            let published = if c.algorithm == self.published { ", published" } else { "" };
            Some(format!("{} ({}): {cost:.4}{published}", c.kind.words(), c.algorithm))
        });
        let weights = self
            .weights
            .iter()
            .map(|(column, weight)| format!(" and `weight = {weight}` under [columns.{}]", key(column)));
        let (weights, fix) = (weights.collect::<String>(), if self.weights.is_empty() { "fixes" } else { "fix" });
        let mut sentence = format!("loss by {}: {}; ", self.metric, told.collect::<Vec<_>>().join("; "));
        let least = self.least.unwrap_or_default();
        let starred = "with a column that is * in every row,";
        sentence += &match (self.divided.is_empty(), self.least) {
            (true, None) => format!("`algorithm = \"{}\"` under [search]{weights} {fix} the choice", self.published),
            (true, Some(_)) => format!(
                "`algorithm = \"{}\"` under [search]{weights} {fix} the choice; the least loss, {starred} is {least:.4}",
                self.published
            ),
            (false, _) => format!(
                "rows are recoded apart by {}; the least loss, {starred} is {least:.4}, and `algorithm = \"{}\"` under \
                 [search] gives such a release",
                self.divided.join(", "),
                self.published
            ),
        };
        if !self.starred.is_empty() {
            let columns = self.starred.join(", ");
            sentence += &format!("; no release was found that keeps something of {columns}");
        }
        sentence
    }
}

/// Runs every algorithm that competes on this table and keeps the cheapest release. `fallback` runs where none of them
/// gives one, and tells why there is none.
pub(super) fn compete(
    policy: &Policy,
    prepared: &Prepared,
    fallback: &'static algorithm::Entry,
    search: &Search<'_>,
) -> Result<Chosen, Failure> {
    let mut entries: Vec<&'static algorithm::Entry> =
        ALGORITHMS.iter().filter(|entry| entry.algorithm.competes(search)).collect();
    entries.sort_by_key(|entry| entry.kind);
    let mut contenders: Vec<Contender> = Vec::with_capacity(entries.len());
    let mut candidates: Vec<Candidate> = Vec::new();
    // What one algorithm proves of all local recodings holds for those of the others, too.
    let mut least_loss: Option<f64> = None;
    for (i, entry) in entries.iter().copied().enumerate() {
        let progress =
            |stage: Stage, share: f64| search.control.tell(stage, (i as f64 + share) / (entries.len() + 1) as f64);
        let own = Search { control: Control { progress: &progress, ..search.control }, ..search.clone() };
        let cost = match run(policy, prepared, entry, &own) {
            Ok((found, joined)) => match cost(search, &found) {
                Some(cost) => {
                    least_loss = least_loss.into_iter().chain(found.least_loss).reduce(f64::max);
                    let starred = super::starred::starred(search, &found.recoding);
                    // Only what loses less or keeps more than all before it is of use.
                    let idle = |c: &Candidate| cost >= c.cost - LEAST_GAIN && starred.len() >= c.starred.len();
                    if !candidates.iter().any(idle) {
                        let (weights, divided) = (Vec::new(), Vec::new());
                        candidates.push(Candidate { entry, found, joined, cost, starred, weights, divided });
                    }
                    Ok(cost)
                }
                None => Err(format!("the metric `{}` is not defined for it", search.metric.id)),
            },
            Err(failure @ (Failure::Impossible(_) | Failure::Usage(_) | Failure::Advised(_))) => {
                Err(failure.to_string())
            }
            Err(failure) => return Err(failure),
        };
        contenders.push(Contender { algorithm: entry.id, kind: entry.kind, cost });
        progress(Stage::Search, 1.0);
    }
    let runs = entries.len() as f64;
    let progress = |share: f64| search.control.tell(Stage::Search, (runs + share) / (runs + 1.0));
    let least = candidates.iter().map(|c| c.cost).fold(f64::INFINITY, f64::min);
    let Some(chosen) = keeping::fullest(policy, prepared, search, (&entries, candidates), &progress)? else {
        let (found, joined) = run(policy, prepared, fallback, search)?;
        return Ok(Chosen { entry: fallback, found, joined, compared: None });
    };
    progress(1.0);
    let Candidate { entry, mut found, joined, cost, starred, weights, divided } = chosen;
    contenders.iter_mut().filter(|c| c.algorithm == entry.id).for_each(|c| c.cost = Ok(cost));
    let named = |columns: Vec<usize>| columns.into_iter().map(|c| search.generalizations[c].name.clone()).collect();
    let (starred, divided) = (named(starred), named(divided));
    let least = (cost > least + LEAST_GAIN).then_some(least);
    let metric = search.metric.id;
    if entry.kind == RecodingKind::Local && joined.is_none() {
        found.least_loss = least_loss;
    }
    let compared = Compared { metric, contenders, published: entry.id, weights, divided, least, starred };
    found.notes.insert(0, format!("no algorithm is named, so several competed; {}", compared.sentence()));
    for contender in &compared.contenders {
        if let Err(reason) = &contender.cost {
            found.notes.push(format!("{} does not suit: {reason}", contender.algorithm));
        }
    }
    Ok(Chosen { entry, found, joined, compared: Some(compared) })
}
