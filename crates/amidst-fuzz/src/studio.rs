//! Requests to a studio, as a browser with its cookie would send them, and the edits of a policy alone.
//!
//! The studio is a real one, with its folder, its jobs and its listener. A request comes to its service through the
//! same parser of HTTP as from the network, on a connection in memory that ends behind the last byte: nobody waits for
//! what does not come. [`request_over_socket`] takes the way through the listener.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use amidst_studio::edit::{Edit, apply};
use amidst_studio::project::Project;
use amidst_studio::{Options, Running, start};
use hyper::rt::ReadBufCursor;
use hyper::server::conn::http1;
use hyper_util::service::TowerToHyperService;

const POLICY: &str = "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\n[columns.disease]\nrole = \"sensitive\"\n\
                      [[require]]\nmodel = \"k-anonymity\"\nk = 2\n";
const PASSWORD: &str = "0123456789abcdef";

/// Requests that one studio answers. The next gets one with a new folder, so that no history and no folder grows for
/// ever.
const REQUESTS: usize = 500;

/// No request takes so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// A second wrong password is answered after a second. What does not wait is answered at once.
const PATIENCE_WITH_PASSWORDS: Duration = Duration::from_millis(1);

struct Studio {
    host: String,
    /// What a browser would keep.
    cookie: String,
    answered: usize,
    running: Option<Running>,
    /// Where connections in memory are served.
    runtime: tokio::runtime::Runtime,
    _folder: tempfile::TempDir,
}

static STUDIO: Mutex<Option<Studio>> = Mutex::new(None);

/// Does something with the studio.
fn with<T>(work: impl FnOnce(&mut Studio) -> T) -> T {
    let mut kept = STUDIO.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.as_ref().is_some_and(|studio| studio.answered >= REQUESTS) {
        *kept = None;
    }
    let studio = kept.get_or_insert_with(Studio::new);
    studio.answered += 1;
    work(studio)
}

impl Studio {
    fn new() -> Studio {
        let folder = tempfile::tempdir().expect("a folder");
        let row = |i: u32| format!("{},{}\n", 20 + i % 9, ["flu", "hiv", "cold"][i as usize % 3]);
        let people = "age,disease\n".to_string() + &(0..60).map(row).collect::<String>();
        std::fs::write(folder.path().join("people.csv"), people).expect("a table");
        std::fs::write(folder.path().join("policy.toml"), POLICY).expect("a policy");
        let policy = folder.path().join("policy.toml");
        let project = Project::of(policy.to_str()).expect("a project");
        let options = Options { password: Some(PASSWORD.into()), ..Options::default() };
        let running = start(project, &options).expect("a server");
        let host = running.address.split('/').nth(2).unwrap_or_default().to_string();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let mut studio =
            Studio { host, cookie: String::new(), answered: 0, running: Some(running), runtime, _folder: folder };
        studio.cookie = studio.opened();
        studio
    }

    /// The cookie that the password is exchanged for.
    fn opened(&self) -> String {
        let host = &self.host;
        let asked = format!("GET /open?token={PASSWORD} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = String::from_utf8_lossy(&self.answer(asked.as_bytes())).into_owned();
        let set = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
        set.split(';').next().unwrap_or_default().to_string()
    }

    /// What is answered on a connection on which these bytes arrive and then its end.
    fn answer(&self, bytes: &[u8]) -> Vec<u8> {
        let mut answer = Vec::new();
        let Some(running) = &self.running else { return answer };
        let connection = Connection { arriving: bytes, answer: &mut answer };
        let service = TowerToHyperService::new(running.service());
        // An end that arrives while a request is being answered does not take the request back.
        let served = http1::Builder::new().half_close(true).serve_connection(connection, service);
        let guesses = bytes.windows(5).any(|window| window == b"/open");
        let patience = if guesses { PATIENCE_WITH_PASSWORDS } else { PATIENCE };
        let ended = self.runtime.block_on(async { tokio::time::timeout(patience, served).await });
        assert!(ended.is_ok() || guesses, "a request is not answered");
        answer
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.until(|| true);
        }
    }
}

/// A connection in memory.
struct Connection<'b> {
    arriving: &'b [u8],
    answer: &'b mut Vec<u8>,
}

impl hyper::rt::Read for Connection<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        let (now, later) = self.arriving.split_at(self.arriving.len().min(into.remaining()));
        into.put_slice(now);
        self.arriving = later;
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Write for Connection<'_> {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.answer.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn replaced(bytes: &[u8], what: &str, with: &str) -> Vec<u8> {
    let at = bytes.windows(what.len()).position(|window| window == what.as_bytes());
    match at {
        Some(at) => [&bytes[..at], with.as_bytes(), &bytes[at + what.len()..]].concat(),
        None => bytes.to_vec(),
    }
}

/// The request with what only the server and its body can tell in the places of `@HOST@`, `@COOKIE@` and `@LENGTH@`.
fn completed(bytes: &[u8], studio: &Studio) -> Vec<u8> {
    let body = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(0, |at| bytes.len() - at - 4);
    let mut bytes = bytes.to_vec();
    let length = body.to_string();
    for (what, with) in
        [("@HOST@", &studio.host), ("@HOST@", &studio.host), ("@COOKIE@", &studio.cookie), ("@LENGTH@", &length)]
    {
        bytes = replaced(&bytes, what, with);
    }
    bytes
}

/// What an answer begins with. No answer tells of a defect.
fn beginning(answer: &[u8]) -> String {
    let line = String::from_utf8_lossy(&answer[..answer.len().min(400)]).into_owned();
    assert!(!line.starts_with("HTTP/1.1 500"), "a defect: {line}");
    line
}

/// A request in which `@HOST@`, `@COOKIE@` and `@LENGTH@` stand for what only the server and the body can tell. It is
/// answered or refused, never with a defect. Returns what the answer begins with.
pub fn request(bytes: &[u8]) -> String {
    with(|studio| {
        let answer = studio.answer(&completed(bytes, studio));
        let defect = b"a defect in Amidst";
        assert!(!answer.windows(defect.len()).any(|window| window == defect), "a defect is told of");
        beginning(&answer)
    })
}

/// As [`request`], over a socket. A server waits for the rest of a request that is not whole, so after some patience
/// the end is sent.
pub fn request_over_socket(bytes: &[u8], patience: Duration) -> String {
    with(|studio| {
        let Ok(mut socket) = TcpStream::connect(&studio.host) else { panic!("the server is gone") };
        socket.set_read_timeout(Some(patience)).expect("a socket");
        socket.set_write_timeout(Some(patience)).expect("a socket");
        // The server may close before everything is sent.
        let _ = socket.write_all(&completed(bytes, studio));
        let mut answer = vec![0; 400];
        let length = socket.read(&mut answer).or_else(|_| {
            let _ = socket.shutdown(Shutdown::Write);
            socket.read(&mut answer)
        });
        answer.truncate(length.unwrap_or(0));
        beginning(&answer)
    })
}

/// The body of a request to edit, applied to the text of a policy: what comes out is TOML, whatever was asked for.
pub fn edit(bytes: &[u8]) -> String {
    let edit: Edit = match serde_json::from_slice(bytes) {
        Ok(edit) => edit,
        Err(error) => return error.to_string(),
    };
    match apply(POLICY, &edit, |_| Some("{ suppress = true }".to_string())) {
        Ok((what, text)) => {
            let again = apply(&text, &Edit::Text { value: text.clone() }, |_| None);
            assert!(again.is_ok_and(|(_, same)| same == text), "an edit left a text that is not TOML");
            what
        }
        Err(error) => error.to_string(),
    }
}
