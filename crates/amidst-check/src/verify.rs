//! Verifies a release against its certificate, as anybody can who has both.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::certificate::{Certificate, Claim, FORMAT, Requirement, SuppressedAs};
use crate::digest::sha256_hex;
use crate::examine::{Rows, Statement, contradictions, examine, extra_files, name_of, place};
use crate::issue::describe;
use crate::options::Options;
use crate::problem::{Problem, ProblemKind};
use crate::reader::{Fingerprint, fingerprint, format_of};

/// What verification found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// Whether nothing was found against the release.
    pub valid: bool,
    /// The requirements with the figures that the checker computed.
    pub requirements: Vec<Requirement>,
    /// Violations, and notes on what could not be looked at.
    pub problems: Vec<Problem>,
}

impl Verdict {
    /// A verdict on a release that could not be looked at.
    pub fn invalid(problems: Vec<Problem>) -> Verdict {
        Verdict { valid: false, requirements: Vec::new(), problems }
    }
}

/// Verifies the release at `release`, a file or the folder that holds the files of the certificate.
pub fn verify(release: &Path, certificate: &Certificate, options: &Options<'_>) -> Verdict {
    let mut problems = seals(certificate);
    let files = match resolve(release, certificate) {
        Ok(files) => files,
        Err(found) => {
            problems.extend(found);
            return Verdict::invalid(problems);
        }
    };
    if release.is_dir() {
        let listed: Vec<PathBuf> = files.iter().map(|f| f.0.clone()).collect();
        problems.extend(extra_files(&listed));
    }
    let tables: Vec<PathBuf> = files.iter().filter(|f| f.2).map(|f| f.0.clone()).collect();
    let claims: Vec<Claim> = certificate.requirements.iter().map(claim).collect();
    let said = Statement {
        quasi: &certificate.quasi,
        sensitive: &certificate.sensitive,
        waived: &certificate.waived,
        accepted: &certificate.accepted,
        claims: &claims,
    };
    let options = &Options { persons: options.persons.clone().filter(|_| certificate.persons), ..options.clone() };
    let examined = match examine(&tables, &said, options) {
        Ok(examined) => examined,
        Err(found) => {
            problems.extend(found);
            return Verdict::invalid(problems);
        }
    };
    let mut prints = examined.prints.iter();
    for (path, index, table) in &files {
        let print = if *table { prints.next().cloned().map(Ok) } else { None };
        match print.unwrap_or_else(|| fingerprint(path)) {
            Ok(print) => problems.extend(compare_print(path, certificate, *index, &print)),
            Err(problem) => problems.push(problem),
        }
    }
    let rows = Rows {
        rows_in: certificate.rows_in,
        dropped: certificate.rows_dropped_missing,
        suppressed: certificate.suppressed,
        masked: certificate.suppressed_as == SuppressedAs::Mask,
        counterfeits: certificate.counterfeits.unwrap_or(0),
        persons: certificate.persons,
    };
    problems.extend(contradictions(&tables, &examined, &said, &rows, options));
    let mut differs = |kind, what: &str, stated: u64, found: u64| {
        if stated != found {
            let message = format!("the certificate states {stated} {what}, the release has {found}");
            problems.push(Problem::violation(kind, message));
        }
    };
    differs(ProblemKind::Rows, "rows", certificate.rows_out, examined.counted.rows);
    differs(ProblemKind::Classes, "classes", certificate.classes, examined.counted.keys.len() as u64);
    let (stated, found) = (certificate.unique_rows, examined.unique_rows());
    let (on_all, on_some) = ("rows unique on all that is published", "rows unique on its insensitive columns");
    differs(ProblemKind::Measured, on_all, stated.published, found.published);
    differs(ProblemKind::Measured, on_some, stated.insensitive, found.insensitive);

    let mut requirements = Vec::new();
    let attested = certificate.persons && options.persons.is_none();
    for ((claim, stated), judged) in claims.iter().zip(&certificate.requirements).zip(examined.judged) {
        let name = name_of(claim);
        let violation = |kind, what: String| Problem::violation(kind, format!("{name}: {what}"));
        let judged = match judged {
            Ok(judged) => judged,
            Err(what) => {
                problems.push(violation(ProblemKind::Requirement, what));
                requirements.push(Requirement { holds: false, ..stated.clone() });
                continue;
            }
        };
        if !stated.holds {
            problems
                .push(violation(ProblemKind::Certificate, "the certificate itself says that it does not hold".into()));
        }
        let found = judged.requirement;
        if let Some(what) = judged.undecided {
            problems.push(Problem::note(ProblemKind::NotVerifiable, format!("{name}: {what}")));
            requirements.push(stated.clone());
        } else if attested && !counts_kinds(&claim.model) {
            // Rows bound persons only in what grows with either: sizes, and the number of distinct values.
            let note =
                format!("{name}: counts persons, whom the release does not tell apart; its figures are attested");
            problems.push(Problem::note(ProblemKind::NotVerifiable, note));
            requirements.push(stated.clone());
        } else if attested {
            if !found.holds {
                problems.push(violation(ProblemKind::Requirement, describe(&found)));
            }
            for (figure, value) in &stated.measured {
                let (stated, most) = (value.as_f64(), found.measured.get(figure).and_then(Value::as_f64));
                if stated > most {
                    let what = format!("the certificate states {figure} = {value}, more than rows allow");
                    problems.push(violation(ProblemKind::Measured, what));
                }
            }
            // Persons and rows have the same values, but not the same numbers of each.
            if claim.model != "distinct-l-diversity" {
                let note = format!(
                    "{name}: counts persons, whom the release does not tell apart; its rows allow what is attested"
                );
                problems.push(Problem::note(ProblemKind::NotVerifiable, note));
            }
            requirements.push(Requirement { holds: found.holds, ..stated.clone() });
        } else {
            if !found.holds {
                problems.push(violation(ProblemKind::Requirement, describe(&found)));
            }
            if !same_figures(stated, &found) {
                let what = "its figures in the certificate are not those of the release".into();
                problems.push(violation(ProblemKind::Measured, what));
            }
            requirements.push(found);
        }
    }
    Verdict { valid: !problems.iter().any(Problem::is_violation), requirements, problems }
}

/// The format and the two digests of a certificate.
fn seals(certificate: &Certificate) -> Vec<Problem> {
    let mut problems = Vec::new();
    if certificate.format != FORMAT {
        let message = format!("the certificate has format {}, this checker reads {FORMAT}", certificate.format);
        problems.push(Problem::violation(ProblemKind::Certificate, message));
    }
    if certificate.policy_digest != sha256_hex(certificate.policy.as_bytes()) {
        problems.push(Problem::violation(ProblemKind::Digest, "the policy does not match its digest"));
    }
    match certificate.computed_digest() {
        Ok(digest) if digest == certificate.digest => {}
        Ok(_) => problems.push(Problem::violation(ProblemKind::Digest, "the certificate does not match its digest")),
        Err(problem) => problems.push(problem),
    }
    problems
}

/// The files to look at: path, place in the certificate, and whether it is a table.
fn resolve(release: &Path, certificate: &Certificate) -> Result<Vec<(PathBuf, usize, bool)>, Vec<Problem>> {
    let one = |kind, message| vec![Problem::violation(kind, message)];
    if !release.exists() {
        return Err(one(ProblemKind::MissingFile, format!("{}: there is no such file or folder", release.display())));
    }
    let mut files = Vec::new();
    for (index, output) in certificate.outputs.iter().enumerate() {
        let path = place(release, &output.file).map_err(|p| vec![p])?;
        let table = format_of(&path).is_some();
        files.push((path, index, table));
    }
    let tables = files.iter().filter(|f| f.2).count();
    if tables == 0 {
        return Err(one(ProblemKind::Certificate, "the certificate lists no table".into()));
    }
    if !release.is_dir() {
        if tables != 1 {
            let message = format!("the certificate lists {tables} tables: give the folder that holds them");
            return Err(one(ProblemKind::MissingFile, message));
        }
        // A single file may have been renamed; its digest tells whether it is the one.
        files.retain(|f| f.2);
        files[0].0 = release.to_path_buf();
        return Ok(files);
    }
    let missing: Vec<Problem> = files
        .iter()
        .filter(|f| !f.0.is_file())
        .map(|f| Problem::violation(ProblemKind::MissingFile, format!("{}: the file is missing", f.0.display())))
        .collect();
    if missing.is_empty() { Ok(files) } else { Err(missing) }
}

fn compare_print(path: &Path, certificate: &Certificate, index: usize, print: &Fingerprint) -> Option<Problem> {
    let stated = certificate.outputs.get(index)?;
    let same = stated.bytes == print.bytes && stated.sha256 == print.sha256;
    let message = || format!("{}: the file was altered: its length or digest is not the certificate's", path.display());
    (!same).then(|| Problem::violation(ProblemKind::Digest, message()))
}

fn claim(requirement: &Requirement) -> Claim {
    Claim { model: requirement.model.clone(), on: requirement.on.clone(), parameters: requirement.parameters.clone() }
}

/// Models whose row-based figures bound the person-based ones from above.
fn counts_kinds(model: &str) -> bool {
    matches!(model, "k-anonymity" | "distinct-l-diversity" | "p-sensitive-k-anonymity")
}

/// Whether the stated figures are the recomputed ones. Logarithms may differ in their last digit between machines.
fn same_figures(stated: &Requirement, found: &Requirement) -> bool {
    let worst = match (&stated.worst, &found.worst) {
        (None, None) => true,
        (Some(a), Some(b)) => a.size == b.size && a.cells == b.cells && same_numbers(&a.figures, &b.figures),
        _ => false,
    };
    worst && same_numbers(&stated.measured, &found.measured)
}

fn same_numbers(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|((name, x), (other, y))| {
            name == other
                && match (x.as_f64(), y.as_f64()) {
                    (Some(x), Some(y)) => (x - y).abs() <= 1e-9 * x.abs().max(y.abs()),
                    _ => x == y,
                }
        })
}
