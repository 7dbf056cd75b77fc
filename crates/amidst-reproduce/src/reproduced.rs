//! The outcomes of a run, with counts and as JSON.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::experiment::{Experiment, Verdict};
use crate::results::Finished;

/// The outcomes of a run.
#[derive(Debug, Clone)]
pub struct Reproduced {
    /// A description of the data.
    pub data: String,
    /// Whether they are a stand-in.
    pub stand_in: bool,
    /// The experiments with their outcomes.
    pub experiments: Vec<(&'static Experiment, Finished)>,
    /// The path of the page, if it was written.
    pub page: Option<PathBuf>,
}

impl Reproduced {
    /// The number of claims by verdict; the number of printed numbers that agree, and of all.
    pub fn tally(&self) -> ([usize; 3], usize, usize) {
        let outcomes = || self.experiments.iter().map(|(_, finished)| &finished.outcome);
        let with = |verdict: Verdict| outcomes().flat_map(|o| &o.claims).filter(|c| c.verdict == verdict).count();
        let printed = || outcomes().flat_map(|o| &o.printed);
        let verdicts = [Verdict::Holds, Verdict::DoesNotHold, Verdict::Impossible].map(with);
        (verdicts, printed().filter(|p| p.agrees).count(), printed().count())
    }

    /// All of it as JSON.
    pub fn to_json(&self) -> Value {
        let experiments: Vec<Value> = (self.experiments.iter())
            .map(|(experiment, finished)| {
                json!({
                    "id": experiment.id,
                    "paper": experiment.paper.id(),
                    "place": experiment.place,
                    "title": experiment.title,
                    "claim": experiment.claim,
                    "measured": experiment.measured,
                    "departures": experiment.departures,
                    "seconds": finished.seconds,
                    "outcome": finished.outcome,
                })
            })
            .collect();
        let ([holds, fails, impossible], agreeing, printed) = self.tally();
        json!({
            "tool": amidst::TOOL,
            "data": self.data,
            "stand_in": self.stand_in,
            "claims": {"holds": holds, "does-not-hold": fails, "impossible": impossible},
            "printed_numbers": printed,
            "printed_numbers_found": agreeing,
            "experiments": experiments,
        })
    }
}
