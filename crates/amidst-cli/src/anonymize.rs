//! `amidst anonymize`: makes a checked release from a table and a policy.

use std::path::{Path, PathBuf};

use amidst::Failure;
use amidst::anonymize::{Anonymized, Options, anonymize, anonymize_source};
use amidst::core::metric::KL_DIVERGENCE;
use amidst::job::{Improvement, Job, Stage};
use amidst::plan::metric_of;
use amidst::policy::Policy;
use amidst::words::counted;
use amidst_arguments::Run;
use clap::Args;

use crate::terminal::{CommandResult, Outcome, Terminal, figure, heading, table, thousands};
use crate::verdicts::requirements;

/// Read a table, find a release that satisfies the policy, check it, publish it
///
/// Writes into a folder what may be handed over, public/ (the release with its certificate, a report and the policy),
/// and what stays with you, internal/ (a report with what was there before, and the policy with its paths). They appear
/// together, after the independent checker has passed the release, or nothing does.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  amidst anonymize policy.toml --out release\n  amidst anonymize policy.toml --input \
march.csv --out march --json"
)]
pub struct Anonymize {
    /// The policy
    policy: PathBuf,

    /// Where the release goes: a folder, a file such as release.csv, which gets its certificate beside it, or - for
    /// standard output, without a certificate
    #[arg(long, value_name = "FOLDER|FILE|-", allow_hyphen_values = true)]
    out: Option<PathBuf>,

    #[command(flatten)]
    run: Run,

    /// Commit to the rows of the input in the certificate, so that `amidst open` can show single ones to an auditor.
    /// The certificate is then another one each time
    #[arg(long)]
    commit: bool,

    /// Where the work is done
    #[arg(long, value_name = "local|df://HOST:PORT", default_value = "local")]
    engine: String,
}

impl Anonymize {
    /// Anonymizes the table and prints the result.
    pub fn run(&self, terminal: &Terminal) -> CommandResult {
        if self.engine != "local" {
            return Err(Failure::Usage(match self.engine.starts_with("df://") {
                true => format!(
                    "a cluster needs the binary amidst-cluster, which is built apart because it is large: `cargo build \
                     --release -p amidst-cluster`, then `amidst-cluster anonymize {} --scheduler {}`; docs/cluster.md \
                     tells the whole way",
                    self.policy.display(),
                    self.engine
                ),
                false => format!("--engine must be `local` or the df:// address of a cluster, not `{}`", self.engine),
            }));
        }
        let policy = Policy::read(&self.policy)?;
        let metric = metric_of(&policy)?.id;
        if self.out.as_deref() == Some(Path::new("-")) {
            return self.to_standard_output(policy, terminal);
        }
        let bars = [Stage::Read, Stage::Search, Stage::Write].map(|stage| terminal.progress(stage_name(stage)));
        let progress = |stage: Stage, share: f64| match stage {
            Stage::Read => bars[0].at(share),
            Stage::Search => bars[1].at(share),
            Stage::Write => {
                terminal.improving(false);
                bars[2].at(share);
            }
            Stage::Check => {}
        };
        let least = std::sync::Mutex::new(None);
        let improvement = |improved: Improvement| {
            let least = least.lock().ok().and_then(|mut least| {
                if let Improvement::Bound(bound) = improved {
                    *least = Some(bound);
                }
                *least
            });
            if let Improvement::Loss(gcp) = improved {
                terminal.improving(true);
                let least = least.map_or(String::new(), |l| format!(", {metric} at least {}", figure(l)));
                bars[1].says(format!("gcp {gcp:.5}{least}"));
            }
        };
        let job = Job {
            cancel: terminal.stop_flag(),
            enough: terminal.enough_flag(),
            improvement: &improvement,
            progress: &progress,
            threads: self.run.threads,
            ..Job::default()
        };
        let options = Options { commit: self.commit, ..self.run.options(self.out.clone()) };
        let done = anonymize(&policy, &options, &job)?;
        drop(bars);
        for warning in &done.warnings {
            terminal.warning(warning);
        }
        for note in &done.notes {
            terminal.detail(note);
        }
        let told = match (self.run.json, terminal.is_quiet()) {
            (true, _) => terminal.json(&done.to_json()),
            (false, true) => terminal.result([protection(&done), published(&done)].concat().join("\n")),
            (false, false) => terminal.result(summary(&done)),
        };
        terminal.told(&format!("{} is published", done.outputs.release.display()), told)
    }
}

/// The name of a stage for the progress bar.
fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Read => "reading, 1 of 4",
        Stage::Search => "searching, 2 of 4",
        Stage::Write => "writing, 3 of 4",
        Stage::Check => "checking, 4 of 4",
    }
}

impl Anonymize {
    /// Writes the release to standard output: checked like any other, but without a certificate.
    fn to_standard_output(&self, mut policy: Policy, terminal: &Terminal) -> CommandResult {
        if self.commit {
            let message = "--commit needs a folder for what opens rows; name one with --out";
            return Err(Failure::Usage(message.to_string()));
        }
        if self.run.json {
            let message = "--json and --out - both want standard output; name a file or a folder with --out";
            return Err(Failure::Usage(message.to_string()));
        }
        policy.search.seed = self.run.seed.unwrap_or(policy.search.seed);
        let bar = terminal.progress("working");
        let progress = |_: Stage, share: f64| bar.at(share);
        let job =
            Job { cancel: terminal.stop_flag(), progress: &progress, threads: self.run.threads, ..Job::default() };
        let release = anonymize_source(&policy, self.run.input.clone(), &job)?;
        drop(bar);
        for warning in &release.outcome.warnings {
            terminal.warning(warning);
        }
        terminal.bytes(release.table())?;
        terminal.note(format!(
            "{} of {} rows released. The checker passed them, but the certificate and the reports are not written: give a \
             folder or a file with --out to have them.",
            thousands(release.outcome.rows_out),
            thousands(release.outcome.rows_in)
        ));
        Ok(Outcome::Done)
    }
}

/// The first sentences of the report: how many others share each person's cells, what is published unchanged, and who
/// is unprotected.
fn first_sentences(done: &Anonymized) -> impl Iterator<Item = &String> {
    done.report.summary.iter().take(done.report.leading)
}

/// How many rows are published, and how they are protected.
fn protection(done: &Anonymized) -> Vec<String> {
    let judged = &done.judged;
    let mut lines = vec![heading(format!(
        "{} of {} released in {}",
        thousands(done.rows_out),
        counted(done.rows_in, "row"),
        counted(judged.class_count(), "class")
    ))];
    if done.rows_dropped_missing > 0 {
        lines.push(format!("  {} dropped because a value is unknown", counted(done.rows_dropped_missing, "row")));
    }
    if judged.suppressed > 0 {
        lines.push(format!("  {} suppressed", counted(judged.suppressed, "row")));
    }
    let whose = |rows: u64| counted(rows, "row");
    if done.waived > 0 {
        lines.push(format!("  {} published unprotected, by consent", whose(done.waived)));
    }
    if done.joined > 0 {
        let where_to =
            if done.report.rows.separate { "in classes of their own" } else { "joined the classes of others" };
        lines.push(format!("  {} waived protection, {where_to}", whose(done.joined)));
    }
    lines.extend(first_sentences(done).map(|sentence| format!("  {sentence}")));
    lines
}

/// The result as text.
fn summary(done: &Anonymized) -> String {
    let judged = &done.judged;
    let mut lines = protection(done);
    let proof = match (done.optimal, done.gap) {
        _ if done.bound().is_some() => done.bound().map(|b| format!(", {}", b.words())).unwrap_or_default(),
        (true, _) => ", proven best of its kind".to_string(),
        (false, Some(gap)) => format!(", at most {gap:.4} from the best of its kind"),
        (false, None) => String::new(),
    };
    lines.push(format!("  found by {}{proof}", done.algorithm));
    if let Some(compared) = &done.compared {
        lines.push(format!("  {}", compared.sentence()));
    }
    if let Some(levels) = &done.levels {
        let levels: Vec<String> = levels.iter().map(|(name, level)| format!("{name} {level}")).collect();
        lines.push(format!("  levels: {}", levels.join(", ")));
    }
    if let Some(cells) = &done.suppressed_cells {
        let cells: Vec<String> = cells.iter().map(|(name, count)| format!("{name} {}", thousands(*count))).collect();
        lines.push(format!("  single cells suppressed: {}", cells.join(", ")));
    }
    lines.push(String::new());
    lines.push(requirements(&judged.requirements));
    lines.push(String::new());
    let mut metrics = vec![vec!["metric".to_string(), "loss".to_string()]];
    for (id, value) in &judged.metrics {
        let baseline = judged.kl_baseline.filter(|_| *id == KL_DIVERGENCE.id);
        let beside = baseline.map_or(String::new(), |b| format!(" ({} as one class)", figure(b)));
        metrics.push(vec![id.to_string(), value.map_or("–".to_string(), figure) + &beside]);
    }
    lines.push(table(&metrics));
    if let Some(distance) = judged.intra_cluster_distance {
        lines.push(format!("  farthest two rows of one class (intra-cluster distance): {}", figure(distance)));
    }
    lines.push(String::new());
    let risk = &judged.risk;
    lines.push(format!(
        "  re-identification by the quasi columns: at most {:.4} for anyone, {:.4} on average",
        risk.prosecutor_max, risk.prosecutor_avg
    ));
    let s = &done.seconds;
    lines.push(format!(
        "  {:.2} s: read {:.2}, search {:.2}, write {:.2}, check {:.2}",
        s.total, s.read, s.search, s.write, s.check
    ));
    lines.extend(published(done));
    lines.join("\n")
}

/// Where the release is, and what may be handed over.
fn published(done: &Anonymized) -> Vec<String> {
    let outputs = &done.outputs;
    let mut lines = vec![format!("  checked and published: {}", outputs.release.display())];
    let part = |file: &Option<PathBuf>| file.as_deref().and_then(Path::parent).map(|part| part.display().to_string());
    if let (Some(public), Some(internal)) = (part(&outputs.report), part(&outputs.internal_report)) {
        lines.push(format!("  {public} may be handed over; {internal} stays with you"));
    } else {
        lines.push(format!("  hand it over with {}", outputs.certificate.display()));
    }
    lines
}
