//! Verifying: the independent checker on a published release, optionally beside the table it came from.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use amidst_check::{
    Certificate, ENVELOPE, Opening, Options, OriginalTable, Problem, ProblemKind, Seals, Signer, Verdict, signers,
};
use amidst_core::table::Column;
use toml::value::Date;

use crate::checker_input::files::{Checkable, Original};
use crate::checker_input::labels;
use crate::folder::{CERTIFICATE, certificate_beside, envelope_beside, public_part};
use crate::policy::{MissingRows, OutputValues, Policy, Ranges, Role};
use crate::prepare::{LoadOptions, Prepared};
use crate::{Failure, Remedy, files};

/// A release and its certificate.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The released table, or the folder that holds it.
    pub release: PathBuf,
    /// The certificate.
    pub certificate: PathBuf,
    /// The signed statement, of a release that is no folder; in a folder it has its place.
    pub envelope: Option<PathBuf>,
}

impl Subject {
    /// What `anonymize` wrote: a folder, the public part of it, a table with its certificate beside it, or the
    /// certificate of either.
    pub fn at(path: &Path) -> Result<Self, Failure> {
        if path.is_file() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if let Some(table) = name.strip_suffix(CERTIFICATE).and_then(|table| table.strip_suffix('.')) {
                return Subject::files(&path.with_file_name(table), path);
            }
            let certificate = certificate_beside(path);
            if certificate.is_file() {
                let envelope = Some(envelope_beside(path));
                return Ok(Subject { release: path.to_path_buf(), certificate, envelope });
            }
            // The table in the folder of a release is checked with the whole of that folder.
            let folder = files::parent(path);
            if folder.join(CERTIFICATE).is_file() && (name == CERTIFICATE || amidst_io::Format::of_path(path).is_ok()) {
                return Subject::at(folder);
            }
            let problem = format!("{} has no certificate {}", path.display(), certificate.display());
            return Err(Failure::usage(problem, Remedy::NameCertificate(path.to_path_buf())));
        }
        if !path.exists() {
            return Err(Failure::Usage(format!("there is no {}", path.display())));
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
        Ok(Subject { release, certificate, envelope: None })
    }

    /// A table and its certificate, wherever they are.
    pub fn files(release: &Path, certificate: &Path) -> Result<Self, Failure> {
        for path in [release, certificate] {
            if !path.exists() {
                return Err(Failure::Usage(format!("there is no {}", path.display())));
            }
        }
        // The signed statement lies beside the certificate, under a name like it.
        let name = certificate.file_name().unwrap_or_default().to_string_lossy();
        let table = name.strip_suffix(&format!(".{CERTIFICATE}"));
        let envelope = table.map_or_else(|| ENVELOPE.to_string(), |table| format!("{table}.intoto.jsonl"));
        let envelope = (!release.is_dir()).then(|| files::parent(certificate).join(envelope));
        Ok(Subject { release: release.to_path_buf(), certificate: certificate.to_path_buf(), envelope })
    }

    /// Makes sure that the system lets its files be read: a release that may not be looked at is not a wrong one.
    ///
    /// # Errors
    /// When one may not be read.
    pub fn readable(&self) -> Result<(), Failure> {
        for path in [&self.certificate, &self.release, &self.envelope_place()] {
            let forbidden = |e: &std::io::Error| e.kind() == std::io::ErrorKind::PermissionDenied;
            if let Some((path, e)) = files::unreadable(path).filter(|(_, e)| forbidden(e)) {
                return Err(Failure::Io(format!("cannot read {}: {e}", path.display())));
            }
        }
        Ok(())
    }

    /// Where the signed statement about it lies, or will lie.
    pub fn envelope_place(&self) -> PathBuf {
        self.envelope.clone().unwrap_or_else(|| self.release.join(ENVELOPE))
    }

    /// The certificate of the version before, where versions lie side by side under their numbers.
    fn version_before(&self, certificate: &Certificate) -> Option<PathBuf> {
        let version = certificate.series.as_ref()?.version;
        let folder = self.release.canonicalize().ok().filter(|folder| folder.is_dir())?;
        let own = folder.file_name()?.to_str()? == version.to_string();
        let before = folder.parent()?.join(version.checked_sub(1)?.to_string()).join(CERTIFICATE);
        (own && before.is_file()).then_some(before)
    }
}

/// What is asked of a release beside its claims.
#[derive(Debug, Clone, Default)]
pub struct VerificationDemands {
    /// For each of these lists of keys, one must have signed.
    pub signers: Vec<Vec<Signer>>,
    /// The day on which the release is relied on; today when absent.
    pub day: Option<Date>,
    /// The version before it, a folder or a certificate; looked for beside the release when absent.
    pub previous: Option<PathBuf>,
    /// Rows of the input that the owner opened.
    pub opening: Option<Opening>,
}

impl VerificationDemands {
    /// Adds a demand: one of the keys in a file must have signed. A line of OpenSSH may be given itself.
    ///
    /// # Errors
    /// When the file cannot be read, or has no key of the kind that signs.
    pub fn signer(&mut self, file: &str) -> Result<(), Failure> {
        let path = Path::new(file);
        let text = match file.starts_with("ssh-") && !path.exists() {
            true => file.to_string(),
            false => std::fs::read_to_string(path).map_err(|e| match e.kind() {
                std::io::ErrorKind::NotFound => {
                    Failure::Usage(format!("there is no file {file} with the signer's key"))
                }
                std::io::ErrorKind::InvalidData => Failure::Usage(format!("{file} is no public key: it is no text")),
                _ => Failure::Io(format!("cannot read {file}: {e}")),
            })?,
        };
        self.signers.push(signers(&text).map_err(|what| Failure::Usage(format!("{file}: {what}")))?);
        Ok(())
    }
}

/// The day that it is now, by universal time.
pub fn today() -> Option<Date> {
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).ok()?.as_secs();
    Some(day_after_1970(seconds / 86_400))
}

/// A day of the Gregorian calendar, by how many days it is after the first one of 1970.
fn day_after_1970(days: u64) -> Date {
    // Years begin in March here, so that the day that some years have more is the last one.
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (month, day) = (if shifted < 10 { shifted + 3 } else { shifted - 9 }, of_year - (153 * shifted + 2) / 5 + 1);
    let year = year + era * 400 + u64::from(month <= 2);
    Date { year: u16::try_from(year).unwrap_or(u16::MAX), month: month as u8, day: day as u8 }
}

/// Recomputes every claim of the certificate from the release.
pub fn verify(subject: &Subject) -> Verdict {
    examine(subject, &VerificationDemands::default(), &Options::default())
}

/// The same, and looks whether what is asked for beside the claims holds, too.
pub fn verify_asked(subject: &Subject, asked: &VerificationDemands) -> Verdict {
    examine(subject, asked, &Options::default())
}

/// Also compares the release with the table it came from: every released cell covers its original, no row is invented,
/// what counts against a population is counted again, and the certificate follows from this policy, too.
///
/// # Errors
/// When the policy does not fit the input, or that cannot be read.
pub fn verify_against(
    subject: &Subject,
    asked: &VerificationDemands,
    policy: &Policy,
    original: Option<&str>,
) -> Result<Verdict, Failure> {
    let covers = matches!(policy.output.ranges, Ranges::Label | Ranges::Rounded);
    if !covers || policy.output.values != OutputValues::Generalized {
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
    let copy = Checkable::of(policy, &Original::Table(&crate::prepare::source(policy, &load)?), &kept, false)?;
    // Where unknown cells are kept, rows without a key are left out all the same.
    let keys: Vec<String> = policy.with_role(Role::Key).map(str::to_string).collect();
    let (drops, empty) = match policy.data.missing_rows {
        MissingRows::Drop => (true, None),
        MissingRows::Keep => (!keys.is_empty(), (!keys.is_empty()).then(String::new)),
    };
    let unknown = copy.null.iter().filter(|_| drops).cloned().chain(empty);
    let table = OriginalTable {
        files: copy.files.clone(),
        labels: labels::of_columns(&prepared.generalizations),
        missing: policy.data.missing.iter().cloned().chain(unknown).collect(),
        drop_missing_in: match policy.data.missing_rows {
            MissingRows::Keep => keys,
            MissingRows::Drop => {
                let of = |name: &&String| policy.column(name).is_some_and(|c| reads(c.role));
                prepared.header.iter().filter(of).cloned().collect()
            }
        },
        same: prepared.table.columns.iter().map(same).chain(prepared.published_labels.clone()).collect(),
    };
    let populations = labels::populations(policy, &prepared)?;
    let text = policy.public_form().to_toml();
    let options =
        Options { original: Some(&table), populations: &populations.tables, policy: Some(&text), ..Options::default() };
    Ok(examine(subject, asked, &options))
}

/// The texts of a column that mean the same as another, with that other.
fn same(column: &Column) -> (String, HashMap<String, String>) {
    let other = |code: u32| column.dictionary.value(code).to_string();
    let texts = column.dictionary.aliases().iter().map(|(text, code)| (text.clone(), other(*code)));
    (column.name.clone(), texts.collect())
}

fn examine(subject: &Subject, asked: &VerificationDemands, options: &Options<'_>) -> Verdict {
    let certificate = match Certificate::read(&subject.certificate) {
        Ok(certificate) => certificate,
        Err(problem) => return Verdict::invalid(vec![problem]),
    };
    let before = asked.previous.clone().map(|path| match path.is_dir() {
        true => public_part(&path).unwrap_or(path).join(CERTIFICATE),
        false => path,
    });
    let before = before.or_else(|| subject.version_before(&certificate));
    let previous = match before.as_deref().map(Certificate::read).transpose() {
        Ok(previous) => previous,
        Err(problem) => {
            let message = format!("the version before it: {problem}");
            return Verdict::invalid(vec![Problem::violation(ProblemKind::Chain, message)]);
        }
    };
    let seals = Seals {
        signers: &asked.signers,
        day: asked.day.or_else(today),
        previous: previous.as_ref(),
        certificate: Some(subject.certificate.clone()),
        envelope: subject.envelope.clone().filter(|path| path.symlink_metadata().is_ok()),
    };
    amidst_check::verify(
        &subject.release,
        &certificate,
        &Options { seals, opening: asked.opening.as_ref(), ..options.clone() },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_the_calendar() {
        let text = |days: u64| day_after_1970(days).to_string();
        assert_eq!((text(0), text(59), text(789)), ("1970-01-01".into(), "1970-03-01".into(), "1972-02-29".into()));
        assert_eq!((text(11_016), text(11_017)), ("2000-02-29".into(), "2000-03-01".into()));
        assert_eq!((text(47_540), text(47_541)), ("2100-02-28".into(), "2100-03-01".into()), "2100 has no such day");
        // Every day is the one after the day before.
        let mut last = day_after_1970(0);
        for days in 1..150_000 {
            let next = day_after_1970(days);
            let follows = (next.year, next.month, next.day) == (last.year, last.month, last.day + 1);
            let begins = next.day == 1 && (next.month == last.month + 1 || (next.month == 1 && last.month == 12));
            assert!(follows || begins, "{last} {next}");
            last = next;
        }
    }
}
