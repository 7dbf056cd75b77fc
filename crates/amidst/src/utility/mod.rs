//! Usefulness that an analyst believes: what can still be done with a release, compared with the input.
//!
//! These figures need rows or random queries, unlike the metrics of the search, which price a recoding by itself.
//!
//! May use: `policy`, `prepare`, and what those use.

mod classification;
mod numbers;
mod query_error;
mod unique_rows;

use crate::Failure;
use crate::policy::{Policy, Role};
use crate::prepare::Prepared;

pub use classification::{Accuracy, classification};
pub use numbers::{ColumnLoss, Correlation, Fidelity, Moments, Numbers, fidelity};
pub use query_error::{QUERIES, query_error};

/// A figure of usefulness, as the registry of metrics knows it.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    /// The name in reports and on the command line.
    pub id: &'static str,
    /// The name in prose.
    pub title: &'static str,
    /// How it is computed.
    pub definition: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
}

/// The figures that a report tells beside the metrics. They price a finished release, so no search can go by them.
pub const MEASURES: &[Measure] = &[classification::MEASURE, query_error::MEASURE, unique_rows::MEASURE];

/// The column that the policy wants predicted; an error when that column is not published as it is.
pub fn target<'a>(policy: &'a Policy, prepared: &Prepared) -> Result<Option<&'a str>, Failure> {
    let Some(name) = policy.utility.target.as_deref() else { return Ok(None) };
    let role = match prepared.table.position(name) {
        Some(column) => Some(prepared.roles[column]),
        // An engine that counts leaves out the columns that no search looks at.
        None => policy.column(name).map(|c| c.role).filter(|_| prepared.header.iter().any(|h| h == name)),
    };
    match role {
        Some(Role::Sensitive | Role::Insensitive) => Ok(Some(name)),
        Some(role) => Err(Failure::Usage(format!(
            "the target `{name}` under [utility] is {}; a target must be published as it is: sensitive or insensitive",
            role.name()
        ))),
        None => Err(Failure::Usage(format!("the target `{name}` under [utility] is no column of the table"))),
    }
}
