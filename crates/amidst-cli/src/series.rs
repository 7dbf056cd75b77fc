//! `amidst series`: publishes a table that changes, version by version.

use std::path::{Path, PathBuf};

use amidst::job::Job;
use amidst::policy::Policy;
use amidst::series::{self, Applied, Batch, MODES, Mode, Plan, Planned, Published, SeriesAudit, SeriesLog};
use amidst::words::counted;
use clap::{Args, Subcommand};

use crate::remedy::publish_safe;
use crate::terminal::{CommandResult, Outcome, Terminal, heading, table, thousands};
use crate::verdicts::{chained, requirements};

/// Publish a table that changes, version by version
///
/// A series is a folder: its private part holds the rows and who is in which class, its versions are what the world
/// sees. A batch happens whole or not at all.
#[derive(Debug, Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:\n  amidst series init ward --policy policy.toml\n  amidst series insert ward \
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
        /// m-invariant (never betray each other, with a few counterfeit rows). Without it the mode is chosen whose next
        /// version can be published, and the choice is explained
        #[arg(long, value_parser = MODES.iter().map(|m| m.0).collect::<Vec<_>>())]
        mode: Option<String>,
        /// The table, instead of the one that the policy names
        #[arg(long, value_name = "DATA")]
        input: Option<String>,
        /// Keep the classes of the first version as the policy's algorithm finds them; otherwise those that are large
        /// enough are split further, as they would be by a later batch
        #[arg(long)]
        no_split: bool,
        /// Commit to the rows, so that single ones can be shown to an auditor later (`amidst open`)
        #[arg(long)]
        commit: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Take in values that nobody had so far: a policy whose hierarchies, orders or categories have grown
    ///
    /// Everything else must be as the series began, and so must be what the policy says of values that the series
    /// knows.
    Extend {
        /// The folder of the series
        dir: PathBuf,
        /// The policy that the series began with, with more values
        #[arg(long, value_name = "FILE")]
        policy: PathBuf,
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
    ///
    /// The rows are overwritten in the state, and so are the values that nobody else has. The keys stay, and sensitive
    /// values: whoever comes back must be published as before, and audits must know who was in which version.
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
    /// Take back the last batch, if no version holds it yet
    Undo {
        /// The folder of the series
        dir: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Tell what the next version would be and reveal; nothing is changed
    Plan {
        /// The folder of the series
        dir: PathBuf,
        #[command(flatten)]
        output: Output,
    },
    /// Publish the rows as they are now, checked and audited, as the next version
    Publish {
        /// The folder of the series
        dir: PathBuf,
        /// Where the version would expose somebody, change as little as possible so that it does not: classes stay as
        /// they were published, with counterfeits for whoever left, and new rows have classes of their own or are held
        /// back. Later versions of the series do the same without being asked
        #[arg(long)]
        safe: bool,
        /// Refuse a version that would expose somebody, also where versions before it were made safe
        #[arg(long, conflicts_with = "safe")]
        no_safe: bool,
        /// Publish even if the versions together leave less than the policy promises; the certificate says so
        #[arg(long)]
        allow_leak: bool,
        /// Commit to the rows, so that single ones can be shown to an auditor later (`amidst open`)
        #[arg(long)]
        commit: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Tell what happened so far
    Log {
        /// The folder of the series
        dir: PathBuf,
        /// Read the whole state first, and make sure that it is what was written
        #[arg(long)]
        check: bool,
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
    /// Hold the policy against what all versions together leave of everybody; exit code 1 when somebody is below it
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
        let job = Job { cancel: terminal.stop_flag(), progress: &|_, _| (), threads: 0, ..Job::default() };
        match &self.command {
            Command::Init { dir, policy, mode, input, no_split, commit, output } => {
                let policy = Policy::read(policy)?;
                let mode = mode.as_deref().and_then(Mode::find);
                let first = series::First { input: input.clone(), unsplit: *no_split, commit: *commit };
                let done = series::init(dir, &policy, mode, first, &job)?;
                let told = show(terminal, output, || done.to_json(), || published(&done));
                terminal.told("version 1 is published", told.map(|_| ()))
            }
            Command::Extend { dir, policy, output } => extended(terminal, dir, policy, &job, output),
            Command::Insert { dir, file, output } => {
                apply(terminal, dir, Batch { insert: Some(file.clone()), delete: None }, &job, output)
            }
            Command::Delete { dir, file, output } => {
                apply(terminal, dir, Batch { insert: None, delete: Some(file.clone()) }, &job, output)
            }
            Command::Apply { dir, insert, delete, output } => {
                apply(terminal, dir, Batch { insert: insert.clone(), delete: delete.clone() }, &job, output)
            }
            Command::Undo { dir, output } => undone(terminal, dir, output),
            Command::Plan { dir, output } => {
                let plan = series::Series::open(dir)?.plan(&job)?;
                show(terminal, output, || with_command(&plan), || planned(&plan))
            }
            Command::Publish { dir, safe, no_safe, allow_leak, commit, output } => {
                let mut series = series::Series::open(dir)?;
                series.commit_to_rows(*commit);
                if (*safe || *no_safe) && series.mode() == Mode::MInvariant {
                    terminal.warning("--safe and --no-safe change nothing in the mode m-invariant");
                }
                let done = match (safe, no_safe) {
                    (true, _) => series.publish_safe(*allow_leak, &job)?,
                    (_, true) => series.publish_plain(*allow_leak, &job)?,
                    _ => series.publish(*allow_leak, &job)?,
                };
                if done.audit.finds_leaks() {
                    terminal.warning(format!("the versions leak together: {}", done.audit.sentence()));
                }
                let told = show(terminal, output, || done.to_json(), || published(&done));
                terminal.told(&format!("version {} is published", done.version), told.map(|_| ()))
            }
            Command::Log { dir, check, output } => {
                let series = series::Series::open(dir)?;
                if *check {
                    series.check()?;
                }
                let log = series.log()?;
                show(terminal, output, || log.to_json(), || history(&log))
            }
            Command::Show { dir, version, output } => shown(terminal, dir, *version, output),
            Command::Audit { dir, output } => {
                let series = series::Series::open(dir)?;
                let (found, chain) = (series.audit(&job)?, series.chain()?);
                let json = || {
                    let mut json = found.to_json();
                    json["chain"] = chain.to_json();
                    json
                };
                show(terminal, output, json, || format!("{}\n{}", audited(&found), chained(&chain)))?;
                let violated = found.finds_leaks() || !chain.problems.is_empty();
                Ok(if violated { Outcome::Violated } else { Outcome::Done })
            }
        }
    }
}

fn extended(terminal: &Terminal, dir: &Path, policy: &Path, job: &Job<'_>, output: &Output) -> CommandResult {
    let done = series::Series::open(dir)?.extend(&Policy::read(policy)?, job)?;
    let text = || {
        let columns = done.columns.join("`, `");
        let head = heading(format!("the series knows what the policy says of `{columns}`"));
        format!("{head}\n  versions that are published stay as they are; the policy as it was takes it back")
    };
    let told = show(terminal, output, || done.to_json(), text);
    terminal.told("the series is extended", told.map(|_| ()))
}

fn undone(terminal: &Terminal, dir: &Path, output: &Output) -> CommandResult {
    let done = series::Series::open(dir)?.undo()?;
    let text = || {
        heading(format!(
            "batch {} is taken back ({} inserted, {} deleted); the series has {}",
            done.batch,
            thousands(done.inserted),
            thousands(done.deleted),
            counted(done.rows, "row")
        ))
    };
    show(terminal, output, || done.to_json(), text)
}

fn shown(terminal: &Terminal, dir: &Path, version: u64, output: &Output) -> CommandResult {
    let (found, certificate) = series::Series::open(dir)?.show(version)?;
    let json = || {
        let mut json = found.to_json();
        json["certificate"] = certificate.clone();
        json
    };
    let text = || {
        let claims: Vec<amidst::check::Requirement> =
            serde_json::from_value(certificate["requirements"].clone()).unwrap_or_default();
        let head = format!(
            "version {}: {} in {}, {} beside them{}",
            found.version,
            counted(found.rows, "row"),
            counted(found.classes, "class"),
            counted(found.counterfeits, "counterfeit row"),
            if found.leaks { "; published although it leaks" } else { "" }
        );
        format!("{}\n\n{}", heading(head), requirements(&claims))
    };
    show(terminal, output, json, text)
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
    let done = series::Series::open(dir)?.apply(&batch, job)?;
    let told = show(terminal, output, || done.to_json(), || applied(&done));
    terminal.told(&format!("batch {} is done", done.batch), told.map(|_| ()))
}

fn applied(done: &Applied) -> String {
    let m = &done.maintained;
    let rows = counted(done.rows, "row");
    let dropped = || format!("  {} left out because a value is unknown", counted(done.dropped, "row"));
    if done.inserted + done.deleted == 0 {
        let head =
            heading(format!("nobody came and nobody went: the series has {rows}, as after batch {}", done.batch));
        return if done.dropped > 0 { format!("{head}\n{}", dropped()) } else { head };
    }
    let mut lines = vec![heading(format!(
        "batch {}: {} came, {} went; the series has {rows}",
        done.batch,
        counted(done.inserted, "row"),
        thousands(done.deleted),
    ))];
    if done.dropped > 0 {
        lines.push(dropped());
    }
    if m.classes > 0 {
        lines.push(format!(
            "  {} maintained classes, {} dissolved, {} split",
            thousands(m.classes),
            m.dissolved,
            m.splits
        ));
    }
    lines.push("  not public yet: `amidst series publish` makes it so".into());
    lines.join("\n")
}

/// The command that publishes the safe version, if there is one.
fn safe_command(plan: &Plan) -> Option<String> {
    plan.safe.as_ref().map(|safe| publish_safe(&plan.folder, safe.audit.finds_leaks()))
}

fn with_command(plan: &Plan) -> serde_json::Value {
    let mut told = plan.to_json();
    told["safe_command"] = safe_command(plan).into();
    told
}

fn planned(plan: &Plan) -> String {
    let Some(next) = &plan.next else {
        let told = format!("nothing to publish: nothing has changed since version {}", plan.last);
        return heading(told);
    };
    let head = format!(
        "version {} would have {} in {}",
        plan.last + 1,
        counted(next.rows, "row"),
        counted(next.classes, "class")
    );
    let mut lines = vec![heading(head)];
    if plan.last > 0 {
        let (rows_in, rows_out) = (counted(plan.rows_in, "row"), thousands(plan.rows_out));
        lines.push(format!("  since version {}: {rows_in} more, {rows_out} fewer", plan.last));
    }
    if plan.mode == Mode::MInvariant {
        lines.push(format!("  {} beside them", counted(next.counterfeits, "counterfeit row")));
    }
    lines.extend(loss(next));
    lines.extend((!next.satisfies).then(|| "  the rows satisfy the policy in no way until others come".to_string()));
    lines.push(format!("  all versions together would reveal: {} ({})", next.audit.sentence(), next.audit.method()));
    match (&plan.safe, safe_command(plan)) {
        (Some(safe), Some(command)) => {
            match plan.safe_since.filter(|_| plan.is_made_safe()) {
                Some(first) => lines.push(format!(
                    "  `amidst series publish` makes it safe, as versions since {first}: {}",
                    safe.cost(next)
                )),
                None => {
                    lines.push("  `amidst series publish` refuses it".into());
                    lines.push(format!("  `{command}` publishes instead: {}", safe.cost(next)));
                }
            }
            let (told, method) = (safe.audit.sentence(), safe.audit.method());
            lines.push(format!("  all versions together would then reveal: {told} ({method})"));
        }
        _ if plan.publishable() => lines.push("  `amidst series publish` publishes it".into()),
        _ => lines.push("  `amidst series publish` refuses it without --allow-leak".into()),
    }
    lines.join("\n")
}

/// The loss of a planned version's cells.
fn loss(next: &Planned) -> Option<String> {
    Some(format!("  information loss: {:.1} % of every cell on average", 100.0 * next.loss[1]?))
}

fn published(done: &Published) -> String {
    let head = format!(
        "version {}: {} in {}",
        done.version,
        counted(done.rows, "row"),
        counted(done.judged.class_count(), "class")
    );
    let mut lines = vec![heading(head)];
    if let Some(reason) = &done.chosen {
        lines.push(format!("  mode {reason}; --mode chooses another"));
    }
    if done.mode == Mode::MInvariant || done.counterfeits > 0 {
        lines.push(format!("  {} beside them", counted(done.counterfeits, "counterfeit row")));
    }
    if let Some(repair) = &done.repair {
        lines.push(format!(
            "  made safe: {} kept as before, {} in the places of some that left, {} of new rows, {} held back until they \
             can join",
            counted(repair.kept, "class"),
            counted(repair.joined, "new row"),
            counted(repair.apart, "class"),
            counted(repair.held_back, "row")
        ));
        lines.push(match done.safe_before {
            Some(first) => format!("  versions are made safe since version {first}; --no-safe refuses instead"),
            None => "  from now on `amidst series publish` makes versions safe where they must be".into(),
        });
    }
    if done.splits > 0 {
        let times = if done.splits == 1 { "once".into() } else { format!("{} times", thousands(done.splits)) };
        let rule = "as the rule of a series allows; --no-split keeps the classes that the algorithm found";
        lines.push(format!("  classes were split {times} {rule}"));
    }
    lines.extend(done.leading.iter().map(|sentence| format!("  {sentence}")));
    lines.push(String::new());
    lines.push(requirements(&done.judged.requirements));
    lines.push(String::new());
    lines.push(format!("  all versions together reveal: {} ({})", done.audit.sentence(), done.audit.method()));
    lines.push(format!("  checked and published: {}", done.release.display()));
    lines.join("\n")
}

fn history(log: &SeriesLog) -> String {
    let mut rows = vec![["batch", "inserted", "deleted", "maintained classes"].map(String::from).to_vec()];
    for b in &log.batches {
        let mut row = [b.batch, b.inserted, b.deleted].map(thousands).to_vec();
        row.push(if b.classes > 0 { thousands(b.classes) } else { "–".into() });
        rows.push(row);
    }
    let head =
        ["version", "up to batch", "rows", "published classes", "counterfeits", "held back", "leaks"].map(String::from);
    let mut versions = vec![head.to_vec()];
    for v in &log.versions {
        let mut row = [v.version, v.batch, v.rows, v.classes, v.counterfeits, v.held_back].map(thousands).to_vec();
        row.push(if v.leaks { "yes" } else { "no" }.into());
        versions.push(row);
    }
    format!("{}\n\n{}", table(&rows), table(&versions))
}

fn audited(found: &SeriesAudit) -> String {
    let versions = match found.versions {
        1 => "1 version leaves".to_string(),
        n => format!("{n} versions together leave"),
    };
    let verdict = match found.exposed {
        0 => format!("{versions} of everybody what the policy promises"),
        n => format!("{versions} less than the policy promises of {} persons", thousands(n as u64)),
    };
    let mut lines = vec![heading(verdict), format!("  {}", found.method())];
    lines.extend(found.links.iter().map(|links| format!("  {}", links.sentence())));
    let number = |n: usize| thousands(n as u64);
    let mut rows = vec![["requirement", "on", "persons below", "of them not proven"].map(String::from).to_vec()];
    for r in &found.requirements {
        let cells = match r.applied {
            true => [number(r.below), number(r.unproven)],
            false => ["–".into(), "looks at sizes, not at values".into()],
        };
        rows.push([vec![r.model.to_string(), r.on.join(", ")], cells.to_vec()].concat());
    }
    lines.push(table(&rows));
    let head = ["column", "persons", "fewest candidates", "narrowed", "exposed", "certain"].map(String::from);
    let mut rows = vec![head.to_vec()];
    for c in &found.columns {
        let f = &c.findings;
        let fewest = f.fewest.map_or_else(|| "–".to_string(), |n| n.to_string());
        let cells = [number(found.persons), fewest, number(f.narrowed), number(f.exposed), number(f.certain)];
        rows.push([vec![c.column.clone()], cells.to_vec()].concat());
    }
    lines.push(String::new());
    lines.push(table(&rows));
    for w in found.columns.iter().flat_map(|c| &c.worst) {
        lines.push(String::new());
        lines.extend(w.why.iter().map(|step| format!("  {step}")));
    }
    lines.join("\n")
}
