//! The independent checker of Amidst releases, and the certificate that travels with them.
//!
//! It shares no code with the models and the search that made a release: it reads the files and computes exactly on its
//! own, from the definitions. [`issue`] checks a release and seals its certificate; [`verify`] recomputes every claim
//! of a certificate from the published files.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use amidst_check::{CertificateDraft, Claim, Location, Options, issue, verify};
//!
//! let policy = r#"
//! [data]
//! input = "patients.csv"
//! [columns.age]
//! role = "quasi"
//! [[require]]
//! model = "k-anonymity"
//! k = 2
//! "#;
//! let mut draft = CertificateDraft::new("amidst 0.2.0", policy);
//! draft.outputs = vec!["release.csv".into()];
//! draft.rows_in = 4;
//! draft.quasi = vec!["age".into()];
//! let parameters = serde_json::Map::from_iter([("k".to_string(), 2.into())]);
//! draft.requirements = vec![Claim { model: "k-anonymity".into(), on: None, quasi: None, parameters }];
//!
//! let release = |table: &'static str| Location::from(BTreeMap::from([("release.csv".to_string(), table.into())]));
//! let table = "\"age\"\n[20-29]\n[20-29]\n[30-39]\n[30-39]\n";
//! let certificate = issue(draft, release(table), &Options::default()).expect("each class has two rows");
//! assert!(verify(release(table), &certificate, &Options::default()).valid);
//! let shorter = "\"age\"\n[20-29]\n[20-29]\n[30-39]\n";
//! assert!(!verify(release(shorter), &certificate, &Options::default()).valid);
//! ```
//!
//! # The main types
//!
//! - [`Certificate`]: what a release satisfies; made from a [`CertificateDraft`], the statements of the maker.
//! - [`Location`]: the published files, in a folder or in memory.
//! - [`Verdict`]: the result of [`verify`], with a [`Problem`] for everything that fails.
//! - [`Opening`]: single rows of the input, disclosed to an auditor under the certificate's [`Commitment`].

mod alike;
mod census;
mod certificate;
mod commitment;
mod content;
mod cover;
mod digest;
mod envelope;
mod examine;
mod files;
mod issue;
mod judge;
mod logsum;
mod matching;
mod models;
mod number;
mod opened;
mod opening;
mod options;
mod original;
mod policy;
mod printable;
mod problem;
mod provenance;
mod reader;
mod signer;
mod unique;
mod verdict;
mod verify;

pub use alike::alike;
pub use certificate::{
    Accepted, Certificate, CertificateDraft, Claim, FORMAT, Leveled, Link, On, Output, Requirement, SensitiveColumn,
    SuppressedAs, UniqueRows, Worst,
};
pub use commitment::{Commitment, SCHEME};
pub use content::Location;
pub use digest::sha256_hex;
#[doc(hidden)]
pub use envelope::base64;
pub use envelope::{ENVELOPE, Envelope, PREDICATE_TYPE};
pub use issue::{Checked, check, issue};
pub use opened::explain_labels;
pub use opening::{LabelSaid, Opened, OpenedRow, Opening};
pub use options::{ColumnLabels, Options, OriginalTable, PopulationTable, Seals, ValueKind};
pub use printable::{acts, printable, printable_json, printable_lines};
pub use problem::{Problem, ProblemKind, Severity};
pub use signer::{PublicKey, Signer, signers};
pub use unique::{UNIQUE_PERCENT, singles_out};
pub use verdict::{ClaimStatus, Found, Proven, SignedBy, Verdict};
pub use verify::verify;

/// The ids of the models that the checker knows.
pub fn models() -> impl Iterator<Item = &'static str> {
    models::MODELS.iter().map(|entry| entry.id)
}

/// Distinct rows of a table, cell by cell, each with its number of occurrences.
pub type RowCounts = Vec<(Vec<Vec<u8>>, u64)>;

/// The columns and the distinct rows that the checker reads in a released table, for tests that compare it with other
/// readers.
///
/// # Errors
/// When the file is not in the form of releases.
#[doc(hidden)]
pub fn rows_of(path: &std::path::Path) -> Result<(Vec<String>, RowCounts), Problem> {
    let files = [content::Content::file(path)];
    let (counted, _) = reader::count(&files, &reader::Selection::default(), reader::Reading::Release)?;
    let cells = |key: &[u8]| reader::key::cells(key).into_iter().map(<[u8]>::to_vec).collect();
    let rows = counted.keys.iter().map(|key| cells(key)).zip(counted.sizes.iter().copied());
    Ok((counted.columns.clone(), rows.collect()))
}
