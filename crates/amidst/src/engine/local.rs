//! This process, on one machine.

use std::path::Path;

use super::{Engine, Layout, Recoded, Written};
use crate::Failure;
use crate::job::Job;
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
        released.write(recoded.policy, &folder.join(recoded.name), job)?;
        Ok(Written { files: vec![recoded.name.to_string()], released })
    }
}
