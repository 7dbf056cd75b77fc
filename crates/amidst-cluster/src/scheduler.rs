//! `amidst-cluster scheduler`: hands out work.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use amidst::Failure;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use clap::Args;

use crate::address::SCHEDULER_PORT;
use crate::{runtime, stores};

/// Start the scheduler of a cluster
///
/// There is one. It must be reachable from every executor and from the driver, and see the same storage as they do. It
/// trusts everyone who reaches it: keep it on a private network.
#[derive(Debug, Args)]
pub struct Scheduler {
    /// The address to listen on; 0.0.0.0 for all
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    bind: IpAddr,

    /// The port to listen on
    #[arg(long, value_name = "N", default_value_t = SCHEDULER_PORT)]
    port: u16,

    /// The name under which executors reach this machine
    #[arg(long, value_name = "NAME", default_value = "localhost")]
    name: String,

    /// After how many seconds without a sign of life an executor is given up and its work done by others
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    executor_timeout: u64,
}

impl Scheduler {
    /// Runs until it is stopped.
    pub fn run(&self) -> Result<(), Failure> {
        let config = SchedulerConfig {
            external_host: self.name.clone(),
            bind_host: self.bind.to_string(),
            bind_port: self.port,
            executor_timeout_seconds: self.executor_timeout,
            expire_dead_executor_interval_seconds: (self.executor_timeout / 4).clamp(1, 15),
            no_executors_grace_period_seconds: self.executor_timeout,
            ..SchedulerConfig::default()
        };
        let config = config.with_override_session_builder(Arc::new(stores::session));
        let address = SocketAddr::new(self.bind, self.port);
        runtime::start()?.block_on(async {
            let failed = |e| Failure::Io(format!("the scheduler on {address} stopped: {e}"));
            let cluster = BallistaCluster::new_from_config(&config).await.map_err(failed)?;
            start_server(cluster, address, Arc::new(config)).await.map_err(failed)
        })
    }
}
