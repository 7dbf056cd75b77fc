//! `amidst-cluster executor`: does work.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use amidst::Failure;
use amidst::files::create_private_folder;
use amidst::scratch::Scratch;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use clap::Args;
use datafusion::functions_nested::range::range_udf;

use crate::address::Address;
use crate::{runtime, stores};

/// Start an executor of a cluster
///
/// Start as many as there are machines. An executor must see the storage of the table and of the release under the same
/// paths as the driver. What it spills and hands to others lies in a folder of its own in its work folder, which only
/// its owner can enter; it is removed when the executor ends, and after a kill by the next one.
#[derive(Debug, Args)]
pub struct Executor {
    /// The scheduler to work for
    #[arg(long, value_name = "df://HOST:PORT")]
    scheduler: Address,

    /// The address to listen on; 0.0.0.0 for all
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    bind: IpAddr,

    /// The name under which others reach this machine; the address it listens on when absent
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The port on which others fetch data
    #[arg(long, value_name = "N", default_value_t = 50051)]
    port: u16,

    /// The port on which the scheduler hands over work
    #[arg(long, value_name = "N", default_value_t = 50052)]
    grpc_port: u16,

    /// How many tasks to work on at a time; 0 for one per core
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    cores: usize,

    /// The memory for sorting and counting, in bytes, before they spill; most of the machine's when absent
    #[arg(long, value_name = "BYTES")]
    memory: Option<u64>,

    /// The folder for intermediate data, on a disk of this machine; that for temporary files when absent
    #[arg(long, value_name = "FOLDER")]
    work: Option<PathBuf>,

    /// How often to give the scheduler a sign of life
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    heartbeat: u64,
}

impl Executor {
    /// Runs until it is stopped.
    pub fn run(&self) -> Result<(), Failure> {
        let place = self.work.clone().unwrap_or_else(std::env::temp_dir);
        // What is spilled there is raw: for its owner's eyes only, gone when the executor ends, and swept up after a
        // kill.
        let made = std::fs::create_dir_all(&place).and_then(|()| Scratch::new_in(&place)).and_then(|scratch| {
            // The engine takes everything in its folder for its own, so the lock is beside it.
            let work = scratch.path().join("jobs");
            create_private_folder(&work).map(|()| (scratch, work))
        });
        let (_scratch, work) =
            made.map_err(|e| Failure::Io(format!("cannot use the work folder {}: {e}", place.display())))?;
        let cores = match self.cores {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            cores => cores,
        };
        let work = work.to_string_lossy().into_owned();
        let spill = work.clone();
        let config = ExecutorProcessConfig {
            bind_host: self.bind.to_string(),
            external_host: Some(self.name.clone().unwrap_or_else(|| self.bind.to_string())),
            port: self.port,
            grpc_port: self.grpc_port,
            scheduler_host: self.scheduler.host.clone(),
            scheduler_port: self.scheduler.port,
            scheduler_connect_timeout_seconds: 30,
            vcores: cores,
            work_dir: Some(work),
            memory_pool_size: self.memory,
            executor_heartbeat_interval_seconds: self.heartbeat,
            job_data_ttl_seconds: 24 * 60 * 60,
            job_data_clean_up_interval_seconds: 60 * 60,
            override_function_registry: Some(Arc::new(functions())),
            override_runtime_producer: Some(Arc::new(move |_| stores::environment(Some(&spill)))),
            ..ExecutorProcessConfig::default()
        };
        runtime::start()?.block_on(async {
            start_executor_process(Arc::new(config)).await.map_err(|e| {
                Failure::Io(format!("the executor for {} stopped: {e}; is the scheduler there?", self.scheduler))
            })
        })
    }
}

/// The functions that plans may call: the usual ones, and the one that makes rows of counted combinations.
fn functions() -> BallistaFunctionRegistry {
    let mut functions = BallistaFunctionRegistry::default();
    let range = range_udf();
    functions.scalar_functions.insert(range.name().to_string(), range);
    functions
}
