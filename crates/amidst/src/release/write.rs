//! The released table as a file, or as the bytes of one.
//!
//! Everything that writes a release in this process goes through here, so that the same rows are the same bytes
//! wherever they end.

use std::path::Path;

use amidst_io::{Format, WriteError, WriteOptions};
use bytes::Bytes;

use super::Released;
use crate::Failure;
use crate::job::{Job, Stage, stop};
use crate::policy::Policy;

impl Released {
    /// Writes the table to `path`, for its owner's eyes only. The caller waits for the disk.
    ///
    /// # Errors
    /// [`Failure::Io`] with the reason alone: the path is one that only the caller knows.
    pub(crate) fn write(&self, policy: &Policy, path: &Path, job: &Job<'_>) -> Result<(), Failure> {
        let format = Format::of_path(path).map_err(|e| Failure::Usage(e.to_string()))?;
        self.with_options(policy, job, |options| {
            amidst_io::write(&self.written(policy), Some(&self.order), path, format, options).map(drop)
        })
    }

    /// The bytes that [`Released::write`] would have written.
    ///
    /// # Errors
    /// As [`Released::write`].
    pub(crate) fn bytes(&self, policy: &Policy, format: Format, job: &Job<'_>) -> Result<Bytes, Failure> {
        let mut bytes = Vec::new();
        self.with_options(policy, job, |options| {
            amidst_io::write_to(&self.written(policy), Some(&self.order), &mut bytes, format, options).map(drop)
        })?;
        Ok(bytes.into())
    }

    fn with_options(
        &self,
        policy: &Policy,
        job: &Job<'_>,
        write: impl FnOnce(&WriteOptions<'_>) -> Result<(), WriteError>,
    ) -> Result<(), Failure> {
        let untyped = |name: &str| policy.leaves_type_open(name);
        let progress = |done, total: u64| job.tell(Stage::Write, done as f64 / total.max(1) as f64);
        let options = WriteOptions {
            untyped: Some(&untyped),
            threads: job.threads,
            cancel: Some(job.cancel),
            progress: Some(&progress),
            bundle: self.bundle(),
            sync: false,
            private: true,
            ..WriteOptions::default()
        };
        write(&options).map_err(|e| {
            stop(job).err().unwrap_or_else(|| match e {
                WriteError::Io { source, .. } => Failure::Io(source.to_string()),
                other => Failure::Io(other.to_string()),
            })
        })
    }
}
