//! What a recoding satisfies and costs: verdicts, metrics, risk.

use amidst_core::algorithm;
use amidst_core::class::Sizes;
use amidst_core::frequency::{self, Groups};
use amidst_core::hierarchy::Cell;
use amidst_core::internal::local::class::intra_cluster_distance;
use amidst_core::internal::local::index::PopulationIndex;
use amidst_core::internal::sets::Classes as SetClasses;
use amidst_core::metric::{METRICS, Release, kl_baseline};
use amidst_core::model::Needs;
use amidst_core::recoding::{Assignment, Recoding};
use amidst_core::requirement::Evaluator;
use amidst_core::risk::Risk;
use amidst_core::search::own_distribution::compares;
use rayon::prelude::*;

use super::join::Joined;
use crate::json::RequirementVerdict;
use crate::plan::{ignored_settings, stated_k};
use crate::policy::{ConsentMode, Policy};
use crate::prepare::{Prepared, giveaway};

/// What a recoding satisfies and costs.
#[derive(Debug)]
pub struct Judged {
    /// The classes as they are published, masked rows included.
    pub classes: Groups,
    /// Rows that were suppressed, dropped or masked.
    pub suppressed: u64,
    /// What came of each requirement.
    pub requirements: Vec<RequirementVerdict>,
    /// Whether all of them hold.
    pub holds: bool,
    /// Each metric; none where it is not defined.
    pub metrics: Vec<(&'static str, Option<f64>)>,
    /// The Kullback–Leibler divergence if everything were suppressed to one class.
    pub kl_baseline: Option<f64>,
    /// The largest distance between two rows of one class (systematic clustering paper, Equation 4); none where it was
    /// not looked for.
    pub intra_cluster_distance: Option<f64>,
    /// Re-identification risk; where the policy has several sets of quasi columns, that of the worst of them.
    pub risk: Risk,
    /// The classes of each set of quasi columns, where the policy has several.
    pub sets: Vec<SetClasses>,
}

/// What `judge` says of each requirement, in each set of quasi columns where there are several: set after set.
fn of_each_set(
    prepared: &Prepared,
    classes: &Groups,
    sets: &[SetClasses],
    mut judge: impl FnMut(&Groups, usize) -> RequirementVerdict,
) -> Vec<RequirementVerdict> {
    let count = prepared.requirements.len();
    if sets.is_empty() {
        return (0..count).map(|r| judge(classes, r)).collect();
    }
    let mut all = Vec::with_capacity(count * sets.len());
    for (at, set) in sets.iter().enumerate() {
        all.extend((0..count).map(|r| judge(&set.groups, r).of_set(prepared.set_names(at))));
    }
    all
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
        // A clustering asks about it; the classes of a lattice's node are large and were not chosen by it.
        let local = recoding.levels.is_none();
        let farthest = || intra_cluster_distance(set, &prepared.generalizations, recoding);
        let intra_cluster_distance = local.then(farthest).flatten();
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
        let sets: Vec<SetClasses> = (prepared.sets.iter())
            .map(|columns| SetClasses::of(set, &prepared.generalizations, recoding, columns))
            .collect();
        let judge = |classes: &Groups, r: usize| {
            let covered = Covered::of(prepared, recoding, r);
            let (satisfied, level) = evaluator.judge_covering(r, classes, |class| covered.tuples(class));
            let compared = searched.as_ref().filter(|_| compares(&prepared.requirements[r]));
            let satisfied = satisfied && compared.is_none_or(|searched| searched.judge(r, classes).0);
            holds &= satisfied;
            let further = evaluator.further(r, classes);
            RequirementVerdict::of(&policy.requirements[r], satisfied, level.iter().chain(&further))
        };
        let requirements = of_each_set(prepared, &groups, &sets, judge);
        let sizes = |classes: &Groups| Sizes::collect(classes.iter().filter(|e| !e.is_empty()).map(frequency::size));
        let suppressed = suppressed + masked;
        // Who knows one set of columns and no other: the worst of them.
        let risks = sets.iter().map(|classes| Risk::of(&sizes(&classes.groups)));
        let higher =
            |a: Risk, b: Risk| match (a.prosecutor_max, a.prosecutor_avg) < (b.prosecutor_max, b.prosecutor_avg) {
                true => b,
                false => a,
            };
        let risk = risks.reduce(higher).unwrap_or_else(|| Risk::of(&sizes(&groups)));
        Judged {
            suppressed,
            requirements,
            holds,
            metrics,
            kl_baseline,
            intra_cluster_distance,
            risk,
            classes: groups,
            sets,
        }
    }

    /// The models of the requirements that do not hold, if there are such.
    pub fn failing(&self) -> Option<String> {
        let names: Vec<&str> = self.requirements.iter().filter(|r| !r.holds).map(|r| r.model).collect();
        (!self.holds).then(|| names.join(", "))
    }

    /// The number of classes.
    pub fn class_count(&self) -> u64 {
        self.classes.iter().filter(|e| !e.is_empty()).count() as u64
    }
}

/// The tuples that each class covers, those of a population included, where a requirement looks at them.
enum Covered<'a> {
    /// It looks at none.
    Unasked,
    /// Full-domain recodings keep tuples whole, and everyone else's are in the class of their labels.
    Whole(Vec<Vec<u32>>),
    /// The classes of local recodings may overlap: whom they match, their cells tell.
    Cells(Box<PopulationIndex>, &'a [Vec<Cell>]),
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
                let crowd = PopulationIndex::new(&prepared.set, &prepared.generalizations, population);
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

/// What people should know before they use a release: what in the policy is probably not meant, and what came of it.
pub(crate) fn warnings(
    policy: &Policy,
    prepared: &Prepared,
    algorithm: &algorithm::Entry,
    judged: &Judged,
    joined: Option<&Joined>,
) -> Vec<String> {
    // Where several algorithms competed each took what it could of the policy.
    let stated = Some(algorithm).filter(|_| policy.search.algorithm.is_some());
    let mut warnings: Vec<String> = prepared.remarks.iter().cloned().chain(ignored_settings(policy, stated)).collect();
    // Where an engine counted the rows only their combinations are here.
    if prepared.weights.is_none() {
        warnings.extend(giveaway::remarks(policy, &prepared.roles, &prepared.table));
    }
    let apart = prepared.waived.as_ref().is_some_and(|waived| waived.mode == ConsentMode::Separate);
    if apart && joined.is_some_and(|joined| !joined.separate) {
        warnings.push(
            "the rows that waived protection form no classes of their own that satisfy the policy, so each joined the \
             nearest of the others"
                .to_string(),
        );
    }
    let rows: u64 = judged.classes.entries.iter().map(|e| e.rows).sum();
    if judged.class_count() == 1 && rows > 1 {
        warnings.push(format!(
            "all {rows} rows of the release are one class: whoever is in it looks like everybody else, and the quasi columns \
             tell next to nothing. Another algorithm, such as portfolio, a weaker requirement or a larger max_suppression may \
             give more classes"
        ));
    }
    warnings
}
