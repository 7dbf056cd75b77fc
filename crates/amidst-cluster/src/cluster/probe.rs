//! Whether there is a cluster at all: a scheduler that answers, and executors that work for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use amidst::Failure;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::address::Address;

/// How long a scheduler may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits until the scheduler has executors, for at most `wait`; returns how many.
pub async fn executors(scheduler: &Address, wait: Duration, cancel: Option<&AtomicBool>) -> Result<usize, Failure> {
    let start = Instant::now();
    loop {
        match ready(scheduler).await? {
            Some(executors) => return Ok(executors),
            None if start.elapsed() >= wait => {
                return Err(Failure::Io(format!(
                    "the scheduler at {scheduler} has no executor; start some with `amidst-cluster executor \
                     --scheduler {scheduler}`"
                )));
            }
            None => {
                if cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                    return Err(Failure::Cancelled);
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    }
}

/// How many executors there are; none when there are too few to work.
async fn ready(scheduler: &Address) -> Result<Option<usize>, Failure> {
    let absent = |why: String| {
        Failure::Io(format!(
            "no scheduler answers at {scheduler} ({why}); start one with `amidst-cluster scheduler`, or mend --scheduler"
        ))
    };
    let ask = async {
        let mut stream = TcpStream::connect((scheduler.host.as_str(), scheduler.port)).await?;
        let request = format!("GET /readyz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", scheduler.host);
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(1 << 16).read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&answer).into_owned())
    };
    let answer = match timeout(PATIENCE, ask).await {
        Err(_) => return Err(absent("it took too long".to_string())),
        Ok(Err(error)) => return Err(absent(error.to_string())),
        Ok(Ok(answer)) => answer,
    };
    read(&answer).map_err(absent)
}

/// What an answer says.
fn read(answer: &str) -> Result<Option<usize>, String> {
    let status = answer.split_whitespace().nth(1).unwrap_or_default();
    let known = answer.to_ascii_lowercase().contains("server: ballista/");
    match status {
        "200" if known => {
            let told = answer.rsplit("ready: ").next().and_then(|t| t.split_whitespace().next()?.parse().ok());
            Ok(Some(told.unwrap_or(1)))
        }
        "503" if known => Ok(None),
        _ => Err("something else listens there".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_apart() {
        let with = |status: &str, body: &str| format!("HTTP/1.1 {status}\r\nserver: ballista/55.0.0\r\n\r\n{body}\n");
        assert_eq!(read(&with("200 OK", "ready: 2 executors registered")), Ok(Some(2)));
        assert_eq!(read(&with("503 Service Unavailable", "not ready: 0/1 executors registered")), Ok(None));
        assert!(read("HTTP/1.1 200 OK\r\n\r\nhello").is_err());
        assert!(read("SSH-2.0-OpenSSH_9.6").is_err());
    }
}
