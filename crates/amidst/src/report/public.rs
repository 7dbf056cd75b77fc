//! The report that may be handed over with a release.
//!
//! Nothing here knows the input. What the page says follows from the release as its recipients see it ([`View`]), from
//! what the independent checker found in it, from the policy without its paths, and from three counts that the owner
//! tells: rows read, dropped and suppressed. Two inputs that publish the same rows have the same public report.

use amidst_check::{Accepted, Requirement};
use amidst_core::metric::OF_SIZES;
use amidst_core::{metric, model, risk::Risk};

use super::content::{
    AttackReport, Audience, ColumnReport, Digest, MetricReport, Report, RequirementReport, RiskReport, Rows, Sides,
    Subject, Suppression, UniqueReport, WorstClass,
};
use super::sets::SetReport;
use super::view::View;
use super::{columns, figures, sets, suppression};
use crate::json::open_bounds;
use crate::plan::stated_k;
use crate::policy::Policy;
use crate::population::Population;
use crate::{Failure, TOOL};

/// The figures of a release that anybody can compute who has it.
pub(crate) struct PublicFigures {
    /// The release.
    pub view: View,
    /// Its risk.
    pub risk: Risk,
    /// The same as a report holds it, with what a population adds.
    pub risks: RiskReport,
    /// The sets of quasi columns, where the policy has several.
    pub sets: Vec<SetReport>,
    /// What attacks learn.
    pub attacks: Vec<AttackReport>,
}

impl PublicFigures {
    /// Looks at a release.
    pub fn of(view: View, sets: &[Vec<usize>], population: &Population) -> Result<PublicFigures, Failure> {
        let published = view.published();
        let risk = view.risk();
        let risks = figures::risk(&risk, population.against(&published, &risk)?);
        let attacks = figures::attacks(&published);
        let sets = sets::of_view(&view, sets);
        Ok(PublicFigures { risk, risks, sets, attacks, view })
    }
}

/// What is told beside the release itself.
pub(crate) struct PublicContext<'a> {
    /// The policy without its paths.
    pub policy: &'a Policy,
    /// Its text.
    pub text: &'a str,
    /// The counts of rows.
    pub rows: Rows,
    /// The columns, of which only what is published is taken over.
    pub columns: &'a [ColumnReport],
    /// The published rows that no other agrees with.
    pub unique: Option<UniqueReport>,
    /// The reasons that the policy gives for columns which may single people out.
    pub accepted: Vec<Accepted>,
}

/// The public report, without the requirements, which the checker measures.
pub(crate) fn of(seen: &PublicFigures, told: PublicContext<'_>) -> Report {
    let PublicContext { policy, text, rows, columns, unique, accepted } = told;
    let mut report = Report {
        tool: TOOL.to_string(),
        subject: Subject::Release,
        audience: Audience::Recipient,
        summary: Vec::new(),
        release: figures::told(policy, &seen.risks, &seen.sets),
        leading: 0,
        unique_rows: unique,
        accepted,
        // Who of the published waived protection and joined is known to the owner alone.
        rows: Rows { joined: 0, persons: seen.view.set.persons, classes: seen.risk.classes, ..rows.clone() },
        method: None,
        columns: columns::published(policy, columns),
        requirements: Vec::new(),
        risk: Sides { before: None, after: seen.risks.clone() },
        sets: seen.sets.clone(),
        attacks: seen.attacks.clone(),
        control_group: None,
        fidelity: None,
        metrics: metrics(policy, seen, &rows),
        utility: Vec::new(),
        partition: None,
        class_sizes: Sides { before: None, after: figures::class_sizes(&seen.risk) },
        suppression: Some(Suppression { reasons: Vec::new(), ..suppression::stated(policy, rows.suppressed) }),
        digests: vec![Digest { of: "the policy".to_string(), sha256: crate::check::sha256_hex(text.as_bytes()) }],
        policy: text.to_string(),
    };
    report.summarize();
    report
}

/// The metrics that class sizes and the told counts determine.
fn metrics(policy: &Policy, seen: &PublicFigures, rows: &Rows) -> Vec<MetricReport> {
    let classes: Vec<(u64, bool)> = seen.view.class_rows().collect();
    if seen.view.set.persons || classes.is_empty() {
        return Vec::new();
    }
    let masked = policy.search.suppressed == amidst_core::search::Suppressed::Mask && rows.suppressed > 0;
    let published: u64 = classes.iter().map(|c| c.0).sum();
    let all = published + if masked { 0 } else { rows.suppressed };
    let squares = classes.iter().filter(|c| !(masked && c.1)).map(|c| (c.0 as f64) * (c.0 as f64));
    let discernibility = squares.sum::<f64>() + rows.suppressed as f64 * all as f64;
    let average = published as f64 / classes.len() as f64 / stated_k(policy) as f64;
    let figures = [(OF_SIZES[0].id, average), (OF_SIZES[1].id, discernibility)];
    let report = |(id, value): (&str, f64)| {
        let entry = metric::find(id)?;
        Some(MetricReport {
            id: id.to_string(),
            title: entry.title.to_string(),
            definition: entry.definition.to_string(),
            value: Some(value),
        })
    };
    figures.into_iter().filter_map(report).collect()
}

/// Requirements as the checker measured them on the release.
pub(crate) fn requirements(checked: &[Requirement]) -> Vec<RequirementReport> {
    let report = |r: &Requirement| {
        let entry = model::find(&r.model)?;
        Some(RequirementReport {
            model: r.model.clone(),
            title: entry.title.to_string(),
            definition: entry.definition.to_string(),
            citation: entry.citation.to_string(),
            on: r.on.as_ref().map(|on| on.names().to_vec()).unwrap_or_default(),
            quasi: r.quasi.clone(),
            parameters: r.parameters.clone().into(),
            holds: r.holds,
            open: open_bounds(&r.model, &r.measured.clone().into()),
            measured: r.measured.clone().into(),
            worst: r.worst.as_ref().map(|worst| WorstClass {
                cells: Some(worst.cells.clone().into()),
                size: worst.size,
                measured: worst.figures.clone().into(),
            }),
        })
    };
    checked.iter().filter_map(report).collect()
}

impl Report {
    /// Takes over what the checker measured.
    pub(crate) fn measured(&mut self, checked: &[Requirement]) {
        self.requirements = requirements(checked);
        self.summarize();
    }
}
