//! Verifies a release against its certificate, from these two alone.
//!
//! In this order: digests and files, the certificate against its policy, every claim recomputed from the rows. A claim
//! that the files cannot decide is reported as attested.

use std::path::Path;

use num_traits::ToPrimitive;
use serde_json::{Map, Value};

use crate::certificate::{Certificate, Claim, FORMAT, Requirement, SuppressedAs, other_format};
use crate::content::{Content, Location};
use crate::digest::sha256_hex;
use crate::examine::{Examined, Rows, Statement, committed, contradictions, examine, name_of, nothing, said_of};
use crate::files::{content, equal_tables, extra_contents, extra_files, listed_twice, named, place};
use crate::issue::describe;
use crate::judge::Judged;
use crate::models::{Figure, Weak};
use crate::opened::opened;
use crate::options::Options;
use crate::policy::{Owner, PolicySaid, Role, follows, lasts_as_long};
use crate::problem::{Problem, ProblemKind};
use crate::provenance::provenance;
use crate::reader::{Fingerprint, fingerprint, format_of};
use crate::verdict::{ClaimStatus, Found, Proven, Verdict};

/// The file in a release that repeats the policy of its certificate.
const POLICY: &str = "policy.toml";

/// The reports of a release. Their digests are compared; their contents are not checked.
const REPORTS: [&str; 3] = ["report.html", "report.json", "report.md"];

/// Verifies the release at `release`: a file, the folder that holds the files of the certificate, or contents in
/// memory. Everything that goes wrong, unreadable files included, is a problem of the verdict.
pub fn verify(release: impl Into<Location>, certificate: &Certificate, options: &Options<'_>) -> Verdict {
    let release = release.into();
    let mut verdict = recompute(&release, certificate, options);
    provenance(&release, certificate, &options.seals, &mut verdict);
    verdict.concluded()
}

/// Recomputes every claim of the certificate about the published rows.
fn recompute(release: &Location, certificate: &Certificate, options: &Options<'_>) -> Verdict {
    let mut problems = seals(certificate);
    let files = match resolve(release, certificate) {
        Ok(files) => files,
        Err(found) => {
            problems.extend(found);
            return unread(certificate, problems);
        }
    };
    let listed: Vec<Content> = files.iter().map(|f| f.0.clone()).collect();
    match release {
        Location::Path(folder) if folder.is_dir() => problems.extend(extra_files(folder, &listed)),
        Location::Path(_) => {}
        Location::Memory(contents) => problems.extend(extra_contents(contents.keys(), &listed)),
    }
    let tables: Vec<Content> = files.iter().filter(|f| f.2).map(|f| f.0.clone()).collect();
    let claims: Vec<Claim> = certificate.requirements.iter().map(claim).collect();
    let said = Statement {
        quasi: &certificate.quasi,
        sensitive: &certificate.sensitive,
        waived: &certificate.waived,
        accepted: &certificate.accepted,
        claims: &claims,
    };
    let options = &Options { persons: options.persons.clone().filter(|_| certificate.persons), ..options.clone() };
    let rows = rows_of(certificate);
    let mut examined = match examine(&tables, &said, options) {
        Ok(examined) => examined,
        Err(found) => {
            problems.extend(found);
            // The columns of the release are unknown; the rest of the policy is compared all the same.
            problems.extend(follows(&said_of(&said, &rows, &[], &[]), &certificate.policy, Owner::Certificate));
            return unread(certificate, problems);
        }
    };
    problems.extend(equal_tables(&tables, &examined.prints));
    problems.extend(digests(&files, certificate, &examined.prints));
    let stated = said_of(&said, &rows, &examined.counted.columns, &examined.domains);
    problems.extend(follows(&stated, &certificate.policy, Owner::Certificate));
    problems.extend(options.policy.into_iter().flat_map(|policy| follows(&stated, policy, Owner::Given)));
    problems.extend(options.policy.and_then(|policy| lasts_as_long(&certificate.policy, policy)));
    problems.extend(nothing(&said, examined.counted.rows));
    problems.extend(contradictions(&tables, &examined, &said, &rows, options));
    problems.extend(counts(certificate, &examined));
    problems.extend(committed(certificate.commitment.as_ref(), &certificate.policy, &rows, &examined));
    let shown = options.opening.map(|opening| opened(opening, certificate, &tables, &examined.counted.columns));
    let (shown, found) = shown.unzip();
    problems.extend(found.unwrap_or_default());
    let judged = std::mem::take(&mut examined.judged);
    let mut results = RequirementResults::new(certificate, options);
    for ((claim, stated), judged) in claims.iter().zip(&certificate.requirements).zip(judged) {
        results.enter(claim, stated, judged);
    }
    problems.append(&mut results.problems);
    if results.proofs == 0 && !claims.is_empty() && examined.counted.rows > 0 {
        let what = "nothing is proven: every requirement is only attested; the tables that it speaks of, which its policy \
                    names, would prove it";
        problems.push(Problem::violation(ProblemKind::Nothing, what));
    }
    Verdict {
        requirements: results.requirements,
        proven: Some(proven(certificate, &examined)),
        attested: attested(certificate),
        opened: shown,
        not_checked: not_checked(certificate, options),
        ..Verdict::invalid(problems)
    }
}

/// Compares the length and digest of every file.
fn digests(files: &[(Content, usize, bool)], certificate: &Certificate, tables: &[Fingerprint]) -> Vec<Problem> {
    let mut tables = tables.iter();
    let mut problems = Vec::new();
    for (path, index, table) in files {
        let print = if *table { tables.next().cloned().map(Ok) } else { None };
        match print.unwrap_or_else(|| fingerprint(path)) {
            Ok(print) => problems.extend(compare_print(path, certificate, *index, &print)),
            Err(problem) => problems.push(problem),
        }
    }
    problems
}

/// The verdict on a release whose rows could not be counted: no requirement is checked.
fn unread(certificate: &Certificate, problems: Vec<Problem>) -> Verdict {
    let requirements = certificate.requirements.iter().map(|stated| Found {
        requirement: Requirement { holds: false, ..stated.clone() },
        verdict: ClaimStatus::NotChecked,
    });
    Verdict { requirements: requirements.collect(), ..Verdict::invalid(problems) }
}

fn rows_of(certificate: &Certificate) -> Rows {
    Rows {
        rows_in: certificate.rows_in,
        dropped: certificate.rows_dropped_missing,
        suppressed: certificate.suppressed,
        masked: certificate.suppressed_as == SuppressedAs::Mask,
        counterfeits: certificate.counterfeits.unwrap_or(0),
        persons: certificate.persons,
    }
}

/// Compares the numbers of rows, classes and unique rows.
fn counts(certificate: &Certificate, examined: &Examined) -> Vec<Problem> {
    let differs = |kind, what: &str, stated: u64, found: u64| {
        let message = || format!("the certificate states {stated} {what}, the release has {found}");
        (stated != found).then(|| Problem::violation(kind, message()))
    };
    let rows = differs(ProblemKind::Rows, "rows", certificate.rows_out, examined.counted.rows);
    let classes = differs(ProblemKind::Classes, "classes", certificate.classes, examined.counted.keys.len() as u64);
    let (stated, found) = (certificate.unique_rows, examined.unique_rows());
    let (on_all, on_some) = ("rows unique on all that is published", "rows unique on its insensitive columns");
    let all = differs(ProblemKind::Measured, on_all, stated.published, found.published);
    let some = differs(ProblemKind::Measured, on_some, stated.insensitive, found.insensitive);
    let nobody = (certificate.counterfeits.unwrap_or(0) > 0 && certificate.series.is_none()).then(|| {
        let message = "rows stand for nobody, which they do in the versions of a series only";
        Problem::violation(ProblemKind::Rows, message)
    });
    [rows, classes, all, some, nobody].into_iter().flatten().collect()
}

fn proven(certificate: &Certificate, examined: &Examined) -> Proven {
    // Nothing is proven about a sensitive column without a requirement.
    let required = |name: &str| {
        certificate.requirements.iter().any(|r| r.on.iter().any(|on| on.names().iter().any(|n| n == name)))
    };
    let sensitive: Vec<String> =
        certificate.sensitive.iter().map(|s| s.name.clone()).filter(|name| required(name)).collect();
    let other = |name: &&String| !certificate.quasi.contains(name) && !sensitive.contains(name);
    let rows = examined.counted.rows;
    Proven {
        quasi: certificate.quasi.clone(),
        others: examined.counted.columns.iter().filter(other).cloned().collect(),
        sensitive,
        rows,
        protected: rows.saturating_sub(certificate.waived.len() as u64),
        classes: examined.counted.keys.len() as u64,
        unique: examined.unique_rows().published,
    }
}

/// Statements of the maker that the published files cannot decide.
fn attested(certificate: &Certificate) -> Vec<String> {
    let mut list = Vec::new();
    if !certificate.waived.is_empty() {
        list.push(format!(
            "{} rows are published as they are, with their owners' consent; nothing is proven about them",
            certificate.waived.len()
        ));
    }
    if certificate.persons {
        list.push("which rows belong to one person".into());
    } else if PolicySaid::parse(&certificate.policy).is_ok_and(|policy| policy.has(Role::Key)) {
        list.push("that no two rows belong to one person, by the key of the policy".into());
    }
    if let Some(counterfeits) = certificate.counterfeits.filter(|&n| n > 0) {
        list.push(format!("{counterfeits} rows stand for nobody"));
    }
    list
}

/// What was not checked because the tables that it needs were not given.
fn not_checked(certificate: &Certificate, options: &Options<'_>) -> Vec<String> {
    let mut list = Vec::new();
    if options.original.is_none() {
        list.push("that the rows stand for rows of the input, and how many were left out".into());
        list.push("that the quasi cells are labels of the policy's hierarchies".into());
    }
    let listed = |name: &&&str| certificate.outputs.iter().any(|output| output.file == **name);
    let reports: Vec<&str> = REPORTS.iter().filter(listed).copied().collect();
    if !reports.is_empty() {
        list.push(format!("what {} say", reports.join(", ")));
    }
    list
}

/// Compares stated requirements with recomputed ones and collects the results.
struct RequirementResults<'a> {
    /// Whether sizes and counts are of persons, while the caller has given no person ids.
    persons: bool,
    certificate: &'a Certificate,
    requirements: Vec<Found>,
    problems: Vec<Problem>,
    /// Number of requirements that the rows decide, at least in one direction.
    proofs: usize,
}

impl<'a> RequirementResults<'a> {
    fn new(certificate: &'a Certificate, options: &Options<'_>) -> Self {
        let persons = certificate.persons && options.persons.is_none();
        RequirementResults { persons, certificate, requirements: Vec::new(), problems: Vec::new(), proofs: 0 }
    }

    fn enter(&mut self, claim: &Claim, stated: &Requirement, judged: Result<Judged, String>) {
        let name = name_of(claim);
        let violation = |kind, what: String| Problem::violation(kind, format!("{name}: {what}"));
        let note = |what: &str| Problem::note(ProblemKind::NotVerifiable, format!("{name}: {what}"));
        let judged = match judged {
            Ok(judged) => judged,
            Err(what) => {
                self.problems.push(violation(ProblemKind::Requirement, what));
                self.record(Requirement { holds: false, ..stated.clone() }, ClaimStatus::NotChecked);
                return;
            }
        };
        if !stated.holds {
            let what = "the certificate itself says that it does not hold".into();
            self.problems.push(violation(ProblemKind::Certificate, what));
        }
        let found = judged.requirement;
        if (judged.undecided.is_some() || self.persons)
            && let Some(figure) = below(claim, stated, &judged.figures)
        {
            let what = format!("the certificate states a {figure} that does not meet the requirement");
            self.problems.push(violation(ProblemKind::Measured, what));
        }
        if let Some(what) = judged.undecided {
            self.problems.push(note(&what));
            self.record(stated.clone(), ClaimStatus::Attested);
            return;
        }
        if self.persons && !rows_bound_persons(&claim.model) {
            // Rows bound persons from above only in sizes and in the number of distinct values.
            self.problems.push(note("counts persons, whom the release does not tell apart; its figures are attested"));
            self.record(stated.clone(), ClaimStatus::Attested);
            return;
        }
        if !found.holds {
            self.problems.push(violation(ProblemKind::Requirement, describe(&found)));
        }
        self.proofs += 1;
        if self.persons {
            for (figure, value) in &stated.measured {
                let (stated, most) = (value.as_f64(), found.measured.get(figure).and_then(Value::as_f64));
                if stated > most {
                    let what = format!("the certificate states {figure} = {value}, more than rows allow");
                    self.problems.push(violation(ProblemKind::Measured, what));
                }
            }
            // Rows and persons have the same set of values, but not the same counts.
            let status =
                if claim.model == "distinct-l-diversity" { ClaimStatus::Proven } else { ClaimStatus::Attested };
            if status == ClaimStatus::Attested {
                self.problems.push(note(
                    "counts persons, whom the release does not tell apart; its rows allow what is attested",
                ));
            }
            self.record(Requirement { holds: found.holds, ..stated.clone() }, status);
            return;
        }
        if !same_figures(stated, &found) {
            let what = "its figures in the certificate are not those of the release".into();
            self.problems.push(violation(ProblemKind::Measured, what));
        }
        match stands_on(claim, self.certificate) {
            Some(what) => {
                self.problems.push(note(what));
                self.record(found, ClaimStatus::Attested);
            }
            None => self.record(found, ClaimStatus::Proven),
        }
    }

    fn record(&mut self, requirement: Requirement, verdict: ClaimStatus) {
        self.requirements.push(Found { requirement, verdict });
    }
}

/// A stated figure that does not meet its own requirement: attested figures must at least not contradict themselves.
fn below(claim: &Claim, stated: &Requirement, figures: &[Figure]) -> Option<&'static str> {
    let bound = |value: &Value| match value {
        Value::String(text) => crate::number::parse(text).ok().and_then(|exact| exact.to_f64()),
        other => other.as_f64(),
    };
    let fails = |&(name, weak): &(&'static str, Weak)| {
        let bound = claim.parameters.get(name).and_then(bound)?;
        let figure = stated.measured.get(name)?.as_f64()?;
        let margin = 1e-9 * bound.abs().max(figure.abs());
        let fails = match weak {
            Weak::Small => figure < bound - margin,
            Weak::Great => figure > bound + margin,
        };
        fails.then_some(name)
    };
    figures.iter().find_map(fails)
}

/// An assumption of a requirement that neither the release nor its policy contains.
fn stands_on(claim: &Claim, certificate: &Certificate) -> Option<&'static str> {
    let distance = claim.parameters.get("distance").and_then(Value::as_str);
    let levels = certificate.sensitive.iter().any(|s| s.levels.is_some());
    (distance == Some("hierarchical") && levels)
        .then_some("measures distances in a hierarchy whose groups are the maker's word")
}

/// The format of a certificate and its two digests.
fn seals(certificate: &Certificate) -> Vec<Problem> {
    let mut problems = Vec::new();
    if certificate.format != FORMAT {
        problems.push(Problem::violation(ProblemKind::Certificate, other_format(certificate.format)));
    }
    if certificate.policy_digest != sha256_hex(certificate.policy.as_bytes()) {
        problems.push(Problem::violation(ProblemKind::Digest, "the policy does not match its digest"));
    }
    // The policy file in the release must be the policy that was checked.
    let beside = certificate.outputs.iter().find(|output| output.file == POLICY);
    if beside.is_some_and(|output| output.sha256 != certificate.policy_digest) {
        let what = format!("{POLICY} is not the policy in the certificate");
        problems.push(Problem::violation(ProblemKind::Policy, what));
    }
    match certificate.computed_digest() {
        Ok(digest) if digest == certificate.digest => {}
        Ok(_) => problems.push(Problem::violation(ProblemKind::Digest, "the certificate does not match its digest")),
        Err(problem) => problems.push(problem),
    }
    problems
}

/// The files to check: content, index in the certificate, whether it is a table.
fn resolve(release: &Location, certificate: &Certificate) -> Result<Vec<(Content, usize, bool)>, Vec<Problem>> {
    let one = |kind, message| vec![Problem::violation(kind, message)];
    // A path to a file instead of a folder stands for the one table that the certificate lists.
    let lone = match release {
        Location::Path(path) if !path.exists() => {
            return Err(one(ProblemKind::MissingFile, format!("{}: there is no such file or folder", path.display())));
        }
        Location::Path(path) => Some(path).filter(|path| !path.is_dir()),
        Location::Memory(_) => None,
    };
    let names: Vec<&str> = certificate.outputs.iter().map(|o| o.file.as_str()).collect();
    let mut problems = listed_twice(release, &names);
    let mut files = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let found = match lone {
            None => content(release, name),
            Some(file) => place(file, name).map(Content::file),
        };
        match found {
            Ok(path) => {
                let table = format_of(&path).is_some();
                // A digest proves that a file is the listed one, not that it may be published: a raw table listed as
                // `raw.xlsx` would be handed over under this certificate.
                if !table && *name != POLICY && !REPORTS.contains(name) {
                    let message = format!("{name}: no part of a release: neither a table, {POLICY} nor a report");
                    problems.push(Problem::violation(ProblemKind::File, message));
                }
                files.push((path, index, table));
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let tables = files.iter().filter(|f| f.2).count();
    if tables == 0 {
        return Err(one(ProblemKind::Certificate, "the certificate lists no table".into()));
    }
    if let Some(file) = lone {
        if tables != 1 {
            let message = format!("the certificate lists {tables} tables: give the folder that holds them");
            return Err(one(ProblemKind::MissingFile, message));
        }
        named(file).map_err(|problem| vec![problem])?;
        // A single file may have been renamed; its digest identifies it.
        files.retain(|f| f.2);
        files[0].0 = Content::file(file);
    }
    Ok(files)
}

fn compare_print(path: &Path, certificate: &Certificate, index: usize, print: &Fingerprint) -> Option<Problem> {
    let stated = certificate.outputs.get(index)?;
    let same = stated.bytes == print.bytes && stated.sha256 == print.sha256;
    let message = || format!("{}: the file was altered: its length or digest is not the certificate's", path.display());
    (!same).then(|| Problem::violation(ProblemKind::Digest, message()))
}

fn claim(requirement: &Requirement) -> Claim {
    let Requirement { model, on, quasi, parameters, .. } = requirement.clone();
    Claim { model, on, quasi, parameters }
}

/// Models whose figures over rows bound the figures over persons from above.
fn rows_bound_persons(model: &str) -> bool {
    matches!(model, "k-anonymity" | "distinct-l-diversity" | "p-sensitive-k-anonymity")
}

/// Whether the stated figures equal the recomputed ones. A relative difference of 1e-9 is allowed, because logarithms
/// may differ in the last digit between machines.
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
