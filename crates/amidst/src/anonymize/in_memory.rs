//! Anonymizing without a disk: a table in memory goes in, a checked release in memory comes out.
//!
//! The release is the bytes of a file all the same, because bytes are what the independent checker reads and what the
//! certificate digests: what is handed over is what was checked. Nothing is written unless [`Release::save`] is asked
//! to.

use std::collections::BTreeMap;
use std::path::Path;

use amidst_check::Certificate;
use amidst_core::recoding::Recoding;
use amidst_core::table::Table;
use amidst_io::arrow_array::RecordBatch;
use amidst_io::arrow_schema::Schema;
use amidst_io::{Input, Lent, ReadOptions};
use bytes::Bytes;

use super::outcome::{Anonymized, Seconds};
use super::steps::{self, Clock, Searched};
use crate::engine::Local;
use crate::folder::{INTERNAL, PUBLIC};
use crate::job::Job;
use crate::policy::{OutputPolicy, Policy, Role};
use crate::prepare::{LoadOptions, PrepareError, Prepared};
use crate::publish::{Memory, Outputs, Staging};
use crate::release::class_of_rows;
use crate::report::Report;
use crate::{Failure, files};

/// A release that is in memory only, with its certificate and its reports.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct Release {
    /// The name of the table among the public files; its ending tells the format.
    pub name: String,
    /// What may be handed over: the table, the report, the policy and the certificate, by their names.
    pub public: BTreeMap<String, Bytes>,
    /// What stays with the owner: the report with its figures of the original, and the policy with its paths.
    pub internal: BTreeMap<String, Bytes>,
    /// What was proven.
    pub certificate: Certificate,
    /// The report that may be handed over.
    pub public_report: Report,
    /// What the owner is told: verdicts, metrics, risk, times.
    pub outcome: Anonymized,
}

impl Release {
    /// The bytes of the released table.
    pub fn table(&self) -> &[u8] {
        self.public.get(&self.name).map_or(&[], |bytes| bytes)
    }

    /// The released table as text, where its format is text.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(self.table()).ok()
    }

    /// Writes the release into a folder, as [`anonymize`](super::anonymize) would have: all of it or nothing.
    ///
    /// # Errors
    /// When the folder exists and `force` is not given, or cannot be written.
    pub fn save(&self, folder: &Path, force: bool) -> Result<(), Failure> {
        let staging = Staging::begin(folder, force)?;
        for (part, contents) in [(PUBLIC, &self.public), (INTERNAL, &self.internal)] {
            let place = staging.part(part)?;
            for (name, bytes) in contents {
                let failed = |e| Failure::Io(format!("cannot write {name} into {}: {e}", folder.display()));
                files::write_private(&place.join(name), bytes).map_err(failed)?;
            }
        }
        staging.publish(&[PUBLIC])
    }
}

/// Anonymizes Arrow record batches of one schema. Columns that the policy calls identifying are not even encoded.
///
/// # Errors
/// Whatever is wrong with the table, the policy or the two together; [`Failure::Impossible`] where no release satisfies
/// it.
pub fn anonymize_batches(
    policy: &Policy,
    schema: &Schema,
    batches: impl IntoIterator<Item = RecordBatch, IntoIter: Send>,
    job: &Job<'_>,
) -> Result<Release, Failure> {
    let keep = |name: &str| policy.column(name).is_none_or(|c| c.role != Role::Identifying);
    let options =
        ReadOptions { keep: Some(&keep), threads: job.threads, cancel: Some(job.cancel), ..ReadOptions::default() };
    let input = amidst_io::read_batches(Path::new("table"), schema, batches, &options).map_err(PrepareError::from)?;
    anonymize_input(policy, input, job)
}

/// Anonymizes a table of dictionary codes.
///
/// # Errors
/// As [`anonymize_batches`].
pub fn anonymize_table(policy: &Policy, table: Table, job: &Job<'_>) -> Result<Release, Failure> {
    let mut input = Input::default();
    input.header = table.columns.iter().map(|c| c.name.clone()).collect();
    input.table = table;
    anonymize_input(policy, input, job)
}

/// Anonymizes what was read, wherever it came from. The policy's `[output] file` decides the format, CSV without one.
///
/// # Errors
/// As [`anonymize_batches`].
pub fn anonymize_input(policy: &Policy, input: Input, job: &Job<'_>) -> Result<Release, Failure> {
    let clock = Clock::start();
    let prepared = Prepared::of_input(policy, input, &LoadOptions::of(job, None))?;
    Candidate::of(policy, prepared, clock, job)?.release(policy.output.file.as_deref(), job)
}

/// Anonymizes the table at `source`, or the one that the policy names: a file, a database, or a table that was
/// [lent](amidst_io::lend()). The release stays in memory.
///
/// # Errors
/// As [`anonymize_batches`].
pub fn anonymize_source(policy: &Policy, source: Option<String>, job: &Job<'_>) -> Result<Release, Failure> {
    Candidate::of_source(policy, source, job)?.release(policy.output.file.as_deref(), job)
}

/// What was found for a table and a policy: neither written nor checked, and nothing to hand over. It keeps the table,
/// so that it can be released in several formats.
pub struct Candidate {
    policy: Policy,
    searched: Searched<()>,
    /// Seconds that reading and searching took.
    read: f64,
    search: f64,
}

impl Candidate {
    /// Searches the table at `source`, or the one that the policy names.
    ///
    /// # Errors
    /// As [`anonymize_batches`].
    pub fn of_source(policy: &Policy, source: Option<String>, job: &Job<'_>) -> Result<Candidate, Failure> {
        let clock = Clock::start();
        let prepared = Prepared::load(policy, &LoadOptions::of(job, source))?;
        Candidate::of(policy, prepared, clock, job)
    }

    /// Searches a table that was lent, and gives it back before the search: a caller that holds it for this call only
    /// has its memory back by then.
    ///
    /// # Errors
    /// As [`anonymize_batches`].
    pub fn of_lent(policy: &Policy, lent: Lent, job: &Job<'_>) -> Result<Candidate, Failure> {
        let clock = Clock::start();
        let prepared = Prepared::load(policy, &LoadOptions::of(job, Some(lent.address())))?;
        drop(lent);
        Candidate::of(policy, prepared, clock, job)
    }

    fn of(policy: &Policy, prepared: Prepared, mut clock: Clock, job: &Job<'_>) -> Result<Candidate, Failure> {
        steps::admit(policy, &prepared)?;
        let read = clock.step();
        let searched = steps::search(&Local, policy, (prepared, ()), job)?;
        let search = clock.step();
        Ok(Candidate { policy: policy.clone(), searched, read, search })
    }

    /// What was wanted.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The table.
    pub fn prepared(&self) -> &Prepared {
        &self.searched.prepared
    }

    /// What each row becomes.
    pub(crate) fn recoding(&self) -> &Recoding {
        &self.searched.found.recoding
    }

    /// The class of each row.
    pub(crate) fn class_of_rows(&self) -> Vec<u32> {
        let prepared = self.prepared();
        match &self.searched.joined {
            Some(joined) => joined.class_of_row.clone(),
            None => class_of_rows(&prepared.set, &self.recoding().assignment, &prepared.entry_of_row),
        }
    }

    /// Writes it as the file that `[output] file` of a policy would name, lets the independent checker read that file
    /// back, and seals it with a certificate and reports of its own. What is written stays in memory, so publishing has
    /// nothing to do.
    ///
    /// # Errors
    /// When there is no such format, or the checker refuses what was written.
    pub fn release(&self, file: Option<&str>, job: &Job<'_>) -> Result<Release, Failure> {
        let output = OutputPolicy { file: file.map(String::from), ..self.policy.output.clone() };
        let policy = &Policy { output, ..self.policy.clone() };
        let (searched, mut clock, mut memory) = (&self.searched, Clock::start(), Memory::default());
        let written = steps::write_in_memory(policy, searched, &mut memory, job)?;
        let write = clock.step();
        let sealed = steps::check(policy, searched, &written, true, None, &mut memory, job)?;
        let check = clock.step();

        let Memory { public, internal } = memory;
        let (certificate, public_report) = (sealed.certificate.clone(), sealed.reports.public.clone());
        let (read, search) = (self.read, self.search);
        let seconds = Seconds { read, search, check, write, total: read + search + write + check };
        let outcome = searched.outcome(policy, &written.released, sealed, seconds, Outputs::default());
        let name = written.files.into_iter().next().unwrap_or_default();
        Ok(Release { name, public, internal, certificate, public_report, outcome })
    }
}

impl std::fmt::Debug for Candidate {
    /// Nothing of the table.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Candidate").field("algorithm", &self.searched.algorithm.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use amidst_io::arrow_array::{ArrayRef, Int64Array, StringArray};

    use super::*;
    use crate::policy::{intervals, k_anonymity};

    fn people() -> RecordBatch {
        let ages = Int64Array::from(vec![21, 22, 24, 29, 41, 43, 47, 49]);
        let values = StringArray::from(vec!["flu", "flu", "hiv", "cold", "flu", "hiv", "cold", "flu"]);
        RecordBatch::try_from_iter([("age", Arc::new(ages) as ArrayRef), ("disease", Arc::new(values) as ArrayRef)])
            .unwrap()
    }

    #[test]
    fn a_lent_table_is_released_as_its_batches_are() {
        let builder = Policy::builder().quasi("age", intervals([10, 20])).sensitive("disease");
        let policy = builder.require(k_anonymity(4)).build().unwrap();
        let lent = amidst_io::lend(people().schema(), vec![people()]);
        let job = Job::default();
        let release = anonymize_source(&policy, Some(lent.address()), &job).unwrap();
        let same = anonymize_batches(&policy, &people().schema(), [people()], &job).unwrap();
        assert_eq!(release.public, same.public);
        assert!(!release.text().unwrap().contains("memory"));
        for part in [&release.public, &release.internal] {
            let naming = |bytes: &Bytes| bytes.windows(9).any(|window| window == b"memory://");
            assert!(!part.values().any(naming), "no file names an address that nobody can read");
        }
        let address = lent.address();
        let given_back = Candidate::of_lent(&policy, lent, &job).unwrap();
        assert_eq!(given_back.release(policy.output.file.as_deref(), &job).unwrap().public, release.public);
        assert!(anonymize_source(&policy, Some(address), &job).is_err(), "it was given back");
    }
}
