//! This process, on one machine.

use std::path::Path;

use amidst_io::{Format, WriteError, WriteOptions};

use super::{Engine, Layout, Recoded, Written};
use crate::Failure;
use crate::job::{Job, Stage, stop};
use crate::policy::Policy;
use crate::prepare::{LoadOptions, Prepared};
use crate::release::Released;

/// The engine that needs nothing but this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct Local;

impl Engine for Local {
    /// They are in what was prepared.
    type Rows<'a> = ();

    fn layout(&self) -> Layout {
        Layout::File
    }

    fn read<'a>(&'a self, policy: &'a Policy, options: &LoadOptions<'a>) -> Result<(Prepared, ()), Failure> {
        Ok((Prepared::load(policy, options)?, ()))
    }

    fn write(&self, recoded: &Recoded<'_>, (): &(), folder: &Path, job: &Job<'_>) -> Result<Written, Failure> {
        let released = Released::of(recoded.policy, recoded.prepared, recoded.recoding, recoded.joined);
        let untyped = |name: &str| recoded.policy.leaves_type_open(name);
        let options = WriteOptions {
            untyped: Some(&untyped),
            threads: job.threads,
            cancel: Some(job.cancel),
            progress: Some(&|done, total| job.tell(Stage::Write, done as f64 / total.max(1) as f64)),
            bundle: released.bundle(),
            // The disk is waited for while the release is checked.
            sync: false,
            private: true,
            ..WriteOptions::default()
        };
        let path = folder.join(recoded.name);
        let format = Format::of_path(&path).map_err(|e| Failure::Usage(e.to_string()))?;
        amidst_io::write(&released.written(recoded.policy), Some(&released.order), &path, format, &options).map_err(
            |e| {
                stop(job).err().unwrap_or_else(|| match e {
                    WriteError::Io { source, .. } => Failure::Io(source.to_string()),
                    other => Failure::Io(other.to_string()),
                })
            },
        )?;
        Ok(Written { files: vec![recoded.name.to_string()], released })
    }
}
