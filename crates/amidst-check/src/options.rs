//! What the maker of a release, or an auditor, may add to the release and its certificate.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use toml::value::Date;

use crate::certificate::Certificate;
use crate::opening::Opening;
use crate::signer::Signer;

/// Further knowledge for the checker. All of it is optional.
#[derive(Debug, Clone, Default)]
pub struct Options<'a> {
    /// The person behind each row of the release, over all files in order. Where a certificate counts persons,
    /// outsiders lack this, and figures that depend on it stay attested by the maker.
    pub persons: Option<Arc<Vec<u64>>>,
    /// The table that the release was made from: then every released row must cover a row of it.
    pub original: Option<&'a OriginalTable>,
    /// The populations that requirements refer to.
    pub populations: &'a [PopulationTable],
    /// The text of the policy that the owner holds: the certificate must follow from it, too.
    pub policy: Option<&'a str>,
    /// Rows of the input that its owner shows: they must be in the table that the certificate commits to.
    pub opening: Option<&'a Opening>,
    /// What is asked of the release beside its claims.
    pub seals: Seals<'a>,
}

/// Who must have signed a release, on which day it is relied on, and what it must follow.
#[derive(Debug, Clone, Default)]
pub struct Seals<'a> {
    /// For each of these lists, one of its keys must have signed.
    pub signers: &'a [Vec<Signer>],
    /// The day on which the release is relied on; without one nothing is said about whether it is still valid.
    pub day: Option<Date>,
    /// The certificate of the version before, of a release that is a version of a series.
    pub previous: Option<&'a Certificate>,
    /// The certificate's own file, where it is not `certificate.json` in the folder of the release.
    pub certificate: Option<PathBuf>,
    /// The signed statement, where it is not `release.intoto.jsonl` in the folder of the release.
    pub envelope: Option<PathBuf>,
}

/// What the published cells of a quasi column mean.
#[derive(Debug, Clone, Default)]
pub struct ColumnLabels {
    /// For every value of the column, the labels of its generalizations, level by level.
    pub paths: HashMap<String, Vec<String>>,
    /// The rank order of its values, for ranges such as `[9th-11th]`.
    pub order: Option<Vec<String>>,
    /// How values compare where no order is given.
    pub kind: ValueKind,
}

/// How the bounds of a range compare.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ValueKind {
    /// As numbers where both bounds are, else as dates.
    #[default]
    Text,
    /// As numbers.
    Number,
    /// As dates, year-month-day.
    Date,
}

/// The original table.
#[derive(Debug, Clone, Default)]
pub struct OriginalTable {
    /// Its files, in any format that the checker reads. The separator of delimited text is seen from the header.
    pub files: Vec<PathBuf>,
    /// The meaning of the published cells, by quasi column. A column that is absent here knows only its own values,
    /// ranges, sets and `*`.
    pub labels: HashMap<String, ColumnLabels>,
    /// Texts that mean "unknown"; null always does.
    pub missing: Vec<String>,
    /// The columns in which an unknown value drops the row; empty when such rows are kept.
    pub drop_missing_in: Vec<String>,
    /// Texts of the original that mean the same as another, by column: the text, and the one that is published for it.
    pub same: HashMap<String, HashMap<String, String>>,
}

/// A population that the release is compared with.
#[derive(Debug, Clone, Default)]
pub struct PopulationTable {
    /// What requirements call it in their parameter `population`. A lone population serves every requirement.
    pub name: String,
    /// Its files.
    pub files: Vec<PathBuf>,
    /// The meaning of the published cells, by quasi column.
    pub labels: HashMap<String, ColumnLabels>,
    /// A column that says for how many persons a row stands, which need not be whole; none: a row is a person.
    pub count_column: Option<String>,
    /// Texts that mean "unknown"; null always does. Rows with one of them in a column that is looked at count nobody;
    /// none where unknown is a value like others.
    pub missing: Option<Vec<String>>,
}
