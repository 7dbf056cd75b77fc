//! Risk, class sizes and attacks, as a report holds them.

use amidst_core::attack::{self, Findings, Published};
use amidst_core::risk::Risk;
use rayon::prelude::*;

use super::content::{AttackReport, FindingsReport, ReleaseReport, RiskReport, Sides, SizeBin, ThresholdReport};
use super::sets::SetReport;
use crate::policy::{Policy, ReleasePolicy};
use crate::population::PopulationRisk;

/// What the policy tells of a release whose risk is `risk`; none where it tells nothing. Where the policy has sets of
/// quasi columns, the accepted risk is that of who knows one of them.
pub fn told(policy: &Policy, risk: &RiskReport, sets: &[SetReport]) -> Option<ReleaseReport> {
    let told = &policy.release;
    let worst = sets.iter().max_by(|a, b| a.prosecutor_max.total_cmp(&b.prosecutor_max));
    let (measured, smallest) = match worst {
        Some(set) => (set.prosecutor_max, set.smallest_class),
        None => (risk.prosecutor_max, risk.smallest_class),
    };
    let threshold = told.threshold.as_ref().map(|threshold| ThresholdReport {
        name: threshold.name(),
        risk: threshold.risk().to_f64(),
        source: threshold.source().to_string(),
        measured,
        kept: smallest.is_none_or(|size| threshold.allows(size)),
    });
    (*told != ReleasePolicy::default()).then(|| ReleaseReport {
        title: told.title.clone(),
        purpose: told.purpose.clone(),
        recipient: told.recipient.clone(),
        valid_until: told.valid_until.clone(),
        threshold,
    })
}

/// Risk as a report holds it.
pub fn risk(risk: &Risk, population: PopulationRisk) -> RiskReport {
    let [above, lenient] = amidst_core::risk::thresholds().map(|t| risk.above(&t));
    RiskReport {
        prosecutor_max: risk.prosecutor_max,
        prosecutor_avg: risk.prosecutor_avg,
        marketer: risk.marketer,
        above_threshold: above.persons,
        above_threshold_share: above.share,
        above_one_in_eleven: lenient.persons,
        above_one_in_eleven_share: lenient.share,
        journalist: population.journalist,
        population_uniques: population.uniques,
        uniques: risk.sample_uniques,
        smallest_class: risk.smallest,
        largest_class: risk.largest,
        classes: risk.classes,
        persons: risk.persons,
    }
}

/// The class sizes in bins.
pub fn class_sizes(risk: &Risk) -> Vec<SizeBin> {
    let bins = risk.bins();
    bins.iter().map(|b| SizeBin { label: b.label(), classes: b.classes, persons: b.persons }).collect()
}

/// What every attack that applies learns about every sensitive column of a published table.
pub fn attacks(published: &Published<'_>) -> Vec<AttackReport> {
    let found: Vec<_> = (0..published.sensitive.len())
        .into_par_iter()
        .map(|column| (column, attack::audit(published, column)))
        .collect();
    let mut reports = Vec::new();
    for (column, found) in found {
        for (entry, findings) in found {
            // An attack that does not apply to the column has nothing to tell.
            let Ok(findings) = findings else { continue };
            reports.push(AttackReport {
                id: entry.id.to_string(),
                title: entry.title.to_string(),
                assumes: entry.assumes.to_string(),
                definition: entry.definition.to_string(),
                citation: entry.citation.to_string(),
                column: published.sensitive[column].name.clone(),
                findings: Sides { before: None, after: findings_report(&findings) },
            });
        }
    }
    reports
}

/// Sets what the same attacks learn from the original table beside what they learn from the release.
pub fn compare(mut release: Vec<AttackReport>, original: Vec<AttackReport>) -> Vec<AttackReport> {
    for attack in &mut release {
        let same = original.iter().find(|o| o.id == attack.id && o.column == attack.column);
        attack.findings.before = same.map(|o| o.findings.after.clone());
    }
    release
}

/// Findings as a report holds them.
pub fn findings_report(findings: &Findings) -> FindingsReport {
    FindingsReport {
        classes: findings.classes,
        rows: findings.rows,
        persons: findings.persons,
        figures: findings.figures.iter().map(|(name, x)| (name.clone(), *x)).collect(),
    }
}
