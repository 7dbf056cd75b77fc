//! `amidst verify`: runs the independent checker on a release.

use std::path::PathBuf;

use amidst::Failure;
use amidst::check::printable_json;
use amidst::check::{ClaimStatus, Opened, Verdict, printable};
use amidst::folder::{CERTIFICATE, public_part};
use amidst::json::open_bounds;
use amidst::open;
use amidst::policy::Policy;
use amidst::saved;
use amidst::verify::{Subject, VerificationDemands, verify_against, verify_asked};
use amidst::words::counted;
use clap::Args;
use serde_json::Value;
use toml::value::{Date, Datetime};

use crate::terminal::{CommandResult, Outcome, Terminal, heading, thousands};
use crate::verdicts::requirements;

/// Recompute every claim of a certificate from the release itself
///
/// Needs nothing but the published files. A claim is proven from them, or only attested by the maker of the release;
/// the first lines say which, and about what. The holder of the policy and the input can also check, with --policy,
/// that the certificate follows from that policy, that every released cell covers its original and that no row was
/// invented.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  amidst verify release/\n  amidst verify published.csv\n  amidst verify --release r.csv --certificate c.json --json"
)]
pub struct Verify {
    /// The folder that `anonymize` wrote, its public part, or a table with its certificate beside it
    #[arg(value_name = "RELEASE_DIR", required_unless_present = "release", conflicts_with_all = ["release", "certificate"])]
    folder: Option<PathBuf>,

    /// The released table
    #[arg(long, value_name = "FILE", requires = "certificate")]
    release: Option<PathBuf>,

    /// Its certificate
    #[arg(long, value_name = "FILE", requires = "release")]
    certificate: Option<PathBuf>,

    /// The policy that the release was made with: also compare the release with the input
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// The input, instead of the one that the policy names
    #[arg(long, value_name = "DATA", requires = "policy")]
    original: Option<String>,

    /// Demand a signature by one of the keys in this file: a public key of OpenSSH, a file of allowed signers, or PEM.
    /// Give it several times to demand several signatures
    #[arg(long, value_name = "KEY")]
    signer: Vec<String>,

    /// The day on which the release is relied on, for one that is valid until a day; today when absent
    #[arg(long, value_name = "DATE", value_parser = day)]
    at: Option<Date>,

    /// The version before it, for a version of a series; looked for beside it when absent
    #[arg(long, value_name = "RELEASE_DIR")]
    previous: Option<PathBuf>,

    /// Rows of the input that the owner opened: they must be in the table that the certificate commits to, and covered
    #[arg(long, value_name = "FILE")]
    opening: Option<PathBuf>,

    /// Let nothing pass that is only attested
    #[arg(long)]
    strict: bool,

    /// Also write the problems as SARIF 2.1.0, for code hosts and pipelines
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Replace the SARIF file when it exists
    #[arg(long, requires = "sarif")]
    force: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Verify {
    /// Runs the checker; an invalid release is exit code 1.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        if let Some(path) = &self.sarif {
            saved::vacant(path, self.force)?;
        }
        let subject = match (&self.folder, &self.release, &self.certificate) {
            (Some(folder), ..) => Subject::at(folder)?,
            (None, Some(release), Some(certificate)) => Subject::files(release, certificate)?,
            _ => return Err(Failure::Usage("name a release folder, or --release and --certificate".to_string())),
        };
        let mut asked =
            VerificationDemands { day: self.at, previous: self.previous.clone(), ..VerificationDemands::default() };
        for file in &self.signer {
            asked.signer(file)?;
        }
        asked.opening = self.opening.as_deref().map(open::read).transpose()?;
        if let Some(path) = self.previous.as_ref().filter(|path| !path.exists()) {
            return Err(Failure::Usage(format!("there is no {}", path.display())));
        }
        if let Some(path) = self.previous.as_ref().filter(|path| path.is_dir() && public_part(path).is_none()) {
            return Err(Failure::Usage(format!("{} has no {CERTIFICATE}", path.display())));
        }
        subject.readable()?;
        let verdict = match &self.policy {
            None => verify_asked(&subject, &asked),
            Some(policy) => verify_against(&subject, &asked, &Policy::read(policy)?, self.original.as_deref())?,
        };
        let verdict = if self.strict { verdict.strict() } else { verdict };
        if let Some(path) = &self.sarif {
            let log = amidst::json_output::sarif_log(&verdict, &subject.release);
            let text = serde_json::to_string_pretty(&log).unwrap_or_default();
            saved::save(path, &format!("{}\n", printable_json(&text)), self.force)?;
        }
        if self.json {
            terminal.json(&verdict_json(&verdict))?;
        } else {
            let mut lines = summary(&verdict);
            lines.push(requirements(&verdict.requirements));
            lines.extend(verdict.problems.iter().map(|p| format!("  {p}")));
            terminal.result(lines.join("\n"))?;
        }
        Ok(if verdict.stands() { Outcome::Done } else { Outcome::Violated })
    }
}

/// The findings in a few lines: what is proven, about which columns and how many rows, and what is not.
fn summary(verdict: &Verdict) -> Vec<String> {
    let title = match (verdict.stands(), verdict.valid) {
        (true, _) => "the release is what its certificate says",
        (false, true) => "the release is what its certificate says, but NOT what was asked for",
        (false, false) => "the release does NOT stand",
    };
    let mut lines = vec![heading(title)];
    let names = |list: &[String]| list.iter().map(|name| printable(name).into_owned()).collect::<Vec<_>>().join(", ");
    let of = |status: ClaimStatus| -> Vec<String> {
        let chosen = verdict.requirements.iter().filter(|f| f.verdict == status && f.requirement.holds);
        // With sets of quasi columns each requirement occurs once for each set.
        let first = verdict.requirements.first().map(|f| &f.requirement.quasi);
        let chosen = chosen.filter(|f| first == Some(&f.requirement.quasi));
        chosen.map(|f| printable(&f.requirement.model).into_owned()).collect()
    };
    if let Some(about) = verdict.proven.as_ref().filter(|_| verdict.valid) {
        let rows = match about.protected == about.rows {
            true => format!("all {} rows", thousands(about.rows)),
            false => format!("{} of {} rows", thousands(about.protected), thousands(about.rows)),
        };
        let (classes, columns) = (counted(about.classes, "class"), names(&about.quasi));
        let models = match of(ClaimStatus::Proven) {
            list if list.is_empty() => "the sizes of classes in rows".to_string(),
            list => list.join(", "),
        };
        let mut sets: Vec<String> =
            verdict.requirements.iter().filter_map(|f| f.requirement.quasi.as_deref()).map(&names).collect();
        sets.dedup();
        lines.push(match sets.is_empty() {
            true => format!("  proven: {models}, over {columns} together, for {rows} in {classes}"),
            // Columns that are in no set together are not protected together.
            false => format!("  proven: {models}, over each of ({}) by itself, for {rows}", sets.join("), (")),
        });
        let beside = [about.sensitive.as_slice(), about.others.as_slice()].concat();
        if !beside.is_empty() {
            let unique = match about.unique {
                0 => "no row is".to_string(),
                1 => format!("1 of {} rows is", thousands(about.rows)),
                n => format!("{} of {} rows are", thousands(n), thousands(about.rows)),
            };
            lines.push(format!("  with what stands beside them ({}), {unique} unique", names(&beside)));
        }
        if !about.others.is_empty() {
            lines.push(format!("  nothing is proven about the columns beside them: {}", names(&about.others)));
        }
    }
    lines.extend(provenance(verdict));
    lines.extend(verdict.opened.iter().flat_map(opened));
    for model in of(ClaimStatus::Attested) {
        lines.push(format!("  only attested: {model}"));
    }
    lines.extend(verdict.attested.iter().map(|what| format!("  only attested: {}", printable(what))));
    lines.extend(verdict.not_checked.iter().map(|what| format!("  not checked: {}", printable(what))));
    lines
}

/// Signers, and the last day on which the release may be relied on.
fn provenance(verdict: &Verdict) -> Vec<String> {
    let mut lines = Vec::new();
    for signature in &verdict.signatures {
        let asked = verdict.signed_by.as_ref().is_some_and(|known| known.contains(signature));
        let fingerprint = &signature.fingerprint;
        lines.push(match (&signature.name, asked) {
            (Some(name), true) => format!("  signed by: {} ({fingerprint})", printable(name)),
            (_, true) => format!("  signed by: {fingerprint}"),
            (_, false) => format!("  signed with a key that was not asked for: {fingerprint}"),
        });
    }
    if let (Some(last), Some(fresh)) = (&verdict.valid_until, verdict.fresh) {
        let (last, word) = (printable(last), if fresh { "fresh: it may" } else { "out of date: it might" });
        lines.push(format!("  {word} be relied on until {last}"));
    }
    lines
}

/// The findings on opened rows.
fn opened(found: &Opened) -> Vec<String> {
    let rows = format!("{} {}", counted(found.rows, "opened row"), if found.rows == 1 { "is" } else { "are" });
    let mut lines = vec![match found.covered {
        None => format!("  {rows} in the table that the certificate commits to"),
        Some(covered) if covered == found.rows => {
            format!("  {rows} in the table that the certificate commits to, and covered by the release")
        }
        Some(covered) => format!(
            "  {rows} in the table that the certificate commits to; the release covers {}, the others were left out",
            thousands(covered)
        ),
    }];
    // Each of them, however many: whether a row is covered may depend on any.
    for word in &found.labels {
        let [column, value, label] = [&word.column, &word.value, &word.label].map(|text| printable(text));
        lines.push(format!("  only the owner's word: {value} is in {label} of {column}"));
    }
    lines
}

/// Parses the day of `--at`.
fn day(text: &str) -> Result<Date, String> {
    match text.parse() {
        Ok(Datetime { date: Some(day), time: None, offset: None }) => Ok(day),
        _ => Err("write a day, such as 2027-12-31".into()),
    }
}

/// The verdict as JSON, with a mark on bounds that do not hold themselves.
fn verdict_json(verdict: &Verdict) -> Value {
    let mut json = serde_json::to_value(verdict).unwrap_or_default();
    for (at, found) in verdict.requirements.iter().enumerate() {
        let requirement = &found.requirement;
        let open = open_bounds(&requirement.model, &requirement.measured.clone().into());
        if !open.is_empty() {
            json["requirements"][at]["open"] = open.into();
        }
    }
    json
}
