//! `amidst series`: a table that changes, published version by version.

use std::path::PathBuf;

use amidst::Failure;
use amidst::anonymize::Job;
use amidst::policy::Policy;
use amidst::series::{self, Applied, Batch, MODES, Mode, Published, SeriesAudit, SeriesLog};
use clap::{Args, Subcommand};

use crate::terminal::{CommandResult, Outcome, Terminal, heading, requirements, table, thousands};

/// Publish a table that changes, version by version
///
/// A series is a folder: its private part holds the rows and who is in which class, its versions are what the world sees.
/// A batch happens whole or not at all.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  amidst series init ward --policy policy.toml --mode m-invariant\n  amidst series insert ward \
march.csv\n  amidst series publish ward\n  amidst series audit ward --json"
)]
pub struct Series {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a series with the table of a policy, and publish version 1
    Init {
        /// The folder of the series; it must not exist
        dir: PathBuf,
        /// The policy; one of its columns has the role "key"
        #[arg(long, value_name = "FILE")]
        policy: PathBuf,
        /// How versions are made: maintain (least loss; publishing is refused where versions betray each other) or
        /// m-invariant (never betray each other, with a few counterfeit rows)
        #[arg(long, default_value = "maintain", value_parser = MODES.iter().map(|m| m.0).collect::<Vec<_>>())]
        mode: String,
        /// The table, instead of the one that the policy names
        #[arg(long, value_name = "DATA")]
        input: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Add rows
    Insert {
        /// The folder of the series
        dir: PathBuf,
        /// The new rows, with the columns of the first table
        file: String,
        #[command(flatten)]
        output: Output,
    },
    /// Delete rows
    Delete {
        /// The folder of the series
        dir: PathBuf,
        /// Whom to delete: a table with the key column; other columns are not looked at
        file: String,
        #[command(flatten)]
        output: Output,
    },
    /// Delete and add rows in one batch; a key in both files is replaced
    Apply {
        /// The folder of the series
        dir: PathBuf,
        /// The new rows
        #[arg(long, value_name = "FILE", required_unless_present = "delete")]
        insert: Option<String>,
        /// Whom to delete
        #[arg(long, value_name = "FILE")]
        delete: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Publish the rows as they are now, checked and audited, as the next version
    Publish {
        /// The folder of the series
        dir: PathBuf,
        /// Publish even if the versions together reveal more than each; the certificate says so
        #[arg(long)]
        allow_leak: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Tell what happened so far
    Log {
        /// The folder of the series
        dir: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Tell about one version
    Show {
        /// The folder of the series
        dir: PathBuf,
        /// Its number
        version: u64,
        #[command(flatten)]
        output: Output,
    },
    /// Tell what all versions reveal together; exit code 1 when that is more than each reveals
    Audit {
        /// The folder of the series
        dir: PathBuf,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Debug, Args)]
struct Output {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Series {
    /// Runs the subcommand.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        let job = Job { cancel: terminal.stop_flag(), progress: &|_, _| (), threads: 0 };
        match &self.command {
            Command::Init { dir, policy, mode, input, output } => {
                let policy = Policy::read(policy)?;
                let mode = Mode::find(mode).unwrap_or_default();
                let done = series::init(dir, &policy, mode, input.clone(), &job)?;
                let told = show(terminal, output, || done.to_json(), || published(&done));
                terminal.told("version 1 is published", told.map(|_| ()))
            }
            Command::Insert { dir, file, output } => {
                apply(terminal, dir, Batch { insert: Some(file.clone()), delete: None }, &job, output)
            }
            Command::Delete { dir, file, output } => {
                apply(terminal, dir, Batch { insert: None, delete: Some(file.clone()) }, &job, output)
            }
            Command::Apply { dir, insert, delete, output } => {
                apply(terminal, dir, Batch { insert: insert.clone(), delete: delete.clone() }, &job, output)
            }
            Command::Publish { dir, allow_leak, output } => {
                let done = series::Series::open(dir)?.publish(*allow_leak, &job)?;
                if done.audit.condemns() {
                    terminal.warning(format!("the versions leak together: {}", done.audit.sentence()));
                }
                let told = show(terminal, output, || done.to_json(), || published(&done));
                terminal.told(&format!("version {} is published", done.version), told.map(|_| ()))
            }
            Command::Log { dir, output } => {
                let log = series::Series::open(dir)?.log()?;
                show(terminal, output, || log.to_json(), || history(&log))
            }
            Command::Show { dir, version, output } => {
                let (found, certificate) = series::Series::open(dir)?.show(*version)?;
                let json = || {
                    let mut json = found.to_json();
                    json["certificate"] = certificate.clone();
                    json
                };
                let text = || {
                    let claims = certificate["requirements"].as_array().cloned().unwrap_or_default();
                    let head = format!(
                        "version {}: {} rows in {} classes, {} of them counterfeit{}",
                        found.version,
                        thousands(found.rows),
                        thousands(found.classes),
                        thousands(found.counterfeits),
                        if found.leaks { "; published although it leaks" } else { "" }
                    );
                    format!("{}\n\n{}", heading(head), requirements(&claims))
                };
                show(terminal, output, json, text)
            }
            Command::Audit { dir, output } => {
                let found = series::Series::open(dir)?.audit()?;
                show(terminal, output, || found.to_json(), || audited(&found))?;
                Ok(if found.condemns() { Outcome::Violated } else { Outcome::Done })
            }
        }
    }
}

fn show(
    terminal: &Terminal,
    output: &Output,
    json: impl FnOnce() -> serde_json::Value,
    text: impl FnOnce() -> String,
) -> CommandResult {
    if output.json {
        terminal.json(&json())?;
    } else {
        terminal.result(text())?;
    }
    Ok(Outcome::Done)
}

fn apply(terminal: &Terminal, dir: &std::path::Path, batch: Batch, job: &Job<'_>, output: &Output) -> CommandResult {
    let done: Result<Applied, Failure> = series::Series::open(dir)?.apply(&batch, job);
    let done = done?;
    let told = show(terminal, output, || done.to_json(), || applied(&done));
    terminal.told(&format!("batch {} is done", done.batch), told.map(|_| ()))
}

fn applied(done: &Applied) -> String {
    let m = &done.maintained;
    let mut lines = vec![heading(format!(
        "batch {}: {} rows came, {} went; the series has {} rows",
        done.batch,
        thousands(done.inserted),
        thousands(done.deleted),
        thousands(done.rows)
    ))];
    if done.dropped > 0 {
        lines.push(format!("  {} rows left out because a value is unknown", thousands(done.dropped)));
    }
    if m.classes > 0 {
        lines.push(format!("  {} classes, {} dissolved, {} split", thousands(m.classes), m.dissolved, m.splits));
    }
    lines.push("  not public yet: `amidst series publish` makes it so".into());
    lines.join("\n")
}

fn published(done: &Published) -> String {
    let head = format!(
        "version {}: {} rows in {} classes",
        done.version,
        thousands(done.rows),
        thousands(done.judged.class_count())
    );
    let mut lines = vec![heading(head)];
    if done.mode == Mode::MInvariant {
        lines.push(format!("  {} counterfeit rows beside them", thousands(done.counterfeits)));
    }
    lines.extend(done.leading.iter().map(|sentence| format!("  {sentence}")));
    lines.push(String::new());
    lines.push(requirements(&done.judged.requirements));
    lines.push(String::new());
    lines.push(format!("  all versions together reveal: {}", done.audit.sentence()));
    lines.push(format!("  checked and published: {}", done.release.display()));
    lines.join("\n")
}

fn history(log: &SeriesLog) -> String {
    let mut rows = vec![["batch", "inserted", "deleted", "classes"].map(String::from).to_vec()];
    for b in &log.batches {
        let mut row = [b.batch, b.inserted, b.deleted].map(thousands).to_vec();
        row.push(if b.classes > 0 { thousands(b.classes) } else { "–".into() });
        rows.push(row);
    }
    let head = ["version", "up to batch", "rows", "classes", "counterfeits", "leaks"].map(String::from);
    let mut versions = vec![head.to_vec()];
    for v in &log.versions {
        let mut row = [v.version, v.batch, v.rows, v.classes, v.counterfeits].map(thousands).to_vec();
        row.push(if v.leaks { "yes" } else { "no" }.into());
        versions.push(row);
    }
    format!("{}\n\n{}", table(&rows), table(&versions))
}

fn audited(found: &SeriesAudit) -> String {
    let verdict = match (found.versions, found.condemns()) {
        (1, _) => "1 version, and no other to compare it with".to_string(),
        (n, true) => format!("{n} versions reveal more together than each"),
        (n, false) => format!("{n} versions reveal no more together than each"),
    };
    let mut lines = vec![heading(verdict)];
    let head = ["column", "persons", "fewest candidates", "narrowed", "exposed", "certain"].map(String::from);
    let mut rows = vec![head.to_vec()];
    for c in &found.columns {
        let a = &c.audit;
        let fewest = a.fewest.map_or_else(|| "–".to_string(), |n| n.to_string());
        let number = |n: usize| thousands(n as u64);
        let cells = [number(a.persons), fewest, number(a.narrowed), number(a.exposed), number(a.certain)];
        rows.push([vec![c.column.clone()], cells.to_vec()].concat());
    }
    lines.push(table(&rows));
    for c in &found.columns {
        for w in &c.worst {
            let persons: Vec<String> = w.persons.iter().take(8).map(|p| format!("#{p}")).collect();
            let versions: Vec<String> = w.versions.iter().map(usize::to_string).collect();
            let from = match versions.is_empty() {
                true => "all versions together".to_string(),
                false => format!("versions {}", versions.join(" and ")),
            };
            lines.push(format!("  {}: {} has {} ({from})", persons.join(", "), c.column, w.values.join(" or ")));
        }
    }
    lines.join("\n")
}
