//! From a written release to one that may be published: checked, reported, sealed.
//!
//! The order is fixed: the checker reads the release back and digests it; the report tells the digests; the certificate
//! lists the release and the documents. The documents and the certificate are made in memory, so that a release in a
//! folder and a release that never touches a disk go the same way.

use amidst_check::{Certificate, Commitment, Link, Location};
use bytes::Bytes;

use super::certificate::{Statement, agreed, checked, sealed};
use crate::Failure;
use crate::folder::POLICY;
use crate::report::{FILES, Made, Report, Reports, of_release};
use crate::unique::UniqueRows;

/// A file of a release, by its name.
pub type Document = (&'static str, Bytes);

/// A release that passed the checker, with everything that goes with it.
#[derive(Debug)]
pub(crate) struct Sealed {
    pub reports: Reports,
    pub unique: UniqueRows,
    /// Report and policy as they are handed over; the certificate lists them.
    pub public: Vec<Document>,
    /// Report and policy as their owner keeps them.
    pub internal: Vec<Document>,
    pub certificate: Certificate,
}

/// What is sealed, and how.
pub(crate) struct Bundle<'a> {
    /// The tables of the release, by their names at the location.
    pub files: &'a [String],
    /// Whether report and policy go with it.
    pub documented: bool,
    /// Where the release stands in a series, if it is a version of one.
    pub series: Option<&'a Link>,
    /// What ties it to the rows of its input, where that was asked for.
    pub commitment: Option<&'a Commitment>,
    /// What both reports say beside what every report says.
    pub told: &'a dyn Fn(&mut Report),
}

impl<'a> Bundle<'a> {
    /// A version of a series, with its documents.
    pub fn of_version(
        files: &'a [String],
        link: &'a Link,
        commitment: Option<&'a Commitment>,
        told: &'a dyn Fn(&mut Report),
    ) -> Bundle<'a> {
        Bundle { files, documented: true, series: Some(link), commitment, told }
    }
}

/// Checks the release at `location` and seals it with its documents, if it is to have any.
///
/// # Errors
/// Whatever the checker refuses; [`Failure::Cancelled`] when `stop` says so.
pub(crate) fn seal(
    made: &Made<'_>,
    location: impl Into<Location>,
    bundle: &Bundle<'_>,
    stop: &dyn Fn() -> Result<(), Failure>,
) -> Result<Sealed, Failure> {
    let location = location.into();
    let names: Vec<&str> = bundle.files.iter().map(String::as_str).collect();
    let statement = Statement {
        policy: made.policy,
        resolved: &made.policies.public,
        prepared: made.prepared,
        judged: made.judged,
        released: made.released,
        joined: made.joined,
        series: bundle.series,
        commitment: bundle.commitment,
    };
    // The report says nothing about the check but the digests of what was checked, so both go on at once.
    let (checked, reports) = rayon::join(|| checked(&statement, location, &names), || of_release(made));
    let checked = checked?;
    stop()?;
    let mut reports = reports?;
    reports.public.measured(checked.requirements());
    let unique = agreed(made.unique, &checked, made.released.rows())?;
    reports.each(|report| report.tell_unique(unique));
    let digest = |file: &String| (file.clone(), checked.sha256(file).unwrap_or_default().to_string());
    let digests: Vec<(String, String)> = bundle.files.iter().map(digest).collect();
    reports.each(|report| {
        report.list(digests.iter().cloned());
        (bundle.told)(report);
    });
    let (mut public, mut internal) = (Vec::new(), Vec::new());
    if bundle.documented {
        internal = documents(&reports.internal, &made.policies.internal);
        stop()?;
        public = documents(&reports.public, &made.policies.public);
    }
    stop()?;
    let certificate = sealed(checked, &public)?;
    Ok(Sealed { reports, unique, public, internal, certificate })
}

/// The files of a report and a policy.
fn documents(report: &Report, policy: &str) -> Vec<Document> {
    let texts = report.files().map(|text| Bytes::from(text.into_bytes()));
    FILES.into_iter().zip(texts).chain([(POLICY, Bytes::copy_from_slice(policy.as_bytes()))]).collect()
}
