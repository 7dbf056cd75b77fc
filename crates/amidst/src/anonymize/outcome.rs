//! What an anonymization tells about itself: verdicts, metrics, risk, times, and the files it wrote.

use std::path::PathBuf;

use amidst_core::class::Sizes;
use amidst_core::frequency::{self, Groups};
use amidst_core::hierarchy::Cell;
use amidst_core::local::Crowd;
use amidst_core::metric::{METRICS, Release, kl_baseline};
use amidst_core::model::Needs;
use amidst_core::own_distribution::compares;
use amidst_core::recoding::{Assignment, Recoding};
use amidst_core::requirement::Evaluator;
use amidst_core::risk::Risk;
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::choose::stated_k;
use super::join::Joined;
use crate::json::{number, requirement};
use crate::policy::Policy;
use crate::population::PopulationRisk;
use crate::prepare::Prepared;
use crate::report::Report;
use crate::unique::UniqueRows;

/// A finished anonymization.
#[derive(Debug)]
pub struct Anonymized {
    /// The algorithm that found the release.
    pub algorithm: &'static str,
    /// Whether it is proven to be the best of its kind.
    pub optimal: bool,
    /// How far it may be from the best, when a time limit cut the search short.
    pub gap: Option<f64>,
    /// What in the policy is probably not meant.
    pub warnings: Vec<String>,
    /// What the search wants people to know.
    pub notes: Vec<String>,
    /// The level of each quasi column, for full-domain releases.
    pub levels: Option<Vec<(String, usize)>>,
    /// Rows of the input.
    pub rows_in: u64,
    /// Rows of it that were dropped because a value was unknown.
    pub rows_dropped_missing: u64,
    /// Rows of the release.
    pub rows_out: u64,
    /// Verdicts, metrics and risk.
    pub judged: Judged,
    /// Rows that no other row agrees with.
    pub unique: UniqueRows,
    /// Rows published unprotected, because their owner waived protection.
    pub waived: u64,
    /// Everything that the internal report says.
    pub report: Report,
    /// How long it took.
    pub seconds: Seconds,
    /// What was written.
    pub outputs: Outputs,
}

/// How long each stage took.
#[derive(Debug, Clone, Copy)]
pub struct Seconds {
    /// Reading and preparing the table.
    pub read: f64,
    /// Searching and judging the recoding.
    pub search: f64,
    /// Checking the release.
    pub check: f64,
    /// Writing it.
    pub write: f64,
    /// Everything.
    pub total: f64,
}

/// The files of a release.
#[derive(Debug, Clone, Default)]
pub struct Outputs {
    /// The table.
    pub release: PathBuf,
    /// What it satisfies.
    pub certificate: PathBuf,
    /// The resolved policy that may be handed over.
    pub policy: Option<PathBuf>,
    /// The report that may be handed over.
    pub report: Option<PathBuf>,
    /// The resolved policy that stays with the owner.
    pub internal_policy: Option<PathBuf>,
    /// The report that stays with the owner.
    pub internal_report: Option<PathBuf>,
}

/// What a recoding satisfies and costs.
#[derive(Debug)]
pub struct Judged {
    /// The classes as they are published, masked rows included.
    pub classes: Groups,
    /// Rows that were suppressed, dropped or masked.
    pub suppressed: u64,
    /// Each requirement, as JSON says it.
    pub requirements: Vec<Value>,
    /// Whether all of them hold.
    pub holds: bool,
    /// Each metric; none where it is not defined.
    pub metrics: Vec<(&'static str, Option<f64>)>,
    /// The Kullback–Leibler divergence if everything were suppressed to one class.
    pub kl_baseline: Option<f64>,
    /// Re-identification risk.
    pub risk: Risk,
}

impl Judged {
    /// Judges a recoding of the prepared table.
    pub fn of(policy: &Policy, prepared: &Prepared, recoding: &Recoding, joined: Option<&Joined>) -> Self {
        let set = &prepared.set;
        let (groups, suppressed) = recoding.groups(set);
        let release = Release {
            set,
            generalizations: &prepared.generalizations,
            recoding,
            groups: &groups,
            suppressed,
            k: stated_k(policy),
        };
        let metrics = METRICS.par_iter().map(|m| (m.id, m.metric.loss(&release))).collect();
        let kl_baseline = kl_baseline(&release.input());
        let masked = recoding.masked.map_or(0, |class| frequency::rows(groups.get(class as usize)));
        // What the release costs was measured on the protected rows; what it satisfies counts everyone in it.
        let (set, groups, suppressed) = match joined {
            None => (set, groups, suppressed),
            Some(joined) => (&joined.set, joined.groups(recoding.classes.len()), suppressed + joined.refused),
        };
        // What is told is what anybody can measure who has the release; what was searched for must hold as well.
        let evaluator = Evaluator::of_release(set, &prepared.requirements, &groups);
        let searched = (suppressed > 0).then(|| Evaluator::new(set, &prepared.requirements));
        let mut holds = true;
        let requirements = (0..prepared.requirements.len())
            .map(|r| {
                let covered = Covered::of(prepared, recoding, r);
                let (satisfied, level) = evaluator.judge_covering(r, &groups, |class| covered.tuples(class));
                let compared = searched.as_ref().filter(|_| compares(&prepared.requirements[r]));
                let satisfied = satisfied && compared.is_none_or(|searched| searched.judge(r, &groups).0);
                holds &= satisfied;
                let further = evaluator.further(r, &groups);
                requirement(&policy.requirements[r], satisfied, level.iter().chain(&further))
            })
            .collect();
        let sizes = Sizes::collect(groups.iter().filter(|e| !e.is_empty()).map(frequency::size));
        let suppressed = suppressed + masked;
        Judged { suppressed, requirements, holds, metrics, kl_baseline, risk: Risk::of(&sizes), classes: groups }
    }

    /// The number of classes.
    pub fn class_count(&self) -> u64 {
        self.classes.iter().filter(|e| !e.is_empty()).count() as u64
    }

    /// The metrics as a JSON object.
    pub fn metrics_json(&self) -> Value {
        Value::Object(self.metrics.iter().map(|&(id, v)| (id.to_string(), v.map_or(Value::Null, number))).collect())
    }
}

/// The tuples that each class covers, those of a population included, where a requirement looks at them.
enum Covered<'a> {
    /// It looks at none.
    Unasked,
    /// Full-domain recodings keep tuples whole, and everyone else's are in the class of their labels.
    Whole(Vec<Vec<u32>>),
    /// The classes of local recodings may overlap: whom they match, their cells tell.
    Cells(Box<Crowd>, &'a [Vec<Cell>]),
}

impl<'a> Covered<'a> {
    fn of(prepared: &Prepared, recoding: &'a Recoding, requirement: usize) -> Self {
        let requirement = &prepared.requirements[requirement];
        let Some(population) = requirement.population.as_deref().filter(|_| requirement.needs() == Needs::Tuples)
        else {
            return Covered::Unasked;
        };
        match (&recoding.assignment, &recoding.levels) {
            (Assignment::Tuples(class_of), Some(_)) => {
                let mut covered = vec![Vec::new(); recoding.classes.len()];
                for (tuple, &class) in class_of.iter().enumerate() {
                    if let Some(tuples) = covered.get_mut(class as usize) {
                        tuples.push(tuple as u32);
                    }
                }
                Covered::Whole(covered)
            }
            _ => {
                let crowd = Crowd::new(&prepared.set, &prepared.generalizations, population);
                Covered::Cells(Box::new(crowd), &recoding.classes)
            }
        }
    }

    fn tuples(&self, class: usize) -> Vec<u32> {
        match self {
            Covered::Unasked => Vec::new(),
            Covered::Whole(tuples) => tuples.get(class).cloned().unwrap_or_default(),
            Covered::Cells(crowd, cells) => cells.get(class).map(|cells| crowd.covered(cells)).unwrap_or_default(),
        }
    }
}

impl Anonymized {
    /// What `amidst anonymize --json` prints.
    pub fn to_json(&self) -> Value {
        let levels = self.levels.as_ref().map_or(Value::Null, |levels| {
            Value::Object(levels.iter().map(|(name, level)| (name.clone(), json!(level))).collect())
        });
        let mut outputs = Map::new();
        outputs.insert("release".into(), json!(self.outputs.release));
        outputs.insert("certificate".into(), json!(self.outputs.certificate));
        outputs.insert("report".into(), json!(self.outputs.report));
        outputs.insert("policy".into(), json!(self.outputs.policy));
        outputs.insert("internal_report".into(), json!(self.outputs.internal_report));
        outputs.insert("internal_policy".into(), json!(self.outputs.internal_policy));
        let mut risk = crate::json::risk(&self.judged.risk);
        let after = &self.report.risk.after;
        let (journalist, uniques) = (after.journalist.clone(), after.population_uniques.clone());
        PopulationRisk { journalist, uniques }.add_to(&mut risk);
        let s = &self.seconds;
        let first: Vec<&String> = self.report.summary.iter().take(self.report.leading).collect();
        json!({
            "summary": first,
            "rows_in": self.rows_in,
            "rows_dropped_missing": self.rows_dropped_missing,
            "rows_out": self.rows_out,
            "suppressed": self.judged.suppressed,
            "waived": self.waived,
            "unique_rows": self.unique.to_json(),
            "accepted": self.report.accepted,
            "classes": self.judged.class_count(),
            "algorithm": self.algorithm,
            "optimal": self.optimal,
            "gap": self.gap.map_or(Value::Null, number),
            "levels": levels,
            "requirements": self.judged.requirements,
            "metrics": self.judged.metrics_json(),
            "baselines": {"kl-divergence": self.judged.kl_baseline.map_or(Value::Null, number)},
            "utility": self.report.utility,
            "risk": risk,
            "warnings": self.warnings,
            "notes": self.warnings.iter().chain(&self.notes).collect::<Vec<_>>(),
            "seconds": {
                "read": number(s.read), "search": number(s.search), "check": number(s.check),
                "write": number(s.write), "total": number(s.total),
            },
            "peak_memory_bytes": crate::memory::peak_bytes(),
            "outputs": outputs,
        })
    }
}
