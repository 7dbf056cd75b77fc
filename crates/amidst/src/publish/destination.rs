//! Where a release goes, and under which names.

use std::path::{Path, PathBuf};

use amidst_io::Format;

use super::staging::Staging;
use super::workspace::{Folders, name_in};
use crate::engine::Layout;
use crate::folder::{CERTIFICATE, INTERNAL, POLICY, PUBLIC, TABLE, certificate_beside, never_written};
use crate::policy::Policy;
use crate::report::FILES;
use crate::{Failure, Remedy};

/// Where a release goes.
#[derive(Debug)]
pub struct Destination {
    /// The folder of the release, or its only file.
    pub target: PathBuf,
    /// The name of the table inside the folder, also while it is being prepared.
    pub release: String,
    /// Whether `target` is a single file.
    single: bool,
}

impl Destination {
    /// `out` wins over the policy's `[output] file`. A path with the ending of a table is a single file; anything else
    /// is a folder, whose table gets the ending of the policy's file.
    pub fn of(policy: &Policy, out: Option<&Path>, layout: Layout) -> Result<Self, Failure> {
        let stated = policy.output.file.as_deref();
        let target = match (out, stated) {
            (Some(out), _) => out.to_path_buf(),
            (None, Some(file)) => policy.origin.resolve(file),
            (None, None) => {
                return Err(Failure::usage("it is not said where the release goes", Remedy::NameDestination));
            }
        };
        let single = Format::of_path(&target).is_ok();
        let named = [Some(target.as_path()), stated.map(Path::new)];
        if let Some(why) = named.into_iter().flatten().find_map(never_written) {
            return Err(Failure::Usage(why));
        }
        if layout == Layout::Parts {
            if single {
                let message = format!("{} must be a folder: a cluster writes several files", target.display());
                return Err(Failure::Usage(message));
            }
            return Ok(Destination { release: TABLE.to_string(), target, single });
        }
        let named = if single { target.as_path() } else { Path::new(stated.unwrap_or("release.csv")) };
        let format = Format::of_path(named).map_err(|e| Failure::Usage(e.to_string()))?;
        Ok(Destination { release: name_in(format), target, single })
    }

    /// Whether reports and policies are written: a single table is accompanied by its certificate alone.
    pub fn documented(&self) -> bool {
        !self.single
    }

    /// Fails where publishing would replace what the release is made from.
    pub fn refuse_to_overwrite_sources(&self, policy: &Policy, input: Option<&str>) -> Result<(), Failure> {
        let Ok(target) = self.target.canonicalize() else { return Ok(()) };
        let input = match (input, policy.data.input.as_deref()) {
            (Some(input), _) => amidst_io::local_path(input),
            (None, stated) => stated.and_then(|input| amidst_io::local_path(&policy.origin.resolve_source(input))),
        };
        let own = policy.origin.path().map(Path::to_path_buf);
        for (what, path) in [("the input", input), ("the policy", own)] {
            if let Some(path) = path
                && path.canonicalize().is_ok_and(|path| path.starts_with(&target))
            {
                let (target, path) = (self.target.display(), path.display());
                let problem = format!("{target} is or holds {what} {path}, which the release would replace");
                return Err(Failure::usage(problem, Remedy::AnotherDestination));
            }
        }
        Ok(())
    }

    /// The folders in which the release is made.
    pub(crate) fn folders(&self, staging: &Staging) -> Result<Folders, Failure> {
        let what = format!("the release to {}", self.target.display());
        Ok(Folders { public: staging.part(PUBLIC)?, internal: staging.path().join(INTERNAL), what })
    }

    /// Puts the staged files in place.
    pub fn publish(self, staging: Staging) -> Result<Outputs, Failure> {
        if self.single {
            let certificate = certificate_beside(&self.target);
            let staged = |name: &str| Path::new(PUBLIC).join(name);
            let moves = [(staged(CERTIFICATE), certificate.as_path()), (staged(&self.release), self.target.as_path())];
            staging.publish_files(&moves)?;
            return Ok(Outputs { release: self.target, certificate, ..Outputs::default() });
        }
        staging.publish(&[PUBLIC])?;
        let (public, internal) = (self.target.join(PUBLIC), self.target.join(INTERNAL));
        Ok(Outputs {
            release: public.join(&self.release),
            certificate: public.join(CERTIFICATE),
            policy: Some(public.join(POLICY)),
            report: Some(public.join(FILES[0])),
            internal_policy: Some(internal.join(POLICY)),
            internal_report: Some(internal.join(FILES[0])),
        })
    }
}

/// The files of a release.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Outputs {
    /// The table.
    pub release: PathBuf,
    /// What it satisfies.
    pub certificate: PathBuf,
    /// The resolved policy that may be handed over.
    pub policy: Option<PathBuf>,
    /// The report that may be handed over.
    pub report: Option<PathBuf>,
    /// The resolved policy that stays with the owner.
    pub internal_policy: Option<PathBuf>,
    /// The report that stays with the owner.
    pub internal_report: Option<PathBuf>,
}
