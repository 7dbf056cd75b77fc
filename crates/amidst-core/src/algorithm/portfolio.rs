//! The portfolio: several algorithms compete, local search improves the best, the least information loss wins.
//!
//! **Candidates.** Mondrian, strict and relaxed; bucket-aware assembly from the rim inwards and k-member, or assembly
//! in proportion to the table where the policy compares classes with it; top-down specialization where every column
//! has a hierarchy. They run side by side. Those that come near the best are improved by a few rounds of local search
//! (moving and exchanging rows between neighbouring classes, dividing and dissolving classes), because what is best
//! at first need not be best in the end; then the best is improved until a round gains next to nothing. The local
//! search takes only steps after which every class satisfies the policy.
//!
//! **Time.** With a deadline the best is then annealed until the time is over, or the caller is content; without one
//! the outcome depends on the seed alone. A candidate that is not found in time is given up, except for the first,
//! which is the quickest. A table too large for the slower candidates is left to the quicker ones.
//!
//! **Proof.** Beside the search a bound is proven that no release of this kind can be below (`local::bound`).

use std::time::Instant;

use rayon::prelude::*;

use super::{Algorithm, Entry, Found, RecodingKind, Search, SearchError, k_member, mondrian, top_down};
use crate::control::Improvement;
use crate::local::bound::{self, least_loss};
use crate::local::build::anneal::anneal;
use crate::local::build::bucket_assembly::{self, Seeds};
use crate::local::build::completion::Draw;
use crate::local::build::refine::{Effort, refine};
use crate::local::class::{Cluster, World, cluster};
use crate::local::finish::found;
use crate::random::Random;

pub(super) const ENTRY: Entry = Entry {
    id: "portfolio",
    title: "Portfolio",
    definition: "runs the local algorithms that suit the policy, improves the best result by moving and exchanging rows \
                 between neighbouring classes, and keeps the release with the least information loss",
    citation: "beyond the papers; each candidate has its own",
    kind: RecodingKind::Local,
    options: &[],
    algorithm: &Portfolio,
};

#[derive(Debug)]
struct Portfolio;

/// Rows above which only the quickest candidates run.
const MANY: u64 = 250_000;

/// A gain in a round below this share of the loss is not worth another.
const SHARE: f64 = 1e-3;

/// The rounds of local search that every candidate with a chance gets.
const TRIAL: usize = 3;

/// The share of the time that the proof may take where it cannot run beside the search.
const ALONE: f64 = 0.3;

/// A candidate that loses this many times as much as the best has no chance: local search does not make up for it.
const CHANCE: f64 = 1.6;

/// The same where the policy compares classes with the table.
const CHANCE_LIKE_TABLE: f64 = 1.1;

/// Classes drawn in proportion to the table are larger than they need be, which local search makes good: it divides.
const PROPORTIONAL: Draw = Draw::Proportional(1.6);

/// Cells (rows times quasi columns) up to which it competes where a policy names no algorithm.
const BUDGET: u64 = 600_000;

impl Algorithm for Portfolio {
    fn competes(&self, search: &Search<'_>) -> bool {
        search.set.rows.saturating_mul(search.generalizations.len() as u64) <= BUDGET
    }

    fn supports(&self, _search: &Search<'_>) -> Result<(), SearchError> {
        Ok(())
    }

    fn search(&self, search: &Search<'_>) -> Result<Found, SearchError> {
        let run = || {
            found(search, |search, world| {
                let (clusters, notes) = compete(search, world)?;
                Ok((cluster::partition(clusters), notes))
            })
        };
        let (found, least_loss) = beside(search, run, |effort| least_loss(search, effort));
        Ok(Found { least_loss: least_loss?, ..found? })
    }
}

/// Runs the search and the proof of how good it can be beside each other, the proof on a thread of its own: a search
/// that waits for its own tasks must not take up the proof meanwhile. On one thread the proof comes first, with part of
/// the time.
fn beside<A, B: Send>(
    search: &Search<'_>,
    run: impl FnOnce() -> A,
    prove: impl FnOnce(bound::Effort) -> B + Send,
) -> (A, B) {
    let effort = |share: f64| match search.control.deadline {
        None => bound::Effort::small(search.set.len()),
        Some(deadline) => {
            let left = deadline.saturating_duration_since(Instant::now());
            bound::Effort::until(Instant::now() + left.mul_f64(share))
        }
    };
    if rayon::current_num_threads() < 2 {
        let proven = prove(effort(ALONE));
        return (run(), proven);
    }
    std::thread::scope(|scope| {
        let proof = scope.spawn(|| prove(effort(1.0)));
        let found = run();
        (found, proof.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// A candidate's classes, before and after local search.
struct Candidate {
    name: &'static str,
    clusters: Vec<Cluster>,
    /// Its loss before local search.
    first: f64,
}

/// The classes that a candidate finds, or `None` when it does not suit the policy or the table.
type Run = fn(&Search<'_>, &World<'_>) -> Result<Option<Vec<Cluster>>, SearchError>;

const CANDIDATES: &[(&str, Run)] = &[
    ("mondrian", |search, world| {
        let partition = mondrian::partition(search, world.space, world.judge, false, false)?;
        Ok(Some(world.clusters(&partition)))
    }),
    ("assembly", |search, world| match proportional(search, world) {
        true => Ok(None),
        false => bucket_assembly::clusters(search, world, Seeds::OutsideIn, false),
    }),
    ("proportional assembly", |search, world| match proportional(search, world) {
        true => bucket_assembly::drawn(search, world, (Seeds::OutsideIn, PROPORTIONAL), false),
        false => Ok(None),
    }),
    ("relaxed mondrian", |search, world| {
        if world.set.rows > MANY {
            return Ok(None);
        }
        let partition = mondrian::partition(search, world.space, world.judge, true, false)?;
        Ok(Some(world.clusters(&partition)))
    }),
    ("k-member", |search, world| {
        let suits = world.set.rows <= MANY && !world.set.persons && world.judge.monotone;
        if suits && !proportional(search, world) {
            k_member::clusters(search, world, false).map(Some)
        } else {
            Ok(None)
        }
    }),
    ("top-down", |search, world| {
        if world.set.rows > MANY || !search.generalizations.iter().all(|g| g.has_hierarchy) {
            return Ok(None);
        }
        Ok(Some(world.clusters(&top_down::partition(search, world.space, world.judge, world.tuple_of)?)))
    }),
];

/// Whether classes are assembled in proportion to the table: where the policy compares them with it. Assembly that
/// draws whatever is nearest takes as long then, and its classes lose more after local search.
fn proportional(search: &Search<'_>, world: &World<'_>) -> bool {
    compares(search) && bucket_assembly::suits(world, PROPORTIONAL)
}

fn compares(search: &Search<'_>) -> bool {
    search.requirements.iter().any(|r| r.models.iter().any(|m| m.compares_with_table()))
}

fn compete(search: &Search<'_>, world: &World<'_>) -> Result<(Vec<Cluster>, Vec<String>), SearchError> {
    // The share of the worst possible loss, which is what people know as GCP.
    let scale = 1.0 / (search.set.rows as f64 * world.space.width() as f64).max(1.0);
    let mut random = Random::new(search.seed);
    // The first is the quickest and always runs; the others run side by side, as long as there is time.
    let in_time = Search { control: search.control.stopping_when_overdue(), ..search.clone() };
    let ran = |i: usize| {
        let search_of = if i > 0 { &in_time } else { search };
        match search_of.checkpoint().and_then(|()| CANDIDATES[i].1(search_of, world)) {
            Err(SearchError::Cancelled) if search.checkpoint().is_ok() => Ok((i, None)),
            result => result.map(|clusters| (i, Some(clusters))),
        }
    };
    let mut runs = vec![ran(0)?];
    search.tell(0.1);
    runs.extend((1..CANDIDATES.len()).into_par_iter().map(ran).collect::<Result<Vec<_>, SearchError>>()?);
    search.tell(0.4);
    let passed_over: Vec<&str> = runs.iter().filter(|r| r.1.is_none()).map(|r| CANDIDATES[r.0].0).collect();
    let mut candidates: Vec<Candidate> = (runs.into_iter())
        .filter_map(|(i, clusters)| {
            let clusters = clusters??;
            Some(Candidate { name: CANDIDATES[i].0, first: cluster::total(&clusters), clusters })
        })
        .collect();
    let least = candidates.iter().map(|c| c.first).fold(f64::INFINITY, f64::min);
    // Where classes must be like the table, local search is slow, and starts tell more.
    let chance = if compares(search) { CHANCE_LIKE_TABLE } else { CHANCE };
    for candidate in candidates.iter_mut().filter(|c| c.first <= chance * least) {
        let effort = Effort { rounds: TRIAL, share: 0.0, deadline: search.control.deadline };
        candidate.clusters = refine(world, search, std::mem::take(&mut candidate.clusters), effort, &mut random)?;
    }
    search.tell(0.6);
    candidates.sort_by(|a, b| cluster::total(&a.clusters).total_cmp(&cluster::total(&b.clusters)));
    let tried: Vec<String> = (candidates.iter())
        .map(|c| format!("{} {:.4} ({:.4} at first)", c.name, cluster::total(&c.clusters) * scale, c.first * scale))
        .collect();
    let mut candidates = candidates.into_iter();
    let Some(winner) = candidates.next() else {
        return Err(SearchError::Unsupported("no local algorithm suits this policy".to_string()));
    };
    let rounds = (1_500_000 / search.set.rows.max(1)).clamp(4, 50) as usize;
    let effort = Effort { rounds, share: SHARE, deadline: search.control.deadline };
    let (name, first) = (winner.name, winner.first);
    let mut clusters = refine(world, search, winner.clusters, effort, &mut random)?;
    if let Some(deadline) = search.control.deadline {
        let begun = Instant::now();
        let time = deadline.saturating_duration_since(begun).as_secs_f64();
        let spent = || if time > 0.0 { begun.elapsed().as_secs_f64() / time } else { 1.0 };
        let told = |loss: f64| {
            search.tell(0.7 + 0.3 * spent().min(1.0));
            (search.control.improvement)(Improvement::Loss(loss * scale));
        };
        clusters = anneal(world, search, clusters, &spent, &told)?;
    }
    let last = cluster::total(&clusters);
    let mut notes = vec![format!(
        "{name} won: its share of the worst possible loss is {:.4}, and {:.4} after local search",
        first * scale,
        last * scale
    )];
    if tried.len() > 1 {
        notes.push(format!(
            "candidates, those near the best after {TRIAL} rounds of local search: {}",
            tried.join(", ")
        ));
    }
    if !passed_over.is_empty() {
        notes.push(format!("out of time for {}", passed_over.join(", ")));
    }
    search.tell(1.0);
    Ok((clusters, notes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::local::class::Judge;
    use crate::local::fixture::Fixture;
    use crate::local::shape::Space;
    use crate::parameter::Parameters;

    #[test]
    fn every_class_satisfies_the_policy() {
        Fixture::trial("portfolio", &Parameters::default());
    }

    #[test]
    fn nothing_loses_less() {
        let fixture = Fixture::random(9, 120, false);
        for requirements in fixture.policies() {
            fixture.search(&requirements, &Parameters::default(), |search| {
                let space = Space::new(search.generalizations);
                let judge = Judge::new(search).unwrap();
                let tuple_of = search.set.tuple_of_entry();
                let world = World { set: search.set, tuple_of: &tuple_of, space: &space, judge: &judge };
                let best = cluster::total(&compete(search, &world).unwrap().0);
                for (name, run) in CANDIDATES {
                    if let Some(clusters) = run(search, &world).unwrap() {
                        let other = cluster::total(&clusters);
                        assert!(best <= other + 1e-9, "{name}: {other} < {best} for {}", requirements[0].model.id);
                    }
                }
            });
        }
    }

    #[test]
    fn a_candidate_that_is_not_found_in_time_is_given_up() {
        let fixture = Fixture::random(4, 90, false);
        for requirements in fixture.policies() {
            fixture.search(&requirements, &Parameters::default(), |search| {
                let (space, judge) = (Space::new(search.generalizations), Judge::new(search).unwrap());
                let tuple_of = search.set.tuple_of_entry();
                let world = World { set: search.set, tuple_of: &tuple_of, space: &space, judge: &judge };
                let control = Control { deadline: Some(Instant::now()), ..search.control };
                let late = search.clone().with_control(control.stopping_when_overdue());
                for (name, run) in CANDIDATES {
                    assert!(matches!(run(&late, &world), Ok(None) | Err(SearchError::Cancelled)), "{name}");
                }
            });
        }
    }

    #[test]
    fn a_deadline_in_the_past_still_gives_a_release() {
        let fixture = Fixture::random(4, 90, false);
        let requirements = &fixture.policies()[0];
        fixture.search(requirements, &Parameters::default(), |search| {
            let search = Search {
                control: Control { deadline: Some(Instant::now()), ..search.control },
                max_suppression: search.max_suppression.clone(),
                ..*search
            };
            let found = Portfolio.search(&search).unwrap();
            fixture.check(&found.recoding, requirements);
            assert!(found.notes.iter().any(|n| n.contains("out of time")));
        });
    }
}
