//! Policies: what the columns of a table are, what a release must satisfy, and how it is searched for.
//!
//! A policy is read from TOML by [`Policy::parse`], which reports everything that is wrong with it at once, each error
//! with its place in the file. Numbers are exact: `alpha = 0.1` is one tenth.
//!
//! Paths in a policy are relative to the folder of the policy.
//!
//! May use: `remedy`, and nothing else of this crate.

mod build;
mod columns;
mod constructors;
mod diagnostic;
mod fields;
pub mod keys;
mod origin;
mod parameters;
mod parse;
mod places;
pub(crate) mod public;
mod quasi_sets;
pub(crate) mod quote;
mod reads;
pub mod reference;
mod release;
mod requirements;
#[cfg(test)]
mod tests;
pub(crate) mod write;

use std::time::Duration;

use amidst_core::hierarchy::Generalize;
use amidst_core::model;
use amidst_core::parameter::Rational;
use amidst_core::parameter::{Parameters, Value};
use amidst_core::search::{MaxSuppression, Suppressed};
use amidst_core::table::ValueType;
use amidst_io::Conventions;

pub use build::{HierarchyPolicy, IntoValue, PolicyBuilder, RequirementPolicy, hierarchy, require};
pub use constructors::*;
pub use diagnostic::{Diagnostic, PolicyErrors, nearest, suggestion};
pub use origin::Origin;
pub use parse::PolicyError;
pub use release::{PRESETS, Preset, ReleasePolicy, Threshold};

/// Everything a policy says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// The table.
    pub data: Data,
    /// The columns it names, in the order they are written.
    pub columns: Vec<ColumnPolicy>,
    /// What columns are that it does not name; without it, such columns are an error.
    pub default: Option<ColumnPolicy>,
    /// What every class of a release must satisfy.
    pub requirements: Vec<RequirePolicy>,
    /// Sets of quasi columns, each of which must satisfy the requirements by itself; none: all of them together.
    pub quasi_sets: Vec<Vec<String>>,
    /// How the release is searched for.
    pub search: SearchPolicy,
    /// What is known of the population behind the table.
    pub risk: RiskPolicy,
    /// What the release should be useful for.
    pub utility: UtilityPolicy,
    /// What is written.
    pub output: OutputPolicy,
    /// What it states about the release.
    pub release: ReleasePolicy,
    /// Where the policy was read.
    pub origin: Origin,
}

/// `[data]`: the table and its unknowns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Data {
    /// The file, folder, glob or address of the table; absent when it is given elsewhere.
    pub input: Option<String>,
    /// What separates the fields of a CSV file; guessed when absent.
    pub separator: Option<char>,
    /// Cells that mean "unknown". Empty: nothing is unknown.
    pub missing: Vec<String>,
    /// What happens to rows that hold one.
    pub missing_rows: MissingRows,
    /// What the table does not say by itself: encoding, sheet, header, decimal mark, dates.
    pub conventions: Conventions,
}

/// What happens to rows with an unknown cell in a column that the policy reads (all but identifying and consent
/// columns).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingRows {
    /// They are left out before anything is counted.
    #[default]
    Drop,
    /// They stay; unknown is a value of its own.
    Keep,
}

/// What a column is to the people in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// Names a person: never read, never published.
    Identifying,
    /// Known to others: published generalized.
    Quasi,
    /// Not known to others: published as it is, its link to a person protected.
    Sensitive,
    /// Published as it is.
    #[default]
    Insensitive,
    /// Tells persons apart; never published.
    Key,
    /// Says who waived protection; never published.
    Consent,
}

/// All roles with their names in policies.
pub const ROLES: &[(&str, Role)] = &[
    ("identifying", Role::Identifying),
    ("quasi", Role::Quasi),
    ("sensitive", Role::Sensitive),
    ("insensitive", Role::Insensitive),
    ("key", Role::Key),
    ("consent", Role::Consent),
];

impl Role {
    /// The name in policies.
    pub fn name(self) -> &'static str {
        ROLES.iter().find(|(_, r)| *r == self).map_or("insensitive", |(name, _)| name)
    }

    /// Whether a column of this role appears in a release.
    pub fn published(self) -> bool {
        matches!(self, Role::Quasi | Role::Sensitive | Role::Insensitive)
    }
}

/// `[columns.<name>]`: one column.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ColumnPolicy {
    /// The column's name; `*` for the default of columns not named.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// The type of its values; guessed when absent.
    pub kind: Option<ValueType>,
    /// How its hierarchy is made: the keys of the inline table.
    pub hierarchy: Option<Vec<(String, Value)>>,
    /// For a sensitive column, the level of its hierarchy whose labels are published in the place of its values.
    pub level: Option<u32>,
    /// How much a loss in this column counts; 1 when absent.
    pub weight: Option<Rational>,
    /// How local recoding writes its cells; as nodes of the hierarchy when absent.
    pub generalize: Option<Generalize>,
    /// The rank order of its values; empty when none is stated.
    pub order: Vec<String>,
    /// Categories of its values, the most sensitive first.
    pub categories: Vec<Vec<String>>,
    /// How those categories are weighted.
    pub weights: Option<Value>,
    /// For a consent column, whose protection is waived and what becomes of those rows.
    pub consent: Option<Consent>,
    /// For an insensitive column, why it is published as it is although it singles people out.
    pub accept: Option<String>,
}

/// What a consent column means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    /// The values that waive protection, compared letter by letter.
    pub waived: Vec<String>,
    /// What becomes of the rows that waived it.
    pub mode: ConsentMode,
}

impl Default for Consent {
    fn default() -> Self {
        let waived = ["yes", "Yes", "YES", "true", "True", "TRUE", "1"];
        Consent { waived: waived.map(String::from).to_vec(), mode: ConsentMode::Publish }
    }
}

/// What becomes of rows whose owner waived protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentMode {
    /// Released unmodified, counted in nobody's class.
    Publish,
    /// Placed in the nearest class, generalized with it and counted, at no cost. Needs a local recoding.
    Join,
    /// Generalized in classes of their own, which satisfy the policy too, at no cost; where they form none, as with
    /// `Join`. Needs a local recoding.
    Separate,
}

/// `[[require]]`: a model, its parameters, and the columns it protects.
#[derive(Debug, Clone)]
pub struct RequirePolicy {
    /// The model.
    pub model: &'static model::Entry,
    /// The names of the sensitive columns it protects; empty for models that protect none in particular. A policy may
    /// leave it out when it has exactly one sensitive column.
    pub on: Vec<String>,
    /// The parameters, by the names that the model declares.
    pub parameters: Parameters,
}

impl PartialEq for RequirePolicy {
    fn eq(&self, other: &Self) -> bool {
        self.model.id == other.model.id && self.on == other.on && self.parameters == other.parameters
    }
}

impl Eq for RequirePolicy {}

/// `[search]`: how the release is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPolicy {
    /// The algorithm; a sensible choice is made when absent.
    pub algorithm: Option<String>,
    /// What "best" means; a sensible choice is made when absent.
    pub metric: Option<String>,
    /// How many rows may be left out; none when absent.
    pub max_suppression: MaxSuppression,
    /// What happens to rows that are left out.
    pub suppressed: Suppressed,
    /// Where randomness starts; 1 when absent.
    pub seed: u64,
    /// The level of every quasi column, where a policy names the node of the lattice that is to be published.
    pub levels: Vec<(String, usize)>,
    /// How long the search may take.
    pub time_limit: Option<Duration>,
    /// `[search.options]`: what only the chosen algorithm understands.
    pub options: Parameters,
}

impl Default for SearchPolicy {
    fn default() -> Self {
        SearchPolicy {
            algorithm: None,
            metric: None,
            max_suppression: MaxSuppression::Rows(0),
            suppressed: Suppressed::Drop,
            seed: 1,
            levels: Vec::new(),
            time_limit: None,
            options: Parameters::default(),
        }
    }
}

/// `[risk]`: what is known of the population that the table was drawn from. It is measured and reported, not required:
/// `k-map` requires it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RiskPolicy {
    /// A table of the population with the quasi columns, and perhaps a column `count`. When absent, the population of
    /// the first requirement that names one.
    pub population: Option<String>,
    /// The share of the population that is in the table.
    pub sampling_fraction: Option<Rational>,
}

/// `[utility]`: what the release should be useful for. It is measured and reported, not searched for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UtilityPolicy {
    /// A published column that analysts want to predict from the quasi columns.
    pub target: Option<String>,
}

/// `[output]`: what is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutputPolicy {
    /// The release's file; its ending decides the format.
    pub file: Option<String>,
    /// The order of its rows.
    pub order: OutputOrder,
    /// How ranges of numbers are written.
    pub ranges: Ranges,
    /// What the cells of a class are.
    pub values: OutputValues,
}

/// How ranges of numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ranges {
    /// As their labels: `[20-39]`.
    #[default]
    Label,
    /// As the number in their middle.
    Midpoint,
    /// As two columns, the lower bound and the upper one.
    Bounds,
    /// As their labels, the ends rounded outward: the ends of a range are values of two people.
    Rounded,
}

/// What the cells of a class are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputValues {
    /// Labels that cover all of its values.
    #[default]
    Generalized,
    /// One value that stands for all.
    Representative,
}

/// The order of the rows of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputOrder {
    /// Shuffled with the seed, so that position tells nothing.
    #[default]
    Shuffled,
    /// As in the input.
    Input,
}

impl ColumnPolicy {
    /// Whether labels of its hierarchy are published in the place of its sensitive values.
    pub fn publishes_labels(&self) -> bool {
        self.role == Role::Sensitive && self.level.is_some_and(|level| level > 0)
    }

    /// A column with a role and nothing else said about it.
    pub fn new(name: impl Into<String>, role: Role) -> Self {
        let consent = (role == Role::Consent).then(Consent::default);
        ColumnPolicy { name: name.into(), role, consent, ..ColumnPolicy::default() }
    }
}

impl Policy {
    /// What `audit` works with when it is only told which columns are which: no other column is read, and no
    /// hierarchy is needed because nothing is generalized.
    pub fn for_audit(input: &str, quasi: &[String], sensitive: &[String]) -> Self {
        let of = |names: &[String], role| -> Vec<ColumnPolicy> {
            names.iter().map(|name| ColumnPolicy::new(name.clone(), role)).collect()
        };
        Policy {
            data: Data { input: Some(input.to_string()), ..Data::default() },
            columns: [of(quasi, Role::Quasi), of(sensitive, Role::Sensitive)].concat(),
            // Columns that are not named are not even read.
            default: Some(ColumnPolicy::new("*", Role::Identifying)),
            ..Policy::default()
        }
    }

    /// What the policy says about the column called `name`: its own section, or the default.
    pub fn column(&self, name: &str) -> Option<&ColumnPolicy> {
        self.columns.iter().find(|c| c.name == name).or(self.default.as_ref())
    }

    /// Whether a column has no assigned type: no search looks at it, and it is not stated to be text.
    pub fn leaves_type_open(&self, name: &str) -> bool {
        let open = |c: &ColumnPolicy| c.role == Role::Insensitive && c.kind != Some(ValueType::Text);
        self.column(name).is_some_and(open)
    }

    /// Why nothing can be published under the policy, where no requirement is stated: nothing would be proven.
    pub(crate) fn requires_nothing(&self) -> Option<Diagnostic> {
        let help = "add what every class must satisfy:\n[[require]]\nmodel = \"k-anonymity\"\nk = 5";
        self.requirements
            .is_empty()
            .then(|| Diagnostic::new("the policy requires nothing, so nothing would be proven").help(help))
    }

    /// The names of the columns with a role, in the order they are written.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &str> {
        self.columns.iter().filter(move |c| c.role == role).map(|c| c.name.as_str())
    }
}
