//! Optional inputs of the checker beside the release and its certificate.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use toml::value::Date;

use crate::certificate::Certificate;
use crate::opening::Opening;
use crate::signer::Signer;

/// Further inputs for the checker, all optional.
#[derive(Debug, Clone, Default)]
pub struct Options<'a> {
    /// The person behind each row of the release, over all files in order. Outsiders lack this where a certificate
    /// counts persons; figures that depend on it are then only attested.
    pub persons: Option<Arc<Vec<u64>>>,
    /// The table that the release was made from: every released row must then cover a distinct row of it.
    pub original: Option<&'a OriginalTable>,
    /// The populations that requirements refer to.
    pub populations: &'a [PopulationTable],
    /// The text of the owner's policy: the certificate must follow from it, too.
    pub policy: Option<&'a str>,
    /// Rows of the input that its owner discloses: they must be in the table that the certificate commits to.
    pub opening: Option<&'a Opening>,
    /// What is required in addition to the claims.
    pub seals: Seals<'a>,
}

/// Who must have signed a release, on which day it is relied on, and what it must follow.
#[derive(Debug, Clone, Default)]
pub struct Seals<'a> {
    /// For each of these lists, one of its keys must have signed.
    pub signers: &'a [Vec<Signer>],
    /// The day on which the release is relied on; `None`: expiry is not checked.
    pub day: Option<Date>,
    /// The certificate of the previous version, for a version of a series.
    pub previous: Option<&'a Certificate>,
    /// The file of the certificate, where it is not `certificate.json` in the folder of the release.
    pub certificate: Option<PathBuf>,
    /// The file of the signed statement, where it is not `release.intoto.jsonl` in the folder of the release.
    pub envelope: Option<PathBuf>,
}

/// The meaning of the published cells of a quasi column.
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
    /// As numbers if both bounds are numbers, otherwise as dates.
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
    /// Its files, in any format that the checker reads. The separator of delimited text is detected from the header.
    pub files: Vec<PathBuf>,
    /// The meaning of the published cells, by quasi column. For a column that is absent here, cells cover by plain
    /// values, ranges, sets and `*` only.
    pub labels: HashMap<String, ColumnLabels>,
    /// Texts that mean "unknown"; null always does.
    pub missing: Vec<String>,
    /// The columns in which an unknown value drops the row; empty when such rows are kept.
    pub drop_missing_in: Vec<String>,
    /// By column, texts of the original that are published as another text: from the original text to the published
    /// one.
    pub same: HashMap<String, HashMap<String, String>>,
}

/// A population that the release is compared with.
#[derive(Debug, Clone, Default)]
pub struct PopulationTable {
    /// Its name in the parameter `population` of requirements. A single population serves every requirement.
    pub name: String,
    /// Its files.
    pub files: Vec<PathBuf>,
    /// The meaning of the published cells, by quasi column.
    pub labels: HashMap<String, ColumnLabels>,
    /// The column with the number of persons for which a row stands, which may be a fraction; `None`: a row is one
    /// person.
    pub count_column: Option<String>,
    /// Texts that mean "unknown"; null always does. Rows with one of them in a used column are not counted; `None`:
    /// unknown is a value like any other.
    pub missing: Option<Vec<String>>,
}
