//! Processes of a cluster, ended when they go out of scope.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Held by whatever test has a cluster: several at once would miss heartbeats on a machine with few cores.
static ALONE: Mutex<()> = Mutex::new(());

/// A scheduler and some executors; one cluster at a time.
pub struct Cluster {
    _alone: MutexGuard<'static, ()>,
    port: u16,
    folder: PathBuf,
    /// What the processes know beside what this one does.
    environment: Vec<(String, String)>,
    pub scheduler: Child,
    pub executors: Vec<Child>,
}

/// A command of the binary under test.
pub fn binary() -> Command {
    // As on most machines: what a process creates may be read by others, unless it sees to it.
    let mut command = Command::new("sh");
    command.args(["-c", "umask 022; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_amidst-cluster")]);
    command.stdin(Stdio::null());
    command
}

/// Sends a signal to a process, which may have ended already.
pub fn signal(process: &Child, name: &str) {
    let pid = process.id().to_string();
    let _ = Command::new("kill").args([&format!("-{name}"), &pid]).stderr(Stdio::null()).status();
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Cluster {
    /// Starts the processes; their logs and work folders are in `folder`.
    pub fn start(folder: &Path, executors: usize) -> Cluster {
        Cluster::start_in(folder, executors, Vec::new())
    }

    /// The same, with an environment, and logs that tell more.
    pub fn start_in(folder: &Path, executors: usize, environment: Vec<(String, String)>) -> Cluster {
        // A test that failed with a cluster has ended it.
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let port = free_port();
        let log = |name: &str| std::fs::File::create(folder.join(format!("{name}.log"))).unwrap();
        let mut scheduler = binary();
        scheduler.args(["scheduler", "--executor-timeout", "4", "--port", &port.to_string()]);
        if !environment.is_empty() {
            scheduler.arg("--verbose").envs(environment.clone());
        }
        let scheduler = scheduler.stdout(log("scheduler")).stderr(log("scheduler-errors")).spawn().unwrap();
        let folder = folder.to_path_buf();
        let mut cluster = Cluster { _alone: alone, port, folder, environment, scheduler, executors: Vec::new() };
        for _ in 0..executors {
            cluster.add();
        }
        // A busy machine may need a while until the scheduler listens.
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(120), "the scheduler does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        cluster
    }

    /// Starts another executor.
    pub fn add(&mut self) {
        self.add_at(&format!("executor-{}", self.executors.len()));
    }

    /// Starts another executor with a work folder of this name.
    pub fn add_at(&mut self, work: &str) {
        self.add_as(binary(), work);
    }

    /// Starts another executor on a disk of its own that holds `kilobytes`. False where that is not permitted.
    pub fn add_on_small_disk(&mut self, kilobytes: u64) -> bool {
        let name = format!("executor-{}", self.executors.len());
        let work = self.folder.join(&name);
        std::fs::create_dir_all(&work).unwrap();
        // The disk is seen by this process and its children alone, and goes with them.
        let script = format!("mount -t tmpfs -o size={kilobytes}k none \"$0\" && exec \"$@\"");
        let in_its_own_world = |then: &Path| {
            let mut command = Command::new("unshare");
            command.args(["--mount", "sh", "-c", &script]).arg(&work).arg(then).stdin(Stdio::null());
            command
        };
        let permitted = in_its_own_world(Path::new("true")).stderr(Stdio::null()).status();
        if !permitted.is_ok_and(|status| status.success()) {
            return false;
        }
        self.add_as(in_its_own_world(Path::new(env!("CARGO_BIN_EXE_amidst-cluster"))), &name);
        true
    }

    fn add_as(&mut self, mut command: Command, work: &str) {
        let name = format!("executor-{}", self.executors.len());
        let log = |kind: &str| std::fs::File::create(self.folder.join(format!("{name}{kind}.log"))).unwrap();
        command.args(["executor", "--cores", "1", "--heartbeat", "1", "--scheduler", &self.address()]);
        command.args(["--port", &free_port().to_string(), "--grpc-port", &free_port().to_string()]);
        if !self.environment.is_empty() {
            command.arg("--verbose").envs(self.environment.clone());
        }
        command.arg("--memory").arg((1u64 << 30).to_string()).arg("--work").arg(self.folder.join(work));
        self.executors.push(command.stdout(log("")).stderr(log("-errors")).spawn().unwrap());
    }

    /// Where the scheduler is.
    pub fn address(&self) -> String {
        format!("df://127.0.0.1:{}", self.port)
    }

    /// The arguments of a driver.
    pub fn driver(&self, policy: &Path, data: &Path, out: &Path) -> Command {
        let mut command = binary();
        command.arg("anonymize").arg(policy).args(["--scheduler", &self.address(), "--json", "--force"]);
        command.arg("--input").arg(data).arg("--out").arg(out).envs(self.environment.clone());
        command
    }

    /// Runs a driver to its end.
    pub fn anonymize(&self, policy: &Path, data: &Path, out: &Path, more: &[&str]) -> Output {
        self.driver(policy, data, out).args(more).output().unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.executors.iter_mut().chain([&mut self.scheduler]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
