//! Where a release is made before anybody can see it, and the steps that every release takes there: check, report,
//! seal.
//!
//! A release in a folder, a version of a series and a release in memory differ in where their files are, and in nothing
//! else. Nothing leaves a workspace that the checker has not passed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{fs, io};

use amidst_check::Location;
use amidst_io::Format;
use bytes::Bytes;

use super::bundle::{Bundle, Sealed, seal};
use super::certificate::certificate_text;
use crate::folder::{CERTIFICATE, INTERNAL, PUBLIC, TABLE};
use crate::job::{Job, Stage, stop};
use crate::policy::Policy;
use crate::report::Made;
use crate::{Failure, files};

/// Where the files of a release are while it is made.
pub(crate) trait Workspace: Sync {
    /// Where the checker finds what will be handed over.
    fn location(&self) -> Location;

    /// Waits until the disk has these files.
    fn sync(&self, names: &[String]) -> io::Result<()>;

    /// Adds a file to the [public](PUBLIC) or the [internal](INTERNAL) part.
    fn store(&mut self, part: &str, name: &str, bytes: &Bytes) -> Result<(), Failure>;

    /// What a failure to write is called.
    fn unwritten(&self, reason: &str) -> Failure;

    /// A failure of whatever writes the tables, told with the place that the caller knows.
    fn tell(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Io(reason) => self.unwritten(&reason),
            other => other,
        }
    }

    /// Checks the tables of the release, makes its reports and its certificate, and puts them beside the tables.
    ///
    /// # Errors
    /// Whatever the checker refuses or cannot be written; [`Failure::Cancelled`].
    fn check(&mut self, made: &Made<'_>, bundle: &Bundle<'_>, job: &Job<'_>) -> Result<Sealed, Failure> {
        stop(job)?;
        job.tell(Stage::Check, 0.0);
        let place = &*self;
        let sealed = std::thread::scope(|scope| {
            // The disk is waited for while the release is checked.
            let durable = scope.spawn(|| place.sync(bundle.files));
            let sealed = seal(made, place.location(), bundle, &|| stop(job))?;
            let safe = durable.join().unwrap_or_else(|_| Err(io::Error::other("waiting for the disk failed")));
            safe.map_err(|e| place.unwritten(&e.to_string()))?;
            Ok::<_, Failure>(sealed)
        })?;
        for (part, documents) in [(INTERNAL, &sealed.internal), (PUBLIC, &sealed.public)] {
            for (name, bytes) in documents {
                self.store(part, name, bytes)?;
                stop(job)?;
            }
        }
        // The certificate comes last: where it is, everything that it lists is.
        self.store(PUBLIC, CERTIFICATE, &certificate_text(&sealed.certificate)?.into())?;
        Ok(sealed)
    }
}

/// Folders on a disk that only their owner can read.
pub(crate) struct Folders {
    /// What will be handed over.
    pub public: PathBuf,
    /// What stays with the owner; made when it is needed.
    pub internal: PathBuf,
    /// What is written where, as a failure tells it: the folders themselves are hidden.
    pub what: String,
}

impl Workspace for Folders {
    fn location(&self) -> Location {
        (&self.public).into()
    }

    fn sync(&self, names: &[String]) -> io::Result<()> {
        names.iter().try_for_each(|name| fs::File::open(self.public.join(name))?.sync_all())
    }

    fn store(&mut self, part: &str, name: &str, bytes: &Bytes) -> Result<(), Failure> {
        let folder = if part == INTERNAL { &self.internal } else { &self.public };
        let made = if folder.is_dir() { Ok(()) } else { files::create_private_folder(folder) };
        made.and_then(|()| files::write_private(&folder.join(name), bytes)).map_err(|e| self.unwritten(&e.to_string()))
    }

    fn unwritten(&self, reason: &str) -> Failure {
        Failure::Io(format!("cannot write {}: {reason}", self.what))
    }
}

/// Files in memory, by their names.
#[derive(Default)]
pub(crate) struct Memory {
    /// What will be handed over.
    pub public: BTreeMap<String, Bytes>,
    /// What stays with the owner.
    pub internal: BTreeMap<String, Bytes>,
}

impl Workspace for Memory {
    fn location(&self) -> Location {
        self.public.clone().into()
    }

    fn sync(&self, _names: &[String]) -> io::Result<()> {
        Ok(())
    }

    fn store(&mut self, part: &str, name: &str, bytes: &Bytes) -> Result<(), Failure> {
        let files = if part == INTERNAL { &mut self.internal } else { &mut self.public };
        files.insert(name.to_string(), bytes.clone());
        Ok(())
    }

    fn unwritten(&self, reason: &str) -> Failure {
        Failure::Io(format!("cannot write the release: {reason}"))
    }
}

/// The format that a policy asks its release to have, CSV where it names none, and the name of the table in its folder.
pub(crate) fn table_name(policy: &Policy) -> Result<(Format, String), Failure> {
    let file = policy.output.file.as_deref().unwrap_or("release.csv");
    let format = Format::of_path(file.as_ref()).map_err(|e| Failure::Usage(e.to_string()))?;
    Ok((format, name_in(format)))
}

/// The name of a released table of this format.
pub(super) fn name_in(format: Format) -> String {
    format!("{TABLE}.{}", format.ending().trim_start_matches('.'))
}
