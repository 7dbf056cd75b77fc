//! Risk, class sizes and attacks, as a report holds them.

use amidst_core::attack::{self, Findings, Published};
use amidst_core::exact::Rational;
use amidst_core::risk::Risk;
use rayon::prelude::*;

use super::content::{AttackReport, FindingsReport, RiskReport, Sides, SizeBin};
use crate::json;
use crate::population::PopulationRisk;

/// The risk above which regulators (Health Canada, the European Medicines Agency) call a person at risk, in its two
/// readings: 0.09 to the letter, which a class of 11 exceeds (1/11 = 0.0909…) and a class of 12 does not; and 1/11, which
/// 0.09 rounds, and which asks for classes of 11.
pub fn thresholds() -> [Rational; 2] {
    [Rational::ratio(9, 100), Rational::ratio(1, 11)]
}

/// Risk as a report holds it.
pub fn risk(risk: &Risk, population: PopulationRisk) -> RiskReport {
    let [above, lenient] = thresholds().map(|t| risk.above(&t));
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

/// What every attack that applies learns about every sensitive column of a published table, and of the table it was
/// made from.
pub fn attacks(before: Option<&Published<'_>>, after: &Published<'_>) -> Vec<AttackReport> {
    let columns = 0..after.sensitive.len();
    let found: Vec<_> = columns
        .into_par_iter()
        .map(|column| {
            let (original, published) = rayon::join(
                || before.map(|b| attack::audit(b, column)).unwrap_or_default(),
                || attack::audit(after, column),
            );
            (column, original, published)
        })
        .collect();
    let mut reports = Vec::new();
    for (column, original, published) in found {
        for (entry, findings) in published {
            // An attack that does not apply to the column has nothing to tell.
            let Ok(findings) = findings else { continue };
            let same = original.iter().find(|(e, _)| e.id == entry.id);
            reports.push(AttackReport {
                id: entry.id.to_string(),
                title: entry.title.to_string(),
                assumes: entry.assumes.to_string(),
                definition: entry.definition.to_string(),
                citation: entry.citation.to_string(),
                column: after.sensitive[column].name.clone(),
                findings: Sides {
                    before: same.and_then(|(_, f)| f.as_ref().ok()).map(findings_report),
                    after: findings_report(&findings),
                },
            });
        }
    }
    reports
}

/// Findings as a report holds them.
pub fn findings_report(findings: &Findings) -> FindingsReport {
    FindingsReport {
        classes: findings.classes,
        rows: findings.rows,
        persons: findings.persons,
        figures: findings.figures.iter().map(|(name, x)| (name.clone(), json::number(*x))).collect(),
    }
}
