//! The independent checker of Amidst releases, and the certificate that travels with them.
//!
//! It shares no line with the models and the search that made a release: its own reading of the files, its own exact
//! arithmetic, written from the definitions. [`issue`] checks a release and seals its certificate; [`verify`] recomputes
//! every claim of a certificate from the published files.

mod alike;
mod census;
mod certificate;
mod cover;
mod digest;
mod examine;
mod issue;
mod judge;
mod logsum;
mod matching;
mod models;
mod number;
mod options;
mod original;
mod printable;
mod problem;
mod reader;
mod unique;
mod verify;

pub use alike::alike;
pub use certificate::{
    Accepted, Certificate, CertificateDraft, Claim, FORMAT, Leveled, On, Output, Requirement, SensitiveColumn,
    SuppressedAs, UniqueRows, Worst,
};
pub use digest::sha256_hex;
pub use issue::{Checked, check, issue};
pub use options::{ColumnLabels, Options, OriginalTable, PopulationTable, ValueKind};
pub use printable::{acts, printable, printable_json, printable_lines};
pub use problem::{Problem, ProblemKind, Severity};
pub use unique::{UNIQUE_PERCENT, singles_out};
pub use verify::{Verdict, verify};

/// The ids of the models that the checker knows.
pub fn models() -> impl Iterator<Item = &'static str> {
    models::MODELS.iter().map(|entry| entry.id)
}
