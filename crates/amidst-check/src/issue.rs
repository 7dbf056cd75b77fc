//! Checks a release and seals its certificate, in one pass over the files.
//!
//! Checking and sealing are separate steps, so that a report on the result of the check can itself be listed in the
//! certificate.

use bytes::Bytes;

use crate::certificate::{Certificate, CertificateDraft, Claim, FORMAT, Output, Requirement, SuppressedAs, UniqueRows};
use crate::content::{Content, Location};
use crate::digest::sha256_hex;
use crate::examine::{Examined, Rows, Statement, committed, contradictions, examine, name_of, nothing, said_of};
use crate::files::{content, equal_tables, listed_twice};
use crate::judge::Judged;
use crate::options::Options;
use crate::policy::{Owner, follows};
use crate::problem::{Problem, ProblemKind};
use crate::reader::{fingerprint, format_of};

/// A release that satisfies its draft, before its certificate is sealed.
#[derive(Debug)]
pub struct Checked {
    location: Location,
    certificate: Certificate,
}

/// Checks the files that `draft` lists at a [`Location`] and seals the certificate.
///
/// # Errors
/// When a requirement does not hold, a file cannot be read, or something contradicts the draft: all problems found,
/// violations and notes.
pub fn issue(
    draft: CertificateDraft,
    location: impl Into<Location>,
    options: &Options<'_>,
) -> Result<Certificate, Vec<Problem>> {
    check(draft, location, options)?.seal(&[])
}

impl Checked {
    /// The SHA-256 of a file in hexadecimal; `None` when the draft does not list it.
    pub fn sha256(&self, file: &str) -> Option<&str> {
        self.certificate.outputs.iter().find(|o| o.file == file).map(|o| o.sha256.as_str())
    }

    /// The requirements with the figures measured on the release.
    pub fn requirements(&self) -> &[Requirement] {
        &self.certificate.requirements
    }

    /// Number of rows that no other row equals, on all published and on the insensitive columns.
    pub fn unique_rows(&self) -> UniqueRows {
        self.certificate.unique_rows
    }

    /// The sealed certificate, which also lists the files `further` of the same location, such as reports.
    ///
    /// # Errors
    /// When one of these files cannot be read, or is a table: a table must be listed in the draft, so that it is
    /// checked.
    pub fn seal(self, further: &[&str]) -> Result<Certificate, Vec<Problem>> {
        let contents = further.iter().map(|file| content(&self.location, file).map(|content| (*file, content)));
        let contents: Vec<(&str, Content)> = contents.collect::<Result<_, _>>().map_err(|p| vec![p])?;
        self.seal_contents(&contents)
    }

    /// As [`Checked::seal`], for files whose bytes are given.
    ///
    /// # Errors
    /// When one of these files is a table.
    pub fn seal_memory(self, further: &[(&str, Bytes)]) -> Result<Certificate, Vec<Problem>> {
        let contents = further.iter().map(|(file, bytes)| (*file, Content::memory(file, bytes.clone())));
        self.seal_contents(&contents.collect::<Vec<_>>())
    }

    fn seal_contents(self, further: &[(&str, Content)]) -> Result<Certificate, Vec<Problem>> {
        let mut certificate = self.certificate;
        for (file, content) in further {
            if format_of(content).is_some() {
                let message = format!("the file \"{file}\" is a table that was not checked");
                return Err(vec![Problem::violation(ProblemKind::ExtraFile, message)]);
            }
            let print = fingerprint(content).map_err(|p| vec![p])?;
            certificate.outputs.push(Output { file: (*file).to_string(), bytes: print.bytes, sha256: print.sha256 });
        }
        certificate.digest = certificate.computed_digest().map_err(|p| vec![p])?;
        Ok(certificate)
    }
}

/// The first step of [`issue`]: everything except the seal.
///
/// # Errors
/// As [`issue`].
pub fn check(
    draft: CertificateDraft,
    location: impl Into<Location>,
    options: &Options<'_>,
) -> Result<Checked, Vec<Problem>> {
    let location = location.into();
    let names: Vec<&str> = draft.outputs.iter().map(String::as_str).collect();
    let twice = listed_twice(&location, &names);
    if !twice.is_empty() {
        return Err(twice);
    }
    let mut tables = Vec::new();
    for file in &draft.outputs {
        let path = content(&location, file).map_err(|p| vec![p])?;
        if format_of(&path).is_some() {
            tables.push(path);
        }
    }
    if draft.persons && options.persons.is_none() {
        let message = "the draft counts persons, but no person ids are given";
        return Err(vec![Problem::violation(ProblemKind::NotVerifiable, message)]);
    }
    // Without the flag the certificate counts rows, so person ids must not be used.
    let options = &Options { persons: options.persons.clone().filter(|_| draft.persons), ..options.clone() };
    let said = Statement {
        quasi: &draft.quasi,
        sensitive: &draft.sensitive,
        waived: &draft.waived,
        accepted: &draft.accepted,
        claims: &draft.requirements,
    };
    let examined = examine(&tables, &said, options)?;
    let rows = Rows {
        rows_in: draft.rows_in,
        dropped: draft.rows_dropped_missing,
        suppressed: draft.suppressed,
        masked: draft.suppressed_as == SuppressedAs::Mask,
        counterfeits: draft.counterfeits.unwrap_or(0),
        persons: draft.persons,
    };
    let mut problems = contradictions(&tables, &examined, &said, &rows, options);
    let stated = said_of(&said, &rows, &examined.counted.columns, &examined.domains);
    problems.extend(follows(&stated, &draft.policy, Owner::Certificate));
    problems.extend(nothing(&said, examined.counted.rows));
    problems.extend(equal_tables(&tables, &examined.prints));
    problems.extend(committed(draft.commitment.as_ref(), &draft.policy, &rows, &examined));
    let requirements = measured(&draft.requirements, &examined.judged, &mut problems);
    let outputs = printed(&draft.outputs, &location, &examined, &mut problems)?;
    if problems.iter().any(Problem::is_violation) {
        return Err(problems);
    }
    let certificate = Certificate {
        format: FORMAT,
        policy_digest: sha256_hex(draft.policy.as_bytes()),
        tool: draft.tool,
        policy: draft.policy,
        outputs,
        rows_in: draft.rows_in,
        rows_dropped_missing: draft.rows_dropped_missing,
        rows_out: examined.counted.rows,
        suppressed: draft.suppressed,
        suppressed_as: draft.suppressed_as,
        classes: examined.counted.keys.len() as u64,
        quasi: draft.quasi,
        sensitive: draft.sensitive,
        persons: draft.persons,
        waived: draft.waived,
        counterfeits: draft.counterfeits,
        series: draft.series,
        commitment: draft.commitment,
        unique_rows: examined.unique_rows(),
        accepted: draft.accepted,
        requirements,
        digest: String::new(),
    };
    Ok(Checked { location, certificate })
}

/// The requirements as measured; those that fail or cannot be decided are added to `problems`.
fn measured(claims: &[Claim], judged: &[Result<Judged, String>], problems: &mut Vec<Problem>) -> Vec<Requirement> {
    let mut requirements = Vec::new();
    for (claim, judged) in claims.iter().zip(judged) {
        let wrong = |what: String| Problem::violation(ProblemKind::Requirement, format!("{}: {what}", name_of(claim)));
        match judged {
            Err(what) => problems.push(wrong(what.clone())),
            Ok(judged) => {
                if let Some(what) = &judged.undecided {
                    let message = format!("{}: {what}", name_of(claim));
                    problems.push(Problem::violation(ProblemKind::NotVerifiable, message));
                } else if !judged.requirement.holds {
                    problems.push(wrong(describe(&judged.requirement)));
                }
                requirements.push(judged.requirement.clone());
            }
        }
    }
    requirements
}

/// Length and digest of every output; those of tables were computed while the tables were read.
fn printed(
    names: &[String],
    location: &Location,
    examined: &Examined,
    problems: &mut Vec<Problem>,
) -> Result<Vec<Output>, Vec<Problem>> {
    let mut prints = examined.prints.iter();
    let mut outputs = Vec::new();
    for file in names {
        let path = content(location, file).map_err(|p| vec![p])?;
        let print = if format_of(&path).is_some() { prints.next().cloned().map(Ok) } else { None };
        match print.unwrap_or_else(|| fingerprint(&path)) {
            Ok(print) => outputs.push(Output { file: file.clone(), bytes: print.bytes, sha256: print.sha256 }),
            Err(problem) => problems.push(problem),
        }
    }
    Ok(outputs)
}

/// Names the class that breaks a requirement, by its published cells and figures.
pub(crate) fn describe(requirement: &crate::certificate::Requirement) -> String {
    let json = |map: &serde_json::Map<String, serde_json::Value>| {
        map.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
    };
    match &requirement.worst {
        Some(worst) => format!(
            "does not hold; the class ({}) of {} reaches {}",
            json(&worst.cells),
            worst.size,
            json(if worst.figures.is_empty() { &requirement.measured } else { &worst.figures })
        ),
        None => format!("does not hold; the release reaches {}", json(&requirement.measured)),
    }
}
