//! Exploring local recodings: what each algorithm that suits the policy makes of the table, and what safety costs.
//!
//! There is no lattice to look through. Instead every local algorithm runs on the policy, and Mondrian, the quickest,
//! shows how the loss grows with k, whatever the policy says.

use std::time::Instant;

use amidst_core::algorithm::{self, ALGORITHMS};
use amidst_core::metric::Release;
use amidst_core::model;
use amidst_core::parameter::{self, Parameters};
use amidst_core::recoding::Recoding;
use amidst_core::requirement::Requirement;
use amidst_core::risk::Risk;
use amidst_core::search::{MaxSuppression, Search, SearchError, feasibility};

use super::{How, Seen, Watcher};
use crate::Failure;
use crate::job::{Job, Stage, in_threads};
use crate::plan::{metric_of, task};
use crate::policy::Policy;
use crate::prepare::Prepared;
use crate::release::{Judged, place_joiners};

/// The class sizes for which the front is drawn.
const FRONT: [u64; 9] = [2, 3, 5, 10, 20, 50, 100, 200, 500];

/// What the local algorithms make of a table.
#[derive(Debug)]
pub struct Compared {
    /// Each algorithm, the one that loses least first, those that do not suit the policy last.
    pub algorithms: Vec<Tried>,
    /// Loss against risk for k-anonymity alone, as Mondrian finds it; from the cheapest to the safest.
    pub front: Vec<Point>,
}

/// One algorithm on the policy.
#[derive(Debug)]
pub struct Tried {
    /// The algorithm.
    pub algorithm: &'static str,
    /// What it found, or why it found nothing.
    pub judged: Result<Judged, String>,
    /// What each row becomes; none where it found nothing.
    pub recoding: Option<Recoding>,
    /// What it wants people to know.
    pub notes: Vec<String>,
    /// How long it took.
    pub seconds: f64,
}

impl Tried {
    /// What the release loses by a metric; nothing where there is no release or the metric is not defined.
    pub fn cost(&self, metric: &str) -> Option<f64> {
        self.judged.as_ref().ok()?.metrics.iter().find(|(id, _)| *id == metric)?.1
    }
}

/// A point of the front.
#[derive(Debug)]
pub struct Point {
    /// The k that was asked for.
    pub k: u64,
    /// The number of classes.
    pub classes: u64,
    /// Re-identification risk.
    pub risk: Risk,
    /// What it costs by the policy's metric.
    pub cost: f64,
}

/// Runs every local algorithm on the policy.
pub fn compare(policy: &Policy, prepared: &Prepared, job: &Job<'_>) -> Result<Compared, Failure> {
    compare_watched(policy, prepared, job, &|_| {})
}

/// The same; `seen` is called with each release as it is found.
///
/// # Errors
/// When no release can satisfy the policy, or the job was stopped.
pub fn compare_watched(
    policy: &Policy,
    prepared: &Prepared,
    job: &Job<'_>,
    seen: Watcher<'_>,
) -> Result<Compared, Failure> {
    in_threads(job.threads, || {
        let search = task(policy, prepared, &job.quiet())?;
        if let Some(impossible) = feasibility::impossible(&search) {
            return Err(Failure::Impossible(impossible));
        }
        let local: Vec<&algorithm::Entry> = ALGORITHMS.iter().filter(|a| !a.full_domain()).collect();
        let metric = metric_of(policy)?.id;
        let steps = (local.len() + 1) as f64;
        let mut algorithms = Vec::with_capacity(local.len());
        for (i, entry) in local.into_iter().enumerate() {
            let progress = |stage: Stage, share: f64| job.tell(stage, (i as f64 + share) / steps);
            // The time limit, if there is one, is each algorithm's own; so are the options.
            let search = task(policy, prepared, &Job { progress: &progress, ..*job })?;
            let own = policy.search.algorithm.as_deref() == Some(entry.id);
            let options = if own { search.options.clone() } else { Parameters::default() };
            let tried = run(policy, prepared, entry, &Search { options: &options, ..search.clone() })?;
            if let (Ok(judged), Some(cost)) = (&tried.judged, tried.cost(metric)) {
                seen(Seen { how: How::Algorithm(entry.id), cost, max_risk: judged.risk.prosecutor_max });
            }
            algorithms.push(tried);
            progress(Stage::Search, 1.0);
        }
        let cost = |t: &Tried| t.cost(metric).unwrap_or(f64::INFINITY);
        algorithms.sort_by_key(|t| t.judged.is_err());
        let suited = algorithms.iter().take_while(|t| t.judged.is_ok()).count();
        algorithms[..suited].sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        let front = front(policy, prepared, &search, seen)?;
        Ok(Compared { algorithms, front })
    })
}

fn run(
    policy: &Policy,
    prepared: &Prepared,
    entry: &'static algorithm::Entry,
    search: &Search<'_>,
) -> Result<Tried, Failure> {
    let start = Instant::now();
    let found = entry.algorithm.supports(search).and_then(|()| entry.algorithm.search(search));
    let unsuited = |reason| (Err(reason), None, Vec::new());
    let (judged, recoding, notes) = match found {
        Ok(mut found) => match place_joiners(prepared, search, entry, &mut found) {
            Ok(joined) => {
                let judged = Judged::of(policy, prepared, &found.recoding, joined.as_ref());
                (Ok(judged), Some(found.recoding), found.notes)
            }
            Err(Failure::Impossible(reason)) => unsuited(reason.message),
            Err(failure) => return Err(failure),
        },
        Err(SearchError::Cancelled) => return Err(Failure::Cancelled),
        Err(error) => unsuited(error.to_string()),
    };
    Ok(Tried { algorithm: entry.id, judged, recoding, notes, seconds: start.elapsed().as_secs_f64() })
}

/// Mondrian for growing k. A point that is neither safer nor cheaper than another is left out.
fn front(policy: &Policy, prepared: &Prepared, search: &Search<'_>, seen: Watcher<'_>) -> Result<Vec<Point>, Failure> {
    let metric = metric_of(policy)?;
    let mut points: Vec<Point> = Vec::new();
    let (mondrian, size) = (algorithm::MONDRIAN, model::named::K_ANONYMITY);
    for k in FRONT.into_iter().filter(|&k| k <= prepared.set.rows) {
        let stated = Parameters::from_pairs([("k", parameter::Value::Number(k.into()))]);
        let Ok(requirement) = Requirement::new(size, stated, Vec::new(), &[]) else { continue };
        let (requirements, options) = ([requirement], Parameters::default());
        let search = Search {
            requirements: &requirements,
            options: &options,
            max_suppression: MaxSuppression::Rows(0),
            k,
            ..search.clone()
        };
        let found = match mondrian.algorithm.search(&search) {
            Ok(found) => found,
            Err(SearchError::Cancelled) => return Err(Failure::Cancelled),
            Err(_) => continue,
        };
        let (groups, suppressed) = found.recoding.groups(search.set);
        let (set, generalizations, recoding) = (search.set, search.generalizations, &found.recoding);
        let release = Release { set, generalizations, recoding, groups: &groups, suppressed, k };
        let Some(cost) = metric.metric.loss(&release) else { continue };
        let risk = Risk::of(&amidst_core::class::Sizes::collect(groups.iter().map(amidst_core::frequency::size)));
        seen(Seen { how: How::Size(k), cost, max_risk: risk.prosecutor_max });
        // Points come safer and safer; one that also costs no more makes those before it pointless.
        points.retain(|p| p.cost < cost);
        points.push(Point { k, classes: groups.len() as u64, risk, cost });
    }
    Ok(points)
}
