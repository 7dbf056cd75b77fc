//! Tables of a PostgreSQL server, which is started for the test where its programs are installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use amidst_io::{Input, ReadError, ReadOptions, read};

/// A server on the loopback that goes away with the test.
struct Server {
    folder: tempfile::TempDir,
    programs: PathBuf,
    port: u16,
}

/// Runs a program as a user that the server accepts: it refuses to run as root.
fn as_nobody(program: &Path, arguments: &[&str]) -> Option<String> {
    let root = std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0);
    let mut command = match root {
        true => {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        }
        false => Command::new(program),
    };
    let output = command.args(arguments).current_dir("/").stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

impl Server {
    /// `None` where there is no PostgreSQL, or where it cannot be started.
    fn start() -> Option<Server> {
        let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
        let programs = versions.flatten().map(|v| v.path().join("bin")).find(|bin| bin.join("initdb").exists())?;
        let folder = tempfile::tempdir().ok()?;
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).ok()?;
        let secret = folder.path().join("secret");
        std::fs::write(&secret, "canary\n").ok()?;
        std::fs::set_permissions(&secret, std::os::unix::fs::PermissionsExt::from_mode(0o644)).ok()?;
        let data = folder.path().join("data");
        let [data_text, secret] = [&data, &secret].map(|p| p.to_string_lossy().into_owned());
        let arguments = ["-D", &data_text, "-U", "me", "-A", "scram-sha-256", "--pwfile", &secret, "-E", "UTF8", "-N"];
        as_nobody(&programs.join("initdb"), &arguments)?;
        // A port that is free now; another program may take it before the server does.
        let port = std::net::TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let options = format!("-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off");
        let log = folder.path().join("log").to_string_lossy().into_owned();
        as_nobody(&programs.join("pg_ctl"), &["-D", &data_text, "-l", &log, "-w", "-o", &options, "start"])?;
        Some(Server { folder, programs, port })
    }

    fn address(&self, settings: &str) -> String {
        format!("postgres://me:canary@127.0.0.1:{}/postgres{settings}", self.port)
    }

    fn run(&self, statements: &str) {
        let address = self.address("");
        let arguments = ["-q", "-v", "ON_ERROR_STOP=1", "-c", statements, &address];
        let output = Command::new(self.programs.join("psql")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.folder.path().join("data").to_string_lossy().into_owned();
        let _ = as_nobody(&self.programs.join("pg_ctl"), &["-D", &data, "-m", "immediate", "stop"]);
        // What the server wrote is its user's.
        let _ = as_nobody(Path::new("/bin/rm"), &["-rf", &data]);
    }
}

fn rows(input: &Input) -> Vec<Vec<&str>> {
    (0..input.table.rows).map(|row| input.table.columns.iter().map(|c| c.value(row)).collect()).collect()
}

const CLINIC: &str = r#"CREATE TABLE visit (id int, weight float8, price numeric(8,2), born date, smoker bool, note text, photo bytea);
    INSERT INTO visit VALUES (1, 72.5, 2.5, '1980-02-29', true, E'a\tb\\N\n"c"', '\x00ff'),
    (2, 3000, 7, '1999-12-31', false, '', NULL), (-3, 1e300, NULL, NULL, NULL, NULL, NULL);
    CREATE SCHEMA ward; CREATE VIEW ward.light AS SELECT id, note FROM visit WHERE weight < 100;
    CREATE TABLE empty (x int)"#;

#[test]
fn tables_of_a_server_read_as_files_do() {
    let Some(server) = Server::start() else {
        println!("skipped: no PostgreSQL can be started here");
        return;
    };
    server.run(CLINIC);
    let keep = |name: &str| name != "photo";
    let options = ReadOptions { keep: Some(&keep), ..ReadOptions::default() };
    let visits = read(&server.address("?sslmode=disable&table=visit"), &options).unwrap();
    assert_eq!(visits.header, ["id", "weight", "price", "born", "smoker", "note", "photo"]);
    let expected = [
        ["1", "72.5", "2.50", "1980-02-29", "true", "a\tb\\N\n\"c\""],
        ["2", "3000", "7.00", "1999-12-31", "false", ""],
        ["-3", "1e300", "", "", "", ""],
    ];
    assert_eq!(rows(&visits), expected);
    let nulls: Vec<bool> = visits.nulls.iter().map(|n| n.as_ref().is_some_and(|n| n.contains(2))).collect();
    assert_eq!(nulls, [false, false, true, true, true, true]);
    assert!(!visits.nulls[5].as_ref().unwrap().contains(1), "an empty text is no null");
    assert!(visits.files.iter().all(|f| !f.to_string_lossy().contains("canary")));
    let light = read(&server.address("?table=ward.light"), &ReadOptions::default()).unwrap();
    assert_eq!(light.table.rows, 1);
    let many = "?query=SELECT i, i % 7 AS small FROM generate_series(1, 40000) AS i WHERE i % 2 = 0;";
    let found = read(&server.address(many), &ReadOptions::default()).unwrap();
    assert_eq!((found.table.rows, found.table.columns[0].value(19_999)), (20_000, "40000"));

    let fails = |address: &str, parts: &[&str]| {
        let error = read(address, &ReadOptions::default()).unwrap_err();
        let message = format!("{error} {error:?}");
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        assert!(!message.contains("canary"), "{message}");
        error
    };
    fails(&server.address(""), &["?table=", "“visit”", "“ward.light”"]);
    fails(&server.address("?table=visits"), &["no table “visits”"]);
    fails(&server.address("?table=visit"), &["“photo”", "binary data"]);
    fails(&server.address("?table=empty"), &["no rows"]);
    fails(&server.address("?query=SELECT nix FROM visit"), &["\\\"nix\\\" does not exist"]);
    fails(&server.address("?query=DELETE FROM visit RETURNING id"), &["DELETE"]);
    fails(&server.address("?sslmode=require&table=visit"), &["TLS"]);
    fails(&server.address("?sslmod=disable&table=visit"), &["cannot be understood"]);
    let wrong = server.address("?table=visit").replace(":canary@", ":canary2@");
    fails(&wrong, &["password authentication failed"]);
    let elsewhere = server.address("?table=visit").replace(&format!(":{}/", server.port), ":1/");
    assert!(matches!(fails(&elsewhere, &["refused"]), ReadError::DatabaseFailed { .. }));
    assert_eq!(read(&server.address("?query=SELECT id FROM visit"), &ReadOptions::default()).unwrap().table.rows, 3);
}
