//! Verifying: the independent checker on a published release, optionally beside the table it came from.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use amidst_check::{Certificate, Options, OriginalTable, Verdict};
use amidst_core::table::Column;

use crate::Failure;
use crate::checker_input::files::Checkable;
use crate::checker_input::labels;
use crate::folder::{CERTIFICATE, certificate_beside, public_part};
use crate::policy::{MissingRows, OutputValues, Policy, Ranges, Role};
use crate::prepare::{LoadOptions, Prepared};

/// A release and its certificate.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The released table, or the folder that holds it.
    pub release: PathBuf,
    /// The certificate.
    pub certificate: PathBuf,
}

impl Subject {
    /// What `anonymize` wrote: a folder, the public part of it, or a table with its certificate beside it.
    pub fn at(path: &Path) -> Result<Self, Failure> {
        if path.is_file() {
            let certificate = certificate_beside(path);
            if !certificate.is_file() {
                let (path, beside) = (path.display(), certificate.display());
                return Err(Failure::Usage(format!(
                    "{path} has no certificate {beside}; name it with --release {path} --certificate FILE"
                )));
            }
            return Ok(Subject { release: path.to_path_buf(), certificate });
        }
        if !path.is_dir() {
            return Err(Failure::Usage(format!("{} is not a folder with a release", path.display())));
        }
        let Some(release) = public_part(path) else {
            return Err(Failure::Usage(format!("{} has no {CERTIFICATE}", path.display())));
        };
        let certificate = release.join(CERTIFICATE);
        // What the caller named may be a link; what lies in it may not.
        let inside = [&release, &certificate].into_iter().filter(|part| part.as_path() != path);
        if let Some(link) = inside.into_iter().find(|part| part.is_symlink()) {
            let path = link.display();
            return Err(Failure::Usage(format!("{path} is a link; a release holds its files itself")));
        }
        Ok(Subject { release, certificate })
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
    examine(subject, &Options::default())
}

/// Also compares the release with the table it came from: every released cell covers its original, no row is invented,
/// what counts against a population is counted again, and the certificate follows from this policy, too.
pub fn verify_against(subject: &Subject, policy: &Policy, original: Option<&str>) -> Result<Verdict, Failure> {
    if (policy.output.ranges, policy.output.values) != (Ranges::Label, OutputValues::Generalized) {
        return Err(Failure::Usage(
            "the cells of this release stand for classes (`ranges` or `values` under [output]) and do not cover their \
             originals, so they cannot be compared with the table; verify it without the policy"
                .to_string(),
        ));
    }
    let load = LoadOptions { input: original.map(String::from), ..LoadOptions::default() };
    let prepared = Prepared::load(policy, &load)?;
    let reads = |role: Role| !matches!(role, Role::Identifying | Role::Consent);
    let kept = |name: &str| policy.column(name).is_some_and(|c| c.role != Role::Identifying);
    let copy = Checkable::of(&crate::prepare::source(policy, &load)?, &kept, false)?;
    let unknown = copy.null.iter().filter(|_| policy.data.missing_rows == MissingRows::Drop);
    let table = OriginalTable {
        files: copy.files.clone(),
        labels: labels::of_columns(&prepared.generalizations),
        missing: policy.data.missing.iter().chain(unknown).cloned().collect(),
        drop_missing_in: match policy.data.missing_rows {
            MissingRows::Keep => Vec::new(),
            MissingRows::Drop => {
                let of = |name: &&String| policy.column(name).is_some_and(|c| reads(c.role));
                prepared.header.iter().filter(of).cloned().collect()
            }
        },
        same: prepared.table.columns.iter().map(same).collect(),
    };
    let populations = labels::populations(policy, &prepared)?;
    let text = policy.public_form().to_toml();
    let options =
        Options { persons: None, original: Some(&table), populations: &populations.tables, policy: Some(&text) };
    Ok(examine(subject, &options))
}

/// The texts of a column that mean the same as another, with that other.
fn same(column: &Column) -> (String, HashMap<String, String>) {
    let other = |code: u32| column.dictionary.value(code).to_string();
    let texts = column.dictionary.aliases().iter().map(|(text, code)| (text.clone(), other(*code)));
    (column.name.clone(), texts.collect())
}

fn examine(subject: &Subject, options: &Options<'_>) -> Verdict {
    match Certificate::read(&subject.certificate) {
        Ok(certificate) => amidst_check::verify(&subject.release, &certificate, options),
        Err(problem) => Verdict::invalid(vec![problem]),
    }
}
