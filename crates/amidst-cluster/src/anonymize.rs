//! `amidst-cluster anonymize`: policy in, checked release out, with the rows on a cluster.

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use amidst::Failure;
use amidst::anonymize::{Anonymized, anonymize_on};
use amidst::check::{printable_json, printable_lines};
use amidst::job::{Job, Stage};
use amidst::policy::Policy;
use amidst_arguments::Run;
use clap::Args;

use crate::address::Address;
use crate::cluster::{Cluster, Settings};
use crate::logging::say;
use crate::runtime;

/// Anonymize a table that is on shared storage, with the executors of a cluster
///
/// The policy is the same as for `amidst anonymize`, and so is the release: a folder with a part that may be handed
/// over, public/ (the table as Parquet files under release/, its certificate, a report and the policy), and one that
/// stays with its owner, internal/. They are published together after the independent checker has passed the table, or
/// not at all.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  amidst-cluster anonymize policy.toml --scheduler df://head:50050 --input \
/shared/patients --out /shared/release")]
pub struct Anonymize {
    /// The policy
    policy: PathBuf,

    /// The scheduler of the cluster
    #[arg(long, value_name = "df://HOST:PORT")]
    scheduler: Address,

    /// Where the release goes: a folder on storage that all of the cluster sees
    #[arg(long, short, value_name = "FOLDER")]
    out: Option<PathBuf>,

    #[command(flatten)]
    run: Run,

    /// The folder for intermediate data, on storage that all of the cluster sees; beside the release when absent
    #[arg(long, value_name = "FOLDER")]
    work: Option<PathBuf>,

    /// The most distinct combinations of quasi and sensitive values that this process gathers
    #[arg(long, value_name = "N", default_value_t = 20_000_000)]
    gather: u64,

    /// About how many rows a file of the release has
    #[arg(long, value_name = "N", default_value_t = 4_000_000)]
    part_rows: u64,

    /// How many parts an aggregate is divided into; four an executor when absent
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    partitions: usize,

    /// How long to wait for the first executor
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    wait: u64,
}

impl Anonymize {
    /// Anonymizes and tells how it went.
    pub fn run(&self, quiet: bool) -> Result<(), Failure> {
        static STOP: AtomicBool = AtomicBool::new(false);
        let policy = Policy::read(&self.policy)?;
        let runtime = runtime::start()?;
        runtime.spawn(async {
            // The job ends at its next checkpoint, and takes what it staged with it.
            if tokio::signal::ctrl_c().await.is_ok() {
                STOP.store(true, Ordering::Relaxed);
            }
        });
        let cluster = Cluster::new(
            Settings {
                scheduler: self.scheduler.clone(),
                work: self.work_folder(&policy)?,
                gather: self.gather,
                part_rows: self.part_rows,
                partitions: self.partitions,
                wait: Duration::from_secs(self.wait),
            },
            runtime,
        )?;
        let told = AtomicU8::new(0);
        let progress = |stage: Stage, _: f64| {
            let (number, name) = match stage {
                Stage::Read => (1, "counting"),
                Stage::Search => (2, "searching"),
                Stage::Write => (3, "writing"),
                Stage::Check => (4, "checking"),
            };
            if told.fetch_max(number, Ordering::Relaxed) < number && !quiet {
                say(name);
            }
        };
        let job = Job { cancel: &STOP, progress: &progress, threads: self.run.threads, ..Job::default() };
        let out = self.out.as_ref().map(std::path::absolute).transpose();
        let out = out.map_err(|e| Failure::Usage(format!("--out is no path: {e}")))?;
        let done = anonymize_on(&cluster, &policy, &self.run.options(out), &job).map_err(advised)?;
        let text = match self.run.json {
            true => printable_json(&format!("{:#}", done.to_json())).into_owned(),
            false => printable_lines(&summary(&done)).into_owned(),
        };
        if let Err(e) = writeln!(std::io::stdout().lock(), "{text}") {
            // The release is there all the same.
            let release = done.outputs.release.display();
            say(&format!("{release} is published, but cannot write to standard output: {e}"));
        }
        Ok(())
    }

    /// Where intermediate data goes.
    fn work_folder(&self, policy: &Policy) -> Result<PathBuf, Failure> {
        let out = self.out.clone().or_else(|| policy.output.file.as_deref().map(|file| policy.origin.resolve(file)));
        let beside = out.and_then(|out| std::path::absolute(out).ok()?.parent().map(PathBuf::from));
        let folder = self.work.clone().or(beside);
        let folder = folder.ok_or_else(|| Failure::Usage("say where the release goes: --out FOLDER".to_string()))?;
        let folder = std::path::absolute(folder).map_err(|e| Failure::Usage(e.to_string()))?;
        match folder.is_dir() {
            true => Ok(folder),
            false => Err(Failure::Usage(format!("there is no folder {}; create it first", folder.display()))),
        }
    }
}

/// Names the option that lets more be gathered.
fn advised(failure: Failure) -> Failure {
    match failure {
        Failure::TooLarge(large) => Failure::Usage(format!(
            "{}; say --gather {} if this machine has the memory (about 200 bytes each)",
            large.message, large.combinations
        )),
        other => other,
    }
}

/// The result for people.
fn summary(done: &Anonymized) -> String {
    let mut lines = done.report.summary.clone();
    let s = &done.seconds;
    lines.push(format!(
        "{:.1} s: count {:.1}, search {:.1}, write {:.1}, check {:.1}",
        s.total, s.read, s.search, s.write, s.check
    ));
    lines.push(format!("checked and published: {}", done.outputs.release.display()));
    lines.join("\n")
}
