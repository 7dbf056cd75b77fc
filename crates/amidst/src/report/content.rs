//! What a report says. Page, JSON and Markdown are three renderings of this one value.
//!
//! A release has two: one for its recipients, which says nothing that the release does not tell, and one for its owner.
//! Neither holds a value of an identifying, key or consent column, a quasi or sensitive value that the release does not
//! show, or a time: the same release has the same report.

use serde::Serialize;

use super::loss_bound::LossBound;
use super::partition::Partition;
use super::sets::SetReport;
pub use super::unique_rows::UniqueReport;
use crate::check::Accepted;
use crate::control_group::ControlGroup;
use crate::json::{Figures, as_on};
use crate::population::{JournalistRisk, Uniques};
use crate::utility::Fidelity;

/// Everything a report says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The program that made it, such as `amidst 0.2.0`.
    pub tool: String,
    /// What it is about.
    pub subject: Subject,
    /// Whom it is for.
    pub audience: Audience,
    /// The findings in plain words, the most important first.
    pub summary: Vec<String>,
    /// What the policy tells of the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<ReleaseReport>,
    /// How many of them come first: who stands amidst how many others, and what is published beside.
    pub leading: usize,
    /// The rows.
    pub rows: Rows,
    /// Rows that no other row agrees with; none where nobody looked.
    pub unique_rows: Option<UniqueReport>,
    /// Columns that are published although they may single people out, and why.
    pub accepted: Vec<Accepted>,
    /// How the release was found; none for an audit.
    pub method: Option<Method>,
    /// The columns, in the order of the table.
    pub columns: Vec<ColumnReport>,
    /// The requirements with their verdicts.
    pub requirements: Vec<RequirementReport>,
    /// Re-identification risk.
    pub risk: Sides<RiskReport>,
    /// The sets of quasi columns, where the policy has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<SetReport>,
    /// What each attack learns.
    pub attacks: Vec<AttackReport>,
    /// Attacks on people in the release and on people who are not, for its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_group: Option<ControlGroup>,
    /// What the release costs; less is better.
    pub metrics: Vec<MetricReport>,
    /// What the release keeps of columns and numbers, for its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Fidelity>,
    /// What an analyst can still do with the release.
    pub utility: Vec<UtilityReport>,
    /// How a local recoding cuts the table; none for full-domain releases, whose levels tell it, and for audits.
    pub partition: Option<Partition>,
    /// The sizes of the classes.
    pub class_sizes: Sides<Vec<SizeBin>>,
    /// Rows left out, and why; none for an audit.
    pub suppression: Option<Suppression>,
    /// What was published, by digest.
    pub digests: Vec<Digest>,
    /// The resolved policy; empty for an audit without one.
    pub policy: String,
}

/// What a policy tells of a release, and how the measured risk compares with the one that it accepts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReleaseReport {
    /// What it is called.
    pub title: Option<String>,
    /// What it is for.
    pub purpose: Option<String>,
    /// Who gets it.
    pub recipient: Option<String>,
    /// The last day on which it may be used.
    pub valid_until: Option<String>,
    /// The risk that is accepted.
    pub threshold: Option<ThresholdReport>,
}

impl ReleaseReport {
    /// What is stated, by its name.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        use crate::words::number;
        let threshold = self.threshold.as_ref();
        let verdict = |t: &ThresholdReport| if t.kept { "not above it" } else { "ABOVE IT" };
        let all = [
            ("data set", self.title.clone()),
            ("purpose", self.purpose.clone()),
            ("recipient", self.recipient.clone()),
            ("valid until", self.valid_until.clone()),
            ("accepted risk", threshold.map(|t| format!("{} ({})", number(t.risk), t.name))),
            ("its source", threshold.map(|t| t.source.clone())),
            ("highest risk of anyone", threshold.map(|t| format!("{}, {}", number(t.measured), verdict(t)))),
        ];
        all.into_iter().filter_map(|(name, value)| value.map(|value| (name, value))).collect()
    }
}

/// An accepted risk beside the measured one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThresholdReport {
    /// Its name, or the number.
    pub name: String,
    /// The risk.
    pub risk: f64,
    /// Where it is stated.
    pub source: String,
    /// The largest risk of anyone in the release.
    pub measured: f64,
    /// Whether that is not above it.
    pub kept: bool,
}

/// What a report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// A release that was made from a table: everything is told before and after.
    Release,
    /// A table as it stands.
    Audit,
}

/// Whom a report is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Audience {
    /// The owner of the table: it may tell what was there before.
    #[serde(rename = "internal")]
    Owner,
    /// The recipient of the release: everything in it follows from the release, the policy and three counts of rows.
    #[serde(rename = "public")]
    Recipient,
}

/// The same figures of the original table and of the published one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sides<T> {
    /// Of the original table; none for an audit, which knows only one table.
    pub before: Option<T>,
    /// Of the table that is published or audited.
    pub after: T,
}

/// How many rows there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rows {
    /// Rows that were read.
    pub input: u64,
    /// Rows left out because a value is unknown.
    pub dropped_missing: u64,
    /// Rows suppressed.
    pub suppressed: u64,
    /// Rows of the release.
    pub published: u64,
    /// Rows published as they are, because their owner waived protection.
    pub waived: u64,
    /// Rows whose owner waived protection and that joined the classes of others.
    pub joined: u64,
    /// Rows that stand for nobody, where a series needs such rows.
    pub counterfeits: u64,
    /// Whether those rows are in classes of their own instead.
    pub separate: bool,
    /// Classes.
    pub classes: u64,
    /// Whether sizes count persons, some of whom have several rows.
    pub persons: bool,
}

/// How a release was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Method {
    /// The algorithm.
    pub algorithm: String,
    /// Its name in prose.
    pub title: String,
    /// What it does.
    pub definition: String,
    /// Where it comes from.
    pub citation: String,
    /// `full-domain` or `local`.
    pub recoding: &'static str,
    /// Whether the release is proven to be the best of its kind.
    pub optimal: bool,
    /// How far it may be from the best, where a time limit cut the search short.
    pub gap: Option<f64>,
    /// What no release of this kind can be below, where that was proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<LossBound>,
    /// What "best" means.
    pub metric: String,
    /// Where randomness starts.
    pub seed: u64,
    /// What the search wants people to know.
    pub notes: Vec<String>,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnReport {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: &'static str,
    /// What was done to it.
    pub technique: String,
    /// The level of a full-domain release, with the height of the hierarchy.
    pub level: Option<(usize, usize)>,
    /// Distinct values; nothing for columns that are not read.
    pub distinct: Option<Sides<u64>>,
    /// Rows whose cell is published as it was, generalized, and fully generalized; for quasi columns of a release.
    pub detail: Option<Detail>,
    /// Rows by published label.
    pub histogram: Vec<Bar>,
    /// Labels that are too many to list, or too rare to show.
    pub others: Option<Others>,
    /// What the counts of the original table are rounded up to a multiple of; 1 when they are exact.
    pub rounded_to: u64,
}

/// How much of a quasi column is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Detail {
    /// Rows whose cell is an original value.
    pub exact: u64,
    /// Rows whose cell covers several values.
    pub generalized: u64,
    /// Rows whose cell says nothing.
    pub top: u64,
}

/// One label of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bar {
    /// The label.
    pub label: String,
    /// Original rows under this label; none where telling would reveal more than the release.
    pub before: Option<u64>,
    /// Published rows.
    pub after: u64,
}

/// Labels that are not listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Others {
    /// How many.
    pub labels: u64,
    /// Their published rows.
    pub after: u64,
}

/// One requirement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequirementReport {
    /// The model.
    pub model: String,
    /// Its name in prose.
    pub title: String,
    /// When a class satisfies it.
    pub definition: String,
    /// Where it is defined.
    pub citation: String,
    /// The sensitive columns.
    #[serde(serialize_with = "as_on")]
    pub on: Vec<String>,
    /// The set of quasi columns whose classes are meant, where the policy has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quasi: Option<Vec<String>>,
    /// The stated parameters.
    pub parameters: Figures,
    /// Whether it holds.
    pub holds: bool,
    /// The strongest parameter that holds.
    pub measured: Figures,
    /// Those of `measured` that are a bound which does not hold itself: the definition says "less than".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// The class that comes closest to breaking it.
    pub worst: Option<WorstClass>,
}

/// A class, by its published cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstClass {
    /// The cells; none where the class is so small that they would point at someone.
    pub cells: Option<Figures>,
    /// The persons in it.
    pub size: u64,
    /// What it reaches.
    pub measured: Figures,
}

/// Re-identification risk.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RiskReport {
    /// The largest risk of anyone.
    pub prosecutor_max: f64,
    /// The average.
    pub prosecutor_avg: f64,
    /// The share that a marketer links rightly.
    pub marketer: f64,
    /// Persons whose risk exceeds the regulators' 0.09 to the letter: those in classes up to 11.
    pub above_threshold: u64,
    /// Their share.
    pub above_threshold_share: f64,
    /// Persons whose risk exceeds 1/11, which 0.09 rounds: those in classes up to 10.
    pub above_one_in_eleven: u64,
    /// Their share.
    pub above_one_in_eleven_share: f64,
    /// Persons alone in their class.
    pub uniques: u64,
    /// The smallest class.
    pub smallest_class: Option<u64>,
    /// The largest class.
    pub largest_class: Option<u64>,
    /// Classes.
    pub classes: u64,
    /// Persons.
    pub persons: u64,
    /// The risks of someone who knows the population, where a population table is there.
    pub journalist: Option<JournalistRisk>,
    /// How many people are estimated to be unique in the population, model by model.
    pub population_uniques: Vec<Uniques>,
}

/// What an attack learns about a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttackReport {
    /// The attack.
    pub id: String,
    /// Its name in prose.
    pub title: String,
    /// What the adversary is assumed to know.
    pub assumes: String,
    /// What counts as a success.
    pub definition: String,
    /// Where it comes from.
    pub citation: String,
    /// The sensitive column.
    pub column: String,
    /// What it learns.
    pub findings: Sides<FindingsReport>,
}

/// What an attack learned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FindingsReport {
    /// Classes hit.
    pub classes: u64,
    /// Rows hit.
    pub rows: u64,
    /// Persons hit.
    pub persons: u64,
    /// Further figures.
    pub figures: Figures,
}

/// A metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MetricReport {
    /// The metric.
    pub id: String,
    /// Its name in prose.
    pub title: String,
    /// How it is computed.
    pub definition: String,
    /// Its value, where it is defined.
    pub value: Option<f64>,
}

/// A figure of usefulness, of the input and of the release.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UtilityReport {
    /// Its name.
    pub id: String,
    /// What it says, in words.
    pub title: String,
    /// The figure on the input; none where the input is the measure itself.
    pub before: Option<f64>,
    /// The figure on the release.
    pub after: f64,
    /// How it was computed.
    pub definition: String,
}

/// Classes of similar size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SizeBin {
    /// The sizes, such as `11–20`.
    pub label: String,
    /// Classes of these sizes.
    pub classes: u64,
    /// Persons in them.
    pub persons: u64,
}

/// Why rows were left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suppression {
    /// How many were suppressed.
    pub rows: u64,
    /// What was allowed.
    pub limit: String,
    /// `drop` or `mask`.
    pub treatment: &'static str,
    /// For each requirement, the suppressed rows whose class breaks it; a class may break several. Empty for local
    /// recodings, which suppress rows that fit no class.
    pub reasons: Vec<Reason>,
}

/// Rows suppressed for one requirement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// The model.
    pub model: String,
    /// The sensitive columns.
    #[serde(serialize_with = "as_on")]
    pub on: Vec<String>,
    /// Classes that break it.
    pub classes: u64,
    /// Rows in them.
    pub rows: u64,
}

/// A file or text, by its SHA-256.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Digest {
    /// What it is the digest of.
    pub of: String,
    /// The digest in hexadecimal.
    pub sha256: String,
}

impl Report {
    /// The report as JSON text, for people to read as well.
    pub fn to_json_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Lists the files of the released table, each with its SHA-256, before all other digests.
    pub(crate) fn list(&mut self, files: impl IntoIterator<Item = (String, String)>) {
        self.digests.splice(0..0, files.into_iter().map(|(of, sha256)| Digest { of, sha256 }));
    }

    /// What a reader must know of the report itself before anything else.
    pub fn preface(&self) -> Option<&'static str> {
        match (self.subject, self.audience) {
            (Subject::Audit, _) => None,
            (Subject::Release, Audience::Recipient) => Some(
                "This is the public report. Everything in it can be computed from the release itself, but for the counts of \
                 rows read, left out and suppressed. It does not tell how the table was before: no risk, count or measure of \
                 the original, no loss against it, and not why rows were suppressed.",
            ),
            (Subject::Release, Audience::Owner) => Some(
                "This is the internal report. It stays with the owner of the table: figures of the original beside those of \
                 the release can tell what suppressed rows had. The public report is in the folder of the release.",
            ),
        }
    }

    /// The columns with a role.
    pub fn with_role<'a>(&'a self, role: &'a str) -> impl Iterator<Item = &'a ColumnReport> {
        self.columns.iter().filter(move |c| c.role == role)
    }
}
