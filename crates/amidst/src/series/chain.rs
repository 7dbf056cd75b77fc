//! The chain of a series' versions: every certificate carries the digest of the one before.
//!
//! The private state remembers the digest of each certificate, so that a version can be published and the chain be
//! looked at when folders of older versions were moved away, and so that a replaced folder is noticed.

use std::path::Path;

use amidst_check::{Certificate, Link};

use super::store::Work;
use super::{Series, versions};
use crate::Failure;
use crate::folder::CERTIFICATE;

/// The name under which the state remembers the certificate of a version.
pub(super) fn certificate_name(version: u64) -> String {
    format!("certificate of version {version}")
}

/// The digest of the certificate of a version: as the state remembers it, or as its folder has it where an older
/// program published it. None where there is no such version, or nothing is left of its certificate.
pub(super) fn certificate_of(work: &Work<'_>, folder: &Path, version: u64) -> Result<Option<String>, Failure> {
    if version == 0 {
        return Ok(None);
    }
    if let Some(digest) = work.meta(&certificate_name(version))? {
        return Ok(Some(digest));
    }
    let read = Certificate::read(&versions(folder).join(version.to_string()).join(CERTIFICATE)).ok();
    Ok(read.filter(whole).map(|certificate| certificate.digest))
}

fn whole(certificate: &Certificate) -> bool {
    certificate.computed_digest().is_ok_and(|digest| digest == certificate.digest)
}

/// Whether the certificates of a series' versions follow each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chain {
    /// Versions whose certificates carry the digest of the one before, or which are the first.
    pub linked: u64,
    /// What does not fit, in sentences.
    pub problems: Vec<String>,
    /// What could not be looked at.
    pub not_checked: Vec<String>,
}

impl Chain {
    fn look(&mut self, version: u64, found: Option<&Certificate>, recorded: Option<&str>, before: Option<&str>) {
        let Some(certificate) = found else {
            self.not_checked.push(format!("version {version} is not in its place, or its certificate cannot be read"));
            return;
        };
        if !whole(certificate) || recorded.is_some_and(|digest| digest != certificate.digest) {
            self.problems.push(format!("the certificate of version {version} is not the one that was published"));
            return;
        }
        match (&certificate.series, before) {
            (None, _) if recorded.is_some() => {
                self.problems.push(format!("the certificate of version {version} does not say which version it is"));
            }
            (None, _) => self.not_checked.push(format!("version {version} was made before versions were chained")),
            (Some(Link { version: stated, .. }), _) if *stated != version => {
                self.problems.push(format!("in the place of version {version} lies version {stated}"));
            }
            (Some(Link { previous: Some(digest), .. }), Some(before)) if digest != before => {
                self.problems
                    .push(format!("version {version} does not follow the version {} that is there", version - 1));
            }
            (Some(Link { previous: None, .. }), _) if version > 1 => {
                self.not_checked
                    .push(format!("version {version} does not say which version {} it follows", version - 1));
            }
            (Some(_), _) => self.linked += 1,
        }
    }
}

impl Series {
    /// Looks at the certificates of all versions: whether each is the one that was published, and follows the one
    /// before.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn chain(&self) -> Result<Chain, Failure> {
        let work = self.store.read()?;
        let last = work.number("SELECT COALESCE(MAX(number), 0) FROM version")?;
        let (mut chain, mut before) = (Chain::default(), None::<String>);
        for version in 1..=last {
            let read = Certificate::read(&self.version_folder(version).join(CERTIFICATE)).ok();
            let recorded = work.meta(&certificate_name(version))?;
            chain.look(version, read.as_ref(), recorded.as_deref(), before.as_deref());
            before = recorded.or(read.map(|certificate| certificate.digest));
        }
        Ok(chain)
    }
}
