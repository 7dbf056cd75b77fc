//! Requests to a studio: over a socket with the cookie that a browser would have, and the edits of a policy alone.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::OnceLock;
use std::time::Duration;

use amidst_studio::edit::{Edit, apply};
use amidst_studio::project::Project;
use amidst_studio::{Options, Running, start};

const POLICY: &str = "[data]\ninput = \"people.csv\"\n[columns.age]\nrole = \"quasi\"\n[columns.disease]\nrole = \"sensitive\"\n\
                      [[require]]\nmodel = \"k-anonymity\"\nk = 2\n";
const PASSWORD: &str = "0123456789abcdef";

struct Server {
    host: String,
    /// What a browser would keep.
    cookie: String,
    _folder: tempfile::TempDir,
    _running: Running,
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
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
        let cookie = opened(&host);
        Server { host, cookie, _folder: folder, _running: running }
    })
}

/// The cookie that the password is exchanged for.
fn opened(host: &str) -> String {
    let mut socket = TcpStream::connect(host).expect("a server");
    let asked = format!("GET /open?token={PASSWORD} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    socket.write_all(asked.as_bytes()).expect("a request");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("an answer");
    let set = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    set.split(';').next().unwrap_or_default().to_string()
}

/// Sends bytes and returns the beginning of what comes back. A server waits for the rest of a request that is not
/// whole, so after some patience the end is sent.
fn ask(bytes: &[u8], patience: Duration) -> Vec<u8> {
    let Ok(mut socket) = TcpStream::connect(&server().host) else { panic!("the server is gone") };
    socket.set_read_timeout(Some(patience)).and_then(|()| socket.set_write_timeout(Some(patience))).expect("a socket");
    // The server may close before everything is sent.
    let _ = socket.write_all(bytes);
    let mut answer = vec![0; 400];
    let length = socket.read(&mut answer).or_else(|_| {
        let _ = socket.shutdown(Shutdown::Write);
        socket.read(&mut answer)
    });
    answer.truncate(length.unwrap_or(0));
    answer
}

fn replaced(bytes: &[u8], what: &str, with: &str) -> Vec<u8> {
    let at = bytes.windows(what.len()).position(|window| window == what.as_bytes());
    match at {
        Some(at) => [&bytes[..at], with.as_bytes(), &bytes[at + what.len()..]].concat(),
        None => bytes.to_vec(),
    }
}

/// A request in which `@HOST@`, `@COOKIE@` and `@LENGTH@` stand for what only the server and the body can tell. It is
/// answered or refused, never with a defect. Returns what the answer begins with.
pub fn request(bytes: &[u8]) -> String {
    let whole = bytes.windows(4).any(|window| window == b"\r\n\r\n");
    request_within(bytes, Duration::from_millis(if whole { 40 } else { 1 }))
}

/// As [`request`], with this patience.
pub fn request_within(bytes: &[u8], patience: Duration) -> String {
    let host = &server().host;
    let body = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(0, |at| bytes.len() - at - 4);
    let mut bytes = bytes.to_vec();
    for (what, with) in [
        ("@HOST@", host.clone()),
        ("@HOST@", host.clone()),
        ("@COOKIE@", server().cookie.clone()),
        ("@LENGTH@", body.to_string()),
    ] {
        bytes = replaced(&bytes, what, &with);
    }
    let line = String::from_utf8_lossy(&ask(&bytes, patience)).into_owned();
    assert!(!line.starts_with("HTTP/1.1 500"), "a defect: {line}");
    line
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
