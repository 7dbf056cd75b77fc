//! Tables of a PostgreSQL server, which is started for the test where its programs are installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use amidst_io::{Input, ReadError, ReadOptions, read};

/// A server on the loopback interface that is stopped at the end of the test.
struct Server {
    folder: tempfile::TempDir,
    programs: PathBuf,
    port: u16,
    /// Whether it uses TLS, as `db.example`, with a certificate by the authority in `ca.pem`.
    encrypted: bool,
}

/// Runs a program as the user nobody: the server refuses to run as root.
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

/// An authority, an unrelated authority, and a server's certificate; `None` without openssl.
fn certificates(folder: &Path) -> Option<()> {
    let openssl = |line: &str| {
        let run =
            Command::new("openssl").args(line.split(' ')).current_dir(folder).stdin(Stdio::null()).output().ok()?;
        run.status.success().then_some(())
    };
    for name in ["ca", "other"] {
        openssl(&format!(
            "req -x509 -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.pem -days 2 -subj /CN={name}"
        ))?;
    }
    openssl("req -newkey rsa:2048 -nodes -keyout made.key -out made.csr -subj /CN=db.example")?;
    std::fs::write(folder.join("names"), "subjectAltName=DNS:db.example\n").ok()?;
    openssl("x509 -req -in made.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem")?;
    // Only the server's user may read the key.
    std::fs::set_permissions(folder.join("made.key"), std::os::unix::fs::PermissionsExt::from_mode(0o644)).ok()?;
    let [from, to] = ["made.key", "server.key"].map(|name| folder.join(name).to_string_lossy().into_owned());
    as_nobody(Path::new("/usr/bin/install"), &["-m", "600", &from, &to]).map(drop)
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
        let encrypted = certificates(folder.path()).is_some();
        // A port that is free now; another program may take it before the server does.
        let port = std::net::TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
        let mut options =
            format!("-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off");
        if encrypted {
            let at = folder.path().display();
            options += &format!(" -c ssl=on -c ssl_cert_file={at}/server.pem -c ssl_key_file={at}/server.key");
        }
        let log = folder.path().join("log").to_string_lossy().into_owned();
        as_nobody(&programs.join("pg_ctl"), &["-D", &data_text, "-l", &log, "-w", "-o", &options, "start"])?;
        Some(Server { folder, programs, port, encrypted })
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
        // The server's files belong to its user.
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
    // The certificate is not for 127.0.0.1.
    fails(&server.address("?sslmode=require&table=visit"), &["TLS"]);
    fails("postgres://me:canary@192.0.2.1/d?sslmode=prefer&table=t", &["sslmode=prefer", "clear text", "verify-full"]);
    fails(&server.address("?sslmod=disable&table=visit"), &["cannot be understood"]);
    let wrong = server.address("?table=visit").replace(":canary@", ":canary2@");
    fails(&wrong, &["password authentication failed"]);
    let elsewhere = server.address("?table=visit").replace(&format!(":{}/", server.port), ":1/");
    assert!(matches!(fails(&elsewhere, &["refused"]), ReadError::DatabaseFailed { .. }));
    assert_eq!(read(&server.address("?query=SELECT id FROM visit"), &ReadOptions::default()).unwrap().table.rows, 3);
}

#[test]
fn rows_go_over_tls_to_the_server_that_is_meant() {
    let Some(server) = Server::start().filter(|server| server.encrypted) else {
        println!("skipped: no PostgreSQL with TLS can be started here");
        return;
    };
    let at = server.folder.path().display().to_string();
    let address = |name: &str, settings: &str| {
        let query = "query=SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        format!("postgres://me:canary@{name}:{}/postgres?hostaddr=127.0.0.1{settings}&{query}", server.port)
    };
    let encrypted = |address: &str| {
        let input = read(address, &ReadOptions::default()).map_err(|e| format!("{e} {e:?}"))?;
        Ok::<bool, String>(rows(&input) == [["true"]])
    };
    for mode in ["verify-full", "require"] {
        let right = address("db.example", &format!("&sslmode={mode}&sslrootcert={at}/ca.pem"));
        assert_eq!(encrypted(&right), Ok(true));
        for (name, settings) in [
            ("other.example", format!("&sslmode={mode}&sslrootcert={at}/ca.pem")),
            ("db.example", format!("&sslmode={mode}&sslrootcert={at}/other.pem")),
            ("db.example", format!("&sslmode={mode}")),
            ("db.example", format!("&sslmode={mode}&sslrootcert={at}/names")),
        ] {
            let said = encrypted(&address(name, &settings)).unwrap_err();
            assert!(said.contains("certificate") && !said.contains("canary"), "{said}");
        }
    }
    assert_eq!(encrypted(&address("db.example", &format!("&sslrootcert={at}/ca.pem"))), Ok(true));
    assert_eq!(encrypted(&address("db.example", "&sslmode=disable")), Ok(false));
}
