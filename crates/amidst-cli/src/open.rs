//! `amidst open`: discloses single rows of the input to an auditor.

use std::path::{Path, PathBuf};

use amidst::Failure;
use amidst::folder::CERTIFICATE;
use amidst::job::Job;
use amidst::open::{OpenedRows, RowSelection, open, save};
use amidst::saved;
use amidst::series::{Series, version_at};
use amidst::words::counted;
use clap::Args;
use serde_json::json;

use crate::terminal::{CommandResult, Outcome, Terminal};

/// Show single rows of the input to an auditor, who can check that the release was made from them
///
/// Needs a release that `anonymize --commit` made, with its internal part, and the input as it was; or a version of a
/// series that `series publish --commit` made, in its place, whose rows are named by their keys. The file that is
/// written holds the rows themselves, with the way to the root that the certificate states: hand it to the auditor
/// alone, who checks it with `amidst verify RELEASE --opening FILE` and learns nothing about other rows.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  amidst anonymize policy.toml --out release --commit\n  amidst open release --rows 17,42 --out opened.json\n  amidst verify release/public --opening opened.json\n  amidst open ward/versions/3 --key p17 --out opened.json"
)]
pub struct Open {
    /// The folder that `anonymize --commit` wrote, or that of a version of a series
    #[arg(value_name = "RELEASE_DIR")]
    folder: PathBuf,

    /// Rows of the input, the first one is 1; rows that were left out for a missing value do not count
    #[arg(long, value_name = "N,N", value_delimiter = ',', required_unless_present = "key")]
    rows: Vec<u64>,

    /// All rows with this value in the key column; may be given several times
    #[arg(long, value_name = "VALUE")]
    key: Vec<String>,

    /// Where the opened rows go
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// The policy that the release was made with; when absent, the copy in the release, whose paths are then relative
    /// to the working directory
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// The input, instead of the one that the policy names
    #[arg(long, value_name = "DATA")]
    input: Option<String>,

    /// Replace the file when it exists
    #[arg(long)]
    force: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Open {
    /// Opens the rows and prints what the auditor will find.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        saved::vacant(&self.out, self.force)?;
        outside_releases(&self.out)?;
        let chosen = RowSelection {
            rows: self.rows.clone(),
            keys: self.key.clone(),
            policy: self.policy.clone(),
            input: self.input.clone(),
        };
        let shown = match version_at(&self.folder) {
            Some((series, version)) => self.of_version(&Series::open(&series)?, version, terminal)?,
            None => open(&self.folder, &chosen)?,
        };
        save(&shown.opening, &self.out, self.force)?;
        let found = &shown.found;
        if self.json {
            terminal.json(&json!({ "opening": self.out, "rows": found.rows, "covered": found.covered }))?;
        } else {
            let rows = counted(found.rows, "row");
            terminal.result(format!("{rows} opened: {}", self.out.display()))?;
            if let Some(left_out) = found.covered.map(|covered| found.rows - covered).filter(|&n| n > 0) {
                terminal.warning(format!("the auditor will see that {left_out} of them are not in the release"));
            }
            terminal.note(
                "the file holds these rows as they are; who has it checks it with `amidst verify … --opening FILE`",
            );
        }
        Ok(Outcome::Done)
    }

    /// Opens rows of a version of a series, which has its own policy and its own rows.
    fn of_version(&self, series: &Series, version: u64, terminal: &Terminal) -> Result<OpenedRows, Failure> {
        if !self.rows.is_empty() || self.policy.is_some() || self.input.is_some() {
            let what = "rows of a version are named with --key: a series has its own policy, and its rows no order";
            return Err(Failure::Usage(what.to_string()));
        }
        let job = Job { cancel: terminal.stop_flag(), ..Job::default() };
        series.open_rows(version, &self.key, &job)
    }
}

/// An error when a file would lie in what is handed over: rows of the input would go with it.
fn outside_releases(file: &Path) -> Result<(), Failure> {
    let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A folder that is not there is said when the file is written.
    let Ok(folder) = folder.canonicalize() else { return Ok(()) };
    let Some(public) = folder.ancestors().find(|folder| folder.join(CERTIFICATE).is_file()) else { return Ok(()) };
    let place = public.display();
    let what = format!("{place} is handed over, and opened rows are for the auditor alone: name a file outside it");
    Err(Failure::Usage(what))
}
