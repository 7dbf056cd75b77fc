//! A table in an object store, and credentials that nobody tells.
//!
//! The store is a process on loopback that speaks the language of S3: `moto_server`, or what `AMIDST_S3_SERVER` names
//! and takes the same arguments.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::compare::{both_from, verified};
use crate::processes::{Cluster, free_port};
use crate::tables;

/// Secrets that must not be told.
const CANARIES: [(&str, &str); 3] = [
    ("AWS_ACCESS_KEY_ID", "AKIACANARYCANARY0001"),
    ("AWS_SECRET_ACCESS_KEY", "canary/secret/2f1c7a"),
    ("AWS_SESSION_TOKEN", "canary-token-93be51"),
];

/// A store, ended when it goes out of scope.
struct Store {
    port: u16,
    process: Child,
}

impl Store {
    /// Starts a store; none where there is no such program.
    fn start() -> Option<Store> {
        let program = std::env::var("AMIDST_S3_SERVER").unwrap_or_else(|_| "moto_server".to_string());
        let port = free_port();
        let mut command = Command::new(program);
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]).stdin(Stdio::null());
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let store = Store { port, process };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(120), "the store does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(store)
    }

    /// Puts something into the store: a bucket, or an object in one.
    fn put(&self, place: &str, content: &[u8]) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!(
            "PUT /{place} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            content.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(content).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.split_whitespace().nth(1) == Some("200"), "{answer}");
    }

    /// What a process must know to use the store.
    fn environment(&self) -> Vec<(String, String)> {
        let mut known: Vec<(String, String)> = CANARIES.map(|(name, value)| (name.into(), value.into())).into();
        known.push(("AWS_ENDPOINT".into(), format!("http://127.0.0.1:{}", self.port)));
        known.push(("AWS_ALLOW_HTTP".into(), "true".into()));
        known.push(("AWS_REGION".into(), "eu-central-1".into()));
        known
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_table_in_an_object_store_is_released_and_no_credential_is_told() {
    if !cfg!(feature = "s3") {
        println!("skipped: built without the feature s3");
        return;
    }
    let Some(store) = Store::start() else {
        println!("skipped: there is no moto_server");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let data = tables::patients(folder.path(), 4_000, 2);
    store.put("hospital", b"");
    for file in std::fs::read_dir(&data).unwrap().flatten() {
        let name = format!("hospital/2024/{}", file.file_name().to_string_lossy());
        store.put(&name, &std::fs::read(file.path()).unwrap());
    }
    let cluster = Cluster::start_in(folder.path(), 2, store.environment());
    let policy = tables::patients_policy(folder.path(), "optimal");
    both_from(&cluster, folder.path(), &policy, &data, Path::new("s3://hospital/2024/"), "stored", &["--verbose"]);
    verified(&folder.path().join("stored-cluster"));

    // What cannot be reached is told, without what it was tried with.
    let out = folder.path().join("out");
    let output = cluster.anonymize(&policy, Path::new("s3://absent/2024/"), &out, &["--verbose"]);
    assert!(!output.status.success() && !out.exists());
    for said in [&output.stdout, &output.stderr] {
        silent(&String::from_utf8_lossy(said), "the driver");
    }
    drop(cluster);
    search(folder.path());
}

/// Nothing in a folder tells a secret; logs and releases are in it.
fn search(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        match entry.path() {
            path if path.is_dir() => search(&path),
            path => silent(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()), &path.to_string_lossy()),
        }
    }
}

fn silent(text: &str, place: &str) {
    for (name, canary) in CANARIES {
        assert!(!text.contains(canary), "{place} tells {name}");
    }
}
