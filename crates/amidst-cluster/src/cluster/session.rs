//! Sessions with the scheduler, and jobs in them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use amidst::Failure;
use ballista::prelude::{SessionConfigExt, SessionContextExt};
use ballista_core::config::BALLISTA_CLIENT_PULL;
use ballista_core::execution_plans::DistributedQueryExec;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{CancelJobParams, CleanJobDataParams};
use datafusion::arrow::array::RecordBatch;
use datafusion::common::config::TableParquetOptions;
use datafusion::datasource::file_format::parquet::ParquetFormatFactory;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::protobuf::LogicalPlanNode;
use std::sync::Arc;

use crate::address::Address;
use crate::stores;

/// How often the wish to stop is looked at.
const GLANCE: Duration = Duration::from_millis(100);

/// How often a statement is tried.
const ATTEMPTS: usize = 4;

/// How long to wait for the cluster to notice that an executor is gone.
const PAUSE: Duration = Duration::from_secs(2);

/// Limits in bytes and rows up to which a table is joined as a whole.
const BROADCAST: usize = 1 << 30;

/// A session whose plans run on the cluster, in `partitions` parts. What they write is intermediate.
pub async fn remote(scheduler: &Address, partitions: usize) -> Result<SessionContext, Failure> {
    let mut written = TableParquetOptions::default();
    // Small row groups, so that a part finds its rows in files that are sorted.
    written.global.max_row_group_size = 1 << 17;
    // It is read by machines that are near, a few times at most: packing it well takes longer than it saves.
    written.global.compression = Some("lz4_raw".to_string());
    connected(scheduler, partitions, written).await
}

/// A session whose plans write what is published: in one piece, in the form that the checker asks for.
pub async fn publishing(scheduler: &Address) -> Result<SessionContext, Failure> {
    let mut written = TableParquetOptions::default();
    written.global.statistics_enabled = Some("none".to_string());
    written.global.compression = Some("snappy".to_string());
    connected(scheduler, 1, written).await
}

async fn connected(
    scheduler: &Address,
    partitions: usize,
    written: TableParquetOptions,
) -> Result<SessionContext, Failure> {
    let config = settings(SessionConfig::new_with_ballista(), partitions)
        // Asking from time to time survives what a request that lasts as long as the job may not.
        .set_bool(BALLISTA_CLIENT_PULL, true);
    let mut state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(stores::environment(None).map_err(broken)?)
        .with_default_features()
        .build();
    // How files are written travels to the executors with the format alone: neither with the options of a statement nor
    // with the settings of a session.
    let format = ParquetFormatFactory::new_with_options(written);
    state.register_file_format(Arc::new(format), true).map_err(broken)?;
    SessionContext::remote_with_state(&scheduler.to_string(), state).await.map_err(broken)
}

/// A session whose plans run in this process.
pub fn local() -> Result<SessionContext, Failure> {
    let environment = stores::environment(None).map_err(broken)?;
    Ok(SessionContext::new_with_config_rt(settings(SessionConfig::new(), 1), environment))
}

fn settings(config: SessionConfig, partitions: usize) -> SessionConfig {
    config
        .with_target_partitions(partitions)
        // Published files should be plain strings to their readers.
        .set_bool("datafusion.execution.parquet.schema_force_view_types", false)
        .set_bool("datafusion.execution.parquet.binary_as_string", true)
        // The tables of a recoding are small beside the rows: every task has them whole, and the rows stay where they
        // are.
        .set_usize("datafusion.optimizer.hash_join_single_partition_threshold", BROADCAST)
        .set_usize("datafusion.optimizer.hash_join_single_partition_threshold_rows", BROADCAST)
        // Nor should views of strings travel: each batch of them takes along all the text that any of them was cut
        // from.
        .set_bool("datafusion.sql_parser.map_string_types_to_utf8view", false)
        // Column names are those of the data, whatever their case.
        .set_bool("datafusion.sql_parser.enable_ident_normalization", false)
}

/// What runs jobs and may be asked to stop.
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    /// The scheduler.
    pub scheduler: &'a Address,
    /// Set from outside to stop.
    pub cancel: Option<&'a AtomicBool>,
}

impl Runner<'_> {
    fn stopped(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    /// Runs a statement, again when an executor was lost with its answer: what statements write they replace. When
    /// asked to stop, or when it fails, nothing of it goes on running on the cluster.
    pub async fn run(&self, context: &SessionContext, statement: &str) -> Result<Vec<RecordBatch>, Failure> {
        for _ in 1..ATTEMPTS {
            match self.attempt(context, statement).await {
                Err(Failure::Io(reason)) if lost(&reason) && !self.stopped() => tokio::time::sleep(PAUSE).await,
                result => return result,
            }
        }
        self.attempt(context, statement).await
    }

    async fn attempt(&self, context: &SessionContext, statement: &str) -> Result<Vec<RecordBatch>, Failure> {
        let frame = context.sql(statement).await.map_err(broken)?;
        let task = Arc::new(frame.task_ctx());
        let plan = frame.create_physical_plan().await.map_err(broken)?;
        let job = collect(Arc::clone(&plan), task);
        tokio::pin!(job);
        let result = loop {
            tokio::select! {
                result = &mut job => break result.map_err(broken),
                () = tokio::time::sleep(GLANCE), if self.cancel.is_some() => {
                    if self.stopped() {
                        break Err(Failure::Cancelled);
                    }
                }
            }
        };
        self.tidy(plan.as_ref(), result.is_err()).await;
        result
    }

    /// Stops a job and removes what it left on the executors: their copies of the data should not outlive their use.
    async fn tidy(&self, plan: &dyn ExecutionPlan, unfinished: bool) {
        let Some(job) = plan.downcast_ref::<DistributedQueryExec<LogicalPlanNode>>().and_then(|q| q.job_id()) else {
            return;
        };
        let job_id: String = job.into();
        // Best effort: the scheduler tidies up by itself, only later.
        let Ok(mut client) = SchedulerGrpcClient::connect(self.scheduler.http()).await else { return };
        if unfinished {
            let _ = client.cancel_job(CancelJobParams { job_id: job_id.clone() }).await;
        }
        let _ = client.clean_job_data(CleanJobDataParams { job_id, ..CleanJobDataParams::default() }).await;
    }
}

/// A failure of the engine, in as few words as it has.
pub fn broken(error: DataFusionError) -> Failure {
    let text = error.to_string();
    // Each column that rows are looked up by is a join more, and messages may be nested a hundred deep.
    if text.contains("RecursionLimitReached") {
        return Failure::Usage(
            "the policy has more quasi and sensitive columns than a plan for a cluster holds, which is some twenty; use the \
             local engine, or publish fewer columns"
                .to_string(),
        );
    }
    let full = text.contains("No space left on device") || text.contains("StorageFull");
    let reason: String = text.lines().next().unwrap_or_default().chars().take(400).collect();
    match full {
        true => Failure::Io(format!("the storage of the cluster is full, so nothing was written ({reason})")),
        false => Failure::Io(format!("the cluster could not do the work: {reason}")),
    }
}

/// Whether a failure is that of a process which can no longer be reached. The scheduler gives the work of a dead
/// executor to others by itself; only what had been finished there, and was not fetched yet, has to be asked for again.
fn lost(reason: &str) -> bool {
    ["GrpcConnectionError", "FetchFailed", "transport error", "Connection refused", "connection closed", "broken pipe"]
        .iter()
        .any(|sign| reason.contains(sign))
}

/// Makes a Parquet file known under a name.
pub async fn parquet(context: &SessionContext, name: &str, path: &Path) -> Result<(), Failure> {
    context.register_parquet(name, path.to_string_lossy(), Default::default()).await.map_err(broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_is_asked_for_again_and_what_is_wrong_is_not() {
        let text = |error: &str| match broken(DataFusionError::Execution(error.to_string())) {
            Failure::Io(reason) => reason,
            other => format!("{other:?}"),
        };
        assert!(lost(&text("GrpcConnectionError(\"Error connecting to http://127.0.0.1:1\")")));
        assert!(lost(&text("FetchFailed(\"e\", 1, 0, \"gone\")")));
        assert!(!lost(&text("Job 7 failed: No space left on device (os error 28)")));
        assert!(!lost(&text("Job 7 failed: column x not found")));
        let deep = broken(DataFusionError::Execution("DecodeError { description: RecursionLimitReached }".to_string()));
        assert!(matches!(deep, Failure::Usage(_)));
    }
}
