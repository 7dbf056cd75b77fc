//! The engine: rows are counted and recoded by the executors, everything else happens in this process.
//!
//! Everything that executors do is a plan of DataFusion's own: aggregates for the frequency set, joins with small
//! tables for the recoding, sorts for the order of the release, lists that become rows. No function of ours has to be
//! shipped to them.
//!
//! May use: `address`, `stores`, and what those use.

mod alias;
mod count;
mod displaced;
mod divide;
mod placed;
mod placement;
mod probe;
mod publish;
mod recode;
mod rolled;
mod session;
mod source;
mod sql;
mod typed;

use std::path::{Path, PathBuf};
use std::time::Duration;

use amidst::Failure;
use amidst::core::hierarchy::Generalization;
use amidst::core::internal::partial::RemoteTable;
use amidst::engine::{Engine, Layout, Recoded, Solved, Written};
use amidst::job::Job;
use amidst::policy::{OutputOrder, Policy, Role};
use amidst::prepare::{LoadOptions, Prepared};
use amidst::scratch::Scratch;
use tokio::runtime::Runtime;

use crate::address::Address;
use count::{Counting, Counts};
use placement::Placement;
use recode::Values;
use rolled::{Place, Rolled};
use session::Runner;
use source::Source;

/// What a cluster is asked to do beside the policy.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The scheduler.
    pub scheduler: Address,
    /// The folder for intermediate data, which all of the cluster sees.
    pub work: PathBuf,
    /// The most combinations of quasi and sensitive values that are gathered here.
    pub gather: u64,
    /// About how many rows a file of the release has.
    pub part_rows: u64,
    /// How many parts an aggregate is divided into; 0 for four an executor.
    pub partitions: usize,
    /// How long to wait for executors.
    pub wait: Duration,
}

/// A cluster behind a scheduler.
pub struct Cluster {
    settings: Settings,
    runtime: Runtime,
    /// Removed when the engine is dropped: it holds values of the table.
    work: Scratch,
}

/// A table on the cluster, from reading to writing.
pub struct ClusterRows<'a> {
    read: Read,
    /// The table itself, where it is too large to be gathered.
    remote: Option<Rolled<'a>>,
}

/// What reading leaves for writing.
struct Read {
    source: Source,
    /// The file of its counted combinations; of a table that was not gathered, with one cell for each value.
    frequencies: PathBuf,
    /// The distinct values of its columns.
    values: Values,
    /// How many parts a plan is divided into.
    partitions: usize,
    /// What becomes of each tuple, where the table was cut on the cluster.
    placement: Option<Placement>,
}

impl Cluster {
    /// An engine that has not spoken with the scheduler yet.
    ///
    /// # Errors
    /// When the work folder cannot be used.
    pub fn new(settings: Settings, runtime: Runtime) -> Result<Self, Failure> {
        let failed = |e| Failure::Io(format!("cannot use the work folder {}: {e}", settings.work.display()));
        // Like the folders that releases are prepared in, so that what a killed driver leaves is swept up.
        let work = Scratch::new_in(&settings.work).map_err(failed)?;
        Ok(Cluster { settings, runtime, work })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }
}

/// What a policy may not ask of a cluster.
fn supported(policy: &Policy) -> Result<(), Failure> {
    if policy.output.order == OutputOrder::Input {
        return Err(Failure::Usage(
            "a cluster cannot keep the order of the input; leave out `order = \"input\"` under [output]".to_string(),
        ));
    }
    if policy.columns.iter().any(|c| c.role == Role::Consent) {
        return Err(Failure::Usage(
            "a cluster does not know consent columns yet; use the local engine for this policy".to_string(),
        ));
    }
    Ok(())
}

/// Names that statements give to columns of their own.
fn not_reserved(header: &[String]) -> Result<(), Failure> {
    match header.iter().find(|name| name.starts_with("__amidst_")) {
        None => Ok(()),
        Some(_) => Err(Failure::Usage(
            "a column of the input begins with `__amidst_`, which a cluster uses itself; rename it".to_string(),
        )),
    }
}

impl Engine for Cluster {
    type Rows<'a> = ClusterRows<'a>;

    fn layout(&self) -> Layout {
        Layout::Parts
    }

    fn read<'a>(
        &'a self,
        policy: &'a Policy,
        options: &LoadOptions<'a>,
    ) -> Result<(Prepared, ClusterRows<'a>), Failure> {
        supported(policy)?;
        let runner = Runner { scheduler: &self.settings.scheduler, cancel: Some(options.control.cancel) };
        let input = match (&options.input, &policy.data.input) {
            (Some(input), _) => input.clone(),
            (None, Some(input)) if input.contains("://") || input == "-" => input.clone(),
            (None, Some(input)) => policy.origin.resolve(input).to_string_lossy().into_owned(),
            (None, None) => return Err(Failure::Usage("the policy names no input; add one, or say --input".into())),
        };
        let frequencies = self.file("frequencies.parquet");
        let (context, source, partitions, counts) = self.runtime.block_on(async {
            let wait = self.settings.wait;
            let executors = probe::executors(&self.settings.scheduler, wait, Some(options.control.cancel)).await?;
            let partitions = match self.settings.partitions {
                0 => (4 * executors).max(4),
                partitions => partitions,
            };
            let context = session::remote(&self.settings.scheduler, partitions).await?;
            let source = Source::find(&context, &input).await?;
            Prepared::covers(policy, &source.header())?;
            not_reserved(&source.header())?;
            source.single_valued(policy)?;
            let counting = Counting { policy, source: &source, context: &context, runner };
            let counts = counting.count(&frequencies, self.settings.gather, options).await?;
            Ok::<_, Failure>((context, source, partitions, counts))
        })?;
        let read = |frequencies, values| Read { source, frequencies, values, partitions, placement: None };
        match counts {
            Counts::Gathered(counted) => {
                let values = Values::Combined(frequencies.clone());
                let prepared = Prepared::of_counts(policy, counted, options)?;
                Ok((prepared, ClusterRows { read: read(frequencies, values), remote: None }))
            }
            Counts::TooMany(enumerated) => {
                let folder = self.work.path().to_path_buf();
                let place = Place { policy, options: options.clone(), runtime: &self.runtime, context, runner, folder };
                let (remote, values) = Rolled::new(place, enumerated)?;
                let heights: Vec<usize> = remote.generalizations().iter().map(Generalization::height).collect();
                let top = remote.gather(&heights)?;
                let frequencies = remote.frequencies();
                Ok((top, ClusterRows { read: read(frequencies, values), remote: Some(remote) }))
            }
        }
    }

    fn search<'a>(
        &'a self,
        policy: &'a Policy,
        prepared: Prepared,
        mut rows: ClusterRows<'a>,
        job: &Job<'_>,
    ) -> Result<Solved<ClusterRows<'a>>, Failure> {
        let Some(remote) = rows.remote.take() else { return Solved::here(policy, prepared, rows, job) };
        let mut solved = Solved::remote(policy, prepared, &remote, self.settings.gather, rows, job)?;
        solved.rows.read.placement = remote.placement();
        Ok(solved)
    }

    fn write(
        &self,
        recoded: &Recoded<'_>,
        rows: &ClusterRows<'_>,
        folder: &Path,
        job: &Job<'_>,
    ) -> Result<Written, Failure> {
        let publishing = publish::Publishing {
            settings: &self.settings,
            recoded,
            read: &rows.read,
            runner: Runner { scheduler: &self.settings.scheduler, cancel: Some(job.cancel) },
            work: self.work.path(),
        };
        self.runtime.block_on(publishing.publish(folder, job))
    }
}
