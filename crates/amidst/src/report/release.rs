//! The report of a release, with everything told before and after.

use amidst_core::attack::{Published, labels_of_table};
use amidst_core::class::Sizes;
use amidst_core::frequency::FrequencySet;
use amidst_core::hierarchy::TOP;
use amidst_core::requirement::Evaluator;
use amidst_core::risk::Risk;
use amidst_core::search::Found;
use amidst_core::{algorithm, frequency, metric};

use super::content::{
    Audience, Digest, Method, MetricReport, Report, RequirementReport, Rows, Sides, Subject, UtilityReport,
};
use super::loss_bound::LossBound;
use super::public::{self, PublicContext, PublicFigures};
use super::view::View;
use super::{columns, figures, partition, suppression, worst};
use crate::control_group::{ControlGroup, control_group};
use crate::json::Figures;
use crate::plan::metric_of;
use crate::policy::Policy;
use crate::population::Population;
use crate::prepare::Prepared;
use crate::release::{Joined, Judged, Released};
use crate::report::{Policies, Reports};
use crate::unique::{UniqueRows, accepted};
use crate::{Failure, TOOL, utility};

/// A release that was made but not yet published.
pub(crate) struct Made<'a> {
    pub policy: &'a Policy,
    pub prepared: &'a Prepared,
    pub algorithm: &'static algorithm::Entry,
    pub found: &'a Found,
    pub judged: &'a Judged,
    pub released: &'a Released,
    /// Rows that waived protection and joined the classes of others.
    pub joined: Option<&'a Joined>,
    /// The policy, as it is handed over and as its owner keeps it.
    pub policies: &'a Policies,
    /// Rows that no other row agrees with; none where another engine holds them.
    pub unique: Option<UniqueRows>,
}

/// The reports on a release, the digests of whose files are not known yet. The public one still lacks the requirements,
/// which are told as the checker measured them.
pub(crate) fn of_release(made: &Made<'_>) -> Result<Reports, Failure> {
    let Made { policy, prepared, found, judged, released, .. } = *made;
    let set = &prepared.set;
    let recoding = &found.recoding;
    let sizes = Sizes::collect(set.groups.iter().filter(|e| !e.is_empty()).map(frequency::size));
    let original_risk = Risk::of(&sizes);
    // The rows of a table that was rolled up before it was gathered are not known here.
    let rows_known = !set.rolled_up();
    let originals = columns::Originals {
        rounded_to: if judged.suppressed == 0 { 1 } else { judged.risk.smallest.unwrap_or(1) },
        sensitive: suppression::tells_nobody(policy, prepared, released, judged.suppressed),
    };

    let original_labels = labels_of_table(set, &prepared.table, &prepared.quasi);
    let original = Published::new(set, &set.groups, &prepared.domains).with_labels(&original_labels);
    // Classes that others have joined are counted with them.
    let counted = made.joined.map_or(set, |joined| &joined.set);
    let quasi: Vec<&str> = prepared.generalizations.iter().map(|g| g.name.as_str()).collect();
    let population = Population::of(policy, &quasi)?;
    let view = View::of(counted, &judged.classes, recoding, &prepared.generalizations, &prepared.domains);
    let (seen, before) = rayon::join(
        || PublicFigures::of(view, &prepared.sets, &population),
        || if rows_known { figures::attacks(&original) } else { Vec::new() },
    );
    let seen = seen?;

    let requirements = requirements(made, counted);

    let mut report = Report {
        tool: TOOL.to_string(),
        subject: Subject::Release,
        audience: Audience::Owner,
        summary: Vec::new(),
        release: figures::told(policy, &seen.risks, &seen.sets),
        leading: 0,
        rows: rows(made),
        unique_rows: made.unique.map(Into::into),
        accepted: accepted(policy, &prepared.header),
        method: Some(method(made)?),
        columns: columns::of_release(policy, prepared, recoding, released, originals),
        requirements,
        risk: Sides {
            before: match rows_known {
                true => Some(figures::risk(&original_risk, population.against(&original, &original_risk)?)),
                false => None,
            },
            after: seen.risks.clone(),
        },
        sets: seen.sets.clone(),
        attacks: figures::compare(seen.attacks.clone(), before),
        control_group: control(made),
        fidelity: rows_known.then(|| utility::fidelity(prepared, recoding)),
        metrics: judged.metrics.iter().filter_map(metric_report).collect(),
        utility: useful(made)?,
        partition: partition::partition(recoding, &prepared.generalizations, &judged.classes),
        class_sizes: Sides {
            before: rows_known.then(|| figures::class_sizes(&original_risk)),
            after: figures::class_sizes(&seen.risk),
        },
        suppression: Some(suppression::suppression(policy, prepared, recoding, judged.suppressed)),
        digests: vec![Digest {
            of: "the resolved policy".to_string(),
            sha256: crate::check::sha256_hex(made.policies.internal.as_bytes()),
        }],
        policy: made.policies.internal.clone(),
    };
    report.summarize();
    let told = PublicContext {
        policy: &policy.public_form(),
        text: &made.policies.public,
        rows: report.rows.clone(),
        columns: &report.columns,
        unique: report.unique_rows.clone(),
        accepted: report.accepted.clone(),
    };
    Ok(Reports { public: public::of(&seen, told), internal: report })
}

/// Attacks on people who are in the release and on people who are not, where the rows are here.
fn control(made: &Made<'_>) -> Option<ControlGroup> {
    let Made { policy, prepared, found, judged, released, .. } = *made;
    let classes = released.class_of_row.as_deref().filter(|_| !prepared.set.rolled_up() && made.joined.is_none())?;
    control_group(prepared, &found.recoding, &judged.classes, classes, policy.search.seed)
}

/// What was required, and the worst class for each.
fn requirements(made: &Made<'_>, counted: &FrequencySet) -> Vec<RequirementReport> {
    let Made { policy, prepared, judged, .. } = *made;
    let recoding = &made.found.recoding;
    let cells = |class: usize, _: u64| {
        let cells = recoding.classes.get(class)?;
        let label = |(g, cell): (&amidst_core::hierarchy::Generalization, _)| {
            let label = if recoding.masked == Some(class as u32) { TOP.into() } else { g.label(cell) };
            (g.name.clone(), label.to_string())
        };
        Some(prepared.generalizations.iter().zip(cells).map(label).collect::<Figures>())
    };
    let evaluator = Evaluator::of_release(counted, &prepared.requirements, &judged.classes);
    if judged.sets.is_empty() {
        let stated = policy.requirements.iter().zip(&judged.requirements).enumerate();
        return stated
            .map(|(at, (stated, verdict))| worst::requirement(stated, verdict, &evaluator, at, &judged.classes, cells))
            .collect();
    }
    worst::of_sets(
        policy,
        &prepared.generalizations,
        (&prepared.sets, &judged.sets),
        &judged.requirements,
        &evaluator,
        0,
    )
}

/// How many rows went where.
fn rows(made: &Made<'_>) -> Rows {
    let Made { prepared, judged, released, .. } = *made;
    Rows {
        input: prepared.rows_in,
        dropped_missing: prepared.rows_dropped_missing,
        suppressed: judged.suppressed,
        published: released.rows(),
        waived: released.waived.len() as u64,
        joined: made.joined.map_or(0, |joined| {
            let all = prepared.waived.as_ref().map_or(0, |w| w.rows.len() as u64);
            all.saturating_sub(joined.refused)
        }),
        counterfeits: released.counterfeits.unwrap_or(0),
        separate: made.joined.is_some_and(|joined| joined.separate),
        classes: judged.class_count(),
        persons: prepared.set.persons,
    }
}

/// How the release was found.
fn method(made: &Made<'_>) -> Result<Method, Failure> {
    let Made { policy, found, judged, .. } = *made;
    Ok(Method {
        algorithm: made.algorithm.id.to_string(),
        title: made.algorithm.title.to_string(),
        definition: made.algorithm.definition.to_string(),
        citation: made.algorithm.citation.to_string(),
        recoding: match (&found.recoding.levels, &found.coding) {
            (Some(_), _) => "full-domain",
            (None, Some(_)) => "cell suppression",
            (None, None) => "local",
        },
        optimal: found.optimal,
        gap: found.gap,
        bound: bound(policy, found, judged)?,
        metric: metric_of(policy)?.id.to_string(),
        seed: policy.search.seed,
        notes: notes(made),
    })
}

/// How far the release is from the best at the most.
fn bound(policy: &Policy, found: &Found, judged: &Judged) -> Result<Option<LossBound>, Failure> {
    let metric = metric_of(policy)?.id;
    let loss = judged.metrics.iter().find(|m| m.0 == metric).and_then(|m| m.1);
    Ok(LossBound::of(metric, found.least_loss, loss))
}

/// What the search wants people to know, and what could not be looked at.
fn notes(made: &Made<'_>) -> Vec<String> {
    let Made { prepared, found, .. } = *made;
    let mut notes = crate::release::warnings(made.policy, prepared, made.algorithm, made.judged, made.joined);
    notes.extend(found.notes.iter().cloned());
    if prepared.set.rolled_up() && found.recoding.levels.is_none() {
        notes.push(
            "The table has too many distinct combinations to be gathered; it was cut where it is, and its parts were \
             finished one by one. What compares the release with single values is left out."
                .to_string(),
        );
    } else if prepared.set.rolled_up() {
        let floor = prepared.generalizations.iter().zip(&prepared.set.floor);
        let levels: Vec<String> = floor.map(|(g, level)| format!("{} {level}", g.name)).collect();
        notes.push(format!(
            "The table has too many distinct combinations to be gathered; it was looked at from these levels up: {}. Every \
             other node was searched or ruled out on its own. What compares the release with single values is left out.",
            levels.join(", ")
        ));
    }
    notes
}

fn metric_report(&(id, value): &(&'static str, Option<f64>)) -> Option<MetricReport> {
    let entry = metric::find(id)?;
    Some(MetricReport {
        id: id.to_string(),
        title: entry.title.to_string(),
        definition: entry.definition.to_string(),
        value: value.filter(|v| v.is_finite()),
    })
}

/// What an analyst can still do: counts on the release, and the prediction of the policy's target.
fn useful(made: &Made<'_>) -> Result<Vec<UtilityReport>, Failure> {
    let Made { policy, prepared, found, released, .. } = *made;
    let mut figures = Vec::new();
    let seed = policy.search.seed;
    // The classes are counted already, unless others have joined them since.
    let own = made.joined.map(|_| found.recoding.groups(&prepared.set).0);
    let groups = own.as_ref().unwrap_or(&made.judged.classes);
    let counts = utility::query_error(&prepared.set, &prepared.generalizations, &found.recoding, groups, seed);
    if let Some(error) = counts.filter(|_| !prepared.set.rolled_up()) {
        figures.push(UtilityReport {
            id: "query-error".to_string(),
            title: "mean relative error of counts".to_string(),
            before: None,
            after: error,
            definition: format!(
                "{} random COUNT queries over quasi columns and the first sensitive column, answered by the release; 0 is exact",
                utility::QUERIES
            ),
        });
    }
    // A classifier learns from rows, and an engine that only counted has none here.
    let Some(target) = utility::target(policy, prepared)?.filter(|_| prepared.weights.is_none()) else {
        return Ok(figures);
    };
    let features: Vec<&str> = prepared.generalizations.iter().map(|g| g.name.as_str()).collect();
    if let Some(accuracy) =
        utility::classification(&prepared.table, &released.table, &released.order, &features, target)
    {
        figures.push(UtilityReport {
            id: "classification".to_string(),
            title: format!("accuracy of predicting {target}"),
            before: Some(accuracy.input),
            after: accuracy.release,
            definition: format!(
                "naive Bayes on the quasi columns, cross-validated; always guessing the most frequent value is right {:.4} \
                 of the time",
                accuracy.baseline
            ),
        });
    }
    Ok(figures)
}
