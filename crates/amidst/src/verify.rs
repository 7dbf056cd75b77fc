//! Verifying: the independent checker on a published release, optionally beside the table it came from.

use std::path::{Path, PathBuf};

use amidst_check::{Certificate, Options, Problem, Verdict};

use crate::Failure;

/// A release and its certificate.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The released table, or the folder that holds it.
    pub release: PathBuf,
    /// The certificate.
    pub certificate: PathBuf,
}

impl Subject {
    /// A folder that `anonymize` wrote.
    pub fn folder(folder: &Path) -> Result<Self, Failure> {
        if !folder.is_dir() {
            return Err(Failure::Usage(format!("{} is not a folder with a release", folder.display())));
        }
        let certificate = folder.join("certificate.json");
        if !certificate.is_file() {
            return Err(Failure::Usage(format!("{} has no certificate.json", folder.display())));
        }
        Ok(Subject { release: folder.to_path_buf(), certificate })
    }

    /// A table and its certificate, wherever they are.
    pub fn files(release: &Path, certificate: &Path) -> Result<Self, Failure> {
        for path in [release, certificate] {
            if !path.exists() {
                return Err(Failure::Usage(format!("there is no {}", path.display())));
            }
        }
        Ok(Subject { release: release.to_path_buf(), certificate: certificate.to_path_buf() })
    }
}

/// Recomputes every claim of the certificate from the release.
pub fn verify(subject: &Subject) -> Verdict {
    match Certificate::read(&subject.certificate) {
        Ok(certificate) => amidst_check::verify(&subject.release, &certificate, &Options::default()),
        Err(problem) => Verdict::invalid(vec![problem]),
    }
}

/// What people read of a problem.
pub fn describe(problem: &Problem) -> String {
    problem.to_string()
}
